// Package record has the plain data that a run writes and that scores and reports read: the
// manifest of a run folder and the lines of its journal.
package record

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/build"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// Manifest describes a run: the resolved declarations. It is written before the first job, and
// replaced when the experiment is extended.
type Manifest struct {
	Schema     string `json:"schema"`     // "gpc-tune/manifest/5"
	Experiment string `json:"experiment"` // the name in the YAML file
	// the YAML file, or the gallery's entry, as given when the run began
	Source   string    `json:"source,omitempty"`
	Settings []string  `json:"settings,omitempty"` // path=value assignments that changed Source
	Seed     uint64    `json:"seed"`
	Key      string    `json:"key"`      // content hash of everything that determines the results
	KeyForm  int       `json:"key_form"` // version of the content of keys
	Build    Build     `json:"build"`    // the build that began the run
	Tune     string    `json:"tune"`     // the section tune, as YAML flow text
	Average  Component `json:"average"`  // empty: averaged
	Reject   string    `json:"reject"`   // max_probability | gap
	Curves   []string  `json:"curves"`
	Formats  []string  `json:"formats"`
	Figures  []string  `json:"figures,omitempty"` // figures drawn into files; empty: all
	Print    *Print    `json:"print,omitempty"`   // for figures in files; nil: as on a screen
	// meaning of every component text that is more than a word
	Components     []Declared      `json:"components,omitempty"`
	Configurations []Configuration `json:"configurations"`
	Data           []Described     `json:"data,omitempty"`
	IDs            []IDs           `json:"ids,omitempty"`
	Groups         []Groups        `json:"groups,omitempty"`
	Contests       []Contest       `json:"contests,omitempty"`
	// for an experiment without data, which has no configurations
	Illustrations []Illustration `json:"illustrations,omitempty"`
	Warnings      []cause.Notice `json:"warnings,omitempty"`
	Sum           string         `json:"sum,omitempty"` // checksum of the bytes before it
	// configurations that the user has dropped, from the control file
	Dropped []int `json:"-"`
}

// Command is the command of gpc-tune that runs such an experiment, and the word for the experiment.
func (m Manifest) Command() string {
	if slices.ContainsFunc(m.Configurations, func(c Configuration) bool { return c.Program != nil }) {
		return "search"
	}
	return "run"
}

// Print configures figures for print, lengths in points; zero values mean as on a screen.
type Print struct {
	Width    float64 `json:"width,omitempty"`
	Font     float64 `json:"font,omitempty"`
	Untitled bool    `json:"untitled,omitempty"`
	Lines    int     `json:"lines,omitempty"` // curves per panel; 0: four
}

// IDs are the columns of a file that only identify cases.
type IDs struct {
	DataHash string     `json:"data_hash"`      // the data of the configurations to which they belong
	Test     bool       `json:"test,omitempty"` // the file is the test file, not the training file
	Rows     []int      `json:"rows"`           // rows of the cases in the file, from 0, ascending
	Columns  []IDColumn `json:"columns"`
}

// Groups has the groups of cases that belong together.
type Groups struct {
	DataHash string `json:"data_hash"`      // the data of the configurations to which they belong
	Test     bool   `json:"test,omitempty"` // the file is the test file, not the training file
	Of       []int  `json:"of"`             // the group of each row of the file; -1: the row is no case
}

// IDColumn is a column of IDs.
type IDColumn struct {
	Name   string   `json:"name"`
	Values []string `json:"values"` // one for each of Rows
}

// Build identifies the program; bit-identical results are promised for one build on one
// architecture.
type Build = build.Build

