package linalg

import (
	"math"
	"slices"
	"testing"
)

func TestCholeskyJitter(t *testing.T) {
	rng := newRand()
	for _, n := range []int{1, 2, 7, 40, 150} {
		definite := randomDefinite(rng, n)
		// Rank 1, with the lower triangle and the storage between the rows marked unused.
		deficient := randomSymmetric(rng, n, n+3)
		x := randomGeneral(rng, n, 1, 1)
		for i := range n {
			for j := i; j < n; j++ {
				deficient.Data[i*deficient.Stride+j] = x.Data[i] * x.Data[j]
			}
		}
		for _, a := range []struct {
			name      string
			deficient bool
		}{{"definite", false}, {"deficient", n > 1}} {
			m := definite
			if a.name == "deficient" {
				m = deficient
			}
			before := slices.Clone(m.Data)
			u, jitter, ok := CholeskyJitter(m)
			if !ok {
				t.Fatalf("%s, n = %d: refused", a.name, n)
			}
			largest := 0.0
			for i := range n {
				largest = max(largest, m.Data[i*m.Stride+i])
			}
			step := float64(n) * 0x1p-52 * largest
			power := math.Abs(math.Mod(math.Log10(jitter/step)+0.5, 1)-0.5) <= 1e-9
			if !a.deficient && jitter != 0 || a.deficient && !power {
				t.Errorf("%s, n = %d: jitter %v", a.name, n, jitter)
			}
			for i, v := range m.Data {
				if math.Float64bits(v) != math.Float64bits(before[i]) {
					t.Fatalf("%s, n = %d: the matrix was changed", a.name, n)
				}
			}
			for i := range n {
				for j := range n {
					sum := 0.0
					for k := range n {
						sum += u.Data[k*n+i] * u.Data[k*n+j] // 0 below the diagonal
					}
					want := m.Data[min(i, j)*m.Stride+max(i, j)]
					if i == j {
						want += jitter
					}
					if math.Abs(sum-want) > 10*float64(n)*eps*largest {
						t.Fatalf("%s, n = %d: (UᵀU)[%d,%d] = %v, want %v", a.name, n, i, j, sum, want)
					}
				}
			}
		}
		if n == 1 {
			continue
		}
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1e-3} {
			for _, at := range []int{0, n - 1} {
				m := randomDefinite(rng, n)
				m.Data[at*n+at] = bad
				if _, _, ok := CholeskyJitter(m); ok {
					t.Errorf("n = %d: accepted a variance of %v", n, bad)
				}
			}
		}
	}
	if _, _, ok := CholeskyJitter(NewSym(3)); ok {
		t.Error("accepted zeros")
	}
	if _, jitter, ok := CholeskyJitter(NewSym(0)); !ok || jitter != 0 {
		t.Error("refused an empty matrix")
	}
}
