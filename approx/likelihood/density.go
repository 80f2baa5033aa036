package likelihood

import (
	"math"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Density is a likelihood of one latent value given by log p(y|f) only. ByQuadrature computes
// everything else.
type Density interface {
	// Derivs returns log p(y|f), finite, and its first three derivatives with respect to f.
	Derivs(y, f float64) (logp, d1, d2, d3 float64)
	// ParamDerivs sets logp[j], d1[j] and d2[j] to the derivatives with respect to theta[j] of the
	// results of Derivs with these names. Without parameters it does nothing.
	ParamDerivs(logp, d1, d2 []float64, y, f float64)
	Shape() Shape
}

// Shape declares properties of a Density.
type Shape struct {
	LogConcave bool // in f: d2 ≤ 0 everywhere. Variational inference requires it
	Symmetric  bool // p(-y|-f) = p(y|f), as for the likelihoods of this package
	// Smooth > 0: log p varies on a scale of 1 everywhere, so that sums over nodes in f with at
	// most this distance are as accurate as panels, and faster.
	Smooth float64
}

// ByQuadrature is the likelihood of a density: Differentiable and Parametric, and LogConcave if the
// density is. p(y|f) may vary on any scale near f = 0 or, for numbers, near f = y; elsewhere it
// must vary on the scale of the distance from there, as sigmoids do. Gaussian averages are sums
// over panels of 16 Gauss-Legendre nodes, halved until they agree to about 1e-13; that takes
// thousands of values of the density, some 50 times what a closed form does. They are meant for
// |mean| ≤ 1e6 and variances up to 1e12.
func ByQuadrature(structure Likelihood, density Density) Bound {
	b := integrated{structure, density, density.Shape()}
	if b.LogConcave {
		return integratedConcave{b}
	}
	return b
}

type integrated struct {
	structure Likelihood
	density   Density
	Shape
}

var (
	_ Differentiable = integrated{}
	_ Parametric     = integrated{}
	_ LogConcave     = integratedConcave{}
)

func (b integrated) Likelihood() Likelihood { return b.structure }
func (b integrated) smooth() float64        { return b.Smooth }

// side uses symmetry: a symmetric density is evaluated for y = +1 with sign times f.
func (b integrated) side(y float64) (of, sign float64) {
	if b.Symmetric && y < 0 {
		return -y, -1
	}
	return y, 1
}

func (b integrated) LogProb(y, f float64) float64 {
	logp, _, _, _ := b.Derivs(y, f)
	return logp
}

// Derivs implements Differentiable.
func (b integrated) Derivs(y, f float64) (logp, d1, d2, d3 float64) {
	y, sign := b.side(y)
	logp, d1, d2, d3 = b.density.Derivs(y, sign*f)
	return logp, sign * d1, d2, sign * d3
}

// Moments implements MomentMatcher, with x = (f - mean)/√variance and E the average under the
// tilted density: if the Gaussian is narrow, from the derivatives of p(y|f), d[0] = E[p′/p] and so
// on. If it is wide, from the cumulants of x, d[0] = E[x]/√variance and so on.
func (b integrated) Moments(y, mean, variance float64) (logZ float64, d [4]float64) {
	logZ, d, _, _ = b.Tilted(y, mean, variance)
	return logZ, d
}

// Proper implements ExactMoments.
func (b integrated) Proper(y float64) bool {
	p, ok := b.density.(interface{ Proper(y float64) bool })
	return ok && p.Proper(y)
}

// Tilted implements ExactMoments.
func (b integrated) Tilted(
	y, mean, variance float64,
) (logZ float64, d [4]float64, tiltedMean, tiltedVariance float64) {
	if variance == 0 {
		logZ, d[0], d[1], d[2] = b.Derivs(y, mean)
		return logZ, d, mean, 0
	}
	y, sign := b.side(y)
	t := b.tilt(y, sign*mean, variance)
	average := b.averageDerivatives
	if variance > 1 {
		average = b.averagePowers
	}
	sum := t.sum(b.Smooth, b.Proper(y), 5, average(t))
	d = cumulants(sum[1]/sum[0], sum[2]/sum[0], sum[3]/sum[0], sum[4]/sum[0])
	tiltedMean, tiltedVariance = sign*(t.f(0)+variance*d[0]), variance*(1+variance*d[1])
	if variance > 1 {
		tiltedMean, tiltedVariance = sign*t.f(t.mode+d[0]), d[1]*variance
		d[0], d[1] = (t.mode+d[0])/t.s, (d[1]-1)/variance
		d[2], d[3] = d[2]/(t.s*variance), d[3]/(variance*variance)
	}
	if b.LogConcave {
		d[1] = min(d[1], 0)
	}
	d[0], d[2] = sign*d[0], sign*d[2]
	return floor(t.top + math.Log(sum[0]/math.Sqrt(2*math.Pi))), d, tiltedMean, tiltedVariance
}

// averageDerivatives returns the terms p′/p and so on of sums under the tilted density. The terms
// of averagePowers are powers of x - mode.
func (b integrated) averageDerivatives(t tilted) func(sum, x, w []float64) (last float64) {
	return func(sum, x, weights []float64) (last float64) {
		for j, x := range x {
			logp, l1, l2, l3 := b.density.Derivs(t.y, t.f(x))
			last = t.relative(x, logp)
			w := weights[j] * last
			third := w * (l3 + 3*l1*l2 + l1*l1*l1)
			add(sum, w, w*l1, w*(l2+l1*l1), third, third*x/t.s)
		}
		return last
	}
}

func (b integrated) averagePowers(t tilted) func(sum, x, w []float64) (last float64) {
	var f, density [together]float64
	return func(sum, x, weights []float64) float64 {
		f, density := f[:len(x)], density[:len(x)]
		for j, x := range x {
			f[j] = t.f(x)
		}
		if block, ok := b.density.(inBlocks); ok {
			block.logProbs(density, t.y, f)
		} else {
			for j, f := range f {
				density[j], _, _, _ = b.density.Derivs(t.y, f)
			}
		}
		for j, x := range x {
			density[j] -= t.logp + (x-t.mode)*(x+t.mode)/2
		}
		linalg.Exp(density, density)
		for j, x := range x {
			w, u := weights[j]*density[j], x-t.mode
			add(sum, w, w*u, w*u*u, w*u*u*u, w*u*u*u*u)
		}
		return density[len(x)-1]
	}
}

// inBlocks are densities that compute log p(y|f) at several f in less time than one by one.
type inBlocks interface {
	logProbs(dst []float64, y float64, f []float64)
}

// DMoments implements Parametric. With Z, p′ and p″, changes of log p by θ change E[p′/p] and
// E[p″/p].
func (b integrated) DMoments(logZ, d1, d2 []float64, y, mean, variance float64) {
	y, sign := b.side(y)
	n := len(logZ)
	if variance == 0 || n == 0 {
		b.density.ParamDerivs(logZ, d1, d2, y, sign*mean)
	} else {
		t := b.tilt(y, sign*mean, variance)
		sum := t.integrate(3+3*n, each(func(to []float64, x, w float64) {
			logp, l1, l2, _ := b.density.Derivs(y, t.f(x))
			b.density.ParamDerivs(logZ, d1, d2, y, t.f(x))
			w *= t.relative(x, logp)
			second := l2 + l1*l1
			add(to, w, w*l1, w*second)
			for j, by := range logZ {
				add(to[3+3*j:], w*by, w*(by*l1+d1[j]), w*(by*second+d2[j]+2*l1*d1[j]))
			}
		}))
		m1, m2 := sum[1]/sum[0], sum[2]/sum[0]
		for j := range logZ {
			own := sum[3+3*j:]
			logZ[j] = own[0] / sum[0]
			d1[j] = own[1]/sum[0] - m1*logZ[j]
			d2[j] = own[2]/sum[0] - m2*logZ[j] - 2*m1*d1[j]
		}
	}
	for j := range d1 {
		d1[j] *= sign
	}
}

type integratedConcave struct{ integrated }

// Expected implements LogConcave. By parts, the fourth derivative is E[x d3]/√variance.
func (b integratedConcave) Expected(y, mean, variance float64) (e float64, d [4]float64) {
	y, sign := b.side(y)
	g := newAverage(b.centres(y), sign*mean, variance)
	sum := g.integrate(5, each(func(to []float64, x, w float64) {
		logp, l1, l2, l3 := b.density.Derivs(y, g.f(x))
		w *= normalDensity(x)
		add(to, w*logp, w*l1, w*l2, w*l3, w*l3*x/g.s)
	}))
	return sum[0], [4]float64{sign * sum[1], min(sum[2], 0), sign * sum[3], sum[4]}
}

// DExpected implements LogConcave.
func (b integratedConcave) DExpected(e, d1, d2 []float64, y, mean, variance float64) {
	y, sign := b.side(y)
	g := newAverage(b.centres(y), sign*mean, variance)
	sum := g.integrate(3*len(e), each(func(to []float64, x, w float64) {
		b.density.ParamDerivs(e, d1, d2, y, g.f(x))
		w *= normalDensity(x)
		for j := range e {
			add(to[3*j:], w*e[j], w*d1[j], w*d2[j])
		}
	}))
	for j := range e {
		e[j], d1[j], d2[j] = sum[3*j], sign*sum[3*j+1], sum[3*j+2]
	}
}

func normalDensity(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }

// centres are the f near which p(y|f) varies fast.
func (b integrated) centres(y float64) []float64 {
	if d, ok := b.density.(sigmoidal); ok {
		return d.around(y)
	}
	if b.structure.Domain() == Numeric {
		return []float64{y}
	}
	return []float64{0}
}

func (b integrated) tilt(y, mean, variance float64) tilted {
	t := tilted{average: newAverage(b.centres(y), mean, variance), density: b.density, y: y, falls: b.LogConcave}
	if b.LogConcave {
		t.mode = t.climb()
	} else {
		t.mode = t.bisect()
	}
	logp, _, d2, _ := b.density.Derivs(y, t.f(t.mode))
	t.logp, t.top = logp, logp-t.mode*t.mode/2
	t.width = 1 / math.Sqrt(min(max(1, 1-variance*d2), math.MaxFloat64)) // above 0
	t.noise += 0x1p-50 * (math.Abs(logp) + t.mode*t.mode)
	return t
}
