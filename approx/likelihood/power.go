package likelihood

import "math"

// Power is p(y|f)^α, 0 < α < 1, as power EP averages it: a MomentMatcher that is not normalised
// over y, and Parametric and LogConcave if lik is. Smooth likelihoods are integrated as
// ByQuadrature does. A power of a threshold is a threshold, and a power of a Gaussian is a
// Gaussian. ok is false for any other likelihood that is not smooth.
func Power(lik MomentMatcher, alpha float64) (power MomentMatcher, ok bool) {
	switch l := lik.(type) {
	case Step: // 0 and 1 are their own powers
		return l, true
	case noisyThreshold:
		return l.power(alpha), true
	case gaussian:
		return l.power(alpha), true
	case Differentiable:
		_, concave := lik.(LogConcave)
		p := powered{l, alpha, concave}
		if s, ok := lik.(sigmoids); ok {
			return ByQuadrature(lik.Likelihood(), poweredSigmoids{p, s}).(MomentMatcher), true
		}
		return ByQuadrature(lik.Likelihood(), p).(MomentMatcher), true
	}
	return nil, false
}

// powered is the density of a smooth likelihood's power.
type powered struct {
	Differentiable
	alpha   float64
	concave bool
}

// Shape implements Density. Both labels are integrated, as the likelihood of another program need
// not be symmetric.
func (p powered) Shape() Shape {
	shape := Shape{LogConcave: p.concave}
	if s, ok := p.Differentiable.(interface{ smooth() float64 }); ok {
		shape.Smooth = s.smooth()
	}
	return shape
}

// Proper implements ExactMoments.
func (p powered) Proper(y float64) bool {
	t, ok := p.Differentiable.(ExactMoments)
	return ok && t.Proper(y)
}

// Derivs implements Density.
func (p powered) Derivs(y, f float64) (logp, d1, d2, d3 float64) {
	logp, d1, d2, d3 = p.Differentiable.Derivs(y, f)
	return p.alpha * logp, p.alpha * d1, p.alpha * d2, p.alpha * d3
}

// ParamDerivs implements Density.
func (p powered) ParamDerivs(logp, d1, d2 []float64, y, f float64) {
	l, ok := p.Differentiable.(Parametric)
	if !ok {
		return
	}
	l.DMoments(logp, d1, d2, y, f, 0)
	for _, d := range [][]float64{logp, d1, d2} {
		for j := range d {
			d[j] *= p.alpha
		}
	}
}

// poweredSigmoids is powered for a sigmoidal likelihood.
type poweredSigmoids struct {
	powered
	sigmoids
}

// poweredGaussian is exp(scale) times the density with the variance σ²/α.
type poweredGaussian struct {
	gaussian
	scale, slope float64 // slope is the derivative of scale with respect to log σ
}

func (g gaussian) power(alpha float64) poweredGaussian {
	scale := ((1-alpha)*math.Log(2*math.Pi*g.variance) - math.Log(alpha)) / 2
	g.variance /= alpha
	return poweredGaussian{g, scale, 1 - alpha}
}

func (p poweredGaussian) LogProb(y, f float64) float64 { return p.scale + p.gaussian.LogProb(y, f) }

func (p poweredGaussian) Moments(y, mean, variance float64) (logZ float64, d [4]float64) {
	logZ, d = p.gaussian.Moments(y, mean, variance)
	return p.scale + logZ, d
}

func (p poweredGaussian) DMoments(logZ, d1, d2 []float64, y, mean, variance float64) {
	p.gaussian.DMoments(logZ, d1, d2, y, mean, variance)
	logZ[0] += p.slope
}

func (p poweredGaussian) Expected(y, mean, variance float64) (e float64, d [4]float64) {
	e, d = p.gaussian.Expected(y, mean, variance)
	return p.scale + e, d
}

func (p poweredGaussian) DExpected(e, d1, d2 []float64, y, mean, variance float64) {
	p.gaussian.DExpected(e, d1, d2, y, mean, variance)
	e[0] += p.slope
}

// poweredThreshold is exp(scale) times the noisy threshold of ε′, logit ε′ = α logit ε:
//
//	ε^α = e^scale ε′,  (1-ε)^α = e^scale (1-ε′),  scale = log(ε^α + (1-ε)^α)
type poweredThreshold struct {
	noisyThreshold
	alpha, scale, slope float64 // slope is the derivative of scale with respect to logit ε
}

func (n noisyThreshold) power(alpha float64) poweredThreshold {
	odds := math.Exp(alpha * (math.Log(n.epsilon) - math.Log(n.rest)))
	p := poweredThreshold{noisyThreshold: n, alpha: alpha, scale: alpha*math.Log(n.rest) + math.Log1p(odds)}
	p.epsilon, p.rest = odds/(1+odds), 1/(1+odds)
	p.slope = n.sign * alpha * (p.epsilon - n.epsilon)
	return p
}

func (p poweredThreshold) LogProb(y, f float64) float64 {
	return p.scale + p.noisyThreshold.LogProb(y, f)
}

func (p poweredThreshold) Moments(y, mean, variance float64) (logZ float64, d [4]float64) {
	logZ, d = p.noisyThreshold.Moments(y, mean, variance)
	return p.scale + logZ, d
}

func (p poweredThreshold) DMoments(logZ, d1, d2 []float64, y, mean, variance float64) {
	p.noisyThreshold.DMoments(logZ, d1, d2, y, mean, variance)
	logZ[0], d1[0], d2[0] = p.slope+p.alpha*logZ[0], p.alpha*d1[0], p.alpha*d2[0]
}
