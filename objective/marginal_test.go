package objective

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The expected values come from the same formulas in array form, numpy 1.24.2, for 3 chains of 25 samples each.
func TestMarginals(t *testing.T) {
	for _, c := range []struct {
		name string
		x    func(chain, s float64) float64
		want Marginal
	}{
		{"one chain drifts", func(c, s float64) float64 { return math.Sin(0.3*s*s/7+c) + 0.05*c*s }, Marginal{0.727765565329, 0.910458540605, 1.31667410192, 8.52514344019}},
		{"waves", func(c, s float64) float64 { return math.Sin(0.9*s + c) }, Marginal{0.0428079892091, 0.710581650113, 0.965341974815, 32.1559626126}},
		{"anticorrelated", func(c, s float64) float64 { return math.Pow(-1, s) + 0.01*s*(c+1) }, Marginal{0.28, 1.02284711283, 0.974031136684, 133.727939743}},
		{"apart", func(c, s float64) float64 { return math.Cos(0.05*s + 2*c) }, Marginal{-0.0448482944465, 0.697314659365, 5.86363038416, 3.29174441566}},
	} {
		chains := make([][][]float64, 3)
		for j := range chains {
			for s := range 25 {
				chains[j] = append(chains[j], []float64{7, c.x(float64(j), float64(s))})
			}
		}
		got := Marginals(chains)
		near(t, c.name, []float64{got[1].Mean, got[1].SD, got[1].RHat, got[1].ESS}, []float64{c.want.Mean, c.want.SD, c.want.RHat, c.want.ESS}, 1e-9)
		if g := got[0]; g.Mean != 7 || g.SD != 0 || !math.IsNaN(g.RHat) || !math.IsNaN(g.ESS) {
			t.Errorf("of a constant: %+v", g)
		}
	}
}

// A stationary autoregression x_s = φ x_{s-1} + √(1-φ²) e_s has N (1-φ)/(1+φ) effective samples. The relative error
// of the estimate is about √(τ log n/n), less than a tenth here.
func TestEffectiveSamplesOfAnAutoregression(t *testing.T) {
	const m, n = 4, 20000
	rng := rand.New(rand.NewPCG(1, 1))
	for _, phi := range []float64{0, 0.5, 0.9, -0.5} {
		chains := make([][][]float64, m)
		for j := range chains {
			x := rng.NormFloat64()
			for range n {
				x = phi*x + math.Sqrt(1-phi*phi)*rng.NormFloat64()
				chains[j] = append(chains[j], []float64{x})
			}
		}
		got := Marginals(chains)[0]
		if want := m * n * (1 - phi) / (1 + phi); !(math.Abs(got.ESS/want-1) < 0.1) {
			t.Errorf("φ = %v: %v effective samples, want about %v", phi, got.ESS, want)
		}
		if !(math.Abs(got.RHat-1) < 0.01) {
			t.Errorf("φ = %v: R-hat %v", phi, got.RHat)
		}
	}
}
