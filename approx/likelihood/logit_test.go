package likelihood_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/testing/bigmath"
)

func TestLogitDerivsAgainstArbitraryPrecision(t *testing.T) {
	const prec = 2400 // 1 + exp(-745) needs 1075 bits
	num := func(x float64) *big.Float { return bigmath.New(x, prec) }
	for _, f := range both([]float64{0, 1e-12, 1e-3, 0.1, 0.5, 1, 2, 5, 17, 36, 38, 40, 100, 400, 700, 708}) {
		e := bigmath.Exp(num(-f))
		sigma := num(0).Add(num(1), e)
		sigma.Quo(num(1), sigma)
		complement := num(0).Mul(sigma, e)
		w := num(0).Mul(sigma, complement)
		d3 := num(0).Sub(sigma, complement)
		logp := bigmath.Log(num(0).Add(num(1), e))
		gotLogp, gotD1, gotD2, gotD3 := likelihood.Logit{}.Derivs(1, f)
		for _, c := range []struct {
			what string
			got  float64
			want *big.Float
		}{
			{"log p", gotLogp, logp.Neg(logp)},
			{"d1", gotD1, complement},
			{"d2", gotD2, num(0).Neg(w)},
			{"d3", gotD3, d3.Mul(d3, w)},
		} {
			if err := bigmath.RelativeError(c.got, c.want); !(err <= 1e-15) {
				t.Errorf("f = %v: %s = %v, want %v, relative error %.1e", f, c.what, c.got, c.want.Text('g', 20), err)
			}
		}
	}
}

// Z(-kv) has a closed form for every variance v: σ(f) = e^f σ(-f) gives Z(a - v) = exp(a - v/2) (1
// - Z(a)), and Z(0) = ½. So the check covers every quadrature rule that computes Z.
func TestLogitEvidenceAtMultiplesOfTheVariance(t *testing.T) {
	for _, v := range []float64{1e-10, 1e-5, 0.1, 1, 3.141, 3.142, 9, 50, 300, 1e3, 1e5, 1e8, 1e12} {
		want := -math.Ln2
		for k := range 40 {
			a := -float64(k) * v
			got, d1, d2 := matched(likelihood.Logit{}, 1, a, v)
			if !(math.Abs(got-want) <= 1e-14+4*epsilon*math.Abs(want)) {
				t.Errorf("mean -%d·%v, variance %v: log Z = %v, want %v", k, v, v, got, want)
			}
			if !(d1 > 0 && d1 <= 1+epsilon && d2 <= 0) {
				t.Errorf("mean -%d·%v, variance %v: d1 = %v, d2 = %v", k, v, v, d1, d2)
			}
			want = a - v/2 + math.Log1p(-math.Exp(want))
		}
	}
}

func TestLogitOfNaNIsNaN(t *testing.T) {
	nan := math.NaN()
	logp, d1, d2, d3 := likelihood.Logit{}.Derivs(1, nan)
	logZ, _ := likelihood.Logit{}.Moments(1, nan, 1)
	wide, _ := likelihood.Logit{}.Moments(1, 1, nan)
	for _, v := range []float64{logp, d1, d2, d3, likelihood.Logit{}.LogProb(1, nan), logZ, wide} {
		if !math.IsNaN(v) {
			t.Errorf("%v, want NaN", v)
		}
	}
}

// TestMomentsOfBothLabels: the moments of both labels equal the results of Moments for each label,
// bit for bit.
func TestMomentsOfBothLabels(t *testing.T) {
	for _, mean := range []float64{-700, -40, -3, -1e-3, 0, 1e-300, 0.2, 5, 60, 1e6} {
		for _, variance := range []float64{0, 1e-9, 0.5, 3, 4, 90, 1e6} {
			logZ, d := likelihood.Logit{}.MomentsOfBoth(mean, variance)
			for k, y := range []float64{-1, 1} {
				log, slopes := likelihood.Logit{}.Moments(y, mean, variance)
				if logZ[k] != log || d[k] != slopes {
					t.Errorf("y = %v, mean %v, variance %v: %v, %v, by itself %v, %v", y, mean, variance, logZ[k], d[k], log, slopes)
				}
			}
		}
	}
}
