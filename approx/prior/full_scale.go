package prior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// fullScale is a prior with inducing inputs whose residual K - Q depends on neighbours, the
// full-scale approximation of T. Gyger, R. Furrer and F. Sigrist (2024),
//
//	K̂ = Q + C,   Q = VᵀV as for inducing inputs,   C⁻¹ as for neighbours, of K + N - Q
//
// With sites S, A = C⁻¹ + S and X = A⁻¹ S Vᵀ,
//
//	P = V (I + S C)⁻¹ = V - Xᵀ,   M = I + P S Vᵀ = U_MᵀU_M,   |I + S K̂| = |I + S C| |M|
//	Σ = A⁻¹ + Pᵀ M⁻¹ P,   (I + S K̂)⁻¹ = (I - S Pᵀ M⁻¹ V) (I - S A⁻¹)
type fullScale struct {
	noCorrection
	low  *inducing
	rest *neighbours    // C
	p    blas64.General // P, m×n
	um   blas64.Triangular
}

// nugget is the share of its prior variance that the residual variance of a case gets. A case that
// is an inducing input has no other.
const nugget = 1e-10

// withFullScale is the prior of a Cov with inducing inputs and neighbours.
func withFullScale(work *Work, cov Cov, n int, _ float64, _ bool, count []float64) (Prior, error) {
	if cov.Cross == nil || cov.Neighbours == nil {
		return nil, nil
	}
	smooth := cov
	smooth.Noise = nil
	low, err := newInducing(work, smooth, n, 0, nil)
	if err != nil {
		return nil, err
	}
	p := &fullScale{low: low}
	residual := cov.Neighbours.residual(cov.Blocks, low)
	rest, err := withNeighbours(work, Cov{Neighbours: cov.Neighbours, Blocks: residual, Noise: cov.Noise,
		Mean: cov.Mean}, n, 1, false, count)
	if err != nil {
		return nil, err
	}
	p.rest = rest.(*neighbours)
	return p, nil
}

// SettleResidual is Settle with the blocks of K - Q, for a prior with inducing inputs.
func (b *Neighbours) SettleResidual(cov Cov) error {
	n := len(cov.Blocks)
	cov.Scratch, cov.Noise = false, nil
	low, err := newInducing(nil, cov, n, 0, nil)
	if err != nil {
		return err
	}
	b.Settle(b.residual(cov.Blocks, low))
	return nil
}

// residual returns the blocks of K - Q, given the blocks of K.
func (b *Neighbours) residual(blocks [][]float64, low *inducing) [][]float64 {
	residual, v := b.NewBlocks(), transposed(low.v)
	eachRow(len(blocks), func(i int) { subtract(residual[i], blocks[i], v, append(slices.Clip(b.Of[i]), i)) })
	return residual
}

func transposed(a blas64.General) blas64.General {
	t := linalg.NewGeneral(a.Cols, a.Rows)
	eachPart(a.Cols, casesAtOnce, func(j0, j1 int) {
		for k := range a.Rows {
			for j, v := range a.Data[k*a.Stride+j0 : k*a.Stride+j1] {
				t.Data[(j0+j)*t.Stride+k] = v
			}
		}
	})
	return t
}

// picked has some rows of a.
func picked(a blas64.General, at []int) blas64.General {
	out := linalg.NewGeneral(len(at), a.Cols)
	for r, i := range at {
		copy(out.Data[r*out.Stride:r*out.Stride+a.Cols], a.Data[i*a.Stride:])
	}
	return out
}

// subtract sets dst to a block of K - Q, given the block of K and the rows of Vᵀ.
func subtract(dst, block []float64, v blas64.General, members []int) {
	own := picked(v, members)
	row := func(a int) []float64 { return own.Data[a*own.Stride : a*own.Stride+own.Cols] }
	at := 0
	for a := range members {
		for e := a; e < len(members); e++ {
			dst[at] = block[at] - floats.Dot(row(a), row(e))
			if a == e {
				dst[at] += nugget * block[at]
			}
			at++
		}
	}
}

func (p *fullScale) Describe() (jitter, unexplained float64) {
	return max(p.low.jitter, p.rest.jitter), 0
}

// These implement Prior.

func (p *fullScale) Variance(i int) float64 {
	return p.low.variance[i] + p.rest.variance[i]
}

func (p *fullScale) LargestVariance() (largest float64) {
	for i := range p.rest.variance {
		largest = max(largest, p.Variance(i))
	}
	return largest
}

func (p *fullScale) Rank() int              { return p.low.cases() }
func (p *fullScale) Subset() (Prior, []int) { return nil, nil }

