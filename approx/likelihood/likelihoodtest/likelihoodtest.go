// Package likelihoodtest holds the checks that every likelihood of one latent value must pass:
//
//	func TestMine(t *testing.T) { likelihoodtest.Check(t, Mine{}, likelihoodtest.Traits{}) }
//
// The checks use the documentation of package likelihood, and no likelihood's formula: a
// likelihood's own tests compare its formula with an independent one.
//
// The longest checks try a part of the pairs of a mean and a variance, with each mean and each
// variance in some. With the environment variable GPC_TUNE_TEST_ALL=1 they try all pairs.
package likelihoodtest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// Traits are exceptions from what package likelihood promises. Most likelihoods have none.
type Traits struct {
	// Asymmetric likelihoods do not treat both labels alike: p(-y|-f) ≠ p(y|f).
	Asymmetric bool
	// AverageError is the relative error, beyond rounding, of Gaussian averages by quadrature. They
	// are not tried beyond |mean| = 1e6 and a variance of 1e12.
	AverageError float64
}

// Check runs all checks of lik at its parameters' initial values and one unit of theta to either
// side. There, if p(y|f) is smooth, it must not vary on a scale below 1. A likelihood of ordered
// classes is checked for three classes. The checks depend on the domain of lik and on the
// interfaces that it implements.
func Check(t *testing.T, lik likelihood.Likelihood, traits Traits) {
	t.Helper()
	if lik.Domain() == likelihood.Ordered {
		lik = likelihood.On(lik, 3)
	}
	t.Run("names are unique and starts inside bounds", func(t *testing.T) { names(t, lik) })
	ys := map[likelihood.Domain][]float64{
		likelihood.Binary: {1, -1}, likelihood.Numeric: {0.7, -2}, likelihood.Ordered: likelihood.Labels(3),
	}[lik.Domain()]
	for _, shift := range []float64{0, -1, 1} {
		if shift != 0 && len(lik.Params()) == 0 {
			continue
		}
		var theta []float64
		for _, p := range lik.Params() {
			theta = append(theta, p.Map.Theta(p.Init)+shift)
		}
		m, ok := lik.At(theta).(likelihood.MomentMatcher)
		if !ok {
			return
		}
		t.Run(fmt.Sprintf("theta=%.3g", theta), func(t *testing.T) {
			c := check{lik: lik, theta: theta, m: m, ys: ys, means: means, variances: variances, traits: traits}
			if traits.AverageError > 0 { // and averages so are slow
				c.means, c.variances = thinned(means), thinned(variances)
			}
			c.smooth, _ = m.(likelihood.Differentiable)
			for _, test := range []struct {
				name string
				run  func(t *testing.T)
			}{
				{"derivatives", c.derivatives}, {"labels", c.labels}, {"averages", c.averages}, {"moments", c.moments},
				{"parameters", c.parameters}, {"expected", c.expected}, {"Gaussian noise", c.noise},
				{"small variances", c.smallVariances}, {"total", c.total},
			} {
				t.Run(test.name, test.run)
			}
		})
	}
}

type check struct {
	lik    likelihood.Likelihood
	theta  []float64
	m      likelihood.MomentMatcher
	smooth likelihood.Differentiable // nil where p(y|f) is not
	ys     []float64
	traits Traits

	means, variances []float64
}

// thinned is every third value.
func thinned(values []float64) (some []float64) {
	for i := 0; i < len(values); i += 3 {
		some = append(some, values[i])
	}
	return some
}

const epsilon = 0x1p-52

