package comparator

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// narrow has the inputs of n cases in r ≤ n columns in place of D > 2n. The likelihood depends only
// on the component of the weights in the span of the rows of X̃. This component is w = Qᵀu, with
// orthonormal rows of Q that span it. The prior N(0, σ²I) of the weights gives u ~ N(0, σ²I), and
// the orthogonal component keeps its prior. With A = X̃Qᵀ, an n×r matrix, G = X̃X̃ᵀ = AAᵀ and Q =
// (AᵀA)⁻¹AᵀX̃ = TᵀX̃.
type narrow struct{ q blas64.General }

// few reports whether this number of columns is replaced by fewer, the columns of A.
func few(cases, columns int) bool { return columns > 2*cases }

// narrowed returns A and Q, from G = UᵀU or, where G is nearly singular, from G = VΛVᵀ.
func narrowed(x blas64.General) (a blas64.General, n *narrow) {
	g := linalg.NewSym(x.Rows)
	linalg.Syrk(blas.NoTrans, 1, x, 0, g)
	whole := mat.NewSymDense(x.Rows, nil)
	for i := range x.Rows {
		for j := i; j < x.Rows; j++ {
			whole.SetSym(i, j, g.Data[i*g.Stride+j])
		}
	}
	// singular is the least ratio of the smallest pivot to the largest. Pivots are square roots.
	const singular = 1e-5
	if u, ok := linalg.Cholesky(g); ok {
		least, most := math.Inf(1), 0.0
		for i := range u.N {
			v := u.Data[i*(u.Stride+1)]
			least, most = min(least, v), max(most, v)
		}
		if least > singular*most {
			a, t := linalg.NewGeneral(x.Rows, x.Rows), linalg.NewGeneral(x.Rows, x.Rows)
			for i := range u.N {
				for j := i; j < u.N; j++ {
					a.Data[j*a.Stride+i] = u.Data[i*u.Stride+j]
				}
			}
			linalg.InverseTri(u)
			for i := range u.N {
				copy(row(t, i)[i:], u.Data[i*u.Stride+i:i*u.Stride+u.N])
			}
			return a, narrowBy(t, x)
		}
	}
	var eigen mat.EigenSym
	eigen.Factorize(whole, true)
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	const zero = 1e-13 // relative to the largest eigenvalue
	var kept []int
	for k, v := range values {
		if v > zero*floats.Max(values) {
			kept = append(kept, k)
		}
	}
	columns := max(1, len(kept)) // if all inputs are 0, one column of zeros
	a, t := linalg.NewGeneral(x.Rows, columns), linalg.NewGeneral(x.Rows, columns)
	for i := range x.Rows {
		for l, k := range kept {
			v, root := vectors.At(i, k), math.Sqrt(values[k])
			a.Data[i*a.Stride+l], t.Data[i*t.Stride+l] = v*root, v/root
		}
	}
	return a, narrowBy(t, x)
}

// narrowBy computes Q = TᵀX̃.
func narrowBy(t, x blas64.General) *narrow {
	q := linalg.NewGeneral(t.Cols, x.Cols)
	linalg.Gemm(blas.Trans, blas.NoTrans, 1, t, x, 0, q)
	return &narrow{q}
}

// of returns zQᵀ for rows z, and for each row |z|² - |zQᵀ|².
func (n *narrow) of(z blas64.General) (short blas64.General, rest []float64) {
	short = linalg.NewGeneral(z.Rows, n.q.Rows)
	linalg.Gemm(blas.NoTrans, blas.Trans, 1, z, n.q, 0, short)
	for i := range z.Rows {
		z, s := row(z, i), row(short, i)
		rest = append(rest, max(floats.Dot(z, z)-floats.Dot(s, s), 0))
	}
	return short, rest
}

func row(a blas64.General, i int) []float64 { return a.Data[i*a.Stride : i*a.Stride+a.Cols] }
