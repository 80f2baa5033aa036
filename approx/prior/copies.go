package prior

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// copies is a prior whose case i stands for c_i equal cases, its copies. The latent values of
// copies differ only by independent terms of variance Λ_i: noise of a kernel, or the residual
// variance of inducing inputs. The copies' sites are equal, and τ_i is the sum of their precisions.
// So the copies of case i act as one case, whose latent value is their mean, with the independent
// variance Λ_i/c_i. The field Prior is the prior of these means. With T_i = 1/(1 + τ_i Λ_i/c_i) and
// Σ, K and S of Prior, the variance of one copy, and ½ log|I + S K| of all copies, are
//
//	Σ_ii + (1 - 1/c_i) Λ_i T_i,   ½ log|I + S K| + ½ Σ_i (c_i - 1) log(1 + τ_i Λ_i/c_i)
type copies struct {
	Prior
	count   []float64 // c
	perCopy []float64 // Λ/c
	tau     []float64
	noise   bool // Λ is the noise of a matrix
}

// counts are the numbers of copies of cases with these weights, max(1, w); nil: 1 each.
func counts(weight []float64) (count []float64) {
	for _, w := range weight {
		count = append(count, max(1, w))
	}
	return count
}

// withCopies turns k, the prior of the means, into the prior of the copies, if they have
// independent variances.
func withCopies(k Prior, cov Cov, count []float64) Prior {
	c := &copies{Prior: k, count: count, tau: make([]float64, len(count))}
	switch p := k.(type) {
	case *inducingSites:
		c.perCopy = p.independent
	case *neighbours:
		c.perCopy = p.noise
	case *fullScale:
		c.perCopy = p.rest.noise
	default:
		if cov.Noise == nil {
			return k
		}
		c.noise, c.perCopy = true, make([]float64, len(count))
		for i, v := range cov.Noise {
			c.perCopy[i] = v / count[i]
		}
	}
	return c
}

// ofMeans is the matrix of the means of the copies, with their noise.
func (c Cov) ofMeans(count []float64) (Cov, error) {
	n := c.K.SymmetricDim()
	k := mat.NewSymDense(n, linalg.Floats(n*n))
	k.CopySym(c.K)
	for i, v := range c.Noise {
		if !(v >= 0 && finite(v)) {
			return c, fmt.Errorf("%w: the variance of the noise of case %d is %v; a hyperparameter is out of range",
				ErrNotPositiveDefinite, i, v)
		}
		k.SetSym(i, i, k.At(i, i)+v/count[i])
	}
	c.K = k
	return c, nil
}

// remaining is T_i for a site of precision tau, and extra is the variance of a copy minus the
// variance of the mean of the copies.
func (c *copies) remaining(i int, tau float64) float64 { return 1 / (1 + tau*c.perCopy[i]) }
func (c *copies) extra(i int, tau float64) float64 {
	return c.perCopy[i] * (c.count[i] - 1) * c.remaining(i, tau)
}

// Apart is the posterior variance of the independent term of a copy.
func (c *copies) Apart(i int) float64 { return c.perCopy[i] * c.count[i] * c.remaining(i, c.tau[i]) }

// These implement Prior.
func (c *copies) Variance(i int) float64 { return c.Prior.Variance(i) + c.extra(i, 0) }

func (c *copies) LargestVariance() (largest float64) {
	for i := range c.perCopy {
		largest = max(largest, c.Variance(i))
	}
	return largest
}

func (c *copies) WithoutSites() Prior {
	afresh := *c
	afresh.Prior, afresh.tau = c.Prior.WithoutSites(), make([]float64, len(c.tau))
	return &afresh
}

func (c *copies) Factorise(tau []float64) error {
	copy(c.tau, tau)
	return c.Prior.Factorise(tau)
}

func (c *copies) LogDet() float64 {
	sum := c.Prior.LogDet()
	for i, t := range c.tau {
		sum += (c.count[i] - 1) / 2 * math.Log1p(t*c.perCopy[i])
	}
	return sum
}

// add adds to variances the extra variances of copies, for sites of precisions tau.
func (c *copies) add(variances, tau []float64) {
	for i, t := range tau {
		variances[i] += c.extra(i, t)
	}
}

func (c *copies) Variances() []float64 {
	v := c.Prior.Variances()
	c.add(v, c.tau)
	return v
}

