package approx

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// rule is the method that determines the sites: EP, PL or the variational method.
type rule interface {
	// match returns the site that case i should have, given its marginal N(μ_i, v) and
	// b = ν_i - τ_i μ_i.
	match(i int, v, b float64) (site, error)
	// negative reports whether sites may have negative precision.
	negative() bool
	// stationary reports whether the evidence is stationary in the sites where the iteration ended.
	stationary(f fixedPoint) bool
	// term returns the term of case i in the log evidence, beyond the Gaussian part. explicit adds
	// to grad the explicit derivative of this term by the likelihood's theta.
	term(i int) term
	explicit(grad []float64, i int)
	// slopes returns the derivatives, by its marginal, of the site that case i has at the fixed
	// point. paramSlopes sets tau and offset to the derivatives of this site by the likelihood's
	// theta.
	slopes(i int) siteSlopes
	paramSlopes(i int, tau, offset []float64)
}

// caseRule is a rule that makes the sites of a case together.
type caseRule interface {
	rule
	// prepare makes all sites, given the marginals.
	prepare()
	// iterate moves the sites from their start to the fixed point.
	iterate(ctx context.Context) (fixedPoint, error)
}

// site is a Gaussian site of precision τ and information ν = offset + τμ, μ the marginal mean.
type site struct {
	tau, offset float64
	floored     bool // τ was negative
	// average has the averages of p(y_i|f) from which the rule made the site, and otherAverage,
	// with PL, the averages for the other label. They are kept so that no average is computed
	// twice.
	average, otherAverage averages
}

// averages has the logarithm of an average over f, and its derivatives with respect to the mean.
type averages struct {
	log    float64
	d      [4]float64
	proper bool // p(y|f) is a density of f, and these are its moments times the Gaussian:
	tilted gaussian
}

func averaged(lik likelihood.MomentMatcher, y float64, at gaussian) (a averages) {
	if t, ok := lik.(likelihood.ExactMoments); ok && t.Proper(y) {
		a.proper = true
		a.log, a.d, a.tilted.mean, a.tilted.variance = t.Tilted(y, at.mean, at.variance)
		return a
	}
	a.log, a.d = lik.Moments(y, at.mean, at.variance)
	return a
}

// gaussian is N(mean, variance).
type gaussian struct{ mean, variance float64 }

// siteSlopes are the derivatives of a case's site by its marginal at the fixed point, with offset =
// ν - τμ.
type siteSlopes struct {
	tauByMean, tauByVariance, offsetByMean, offsetByVariance float64
	// the mean and the variance of the marginal for which the site was made, minus the current mean
	// and variance; 0 at the fixed point
	mean, variance float64
}

// weight has the derivatives of a scalar with respect to four numbers of one case: the mean μ and
// the variance v of its marginal, its site's information ν at fixed precision τ, and τ at fixed ν -
// τμ. It is scaled to the marginal: mu holds √v ∂/∂μ, v holds v ∂/∂v, nu holds ∂/∂ν/√v and tau
// holds ∂/∂τ/v.
type weight struct{ mu, v, nu, tau float64 }

// term is the term of case i in the log evidence, beyond the Gaussian part,
//
//	h = log ∫ p(y_i|μ_i + δ) exp(½τ_i δ² - b_i δ) N(δ; 0, v_i) dδ
//
// with its explicit derivatives, and the explicit weight of the evidence on the case.
type term struct {
	value float64
	weight
}

