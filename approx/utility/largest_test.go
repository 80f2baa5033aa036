package utility_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/utility"
)

// TestLargest compares the average of log Σ exp f and its derivatives, for three independent values, with
// the trapezoidal rule in all three dimensions, whose steps resolve the function; and derivatives by the
// variance with differences, up to variances much larger than the noise's.
func TestLargest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, scale := range []float64{0.01, 0.3, 1, 3} {
		mean, variance := make([]float64, 3), make([]float64, 3)
		for c := range mean {
			mean[c], variance[c] = scale*rng.NormFloat64(), scale*scale*rng.ExpFloat64()
		}
		pi, curvature := make([]float64, 3), make([]float64, 3)
		got := utility.Gumbel.Largest(pi, curvature, mean, variance) - utility.Gumbel.Mean
		step := min(0.5, 0.6/scale)
		var value, total float64
		var wantPi, wantCurvature [3]float64
		var exps [3][]float64 // exp f_c at the nodes
		var weights []float64
		for z := -6.5; z <= 6.5; z += step {
			weights = append(weights, math.Exp(-z*z/2))
			for c := range exps {
				exps[c] = append(exps[c], math.Exp(mean[c]+math.Sqrt(variance[c])*z))
			}
		}
		for i, u := range weights {
			for j, v := range weights {
				for k, w := range weights {
					p := [3]float64{exps[0][i], exps[1][j], exps[2][k]}
					sum := p[0] + p[1] + p[2]
					w *= u * v
					total += w
					value += w * math.Log(sum)
					for c := range p {
						wantPi[c] += w * p[c] / sum
						wantCurvature[c] += w * p[c] / sum * (1 - p[c]/sum)
					}
				}
			}
		}
		near := func(what string, got, want float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-8*max(1, math.Abs(want))) {
				t.Errorf("scale %v: %s is %.12g, want %.12g", scale, what, got, want)
			}
		}
		near("the average", got, value/total)
		for c := range pi {
			near("a probability", pi[c], wantPi[c]/total)
			near("a curvature", curvature[c], wantCurvature[c]/total)
		}
	}
	for _, scale := range []float64{0.1, 2, 30, 1000} {
		mean, variance := []float64{0.5 * scale, 0, -scale, 0.1 * scale}, []float64{scale * scale, 1, 3, 2 * scale * scale}
		scratch, curvature, pi := make([]float64, 4), make([]float64, 4), make([]float64, 4)
		utility.Gumbel.Largest(pi, curvature, mean, variance)
		for c, v := range variance {
			at := func(by float64) float64 {
				moved := append([]float64(nil), variance...)
				moved[c] = v * (1 + by)
				return utility.Gumbel.Largest(scratch, scratch, mean, moved)
			}
			const h = 0.01
			want := (8*(at(h)-at(-h)) - at(2*h) + at(-2*h)) / (12 * h)
			if got := v * curvature[c] / 2; math.Abs(got-want) > 1e-6*max(1, scale) {
				t.Errorf("scale %v: the derivative by the logarithm of variance %d is %.9g, differences %.9g", scale, c, got, want)
			}
		}
	}
}