var (
	latents = []float64{0, 1e-9, 0.01, 0.3, 0.7, 1, 1.3, 1.9, 2.1, 3, 5, 8, 13, 21, 36, 40, 100, 710, 1e4}
	means   = []float64{0, 1e-3, 0.1, 0.5, 1, 1.7, 3, 6, 10, 17, 30, 50, 100, 300, 1e3, 3e3, 1e4}

	variances = []float64{1e-10, 1e-6, 1e-3, 0.05, 0.3, 1, 2, 3.1, 3.2, 5, 10, 30, 100, 1e3, 1e4, 1e5, 1e6, 1e8, 1e10,
		1e12}
	extremes = []float64{0, 1e-320, 1e-160, 1e-8, 1, math.Pi, 745, 1e8, 1e154, 1e155, 1e300, math.MaxFloat64}
)

// both returns the values with either sign.
func both(values []float64) []float64 {
	var all []float64
	for _, v := range values {
		all = append(all, v, -v)
	}
	return all
}

// slope is the derivative of f at x by the central difference of fourth order, error O(h⁴).
func slope(f func(x float64) float64, x, h float64) float64 {
	return (8*(f(x+h)-f(x-h)) - (f(x+2*h) - f(x-2*h))) / (12 * h)
}

// slopes is slope of four functions at once.
func slopes(f func(x float64) [4]float64, x, h float64) (d [4]float64) {
	near, far, near2, far2 := f(x+h), f(x+2*h), f(x-h), f(x-2*h)
	for k := range d {
		d[k] = (8*(near[k]-near2[k]) - (far[k] - far2[k])) / (12 * h)
	}
	return d
}

func names(t *testing.T, lik likelihood.Likelihood) {
	seen := map[string]bool{}
	for _, p := range lik.Params() {
		if p.Name == "" || seen[p.Name] || !(p.Init >= p.Lo && p.Init <= p.Hi) {
			t.Errorf("parameter %q is without a name, or not the only one of it, or starts at %v outside [%v, %v]",
				p.Name, p.Init, p.Lo, p.Hi)
		}
		seen[p.Name] = true
	}
}

// each calls f for every target of ys, mean and variance, or for every k-th of these.
func (c *check) each(k int, ys []float64, f func(y, mean, variance float64)) {
	for a, y := range ys {
		for b, mean := range both(c.means) {
			for i, variance := range c.variances {
				if exhaustive.Tries(k, a, b, i) {
					f(y, mean, variance)
				}
			}
		}
	}
}

// scale returns the change of mean over which log Z varies: no less than 1 where log p(y|f) is
// smooth.
func (c *check) scale(variance float64) float64 {
	if c.smooth != nil {
		return math.Sqrt(1 + variance)
	}
	return math.Sqrt(variance)
}

// concave says whether log p(y|f) was found concave in f wherever it was looked at.
func (c *check) concave() bool {
	for _, y := range c.ys {
		for _, f := range both(latents) {
			if c.smooth == nil {
				return false
			}
			if _, _, d2, _ := c.smooth.Derivs(y, f); d2 > 0 {
				return false
			}
		}
	}
	return true
}

// derivatives holds Derivs to differences.
func (c *check) derivatives(t *testing.T) {
	if c.smooth == nil {
		t.Skip("needs likelihood.Differentiable; it runs for the rows of likelihood.Table that are")
	}
	for _, y := range c.ys {
		for _, f := range both(latents) {
			logp, d1, d2, d3 := c.smooth.Derivs(y, f)
			scale := max(1, math.Abs(logp))
			// The difference's own error: rounding ε|value|/h, against which h⁴ is small.
			const h = 3e-3
			by := slopes(func(x float64) [4]float64 {
				a, b, c, _ := c.smooth.Derivs(y, x)
				return [4]float64{a, b, c}
			}, f, h)
			for k, got := range []float64{d1, d2, d3} {
				if want := by[k]; !(math.Abs(got-want) <= 1e-10+8*epsilon*scale/h) {
					t.Errorf("y = %v, f = %v: d%d = %v, want %v", y, f, k+1, got, want)
				}
			}
		}
	}
}

