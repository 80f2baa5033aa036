package objective

import (
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Mean is a prior mean m(x) of the latent processes, the same for every class. It does not hold
// theta, which has the order of Params.
type Mean interface {
	Params(dim int) []param.Spec
	// At sets dst[i] to m(x_i).
	At(dst, theta []float64, x *kernel.Inputs)
	// Pullback adds Σ_i g_i ∂m(x_i)/∂θ_p to grad[p].
	Pullback(grad, theta []float64, x *kernel.Inputs, g []float64)
}

// Zero is m(x) = 0.
type Zero struct{}

// Params is empty.
func (Zero) Params(int) []param.Spec { return nil }

// At fills dst with 0.
func (Zero) At(dst, _ []float64, _ *kernel.Inputs) { clear(dst) }

// Pullback adds nothing.
func (Zero) Pullback(_, _ []float64, _ *kernel.Inputs, _ []float64) {}

// Constant is m(x) = c. By default c is free and starts at 0. A bare number or {fixed: c} fixes it,
// and {init: c} sets the start.
type Constant struct {
	param.Setting `yaml:",inline"`
}

// Params is c itself, on the identity scale.
func (m Constant) Params(int) []param.Spec {
	c := m.Spec("constant", param.Identity, 0)
	c.Fixed = c.Fixed || m.Bare != nil
	return []param.Spec{c}
}

// At fills dst with c.
func (Constant) At(dst, theta []float64, _ *kernel.Inputs) {
	for i := range dst {
		dst[i] = theta[0]
	}
}

// Pullback adds Σ_i g_i.
func (Constant) Pullback(grad, _ []float64, _ *kernel.Inputs, g []float64) {
	for _, v := range g {
		grad[0] += v
	}
}
