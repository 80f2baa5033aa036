package approx

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/lowrank"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
)

// inducedSites is a posterior with inducing inputs whose sites follow from its marginals: siteFit
// of the prior K̂ (see lowRank). Whatever the schedule, all sites are updated at once unless that
// overshoots.
type inducedSites struct {
	*cases
	*marginals
	lowRank
}

// newInducedSites checks the arguments of a fit.
func newInducedSites(
	method string, o Iteration, e EvidenceForm, q Quadrature, cov []Cov, y Targets, lik likelihood.Bound, power float64,
) (*inducedSites, error) {
	c, err := newCases(cov, y, lik)
	if err != nil {
		return nil, err
	}
	o.work.release(0)
	k, err := newLowRank(o.work, cov[0], power)
	if err != nil {
		return nil, err
	}
	p := &inducedSites{cases: c, lowRank: k}
	p.marginals = newMarginals(method, o, e, q, c, p)
	return p, nil
}

// inducedMethod is a method of which inducedSites does the work, once induced has checked the
// arguments.
type inducedMethod interface {
	induced(cov []Cov, y Targets, lik likelihood.Bound) (*inducedSites, error)
}

// fitInduced is Fit of an inducedMethod, or Restore.
func fitInduced(
	ctx context.Context, m inducedMethod, cov []Cov, y Targets, lik likelihood.Bound, start State, restore bool,
) (Posterior, error) {
	return interrupt.Do(ctx, func() (Posterior, error) {
		p, err := m.induced(cov, y, lik)
		if err != nil {
			return nil, err
		}
		if start != nil {
			if err := p.set(start); err != nil {
				return nil, err
			}
		}
		proceed := p.run
		if restore {
			proceed = func(context.Context) (fixedPoint, error) { return p.refresh() }
		}
		f, err := proceed(ctx)
		if err != nil {
			return nil, err
		}
		describe(&p.diagnostics, p.Prior)
		return p, p.finish(f)
	})
}

// refresh computes everything that follows from the sites.
func (p *inducedSites) refresh() (fixedPoint, error) {
	p.diagnostics.Factorizations++
	if err := p.factorise(p.tau); err != nil {
		return fixedPoint{distance: math.Inf(1)}, err
	}
	norm := p.Locate(p.mu, p.b, p.nu, p.mean)
	p.uncertain = 4 * eps * math.Sqrt(p.largest()) * norm
	p.Variances(p.sigma)
	fit, err := p.consult()
	if err != nil {
		return fit, err
	}
	p.account()
	if p.penalised {
		for i, t := range p.tau {
			p.evidence.value -= p.Penalty(i, t)
			p.terms[i].tau -= p.PenaltySlope(i, t) * p.Lacking(i) / p.sigma[i]
		}
	}
	return fit, nil
}

// run updates the sites until they are at their fixed point: all at once, with Anderson's
// acceleration (Anderson 1965; Walker & Ni 2011). Where that overshoots, for a prior much wider
// than the posterior, it goes on with sweeps, and steps of Newton's method once they are near. With
// unconverged: accept the updates are plain.
func (p *inducedSites) run(ctx context.Context) (fixedPoint, error) {
	d, o := &p.diagnostics, p.options
	a := accelerator{depth: 6}
	if o.accepts() {
		a.depth = 0
	}
	before, reached := slices.Clone(p.state), math.Inf(1)
	careful, newton, within := false, false, p.newtonWithin()
	for {
		if err := ctx.Err(); err != nil {
			return fixedPoint{}, err
		}
		f, err := p.refresh()
		tooFar := d.Iterations > 0 && !o.accepts() && (err != nil || !(f.distance <= overshoot*reached))
		switch {
		case tooFar && newton:
			copy(p.state, before)
			within, newton, reached = reached/10, false, math.Inf(1)
			continue
		case tooFar && !careful:
			copy(p.state, before)
			careful, reached = true, math.Inf(1)
			continue
		case err != nil:
			return f, err
		}
		limit := o.MaxIterations
		if f.rounding > unresolved {
			limit = min(limit, hopeless)
		}
		stalled := f.distance <= f.drift && !(f.distance <= reached/2)
		if f.settled(p.target) || stalled || d.Iterations >= limit || math.IsNaN(f.distance) {
			return f, nil
		}
		copy(before, p.state)
		reached = f.distance
		d.Iterations++
		switch newton = careful && f.distance <= within; {
		case newton:
			marginals, _ := p.respond(nil)
			p.newton(p.newResponse(marginals), f.distance/8)
		case careful:
			err = p.sweep(o.Damping)
		default:
			p.update(&a, o.Damping)
		}
		if err != nil {
			return f, err
		}
	}
}

// sweep updates one site after the other, each on the marginals that the one before left.
func (p *inducedSites) sweep(damping float64) error {
	site := func(i int) lowrank.Site { return lowrank.Site{Tau: p.tau[i], Nu: p.nu[i], Mean: p.mean[i]} }
	return p.Sweep(p.b, site, func(i int, m lowrank.Marginal) (lowrank.Site, error) {
		p.mu[i] = m.Mean
		to, err := p.rule.match(i, p.atLeast(i, m.Variance), m.B)
		if err == nil {
			p.tau[i] += damping * (to.tau - p.tau[i])
			p.nu[i] += damping * (to.pull + to.tau*m.Mean - p.nu[i])
		}
		return site(i), err
	})
}

