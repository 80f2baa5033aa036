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
	Schema         string          `json:"schema"`
	Experiment     string          `json:"experiment"`
	Missing        int             `json:"missing"` // jobs not on record, of all configurations
	Configurations []Configuration `json:"configurations"`
	Nested         []Nested        `json:"nested,omitempty"`
	Races          []Race          `json:"races,omitempty"`
	Warnings       []string        `json:"warnings"` // of the plan
	// Illustrations are what a run without data shows of models; it has no configurations.
	Illustrations []record.Illustration `json:"illustrations,omitempty"`
	manifest      record.Manifest
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
	Dataset         string       `json:"dataset"`
	Cases           int          `json:"cases"`
	Inputs          int          `json:"inputs"`
	Preprocess      string       `json:"preprocess"`
	Kernel          string       `json:"kernel"`
	Mean            string       `json:"mean"`
	Likelihood      string       `json:"likelihood"`
	Inference       string       `json:"inference"`
	TuneInference   string       `json:"tune_inference"` // the one whose objective is tuned
	Classes         []string     `json:"classes"`
	Tune            string       `json:"tune"`
	Objective       string       `json:"objective"` // what the values of restarts and grid points are
	Status          Status       `json:"status"`
	Missing         int          `json:"missing"` // jobs not on record: fits, and trials known to have been asked for
	Hyperparameters Values       `json:"hyperparameters"`
	LogEvidence     Number       `json:"log_evidence"`
	LeaveOneOut     *LeaveOneOut `json:"leave_one_out,omitempty"`   // where the inference gives it
	StandardErrors  Values       `json:"standard_errors,omitempty"` // of hyperparameters on the theta scale, from the curvature of the tuning objective
	Correlations    [][]Number   `json:"correlations,omitempty"`    // in the same order
	Posterior       []Marginal   `json:"posterior,omitempty"`       // of the free hyperparameters, from Markov chains
	Restarts        []Restart    `json:"restarts"`                  // local optimisers and chains only
	Scores          Scores       `json:"scores"`
	Evaluations     []Evaluation `json:"evaluations"` // every way in which cases were held out
	Folds           []Fold       `json:"folds"`       // every study but the one of all the training data
	Grid            []GridPoint  `json:"grid"`        // points evaluated as they are: grids, random and adaptive search
	Best            []Best       `json:"best"`        // the best points of Grid
	Curves          Curves       `json:"curves"`
	Published       []Published  `json:"published,omitempty"` // what others found
	Warnings        []string     `json:"warnings"`
	Failures        []Failure    `json:"failures"`
	nested          bool         // stands for nested cross-validation
	record          record.Configuration
	studies         []study
}

// LeaveOneOut is the score of the training cases, each predicted by all the others at the same hyperparameters, from the
// cavities of the one fit.
type LeaveOneOut struct {
	LogProbability Number `json:"log_probability"` // mean of log p(y_i|y_-i) over the cases, nats; with one_vs_rest of the sum of the classes'
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
	return c.TuneInference != "" && c.TuneInference != c.Inference
}

// Marginal is the posterior of one hyperparameter on the theta scale.
type Marginal struct {
	Name string `json:"name"`
	Mean Number `json:"mean"`
	SD   Number `json:"sd"`
	RHat Number `json:"r_hat"` // potential scale reduction of split chains; near 1 where they agree
	ESS  Number `json:"ess"`   // effective sample size: Mean has a standard error of about SD/√ESS
}

// Published are figures that somebody else found for a configuration.
type Published struct {
	Source  string  `json:"source"`
	Note    string  `json:"note,omitempty"`
	Figures Figures `json:"figures"`
}

// Figures are published figures by name, each beside the one of this run.
type Figures []Figure

// Figure is a published figure, and that of this run; NaN if there is none.
type Figure struct {
	Name        string `json:"-"`
	Published   Number `json:"published"`
	Uncertainty Number `json:"uncertainty,omitempty"` // of the published figure: half a unit of its last digit, if nothing else is said
	Here        Number `json:"here"`
}

