package likelihood_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/likelihood/likelihoodtest"
	"github.com/gpc-tune/gpc-tune/internal/testing/bigmath"
)

// cellBits covers the cancellation in Φ and between Φ(a) and Φ(b), and leaves 500 bits for narrow intervals.
func cellBits(a, b float64) uint {
	bits := uint(0)
	for _, z := range []float64{a, b} {
		if math.Abs(z) < 40 { // beyond, a continued fraction is used
			bits = max(bits, bigmath.NormBits(z))
		}
	}
	nearer := min(math.Abs(a), math.Abs(b))
	return 500 + bits + uint(nearer*nearer)
}

// normalDensity is Φ with the density N, N′ and N″ at x.
func normalDensity(x *big.Float) (cdf *big.Float, density [3]*big.Float) {
	num := func(v float64) *big.Float { return bigmath.New(v, x.Prec()) }
	cdf = bigmath.Exp(bigmath.LogNormCDF(num(0).Neg(num(0).Abs(x))))
	if x.Sign() > 0 {
		cdf.Sub(num(1), cdf)
	}
	square := num(0).Mul(x, x)
	n := bigmath.Exp(num(0).Quo(square, num(-2)))
	n.Quo(n, num(0).Sqrt(num(0).Mul(bigmath.Pi(x.Prec()), num(2))))
	return cdf, [3]*big.Float{n, num(0).Neg(num(0).Mul(x, n)), num(0).Mul(num(0).Sub(square, num(1)), n)}
}

// logisticDensity is σ with w = σ(1 - σ), w′ = w(1 - 2σ) and w″ = w(1 - 2σ)² - 2w² at x.
func logisticDensity(x *big.Float) (cdf *big.Float, density [3]*big.Float) {
	num := func(v float64) *big.Float { return bigmath.New(v, x.Prec()) }
	e := bigmath.Exp(num(0).Neg(x))
	s := num(0).Quo(num(1), e.Add(e, num(1)))
	w := num(0).Mul(s, num(0).Sub(num(1), s))
	slope := num(0).Sub(num(1), num(0).Mul(s, num(2)))
	first := num(0).Mul(w, slope)
	second := num(0).Mul(first, slope)
	return s, [3]*big.Float{w, first, second.Sub(second, num(0).Mul(w, num(0).Mul(w, num(2))))}
}

// cellReference is log P, P = F(b) - F(a) at a = lower - f, b = a + gap, with its first three derivatives by f.
func cellReference(lower, gap, f float64, link func(x *big.Float) (*big.Float, [3]*big.Float)) [4]*big.Float {
	bits := cellBits(lower-f, lower-f+gap)
	num := func(x float64) *big.Float { return bigmath.New(x, bits) }
	a := num(0).Sub(num(lower), num(f))
	cdfA, na := link(a)
	cdfB, nb := link(num(0).Add(a, num(gap)))
	p := num(0).Sub(cdfB, cdfA)
	var m [3]*big.Float // the derivatives of P by f over P
	for k := range m {
		if m[k] = num(0).Sub(na[k], nb[k]); k == 1 {
			m[k].Neg(m[k])
		}
		m[k].Quo(m[k], p)
	}
	square := num(0).Mul(m[0], m[0])
	d3 := num(0).Mul(m[0], m[1])
	d3.Mul(d3, num(-3)).Add(d3, m[2]).Add(d3, num(0).Mul(num(2), num(0).Mul(square, m[0])))
	exponent := p.MantExp(p) // P may be below the range of float64
	logP := num(0).Mul(bigmath.Log(num(2)), num(float64(exponent)))
	return [4]*big.Float{logP.Add(logP, bigmath.Log(p)), m[0], num(0).Sub(m[1], square), d3}
}

// TestOrdinalCells compares log p and its derivatives between two cut points with extended precision: in both tails,
// and for narrow and wide intervals. The rounding of b and of a, of half a unit each, is multiplied by the next
// derivative.
func TestOrdinalCells(t *testing.T) {
	const lower = 0.25
	for link, reference := range map[likelihood.Link]func(x *big.Float) (*big.Float, [3]*big.Float){
		likelihood.ProbitLink: normalDensity, likelihood.LogitLink: logisticDensity,
	} {
		worst := 0.0
		for _, gap := range []float64{1e-12, 1e-6, 0.7, 2.9, 3.1, 20, 80} {
			lik := likelihood.Ordinal{Link: link}.On(3).At([]float64{lower, math.Log(gap)}).(likelihood.Differentiable)
			for _, f := range both([]float64{0.25, 0.3, 2.2, 8, 40}) {
				logp, d1, d2, d3 := lik.Derivs(1, f)
				want := cellReference(lower, math.Exp(math.Log(gap)), f, reference)
				slope, _ := want[1].Float64()
				size := [4]float64{1e-300 + math.Abs(logp) + math.Abs(f*slope), math.Abs(slope) + math.Abs(f), 1, 1}
				for k, got := range []float64{logp, d1, d2, d3} {
					off, _ := new(big.Float).Sub(big.NewFloat(got), want[k]).Float64()
					worst = max(worst, math.Abs(off)/(4*epsilon*size[k]))
					if !(math.Abs(off) <= 4*epsilon*size[k]) {
						t.Errorf("link %d, gap %v, f = %v: derivative %d is %v, off by %.1e", link, gap, f, k, got, off)
					}
				}
			}
		}
		t.Logf("link %d: worst share of the tolerance %.2f", link, worst)
	}
}

