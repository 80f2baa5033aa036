package prior

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestPart: from 150 cases on, every third is a part, with its own covariance; equal cases are one. Fewer have none.
func TestPart(t *testing.T) {
	for _, n := range []int{149, 150, 152} {
		for _, merge := range []bool{false, true} {
			cases := n
			if merge {
				cases += 7 // equal to the first
			}
			k := mat.NewSymDense(cases, nil)
			at := func(i, j int) float64 {
				if i >= n {
					i -= n
				}
				if j >= n {
					j -= n
				}
				return math.Exp(-math.Abs(float64(i-j)) / 9)
			}
			for i := range cases {
				for j := i; j < cases; j++ {
					k.SetSym(i, j, at(i, j))
				}
			}
			p, err := New(nil, Cov{K: k}, cases, 1, merge, nil)
			if err != nil {
				t.Fatal(err)
			}
			part, some := p.Subset()
			if n < 150 {
				if part != nil || some != nil {
					t.Errorf("%d cases have the part %v", n, some)
				}
				continue
			}
			if len(some) < n/4 || len(some) > cases/2 || !slices.IsSorted(some) || len(slices.Compact(slices.Clone(some))) != len(some) {
				t.Fatalf("%d cases, merged %v: the part %v", n, merge, some)
			}
			x, got := wave(len(some), 1), make([]float64, len(some))
			part.Multiply(got, x)
			for a, i := range some {
				want := 0.0
				for b, j := range some {
					want += at(i, j) * x[b]
				}
				near(t, "K x of the part", got[a], want, 1e-12)
				near(t, "a variance of the part", part.Variance(a), at(i, i), 0)
			}
		}
	}
}
