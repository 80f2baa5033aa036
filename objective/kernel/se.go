package kernel

import "github.com/gpc-tune/gpc-tune/internal/linalg"

// SE is the squared exponential kernel k(x, x') = σ² exp(-r²/(2l²)), r = |x - x'| [GPML 4.9], or, with ARD,
// σ² exp(-½ Σ_k (x_k - x'_k)²/l_k²) [GPML 5.1]. theta is ln σ, ln l (one, or one for every column).
type SE = Stationary[squaredExponential]

type squaredExponential struct{}

func (squaredExponential) kappa(k, s []float64, c, _ float64) {
	for j, v := range s {
		k[j] = -0.5 * c * v
	}
	linalg.Exp(k, k)
}