func (p *fullScale) WithoutSites() Prior {
	afresh := *p
	afresh.rest = p.rest.WithoutSites().(*neighbours)
	afresh.p, afresh.um = blas64.General{}, blas64.Triangular{}
	return &afresh
}

func (p *fullScale) Multiply(dst, x []float64) {
	y := make([]float64, p.low.points())
	p.low.project(y, x)
	p.rest.Multiply(dst, x)
	p.low.lift(dst, 1, y)
}

// row is row k of a.
func row(a blas64.General, k int) []float64 { return a.Data[k*a.Stride : k*a.Stride+a.Cols] }

// solveRows returns the matrix with the rows A⁻¹ (weights ∘ row of a).
func (p *fullScale) solveRows(a blas64.General, weights []float64) blas64.General {
	weighted := linalg.NewGeneral(a.Rows, a.Cols)
	scaleColumns(weighted, a, weights)
	t := transposed(weighted)
	p.rest.factor.SolveAll(t)
	return transposed(t)
}

// Factorise implements Prior: it factors A and M.
func (p *fullScale) Factorise(tau []float64) error {
	if err := p.rest.Factorise(tau); err != nil {
		return err
	}
	v, m := p.low.v, p.low.points()
	weighted := linalg.NewGeneral(m, p.low.cases())
	p.p = p.solveRows(v, tau) // Xᵀ
	for k := range m {
		floats.SubTo(row(p.p, k), row(v, k), row(p.p, k))
		floats.MulTo(row(weighted, k), tau, row(p.p, k))
	}
	product, inner := linalg.NewGeneral(m, m), linalg.NewSym(m)
	linalg.Gemm(blas.NoTrans, blas.Trans, 1, weighted, v, 0, product)
	for k := range m {
		for l := k; l < m; l++ {
			inner.Data[k*m+l] = (product.Data[k*m+l] + product.Data[l*m+k]) / 2
		}
		inner.Data[k*m+k]++
	}
	var ok bool
	if p.um, ok = linalg.Cholesky(inner); !ok {
		return ErrNotPositiveDefinite
	}
	return nil
}

func (p *fullScale) LogDet() float64 { return p.rest.LogDet() + linalg.LogDet(p.um) }

// solve sets y = M⁻¹ y.
func (p *fullScale) solve(y []float64) {
	linalg.SolveTriVec(blas.Trans, p.um, y)
	linalg.SolveTriVec(blas.NoTrans, p.um, y)
}

func (p *fullScale) Shrink(dst, x, _ []float64) {
	n := len(x)
	y, z, t := make([]float64, n), make([]float64, n), make([]float64, p.low.points())
	p.rest.Shrink(y, x, nil)
	p.low.project(t, y)
	p.solve(t)
	linalg.Gemv(blas.Trans, 1, p.p, t, 0, z)
	for i, s := range p.rest.tau {
		dst[i] = y[i] - s*z[i]
	}
}

// Solve implements Prior: R x is b for ν = S x and m = 0.
func (p *fullScale) Solve(x []float64) (square float64) {
	n := len(x)
	given := slices.Clone(x)
	tau := p.rest.tau
	p.Locate(Sites{Tau: tau, Nu: floats.MulTo(make([]float64, n), tau, x), Mean: make([]float64, n),
		Mu: make([]float64, n), B: x})
	return floats.Dot(given, x)
}

// Locate implements Prior. With û = M⁻¹ P (ν - S m) the whitened mean of the inducing variables,
// the residual has the mean A⁻¹ (ν - S (m + Vᵀû)). û is refined once, as for inducing inputs.
func (p *fullScale) Locate(s Sites) (uncertain float64) {
	n := len(s.Mu)
	known, mean, rest := make([]float64, p.low.points()), make([]float64, n), make([]float64, n)
	copy(mean, s.Mean)
	for range 2 {
		for i, t := range p.rest.tau {
			rest[i] = s.Nu[i] - t*mean[i]
		}
		step := slices.Clone(known)
		linalg.Gemv(blas.NoTrans, 1, p.p, rest, -1, step)
		p.solve(step)
		floats.Add(known, step)
		p.low.lift(mean, 1, step)
	}
	uncertain = p.rest.Locate(Sites{Tau: s.Tau, Nu: s.Nu, Mean: mean, Mu: s.Mu, B: s.B})
	return max(uncertain, 4*eps*math.Sqrt(p.LargestVariance())*floats.Norm(known, 2))
}

