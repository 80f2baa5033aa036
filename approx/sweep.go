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

// Schedule is the order in which a method updates its sites.
type Schedule int

const (
	Sequential Schedule = iota // one after the other, in the order of the cases, each on the marginals that the one before left; Newton's method near the fixed point
	Parallel                   // all of them on the same marginals: one factorisation and no Σ per iteration
	Mixed                      // parallel, and sequential from where that draws no nearer
)

// Names are the schedules' names.
func (Schedule) Names() []string { return []string{"sequential", "parallel", "mixed"} }

// UnmarshalText reads a schedule's name.
func (s *Schedule) UnmarshalText(text []byte) error {
	i, err := choose("schedule", string(text), s.Names()...)
	*s = Schedule(i)
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

// iteration is how siteFit iterates: options of EP and PL.
type iteration struct {
	schedule      Schedule
	damping       float64
	tolerance     float64
	maxIterations int
	unconverged   Unconverged
	work          *Work
}

// Unconverged is what becomes of a fit that has not converged after so many iterations as it may take.
type Unconverged int

const (
	RefuseUnconverged Unconverged = iota // nothing is made of it
	AcceptUnconverged                    // it is taken as it is, with a warning
)

// Names are the names of what may become of it.
func (Unconverged) Names() []string { return []string{"error", "accept"} }

// UnmarshalText reads one of the names.
func (u *Unconverged) UnmarshalText(text []byte) error {
	i, err := choose("value of unconverged", string(text), u.Names()...)
	*u = Unconverged(i)
	return err
}

// check says what is wrong with the options.
func (o iteration) check(method string) error {
	if err := checkIteration(method, o.tolerance, o.maxIterations); err != nil {
		return err
	}
	if !(o.damping >= 0 && o.damping <= 1) {
		return fmt.Errorf("%s: damping = %v must be in (0, 1]; it is the share of the new value that is taken", method, o.damping)
	}
	return nil
}

// memory: the factor stays, U⁻ᵀ S^½ K and, to sweep, Σ do not. stationary says that the evidence does not change with the sites;
// the derivative of what does takes B⁻¹, the correlations and their squares.
func (o iteration) memory(s Size, stationary bool) Memory {
	n2 := s.Cases * s.Cases
	m := Memory{Fit: words(n2, n2+s.Cases*s.New), LeaveOneOut: words(n2, 2*n2)}
	if o.schedule != Parallel {
		m.Fit.Passing += words(0, n2).Passing
	}
	if !stationary {
		m.Evidence = m.LeaveOneOut
	}
	return m
}

// rule is what tells one method with iterated sites from another.
type rule interface {
	// match returns the site that case i should have, given its marginal N(μ_i, v) and b = ν_i - τ_i μ_i.
	match(i int, v, b float64) (site, error)
	// negative says whether sites may have negative precision.
	negative() bool
	// slopes returns the derivatives of the site that case i has at the fixed point, as a function of its marginal.
	slopes(i int) siteSlopes
	// term is what case i adds to the log evidence beyond its Gaussian part, and explicit adds to grad the derivative of
	// that with respect to the likelihood's theta.
	term(i int) term
	explicit(grad []float64, i int)
	// paramSlopes sets tau and pull to the derivatives of that function with respect to the likelihood's theta.
	paramSlopes(i int, tau, pull []float64)
}

// site is a Gaussian site of precision τ and information ν = pull + τμ, μ the marginal mean.
type site struct {
	tau, pull float64
	floored   bool // τ was negative
}

// siteFit is a posterior whose sites follow from its marginals: what EP, posterior linearisation and the variational method share. Its State is τ
// and then ν.
type siteFit struct {
	*sites
	method    string
	rule      rule
	iteration                          // with its defaults filled in
	tau, nu   []float64                // the state
	mu, sigma []float64                // marginal means and variances
	uncertain float64                  // the rounding error of μ: |K_ij| ≤ max K_ii and b of the last refresh
	next      []site                   // what the rule makes of them
	moments   likelihood.MomentMatcher // the averages that make sites

	nodes, logWeights []float64 // of the quadrature in the evidence, if it has one
	value, target     float64   // the log evidence, and the distance from the fixed point that keeps it within the tolerance
	sharpest          float64   // the largest τ_i K_ii that there was
	criterion         *siteFunctional
}

func newSiteFit(method string, o iteration, e EvidenceForm, q Quadrature, cov []Cov, y Targets, lik likelihood.Bound) (*siteFit, error) {
	s, err := newSites(cov, y, lik)
	if err != nil {
		return nil, err
	}
	n := len(s.y)
	o.work.release(0)
	s.work, s.state = o.work, make(State, 2*n)
	s.u = blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: n, Stride: n, Data: s.work.take(n * n)} // before what is given back
	o.damping, o.tolerance, o.maxIterations = cmp.Or(o.damping, 1), cmp.Or(o.tolerance, defaultTolerance), cmp.Or(o.maxIterations, defaultIterations)
	nodes, logWeights := e.rule(q)
	return &siteFit{
		sites: s, method: method, iteration: o, moments: q.moments(s.lik), nodes: nodes, logWeights: logWeights, tau: s.state[:n], nu: s.state[n:],
		mu: make([]float64, n), sigma: make([]float64, n), next: make([]site, n),
	}, nil
}

