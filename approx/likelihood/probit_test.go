package likelihood_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/testing/bigmath"
)

// The closed form in arbitrary precision, at every amplitude; variance 0 tests Derivs.
func TestProbitAgainstArbitraryPrecision(t *testing.T) {
	for _, mean := range both([]float64{0, 1e-3, 0.7, 2, 2.9, 7, 19, 38, 40, 300, 1e4, 1e6}) {
		for _, variance := range []float64{0, 1e-12, 1e-3, 1, 40, 1e4, 1e8, 1e12} {
			logZ, dMean, d2Mean := matched(likelihood.Probit{}, 1, mean, variance)
			z := mean / math.Sqrt(1+variance)
			if z > 41 { // N(z) is below the smallest positive double
				if logZ != 0 || dMean != 0 || d2Mean != 0 {
					t.Errorf("mean %v, variance %v: LogZ = %v, %v, %v, want 0", mean, variance, logZ, dMean, d2Mean)
				}
				continue
			}
			// log Φ, r/s, -r(z + r)/s² and the ratio of tilted variance and variance
			prec := bigmath.NormBits(z)
			num := func(x float64) *big.Float { return bigmath.New(x, prec) }
			s2 := num(0).Add(num(1), num(variance))
			s := num(0).Sqrt(s2)
			bz := num(0).Quo(num(mean), s)
			r := bigmath.NormHazard(bz)
			d2 := num(0).Add(bz, r)
			d2.Mul(d2, r).Quo(d2, s2).Neg(d2)
			ratio := num(0).Mul(num(variance), d2)
			ratio.Add(ratio, num(1))

			// Two half-ulp errors in z change N(z) by a relative z² where Φ is near 1; where Φ is near 0 they have no
			// such effect. At moderate z < 0 the curvature r(z + r) adds the error of the mean's derivative. 1 +
			// variance·d2Mean keeps the absolute error of d2Mean.
			tolerance := 1e-15 * (4 + max(0, z)*z)
			approximate, _ := ratio.Float64()
			for _, c := range []struct {
				what      string
				got       float64
				want      *big.Float
				tolerance float64
			}{
				{"log Z", logZ, bigmath.LogNormCDF(bz), tolerance},
				{"dMean", dMean, num(0).Quo(r, s), tolerance},
				{"d2Mean", d2Mean, d2, tolerance},
				{"1 + variance·d2Mean", 1 + variance*d2Mean, ratio, 1e-15 / approximate},
			} {
				if e := bigmath.RelativeError(c.got, c.want); !(e <= c.tolerance) {
					t.Errorf("mean %v, variance %v: %s = %v, want %v, relative error %.1e", mean, variance, c.what, c.got, c.want.Text('g', 20), e)
				}
			}
		}
	}
}

// TestProbitIsStepWithNoise: probit is the sign of f plus standard normal noise (GPML exercise 3.10.1).
func TestProbitIsStepWithNoise(t *testing.T) {
	for _, y := range []float64{-1, 1} {
		for _, f := range both(latents) {
			logp, d1, d2, _ := likelihood.Probit{}.Derivs(y, f)
			a, a1, a2 := matched(likelihood.Step{}, y, f, 1)
			if logp != a || d1 != a1 || d2 != a2 {
				t.Errorf("y = %v, f = %v: probit %v, %v, %v, step %v, %v, %v", y, f, logp, d1, d2, a, a1, a2)
			}
			for _, variance := range []float64{1e-3, 1, 30, 1e6} {
				b, b1, b2 := matched(likelihood.Probit{}, y, f, variance)
				c, c1, c2 := matched(likelihood.Step{}, y, f, 1+variance)
				if b != c || b1 != c1 || b2 != c2 {
					t.Errorf("y = %v, N(f; %v, %v): probit %v, %v, %v, step %v, %v, %v", y, f, variance, b, b1, b2, c, c1, c2)
				}
			}
		}
	}
}
