package approx

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// EvidenceForm is how the log evidence of a Gaussian posterior with sites t_i accounts for what the sites leave out of
// the likelihood: by factors ∫ p(y_i|f)/t_i(f) N(f; μ_i, v_i) df, N(f; μ_i, v_i) the marginal.
type EvidenceForm int

const (
	// CavityForm takes the marginal over the site as the cavity, which it is up to a factor, and the integral exactly.
	CavityForm EvidenceForm = iota
	// PosteriorForm is Gauss-Hermite quadrature of the ratio as it stands against the marginal. It is less accurate, and
	// where p(y|f) jumps it jumps with the nodes.
	PosteriorForm
)

// Names are the forms' names.
func (EvidenceForm) Names() []string { return []string{"cavity", "posterior"} }

// UnmarshalText reads a form's name.
func (e *EvidenceForm) UnmarshalText(text []byte) error {
	i, err := choose("form of the evidence", string(text), e.Names()...)
	*e = EvidenceForm(i)
	return err
}

// Quadrature is Gauss-Hermite quadrature in place of exact averages.
type Quadrature struct {
	// Order is the number of nodes, against the cavity (EP) or the marginal (PL) wherever a site is made of a likelihood
	// without closed form, logit; others keep theirs. The log Z_i of the cavity form are sums over these nodes too,
	// predictions are not. Default: exact averages. The posterior form of the evidence is quadrature with any likelihood,
	// of this order or by default of order 10.
	Order int `yaml:"order" within:"[1,100]"`
}

// moments returns what makes the sites: lik, or its rule.
func (q Quadrature) moments(lik likelihood.MomentMatcher) likelihood.MomentMatcher {
	if l, ok := lik.(likelihood.Quadrable); ok && q.Order > 0 {
		return l.Quadrature(q.Order)
	}
	return lik
}

// isRule says whether averages are those of a rule.
func isRule(lik likelihood.Bound) bool {
	_, ok := lik.(likelihood.MomentRule)
	return ok
}

// momentSlopes returns what LogZ does, with its derivatives with respect to mean and variance. By the heat equation exact
// averages have ∂/∂variance = ½ ∂²/∂mean² of Z.
func momentSlopes(lik likelihood.MomentMatcher, y, mean, variance float64) (at, byMean, byVariance [3]float64) {
	if rule, ok := lik.(likelihood.MomentRule); ok {
		return rule.Slopes(y, mean, variance)
	}
	logZ, d := lik.Moments(y, mean, variance)
	return [3]float64{logZ, d[0], d[1]}, [3]float64(d[:3]),
		[3]float64{(d[1] + d[0]*d[0]) / 2, d[2]/2 + d[0]*d[1], d[3]/2 + d[0]*d[2] + d[1]*d[1]}
}

const maxOrder = 100

// check says what is wrong with the form of the evidence, or whether it has a gradient with lik.
func (e EvidenceForm) check(method string, q Quadrature, lik likelihood.Likelihood) (gradient bool, err error) {
	if q.Order < 0 || q.Order > maxOrder {
		return false, fmt.Errorf("%s: quadrature order %d must be between 1 and %d (0 means exact averages, and 10 in evidence: posterior)", method, q.Order, maxOrder)
	}
	if _, sites := bound(lik).(likelihood.Quadrable); sites && q.Order == 1 {
		return false, fmt.Errorf("%s: quadrature of order 1 has no variance to make sites of; use order: 2 or more, such as 10", method)
	}
	_, smooth := bound(lik).(likelihood.Differentiable)
	return e == CavityForm || smooth, nil
}

// rule returns nodes for N(0, 1) and the logarithms of their weights, or nothing.
func (e EvidenceForm) rule(q Quadrature) (nodes, logWeights []float64) {
	if e == CavityForm {
		return nil, nil
	}
	return likelihood.GaussHermite(cmp.Or(q.Order, 10))
}

// term is what case i adds to the log evidence beyond its Gaussian part,
//
//	h = log ∫ p(y_i|μ_i + δ) exp(½τ_i δ² - b_i δ) N(δ; 0, v_i) dδ
//
// with its explicit derivatives, and the explicit weight of the evidence on the case (see weight).
type term struct {
	value float64
	weight
}