// Configuration is one cell of the cross product that an experiment declares. Keys of studies are
// hashes of its JSON and of the Contest's JSON.
type Configuration struct {
	Dataset  string   `json:"dataset"`
	DataHash string   `json:"data_hash"`
	Cases    int      `json:"cases"` // training cases
	Inputs   int      `json:"inputs"`
	Label             // an empty TuneInference means Inference
	Classes  []string `json:"classes"`           // labels in order; for two classes the second is +1
	Ordered  bool     `json:"ordered,omitempty"` // the file gives the order of the classes
	Tune     string   `json:"tune"`
	// the inference whose objective finds the start of the local optimiser; absent: none
	StartInference Component `json:"start_inference,omitzero"`
	// the number of training cases whose objective finds that start; 0: all
	StartCases int `json:"start_cases,omitempty"`
	// the quantity in Point.Value: "log_evidence" (also if empty), another tuning objective, or
	// "cv_" and a score, with the sign for which more is better; "value" of a Program
	Objective       string           `json:"objective"`
	Program         *Program         `json:"program,omitempty"` // the objective, in place of a model
	Hyperparameters []Hyperparameter `json:"hyperparameters"`   // all, in the order of theta
	Studies         []Study          `json:"studies"`           // the first is on all of the training data
	Missing         string           `json:"missing,omitempty"` // imputation of missing values: mean or median
	// versions of components, by kind and name, if not 1
	Versions map[string]int `json:"versions,omitempty"`
	Costs    *Costs         `json:"costs,omitempty"`
	Coverage *Number        `json:"coverage,omitempty"` // of conformal sets; absent: there are none
}

// Calibrating lists the studies whose held-out cases conformal sets compare with: the folds of the
// first evaluation that has several and is not nested. None: there is no such evaluation.
func (c Configuration) Calibrating() (studies []int) {
	for i, s := range c.Studies {
		switch first := len(studies) == 0; {
		case strings.HasPrefix(s.Evaluation, "nested"):
		case first || s.Evaluation == c.Studies[studies[0]].Evaluation:
			studies = append(studies, i)
		case len(studies) == 1:
			studies = []int{i}
		}
	}
	if len(studies) < 2 {
		return nil
	}
	return studies
}

// Methods names the inference method, and the methods for tuning and for the start of tuning if
// they differ from it.
func (c Configuration) Methods() string {
	text := c.Inference.Text
	if c.TuneInference.Text != text {
		text += ", tuned with " + c.TuneInference.Text
	}
	if start := c.Start(); start != "" {
		text += ", started from " + start
	}
	return text
}

// Start describes the objective that finds the start of the local optimiser: another inference
// method, fewer cases, or both; "": there is none.
func (c Configuration) Start() string {
	text := c.StartInference.Text
	if c.StartCases == 0 {
		return text
	}
	if text != "" {
		text += " of "
	}
	return fmt.Sprintf("%s%d cases", text, c.StartCases)
}

// String is the name in messages.
func (c Configuration) String() string {
	if c.Program != nil {
		return c.Dataset + ", " + c.Tune
	}
	parts := []string{c.Dataset, c.Kernel.Text, c.Likelihood.Text, c.Methods()}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "none" }) // of comparators
	return strings.Join(parts, ", ")
}

// Rejected is the decision to reject a case.
const Rejected = "reject"

// Costs are the costs of decisions: Loss[c][d] is the cost of deciding for class d if the true
// class is c, and Reject the cost of rejecting, if that is allowed.
type Costs struct {
	Loss   [][]Number `json:"loss"`
	Reject *Number    `json:"reject,omitempty"`
}

// Contest is a contest of configurations with the same data. It decides which of their studies run:
// each configuration runs the Folds in order until it is eliminated. The survivors, or with
// WinnerOnly the winner, then run Next.
type Contest struct {
	// the evaluation of the folds, or with WinnerOnly the outer fold that Next holds out
	Evaluation string `json:"evaluation"`
	// the criterion, computed from the predictions of all Folds together; "log_evidence", without
	// Folds, is taken from the study Next
	Score          string          `json:"score"`
	Race           string          `json:"race,omitempty"`
	Options        json.RawMessage `json:"options,omitempty"` // options of the race
	Configurations []int           `json:"configurations"`    // indices into Manifest.Configurations
	Folds          []int           `json:"folds"`             // indices into their Studies
	Next           []int           `json:"next"`              // more indices into their Studies
	// only the winner runs Next: nested cross-validation
	WinnerOnly bool `json:"winner_only,omitempty"`
}

