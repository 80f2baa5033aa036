// Package reports turns the manifest and the journal of a run into plain data, a Report, its Progress, Timings or a
// Comparison, and writes these for people and programs, one file per format.
//
// It reads records only: it never sees data, kernels or models, fits nothing, and can be run again at any time. The same
// records in any order give the same bytes. Check is the one table that has no run behind it.
package reports

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// Schema names the form of results.json.
const Schema = "gpc-tune/results/1"

// Report is what a run found. It holds no times. Log evidence is in nats, hyperparameters are in natural units, scores
// have the units of cv.Scores; folds, repeats and trials are numbered from 0.
type Report struct {
	Schema         string                `json:"schema"`                  // of this form
	Experiment     string                `json:"experiment"`              // its name in the file
	Missing        int                   `json:"missing"`                 // jobs not on record, of all configurations
	Configurations []Configuration       `json:"configurations"`          // in the order of the file; wherever else one is named, it is by its index here, from 0
	Nested         []Nested              `json:"nested,omitempty"`        // what came of nested cross-validation
	Races          []Race                `json:"races,omitempty"`         // what came of races
	Warnings       []string              `json:"warnings"`                // of the plan
	Illustrations  []record.Illustration `json:"illustrations,omitempty"` // what a run without data shows of models; it has no configurations
	manifest       record.Manifest
}

// Status says what became of a study.
type Status string

const (
	Done    Status = "done"
	Cut     Status = "cut"     // a race has cut the configuration before
	Failed  Status = "failed"  // its final fit is a failure
	Missing Status = "missing" // its final fit is not on record, as the run was interrupted; the worst
)