// labels checks that the probabilities of all labels sum to 1, and that two classes are treated
// alike.
func (c *check) labels(t *testing.T) {
	if c.lik.Domain() == likelihood.Numeric {
		t.Skip("needs labels of classes; it runs for the rows of likelihood.Table that have them")
	}
	two := c.lik.Domain() == likelihood.Binary
	sums := func(what string, log func(y float64) float64, tolerance float64) {
		sum := 0.0
		for _, y := range c.ys {
			sum += math.Exp(log(y))
		}
		if !(math.Abs(sum-1) <= tolerance) {
			t.Errorf("%s: probabilities sum to 1%+.1e", what, sum-1)
		}
	}
	alike := func(what string, values func(y, sign float64) []float64) {
		a, b := values(1, 1), values(-1, -1)
		for k := range b { // an odd derivative changes its sign
			if k%2 == 1 {
				b[k] = -b[k]
			}
		}
		if two && !c.traits.Asymmetric && !slices.Equal(a, b) {
			t.Errorf("%s: %v, mirrored %v", what, a, b)
		}
	}
	for _, f := range both(latents) {
		if c.smooth != nil {
			alike(fmt.Sprintf("Derivs(1, %v)", f), func(y, sign float64) []float64 {
				logp, d1, d2, d3 := c.smooth.Derivs(y, sign*f)
				return []float64{logp, d1, d2, d3}
			})
			log := func(y float64) float64 { l, _, _, _ := c.smooth.Derivs(y, f); return l }
			sums(fmt.Sprintf("f = %v", f), log, 1e-15)
		}
		alike(fmt.Sprintf("LogProb(1, %v)", f),
			func(y, sign float64) []float64 { return []float64{c.m.LogProb(y, sign*f)} })
		for _, y := range c.ys {
			want, _ := c.m.Moments(y, f, 0)
			if got := c.m.LogProb(y, f); !(math.Abs(got-want) <= 2e-15*math.Abs(want)+2e-18) {
				t.Errorf("LogProb(%v, %v) = %v, want %v", y, f, got, want)
			}
		}
		for _, variance := range append(c.variances[:len(c.variances):len(c.variances)], 0) {
			what := fmt.Sprintf("mean %v, variance %v", f, variance)
			alike(what, func(y, sign float64) []float64 {
				a, d := c.m.Moments(y, sign*f, variance)
				return append([]float64{a}, d[:]...)
			})
			sums(what, func(y float64) float64 { l, _ := c.m.Moments(y, f, variance); return l },
				1e-14+2*c.traits.AverageError)
		}
	}
}

// averages holds Moments to an adaptive integrator.
func (c *check) averages(t *testing.T) {
	worst := [3]float64{}
	ys := c.ys
	if !c.traits.Asymmetric {
		ys = ys[:1] // the other label is the mirror image
	}
	c.each(5, ys, func(y, mean, variance float64) {
		want := tilted(c.m, y, mean, variance)
		logZ, d := c.m.Moments(y, mean, variance)
		sd, ratio := math.Sqrt(want.variance), 1+variance*d[1]
		errors := [3]float64{
			math.Abs(logZ - want.logZ),
			math.Abs(mean+variance*d[0]-want.mean) / sd,
			math.Abs(variance*ratio/want.variance - 1),
		}
		// 1e-11, and: half-ulp errors of log Z; of mean and variance·d[0], whose sum the tilted
		// mean is; of variance·d[1], which is added to 1; and of the integrand's exponent in the
		// integrator.
		noise := 1e-11 + 8*epsilon*want.exponent
		own := 4*epsilon + c.traits.AverageError
		for k, tolerance := range [3]float64{
			noise + 4*epsilon*math.Abs(logZ) + c.traits.AverageError*max(1, math.Abs(logZ)),
			noise + own*(math.Abs(mean)+variance*math.Abs(d[0]))/sd,
			noise + 2*own/ratio,
		} {
			if !(errors[k] <= tolerance) {
				what := [...]string{"log Z", "the tilted mean in standard deviations",
					"the tilted variance in its own units"}[k]
				t.Errorf("y = %v, mean %v, variance %v: %s is off by %.1e", y, mean, variance, what, errors[k])
			}
			worst[k] = max(worst[k], errors[k]/tolerance)
		}
	})
	t.Logf("worst share of the tolerance: log Z %.2f, mean %.2f, variance %.2f", worst[0], worst[1], worst[2])
}

