package approx

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

var (
	_ Approximation = Online{}
	_ LeaveOneOut   = (*onlinePosterior)(nil)
)

// Online is the online method of Csató et al. (2000), equations (10)-(12), also known as
// assumed-density filtering: it includes one case after the other and each time replaces the
// posterior by the Gaussian with the same mean and covariance, which is the first sweep of EP. With
// μ_i, v_i the mean and variance of f_i before case i, the log evidence, in nats, is
//
//	L = Σ_i log ∫ p(y_i|f) N(f; μ_i, v_i) df
//
// the probability of each label given those before it. It depends on the order of the cases. For a
// given order it is a smooth function of covariance and mean, and its adjoint is exact, by a
// reverse pass through the updates. Likelihoods that are not log-concave may leave sites of
// negative precision; the posterior is a proper Gaussian nevertheless. A State is empty, because a
// fit is a single pass.
type Online struct {
	// OrderSeed shuffles the cases. Default 0.
	OrderSeed OrderSeed `yaml:"order_seed"`
	// Sweeps is the number of passes through the cases, default 1. In later passes each case is
	// included again as if it were new, a heuristic of Csató et al. that reduces the dependence on
	// the order; then there is no evidence.
	Sweeps int `yaml:"sweeps" within:"[1,1000000]"`
	// Seen is the number of cases to include, for learning curves: in their order, starting again
	// from the first after the last, in as many sweeps as needed; then there is no evidence either.
	// The default follows from Sweeps.
	Seen int `yaml:"seen" within:"[1,1000000000]"`
}

// OrderSeed is the order of the cases: shuffled with Seed, 0 by default, or unchanged.
type OrderSeed struct {
	Seed      uint64
	Unchanged bool
}

// UnmarshalText reads a seed, or none for the order of the data.
func (o *OrderSeed) UnmarshalText(text []byte) error {
	if string(text) == "none" {
		*o = OrderSeed{Unchanged: true}
		return nil
	}
	seed, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return fmt.Errorf("order_seed %q is neither a whole number from 0 nor none, the order of the data", text)
	}
	*o = OrderSeed{Seed: seed}
	return nil
}

// Word is none or the seed.
func (o OrderSeed) Word() string {
	if o.Unchanged {
		return "none"
	}
	return strconv.FormatUint(o.Seed, 10)
}

