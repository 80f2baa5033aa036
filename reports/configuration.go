package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/record"
)

// Figure finds a number by the name it has in results; scores are those of an evaluation, or of the
// first, and with best_ before the name those of the best point of a grid, once all its points are
// there. NaN: there is none.
func (c Configuration) Figure(evaluation, name string) (Number, *Partial) {
	switch name {
	case "log_evidence":
		return c.LogEvidence, nil
	case "leave_one_out":
		return c.LeftOneOut(), nil
	}
	if v, ok := c.Hyperparameters.Get(name); ok {
		return Number(v), nil
	}
	if by, best := strings.CutPrefix(name, "best_"); best && c.Status != Missing {
		if i := slices.IndexFunc(c.Best, func(b Best) bool { return b.By == by }); i >= 0 {
			return c.Best[i].Value, nil
		}
	}
	for _, e := range c.Evaluations {
		if evaluation != "" && e.Name != evaluation {
			continue
		}
		switch v, ok := e.Scores.Value(name); {
		case ok:
			return Number(v.Value), e.Scores.Partial
		case e.Scores.N == 0:
		case name == "min_probability":
			return Number(e.extremes[0]), e.Scores.Partial
		case name == "max_probability":
			return Number(e.extremes[1]), e.Scores.Partial
		case e.Decisions != nil && name == "mean_loss":
			return e.Decisions.Loss, e.Scores.Partial
		case e.Decisions != nil && name == "rejected":
			return Number(e.Decisions.Rejected), e.Scores.Partial
		}
		break
	}
	return Number(math.NaN()), nil
}

// Configuration is what came of one cell of the experiment's cross product. Hyperparameters,
// LogEvidence, Restarts and Grid belong to the study of all the training data; Scores and Curves
// are those of the first of the Evaluations, which is the test set where there is one. Under Markov
// chains Hyperparameters and LogEvidence are those of the sample of largest posterior density, and
// what is scored are predictions averaged over all samples.
type Configuration struct {
	Dataset string `json:"dataset"` // its name, or the file
	Cases   int    `json:"cases"`   // of the training data
	Inputs  int    `json:"inputs"`  // columns
	record.Label
	// their labels in natural order; of two the second is +1; none where the targets are numbers
	Classes []string `json:"classes"`
	Tune    string   `json:"tune"` // the method
	// what is maximised, the value of restarts and grid points; cv_ and a score is that of
	// cross-validation, with its sign turned where less is better
	Objective string `json:"objective"`
	Status    Status `json:"status"` // of the fit to all of the training data
	// jobs not on record: fits, and trials known to have been asked for
	Missing int `json:"missing"`
	// natural units, of the fit to all of the training data
	Hyperparameters Values `json:"hyperparameters"`
	// nats, of the fit to all of the training data; null where there is none
	LogEvidence Number `json:"log_evidence"`
	// false where the fit to all of the training data had not converged and was taken as it is
	Converged *bool `json:"converged,omitempty"`
	// of the training cases, where the inference gives it
	LeaveOneOut *LeaveOneOut `json:"leave_one_out,omitempty"`
	// of a model with inducing inputs, of the fit to all of the training data
	Inducing *record.Inducing `json:"inducing,omitempty"`
	// of hyperparameters on the theta scale, from the curvature of the tuning objective
	StandardErrors Values `json:"standard_errors,omitempty"`
	// of the errors of hyperparameters on the theta scale, in the order of standard_errors
	Correlations [][]Number `json:"correlations,omitempty"`
	// of the free hyperparameters, from Markov chains
	Posterior []record.Marginal `json:"posterior,omitempty"`
	// on all of the training data; local optimisers and chains only
	Restarts    []Restart    `json:"restarts"`
	Scores      Scores       `json:"scores"`      // of the first of the evaluations
	Evaluations []Evaluation `json:"evaluations"` // every way in which cases were held out
	// every training set but the one of all the training data
	Folds []Fold `json:"folds"`
	// points evaluated as they are: grids, random and adaptive search
	Grid      []GridPoint          `json:"grid"`
	Best      []Best               `json:"best"`                // the best points of grid
	Curves    Curves               `json:"curves"`              // of the first of the evaluations
	Published []Published          `json:"published,omitempty"` // what others found
	Warnings  []string             `json:"warnings"`            // of its fits and trials
	Failures  []Failure            `json:"failures"`            // what could not be computed
	notices   []Notice             // the warnings
	nested    bool                 // stands for nested cross-validation
	Record    record.Configuration `json:"-"` // as the run has it
	// what is on record of each: the first is that of all the training data
	Studies []Study `json:"-"`
}

// marked is false, where a fit that is on record had not converged, and else nothing.
func marked(f *record.Fit) *bool {
	if f.Converged {
		return nil
	}
	return new(bool)
}

