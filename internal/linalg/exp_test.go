package linalg

import (
	"math"
	"math/big"
	"testing"
)

// bigExp returns eˣ to about 180 bits: the Taylor series at x/2²⁰, squared twenty times.
func bigExp(x float64) *big.Float {
	const halvings = 20
	newFloat := func(v float64) *big.Float { return new(big.Float).SetPrec(220).SetFloat64(v) }
	r := newFloat(x)
	r.SetMantExp(r, -halvings)
	sum, term := newFloat(1), newFloat(1)
	for d := 1.0; d < 24; d++ {
		term.Mul(term, r)
		term.Quo(term, newFloat(d))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

func TestExp(t *testing.T) {
	onEverySIMD(t, func(t *testing.T) {
		rng := newRand()
		var x []float64
		for i := -7460; i <= 7100; i += 7 {
			x = append(x, float64(i)/10)
		}
		for range 3000 {
			x = append(x, rng.NormFloat64(), -20*rng.Float64(), 1e-3*rng.NormFloat64())
		}
		for n := -1080; n <= 1025; n++ { // arguments where the reduced argument is largest, and where it changes sign
			x = append(x, float64(n)*math.Ln2, (float64(n)+0.5)*math.Ln2)
		}
		for e := -1074; e < 10; e++ {
			x = append(x, math.Ldexp(1, e), -math.Ldexp(1, e))
		}
		got := make([]float64, len(x))
		Exp(got, x)
		worst := 0.0
		for i, v := range x {
			want := bigExp(v)
			w, _ := want.Float64()
			if got[i] == w {
				continue
			}
			if math.IsInf(w, 1) || math.IsInf(got[i], 0) || math.IsNaN(got[i]) {
				t.Errorf("exp(%v) = %v, want %v", v, got[i], w)
				continue
			}
			diff, _ := new(big.Float).Sub(want, big.NewFloat(got[i])).Float64()
			unit := max(w, 0x1p-1022)
			if diff = math.Abs(diff) / unit; diff > 2*eps {
				t.Errorf("exp(%v) = %v, want %v: error %g", v, got[i], w, diff)
			}
			worst = max(worst, diff)
		}
		t.Logf("largest relative error %.3g", worst)
	})
}

func TestExpSpecial(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	special := [][2]float64{
		{0, 1}, {math.Copysign(0, -1), 1}, {inf, inf}, {-inf, 0}, {nan, nan}, {1e300, inf}, {-1e300, 0}, {5e-324, 1},
		{709.7827128933841, inf}, {-745.1332191019411, 5e-324}, {-745.1332191019412, 0}, {-746, 0}, {710, inf},
	}
	onEverySIMD(t, func(t *testing.T) {
		for _, c := range special {
			for n := 1; n < 20; n++ { // the special value is in every lane
				for i := range n {
					x := make([]float64, n+2)
					x[i], x[n] = c[0], unused
					Exp(x[:n], x[:n])
					for j, got := range x[:n] {
						want := 1.0
						if j == i {
							want = c[1]
						}
						if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
							t.Fatalf("exp(%v) at %d of %d = %v, want %v", c[0], j, n, got, want)
						}
					}
					sameBits(t, "beyond the end", x[n:], []float64{unused, 0})
				}
			}
		}
	})
}