// Hyperparameter names one entry of theta.
type Hyperparameter struct {
	Name   string `json:"name"`  // name in natural units: "length_scale"
	Theta  string `json:"theta"` // name on the theta scale: "log_length_scale"
	Fixed  bool   `json:"fixed,omitempty"`
	Column string `json:"column,omitempty"` // the input column, if there is one value per column
	// texts for the values 0, 1, …, if they have no order
	Choices []string `json:"choices,omitempty"`
	// Choices in JSON, with their types in the file, if some are no texts
	Literals []json.RawMessage `json:"literals,omitempty"`
	// the condition under which this hyperparameter matters; nil: it always does
	When *param.Condition `json:"when,omitempty"`
	// the least and the largest value of a tuned hyperparameter, natural units
	Bounds []Number `json:"bounds,omitempty"`
	// the start of the search, natural units
	Init   Number `json:"init,omitzero"`
	Whole  bool   `json:"whole,omitempty"`  // the values are whole numbers
	Step   Number `json:"step,omitzero"`    // distance between two values; 0: 1 for Whole, else any is one
	Log    bool   `json:"log,omitempty"`    // whole numbers are searched evenly in the logarithm
	Budget bool   `json:"budget,omitempty"` // it is the budget of the strategy
	// bounds in a search without a local optimiser; nil: the hyperparameter is not searched, the
	// search has a local optimiser, or the manifest is of an earlier version
	Range *Range `json:"range,omitempty"`
}

// Range bounds the values of a hyperparameter in a search, on the theta scale.
type Range struct {
	Lo   Number `json:"lo"`
	Hi   Number `json:"hi"`
	Init Number `json:"init"`           // initial value
	Even bool   `json:"even,omitempty"` // uniform between Lo and Hi; false: densest about Init
}

// Spec is the hyperparameter in natural units, for checks of values.
func (h Hyperparameter) Spec() param.Spec {
	s := param.Spec{Name: h.Name, Map: param.Identity, Lo: math.Inf(-1), Hi: math.Inf(1), Init: float64(h.Init),
		Choices: h.Choices, Step: float64(h.Step), Log: h.Log, When: h.When}
	for _, l := range h.Literals {
		s.Literals = append(s.Literals, string(l))
	}
	if len(h.Bounds) == 2 {
		s.Lo, s.Hi = float64(h.Bounds[0]), float64(h.Bounds[1])
	}
	switch {
	case h.Choices != nil:
		s.Map, s.Lo, s.Hi = param.Choice, 0, float64(len(h.Choices)-1)
	case h.Whole:
		s.Map = param.Whole
	case h.Step != 0:
		s.Map = param.Stepped
	default:
		for _, m := range []param.Transform{param.Log, param.Logit} {
			if (param.Spec{Name: h.Name, Map: m}).ThetaName() == h.Theta {
				s.Map = m
			}
		}
	}
	return s
}

// Literal returns choice i with its type in the file.
func (h Hyperparameter) Literal(i int) Literal {
	if i < len(h.Literals) {
		return Literal{h.Choices[i], string(h.Literals[i])}
	}
	return Literal{Text: h.Choices[i]}
}

// Literal is one of several choices without an order, as the user wrote it.
type Literal struct {
	Text string
	JSON string // the value in JSON, with its type; empty: the value is a text
}

// String is the text.
func (l Literal) String() string { return l.Text }

// MarshalJSON implements json.Marshaler.
func (l Literal) MarshalJSON() ([]byte, error) {
	if l.JSON == "" {
		return json.Marshal(l.Text)
	}
	return []byte(l.JSON), nil
}

// JSONSchema is the schema of MarshalJSON's output.
func (Literal) JSONSchema() map[string]any {
	return map[string]any{"type": []string{"string", "number", "boolean", "null"}}
}

// Shown is the name for reports: the name of the input stands in place of its number.
func (h Hyperparameter) Shown() string {
	if at := strings.LastIndexByte(h.Name, '['); at >= 0 && h.Column != "" {
		return h.Name[:at+1] + h.Column + "]"
	}
	return h.Name
}

