package linalg

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
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

// Callers at the same time, calls within calls, and pauses in which helpers end: every job runs once, before its call
// returns.
func TestParallelRunsEveryJobOnce(t *testing.T) {
	defer SetThreads(1)
	for _, threads := range []int{2, 3, 16} {
		SetThreads(threads)
		var callers sync.WaitGroup
		for caller := range 4 {
			callers.Go(func() {
				for round := range 300 {
					var runs [7][5]int
					Parallel(7, func(i int) { Parallel(5, func(j int) { runs[i][j]++ }) })
					for i := range runs {
						if runs[i] != [5]int{1, 1, 1, 1, 1} {
							t.Errorf("%d threads, caller %d, round %d: the jobs of %d ran %v times", threads, caller, round, i, runs[i])
						}
					}
					if round%50 == caller {
						time.Sleep(2 * watchFor)
					}
				}
			})
		}
		callers.Wait()
	}
}

// A helper that nobody needs ends.
func TestHelpersEnd(t *testing.T) {
	defer SetThreads(1)
	SetThreads(8)
	var counts []int
	for range 3 {
		for deadline := time.Now().Add(10 * time.Second); watching.Load() > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d helpers still watch", watching.Load())
			}
		}
		time.Sleep(10 * time.Millisecond) // the helpers have announced that they end
		counts = append(counts, runtime.NumGoroutine())
		var together sync.WaitGroup
		together.Add(8)
		Parallel(8, func(int) { // eight goroutines that wait for each other
			together.Done()
			together.Wait()
		})
	}
	if counts[2] > counts[0] {
		t.Errorf("%v goroutines, with eight threads at work in between", counts)
	}
}

// A panic of a job on any goroutine becomes a panic of the caller, who can recover. The other jobs
// are waited for.
func TestParallelPanics(t *testing.T) {
	defer SetThreads(1)
	SetThreads(3)
	for bad := range 3 {
		var together sync.WaitGroup
		together.Add(3)
		var ended atomic.Int32
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, "the wrong shape") {
					t.Errorf("recovered %q", r)
				}
			}()
			Parallel(3, func(job int) {
				together.Done()
				together.Wait()
				defer ended.Add(1)
				if job == bad {
					panic("the wrong shape")
				}
			})
		}()
		if ended.Load() != 3 {
			t.Errorf("%d of 3 jobs had ended", ended.Load())
		}
	}
}
