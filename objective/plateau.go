package objective

// The evidence may rise with an amplitude σ without end, ever more slowly. It does so where the
// classes can be separated: as ln σ goes to infinity it comes near to the evidence of a likelihood
// that is a step. Where a climb ends is then a matter of its last step. So the estimate of such an
// amplitude is the smallest one above which the criterion gains less than plateau for a factor of
// e. It is the maximum of
//
//	f(θ) - plateau·ln σ
//
// over all hyperparameters. It does not depend on the way there.

// plateau is a slope in nats for a unit of ln σ, below which a criterion does not determine the
// amplitude σ.
const plateau = 0.01

// undetermined is the standard error of ln σ from which on, by the curvature of a criterion, an
// amplitude σ is not determined: a factor of e away from the maximum f is then less than plateau/2
// lower.
const undetermined = 10

// doubtful is the variance of ln σ, by an estimate of the curvature, from which on it is tried
// whether an amplitude is determined.
const doubtful = undetermined * undetermined / 4
