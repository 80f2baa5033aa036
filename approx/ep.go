package approx

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

var (
	_ Approximation = EP{}
	_ LeaveOneOuter = (*epPosterior)(nil)
)

// EP is expectation propagation for two classes, or for numbers (GPML 3.6): Gaussian sites of precision τ_i and information ν_i, chosen
// so that every marginal of the posterior has the mean and variance of its tilted distribution, the cavity
// N(f; m_-i, v_-i) times p(y_i|f). With Z_i the mass of the latter and b = K⁻¹(μ - m) the log evidence, in nats, is
//
//	L = -½ log|B| - ½ bᵀ(μ - m) + Σ_i [ log Z_i + ½ log(1 + τ_i v_-i) + ½ v_-i b_i² ],   B = I + S^½ K S^½
//
// which is GPML (3.65) rewritten with m_-i = μ_i - v_-i b_i: nothing large cancels, and τ_i may be 0. The sites are
// visited in the order of the cases (GPML Algorithm 3.5). A State holds τ and then ν, 2n numbers.
//
// A fit that stops before it converges has Diagnostics.Converged false; its evidence is the formula above at the last
// sites, and its adjoint is ErrNotConverged, for the evidence is then not stationary in the sites. A floored site leaves
// the adjoint ErrNoGradient for the same reason.
type EP struct {
	// Schedule is the order of the updates.
	Schedule Schedule `yaml:"schedule"`
	// Damping is the share of a site's new value that is taken, 0 < Damping ≤ 1. Default 1.
	Damping float64 `yaml:"damping"`
	// Tolerance bounds, at every site, the difference of the tilted mean from the marginal mean, in units of the marginal
	// standard deviation, and the relative difference of their variances. The log evidence is stationary in the sites, so
	// its own error is of the order of the square. Where the rounding error of the marginal variances allows no better,
	// that is the bound. Default 1e-10.
	Tolerance float64 `yaml:"tolerance"`
	// MaxIterations bounds the sweeps. Default 1000.
	MaxIterations int `yaml:"max_iterations"`
	// NegativeSites says what to do with a negative site precision.
	NegativeSites NegativeSites `yaml:"negative_sites"`
}

// Schedule is the order in which EP updates its sites.
type Schedule int

const (
	Sequential Schedule = iota // one after the other, each on the marginals that the one before left
)

// UnmarshalText reads a schedule's name.
func (s *Schedule) UnmarshalText(text []byte) error {
	i, err := choose("schedule", string(text), "sequential")
	*s = Schedule(i)
	return err
}

// NegativeSites is what EP does with a negative site precision, which likelihoods that are not log-concave call for.
type NegativeSites int

const (
	FloorNegative  NegativeSites = iota // set it to 0 and count it in Diagnostics.Floors
	RefuseNegative                      // stop with an error
)

// UnmarshalText reads a policy's name.
func (p *NegativeSites) UnmarshalText(text []byte) error {
	i, err := choose("policy for negative sites", string(text), "floor", "error")
	*p = NegativeSites(i)
	return err
}

// choose returns the index of name in have; what says what was wanted.
func choose(what, name string, have ...string) (int, error) {
	i := slices.Index(have, name)
	if i < 0 {
		return 0, fmt.Errorf("unknown %s %q%s", what, name, registry.Suggest(name, have))
	}
	return i, nil
}

// Uses implements Approximation: any likelihood of two classes, or of numbers, that has Gaussian averages.
func (e EP) Uses(lik likelihood.Likelihood, classes int) (Caps, error) {
	if err := checkIteration("ep", e.Tolerance, e.MaxIterations); err != nil {
		return Caps{}, err
	}
	if !(e.Damping >= 0 && e.Damping <= 1) {
		return Caps{}, fmt.Errorf("ep: damping = %v must be in (0, 1]; it is the share of the new value that is taken", e.Damping)
	}
	if err := usesOneProcess("ep", lik, classes); err != nil {
		return Caps{}, err
	}
	_, params := bound(lik).(likelihood.MomentParams)
	return Caps{Gradient: params || !hasFree(lik), LeaveOneOut: true}, nil
}

// Fit implements Approximation.
func (e EP) Fit(ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State) (Posterior, error) {
	p, err := e.begin(cov, y, lik)
	if err != nil {
		return nil, err
	}
	if start != nil {
		if err := p.set(start); err != nil {
			return nil, err
		}
	}
	limit := cmp.Or(e.MaxIterations, defaultIterations)
	w := newSweep(len(p.y))
	for {
		f, err := p.refresh(w.v)
		if err != nil {
			return nil, err
		}
		if f.settled(p.options.Tolerance) || p.diagnostics.Iterations == limit {
			return p, nil
		}
		p.covariance(w.sigma, w.v)
		for range sweepsPerRefresh {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			f, err := p.sweep(w)
			if err != nil {
				return nil, err
			}
			if p.diagnostics.Iterations++; f.settled(p.options.Tolerance) || p.diagnostics.Iterations == limit {
				break
			}
		}
	}
}

