package prior

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

func (p *denseClasses) Pull(dst *Cov, j int, adjoint func(variances []float64) Adjoint) {
	CheckAdjoint(dst.K, p.n)
	p.differentiate()
	g := adjoint(p.variances)
	raw, from := dst.K.RawSymmetric(), p.information[j]
	eachRow(p.n, func(i int) {
		row := raw.Data[i*raw.Stride+i : i*raw.Stride+p.n]
		floats.ScaleTo(row, g.C, from.Data[i*p.n+i:(i+1)*p.n])
		for c := range p.classes {
			if len(p.k) == 1 || c == j {
				g.ofClass(c, p.n).addProducts(row, i)
			}
		}
	})
	if g.Pairs.data != nil {
		p.pullCovariances(raw, j, g.Pairs)
	}
}

// shares sets dst to the π_c/S of classes.
func shares(dst, pi []float64, n int) {
	for i := range n {
		sum := 0.0
		for j := i; j < len(pi); j += n {
			sum += pi[j]
		}
		for j := i; j < len(pi); j += n {
			dst[j] = pi[j] / sum
		}
	}
}

// contrasts are x_c = Σ_d p_d f_d - f_c of all cases, p = π/S. With X_c = E_c K_c and
// V_c = K_c - K_c E_c K_c,
//
//	Cov f = δ_cd V_c + Q_cᵀQ_d,   Q_c = M⁻ᵀ X_c,   (I - K R)_bc = δ_bc (I - X_c)ᵀ + Q_bᵀ M⁻ᵀE_c
//
// In the same formula for Cov x, Y_c = Σ_d Q_d diag(p_d) - Q_c takes the place of Q_c.
type contrasts struct {
	*denseClasses
	p    []float64        // p
	x, y []blas64.General // X_c, and Y_c
}

func (p *denseClasses) contrasts() contrasts {
	n, size := p.n, p.classes*p.n
	k := contrasts{denseClasses: p, p: make([]float64, size)}
	shares(k.p, p.pi, n)
	for c, q := range p.products() {
		x, y := linalg.NewGeneral(n, n), linalg.NewGeneral(n, n)
		p.multiplyPrior(x, c)
		copy(y.Data, q.Data)
		k.x, k.y = append(k.x, x), append(k.y, y)
	}
	eachRow(n, func(r int) {
		mean := make([]float64, n)
		for c, y := range k.y {
			for i, v := range y.Data[r*n : (r+1)*n] {
				mean[i] += k.p[c*n+i] * v
			}
		}
		for _, y := range k.y {
			row := y.Data[r*n : (r+1)*n]
			floats.SubTo(row, mean, row)
		}
	})
	return k
}

// Covariances implements JointMarginals.
func (p *denseClasses) Covariances(visit func(a, c int, s blas64.General)) {
	n, k := p.n, p.contrasts()
	own := func(c, i, j int) float64 { // [V_c]_ij
		r := p.of(c, p.root)[i]
		return k.x[c].Data[i*n+j] / (r * r)
	}
	common := linalg.NewGeneral(n, n) // Σ_c p_c V_c p_c
	eachRow(n, func(i int) {
		for c := range p.classes {
			for j := range n {
				common.Data[i*n+j] += k.p[c*n+i] * own(c, i, j) * k.p[c*n+j]
			}
		}
	})
	for a := range p.classes {
		for c := a; c < p.classes; c++ {
			s := linalg.NewGeneral(n, n)
			linalg.Gemm(blas.Trans, blas.NoTrans, 1, k.y[a], k.y[c], 0, s)
			eachRow(n, func(i int) {
				for j := range n {
					v := s.Data[i*n+j] + common.Data[i*n+j] - own(a, i, j)*k.p[a*n+j] - k.p[c*n+i]*own(c, i, j)
					if a == c {
						v += own(a, i, j)
					}
					s.Data[i*n+j] = v
				}
				s.Data[i*n+i] = 0
			})
			visit(a, c, s)
		}
	}
}

// Squares implements Classes, with n² numbers for every pair of classes.
func (p *denseClasses) Squares(gamma Pairs) (of []float64, product func(dst, x []float64)) {
	pairs := make([][]blas64.General, p.classes) // a matrix for each a and c ≥ a
	p.Covariances(func(a, _ int, s blas64.General) { pairs[a] = append(pairs[a], s) })
	if gamma.data != nil {
		of = p.squaresOf(pairs, gamma)
	}
	for _, of := range pairs {
		for _, s := range of {
			floats.Mul(s.Data, s.Data)
		}
	}
	return of, func(dst, x []float64) {
		clear(dst)
		for a, of := range pairs {
			for offset, s := range of {
				c := a + offset
				linalg.Gemv(blas.NoTrans, 1, s, p.of(c, x), 1, p.of(a, dst))
				if c > a {
					linalg.Gemv(blas.Trans, 1, s, p.of(a, x), 1, p.of(c, dst))
				}
			}
		}
	}
}