// order lists the cases in the order of visits.
func (o OrderSeed) order(n int) []int {
	if !o.Unchanged {
		return rand.New(rand.NewPCG(o.Seed, 0)).Perm(n)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// Uses implements Approximation: any likelihood of two classes, or of numbers, with Gaussian
// averages.
func (o Online) Uses(lik likelihood.Likelihood, classes int) (Caps, error) {
	if o.Sweeps < 0 || o.Seen < 0 {
		return Caps{}, fmt.Errorf("online: sweeps = %d and seen = %d must not be negative "+
			"(0 means the default, 1 and all)", o.Sweeps, o.Seen)
	}
	if o.Sweeps > 1 && o.Seen > 0 {
		return Caps{}, fmt.Errorf("online: sweeps = %d and seen = %d both say how long to go on; "+
			"keep seen, which counts the cases of all sweeps", o.Sweeps, o.Seen)
	}
	if err := usesOneProcess("online", lik, classes, nil); err != nil {
		return Caps{}, err
	}
	if o.Sweeps > 1 || o.Seen > 0 {
		return Caps{Ordered: true, NoEvidence: true, LeaveOneOut: true}, nil
	}
	gradient := knowsParameters(lik)
	return Caps{Ordered: true, Gradient: gradient, LeaveOneOut: true, LeaveOneOutGradient: gradient}, nil
}

// sweeps returns the number of sweeps over n cases, and the number of cases in the last one.
func (o Online) sweeps(n int) (sweeps, last int) {
	if o.Seen == 0 {
		return max(o.Sweeps, 1), n
	}
	sweeps = (o.Seen-1)/n + 1
	return sweeps, o.Seen - (sweeps-1)*n
}

// Memory implements Approximation: the columns and the factor of B; every further sweep starts from
// a copy of Σ.
func (o Online) Memory(s Size) Memory {
	n2 := s.Cases * s.Cases
	sweeps, _ := o.sweeps(max(s.Cases, 1))
	again := 2 * min(sweeps-1, 1) * n2
	return Memory{
		Fit: words(2*n2, again+s.Cases*s.New), Evidence: words(0, n2), LeaveOneOut: words(n2, 0),
		LeaveOneOutAdjoint: words(0, 3*n2),
	}
}

// Fit implements Approximation.
func (o Online) Fit(
	ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State,
) (Posterior, error) {
	return interrupt.Do(ctx, func() (Posterior, error) { return o.Restore(cov, y, lik, start) })
}

// Restore implements Approximation.
func (o Online) Restore(cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error) {
	if err := y.takesNone("online"); err != nil {
		return nil, err
	}
	base, err := newProcess(nil, cov, y, lik, 1, false)
	if err != nil {
		return nil, err
	}
	if err := checkState("online", s, 0); err != nil {
		return nil, err
	}
	n := len(base.y)
	sweeps, last := o.sweeps(n)
	p := &onlinePosterior{
		process: base, tau: make([]float64, n), order: o.OrderSeed.order(n), visits: make([]visit, n),
		columns: linalg.NewSym(n),
	}
	nu, mu := make([]float64, n), make([]float64, n)
	copy(mu, p.mean)
	p.reorder(p.columns, cov[0].K.RawSymmetric())
	for p.diagnostics.Iterations < sweeps {
		if p.diagnostics.Iterations > 0 {
			sigma := linalg.NewSym(n)
			p.prior.(*prior.Dense).Covariance(sigma)
			p.reorder(p.columns, sigma)
		}
		seen := n
		if p.diagnostics.Iterations == sweeps-1 {
			seen = last
		}
		p.evidence.value = p.pass(mu, seen)
		p.diagnostics.Iterations++
		for t, i := range p.order {
			p.tau[i] += p.visits[t].tau
			nu[i] += p.visits[t].nu
		}
		if err := p.factorise(p.tau); err != nil {
			return nil, err
		}
		p.prior.Locate(prior.Sites{Tau: p.tau, Nu: nu, Mean: p.mean, Mu: mu, B: p.b})
	}
	return p, p.finish(o, sweeps)
}

// finish sets the derivatives of the evidence, if there is one, and the diagnostics.
func (p *onlinePosterior) finish(o Online, sweeps int) error {
	if !finite(p.evidence.value) {
		return fmt.Errorf("%w: online, log evidence %v; the prior variances overflow",
			errImprecise, p.evidence.value)
	}
	p.differentiate()
	p.diagnostics.Converged = p.rounding <= unresolved
	switch {
	case !p.diagnostics.Converged:
		p.stopped(errImprecise, fmt.Sprintf("online met variances uncertain by a relative %.1g; "+
			"double precision does not carry prior variances this large "+
			"(a smaller amplitude or noise in the kernel helps)", p.rounding))
	case p.rounding > 1e-6:
		p.diagnostics.Warnings = []Warning{cause.Rounding.New("rounding error at prior variances this large leaves "+
			"the variances that online met uncertain by a relative %.1g", p.rounding)}
	}
	var none error
	switch {
	case o.Seen > 0:
		none = fmt.Errorf("%w: online with seen: %d does not take every case in once; do without it",
			ErrNoEvidence, o.Seen)
	case sweeps > 1:
		none = fmt.Errorf("%w: online with sweeps: %d takes every case in more than once; use sweeps: 1",
			ErrNoEvidence, sweeps)
	}
	if none != nil {
		p.evidence = functional{value: math.NaN(), err: none}
	}
	return nil
}

type onlinePosterior struct {
	process
	tau      []float64        // precisions of the sites
	order    []int            // the order of the cases; the fields below use it
	visits   []visit          // the visits of the last pass
	columns  blas64.Symmetric // row t, from t on, is column t of Σ before visit t
	rounding float64          // largest relative rounding error of a variance before a visit
}

// visit records a case before and after its inclusion.
type visit struct {
	mean, variance float64 // moments of f before the visit
	d1, d2, d3, d4 float64 // derivatives of log Z; it adds d1 s to μ and d2 s sᵀ to Σ, s its column
	tau, nu        float64 // its site
}

// block is the number of visits after which Σ is updated.
const block = 128

// reorder copies k in the order of the visits.
func (p *onlinePosterior) reorder(dst, k blas64.Symmetric) {
	linalg.Rows(len(p.order), func(t0, t1 int) {
		for t := t0; t < t1; t++ {
			i := p.order[t]
			for u, j := range p.order[t:] {
				dst.Data[t*dst.Stride+t+u] = k.Data[min(i, j)*k.Stride+max(i, j)]
			}
		}
	})
}

// pass visits the first seen cases once and returns Σ log Z. The prior of the pass has mean mu and
// the covariance in p.columns. The effect of a case on Σ matters for later cases only, so only the
// part after it is updated, block by block; the effect of a column's own block is added when the
// column is visited.
func (p *onlinePosterior) pass(mu []float64, seen int) float64 {
	clear(p.visits[seen:])
	n, w := len(p.order), p.columns.Data
	mean, change, x := make([]float64, n), make([]float64, block), make([]float64, block)
	for t, i := range p.order {
		mean[t] = mu[i]
	}
	value := 0.0
	for first := 0; first < seen; first += block {
		end := min(first+block, seen)
		for t := first; t < end; t++ {
			s := w[t*n+t : (t+1)*n]
			if k := t - first; k > 0 {
				before := blas64.General{Rows: k, Cols: n - t, Stride: n, Data: w[first*n+t:]}
				for u, c := range change[:k] {
					x[u] = c * before.Data[u*n]
				}
				linalg.Gemv(blas.Trans, 1, before, x[:k], 1, s)
			}
			s[0] = max(s[0], eps*p.prior.Variance(p.order[t]))
			v := &p.visits[t]
			value += p.visit(v, p.order[t], mean[t], s[0])
			for u, c := range s[1:] {
				mean[t+1+u] += v.d1 * c
			}
			change[t-first] = v.d2
		}
		if end < seen {
			done := blas64.General{Rows: end - first, Cols: n - end, Stride: n, Data: w[first*n+end:]}
			rest := blas64.Symmetric{Uplo: blas.Upper, N: n - end, Stride: n, Data: w[end*n+end:]}
			linalg.SyrkDiag(blas.Trans, 1, done, change[:end-first], 1, rest)
		}
	}
	return value
}

// visit includes case i with f_i ~ N(mean, variance) and returns its log Z.
func (p *onlinePosterior) visit(v *visit, i int, mean, variance float64) float64 {
	logZ, d := p.lik.Moments(p.y[i], mean, variance)
	tau := -d[1] / max(1+variance*d[1], eps)
	*v = visit{mean: mean, variance: variance, d1: d[0], d2: d[1], tau: tau, nu: d[0] + tau*(mean+variance*d[0])}
	if variance > 0 {
		v.d3, v.d4 = d[2], d[3]
		p.rounding = max(p.rounding, 8*eps*p.prior.Variance(i)/variance)
	}
	return logZ
}

// differentiate sets the derivatives of the evidence.
func (p *onlinePosterior) differentiate() {
	p.evidence.adjoint = func(dst *Cov, _ int) {
		prior.CheckAdjoint(dst.K, len(p.order))
		raw := dst.K.RawSymmetric()
		linalg.Rows(raw.N, func(i0, i1 int) {
			for i := i0; i < i1; i++ {
				clear(raw.Data[i*raw.Stride+i : i*raw.Stride+raw.N])
			}
		})
		clear(dst.Mean)
		p.addReverse(dst, visitWeights{logZ: 1})
	}
	if model, ok := p.lik.(likelihood.Parametric); ok {
		p.evidence.likelihood = func(grad []float64) { p.addParams(grad, model, visitWeights{logZ: 1}) }
	}
}

// addReverse adds to dst the weights on dK and dm for weights on the visits.
func (p *onlinePosterior) addReverse(dst *Cov, w visitWeights) {
	n := len(p.order)
	g := linalg.NewSym(n)
	mean, _, _ := p.reverse(g, w)
	turn, raw := make([]int, n), dst.K.RawSymmetric()
	for t, i := range p.order {
		turn[i] = t
		if dst.Mean != nil {
			dst.Mean[i] += mean[t]
		}
	}
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			for j, u := range turn[i:] {
				raw.Data[i*raw.Stride+i+j] += g.Data[min(turn[i], u)*n+max(turn[i], u)]
			}
		}
	})
}

