package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// SymvCompensated computes y ← y + A x for symmetric A as if in twice the working precision,
// rounded once at the end. The error is the rounding error of y plus at most 2⁻¹⁰⁰ n² Σ_j
// |A_ij||x_j| (Ogita, Rump & Oishi, "Accurate sum and dot product", 2005, algorithm 5.3). It takes
// some four times as long as Symv.
func SymvCompensated(a blas64.Symmetric, x, y []float64) {
	checkSymmetric("SymvCompensated", a)
	checkVector("SymvCompensated", "x", x, a.N)
	checkVector("SymvCompensated", "y", y, a.N)
	n := a.N
	parts := 1 // number of parts, each with sums of its own; the same for any number of threads
	if n >= leastRows {
		parts = min(16, n/128)
	}
	ws := packPool.Get().(*packs)
	ws.a = grow(ws.a, 2*parts*n)
	clear(ws.a)
	Parallel(parts, func(part int) {
		sum, rest := ws.a[2*part*n:][:n], ws.a[(2*part+1)*n:][:n]
		for i := range n {
			if i/rowsAtOnce%parts == part {
				compensate(a.Data[i*a.Stride+i:i*a.Stride+n], x[i:], sum[i:], rest[i:])
			}
		}
	})
	for i, s := range y {
		rest := 0.0
		for part := range parts {
			var e float64
			s, e = twoSum(s, ws.a[2*part*n+i])
			rest += e + ws.a[(2*part+1)*n+i]
		}
		y[i] = s + rest
	}
	packPool.Put(ws)
}

// compensate adds the contribution of a row of the upper triangle, from the diagonal on, to A x. It
// goes to sum, and its rounding error to rest.
func compensate(row, x, sum, rest []float64) {
	first, s, r := x[0], sum[0], rest[0]
	p := float64(row[0] * first) // the conversion keeps it from being fused
	e := math.FMA(row[0], first, -p)
	s, d := twoSum(s, p)
	r += d + e
	x, sum, rest = x[:len(row)], sum[:len(row)], rest[:len(row)]
	for j := 1; j < len(row); j++ {
		v := row[j]
		p := float64(v * x[j])
		e := math.FMA(v, x[j], -p)
		t := s + p
		z := t - s
		r += ((s - (t - z)) + (p - z)) + e
		s = t
		p = float64(v * first)
		e = math.FMA(v, first, -p)
		u := sum[j]
		t = u + p
		z = t - u
		rest[j] += ((u - (t - z)) + (p - z)) + e
		sum[j] = t
	}
	sum[0], rest[0] = s, r
}

// twoSum returns a + b rounded, and the rounding error.
func twoSum(a, b float64) (sum, rest float64) {
	sum = a + b
	z := sum - a
	return sum, (a - (sum - z)) + (b - z)
}
