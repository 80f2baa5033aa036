package approx

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

var (
	_ Approximation = EP{}
	_ LeaveOneOuter = (*epPosterior)(nil)
)

// EP is expectation propagation for two classes (GPML 3.6): Gaussian sites of precision τ_i and information ν_i, chosen
// so that every marginal of the posterior has the mean and variance of its tilted distribution, the cavity
// N(f; m_-i, v_-i) times p(y_i|f). With Z_i the mass of the latter and b = K⁻¹(μ - m) the log evidence, in nats, is
//
//	L = -½ log|B| - ½ bᵀ(μ - m) + Σ_i [ log Z_i + ½ log(1 + τ_i v_-i) + ½ v_-i b_i² ],   B = I + S^½ K S^½
//
// which is GPML (3.65) rewritten with m_-i = μ_i - v_-i b_i: nothing large cancels, and τ_i may be 0. The sites are
// visited in the order of the cases (GPML Algorithm 3.5). A State holds τ and then ν, 2n numbers.
//
// A fit that stops before it converges has Diagnostics.Converged false; its evidence is the formula above at the last sites, and
// its adjoint is ErrNotConverged, for the sites are then not stationary. A floored site leaves it ErrNoGradient.
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
	if string(text) != "sequential" {
		return fmt.Errorf("unknown schedule %q (have sequential)", text)
	}
	*s = Sequential
	return nil
}

// NegativeSites is what EP does with a negative site precision, which likelihoods that are not log-concave call for.
type NegativeSites int

const (
	FloorNegative  NegativeSites = iota // set it to 0 and count it in Diagnostics.Floors
	RefuseNegative                      // stop with an error
)

// UnmarshalText reads a policy's name.
func (p *NegativeSites) UnmarshalText(text []byte) error {
	for i, name := range []string{"floor", "error"} {
		if string(text) == name {
			*p = NegativeSites(i)
			return nil
		}
	}
	return fmt.Errorf("unknown policy for negative sites %q (have floor, error)", text)
}