// set copies a State.
func (p *siteFit) set(s State) error {
	if err := checkState(p.method, s, len(p.state)); err != nil {
		return err
	}
	for i, t := range s[:len(p.tau)] {
		if t < 0 && !p.rule.negative() {
			return fmt.Errorf("%s: state has site precision %v at case %d, want at least 0", p.method, t, i)
		}
	}
	copy(p.state, s)
	return nil
}

// run iterates from start, or from sites that say nothing, and ends in refresh.
func (p *siteFit) run(ctx context.Context, start State) (fixedPoint, error) {
	if start != nil {
		if err := p.set(start); err != nil {
			return fixedPoint{}, err
		}
	}
	defer p.sites.work.release(p.sites.work.mark())
	n, d := len(p.y), &p.diagnostics
	v := p.sites.work.general(n, n)
	var w *sweepWork
	schedule, limit, course := p.schedule, p.maxIterations, newCourse(p.state)
	damping, step := p.damping, p.damping                 // what is taken of a new site at most, and of the next parallel ones
	before, reached := slices.Clone(p.state), math.Inf(1) // the sites before the last update that may be taken back, and their distance
	within, tried := p.newtonWithin(), false              // the distance for Newton's method, and whether it made the last update
	swept := false                                        // whether the last sweep had nothing left to do
	linearised := math.Inf(1)                             // the distance at the sites whose correlations w.sigma holds
	for {
		f, err := p.refresh(v)
		if tried && (err != nil || !(f.distance <= reached/2)) {
			within, tried = reached/10, false
			copy(p.state, before)
			continue
		}
		tried = false
		if err != nil {
			return f, err
		}
		if f.rounding > unresolved {
			limit = min(limit, max(d.Iterations, hopeless))
		}
		parallel, stop := schedule != Sequential, f.settled(p.target) || swept && f.distance <= f.drift || d.Iterations >= limit
		if parallel && !stop && !(f.distance <= overshoot*reached) && step > leastDamping && (schedule == Mixed || !p.accepts()) {
			// Too far: half the way back, or all of it and on one by one.
			if schedule == Mixed {
				schedule = Sequential
				copy(p.state, before)
				continue
			}
			for j, s := range before {
				p.state[j] = (p.state[j] + s) / 2
			}
			step /= 2
			d.Iterations++
			continue
		}
		if stop || math.IsNaN(f.distance) {
			return f, nil
		}
		if !parallel {
			if w == nil {
				w = newSweep(p.sites.work, n)
			}
			if f.distance <= within && f.floors == 0 {
				copy(before, p.state)
				reached, tried = f.distance, true
				// Those of a step ago leave about the product of both distances.
				if linearised*f.distance > p.target/2 {
					p.correlations(w.sigma, v)
					linearised = f.distance
				}
				p.newton(w.sigma, v, f.distance/8)
				d.Iterations++
				if err := ctx.Err(); err != nil {
					return f, err
				}
				continue
			}
			if p.negative.f.Rows == 0 {
				p.project(v)
			}
			p.covariance(w.sigma, v)
			linearised = math.Inf(1)
		}
		for range sweepsPerRefresh {
			if err := ctx.Err(); err != nil {
				return f, err
			}
			if parallel {
				copy(before, p.state)
				reached = f.distance
				p.update(step)
				step = min(2*step, damping)
			} else if f, err = p.sweep(w, damping); err != nil {
				return f, err
			}
			d.Iterations++
			swept = !parallel && f.settled(p.target)
			if course.circles(p, f.distance, damping) {
				if f.distance <= f.drift {
					limit = d.Iterations
				} else if schedule == Mixed {
					schedule = Sequential
				} else if damping > leastDamping && !p.accepts() {
					damping /= 2
					step = min(step, damping)
					d.Warnings = []string{fmt.Sprintf("the updates of %s went in circles; damped to %.3g from iteration %d on", p.method, damping, d.Iterations)}
				}
			}
			if parallel || swept || d.Iterations == limit || f.distance <= within && f.floors == 0 {
				break
			}
		}
	}
}

