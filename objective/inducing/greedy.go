package inducing

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Greedy chooses one case after the other: the one with the largest variance given the cases
// already chosen, k(x, x) - k(x, Z) K_zz⁻¹ k(Z, x), and the first among equals. It stops after m
// cases, or when the largest variance is rounding error. This is a Cholesky factorisation of K(X,
// X) with diagonal pivoting. Only the m columns of the pivots are computed: O(n m²) time, n m
// numbers. The kernel's noise is left out, because inducing inputs cannot explain it. Of cases
// with equal inputs only one is chosen: the others have no variance left. S. Fine and K.
// Scheinberg, Efficient SVM training using low-rank kernel representations, JMLR 2, 2001; as a
// choice of inducing inputs: D. R. Burt, C. E. Rasmussen and M. van der Wilk, Convergence of sparse
// variational inference in Gaussian processes regression, JMLR 21, 2020, section 4.
type Greedy struct{}

// Select implements Method. The seed has no effect.
func (Greedy) Select(ctx context.Context, k kernel.Kernel, theta []float64, x *kernel.Inputs, m int,
	_ uint64) (Choice, error) {
	g := newPivoted(k, theta, x, m)
	pivot, largest := g.pivot()
	if !(largest > 0) || math.IsInf(largest, 0) {
		return Choice{}, fmt.Errorf("the kernel gives no case a variance that is finite and more than 0; "+
			"the largest is %v", largest)
	}
	for variance := largest; len(g.cases) < g.m && variance > g.rounding(largest); pivot, variance = g.pivot() {
		if err := ctx.Err(); err != nil {
			return Choice{}, err
		}
		g.eliminate(pivot, variance)
	}
	why := fmt.Sprintf("there are %d cases", x.N())
	if len(g.cases) < g.m {
		why = "they explain the prior variance of every case up to rounding"
	}
	return chosen(x, g.cases, m, why), nil
}

// pivoted is a partial factorisation K = LLᵀ.
type pivoted struct {
	k     kernel.Kernel
	theta []float64
	m     int // largest number of steps
	parts []*kernel.Inputs
	// Lᵀ for each part, with a row for each step
	factors []blas64.General
	left    []float64 // variance of each case given the chosen cases
	cases   []int     // chosen
}

func newPivoted(k kernel.Kernel, theta []float64, x *kernel.Inputs, m int) *pivoted {
	n := x.N()
	g := &pivoted{k: k, theta: theta, m: min(m, n), left: variances(k, theta, x)}
	for i0 := 0; i0 < n; i0 += partSize {
		part := rows(x, i0, min(n, i0+partSize))
		g.parts, g.factors = append(g.parts, part), append(g.factors, linalg.NewGeneral(g.m, part.N()))
	}
	return g
}

// variances returns k(x, x) of all cases without noise. Noise is on the diagonal of K(X, X) only,
// so the variances are taken from the diagonals of small matrices K(X, Z) with Z = X.
func variances(k kernel.Kernel, theta []float64, x *kernel.Inputs) []float64 {
	const few = 16
	v := make([]float64, x.N())
	inParts(len(v), few, func(_, i0, i1 int) {
		square := mat.NewDense(i1-i0, i1-i0, nil)
		of := rows(x, i0, i1)
		kernel.Cross(k, square, theta, of, of)
		for i := i0; i < i1; i++ {
			v[i] = square.At(i-i0, i-i0)
		}
	})
	return v
}

// pivot returns the case with the most variance left, the first among equals.
func (g *pivoted) pivot() (at int, variance float64) {
	for i, v := range g.left {
		if v > g.left[at] {
			at = i
		}
	}
	return at, g.left[at]
}

// rounding bounds the rounding error of a residual variance that is exactly 0. With pivoting no
// element of L exceeds the root of the largest variance. So each of t steps adds an error of at
// most a few units in the last place of the largest variance. The kernel's rounding errors are
// allowed ten more steps.
func (g *pivoted) rounding(largest float64) float64 {
	const epsilon = 0x1p-52
	return 4 * float64(len(g.cases)+10) * epsilon * largest
}

// eliminate takes a case as the next pivot: it computes a column of L and the variances that are
// left.
func (g *pivoted) eliminate(pivot int, variance float64) {
	step, root := len(g.cases), math.Sqrt(variance)
	before := make([]float64, step) // the pivot's row of L
	own := g.factors[pivot/partSize]
	for s := range before {
		before[s] = own.Data[s*own.Stride+pivot%partSize]
	}
	x := g.parts[pivot/partSize]
	inParts(len(g.left), partSize, func(part, i0, i1 int) {
		of := g.factors[part]
		column := of.Data[step*of.Stride : step*of.Stride+of.Cols]
		// Each part has its own Inputs for the pivot, because Inputs keep their last distances.
		alone := rows(x, pivot%partSize, pivot%partSize+1)
		kernel.Cross(g.k, mat.NewDense(1, of.Cols, column), g.theta, alone, g.parts[part])
		if of.Rows = step; step > 0 {
			linalg.Gemv(blas.Trans, -1, of, before, 1, column)
		}
		for j, v := range column {
			column[j] = v / root
			g.left[i0+j] -= column[j] * column[j]
		}
	})
	g.left[pivot] = 0
	g.cases = append(g.cases, pivot)
}
