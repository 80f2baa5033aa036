//go:build linux

package linalg

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"gonum.org/v1/gonum/blas"
)

// cpuTime is the processor time that this thread has used. Its minimum over many runs is stable even on a busy
// machine.
func cpuTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

// measure reports the speed of the fastest of b.N runs of op, each with newly prepared operands.
func measure(b *testing.B, work float64, unit string, prepare, op func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	best := time.Duration(1 << 62)
	for b.Loop() {
		prepare()
		start := cpuTime()
		op()
		best = min(best, cpuTime()-start)
	}
	b.ReportMetric(work/float64(best.Nanoseconds()), unit)
}

// Benchmark counts operations as usual: n³/3 for a factorisation, n³ for a triangular solve or one triangle of a
// product, 2n³ for a product, 2n² for a product with a vector.
func Benchmark(b *testing.B) {
	const gflops = "GFLOP/s"
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{256, 767, 2000} {
		N := float64(n)
		a, x, c := randomGeneral(rng, n, n, n), randomGeneral(rng, n, n, n), NewGeneral(n, n)
		spd := randomDefinite(rng, n)
		s, factor := NewSym(n), NewSym(n)
		copy(factor.Data, spd.Data)
		u, ok := Cholesky(factor)
		if !ok {
			b.Fatal("not positive definite")
		}
		work := u
		work.Data = s.Data
		v, w := make([]float64, n), make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		nothing := func() {}
		run := func(name string, work float64, unit string, prepare, op func()) {
			b.Run(fmt.Sprintf("%s/%d/%s", name, n, SIMD()), func(b *testing.B) { measure(b, work, unit, prepare, op) })
		}
		run("gemm", 2*N*N*N, gflops, nothing, func() { Gemm(blas.NoTrans, blas.NoTrans, 1, a, x, 0, c) })
		run("gemmNT", 2*N*N*N, gflops, nothing, func() { Gemm(blas.NoTrans, blas.Trans, 1, a, x, 0, c) })
		run("symm", 2*N*N*N, gflops, nothing, func() { Symm(1, spd, x, 0, c) })
		run("syrk", N*N*N, gflops, nothing, func() { Syrk(blas.NoTrans, 1, a, 0, s) })
		run("syrkT", N*N*N, gflops, nothing, func() { Syrk(blas.Trans, 1, a, 0, s) })
		run("potrf", N*N*N/3, gflops, func() { copy(s.Data, spd.Data) }, func() { Cholesky(s) })
		run("potri", 2*N*N*N/3, gflops, func() { copy(s.Data, u.Data) }, func() { InverseCholesky(work) })
		run("trtri", N*N*N/3, gflops, func() { copy(s.Data, u.Data) }, func() { InverseTri(work) })
		run("trsm", N*N*N, gflops, func() { copy(c.Data, x.Data) }, func() { SolveTri(blas.NoTrans, u, c) })
		run("trsmT", N*N*N, gflops, func() { copy(c.Data, x.Data) }, func() { SolveTri(blas.Trans, u, c) })
		for _, k := range []int{24, 48} {
			thin := randomGeneral(rng, k, n, n)
			run(fmt.Sprintf("rank%d", k), N*N*float64(k), gflops, nothing, func() {
				SyrkDiag(blas.Trans, 1, thin, v[:k], 1, s)
			})
		}
		run("symv", 2*N*N, gflops, nothing, func() { Symv(1, spd, v, 0, w) })
		run("gemv", 2*N*N, gflops, nothing, func() { Gemv(blas.NoTrans, 1, a, v, 0, w) })
		run("gemvT", 2*N*N, gflops, nothing, func() { Gemv(blas.Trans, 1, a, v, 0, w) })
		run("trsv", N*N, gflops, func() { copy(w, v) }, func() { SolveTriVec(blas.NoTrans, u, w) })
		run("trsvT", N*N, gflops, func() { copy(w, v) }, func() { SolveTriVec(blas.Trans, u, w) })
		run("exp", N*N, "Gexp/s", nothing, func() { Exp(c.Data, x.Data) })
	}
}
