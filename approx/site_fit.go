package approx

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// rule is what tells one method with iterated sites from another.
type rule interface {
	// match returns the site that case i should have, given its marginal N(μ_i, v) and
	// b = ν_i - τ_i μ_i.
	match(i int, v, b float64) (site, error)
	// negative says whether sites may have negative precision.
	negative() bool
	// stationary says whether the evidence does not change with the sites where the iteration
	// ended.
	stationary(f fixedPoint) bool
	// term is what case i adds to the log evidence beyond its Gaussian part, and explicit adds to
	// grad the derivative of that with respect to the likelihood's theta.
	term(i int) term
	explicit(grad []float64, i int)
	// slopes returns the derivatives of the site that case i has at the fixed point, as a function
	// of its marginal, and paramSlopes sets tau and pull to those with respect to the likelihood's
	// theta.
	slopes(i int) siteSlopes
	paramSlopes(i int, tau, pull []float64)
}

// site is a Gaussian site of precision τ and information ν = pull + τμ, μ the marginal mean.
type site struct {
	tau, pull float64
	floored   bool // τ was negative
	// own are the averages of p(y_i|f) that the rule made the site of, and other, of PL, those of
	// the other label. What follows from them need not average again.
	own, other averages
}

// averages are a logarithm of an average over f and its derivatives with respect to the mean.
type averages struct {
	log float64
	d   [4]float64
}

func averaged(lik likelihood.MomentMatcher, y float64, at gaussian) (a averages) {
	a.log, a.d = lik.Moments(y, at.mean, at.variance)
	return a
}

// gaussian is N(mean, variance).
type gaussian struct{ mean, variance float64 }

// siteSlopes are the derivatives of a case's site, as the fixed point makes it from its marginal,
// with pull = ν - τμ.
type siteSlopes struct {
	tauByMean, tauByVariance, pullByMean, pullByVariance float64
	// what the mean and the variance of the marginal lack of those that the site belongs to; 0 at
	// the fixed point
	mean, variance float64
}

// weight is the derivative of a scalar with respect to what belongs to one case: the mean μ and the
// variance v of its marginal, and its site's information ν at fixed precision τ, and τ at fixed
// ν - τμ. It is scaled to the marginal: mu holds √v ∂/∂μ, v holds v ∂/∂v, nu holds ∂/∂ν/√v and tau
// holds ∂/∂τ/v.
type weight struct{ mu, v, nu, tau float64 }

// term is what case i adds to the log evidence beyond its Gaussian part,
//
//	h = log ∫ p(y_i|μ_i + δ) exp(½τ_i δ² - b_i δ) N(δ; 0, v_i) dδ
//
// with its explicit derivatives, and the explicit weight of the evidence on the case.
type term struct {
	value float64
	weight
}

// siteFit is a posterior whose sites follow from its marginals: what EP, posterior linearisation
// and the variational method share. Its State is τ and then ν.
type siteFit struct {
	*sites
	method    string
	rule      rule
	options   Iteration // with its defaults filled in
	tau, nu   []float64 // the state
	mu, sigma []float64 // marginal means and variances
	next      []site    // what the rule makes of them
	terms     []term

	moments           likelihood.MomentMatcher // the averages that make sites
	nodes, logWeights []float64                // of the quadrature in the evidence, if it has one

	target    float64 // the distance from the fixed point that keeps the log evidence within the tolerance
	uncertain float64 // the rounding error of μ: |K_ij| ≤ max K_ii and b of the last refresh
	sharpest  float64 // the largest τ_i K_ii that there was
}