// Restart is one run of a local optimiser, or one Markov chain, which ends at its last sample.
type Restart struct {
	Trial       int    `json:"trial"`
	Start       Values `json:"start"`
	End         Values `json:"end"`
	Value       Number `json:"value"`    // of the tuning objective, at the end
	Gradient    Number `json:"gradient"` // largest absolute entry, over theta; null for a chain
	Status      string `json:"status"`
	Evaluations int    `json:"evaluations"`
	Chosen      bool   `json:"chosen,omitempty"`
}

// GridPoint is one evaluated point. Its value comes from the study of all the training data; its scores from the first
// of the Evaluations. Over several folds a count adds up and every other score, auc and rmse included, is the mean of the folds
// weighted by their held-out cases. There are no scores where a fold lacks them or went elsewhere.
type GridPoint struct {
	Point       Values  `json:"point"`
	LogEvidence *Number `json:"log_evidence,omitempty"` // the value, if it is the log evidence that is tuned
	Value       *Number `json:"value,omitempty"`        // or else the value
	Scores      Values  `json:"scores"`                 // and n
	Chosen      bool    `json:"chosen,omitempty"`
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
	By    string `json:"by"`
	Value Number `json:"value"`
	Point int    `json:"point"` // index into Grid
}

// Evaluation is one way of holding out cases, all of its folds pooled: the cases are the unit, and every fold has the
// base line of its own training part.
type Evaluation struct {
	Name      string  `json:"name"`
	Folds     int     `json:"folds"`  // as planned
	Scored    int     `json:"scored"` // with predictions on record
	Status    Status  `json:"status"` // of the folds: the worst
	Scores    Scores  `json:"scores"`
	Confusion [][]int `json:"confusion"` // cases of class i that were decided to be class j
	// Decisions are those of least expected cost, where the experiment names costs.
	Decisions *Decisions `json:"decisions,omitempty"`
	Curves    Curves     `json:"curves"`
	extremes  [2]float64 // probabilities of the last class
}

// Decisions are what the predictions are worth where errors, and decisions for no class, have their costs.
type Decisions struct {
	Loss      Number     `json:"mean_loss"` // what a case cost
	CI95      *[2]Number `json:"ci95"`
	Expected  Number     `json:"expected_loss"`            // what the probabilities say that it will
	Likeliest Number     `json:"largest_probability_loss"` // what it cost to decide for the class of largest probability
	Rejected  int        `json:"rejected"`
	Table     [][]int    `json:"table"` // cases of class i that were decided to be class j or, in the last column, none
}

// Fold is one study: tuned on its training part, scored on its held-out cases.
type Fold struct {
	Evaluation      string `json:"evaluation"`
	Repeat          int    `json:"repeat"`
	Fold            int    `json:"fold"`
	Train           int    `json:"train"` // cases
	Test            int    `json:"test"`  // cases
	Status          Status `json:"status"`
	Hyperparameters Values `json:"hyperparameters"`
	LogEvidence     Number `json:"log_evidence"`
	Scores          Scores `json:"scores"`
}

// Failure is something that could not be computed, and why.
type Failure struct {
	Evaluation string `json:"evaluation"`
	Repeat     int    `json:"repeat"`
	Fold       int    `json:"fold"`
	Trial      *int   `json:"trial"` // null: the final fit
	Point      Values `json:"point"` // where, or where the optimiser started; all hyperparameters in natural units
	Theta      Values `json:"theta"` // where, exactly; the free hyperparameters on the theta scale
	Message    string `json:"message"`
}

// Scores are the scores of N predictions, in the order of cv.Scores; those that are not defined are left out.
type Scores struct {
	N       int
	Results []cv.Result
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
type Number float64

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
			v = append(v, Value{name, Number(x[i])})
		}
	}
	return v
}

func numbers(x []record.Number) []Number {
	out := make([]Number, len(x))
	for i, v := range x {
		out[i] = Number(v)
	}
	return out
}