// addParams adds to grad the derivatives with respect to the likelihood's parameters for weights on
// the visits.
func (p *onlinePosterior) addParams(grad []float64, model likelihood.Parametric, w visitWeights) {
	_, by1, by2 := p.reverse(linalg.NewSym(len(p.order)), w)
	d, d1, d2 := make([]float64, len(grad)), make([]float64, len(grad)), make([]float64, len(grad))
	for t, v := range p.visits {
		model.DMoments(d, d1, d2, p.y[p.order[t]], v.mean, v.variance)
		for j := range grad {
			grad[j] += w.logZ*d[j] + by1[t]*d1[j] + by2[t]*d2[j]
		}
	}
}

// visitWeights are the weights of a functional on the results of the visits: on each log Z, and,
// unless nil, on the sites, by case.
type visitWeights struct {
	logZ    float64
	tau, nu []float64
}

// reverse differentiates the pass from its last visit to its first. During this, g and mean, in the
// order of the visits, are the weights of the later visits on Σ and μ: case t, at N(μ_t, v) with
// column s, has changed them by d2 s sᵀ and d1 s. by1 and by2 are the weights on its d1 and d2. The
// heat equation gives derivatives with respect to v. The site has ν = d1 + τh, h = μ_t + v d1, and
// ∂τ/∂d2 = -(1 + τv)², ∂τ/∂v = τ².
func (p *onlinePosterior) reverse(g blas64.Symmetric, w visitWeights) (mean, by1, by2 []float64) {
	n := len(p.order)
	mean, by1, by2 = make([]float64, n), make([]float64, n), make([]float64, n)
	for t := n - 1; t >= 0; t-- {
		v := p.visits[t]
		row, s := g.Data[t*n+t:(t+1)*n], p.columns.Data[t*n+t+1:(t+1)*n]
		if t+1 < n {
			later := blas64.Symmetric{Uplo: blas.Upper, N: n - t - 1, Stride: n, Data: g.Data[(t+1)*n+t+1:]}
			linalg.Symv(1, later, s, 0, row[1:])
			by1[t], by2[t] = dot(mean[t+1:], s), dot(row[1:], s)
			for u, gs := range row[1:] {
				row[1+u] = v.d1*mean[t+1+u]/2 + v.d2*gs
			}
		}
		byMean, byVariance := w.logZ*v.d1, w.logZ*(v.d2+v.d1*v.d1)/2
		if w.tau != nil {
			nu, grown := w.nu[p.order[t]], 1+v.tau*v.variance
			tau := w.tau[p.order[t]] + nu*(v.mean+v.variance*v.d1)
			by1[t] += nu * grown
			by2[t] -= tau * grown * grown
			byMean += nu * v.tau
			byVariance += v.tau * (nu*v.d1 + tau*v.tau)
		}
		mean[t] = byMean + by1[t]*v.d2 + by2[t]*v.d3
		row[0] = byVariance + (by1[t]*(v.d3+2*v.d1*v.d2)+by2[t]*(v.d4+2*v.d2*v.d2+2*v.d1*v.d3))/2
	}
	return mean, by1, by2
}