// term computes term. With ρ the normalised integrand, the sites' part of the weight is E_ρ[f] and E_ρ[f²] against the
// marginal's moments; by parts, so is the rest.
func (p *siteFit) term(i int) term {
	if p.nodes != nil {
		return p.quadratureTerm(i)
	}
	b, v, share := p.b[i], p.sigma[i], p.share(i, p.sigma[i])
	cavity := v / share
	logZ, d1, d2 := p.derivatives(p.y[i], p.mu[i]-cavity*b, cavity)
	mean := (d1 - b) * math.Sqrt(v) / share       // E[δ]/√v
	spread := (1+cavity*d2)/share + mean*mean - 1 // E[δ²]/v - 1
	value := logZ + (cavity*b*b-math.Log(share))/2
	return term{value, weight{mean, spread / 2, -mean, spread / 2}}
}

// derivatives returns log Z with ∂log Z/∂mean, and ∂²log Z/∂mean² as the heat equation has it from ∂log Z/∂variance.
func (p *siteFit) derivatives(y, mean, variance float64) (logZ, d1, d2 float64) {
	if rule, ok := p.moments.(likelihood.MomentRule); ok {
		at, byMean, byVariance := rule.Slopes(y, mean, variance)
		return at[0], byMean[0], 2*byVariance[0] - byMean[0]*byMean[0]
	}
	logZ, d := p.moments.Moments(y, mean, variance)
	return logZ, d[0], d[1]
}

// quadratureTerm is term by Gauss-Hermite quadrature, and the exact derivatives of that.
func (p *siteFit) quadratureTerm(i int) term {
	sd := math.Sqrt(p.sigma[i])
	slopes := make([]float64, len(p.nodes))
	w, value := p.tilted(i, slopes)
	var mean, square, byMean, byVariance float64
	for k, x := range p.nodes {
		slope := (slopes[k] + p.tau[i]*x*sd - p.b[i]) * sd // of the logarithm of the integrand in x
		mean += w[k] * x
		square += w[k] * x * x
		byMean += w[k] * slope
		byVariance += w[k] * slope * x / 2
	}
	return term{value, weight{byMean, byVariance, -mean, (square - 1) / 2}}
}

// tilted returns the weights of the nodes under the normalised integrand of term, and h. It fills the slopes of
// log p(y_i|f) at the nodes; nil for none.
func (p *siteFit) tilted(i int, slopes []float64) (w []float64, h float64) {
	sd := math.Sqrt(p.sigma[i])
	w = make([]float64, len(p.nodes))
	for k, x := range p.nodes {
		delta := x * sd
		logp, d := p.lik.Moments(p.y[i], p.mu[i]+delta, 0)
		w[k] = p.logWeights[k] + logp + delta*(p.tau[i]*delta/2-p.b[i])
		if slopes != nil {
			slopes[k] = d[0]
		}
	}
	h = floats.LogSumExp(w)
	for k := range w {
		w[k] = math.Exp(w[k] - h)
	}
	return w, h
}

// explicit adds to grad the derivative of term over the likelihood's parameters.
func (p *siteFit) explicit(grad []float64, i int) {
	if p.nodes == nil {
		p.byParams(grad, 1, i, p.cavity(i))
		return
	}
	w, _ := p.tilted(i, nil)
	for k, x := range p.nodes {
		p.byParams(grad, w[k], i, gaussian{p.mu[i] + x*math.Sqrt(p.sigma[i]), 0})
	}
}

// byParams adds to grad c times the derivative of log Z over the likelihood's parameters.
func (p *siteFit) byParams(grad []float64, c float64, i int, at gaussian) {
	d, d1, d2 := make([]float64, len(grad)), make([]float64, len(grad)), make([]float64, len(grad))
	p.lik.(likelihood.Parametric).DMoments(d, d1, d2, p.y[i], at.mean, at.variance)
	floats.AddScaled(grad, c, d)
}

// gaussian is N(mean, variance).
type gaussian struct{ mean, variance float64 }

// cavity is the cavity of case i: its marginal without its site.
func (p *siteFit) cavity(i int) gaussian {
	c := p.sigma[i] / p.share(i, p.sigma[i])
	return gaussian{p.mu[i] - c*p.b[i], c}
}

