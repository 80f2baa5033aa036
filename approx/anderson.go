package approx

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// update moves all sites towards p.next, the sites that the last refresh computed.
func (p *siteState) update(a *accelerator, damping float64) {
	n := len(p.tau)
	image, scale := make(State, 2*n), make([]float64, 2*n)
	for i, s := range p.next {
		v := p.sigma[i]
		image[i] = p.tau[i] + damping*(s.tau-p.tau[i])
		image[n+i] = p.nu[i] + damping*(s.offset+s.tau*p.mu[i]-p.nu[i])
		scale[i], scale[n+i] = v, math.Sqrt(v)
	}
	copy(p.state, a.next(p.state, image, scale))
	for i, t := range p.tau {
		if t < 0 && !p.rule.negative() {
			p.tau[i] = 0
		}
	}
}

// accelerator is Anderson's acceleration of a fixed-point iteration: the next state is an affine
// combination of the last images. Its coefficients minimise the residual of the same combination,
// as if the map were linear.
type accelerator struct {
	depth             int     // 0: the images themselves
	images, residuals []State // the latest last
}

func (a *accelerator) forget() { a.images, a.residuals = nil, nil }

// next returns the state after state, given its image. scale[i] is the unit of the residual of
// number i.
func (a *accelerator) next(state, image State, scale []float64) State {
	residual := make(State, len(state))
	for i, v := range image {
		residual[i] = v - state[i]
	}
	a.images, a.residuals = append(a.images, image), append(a.residuals, residual)
	if k := len(a.images) - a.depth - 1; k > 0 {
		a.images, a.residuals = a.images[k:], a.residuals[k:]
	}
	k := len(a.images) - 1
	if k == 0 {
		return image
	}
	changes, target := make([]State, k), floats.MulTo(make(State, len(state)), residual, scale)
	for j := range changes {
		changes[j] = floats.SubTo(make(State, len(state)), residual, a.residuals[j])
		floats.Mul(changes[j], scale)
	}
	gram, right := mat.NewSymDense(k, nil), mat.NewVecDense(k, nil)
	for j := range k {
		for l := j; l < k; l++ {
			gram.SetSym(j, l, floats.Dot(changes[j], changes[l]))
		}
		right.SetVec(j, floats.Dot(changes[j], target))
	}
	const ridge = 1e-14 // relative to the trace; needed when the changes are linearly dependent
	bit := ridge * mat.Trace(gram)
	for j := range k {
		gram.SetSym(j, j, gram.At(j, j)+bit)
	}
	var factor mat.Cholesky
	var theta mat.VecDense
	if !factor.Factorize(gram) || factor.SolveVecTo(&theta, right) != nil {
		a.forget()
		return image
	}
	out := slices.Clone(image)
	for j := range k {
		for i, v := range a.images[j] {
			out[i] -= theta.AtVec(j) * (image[i] - v)
		}
	}
	return out
}
