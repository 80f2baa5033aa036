package objective

// The evidence may rise with an amplitude σ without end, ever more slowly. It does so where the
// classes can be separated: as ln σ goes to infinity, the evidence tends to the evidence with a
// step likelihood. The end of a climb then depends on its last step. So the estimate of such an
// amplitude is the smallest value above which a factor of e gains less than plateau in the
// criterion. It is the maximum of
//
//	f(θ) - plateau·ln σ
//
// over all hyperparameters, and does not depend on the path of the climb.

// plateau is a slope in nats for a unit of ln σ, below which a criterion does not determine the
// amplitude σ.
const plateau = 0.01

// undetermined is a standard error of ln σ by the curvature of a criterion. With this or a larger
// one an amplitude σ is not determined: a factor of e away from the maximum, f is less than
// plateau/2 lower.
const undetermined = 10

// doubtful is the least variance of ln σ, by an estimate of the curvature, at which an evaluation
// decides whether an amplitude is determined.
const doubtful = undetermined * undetermined / 4
