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
	"time"

	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/experiments/columns"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/reports"
)

// patience is the maximum expected time of a first study unless another is given.
const patience = 2 * time.Minute

// problem describes the data that a study is chosen for.
type problem struct {
	cases, inputs int
	classes       []data.Count   // none for a numeric label
	target        columns.Spread // only for a numeric label of a table
	test          *data.Summary  // nil: there is no test set
	grouped       bool
	ordered       bool     // the classes have an order
	skewed        []string // names of skewed inputs, for which a power may be better
}

// smallest is the number of cases of the smallest class.
func (p problem) smallest() int {
	n := p.cases
	for _, c := range p.classes {
		n = min(n, c.N)
	}
	return n
}

// The default starting values suit targets whose standard deviation is within a factor of ordinary
// of 1. The default bounds suit standard deviations between leastSD and mostSD.
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

// start returns the YAML of a hyperparameter in the unit of the targets: its initial value, and
// bounds if the default bounds do not fit.
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

// study is a study that a file can start with. For classes Laplace's method tunes and EP predicts.
type study struct {
	kernels   []string
	mode      bool // Laplace's method predicts, with probabilities at its mode
	restarts  int
	folds     int // 0: one part is held out
	inducing  int
	steps     int // maximum number of evaluations of the objective; 0: no limit
	subsample int
}

// Kernels of studies: one length scale for all inputs, one for each, the latter plus a linear
// kernel, a sum of functions of one input each, and one of rougher functions. MEAN stands for the
// mean of the priors of length scales. A rational quadratic kernel is nearly a squared exponential
// where the data have a single scale, and predicts better where they have several. For classes the
// largest log evidence without priors is often the one of an overfit. Studies of a numeric label
// have squared exponentials without priors, with which they predict as well or better. The figures
// are in docs/evidence.md.
const (
	scales = ", length_scale: {prior: {log_normal: {mean: MEAN, sd: 0.8}}}"
	ofOne  = ", amplitude: {prior: {log_normal: {mean: 0, sd: 1}}}, " +
		"length_scale: {prior: {log_normal: {mean: 0.7, sd: 0.8}}}"
	shape = ", alpha: {prior: {log_normal: {mean: 0, sd: 2}}}"
	same  = "{rational_quadratic: {ard: false" + scales + shape + "}}"
	each  = "{rational_quadratic: {ard: true" + scales + shape + "}}"
	trend = "{sum: [linear, {rational_quadratic: {ard: true" + scales + shape + "}}]}"
	apart = "{additive: {kernel: {se: {ard: true" + ofOne + "}}}}"
	rough = "{matern32: {ard: true" + scales + "}}"
)

// Numbers of cases up to which a study uses the full covariance matrix, and up to which it uses all
// cases.
const (
	mostDense = 4000
	mostWhole = 100000
)

var everyKernel = []string{same, each, trend, apart, rough}

// longer are studies for those who have more than patience, from the largest to the smallest.
var longer = []study{
	{kernels: everyKernel, restarts: 3, folds: 10},
	{kernels: []string{each, trend, rough}, restarts: 2, folds: 5, inducing: 1000, steps: 100},
	{kernels: []string{trend, rough}, restarts: 2, folds: 5, inducing: 500, steps: 80},
	{kernels: []string{trend}, restarts: 1, folds: 5, inducing: 500, steps: 60},
}

// studies are the studies for classes, from the largest to the smallest.
var studies = []study{
	{kernels: []string{same, each, trend, apart}, restarts: 1, folds: 10},
	{kernels: []string{same, trend}, restarts: 1, folds: 5},
	{kernels: []string{trend}, restarts: 1, folds: 5},
	{kernels: []string{trend}, restarts: 1},
	{kernels: []string{trend}, restarts: 1, inducing: 500, steps: 60},
	{kernels: []string{trend}, restarts: 1, inducing: 200, steps: 40},
	{kernels: []string{trend}, restarts: 1, inducing: 100, steps: 30},
	{kernels: []string{trend}, restarts: 1, inducing: 50, steps: 30},
	{kernels: []string{trend}, mode: true, restarts: 1, inducing: 50, steps: 30},
	{kernels: []string{trend}, restarts: 1, inducing: 200, steps: 40, subsample: 50000},
	{kernels: []string{trend}, restarts: 1, inducing: 100, steps: 30, subsample: 50000},
	{kernels: []string{trend}, restarts: 1, inducing: 50, steps: 30, subsample: 20000},
	{kernels: []string{same}, restarts: 1, inducing: 50, steps: 20, subsample: 10000},
	{kernels: []string{same}, restarts: 1, inducing: 50, steps: 20, subsample: 2000},
}