// Restore implements Approximation.
func (e EP) Restore(cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error) {
	p, err := e.begin(cov, y, lik)
	if err != nil {
		return nil, err
	}
	if err := p.set(s); err != nil {
		return nil, err
	}
	if _, err := p.refresh(linalg.NewGeneral(len(p.y), len(p.y))); err != nil {
		return nil, err
	}
	return p, nil
}

func (e EP) begin(cov []Cov, y Targets, lik likelihood.Bound) (*epPosterior, error) {
	s, err := newSites(cov, y, lik)
	if err != nil {
		return nil, err
	}
	n := len(s.y)
	s.state = make(State, 2*n)
	e.Damping, e.Tolerance = cmp.Or(e.Damping, 1), cmp.Or(e.Tolerance, defaultTolerance)
	return &epPosterior{
		sites: s, options: e, tau: s.state[:n], nu: s.state[n:],
		mu: make([]float64, n), sigma: make([]float64, n), cavity: make([]float64, n),
	}, nil
}

type epPosterior struct {
	*sites
	options   EP // with its defaults filled in
	tau, nu   []float64
	mu, sigma []float64 // marginal means and variances
	cavity    []float64 // cavity variances
	loo       float64   // Σ log Z_i
}

// set copies a State.
func (p *epPosterior) set(s State) error {
	if err := checkState("ep", s, len(p.state)); err != nil {
		return err
	}
	for i, t := range s[:len(p.tau)] {
		if t < 0 {
			return fmt.Errorf("ep: state has site precision %v at case %d, want at least 0", t, i)
		}
	}
	copy(p.state, s)
	return nil
}

// refresh computes everything that follows from the sites: the factor of B, b, the marginals, the evidence, and how far
// the sites are from their fixed point. v is n×n workspace; U⁻ᵀ S^½ K is left in it.
func (p *epPosterior) refresh(v blas64.General) (fixedPoint, error) {
	var fit fixedPoint
	if err := p.factorise(p.tau); err != nil {
		return fit, err
	}
	p.locate(p.tau, p.nu, p.mu)
	p.project(v)
	for i := range p.sigma {
		p.sigma[i] = p.variance(i)
	}
	subtractSquares(p.sigma, v)

	value := -linalg.LogDet(p.u)
	p.loo = 0
	for i, t := range p.tau {
		s := p.match(i, max(p.sigma[i], eps*p.variance(i)), p.b[i], &fit)
		p.cavity[i] = s.cavity
		value += s.logZ + (math.Log1p(t*s.cavity)+s.cavity*p.b[i]*p.b[i]-p.b[i]*(p.mu[i]-p.mean[i]))/2
		p.loo += s.logZ
	}
	p.evidence = functional{value: value, adjoint: p.stationaryAdjoint, likelihood: p.likelihoodGradient()}
	if err := p.conclude("ep", fit, p.options.Tolerance); err != nil {
		return fit, err
	}
	if fit.floors > 0 && p.evidence.err == nil {
		p.evidence.err = fmt.Errorf("%w: ep floored %d negative site precisions", ErrNoGradient, fit.floors)
	}
	return fit, nil
}

// site is a new value of one site.
type site struct {
	tau, nu float64
	floored bool
	logZ    float64 // mass of the tilted distribution
	cavity  float64 // variance of the cavity
}

// match gives the site that turns the cavity of case i into a Gaussian with the moments of the tilted distribution,
// GPML (3.59), floored at precision 0. The marginal is N(μ_i, v), and b = ν_i - τ_i μ_i = (μ_i - m_-i)/v_-i. How far the
// tilted moments are from the marginal's is added to fit.
func (p *epPosterior) match(i int, v, b float64, fit *fixedPoint) site {
	share := max(1-p.tau[i]*v, eps) // the cavity's share of the marginal's precision
	cavity := v / share
	mean := p.mu[i] - cavity*b
	logZ, d1, d2 := p.lik.LogZ(p.y[i], mean, cavity)
	s := site{tau: -d2 / max(1+cavity*d2, eps), logZ: logZ, cavity: cavity}
	if s.tau < 0 {
		s.floored = s.tau*cavity < -negligible
		s.tau = 0
	}
	s.nu = d1 + s.tau*(mean+cavity*d1)

	// The tilted mean is cavity·(d1 - b) off the marginal mean, the tilted variance cavity/(1 + cavity·τ).
	fit.distance = max(fit.distance, math.Abs(d1-b)*math.Sqrt(v)/share, math.Abs(1/((1+cavity*s.tau)*share)-1))
	if v > 0 {
		fit.rounding = max(fit.rounding, 8*eps*p.variance(i)/(v*share))
	}
	if s.floored {
		fit.floors++
	}
	return s
}

