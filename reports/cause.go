package reports

import (
	"regexp"
	"slices"
)

// Cause groups warnings or failures with the same cause.
type Cause struct {
	Cause   string // in words
	Meaning string // consequence for the results
	Remedy  string // empty: none is needed
	Note    bool   // for information only; nothing is wrong
	Count   int    // number of occurrences
	Notices []Notice
}

// Notice is a warning or a failure of a configuration, or with -1 of the whole run.
type Notice struct {
	Configuration int
	Where         string // the job, "trial 3 and 2 more" for several
	Text          string
	Count         int // number of occurrences
}

// kind is a row of the tables of causes.
type kind struct {
	pattern                string
	note                   bool
	cause, meaning, remedy string
}

// warningKinds are the causes of warnings: a text belongs to the first row whose pattern it
// matches. The texts come from journals, which may be older than this table; a text that matches no
// row is its own cause.
var warningKinds = []kind{
	{`^illustration \d+, .*: fails: `, false, "approximations failed",
		"they have no moments, and the figures say so", ""},
	{`length_scale\[[^]]*\] ended at (its upper bound|the upper end)`, true, "inputs have no influence",
		"a length scale at its upper bound switches an input off", ""},
	{`\d+ of \d+ inducing inputs: `, true, "fewer inducing inputs are used than the file allows",
		"more of them would change nothing", ""},
	{`inducing inputs, the allowed maximum`, false, "the number of inducing inputs reached its maximum",
		"the log evidence still changes with more of them", "more points"},
	{`ended at its (lower|upper) bound`, false, "hyperparameters ended at a bound",
		"a better value may lie beyond it", "wider bounds, or hold it there with fixed"},
	{`end .* of its search box`, false, "hyperparameters ended at an end of the search box",
		"a better value may lie beyond it", "bounds: [lo, hi] say where to search"},
	{`starts at its bound`, false, "hyperparameters start at a bound", "the optimiser may not leave it",
		"preprocess: standardize, or an init and bounds"},
	{`^stopped (at evaluation|after) \d+`, false, "the optimiser stopped at its limit of evaluations",
		"a better value may be near", "a higher limit of evaluations"},
	{`^stopped without a better point`, false, "the optimiser stopped where the gradient is not 0",
		"a better value may be near", "more restarts"},
	{`^ended on a plateau`, false, "the optimiser ended on a plateau",
		"there the model predicts as a constant does", "start length scales elsewhere, or more restarts"},
	{`no standard error|the standard errors are`, false, "standard errors are missing or rough",
		"only the errors of hyperparameters; scores stand", ""},
	{`the chains do not agree`, false, "Markov chains do not agree", "averages over them may be off",
		"raise burn and samples"},
	{`effective samples`, false, "Markov chains have few effective samples", "averages over them are rough",
		"raise samples or thin"},
	{`for their own class`, false, "cases had a probability of almost 0 for their own class",
		"a few of them decide log loss and information", "a likelihood with noise, as noisy_threshold or epsilon"},
	{`of a class without training cases`, false, "cases are of a class that a training part lacks",
		"no model can predict them; information leaves them out",
		"training cases of that class, or a test set without it"},
	{`evaluations failed, the first with`, false, "the optimiser met points that could not be evaluated",
		"it avoided them", ""}, // failures of any kind, as the text goes on to say
	{`stopped unconverged|stopped before it converged|has not converged|not converged`, false,
		"fits have not converged",
		"their scores belong to another point than intended", "raise max_iterations, or lower damping"},
	{`went in circles`, true, "updates were damped", "the fit converged more slowly, to the same result", ""},
	{`rounding error`, false, "rounding error limits a fit", "its last digits are not exact",
		"bounds that keep amplitudes smaller"},
	{`averages of softmax|averaged softmax`, false, "averages of softmax are rough",
		"probabilities are off in the digits named", "more points"},
	{`samples are left out|fits at samples gave`, false, "fits failed or warned at samples of a chain",
		"averages are over the others", ""},
	{`failed`, false, "the optimiser met points that could not be evaluated", "it avoided them", ""},
	{`looks at the inputs of all|uses the inputs of all`, false, "preprocessing looked at held-out inputs",
		"scores may be slightly optimistic", ""},
	{`computed by more than one build`, false, "more than one build computed the results",
		"last digits may differ between them", "run again with one"},
	{`grid points have no scores`, false, "grid points have no scores", "they cannot be best by a score", ""},
}

// failureKinds are the causes of failures.
var failureKinds = []kind{
	{"took longer|timeout|deadline", false, "jobs took too long", "they have no result", "a longer --trial-timeout"},
	{"not converged|unconverged|no convergence|did not converge", false, "fits did not converge", "they have no result",
		"raise max_iterations, or lower damping"},
	{"not positive definite|singular|factor", false, "a covariance matrix could not be factorised",
		"the points have no result", "bounds that keep amplitudes smaller, or a noise kernel"},
	{"not finite|the value is|NaN|Inf", false, "the objective was not finite", "the points have no result",
		"tighter bounds"},
	{"panic", false, "jobs panicked", "they have no result", "report this: it is a mistake of the program"},
	{"memory", false, "jobs had too little memory", "they have no result", "a larger --memory"},
}

// causes groups notices by kind, in the order of first occurrence.
func causes(notices []Notice, kinds []kind, meaning, remedy string) (out []Cause) {
	at := map[string]int{}
	for _, n := range notices {
		of := kind{cause: summary(n.Text), meaning: meaning, remedy: remedy}
		key := digits.ReplaceAllString(of.cause, "0")
		if i := slices.IndexFunc(kinds, func(k kind) bool { return patterns[k.pattern].MatchString(n.Text) }); i >= 0 {
			of = kinds[i]
			key = of.cause
		}
		i, met := at[key]
		if !met {
			i = len(out)
			at[key] = i
			out = append(out, Cause{Cause: of.cause, Meaning: of.meaning, Remedy: of.remedy, Note: of.note})
		}
		out[i].Count += n.Count
		out[i].Notices = append(out[i].Notices, n)
	}
	return out
}

// String is a notice without its configuration.
func (n Notice) String() string {
	if n.Where == "" {
		return n.Text
	}
	return n.Where + ": " + n.Text
}

// summary is the beginning of a text that matches no kind, without the prefixes of packages.
func summary(text string) string {
	text = wrapped.ReplaceAllString(text, "")
	const most = 160
	if letters := []rune(text); len(letters) > most {
		text = string(letters[:most]) + "…"
	}
	return text
}

var (
	digits   = regexp.MustCompile(`[-+]?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?`)
	wrapped  = regexp.MustCompile(`^((approx|objective|search|cv|linalg|kernel|likelihood|comparator): )+`)
	patterns = func() map[string]*regexp.Regexp {
		out := map[string]*regexp.Regexp{}
		for _, k := range slices.Concat(warningKinds, failureKinds) {
			out[k.pattern] = regexp.MustCompile(k.pattern)
		}
		return out
	}()
)
