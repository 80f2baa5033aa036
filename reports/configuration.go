package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// Figure returns a number by its name in results. Scores are taken from the evaluation of this
// name, or from the first one if it is empty. With the prefix best_ they are taken from the best
// point of a grid, once all its points are evaluated. NaN: there is none.
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

// Configuration is the result for one cell of the experiment's cross product. Hyperparameters,
// LogEvidence, Restarts and Grid belong to the study of all the training data; Scores and Curves
// belong to the first of the Evaluations, which is the test set if there is one. With Markov
// chains, Hyperparameters and LogEvidence belong to the sample with the largest posterior density,
// and scores to predictions averaged over all samples.
type Configuration struct {
	Dataset string `json:"dataset"` // its name, or the file
	Cases   int    `json:"cases"`   // number of training cases
	Inputs  int    `json:"inputs"`  // number of columns
	record.Label
	// class labels in natural order; of two the second is +1; none for numeric targets
	Classes []string `json:"classes"`
	Tune    string   `json:"tune"` // the method of tuning
	// the tuning objective, maximised over restarts and grid points; cv_ and a score for
	// cross-validation, with its sign changed if less is better; value of a program, with its own
	// sign
	Objective string `json:"objective"`
	// the program that computes the objective; absent: a model does
	Program *record.Program `json:"program,omitempty"`
	Status  Status          `json:"status"` // of the fit to all of the training data
	// number of jobs not on record: fits, and trials known to have been proposed
	Missing int `json:"missing"`
	// hyperparameters of the fit to all of the training data, natural units
	Hyperparameters Values `json:"hyperparameters"`
	// log evidence of the fit to all of the training data, nats; null: there is none
	LogEvidence Number `json:"log_evidence"`
	// false if the fit to all of the training data had not converged and was used nevertheless
	Converged *bool `json:"converged,omitempty"`
	// leave-one-out score of the training cases, if the inference provides it
	LeaveOneOut *LeaveOneOut `json:"leave_one_out,omitempty"`
	// inducing inputs of the fit to all of the training data
	Inducing *record.Inducing `json:"inducing,omitempty"`
	// standard errors of hyperparameters on the theta scale, from the curvature of the tuning
	// objective
	StandardErrors Values `json:"standard_errors,omitempty"`
	// correlations of the errors of hyperparameters on the theta scale, in the order of
	// standard_errors
	Correlations [][]Number `json:"correlations,omitempty"`
	// posterior of the free hyperparameters, from Markov chains
	Posterior []record.Marginal `json:"posterior,omitempty"`
	// coefficients of logistic regression on all of the training data, unless its inputs are
	// whitened
	Coefficients []record.Coefficient `json:"coefficients,omitempty"`
	// restarts on all of the training data; local optimisers and chains only
	Restarts    []Restart    `json:"restarts"`
	Scores      Scores       `json:"scores"`      // of the first of the evaluations
	Evaluations []Evaluation `json:"evaluations"` // every evaluation
	// fits to every training set except all of the training data
	Folds []Fold `json:"folds"`
	// points evaluated as proposed: grids, random and adaptive search
	Grid     []GridPoint          `json:"grid"`
	Best     []Best               `json:"best"`     // the best points of grid
	Curves   Curves               `json:"curves"`   // of the first of the evaluations
	Warnings []Notice             `json:"warnings"` // of its fits and trials
	Failures []Failure            `json:"failures"` // what could not be computed
	nested   bool                 // it represents nested cross-validation
	Record   record.Configuration `json:"-"` // as declared
	// recorded results of each study: the first study is of all the training data
	Studies []Study `json:"-"`
}

// marked returns false if a recorded fit had not converged, else nil.
func marked(f *record.Fit) *bool {
	if f.Converged {
		return nil
	}
	return new(bool)
}

// LeaveOneOut is the score of the training cases, each predicted from all the others at the same
// hyperparameters, computed from the cavities of the one fit.
type LeaveOneOut struct {
	// mean of log p(y_i|y_-i) over the training cases, nats; with one_vs_rest the mean of the sum
	// over classes
	LogProbability Number `json:"log_probability"`
}

