package likelihood_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// Every entry of the table goes through these tests, at its parameters' initial values and one unit of theta to either
// side; what is asked depends on its domain and on what it can do.

const epsilon = 0x1p-52

func each(t *testing.T, f func(t *testing.T, bound likelihood.Bound, ys []float64)) {
	for _, e := range likelihood.Table {
		lik, err := e.New(nil)
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		for _, shift := range []float64{0, -1, 1} {
			if shift != 0 && len(lik.Params()) == 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s%+v", e.Name, shift), func(t *testing.T) { f(t, bind(lik, shift), sampleTargets[lik.Domain()]) })
		}
	}
}

var sampleTargets = map[likelihood.Domain][]float64{likelihood.Binary: {1, -1}, likelihood.Numeric: {0.7, -2}}

func bind(lik likelihood.Likelihood, shift float64) likelihood.Bound {
	return lik.At(initial(lik, shift))
}

// initial is the parameters' initial theta, moved.
func initial(lik likelihood.Likelihood, shift float64) []float64 {
	var theta []float64
	for _, p := range lik.Params() {
		theta = append(theta, p.Map.Theta(p.Init)+shift)
	}
	return theta
}

var latents = []float64{0, 1e-9, 0.01, 0.3, 0.7, 1, 1.3, 1.9, 2.1, 3, 5, 8, 13, 21, 36, 40, 100, 710, 1e4}

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

func TestTableNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range likelihood.Table {
		if seen[e.Name] {
			t.Errorf("%s appears twice", e.Name)
		}
		seen[e.Name] = true
	}
}

func TestDerivsAreDerivatives(t *testing.T) {
	each(t, func(t *testing.T, bound likelihood.Bound, ys []float64) {
		d, ok := bound.(likelihood.Differentiable)
		if !ok {
			return
		}
		for _, y := range ys {
			for _, f := range both(latents) {
				logp, d1, d2, d3 := d.Derivs(y, f)
				scale := max(1, math.Abs(logp))
				// The difference's own error: rounding ε|value|/h, against which h⁴ is small.
				const h = 3e-3
				value := func(k int) func(float64) float64 {
					return func(x float64) float64 {
						a, b, c, _ := d.Derivs(y, x)
						return [...]float64{a, b, c}[k]
					}
				}
				for k, got := range []float64{d1, d2, d3} {
					if want := slope(value(k), f, h); !(math.Abs(got-want) <= 1e-10+8*epsilon*scale/h) {
						t.Errorf("y = %v, f = %v: d%d = %v, want %v", y, f, k+1, got, want)
					}
				}
			}
		}
	})
}

func TestLabelsAreTreatedAlikeAndSumToOne(t *testing.T) {
	each(t, func(t *testing.T, bound likelihood.Bound, _ []float64) {
		if bound.Likelihood().Domain() != likelihood.Binary {
			return
		}
		for _, f := range both(latents) {
			if d, ok := bound.(likelihood.Differentiable); ok {
				a, a1, a2, a3 := d.Derivs(1, f)
				b, b1, b2, b3 := d.Derivs(-1, -f)
				if a != b || a1 != -b1 || a2 != b2 || a3 != -b3 {
					t.Errorf("Derivs(1, %v) = %v, %v, %v, %v; Derivs(-1, %v) = %v, %v, %v, %v", f, a, a1, a2, a3, -f, b, b1, b2, b3)
				}
				other, _, _, _ := d.Derivs(-1, f)
				if sum := math.Exp(a) + math.Exp(other); !(math.Abs(sum-1) <= 1e-15) {
					t.Errorf("f = %v: probabilities sum to 1%+.1e", f, sum-1)
				}
			}
			m, ok := bound.(likelihood.MomentMatcher)
			if !ok {
				continue
			}
			if l, ok := bound.(likelihood.LogProber); ok {
				want, _, _ := m.LogZ(1, f, 0)
				if a, b := l.LogProb(1, f), l.LogProb(-1, -f); a != b || !(math.Abs(a-want) <= 2e-15*math.Abs(want)+2e-18) {
					t.Errorf("LogProb(1, %v) = %v, mirrored %v, want %v", f, a, b, want)
				}
			}
			for _, variance := range append(variances, 0) {
				a, a1, a2 := m.LogZ(1, f, variance)
				b, b1, b2 := m.LogZ(-1, -f, variance)
				if a != b || a1 != -b1 || a2 != b2 {
					t.Errorf("LogZ(1, %v, %v) = %v, %v, %v; mirrored %v, %v, %v", f, variance, a, a1, a2, b, b1, b2)
				}
				other, _, _ := m.LogZ(-1, f, variance)
				if sum := math.Exp(a) + math.Exp(other); !(math.Abs(sum-1) <= 1e-14) {
					t.Errorf("mean %v, variance %v: probabilities sum to 1%+.1e", f, variance, sum-1)
				}
			}
		}
	})
}