// LeaveOneOut implements LeaveOneOut with the cavities of the sites that the visits left. Let γ
// be the weight on μ, including the weight on b = ν - Sμ. The weight on ν is byB + Σγ. The weight
// on τ is -μ times the weight on ν, plus the explicit derivative by τ.
func (p *onlinePosterior) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged {
		return nil, p.evidence.err
	}
	n := len(p.b)
	mu := make([]float64, n)
	p.prior.Multiply(mu, p.b)
	floats.Add(mu, p.mean)
	c, err := p.cavities(p.tau, mu)
	if err != nil {
		return nil, err
	}
	f := functional{value: c.sum}
	if p.diagnostics.Iterations > 1 {
		f.err = fmt.Errorf("%w: online with several sweeps", ErrNoGradient)
		return f, nil
	}
	var u []float64
	var w visitWeights
	f.solve = func() error {
		if u != nil {
			return nil
		}
		c.complete(p.prior)
		gamma := make([]float64, n)
		u, w = make([]float64, n), visitWeights{tau: make([]float64, n), nu: make([]float64, n)}
		for i, t := range p.tau {
			gamma[i] = c.byMu[i] - t*c.byB[i]
		}
		p.prior.Multiply(u, gamma)
		p.prior.Shrink(u, gamma, u)
		p.prior.Multiply(w.nu, u)
		for i, b := range c.byB {
			w.nu[i] += b
			w.tau[i] = c.byTau[i] - mu[i]*w.nu[i]
		}
		return nil
	}
	f.adjoint = func(dst *Cov, _ int) {
		p.pullMarginals(dst, u, c.byV)
		p.addReverse(dst, w)
	}
	if model, ok := p.lik.(likelihood.Parametric); ok {
		f.likelihood = func(grad []float64) {
			p.addParams(grad, model, w)
			d, d1, d2 := make([]float64, len(grad)), make([]float64, len(grad)), make([]float64, len(grad))
			for i, y := range p.y {
				model.DMoments(d, d1, d2, y, c.mean[i], c.variance[i])
				floats.Add(grad, d)
			}
		}
	}
	return f, nil
}
