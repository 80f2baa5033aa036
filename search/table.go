package search

import (
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/objective"
)

// Defaults shared by several strategies.
var (
	ascent = Ascent{MultiStart: MultiStart{Restarts: 1}}
	design = Design{Trials: defaultTrials}
)

// Table lists the strategies.
var Table = registry.Table[Strategy]{
	registry.Of[BFGS, Strategy]("bfgs", "quasi-Newton ascent from `restarts` start points", BFGS{ascent}).At(2),
	registry.Of[LBFGS, Strategy]("lbfgs", "the same with limited memory", LBFGS{ascent}),
	registry.Of[CG, Strategy]("cg", "nonlinear conjugate gradients from `restarts` start points", CG{ascent}),
	registry.Of[GradientDescent, Strategy]("gradient_descent",
		"steepest ascent from `restarts` start points", GradientDescent{ascent}),
	registry.Of[Grid, Strategy]("grid", "every point of a rectangular grid"),
	registry.Of[NelderMead, Strategy]("nelder_mead",
		"simplex search from `restarts` start points, without gradients", NelderMead{}.on()),
	registry.Of[CMAES, Strategy]("cmaes",
		"evolution strategy with covariance matrix adaptation, in generations of `population`, without gradients"),
	registry.Of[Bayes, Strategy]("bayes",
		"Bayesian optimisation with `trials` points: expected improvement under Gaussian-process regression",
		Bayes{Trials: 40, Batch: 1}).At(3),
	registry.Of[Auto, Strategy]("auto",
		"`bfgs` from 3 starts or more if there is a gradient; else 100 trials of `bayes` and of two models around its "+
			"best point, by turns",
		Auto{}).At(4),
	registry.Of[Random, Strategy]("random",
		"`trials` points drawn between the bounds, most densely about the start", Random{design}),
	registry.Of[Sobol, Strategy]("sobol",
		"the first `trials` points of Sobol's sequence, Owen-scrambled, placed like those of random", Sobol{design}),
	registry.Of[LatinHypercube, Strategy]("latin_hypercube",
		"`trials` points; each hyperparameter takes evenly spread values (Latin hypercube), placed like those of "+
			"random", LatinHypercube{design}),
	registry.Of[Hyperband, Strategy]("hyperband",
		"many points at a small `budget` (cases, folds or inducing, or a hyperparameter of a program), the best of "+
			"them at more of it"),
	registry.Of[MultiFidelity, Strategy]("multi_fidelity",
		"`bayes` with a part of a `budget` (as of hyperband), then with more of it or all",
		MultiFidelity{Trials: 40, Levels: 2}),
	registry.Of[MCMC, Strategy]("mcmc",
		"samples of the log posterior by `restarts` Markov chains; predictions are averages over them",
		MCMC{MultiStart: MultiStart{4}, Samples: objective.DefaultSamples, Thin: objective.DefaultThin}),
}

// Register adds a strategy of another program to Table, as kernel.Register does a kernel.
func Register[S Strategy](name, doc string, version int, defaults ...S) {
	registry.Register[S, Strategy](&Table, "strategy", name, doc, version, defaults...)
}
