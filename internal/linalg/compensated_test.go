package linalg

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSymvCompensated: a sum of about 1 of terms of 1e8 is right to its last digits, with the same bits on any number
// of threads.
func TestSymvCompensated(t *testing.T) {
	defer SetThreads(1)
	rng := rand.New(rand.NewPCG(1, 3))
	for _, n := range []int{1, 2, 7, 33, 300, 515} {
		a, x := NewSym(n), make([]float64, n)
		for i := range n {
			x[i] = rng.NormFloat64()
			for j := i; j < n; j++ {
				a.Data[i*n+j] = 1e8 * (1 + 1e-9*rng.NormFloat64())
			}
		}
		total := 0.0
		for _, v := range x[:n-1] {
			total -= v
		}
		x[n-1] = total
		start := make([]float64, n)
		for i := range start {
			start[i] = rng.NormFloat64()
		}
		var first []float64
		for _, threads := range []int{1, 2, 3, 16} {
			SetThreads(threads)
			y := slices.Clone(start)
			SymvCompensated(a, x, y)
			if first == nil {
				first = y
			}
			if !slices.Equal(y, first) {
				t.Errorf("n = %d: other bits on %d threads", n, threads)
			}
		}
		for i := range n {
			sum := new(big.Float).SetPrec(200).SetFloat64(start[i])
			for j := range n {
				v := new(big.Float).SetPrec(200).SetFloat64(a.Data[min(i, j)*n+max(i, j)])
				sum.Add(sum, v.Mul(v, big.NewFloat(x[j]).SetPrec(200)))
			}
			want, _ := sum.Float64()
			if math.Abs(first[i]-want) > 0x1p-52*math.Abs(want)+0x1p-100*1e8*float64(n*n*n) {
				t.Errorf("n = %d: y[%d] = %v, want %v", n, i, first[i], want)
			}
		}
	}
}