func newSiteFit(
	method string, o Iteration, e EvidenceForm, q Quadrature, cov []Cov, y Targets, lik likelihood.Bound,
) (*siteFit, error) {
	s, err := newSites(cov, y, lik)
	if err != nil {
		return nil, err
	}
	n := len(s.y)
	s.work, s.state = o.work, make(State, 2*n)
	s.work.release(0)
	s.u = upper(s.work.general(n, n)) // before what is given back
	p := &siteFit{
		sites: s, method: method, options: o.filled(), tau: s.state[:n], nu: s.state[n:],
		mu: make([]float64, n), sigma: make([]float64, n), next: make([]site, n), terms: make([]term, n),
		moments: q.moments(s.lik),
	}
	p.nodes, p.logWeights = q.rule(e)
	return p, nil
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

// refresh computes everything that follows from the sites: the factor of B, b, the marginals, what
// the rule makes of them, how far that is from the sites, and the log evidence. v is n×n workspace;
// U⁻¹ is left in its upper triangle or, where sites are negative, U⁻ᵀ S^½ K, which costs three
// times as much.
func (p *siteFit) refresh(v blas64.General) (fixedPoint, error) {
	var fit fixedPoint
	for i, t := range p.tau {
		if p.sharpest = max(p.sharpest, t*p.variance(i)); math.IsNaN(p.sharpest) {
			p.sharpest = math.Inf(1)
		}
	}
	if err := p.factorise(p.tau); err != nil {
		fit.distance = math.Inf(1)
		if p.explain(p.method, fit, p.sharpest); p.diagnostics.Failure != nil && p.sharpest > unbounded {
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
	p.variances(v)
	for i, v := range p.sigma {
		p.sigma[i] = p.atLeast(i, v)
		s, err := p.propose(i, p.sigma[i], p.b[i], &fit)
		if err != nil {
			return fit, err
		}
		p.next[i] = s
	}
	reach := 0.0 // how much the log evidence may change when all marginals do by one unit of distance
	p.evidence.value = -p.logDet()
	for i, b := range p.b {
		t := p.rule.term(i)
		p.evidence.value += t.value - b*(p.mu[i]-p.mean[i])/2
		reach += math.Abs(t.mu) + math.Abs(t.v) + math.Abs(t.nu) + math.Abs(t.tau)
		p.terms[i] = t
	}
	p.target = p.options.Tolerance / max(1, reach)
	return fit, nil
}

// audible is the least τ_i K_ii of a site that is not faint. The error of Σ_ii is then some 1e4 eps
// at most, and what follows from it is as small as the site's share of the posterior.
const audible = 1e-4

// variances sets sigma, and v as refresh leaves it.
func (p *siteFit) variances(v blas64.General) {
	if p.negative.f.Rows > 0 {
		p.project(v)
		for i := range p.sigma {
			p.sigma[i] = p.variance(i)
		}
		addSquares(-1, p.sigma, v)
		addSquares(1, p.sigma, p.negative.fk)
		return
	}
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

// atLeast bounds a marginal variance from below by its rounding error; it is never 0.
func (p *siteFit) atLeast(i int, v float64) float64 { return max(v, eps*p.variance(i), 1e-60) }

// propose returns the site that the rule gives case i on its marginal N(μ_i, v), b = ν_i - τ_i μ_i,
// and adds to fit by how much it would change that marginal: its mean in units of its standard
// deviation, its variance in units of itself.
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

// cavity is the cavity of case i: its marginal without its site.
func (p *siteFit) cavity(i int) gaussian {
	c := p.sigma[i] / p.share(i, p.sigma[i])
	return gaussian{p.mu[i] - c*p.b[i], c}
}

// moved is how far the mean and the variance of marginal i would go if case i took the site that
// the rule gives it.
func (p *siteFit) moved(i int) (mean, variance float64) {
	v := p.sigma[i] / (1 + (p.next[i].tau-p.tau[i])*p.sigma[i])
	return v * (p.next[i].pull - p.b[i]), v - p.sigma[i]
}

// term is that of the cavity form, or of quadrature.
func (p *siteFit) term(i int) term {
	if p.nodes != nil {
		return p.quadratureTerm(i)
	}
	c := p.cavity(i)
	if rule, ok := p.moments.(likelihood.MomentRule); ok {
		at, byMean, byVariance := rule.Slopes(p.y[i], c.mean, c.variance)
		d2 := 2*byVariance[0] - byMean[0]*byMean[0] // as the heat equation has it
		return p.cavityTerm(i, averages{at[0], [4]float64{byMean[0], d2}})
	}
	return p.cavityTerm(i, averaged(p.moments, p.y[i], c))
}

// cavityTerm is term given the averages over the cavity. With ρ the normalised integrand of term,
// the sites' part of the weight is E_ρ[f] and E_ρ[f²] against the marginal's moments; by parts, so
// is the rest.
func (p *siteFit) cavityTerm(i int, a averages) term {
	b, v, share := p.b[i], p.sigma[i], p.share(i, p.sigma[i])
	cavity := v / share
	mean := (a.d[0] - b) * math.Sqrt(v) / share       // E[δ]/√v
	spread := (1+cavity*a.d[1])/share + mean*mean - 1 // E[δ²]/v - 1
	value := a.log + (cavity*b*b-math.Log(share))/2
	return term{value, weight{mean, spread / 2, -mean, spread / 2}}
}

// quadratureTerm is term by Gauss-Hermite quadrature, and the exact derivatives of that.
func (p *siteFit) quadratureTerm(i int) term {
	sd := math.Sqrt(p.sigma[i])
	w, slopes, value := p.tilted(i)
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

// tilted returns the weights of the nodes under the normalised integrand of term, the slopes of
// log p(y_i|f) there, and h.
func (p *siteFit) tilted(i int) (w, slopes []float64, h float64) {
	sd := math.Sqrt(p.sigma[i])
	w, slopes = make([]float64, len(p.nodes)), make([]float64, len(p.nodes))
	for k, x := range p.nodes {
		delta := x * sd
		logp, d := p.lik.Moments(p.y[i], p.mu[i]+delta, 0)
		w[k], slopes[k] = p.logWeights[k]+logp+delta*(p.tau[i]*delta/2-p.b[i]), d[0]
	}
	h = floats.LogSumExp(w)
	for k := range w {
		w[k] = math.Exp(w[k] - h)
	}
	return w, slopes, h
}

// explicit adds to grad the derivative of term over the likelihood's parameters.
func (p *siteFit) explicit(grad []float64, i int) {
	if p.nodes == nil {
		p.byParams(grad, 1, i, p.cavity(i))
		return
	}
	w, _, _ := p.tilted(i)
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

// momentSlopes returns log Z and its first two derivatives, given the averages at N(mean,
// variance), with the derivatives of all three with respect to mean and to variance.
func (p *siteFit) momentSlopes(a averages, y float64, at gaussian) (log, byMean, byVariance [3]float64) {
	if rule, ok := p.moments.(likelihood.MomentRule); ok {
		return rule.Slopes(y, at.mean, at.variance)
	}
	d := a.d
	return [3]float64{a.log, d[0], d[1]}, [3]float64(d[:3]), // the heat equation
		[3]float64{(d[1] + d[0]*d[0]) / 2, d[2]/2 + d[0]*d[1], d[3]/2 + d[0]*d[2] + d[1]*d[1]}
}