// Started is an experiment to start with.
type Started struct {
	Text     string   // the configuration file
	About    string   // description of the label and the inputs
	Seconds  float64  // expected duration, with a worker for every core; 0: unknown
	LeftOut  string   // parts of a larger study that would take too long; empty: none
	Warnings []string // warnings of the plan
	Notes    []string // what the user should decide or know about columns
}

// ordered returns all studies from the largest to the smallest. Studies with the full covariance
// matrix come before studies with inducing inputs.
func ordered() []study {
	all := slices.Concat(longer, studies)
	slices.SortStableFunc(all, func(a, b study) int { return min(1, a.inducing) - min(1, b.inducing) })
	return all
}

// choose writes the first study whose expected time is short enough, or else the smallest. limit is
// 0 for patience at nominal rates.
func (w *starter) choose(ctx context.Context, p problem, limit time.Duration) (chosen Started, err error) {
	all, rates := studies, plan.Nominal
	if limit > 0 {
		all, rates = ordered(), plan.Measured(ctx)
	}
	all = slices.DeleteFunc(slices.Clone(all), func(s study) bool {
		return s.inducing == 0 && p.cases > mostDense || s.subsample == 0 && p.cases > mostWhole ||
			s.inducing >= p.cases || s.subsample >= p.cases || s.mode && p.classes == nil
	})
	for k := range all {
		all[k] = all[k].of(p)
	}
	most, reader := cmp.Or(limit, patience), new(plan.Reader)
	var least float64 // the expected time of the next larger study
	for k, s := range all {
		left := s.lacks(all[0], p)
		chosen, err = started(ctx, reader, rates, w.path, w.String()+s.write(p, left, most, least))
		if chosen.LeftOut = strings.Join(left, "; "); err != nil || chosen.Seconds <= most.Seconds() {
			break
		}
		least = chosen.Seconds
		if k == len(all)-1 && limit > 0 {
			chosen.LeftOut += "; even so it takes longer than asked for"
		}
	}
	return chosen, err
}

// wide reports whether there are too many inputs for a length scale each.
func (p problem) wide() bool { return p.inputs > max(p.cases, fewInputs) }

// fewInputs may have a length scale each, however few the cases are. Of no more than mostApart
// inputs, sums of functions of one input are compared.
const fewInputs, mostApart = 100, 20

// of adapts the study to the number of inputs: too many inputs share one length scale, and only
// few keep kernels with functions of one input each. Distances of d standardized inputs grow with
// √d, and the median of the prior of length scales is 2 √d.
func (s study) of(p problem) study {
	mean := fmt.Sprintf("%.1f", math.Log(2*math.Sqrt(float64(p.inputs))))
	var kernels []string
	for _, k := range s.kernels {
		if k == apart && (p.inputs == 1 || p.inputs > mostApart) {
			continue
		}
		if p.wide() {
			k = strings.ReplaceAll(k, "ard: true", "ard: false")
		}
		if p.classes == nil {
			k = strings.NewReplacer("rational_quadratic", "se", scales, "", shape, "", ofOne, "").Replace(k)
		}
		k = strings.ReplaceAll(k, "MEAN", mean)
		if !slices.Contains(kernels, k) {
			kernels = append(kernels, k)
		}
	}
	s.kernels = kernels
	return s
}

// lacks lists the parts of a larger study that s does not have.
func (s study) lacks(than study, p problem) (all []string) {
	_, own, _ := study{mode: s.mode}.model(p)
	_, others, _ := study{mode: than.mode}.model(p)
	for _, part := range []struct {
		what         string
		have, others []string
	}{{"kernel", s.kernels, than.kernels}, {"inference", own, others}} {
		for _, name := range part.others {
			if !slices.Contains(part.have, name) {
				all = append(all, part.what+" "+name)
			}
		}
	}
	if than.restarts > s.restarts {
		all = append(all, fmt.Sprintf("restarts: %d rather than %d", than.restarts, s.restarts))
	}
	if e := than.evaluation(p); e != s.evaluation(p) {
		all = append(all, fmt.Sprintf("evaluate: %s rather than %s", e, s.evaluation(p)))
	}
	if s.inducing > 0 && than.inducing > s.inducing {
		all = append(all, fmt.Sprintf("%d inducing inputs rather than %d", than.inducing, s.inducing))
	}
	if s.subsample > 0 && than.subsample == 0 {
		all = append(all, fmt.Sprintf("all %d cases rather than %d", p.cases, s.subsample))
	} else if than.subsample > s.subsample {
		all = append(all, fmt.Sprintf("%d cases rather than %d", than.subsample, s.subsample))
	}
	return all
}

