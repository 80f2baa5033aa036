package approx

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/prior"
	"github.com/gpc-tune/gpc-tune/approx/utility"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// softmaxRule is the variational method for softmax, with E log p(y|f) itself:
//
//	L = Σ_i E log p(y_i|f_i) + ½ tr(W Σ) - ½ bᵀ(μ - m) - ½ log|I + W K|
//	W_i = diag d_i - d_i d_iᵀ/Σd_i
//
// It is maximal where b_i = y_i - E π, and where W_i is the curvature S_i = E[diag π - ππᵀ]. E is
// over independent f_c with variances λ. The posterior and λ give every x the same variance. For
// three classes, λ then has all covariances of the posterior, and every S_i has the form of W_i.
// For more classes the equations, with p = d/Σd,
//
//	Var x_c - 1/Σd = λ_c (1 - 2p_c) + Σ_e p_e² λ_e,   d_c (1 - p_c) = S_cc
//
// make ∂E/∂Cov f = -½ W, and so L stationary. The derivative with respect to p vanishes, because
// Σ_c d_c (f_c - Σ_e p_e f_e) = 0.
type softmaxRule struct {
	*siteState
	sites   *prior.Contrasts
	index   []int // labels
	classes int
	value   []float64 // E log p(y|f)
}

func newSoftmaxRule(p *siteState, y Targets) *softmaxRule {
	return &softmaxRule{p, p.sited.(*prior.Contrasts), y.Index, y.Classes, make([]float64, len(y.Index))}
}

// casesOfAverage is the number of cases whose averages a thread computes at a time.
const casesOfAverage = 8

// prepare implements caseRule.
func (r *softmaxRule) prepare() {
	n, classes := len(r.index), r.classes
	r.sites.Covariance(0) // before the threads
	linalg.Parallel((n+casesOfAverage-1)/casesOfAverage, func(job int) {
		v := func() []float64 { return make([]float64, classes) }
		mean, d, pi, s := v(), v(), v(), v()
		for i := job * casesOfAverage; i < min(n, (job+1)*casesOfAverage); i++ {
			total := 0.0
			for c := range mean {
				mean[c], d[c] = -r.mu[c*n+i], r.tau[c*n+i]
				total += d[c]
			}
			y := r.index[i]
			lambda := independent(r.sites.Covariance(i), d, total)
			r.value[i] = mean[y] + utility.Gumbel.Mean - largest(pi, s, mean, lambda)
			precisions(d, s)
			others := 0.0
			for c, v := range d {
				r.next[c*n+i] = site{tau: v, offset: pi[c]}
				if c != y {
					others += pi[c]
				}
			}
			r.next[y*n+i].offset = -others
		}
	})
}

// independent returns λ, given Cov x and d.
func independent(x, d []float64, total float64) (lambda []float64) {
	classes := len(d)
	a, lambda := make([]float64, classes*classes), make([]float64, classes)
	for c := range d {
		lambda[c] = x[c*(classes+1)] - 1/total
		for e, w := range d {
			a[c*classes+e] = w / total * w / total
		}
		a[c*(classes+1)] += 1 - 2*d[c]/total
	}
	eliminate(a, lambda)
	return lambda
}

// largest is utility.Gumbel.Largest, also for negative variances λ, which are rare. With |λ| in
// their place the result is g(1), with 0 it is g(0). For more than three classes it is continued by
// 2 g(0) - g(1), whose error is of the order of λ².
func largest(pi, s, mean, lambda []float64) (value float64) {
	if floats.Min(lambda) >= 0 {
		return utility.Gumbel.Largest(pi, s, mean, lambda)
	}
	if len(lambda) == 3 {
		return largestOnLine(pi, s, mean, lambda)
	}
	pi1, s1, positive := slices.Clone(pi), slices.Clone(s), slices.Clone(lambda)
	for c, v := range lambda {
		positive[c] = math.Abs(v)
	}
	value = -utility.Gumbel.Largest(pi1, s1, mean, positive)
	for c, v := range lambda {
		positive[c] = max(v, 0)
	}
	value += 2 * utility.Gumbel.Largest(pi, s, mean, positive)
	for c, v := range lambda {
		pi[c] = 2*pi[c] - pi1[c]
		if s[c] = 2*s[c] - s1[c]; v < 0 {
			s[c] = s1[c]
		}
	}
	return value
}