// TestOrdinalLogit runs the conformance kit, which knows probit from the table.
func TestOrdinalLogit(t *testing.T) {
	likelihoodtest.Check(t, likelihood.Ordinal{Link: likelihood.LogitLink}, likelihoodtest.Traits{AverageError: 1e-11})
}

// TestOrdinalOfTwoClasses: with the cut point at 0 they are probit and logit, bit for bit.
func TestOrdinalOfTwoClasses(t *testing.T) {
	for link, two := range map[likelihood.Link]likelihood.LogConcave{
		likelihood.ProbitLink: likelihood.Probit{}, likelihood.LogitLink: likelihood.Logit{},
	} {
		lik := likelihood.Ordinal{Link: link}.On(2).At([]float64{0}).(likelihood.LogConcave)
		for _, y := range []float64{-1, 1} {
			for _, mean := range both(latents) {
				for _, variance := range []float64{1e-6, 1, 30, 1e6} {
					logZ, d := lik.Moments(y, mean, variance)
					wantZ, want := two.Moments(y, mean, variance)
					a, a1, a2, a3 := lik.Derivs(y, mean)
					b, b1, b2, b3 := two.Derivs(y, mean)
					if logZ != wantZ || d != want || a != b || a1 != b1 || a2 != b2 || math.Abs(a3-b3) > 1e-15 {
						t.Errorf("link %d, y = %v, mean %v, variance %v: %v, %v, want %v, %v", link, y, mean, variance,
							logZ, d, wantZ, want)
					}
					e, _ := lik.Expected(y, mean, variance)
					if want, _ := two.Expected(y, mean, variance); !(math.Abs(e-want) <= 1e-13*math.Abs(want)+1e-16) {
						t.Errorf("link %d, y = %v, mean %v, variance %v: E log p = %v, want %v", link, y, mean, variance,
							e, want)
					}
				}
			}
		}
	}
}

// TestOrdinalParameters compares the derivatives by the cut points with differences, at ordinary and extreme gaps, and
// the sum of the classes' probabilities with 1.
func TestOrdinalParameters(t *testing.T) {
	for link := range []string{"probit", "logit"} {
		for _, theta := range [][]float64{
			{0}, {-1, 0.3}, {-2, 0.1, 0.8, -0.4}, {0.5, math.Log(1e-6), 1}, {-30, math.Log(60), math.Log(0.01)},
			{-0.5, -5, -5, -5}, {3, 4, 4},
		} {
			lik := likelihood.Ordinal{Link: likelihood.Link(link)}.On(len(theta) + 1)
			m := lik.At(theta).(likelihood.LogConcave)
			byQuadrature := 0.0
			if link == 1 {
				byQuadrature = 1e-11
			}
			for _, mean := range []float64{0, -0.4, 2, -7, 30} {
				for _, variance := range []float64{0, 1e-3, 1, 50} {
					sum := 0.0
					for _, y := range likelihood.Labels(len(theta) + 1) {
						logZ, _ := m.Moments(y, mean, variance)
						sum += math.Exp(logZ)
						checkParameters(t, lik, theta, y, mean, variance, byQuadrature)
					}
					if !(math.Abs(sum-1) <= 1e-14+byQuadrature) {
						t.Errorf("link %d, %v, mean %v, variance %v: probabilities sum to 1%+.1e", link, theta, mean, variance,
							sum-1)
					}
				}
			}
		}
	}
}

func checkParameters(t *testing.T, lik likelihood.Likelihood, theta []float64, y, mean, variance, own float64) {
	t.Helper()
	n := len(theta)
	got := [3][]float64{make([]float64, n), make([]float64, n), make([]float64, n)}
	for name, f := range map[string]struct {
		value func(m likelihood.LogConcave) [3]float64
		by    func(m likelihood.LogConcave)
	}{
		"log Z": {
			func(m likelihood.LogConcave) [3]float64 {
				logZ, d := m.Moments(y, mean, variance)
				return [3]float64{logZ, d[0], d[1]}
			},
			func(m likelihood.LogConcave) {
				m.(likelihood.Parametric).DMoments(got[0], got[1], got[2], y, mean, variance)
			},
		},
		"E log p": {
			func(m likelihood.LogConcave) [3]float64 {
				e, d := m.Expected(y, mean, variance+0.1)
				return [3]float64{e, d[0], d[1]}
			},
			func(m likelihood.LogConcave) { m.DExpected(got[0], got[1], got[2], y, mean, variance+0.1) },
		},
	} {
		f.by(lik.At(theta).(likelihood.LogConcave))
		at := f.value(lik.At(theta).(likelihood.LogConcave))
		for j := range theta {
			step := 1e-3
			if j > 0 {
				step /= max(1, math.Exp(theta[j])) // the gap moves by this times itself
			}
			moved := slices.Clone(theta)
			value := func(by float64) [3]float64 {
				moved[j] = theta[j] + by
				return f.value(lik.At(moved).(likelihood.LogConcave))
			}
			near, far, before, long := value(step), value(2*step), value(-step), value(-2*step)
			for k := range got {
				want := (8*(near[k]-before[k]) - (far[k] - long[k])) / (12 * step)
				size := max(1, math.Abs(at[k]), math.Abs(want))
				if !(math.Abs(got[k][j]-want) <= (1e-9+1e3*own)*size) {
					t.Errorf("%s at %v, y = %v, mean %v, variance %v: derivative %d changes with theta[%d] by %v, "+
						"differences give %v", name, theta, y, mean, variance, k, j, got[k][j], want)
				}
			}
		}
	}
}
