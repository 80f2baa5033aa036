package approx

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
)

// usesMulticlass returns the reason why Laplace's method cannot work with a categorical likelihood
// for this number of classes, or nil.
func usesMulticlass(lik likelihood.Likelihood, classes int) error {
	if _, ok := bound(lik).(likelihood.Multinomial); !ok {
		return errors.New("laplace needs a likelihood of classes whose latent values are its natural parameters; " +
			"use softmax")
	}
	return usesClasses(classes)
}

// categories is the posterior of Laplace's method for C > 2 classes with a latent process each,
// GPML 3.5, and the model whose mode it is at. The processes are independent a priori, and coupled
// by W = D - ΠΠᵀ, D = diag π, between the classes of one case; with weights D = diag wπ and W = D -
// ΠΠᵀ/w, Π = wπ, for which the point has wπ. Vectors of length Cn contain one class after the
// other, entry c·n + i. With priors of lower rank, K̂_c takes the place of K_c, and the term of the
// correction is subtracted from the log evidence:
//
//	L = -½ aᵀ(f̂ - m) + log p(y|f̂) - ½ log|I + W K̂| - Σ_i (1-α)/2α log|I + α W_i D_i|
//
// whose last term is ½ tr(W_i D_i) at α = 0.
type categories struct {
	classPrediction
	n         int
	count     int // number of covariances: one for all classes, or one for each
	prior     prior.Classes
	mean      []float64 // prior mean m
	y         []int
	weight    weights
	lik       likelihood.Multinomial
	tolerance float64
	scale     []float64 // per class, max K_ii, which bounds every |K_ij|
	b         []float64 // K⁻¹(f̂ - m)
	at        *point
	u         []float64 // vector that the adjoints share; computed on first use
	outcome
	f, pi, g []float64 // vectors of one case, C numbers
	z        []float64 // n, temporary
}

// newCategories checks the arguments.
func newCategories(
	work *Work, tolerance float64, points int, power float64, cov []Cov, y Targets, lik likelihood.Bound,
) (*categories, error) {
	n, classes := len(y.Index), y.Classes
	if classes < 3 || len(cov) != 1 && len(cov) != classes || n == 0 {
		panic(fmt.Sprintf("approx: %d covariances, %d classes, %d labels, "+
			"want 1 or one per class, at least 3, and at least 1", len(cov), classes, n))
	}
	w, err := newWeights(y)
	if err != nil {
		return nil, err
	}
	k, err := prior.NewClasses(work, cov, n, classes, power, w)
	if err != nil {
		return nil, err
	}
	return categoriesOf(k, cov, y, lik.(likelihood.Multinomial), tolerance, points), nil
}

func categoriesOf(
	k prior.Classes, cov []Cov, y Targets, lik likelihood.Multinomial, tolerance float64, points int,
) *categories {
	n, classes := len(y.Index), y.Classes
	v := func(n int) []float64 { return make([]float64, n) }
	p := &categories{
		classPrediction: classPrediction{lik: lik, classes: classes, points: points},
		n:               n, count: len(cov), prior: k, y: y.Index, weight: y.Weight, lik: lik,
		tolerance: tolerance, mean: v(classes * n), b: v(classes * n), f: v(classes), pi: v(classes),
		g: v(classes), z: v(n),
	}
	for c := range classes {
		p.scale = append(p.scale, k.LargestVariance(c))
		if mean := share(cov, c).Mean; mean != nil {
			copy(p.of(c, p.mean), mean)
		}
	}
	p.diagnostics.Jitter, p.diagnostics.Unexplained = k.Describe()
	return p
}

// of is the part of a vector for a class.
func (p *categories) of(c int, v []float64) []float64 { return v[c*p.n : (c+1)*p.n] }

func (p *categories) newPoint() *point { return newPoint(p.classes * p.n) }

func (p *categories) latentAt(f, a []float64) {
	p.multiply(f, a)
	floats.Add(f, p.mean)
}

// multiply sets dst = K x. They must not share memory.
func (p *categories) multiply(dst, x []float64) {
	p.diagnostics.Products++
	p.prior.Multiply(dst, x)
}

func (p *categories) factorise(pi []float64) error {
	p.diagnostics.Factorizations++
	return p.prior.Factorise(pi)
}

// newton implements latentModel, GPML Algorithm 3.3 lines 9-11 as a change of a: δ = (I + W K)⁻¹ r.
func (p *categories) newton(at *point) float64 {
	p.multiply(at.kr, at.r)
	p.prior.Shrink(at.delta, at.r, at.kr)
	return math.Sqrt(math.Abs(dot(at.kr, at.delta)))
}

// part implements latentModel: a step is cheap, so no part is needed.
func (p *categories) part() (latentModel, []int) { return nil, nil }

func (p *categories) differentiate(at *point) {
	at.psi = 0
	for i, y := range p.y {
		for c := range p.classes {
			p.f[c] = at.f[c*p.n+i]
		}
		logp := p.lik.Probabilities(p.pi, p.g, p.f, y)
		if p.weight != nil {
			logp *= p.weight[i]
			floats.Scale(p.weight[i], p.pi)
			floats.Scale(p.weight[i], p.g)
		}
		at.psi += logp
		for c, j := 0, i; c < p.classes; c, j = c+1, j+p.n {
			at.w[j], at.g[j], at.r[j] = p.pi[c], p.g[c], p.g[c]-at.a[j]
			at.psi -= at.a[j] * (p.f[c] - p.mean[j]) / 2
		}
	}
}

// linearise implements latentModel, GPML Algorithm 3.3 line 9.
func (p *categories) linearise(at *point) {
	for i := range p.n {
		average := 0.0
		for j := i; j < len(at.f); j += p.n {
			average += at.w[j] * (at.f[j] - p.mean[j]) / p.weight.of(i)
		}
		for j := i; j < len(at.f); j += p.n {
			at.r[j] = at.w[j]*(at.f[j]-p.mean[j]-average) + at.g[j]
		}
	}
}

// precision implements latentModel.
//
// Without weights, write x_c = u_c - Σ_d π_d u_d for a direction u of the latent values of one
// case. A step of length λ has Σ π_c x_c² ≤ λ², over all cases and classes, and every x_c² ≤ λ² q_c
// with q_c = min(2 (1-π_c)² max K, (1-π_c)/π_c): the first from the prior, the second as Σ_c π_c
// x_c = 0. So q_c also bounds the posterior variance of x_c. The third derivative of log p is -Σ_c
// π_c x_c³. So ½ log|I + W K| changes by half the sum of π_c x_c times the variance of x_c, which
// is at most ½ λ √(Σ π_c q_c²) (Cauchy and Schwarz). An error η in f leaves steps of about √(ηᵀWη),
// and |η_i^c| is about eps max K_jj Σ|a_j^c|. Weights w multiply the terms of Σ π_c x_c², of the
// third derivative and of ηᵀWη.
func (p *categories) precision(at *point) (target, rounding float64) {
	var reach, noise float64
	most := floats.Max(p.scale)
	for c, scale := range p.scale {
		weight, size := 0.0, 0.0
		for j, d := range p.of(c, at.w) {
			pi := d / p.weight.of(j)
			rest := 1 - pi
			q := min(2*most*rest*rest, rest/d)
			reach += d * q * q
			weight += d * rest
			size += math.Abs(at.a[c*p.n+j])
		}
		noise += weight * (eps * scale * size) * (eps * scale * size)
	}
	return p.tolerance / max(1, math.Sqrt(reach)/2), math.Sqrt(noise)
}
