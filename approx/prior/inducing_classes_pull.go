package prior

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Pull implements Classes. As V_c R_cc = Σ_d [M⁻¹]_cd V_d diag(E_dc),
//
//	V_c G_c = ½ Σ_k (V_c p_k q_kᵀ + V_c q_k p_kᵀ)_c - ½ c Σ_d [M⁻¹]_cd V_d diag(E_dc)
//
// plus what Γ adds, see weighted.
func (k *inducingClasses) Pull(dst *Cov, j int, adjoint func(variances []float64) Adjoint) {
	k.differentiate()
	g := adjoint(k.variances)
	var spread weighted
	if g.Gamma != nil {
		spread = k.weighted(g.Gamma)
	}
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
		floats.AddScaled(noise, -g.C/2, k.of(c, k.diagonal))
		if g.Gamma != nil {
			floats.Add(noise, k.of(c, spread.diagonal))
		}
		floats.Sub(residual, k.of(c, slopes))
		outers[a] = p.outer(own.P, own.Q)
	}
	p.pull(dst, noise, residual, func(x blas64.General, j0, j1 int) {
		for a, c := range classes {
			k.blocks(x, c, j0, j1, float64(min(a, 1)), k.full, func(dst []float64, d int) {
				k.coupling(dst, d, c, j0)
				floats.Scale(-g.C/2, dst)
				if g.Gamma != nil {
					floats.Add(dst, spread.between(d, c)[j0:j1])
				}
			})
			if g.Gamma != nil {
				k.blocks(x, c, j0, j1, 1, spread.middle, func(dst []float64, d int) {
					k.coupling(dst, d, c, j0)
					floats.Scale(-1, dst)
				})
			}
		}
		for _, o := range outers {
			o.add(x, j0, j1)
		}
	})
}

// blocks sets x to beta x + Σ_d A_cd V_d diag(e_dc), columns j0 to j1, with A folded and e_dc
// symmetric; for a shared prior, the sum over all classes uses every pair once. between sets dst to
// e_dc of the cases.
func (k *inducingClasses) blocks(
	x blas64.General, c, j0, j1 int, beta float64, a blas64.General, between func(dst []float64, d int),
) {
	m, first := k.size(), 0
	if len(k.priors) == 1 {
		first = c
	}
	stack, giveBack := borrow((k.classes-first)*m, j1-j0)
	defer giveBack()
	weights := make([]float64, j1-j0)
	for d := first; d < k.classes; d++ {
		between(weights, d)
		scaleColumns(rows(stack, (d-first)*m, (d-first+1)*m), columns(k.prior(d).v, j0, j1), weights)
	}
	from := columns(rows(a, c*m, (c+1)*m), first*m, a.Cols)
	linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, from, stack, beta, x)
}

// weighted is what weights on variances add to an adjoint. With Γ̃ = T Γ Tᵀ, as V̂ (I - R K̂) =
// M⁻¹V̂ T,
//
//	(I - R K̂) Γ (I - K̂ R) = (I - E V̂ᵀM⁻¹V̂) Γ̃ (I - V̂ᵀM⁻¹V̂ E)
//	V̂ (I - R K̂) Γ (I - K̂ R) = M⁻¹V̂ Γ̃ - M⁻¹(V̂ Γ̃ V̂ᵀ)M⁻¹ V̂ E
type weighted struct {
	classes, n int
	gamma      []float64      // Γ̃, for every pair of classes
	middle     blas64.General // M⁻¹(V̂ Γ̃ V̂ᵀ)M⁻¹, folded
	diagonal   []float64      // of the first line
}

// between are the entries of Γ̃ of two classes.
func (w weighted) between(c, d int) []float64 {
	from := (c*w.classes + d) * w.n
	return w.gamma[from : from+w.n]
}