// LeftOneOut is the leave-one-out log probability; NaN if there is none.
func (c Configuration) LeftOneOut() Number {
	if c.LeaveOneOut == nil {
		return Number(math.NaN())
	}
	return c.LeaveOneOut.LogProbability
}

// Hybrid reports whether one inference is tuned and another predicts.
func (c Configuration) Hybrid() bool {
	return !c.TuneInference.IsZero() && c.TuneInference.Text != c.Inference.Text
}

// Restart is one run of a local optimiser, or one Markov chain, whose end is its last sample.
type Restart struct {
	Trial int    `json:"trial"` // its number, from 0
	Start Values `json:"start"` // initial hyperparameters, natural units
	End   Values `json:"end"`   // final hyperparameters, natural units
	// value of the tuning objective at the end, nats if it is a log density
	Value Number `json:"value"`
	// largest absolute entry of the objective's gradient over theta at the end; null for a chain
	Gradient    Number `json:"gradient"`
	Status      string `json:"status"`           // how it ended
	Evaluations int    `json:"evaluations"`      // number of evaluations of the objective
	Chosen      bool   `json:"chosen,omitempty"` // it has the largest value
	// the inference method that was tuned, if its optimum is only a start for the method that tunes
	Preliminary string `json:"preliminary,omitempty"`
	Own         bool   `json:"own,omitempty"` // a user has enqueued its start
}

// GridPoint is one evaluated point. Its value comes from the study of all the training data, its
// scores from the first of the Evaluations. Over several folds a count adds up, and every other
// score, including auc and rmse, is the mean of the folds weighted by their held-out cases. There
// are no scores if a fold lacks them or evaluated other points.
type GridPoint struct {
	Trial int    `json:"trial"` // number of the trial that evaluated it
	Point Values `json:"point"` // hyperparameters, natural units
	// nats, if the log evidence is tuned; otherwise see value
	LogEvidence *Number `json:"log_evidence,omitempty"`
	// value of the tuning objective, if that is not the log evidence
	Value         *Number `json:"value,omitempty"`
	StandardError Number  `json:"standard_error,omitempty"` // of a sampled log evidence, nats
	// scores of the held-out cases of the first of the evaluations, over its folds, and their
	// number n
	Scores Values `json:"scores"`
	Chosen bool   `json:"chosen,omitempty"` // it has the largest value
	Own    bool   `json:"own,omitempty"`    // a user has enqueued it
	// the point was evaluated with a part of the budget, and cannot be the best
	Preliminary bool `json:"preliminary,omitempty"`
	// part of a model's budget, such as "11 % of the cases"; or "stopped early", or "outside the
	// bounds"
	Share string `json:"share,omitempty"`
	// named values of a program: objectives, and values with required bounds
	Values Values `json:"values,omitempty"`
	// path, in the run folder, of what the program wrote, without .stdout.txt and .stderr.txt
	Output string `json:"output,omitempty"`
}

// Objective is the value of the tuning objective.
func (p GridPoint) Objective() float64 {
	if p.Value != nil {
		return float64(*p.Value)
	}
	return float64(*p.LogEvidence)
}

// Best is the first point of the grid that is best by the tuning objective or by a score. If the
// values of a program have noise, it is the point with the best expected value.
type Best struct {
	By    string `json:"by"`    // the tuning objective or the score
	Value Number `json:"value"` // its value there; with noise the expected value
	// posterior standard deviation of an expected value; absent: the value is a trial's
	StandardDeviation *Number `json:"standard_deviation,omitempty"`
	// index into grid of the trial with the best value, the luckiest, if value is an expected one
	Luckiest *int `json:"luckiest,omitempty"`
	Trial    int  `json:"trial"` // number of the trial that evaluated the point
	Point    int  `json:"point"` // index into grid, from 0
}

