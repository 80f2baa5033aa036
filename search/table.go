package search

import (
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/objective"
)

// Table lists the strategies.
var Table = registry.Table[Strategy]{
	registry.Of[BFGS, Strategy]("bfgs", "quasi-Newton ascent from `restarts` start points", BFGS{Ascent{MultiStart: MultiStart{1}}}),
	registry.Of[LBFGS, Strategy]("lbfgs", "the same with limited memory", LBFGS{Ascent{MultiStart: MultiStart{1}}}),
	registry.Of[CG, Strategy]("cg", "nonlinear conjugate gradients from `restarts` start points", CG{Ascent{MultiStart: MultiStart{1}}}),
	registry.Of[GradientDescent, Strategy]("gradient_descent", "steepest ascent from `restarts` start points", GradientDescent{Ascent{MultiStart: MultiStart{1}}}),
	registry.Of[Grid, Strategy]("grid", "every point of a rectangular grid"),
	registry.Of[NelderMead, Strategy]("nelder_mead", "simplex search from `restarts` start points, without gradients", NelderMead{Restarts: 1, Evaluations: 200}),
	registry.Of[CMAES, Strategy]("cmaes", "evolution strategy with covariance matrix adaptation, in generations of `population`, without gradients"),
	registry.Of[Bayes, Strategy]("bayes", "Bayesian optimisation: expected improvement under Gaussian-process regression, `trials` in all", Bayes{Trials: 40, Batch: 1}),
	registry.Of[Random, Strategy]("random", "`trials` points drawn uniformly from the search box", Random{Design{64}}),
	registry.Of[Sobol, Strategy]("sobol", "the first `trials` points of Sobol's sequence, Owen-scrambled, in the search box", Sobol{Design{64}}),
	registry.Of[LatinHypercube, Strategy]("latin_hypercube", "`trials` points of which every hyperparameter takes evenly spread values", LatinHypercube{Design{64}}),
	registry.Of[MCMC, Strategy]("mcmc", "samples of the log posterior by `restarts` Markov chains; predictions are averages over them", MCMC{MultiStart: MultiStart{4}, Samples: objective.DefaultSamples, Thin: objective.DefaultThin}),
}
