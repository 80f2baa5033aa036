package linalg

import (
	"sync"
	"sync/atomic"
)

// threads is how many goroutines one operation may use.
var threads atomic.Int32

// parallelWork is the number of multiplications from which an operation is shared: a tenth of a
// millisecond or so.
const parallelWork = 1 << 22

// shared says whether threads share an operation of so many multiplications.
func shared(multiplications int) bool { return threads.Load() > 1 && multiplications >= parallelWork }

// perThread is into how many parts for each thread an operation is cut, so that none waits long for
// the last.
const perThread = 8

// SetThreads lets every large operation use up to n goroutines; 1, the default, keeps each on the
// calling goroutine. It is for a scheduler with fewer jobs than cores. Results are the same bits
// for every n.
func SetThreads(n int) { threads.Store(int32(n)) }

// Parallel runs work(0) … work(jobs-1) on up to the number of threads set. They may use this
// package.
func Parallel(jobs int, work func(job int)) {
	workers := min(int(threads.Load()), jobs)
	if workers <= 1 {
		for job := range jobs {
			work(job)
		}
		return
	}
	var next atomic.Int32
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				job := int(next.Add(1)) - 1
				if job >= jobs {
					return
				}
				work(job)
			}
		})
	}
	wg.Wait()
}

// rowsAtOnce is the number of rows of a pass over a matrix that one goroutine takes at a time. It
// decides the order of summation in SumRows, and so the bits.
const rowsAtOnce = 32

// leastRows is the order of a matrix from which a pass over it is shared: some 0.05 ms of work.
const leastRows = 256

// Rows runs work(i0, i1) for every block of a few of n rows, each of about n entries: a pass over a
// matrix. The blocks are the same for any number of threads, which share them; they may use this
// package.
func Rows(n int, work func(i0, i1 int)) {
	blocks := (n + rowsAtOnce - 1) / rowsAtOnce
	run := func(block int) { work(block*rowsAtOnce, min(n, (block+1)*rowsAtOnce)) }
	if n < leastRows {
		for block := range blocks {
			run(block)
		}
		return
	}
	Parallel(blocks, run)
}

// SumRows adds to sum what work adds to it for every block of Rows. Blocks have sums of their own,
// which are added in order, so that bits do not depend on the number of threads.
func SumRows(n int, sum []float64, work func(sum []float64, i0, i1 int)) {
	parts := make([]float64, (n+rowsAtOnce-1)/rowsAtOnce*len(sum))
	Rows(n, func(i0, i1 int) {
		at := i0 / rowsAtOnce * len(sum)
		work(parts[at:at+len(sum)], i0, i1)
	})
	for at := 0; at < len(parts); at += len(sum) {
		for j := range sum {
			sum[j] += parts[at+j]
		}
	}
}