// tiltedMoments are log Z, the mean and the variance of the tilted density. exponent is the size of
// the numbers that cancel in the integrand's exponent.
type tiltedMoments struct{ logZ, mean, variance, exponent float64 }

// density is p(y|f) N(f; mean, variance), up to a factor. p(y|f) is Moments at variance 0 and may
// jump at f = 0; on either side of 0 the density must have one mode.
type density struct {
	logp           func(f float64) float64
	mean, variance float64
	origin         float64 // its mode
	atOrigin       float64 // log p there
	modes          [2]float64
	lo, hi         float64 // 60 standard deviations beyond the mean and 0
}

func newDensity(m likelihood.MomentMatcher, y, mean, variance float64) *density {
	s := math.Sqrt(variance)
	d := &density{
		logp: func(f float64) float64 { l, _ := m.Moments(y, f, 0); return l },
		mean: mean, variance: variance, origin: mean, lo: min(0, mean) - 60*s, hi: max(0, mean) + 60*s,
	}
	// golden section search
	for k, side := range [2][2]float64{{d.lo, math.Copysign(0, -1)}, {0, d.hi}} {
		lo, hi := side[0], side[1]
		for range 100 {
			a, b := lo+0.382*(hi-lo), hi-0.382*(hi-lo)
			if a == lo || b == hi {
				break
			}
			if d.log(a) < d.log(b) {
				lo = a
			} else {
				hi = b
			}
		}
		d.modes[k] = (lo + hi) / 2
		if k == 0 || d.log(d.modes[k]) > d.log(d.origin) {
			d.origin = d.modes[k]
		}
	}
	d.atOrigin = d.logp(d.origin)
	return d
}

func (d *density) log(f float64) float64 { return d.logp(f) - (f-d.mean)*(f-d.mean)/(2*d.variance) }

// relative is log(f) - log(origin), its Gaussian part without cancellation.
func (d *density) relative(f float64) float64 {
	return d.logp(f) - d.atOrigin - (f-d.origin)*((f-d.mean)+(d.origin-d.mean))/(2*d.variance)
}

// edge returns the point between a mode and a limit where the density is e^-60 of its maximum. It
// returns limit if the density is larger there.
func (d *density) edge(mode, limit float64) float64 {
	inside, outside := 0.0, limit-mode
	if d.relative(limit) > -60 {
		return limit
	}
	for range 200 {
		mid := (inside + outside) / 2
		if mid == inside || mid == outside {
			break
		}
		if d.relative(mode+mid) > -60 {
			inside = mid
		} else {
			outside = mid
		}
	}
	return mode + outside
}

// pieces are the windows around the modes, cut at 0 and at the mode, and the width of the widest.
// What p(y|f) does near 0 may be a millionth of a window's width: each is graded towards its end
// nearer to 0.
func (d *density) pieces() (graded [][2]float64, scale float64) {
	for i, mode := range d.modes {
		if d.relative(mode) < -60 {
			continue
		}
		limits := [2][2]float64{{d.lo, 0}, {0, d.hi}}[i]
		for _, p := range [2][2]float64{{d.edge(mode, limits[0]), mode}, {mode, d.edge(mode, limits[1])}} {
			near, far := p[0], p[1]
			if math.Abs(far) < math.Abs(near) {
				near, far = far, near
			}
			scale = max(scale, math.Abs(far-near))
			for range 20 {
				middle := near + (far-near)/2
				graded = append(graded, [2]float64{min(middle, far), max(middle, far)})
				far = middle
			}
			graded = append(graded, [2]float64{min(near, far), max(near, far)})
		}
	}
	return graded, scale
}

