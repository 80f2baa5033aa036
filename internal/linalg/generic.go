package linalg

import (
	"math"
	"unsafe"
)

// simd is an instruction set with kernels of its own. Results of two sets differ in the last bits
// only.
type simd int

const (
	generic simd = iota // plain Go
	avx2                // AVX2 with FMA
	avx512              // AVX-512 F, DQ and VL
)

func (s simd) String() string { return [...]string{"generic", "avx2", "avx512"}[s] }

// tile returns the shape of the block of a product that is held in registers: mr divides nr, and nr
// divides 24.
func (s simd) tile() (mr, nr int) {
	switch s {
	case avx512:
		return 8, 24
	case avx2:
		return 4, 12
	}
	return 2, 4
}

// maxMR bounds the rows of a tile.
const maxMR = 8

// multiplyGeneric is the tile product in plain Go: C ← α A B (+ C) for A of 2×k and B of k×4.
func multiplyGeneric(k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int, alpha float64, add bool) {
	var c00, c01, c02, c03, c10, c11, c12, c13 float64
	for p, q := 0, 0; k > 0; k-- {
		// without bounds checks, which would halve the speed
		x := (*[2]float64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(a)), p))
		y := (*[4]float64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), q))
		a0, a1 := x[0], x[1]
		b0, b1, b2, b3 := y[0], y[1], y[2], y[3]
		c00 += a0 * b0
		c01 += a0 * b1
		c02 += a0 * b2
		c03 += a0 * b3
		c10 += a1 * b0
		c11 += a1 * b1
		c12 += a1 * b2
		c13 += a1 * b3
		p += 8 * lda
		q += 8 * ldb
	}
	r0, r1 := c[:4], c[ldc:ldc+4]
	if !add {
		r0[0], r0[1], r0[2], r0[3] = alpha*c00, alpha*c01, alpha*c02, alpha*c03
		r1[0], r1[1], r1[2], r1[3] = alpha*c10, alpha*c11, alpha*c12, alpha*c13
		return
	}
	r0[0] += alpha * c00
	r0[1] += alpha * c01
	r0[2] += alpha * c02
	r0[3] += alpha * c03
	r1[0] += alpha * c10
	r1[1] += alpha * c11
	r1[2] += alpha * c12
	r1[3] += alpha * c13
}

// multiplyEdgeGeneric is multiplyGeneric for a tile over an edge of C: of row r only columns max(0,
// from+r) to cols exist, and only the first rows rows.
func multiplyEdgeGeneric(k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int,
	alpha float64, add bool, rows, from, cols int) {
	const nr = 4
	var tile [2 * nr]float64
	for r := range rows {
		if first := max(0, from+r); add && first < cols {
			copy(tile[r*nr+first:r*nr+cols], c[r*ldc+first:])
		}
	}
	multiplyGeneric(k, a, lda, b, ldb, tile[:], nr, alpha, add)
	for r := range rows {
		if first := max(0, from+r); first < cols {
			copy(c[r*ldc+first:r*ldc+cols], tile[r*nr+first:])
		}
	}
}

// substituteGeneric is forward substitution on a 2×4 tile from c[origin] on; see [triangle] for t.
func substituteGeneric(t, c []float64, origin, ldc int) {
	r0, r1 := c[origin:origin+4], c[origin+ldc:origin+ldc+4]
	for j := range r0 {
		r0[j] *= t[0]
		r1[j] = (r1[j] - t[1]*r0[j]) * t[3]
	}
}

// transposeGeneric copies a block of src, rows r0 to r1 and columns c0 to c1: dst[c·ldd + r] =
// src[r·lds + c].
func transposeGeneric(r0, r1, c0, c1 int, src []float64, lds int, dst []float64, ldd int) {
	if c0 == c1 {
		return
	}
	for r := r0; r < r1; r++ {
		o := c0*ldd + r
		for _, v := range src[r*lds+c0 : r*lds+c1] {
			dst[o] = v
			o += ldd
		}
	}
}

// takeOffGeneric computes c ← c - A x for a few rows of A; with fused products it rounds as the
// kernels do.
func takeOffGeneric(fused bool, rows int, a []float64, lda int, x, c []float64) {
	var sums [maxMR]float64
	for p, v := range x {
		for r := range rows {
			if y := a[r*lda+p]; fused {
				sums[r] = math.FMA(y, v, sums[r])
			} else {
				sums[r] += y * v
			}
		}
	}
	for r := range rows {
		c[r] -= sums[r]
	}
}

func copyGeneric(rows, cols int, src []float64, lds int, dst []float64, ldd int) {
	if cols == 0 {
		return
	}
	for r := range rows {
		copy(dst[r*ldd:r*ldd+cols], src[r*lds:])
	}
}

// dotGeneric computes dot ← A x for A of 4×len(x).
func dotGeneric(a []float64, lda int, x []float64, dot *[4]float64) {
	var s0, s1, s2, s3 float64
	if n := len(x); n > 0 {
		a0, a1, a2, a3 := a[:n], a[lda:lda+n], a[2*lda:2*lda+n], a[3*lda:3*lda+n]
		for j, v := range x {
			s0 += a0[j] * v
			s1 += a1[j] * v
			s2 += a2[j] * v
			s3 += a3[j] * v
		}
	}
	*dot = [4]float64{s0, s1, s2, s3}
}

// axpyGeneric computes y ← y + Aᵀw for A of 4×len(y). It adds the rows in order.
func axpyGeneric(a []float64, lda int, y []float64, w *[4]float64) {
	if n := len(y); n > 0 {
		a0, a1, a2, a3 := a[:n], a[lda:lda+n], a[2*lda:2*lda+n], a[3*lda:3*lda+n]
		for j := range y {
			y[j] = y[j] + w[0]*a0[j] + w[1]*a1[j] + w[2]*a2[j] + w[3]*a3[j]
		}
	}
}

// expGeneric computes the exponential function: x = n ln 2 + r with |r| at most about ½ ln 2, eˣ =
// 2ⁿ eʳ, eʳ by its Taylor polynomial of degree 13. (math.Exp overflows from 709.4 on and is a
// little less exact on some machines.)
func expGeneric(dst, src []float64) {
	const (
		ln2High = 0x1.62e42fep-1 // so few digits that its product with n is exact
		ln2Low  = math.Ln2 - ln2High
	)
	for i, x := range src {
		switch {
		case x > 710:
			x = math.Inf(1)
		case x < -746:
			x = 0
		case x == x:
			n := int(x*math.Log2E + math.Copysign(0.5, x))
			high, low := x-float64(n)*ln2High, float64(n)*ln2Low
			r := high - low
			q := 1.0/479001600 + r*(1.0/6227020800)
			q = 1.0/3628800 + r*(1.0/39916800+r*q)
			q = 1.0/40320 + r*(1.0/362880+r*q)
			q = 1.0/720 + r*(1.0/5040+r*q)
			q = 1.0/24 + r*(1.0/120+r*q)
			q = 1.0/2 + r*(1.0/6+r*q)
			x = 1 + (high + (r*r*q - low))
			if n > -1022 && n < 1024 {
				x *= math.Float64frombits(uint64(n+1023) << 52)
			} else {
				x = math.Ldexp(x, n)
			}
		}
		dst[i] = x
	}
}
