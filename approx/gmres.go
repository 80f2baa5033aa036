package approx

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/floats"
)

// krylov is the memory of gmres: the vectors of its basis.
type krylov struct{ vectors [][]float64 }

var krylovPool = sync.Pool{New: func() any { return new(krylov) }}

// vector is vector k of the basis, uninitialised.
func (s *krylov) vector(k, n int) []float64 {
	if k == len(s.vectors) {
		s.vectors = append(s.vectors, nil)
	}
	if cap(s.vectors[k]) < n {
		s.vectors[k] = make([]float64, n)
	}
	return s.vectors[k][:n]
}

// gmres solves A x = b by the generalised minimal residual method (Saad & Schultz 1986), from x =
// 0. multiply sets dst to A x. gmres returns x and its residual |b - A x|/|b|. It stops at the
// tolerance, or when the residual no longer falls. The basis is orthogonalised by modified
// Gram-Schmidt, for which the solution is backward stable (Paige, Rozložník & Strakoš 2006).
func gmres(multiply func(dst, x []float64), b []float64, tolerance float64) (x []float64, residual float64) {
	const limit = 400
	n := len(b)
	x = make([]float64, n)
	norm := floats.Norm(b, 2)
	if norm == 0 {
		return x, 0
	}
	space := krylovPool.Get().(*krylov)
	defer krylovPool.Put(space)
	floats.ScaleTo(space.vector(0, n), 1/norm, b)
	// the triangular factor of A in that basis
	var columns [][]float64
	var cosines, sines []float64
	rest := []float64{norm} // b in that basis, rotated
	for k := 0; k < min(limit, n); k++ {
		v, h := space.vector(k+1, n), make([]float64, k+2)
		multiply(v, space.vector(k, n))
		for j := range k + 1 {
			q := space.vector(j, n)
			h[j] = floats.Dot(q, v)
			floats.AddScaled(v, -h[j], q)
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
		floats.Scale(1/h[k+1], v)
	}
	// back substitution
	for k := len(columns) - 1; k >= 0; k-- {
		y := rest[k] / columns[k][k]
		floats.AddScaled(rest[:k], -y, columns[k][:k])
		floats.AddScaled(x, y, space.vector(k, n))
	}
	check := space.vector(0, n)
	multiply(check, x)
	floats.Sub(check, b)
	return x, floats.Norm(check, 2) / norm
}