// Evaluation is one way of holding out cases, with all its folds pooled. The cases of all folds
// count equally. The baseline of a fold is computed from its training part.
type Evaluation struct {
	Name  string `json:"name"`  // the splitter, or test
	Folds int    `json:"folds"` // planned number of folds
	// number of folds with recorded predictions; scores, confusion, decisions and curves are over
	// these
	Scored int    `json:"scored"`
	Status Status `json:"status"` // the worst status of a fold
	// scores of the predictions of all folds together; with "partial", of some folds
	Scores    Scores  `json:"scores"`
	Confusion [][]int `json:"confusion"` // number of cases of class i decided to be class j
	// decisions by the threshold, or else with the least expected cost, if the experiment has costs
	Decisions *Decisions `json:"decisions,omitempty"`
	Curves    Curves     `json:"curves"` // of the predictions of all folds together
	extremes  [2]float64 // probabilities of the last class
}

// Decisions are the costs of decisions, including rejections, under the predictions.
type Decisions struct {
	Loss     Number     `json:"mean_loss"`     // mean cost per case, in the units of the costs
	CI95     *[2]Number `json:"ci95"`          // 95 % interval of mean_loss; null: there is none
	Expected Number     `json:"expected_loss"` // mean expected cost per case, by the predicted probabilities
	// mean cost per case when deciding for the class with the largest probability
	Likeliest Number `json:"largest_probability_loss"`
	Rejected  int    `json:"rejected"` // rejected cases
	// [i][j]: number of cases of class i decided to be class j; the last column counts rejections
	Table [][]int `json:"table"`
}

// Fold is one study: tuned on its training part, scored on its held-out cases.
type Fold struct {
	Evaluation      string `json:"evaluation"`          // the evaluation that it belongs to
	Repeat          int    `json:"repeat"`              // index of the repeat, from 0
	Fold            int    `json:"fold"`                // index of the fold, from 0
	Train           int    `json:"train"`               // training cases
	Test            int    `json:"test"`                // held-out cases
	Status          Status `json:"status"`              // done, cut (eliminated by a race), dropped, failed or missing
	Hyperparameters Values `json:"hyperparameters"`     // natural units, tuned on its training cases
	LogEvidence     Number `json:"log_evidence"`        // of its training cases, nats; null: there is none
	Converged       *bool  `json:"converged,omitempty"` // false if the fit had not converged and was used nevertheless
	// decision threshold on the probability of the second of two classes, if it was chosen on folds
	// of the training cases
	Threshold *Number `json:"threshold,omitempty"`
	Scores    Scores  `json:"scores"` // of its held-out cases
}

// Failure is something that could not be computed, with the reason.
type Failure struct {
	Evaluation string `json:"evaluation"` // the evaluation; train is all of the training data
	Repeat     int    `json:"repeat"`     // of the evaluation, from 0
	Fold       int    `json:"fold"`       // of the evaluation, from 0
	Trial      *int   `json:"trial"`      // index from 0; null: the final fit
	// all hyperparameters at the failure, or at the start of the optimiser, natural units
	Point   Values     `json:"point"`
	Theta   Values     `json:"theta"`   // the free hyperparameters at the failure, exactly, on the theta scale
	Kind    cause.Kind `json:"kind"`    // the kind of reason
	Message string     `json:"message"` // the reason
	// path, in the run folder, of what the program wrote, without .stdout.txt and .stderr.txt
	Output string `json:"output,omitempty"`
	text   string // the message without its place
	job    bool   // whether a whole job failed, not only one of its points
	asked  Values // the point of a program's trial, natural units
}

// Scores are the scores of N predictions, in the order of cv.Scores, without undefined ones.
type Scores struct {
	N       int
	Weight  float64 // sum of the weights of the predictions
	Results []cv.Result
	Partial *Partial // nil: all planned folds, or a single one
}

// Value returns a score's estimate.
func (s Scores) Value(name string) (e cv.Estimate, ok bool) {
	for _, r := range s.Results {
		if r.Name == name {
			return r.Estimate, true
		}
	}
	return e, false
}

// Curves are the curves of the experiment.
type Curves []Curve

// Curve is a curve and its points.
type Curve struct {
	cv.Curve
	cv.Series
}

// SoFar returns a suffix for counts that may still grow.
func (c Configuration) SoFar() string {
	if c.Status == Missing {
		return " so far"
	}
	return ""
}

// Equals returns a remark if other points are equally good.
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

