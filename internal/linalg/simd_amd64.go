package linalg

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go run ./gen

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
func substituteAVX512(t, c *float64, ldc int)

//go:noescape
func substituteAVX2(t, c *float64, ldc int)

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

func (s simd) multiply(k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int, alpha float64, add bool) {
	switch s {
	case avx512:
		multiplyAVX512(k, data(a), lda, data(b), ldb, data(c), ldc, alpha, add)
	case avx2:
		multiplyAVX2(k, data(a), lda, data(b), ldb, data(c), ldc, alpha, add)
	default:
		multiplyGeneric(k, a, lda, b, ldb, c, ldc, alpha, add)
	}
}

func (s simd) substitute(t, c []float64, ldc int) {
	switch s {
	case avx512:
		substituteAVX512(data(t), data(c), ldc)
	case avx2:
		substituteAVX2(data(t), data(c), ldc)
	default:
		substituteGeneric(t, c, ldc)
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