// update moves all sites towards those of the last refresh.
func (p *inducedSites) update(a *accelerator, damping float64) {
	n := len(p.tau)
	image, scale := make(State, 2*n), make([]float64, 2*n)
	for i, s := range p.next {
		v := p.sigma[i]
		image[i] = p.tau[i] + damping*(s.tau-p.tau[i])
		image[n+i] = p.nu[i] + damping*(s.pull+s.tau*p.mu[i]-p.nu[i])
		scale[i], scale[n+i] = v, math.Sqrt(v)
	}
	copy(p.state, a.next(p.state, image, scale))
	for i, t := range p.tau {
		if t < 0 && !p.rule.negative() {
			p.tau[i] = 0
		}
	}
}

// accelerator is Anderson's acceleration of a fixed-point iteration: of the affine combinations of
// the last images it takes the one whose residual would be least if the map were linear.
type accelerator struct {
	depth             int
	images, residuals []State // the latest last
}

func (a *accelerator) forget() { a.images, a.residuals = nil, nil }

// next is the state after one whose image is given. scale is the unit of every number's residual.
func (a *accelerator) next(state, image State, scale []float64) State {
	residual := make(State, len(state))
	for i, v := range image {
		residual[i] = v - state[i]
	}
	a.images, a.residuals = append(a.images, image), append(a.residuals, residual)
	if k := len(a.images) - a.depth - 1; k > 0 {
		a.images, a.residuals = a.images[k:], a.residuals[k:]
	}
	k := len(a.images) - 1
	if k == 0 {
		return image
	}
	changes, target := make([]State, k), floats.MulTo(make(State, len(state)), residual, scale)
	for j := range changes {
		changes[j] = floats.SubTo(make(State, len(state)), residual, a.residuals[j])
		floats.Mul(changes[j], scale)
	}
	gram, right := mat.NewSymDense(k, nil), mat.NewVecDense(k, nil)
	for j := range k {
		for l := j; l < k; l++ {
			gram.SetSym(j, l, floats.Dot(changes[j], changes[l]))
		}
		right.SetVec(j, floats.Dot(changes[j], target))
	}
	const ridge = 1e-14 // of the trace: changes that depend on each other
	bit := ridge * mat.Trace(gram)
	for j := range k {
		gram.SetSym(j, j, gram.At(j, j)+bit)
	}
	var factor mat.Cholesky
	var theta mat.VecDense
	if !factor.Factorize(gram) || factor.SolveVecTo(&theta, right) != nil {
		a.forget()
		return image
	}
	out := slices.Clone(image)
	for j := range k {
		for i, v := range a.images[j] {
			out[i] -= theta.AtVec(j) * (image[i] - v)
		}
	}
	return out
}

// explain implements storage.
func (p *inducedSites) explain(string, fixedPoint, float64) {}

// stationaryAdjoint implements storage: G = ½ b bᵀ - ½ R.
func (p *inducedSites) stationaryAdjoint(dst *Cov) {
	p.pull(dst, lowrank.Adjoint{P: [][]float64{p.b}, Q: [][]float64{scaled(p.b, 0.5)}, C: 1, Spare: p.spareWeights()})
	if dst.Mean != nil {
		copy(dst.Mean, p.b)
	}
}

// spareWeights is what a change of D does to the evidence beside what it does to the prior.
func (p *inducedSites) spareWeights() []float64 {
	if p.Power() == 1 {
		return nil
	}
	w := make([]float64, p.Cases())
	for i, t := range p.tau {
		if p.penalised {
			w[i] = -p.PenaltySlope(i, t) * t
		} else { // as ∂/∂v is ½ ∂²/∂μ² of the average of log p(y|f)
			w[i] = (1 - p.Power()) / 2 * p.next[i].own.d[1]
		}
	}
	return w
}

// respond implements storage.
func (p *inducedSites) respond(*marginals) (
	marginals func(dst, x []float64), pull func(dst *Cov, total []weight, share float64),
) {
	return p.Response(p.sigma), p.pullImplicit
}

// pullImplicit sets dst to the adjoint of differentiate.
func (p *inducedSites) pullImplicit(dst *Cov, total []weight, share float64) {
	n := p.Cases()
	gamma, u, by := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, w := range total {
		u[i], gamma[i] = w.mu/math.Sqrt(p.sigma[i]), w.v/p.sigma[i]
	}
	p.Shrink(u, u)
	floats.AddScaledTo(by, u, share/2, p.b)
	g := lowrank.Adjoint{P: [][]float64{p.b}, Q: [][]float64{by}, C: share, Gamma: gamma}
	if share > 0 {
		g.Spare = p.spareWeights()
	}
	p.pull(dst, g)
	if dst.Mean != nil {
		floats.AddScaledTo(dst.Mean, u, share, p.b)
	}
}

// Latent implements Posterior.
func (p *inducedSites) Latent(mean, variance []float64, cross *mat.Dense, diag []float64, class int) {
	checkLatent(mean, variance, len(diag))
	p.Told(p.b).Latent(mean, variance, cross, diag)
}

// PredictProba implements Posterior.
func (p *inducedSites) PredictProba(dst *mat.Dense, cross []*mat.Dense, diag, mean [][]float64) {
	averageTwoClasses(p, p.lik, dst, cross, diag, mean)
}