// Among returns the number of points that the best was chosen from, as "12 of 30 points" if it was
// chosen from only some.
func (c Configuration) Among(by string) (text string, some bool) {
	n := 0
	for _, p := range c.Grid {
		if _, known := p.by(by, c.Objective); known {
			n++
		}
	}
	if n < len(c.Grid) {
		return fmt.Sprintf("%d of %d points%s", n, len(c.Grid), c.SoFar()), true
	}
	return fmt.Sprintf("%d points%s", n, c.SoFar()), false
}

// Tuned names the tuning objective, and its inference method if another one predicts.
func (c Configuration) Tuned() string {
	if c.Hybrid() {
		return c.Maximised() + " of " + c.TuneInference.Text
	}
	return c.Maximised()
}

// Minimises reports whether the least value of the tuning objective is best.
func (c Configuration) Minimises() bool { return c.Program != nil && c.Program.Minimize }

// Maximised names the tuning objective for people: if less of a score is better, its values have
// the sign changed. The value of a program has its own sign.
func (c Configuration) Maximised() string {
	if c.Program != nil {
		return cmp.Or(c.Program.Field, c.Objective)
	}
	if name, cross := strings.CutPrefix(c.Objective, "cv_"); cross {
		if s, err := cv.ScoreNamed(name); err == nil && !s.Greater {
			return "negative " + c.Objective
		}
	}
	return c.Objective
}

// Folded names a fold, with its repeat unless that is the first. All training data, a test set and
// the search of a program are no folds.
func Folded(evaluation string, repeat, fold int) string {
	if evaluation == "train" || evaluation == "test" || evaluation == "search" {
		return evaluation
	}
	if repeat > 0 {
		evaluation += fmt.Sprintf(" repeat %d", repeat)
	}
	return fmt.Sprintf("%s fold %d", evaluation, fold)
}

// Where describes the place of a failure.
func (f Failure) Where() string {
	where := Folded(f.Evaluation, f.Repeat, f.Fold)
	if f.Trial != nil {
		where += fmt.Sprintf(" trial %d", *f.Trial)
	}
	if len(f.asked) > 0 {
		where += " at " + Assignments(f.asked, Readable)
	} else if len(f.Theta) > 0 {
		where += " at " + Assignments(f.Theta, Significant)
	}
	return where
}

// String describes the place and the reason.
func (f Failure) String() string { return f.Where() + ": " + f.Message }

// by returns the tuning objective or a score, if it is finite.
func (p GridPoint) by(name, objective string) (v float64, known bool) {
	if v, known = p.Objective(), true; name != objective {
		v, known = p.Scores.Get(name)
	}
	return v, known && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// Named returns the values of the hyperparameters in order. Hyperparameters with one value per
// input are named by input: "length_scale[age]".
func (c Configuration) Named(values Values) Values {
	out := slices.Clone(values)
	for i, h := range c.behind(values) {
		out[i].Name = h.Shown()
	}
	return out
}

// behind returns the hyperparameters that these values belong to.
func (c Configuration) behind(values Values) (all []record.Hyperparameter) {
	for _, v := range values {
		i := slices.IndexFunc(c.Record.Hyperparameters, func(h record.Hyperparameter) bool { return h.Name == v.Name })
		all = append(all, c.Record.Hyperparameters[i])
	}
	return all
}

// ByInput returns the hyperparameters for readers: named by input, with length scales in ascending
// order, so that the most relevant input is first.
func (c Configuration) ByInput(values Values) Values {
	out := c.Named(values)
	first, of := 0, ""
	for i, h := range c.behind(values) {
		at := strings.LastIndexByte(h.Name, '[')
		if at < 0 || h.Column == "" {
			of = ""
			continue
		}
		name := h.Name[:at]
		if name != of {
			first, of = i, name
		}
		if strings.HasSuffix(name, "length_scale") {
			slices.SortStableFunc(out[first:i+1], func(a, b record.Named) int { return cmp.Compare(a.Value, b.Value) })
		}
	}
	return out
}

// worst is the worst status of the fit to all training data and of the evaluations.
func (c *Configuration) worst() Status {
	status := c.Status
	for _, e := range c.Evaluations {
		status = worse(status, e.Status)
	}
	return status
}
