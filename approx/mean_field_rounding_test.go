package approx_test

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// TestMeanFieldsEndAtRounding: if all cases of one class come before all cases of the other,
// partial sums of A b reach half of Σ|A_ij b_j|, and their rounding error exceeds a tolerance of
// 1e-10. Newton's method must still converge, to the log evidence of another order of the cases,
// and the adjoint must agree with differences over ln σ.
func TestMeanFieldsEndAtRounding(t *testing.T) {
	const n, change = 600, 1e-3
	x, y := twoClasses(n, 53)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(y[i], y[j]) })
	sorted, labels := make([][]float64, n), make([]float64, n)
	for i, j := range order {
		sorted[i], labels[i] = x[j], y[j]
	}
	fit := func(m approx.Approximation, x [][]float64, y []float64, length, amplitude float64) (float64, float64) {
		k, _, _ := seGram(x, length, amplitude)
		targets := approx.Targets{Classes: 2, Value: y}
		post, err := m.Fit(context.Background(), []approx.Cov{{K: k}}, targets, likelihood.Probit{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := post.Diagnostics(); !d.Converged || d.Iterations > 20 {
			t.Errorf("%T at ln l = %g, ln σ = %g: %d iterations, %v", m, length, amplitude, d.Iterations, d.Failure)
			return 0, 0
		}
		dst, byAmplitude := approx.Cov{K: mat.NewSymDense(n, nil)}, 0.0
		if err := post.Evidence().Adjoint(&dst, 0); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for j := range n {
				byAmplitude += 2 * k.At(i, j) * dst.K.At(i, j)
			}
		}
		return post.Evidence().Value(), byAmplitude
	}
	for i, amplitude := range []float64{2, 4} {
		for j, length := range []float64{2, 4} {
			for k, m := range []approx.Approximation{approx.NaiveMeanField{}, approx.EnsembleMeanField{}} {
				if !exhaustive.Tries(2, i, j, k) {
					continue
				}
				value, slope := fit(m, sorted, labels, length, amplitude)
				other, _ := fit(m, x, y, length, amplitude)
				above, _ := fit(m, sorted, labels, length, amplitude+change)
				below, _ := fit(m, sorted, labels, length, amplitude-change)
				if off := math.Abs(value - other); !(off <= 1e-9*math.Abs(value)) {
					t.Errorf("%T at ln l = %g, ln σ = %g: %v, and %v in another order", m, length, amplitude, value, other)
				}
				difference := (above - below) / (2 * change)
				if off := math.Abs(slope - difference); !(off <= 1e-5*math.Abs(difference)) {
					t.Errorf("%T at ln l = %g, ln σ = %g: slope %v, differences %v", m, length, amplitude, slope, difference)
				}
			}
		}
	}
}
