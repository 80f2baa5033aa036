package linalg

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go run ../../tools/assembly

// supported lists the instruction sets this machine and its operating system offer, best first.
func supported() []simd {
	var s []simd
	x := &cpu.X86
	if x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512VL {
		s = append(s, avx512)
	}
	if x.HasAVX2 && x.HasFMA {
		s = append(s, avx2)
	}
	return append(s, generic)
}

//go:noescape
func multiplyAVX512(k int, a *float64, lda int, b *float64, ldb int, c *float64, ldc int, alpha float64, add bool)

//go:noescape
func multiplyAVX2(k int, a *float64, lda int, b *float64, ldb int, c *float64, ldc int, alpha float64, add bool)

//go:noescape
func multiplyEdge3AVX512(k int, a *float64, lda int, b *float64, ldb int, c *float64, ldc int,
	alpha float64, add bool, rows, from, cols int)

//go:noescape
func multiplyEdge2AVX512(k int, a *float64, lda int, b *float64, ldb int, c *float64, ldc int,
	alpha float64, add bool, rows, from, cols int)

//go:noescape
func multiplyEdge1AVX512(k int, a *float64, lda int, b *float64, ldb int, c *float64, ldc int,
	alpha float64, add bool, rows, from, cols int)

//go:noescape
func multiplyEdge3AVX2(k int, a *float64, lda int, b *float64, ldb int, c *float64, ldc int,
	alpha float64, add bool, rows, from, cols int)

//go:noescape
func multiplyEdge2AVX2(k int, a *float64, lda int, b *float64, ldb int, c *float64, ldc int,
	alpha float64, add bool, rows, from, cols int)

//go:noescape
func multiplyEdge1AVX2(k int, a *float64, lda int, b *float64, ldb int, c *float64, ldc int,
	alpha float64, add bool, rows, from, cols int)

//go:noescape
func substituteAVX512(t, c *float64, ldc int)

//go:noescape
func substituteAVX2(t, c *float64, ldc int)

//go:noescape
func transposeAVX512(n int, src *float64, lds int, dst *float64, ldd int)

//go:noescape
func transposeAVX2(n int, src *float64, lds int, dst *float64, ldd int)

//go:noescape
func takeOffAVX512(k int, a *float64, lda int, x, c *float64)

//go:noescape
func takeOffAVX2(k int, a *float64, lda int, x, c *float64)

//go:noescape
func copyAVX512(r, c int, src *float64, lds int, dst *float64, ldd int)

//go:noescape
func copyAVX2(r, c int, src *float64, lds int, dst *float64, ldd int)

//go:noescape
func symvAVX512(n int, a *float64, lda int, x, y *float64, w, dot *[4]float64)

//go:noescape
func symvAVX2(n int, a *float64, lda int, x, y *float64, w, dot *[4]float64)

//go:noescape
func dotAVX512(n int, a *float64, lda int, x *float64, dot *[4]float64)

//go:noescape
func dotAVX2(n int, a *float64, lda int, x *float64, dot *[4]float64)

//go:noescape
func axpyAVX512(n int, a *float64, lda int, y *float64, w *[4]float64)

//go:noescape
func axpyAVX2(n int, a *float64, lda int, y *float64, w *[4]float64)

//go:noescape
func expAVX512(n int, dst, src *float64)

//go:noescape
func expAVX2(n int, dst, src *float64)

func data(s []float64) *float64 { return unsafe.SliceData(s) }

func (s simd) multiply(k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int,
	alpha float64, add bool) {
	switch s {
	case avx512:
		multiplyAVX512(k, data(a), lda, data(b), ldb, data(c), ldc, alpha, add)
	case avx2:
		multiplyAVX2(k, data(a), lda, data(b), ldb, data(c), ldc, alpha, add)
	default:
		multiplyGeneric(k, a, lda, b, ldb, c, ldc, alpha, add)
	}
}

