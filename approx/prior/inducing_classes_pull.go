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
					floats.Add(dst, spread.pairs.of(d, c)[j0:j1])
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

// weighted is the contribution of weights on variances to an adjoint. With Γ̃ = T Γ Tᵀ, as V̂ (I -
// R K̂) = M⁻¹V̂ T,
//
//	(I - R K̂) Γ (I - K̂ R) = (I - E V̂ᵀM⁻¹V̂) Γ̃ (I - V̂ᵀM⁻¹V̂ E)
//	V̂ (I - R K̂) Γ (I - K̂ R) = M⁻¹V̂ Γ̃ - M⁻¹(V̂ Γ̃ V̂ᵀ)M⁻¹ V̂ E
type weighted struct {
	pairs    pairs          // Γ̃
	middle   blas64.General // M⁻¹(V̂ Γ̃ V̂ᵀ)M⁻¹, folded
	diagonal []float64      // diagonal of the first line
}

// pairs has numbers of every case for every pair of classes.
type pairs struct {
	classes, n int
	data       []float64
}

func (k *inducingClasses) newPairs() pairs {
	return pairs{k.classes, k.n, make([]float64, k.classes*k.classes*k.n)}
}

// of are the numbers of two classes, and at the one of a case.
func (p pairs) of(c, d int) []float64             { return p.data[(c*p.classes+d)*p.n : (c*p.classes+d+1)*p.n] }
func (p pairs) at(c, d, i int) *float64           { return &p.data[(c*p.classes+d)*p.n+i] }
func (k *inducingClasses) share(c, i int) float64 { return k.pi[c*k.n+i] / k.total(i) } // p

// contrasts are T_i P_iᵀ, P_i = 1pᵀ - I, whose columns belong to x_a = Σ_d p_d f_d - f_a, p = π/S.
func (k *inducingClasses) contrasts() pairs {
	g := k.newPairs()
	linalg.Rows(k.n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			for a := range k.classes {
				common := 0.0
				for c := range k.classes {
					v := k.share(c, i)
					if c == a {
						v = -k.without(k.pi, c, i) / k.total(i)
					}
					*g.at(c, a, i) = v
					common += k.e[c*k.n+i] * k.prior(c).independent[i] / k.sum[i] * v
				}
				for c := range k.classes {
					j := c*k.n + i
					left := 1 / (1 + k.pi[j]*k.prior(c).independent[i])
					*g.at(c, a, i) = *g.at(c, a, i)*left + k.e[j]*common
				}
			}
		}
	})
	return g
}

// around returns Γ̃ for weights γ on the variances of x, given their contrasts, and
// M⁻¹(V̂ Γ̃ V̂ᵀ)M⁻¹.
func (k *inducingClasses) around(g pairs, gamma []float64) (tilde pairs, middle blas64.General) {
	tilde = k.newPairs()
	m := k.size()
	inner := linalg.NewGeneral(k.classes*m, k.classes*m)
	for c := range k.classes {
		for d := c; d < k.classes; d++ {
			to := tilde.of(c, d)
			for a := range k.classes {
				left, right, own := g.of(c, a), g.of(d, a), k.of(a, gamma)
				for i := range to {
					to[i] += left[i] * right[i] * own[i]
				}
			}
			copy(tilde.of(d, c), to)
			block := columns(rows(inner, c*m, (c+1)*m), d*m, (d+1)*m)
			if len(k.priors) == 1 {
				symmetric := blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: block.Stride, Data: block.Data}
				linalg.SyrkDiag(blas.NoTrans, 1, k.priors[0].v, to, 0, symmetric)
				linalg.Reflect(blas.Lower, block, block)
				continue
			}
			for j0 := 0; j0 < k.n; j0 += casesAtOnce {
				j1 := min(k.n, j0+casesAtOnce)
				part, giveBack := scaledColumns(k.prior(c).v, j0, j1, to)
				linalg.Gemm(blas.NoTrans, blas.Trans, 1, part, columns(k.prior(d).v, j0, j1), 1, block)
				giveBack()
			}
		}
	}
	linalg.Reflect(blas.Lower, inner, inner)
	middle = linalg.NewGeneral(k.classes*m, k.classes*m)
	for range 2 { // M⁻¹ from the left, twice, of a symmetric matrix
		linalg.SolveTri(blas.Trans, k.um, inner)
		linalg.SolveTri(blas.NoTrans, k.um, inner)
		linalg.Reflect(blas.Lower, middle, inner)
		linalg.Reflect(blas.Upper, middle, inner)
		for i := range inner.Rows {
			middle.Data[i*(middle.Stride+1)] = inner.Data[i*(inner.Stride+1)]
		}
		inner, middle = middle, inner
	}
	return tilde, inner
}

