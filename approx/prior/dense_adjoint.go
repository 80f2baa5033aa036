package prior

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// invert sets v to U⁻¹, and returns the diagonal of B⁻¹.
func (d *Dense) invert(v blas64.General) []float64 {
	n, diagonal := len(d.root), make([]float64, len(d.root))
	eachRow(n, func(i int) { copy(v.Data[i*n+i:(i+1)*n], d.u.Data[i*d.u.Stride+i:i*d.u.Stride+n]) })
	if !d.uninformative() { // else it is the identity
		linalg.InverseTri(upper(v))
	}
	eachRow(n, func(i int) {
		row := v.Data[i*n+i : (i+1)*n]
		diagonal[i] = floats.Dot(row, row)
	})
	return diagonal
}

// inverseTo sets dst to B⁻¹.
func (d *Dense) inverseTo(dst blas64.Symmetric) {
	n := len(d.root)
	eachRow(n, func(i int) {
		copy(dst.Data[i*dst.Stride+i:i*dst.Stride+n], d.u.Data[i*d.u.Stride+i:i*d.u.Stride+n])
	})
	linalg.InverseCholesky(upper(all(dst)))
	d.inverse.diagonal = make([]float64, n)
	for i := range d.inverse.diagonal {
		d.inverse.diagonal[i] = dst.Data[i*dst.Stride+i]
	}
}

// wholeInverse is B⁻¹, both triangles, kept until the next factor.
func (d *Dense) wholeInverse() blas64.General {
	n := len(d.root)
	switch {
	case d.inverse.whole:
		return d.inverse.a
	case d.inverse.a.Data != nil: // U⁻¹
		linalg.SquareTri(upper(d.inverse.a))
	default:
		d.inverse.a = linalg.NewGeneral(n, n)
		d.inverseTo(blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: d.inverse.a.Data})
	}
	linalg.Reflect(blas.Lower, d.inverse.a, d.inverse.a)
	d.inverse.whole = true
	return d.inverse.a
}

// inverseDiagonal is the diagonal of B⁻¹.
func (d *Dense) inverseDiagonal() []float64 {
	if d.inverse.diagonal == nil {
		d.wholeInverse()
	}
	return d.inverse.diagonal
}

// Variances implements Prior: Σ_ii = (1 - [B⁻¹]_ii)/τ_i.
func (d *Dense) Variances() []float64 {
	v, diagonal := make([]float64, len(d.root)), d.inverseDiagonal()
	for i, r := range d.root {
		if v[i] = 1 - diagonal[i]; r > leastRoot {
			v[i] /= r * r
		}
	}
	return v
}

// Marginals implements Prior.
func (d *Dense) Marginals() []Marginal {
	n := len(d.root)
	if d.inverse.a.Data == nil {
		d.inverse.a = linalg.NewGeneral(n, n)
		d.inverse.diagonal = d.invert(d.inverse.a)
	}
	var weak []int
	for i, r := range d.root {
		if !(r*r*d.Variance(i) > 1) {
			weak = append(weak, i)
		}
	}
	// left is v, and raised the part of v due to sites of negative precision
	left, raised := make([]float64, n), make([]float64, n)
	d.remaining(left, weak)
	linalg.AddSquares(1, d.negative.fk, raised)
	m := make([]Marginal, n)
	for i, v := range left {
		// Rounding errors may dominate if 1 - τ_i v_i, or the variance of f_i given the other
		// cases, is computed as a difference. 1 - τ_i v_i = [B⁻¹]_ii has no difference.
		tau, share := d.root[i]*d.root[i], d.inverse.diagonal[i]
		if tau*d.Variance(i) > 1 {
			v, m[i].Rounding = (1-share)/tau, 8*eps*d.Variance(i)
		}
		v += raised[i]
		m[i].Variance, m[i].CavityShare = max(v, 0), max(share-tau*raised[i]-d.negative.tau[i]*v, eps)
	}
	return m
}

// remaining sets dst[j] = K_jj - |U⁻ᵀ S^½ k_j|² for some cases, with k_j their columns of K: the
// variances given sites τ ≥ 0.
func (d *Dense) remaining(dst []float64, cases []int) {
	for _, j := range cases {
		dst[j] = d.Variance(j)
	}
	m := len(cases)
	if m == 0 || d.uninformative() {
		return
	}
	x := linalg.NewGeneral(len(d.root), m)
	eachRow(x.Rows, func(i int) {
		for a, j := range cases {
			x.Data[i*m+a] = d.root[i] * d.at(i, j)
		}
	})
	linalg.SolveTri(blas.Trans, d.u, x)
	for i := range x.Rows {
		for a, j := range cases {
			dst[j] -= x.Data[i*m+a] * x.Data[i*m+a]
		}
	}
}

// Pull implements Prior. The weights γ become weights on B⁻¹, because I - RK = S^½ B⁻¹ S^-½ + FᵀFK.
func (d *Dense) Pull(dst *Cov, adjoint func(variances []float64) Adjoint) {
	n, raw := len(d.root), dst.K.RawSymmetric()
	CheckAdjoint(dst.K, n)
	source := raw // of B⁻¹
	if d.inverse.whole {
		source = blas64.Symmetric{N: n, Stride: n, Data: d.inverse.a.Data}
	} else {
		d.inverseTo(raw)
	}
	g := adjoint(d.Variances())
	c, negative := g.C/2, d.negative.f.Rows > 0
	if g.Gamma != nil {
		d.pullVariances(raw, g.Gamma, c)
	}
	eachRow(n, func(i int) {
		row, root := raw.Data[i*raw.Stride+i:i*raw.Stride+n], d.root[i:n]
		if g.Gamma == nil {
			c := c * d.root[i]
			for j, r := range source.Data[i*source.Stride+i : i*source.Stride+n] {
				row[j] = -c * r * root[j]
			}
		}
		g.addProducts(row, i)
	})
	if negative && c != 0 {
		linalg.Syrk(blas.Trans, c, d.negative.f, 1, raw)
	}
}