// accepts says whether a fit that has not converged is taken as it is. Then its updates are plain ones: it would not be
// told from their number what others came to.
func (o iteration) accepts() bool { return o.unconverged == AcceptUnconverged }

// overshoot is the growth of the distance from a fixed point at which a parallel update is taken back.
const overshoot = 2

// hopeless is how many iterations are spent on what double precision does not carry.
const hopeless = 50

// restore takes a State as it is.
func (p *siteFit) restore(s State) (fixedPoint, error) {
	if err := p.set(s); err != nil {
		return fixedPoint{}, err
	}
	defer p.sites.work.release(p.sites.work.mark())
	return p.refresh(p.sites.work.general(len(p.y), len(p.y)))
}

// leastDamping is where lowering the damping ends.
const leastDamping = 1. / 64

// course watches where the sites go.
type course struct {
	from, last        State     // the sites at the start of a window and now
	path              []float64 // how far each number of the state went since
	nearest, previous float64   // the least distance from a fixed point in this window and in the one before
	iterations        float64   // weighted by their damping
}

// window is the length of a course's window, in undamped iterations.
const window = 10

func newCourse(s State) *course {
	return &course{from: slices.Clone(s), last: slices.Clone(s), path: make([]float64, len(s)), nearest: math.Inf(1), previous: math.Inf(1)}
}

// circles notes an iteration and reports, at the end of a window, whether the sites went in circles: they drew no nearer to
// a fixed point and went at least twice as far as they got, in units of the marginals. Sites that move straight on, as
// those of wide priors do for dozens of iterations, draw no nearer either, but are on their way.
func (c *course) circles(p *siteFit, distance, damping float64) bool {
	for j, s := range p.state {
		c.path[j] += math.Abs(s - c.last[j])
	}
	copy(c.last, p.state)
	c.nearest = min(c.nearest, distance)
	if c.iterations += damping; c.iterations < window {
		return false
	}
	var path, progress float64
	n := len(p.sigma)
	for i, v := range p.sigma {
		path += c.path[i]*v + c.path[n+i]*math.Sqrt(v)
		progress += math.Abs(c.from[i]-c.last[i])*v + math.Abs(c.from[n+i]-c.last[n+i])*math.Sqrt(v)
	}
	stuck := c.nearest > 0.8*c.previous && path > 2*progress
	copy(c.from, p.state)
	clear(c.path)
	c.nearest, c.previous, c.iterations = math.Inf(1), c.nearest, 0
	return stuck
}

// refresh computes everything that follows from the sites: the factor of B, b, the marginals, what the rule makes of
// them, how far that is from the sites, and the log evidence. v is n×n workspace; U⁻¹ is left in its upper triangle or,
// where sites are negative, U⁻ᵀ S^½ K, which costs three times as much.
func (p *siteFit) refresh(v blas64.General) (fixedPoint, error) {
	var fit fixedPoint
	for i, t := range p.tau {
		if p.sharpest = max(p.sharpest, t*p.variance(i)); math.IsNaN(p.sharpest) {
			p.sharpest = math.Inf(1)
		}
	}
	if err := p.factorise(p.tau); err != nil {
		fit.distance = math.Inf(1)
		if p.explain(fit); p.diagnostics.Failure != nil && p.sharpest > unbounded {
			err = p.diagnostics.Failure
		}
		return fit, err
	}
	p.locate(p.tau, p.nu, p.mu)
	size := 0.0
	for _, b := range p.b {
		size += math.Abs(b)
	}
	p.uncertain = eps * p.largest() * size
	if p.negative.f.Rows > 0 {
		p.project(v)
		for i := range p.sigma {
			p.sigma[i] = p.variance(i)
		}
		subtractSquares(p.sigma, v)
		addSquares(1, p.sigma, p.negative.fk)
	} else {
		p.variances(v)
	}
	for i, v := range p.sigma {
		p.sigma[i] = p.atLeast(i, v)
		s, err := p.propose(i, p.sigma[i], p.b[i], &fit)
		if err != nil {
			return fit, err
		}
		p.next[i] = s
	}
	value, reach := p.evaluate()
	p.value, p.target = value, p.tolerance/max(1, reach)
	return fit, nil
}

