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
	if g.Gamma != nil {
		p.pullVariances(raw, j, g.Gamma)
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
func (p *denseClasses) Squares() func(dst, x []float64) {
	pairs := make([][]blas64.General, p.classes) // a matrix for each a and c ≥ a
	p.Covariances(func(a, c int, s blas64.General) {
		floats.Mul(s.Data, s.Data)
		pairs[a] = append(pairs[a], s)
	})
	return func(dst, x []float64) {
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

// pullVariances adds to dst, for the classes of covariance j and with A_c = (I - X_c)ᵀ and
// T_c = M⁻ᵀE_c,
//
//	[(I - R K) Γ (I - K R)]_cc = A_cᵀ diag(α_c) A_c + A_cᵀR_cᵀT_c + T_cᵀR_c A_c + T_cᵀS T_c
//	α_c = Σ_a γ_a (p_c - δ_ac)²,  R_c = Σ_a (p_c - δ_ac) Y_a diag γ_a,  S = Σ_a Y_a diag(γ_a) Y_aᵀ
func (p *denseClasses) pullVariances(dst blas64.Symmetric, j int, gamma []float64) {
	n, k := p.n, p.contrasts()
	matrix := func() blas64.General { return linalg.NewGeneral(n, n) }
	inner, sum := linalg.NewSym(n), matrix() // S, Σ_a Y_a diag γ_a
	for a, y := range k.y {
		linalg.SyrkDiag(blas.NoTrans, 1, y, p.of(a, gamma), 1, inner)
	}
	eachRow(n, func(r int) {
		row := sum.Data[r*n : (r+1)*n]
		for a, y := range k.y {
			for i, v := range y.Data[r*n : (r+1)*n] {
				row[i] += v * gamma[a*n+i]
			}
		}
	})
	part, t, half, whole := matrix(), matrix(), matrix(), matrix()
	for c := range p.classes {
		if len(p.k) > 1 && c != j {
			continue
		}
		k.prepare(part, t, c, sum, gamma)
		linalg.SolveTri(blas.Trans, p.m, t)
		linalg.Gemm(blas.Trans, blas.NoTrans, 1, part, t, 0, half)
		k.addHalf(half, c, gamma)
		linalg.Symm(0.5, inner, t, 0, part)
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

// prepare sets part to R_c and t to E_c, given Σ_a Y_a diag γ_a.
func (k contrasts) prepare(part, t blas64.General, c int, sum blas64.General, gamma []float64) {
	n, root, left, bInverse := k.n, k.of(c, k.root), k.of(c, k.left), k.u[c].Data
	y, share, own := k.y[c], k.of(c, k.p), k.of(c, gamma)
	eachRow(n, func(r int) {
		for i := range n {
			v := bInverse[max(i, r)*n+min(i, r)]
			if i == r {
				v = left[i]
			}
			t.Data[r*n+i] = root[r] * v * root[i]
			part.Data[r*n+i] = share[i]*sum.Data[r*n+i] - y.Data[r*n+i]*own[i]
		}
	})
}

// addHalf adds ½ diag(α_c) A_c to half.
func (k contrasts) addHalf(half blas64.General, c int, gamma []float64) {
	n, share := k.n, k.of(c, k.p)
	eachRow(n, func(i int) {
		weight := 0.0
		for a := range k.classes {
			p := share[i]
			if a == c {
				p = 1 - p
			}
			weight += gamma[a*n+i] * p * p
		}
		for l := range n {
			half.Data[i*n+l] -= weight / 2 * k.x[c].Data[l*n+i]
		}
		half.Data[i*n+i] += weight / 2
	})
}