// squaresOf are the Σ_j Σ_cd γ_j^cd s_ij^ac s_ij^ad, given the covariances s^ac of pairs a ≤ c.
func (p *denseClasses) squaresOf(pairs [][]blas64.General, gamma Pairs) []float64 {
	n, dst := p.n, make([]float64, p.classes*p.n)
	linalg.Rows(n, func(i0, i1 int) {
		s, columns := make([][]float64, p.classes), linalg.NewGeneral(p.classes, n)
		for i := i0; i < i1; i++ {
			for a := range p.classes {
				for c := range a {
					s[c] = columns.Data[c*n : (c+1)*n]
					for j := range n {
						s[c][j] = pairs[c][a-c].Data[j*n+i]
					}
				}
				for c := a; c < p.classes; c++ {
					s[c] = pairs[a][c-a].Data[i*n : (i+1)*n]
				}
				gamma.each(func(c, d int, weights []float64) {
					left, right, sum := s[c], s[d], 0.0
					for j, w := range weights {
						sum += w * left[j] * right[j]
					}
					dst[a*n+i] += sum
				})
			}
		}
	})
	return dst
}

// pullCovariances adds to dst, for the classes of covariance j and with A_c = (I - X_c)ᵀ and
// T_c = M⁻ᵀE_c,
//
//	[(I - R K) Γ (I - K R)]_cc = A_cᵀ diag(α_c) A_c + A_cᵀR_cᵀT_c + T_cᵀR_c A_c + T_cᵀS T_c
//	α_c = Σ_ab γ_ab (p_c - δ_ac)(p_c - δ_bc),  R_c = Σ_ab Y_a diag(γ_ab (p_c - δ_bc))
//	S = Σ_ab Y_a diag(γ_ab) Y_bᵀ
func (p *denseClasses) pullCovariances(dst blas64.Symmetric, j int, gamma Pairs) {
	n, k := p.n, p.contrasts()
	matrix := func() blas64.General { return linalg.NewGeneral(n, n) }
	part, t, half, whole := matrix(), matrix(), matrix(), matrix()
	inner, sum := matrix(), matrix()         // S, Σ_ab Y_a diag γ_ab
	sums := func(to blas64.General, b int) { // adds Σ_a Y_a diag γ_ab
		eachRow(n, func(r int) {
			row := to.Data[r*n : (r+1)*n]
			gamma.each(func(a, d int, weights []float64) {
				if d == b {
					for i, v := range k.y[a].Data[r*n : (r+1)*n] {
						row[i] += v * weights[i]
					}
				}
			})
		})
	}
	for b, y := range k.y {
		clear(part.Data)
		sums(part, b)
		floats.Add(sum.Data, part.Data)
		linalg.Gemm(blas.NoTrans, blas.Trans, 1, part, y, 1, inner)
	}
	symmetric := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: inner.Data}
	for c := range p.classes {
		if len(p.k) > 1 && c != j {
			continue
		}
		clear(half.Data)
		sums(half, c)
		k.prepare(part, t, c, sum, half)
		linalg.SolveTri(blas.Trans, p.m, t)
		linalg.Gemm(blas.Trans, blas.NoTrans, 1, part, t, 0, half)
		k.addHalf(half, c, gamma)
		linalg.Symm(0.5, symmetric, t, 0, part)
		copy(whole.Data, half.Data)
		linalg.Gemm(blas.NoTrans, blas.NoTrans, -1, k.x[c], half, 1, whole)
		linalg.Gemm(blas.Trans, blas.NoTrans, 1, t, part, 1, whole)
		eachRow(n, func(i int) {
			row := dst.Data[i*dst.Stride+i : i*dst.Stride+n]
			for l := range row {
				row[l] += whole.Data[i*n+i+l] + whole.Data[(i+l)*n+i]
			}
		})
	}
}

// prepare sets part to R_c and t to E_c, given Σ_ab Y_a diag γ_ab and Σ_a Y_a diag γ_ac.
func (k contrasts) prepare(part, t blas64.General, c int, sum, own blas64.General) {
	n, root, left, bInverse, share := k.n, k.of(c, k.root), k.of(c, k.left), k.u[c].Data, k.of(c, k.p)
	eachRow(n, func(r int) {
		for i := range n {
			v := bInverse[max(i, r)*n+min(i, r)]
			if i == r {
				v = left[i]
			}
			t.Data[r*n+i] = root[r] * v * root[i]
			part.Data[r*n+i] = share[i]*sum.Data[r*n+i] - own.Data[r*n+i]
		}
	})
}

// addHalf adds ½ diag(α_c) A_c to half.
func (k contrasts) addHalf(half blas64.General, c int, gamma Pairs) {
	n, share, weights := k.n, k.of(c, k.p), make([]float64, k.n)
	gamma.each(func(a, b int, own []float64) {
		for i, p := range share {
			left, right := p, p
			if a == c {
				left = p - 1
			}
			if b == c {
				right = p - 1
			}
			weights[i] += own[i] * left * right
		}
	})
	eachRow(n, func(i int) {
		for l := range n {
			half.Data[i*n+l] -= weights[i] / 2 * k.x[c].Data[l*n+i]
		}
		half.Data[i*n+i] += weights[i] / 2
	})
}