// Uses implements Approximation: any binary likelihood that has Gaussian averages.
func (e EP) Uses(lik likelihood.Likelihood, classes int) (Caps, error) {
	if err := checkIteration("ep", e.Tolerance, e.MaxIterations); err != nil {
		return Caps{}, err
	}
	if !(e.Damping >= 0 && e.Damping <= 1) {
		return Caps{}, fmt.Errorf("ep: damping = %v must be in (0, 1]; it is the share of the new value that is taken", e.Damping)
	}
	if err := usesBinary("ep", lik, classes); err != nil {
		return Caps{}, err
	}
	return Caps{Gradient: true, LeaveOneOut: true}, nil
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
	w := newSweep(len(p.y))
	for ; ; p.diagnostics.Iterations++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := p.refresh(w.v); err != nil {
			return nil, err
		}
		if p.diagnostics.Converged || p.diagnostics.Iterations == cmp.Or(e.MaxIterations, defaultIterations) {
			return p, nil
		}
		if err := p.sweep(w); err != nil {
			return nil, err
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
	if err := p.refresh(linalg.NewGeneral(len(p.y), len(p.y))); err != nil {
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
		mu: make([]float64, n), sigma: make([]float64, n), r: make([]float64, n), kr: make([]float64, n),
	}, nil
}

type epPosterior struct {
	*sites
	options   EP // with its defaults filled in
	tau, nu   []float64
	mu, sigma []float64 // marginal means and variances
	r, kr     []float64
	loo       float64 // Σ log Z_i
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

// site is a new value of one site.
type site struct {
	tau, nu float64
	floored bool
	logZ    float64 // mass of the tilted distribution
	dMean   float64 // its derivative with respect to the cavity mean
}

// match gives the site that turns the cavity N(mean, variance) into a Gaussian with the moments of its tilted
// distribution, GPML (3.59), floored at precision 0.
func (p *epPosterior) match(i int, mean, variance float64) site {
	logZ, d1, d2 := p.lik.LogZ(p.y[i], mean, variance)
	s := site{tau: -d2 / max(1+variance*d2, eps), logZ: logZ, dMean: d1}
	if s.tau < 0 {
		s.floored = s.tau*variance < -negligible
		s.tau = 0
	}
	s.nu = d1 + s.tau*(mean+variance*d1)
	return s
}

// negligible is how far below 0, relative to the cavity precision, rounding may take a site precision.
const negligible = 1e-12

// refresh computes everything that follows from the sites: the factor of B, b, the marginals, the evidence, and how far
// the sites are from their fixed point. v is n×n workspace; U⁻ᵀ S^½ K is left in it.
func (p *epPosterior) refresh(v blas64.General) error {
	if err := p.factorise(p.tau); err != nil {
		return err
	}
	// b = (I - R K)(ν - S m), then one step of refinement: the first result carries the rounding error of K (ν - S m).
	for i, t := range p.tau {
		p.r[i] = p.nu[i] - t*p.mean[i]
	}
	clear(p.b)
	for range 2 {
		linalg.Symv(1, p.k, p.r, 0, p.kr)
		p.shrink(p.r, p.r, p.kr)
		for i, d := range p.r {
			p.b[i] += d
		}
		p.latentAt(p.mu, p.b)
		for i, t := range p.tau {
			p.r[i] = p.nu[i] - t*p.mu[i] - p.b[i]
		}
	}
	p.project(v)
	for i := range p.sigma {
		p.sigma[i] = p.variance(i)
	}
	subtractSquares(p.sigma, v)

	value, distance, rounding, floors := -linalg.LogDet(p.u), 0.0, 0.0, 0
	p.loo = 0
	for i, t := range p.tau {
		k := p.variance(i)
		v := max(p.sigma[i], eps*k)
		share := 1 - t*v // of the marginal precision that is the cavity's: [B⁻¹]_ii
		if share < 0.5 {
			share = p.inverseDiagonal(i, p.r)
			v = (1 - share) / t
		}
		cavity := v / share
		s := p.match(i, p.mu[i]-cavity*p.b[i], cavity)
		value += s.logZ + (math.Log1p(t*cavity)+cavity*p.b[i]*p.b[i]-p.b[i]*(p.mu[i]-p.mean[i]))/2
		p.loo += s.logZ
		if s.floored {
			floors++
		}
		// The tilted mean is cavity·(dMean - b) off the marginal mean, the tilted variance is cavity/(1 + cavity·τ_new).
		distance = max(distance, math.Abs(s.dMean-p.b[i])*math.Sqrt(v)/share, math.Abs(1/((1+cavity*s.tau)*share)-1))
		if v > 0 {
			rounding = max(rounding, 8*eps*k/(v*share))
		}
	}
	p.evidence = functional{value: value, adjoint: p.adjoint}
	if err := p.conclude("ep", distance, p.options.Tolerance, rounding); err != nil {
		return err
	}
	if p.diagnostics.Floors = floors; floors > 0 && p.evidence.err == nil {
		p.evidence.err = fmt.Errorf("%w: ep floored %d negative site precisions", ErrNoGradient, floors)
	}
	return nil
}

// block is how many sites share one update of the trailing part of Σ.
const block = 32

// sweepWork is the workspace of a sweep.
type sweepWork struct {
	v     blas64.General   // U⁻ᵀ S^½ K, from refresh
	sigma blas64.Symmetric // Σ, and on the way of a sweep the columns s_t in its rows
	c, x  []float64
	panel blas64.General
}

func newSweep(n int) *sweepWork {
	return &sweepWork{
		v: linalg.NewGeneral(n, n), sigma: linalg.NewSym(n),
		c: make([]float64, block), x: make([]float64, block), panel: linalg.NewGeneral(block, n),
	}
}

// sweep updates every site once, GPML Algorithm 3.5 lines 4-12. Changing site i subtracts c s sᵀ from Σ, s its column i,
// c = Δτ/(1 + Δτ Σ_ii). Until the next refresh only the sites after i read Σ and μ, so only the trailing part is kept up,
// in place: row i of the upper triangle becomes s, later rows of the block subtract their Σ_t c_t s_t[i] s_t when their
// turn comes, and the rest receives the block at once.
func (p *epPosterior) sweep(w *sweepWork) error {
	n := len(p.tau)
	for i := range n {
		copy(w.sigma.Data[i*n+i:(i+1)*n], p.k.Data[i*p.k.Stride+i:i*p.k.Stride+n])
	}
	linalg.Syrk(blas.Trans, -1, w.v, 1, w.sigma)
	for i0 := 0; i0 < n; i0 += block {
		i1 := min(i0+block, n)
		for i := i0; i < i1; i++ {
			s := w.sigma.Data[i*n+i : (i+1)*n]
			if t := i - i0; t > 0 {
				before := blas64.General{Rows: t, Cols: n - i, Stride: n, Data: w.sigma.Data[i0*n+i:]}
				for j := range t {
					w.x[j] = w.c[j] * before.Data[j*n]
				}
				linalg.Gemv(blas.Trans, -1, before, w.x[:t], 1, s)
			}
			s[0] = max(s[0], eps*p.variance(i))
			dTau, dNu, err := p.update(i, s[0])
			if err != nil {
				return err
			}
			scale := 1 / (1 + dTau*s[0])
			w.c[i-i0] = dTau * scale
			shift := (dNu - dTau*p.mu[i]) * scale
			for j, v := range s {
				p.mu[i+j] += shift * v
			}
		}
		w.flush(i0, i1)
	}
	return nil
}

// update changes site i on its marginal N(μ_i, variance) and returns by how much.
func (p *epPosterior) update(i int, variance float64) (dTau, dNu float64, err error) {
	cavity := variance / max(1-p.tau[i]*variance, eps)
	s := p.match(i, p.mu[i]-cavity*(p.nu[i]-p.tau[i]*p.mu[i]), cavity)
	if s.floored && p.options.NegativeSites == RefuseNegative {
		return 0, 0, fmt.Errorf("ep: the site of case %d has negative precision in sweep %d; allow negative_sites: floor, or use a log-concave likelihood", i, p.diagnostics.Iterations+1)
	}
	dTau, dNu = p.options.Damping*(s.tau-p.tau[i]), p.options.Damping*(s.nu-p.nu[i])
	p.tau[i] += dTau
	p.nu[i] += dNu
	return dTau, dNu, nil
}

// flush subtracts Σ_t c_t s_t s_tᵀ, t in [i0, i1), from the part of Σ after i1. As the c_t have both signs, the columns
// √|c_t| s_t are sorted by sign, the positive ones from the top and the negative ones from the bottom.
func (w *sweepWork) flush(i0, i1 int) {
	n, m := w.sigma.N, w.sigma.N-i1
	if m == 0 {
		return
	}
	top, bottom := 0, i1-i0
	for t, c := range w.c[:i1-i0] {
		row := top
		if c < 0 {
			bottom--
			row = bottom
		} else {
			top++
		}
		root := math.Sqrt(math.Abs(c))
		dst := w.panel.Data[row*m : (row+1)*m]
		for j, v := range w.sigma.Data[(i0+t)*n+i1 : (i0+t+1)*n] {
			dst[j] = root * v
		}
	}
	trailing := blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: n, Data: w.sigma.Data[i1*n+i1:]}
	for _, part := range []struct {
		sign     float64
		from, to int
	}{{-1, 0, top}, {+1, top, i1 - i0}} {
		if part.to > part.from {
			linalg.Syrk(blas.Trans, part.sign, blas64.General{Rows: part.to - part.from, Cols: m, Stride: m, Data: w.panel.Data[part.from*m:]}, 1, trailing)
		}
	}
}

// adjoint sets dst to the weight on dK and on dm. At a fixed point L is stationary in the sites, so only the explicit
// dependence counts, GPML (5.27):
//
//	G = ½ b bᵀ - ½ R,   ∂L/∂m = b
func (p *epPosterior) adjoint(dst *Cov) {
	n := len(p.b)
	p.information(dst.K, nil)
	raw := dst.K.RawSymmetric()
	for i, b := range p.b {
		row := raw.Data[i*raw.Stride+i : i*raw.Stride+n]
		for j, r := range row {
			row[j] = (b*p.b[i+j] - r) / 2
		}
	}
	if dst.Mean != nil {
		copy(dst.Mean, p.b)
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
