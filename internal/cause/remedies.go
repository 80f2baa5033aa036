package cause

import (
	"slices"
	"strings"
)

// Setting describes the model or program in which a warning or a failure occurred, as far as a
// remedy depends on it. Its zero value is the data or the run as a whole.
type Setting struct {
	Program  bool   // the objective is the value of a program, not of a model
	Method   string // the inference method, or the comparator, of a model
	Strategy string // the method of the search; empty: nothing is tuned
}

// remedy advises on a kind in some settings.
type remedy struct {
	kind       Kind
	program    bool   // whether it applies to programs only
	methods    string // inference methods to which it applies, separated by blanks; empty: all
	strategies string // search strategies to which it applies, separated by blanks; empty: all
	text       string
}

// Names of methods and strategies that have an option.
const (
	maxIterations = "laplace ep pl variational ensemble_mean_field naive_mean_field"
	evaluations   = "bfgs lbfgs cg gradient_descent"
	restarts      = evaluations + " nelder_mead mcmc"
	trials        = "bayes random sobol latin_hypercube multi_fidelity"
)

// remedies are the remedies of kinds. The first that applies to a setting counts.
var remedies = []remedy{
	{kind: TimedOut, program: true, text: "a longer timeout of the program, or a longer --trial-timeout"},
	{kind: TimedOut, text: "run with --retry-failed and a longer --trial-timeout"},
	{kind: NotConverged, methods: maxIterations, text: "raise max_iterations"},
	{kind: NotConverged, methods: "sampling", text: "raise temperatures or chains"},
	{kind: Imprecise, text: "bounds that keep amplitudes smaller, such as amplitude: {bounds: [0.01, 10]}"},
	{kind: Contradictory, text: "a noise kernel in a sum with the others, or likelihood: probit"},
	{kind: Diverged, methods: "ep pl", text: "lower damping"},
	{kind: NegativeCavity, methods: "ep", text: "negative_sites: floor"},
	{kind: NotPositiveDefinite,
		text: "bounds that keep amplitudes smaller, such as amplitude: {bounds: [0.01, 10]}, or a noise kernel"},
	{kind: NotFinite, program: true, text: "have the program print a finite number"},
	{kind: NotFinite, text: "tighter bounds"},
	{kind: Undefined, text: "fewer folds, or another score"},
	{kind: Panic, text: "report this: it is a mistake of gpc-tune"},
	{kind: Program, text: "correct the program; --retry-failed then repeats the failed trials"},

	{kind: Unconverged, methods: "ep pl", text: "raise max_iterations"},
	{kind: Unconverged, methods: "svm", text: "preprocess: standardize"},
	{kind: Rounding, text: "bounds that keep amplitudes smaller, such as amplitude: {bounds: [0.01, 10]}"},
	{kind: Averages, methods: "laplace", text: "raise points"},
	{kind: MostInducing, text: "raise points of inducing"},
	{kind: Rechosen, text: "raise points of inducing"},

	{kind: AtBound, program: true, text: "a wider range"},
	{kind: AtBound, methods: "logistic_regression", text: "wider bounds of its amplitude"},
	{kind: AtBound, text: "wider bounds, or hold it there with fixed"},
	{kind: GridEnd, methods: "svm", text: "wider costs or length_scales"},
	{kind: BelowClimb, strategies: trials, text: "tune: {method: bfgs}, or more trials"},
	{kind: BelowClimb, text: "tune: {method: bfgs}"},
	{kind: StartsAtBound, text: "preprocess: standardize, or an init and bounds"},
	{kind: EvaluationLimit, strategies: evaluations, text: "raise evaluations"},
	{kind: Stalled, methods: maxIterations, strategies: evaluations, text: "a smaller tolerance, or raise restarts"},
	{kind: Stalled, methods: "exact", text: "bounds that keep the noise larger"},
	{kind: Plateau, strategies: restarts, text: "start length scales elsewhere, or raise restarts"},
	{kind: Plateau, text: "start length scales elsewhere"},
	{kind: ChainsApart, text: "raise burn and samples"},
	{kind: FewSamples, text: "raise samples or thin"},

	{kind: Incomplete, text: "run with --resume"},
	{kind: LoneOptimum, strategies: restarts, text: "raise restarts"},
	{kind: HeldNoise, text: "likelihood: {gaussian: {noise: {init: 1}}} tunes it"},
	{kind: UnequalNoise, text: "a transformation of the label, such as its logarithm; gaussian assumes equal noise"},
	{kind: Recalibrable, text: "predict: {calibrate: platt}"},
	{kind: Recalibrable, text: "predict: {calibrate: temperature}"},
	{kind: LaplaceAverages, text: "inference: ep, with tune: {inference: laplace}"},
	{kind: UnstableChoice, text: "judge by the score, which counts the choosing"},
	{kind: RacedScore, text: "evaluate: nested, in another folder"},

	{kind: OwnClass, text: "predict: {calibrate: platt}"},
	{kind: Extrapolated, text: "leave out calibrate and threshold"},
	{kind: FewHeldOut, text: "a smaller coverage, or more cases of the class"},
	{kind: ExtrapolatedOutputs, text: "larger length scales, or logistic_regression in its place"},
	{kind: Dropped, text: "missing: mean or median"},
	{kind: Comments, text: "put their first field in quotes"},
	{kind: Percent, text: "write all alike"},
	{kind: Leak, text: "drop what was not known before the outcome"},
	{kind: Rare, text: "more cases of the class, or leave it out by classes"},
	{kind: Labels, text: "write each class in one way"},
	{kind: Coding, text: "name its encoding in the file, or save it as UTF-8"},
	{kind: Builds, text: "run again with one"},
}

// applies reports whether the remedy can be followed in a setting.
func (r remedy) applies(s Setting) bool {
	among := func(list, name string) bool { return list == "" || slices.Contains(strings.Fields(list), name) }
	return (s.Program || !r.program) && among(r.methods, s.Method) && among(r.strategies, s.Strategy)
}

// Remedy returns what to do about a kind in a setting; empty: nothing is known to help, or nothing
// is wrong.
func Remedy(k Kind, s Setting) string {
	for _, r := range remedies {
		if r.kind == k && r.applies(s) {
			return r.text
		}
	}
	return ""
}

// Remedies returns all remedies of this kind.
func (k Kind) Remedies() (texts []string) {
	for _, r := range remedies {
		if r.kind == k && !slices.Contains(texts, r.text) {
			texts = append(texts, r.text)
		}
	}
	return texts
}