// lowVariances are the |U_M⁻ᵀ P_i|².
func (p *fullScale) lowVariances() []float64 {
	squares := make([]float64, p.low.cases())
	eachPart(len(squares), casesAtOnce, func(j0, j1 int) {
		part, giveBack := scaledColumns(p.p, j0, j1, nil)
		defer giveBack()
		linalg.SolveTri(blas.Trans, p.um, part)
		linalg.AddSquares(1, part, squares[j0:j1])
	})
	return squares
}

func (p *fullScale) Variances() []float64 {
	sigma := p.rest.Variances()
	floats.Add(sigma, p.lowVariances())
	return sigma
}

func (p *fullScale) Marginals() []Marginal {
	m := make([]Marginal, p.low.cases())
	for i, v := range p.Variances() {
		m[i] = Marginal{Variance: v, CavityShare: max(1-p.rest.tau[i]*v, eps)}
		if p.rest.tau[i]*p.Variance(i) > 1 {
			m[i].Rounding = 8 * eps * p.Variance(i)
		}
	}
	return m
}

// residualCross returns the rows of (U⁻ᵀ K(Z, new))ᵀ, the covariances of the residuals of new
// inputs with their neighbours, as neighbours.Latent takes them, and the variances of these
// residuals. cross has K(Z, new), and below it the covariances with neighbours.
func (p *fullScale) residualCross(
	cross *mat.Dense, diag []float64,
) (v blas64.General, rest *mat.Dense, left []float64) {
	m := p.low.points()
	rows, k := cross.Dims()
	v = transposed(p.low.whiten(cross.Slice(0, m, 0, k).(*mat.Dense), diag))
	rest = mat.DenseCopyOf(cross.Slice(m, rows, 0, k))
	left = slices.Clone(diag)
	near := p.rest.crossNeighbours(rest)
	eachRow(k, func(j int) {
		own := row(v, j)
		column := mat.Col(nil, j, rest)
		members := make([]int, near)
		for a := range members {
			members[a] = int(column[a])
		}
		of := linalg.NewGeneral(near, m)
		for a, i := range members {
			for r := range m {
				of.Data[a*m+r] = p.low.v.Data[r*p.low.v.Stride+i]
			}
		}
		at := near
		for a := range members {
			for e := a; e <= near; e++ {
				other := own
				if e < near {
					other = row(of, e)
				}
				value := column[at] - floats.Dot(row(of, a), other)
				if a == e {
					value += nugget * column[at]
				}
				rest.Set(at, j, value)
				at++
			}
		}
		left[j] = max(diag[j]-floats.Dot(own, own), 0) + nugget*diag[j]
	})
	return v, rest, left
}

// Latent implements Prior. A new input has f = vᵀu + r, and r depends on the neighbours as for a
// prior with neighbours. Given u, r has the mean of u = 0 less Xu at the cases,
//
//	mean  vᵀû + wᵀ(C b)_N,   variance  D + wᵀ(A⁻¹)_NN w + |U_M⁻ᵀ(v - X_Nᵀ w)|²
func (p *fullScale) Latent(b, mean, variance []float64, cross *mat.Dense, diag []float64) {
	CheckLatent(mean, variance, len(diag))
	p.predict(b, mean, variance, cross, diag, nil)
}

// predict sets the moments of new values, or of their sums Σ_j s_jk f_j unless s is nil. Given the
// cases and u, new inputs are independent.
func (p *fullScale) predict(b, mean, variance []float64, cross *mat.Dense, diag []float64, s *mat.Dense) {
	m, n := p.low.points(), p.low.cases()
	known, f := make([]float64, m), make([]float64, n)
	p.low.project(known, b)
	p.rest.Multiply(f, b)
	v, rest, left := p.residualCross(cross, diag)
	near := p.rest.crossNeighbours(rest)
	through := func(v []float64, of []int, w []float64) { // v - X_Nᵀ w
		for a, i := range of {
			for r := range v {
				v[r] -= w[a] * (p.low.v.Data[r*p.low.v.Stride+i] - p.p.Data[r*p.p.Stride+i])
			}
		}
	}
	square := func(v []float64) float64 {
		linalg.SolveTriVec(blas.Trans, p.um, v)
		return floats.Dot(v, v)
	}
	if s == nil {
		eachRow(len(diag), func(j int) {
			of, w, d := p.rest.dependence(rest, j, near, left[j])
			own := slices.Clone(row(v, j))
			mean[j] = floats.Dot(own, known)
			for a, i := range of {
				mean[j] += w[a] * f[i]
			}
			if variance != nil {
				through(own, of, w)
				variance[j] = max(d+p.rest.factor.Square(of, w)+square(own), 0)
			}
		})
		return
	}
	for k := range mean {
		own, u, all := make([]float64, m), make([]float64, n), make([]int, n)
		variance[k] = 0
		for j := range diag {
			x := s.At(j, k)
			of, w, d := p.rest.dependence(rest, j, near, left[j])
			variance[k] += x * x * d
			floats.AddScaled(own, x, row(v, j))
			for a, i := range of {
				u[i] += x * w[a]
			}
		}
		mean[k] = floats.Dot(own, known) + floats.Dot(u, f)
		for i := range all {
			all[i] = i
		}
		through(own, all, u)
		solved := slices.Clone(u)
		p.rest.factor.Solve(solved)
		variance[k] += floats.Dot(u, solved) + square(own)
	}
}

