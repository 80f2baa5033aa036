package cause

import (
	"fmt"
	"maps"
	"slices"
)

// UnmarshalText refuses a kind that this version does not have.
func (k *Kind) UnmarshalText(text []byte) error {
	if _, known := rows[Kind(text)]; !known {
		return fmt.Errorf("there is no kind %q of warnings and failures", text)
	}
	*k = Kind(text)
	return nil
}

// JSONSchema lists the kinds.
func (Kind) JSONSchema() map[string]any {
	return map[string]any{"enum": slices.Sorted(maps.Keys(rows))}
}

// row is what reports say of a kind.
type row struct {
	cause   string // in words
	meaning string // consequence for the results
	remedy  string // empty: none is needed
	note    bool   // for information only; nothing is wrong
}

// Explanation is what reports say of a kind: its cause in words, the consequence for the results, a
// remedy if one is needed, and whether it is for information only, for then nothing is wrong.
func (k Kind) Explanation() (cause, meaning, remedy string, note bool) {
	r := rows[k]
	return r.cause, r.meaning, r.remedy, r.note
}

// rows has the kinds.
var rows = map[Kind]row{"": {cause: "other warnings"}}

// kind adds a row.
func kind(code Kind, cause, meaning, remedy string) Kind {
	rows[code] = row{cause: cause, meaning: meaning, remedy: remedy}
	return code
}

// note adds a row for information only.
func note(code Kind, cause, meaning string) Kind {
	rows[code] = row{cause: cause, meaning: meaning, note: true}
	return code
}

// Failures.
var (
	TimedOut = kind("timed_out", "jobs took too long", "they have no result",
		"a longer --trial-timeout, or timeout of a program")
	NotConverged = kind("not_converged", "fits did not converge", "they have no result",
		"raise max_iterations, or lower damping")
	NotPositiveDefinite = kind("not_positive_definite", "a covariance matrix could not be factorised",
		"the points have no result", "bounds that keep amplitudes smaller, or a noise kernel")
	NotFinite  = kind("not_finite", "the objective was not finite", "the points have no result", "tighter bounds")
	NoGradient = kind("no_gradient", "the objective had no gradient", "the points have no result",
		"a method without gradients")
	Undefined = kind("undefined", "a score was not defined for held-out cases", "the points have no result",
		"fewer folds, or another score")
	Panic   = kind("panic", "jobs panicked", "they have no result", "report this: it is a mistake of the program")
	Program = kind("program", "the program failed", "the trials have no result",
		"its message says why; gpc-tune search with --retry-failed runs failed trials again")
	Failure = kind("failure", "other failures", "what failed has no result",
		"run with --retry-failed runs failed jobs again")
)

// Warnings of fits.
var (
	Unconverged = kind("unconverged", "fits have not converged",
		"their scores belong to another point than intended", "raise max_iterations, or lower damping")
	Damped   = note("damped", "updates were damped", "the fit converged more slowly, to the same result")
	ByHand   = note("by_hand", "configurations were dropped by hand", "they have no result and are not compared")
	Rounding = kind("rounding", "rounding error limits a fit", "its last digits are not exact",
		"bounds that keep amplitudes smaller")
	Raised = kind("raised", "negative site precisions were raised",
		"the fit may depend on the schedule and the start", "")
	FewChains = kind("few_chains", "a few chains have most of the weight",
		"the standard error of the log evidence is unreliable", "raise temperatures or chains")
	Averages = kind("averages", "averages of softmax are rough", "probabilities are off in the digits named",
		"more points")
	AveragesNoted = note("averages_noted", "averages of softmax are uncertain in the fifth digit",
		"more points give more digits")
	NoLeaveOneOut = kind("no_leave_one_out", "there is no leave-one-out log probability", "", "")
	Neighbours    = kind("neighbours", "every training case is of the class of its nearest neighbour",
		"a case of another class than its neighbour gets probability 0", "")

	FewerInducing = note("fewer_inducing", "fewer inducing inputs are used than the file allows",
		"more of them would change nothing")
	MostInducing = kind("most_inducing", "the number of inducing inputs reached its maximum",
		"the log evidence still changes with more of them", "more points")
	Rechosen = kind("rechosen", "selecting the inducing inputs again changed the log evidence",
		"hyperparameters were tuned with other inducing inputs", "tune again from these values, or use more points")
)