// largestOnLine is largest for three classes, with λ_a = -ρ. The variances of f_b - f_a
// and f_c - f_a are v_b = λ_b - ρ and v_c = λ_c - ρ, and their covariance is -ρ. With a standard
// normal z and t² = v_b/v_c it is the average over z of
//
//	mean_b + √(ρt) z,   mean_c - √(ρ/t) z,   λ = (0, v_b - tρ, v_c - ρ/t)
//
// by the trapezoidal rule, whose step resolves the function.
func largestOnLine(pi, s, mean, lambda []float64) (value float64) {
	a := floats.MinIdx(lambda)
	b, c, rho := (a+1)%3, (a+2)%3, -lambda[a]
	vb, vc := max(lambda[b]-rho, rho*eps), max(lambda[c]-rho, rho*eps)
	t := math.Sqrt(vb / vc)
	rest, at := make([]float64, 3), slices.Clone(mean)
	rest[b], rest[c] = max(0, vb-t*rho), max(0, vc-rho/t)
	ub, uc := math.Sqrt(rho*t), math.Sqrt(rho/t)
	const reach, most = 7, 1000
	nodes := min(most, math.Ceil(reach/min(0.5, 0.7/(ub+uc))))
	onePi, oneS, total := make([]float64, 3), make([]float64, 3), 0.0
	clear(pi)
	clear(s)
	for k := -nodes; k <= nodes; k++ {
		z := k * reach / nodes
		w := math.Exp(-z * z / 2)
		at[b], at[c] = mean[b]+ub*z, mean[c]-uc*z
		value += w * utility.Gumbel.Largest(onePi, oneS, at, rest)
		floats.AddScaled(pi, w, onePi)
		floats.AddScaled(s, w, oneS)
		total += w
	}
	floats.Scale(1/total, pi)
	floats.Scale(1/total, s)
	return value / total
}

// eliminate replaces b by the solution of A x = b, and destroys A.
func eliminate(a, b []float64) {
	n := len(b)
	for j := range n {
		top := j
		for k := j; k < n; k++ {
			if math.Abs(a[k*n+j]) > math.Abs(a[top*n+j]) {
				top = k
			}
		}
		b[j], b[top] = b[top], b[j]
		for c := range n {
			a[j*n+c], a[top*n+c] = a[top*n+c], a[j*n+c]
		}
		for k := j + 1; k < n; k++ {
			f := a[k*n+j] / a[j*n+j]
			for c := j; c < n; c++ {
				a[k*n+c] -= f * a[j*n+c]
			}
			b[k] -= f * b[j]
		}
	}
	for j := n - 1; j >= 0; j-- {
		for c := j + 1; c < n; c++ {
			b[j] -= a[j*n+c] * b[c]
		}
		b[j] /= a[j*n+j]
	}
}

// leastWeight is the smallest precision; the exact one may be exp(-1000). mostRatio is the largest
// sum of the precisions of a case in units of the largest s.
const leastWeight, mostRatio = 1e-290, 1e4

// precisions sets d to the solution of d_c - d_c²/Σd = s_c: with t = Σd,
//
//	d_c = t/2 (1 ∓ √(1 - 4 s_c/t))
//
// where only the d of the largest s may have the upper sign, and t is found by bisection.
func precisions(d, s []float64) {
	top, others := floats.MaxIdx(s), 0.0
	for c, v := range s {
		s[c] = max(v, leastWeight)
		if c != top {
			others += s[c]
		}
	}
	part := func(v, t float64) float64 { // t/2 (1 - √(1 - 4v/t))
		return 2 * v / (1 + math.Sqrt(max(0, 1-4*v/t)))
	}
	gap := func(t float64, upper bool) float64 {
		sum := 0.0
		for c, v := range s {
			if c != top {
				sum += part(v, t)
			}
		}
		if upper {
			return sum - part(s[top], t)
		}
		return t - sum - part(s[top], t)
	}
	low := 4 * s[top]
	high, upper := mostRatio*s[top], gap(low, false) > 0
	for range 100 {
		t := math.Sqrt(low) * math.Sqrt(high)
		if !(t > low && t < high) {
			break
		}
		if gap(t, upper) > 0 {
			high = t
		} else {
			low = t
		}
	}
	rest := high
	for c, v := range s {
		if d[c] = part(v, high); c != top {
			rest -= d[c]
		}
	}
	d[top] = max(rest, s[top]) // accurate also where the square root is nearly 0
}

