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

// row is the text of reports about a kind.
type row struct {
	cause   string // in words
	meaning string // consequence for the results
	note    bool   // information: nothing is wrong
}

// Explanation returns the words of reports for a kind: its cause in words, the consequence for the
// results, and whether it is only information, with nothing wrong.
func (k Kind) Explanation() (cause, meaning string, note bool) {
	r := rows[k]
	return r.cause, r.meaning, r.note
}

// rows has the text of every kind.
var rows = map[Kind]row{"": {cause: "other warnings"}}

// kind adds a row.
func kind(code Kind, cause, meaning string) Kind {
	rows[code] = row{cause: cause, meaning: meaning}
	return code
}

// note adds a row for information only.
func note(code Kind, cause, meaning string) Kind {
	rows[code] = row{cause: cause, meaning: meaning, note: true}
	return code
}

// Failures.
var (
	TimedOut     = kind("timed_out", "jobs took too long", "they have no result")
	NotConverged = kind("not_converged", "fits did not converge", "they have no result")
	Imprecise    = kind("imprecise", "prior variances are too large for double precision", "they have no result")
	// Contradictory is for likelihoods that jump.
	Contradictory = kind("contradictory", "labels contradict each other, and the likelihood jumps",
		"they have no result")
	Diverged = kind("diverged", "the updates of fits diverge", "they have no result")
	// NegativeCavity is for EP with negative sites.
	NegativeCavity = kind("negative_cavity", "a cavity of EP has a negative variance",
		"the points have no result")
	NotPositiveDefinite = kind("not_positive_definite", "a covariance matrix could not be factorised",
		"the points have no result")
	NotFinite  = kind("not_finite", "the objective was not finite", "the points have no result")
	NoGradient = kind("no_gradient", "the objective had no gradient", "the points have no result")
	Undefined  = kind("undefined", "a score was not defined for held-out cases",
		"the points have no result")
	Panic         = kind("panic", "jobs panicked", "they have no result")
	Program       = kind("program", "the program failed", "the trials have no result")
	OutsideBounds = kind("outside_bounds", "no trial was within the bounds of require", "the search has no best point")
	Failure       = kind("failure", "other failures", "what failed has no result")
)

// Warnings of fits.
var (
	Unconverged = kind("unconverged", "fits have not converged",
		"their scores belong to another point than intended")
	Damped   = note("damped", "updates were damped", "the fit converged more slowly, to the same result")
	ByHand   = note("by_hand", "configurations were dropped by hand", "they have no result and are not compared")
	Rounding = kind("rounding", "rounding error limits a fit", "its last digits are not exact")
	Raised   = kind("raised", "negative site precisions were raised",
		"the fit may depend on the schedule and the start")
	FewChains = kind("few_chains", "a few chains have most of the weight",
		"the standard error of the log evidence is unreliable")
	Averages = kind("averages", "averages of softmax are rough",
		"probabilities are off in the digits named")
	AveragesNoted = note("averages_noted", "averages of softmax are uncertain in the fifth digit",
		"more points give more digits")
	NoLeaveOneOut = kind("no_leave_one_out", "there is no leave-one-out log probability", "")
	Neighbours    = kind("neighbours", "every training case is of the class of its nearest neighbour",
		"a case of another class than its neighbour gets probability 0")

	FewerInducing = note("fewer_inducing", "fewer inducing inputs are used than the file allows",
		"more of them would change nothing")
	MostInducing = kind("most_inducing", "the number of inducing inputs reached its maximum",
		"the log evidence still changes with more of them")
	Structure = note("structure", "structure: auto chose the structure of the covariance",
		"the file can name another one")
	Rechosen = kind("rechosen", "selecting the inducing inputs again changed the log evidence",
		"hyperparameters were tuned with other inducing inputs")
)

// Warnings of tuning.
var (
	NoInfluence = note("no_influence", "inputs have no influence",
		"a length scale at its upper bound switches an input off")
	SearchStopped = note("search_stopped", "searches ended by a criterion of stop",
		"the trials that were left did not run")
	IgnoredSteps = kind("ignored_steps", "values on the way were ignored",
		"early stopping does not see them")
	AnyOrder = note("any_order", "asynchronous searches",
		"what they tried depends on the order in which trials ended, which is on record")
	SwitchedOff = note("switched_off", "parts of a kernel are switched off",
		"their amplitude is at its lower bound or far below the others, so they add nothing")
	AtBound = kind("at_bound", "hyperparameters ended at a bound", "a better value may lie beyond it")
	GridEnd = kind("grid_end", "hyperparameters ended at an end of their grid",
		"a better value may lie beyond it")
	BelowClimb    = kind("below_climb", "searches ended below a climb of bfgs", "a better optimum is known")
	StartsAtBound = kind("starts_at_bound", "hyperparameters start at a bound",
		"the optimiser may not leave it")
	EvaluationLimit = kind("evaluation_limit", "the optimiser stopped at its limit of evaluations",
		"a better value may be near")
	Undetermined = note("undetermined", "amplitudes are not determined by the data",
		"larger ones are as good; the smallest of them is used")
	Stalled = kind("stalled", "the optimiser stopped where the gradient is not 0",
		"a better value may be near")
	Plateau = kind("plateau", "the optimiser ended on a plateau",
		"there the model predicts as a constant does")
	Unevaluated = kind("unevaluated", "the optimiser met points that could not be evaluated",
		"it avoided them")
	NoErrors = kind("no_errors", "standard errors are missing or rough",
		"only the errors of hyperparameters; scores stand")
	ChainsApart = kind("chains_apart", "Markov chains do not agree", "averages over them may be off")
	FewSamples  = kind("few_samples", "Markov chains have few effective samples",
		"averages over them are rough")
	Samples = kind("samples", "fits failed or warned at samples of a chain",
		"averages are over the others")
)