// evaluate returns the log evidence, and how much it may change when all marginals do by one unit of fixedPoint.distance.
func (p *siteFit) evaluate() (value, reach float64) {
	value = -p.logDet()
	for i, b := range p.b {
		t := p.rule.term(i)
		value += t.value - b*(p.mu[i]-p.mean[i])/2
		reach += math.Abs(t.mu) + math.Abs(t.v) + math.Abs(t.nu) + math.Abs(t.tau)
	}
	return value, reach
}

// finish makes the posterior's evidence where the iteration ended. stationary says that it does not change with the sites.
func (p *siteFit) finish(f fixedPoint, stationary bool) error {
	p.evidence = functional{value: p.value}
	err := p.conclude(p.method, f, p.target)
	if err == nil && !p.diagnostics.Converged {
		p.explain(f)
	}
	if p.accepts() && !p.diagnostics.Converged && err == nil {
		if p.value > 0 && p.lik.Likelihood().Domain() != likelihood.Numeric {
			return fmt.Errorf("%w: the updates of %s diverge: after %d of them the log evidence is %.3g, and no labels have a probability above 1; lower damping",
				ErrNotConverged, p.method, p.diagnostics.Iterations, p.value)
		}
		p.evidence.err = nil                                      // needSlopes has another
		within := math.Pow(10, math.Ceil(math.Log10(f.distance))) // so that fits that are alike say the same
		p.diagnostics.Warnings = append(p.diagnostics.Warnings, fmt.Sprintf("%s stopped unconverged, within %.0g posterior standard deviations of its fixed point, and is taken as it is", p.method, within))
	}
	p.criterion = &siteFunctional{value: p.value, err: p.evidence.err, fit: p, evidence: true, explicit: p.rule.explicit}
	if !stationary {
		p.criterion.weight = func(i int) weight { return p.rule.term(i).weight }
		p.criterion.needSlopes()
	}
	return err
}

// Evidence implements Posterior.
func (p *siteFit) Evidence() Functional { return p.criterion }

// LeaveOneOut implements LeaveOneOuter by the cavities: Σ_i log p(y_i|y_-i) ≈ Σ_i log ∫ p(y_i|f) N(f; m_-i, v_-i) df.
func (p *siteFit) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged && !p.accepts() {
		return nil, p.evidence.err
	}
	f := &siteFunctional{fit: p, weight: p.leaveOneOutWeight, explicit: func(grad []float64, i int) { p.byParams(grad, 1, i, p.cavity(i)) }}
	for i := range p.y {
		c := p.cavity(i)
		logZ, _ := p.lik.Moments(p.y[i], c.mean, c.variance)
		f.value += logZ
	}
	f.needSlopes()
	return f, nil
}

// leaveOneOutWeight is the explicit weight of log Z_i, of which the cavity N(m, c) is a function of marginal and site:
// 1/c = 1/v - τ, m = μ - c(ν - τμ).
func (p *siteFit) leaveOneOutWeight(i int) weight {
	c, v := p.cavity(i), p.sigma[i]
	_, d := p.lik.Moments(p.y[i], c.mean, c.variance)
	ratio := c.variance / v
	byVariance := ((d[1]+d[0]*d[0])/2 - d[0]*p.b[i]) * ratio * c.variance // ∂log Z/∂v · v
	byMean := d[0] * ratio * math.Sqrt(v)
	return weight{byMean, byVariance, -byMean, byVariance}
}

// needSlopes records why there is no derivative where the implicit part cannot be had.
func (f *siteFunctional) needSlopes() {
	_, smooth := f.fit.lik.(likelihood.Differentiable)
	_, positive := f.fit.moments.(likelihood.LogConcave) // sites, as p(y|f) is log-concave
	switch {
	case f.err != nil:
	case f.fit.accepts():
		f.err = fmt.Errorf("%w: unconverged: accept takes a fit where it stops, not at a fixed point", ErrNoGradient)
	case f.evidence && f.fit.nodes != nil && !smooth:
		f.err = fmt.Errorf("%w: p(y|f) jumps, and its quadrature with it", ErrNoGradient)
	case f.fit.rule.negative() && !positive: // at this point or at the next: Uses promises none
		f.err = fmt.Errorf("%w: sites may have negative precision, and are kept", ErrNoGradient)
	}
}