var (
	means     = []float64{0, 1e-3, 0.1, 0.5, 1, 1.7, 3, 6, 10, 17, 30, 50, 100, 300, 1e3, 3e3, 1e4}
	variances = []float64{1e-10, 1e-6, 1e-3, 0.05, 0.3, 1, 2, 3.1, 3.2, 5, 10, 30, 100, 1e3, 1e4, 1e5, 1e6, 1e8, 1e10, 1e12}
)

func TestLogZAgainstAnAdaptiveIntegrator(t *testing.T) {
	each(t, func(t *testing.T, bound likelihood.Bound, ys []float64) {
		m, ok := bound.(likelihood.MomentMatcher)
		if !ok {
			return
		}
		worst := [3]float64{}
		for _, y := range ys[:1] { // the other label is the mirror image
			for _, mean := range both(means) {
				for _, variance := range variances {
					want := tilted(m, y, mean, variance)
					logZ, d1, d2 := m.LogZ(y, mean, variance)
					sd, ratio := math.Sqrt(want.variance), 1+variance*d2
					errors := [3]float64{
						math.Abs(logZ - want.logZ),
						math.Abs(mean+variance*d1-want.mean) / sd,
						math.Abs(variance*ratio/want.variance - 1),
					}
					// 1e-11, and: half-ulp errors of log Z; of mean and variance·dMean, whose sum the tilted mean is; of
					// variance·d2Mean, which is added to 1; and of the integrand's exponent in the integrator.
					noise := 1e-11 + 8*epsilon*want.exponent
					for k, tolerance := range [3]float64{
						noise + 4*epsilon*math.Abs(logZ),
						noise + 4*epsilon*(math.Abs(mean)+variance*math.Abs(d1))/sd,
						noise + 8*epsilon/ratio,
					} {
						if !(errors[k] <= tolerance) {
							t.Errorf("y = %v, mean %v, variance %v: %s is off by %.1e", y, mean, variance,
								[...]string{"log Z", "the tilted mean, in its standard deviations,", "the tilted variance, in its own units,"}[k], errors[k])
						}
						worst[k] = max(worst[k], errors[k]/tolerance)
					}
				}
			}
		}
		t.Logf("worst share of the tolerance: log Z %.2f, mean %.2f, variance %.2f", worst[0], worst[1], worst[2])
	})
}

// moments of the tilted density. exponent is the size of the numbers that cancel in the integrand's exponent.
type moments struct{ logZ, mean, variance, exponent float64 }