// LeaveOneOut is the score of the training cases, each predicted by all the others at the same
// hyperparameters, from the cavities of the one fit.
type LeaveOneOut struct {
	// nats: mean of log p(y_i|y_-i) over the training cases; with one_vs_rest of the sum of the
	// classes'
	LogProbability Number `json:"log_probability"`
}

// LeftOneOut is NaN where there is none.
func (c Configuration) LeftOneOut() Number {
	if c.LeaveOneOut == nil {
		return Number(math.NaN())
	}
	return c.LeaveOneOut.LogProbability
}

// Hybrid says that one inference was tuned and another predicts.
func (c Configuration) Hybrid() bool {
	return !c.TuneInference.IsZero() && c.TuneInference.Text != c.Inference.Text
}

// Published are figures that somebody else found for a configuration.
type Published struct {
	Source  string           `json:"source"`         // who found them, and where
	Note    string           `json:"note,omitempty"` // what is to be known of them
	Figures PublishedFigures `json:"figures"`        // by name, each beside the one of this run
}

// PublishedFigures are published figures by name, each beside the one of this run.
type PublishedFigures []PublishedFigure

// PublishedFigure is a published figure, and that of this run; NaN if there is none.
type PublishedFigure struct {
	Name      string `json:"-"`
	Published Number `json:"published"`
	// of the published figure: half a unit of its last digit, if nothing else is said
	Uncertainty Number   `json:"uncertainty,omitempty"`
	Here        Number   `json:"here"`
	Partial     *Partial `json:"partial,omitempty"` // of Here
}

// Texts are the published figure with the digits of its source, and that of this run and how much
// more it is with one digit more; empty where there is none.
func (f PublishedFigure) Texts() (published, here, difference string) {
	value := strconv.FormatFloat(float64(f.Published), 'f', -1, 64)
	_, after, _ := strings.Cut(value, ".")
	digits := len(after)
	// a zero at the end is a digit too: the uncertainty is half a unit of the last one
	if last := -math.Log10(2 * float64(f.Uncertainty)); math.Abs(last-math.Round(last)) < 1e-9 {
		digits = max(digits, int(math.Round(last)))
	}
	more := func(x float64) string {
		text := Decimals(x, digits+1)
		if math.IsNaN(x) || math.IsInf(x, 0) || math.Trunc(x) != x || digits > 0 {
			return text
		}
		return strings.TrimSuffix(text, ".0") // counts
	}
	return strconv.FormatFloat(float64(f.Published), 'f', digits, 64), more(float64(f.Here)),
		more(float64(f.Here - f.Published))
}

// Restart is one run of a local optimiser, or one Markov chain, which ends at its last sample.
type Restart struct {
	Trial int    `json:"trial"` // its number, from 0
	Start Values `json:"start"` // hyperparameters where it started, natural units
	End   Values `json:"end"`   // hyperparameters where it ended, natural units
	Value Number `json:"value"` // of the tuning objective at the end, nats if that is a log density
	// of the objective at the end: largest absolute entry, over theta; null for a chain
	Gradient    Number `json:"gradient"`
	Status      string `json:"status"`           // how it ended
	Evaluations int    `json:"evaluations"`      // of the objective
	Chosen      bool   `json:"chosen,omitempty"` // it has won
}

// GridPoint is one evaluated point. Its value comes from the study of all the training data; its
// scores from the first of the Evaluations. Over several folds a count adds up and every other
// score, auc and rmse included, is the mean of the folds weighted by their held-out cases. There
// are no scores where a fold lacks them or went elsewhere.
type GridPoint struct {
	Point Values `json:"point"` // hyperparameters, natural units
	// nats, if it is the log evidence that is tuned; else there is value
	LogEvidence   *Number `json:"log_evidence,omitempty"`
	Value         *Number `json:"value,omitempty"`          // of the tuning objective, if that is not the log evidence
	StandardError Number  `json:"standard_error,omitempty"` // of a sampled log evidence, nats
	// of the held-out cases of the first of the evaluations, over its folds, and n, how many they
	// are
	Scores Values `json:"scores"`
	Chosen bool   `json:"chosen,omitempty"` // it has won
}

