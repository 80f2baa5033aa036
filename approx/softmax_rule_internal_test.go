package approx

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/utility"
)

// TestLargestOnLine compares the averages of three classes, of which one has a negative λ, with the
// trapezoidal rule in two dimensions, from the covariance of the differences.
func TestLargestOnLine(t *testing.T) {
	for _, lambda := range [][]float64{{-0.5, 3, 2}, {9, -1.2, 1.6}, {0.9, 30, -0.8}} {
		mean := []float64{0.3, -0.2, 1.1}
		pi, s := make([]float64, 3), make([]float64, 3)
		value := largest(pi, s, mean, lambda) - utility.Gumbel.Mean
		// f_1 - f_0 and f_2 - f_0
		first := math.Sqrt(lambda[0] + lambda[1])
		across := lambda[0] / first
		second := math.Sqrt(lambda[0] + lambda[2] - across*across)
		var want, total float64
		var wantPi, wantS [3]float64
		const step = 0.05
		for x := -7.0; x <= 7; x += step {
			for y := -7.0; y <= 7; y += step {
				f := []float64{mean[0], mean[1] + first*x, mean[2] + across*x + second*y}
				w, sum := math.Exp(-(x*x+y*y)/2), floats.LogSumExp(f)
				total, want = total+w, want+w*sum
				for c, v := range f {
					p := math.Exp(v - sum)
					wantPi[c] += w * p
					wantS[c] += w * p * (1 - p)
				}
			}
		}
		if math.Abs(value-want/total) > 1e-7 {
			t.Errorf("λ = %v: the average is %.10g, want %.10g", lambda, value, want/total)
		}
		for c := range pi {
			if math.Abs(pi[c]-wantPi[c]/total) > 1e-8 || math.Abs(s[c]-wantS[c]/total) > 1e-8 {
				t.Errorf("λ = %v, class %d: %.10g and %.10g, want %.10g and %.10g", lambda, c, pi[c], s[c],
					wantPi[c]/total, wantS[c]/total)
			}
		}
	}
}

// TestPrecisions: the equations for d hold, whether the largest d is above half of the sum or not.
func TestPrecisions(t *testing.T) {
	for _, want := range [][]float64{{1, 1, 1}, {5, 1, 0.5}, {0.2, 1e-3, 30, 2}, {1e-9, 2, 1, 1}} {
		total, s, d := floats.Sum(want), make([]float64, len(want)), make([]float64, len(want))
		for c, v := range want {
			s[c] = v - v*v/total
		}
		precisions(d, s)
		for c, v := range want {
			if math.Abs(d[c]-v) > 1e-9*v {
				t.Errorf("d is %v, want %v", d, want)
				break
			}
		}
	}
}