// tilted integrates p(y|f) N(f; mean, variance) adaptively. p(y|f) is LogZ at variance 0 and may jump at f = 0; on
// either side of 0 the tilted density must have one mode.
func tilted(m likelihood.MomentMatcher, y, mean, variance float64) moments {
	s := math.Sqrt(variance)
	logp := func(f float64) float64 { l, _, _ := m.LogZ(y, f, 0); return l }
	density := func(f float64) float64 { return logp(f) - (f-mean)*(f-mean)/(2*variance) }

	// The mode on either side of 0, by golden section within 60 standard deviations of the mean and of 0.
	lowest, highest := min(0, mean)-60*s, max(0, mean)+60*s
	var modes []float64
	origin := mean
	for _, side := range [][2]float64{{lowest, math.Copysign(0, -1)}, {0, highest}} {
		lo, hi := side[0], side[1]
		for range 200 {
			a, b := lo+0.382*(hi-lo), hi-0.382*(hi-lo)
			if density(a) < density(b) {
				lo = a
			} else {
				hi = b
			}
		}
		mode := (lo + hi) / 2
		modes = append(modes, mode)
		if len(modes) == 1 || density(mode) > density(origin) {
			origin = mode
		}
	}
	atOrigin := logp(origin)
	relative := func(f float64) float64 { // density(f) - density(origin), its Gaussian part without cancellation
		return logp(f) - atOrigin - (f-origin)*((f-mean)+(origin-mean))/(2*variance)
	}

	// The window around each mode where the density is above e^-60 of its maximum, cut at 0 and at the mode.
	var pieces [][2]float64
	for i, mode := range modes {
		if relative(mode) < -60 {
			continue
		}
		edge := func(sign, limit float64) float64 {
			inside, outside := 0.0, sign*(limit-mode)
			if relative(limit) > -60 {
				return limit
			}
			for range 200 {
				if mid := (inside + outside) / 2; relative(mode+sign*mid) > -60 {
					inside = mid
				} else {
					outside = mid
				}
			}
			return mode + sign*outside
		}
		lo, hi := lowest, highest
		if i == 0 {
			hi = 0
		} else {
			lo = 0
		}
		pieces = append(pieces, [2]float64{edge(-1, lo), mode}, [2]float64{mode, edge(1, hi)})
	}

	// What p(y|f) does near 0 may be a millionth of a window's width: grade each piece towards its end nearer to 0.
	var graded [][2]float64
	scale := 0.0
	for _, p := range pieces {
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

	// Gauss-Legendre, bisected until the halves agree with the whole.
	const n = 16
	rule := func(lo, hi float64) (sum [3]float64) {
		if hi <= lo {
			return sum
		}
		var x, w [n]float64
		quad.Legendre{}.FixedLocations(x[:], w[:], lo, hi)
		for i := range x {
			u := (x[i] - origin) / scale
			e := w[i] / scale * math.Exp(relative(x[i]))
			sum[0] += e
			sum[1] += e * u
			sum[2] += e * u * u
		}
		return sum
	}
	exponent := math.Abs(density(origin))
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
	return moments{
		logZ:     density(origin) + math.Log(total[0]*scale/math.Sqrt(2*math.Pi*variance)),
		mean:     origin + scale*u,
		variance: scale * scale * (total[2]/total[0] - u*u),
		exponent: exponent,
	}
}

func TestLogZIsConsistent(t *testing.T) {
	each(t, func(t *testing.T, bound likelihood.Bound, ys []float64) {
		m, ok := bound.(likelihood.MomentMatcher)
		if !ok {
			return
		}
		_, differentiable := bound.(likelihood.Differentiable)
		concave := isLogConcave(bound, ys)
		for _, y := range ys {
			for _, mean := range both(means) {
				for _, variance := range variances {
					logZ, d1, d2 := m.LogZ(y, mean, variance)
					ratio := 1 + variance*d2
					if logZ > -1e13 && !(ratio > 0) || concave && !(d2 <= 0) {
						t.Errorf("y = %v, mean %v, variance %v: d2Mean = %v, 1 + variance·d2Mean = %v", y, mean, variance, d2, ratio)
					}
					// d1 and d2 are slopes in the mean; the slope in the variance is ½(d2 + d1²), as for any smoothing by a
					// Gaussian. The steps follow the scale s on which log Z varies (no less than 1 where log p(y|f) is
					// smooth); each bound is the rounding of the values and of mean + h, divided by the step.
					s := math.Sqrt(variance)
					if differentiable {
						s = math.Sqrt(1 + variance)
					}
					const step = 3e-3
					for _, c := range []struct {
						what                   string
						got, want, unit, value float64
					}{
						{"dMean", d1, slope(func(x float64) float64 { l, _, _ := m.LogZ(y, x, variance); return l }, mean, step*s),
							s, max(1, math.Abs(logZ)) + math.Abs(mean*d1)},
						{"d2Mean", d2, slope(func(x float64) float64 { _, l, _ := m.LogZ(y, x, variance); return l }, mean, step*s),
							s * s, max(1, math.Abs(d1)*s) + math.Abs(mean*d2)*s},
					} {
						if !(math.Abs(c.got-c.want)*c.unit <= 1e-9+16*epsilon*c.value/step) {
							t.Errorf("y = %v, mean %v, variance %v: %s = %v, difference %v", y, mean, variance, c.what, c.got, c.want)
						}
					}
					if k := step * min(variance, s); variance > 0.01 {
						got := (d2 + d1*d1) / 2
						want := slope(func(x float64) float64 { l, _, _ := m.LogZ(y, mean, x); return l }, variance, k)
						if !(math.Abs(got-want) <= 1e-8*max(d1*d1, 1/s)+16*epsilon*max(1, math.Abs(logZ))/k) {
							t.Errorf("y = %v, mean %v, variance %v: ½(d2 + d1²) = %v, difference %v", y, mean, variance, got, want)
						}
					}
				}
			}
		}
	})
}

// isLogConcave says whether log p(y|f) was found concave in f wherever it was looked at.
func isLogConcave(bound likelihood.Bound, ys []float64) bool {
	d, ok := bound.(likelihood.Differentiable)
	if !ok {
		return false
	}
	for _, y := range ys {
		for _, f := range both(latents) {
			if _, _, d2, _ := d.Derivs(y, f); d2 > 0 {
				return false
			}
		}
	}
	return true
}

// TestParameterDerivatives holds ParamDerivs and DLogZ to differences in theta.
func TestParameterDerivatives(t *testing.T) {
	const h = 3e-3
	for _, e := range likelihood.Table {
		lik, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		theta := initial(lik, 0.5)
		got := [3][]float64{make([]float64, len(theta)), make([]float64, len(theta)), make([]float64, len(theta))}
		check := func(what string, value func(likelihood.Bound) [3]float64) {
			for j := range theta {
				for k, name := range [3]string{"value", "first derivative", "second derivative"} {
					want := slope(func(u float64) float64 {
						moved := slices.Clone(theta)
						moved[j] = u
						return value(lik.At(moved))[k]
					}, theta[j], h)
					if size := value(lik.At(theta))[k]; !(math.Abs(got[k][j]-want) <= 1e-9*max(1, math.Abs(size), math.Abs(want))) {
						t.Errorf("%s, %s: by theta[%d] the %s changes by %v, differences give %v", e.Name, what, j, name, got[k][j], want)
					}
				}
			}
		}
		for _, y := range sampleTargets[lik.Domain()] {
			for _, mean := range both([]float64{0, 0.1, 1, 5, 40}) {
				if d, ok := lik.At(theta).(likelihood.DifferentiableParams); ok {
					d.ParamDerivs(got[0], got[1], got[2], y, mean)
					check(fmt.Sprintf("ParamDerivs(%v, %v)", y, mean), func(b likelihood.Bound) [3]float64 {
						logp, d1, d2, _ := b.(likelihood.Differentiable).Derivs(y, mean)
						return [3]float64{logp, d1, d2}
					})
				}
				if m, ok := lik.At(theta).(likelihood.ExpectedParams); ok {
					m.DExpected(got[0], got[1], got[2], y, mean, 3)
					check(fmt.Sprintf("DExpected(%v, %v, 3)", y, mean), func(b likelihood.Bound) [3]float64 {
						e, d := b.(likelihood.ExpectedLog).Expected(y, mean, 3)
						return [3]float64{e, d[0], d[1]}
					})
				}
				if m, ok := lik.At(theta).(likelihood.MomentParams); ok {
					for _, variance := range []float64{1e-4, 0.3, 1, 20, 1e5} {
						m.DLogZ(got[0], got[1], got[2], y, mean, variance)
						check(fmt.Sprintf("DLogZ(%v, %v, %v)", y, mean, variance), func(b likelihood.Bound) [3]float64 {
							logZ, d1, d2 := b.(likelihood.MomentMatcher).LogZ(y, mean, variance)
							return [3]float64{logZ, d1, d2}
						})
					}
				}
			}
		}
	}
}

// TestHigherMoments: the third and fourth derivatives are slopes of the second and third.
func TestHigherMoments(t *testing.T) {
	each(t, func(t *testing.T, bound likelihood.Bound, ys []float64) {
		m, ok := bound.(likelihood.HigherMoments)
		if !ok {
			return
		}
		for _, y := range ys {
			for _, mean := range both(means) {
				for _, variance := range variances {
					s := math.Sqrt(variance)
					if _, ok := bound.(likelihood.Differentiable); ok {
						s = math.Sqrt(1 + variance)
					}
					_, d1, d2 := m.LogZ(y, mean, variance)
					d3, d4 := m.HigherLogZ(y, mean, variance)
					const step = 1e-3
					h := step * s
					want3 := slope(func(x float64) float64 { _, _, d := m.LogZ(y, x, variance); return d }, mean, h)
					want4 := slope(func(x float64) float64 { d, _ := m.HigherLogZ(y, x, variance); return d }, mean, h)
					// What the online method adds them to; and the rounding of d2 and of mean + h, divided by the step.
					noise := 1e-9 + 16*epsilon*(1+math.Abs(mean)/s)/step
					if !(math.Abs(d3-want3) <= noise*(1/(s*s*s)+math.Abs(d1*d2))) {
						t.Errorf("y = %v, mean %v, variance %v: third derivative %v, difference %v", y, mean, variance, d3, want3)
					}
					if !(math.Abs(d4-want4) <= noise*(1/(s*s*s*s)+d2*d2+math.Abs(d1*want3))) {
						t.Errorf("y = %v, mean %v, variance %v: fourth derivative %v, difference %v", y, mean, variance, d4, want4)
					}
				}
			}
		}
	})
}

// TestExpected holds averages of log p to much narrower panels, and further derivatives to differences.
func TestExpected(t *testing.T) {
	each(t, func(t *testing.T, bound likelihood.Bound, ys []float64) {
		m, ok := bound.(likelihood.ExpectedLog)
		if !ok {
			return
		}
		p := bound.(likelihood.Differentiable)
		for _, y := range ys {
			for _, mean := range both(means) {
				for _, variance := range variances {
					e, d := m.Expected(y, mean, variance)
					s := math.Sqrt(variance)
					want := refined(func(x float64) [4]float64 {
						logp, d1, d2, d3 := p.Derivs(y, mean+s*x)
						w := math.Exp(-x*x/2) / math.Sqrt(2*math.Pi)
						return [4]float64{w * logp, w * d1, w * d2, w * d3}
					}, -mean/s, 1/s)
					// f is a double, so that log p is uncertain by |f d1|, and likewise its derivatives.
					reach := math.Abs(mean) + s
					for k, c := range [4]struct{ got, uncertain float64 }{
						{e, reach * math.Abs(d[0])}, {d[0], reach * math.Abs(d[1])}, {d[1], reach * math.Abs(d[2])}, {d[2], reach * math.Abs(d[3])},
					} {
						if tolerance := 1e-13*math.Abs(want[k]) + 16*epsilon*c.uncertain + 1e-16; !(math.Abs(c.got-want[k]) <= tolerance) {
							t.Errorf("y = %v, mean %v, variance %v: derivative %d is %v, want %v", y, mean, variance, k, c.got, want[k])
						}
					}
					h := 3e-3 * (1 + s)
					fourth := slope(func(x float64) float64 { _, d := m.Expected(y, x, variance); return d[2] }, mean, h)
					if tolerance := 1e-9/((1+s)*(1+s)) + 16*epsilon*(1+math.Abs(mean)/s+math.Abs(d[2])/s); !(math.Abs(d[3]-fourth) <= tolerance) {
						t.Errorf("y = %v, mean %v, variance %v: fourth derivative %v, differences give %v", y, mean, variance, d[3], fourth)
					}
				}
			}
		}
		// ∂e/∂variance = ½ ∂²e/∂mean²
		for _, mean := range both(means[:9]) {
			for _, variance := range []float64{0.3, 3, 100, 1e5} {
				h := 2e-3 * min(variance, 1+math.Sqrt(variance))
				e, d := m.Expected(ys[0], mean, variance)
				want := slope(func(v float64) float64 { e, _ := m.Expected(ys[0], mean, v); return e }, variance, h)
				if !(math.Abs(d[1]/2-want) <= 1e-8*math.Abs(want)+16*epsilon*(math.Abs(e)+1e-3)/h) {
					t.Errorf("mean %v, variance %v: half the second derivative is %v, differences give %v", mean, variance, d[1]/2, want)
				}
			}
		}
	})
}

// refined integrates over |x| ≤ 12 by Gauss-Legendre panels that end at every half and, around a centre, at every power of
// 2 times a scale.
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

// TestGaussianNoise: the noise adds to the variance of f, and y is the sum or its sign.
func TestGaussianNoise(t *testing.T) {
	each(t, func(t *testing.T, bound likelihood.Bound, ys []float64) {
		noisy, ok := bound.(likelihood.GaussianNoise)
		if !ok {
			return
		}
		for _, y := range ys {
			for _, mean := range both([]float64{0, 0.1, 1, 5}) {
				for _, variance := range []float64{0.1, 1, 40} {
					total := noisy.NoiseVariance() + variance
					want := math.Log(math.Erfc(-y*mean/math.Sqrt(2*total)) / 2)
					if bound.Likelihood().Domain() == likelihood.Numeric {
						want = -((y-mean)*(y-mean)/total + math.Log(2*math.Pi*total)) / 2
					}
					if got, _, _ := noisy.LogZ(y, mean, variance); !(math.Abs(got-want) <= 1e-12*max(1, math.Abs(want))) {
						t.Errorf("y = %v, mean %v, variance %v: log Z = %v, want %v", y, mean, variance, got, want)
					}
				}
			}
		}
	})
}

func TestSmallVarianceApproachesTheLikelihood(t *testing.T) {
	each(t, func(t *testing.T, bound likelihood.Bound, ys []float64) {
		m, ok := bound.(likelihood.MomentMatcher)
		d, differentiable := bound.(likelihood.Differentiable)
		if !ok || !differentiable {
			return
		}
		for _, y := range ys {
			for _, f := range both(latents) {
				logp, p1, p2, _ := d.Derivs(y, f)
				for _, variance := range []float64{0, 1e-300, 1e-30, 1e-18} {
					logZ, d1, d2 := m.LogZ(y, f, variance)
					for _, c := range [][2]float64{{logZ, logp}, {d1, p1}, {d2, p2}} {
						if !(math.Abs(c[0]-c[1]) <= 1e-14*math.Abs(c[1])) {
							t.Errorf("y = %v, mean %v, variance %v: LogZ = %v, %v, %v; Derivs = %v, %v, %v", y, f, variance, logZ, d1, d2, logp, p1, p2)
							break
						}
					}
				}
			}
		}
	})
}

func finite(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// FuzzLikelihood holds every likelihood to being total and, where EP can go, to proper tilted variances.
func FuzzLikelihood(f *testing.F) {
	extremes := []float64{0, 1e-320, 1e-160, 1e-8, 1, math.Pi, 745, 1e8, 1e154, 1e155, 1e300, math.MaxFloat64}
	for _, a := range both(extremes) {
		for _, v := range extremes {
			f.Add(a, v)
		}
	}
	f.Fuzz(func(t *testing.T, mean, variance float64) {
		if variance = math.Abs(variance); variance < 1e-300 { // the curvature of a step goes with 1/variance
			variance = 0
		}
		if !finite(mean, variance) {
			return
		}
		each(t, func(t *testing.T, bound likelihood.Bound, ys []float64) {
			concave := isLogConcave(bound, ys)
			for _, y := range ys {
				if d, ok := bound.(likelihood.Differentiable); ok {
					if logp, d1, d2, d3 := d.Derivs(y, mean); !finite(logp, d1, d2, d3) {
						t.Errorf("Derivs(%v, %v) = %v, %v, %v, %v", y, mean, logp, d1, d2, d3)
					}
				}
				if m, ok := bound.(likelihood.ExpectedLog); ok && variance > 0 {
					if e, d := m.Expected(y, mean, variance); !finite(e, d[0], d[1], d[2], d[3]) || d[1] > 0 {
						t.Errorf("Expected(%v, %v, %v) = %v, %v", y, mean, variance, e, d)
					}
				}
				if m, ok := bound.(likelihood.MomentMatcher); ok {
					logZ, d1, d2 := m.LogZ(y, mean, variance)
					if !finite(logZ, d1, d2) || concave && d2 > 0 {
						t.Errorf("LogZ(%v, %v, %v) = %v, %v, %v", y, mean, variance, logZ, d1, d2)
					}
					if ratio := 1 + variance*d2; math.Abs(mean) <= 1e6 && variance <= 1e12 && logZ > -1e13 && !(ratio > 0) {
						t.Errorf("LogZ(%v, %v, %v): 1 + variance·d2Mean = %v", y, mean, variance, ratio)
					}
				}
			}
		})
	})
}

func BenchmarkDerivs(b *testing.B) {
	for _, e := range likelihood.Table {
		lik, _ := e.New(nil)
		d, ok := bind(lik, 0).(likelihood.Differentiable)
		if !ok {
			continue
		}
		for _, f := range []float64{-3, 1} {
			b.Run(fmt.Sprintf("%s/f=%v", e.Name, f), func(b *testing.B) {
				for b.Loop() {
					d.Derivs(1, f)
				}
			})
		}
	}
}

func BenchmarkLogZ(b *testing.B) {
	for _, e := range likelihood.Table {
		lik, _ := e.New(nil)
		m, ok := bind(lik, 0).(likelihood.MomentMatcher)
		if !ok {
			continue
		}
		for _, c := range [][2]float64{{1, 0.5}, {-3, 1}, {2, 30}, {-20, 100}, {100, 1e6}} {
			b.Run(fmt.Sprintf("%s/mean=%v/variance=%v", e.Name, c[0], c[1]), func(b *testing.B) {
				for b.Loop() {
					m.LogZ(1, c[0], c[1])
				}
			})
		}
	}
}

func BenchmarkExpected(b *testing.B) {
	for _, e := range likelihood.Table {
		lik, _ := e.New(nil)
		m, ok := bind(lik, 0).(likelihood.ExpectedLog)
		if !ok {
			continue
		}
		for _, c := range [][2]float64{{1, 0.1}, {1, 1}, {-3, 9}, {-20, 100}, {100, 1e8}} {
			b.Run(fmt.Sprintf("%s/mean=%v/variance=%v", e.Name, c[0], c[1]), func(b *testing.B) {
				for b.Loop() {
					m.Expected(1, c[0], c[1])
				}
			})
		}
	}
}