// siteState is a posterior whose sites follow from its marginals by a rule: EP, posterior
// linearisation or the variational method. Its State is τ and then ν.
type siteState struct {
	process
	sited prior.SiteSolver // the prior
	// The fields from initial to jacobianError are set for several latent processes. For one latent
	// process they are nil or 0.
	// initial returns the sites of a first iteration.
	initial        func(ctx context.Context, start State) (State, error)
	closing        func() Posterior // the posterior where the iteration ended
	newtonDistance float64          // the distance at which Newton's method takes over
	jacobianError  float64          // the relative error of the search's Jacobian
	// jacobian is the prior's Jacobian at the posterior, and pull is pullImplicit or
	// joint.pullClasses.
	jacobian func(sigma []float64) func(dst, x []float64)
	pull     func(dst *Cov, j int, total []weight, share float64)

	search        prior.Search // during an iteration
	method        string
	rule          rule
	options       Iteration // defaults are filled in
	tau, nu       []float64 // the halves of the state
	mu, sigma     []float64 // means and variances of the marginals
	extraVariance []float64 // additional variance of f_i, over which log p(y|f) is averaged too; nil: 0
	next          []site    // the rule's sites at the marginals
	penalised     bool      // the log evidence has the penalty of a prior of lower rank
	terms         []term

	alpha   float64                  // the power of a site that share takes out
	moments likelihood.MomentMatcher // the averages of p(y|f)^alpha that make sites
	// for each weight w < 1, the averages of p(y|f)^(w alpha)
	momentsByPower map[float64]likelihood.MomentMatcher
	// nodes of the quadrature in the evidence; nil: none
	nodes, logWeights []float64

	target           float64 // largest distance for which the log evidence is within the tolerance
	uncertain        float64 // the error of μ beyond the rounding of its last digit
	largestPrecision float64 // the largest τ_i K_ii so far
}

// newSiteState checks the arguments of a fit. power is the power α of the correction for inducing
// inputs. Equal cases share their latent value if there is one fixed point, whatever the order of
// the cases.
func newSiteState(
	method string, o Iteration, e EvidenceForm, q Quadrature, power float64, cov []Cov, y Targets,
	lik likelihood.Bound,
) (*siteState, error) {
	o.work.Reset()
	moments := q.moments(lik.(likelihood.MomentMatcher))
	k, err := newProcess(o.work, cov, y, lik, power, isConcave(moments) && !o.accepts())
	if err != nil {
		return nil, err
	}
	p := stateOf(method, o, k, k.prior, moments)
	p.nodes, p.logWeights = q.rule(e)
	return p, nil
}

// stateOf has sites of zero precision.
func stateOf(
	method string, o Iteration, k process, sited prior.SiteSolver, moments likelihood.MomentMatcher,
) *siteState {
	n := len(k.y)
	k.state = make(State, 2*n)
	return &siteState{
		process: k, sited: sited, method: method, options: o.filled(), tau: k.state[:n], nu: k.state[n:],
		mu: make([]float64, n), sigma: make([]float64, n), next: make([]site, n), terms: make([]term, n),
		alpha: 1, moments: moments, penalised: sited.Power() < 1,
	}
}

// set copies a State.
func (p *siteState) set(s State) error {
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

// refresh computes the factor of B, b and the marginals from the sites, and the rule's sites at
// these marginals. It returns the distance between the sites and the rule's sites.
func (p *siteState) refresh() (fixedPoint, error) {
	var fit fixedPoint
	for i, t := range p.tau {
		if p.largestPrecision = max(p.largestPrecision, t*p.sited.Variance(i)); math.IsNaN(p.largestPrecision) {
			p.largestPrecision = math.Inf(1)
		}
	}
	p.diagnostics.Factorizations++
	if err := p.sited.Factorise(p.tau); err != nil { // GPML Algorithm 3.5 line 13
		fit.distance = math.Inf(1)
		p.explain(p.method, p.tau, p.largestPrecision, fit)
		if p.diagnostics.Failure != nil && p.largestPrecision > unbounded {
			err = p.diagnostics.Failure
		}
		return fit, err
	}
	p.uncertain = p.sited.Locate(p.sites())
	p.search.Variances(p.sigma)
	p.target = p.options.Tolerance // at most
	return p.proposeSites()
}

// sites returns the sites as the prior's methods take them.
func (p *siteState) sites() prior.Sites {
	return prior.Sites{Tau: p.tau, Nu: p.nu, Mean: p.mean, Mu: p.mu, B: p.b}
}

// computeEvidence computes the log evidence, GPML Algorithm 3.5 line 16, and the target that
// follows from it, after refresh.
func (p *siteState) computeEvidence() {
	linalg.Rows(len(p.tau), func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			p.terms[i] = p.rule.term(i)
		}
	})
	reach := 0.0 // change of the log evidence if all marginals move by one unit
	p.evidence.value = -p.sited.LogDet()
	for i, b := range p.b {
		t := p.terms[i]
		p.evidence.value += t.value - b*(p.mu[i]-p.mean[i])/2
		reach += math.Abs(t.mu) + math.Abs(t.v) + math.Abs(t.nu) + math.Abs(t.tau)
	}
	p.target = p.options.Tolerance / max(1, reach)
	for i, t := range p.tau {
		if p.penalised {
			p.evidence.value -= p.sited.Penalty(i, t)
			p.terms[i].tau -= p.sited.PenaltySlope(i, t) * p.sited.ResidualVariance(i) / p.sigma[i]
		}
	}
}