// tilted integrates the density adaptively: Gauss-Legendre, bisected until the halves agree with
// the whole.
func tilted(m likelihood.MomentMatcher, y, mean, variance float64) tiltedMoments {
	d := newDensity(m, y, mean, variance)
	graded, scale := d.pieces()
	rule := func(lo, hi float64) (sum [3]float64) {
		if hi <= lo {
			return sum
		}
		var x, w [16]float64
		quad.Legendre{}.FixedLocations(x[:], w[:], lo, hi)
		for i := range x {
			u := (x[i] - d.origin) / scale
			e := w[i] / scale * math.Exp(d.relative(x[i]))
			sum[0] += e
			sum[1] += e * u
			sum[2] += e * u * u
		}
		return sum
	}
	exponent := math.Abs(d.log(d.origin))
	agreement := 1e-15 + epsilon*exponent/4 // the integrand's own rounding
	mass := 0.0
	for _, p := range graded {
		mass += rule(p[0], p[1])[0]
	}
	var total [3]float64
	var refine func(lo, hi float64, whole [3]float64, depth int)
	refine = func(lo, hi float64, whole [3]float64, depth int) {
		mid := lo + (hi-lo)/2
		a, b := rule(lo, mid), rule(mid, hi)
		agree := true
		for k := range whole {
			agree = agree && math.Abs(a[k]+b[k]-whole[k]) <= agreement*mass
		}
		if agree || depth == 30 {
			for k := range total {
				total[k] += a[k] + b[k]
			}
			return
		}
		refine(lo, mid, a, depth+1)
		refine(mid, hi, b, depth+1)
	}
	for _, p := range graded {
		refine(p[0], p[1], rule(p[0], p[1]), 0)
	}
	u := total[1] / total[0]
	return tiltedMoments{
		logZ:     d.log(d.origin) + math.Log(total[0]*scale/math.Sqrt(2*math.Pi*variance)),
		mean:     d.origin + scale*u,
		variance: scale * scale * (total[2]/total[0] - u*u),
		exponent: exponent,
	}
}

// moments: every derivative is the slope of the one before, and the slope of log Z in the variance
// is ½(d[1] + d[0]²), as for any smoothing by a Gaussian. The steps follow the scale s on which log
// Z varies; each bound is the rounding of the values and of mean + h, divided by the step.
func (c *check) moments(t *testing.T) {
	concave := c.concave()
	c.each(3, c.ys, func(y, mean, variance float64) {
		logZ, d := c.m.Moments(y, mean, variance)
		at := fmt.Sprintf("y = %v, mean %v, variance %v", y, mean, variance)
		if ratio := 1 + variance*d[1]; logZ > -1e13 && !(ratio > 0) || concave && !(d[1] <= 0) {
			t.Errorf("%s: d[1] = %v, 1 + variance·d[1] = %v", at, d[1], ratio)
		}
		s := c.scale(variance)
		by := func(h float64) [4]float64 {
			return slopes(func(x float64) [4]float64 {
				logZ, d := c.m.Moments(y, x, variance)
				return [4]float64{logZ, d[0], d[1], d[2]}
			}, mean, h)
		}
		const step = 3e-3
		rounding := 16*epsilon + c.traits.AverageError
		first := by(step * s)
		for k, v := range [2]struct{ unit, value float64 }{
			{s, max(1, math.Abs(logZ)) + math.Abs(mean*d[0])},
			{s * s, max(1, math.Abs(d[0])*s) + math.Abs(mean*d[1])*s},
		} {
			if want := first[k]; !(math.Abs(d[k]-want)*v.unit <= 1e-9+rounding*v.value/step) {
				t.Errorf("%s: d[%d] = %v, difference %v", at, k, d[k], want)
			}
		}
		if k := step * min(variance, s); variance > 0.01 {
			got := (d[1] + d[0]*d[0]) / 2
			want := slope(func(x float64) float64 { l, _ := c.m.Moments(y, mean, x); return l }, variance, k)
			if !(math.Abs(got-want) <= 1e-8*max(d[0]*d[0], 1/s)+rounding*max(1, math.Abs(logZ))/k) {
				t.Errorf("%s: ½(d[1] + d[0]²) = %v, difference %v", at, got, want)
			}
		}
		// What the online method adds the others to; and the rounding of d[1] and of mean + h,
		// divided by the step.
		const shorter = 1e-3
		noise := 1e-9 + rounding*(1+math.Abs(mean)/s)/shorter
		third := by(shorter * s)
		want2, want3 := third[2], third[3]
		if !(math.Abs(d[2]-want2) <= noise*(1/(s*s*s)+math.Abs(d[0]*d[1]))) {
			t.Errorf("%s: d[2] = %v, difference %v", at, d[2], want2)
		}
		if !(math.Abs(d[3]-want3) <= noise*(1/(s*s*s*s)+d[1]*d[1]+math.Abs(d[0]*want2))) {
			t.Errorf("%s: d[3] = %v, difference %v", at, d[3], want3)
		}
	})
}