// started plans an experiment, with its expected time at these rates.
func started(ctx context.Context, reader *plan.Reader, rates *plan.Rates, path, text string) (Started, error) {
	p, err := reader.Parse(ctx, path, []byte(text), nil)
	if err != nil {
		return Started{}, fmt.Errorf("the experiment that is written for these data cannot be run: %w", err)
	}
	seconds, _ := plan.Expected(p.Overview(rates), runtime.GOMAXPROCS(0))
	about := ""
	if len(p.Manifest.Data) > 0 {
		about = p.Manifest.Data[0].About
	}
	return Started{Text: text, About: about, Seconds: seconds, Warnings: cause.Texts(p.Manifest.Warnings)}, nil
}

// model returns the likelihood, the inference methods, including comparators, and the one that
// tunes; empty: the same.
func (s study) model(p problem) (likelihood string, inference []string, tunes string) {
	own := func(method string) string {
		if s.inducing > 0 {
			return fmt.Sprintf("{%s: {inducing: %d}}", method, s.inducing)
		}
		return method
	}
	comparators := []string{"base_rate", "logistic_regression"}
	switch {
	case p.classes == nil:
		noise := "{init: 1}"
		if p.scaled() {
			noise = p.start(p.target.SD / 2)
		}
		return "{gaussian: {noise: " + noise + "}}", []string{own("exact")}, ""
	case p.ordered:
		likelihood = "[softmax, ordinal]"
	case len(p.classes) > 2:
		likelihood = "softmax"
	default:
		likelihood = "probit"
	}
	if s.mode {
		return likelihood, append([]string{own("laplace")}, comparators...), ""
	}
	return likelihood, append([]string{own("ep")}, comparators...), own("laplace")
}

// evaluation returns the name of the study's evaluation. A part is held out only if it has about
// twenty cases of every class: fewer would estimate the errors of that class too poorly.
func (s study) evaluation(p problem) string {
	cases, smallest := p.cases, p.smallest()
	if s.subsample > 0 {
		cases, smallest = s.subsample, smallest*s.subsample/p.cases
	}
	folds := min(cmp.Or(s.folds, 5), split.UsualFolds(cases), smallest, cases/4)
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

// firstOf lists a few names.
func firstOf(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// write writes the sections after the data section. left lists the parts that the study lacks so
// that it takes no more than most. least is the duration of the next larger study, in seconds.
func (s study) write(p problem, left []string, most time.Duration, least float64) string {
	w := &starter{}
	if s.subsample > 0 {
		w.line("  subsample: %d # of the cases, drawn in each class; without it all are used", s.subsample)
	}
	if len(p.skewed) > 0 {
		w.line("  preprocess: power # powers or logarithms of skewed inputs (%s), fitted on the training part of "+
			"every split; or standardize, whiten, none", firstOf(p.skewed))
	} else {
		w.line("  preprocess: standardize # none | standardize | power | whiten; fitted on the training part of " +
			"every split")
	}
	w.line("")
	likelihood, inference, tunes := s.model(p)
	w.line("model: # any value may be a list: every combination is tuned and compared")
	prior, priors := "", ""
	if p.classes != nil {
		prior, priors = ", objective: log_posterior", "; priors prevent overfitting"
	}
	w.line("  kernel: # gpc-tune list kernels; ard: true gives every input a length scale%s", priors)
	for _, k := range s.kernels {
		if p.scaled() {
			amplitude := "amplitude: " + p.start(p.target.SD)
			k = strings.NewReplacer("{se: {", "{se: {"+amplitude+", ",
				"{matern32: {", "{matern32: {"+amplitude+", ", "[linear,",
				"[{linear: {"+amplitude+"}},").Replace(k)
		}
		w.line("    - %s", k)
	}
	if p.wide() {
		w.line("  # %d inputs for %d cases: one length scale for all. To choose inputs by the labels is learning:",
			p.inputs, p.cases)
		w.line("  # done before cases are held out, it makes their scores too good.")
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
	if tunes != "" {
		w.line("# Laplace's method tunes, which is quick; EP predicts, because its probabilities are better")
		steps += ", inference: " + tunes
	}
	w.line("tune: {method: bfgs, restarts: %d%s%s} # gpc-tune list strategies", s.restarts, prior, steps)
	w.line("")
	if s.mode && p.classes != nil {
		w.line("predict: {average: map} # EP would take too long; averages of Laplace's method are too near to ½")
		w.line("")
	}
	evaluated := "gpc-tune list splitters"
	if p.test != nil {
		evaluated = fmt.Sprintf("the %d cases of the test set; or kfold: {k: 10} and others, gpc-tune list splitters",
			p.test.Cases)
	}
	w.line("evaluate: %s # %s", s.evaluation(p), evaluated)
	if left != nil {
		w.line("# left out to take at most about %v:", reports.Duration(most.Seconds()))
		for _, text := range left {
			w.line("#   %s", text)
		}
		w.line("# the next larger study takes about %v: gpc-tune init --time 30m, or overnight",
			reports.Duration(least))
	}
	w.line("")
	w.line("report: {formats: [text, html]} # gpc-tune list formats")
	return w.String()
}
