package prior

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Contrasts are the values x_c = g - f_c of every case, Cn in the order of Classes: f are the
// latent values of the classes, and g is one more latent value of the case, with a flat prior. A
// Gaussian site of precision d_c on each x_c, and the integral over g, give f the sites
//
//	W = diag d - d dᵀ/s,   s = Σ_c d_c
//
// of Classes. The posterior of f and x is
//
//	b = (I + W K)⁻¹(h - W m),   f̂ = m + K b,   h_c = p_c Σ_d ν_d - ν_c,   p = d/s
//	E x_c = Σ_d p_d f̂_d + Σ_d ν_d/s - f̂_c,   Cov x = P Σ Pᵀ + 11ᵀ/s,   P = 1pᵀ - I
//
// where a change of all f_c by the same number changes nothing. The prior of x is improper: LogDet
// is
//
//	½ log|I + S K_x| - n/2 log 2πσ²   for   g ~ N(0, σ²),   σ² → ∞
//
// so that g has the density 1 in the log evidence. Sites.Mean is -m, and Sites.B is -b.
type Contrasts struct {
	noCorrection
	Classes
	cases, classes int
	largest        float64
	factored       []float64  // the precisions of the factor; nil: there is none
	total          []float64  // s
	share          []float64  // p
	blocks         []float64  // Cov x of every case, C×C; nil: not known
	h, kh          []float64  // Cn, temporary
	near           *Contrasts // a similar prior of lower rank; nil: none
}

// Approximate sets a similar prior of lower rank, which a search uses.
func (c *Contrasts) Approximate(near Classes) { c.near = NewContrasts(near, c.cases, c.classes) }

// NewContrasts returns the contrasts of the classes of n cases.
func NewContrasts(k Classes, n, classes int) *Contrasts {
	v := func(n int) []float64 { return make([]float64, n) }
	c := &Contrasts{
		Classes: k, cases: n, classes: classes, total: v(n), share: v(n * classes),
		h: v(n * classes), kh: v(n * classes),
	}
	for j := range classes {
		c.largest = max(c.largest, k.LargestVariance(j))
	}
	return c
}

// These implement SiteSolver. x has no finite prior variance. The largest variance of f takes its
// place, because it determines the rounding error of x.
func (c *Contrasts) Variance(int) float64     { return c.largest }
func (c *Contrasts) LargestVariance() float64 { return c.largest }
func (c *Contrasts) Search() Search           { return contrastSearch{c} }

// Describe implements Correction.
func (c *Contrasts) Describe() (jitter, unexplained float64) { return c.Classes.Describe() }

// Penalty implements Correction: there is none.
func (c *Contrasts) Penalty(int, float64) float64 { return 0 }

// Total is s, of the last Factorise.
func (c *Contrasts) Total() []float64 { return c.total }

// Forget must be called after Classes have been factorised for other sites.
func (c *Contrasts) Forget() { c.blocks, c.factored = nil, nil }

// Factorise implements SiteSolver. It does nothing if the current factor belongs to tau.
func (c *Contrasts) Factorise(tau []float64) error {
	if slices.Equal(tau, c.factored) {
		return nil
	}
	c.Forget()
	clear(c.total)
	for j, d := range tau {
		c.total[j%c.cases] += d
	}
	for i, total := range c.total {
		if !(total > 0) {
			return fmt.Errorf("%w: the site precisions of case %d have the sum %v, want one above 0",
				ErrNotPositiveDefinite, i, total)
		}
	}
	for j, d := range tau {
		c.share[j] = d / c.total[j%c.cases]
	}
	err := c.Classes.Factorise(tau)
	if err == nil {
		c.factored = slices.Clone(tau)
	}
	return err
}

// LogDet implements SiteSolver.
func (c *Contrasts) LogDet() float64 {
	return c.Classes.LogDet() - float64(c.cases)/2*math.Log(2*math.Pi)
}

// Locate implements SiteSolver.
func (c *Contrasts) Locate(s Sites) (uncertain float64) {
	n := c.cases
	for i := range n {
		sum, mean := 0.0, 0.0
		for j := i; j < len(c.h); j += n {
			sum += s.Nu[j]
			mean -= c.share[j] * s.Mean[j]
		}
		for j := i; j < len(c.h); j += n {
			c.h[j] = c.share[j]*sum - s.Nu[j] + s.Tau[j]*(s.Mean[j]+mean)
		}
	}
	c.Multiply(c.kh, c.h)
	c.Shrink(c.h, c.h, c.kh)
	c.Multiply(c.kh, c.h)
	for i := range n {
		g := 0.0
		for j := i; j < len(c.h); j += n {
			g += c.share[j]*(c.kh[j]-s.Mean[j]) + s.Nu[j]/c.total[i]
		}
		for j := i; j < len(c.h); j += n {
			s.Mu[j], s.B[j] = g-(c.kh[j]-s.Mean[j]), -c.h[j]
		}
	}
	return 0
}

// covariances are the Cov x of the factor, one case after the other.
func (c *Contrasts) covariances() []float64 {
	if c.blocks != nil {
		return c.blocks
	}
	classes := c.classes
	c.blocks = make([]float64, c.cases*classes*classes)
	c.Marginals(func(i int, _, _ []float64, sigma *mat.SymDense) {
		p, sp, psp := make([]float64, classes), make([]float64, classes), 0.0
		for a := range p {
			p[a] = c.share[a*c.cases+i]
		}
		s := sigma.RawSymmetric()
		for a, v := range p {
			for b := a; b < classes; b++ {
				x := s.Data[a*s.Stride+b]
				sp[a] += x * p[b]
				if b > a {
					sp[b] += x * v
				}
			}
		}
		for a, v := range p {
			psp += v * sp[a]
		}
		block := c.block(i)
		for a := range p {
			for b := a; b < classes; b++ {
				v := psp - sp[a] - sp[b] + s.Data[a*s.Stride+b] + 1/c.total[i]
				block[a*classes+b], block[b*classes+a] = v, v
			}
		}
	})
	return c.blocks
}

