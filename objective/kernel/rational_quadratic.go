package kernel

import (
	"math"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// RationalQuadratic is the kernel k(x, x') = σ² (1 + r²/(2αl²))^-α, r = |x - x'| [GPML 4.19], a
// scale mixture of squared exponentials that tends to a squared exponential as α → ∞. With ARD
// r²/l² is Σ_k (x_k - x'_k)²/l_k². theta is ln σ, ln l (one, or one for every column), ln α; α
// starts at 1.
type RationalQuadratic = Stationary[rationalQuadratic]

type rationalQuadratic struct {
	Alpha param.Setting `yaml:"alpha"`
}

func (r rationalQuadratic) Setting() Setting {
	return Setting{Name: "alpha", Default: 1, Setting: r.Alpha}
}

func (rationalQuadratic) Kappa(k, s []float64, c, alpha float64) {
	c /= 2 * alpha
	for j, v := range s {
		k[j] = -alpha * math.Log1p(c*v)
	}
	linalg.Exp(k, k)
}

func (rationalQuadratic) Weigh(m, s []float64, c, alpha float64) {
	c /= 2 * alpha
	for j, v := range s {
		m[j] /= 1 + c*v
	}
}

// With t = s/(2α), ∂ln κ/∂ln α = α (t/(1+t) - ln(1+t)).
func (rationalQuadratic) PullShape(m, s []float64, c, alpha float64) float64 {
	c /= 2 * alpha
	sum := 0.0
	for j, v := range s {
		t := c * v
		sum += m[j] * (t/(1+t) - math.Log1p(t))
	}
	return alpha * sum
}