// Marginals implements Prior. CavityShare belongs to the cavity without all copies of a case.
func (c *copies) Marginals() []Marginal {
	m := c.Prior.Marginals()
	for i, t := range c.tau {
		extra := c.extra(i, t)
		m[i].Variance += extra
		m[i].CavityShare -= t * extra
	}
	return m
}

func (c *copies) Penalty(i int, tau float64) float64 {
	return c.count[i] * c.Prior.Penalty(i, tau/c.count[i])
}

func (c *copies) PenaltySlope(i int, tau float64) float64 {
	return c.Prior.PenaltySlope(i, tau/c.count[i])
}

func (c *copies) Pull(dst *Cov, adjoint func(variances []float64) Adjoint) {
	var g Adjoint
	c.Prior.Pull(dst, func(variances []float64) Adjoint {
		c.add(variances, c.tau)
		g = adjoint(variances)
		g.independent = func(i int, diagonal float64) float64 { return c.independent(g, i, diagonal) }
		return g
	})
	if c.noise && dst.Noise != nil {
		for i := range dst.Noise {
			dst.Noise[i] = g.independent(i, dst.K.At(i, i))
		}
	}
}

// independent is the derivative with respect to Λ_i, given the derivative with respect to K_ii.
func (c *copies) independent(g Adjoint, i int, diagonal float64) float64 {
	count, left := c.count[i], c.remaining(i, c.tau[i])
	sum := diagonal/count - g.C*(count-1)/2*c.tau[i]/count*left
	if g.Gamma != nil {
		sum += g.Gamma[i] * (1 - 1/count) * left * left
	}
	return sum
}

// Diagonal implements Prior: as a derivative with respect to the variance 1/τ_i of a site.
func (c *copies) Diagonal(g Adjoint) []float64 {
	d := c.Prior.Diagonal(g)
	for i, t := range c.tau {
		d[i] += g.C * (c.count[i] - 1) / 2 * c.perCopy[i] * t * t * c.remaining(i, t)
	}
	return d
}

func (c *copies) Jacobian(sigma []float64) func(dst, x []float64) {
	return c.jacobian(sigma, c.tau, c.Prior.Jacobian)
}

// jacobian returns the Jacobian of the copies, made from the Jacobian of the means for given
// variances. The extra variance of copies depends on τ_i alone.
func (c *copies) jacobian(
	sigma, tau []float64, ofMeans func(sigma []float64) func(dst, x []float64),
) func(dst, x []float64) {
	n := len(sigma)
	means, scale, local := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, t := range tau {
		means[i] = Resolved(sigma[i]-c.extra(i, t), c.Prior.Variance(i))
		scale[i] = math.Sqrt(means[i] / sigma[i])
		local[i] = -c.extra(i, t) * c.perCopy[i] * c.remaining(i, t) / (sigma[i] * sigma[i])
	}
	inner, y := ofMeans(means), make([]float64, 2*n)
	return func(dst, x []float64) {
		for i, s := range scale {
			y[i], y[n+i] = s*x[i], s*s*x[n+i]
		}
		inner(dst, y)
		for i, s := range scale {
			dst[i], dst[n+i] = s*dst[i], s*s*dst[n+i]+local[i]*x[n+i]
		}
	}
}

func (c *copies) Search() Search { return &copiesSearch{c.Prior.Search(), c, c.tau} }

// copiesSearch is the Search of copies.
type copiesSearch struct {
	Search
	of  *copies
	tau []float64 // precisions in the factor or after the last sweep
}

// These implement Search.
func (s *copiesSearch) Variances(sigma []float64) {
	s.tau = s.of.tau
	s.Search.Variances(sigma)
	s.of.add(sigma, s.tau)
}

func (s *copiesSearch) Sweep(goOn bool, at Sites, visit Visit) error {
	s.tau = at.Tau
	return s.Search.Sweep(goOn, at, func(i int, variance, b float64) (dTau, dOffset float64, err error) {
		return visit(i, variance+s.of.extra(i, at.Tau[i]), b)
	})
}

func (s *copiesSearch) Swept(sigma []float64) bool {
	ok := s.Search.Swept(sigma)
	s.of.add(sigma, s.tau)
	return ok
}

func (s *copiesSearch) Jacobian(sigma []float64, at At) func(dst, x []float64) {
	return s.of.jacobian(sigma, s.tau, func(means []float64) func(dst, x []float64) {
		return s.Search.Jacobian(means, at)
	})
}