// audible is the least τ_i K_ii of a site that is not faint. The error of Σ_ii is then some 1e4 eps at most, and what
// follows from it is as small as the site's share of the posterior.
const audible = 1e-4

// variances sets sigma, given sites that are not negative, and v to U⁻¹.
func (p *siteFit) variances(v blas64.General) {
	n := len(p.tau)
	for i := range n {
		copy(v.Data[i*n+i:(i+1)*n], p.u.Data[i*n+i:(i+1)*n])
	}
	linalg.InverseTri(upper(v))
	var faint []int // sites that say so little that Σ_ii = (1 - [B⁻¹]_ii)/τ_i would lose digits
	for i, t := range p.tau {
		if t*p.variance(i) < audible {
			faint = append(faint, i)
			p.sigma[i] = p.variance(i)
			continue
		}
		row := v.Data[i*n+i : (i+1)*n]
		p.sigma[i] = (1 - floats.Dot(row, row)) / t
	}
	m := len(faint)
	if m == 0 || p.silent() {
		return
	}
	x := linalg.NewGeneral(n, m) // U⁻ᵀ S^½ K, their columns
	for i, r := range p.root {
		for a, j := range faint {
			x.Data[i*m+a] = r * p.k.Data[min(i, j)*p.k.Stride+max(i, j)]
		}
	}
	linalg.SolveTri(blas.Trans, p.u, x)
	for i := range n {
		for a, j := range faint {
			p.sigma[j] -= x.Data[i*m+a] * x.Data[i*m+a]
		}
	}
}

// upper views a square matrix as its upper triangle.
func upper(v blas64.General) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: v.Rows, Stride: v.Stride, Data: v.Data}
}

// atLeast bounds a marginal variance from below by its rounding error; it is never 0.
func (p *siteFit) atLeast(i int, v float64) float64 { return max(v, eps*p.variance(i), 1e-60) }

// propose returns the site that the rule gives case i on its marginal N(μ_i, v), b = ν_i - τ_i μ_i, and adds to fit by how
// much it would change that marginal: its mean in units of its standard deviation, its variance in units of itself.
func (p *siteFit) propose(i int, v, b float64, fit *fixedPoint) (site, error) {
	s, err := p.rule.match(i, v, b)
	change := (s.tau - p.tau[i]) * v
	ratio := max(1+change, eps) // of the old variance to the new
	fit.distance = max(fit.distance, math.Abs(s.pull-b)*math.Sqrt(v)/ratio, math.Abs(change)/ratio)
	fit.rounding = max(fit.rounding, 8*eps*p.variance(i)/(v*p.share(i, v)))
	fit.drift = max(fit.drift, p.uncertain*math.Abs(p.tau[i])*math.Sqrt(v))
	if s.floored {
		fit.floors++
	}
	return s, err
}

// share is the cavity's share of the precision of marginal i, whose variance is v.
func (p *siteFit) share(i int, v float64) float64 { return max(1-p.tau[i]*v, eps) }

// update moves all sites towards those of the last refresh.
func (p *siteFit) update(damping float64) {
	for i, s := range p.next {
		p.tau[i] += damping * (s.tau - p.tau[i])
		p.nu[i] += damping * (s.pull + s.tau*p.mu[i] - p.nu[i])
	}
}

const (
	// sweepsPerRefresh bounds the sweeps before Σ is computed afresh, as rounding errors add up in it.
	sweepsPerRefresh = 8
	// block is how many sites share one update of Σ.
	block = 64
)

