package approx

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// TestGMRESIsAsExactAsItSays: for every tolerance, the reported residual is |Ax - b|/|b|, and at
// most the tolerance. At the smallest tolerance the solution agrees with Gaussian elimination.
func TestGMRESIsAsExactAsItSays(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for _, n := range []int{1, 2, 9, 30} {
		a, b := mat.NewDense(n, n, nil), make([]float64, n)
		for i := range n {
			for j := range n {
				a.Set(i, j, rng.NormFloat64()/math.Sqrt(float64(4*n)))
			}
			a.Set(i, i, a.At(i, i)+1.5)
			b[i] = 7 * rng.NormFloat64()
		}
		multiply := func(dst, x []float64) { mat.NewVecDense(n, dst).MulVec(a, mat.NewVecDense(n, x)) }
		var want mat.VecDense
		if err := want.SolveVec(a, mat.NewVecDense(n, b)); err != nil {
			t.Fatal(err)
		}
		for _, tolerance := range []float64{0.5, 1e-2, 1e-5, 1e-13} {
			x, residual := gmres(multiply, b, tolerance)
			left := make([]float64, n)
			multiply(left, x)
			floats.Sub(left, b)
			if is := floats.Norm(left, 2) / floats.Norm(b, 2); math.Abs(residual-is) > 1e-3*is+1e-15 || is > tolerance*1.001+1e-14 {
				t.Errorf("n = %d, tolerance %v: residual %v, said to be %v", n, tolerance, is, residual)
			}
			if tolerance == 1e-13 && !floats.EqualApprox(x, want.RawVector().Data, 1e-10) {
				t.Errorf("n = %d: %v, want %v", n, x, want.RawVector().Data)
			}
		}
	}
}
