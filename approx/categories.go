package approx

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// categories are the cases of C > 2 classes with a latent process each, and the quantities of a
// fit, independent of the storage of the prior.
type categories struct {
	n, classes int
	mean       []float64 // prior mean m
	y          []int
	lik        likelihood.Multinomial
	tolerance  float64
	points     int // lattice points of an average; 0: as many as needed
	deviation  AverageDeviation
	scale      []float64 // per class, max K_ii, which bounds every |K_ij|
	b          []float64 // K⁻¹(f̂ - m)
	at         *point
	storage    processes
	outcome
	f, pi, g []float64 // C, of one case
	z        []float64 // n, temporary
}

// processes is the joint posterior of the classes' processes, for one kind of storage.
type processes interface {
	// latentMean adds to mean[j] the posterior mean of f_c at new inputs minus the prior mean.
	latentMean(mean []float64, c int, cross *mat.Dense)
	// project sets q and x, of some rows, to the contribution of class c to the covariance of the
	// latent values at new inputs. couple completes x, for any number of columns of any classes:
	// the covariance between classes c and d is then δ_cd q_c + x_cᵀx_d.
	couple(x blas64.General)
	project(q []float64, x blas64.General, c int, cross *mat.Dense, diag []float64)
	rows() int
	// marginals calls visit for every case, possibly concurrently, with the covariance of its
	// latent values up to a term common to all entries, with the part q of its diagonal that is
	// specific to each class, and with 1 - π_c q_c.
	marginals(visit func(i int, q, left []float64, s *mat.SymDense))
}

// usesMulticlass returns the reason why Laplace's method cannot work with a categorical likelihood
// for this number of classes, or nil.
func usesMulticlass(lik likelihood.Likelihood, classes int) error {
	if _, ok := bound(lik).(likelihood.Multinomial); !ok {
		return errors.New("laplace needs a likelihood of classes whose latent values are its natural parameters; " +
			"use softmax")
	}
	switch classes {
	case 0:
		return errors.New("softmax is for three or more classes, and the labels are numbers; turn them into two " +
			"classes with data: {above: …}, and use likelihood: logit")
	case 2:
		return errors.New("softmax is for three or more classes, and there are two; use likelihood: logit, which " +
			"is the same model with twice the variance of the kernel")
	}
	return nil
}

// newCategories checks the arguments except for the covariances.
func newCategories(tolerance float64, points int, cov []Cov, y Targets, lik likelihood.Bound) *categories {
	n, classes := len(y.Index), y.Classes
	if classes < 3 || len(cov) != 1 && len(cov) != classes || n == 0 {
		panic(fmt.Sprintf("approx: %d covariances, %d classes, %d labels, "+
			"want 1 or one per class, at least 3, and at least 1", len(cov), classes, n))
	}
	v := func(n int) []float64 { return make([]float64, n) }
	p := &categories{
		n: n, classes: classes, y: y.Index, lik: lik.(likelihood.Multinomial), tolerance: tolerance, points: points,
		mean: v(classes * n), b: v(classes * n), f: v(classes), pi: v(classes), g: v(classes),
		z: v(n),
	}
	for c := range classes {
		if mean := share(cov, c).Mean; mean != nil {
			copy(p.of(c, p.mean), mean)
		}
	}
	return p
}

// ofClass adds to an error which covariance it refers to, if there are several.
func ofClass(err error, j int, cov []Cov) error {
	if len(cov) > 1 {
		return fmt.Errorf("class %d: %w", j, err)
	}
	return err
}

// share is the entry of a class in a list with one entry for all or one per class.
func share[T any](list []T, class int) T { return list[min(class, len(list)-1)] }

// of is the part of a vector for a class.
func (p *categories) of(c int, v []float64) []float64 { return v[c*p.n : (c+1)*p.n] }

func (p *categories) newPoint() *point { return newPoint(p.classes * p.n) }

// part implements latentModel: a step is cheap, so no part is needed.
func (p *categories) part() (latentModel, []int) { return nil, nil }

// differentiate fills what depends on a and f.
func (p *categories) differentiate(at *point) {
	at.psi = 0
	for i, y := range p.y {
		for c := range p.classes {
			p.f[c] = at.f[c*p.n+i]
		}
		at.psi += p.lik.Probabilities(p.pi, p.g, p.f, y)
		for c, j := 0, i; c < p.classes; c, j = c+1, j+p.n {
			at.w[j], at.g[j], at.r[j] = p.pi[c], p.g[c], p.g[c]-at.a[j]
			at.psi -= at.a[j] * (p.f[c] - p.mean[j]) / 2
		}
	}
}

// linearise sets r = W(f - m) + g.
func (p *categories) linearise(at *point) {
	for i := range p.n {
		average := 0.0
		for j := i; j < len(at.f); j += p.n {
			average += at.w[j] * (at.f[j] - p.mean[j])
		}
		for j := i; j < len(at.f); j += p.n {
			at.r[j] = at.w[j]*(at.f[j]-p.mean[j]-average) + at.g[j]
		}
	}
}

// precision returns the length of a Newton step that is short enough, and one that rounding may
// leave in every step.
//
// Write x_c = u_c - Σ_d π_d u_d for a direction u of the latent values of one case. A step of
// length λ has Σ π_c x_c² ≤ λ², over all cases and classes, and every x_c² ≤ λ² q_c with q_c =
// min(2 (1-π_c)² max K, (1-π_c)/π_c): the first from the prior, the second as Σ_c π_c x_c = 0. So
// q_c also bounds the posterior variance of x_c. The third derivative of log p is -Σ_c π_c x_c³, so
// that ½ log|I + W K| changes by half the sum of π_c x_c times that variance, which is at most
// ½ λ √(Σ π_c q_c²) (Cauchy and Schwarz). An error η in f leaves steps of about √(ηᵀWη), and
// |η_i^c| is about eps max K_jj Σ|a_j^c|.
func (p *categories) precision(at *point) (target, rounding float64) {
	var reach, noise float64
	most := slices.Max(p.scale)
	for c, scale := range p.scale {
		weight, size := 0.0, 0.0
		for j, pi := range p.of(c, at.w) {
			rest := 1 - pi
			q := min(2*most*rest*rest, rest/pi)
			reach += pi * q * q
			weight += pi * rest
			size += math.Abs(at.a[c*p.n+j])
		}
		noise += weight * (eps * scale * size) * (eps * scale * size)
	}
	return p.tolerance / max(1, math.Sqrt(reach)/2), math.Sqrt(noise)
}

// settle sets the results at a point, given the log evidence and the length of the Newton step
// there.
func (p *categories) settle(value float64, at *point, length float64, iterations int) error {
	for j, d := range at.delta {
		p.b[j] = at.a[j] + d // as in laplacePosterior.finish
	}
	p.at, p.state, p.diagnostics.Iterations, p.evidence.value = at, at.state(), iterations, value
	target, rounding := p.precision(at)
	return p.conclude("laplace", fixedPoint{distance: length, rounding: rounding}, target)
}

// byLatent replaces π_c q_c, q_c the posterior variance of the difference f_c - Σ_d π_d f_d, by
// -½ tr(Σ_i ∂W_i/∂f_i^c). As ∂W_i/∂f_i is the third cumulant of the class, that is -½ π_c (q_c -
// Σ_d π_d q_d).
func (p *categories) byLatent(s []float64) {
	total := make([]float64, p.n) // Σ_c π_c q_c
	for j, v := range s {
		total[j%p.n] += v
	}
	for j, pi := range p.at.w {
		s[j] = (pi*total[j%p.n] - s[j]) / 2
	}
}
