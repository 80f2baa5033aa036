package catalogue

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/columns"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/reports"
)

// patience is the maximum expected time of a first study, in seconds.
const patience = 120

// problem is what a study is chosen for.
type problem struct {
	cases, inputs int
	classes       []data.Count   // none for a numeric label
	target        columns.Spread // of a numeric label in a table
	test          *data.Summary  // nil: there is no test set
	grouped       bool
	ordered       bool // the classes have an order
}

// smallest is the number of cases of the smallest class.
func (p problem) smallest() int {
	n := p.cases
	for _, c := range p.classes {
		n = min(n, c.N)
	}
	return n
}

// Targets whose standard deviation is within a factor of ordinary of 1 need no other starting
// values than the default ones, and between leastSD and mostSD no other bounds.
const (
	ordinary = 5
	leastSD  = 0.1
	mostSD   = 1e4
)

// scaled reports whether a search from the default values would begin far from the targets.
func (p problem) scaled() bool {
	s := p.target
	return s.SD > 1e-200 && s.SD < 1e200 && // numbers beyond have no squares
		(s.SD > ordinary || s.SD < 1./ordinary || math.Abs(s.Mean) > ordinary*s.SD)
}

// start is where a hyperparameter in the unit of the targets begins.
func (p problem) start(value float64) string {
	if s := p.target.SD; s < leastSD || s > mostSD {
		return fmt.Sprintf("{init: %s, bounds: [%s, %s]}", twoDigits(value), twoDigits(value/1e4), twoDigits(value*1e4))
	}
	return fmt.Sprintf("{init: %s}", twoDigits(value))
}

// mean is the mean of the targets, to a tenth of their standard deviation.
func (p problem) mean() string {
	digit := math.Pow10(int(math.Floor(math.Log10(p.target.SD))) - 1)
	return strconv.FormatFloat(math.Round(p.target.Mean/digit)*digit, 'g', 12, 64)
}

// twoDigits is a number with two significant digits.
func twoDigits(v float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 1, 64), 64) // it was formatted as one
	return strconv.FormatFloat(rounded, 'g', -1, 64)
}

// study is a study that a file can start with.
type study struct {
	kernels   []string
	inference []string
	restarts  int
	folds     int // 0: one part is held out
	inducing  int
	steps     int // maximum number of evaluations of the objective; 0: no limit
	subsample int
}

// Kernels of studies: one length scale for all inputs, one for each, and the latter plus a linear
// kernel.
const (
	same  = "{se: {ard: false}}"
	each  = "{se: {ard: true}}"
	trend = "{sum: [linear, {se: {ard: true}}]}"
)

// Numbers of cases up to which a study uses the full covariance matrix, and up to which it uses all
// cases.
const (
	mostDense = 4000
	mostWhole = 100000
)

// studies are the studies for classes, from the largest to the smallest.
var studies = []study{
	{kernels: []string{same, each, trend}, inference: []string{"laplace", "ep"}, restarts: 3, folds: 10},
	{kernels: []string{same, each, trend}, inference: []string{"ep"}, restarts: 2, folds: 10},
	{kernels: []string{same, trend}, inference: []string{"ep"}, restarts: 2, folds: 5},
	{kernels: []string{same, trend}, inference: []string{"laplace"}, restarts: 1, folds: 5},
	{kernels: []string{trend}, inference: []string{"laplace"}, restarts: 1, folds: 5},
	{kernels: []string{trend}, inference: []string{"laplace"}, restarts: 1},
	{kernels: []string{trend}, inference: []string{"laplace"}, restarts: 1, inducing: 500, steps: 60},
	{kernels: []string{trend}, inference: []string{"laplace"}, restarts: 1, inducing: 200, steps: 40},
	{kernels: []string{trend}, inference: []string{"laplace"}, restarts: 1, inducing: 100, steps: 30},
	{kernels: []string{trend}, inference: []string{"laplace"}, restarts: 1, inducing: 50, steps: 30},
	{kernels: []string{trend}, inference: []string{"laplace"}, restarts: 1, inducing: 200, steps: 40, subsample: 50000},
	{kernels: []string{trend}, inference: []string{"laplace"}, restarts: 1, inducing: 100, steps: 30, subsample: 50000},
	{kernels: []string{trend}, inference: []string{"laplace"}, restarts: 1, inducing: 50, steps: 30, subsample: 20000},
	{kernels: []string{same}, inference: []string{"laplace"}, restarts: 1, inducing: 50, steps: 20, subsample: 10000},
	{kernels: []string{same}, inference: []string{"laplace"}, restarts: 1, inducing: 50, steps: 20, subsample: 2000},
}

// Started is an experiment to start with.
type Started struct {
	Text     string   // of the configuration file
	About    string   // what is predicted from what
	Seconds  float64  // expected duration at nominal rates, with a worker for every core; 0: unknown
	Warnings []string // of its plan
}

// choose writes the first study whose expected time is short enough, or else the smallest.
func (w *starter) choose(ctx context.Context, p problem) (chosen Started, err error) {
	larger := ""
	for k, s := range studies {
		if s.inducing == 0 && p.cases > mostDense || s.subsample == 0 && p.cases > mostWhole ||
			s.inducing >= p.cases || s.subsample >= p.cases {
			continue
		}
		chosen, err = started(ctx, w.path, w.String()+s.write(p, larger))
		if err != nil || chosen.Seconds <= patience || k == len(studies)-1 {
			break
		}
		larger = fmt.Sprintf("about %v: %s", reports.Duration(chosen.Seconds), s.brief(p))
	}
	return chosen, err
}

