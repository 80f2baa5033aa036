package likelihood

import "github.com/gpc-tune/gpc-tune/internal/registry"

// Table lists the likelihoods. Each entry passes the conformance tests of this package.
var Table = registry.Table[Likelihood]{
	registry.Of[Probit, Likelihood]("probit", "p(y|f) = Φ(yf), the cumulative normal, GPML (3.3)"),
	registry.Of[Logit, Likelihood]("logit", "p(y|f) = 1/(1 + exp(-yf)), the logistic function, GPML (3.15)"),
	registry.Of[NoisyThreshold, Likelihood]("noisy_threshold",
		"p(y|f) = 1-ε if yf > 0, else ε: the sign of f, reported wrongly with probability ε"),
	registry.Of[Softmax, Likelihood]("softmax",
		"p(y = c|f) = exp(f_c)/Σ_d exp(f_d), three or more classes, GPML (3.34)").At(2),
	registry.Of[MultinomialProbit, Likelihood]("multinomial_probit",
		"p(y = c|f) is the probability that f_c plus standard normal noise is the largest: three or more classes"),
	registry.Of[Ordinal, Likelihood]("ordinal",
		"p(y = k|f) = Φ(b_k+1 - f) - Φ(b_k - f), or with logit: classes with an order, between cut points b"),
	registry.Of[Step, Likelihood]("step",
		"p(y|f) = 1 if yf > 0, else 0: the sign of f, whose noise is part of the kernel"),
	registry.Of[Gaussian, Likelihood]("gaussian", "p(y|f) = N(y; f, noise²), for numeric targets, GPML (2.20)"),
	registry.Composed[Choice, Likelihood]("choice",
		"choice: [likelihood, …]; one of them, and which one is tuned too: by restarts in turn, or without gradients",
		Choice{{"probit", Probit{}}, {"logit", Logit{}}}),
}

// Check validates what a user wrote for a likelihood of Table, beyond the checks of its settings.
func Check(l Likelihood) error {
	if c, ok := l.(interface{ checkOptions() error }); ok {
		return c.checkOptions()
	}
	return nil
}

// Register adds a likelihood of another program to Table: a type L, or what FromLogDensity returns.
// Compare kernel.Register.
func Register[L Likelihood](name, doc string, version int, defaults ...L) {
	registry.Register[L, Likelihood](&Table, "likelihood", name, doc, version, defaults...)
}