// These implement rule. match returns what prepare made. Softmax has no parameters, and no
// derivative needs slopes, because L is maximal.
func (r *softmaxRule) match(j int, _, _ float64) (site, error) { return r.next[j], nil }
func (*softmaxRule) negative() bool                            { return false }
func (*softmaxRule) stationary(fixedPoint) bool                { return true }
func (*softmaxRule) explicit([]float64, int)                   {}
func (*softmaxRule) slopes(int) siteSlopes                     { return siteSlopes{} }
func (*softmaxRule) paramSlopes(int, []float64, []float64)     {}

// term has the terms of a case for its first class. Cov x = P Σ Pᵀ + 11ᵀ/Σd, and LogDet of
// Contrasts has ½ log Σd - ½ log 2π.
func (r *softmaxRule) term(j int) (t term) {
	n := len(r.index)
	if j >= n {
		return term{}
	}
	total := 0.0
	for k := j; k < len(r.tau); k += n {
		t.value += r.tau[k] * r.sigma[k] / 2
		total += r.tau[k]
	}
	t.value += r.value[j] - 0.5 + math.Log(total/(2*math.Pi))/2
	return t
}

const (
	softmaxDepth  = 8    // depth of Anderson's acceleration
	softmaxNear   = 1e-3 // distance below which L may fall by rounding errors
	softmaxTarget = 1e-8 // distance that is near enough, because the error of L is its square
	mostChange    = 8    // factor of a precision in a step
	mostFailures  = 12   // halvings of a step
)

// iterate implements caseRule. A step is one of the natural gradient, with Anderson's acceleration.
// It is shortened if L falls.
func (r *softmaxRule) iterate(ctx context.Context) (fixedPoint, error) {
	a, damping, failures, last := accelerator{depth: softmaxDepth}, 1.0, 0, math.Inf(-1)
	before, image := slices.Clone(r.state), slices.Clone(r.state)
	for {
		if err := ctx.Err(); err != nil {
			return fixedPoint{}, err
		}
		fit, err := r.refresh()
		if err == nil {
			r.computeEvidence()
			r.target = max(r.target, softmaxTarget)
		}
		value, iterations, slack := r.evidence.value, r.diagnostics.Iterations, 1e-11
		if fit.distance < softmaxNear {
			slack = 1e-6
		}
		if err != nil || !(value >= last-slack*math.Abs(last)) {
			if math.IsInf(last, -1) || iterations >= r.options.MaxIterations || failures == mostFailures {
				return fit, err
			}
			damping, failures = damping/2, failures+1
			for j, s := range before {
				r.state[j] = s + damping*(image[j]-s)
			}
			a.forget()
			r.diagnostics.Iterations++
			continue
		}
		if last = value; fit.settled(r.target) || iterations >= r.options.MaxIterations {
			return fit, nil
		}
		copy(before, r.state)
		for j, s := range r.next {
			image[j], image[len(r.next)+j] = s.tau, s.offset+s.tau*r.mu[j]
		}
		switch failures = 0; {
		case fit.distance > nearEnough:
			a.forget()
			damping = min(1, 2*damping)
		case damping < 0.5:
			damping *= 2
		}
		r.move(&a, damping)
		r.diagnostics.Iterations++
	}
}

// move is siteState.update, but no precision falls by more than a factor at once.
func (r *softmaxRule) move(a *accelerator, damping float64) {
	from := slices.Clone(r.tau)
	r.update(a, damping)
	for j, tau := range from {
		to := min(max(r.tau[j], tau/mostChange, leastWeight), mostChange*max(tau, 0.01))
		r.nu[j] += (to - r.tau[j]) * r.mu[j]
		r.tau[j] = to
	}
}