// middle returns diag(Σ Γ Σ), Γ = diag(gamma), with Z = P Γ A⁻¹ and J = P Γ Pᵀ.
func (p *fullScale) middle(gamma []float64) (diagonal []float64, z, j blas64.General) {
	n, m := p.low.cases(), p.low.points()
	z, j = p.solveRows(p.p, gamma), linalg.NewGeneral(m, m)
	_, product := p.rest.factor.Inverse(gamma)
	diagonal = slices.Clone(product.Diagonal)
	weighted := linalg.NewGeneral(m, n)
	scaleColumns(weighted, p.p, gamma)
	linalg.Gemm(blas.NoTrans, blas.Trans, 1, weighted, p.p, 0, j)
	inverse := p.inverseM()
	eachPart(n, casesAtOnce, func(j0, j1 int) { // 2 Z_iᵀ L_i + L_iᵀ J L_i, with L = M⁻¹ P
		l, giveBack := borrow(m, j1-j0)
		defer giveBack()
		jl, giveBackToo := borrow(m, j1-j0)
		defer giveBackToo()
		linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, inverse, columns(p.p, j0, j1), 0, l)
		linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, j, l, 0, jl)
		for k := range m {
			lk, zk, jlk := row(l, k), row(columns(z, j0, j1), k), row(jl, k)
			for i := range lk {
				diagonal[j0+i] += lk[i] * (2*zk[i] + jlk[i])
			}
		}
	})
	return diagonal, z, j
}

// inverseM is M⁻¹, both triangles.
func (p *fullScale) inverseM() blas64.General { return full(linalg.InverseCholesky(copyOf(p.um))) }

// Diagonal implements Prior: R = S - S Σ S and I - R K̂ = I - S Σ.
func (p *fullScale) Diagonal(g Adjoint) []float64 {
	diagonal, sigma := make([]float64, p.low.cases()), p.Variances()
	var middle []float64
	if g.Gamma != nil {
		middle, _, _ = p.middle(g.Gamma)
	}
	for i, t := range p.rest.tau {
		share := 1 - t*sigma[i]
		diagonal[i] = -g.C / 2 * t * share
		if g.Gamma != nil {
			diagonal[i] += g.Gamma[i]*(2*share-1) + t*t*middle[i]
		}
		for r := range g.P {
			diagonal[i] += g.P[r][i] * g.Q[r][i]
		}
	}
	return diagonal
}

// covariance sets x to Σ x.
func (p *fullScale) covariance(x []float64) {
	y := make([]float64, p.low.points())
	linalg.Gemv(blas.NoTrans, 1, p.p, x, 0, y)
	p.solve(y)
	p.rest.factor.Solve(x)
	linalg.Gemv(blas.Trans, 1, p.p, y, 1, x)
}

// Jacobian implements Prior.
func (p *fullScale) Jacobian(sigma []float64) func(dst, x []float64) {
	return jacobianOf(sigma, p.covariance, func(x []float64) []float64 {
		squares, _, _ := p.middle(x)
		return squares
	})
}