// Study is the tuning of one configuration on one training set, and the assessment of its best
// trial on held-out cases.
type Study struct {
	Key string `json:"key"`
	// "train" (all training data, nothing held out), "training" (these cases predicted), "test", or
	// a splitter's name
	Evaluation string `json:"evaluation"`
	Repeat     int    `json:"repeat,omitempty"`
	Fold       int    `json:"fold"`
	Train      int    `json:"train"`             // number of training cases
	Test       int    `json:"test"`              // number of held-out cases
	Jobs       int    `json:"jobs,omitempty"`    // number of jobs: all trials, and the fit
	AtMost     bool   `json:"at_most,omitempty"` // the strategy may converge earlier
}

// Line is one line of the journal. It has the Trial or the Fit of a finished job, or neither if it
// withdraws a job.
type Line struct {
	Plan string `json:"plan,omitempty"` // Manifest.Key of the run
	Key  string `json:"key"`            // identifies the job; equal keys mean equal results
	// the number of times that the job was withdrawn to run again; lines of earlier attempts do not
	// count
	Attempt int     `json:"attempt,omitempty"`
	Retry   *Retry  `json:"retry,omitempty"` // in the withdrawal of a failed trial
	Trial   *Trial  `json:"trial,omitempty"`
	Fit     *Fit    `json:"fit,omitempty"`
	Seconds float64 `json:"seconds"`         // wall time; never enters results.json
	Build   string  `json:"build,omitempty"` // the build that computed it
	Sum     string  `json:"sum,omitempty"`   // checksum of the bytes before it
}

// Withdrawn reports whether the line withdraws a job.
func (l Line) Withdrawn() bool { return l.Trial == nil && l.Fit == nil && l.Attempt > 0 }

// Retry belongs to a failed trial that runs again. It records which later trials were proposed with
// knowledge of the failure.
type Retry struct {
	// Known is the number of trials that were proposed before the trial ran again. These trials are
	// kept: the strategy is asked for them with the failure, and for later trials with the new
	// result.
	Known int `json:"known"`
	Ended int `json:"ended,omitempty"` // Trial.Ended of the failure
	After int `json:"after,omitempty"` // Trial.After of the failure
}

// Trial is one proposal of a search strategy, evaluated: one restart of a local optimiser, one row
// of a grid, or one Markov chain.
type Trial struct {
	Configuration int `json:"configuration"` // index into Manifest.Configurations
	Study         int `json:"study"`         // index into Configuration.Studies
	Index         int `json:"index"`         // order of the proposal within the study
	// start of a local optimiser or chain: all hyperparameters, natural units; absent otherwise
	Start []Number `json:"start,omitempty"`
	// a local optimiser's end point, every point of a row, or a chain's samples
	Points []Point `json:"points"`
	// the path of a local optimiser from the start to the end point; on all of the training data
	// only
	Path []Step `json:"path,omitempty"`
	// the reason why a local optimiser ended; "evaluated" for points without one, "sampled" for a
	// chain
	Status      string         `json:"status"`
	Evaluations int            `json:"evaluations"`
	Warnings    []cause.Notice `json:"warnings,omitempty"`
	Failure     cause.Notice   `json:"failure,omitzero"` // why there is no usable point
	// Interim has the values on the way, with growing steps, in the sign of Point.Value.
	Interim []Interim `json:"interim,omitempty"`
	// Outside means that a value is not within the bounds that the file requires. Such a trial is
	// Preliminary too.
	Outside bool `json:"outside,omitempty"`
	// Early means that the trial was stopped early, and has its last value on the way. Such a trial
	// is Preliminary too.
	Early bool `json:"early,omitempty"`
	// Output is the path, in the run folder, of what the program wrote, without .stdout.txt and
	// .stderr.txt; absent: nothing was kept.
	Output string `json:"output,omitempty"`
	// Asked has the points of a trial that failed before its first result: free hyperparameters on
	// the theta scale.
	Asked [][]Number `json:"asked,omitempty"`
	// Ended is the place of the trial, from 1, in the order in which the trials of an asynchronous
	// search ended; absent: the search proposed in batches.
	Ended int `json:"ended,omitempty"`
	// Preliminary means that the values are of another objective, whose optimum is only a start.
	Preliminary bool `json:"preliminary,omitempty"`
	// Share is the fraction of the budget that the trial has, such as a ninth of the cases; absent:
	// all of it.
	Share Share `json:"share,omitzero"`
	// Enqueued is the number, from 1, of the enqueued point; absent: the strategy has proposed the
	// trial.
	Enqueued int `json:"own,omitempty"`
	// After is, for an enqueued point, the number of trials that the strategy had proposed when
	// this trial ended.
	After int `json:"after,omitempty"`
}

