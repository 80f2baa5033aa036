package comparator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

// TestSMOOnLinearKernels: overlapping classes with inputs of a large scale, so that the costs are large compared with
// 1/K. The optimality conditions are checked from K and β alone.
func TestSMOOnLinearKernels(t *testing.T) {
	const n, dim = 120, 25
	for _, scale := range []float64{1, 10, 100} {
		for _, cost := range []float64{1, 100} {
			t.Run(fmt.Sprint(scale, cost), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, 1))
				x, y, upper := make([][]float64, n), make([]float64, n), make([]float64, n)
				for i := range x {
					sum := 2 * rng.NormFloat64()
					for j := range dim {
						x[i] = append(x[i], scale*rng.NormFloat64())
						sum += x[i][j] / scale * float64(j%3-1)
					}
					y[i], upper[i] = math.Copysign(1, sum), cost
				}
				k := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
				for i := range x {
					for j := range x {
						for q := range dim {
							k.Data[i*n+j] += x[i][q] * x[j][q]
						}
					}
				}
				s, err := smo(t.Context(), k, y, upper, 1e-3, 100_000)
				if err != nil {
					t.Fatal(err)
				}
				sum, size, top, bottom := 0.0, 0.0, math.Inf(-1), math.Inf(1)
				for i, b := range s.beta {
					if alpha := y[i] * b; !(alpha >= 0 && alpha <= cost) {
						t.Errorf("α = %v of cost %v", alpha, cost)
					}
					sum, size = sum+b, size+math.Abs(b)
					v, magnitude := y[i], 1.0
					for j, b := range s.beta {
						v -= k.Data[i*n+j] * b
						magnitude += math.Abs(k.Data[i*n+j] * b)
					}
					rounding := 1e-12 * magnitude // error of v and of updated residuals
					if b < upper[i]*max(y[i], 0) {
						top = max(top, v-rounding)
					}
					if b > upper[i]*min(y[i], 0) {
						bottom = min(bottom, v+rounding)
					}
				}
				if !(math.Abs(sum) <= 1e-9*size) || !(top-bottom <= 1e-3) {
					t.Errorf("Σβ = %v, conditions violated by %v, after %d iterations", sum, top-bottom, s.iterations)
				}
			})
		}
	}
}

// TestSMOAscendsAfterItsRounds: where all steps of two cases are short, because the maximum is a long narrow ridge, the
// step of all cases at the end of the rounds reaches it.
func TestSMOAscendsAfterItsRounds(t *testing.T) {
	const n = 10
	rng := rand.New(rand.NewPCG(1, 1))
	x, y, upper := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i], upper[i] = 0.3*rng.NormFloat64(), float64(2*(i%2)-1), 1e4
	}
	k := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	for i := range x {
		for j := range x {
			k.Data[i*n+j] = math.Exp(-(x[i] - x[j]) * (x[i] - x[j]) / 2)
		}
	}
	for limit, solved := range map[int]bool{1: false, rounds*n - 1: false, rounds * n: true, rounds*n + 1: true} {
		s, err := smo(t.Context(), k, y, upper, 1e-3, limit)
		if err != nil || s.iterations != min(limit, rounds*n) || (s.gap <= 1e-3) != solved || !solved && s.gap < 1 {
			t.Errorf("at most %d iterations: conditions violated by %v after %d, %v", limit, s.gap, s.iterations, err)
		}
	}
}
