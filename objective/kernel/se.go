package kernel

import (
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// SE is the squared exponential kernel k(x, x') = σ² exp(-r²/(2l²)), r = |x - x'| [GPML 4.9], or,
// with ARD, σ² exp(-½ Σ_k (x_k - x'_k)²/l_k²) [GPML 5.1]. theta is ln σ, ln l (one, or one for
// every column).
type SE = Stationary[squaredExponential]

type squaredExponential struct{}

func (squaredExponential) Kappa(k, s []float64, c, _ float64) {
	floats.ScaleTo(k, -c/2, s)
	linalg.Exp(k, k)
}