// proposeSites asks the rule for all sites, given the marginals, and returns the distance of the
// current sites from these. If several cases fail, it returns the error of the first.
func (p *siteState) proposeSites() (fixedPoint, error) {
	var fit fixedPoint
	if r, all := p.rule.(caseRule); all {
		r.prepare()
	}
	failed := make([]error, len(p.tau))
	linalg.Rows(len(p.tau), func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			p.sigma[i] = prior.Resolved(p.sigma[i], p.sited.Variance(i))
			p.next[i], failed[i] = p.rule.match(i, p.sigma[i], p.b[i])
		}
	})
	for i, err := range failed {
		p.compare(i, p.next[i], p.sigma[i], p.b[i], &fit)
		if err != nil {
			return fit, err
		}
	}
	return fit, nil
}

// compare adds to fit by how much the rule's site s would change the marginal N(μ_i, v) of case i,
// b = ν_i - τ_i μ_i: its mean in units of its standard deviation, its variance in units of itself.
//
// Rounding errors leave a distance of two kinds. v has an error of a few ε K_ii, divided by the
// cavity's fraction of the precision. μ_i has an error from the rounding of its last digit and from
// the refinement of b, and b has τ_i times this error.
func (p *siteState) compare(i int, s site, v, b float64, fit *fixedPoint) {
	fit.distance = max(fit.distance, p.marginal(i, v, b).distance(s))
	// fraction of the precision that the cavity has
	share := max(1-p.weight.copyShare(i)*p.tau[i]*v, eps)
	if s.average.proper { // its site hardly depends on a wide cavity
		share = 1
	}
	fit.rounding = max(fit.rounding, 8*eps*p.sited.Variance(i)/(v*share))
	fit.drift = max(fit.drift, (p.uncertain+2*eps*math.Abs(p.mu[i]))*math.Abs(p.tau[i])*math.Sqrt(v))
	if s.floored {
		fit.floors++
	}
}

// siteMarginal is the marginal of a case with its site, of precision τ and b = ν - τμ.
type siteMarginal struct {
	gaussian
	tau, b float64
}

func (p *siteState) marginal(i int, v, b float64) siteMarginal {
	return siteMarginal{gaussian{p.mu[i], v}, p.tau[i], b}
}

// without is the marginal without the power alpha of its site.
func (m siteMarginal) without(alpha float64) gaussian {
	c := m.variance / max(1-alpha*m.tau*m.variance, eps)
	return gaussian{m.mean - c*(alpha*m.b), c}
}

// distance is by how much another site would change the marginal.
func (m siteMarginal) distance(s site) float64 {
	change := (s.tau - m.tau) * m.variance
	ratio := max(1+change, eps) // old variance divided by new variance
	return max(math.Abs(s.offset-m.b)*math.Sqrt(m.variance)/ratio, math.Abs(change)/ratio)
}