// Objective is the tuning objective.
func (p GridPoint) Objective() float64 {
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

// Evaluation is one way of holding out cases, all of its folds pooled: the cases are the unit, and
// every fold has the base line of its own training part.
type Evaluation struct {
	Name  string `json:"name"`  // the splitter, or test
	Folds int    `json:"folds"` // as planned
	// folds with predictions on record; scores, confusion, decisions and curves are over these
	Scored int    `json:"scored"`
	Status Status `json:"status"` // the worst of the folds'
	// of the predictions of all folds together; with "partial" in it, of some
	Scores    Scores     `json:"scores"`
	Confusion [][]int    `json:"confusion"`           // cases of class i that were decided to be class j
	Decisions *Decisions `json:"decisions,omitempty"` // those of least expected cost, where the experiment names costs
	Curves    Curves     `json:"curves"`              // of the predictions of all folds together
	extremes  [2]float64 // probabilities of the last class
}

// Decisions are what the predictions are worth where errors, and decisions for no class, have their
// costs.
type Decisions struct {
	Loss     Number     `json:"mean_loss"`     // what a case cost, in the units of the costs
	CI95     *[2]Number `json:"ci95"`          // 95 % interval of mean_loss; null where there is none
	Expected Number     `json:"expected_loss"` // what a case would cost on average by the probabilities
	// what a case cost with the decision for the class of largest probability
	Likeliest Number `json:"largest_probability_loss"`
	Rejected  int    `json:"rejected"` // cases decided for no class
	// cases of class i that were decided to be class j or, in the last column, none
	Table [][]int `json:"table"`
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
	// probability of the second of two classes from which it is decided for, where that was chosen
	// on folds of its training cases
	Threshold *Number `json:"threshold,omitempty"`
	Scores    Scores  `json:"scores"` // of its held-out cases
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

// Scores are the scores of N predictions, in the order of cv.Scores; those that are not defined are
// left out.
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

// SoFar says of what is counted that more may come.
func (c Configuration) SoFar() string {
	if c.Status == Missing {
		return " so far"
	}
	return ""
}

// Equals says that other points are as good as the one that is called the best.
func (c Configuration) Equals(b Best) string {
	n := 0
	for _, p := range c.Grid {
		if v, known := p.by(b.By, c.Objective); known && v == float64(b.Value) {
			n++
		}
	}
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(", the first of %d with it", n)
}

// Among says of how many points the best by the tuning objective or a score was found: not all may
// have one.
func (c Configuration) Among(by string) string {
	n := 0
	for _, p := range c.Grid {
		if _, known := p.by(by, c.Objective); known {
			n++
		}
	}
	if n < len(c.Grid) {
		return fmt.Sprintf("%d of %d points%s", n, len(c.Grid), c.SoFar())
	}
	return fmt.Sprintf("%d points%s", n, c.SoFar())
}

// Tuned names the tuning objective, and whose it is if another inference predicts.
func (c Configuration) Tuned() string {
	if c.Hybrid() {
		return c.Maximised() + " of " + c.TuneInference.Text
	}
	return c.Maximised()
}

// Maximised names the tuning objective for people: its values have their sign turned where less of
// a score is better.
func (c Configuration) Maximised() string {
	if name, cross := strings.CutPrefix(c.Objective, "cv_"); cross {
		if s, err := cv.ScoreNamed(name); err == nil && !s.Greater {
			return "negative " + c.Objective
		}
	}
	return c.Objective
}

// Folded names a fold, and its repeat where that is not the first.
func Folded(evaluation string, repeat, fold int) string {
	if repeat > 0 {
		evaluation += fmt.Sprintf(" repeat %d", repeat)
	}
	return fmt.Sprintf("%s fold %d", evaluation, fold)
}

// Where says where something failed.
func (f Failure) Where() string {
	where := Folded(f.Evaluation, f.Repeat, f.Fold)
	if f.Trial != nil {
		where += fmt.Sprintf(" trial %d", *f.Trial)
	}
	if len(f.Theta) > 0 {
		where += " at " + Assignments(f.Theta, Significant)
	}
	return where
}

// String says where something failed, and why.
func (f Failure) String() string { return f.Where() + ": " + f.Message }

// by is the tuning objective or a score, where it is a finite number.
func (p GridPoint) by(name, objective string) (v float64, known bool) {
	if v, known = p.Objective(), true; name != objective {
		v, known = p.Scores.Get(name)
	}
	return v, known && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// Named are values of the hyperparameters, in their order, where there is one for each input by the
// name of the input: "length_scale[age]".
func (c Configuration) Named(values Values) Values {
	out := slices.Clone(values)
	if len(out) != len(c.Record.Hyperparameters) {
		return out
	}
	for i, h := range c.Record.Hyperparameters {
		if name, _, each := strings.Cut(h.Name, "["); each && h.Column != "" {
			out[i].Name = name + "[" + h.Column + "]"
		}
	}
	return out
}

// ByInput are the hyperparameters for readers: by the names of the inputs, and of length scales the
// shortest, of the most relevant input, first.
func (c Configuration) ByInput(values Values) Values {
	out := c.Named(values)
	if len(out) != len(c.Record.Hyperparameters) {
		return out
	}
	first, of := 0, ""
	for i, h := range c.Record.Hyperparameters {
		name, _, each := strings.Cut(h.Name, "[")
		if !each || h.Column == "" {
			of = ""
			continue
		}
		if name != of {
			first, of = i, name
		}
		if strings.HasSuffix(name, "length_scale") {
			slices.SortStableFunc(out[first:i+1], func(a, b Value) int { return cmp.Compare(a.Number, b.Number) })
		}
	}
	return out
}
