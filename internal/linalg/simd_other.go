//go:build !amd64

package linalg

func supported() []simd { return []simd{generic} }

func (simd) multiply(k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int, alpha float64, add bool) {
	multiplyGeneric(k, a, lda, b, ldb, c, ldc, alpha, add)
}

func (simd) multiplyEdge(k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int,
	alpha float64, add bool, rows, from, cols int) {
	multiplyEdgeGeneric(k, a, lda, b, ldb, c, ldc, alpha, add, rows, from, cols)
}

func (simd) substitute(t, c []float64, origin, ldc int) { substituteGeneric(t, c, origin, ldc) }

func (simd) transpose(rows, cols int, src []float64, lds int, dst []float64, ldd int) {
	transposeGeneric(0, rows, 0, cols, src, lds, dst, ldd)
}

func (simd) takeOff(rows int, a []float64, lda int, x, c []float64) {
	takeOffGeneric(false, rows, a, lda, x, c)
}

func (simd) copy(rows, cols int, src []float64, lds int, dst []float64, ldd int) {
	copyGeneric(rows, cols, src, lds, dst, ldd)
}

func (simd) symv(a []float64, lda int, x, y []float64, w, dot *[4]float64) {
	dotGeneric(a, lda, x, dot)
	axpyGeneric(a, lda, y, w)
}

func (simd) dot(a []float64, lda int, x []float64, dot *[4]float64) { dotGeneric(a, lda, x, dot) }

func (simd) axpy(a []float64, lda int, y []float64, w *[4]float64) { axpyGeneric(a, lda, y, w) }

func (simd) exp(dst, src []float64) { expGeneric(dst, src) }
