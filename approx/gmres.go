package approx

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// gmres solves A x = b by the generalised minimal residual method (Saad & Schultz 1986) from x = 0,
// given dst ← A x, and returns x with its residual |b - A x|/|b|. It stops at the tolerance, or
// when the residual no longer falls.
func gmres(multiply func(dst, x []float64), b []float64, tolerance float64) (x []float64, residual float64) {
	const limit = 400
	x = make([]float64, len(b))
	norm := floats.Norm(b, 2)
	if norm == 0 {
		return x, 0
	}
	scaled := func(c float64, v []float64) []float64 { return floats.ScaleTo(make([]float64, len(v)), c, v) }
	basis := [][]float64{scaled(1/norm, b)} // of the Krylov space
	var columns [][]float64                 // of the triangular factor of A in that basis
	var cosines, sines []float64
	rest := []float64{norm} // b in that basis, rotated
	for k := 0; k < min(limit, len(b)); k++ {
		v, h := make([]float64, len(b)), make([]float64, k+2)
		multiply(v, basis[k])
		for range 2 { // twice is enough to make it orthogonal to rounding
			for j, q := range basis {
				c := floats.Dot(q, v)
				h[j] += c
				floats.AddScaled(v, -c, q)
			}
		}
		h[k+1] = floats.Norm(v, 2)
		for j, c := range cosines {
			h[j], h[j+1] = c*h[j]+sines[j]*h[j+1], c*h[j+1]-sines[j]*h[j]
		}
		size := math.Hypot(h[k], h[k+1])
		if size == 0 {
			break
		}
		c, s := h[k]/size, h[k+1]/size
		cosines, sines = append(cosines, c), append(sines, s)
		columns = append(columns, append(h[:k:k], size))
		rest = append(rest, -s*rest[k])
		rest[k] *= c
		if h[k+1] <= 1e-13*size || math.Abs(rest[k+1]) <= tolerance*norm {
			break
		}
		basis = append(basis, scaled(1/h[k+1], v))
	}
	// back substitution
	for k := len(columns) - 1; k >= 0; k-- {
		y := rest[k] / columns[k][k]
		floats.AddScaled(rest[:k], -y, columns[k][:k])
		floats.AddScaled(x, y, basis[k])
	}
	check := make([]float64, len(b))
	multiply(check, x)
	floats.Sub(check, b)
	return x, floats.Norm(check, 2) / norm
}
