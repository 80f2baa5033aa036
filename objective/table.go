package objective

import (
	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Averages lists the averages of class probabilities.
var Averages = registry.Table[Average]{
	registry.Of[Averaged, Average]("averaged",
		"E[p(y|f)] under the posterior of f, GPML (3.25) and, for softmax, 3.5.2; deterministic"),
	registry.Of[MAP, Average]("map", "p(y|E[f]), which ignores the variance of f"),
	registry.Of[MacKay, Average]("mackay", "p(y|κE[f]), κ = (1 + πv/8)^-½ with the variance v of each f: "+
		"a closed form near the average; logit and softmax"),
	registry.Of[MonteCarlo, Average]("monte_carlo",
		"averaged over random draws of f, GPML Algorithm 3.4 (samples: 1000)").At(2),
}

// Criteria lists the criteria that can be maximised.
var Criteria = registry.Table[Criterion]{
	registry.Of[LogEvidence, Criterion]("log_evidence",
		"the (approximate) log marginal likelihood log p(y|X, θ), in nats"),
	registry.Of[LogPosterior, Criterion]("log_posterior",
		"log_evidence plus the log prior densities of the free hyperparameters over theta, in nats"),
	registry.Of[LeaveOneOut, Criterion]("loo_log_probability",
		"Σ_i log p(y_i|X, y without y_i, θ), in nats, from one fit"),
}

// Means lists the prior means.
var Means = registry.Table[Mean]{
	registry.Of[Zero, Mean]("zero", "m(x) = 0"),
	registry.Of[Constant, Mean]("constant",
		"m(x) = c, the hyperparameter mean.constant: free from 0 unless given a number"),
}

// Structures lists the representations of the prior covariance that an inference method can be
// given, by the names of its options.
var Structures = registry.Inlined(registry.Table[approx.Structure]{
	registry.Of[Inducing, approx.Structure]("inducing", "number of inducing inputs: approximates the covariance by "+
		"one of lower rank, for thousands of cases"),
	registry.Of[Neighbours, approx.Structure]("neighbours", "number of neighbours: each case depends on the nearest "+
		"cases before it only, for thousands of cases of a rough process with few inputs"),
	registry.Of[Features, approx.Structure]("features", "number of random Fourier features: approximates the "+
		"covariance of a stationary kernel by one of lower rank, for thousands of cases"),
	registry.Of[Automatic, approx.Structure]("structure", "auto: the matrix for up to 4000 cases, and for more "+
		"inducing, neighbours or both, by a pilot with 4000 of them"),
})

// Optimizers lists the local optimisers; all of them need the gradient.
var Optimizers = registry.Table[Optimizer]{
	registry.Of[BFGS, Optimizer]("bfgs", "Broyden-Fletcher-Goldfarb-Shanno, dense inverse Hessian"),
	registry.Of[LBFGS, Optimizer]("lbfgs", "limited-memory BFGS, the last 15 steps"),
	registry.Of[CG, Optimizer]("cg", "nonlinear conjugate gradients, Hestenes-Stiefel"),
	registry.Of[GradientDescent, Optimizer]("gradient_descent", "steepest descent"),
}

// RegisterMean adds a prior mean of another program to Means, as kernel.Register does a kernel.
func RegisterMean[M Mean](name, doc string, version int, defaults ...M) {
	registry.Register[M, Mean](&Means, "prior mean", name, doc, version, defaults...)
}

// RegisterAverage adds an average of another program to Averages, as kernel.Register does a kernel.
func RegisterAverage[A Average](name, doc string, version int, defaults ...A) {
	registry.Register[A, Average](&Averages, "average", name, doc, version, defaults...)
}