// Interim is a value of the objective after a step of a trial, such as an epoch.
type Interim struct {
	Step  float64 `json:"step"`
	Value Number  `json:"value"`
}

// Share is a fraction of a budget.
type Share struct {
	Of   string  `json:"of"`   // "cases", "folds" or "inducing"
	Part float64 `json:"part"` // above 0, at most 1
}

// String is a text such as "11 % of the cases"; "" for the whole budget.
func (s Share) String() string {
	if s == (Share{}) {
		return ""
	}
	of := s.Of
	if of == "inducing" {
		of = "inducing inputs"
	}
	return fmt.Sprintf("%.3g %% of the %s", 100*s.Part, of)
}

// Some is this fraction of a number, rounded, at least 1.
func (s Share) Some(all int) int {
	if s == (Share{}) {
		return all
	}
	return max(1, int(math.Round(s.Part*float64(all))))
}

// underWay is the status of a trial that has not ended. It is never on record.
const underWay = "under way"

// Begun is a trial under way at these points.
func Begun(points [][]float64) Trial {
	t := Trial{Status: underWay}
	for _, theta := range points {
		t.Asked = append(t.Asked, Numbers(theta))
	}
	return t
}

// UnderWay reports whether the trial has not ended.
func (t Trial) UnderWay() bool { return t.Status == underWay }

// Theta is the first point on the theta scale. For a trial without points it is the first of Asked.
func (t Trial) Theta() []float64 {
	switch {
	case len(t.Points) > 0:
		return Floats(t.Points[0].Theta)
	case len(t.Asked) > 0:
		return Floats(t.Asked[0])
	}
	return nil
}

// Value is the tuning objective at the first point; -Inf: there is none.
func (t Trial) Value() float64 {
	if len(t.Points) == 0 || !t.Failure.IsZero() || !t.Points[0].Usable() {
		return math.Inf(-1)
	}
	return float64(t.Points[0].Value)
}

// Failure is the reason why the job failed, if it did.
func (l Line) Failure() cause.Notice {
	switch {
	case l.Trial != nil:
		return l.Trial.Failure
	case l.Fit != nil:
		return l.Fit.Failure
	}
	return cause.Notice{}
}

// TimedOut reports whether the job exceeded its time limit: the only kind of failure that may not
// happen again.
func (l Line) TimedOut() bool { return l.Failure().Kind == cause.TimedOut }

// Point is one evaluated vector of hyperparameters.
type Point struct {
	Theta   []Number `json:"theta"`   // free hyperparameters on the theta scale, exact
	Natural []Number `json:"natural"` // all hyperparameters in natural units
	// named values of a program: objectives, and values with required bounds, in its own signs
	Values map[string]Number `json:"values,omitempty"`
	Value  Number            `json:"value"` // the tuning objective, maximised (log evidence in nats)
	// preprocessed inducing inputs, one per row, if they were tuned too
	Inputs Matrix `json:"inputs,omitempty"`
	// largest absolute entry of the gradient over theta and inputs; NaN if not computed
	Gradient Number            `json:"gradient"`
	Scores   map[string]Number `json:"scores,omitempty"` // on the study's held-out cases, if any
	// StandardError is the standard error of Value; 0: Value does not depend on random draws.
	StandardError Number       `json:"standard_error,omitempty"`
	Failure       cause.Notice `json:"failure,omitzero"` // why Value is NaN
}

// Usable reports whether Value is finite.
func (p Point) Usable() bool { return p.Failure.IsZero() && p.Value.Finite() }

