package prior

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// differentiate computes what derivatives need, once per factor: the variances π_c q_c and the
// diagonals R_cc. The q are the posterior variances of f_c - Σ_d π_d f_d under Σ_i plus (1-α)(D_i⁻¹
// + α W_i)⁻¹, which the derivative of Penalty needs. Terms common to all classes are left out of
// the sums, so that these do not cancel.
func (k *inducingClasses) differentiate() {
	if k.variances != nil {
		return
	}
	alpha, q, r := k.priors[0].power, make([]float64, k.classes*k.n), make([]float64, k.classes*k.n)
	for i := range k.n {
		k.own(q, i, 1, 1, func(p *inducing) float64 { return p.independent[i] })
		if alpha < 1 {
			k.own(q, i, alpha, 1-alpha, func(p *inducing) float64 { return p.residual[i] })
		}
	}
	for c := range k.classes {
		k.coupling(k.of(c, r), c, c, 0)
	}
	k.invert()
	k.eachCentred(func(j0 int, y, w [][]float64) { // y and w belong to one row of U_M⁻ᵀ V̂_i
		for c := range k.classes {
			y, w := y[c], w[c]
			j1 := j0 + len(y)
			qc, rc, ec := k.of(c, q)[j0:j1], k.of(c, r)[j0:j1], k.of(c, k.e)[j0:j1]
			for i, v := range y {
				ev := ec[i] * v
				rc[i] -= ev * ev
				qc[i] += w[i] * w[i]
			}
		}
	})
	floats.Mul(q, k.pi)
	k.variances, k.diagonal = q, r
}

// own adds to q weight times the variances of f_c - Σ_d π_d f_d of case i under (diag(d)⁻¹ + α
// W_i)⁻¹.
func (k *inducingClasses) own(q []float64, i int, alpha, weight float64, d func(p *inducing) float64) {
	a, p, s := k.site(i, alpha, d)
	for c, ac := range a {
		rest, v := 0.0, 0.0
		for d, ad := range a {
			if pd := k.pi[d*k.n+i]; d != c {
				rest += pd
				v += pd * pd * ad
			}
		}
		q[c*k.n+i] += weight * (rest*rest*ac + v + alpha*p[c]*p[c]/s)
	}
}

// site returns a, p and s with (diag(d)⁻¹ + α W_i)⁻¹ = diag a + α p pᵀ/s up to a term common to all
// entries,
//
//	a_c = d_c/(1 + α π_c d_c),   p_c = π_c a_c - Σ_d π_d π_d a_d/S,   s = Σ_c π_c/(1 + α π_c d_c)
func (k *inducingClasses) site(i int, alpha float64, d func(p *inducing) float64) (a, p []float64, s float64) {
	a, p = make([]float64, k.classes), make([]float64, k.classes)
	for c := range a {
		pi, d := k.pi[c*k.n+i], d(k.prior(c))
		a[c] = d / (1 + alpha*pi*d)
		s += pi / (1 + alpha*pi*d)
	}
	for c := range p {
		for d := range a {
			if pd := k.pi[d*k.n+i]; d != c {
				p[c] += pd * (k.pi[c*k.n+i]*a[c] - pd*a[d])
			}
		}
		p[c] /= k.total(i)
	}
	return a, p, s
}

// invert computes U_M⁻¹, with zeros below its diagonal.
func (k *inducingClasses) invert() {
	if k.inverse.Data != nil {
		return
	}
	k.inverse = copyOf(k.um)
	linalg.InverseTri(k.inverse)
	for i := range k.inverse.N {
		clear(k.inverse.Data[i*k.inverse.Stride : i*k.inverse.Stride+i])
	}
}

// half sets x to the rows from cm on of U_M⁻ᵀ times w, m×b, which takes the place of V_c; the rows
// above are 0.
func (k *inducingClasses) half(x blas64.General, c int, w blas64.General) {
	m := k.size()
	from := blas64.General{Rows: m, Cols: (k.classes - c) * m, Stride: k.inverse.Stride,
		Data: k.inverse.Data[c*m*(k.inverse.Stride+1):]}
	linalg.Gemm(blas.Trans, blas.NoTrans, 1, from, w, 0, rows(x, c*m, k.classes*m))
}

// halves are the columns of U_M⁻ᵀ V̂_i for the cases j0 to j1, one matrix for every class.
func (k *inducingClasses) halves(j0, j1 int) (x []blas64.General, giveBack func()) {
	size, b := k.classes*k.size(), j1-j0
	all, giveBack := borrow(k.classes*size, b)
	for c := range k.classes {
		own := rows(all, c*size, (c+1)*size)
		clear(own.Data[:c*k.size()*b])
		k.half(own, c, columns(k.prior(c).v, j0, j1))
		x = append(x, own)
	}
	return x, giveBack
}