// cavity is the marginal of case i without the power alpha of its site.
func (p *siteState) cavity(i int, alpha float64) gaussian {
	return p.marginal(i, p.sigma[i], p.b[i]).without(alpha)
}

// averagedVariance returns v, a variance of f_i, plus the additional variance over which log
// p(y_i|f) is averaged.
func (p *siteState) averagedVariance(i int, v float64) float64 {
	if p.extraVariance != nil {
		v += p.extraVariance[i]
	}
	return v
}

// moved returns the changes of the mean and the variance of marginal i if case i took the site that
// the rule gives it.
func (p *siteState) moved(i int) (mean, variance float64) {
	v := p.sigma[i] / (1 + (p.next[i].tau-p.tau[i])*p.sigma[i])
	return v * (p.next[i].offset - p.b[i]), v - p.sigma[i]
}

// term uses the cavity form of the evidence, or quadrature.
func (p *siteState) term(i int) term {
	if p.nodes != nil {
		return p.quadratureTerm(i)
	}
	share := p.weight.copyShare(i)
	c := p.cavity(i, share)
	if rule, ok := p.moments.(likelihood.MomentRule); ok {
		at, byMean, byVariance := rule.Slopes(p.y[i], c.mean, c.variance)
		d2 := 2*byVariance[0] - byMean[0]*byMean[0] // the heat equation: ∂Z/∂v = ½ ∂²Z/∂μ²
		return p.cavityTerm(i, averages{log: at[0], d: [4]float64{byMean[0], d2}}, share)
	}
	return p.cavityTerm(i, averaged(p.ofCopy(i), p.y[i], c), share)
}

// cavityTerm is term given the averages over the cavity. ρ is the normalised integrand of term. The
// weight on the site follows from E_ρ[f] and E_ρ[f²] minus the marginal's moments, and so does, by
// partial integration, the weight on the marginal. For power EP the term is
//
//	h = 1/α log ∫ p(y_i|μ_i + δ)^α exp(½ατ_i δ² - αb_i δ) N(δ; 0, v_i) dδ
func (p *siteState) cavityTerm(i int, a averages, alpha float64) term {
	b, v := alpha*p.b[i], p.sigma[i]
	share := max(1-alpha*p.tau[i]*v, eps)
	cavity := v / share
	mean := (a.d[0] - b) * math.Sqrt(v) / share       // E[δ]/√v
	spread := (1+cavity*a.d[1])/share + mean*mean - 1 // E[δ²]/v - 1
	if a.proper {
		mean = (a.tilted.mean - p.mu[i]) / math.Sqrt(v)
		spread = a.tilted.variance/v + mean*mean - 1
	}
	value := a.log + (cavity*b*b-math.Log(share))/2
	return term{value / alpha, weight{mean / alpha, spread / 2 / alpha, -mean, spread / 2}}
}

// quadratureTerm is term by Gauss-Hermite quadrature, and the exact derivatives of that.
func (p *siteState) quadratureTerm(i int) term {
	sd, share := math.Sqrt(p.sigma[i]), p.weight.copyShare(i)
	w, slopes, value := p.tilted(i)
	var mean, square, byMean, byVariance float64
	for k, x := range p.nodes {
		// derivative of the logarithm of the integrand by x
		slope := (slopes[k] + share*(p.tau[i]*x*sd-p.b[i])) * sd
		mean += w[k] * x
		square += w[k] * x * x
		byMean += w[k] * slope
		byVariance += w[k] * slope * x / 2
	}
	return term{value / share, weight{byMean / share, byVariance / share, -mean, (square - 1) / 2}}
}

// tilted returns the weights of the nodes under the normalised integrand of term, the slopes of
// log p(y_i|f) there, and h.
func (p *siteState) tilted(i int) (w, slopes []float64, h float64) {
	sd := math.Sqrt(p.sigma[i])
	w, slopes = make([]float64, len(p.nodes)), make([]float64, len(p.nodes))
	share, power := p.weight.copyShare(i), p.weight.power(i)
	for k, x := range p.nodes {
		delta := x * sd
		logp, d := p.lik.Moments(p.y[i], p.mu[i]+delta, 0)
		w[k] = p.logWeights[k] + power*logp + share*delta*(p.tau[i]*delta/2-p.b[i])
		slopes[k] = power * d[0]
	}
	h = floats.LogSumExp(w)
	for k := range w {
		w[k] = math.Exp(w[k] - h)
	}
	return w, slopes, h
}