// Covariance is Cov x of a case, C×C, for the current factor.
func (c *Contrasts) Covariance(i int) []float64 {
	c.covariances()
	return c.block(i)
}

// block is Cov x of a case.
func (c *Contrasts) block(i int) []float64 {
	square := c.classes * c.classes
	return c.blocks[i*square : (i+1)*square]
}

// Onto sets dst = (I + W K)⁻¹ Pᵀ z.
func (c *Contrasts) Onto(dst, z []float64) {
	n := c.cases
	for i := range n {
		sum := 0.0
		for j := i; j < len(z); j += n {
			sum += z[j]
		}
		for j := i; j < len(z); j += n {
			dst[j] = c.share[j]*sum - z[j] // Pᵀz
		}
	}
	c.Multiply(c.kh, dst)
	c.Shrink(dst, dst, c.kh)
}

// covary sets dst = Cov(x) z, over all cases.
func (c *Contrasts) covary(dst, z []float64) {
	n := c.cases
	c.Onto(c.h, z)
	c.Multiply(c.kh, c.h)
	for i := range n {
		common := 0.0
		for j := i; j < len(z); j += n {
			common += c.share[j]*c.kh[j] + z[j]/c.total[i]
		}
		for j := i; j < len(z); j += n {
			dst[j] = common - c.kh[j]
		}
	}
}

// contrastSearch is the Search of contrasts. In a sweep, visits to the other classes of the same
// case change the marginals of a case, and visits to other cases do not.
type contrastSearch struct{ *Contrasts }

// These implement Search.
func (contrastSearch) Close()               {}
func (contrastSearch) PrefersSweeps() bool  { return true }
func (contrastSearch) Swept([]float64) bool { return false }

// Variances implements Search.
func (s contrastSearch) Variances(sigma []float64) {
	blocks, classes := s.covariances(), s.classes
	for i := range s.cases {
		for a := range classes {
			sigma[a*s.cases+i] = blocks[(i*classes+a)*classes+a]
		}
	}
}

// Sweep implements Search.
func (s contrastSearch) Sweep(_ bool, at Sites, visit Visit) error {
	classes, n := s.classes, s.cases
	s.covariances()
	for i := range n {
		sigma := append([]float64(nil), s.block(i)...)
		column := make([]float64, classes)
		for a := range classes {
			j := a*n + i
			v := sigma[a*classes+a]
			dTau, dOffset, err := visit(j, v, at.Nu[j]-at.Tau[j]*at.Mu[j])
			if err != nil {
				return err
			}
			at.Nu[j] += dOffset + dTau*at.Mu[j]
			at.Tau[j] += dTau
			scale := 1 / (1 + dTau*v)
			for b := range classes {
				column[b] = sigma[b*classes+a]
			}
			for b, x := range column {
				at.Mu[b*n+i] += scale * dOffset * x
				for d, y := range column {
					sigma[b*classes+d] -= scale * dTau * x * y
				}
			}
		}
	}
	return nil
}

// Jacobian is as in Prior.
func (c *Contrasts) Jacobian(sigma []float64) func(dst, x []float64) {
	return c.respond(sigma, c.Classes.Squares())
}

// respond is the Jacobian, given Squares.
func (c *Contrasts) respond(sigma []float64, others func(dst, x []float64)) func(dst, x []float64) {
	own, z, y := c.respondAlone(sigma), make([]float64, len(sigma)), make([]float64, len(sigma))
	return func(dst, x []float64) {
		own(dst, x)
		for j, v := range sigma {
			z[j] = x[len(sigma)+j] / v
		}
		others(y, z)
		for j, v := range sigma {
			dst[len(sigma)+j] -= y[j] / v
		}
	}
}

// Jacobian implements Search. The changes of variances by sites of other cases are squares of small
// correlations. They are computed for the similar prior of lower rank, or left out.
func (s contrastSearch) Jacobian(sigma []float64, at At) func(dst, x []float64) {
	if at == AtFactorExact && len(sigma) <= mostExact {
		return s.Contrasts.Jacobian(sigma)
	}
	if s.near == nil {
		return s.respondAlone(sigma)
	}
	tau := make([]float64, len(sigma))
	for j, p := range s.share {
		tau[j] = p * s.total[j%s.cases]
	}
	if s.near.Factorise(tau) != nil {
		return s.respondAlone(sigma)
	}
	return s.respond(sigma, s.near.Squares())
}

// mostExact is the number of values x up to which a search computes the whole Jacobian, with half
// the square of that in numbers.
const mostExact = 3000

// respondAlone is the Jacobian without the changes of variances by sites of other cases.
func (s *Contrasts) respondAlone(sigma []float64) func(dst, x []float64) {
	blocks, classes, n := s.covariances(), s.classes, s.cases
	z := make([]float64, len(sigma))
	return func(dst, x []float64) {
		means, variances := dst[:len(sigma)], dst[len(sigma):]
		for j, v := range sigma {
			z[j] = x[j] / math.Sqrt(v)
		}
		s.covary(means, z)
		for j, v := range sigma {
			means[j] /= math.Sqrt(v)
			i, a := j%n, j/n
			variances[j] = 0
			for b := range classes {
				k := b*n + i
				c := blocks[(i*classes+a)*classes+b]
				variances[j] -= c * c / v / sigma[k] * x[len(sigma)+k]
			}
		}
	}
}
