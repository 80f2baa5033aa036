package likelihood_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/testing/bigmath"
)

// The closed form in arbitrary precision, also far in both tails: Z = ε + (1-2ε)Φ(z) and d = (1-2ε)N(z)/Z.
func TestNoisyThresholdAgainstArbitraryPrecision(t *testing.T) {
	for _, z := range both([]float64{0, 1e-3, 0.7, 2, 5, 8, 13, 36}) {
		for _, variance := range []float64{1e-12, 1, 1e12} {
			mean := z * math.Sqrt(variance)
			prec := bigmath.NormBits(z)
			num := func(x float64) *big.Float { return bigmath.New(x, prec) }
			s := num(0).Sqrt(num(variance))
			bz := num(0).Quo(num(mean), s)
			phi := bigmath.Exp(bigmath.LogNormCDF(bz))
			density := bigmath.NormHazard(bz)
			density.Mul(density, phi)
			for _, theta := range []float64{-300, -15, -4.6, -1, -1e-3, 0, 0.7, 15} {
				logZ, dMean, d2Mean := matched(likelihood.NoisyThreshold{}.At([]float64{theta}).(likelihood.MomentMatcher), 1, mean, variance)
				epsilon := num(1)
				epsilon.Quo(epsilon, num(0).Add(num(1), bigmath.Exp(num(-theta))))
				slope := num(0).Sub(num(1), num(0).Add(epsilon, epsilon))
				mass := num(0).Add(epsilon, num(0).Mul(slope, phi))
				d := num(0).Mul(density, slope)
				d.Quo(d, mass)
				m := num(0).Add(bz, d)
				d2 := num(0).Mul(d, m)
				d2.Quo(d2, num(-variance))
				cancelled, _ := num(0).Quo(num(0).Mul(d, num(0).Sub(num(0).Add(d, d), m)), num(variance)).Float64() // d(d - z)/s²: what cancels in m

				// A half-ulp error of z changes N(z) by a relative z², and one of θ changes ε by |θ|; 1-2ε cancels
				// for ε near ½.
				tolerance := 2e-15 * (4 + z*z + math.Abs(theta))
				if theta != 0 {
					tolerance /= min(1, math.Abs(theta))
				}
				for _, c := range []struct {
					what string
					got  float64
					want *big.Float
				}{{"log Z", logZ, bigmath.Log(mass)}, {"dMean", dMean, num(0).Quo(d, s)}} {
					if e := bigmath.RelativeError(c.got, c.want); !(e <= tolerance) {
						t.Errorf("θ = %v, mean %v, variance %v: %s = %v, want %v, relative error %.1e", theta, mean, variance, c.what, c.got, c.want.Text('g', 20), e)
					}
				}
				if want, _ := d2.Float64(); !(math.Abs(d2Mean-want) <= tolerance*max(math.Abs(want), math.Abs(cancelled))) {
					t.Errorf("θ = %v, mean %v, variance %v: d2Mean = %v, want %v", theta, mean, variance, d2Mean, want)
				}
			}
		}
	}
}

// At ε = ½ labels carry no information, beyond ½ they are exchanged, and ε is fixed unless it is freed.
func TestNoisyThresholdParameter(t *testing.T) {
	start := 0.2
	spec := likelihood.NoisyThreshold{}.Params()[0]
	if !spec.Fixed || spec.Init != 0.01 || spec.ThetaName() != "logit_epsilon" {
		t.Errorf("default: %+v", spec)
	}
	if spec := (likelihood.NoisyThreshold{Epsilon: param.Setting{Init: &start}}).Params()[0]; spec.Fixed || spec.Init != start {
		t.Errorf("{init: 0.2}: %+v", spec)
	}
	at := func(theta float64) likelihood.MomentMatcher {
		return likelihood.NoisyThreshold{}.At([]float64{theta}).(likelihood.MomentMatcher)
	}
	for _, mean := range both([]float64{0, 0.4, 3, 50}) {
		if logZ, d1, d2 := matched(at(0), 1, mean, 2); logZ != -math.Ln2 || d1 != 0 || d2 != 0 {
			t.Errorf("ε = ½, mean %v: %v, %v, %v", mean, logZ, d1, d2)
		}
		a, a1, a2 := matched(at(-3), 1, mean, 2)
		b, b1, b2 := matched(at(3), -1, mean, 2)
		if a != b || a1 != b1 || a2 != b2 {
			t.Errorf("mean %v: ε for +1 %v, %v, %v; 1-ε for -1 %v, %v, %v", mean, a, a1, a2, b, b1, b2)
		}
		for _, y := range []float64{-1, 1} {
			logp, _ := at(-3).Moments(y, mean, 0)
			want := math.Log(param.Logit.Natural(math.Copysign(3, y*mean)))
			if mean == 0 {
				want = -math.Ln2
			}
			if math.Abs(logp-want) > 1e-15 {
				t.Errorf("log p(%v|%v) = %v, want %v", y, mean, logp, want)
			}
		}
	}
}

// TestNoisyThresholdByEpsilon compares the derivatives with respect to theta with differences, for ε on its whole
// range.
func TestNoisyThresholdByEpsilon(t *testing.T) {
	const h = 3e-3
	logZ, d1, d2 := make([]float64, 1), make([]float64, 1), make([]float64, 1)
	for _, theta := range []float64{-14, -4.6, -1, 0, 0.5, 3} {
		bound := likelihood.NoisyThreshold{}.At([]float64{theta}).(likelihood.Parametric)
		for _, mean := range both([]float64{0, 0.4, 2, 5, 9}) {
			for _, variance := range []float64{0, 1, 30} {
				bound.DMoments(logZ, d1, d2, 1, mean, variance)
				for k, got := range []float64{logZ[0], d1[0], d2[0]} {
					value := func(u float64) float64 {
						a, b, c := matched(likelihood.NoisyThreshold{}.At([]float64{u}).(likelihood.MomentMatcher), 1, mean, variance)
						return [...]float64{a, b, c}[k]
					}
					if want := slope(value, theta, h); !(math.Abs(got-want) <= 1e-9*max(1, math.Abs(value(theta)))) {
						t.Errorf("θ = %v, mean %v, variance %v: derivative %d by θ = %v, differences give %v", theta, mean, variance, k, got, want)
					}
				}
			}
		}
	}
}