// parameters holds DMoments and DExpected to differences in theta.
func (c *check) parameters(t *testing.T) {
	if _, ok := c.m.(likelihood.Parametric); !ok {
		t.Skip("needs parameters (likelihood.Parametric); it runs for the rows of likelihood.Table that have them")
	}
	got := [3][]float64{make([]float64, len(c.theta)), make([]float64, len(c.theta)), make([]float64, len(c.theta))}
	compare := func(what string, value func(m likelihood.MomentMatcher) [4]float64) {
		at := value(c.m)
		for j := range c.theta {
			by := slopes(func(u float64) [4]float64 {
				moved := slices.Clone(c.theta)
				moved[j] = u
				return value(c.lik.At(moved).(likelihood.MomentMatcher))
			}, c.theta[j], 3e-3)
			for k, name := range [3]string{"value", "first derivative", "second derivative"} {
				size := max(1, math.Abs(at[k]), math.Abs(by[k]))
				if !(math.Abs(got[k][j]-by[k]) <= (1e-9+1e3*c.traits.AverageError)*size) {
					t.Errorf("%s: by theta[%d] the %s changes by %v, differences give %v", what, j, name, got[k][j],
						by[k])
				}
			}
		}
	}
	for _, y := range c.ys {
		for _, mean := range both([]float64{0, 0.1, 1, 5, 40}) {
			for _, variance := range []float64{0, 1e-4, 0.3, 1, 20, 1e5} {
				if variance == 0 && c.smooth == nil {
					continue
				}
				c.m.(likelihood.Parametric).DMoments(got[0], got[1], got[2], y, mean, variance)
				compare(fmt.Sprintf("DMoments(%v, %v, %v)", y, mean, variance),
					func(m likelihood.MomentMatcher) [4]float64 {
						logZ, d := m.Moments(y, mean, variance)
						return [4]float64{logZ, d[0], d[1]}
					})
			}
			if m, ok := c.m.(likelihood.LogConcave); ok {
				m.DExpected(got[0], got[1], got[2], y, mean, 3)
				compare(fmt.Sprintf("DExpected(%v, %v, 3)", y, mean), func(m likelihood.MomentMatcher) [4]float64 {
					e, d := m.(likelihood.LogConcave).Expected(y, mean, 3)
					return [4]float64{e, d[0], d[1]}
				})
			}
		}
	}
}

