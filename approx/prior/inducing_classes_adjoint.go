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
	k.eachCentred(func(j0 int, y, w [][]float64) { // of one row of U_M⁻ᵀ V̂_i
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

// eachCentred calls visit with every row of Y = U_M⁻ᵀ V̂_i for the cases from j0 on, and there of
// every class y_c - ȳ, ȳ = Σ_d ε_d y_d/s, and w_c - Σ_d π_d w_d of w = Tᵀy up to a common term,
// (y_c - ȳ)/(1 + π_c Λ_c). Calls for other cases may be concurrent.
func (k *inducingClasses) eachCentred(visit func(j0 int, y, w [][]float64)) {
	m, size := k.size(), max(16, casesAtOnce/k.classes)
	eachPart(k.n, size, func(j0, j1 int) {
		b := j1 - j0
		x := make([]blas64.General, k.classes)
		for c := range x {
			var giveBack func()
			x[c], giveBack = borrow(k.classes*m, b)
			defer giveBack()
			clear(x[c].Data[:c*m*b])
			k.half(x[c], c, columns(k.prior(c).v, j0, j1))
		}
		y, w, left := k.several(b), k.several(b), k.several(b)
		for c := range left {
			for i := range b {
				left[c][i] = 1 / (1 + k.pi[c*k.n+j0+i]*k.prior(c).independent[j0+i])
			}
		}
		common, mean := make([]float64, b), make([]float64, b)
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

// Pull implements Classes. As V_c R_cc = Σ_d [M⁻¹]_cd V_d diag(E_dc),
//
//	V_c G_c = ½ Σ_k (V_c p_k q_kᵀ + V_c q_k p_kᵀ)_c - ½ Σ_d [M⁻¹]_cd V_d diag(E_dc)
func (k *inducingClasses) Pull(dst *Cov, j int, products func(variances []float64) (p, q [][]float64)) {
	k.differentiate()
	var g Adjoint
	g.P, g.Q = products(k.variances)
	k.invertFull()
	classes := []int{j}
	if len(k.priors) == 1 {
		classes = classes[:0]
		for c := range k.classes {
			classes = append(classes, c)
		}
	}
	noise, residual, slopes, p := make([]float64, k.n), make([]float64, k.n), k.penaltySlopes(), k.priors[j]
	outers := make([]outer, len(classes))
	for a, c := range classes {
		own := g.ofClass(c, k.n)
		for r, pc := range own.P {
			for i := range noise {
				noise[i] += pc[i] * own.Q[r][i]
			}
		}
		floats.AddScaled(noise, -0.5, k.of(c, k.diagonal))
		floats.Sub(residual, k.of(c, slopes))
		outers[a] = p.outer(own.P, own.Q)
	}
	p.pull(dst, noise, residual, func(x blas64.General, j0, j1 int) {
		for a, c := range classes {
			k.information(x, c, j0, j1, float64(min(a, 1)))
		}
		for _, o := range outers {
			o.add(x, j0, j1)
		}
	})
}

// information sets x to beta x - ½ V_c R_cc, columns j0 to j1; for a shared prior, the sum over all
// classes uses every pair once.
func (k *inducingClasses) information(x blas64.General, c, j0, j1 int, beta float64) {
	m, first := k.size(), 0
	if len(k.priors) == 1 {
		first = c
	}
	stack, giveBack := borrow((k.classes-first)*m, j1-j0)
	defer giveBack()
	weights := make([]float64, j1-j0)
	for d := first; d < k.classes; d++ {
		k.coupling(weights, d, c, j0)
		scaleColumns(rows(stack, (d-first)*m, (d-first+1)*m), columns(k.prior(d).v, j0, j1), weights)
	}
	from := rows(k.full, c*m, (c+1)*m)
	from = columns(from, first*m, k.full.Cols)
	linalg.Gemm(blas.NoTrans, blas.NoTrans, -0.5, from, stack, beta, x)
}

// invertFull computes the full M⁻¹; for a shared prior, above the diagonal blocks, the sum of a
// block and its transpose.
func (k *inducingClasses) invertFull() {
	if k.full.Data != nil {
		return
	}
	m := k.size()
	k.invert()
	k.full = all(linalg.SquareTri(k.inverse))
	k.inverse.Data = nil // its memory is reused
	linalg.Reflect(blas.Lower, k.full, k.full)
	if len(k.priors) > 1 {
		return
	}
	at := func(c, d, i, j int) *float64 { return &k.full.Data[(c*m+i)*k.full.Stride+d*m+j] }
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
