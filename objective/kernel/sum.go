package kernel

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Sum is the kernel k₁ + k₂ + … of a sum of independent latent functions [GPML section 4.2.4]. theta is the kernels'
// own in order, their names prefixed by position and kind ("2.noise.amplitude").
type Sum []Named

// diagonal kernels are zero but on the diagonal of a Gram matrix, where addGram adds them.
type diagonal interface {
	addGram(dst block, theta []float64)
}

// Params implements Kernel.
func (s Sum) Params(dim int) []param.Spec { return parts(s).params(dim) }

func (s Sum) checkDim(dim int) error { return parts(s).check("sum", dim) }

// Memory implements Kernel: that of the terms, and the covariances of one that is added to those of the first.
func (s Sum) Memory(n, m, dim int) int64 {
	own := n * n
	if slices.ContainsFunc(s[1:], func(t Named) bool { _, ok := t.Kernel.(diagonal); return !ok }) {
		own += n * m
	}
	return parts(s).memory(n, m, dim) + words(own)
}

// Gram implements Kernel.
func (s Sum) Gram(dst *mat.SymDense, theta []float64, x *Inputs) {
	var term *mat.SymDense
	for i, t := range parts(s).split("theta", theta, x.Dim()) {
		d, ok := s[i].Kernel.(diagonal)
		switch {
		case i == 0:
			s[i].Kernel.Gram(dst, t, x)
		case ok:
			d.addGram(triangle(dst, x), t)
		default:
			if term == nil {
				term = mat.NewSymDense(x.N(), nil)
			}
			s[i].Kernel.Gram(term, t, x)
			triangle(dst, x).add(triangle(term, x))
		}
	}
}

// Cross implements Kernel.
func (s Sum) Cross(dst *mat.Dense, theta []float64, x, z *Inputs) {
	var term *mat.Dense
	for i, t := range parts(s).split("theta", theta, x.Dim()) {
		_, ok := s[i].Kernel.(diagonal)
		switch {
		case i == 0:
			s[i].Kernel.Cross(dst, t, x, z)
		case !ok:
			if term == nil {
				term = mat.NewDense(x.N(), z.N(), nil)
			}
			s[i].Kernel.Cross(term, t, x, z)
			full(dst, x, z).add(full(term, x, z))
		}
	}
}

// Diag implements Kernel.
func (s Sum) Diag(dst, theta []float64, z *Inputs) {
	term := make([]float64, len(dst))
	for i, t := range parts(s).split("theta", theta, z.Dim()) {
		if i == 0 {
			s[i].Kernel.Diag(dst, t, z)
			continue
		}
		s[i].Kernel.Diag(term, t, z)
		floats.Add(dst, term)
	}
}

// Pullback implements Kernel: every term gets G itself.
func (s Sum) Pullback(grad, theta []float64, x *Inputs, own, g *mat.SymDense) {
	grads := parts(s).split("grad", grad, x.Dim())
	for i, t := range parts(s).split("theta", theta, x.Dim()) {
		s[i].Kernel.Pullback(grads[i], t, x, s.gramOf(i, t, x, own), g)
	}
}

// gramOf is the Gram matrix of term i read off the sum's own, which can be done when all the others are diagonal, or nil.
func (s Sum) gramOf(i int, theta []float64, x *Inputs, own *mat.SymDense) *mat.SymDense {
	if own == nil {
		return nil
	}
	for j, term := range s {
		if _, ok := term.Kernel.(diagonal); j != i && !ok {
			return nil
		}
	}
	k, diag := mat.NewSymDense(x.N(), nil), make([]float64, x.N())
	k.CopySym(own)
	s[i].Kernel.Diag(diag, theta, x)
	for j, v := range diag {
		k.SetSym(j, j, v)
	}
	return k
}

// PullbackCross implements Kernel.
func (s Sum) PullbackCross(grad, theta []float64, x, z *Inputs, g *mat.Dense) {
	grads := parts(s).split("grad", grad, x.Dim())
	for i, t := range parts(s).split("theta", theta, x.Dim()) {
		s[i].Kernel.PullbackCross(grads[i], t, x, z, g)
	}
}

// PullbackDiag implements Kernel.
func (s Sum) PullbackDiag(grad, theta []float64, z *Inputs, g []float64) {
	grads := parts(s).split("grad", grad, z.Dim())
	for i, t := range parts(s).split("theta", theta, z.Dim()) {
		s[i].Kernel.PullbackDiag(grads[i], t, z, g)
	}
}