// worse is the worse of two.
func worse(a, b Status) Status {
	order := []Status{Done, Cut, Failed, Missing}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

// Configuration is what came of one cell of the experiment's cross product. Hyperparameters, LogEvidence, Restarts and
// Grid belong to the study of all the training data; Scores and Curves are those of the first of the Evaluations, which
// is the test set where there is one. Under Markov chains Hyperparameters and LogEvidence are those of the sample of largest
// posterior density, and what is scored are predictions averaged over all samples.
type Configuration struct {
	Dataset string `json:"dataset"` // its name, or the file
	Cases   int    `json:"cases"`   // of the training data
	Inputs  int    `json:"inputs"`  // columns
	record.Label
	Classes         []string          `json:"classes"`                   // their labels in natural order; of two the second is +1; none where the targets are numbers
	Tune            string            `json:"tune"`                      // the method
	Objective       string            `json:"objective"`                 // what is maximised, the value of restarts and grid points; cv_ and a score is that of cross-validation, with its sign turned where less is better
	Status          Status            `json:"status"`                    // of the fit to all of the training data
	Missing         int               `json:"missing"`                   // jobs not on record: fits, and trials known to have been asked for
	Hyperparameters Values            `json:"hyperparameters"`           // natural units, of the fit to all of the training data
	LogEvidence     Number            `json:"log_evidence"`              // nats, of the fit to all of the training data; null where there is none
	Converged       *bool             `json:"converged,omitempty"`       // false where the fit to all of the training data had not converged and was taken as it is
	LeaveOneOut     *LeaveOneOut      `json:"leave_one_out,omitempty"`   // of the training cases, where the inference gives it
	StandardErrors  Values            `json:"standard_errors,omitempty"` // of hyperparameters on the theta scale, from the curvature of the tuning objective
	Correlations    [][]Number        `json:"correlations,omitempty"`    // of the errors of hyperparameters on the theta scale, in the order of standard_errors
	Posterior       []record.Marginal `json:"posterior,omitempty"`       // of the free hyperparameters, from Markov chains
	Restarts        []Restart         `json:"restarts"`                  // on all of the training data; local optimisers and chains only
	Scores          Scores            `json:"scores"`                    // of the first of the evaluations
	Evaluations     []Evaluation      `json:"evaluations"`               // every way in which cases were held out
	Folds           []Fold            `json:"folds"`                     // every training set but the one of all the training data
	Grid            []GridPoint       `json:"grid"`                      // points evaluated as they are: grids, random and adaptive search
	Best            []Best            `json:"best"`                      // the best points of grid
	Curves          Curves            `json:"curves"`                    // of the first of the evaluations
	Published       []Published       `json:"published,omitempty"`       // what others found
	Warnings        []string          `json:"warnings"`                  // of its fits and trials
	Failures        []Failure         `json:"failures"`                  // what could not be computed
	nested          bool              // stands for nested cross-validation
	record          record.Configuration
	studies         []study
}

// marked is false, where a fit that is on record had not converged, and else nothing.
func marked(f *record.Fit) *bool {
	if f.Converged {
		return nil
	}
	return new(bool)
}

// unconverged says which fits behind a row had not converged.
func (c Configuration) unconverged(evaluation string) string {
	count := 0
	for _, f := range c.Folds {
		if f.Evaluation == evaluation && f.Converged != nil {
			count++
		}
	}
	switch {
	case c.Converged != nil:
		return "not converged"
	case count > 0:
		return fmt.Sprintf("%d folds not converged", count)
	}
	return ""
}

// LeaveOneOut is the score of the training cases, each predicted by all the others at the same hyperparameters, from the
// cavities of the one fit.
type LeaveOneOut struct {
	LogProbability Number `json:"log_probability"` // nats: mean of log p(y_i|y_-i) over the training cases; with one_vs_rest of the sum of the classes'
}

// leaveOneOut is NaN where there is none.
func (c Configuration) leaveOneOut() Number {
	if c.LeaveOneOut == nil {
		return Number(math.NaN())
	}
	return c.LeaveOneOut.LogProbability
}

// hybrid says that one inference was tuned and another predicts.
func (c Configuration) hybrid() bool {
	return !c.TuneInference.IsZero() && c.TuneInference.Text != c.Inference.Text
}

// Published are figures that somebody else found for a configuration.
type Published struct {
	Source  string  `json:"source"`         // who found them, and where
	Note    string  `json:"note,omitempty"` // what is to be known of them
	Figures Figures `json:"figures"`        // by name, each beside the one of this run
}

// Figures are published figures by name, each beside the one of this run.
type Figures []Figure

// Figure is a published figure, and that of this run; NaN if there is none.
type Figure struct {
	Name        string   `json:"-"`
	Published   Number   `json:"published"`
	Uncertainty Number   `json:"uncertainty,omitempty"` // of the published figure: half a unit of its last digit, if nothing else is said
	Here        Number   `json:"here"`
	Partial     *Partial `json:"partial,omitempty"` // of Here
}

// Restart is one run of a local optimiser, or one Markov chain, which ends at its last sample.
type Restart struct {
	Trial       int    `json:"trial"`            // its number, from 0
	Start       Values `json:"start"`            // hyperparameters where it started, natural units
	End         Values `json:"end"`              // hyperparameters where it ended, natural units
	Value       Number `json:"value"`            // of the tuning objective at the end, nats if that is a log density
	Gradient    Number `json:"gradient"`         // of the objective at the end: largest absolute entry, over theta; null for a chain
	Status      string `json:"status"`           // how it ended
	Evaluations int    `json:"evaluations"`      // of the objective
	Chosen      bool   `json:"chosen,omitempty"` // it has won
}

// GridPoint is one evaluated point. Its value comes from the study of all the training data; its scores from the first
// of the Evaluations. Over several folds a count adds up and every other score, auc and rmse included, is the mean of the folds
// weighted by their held-out cases. There are no scores where a fold lacks them or went elsewhere.
type GridPoint struct {
	Point         Values  `json:"point"`                    // hyperparameters, natural units
	LogEvidence   *Number `json:"log_evidence,omitempty"`   // nats, if it is the log evidence that is tuned; else there is value
	Value         *Number `json:"value,omitempty"`          // of the tuning objective, if that is not the log evidence
	StandardError Number  `json:"standard_error,omitempty"` // of a sampled log evidence, nats
	Scores        Values  `json:"scores"`                   // of the held-out cases of the first of the evaluations, over its folds, and n, how many they are
	Chosen        bool    `json:"chosen,omitempty"`         // it has won
}

// value is the tuning objective.
func (p GridPoint) value() float64 {
	if p.Value != nil {
		return float64(*p.Value)
	}
	return float64(*p.LogEvidence)
}

// Best names the first point of the grid that is best by the tuning objective or by a score.
type Best struct {
	By    string `json:"by"`    // the tuning objective or the score by which it is best
	Value Number `json:"value"` // of what it is best by
	Point int    `json:"point"` // index into grid, from 0
}

// Evaluation is one way of holding out cases, all of its folds pooled: the cases are the unit, and every fold has the
// base line of its own training part.
type Evaluation struct {
	Name      string     `json:"name"`                // the splitter, or test
	Folds     int        `json:"folds"`               // as planned
	Scored    int        `json:"scored"`              // folds with predictions on record; scores, confusion, decisions and curves are over these
	Status    Status     `json:"status"`              // the worst of the folds'
	Scores    Scores     `json:"scores"`              // of the predictions of all folds together; with "partial" in it, of some
	Confusion [][]int    `json:"confusion"`           // cases of class i that were decided to be class j
	Decisions *Decisions `json:"decisions,omitempty"` // those of least expected cost, where the experiment names costs
	Curves    Curves     `json:"curves"`              // of the predictions of all folds together
	extremes  [2]float64 // probabilities of the last class
}

// Decisions are what the predictions are worth where errors, and decisions for no class, have their costs.
type Decisions struct {
	Loss      Number     `json:"mean_loss"`                // what a case cost, in the units of the costs
	CI95      *[2]Number `json:"ci95"`                     // 95 % interval of mean_loss; null where there is none
	Expected  Number     `json:"expected_loss"`            // what a case would cost on average by the probabilities
	Likeliest Number     `json:"largest_probability_loss"` // what a case cost with the decision for the class of largest probability
	Rejected  int        `json:"rejected"`                 // cases decided for no class
	Table     [][]int    `json:"table"`                    // cases of class i that were decided to be class j or, in the last column, none
}

// Fold is one study: tuned on its training part, scored on its held-out cases.
type Fold struct {
	Evaluation      string `json:"evaluation"`          // the way of holding out that it belongs to
	Repeat          int    `json:"repeat"`              // its repeat, from 0
	Fold            int    `json:"fold"`                // its number, from 0
	Train           int    `json:"train"`               // training cases
	Test            int    `json:"test"`                // held-out cases
	Status          Status `json:"status"`              // done, cut by a race, failed or missing
	Hyperparameters Values `json:"hyperparameters"`     // natural units, tuned on its training cases
	LogEvidence     Number `json:"log_evidence"`        // nats, of its training cases; null where there is none
	Converged       *bool  `json:"converged,omitempty"` // false where the fit had not converged and was taken as it is
	Scores          Scores `json:"scores"`              // of its held-out cases
}

// Failure is something that could not be computed, and why.
type Failure struct {
	Evaluation string `json:"evaluation"` // where: train is all of the training data
	Repeat     int    `json:"repeat"`     // of the evaluation, from 0
	Fold       int    `json:"fold"`       // of the evaluation, from 0
	Trial      *int   `json:"trial"`      // its number, from 0; null: the final fit
	Point      Values `json:"point"`      // all hyperparameters there, or where the optimiser started, natural units
	Theta      Values `json:"theta"`      // the free hyperparameters there, exactly, on the theta scale
	Message    string `json:"message"`    // why
}

// Scores are the scores of N predictions, in the order of cv.Scores; those that are not defined are left out.
type Scores struct {
	N       int
	Results []cv.Result
	Partial *Partial // nil: the predictions are those of all folds that are planned, or of one
}

// Value finds a score's estimate.
func (s Scores) Value(name string) (e cv.Estimate, ok bool) {
	for _, r := range s.Results {
		if r.Name == name {
			return r.Estimate, true
		}
	}
	return e, false
}

// Curves are the curves that the experiment asks for.
type Curves []Curve

// Curve is a curve and its points.
type Curve struct {
	cv.Curve
	cv.Series
}

// Values are named numbers, in a fixed order.
type Values []Value

// Value is a named number.
type Value struct {
	Name   string
	Number Number
}

// Number is a float64 for JSON: the shortest decimal that gives back the same bits, null for NaN (there is no such
// number), "+Inf" and "-Inf" for the infinities.
type Number = record.Number

// Format is a way to write a Report.
type Format struct {
	Name   string // as in YAML files and flags
	Doc    string
	File   string // its name in the folder of the run; empty if it is only shown
	Always bool   // written after every run; otherwise where the experiment's report.formats names it
	With   string // the format of a file that this one refers to, written with it
	Render func(w io.Writer, r *Report) error
	Draw   func(w io.Writer, figures ...figure.Figure) error // writes one of the files of a format of which every figure has one; * in File is its name
}

// File is a file of a format.
type File struct {
	Name  string // in the folder of the run
	Write func(w io.Writer) error
}

// Files are the files of the format.
func (f Format) Files(r *Report) (out []File) {
	if f.Draw == nil {
		return []File{{f.File, func(w io.Writer) error { return f.Render(w, r) }}}
	}
	for _, p := range r.Drawn() {
		out = append(out, File{strings.Replace(f.File, "*", p.Name, 1), func(w io.Writer) error { return f.Draw(w, p) }})
	}
	return out
}

// Formats lists the formats.
var Formats = []Format{
	{"text", "tables for the terminal", "", false, "", renderText, nil},
	{"json", "everything, for programs", "results.json", true, "", renderJSON, nil},
	{"csv", "scores and hyperparameters, one row per configuration, evaluation and fold", "results.csv", true, "", renderCSV, nil},
	{"trials", "every evaluated point: where it started, hyperparameters, objective, scores, failure", "trials.csv", false, "", renderTrials, nil},
	{"predictions", "every held-out case: class probabilities, decision, latent means and variances", "predictions.csv", false, "", renderPredictions, nil},
	{"svg", "the figures, each a file, for browsers and print", "figures/*.svg", false, "", draws(figure.SVG), figure.SVG},
	{"png", "the figures, each a file, as pixels", "figures/*.png", false, "", draws(figure.PNG), figure.PNG},
	{"markdown", "the tables of the page in Markdown, as GitHub shows it; writes trials.csv too", "report.md", false, "trials", renderMarkdown, nil},
	{"latex", "the tables of the page in LaTeX, to \\input into a document with booktabs; writes trials.csv too", "report.tex", false, "trials", renderLaTeX, nil},
	{"html", "a page with everything but predictions, for a browser; writes trials.csv too, for what the page has no room for", "report.html", false, "trials", renderHTML, nil},
}

// FilesOf lists the formats whose files are written where the given formats are asked for.
func FilesOf(names []string) (out []Format) {
	asked := slices.Clone(names)
	for _, f := range Formats {
		if slices.Contains(names, f.Name) {
			asked = append(asked, f.With)
		}
	}
	for _, f := range Formats {
		if f.File != "" && (f.Always || slices.Contains(asked, f.Name)) {
			out = append(out, f)
		}
	}
	return out
}

// FormatNamed finds a format.
func FormatNamed(name string) (Format, error) {
	var names []string
	for _, f := range Formats {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("unknown format %q%s", name, registry.Suggest(name, names))
}

// values names the entries of x; a shorter x, where something failed, gives no values.
func values(names []string, x []record.Number) Values {
	v := Values{}
	if len(x) == len(names) {
		for i, name := range names {
			v = append(v, Value{name, x[i]})
		}
	}
	return v
}
