package likelihood_test

import (
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// log p(y|f), and log of its average over a Gaussian with the derivatives with respect to the mean.
func Example() {
	m := likelihood.Logit{}.At(nil).(likelihood.MomentMatcher)
	logZ, d := m.Moments(1, 0.5, 2)
	fmt.Printf("%.4f; %.4f, %.4f %.4f\n", m.LogProb(1, 0.5), logZ, d[0], d[1])
	// Output:
	// -0.4741; -0.5277, 0.2993 -0.1230
}

// A likelihood from log p(y|f) and three derivatives: the complementary log-log model.
func ExampleFromLogDensity() {
	l := likelihood.FromLogDensity(likelihood.Binary, likelihood.Shape{}, func(y, f float64) (logp, d1, d2, d3 float64) {
		e := math.Exp(f)
		if y < 0 {
			return -e, -e, -e, -e
		}
		p := -math.Expm1(-e) // 1 - exp(-exp f)
		a := e * math.Exp(-e) / p
		b := a * (1 - e - a)
		return math.Log(p), a, b, b*(1-e-a) + a*(-e-b)
	})
	m := l.At(nil).(likelihood.MomentMatcher)
	plus, _ := m.Moments(1, 0, 1)
	minus, _ := m.Moments(-1, 0, 1)
	fmt.Printf("%.4f + %.4f = 1\n", math.Exp(plus), math.Exp(minus))
	// Output:
	// 0.6182 + 0.3818 = 1
}