// Pull implements Prior. The derivative by C⁻¹ is H = -C G C. It differs from the H of a prior with
// neighbours by Lᵀ W + Wᵀ L,
//
//	L = M⁻¹ Xᵀ,   W = -¼ c Xᵀ + Z - ½ J L,   Z = P Γ A⁻¹,   J = P Γ Pᵀ
//
// The derivative by V is 2 V G, and -2 V B for the symmetric derivatives B by the blocks of K - Q;
//
//	V G = ½ Σ_k (V p_k q_kᵀ + V q_k p_kᵀ) + M⁻¹ (P Γ - Z S - (½ c I + J M⁻¹) P S)
func (p *fullScale) Pull(dst *Cov, adjoint func(variances []float64) Adjoint) {
	n, m := p.low.cases(), p.low.points()
	sigma := p.Variances()
	g := adjoint(sigma)
	inverse := p.inverseM()
	x, l, w := linalg.NewGeneral(m, n), linalg.NewGeneral(m, n), linalg.NewGeneral(m, n)
	for k := range m {
		floats.SubTo(row(x, k), row(p.low.v, k), row(p.p, k))
		floats.AddScaled(row(w, k), -g.C/4, row(x, k))
	}
	linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, inverse, x, 0, l)
	left := linalg.NewGeneral(m, m) // ½ c I + J M⁻¹
	var z, j blas64.General
	if g.Gamma != nil {
		_, z, j = p.middle(g.Gamma)
		linalg.Gemm(blas.NoTrans, blas.NoTrans, -0.5, j, l, 1, w)
		floats.Add(w.Data, z.Data)
		linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, j, inverse, 0, left)
	}
	for k := range m {
		left.Data[k*m+k] += g.C / 2
	}
	lt, wt := transposed(l), transposed(w)
	byBlocks := Cov{Blocks: dst.Blocks, Noise: make([]float64, n)}
	p.rest.pull(&byBlocks, g, func(h, b []float64, members []int) {
		ln, wn := picked(lt, members), picked(wt, members)
		lb, wb := make([]float64, m), make([]float64, m)
		linalg.Gemv(blas.Trans, 1, ln, b, 0, lb)
		linalg.Gemv(blas.Trans, 1, wn, b, 0, wb)
		linalg.Gemv(blas.NoTrans, 1, ln, wb, 1, h)
		linalg.Gemv(blas.NoTrans, 1, wn, lb, 1, h)
	})
	byV := p.pullBlocks(dst.Blocks)
	outer := p.low.outer(g.P, g.Q)
	p.low.pull(dst, byBlocks.Noise, nil, func(to blas64.General, j0, j1 int) {
		part, giveBack := borrow(m, j1-j0)
		defer giveBack()
		own := columns(p.p, j0, j1)
		scaled, giveBackToo := scaledColumns(p.p, j0, j1, p.rest.tau)
		defer giveBackToo()
		linalg.Gemm(blas.NoTrans, blas.NoTrans, -1, left, scaled, 0, part)
		for k := range m {
			pk, ok := row(part, k), row(own, k)
			for i := range pk {
				if g.Gamma != nil {
					pk[i] += ok[i]*g.Gamma[j0+i] - z.Data[k*z.Stride+j0+i]*p.rest.tau[j0+i]
				}
			}
		}
		linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, inverse, part, 0, to)
		outer.add(to, j0, j1)
		for k := range m {
			tk := row(to, k)
			for i := range tk {
				tk[i] -= byV.Data[(j0+i)*byV.Stride+k]
			}
		}
	})
}

// pullBlocks returns (V B)ᵀ, n×m, for the symmetric derivatives B by the blocks of K - Q. It turns
// the blocks into derivatives by the blocks of K.
func (p *fullScale) pullBlocks(blocks [][]float64) blas64.General {
	v := transposed(p.low.v)
	n := v.Rows
	out := linalg.NewGeneral(n, v.Cols)
	parts := make([]blas64.General, sweepCases)
	for i0 := 0; i0 < n; i0 += sweepCases { // the sums over blocks have a fixed order
		size := min(sweepCases, n-i0)
		linalg.Parallel(size, func(t int) {
			members := p.rest.members(i0 + t)
			k, _ := unpack(len(members), blocks[i0+t])
			at := 0
			for a := range k.N {
				for e := a; e < k.N; e++ {
					if a != e {
						k.Data[a*k.Stride+e] /= 2 // both triangles
					} else {
						blocks[i0+t][at] *= 1 + nugget
					}
					at++
				}
			}
			own := picked(v, members)
			parts[t] = linalg.NewGeneral(own.Rows, own.Cols)
			linalg.Symm(1, k, own, 0, parts[t])
		})
		for t := range size {
			for a, i := range p.rest.members(i0 + t) {
				floats.Add(row(out, i), row(parts[t], a))
			}
		}
	}
	return out
}

// sums sets the moments of the sums Σ_j s_jk f_j of values at new inputs.
func (p *fullScale) sums(b, mean, variance []float64, cross *mat.Dense, diag []float64, s *mat.Dense) {
	p.predict(b, mean, variance, cross, diag, s)
}

func (p *fullScale) Search() Search { return blockSearch{p} }