// started plans an experiment. Its expected time is at nominal rates: the same file is written
// everywhere.
func started(ctx context.Context, path, text string) (Started, error) {
	p, err := plan.Parse(ctx, path, []byte(text), nil)
	if err != nil {
		return Started{}, fmt.Errorf("the experiment that is written for these data cannot be run: %w", err)
	}
	seconds, _ := plan.Expected(p.Overview(plan.Nominal), runtime.GOMAXPROCS(0))
	about := ""
	if len(p.Manifest.Data) > 0 {
		about = p.Manifest.Data[0].About
	}
	return Started{text, about, seconds, cause.Texts(p.Manifest.Warnings)}, nil
}

// model returns the likelihood and the inference methods, including comparators.
func (s study) model(p problem) (likelihood string, inference []string) {
	comparators := []string{"base_rate", "logistic_regression"}
	switch {
	case p.classes == nil:
		noise := "{init: 1}"
		if p.scaled() {
			noise = p.start(p.target.SD / 2)
		}
		likelihood, inference, comparators = "{gaussian: {noise: "+noise+"}}", []string{"exact"}, nil
	case p.ordered:
		likelihood, inference = "[softmax, ordinal]", []string{"laplace"}
	case len(p.classes) > 2:
		likelihood, inference = "softmax", []string{"laplace"}
	default:
		likelihood, inference = "probit", slices.Clone(s.inference)
	}
	if s.inducing > 0 {
		for i, name := range inference {
			inference[i] = fmt.Sprintf("{%s: {inducing: %d}}", name, s.inducing)
		}
	}
	return likelihood, append(inference, comparators...)
}

// evaluation is how the study is evaluated. A part is held out only if it has about twenty cases of
// every class: fewer would estimate the errors of that class too poorly.
func (s study) evaluation(p problem) string {
	smallest := p.smallest()
	if s.subsample > 0 {
		smallest = smallest * s.subsample / p.cases
	}
	folds := min(cmp.Or(s.folds, 5), smallest, p.cases/4)
	switch {
	case p.test != nil:
		return "test"
	case p.grouped:
		stratified := ""
		if p.classes != nil {
			stratified = ", stratified: true"
		}
		return fmt.Sprintf("{group_kfold: {k: %d%s}}", min(5, cmp.Or(s.folds, 2)), stratified)
	case s.folds == 0 && smallest >= 100:
		return "{hold_out: {test_size: 0.2}}"
	}
	return fmt.Sprintf("{kfold: {k: %d}}", max(2, folds))
}

// brief describes the study in a few words.
func (s study) brief(p problem) string {
	_, inference := s.model(p)
	return fmt.Sprintf("kernel: [%s], inference: [%s], restarts: %d, evaluate: %s", strings.Join(s.kernels, ", "),
		strings.Join(inference, ", "), s.restarts, s.evaluation(p))
}

// write writes what follows the data section; larger is a study that takes longer, if there is one.
func (s study) write(p problem, larger string) string {
	w := &starter{}
	if s.subsample > 0 {
		w.line("  subsample: %d # of the cases, drawn in each class; without it all are used", s.subsample)
	}
	w.line("  preprocess: standardize # none | standardize | whiten; fitted on the training part of every split")
	w.line("")
	likelihood, inference := s.model(p)
	w.line("model: # any value may be a list: every combination is tuned and compared")
	w.line("  kernel: # gpc-tune list kernels; ard: true gives every input a length scale")
	for _, k := range s.kernels {
		if p.scaled() {
			amplitude := "amplitude: " + p.start(p.target.SD)
			k = strings.NewReplacer("{se: {", "{se: {"+amplitude+", ", "[linear,",
				"[{linear: {"+amplitude+"}},").Replace(k)
		}
		w.line("    - %s", k)
	}
	if p.scaled() {
		w.line("  mean: {constant: {fixed: %s}} # the label has mean %.6g and standard deviation %.6g", p.mean(),
			p.target.Mean, p.target.SD)
	}
	w.line("  likelihood: %s", likelihood)
	if p.target.Skewed {
		w.line("  # the label is skewed: a column of its logarithms may be predicted better")
	}
	w.line("  inference: [%s] # gpc-tune list pairs", strings.Join(inference, ", "))
	if s.inducing > 0 {
		w.line("  # inducing inputs: a covariance of lower rank; more of them come nearer the whole one")
	}
	w.line("")
	steps := ""
	if s.steps > 0 {
		steps = fmt.Sprintf(", evaluations: %d", s.steps)
	}
	if slices.Contains(inference, "ep") && slices.Contains(inference, "laplace") {
		steps += ", start_inference: laplace"
	}
	w.line("tune: {method: bfgs, restarts: %d%s} # gpc-tune list strategies; objective: log_evidence unless it says "+
		"another", s.restarts, steps)
	w.line("")
	evaluated := "gpc-tune list splitters"
	if p.test != nil {
		evaluated = fmt.Sprintf("the %d cases of the test set; or kfold: {k: 10} and others, gpc-tune list splitters",
			p.test.Cases)
	}
	w.line("evaluate: %s # %s", s.evaluation(p), evaluated)
	if larger != "" {
		w.line("# with more time, %s", larger)
	}
	w.line("")
	w.line("report: {formats: [text, html]} # gpc-tune list formats")
	return w.String()
}
