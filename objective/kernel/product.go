package kernel

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Product is the kernel k₁ k₂ … [GPML section 4.2.4]. theta is the kernels' own in order, their names prefixed by
// position and kind ("1.se.length_scale").
//
// Its pullback gives every factor the adjoint G∘(the other factors), multiplied out, so that a factor may be zero.
type Product []Named

// Params implements Kernel.
func (p Product) Params(dim int) []param.Spec { return parts(p).params(dim) }

func (p Product) checkDim(dim int) error { return parts(p).check("product", dim) }

// grams is the factors' Gram matrices.
func (p Product) grams(thetas [][]float64, x *Inputs) []*mat.SymDense {
	all := make([]*mat.SymDense, len(p))
	for i, t := range thetas {
		all[i] = mat.NewSymDense(x.N(), nil)
		p[i].Kernel.Gram(all[i], t, x)
	}
	return all
}

// crosses is the factors' cross-covariance matrices.
func (p Product) crosses(thetas [][]float64, x, z *Inputs) []*mat.Dense {
	all := make([]*mat.Dense, len(p))
	for i, t := range thetas {
		all[i] = mat.NewDense(x.N(), z.N(), nil)
		p[i].Kernel.Cross(all[i], t, x, z)
	}
	return all
}

// diags is the factors' diagonals.
func (p Product) diags(thetas [][]float64, z *Inputs) [][]float64 {
	all := make([][]float64, len(p))
	for i, t := range thetas {
		all[i] = make([]float64, z.N())
		p[i].Kernel.Diag(all[i], t, z)
	}
	return all
}

// Memory implements Kernel: the factors twice, that of theirs, and the product of all but one with G.
func (p Product) Memory(n, m, dim int) int64 {
	return parts(p).memory(n, m, dim) + words(len(p)*(2*n*n+n*m)+n*n)
}

// Gram implements Kernel.
func (p Product) Gram(dst *mat.SymDense, theta []float64, x *Inputs) {
	all := p.grams(parts(p).split("theta", theta, x.Dim()), x)
	product := triangle(dst, x)
	product.set(triangle(all[0], x))
	for _, k := range all[1:] {
		product.mul(triangle(k, x))
	}
}

// Cross implements Kernel.
func (p Product) Cross(dst *mat.Dense, theta []float64, x, z *Inputs) {
	all := p.crosses(parts(p).split("theta", theta, x.Dim()), x, z)
	product := full(dst, x, z)
	product.set(full(all[0], x, z))
	for _, k := range all[1:] {
		product.mul(full(k, x, z))
	}
}

// Diag implements Kernel.
func (p Product) Diag(dst, theta []float64, z *Inputs) {
	all := p.diags(parts(p).split("theta", theta, z.Dim()), z)
	checkLen("dst", len(dst), z.N())
	copy(dst, all[0])
	for _, k := range all[1:] {
		floats.Mul(dst, k)
	}
}

// Pullback implements Kernel.
func (p Product) Pullback(grad, theta []float64, x *Inputs, _, g *mat.SymDense) {
	thetas, grads := parts(p).split("theta", theta, x.Dim()), parts(p).split("grad", grad, x.Dim())
	all := p.grams(thetas, x)
	rest := mat.NewSymDense(x.N(), nil)
	for i, t := range thetas {
		others := triangle(rest, x)
		others.set(triangle(g, x))
		for j, k := range all {
			if j != i {
				others.mul(triangle(k, x))
			}
		}
		p[i].Kernel.Pullback(grads[i], t, x, all[i], rest)
	}
}

// PullbackCross implements Kernel.
func (p Product) PullbackCross(grad, theta []float64, x, z *Inputs, g *mat.Dense) {
	thetas, grads := parts(p).split("theta", theta, x.Dim()), parts(p).split("grad", grad, x.Dim())
	all := p.crosses(thetas, x, z)
	rest := mat.NewDense(x.N(), z.N(), nil)
	for i, t := range thetas {
		others := full(rest, x, z)
		others.set(full(g, x, z))
		for j, k := range all {
			if j != i {
				others.mul(full(k, x, z))
			}
		}
		p[i].Kernel.PullbackCross(grads[i], t, x, z, rest)
	}
}

// PullbackDiag implements Kernel.
func (p Product) PullbackDiag(grad, theta []float64, z *Inputs, g []float64) {
	thetas, grads := parts(p).split("theta", theta, z.Dim()), parts(p).split("grad", grad, z.Dim())
	all := p.diags(thetas, z)
	checkLen("g", len(g), z.N())
	rest := make([]float64, z.N())
	for i, t := range thetas {
		copy(rest, g)
		for j, k := range all {
			if j != i {
				floats.Mul(rest, k)
			}
		}
		p[i].Kernel.PullbackDiag(grads[i], t, z, rest)
	}
}