// explicit adds to grad the derivative of term over the likelihood's parameters.
func (p *siteState) explicit(grad []float64, i int) {
	if p.nodes == nil {
		share, lik := p.share(i), p.lik
		if p.alpha*p.weight.power(i) < 1 {
			lik = p.ofCopy(i)
		}
		byParams(grad, 1/share, lik, p.y[i], p.cavity(i, share))
		return
	}
	w, _, _ := p.tilted(i)
	for k, x := range p.nodes {
		byParams(grad, w[k]*p.weight.of(i), p.lik, p.y[i], gaussian{p.mu[i] + x*math.Sqrt(p.sigma[i]), 0})
	}
}

// byParams adds to grad c times the derivative of log Z over the likelihood's parameters.
func byParams(grad []float64, c float64, lik likelihood.Bound, y float64, at gaussian) {
	d, d1, d2 := make([]float64, len(grad)), make([]float64, len(grad)), make([]float64, len(grad))
	lik.(likelihood.Parametric).DMoments(d, d1, d2, y, at.mean, at.variance)
	floats.AddScaled(grad, c, d)
}

// momentSlopes returns log Z and its first two derivatives, given the averages at N(mean,
// variance), with the derivatives of all three with respect to mean and to variance.
func (p *siteState) momentSlopes(a averages, y float64, at gaussian) (log, byMean, byVariance [3]float64) {
	if rule, ok := p.moments.(likelihood.MomentRule); ok {
		return rule.Slopes(y, at.mean, at.variance)
	}
	d := a.d
	return [3]float64{a.log, d[0], d[1]}, [3]float64(d[:3]), // the heat equation
		[3]float64{(d[1] + d[0]*d[0]) / 2, d[2]/2 + d[0]*d[1], d[3]/2 + d[0]*d[2] + d[1]*d[1]}
}

// nearEnough is the distance from a fixed point at which Newton's method takes over.
const nearEnough = 0.3

// newtonWithin is the distance below which Newton's method is used; 0: never. It is never used for
// a likelihood that is not log-concave: of several fixed points, Newton's method could reach one
// that is unstable under updates.
func (p *siteState) newtonWithin() float64 {
	if isConcave(p.moments) && p.options.Damping == 1 && !p.rule.negative() && !p.options.accepts() {
		return cmp.Or(p.newtonDistance, nearEnough)
	}
	return 0
}

// share is the share of the site of case i that is taken out of a marginal.
func (p *siteState) share(i int) float64 { return p.alpha * p.weight.copyShare(i) }

// powers prepares the averages that make sites for weights below 1.
func (p *siteState) powers() error {
	if p.weight == nil {
		return nil
	}
	p.momentsByPower = map[float64]likelihood.MomentMatcher{}
	for i := range p.weight {
		power := p.weight.power(i)
		if _, known := p.momentsByPower[power]; known || power == 1 {
			continue
		}
		l, ok := likelihood.Power(p.lik, p.alpha*power)
		if !ok || isRule(p.moments) {
			return fmt.Errorf("%s: the weight of case %d is %v, and weights below 1 need powers of the likelihood, "+
				"known for smooth ones, noisy_threshold and step, without quadrature; use inference: laplace",
				p.method, i, p.weight[i])
		}
		p.momentsByPower[power] = l
	}
	return nil
}

// ofCopy are the averages that make the site of a copy of case i.
func (p *siteState) ofCopy(i int) likelihood.MomentMatcher {
	if power := p.weight.power(i); power < 1 {
		return p.momentsByPower[power]
	}
	return p.moments
}