// quadratics are V̂_iᵀ A V̂_i of a symmetric matrix.
func (k *inducingClasses) quadratics(a blas64.General) pairs {
	m, q := k.size(), k.newPairs()
	eachPart(k.n, casesAtOnce, func(j0, j1 int) {
		x, giveBack := borrow(m, j1-j0)
		defer giveBack()
		for c := range k.classes {
			for d := c; d < k.classes; d++ {
				block, to := columns(rows(a, c*m, (c+1)*m), d*m, (d+1)*m), q.of(c, d)[j0:j1]
				linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, block, columns(k.prior(d).v, j0, j1), 0, x)
				addProducts(to, columns(k.prior(c).v, j0, j1), x)
				copy(q.of(d, c)[j0:j1], to)
			}
		}
	})
	return q
}

// known are V̂_iᵀ M⁻¹ V̂_i up to terms common to a row or a column.
func (k *inducingClasses) known() pairs {
	q := k.newPairs()
	k.invert()
	k.eachCentred(func(j0 int, y, _ [][]float64) {
		for c := range y {
			for d := range y {
				to := q.of(c, d)[j0:]
				for i, v := range y[c] {
					to[i] += v * y[d][i]
				}
			}
		}
	})
	return q
}

func (k *inducingClasses) weighted(gamma []float64) (w weighted) {
	w.diagonal = make([]float64, len(gamma))
	w.pairs, w.middle = k.around(k.contrasts(), gamma)
	known, middle := k.known(), k.quadratics(w.middle)
	e := make([]float64, 1)
	for i := range k.n {
		for c := range k.classes {
			sum := *w.pairs.at(c, c, i)
			for a := range k.classes {
				k.coupling(e, c, a, i)
				ca := e[0]
				for b := range k.classes {
					k.coupling(e, b, c, i)
					sum += ca * (*middle.at(a, b, i)*e[0] - 2**known.at(a, b, i)**w.pairs.at(b, c, i))
				}
			}
			w.diagonal[c*k.n+i] = sum
		}
	}
	k.fold(w.middle)
	return w
}

// Squares implements Classes. The covariances of x at cases i and j are P_i T_iᵀ V̂_iᵀ M⁻¹ V̂_j T_j
// P_jᵀ, so that
//
//	Σ_j,c Cov(x_ia, x_jc)² γ_jc = [P_i T_iᵀ V̂_iᵀ M⁻¹(V̂ Γ̃ V̂ᵀ)M⁻¹ V̂_i T_i P_iᵀ]_aa
//
// The term of the case itself, j = i, is subtracted.
func (k *inducingClasses) Squares() func(dst, x []float64) {
	g := k.contrasts()
	product := func(q pairs, a, c, i int) (sum float64) {
		for r := range k.classes {
			for s := range k.classes {
				sum += *g.at(r, a, i) * *q.at(r, s, i) * *g.at(s, c, i)
			}
		}
		return sum
	}
	own, known := k.newPairs(), k.known() // squares
	linalg.Rows(k.n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			for a := range k.classes {
				for c := range k.classes {
					v := product(known, a, c, i)
					*own.at(a, c, i) = v * v
				}
			}
		}
	})
	return func(dst, x []float64) {
		_, middle := k.around(g, x)
		q := k.quadratics(middle)
		linalg.Rows(k.n, func(i0, i1 int) {
			for i := i0; i < i1; i++ {
				for a := range k.classes {
					sum := product(q, a, a, i)
					for c := range k.classes {
						sum -= *own.at(a, c, i) * x[c*k.n+i]
					}
					dst[a*k.n+i] = sum
				}
			}
		})
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
