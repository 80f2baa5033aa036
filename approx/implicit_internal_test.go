package approx

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// TestGMRES solves systems of the kind x - Jx = b, and says when one has no solution.
func TestGMRES(t *testing.T) {
	const n = 60
	rng := rand.New(rand.NewPCG(1, 0))
	j, want := make([][]float64, n), make([]float64, n)
	for i := range j {
		j[i], want[i] = make([]float64, n), rng.NormFloat64()
		for k := range j[i] {
			j[i][k] = rng.NormFloat64() / math.Sqrt(n) * 1.5 // beyond where x ← b + Jx converges
		}
	}
	multiply := func(dst, x []float64) {
		for i := range dst {
			dst[i] = x[i] - floats.Dot(j[i], x)
		}
	}
	b := make([]float64, n)
	multiply(b, want)
	if x, residual := gmres(multiply, b); residual > 1e-12 || !floats.EqualApprox(x, want, 1e-9) {
		t.Errorf("residual %v, error %v", residual, floats.Distance(x, want, 2))
	}
	if x, residual := gmres(multiply, make([]float64, n)); residual != 0 || floats.Norm(x, 2) != 0 {
		t.Errorf("b = 0: x = %v, residual %v", x, residual)
	}
	singular := func(dst, x []float64) { copy(dst, x); dst[0] = 0 }
	if _, residual := gmres(singular, want); !(residual > 1e-3) {
		t.Errorf("no solution: residual %v", residual)
	}
}