// sweepWork is the workspace of sweeps.
type sweepWork struct {
	sigma   blas64.Symmetric  // Σ as the last finished block left it
	columns blas64.General    // the columns of a block, in rows
	own     blas64.Triangular // of a block: its own part of the s_t, from their diagonal on, and then U
	c, x    []float64         // of a block: c_t, and how far μ moves along s_t
	mu      []float64         // of a block: μ as the last finished block left it
}

func newSweep(work *Work, n int) *sweepWork {
	v := func() []float64 { return make([]float64, block) }
	return &sweepWork{
		sigma: blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: max(1, n), Data: work.take(n * n)}, columns: work.general(block, n),
		own: blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: block, Stride: block, Data: make([]float64, block*block)},
		c:   v(), x: v(), mu: v(),
	}
}

// covariance sets sigma to Σ = K - vᵀv + (FK)ᵀFK.
func (s *sites) covariance(sigma blas64.Symmetric, v blas64.General) {
	for i := range sigma.N {
		copy(sigma.Data[i*sigma.Stride+i:i*sigma.Stride+sigma.N], s.k.Data[i*s.k.Stride+i:i*s.k.Stride+sigma.N])
	}
	if !s.silent() {
		linalg.Syrk(blas.Trans, -1, v, 1, sigma)
	}
	if s.negative.fk.Rows > 0 {
		linalg.Syrk(blas.Trans, 1, s.negative.fk, 1, sigma)
	}
}

// sweep updates every site once, GPML Algorithm 3.5 lines 4-12, and tells how far from a fixed point it found them. A new
// site i subtracts c s sᵀ from Σ, s its column i and c = Δτ/(1 + Δτ Σ_ii), and adds a multiple x of s to μ.
//
// The sites of a block need no more of Σ and μ than their own rows and columns. Beyond them both are brought up to date
// when the block is finished: the column of its site t was column t less Σ_r c_r s_r[t] s_r over the sites r before it, so
// that the s_t are the rows of U⁻ᵀ C, with C the block's columns as it found them and U_rt = c_r s_r[t], U_tt = 1.
func (p *siteFit) sweep(w *sweepWork, damping float64) (fixedPoint, error) {
	var fit fixedPoint
	n := len(p.tau)
	for i0 := 0; i0 < n; i0 += block {
		k := min(block, n-i0)
		w.gather(i0, i0+k)
		mu := p.mu[i0 : i0+k]
		copy(w.mu, mu)
		for t := range k {
			i := i0 + t
			s := w.own.Data[t*block+t : t*block+k]
			copy(s, w.columns.Data[t*n+i:])
			for r := range t {
				before := w.own.Data[r*block+t : r*block+k]
				f := w.c[r] * before[0]
				for j, v := range before {
					s[j] -= f * v
				}
			}
			v := p.atLeast(i, s[0])
			tau, b := p.tau[i], p.nu[i]-p.tau[i]*mu[t]
			next, err := p.propose(i, v, b, &fit)
			if err != nil {
				return fit, err
			}
			dTau, dPull := damping*(next.tau-tau), damping*(next.pull-b)
			p.tau[i] += dTau
			p.nu[i] += dPull + dTau*mu[t]
			scale := 1 / (1 + dTau*v)
			w.c[t], w.x[t] = dTau*scale, dPull*scale
			for j, v := range s {
				mu[t+j] += w.x[t] * v
			}
		}
		copy(mu, w.mu)
		w.flush(k)
		linalg.Gemv(blas.Trans, 1, w.block(k), w.x[:k], 1, p.mu)
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

// block views the first k columns of a block.
func (w *sweepWork) block(k int) blas64.General {
	columns := w.columns
	columns.Rows = k
	return columns
}

// flush makes the columns of a block of k sites into the s_t and subtracts Σ_t c_t s_t s_tᵀ from Σ.
func (w *sweepWork) flush(k int) {
	u := w.own
	u.N = k
	for t, c := range w.c[:k] {
		row := u.Data[t*block+t : t*block+k]
		for j := range row {
			row[j] *= c
		}
		row[0] = 1
	}
	linalg.SolveTri(blas.Trans, u, w.block(k))
	linalg.SyrkDiag(blas.Trans, -1, w.block(k), w.c[:k], 1, w.sigma)
}