// Warnings of tuning.
var (
	NoInfluence = note("no_influence", "inputs have no influence",
		"a length scale at its upper bound switches an input off")
	SearchStopped = note("search_stopped", "searches ended by a criterion of stop",
		"the trials that were left did not run")
	AnyOrder = note("any_order", "asynchronous searches",
		"what they tried depends on the order in which trials ended, which is on record")
	SwitchedOff = note("switched_off", "parts of a kernel are switched off",
		"their amplitude is at its lower bound, so they add nothing")
	AtBound = kind("at_bound", "hyperparameters ended at a bound", "a better value may lie beyond it",
		"wider bounds, or hold it there with fixed")
	GridEnd = kind("grid_end", "hyperparameters ended at an end of their grid",
		"a better value may lie beyond it", "a wider grid")
	BelowClimb = kind("below_climb", "searches ended below a climb of bfgs", "a better optimum is known",
		"tune: {method: bfgs}, or more trials")
	StartsAtBound = kind("starts_at_bound", "hyperparameters start at a bound", "the optimiser may not leave it",
		"preprocess: standardize, or an init and bounds")
	EvaluationLimit = kind("evaluation_limit", "the optimiser stopped at its limit of evaluations",
		"a better value may be near", "a higher limit of evaluations")
	Stalled = kind("stalled", "the optimiser stopped where the gradient is not 0",
		"a better value may be near", "more restarts")
	Plateau = kind("plateau", "the optimiser ended on a plateau", "there the model predicts as a constant does",
		"start length scales elsewhere, or more restarts")
	Unevaluated = kind("unevaluated", "the optimiser met points that could not be evaluated", "it avoided them", "")
	NoErrors    = kind("no_errors", "standard errors are missing or rough",
		"only the errors of hyperparameters; scores stand", "")
	ChainsApart = kind("chains_apart", "Markov chains do not agree", "averages over them may be off",
		"raise burn and samples")
	FewSamples = kind("few_samples", "Markov chains have few effective samples", "averages over them are rough",
		"raise samples or thin")
	Samples = kind("samples", "fits failed or warned at samples of a chain", "averages are over the others", "")
)

// Reasons to doubt an answer that are no warnings.
var (
	Incomplete = kind("incomplete", "the run is not complete: jobs are missing", "the best may be another",
		"resume the run")
	NotCompeting = kind("not_competing", "configurations failed and did not compete", "one of them may be the best",
		"see the failures")
	FailedParts = kind("failed_parts", "failures while it was tuned or scored", "a better value may be there",
		"see the failures")
	LoneOptimum = kind("lone_optimum", "restarts ended elsewhere: one alone found the best optimum",
		"there may be better ones", "raise restarts")
	HeldNoise = kind("held_noise", "the noise was held, not tuned", "all predicted variances rest on it",
		"likelihood: {gaussian: {noise: {init: 1}}} tunes it")
	Miscalibrated = kind("miscalibrated", "its probabilities or variances are not calibrated",
		"they are too large or too small", "see the calibration curve")
	Recalibrable = kind("recalibrable", "calibration makes its probabilities better", "",
		"predict: {calibrate: platt}")
	UnstableChoice = kind("unstable_choice",
		"the choice is unstable: other configurations were chosen in most outer folds",
		"the best may be another", "judge by the score, which is that of choosing")
	RacedScore = kind("raced_score", "the score is optimistic: a race on the same held-out cases cut others, "+
		"which no correction counts", "the true score may be worse",
		"nested cross-validation, evaluate: nested, in another folder")
)

// Warnings of scores.
var (
	OwnClass = kind("own_class", "cases had a probability of almost 0 for their own class",
		"a few of them decide log loss and information", "a likelihood with noise, as noisy_threshold or epsilon")
	AbsentClass = kind("absent_class", "cases are of a class that a training part lacks",
		"no model can predict them", "stratified folds, or fewer of them")
	Unscored     = kind("unscored", "grid points have no scores", "they cannot be best by a score", "")
	Untraced     = kind("untraced", "iterations have no scores", "their curves have gaps", "")
	Extrapolated = kind("extrapolated", "what was learnt from held-out predictions is extrapolated",
		"a calibration or a threshold may be wrong where no held-out case was", "leave out calibrate and threshold")
	ExtrapolatedOutputs = kind("extrapolated_outputs", "probabilities of a comparator are extrapolated",
		"it is too sure, or not sure enough, of cases near training cases",
		"larger length scales, or logistic_regression in its place")
	HeldOut = kind("held_out", "preprocessing looked at held-out inputs", "scores may be slightly optimistic", "")
)

// Warnings of the data, of the file and of the run.
var (
	Dropped = kind("dropped", "cases with missing values were dropped", "results are of the others",
		"missing: mean or median")
	LeftOut = kind("left_out", "cases without a label, or of weight 0, were left out",
		"results are of the others", "")
	Unknown     = kind("unknown", "values do not occur in the training file", "no case tells what they mean", "")
	Substituted = note("substituted", "values are missing, and others stand in for them",
		"the case is predicted from its other values")
	Single   = kind("single", "classes have a single case", "no part can both train on it and test it", "")
	Columns  = kind("columns", "columns were named or matched otherwise than the file may mean", "", "")
	Comments = kind("comments", "lines with # are left out as comments", "they may be cases",
		"put their first field in quotes")
	Percent = kind("percent", "some numbers of a column have a percent sign, others have none",
		"these may be 100 times too large",
		"write all alike")
	Leak = kind("leak", "inputs alone predict the class almost perfectly",
		"scores are too good if they were not known before the outcome",
		"drop what was not known before the outcome")
	Labels = kind("labels", "labels are written in several ways", "cases may be of another class than is meant",
		"write each class in one way")
	Coding = kind("encoding", "a file may have another encoding", "letters may be wrong",
		"save it in the encoding that is declared")
	Projected = note("projected", "whitening left directions out", "the training inputs do not vary in them")
	NoEffect  = kind("no_effect", "something that the file says has no effect", "", "")
	NoMoments = kind("no_moments", "approximations failed", "they have no moments, and the figures say so", "")
	Builds    = kind("builds", "more than one build computed the results", "last digits may differ between them",
		"run again with one")
)
