package approx

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
)

var _ Approximation = Variational{}

// Variational is the Gaussian variational approximation (Opper & Archambeau 2009; named in GPML
// 3.6): the Gaussian q that maximises a lower bound of the log evidence. In nats the bound is
//
//	L = Σ_i E_q log p(y_i|f_i) - KL(q, prior)
//	  = Σ_i [ E_q log p(y_i|f_i) + ½ τ_i v_i ] - ½ bᵀ(μ - m) - ½ log|B|,   B = I + S^½ K S^½
//
// with N(μ_i, v_i) the marginals of q and b = K⁻¹(μ - m). At the maximum, which is unique if p(y|f)
// is log-concave, q is a posterior with Gaussian sites,
//
//	τ_i = -E_q ∂²log p(y_i|f_i)/∂f²,   ν_i - τ_i μ_i = b_i = E_q ∂log p(y_i|f_i)/∂f
//
// Natural-gradient steps for all sites at once oscillate if the prior is wide. So the sites are
// updated in the order of the cases, as in EP, and each is set to the maximum of L with the others
// fixed: L never decreases. Near the maximum Newton's method is used. A State has τ and then ν, 2n
// numbers.
//
// For softmax E is over all latent values of a case, and the sites of a case are set together. With
// more than three classes E is over independent latent values, see softmaxRule. Then L is a bound
// up to the error of that.
//
// A fit that stops before it converges has Diagnostics.Converged false: its evidence is still a
// bound, and its adjoint is ErrNotConverged.
type Variational struct {
	// Tolerance bounds, at every site, the change of the marginal by a further update, in units of
	// its standard deviation and relative to its variance. The bound L is stationary, so its own
	// error is of the order of the square. If the rounding error of the marginal variances is
	// larger, that is the tolerance. Default 1e-10; for softmax it is at least 1e-8.
	Tolerance float64 `yaml:"tolerance" within:"(0,1)"`
	// MaxIterations limits the total number of sweeps and Newton steps. Default 1000.
	MaxIterations int `yaml:"max_iterations" within:"[1,10000000]"`
	// Structure represents the prior covariance.
	Structure Structure `yaml:",inline"`

	work *Work
}

// Uses implements Approximation: likelihoods of two classes, or of numbers, with Gaussian averages
// of log p(y|f).
func (m Variational) Uses(lik likelihood.Likelihood, classes int) (Caps, error) {
	if err := checkIteration("variational", m.Tolerance, m.MaxIterations); err != nil {
		return Caps{}, err
	}
	if lik.Domain() == likelihood.Categorical {
		caps, err := m.iteration().usesJoint("variational", 0, m.Structure, lik, classes)
		caps.LowerBound = err == nil && m.Structure == nil
		return caps, err
	}
	var lacks error
	if _, ok := bound(lik).(likelihood.LogConcave); !ok {
		lacks = errors.New("variational needs a log-concave likelihood whose logarithm has Gaussian averages; use " +
			"likelihood: probit or logit, or inference: ep")
	}
	if err := usesOneProcess("variational", lik, classes, lacks); err != nil {
		return Caps{}, err
	}
	gradient := knowsParameters(lik)
	cavities := power(m.Structure, 0) == 1
	return Caps{
		Gradient: gradient, LowerBound: m.Structure == nil || power(m.Structure, 0) == 0,
		LeaveOneOut: cavities, LeaveOneOutGradient: cavities && gradient, Weights: true,
	}, nil
}

func (Variational) scalesGeometrically() bool { return true }

func (m Variational) in(w *Work) Approximation {
	m.work = w
	return m
}

// Memory implements Approximation. Merging cases needs a covariance, a factor and an inverse of the
// distinct values.
func (m Variational) Memory(s Size) Memory {
	if s.Classes > 2 {
		return memoryOfSites(s, true)
	}
	m2 := s.Distinct * s.Distinct
	if s.Distinct == 0 || s.Distinct == s.Cases {
		return Iteration{}.memory(s, true)
	}
	return Memory{
		Fit:      words(2*m2+24*s.Cases, m2+s.Distinct*(min(prior.SweepBlock, s.Distinct)+2*s.New)),
		Evidence: words(m2, 0), LeaveOneOutAdjoint: words(m2, 4*m2),
	}
}

// Fit implements Approximation.
func (m Variational) Fit(
	ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State,
) (Posterior, error) {
	return fitSites(ctx, m, cov, y, lik, start)
}

// Restore implements Approximation.
func (m Variational) Restore(cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error) {
	return restoreSites(m, cov, y, lik, s)
}

func (m Variational) structure() Structure { return m.Structure }

func (m Variational) with(s Structure) (Approximation, bool) {
	m.Structure = s
	return m, true
}

func (m Variational) iteration() Iteration {
	return Iteration{Tolerance: m.Tolerance, MaxIterations: m.MaxIterations, work: m.work}
}

// largestVariance is the prior variance above which E log p(y|f), which grows with the standard
// deviation or the variance, has no correct digits for the likelihood's contribution.
const largestVariance = 1e18

func (m Variational) begin(cov []Cov, y Targets, lik likelihood.Bound) (*siteState, error) {
	alpha := power(m.Structure, 0)
	p, err := newSites("variational", m.iteration(), CavityForm, Quadrature{}, alpha, cov, y, lik)
	if err != nil {
		return nil, err
	}
	if v := p.sited.LargestVariance(); v > largestVariance {
		return nil, fmt.Errorf("%w: variational, prior variances up to %.3g; beyond %.0g double precision does not "+
			"carry the bound: lower the amplitude", errImprecise, v, largestVariance)
	}
	if rest := 1 - p.sited.Power(); rest > 0 {
		p.extraVariance, p.penalised = make([]float64, len(p.y)), false
		for i := range p.extraVariance {
			p.extraVariance[i] = rest * p.sited.ResidualVariance(i)
		}
	}
	if lik.Likelihood() == (likelihood.Softmax{}) {
		p.rule = newSoftmaxRule(p, y)
	} else {
		p.rule = variationalRule{p, p.lik.(likelihood.LogConcave)}
	}
	return p, nil
}