// expected holds averages of log p to much narrower panels, and further derivatives to differences.
func (c *check) expected(t *testing.T) {
	m, ok := c.m.(likelihood.LogConcave)
	if !ok {
		t.Skip("needs likelihood.LogConcave; it runs for the rows of likelihood.Table that are")
	}
	c.each(5, c.ys, func(y, mean, variance float64) {
		at := fmt.Sprintf("y = %v, mean %v, variance %v", y, mean, variance)
		e, d := m.Expected(y, mean, variance)
		s := math.Sqrt(variance)
		want := refined(func(x float64) [4]float64 {
			logp, d1, d2, d3 := m.Derivs(y, mean+s*x)
			w := math.Exp(-x*x/2) / math.Sqrt(2*math.Pi)
			return [4]float64{w * logp, w * d1, w * d2, w * d3}
		}, -mean/s, 1/s)
		// f is rounded to a double. The relative rounding error ε makes an error of ε|f d1| in log
		// p, and of ε|f| times the next derivative in each derivative.
		reach := math.Abs(mean) + s
		own := c.traits.AverageError
		for k, v := range [4]struct{ got, uncertain float64 }{
			{e, reach * math.Abs(d[0])}, {d[0], reach * math.Abs(d[1])},
			{d[1], reach * math.Abs(d[2])}, {d[2], reach * math.Abs(d[3])},
		} {
			tolerance := (1e-13+own)*math.Abs(want[k]) + 16*epsilon*v.uncertain + 1e-16 + own
			if !(math.Abs(v.got-want[k]) <= tolerance) {
				t.Errorf("%s: derivative %d is %v, want %v", at, k, v.got, want[k])
			}
		}
		h := 3e-3 * (1 + s)
		fourth := slope(func(x float64) float64 { _, d := m.Expected(y, x, variance); return d[2] }, mean, h)
		tolerance := 1e-9/((1+s)*(1+s)) + (16*epsilon+own)*(1+math.Abs(mean)/s+math.Abs(d[2])/s)
		if !(math.Abs(d[3]-fourth) <= tolerance) {
			t.Errorf("%s: fourth derivative %v, differences give %v", at, d[3], fourth)
		}
	})
	// ∂e/∂variance = ½ ∂²e/∂mean²
	for _, mean := range both(means[:9]) {
		for _, variance := range []float64{0.3, 3, 100, 1e5} {
			h := 2e-3 * min(variance, 1+math.Sqrt(variance))
			e, d := m.Expected(c.ys[0], mean, variance)
			want := slope(func(v float64) float64 { e, _ := m.Expected(c.ys[0], mean, v); return e }, variance, h)
			if !(math.Abs(d[1]/2-want) <= 1e-8*math.Abs(want)+16*epsilon*(math.Abs(e)+1e-3)/h) {
				t.Errorf("mean %v, variance %v: half the second derivative is %v, differences give %v",
					mean, variance, d[1]/2, want)
			}
		}
	}
}

// noise: it adds to the variance of f, and y is the sum or its sign.
func (c *check) noise(t *testing.T) {
	noisy, ok := c.m.(likelihood.GaussianNoise)
	if !ok {
		t.Skip("needs Gaussian noise (likelihood.GaussianNoise); it runs for the rows of likelihood.Table that have it")
	}
	for _, y := range c.ys {
		for _, mean := range both([]float64{0, 0.1, 1, 5}) {
			for _, variance := range []float64{0.1, 1, 40} {
				total := noisy.NoiseVariance() + variance
				want := math.Log(math.Erfc(-y*mean/math.Sqrt(2*total)) / 2)
				if c.lik.Domain() == likelihood.Numeric {
					want = -((y-mean)*(y-mean)/total + math.Log(2*math.Pi*total)) / 2
				}
				if got, _ := noisy.Moments(y, mean, variance); !(math.Abs(got-want) <= 1e-12*max(1, math.Abs(want))) {
					t.Errorf("y = %v, mean %v, variance %v: log Z = %v, want %v", y, mean, variance, got, want)
				}
			}
		}
	}
}