// Reasons to doubt an answer that are no warnings.
var (
	Incomplete   = kind("incomplete", "the run is not complete: jobs are missing", "the best may be another")
	NotCompeting = kind("not_competing", "configurations failed and did not compete",
		"one of them may be the best")
	FailedParts = kind("failed_parts", "failures while it was tuned or scored",
		"a better value may be there")
	LoneOptimum = kind("lone_optimum", "restarts ended elsewhere: one alone found the best optimum",
		"there may be better ones")
	HeldNoise     = kind("held_noise", "the noise was held, not tuned", "all predicted variances rest on it")
	Miscalibrated = kind("miscalibrated", "its probabilities or variances are not calibrated",
		"they are too large or too small")
	UnequalNoise = kind("unequal_noise", "errors are larger for some cases than for others, beyond their intervals",
		"intervals are too wide for some and too narrow for others")
	Recalibrable    = kind("recalibrable", "calibration makes its probabilities better", "")
	LaplaceAverages = kind("laplace_averages", "averages of Laplace's method differ from the probabilities at its mode",
		"averages are too near to equal where classes are separate, probabilities at the mode too sure elsewhere")
	UnstableChoice = kind("unstable_choice",
		"the choice is unstable: other configurations were chosen in most outer folds",
		"the best may be another")
	RacedScore = kind("raced_score",
		"the score is optimistic: a race on the same held-out cases cut others, which no correction counts",
		"the true score may be worse")
)

// Warnings of scores.
var (
	OwnClass = kind("own_class", "cases had a probability of almost 0 for their own class",
		"a few of them decide log loss and information")
	AbsentClass = kind("absent_class", "cases are of a class that a training part lacks",
		"no model can predict them")
	Unscored     = kind("unscored", "grid points have no scores", "they cannot be best by a score")
	Untraced     = kind("untraced", "iterations have no scores", "their curves have gaps")
	Extrapolated = kind("extrapolated", "what was learnt from held-out predictions is extrapolated",
		"a calibration or a threshold may be wrong where no held-out case was")
	FewHeldOut = kind("few_held_out", "classes have too few held-out cases for the coverage of sets",
		"they are in every set")
	ExtrapolatedOutputs = kind("extrapolated_outputs", "probabilities of a comparator are extrapolated",
		"it is too sure, or not sure enough, of cases near training cases")
	HeldOut = kind("held_out", "preprocessing looked at held-out inputs",
		"scores may be slightly optimistic")
)

// Warnings of the data, of the file and of the run.
var (
	Dropped = kind("dropped", "cases with missing values were dropped", "results are of the others")
	LeftOut = kind("left_out", "cases without a label, or of weight 0, were left out",
		"results are of the others")
	Unknown     = kind("unknown", "values do not occur in the training file", "no case tells what they mean")
	Substituted = note("substituted", "values are missing, and others stand in for them",
		"the case is predicted from its other values")
	Far = kind("far", "values are far from all training cases",
		"a prediction there follows from the kernel, not from cases like it")
	Weighted = kind("weighted", "cases of one class weigh more than cases of another",
		"weights count equal cases: where they are costs of errors, the model learns single cases by heart")
	PositiveClass = kind("positive_class", "a score is about the class that most cases have",
		"where the rare class matters, declare it: data: {positive: CLASS}")
	Single   = kind("single", "classes have a single case", "no part can both train on it and test it")
	Repeated = note("repeated", "rows repeat earlier ones", "a split may have copies of a case in both parts")
	Rare     = kind("rare", "classes have fewer than 5 cases", "their probabilities cannot be checked")
	Columns  = kind("columns", "columns were named or matched otherwise than the file may mean", "")
	Comments = kind("comments", "lines with # are left out as comments", "they may be cases")
	Percent  = kind("percent", "some numbers of a column have a percent sign, others have none",
		"these may be 100 times too large")
	Rounded = kind("rounded", "whole numbers are rounded to double precision",
		"different ones may become the same")
	Leak = kind("leak", "inputs alone predict the class almost perfectly",
		"scores are too good if they were not known before the outcome")
	Labels = kind("labels", "labels are written in several ways",
		"cases may be of another class than is meant")
	Coding    = kind("encoding", "a file may have another encoding", "letters may be wrong")
	Projected = note("projected", "whitening left directions out", "the training inputs do not vary in them")
	NoEffect  = kind("no_effect", "something that the file says has no effect", "")
	NoMoments = kind("no_moments", "approximations failed", "they have no moments, and the figures say so")
	Builds    = kind("builds", "more than one build computed the results",
		"last digits may differ between them")
)
