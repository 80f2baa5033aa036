package likelihood_test

import (
	"math"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/likelihood/likelihoodtest"
)

// logistic is log 1/(1 + exp(-yf)) with its derivatives.
func logistic(y, f float64) (logp, d1, d2, d3 float64) {
	p := 1 / (1 + math.Exp(-y*f))
	logp = -math.Log1p(math.Exp(-y * f))
	if y*f < -30 {
		logp = y * f
	}
	return logp, y * (1 - p), -p * (1 - p), -y * p * (1 - p) * (1 - 2*p)
}

// Likelihoods of a log density are registered by their values, each under its own name.
func TestRegisterFromLogDensity(t *testing.T) {
	saved := likelihood.Table
	t.Cleanup(func() { likelihood.Table = saved })
	shape := likelihood.Shape{LogConcave: true, Symmetric: true}
	one, other := likelihood.FromLogDensity(likelihood.Binary, shape, logistic), likelihood.FromLogDensity(likelihood.Binary, shape, logistic)
	likelihood.Register("one", "the logistic function", 1, one)
	likelihood.Register("other", "the logistic function", 2, other)
	for name, l := range map[string]likelihood.Likelihood{"one": one, "other": other} {
		if got := likelihood.Table.NameOf(l); got != name {
			t.Errorf("%s has the name %q", name, got)
		}
	}
	likelihoodtest.Check(t, likelihood.Table.Default("other"), likelihoodtest.Traits{AverageError: 1e-11})
}
