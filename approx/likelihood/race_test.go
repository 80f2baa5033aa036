package likelihood

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestGumbelRace compares the sums with panels, whose accuracy is known.
func TestGumbelRace(t *testing.T) {
	panels := gumbelRace
	panels.Smooth = 0
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		y, mean, variance := float64(rng.IntN(3)-1), 6*rng.NormFloat64(), math.Exp(2.5*rng.NormFloat64())
		if e, by := gumbelRace.Expected(y, mean, variance); y >= 0 && variance < 4 {
			want, wantBy := panels.Expected(y, mean, variance)
			if math.Abs(e-want) > 1e-12*(1+math.Abs(want)) || math.Abs(by[3]-wantBy[3]) > 1e-10*(1+math.Abs(by[3])) {
				t.Fatalf("E log p(%v, %v, %v) = %v and %v, want %v and %v", y, mean, variance, e, by, want, wantBy)
			}
		}
		logZ, d := gumbelRace.Moments(y, mean, variance)
		want, wantD := panels.Moments(y, mean, variance)
		if math.Abs(logZ-want) > 1e-12*(1+math.Abs(want)) {
			t.Fatalf("log Z(%v, %v, %v) = %v, want %v", y, mean, variance, logZ, want)
		}
		for k, v := range d[:3] {
			if math.Abs(v-wantD[k]) > 1e-11*(1+math.Abs(v)+math.Abs(d[0]*d[1])+math.Abs(d[0]*d[0]*d[0])) {
				t.Fatalf("derivative %d at (%v, %v, %v) = %v, want %v", k, y, mean, variance, v, wantD[k])
			}
		}
	}
}

// TestRace: the integral of the factors over the threshold is the probability of the class.
func TestRace(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, lik := range []RandomUtility{Softmax{}, MultinomialProbit{}} {
		for range 20 {
			f, pi := make([]float64, 4), make([]float64, 4)
			for c := range f {
				f[c] = 2 * rng.NormFloat64()
			}
			lik.Average(pi, f, mat.NewSymDense(4, nil), 0)
			for y := range f {
				const step = 0.01
				sum := 0.0
				for g := -30.0; g < 50; g += step {
					product := 0.0
					for c, v := range f {
						target := 0.0
						if c == y {
							target = 1
						}
						product += lik.Noise().LogProb(target, g-v)
					}
					sum += step * math.Exp(product)
				}
				if math.Abs(sum-pi[y]) > 2e-6 {
					t.Errorf("%T: class %d of %v has %v, want %v", lik, y, f, pi[y], sum)
				}
			}
		}
	}
}

// TestRaceEvents: the averages of P and of 1 - P have the sum 1, also where 1 - P is small, and
// their derivatives have the sum 0. The derivatives of log(1 - P) agree with differences of its
// values.
func TestRaceEvents(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, lik := range []RandomUtility{Softmax{}, MultinomialProbit{}} {
		noise := lik.Noise()
		for range 300 {
			mean, variance := 4*rng.NormFloat64(), math.Exp(2*rng.NormFloat64())
			var sums [4]float64
			for _, y := range []float64{0, -1} {
				logZ, d := noise.Moments(y, mean, variance)
				z := math.Exp(logZ)
				for k, v := range [4]float64{1, d[0], d[1] + d[0]*d[0], d[2] + 3*d[0]*d[1] + d[0]*d[0]*d[0]} {
					sums[k] += z * v
				}
			}
			for k, want := range [4]float64{1, 0, 0, 0} {
				if math.Abs(sums[k]-want) > 1e-12 {
					t.Errorf("%T at %v, %v: the sum of derivatives %d is %v", lik, mean, variance, k, sums[k])
				}
			}
		}
		for x := -6.0; x < 40; x += 0.37 {
			const h = 1e-3
			logp, d1, d2, d3 := noise.Derivs(-1, x)
			at := func(x float64) (v [3]float64) {
				v[0], v[1], v[2], _ = noise.Derivs(-1, x)
				return v
			}
			left, right, lefter, righter := at(x-h), at(x+h), at(x-2*h), at(x+2*h)
			if want := math.Log(-math.Expm1(noise.LogProb(0, x))); x < 4 && math.Abs(logp-want) > 1e-8*(1+math.Abs(want)) {
				t.Errorf("%T: log(1 - P(%v)) = %v, want %v", lik, x, logp, want)
			}
			for k, v := range []float64{d1, d2, d3} {
				if want := (8*(right[k]-left[k]) - (righter[k] - lefter[k])) / (12 * h); math.Abs(v-want) > 1e-7*(math.Abs(want)+1e-2) {
					t.Errorf("%T: derivative %d of log(1 - P(%v)) is %v, want %v", lik, k+1, x, v, want)
				}
			}
		}
	}
}

// TestMultinomialProbitAverage compares averages over correlated latent values with random numbers.
func TestMultinomialProbitAverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 6 {
		const classes, draws = 4, 400000
		a, mean, pi := mat.NewDense(classes, classes, nil), make([]float64, classes), make([]float64, classes)
		for c := range classes {
			mean[c] = rng.NormFloat64()
			for d := range classes {
				a.Set(c, d, 1.5*rng.NormFloat64())
			}
		}
		var covariance mat.SymDense
		covariance.SymOuterK(1, a)
		if deviation := (MultinomialProbit{}).Average(pi, mean, &covariance, 0); !(deviation < 1e-4) {
			t.Errorf("error estimate %v", deviation)
		}
		counts := make([]float64, classes)
		for range draws {
			var f mat.VecDense
			z := mat.NewVecDense(classes, nil)
			for c := range classes {
				z.SetVec(c, rng.NormFloat64())
			}
			f.MulVec(a, z)
			best, top := 0, math.Inf(-1)
			for c := range classes {
				if v := mean[c] + f.AtVec(c) + rng.NormFloat64(); v > top {
					best, top = c, v
				}
			}
			counts[best]++
		}
		for c, n := range counts {
			if p := n / draws; math.Abs(p-pi[c]) > 5*math.Sqrt(pi[c]*(1-pi[c])/draws)+1e-4 {
				t.Errorf("class %d has %v, want %v", c, pi[c], p)
			}
		}
	}
}
