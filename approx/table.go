package approx

import "github.com/gpc-tune/gpc-tune/internal/registry"

// iterated are the defaults of PL. EP has the same defaults, except for the tolerance (see
// ForPredictions).
var iterated = Iteration{Damping: 1, Tolerance: defaultTolerance, MaxIterations: defaultIterations}

// Table lists the approximations by their names in an experiment file.
var Table = registry.Table[Approximation]{
	registry.Of[Laplace, Approximation]("laplace",
		"Laplace's method: a Gaussian at the mode of the posterior, GPML 3.4 and 3.5",
		Laplace{Tolerance: defaultTolerance, MaxIterations: defaultIterations}),
	registry.Of[EP, Approximation]("ep",
		"expectation propagation: a Gaussian with matched marginal moments, GPML 3.6",
		EP{Iteration: Iteration{Damping: 1, MaxIterations: defaultIterations}, Alpha: 1}),
	registry.Of[PL, Approximation]("pl",
		"posterior linearisation: a Gaussian with the sites of statistical linear regression on its own marginals",
		PL{Iteration: iterated}),
	registry.Of[Online, Approximation]("online",
		"one pass of assumed-density filtering, Csató et al. 2000 (10)-(12)", Online{Sweeps: 1}),
	registry.Of[Variational, Approximation]("variational",
		"the Gaussian that maximises a lower bound of the log evidence, Opper & Archambeau 2009",
		Variational{Tolerance: defaultTolerance, MaxIterations: defaultIterations}),
	registry.Of[EnsembleMeanField, Approximation]("ensemble_mean_field",
		"variational mean field: independent cut Gaussians, a lower bound, Csató et al. 2000 (5)-(7)",
		EnsembleMeanField{Tolerance: defaultTolerance, MaxIterations: defaultIterations}),
	registry.Of[NaiveMeanField, Approximation]("naive_mean_field", "naive mean field, Csató et al. 2000 (9)",
		NaiveMeanField{Tolerance: defaultTolerance, MaxIterations: defaultIterations}),
	registry.Of[Exact, Approximation]("exact", "exact regression with Gaussian noise, GPML 2.2"),
	registry.Of[Sampling, Approximation]("sampling",
		"reference values with error bars: annealed importance sampling, starting from the Gaussian of "+
			"EP", Sampling{}.filled()),
}

// Register adds a method of another program to Table; compare kernel.Register.
func Register[A Approximation](name, doc string, version int, defaults ...A) {
	registry.Register[A, Approximation](&Table, "inference", name, doc, version, defaults...)
}
