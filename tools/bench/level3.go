//go:build linux

package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"golang.org/x/sys/unix"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// level3 compares the operations that nearly all time goes to.
func (b *bench) level3() {
	b.say("level3")
	var rows []string
	var ratios []float64
	for _, n := range []int{767, 2000} {
		for _, o := range b.matrices(n) {
			row, ratio := b.operation(o)
			rows, ratios = append(rows, row), append(ratios, ratio)
		}
	}
	header := "| | n | gpc-tune | OpenBLAS %s | OpenBLAS %s | gpc-tune / %[2]s |"
	b.table(fmt.Sprintf(header, b.ways[0].name, b.ways[1].name), "|---|---:|---:|---:|---:|---:|", rows...)
	b.conclude("level3", b.ways[1].name, span(ratios))
}

// operation is an operation on matrices to compare: prepare is copied to c, then do leaves its
// result in c. If triangle is set, only the upper triangle of the result counts.
type operation struct {
	name     string
	work     float64
	triangle bool
	prepare  []float64
	do       func()
	c        blas64.General
}

// times is the number of runs of an operation in a turn. With several runs it matters less what the
// previous turn left in the caches.
const times = 4

// turn is one turn of gpc-tune: the answer has the trace and the norm of the result.
func (o operation) turn() answer {
	a := besidePeak(func() answer {
		spent := 0.0
		for range times {
			copy(o.c.Data, o.prepare)
			cpu := clock(unix.CLOCK_PROCESS_CPUTIME_ID)
			o.do()
			spent += clock(unix.CLOCK_PROCESS_CPUTIME_ID) - cpu
		}
		return answer{CPU: spent / float64(times)}
	})
	n, trace, squares := o.c.Rows, 0.0, 0.0
	for i := range n {
		trace += o.c.Data[i*n+i]
		from := 0
		if o.triangle {
			from = i
		}
		for _, v := range o.c.Data[i*n+from : (i+1)*n] {
			squares += v * v
		}
	}
	a.Out = []float64{trace, math.Sqrt(squares)}
	return a
}

// matrices are the operations on matrices of order n that the peers have as well.
func (b *bench) matrices(n int) []operation {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	general := func() blas64.General {
		g := linalg.NewGeneral(n, n)
		for i := range g.Data {
			g.Data[i] = rng.NormFloat64()
		}
		return g
	}
	a, x, c, definite, factor := general(), general(), linalg.NewGeneral(n, n), linalg.NewSym(n), linalg.NewSym(n)
	linalg.Syrk(blas.NoTrans, 1, a, 0, definite)
	for i := range n {
		definite.Data[i*n+i] += float64(n)
		for j := range i {
			definite.Data[i*n+j] = definite.Data[j*n+i]
		}
	}
	path := b.write("matrices", a.Data, x.Data, definite.Data)
	for _, p := range b.ways {
		p.do("matrices path=%s n=%d", path, n)
	}
	symmetric := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: c.Data}
	copy(factor.Data, definite.Data)
	u, ok := linalg.Cholesky(factor)
	if !ok {
		must(errors.New("a matrix that is positive definite did not factorise"))
	}
	inverse := u
	inverse.Data = c.Data
	cube := math.Pow(float64(n), 3)
	return []operation{
		{"gemm", 2 * cube, false, nil, func() { linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, a, x, 0, c) }, c},
		{"syrk", cube, true, nil, func() { linalg.Syrk(blas.NoTrans, 1, a, 0, symmetric) }, c},
		{"potrf", cube / 3, true, definite.Data, func() { linalg.Cholesky(symmetric) }, c},
		{"potri", 2 * cube / 3, true, factor.Data, func() { linalg.InverseCholesky(inverse) }, c},
		{"trsm", cube, false, a.Data, func() { linalg.SolveTri(blas.Trans, u, c) }, c},
	}
}

// operation measures o. It returns the row of the table, and OpenBLAS's time over gpc-tune's.
func (b *bench) operation(o operation) (row string, ratio float64) {
	peer := func(p *peer) contender {
		return contender{p.name, func() answer {
			return besidePeak(func() answer { return p.do("level3 op=%s times=%d", o.name, times) })
		}}
	}
	slow := race(2, peer(b.ways[0])) // two rounds: the difference is large
	all := race(3*b.rounds, contender{"gpc-tune", o.turn}, peer(b.ways[1]))
	row = fmt.Sprintf("| %s | %d |", o.name, o.c.Rows)
	for _, t := range []timing{all[0], slow[0], all[1]} {
		agree(o.name, t.first().Out, all[0].first().Out, 1e-9)
		row += fmt.Sprintf(" %.1f, %.1f", o.work/t.median(cpuOf)/1e9, o.work/t.least(cpuOf)/1e9)
		if b.peak > 0 {
			share := func(a answer) float64 { return 100 * o.work / a.CPU / a.Peak }
			fastest := slices.MinFunc(t.turns, func(a, b answer) int { return cmp.Compare(a.CPU, b.CPU) })
			row += fmt.Sprintf(" (%.0f, %.0f %%)", t.median(share), share(fastest))
		}
		row += " |"
	}
	ratio = all[0].ratio(all[1])
	return fmt.Sprintf("%s %.2f |", row, ratio), ratio
}