// smallVariances: Moments approach what Derivs returns.
func (c *check) smallVariances(t *testing.T) {
	if c.smooth == nil {
		t.Skip("needs likelihood.Differentiable; it runs for the rows of likelihood.Table that are")
	}
	for _, y := range c.ys {
		for _, f := range both(latents) {
			logp, d1, d2, _ := c.smooth.Derivs(y, f)
			for _, variance := range []float64{0, 1e-300, 1e-30, 1e-18} {
				logZ, d := c.m.Moments(y, f, variance)
				for _, v := range [][2]float64{{logZ, logp}, {d[0], d1}, {d[1], d2}} {
					if !(math.Abs(v[0]-v[1]) <= 1e-14*math.Abs(v[1])+c.traits.AverageError*max(1, math.Abs(v[1]))) {
						t.Errorf("y = %v, mean %v, variance %v: Moments = %v, %v; Derivs = %v, %v, %v",
							y, f, variance, logZ, d, logp, d1, d2)
						break
					}
				}
			}
		}
	}
}

// total: everything is finite far beyond where it is used.
func (c *check) total(t *testing.T) {
	for _, mean := range both(extremes) {
		for _, variance := range extremes {
			if c.traits.AverageError == 0 || math.Abs(mean) <= 1e6 && variance <= 1e12 {
				Total(t, c.m, mean, variance)
			}
		}
	}
}

// Total checks that a likelihood of one latent value gives finite results at one point, for targets
// ±1, and where EP can go, proper tilted variances; fuzz tests call it. Variances from 0 to 1e-300
// are taken as 0.
func Total(t *testing.T, m likelihood.MomentMatcher, mean, variance float64) {
	t.Helper()
	// the curvature of a step is of the order of 1/variance
	if variance = math.Abs(variance); variance < 1e-300 {
		variance = 0
	}
	if !finite(mean, variance) {
		return
	}
	concave, _ := m.(likelihood.LogConcave)
	for _, y := range []float64{1, -1} {
		if d, ok := m.(likelihood.Differentiable); ok {
			if logp, d1, d2, d3 := d.Derivs(y, mean); !finite(logp, d1, d2, d3) {
				t.Errorf("Derivs(%v, %v) = %v, %v, %v, %v", y, mean, logp, d1, d2, d3)
			}
		}
		if concave != nil && variance > 0 {
			if e, d := concave.Expected(y, mean, variance); !finite(e, d[0], d[1], d[2], d[3]) || d[1] > 0 {
				t.Errorf("Expected(%v, %v, %v) = %v, %v", y, mean, variance, e, d)
			}
		}
		logZ, d := m.Moments(y, mean, variance)
		if !finite(logZ, d[0], d[1]) || concave != nil && d[1] > 0 {
			t.Errorf("Moments(%v, %v, %v) = %v, %v", y, mean, variance, logZ, d)
		}
		inReach := math.Abs(mean) <= 1e6 && variance <= 1e12 && logZ > -1e13
		if ratio := 1 + variance*d[1]; inReach && !(ratio > 0) {
			t.Errorf("Moments(%v, %v, %v): 1 + variance·d[1] = %v", y, mean, variance, ratio)
		}
	}
}

func finite(values ...float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// refined integrates over |x| ≤ 12 by Gauss-Legendre panels that end at every half and, around a
// centre, at every power of 2 times a scale.
func refined(f func(float64) [4]float64, centre, scale float64) (total [4]float64) {
	ends := []float64{centre}
	for k := -2; k < 60; k++ {
		ends = append(ends, centre+math.Ldexp(scale, k), centre-math.Ldexp(scale, k))
	}
	for j := -24; j <= 24; j++ {
		ends = append(ends, float64(j)/2)
	}
	slices.Sort(ends)
	var x, w [20]float64
	quad.Legendre{}.FixedLocations(x[:], w[:], 0, 1)
	for i, end := range ends[1:] {
		from, to := max(ends[i], -12), min(end, 12)
		for j := range x {
			if from < to {
				for k, v := range f(from + (to-from)*x[j]) {
					total[k] += (to - from) * w[j] * v
				}
			}
		}
	}
	return total
}