// variationalRule is the rule of the variational method.
type variationalRule struct {
	*siteState
	model likelihood.LogConcave
}

// match returns the site for which the marginal N(μ', s²) of case i maximises its contribution to
// L, with N(m, c) the cavity,
//
//	E log p(y_i|f) + log s - (s² + (μ' - m)²)/2c
//
// a concave function of μ' and s, by Newton's method from the current marginal.
func (p variationalRule) match(i int, v, b float64) (site, error) {
	// moving is the fraction of the site that changes: all copies if they can have one latent
	// value, or else one copy.
	moving := 1.0
	if !(p.tau[i]*v < 1) {
		moving = p.weight.copyShare(i)
	}
	c := v / max(1-moving*p.tau[i]*v, eps)
	m, mean, s := p.mu[i]-c*moving*b, p.mu[i], math.Sqrt(v)
	at := func(mean, s float64) (a averages, value float64) {
		a = p.expected(i, moving, mean, p.averagedVariance(i, s*s))
		return a, a.log + math.Log(s) - (s*s+(mean-m)*(mean-m))/(2*c)
	}
	own, value := at(mean, s)
	if t, ok := p.moments.(likelihood.ExactMoments); ok {
		own.proper = t.Proper(p.y[i])
	}
	d := own.d
	for value < -valueTooLow && s > 1e-3 { // beyond, the average may grow exponentially with the variance
		var a averages
		s /= 2
		a, value = at(mean, s)
		d = a.d
	}
	for range 200 {
		byMean, byS := d[0]-(mean-m)/c, s*d[1]+1/s-s/c
		// minus the second derivatives of the value
		meanMean, meanS, sS := 1/c-d[1], -s*d[2], 1/c+1/(s*s)-d[1]-s*s*d[3]
		determinant := meanMean*sS - meanS*meanS
		stepMean, stepS := (sS*byMean-meanS*byS)/determinant, (meanMean*byS-meanS*byMean)/determinant
		slope := byMean*stepMean + byS*stepS // the squared length of the step
		if !(slope > 1e-16) {
			d[0], d[1] = d[0]+stepMean*d[1]+stepS*s*d[2], d[1]+stepMean*d[2]+stepS*s*d[3]
			mean += stepMean
			break
		}
		share := 1.0
		for ; share > 1e-10; share /= 2 {
			if s+share*stepS <= 0 {
				continue
			}
			a, next := at(mean+share*stepMean, s+share*stepS)
			// rounding exceeds the gain of a short step
			if slope < 1e-8 || next >= value+1e-4*share*slope {
				mean, s, value, d = mean+share*stepMean, s+share*stepS, next, a.d
				break
			}
		}
		if share <= 1e-10 {
			break
		}
	}
	tau := max(-d[1], 0)
	if moving < 1 {
		own = p.expected(i, 1, p.mu[i], p.averagedVariance(i, v))
	}
	return site{tau: tau / moving, offset: (d[0] + tau*(mean-p.mu[i])) / moving, average: own}, nil
}

// expected is the average of log p(y_i|f), times this share of the weight of the case.
func (p variationalRule) expected(i int, share, mean, variance float64) (a averages) {
	a.log, a.d = p.model.Expected(p.y[i], mean, variance)
	if p.weight != nil {
		a.log *= share * p.weight[i]
		floats.Scale(share*p.weight[i], a.d[:])
	}
	return a
}

// valueTooLow is an average log p(y|f) from which Newton's method does not start.
const valueTooLow = 1e8

func (variationalRule) negative() bool { return false }

// stationary: yes, because L is maximal.
func (variationalRule) stationary(fixedPoint) bool { return true }

// term is E log p(y_i|f) + ½ τ_i v_i. L is stationary in the marginals.
func (p variationalRule) term(i int) term {
	return term{value: p.next[i].average.log + p.tau[i]*p.sigma[i]/2}
}

func (p variationalRule) explicit(grad []float64, i int) {
	e, d1, d2 := make([]float64, len(grad)), make([]float64, len(grad)), make([]float64, len(grad))
	p.model.DExpected(e, d1, d2, p.y[i], p.mu[i], p.averagedVariance(i, p.sigma[i]))
	floats.AddScaled(grad, p.weight.of(i), e)
}

// slopes uses the derivatives of the average E. At the fixed point τ = -∂²E/∂μ², the offset is
// ∂E/∂μ, and ∂/∂v is ½ ∂²/∂μ².
func (p variationalRule) slopes(i int) siteSlopes {
	d := p.next[i].average.d
	s := siteSlopes{tauByMean: -d[2], tauByVariance: -d[3] / 2, offsetByMean: d[1], offsetByVariance: d[2] / 2}
	s.mean, s.variance = p.moved(i)
	return s
}

func (p variationalRule) paramSlopes(i int, tau, offset []float64) {
	e := make([]float64, len(tau))
	p.model.DExpected(e, offset, tau, p.y[i], p.mu[i], p.averagedVariance(i, p.sigma[i]))
	for j := range tau {
		tau[j], offset[j] = -p.weight.of(i)*tau[j], p.weight.of(i)*offset[j]
	}
}