// square is the part of a case of numbers for every pair of classes.
func (k *inducingClasses) square(i int, of func(c, d int) float64) blas64.General {
	a := linalg.NewGeneral(k.classes, k.classes)
	for c := range k.classes {
		for d := range k.classes {
			a.Data[c*k.classes+d] = of(c, d)
		}
	}
	return a
}

// weighted computes it for the weights γ on the variances of f_c - Σ_d p_d f_d, p = π/S:
//
//	Γ_i = diag γ - p γᵀ - γ pᵀ + (Σγ) p pᵀ
func (k *inducingClasses) weighted(gamma []float64) weighted {
	n, m, classes := k.n, k.size(), k.classes
	v := func(n int) []float64 { return make([]float64, n) }
	w, p := weighted{classes: classes, n: n, gamma: v(classes * classes * n), diagonal: v(classes * n)}, v(classes*n)
	shares(p, k.pi, n)
	product := func(tA, tB blas.Transpose, a, b blas64.General) blas64.General {
		c := linalg.NewGeneral(classes, classes)
		blas64.Gemm(tA, tB, 1, a, b, 0, c)
		return c
	}
	for i := range n {
		sum := 0.0
		for c := range classes {
			sum += gamma[c*n+i]
		}
		own := k.square(i, func(c, d int) float64 {
			pc, pd := p[c*n+i], p[d*n+i]
			v := sum*pc*pd - pc*gamma[d*n+i] - gamma[c*n+i]*pd
			if c == d {
				v += gamma[c*n+i]
			}
			return v
		})
		t := k.square(i, func(c, d int) float64 { // I - E Λ
			lambda := k.prior(d).independent[i]
			v := k.e[c*n+i] * k.e[d*n+i] * lambda / k.sum[i]
			if c == d {
				v += 1 / (1 + k.pi[c*n+i]*lambda)
			}
			return v
		})
		own = product(blas.NoTrans, blas.Trans, product(blas.NoTrans, blas.NoTrans, t, own), t)
		for c := range classes {
			for d := range classes {
				w.between(c, d)[i] = own.Data[c*classes+d]
			}
		}
	}
	inner := linalg.NewGeneral(classes*m, classes*m)
	for c := range classes {
		for d := range classes {
			block := columns(rows(inner, c*m, (c+1)*m), d*m, (d+1)*m)
			for j0 := 0; j0 < n; j0 += casesAtOnce {
				j1 := min(n, j0+casesAtOnce)
				part, giveBack := scaledColumns(k.prior(c).v, j0, j1, w.between(c, d))
				linalg.Gemm(blas.NoTrans, blas.Trans, 1, part, columns(k.prior(d).v, j0, j1), 1, block)
				giveBack()
			}
		}
	}
	w.middle = linalg.NewGeneral(classes*m, classes*m)
	for range 2 { // M⁻¹ from the left, twice, of a symmetric matrix
		linalg.SolveTri(blas.Trans, k.um, inner)
		linalg.SolveTri(blas.NoTrans, k.um, inner)
		for i := range inner.Rows {
			for j := range inner.Cols {
				w.middle.Data[j*inner.Cols+i] = inner.Data[i*inner.Cols+j]
			}
		}
		copy(inner.Data, w.middle.Data)
	}
	k.measure(w)
	k.fold(w.middle)
	return w
}