// negligible is how far below 0, relative to the cavity precision, rounding may take a site precision.
const negligible = 1e-12

const (
	// sweepsPerRefresh bounds the sweeps before Σ is computed afresh, as rounding errors add up in it.
	sweepsPerRefresh = 8
	// block is how many sites share one update of Σ.
	block = 32
)

// sweepWork is the workspace of sweeps.
type sweepWork struct {
	v       blas64.General   // U⁻ᵀ S^½ K
	sigma   blas64.Symmetric // Σ as the last finished block left it
	c, x    []float64
	columns blas64.General // the columns s_t of a block, in rows
}

func newSweep(n int) *sweepWork {
	return &sweepWork{
		v: linalg.NewGeneral(n, n), sigma: linalg.NewSym(n), c: make([]float64, block), x: make([]float64, block),
		columns: linalg.NewGeneral(block, n),
	}
}

// sweep updates every site once, GPML Algorithm 3.5 lines 4-12, and tells how far from a fixed point it found them. A new
// site i subtracts c s sᵀ from Σ, s its column i and c = Δτ/(1 + Δτ Σ_ii), and adds a multiple of s to μ. Σ itself is
// brought up to date block by block; until then a site subtracts Σ_t c_t s_t[i] s_t from its own column.
func (p *epPosterior) sweep(w *sweepWork) (fixedPoint, error) {
	var fit fixedPoint
	n := len(p.tau)
	for i0 := 0; i0 < n; i0 += block {
		i1 := min(i0+block, n)
		w.gather(i0, i1)
		for i := i0; i < i1; i++ {
			t := i - i0
			s := w.columns.Data[t*n : (t+1)*n]
			if t > 0 {
				before := w.columns
				before.Rows = t
				for j, c := range w.c[:t] {
					w.x[j] = c * before.Data[j*n+i]
				}
				linalg.Gemv(blas.Trans, -1, before, w.x[:t], 1, s)
			}
			s[i] = max(s[i], eps*p.variance(i))
			tau, nu := p.tau[i], p.nu[i]
			next := p.match(i, s[i], nu-tau*p.mu[i], &fit)
			if next.floored && p.options.NegativeSites == RefuseNegative {
				return fit, fmt.Errorf("ep: the site of case %d has negative precision in sweep %d; allow negative_sites: floor, or use a log-concave likelihood", i, p.diagnostics.Iterations+1)
			}
			dTau, dNu := p.options.Damping*(next.tau-tau), p.options.Damping*(next.nu-nu)
			p.tau[i], p.nu[i] = tau+dTau, nu+dNu
			scale := 1 / (1 + dTau*s[i])
			w.c[t] = dTau * scale
			shift := (dNu - dTau*p.mu[i]) * scale
			for j, v := range s {
				p.mu[j] += shift * v
			}
		}
		w.flush(i1 - i0)
	}
	return fit, nil
}

// gather copies columns i0 to i1 of Σ.
func (w *sweepWork) gather(i0, i1 int) {
	n := w.sigma.N
	for j := range i1 {
		for i := max(i0, j); i < i1; i++ {
			v := w.sigma.Data[j*n+i]
			w.columns.Data[(i-i0)*n+j] = v
			if j >= i0 {
				w.columns.Data[(j-i0)*n+i] = v
			}
		}
	}
	for i := i0; i < i1; i++ {
		copy(w.columns.Data[(i-i0)*n+i1:(i-i0+1)*n], w.sigma.Data[i*n+i1:(i+1)*n])
	}
}

// flush subtracts Σ_t c_t s_t s_tᵀ, t < k, from Σ.
func (w *sweepWork) flush(k int) {
	columns := w.columns
	columns.Rows = k
	linalg.SyrkDiag(blas.Trans, -1, columns, w.c[:k], 1, w.sigma)
}

// likelihoodGradient returns what adds ∂L/∂θ = Σ_i ∂log Z_i/∂θ, at fixed cavities because L is stationary in the sites.
func (p *epPosterior) likelihoodGradient() func(grad []float64) {
	model, ok := p.lik.(likelihood.MomentParams)
	if !ok {
		return nil
	}
	return func(grad []float64) {
		d, d1, d2 := make([]float64, len(grad)), make([]float64, len(grad)), make([]float64, len(grad))
		for i, v := range p.cavity {
			model.DLogZ(d, d1, d2, p.y[i], p.mu[i]-v*p.b[i], v)
			floats.Add(grad, d)
		}
	}
}

// LeaveOneOut implements LeaveOneOuter: log p(y_i|y_-i) is the mass log Z_i of site i's tilted distribution, so their sum
// comes with the fit. It has no gradient here.
func (p *epPosterior) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged {
		return nil, p.evidence.err
	}
	return functional{value: p.loo, err: fmt.Errorf("%w: leave-one-out of ep", ErrNoGradient)}, nil
}
