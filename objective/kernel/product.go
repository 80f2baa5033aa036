package kernel

import (
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// Product is the kernel k₁ k₂ … [GPML section 4.2.4]. theta has the hyperparameters of the kernels
// in order, with names prefixed by position and kind ("1.se.length_scale").
type Product []Named

func (p Product) Params(dim int) []param.Spec  { return params(p, dim) }
func (p Product) parts(dim int) ([]Named, int) { return p, dim }
func (p Product) with(parts []Named) Kernel    { return Product(parts) }
func (p Product) path(string) string           { return "" }
func (p Product) checkDim(dim int) error       { return checkParts("product", p, dim) }
func (p Product) checkOptions() error          { return checkCount("product", len(p)) }

// Memory implements Kernel: the factors' memory, their covariances twice, and the product of G with
// all factors except one.
func (p Product) Memory(n, m, dim int) int64 {
	return memory(p, n, m, dim) + words(len(p)*(2*n*n+n*m)+n*n)
}

// factors is the factors' covariances in blocks like b.
func (p Product) factors(b Block, thetas [][]float64) []Block {
	all := make([]Block, len(p))
	for i, t := range thetas {
		all[i] = b.like()
		p[i].Kernel.Fill(all[i], t)
	}
	return all
}

func (p Product) Fill(dst Block, theta []float64) {
	for i, k := range p.factors(dst, split(p, theta, dst.X.Dim())) {
		if i == 0 {
			dst.set(k)
			continue
		}
		dst.zip(k, floats.Mul)
	}
}

// each calls f with every factor's theta and covariances, and with G∘(the other factors). These
// products are formed without division, so that a factor may be zero.
func (p Product) each(theta []float64, g Block, f func(i int, theta []float64, own, others Block)) {
	thetas := split(p, theta, g.X.Dim())
	all, others := p.factors(g, thetas), g.like()
	for i, t := range thetas {
		others.set(g)
		for j, k := range all {
			if j != i {
				others.zip(k, floats.Mul)
			}
		}
		f(i, t, all[i], others)
	}
}

// Pull implements Kernel: every factor gets G∘(the other factors).
func (p Product) Pull(grad, theta []float64, _, g Block) {
	grads := split(p, grad, g.X.Dim())
	p.each(theta, g, func(i int, t []float64, own, others Block) { p[i].Kernel.Pull(grads[i], t, own, others) })
}
