package linalg

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc/panics"
)

// threads is the number of goroutines that one operation may use.
var threads atomic.Int32

// parallelWork is the number of multiplications from which an operation is shared: about 0.02 ms.
const parallelWork = 1 << 20

// shared reports whether threads share an operation of this number of multiplications.
func shared(multiplications int) bool { return threads.Load() > 1 && multiplications >= parallelWork }

// perThread is the number of parts of an operation for each thread. It is above 1, so that no
// thread waits long for the last.
const perThread = 8

// SetThreads lets every large operation use up to n goroutines; 1, the default, keeps each on the
// calling goroutine. It is for a scheduler with fewer jobs than cores. Results are the same bits
// for every n.
func SetThreads(n int) { threads.Store(int32(n)) }

// Parallel runs work(0) … work(jobs-1) on up to the number of threads set, including the calling
// goroutine. work may use this package. If work panics, Parallel panics.
func Parallel(jobs int, work func(job int)) {
	helpers := min(int(threads.Load()), jobs) - 1
	if helpers <= 0 {
		for job := range jobs {
			work(job)
		}
		return
	}
	r := &region{jobs: int32(jobs), work: work, left: make(chan struct{}, helpers)}
	for range helpers {
		r.call()
	}
	r.caught.Try(r.run)
	entered := int(r.entered.Swap(math.MinInt32)) // a helper that has not begun would find nothing to do
	for w := newWatch(); len(r.left) < entered && w.goesOn(); {
	}
	for range entered {
		<-r.left
	}
	r.caught.Repanic()
}

// region is work that several goroutines share.
type region struct {
	jobs    int32
	work    func(job int)
	next    atomic.Int32
	entered atomic.Int32  // number of helpers that have begun; below 0: no more may begin
	left    chan struct{} // receives a value for each helper that has ended
	caught  panics.Catcher
}

func (r *region) run() {
	for job := r.next.Add(1) - 1; job < r.jobs; job = r.next.Add(1) - 1 {
		r.work(int(job))
	}
}

// A helper that has done its part watches for the next region. A fit has thousands of regions a
// second, and waking a sleeping thread takes longer than many a region.
var (
	watching atomic.Int32            // helpers that watch, less the regions that are offered
	offers   = make(chan *region, 1) // taken by helpers that watch
)

// call brings a helper to the region: one that watches, or else a new one.
func (r *region) call() {
	if watching.Add(-1) >= 0 {
		offers <- r
		return
	}
	watching.Add(1)
	go r.help()
}

// help works in the region, and then in regions that are offered. It ends when it has watched in
// vain.
func (r *region) help() {
	for r != nil {
		if r.entered.Add(1) > 0 {
			r.caught.Try(r.run)
			r.left <- struct{}{}
		}
		r = nil
		watching.Add(1)
		for w := newWatch(); r == nil && w.goesOn(); {
			select {
			case r = <-offers:
			default:
			}
		}
		if r == nil && watching.Add(-1) < 0 { // an offer is on its way
			watching.Add(1)
			r = <-offers
		}
	}
}

// watch is a short wait in which the thread does not fall asleep.
type watch struct {
	began time.Time
	looks int
}

// watchFor is the duration of a watch. With 0.2 ms, EP of 767 cases took a tenth longer; with 1 ms,
// no less.
const watchFor = 500 * time.Microsecond

func newWatch() watch { return watch{began: time.Now()} }

// goesOn reports whether to look once more. Other goroutines may run in between.
func (w *watch) goesOn() bool {
	if w.looks++; w.looks%64 != 0 {
		return true
	}
	runtime.Gosched()
	return time.Since(w.began) < watchFor
}

// rowsAtOnce is the number of rows of a pass over a matrix that one goroutine takes at a time. It
// decides the order of summation in SumRows, and so the bits.
const rowsAtOnce = 32

// leastRows is the order of a matrix from which a pass over it is shared: about 0.05 ms of work.
const leastRows = 256

// Rows runs work(i0, i1) for every block of a few of n rows, each of about n entries: a pass over a
// matrix. Threads share the blocks, which are the same for any number of threads. work may use this
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

// SumRows calls work for every block of Rows, each with a sum of its own. It adds these to sum in
// order, so that bits do not depend on the number of threads.
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