func (s simd) multiplyEdge(k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int,
	alpha float64, add bool, rows, from, cols int) {
	if s == generic {
		multiplyEdgeGeneric(k, a, lda, b, ldb, c, ldc, alpha, add, rows, from, cols)
		return
	}
	// vectors that hold no column that exists are left out
	lanes := 8
	if s == avx2 {
		lanes = 4
	}
	skip := max(0, from) / lanes
	vectors := (cols+lanes-1)/lanes - skip
	if vectors <= 0 {
		return
	}
	from -= skip * lanes
	cols -= skip * lanes
	b, c = b[skip*lanes:], c[skip*lanes:]
	switch {
	case s == avx512 && vectors == 3:
		multiplyEdge3AVX512(k, data(a), lda, data(b), ldb, data(c), ldc, alpha, add, rows, from, cols)
	case s == avx512 && vectors == 2:
		multiplyEdge2AVX512(k, data(a), lda, data(b), ldb, data(c), ldc, alpha, add, rows, from, cols)
	case s == avx512:
		multiplyEdge1AVX512(k, data(a), lda, data(b), ldb, data(c), ldc, alpha, add, rows, from, cols)
	case vectors == 3:
		multiplyEdge3AVX2(k, data(a), lda, data(b), ldb, data(c), ldc, alpha, add, rows, from, cols)
	case vectors == 2:
		multiplyEdge2AVX2(k, data(a), lda, data(b), ldb, data(c), ldc, alpha, add, rows, from, cols)
	default:
		multiplyEdge1AVX2(k, data(a), lda, data(b), ldb, data(c), ldc, alpha, add, rows, from, cols)
	}
}

func (s simd) substitute(t, c []float64, origin, ldc int) {
	switch s {
	case avx512:
		substituteAVX512(data(t), &c[origin], ldc)
	case avx2:
		substituteAVX2(data(t), &c[origin], ldc)
	default:
		substituteGeneric(t, c, origin, ldc)
	}
}

func (s simd) transpose(rows, cols int, src []float64, lds int, dst []float64, ldd int) {
	r, c := 0, 0
	switch s {
	case avx512:
		for c = cols &^ 7; c > 0 && r+8 <= rows; r += 8 {
			transposeAVX512(c/8, &src[r*lds], lds, &dst[r], ldd)
		}
	case avx2:
		for c = cols &^ 3; c > 0 && r+4 <= rows; r += 4 {
			transposeAVX2(c/4, &src[r*lds], lds, &dst[r], ldd)
		}
	}
	transposeGeneric(0, r, c, cols, src, lds, dst, ldd)
	transposeGeneric(r, rows, 0, cols, src, lds, dst, ldd)
}

func (s simd) takeOff(rows int, a []float64, lda int, x, c []float64) {
	switch {
	case s == avx512 && rows == 8:
		takeOffAVX512(len(x), data(a), lda, data(x), data(c))
	case s == avx2 && rows == 4:
		takeOffAVX2(len(x), data(a), lda, data(x), data(c))
	default:
		takeOffGeneric(s != generic, rows, a, lda, x, c)
	}
}

func (s simd) copy(rows, cols int, src []float64, lds int, dst []float64, ldd int) {
	switch {
	case s == generic || rows == 0 || cols == 0:
		copyGeneric(rows, cols, src, lds, dst, ldd)
	case s == avx512:
		copyAVX512(rows, cols, data(src), lds, data(dst), ldd)
	default:
		copyAVX2(rows, cols, data(src), lds, data(dst), ldd)
	}
}

func (s simd) symv(a []float64, lda int, x, y []float64, w, dot *[4]float64) {
	switch s {
	case avx512:
		symvAVX512(len(x), data(a), lda, data(x), data(y), w, dot)
	case avx2:
		symvAVX2(len(x), data(a), lda, data(x), data(y), w, dot)
	default:
		dotGeneric(a, lda, x, dot)
		axpyGeneric(a, lda, y, w)
	}
}

func (s simd) dot(a []float64, lda int, x []float64, dot *[4]float64) {
	switch s {
	case avx512:
		dotAVX512(len(x), data(a), lda, data(x), dot)
	case avx2:
		dotAVX2(len(x), data(a), lda, data(x), dot)
	default:
		dotGeneric(a, lda, x, dot)
	}
}

func (s simd) axpy(a []float64, lda int, y []float64, w *[4]float64) {
	switch s {
	case avx512:
		axpyAVX512(len(y), data(a), lda, data(y), w)
	case avx2:
		axpyAVX2(len(y), data(a), lda, data(y), w)
	default:
		axpyGeneric(a, lda, y, w)
	}
}

func (s simd) exp(dst, src []float64) {
	switch s {
	case avx512:
		expAVX512(len(src), data(dst), data(src))
	case avx2:
		expAVX2(len(src), data(dst), data(src))
	default:
		expGeneric(dst, src)
	}
}