// pullVariances sets dst to (I - R K) diag(γ) (I - K R) - c S^½ B⁻¹ S^½.
func (d *Dense) pullVariances(dst blas64.Symmetric, gamma []float64, c float64) {
	n, inverse := len(d.root), d.wholeInverse()
	if d.negative.f.Rows == 0 {
		weights := make([]float64, n)
		for i, v := range gamma {
			weights[i] = v / d.root[i] / d.root[i]
		}
		linalg.SyrkDiag(blas.NoTrans, 1, inverse, weights, 0, dst)
		eachRow(n, func(i int) {
			row, root := dst.Data[i*dst.Stride+i:i*dst.Stride+n], d.root[i:n]
			for j, r := range inverse.Data[i*n+i : (i+1)*n] {
				row[j] = d.root[i] * root[j] * (row[j] - c*r)
			}
		})
		return
	}
	rest := linalg.NewGeneral(n, n) // I - R K
	eachRow(n, func(i int) {
		for j, r := range d.root {
			rest.Data[i*n+j] = d.root[i] * inverse.Data[i*n+j] / r
		}
	})
	linalg.Gemm(blas.Trans, blas.NoTrans, 1, d.negative.f, d.negative.fk, 1, rest)
	linalg.SyrkDiag(blas.NoTrans, 1, rest, gamma, 0, dst)
	eachRow(n, func(i int) {
		row, root := dst.Data[i*dst.Stride+i:i*dst.Stride+n], d.root[i:n]
		for j, r := range inverse.Data[i*n+i : (i+1)*n] {
			row[j] -= c * d.root[i] * root[j] * r
		}
	})
}

// Diagonal implements Prior, for τ ≥ 0.
func (d *Dense) Diagonal(g Adjoint) []float64 {
	n := len(d.root)
	diagonal, shares := make([]float64, n), d.inverseDiagonal()
	if g.Gamma != nil {
		inverse := d.wholeInverse()
		eachRow(n, func(i int) {
			for j, v := range g.Gamma {
				x := d.root[i] * inverse.Data[i*n+j] / d.root[j]
				diagonal[i] += v * x * x
			}
		})
	}
	for i, r := range d.root {
		diagonal[i] -= g.C / 2 * r * r * shares[i]
		for k, p := range g.P {
			diagonal[i] += p[i] * g.Q[k][i]
		}
	}
	return diagonal
}

// Information implements Fisher.
func (d *Dense) Information(dst *mat.SymDense) {
	d.Pull(&Cov{K: dst}, Adjoint{C: -2}.Constant)
}

// Jacobian implements Prior.
func (d *Dense) Jacobian(sigma []float64) func(dst, x []float64) {
	n := len(d.root)
	correlation, square := linalg.NewSym(n), linalg.NewSym(n)
	inverse := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: d.wholeInverse().Data}
	d.correlate(sigma, correlation, square, inverse)
	return byCorrelation(correlation, square)
}

// byCorrelation is a Jacobian, given the correlations and their squares.
func byCorrelation(correlation, square blas64.Symmetric) func(dst, x []float64) {
	n := correlation.N
	row := func(x []float64) blas64.General { return blas64.General{Rows: 1, Cols: n, Stride: n, Data: x} }
	return func(dst, x []float64) {
		// uses several threads, unlike Symv
		linalg.SymvRows(1, correlation, row(x[:n]), 0, row(dst[:n]))
		linalg.SymvRows(-1, square, row(x[n:]), 0, row(dst[n:]))
	}
}

// correlate sets dst to the correlations of the posterior, and square to their squares. For τ ≥ 0
// the correlations off the diagonal are -[B⁻¹]_ij/√(τ_i v_i τ_j v_j), because B⁻¹ = I - S^½ Σ S^½.
// dst, square and inverse may share memory.
func (d *Dense) correlate(sigma []float64, dst, square, inverse blas64.Symmetric) {
	scale, n := make([]float64, len(sigma)), len(sigma)
	for i, v := range sigma {
		if scale[i] = 1 / (math.Sqrt(v) * d.root[i]); v == 0 { // f_i is known
			scale[i] = 0
		}
	}
	correlations(dst, square, inverse, -1, scale)
	if d.negative.f.Rows == 0 {
		return
	}
	raised := d.negative.raised()
	eachRow(n, func(i int) {
		row, squares := dst.Data[i*n+i:(i+1)*n], square.Data[i*n+i:(i+1)*n]
		for j, v := range raised.Data[i*n+i+1 : (i+1)*n] {
			row[1+j] += v * scale[i] * d.root[i] * scale[i+1+j] * d.root[i+1+j]
			squares[1+j] = row[1+j] * row[1+j]
		}
	})
}

// correlations sets dst to sign s_i s_j a_ij, and to 1 on the diagonal, and square to the squares.
func correlations(dst, square, a blas64.Symmetric, sign float64, s []float64) {
	n := a.N
	eachRow(n, func(i int) {
		scale, row, squares := sign*s[i], dst.Data[i*n+i:(i+1)*n], square.Data[i*n+i:(i+1)*n]
		for j, v := range a.Data[i*n+i : (i+1)*n] {
			c := v * scale * s[i+j]
			row[j], squares[j] = c, c*c
		}
		row[0], squares[0] = 1, 1
	})
}