// Step is the point of a local optimiser at the end of an iteration.
type Step struct {
	Theta []Number `json:"theta"` // free hyperparameters on the theta scale, exact
	Value Number   `json:"value"` // the tuning objective
	// scores on the held-out cases, if they are traced
	Scores map[string]Number `json:"scores,omitempty"`
	// log evidence by the inference that predicts, if it is traced and another inference is tuned
	LogEvidence *Number `json:"log_evidence,omitempty"`
}

// Fit is the model of one study at its chosen hyperparameters, with its predictions on the held-out
// cases: Labels and Proba, or Targets, Mean and Variance for numeric targets. With Markov chains
// the hyperparameters are the sample with the largest posterior density, to which LogEvidence and
// LeaveOneOut belong, and the predictions are averages over all samples.
type Fit struct {
	Configuration int `json:"configuration"`
	Study         int `json:"study"`
	Chosen        int `json:"chosen"` // index of the best trial; -1 if nothing was tuned
	// number of enqueued points among the trials; of two fits of a study the one with the larger
	// number counts
	Enqueued    int      `json:"own,omitempty"`
	Natural     []Number `json:"natural"`
	LogEvidence Number   `json:"log_evidence"`
	// mean log p(y_i|y_-i) of the training cases, nats; for the study of all the training data
	LeaveOneOut *Number `json:"leave_one_out,omitempty"`
	// inducing inputs, for a model that has fewer of them than cases
	Inducing *Inducing `json:"inducing,omitempty"`
	// number of evaluations of the climbs of bfgs with which the result of a search was compared
	Climbed int `json:"climbed,omitempty"`
	// expected value at the best point of a program whose values have noise, in the program's sign
	Expected    *Expected `json:"expected,omitempty"`
	Converged   bool      `json:"converged"`
	Iterations  int       `json:"iterations"`
	TrainCounts []int     `json:"train_counts"` // cases per class in the training part: the baseline
	// held-out cases, 0-based rows of the data set (or of its test file)
	Rows   []int `json:"rows,omitempty"`
	Labels []int `json:"labels,omitempty"` // their classes
	// weight of each held-out case; absent: 1 each
	Weights Vector `json:"weights,omitempty"`
	// sum of the weights of the training cases of each class, where cases have weights: the
	// baseline
	TrainWeights Vector `json:"train_weights,omitempty"`
	Proba        Matrix `json:"proba,omitempty"` // their class probabilities, one row per case
	// confidence of the predictions, if it is not a function of the probabilities
	Confidence Vector `json:"confidence,omitempty"`
	// parameters of the calibration of class probabilities: of each class, or of the second of two
	Calibration Matrix `json:"calibration,omitempty"`
	// least probability of the second of two classes at which the decision is for it
	Threshold *Number `json:"threshold,omitempty"`
	// the least and the largest held-out probability among which the threshold was chosen
	ThresholdRange Vector `json:"threshold_range,omitempty"`
	// latent means of the held-out cases: one list for two classes, else one per class
	LatentMean     Matrix `json:"latent_mean,omitempty"`
	LatentVariance Matrix `json:"latent_variance,omitempty"` // likewise
	// p(y = second class|E[f]) of the held-out cases, for two classes
	MAP Vector `json:"map,omitempty"`
	// effect of another average on the class probabilities of Laplace's method
	OtherAverage *OtherAverage `json:"other_average,omitempty"`
	// mean and variance of the numeric targets of the training part: the baseline
	TrainMoments *Moments `json:"train_moments,omitempty"`
	Targets      Vector   `json:"targets,omitempty"`  // numeric targets of the held-out cases
	Mean         Vector   `json:"mean,omitempty"`     // predictive means for them
	Variance     Vector   `json:"variance,omitempty"` // predictive variances, noise included
	// latent means of the training cases, as in LatentMean, for classes only, in the study of all
	// the training data. This and the next fields are for figures. With Markov chains they describe
	// the fit at the sample with the largest posterior density.
	TrainLatentMean Matrix `json:"train_latent_mean,omitempty"`
	TrainLabels     []int  `json:"train_labels,omitempty"` // their classes
	// predictions on a lattice, if there are one or two inputs and they are numeric
	Surface   *Surface   `json:"surface,omitempty"`
	Curvature *Curvature `json:"curvature,omitempty"` // if standard errors were requested and exist
	// posteriors of the free hyperparameters, from Markov chains
	Posterior []Marginal `json:"posterior,omitempty"`
	// weights of logistic regression on all of the training data, unless its inputs are whitened
	Coefficients []Coefficient  `json:"coefficients,omitempty"`
	Warnings     []cause.Notice `json:"warnings,omitempty"`
	Failure      cause.Notice   `json:"failure,omitzero"`
}