// measure sets the diagonal of w.
func (k *inducingClasses) measure(w weighted) {
	n, m, classes := k.n, k.size(), k.classes
	known, middle := make([]float64, classes*classes*n), make([]float64, classes*classes*n) // V̂_iᵀ M⁻¹ V̂_i and so on
	k.invert()
	k.eachCentred(func(j0 int, y, _ [][]float64) {
		for c := range y {
			for d := range y {
				to := known[(c*classes+d)*n+j0:]
				for i, v := range y[c] {
					to[i] += v * y[d][i]
				}
			}
		}
	})
	eachPart(n, casesAtOnce, func(j0, j1 int) {
		x, giveBack := borrow(m, j1-j0)
		defer giveBack()
		for c := range classes {
			for d := range classes {
				block := columns(rows(w.middle, c*m, (c+1)*m), d*m, (d+1)*m)
				linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, block, columns(k.prior(d).v, j0, j1), 0, x)
				addProducts(middle[(c*classes+d)*n:][j0:j1], columns(k.prior(c).v, j0, j1), x)
			}
		}
	})
	e, own := make([]float64, 1), make([]float64, 1)
	for i := range n {
		site := k.square(i, func(c, d int) float64 {
			k.coupling(e, c, d, i)
			return e[0]
		})
		for c := range classes {
			own[0] = w.between(c, c)[i]
			for a := range classes {
				for b := range classes {
					x, y := (a*classes+b)*n+i, site.Data[c*classes+a]
					own[0] += y * (middle[x]*site.Data[b*classes+c] - 2*known[x]*w.between(b, c)[i])
				}
			}
			w.diagonal[c*n+i] = own[0]
		}
	}
}

// Squares implements Classes. With Y_i the contrasts of V̂_i T_i under U_M⁻ᵀ the covariances are
// those of Y, and
//
//	Σ_j (y_iᵀy_j)² x_j = y_iᵀ (Σ_j x_j y_j y_jᵀ) y_i
//
// from which a case itself is taken off.
func (k *inducingClasses) Squares() func(dst, x []float64) {
	k.invert()
	return func(dst, x []float64) {
		inner := linalg.NewSym(k.classes * k.size())
		k.eachPartOfContrasts(func(j0, j1 int, y []blas64.General) {
			for c := range y {
				linalg.SyrkDiag(blas.NoTrans, 1, y[c], k.of(c, x)[j0:j1], 1, inner)
			}
		})
		whole := full(inner)
		clear(dst)
		k.eachPartOfContrasts(func(j0, j1 int, y []blas64.General) {
			product, giveBack := borrow(whole.Rows, j1-j0)
			defer giveBack()
			for c := range y {
				linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, whole, y[c], 0, product)
				own := k.of(c, dst)[j0:j1]
				addProducts(own, y[c], product)
				for d := range y {
					square := make([]float64, j1-j0)
					addProducts(square, y[c], y[d])
					for i, v := range square {
						own[i] -= v * v * x[d*k.n+j0+i]
					}
				}
			}
		})
	}
}

// eachPartOfContrasts calls visit for one part of the cases after the other, with the w of
// eachCentred, a matrix for every class.
func (k *inducingClasses) eachPartOfContrasts(visit func(j0, j1 int, y []blas64.General)) {
	for j0 := 0; j0 < k.n; j0 += casesAtOnce {
		j1 := min(k.n, j0+casesAtOnce)
		y, giveBack := k.halves(j0, j1)
		eachRow(k.classes*k.size(), func(r int) {
			for i := j0; i < j1; i++ {
				k.contrast(i, func(c int) *float64 { return &y[c].Data[r*y[c].Stride+i-j0] })
			}
		})
		visit(j0, j1, y)
		giveBack()
	}
}

// contrast sets the numbers of one row of U_M⁻ᵀ V̂_i to their w.
func (k *inducingClasses) contrast(i int, at func(c int) *float64) {
	common, mean := 0.0, 0.0
	for c := range k.classes {
		common += k.e[c*k.n+i] / k.sum[i] * *at(c)
	}
	for c := range k.classes {
		pi := k.pi[c*k.n+i]
		*at(c) = (*at(c) - common) / (1 + pi*k.prior(c).independent[i])
		mean += pi / k.total(i) * *at(c)
	}
	for c := range k.classes {
		*at(c) -= mean
	}
}

// addProducts adds to dst the products of the columns of a and b.
func addProducts(dst []float64, a, b blas64.General) {
	for r := range a.Rows {
		x, y := a.Data[r*a.Stride:r*a.Stride+len(dst)], b.Data[r*b.Stride:r*b.Stride+len(dst)]
		for i, v := range x {
			dst[i] += v * y[i]
		}
	}
}