// eachCentred calls visit for every row of Y = U_M⁻ᵀ V̂_i and for ranges of cases, each from j0 on.
// For every class, y has y_c - ȳ with ȳ = Σ_d ε_d y_d/s, and w has w_c - Σ_d π_d w_d/S. Here w_c =
// (y_c - ȳ)/(1 + π_c Λ_c), which is Tᵀy up to a term common to all classes. Calls for other cases
// may be concurrent.
func (k *inducingClasses) eachCentred(visit func(j0 int, y, w [][]float64)) {
	m := k.size()
	eachPart(k.n, max(16, casesAtOnce/k.classes), func(j0, j1 int) {
		b := j1 - j0
		x, giveBack := k.halves(j0, j1)
		defer giveBack()
		y, w, left := k.several(b), k.several(b), k.several(b)
		for c := range left {
			for i := range b {
				left[c][i] = 1 / (1 + k.pi[c*k.n+j0+i]*k.prior(c).independent[j0+i])
			}
		}
		common, mean, total := make([]float64, b), make([]float64, b), make([]float64, b)
		for i := range total {
			total[i] = k.total(j0 + i)
		}
		for row := range k.classes * m {
			clear(common)
			clear(mean)
			for c := range x {
				from, e := x[c].Data[row*b:(row+1)*b], k.of(c, k.e)[j0:j1]
				for i, v := range from {
					common[i] += e[i] * v
				}
			}
			floats.Div(common, k.sum[j0:j1])
			for c := range x {
				from, pi, left := x[c].Data[row*b:(row+1)*b], k.of(c, k.pi)[j0:j1], left[c][:b]
				y, w, common, mean := y[c][:b], w[c][:b], common[:b], mean[:b]
				for i, v := range from {
					v -= common[i]
					y[i] = v
					v *= left[i]
					w[i] = v
					mean[i] += pi[i] * v
				}
			}
			for i := range mean {
				mean[i] /= total[i]
			}
			for c := range x {
				floats.Sub(w[c], mean)
			}
			visit(j0, y, w)
		}
	})
}

// Marginals implements Classes. The part of a covariance that is specific to each class is (Λ_i⁻¹ +
// D)⁻¹.
func (k *inducingClasses) Marginals(visit func(i int, own, cavityShare []float64, sigma *mat.SymDense)) {
	k.invert()
	sum := make([]float64, k.classes*k.classes*k.n)
	k.eachCentred(func(j0 int, _, w [][]float64) {
		for c := range w {
			for d := c; d < k.classes; d++ {
				to := sum[(c*k.classes+d)*k.n+j0:]
				for i, v := range w[c] {
					to[i] += v * w[d][i]
				}
			}
		}
	})
	linalg.Rows(k.n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			own, p, s := k.site(i, 1, func(p *inducing) float64 { return p.independent[i] })
			sigma, left := mat.NewSymDense(k.classes, nil), make([]float64, k.classes)
			for c := range own {
				left[c] = 1 / (1 + k.pi[c*k.n+i]*k.prior(c).independent[i])
				for d := c; d < k.classes; d++ {
					sigma.SetSym(c, d, sum[(c*k.classes+d)*k.n+i]+p[c]*p[d]/s)
				}
				sigma.SetSym(c, c, sigma.At(c, c)+own[c])
			}
			visit(i, own, left, sigma)
		}
	})
}

// several is a vector of b numbers for every class.
func (k *inducingClasses) several(b int) [][]float64 {
	v := make([][]float64, k.classes)
	for c := range v {
		v[c] = make([]float64, b)
	}
	return v
}

// invertFull computes the full M⁻¹, folded.
func (k *inducingClasses) invertFull() {
	if k.full.Data != nil {
		return
	}
	k.invert()
	k.full = all(linalg.SquareTri(k.inverse))
	k.inverse.Data = nil // its memory is reused
	linalg.Reflect(blas.Lower, k.full, k.full)
	k.fold(k.full)
}

// fold sets the blocks of a symmetric matrix above the diagonal ones, for a shared prior, to the
// sum of each and its transpose.
func (k *inducingClasses) fold(a blas64.General) {
	if len(k.priors) > 1 {
		return
	}
	m := k.size()
	at := func(c, d, i, j int) *float64 { return &a.Data[(c*m+i)*a.Stride+d*m+j] }
	for c := range k.classes {
		for d := c + 1; d < k.classes; d++ {
			for i := range m {
				for j := range m {
					*at(c, d, i, j) += *at(d, c, i, j)
				}
			}
		}
	}
}