// Expected is the posterior of a value without its noise, by a regression of all values of a
// program.
type Expected struct {
	Value             Number `json:"value"` // posterior mean
	StandardDeviation Number `json:"standard_deviation"`
}

// OtherAverage compares the class probabilities of held-out cases with the probabilities by another
// average.
type OtherAverage struct {
	Average string `json:"average"`  // the other average: map, or averaged if the fit's is map
	Decided int    `json:"decided"`  // number of cases whose most probable class is another
	LogLoss Number `json:"log_loss"` // mean log loss by the other average less the fit's, nats
}

// Surface has the predictions of a fit on a lattice over the raw inputs, and its training cases.
// The points of the lattice are in rows along the first input.
type Surface struct {
	Names []string `json:"names"` // names of the inputs
	// the coordinates of the lattice along each input, ascending
	Axes [][]Number `json:"axes"`
	// inputs of the training cases; NaN for missing values
	Inputs  Matrix `json:"inputs"`
	Targets Vector `json:"targets,omitempty"` // their numeric targets
	// probabilities at the points: of the second of two classes, else one list per class
	Proba          Matrix `json:"proba,omitempty"`
	Mean           Vector `json:"mean,omitempty"`            // predictive mean of a numeric target
	Variance       Vector `json:"variance,omitempty"`        // predictive variance, noise included
	LatentMean     Matrix `json:"latent_mean,omitempty"`     // latent means, in lists as in Fit
	LatentVariance Matrix `json:"latent_variance,omitempty"` // likewise
	// the true values of Proba, or in one list of Mean, if they are known
	Truth Matrix `json:"truth,omitempty"`
}

// Curvature is Laplace's approximation of the tuning objective at its maximum: on the theta scale,
// the hyperparameters are approximately normal with these standard errors and correlations. Fixed
// hyperparameters and hyperparameters at a bound are left out.
type Curvature struct {
	Names          []string   `json:"names"` // theta names
	StandardErrors []Number   `json:"standard_errors"`
	Correlations   [][]Number `json:"correlations"`
}

// Moments are the mean and the variance (divisor n) of numbers.
type Moments struct {
	Mean     Number `json:"mean"`
	Variance Number `json:"variance"`
}

// components visits all components of a manifest.
func (m *Manifest) components() iter.Seq[*Component] {
	return func(yield func(*Component) bool) {
		all := []*Component{&m.Average}
		for i := range m.Configurations {
			c := &m.Configurations[i]
			all = append(all, &c.Kernel, &c.Mean, &c.Likelihood, &c.Inference, &c.TuneInference,
				&c.StartInference)
		}
		for i := range m.Illustrations {
			o := &m.Illustrations[i]
			all = append(all, &o.Kernel, &o.Mean, &o.Likelihood)
			for k := range o.Approximations {
				all = append(all, &o.Approximations[k].Inference)
			}
		}
		for _, c := range all {
			if !yield(c) {
				return
			}
		}
	}
}

// List sets Components to the table of components that are more than a word.
func (m *Manifest) List() {
	m.Components = nil
	listed := map[string]bool{}
	for c := range m.components() {
		if len(c.Parts) > 0 && !listed[c.Text] {
			listed[c.Text] = true
			m.Components = append(m.Components, Declared(*c))
		}
	}
}

// Link sets the meaning of every component from the table or, if parse is not nil, by parsing.
func (m *Manifest) Link(parse func(text string) Component) {
	table := map[string]Component{}
	for _, d := range m.Components {
		table[d.Text] = Component(d)
	}
	for c := range m.components() {
		if found, known := table[c.Text]; known {
			*c = found
		} else if parse != nil && c.Text != "" {
			*c = parse(c.Text)
			table[c.Text] = *c
		}
	}
}
