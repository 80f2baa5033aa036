package linalg

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
)

func TestRowsAreAllVisitedOnce(t *testing.T) {
	defer SetThreads(1)
	for _, threads := range []int{1, 2, 3, 16} {
		SetThreads(threads)
		for _, n := range []int{0, 1, 31, 32, 33, 255, 256, 1000} {
			visits := make([]atomic.Int32, n)
			Rows(n, func(i0, i1 int) {
				for i := i0; i < i1; i++ {
					visits[i].Add(1)
				}
			})
			for i := range visits {
				if v := visits[i].Load(); v != 1 {
					t.Fatalf("%d threads: row %d of %d visited %d times", threads, i, n, v)
				}
			}
		}
	}
}

func TestSumRowsHasTheBitsOfOneThread(t *testing.T) {
	defer SetThreads(1)
	for _, n := range []int{1, 100, 256, 777} {
		var want []float64
		for _, threads := range []int{1, 2, 3, 16} {
			t.Run(fmt.Sprintf("n=%d/threads=%d", n, threads), func(t *testing.T) {
				SetThreads(threads)
				got, exact := []float64{5, 0}, 5.0
				SumRows(n, got, func(sum []float64, i0, i1 int) {
					for i := i0; i < i1; i++ {
						sum[0] += 1 / float64(i+1)
						sum[1] += float64(i)
					}
				})
				for i := n; i > 0; i-- {
					exact += 1 / float64(i)
				}
				if d := got[0] - exact; d > 1e-13 || d < -1e-13 || got[1] != float64(n*(n-1)/2) {
					t.Fatalf("sums are %v, want %v and %d", got, exact, n*(n-1)/2)
				}
				if want == nil {
					want = got
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%v, on one thread %v", got, want)
				}
			})
		}
	}
}
