package prior

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/sparse"
)

// neighbours is a prior in which each case depends on its neighbours N(i) only (Vecchia 1988),
//
//	f_i - m_i = w_iᵀ(f_N - m_N) + ε_i,   w_i = K_NN⁻¹K_Ni,   var ε_i = D_i = K_ii - K_iN w_i
//	K̂⁻¹ = Σ_i b_i b_iᵀ/D_i,   b_i = 1 at i, and -w_i at N(i)
//
// K includes the noise. With sites S, all that methods need comes from the sparse matrix A = K̂⁻¹ +
// S and its factor:
//
//	½ log|I + S K̂| = ½ log|A| + ½ Σ_i log D_i,   Σ = A⁻¹,   (I + S K̂)⁻¹ = I - S Σ
type neighbours struct {
	noCorrection
	near     *Neighbours
	rows     [][]float64 // b_i/√D_i, at N(i) and i
	innovate []float64   // D
	blocks   [][]float64 // K at N(i) and i, without noise
	noise    []float64   // variances of the noise, of the mean of the copies of a case
	variance []float64   // K_ii
	jitter   float64     // the largest jitter of a block

	tau     []float64
	factor  *sparse.Cholesky
	inverse *sparse.Entries // of A⁻¹; nil: not known
}

// withNeighbours is the prior of a Cov with neighbours.
func withNeighbours(_ *Work, cov Cov, n int, _ float64, _ bool, count []float64) (Prior, error) {
	if cov.Neighbours == nil {
		return nil, nil
	}
	if len(cov.Blocks) != n || len(cov.Noise) != n {
		panic(fmt.Sprintf("prior: %d blocks and %d variances of noise of %d cases", len(cov.Blocks), len(cov.Noise), n))
	}
	p := &neighbours{
		near: cov.Neighbours, rows: make([][]float64, n), innovate: make([]float64, n), blocks: cov.Blocks,
		noise: slices.Clone(cov.Noise), variance: make([]float64, n), tau: make([]float64, n),
	}
	if count != nil {
		floats.Div(p.noise, count)
	}
	added, errs := make([]float64, n), make([]error, n)
	eachRow(n, func(i int) { added[i], errs[i] = p.condition(i) })
	for i, err := range errs {
		if err != nil {
			return nil, err
		}
		p.jitter = max(p.jitter, added[i])
	}
	return p, cov.checkMean(n)
}

// leastPivotShare is the smallest squared pivot of a block, relative to its largest variance, with
// which the block is factored as it is. Below, rounding decides the pivot, and addedShare of the
// variance is added to the diagonal.
const leastPivotShare = 1e-13

// block is the matrix of some neighbours and a case, with their noise, given its triangle. The
// noise of a new case, of index -1, is 0. widest is the place of the largest variance.
func (p *neighbours) block(members []int, triangle []float64) (k blas64.Symmetric, widest int) {
	k, widest = unpack(len(members), triangle)
	for a, j := range members {
		if j >= 0 {
			k.Data[a*(k.Stride+1)] += p.noise[j]
		}
	}
	return k, widest
}

// factorBlock factors a block, and returns the share of its largest variance that the diagonal got.
func (p *neighbours) factorBlock(k blas64.Symmetric, widest int) (u blas64.Triangular, share float64, ok bool) {
	scale := k.Data[widest*(k.Stride+1)]
	for _, share = range []float64{p.near.jitter, addedShare} {
		own := k
		own.Data = slices.Clone(k.Data)
		for a := range k.N {
			own.Data[a*(k.Stride+1)] += share * scale
		}
		u, ok = linalg.Cholesky(own)
		if ok && leastPivot(u) >= leastPivotShare*scale {
			break
		}
	}
	return u, share, ok
}

// innovation returns w and D of the last member of a block, given its factor.
func innovation(u blas64.Triangular) (w []float64, d float64) {
	m := u.N - 1
	w = make([]float64, m)
	for a := range w {
		w[a] = u.Data[a*u.Stride+m]
	}
	solveMembers(blas.NoTrans, u, w)
	last := u.Data[m*(u.Stride+1)]
	return w, last * last
}

// solveMembers solves with the factor of all members but the last.
func solveMembers(t blas.Transpose, u blas64.Triangular, x []float64) {
	if u.N--; u.N > 0 {
		linalg.SolveTriVec(t, u, x)
	}
}

// members are the neighbours of case i and i.
func (p *neighbours) members(i int) []int { return append(slices.Clip(p.near.Of[i]), i) }

// condition sets row i of V and D_i, and returns the jitter that it added.
func (p *neighbours) condition(i int) (jitter float64, err error) {
	k, widest := p.block(p.members(i), p.blocks[i])
	p.variance[i] = k.Data[len(k.Data)-1]
	u, share, ok := p.factorBlock(k, widest)
	switch {
	case !linalg.AllFinite(k.Data) || p.noise[i] < 0:
		return 0, fmt.Errorf("%w: a covariance of case %d and its neighbours is not finite, or its noise is below 0; "+
			"an input or a hyperparameter is out of range", ErrNotPositiveDefinite, i)
	case !ok:
		return 0, fmt.Errorf("%w: the covariance of case %d and its %d neighbours, with variances up to %.3g; "+
			"standardise the inputs or lower the amplitude", ErrNotPositiveDefinite, i, k.N-1,
			k.Data[widest*(k.Stride+1)])
	}
	w, d := innovation(u)
	floats.Scale(-1, w)
	p.rows[i], p.innovate[i] = append(w, 1), d
	floats.Scale(1/math.Sqrt(d), p.rows[i])
	return share * k.Data[widest*(k.Stride+1)], nil
}

func (p *neighbours) Describe() (jitter, unexplained float64) { return p.jitter, 0 }

// These implement Prior.
func (p *neighbours) Variance(i int) float64   { return p.variance[i] }
func (p *neighbours) LargestVariance() float64 { return max(0, slices.Max(p.variance)) }
func (p *neighbours) Rank() int                { return len(p.rows) }
func (p *neighbours) Subset() (Prior, []int)   { return nil, nil }

func (p *neighbours) WithoutSites() Prior {
	afresh := *p
	afresh.tau, afresh.factor, afresh.inverse = make([]float64, len(p.tau)), nil, nil
	return &afresh
}

// Multiply implements Prior: K̂ = B⁻¹ D B⁻ᵀ, with the rows b_i of B.
func (p *neighbours) Multiply(dst, x []float64) {
	copy(dst, x)
	for _, i := range slices.Backward(p.near.Order) {
		of, row := p.near.Of[i], p.rows[i]
		last := row[len(of)]
		dst[i] /= last
		for a, j := range of {
			dst[j] -= row[a] * dst[i]
		}
	}
	for _, i := range p.near.Order {
		of, row := p.near.Of[i], p.rows[i]
		for a, j := range of {
			dst[i] -= row[a] * dst[j]
		}
		dst[i] /= row[len(of)]
	}
}

// Factorise implements Prior: it factors A.
func (p *neighbours) Factorise(tau []float64) error {
	copy(p.tau, tau)
	p.inverse = nil
	if p.factor == nil {
		p.factor = p.near.sites().Cholesky(p.rows)
	}
	if !p.factor.Factor(tau) {
		return fmt.Errorf("%w: the precision of the posterior; standardise the inputs or lower the amplitude",
			ErrNotPositiveDefinite)
	}
	return nil
}

func (p *neighbours) LogDet() float64 {
	sum := p.factor.LogDet()
	for _, d := range p.innovate {
		sum += math.Log(d) / 2
	}
	return sum
}

func (p *neighbours) Shrink(dst, x, _ []float64) {
	y := slices.Clone(x)
	p.factor.Solve(y)
	for i, t := range p.tau {
		dst[i] = x[i] - t*y[i]
	}
}

// precision sets dst = K̂⁻¹ x.
func (p *neighbours) precision(dst, x []float64) {
	clear(dst)
	for i, row := range p.rows {
		members, sum := p.near.Of[i], row[len(row)-1]*x[i]
		for a, j := range members {
			sum += row[a] * x[j]
		}
		dst[i] += row[len(row)-1] * sum
		for a, j := range members {
			dst[j] += row[a] * sum
		}
	}
}

// Solve implements Prior: R x is b for ν = S x and m = 0.
func (p *neighbours) Solve(x []float64) (square float64) {
	n := len(x)
	given := slices.Clone(x)
	p.Locate(Sites{Tau: p.tau, Nu: floats.MulTo(make([]float64, n), p.tau, x), Mean: make([]float64, n),
		Mu: make([]float64, n), B: x})
	return floats.Dot(given, x)
}

// Locate implements Prior: A (μ - m) = ν - S m, refined twice. b is K̂⁻¹(μ - m) = ν - S μ. It is
// taken from the side whose terms are smaller.
func (p *neighbours) Locate(s Sites) (uncertain float64) {
	n := len(s.Mu)
	mean := s.Mean
	if mean == nil {
		mean = make([]float64, n)
	}
	delta, rest, own := make([]float64, n), make([]float64, n), make([]float64, n)
	for range 3 {
		p.precision(own, delta)
		for i, t := range p.tau {
			rest[i] = s.Nu[i] - t*mean[i] - own[i] - t*delta[i]
		}
		p.factor.Solve(rest)
		floats.Add(delta, rest)
	}
	p.precision(own, delta)
	tight := make([]float64, n) // diagonal of K̂⁻¹
	for i, row := range p.rows {
		for a, j := range p.members(i) {
			tight[j] += row[a] * row[a]
		}
	}
	for i, t := range p.tau {
		s.Mu[i] = mean[i] + delta[i]
		if s.B[i] = s.Nu[i] - t*s.Mu[i]; math.Abs(t) > tight[i] {
			s.B[i] = own[i]
		}
	}
	return floats.Norm(rest, math.Inf(1))
}

// entries are entries of A⁻¹, kept until the next factor, and of A⁻¹ diag(gamma) A⁻¹.
func (p *neighbours) entries(gamma []float64) (inverse, product sparse.Entries) {
	if p.inverse == nil || gamma != nil {
		inverse, product = p.factor.Inverse(gamma)
		p.inverse = &inverse
	}
	return *p.inverse, product
}

// Variances implements Prior.
func (p *neighbours) Variances() []float64 {
	inverse, _ := p.entries(nil)
	return slices.Clone(inverse.Diagonal)
}

func (p *neighbours) Marginals() []Marginal {
	m := make([]Marginal, len(p.tau))
	for i, v := range p.Variances() {
		m[i] = Marginal{Variance: v, CavityShare: max(1-p.tau[i]*v, eps)}
		if p.tau[i]*p.variance[i] > 1 {
			m[i].Rounding = 8 * eps * p.variance[i]
		}
	}
	return m
}

// Latent implements Prior. A column of cross has neighbours and a block, see CrossRows. A new input
// depends on its neighbours among the cases,
//
//	mean  wᵀ(f_N - m_N),   variance  D + wᵀ Σ_NN w
func (p *neighbours) Latent(b, mean, variance []float64, cross *mat.Dense, diag []float64) {
	CheckLatent(mean, variance, len(diag))
	f := make([]float64, len(p.tau))
	p.Multiply(f, b)
	near := p.crossNeighbours(cross)
	eachRow(len(diag), func(j int) {
		members, w, d := p.dependence(cross, j, near, diag[j])
		mean[j] = 0
		for a, x := range w {
			mean[j] += x * f[members[a]]
		}
		if variance != nil {
			variance[j] = max(d+p.factor.Square(members, w), 0)
		}
	})
}

// dependence returns the neighbours of new input j, of prior variance v, with w and D.
func (p *neighbours) dependence(cross *mat.Dense, j, near int, v float64) (of []int, w []float64, d float64) {
	column, members := mat.Col(nil, j, cross), make([]int, near+1)
	for a := range near {
		members[a] = int(column[a])
	}
	members[near] = -1
	k, widest := p.block(members, append(column[near:], v))
	u, _, _ := p.factorBlock(k, widest)
	w, d = innovation(u)
	return members[:near], w, d
}

// sums sets mean[k] and variance[k] of the sums Σ_j s_jk f_j of values at new inputs, without their
// prior mean, with b, cross and diag as in Latent. Given the cases, new inputs are independent.
// With u_k = Σ_j s_jk w_j,
//
//	mean  u_kᵀ(f - m),   variance  Σ_j s_jk² D_j + u_kᵀ Σ u_k
func (p *neighbours) sums(b, mean, variance []float64, cross *mat.Dense, diag []float64, s *mat.Dense) {
	f, u := make([]float64, len(p.tau)), mat.NewDense(len(mean), len(p.tau), nil)
	p.Multiply(f, b)
	clear(variance)
	near := p.crossNeighbours(cross)
	for j, v := range diag {
		of, w, d := p.dependence(cross, j, near, v)
		for k := range mean {
			x, row := s.At(j, k), u.RawRowView(k)
			variance[k] += x * x * d
			for a, i := range of {
				row[i] += x * w[a]
			}
		}
	}
	for k := range mean {
		row := u.RawRowView(k)
		mean[k] = floats.Dot(row, f)
		solved := slices.Clone(row)
		p.factor.Solve(solved)
		variance[k] += floats.Dot(row, solved)
	}
}

// crossNeighbours is the number m of neighbours in the columns of cross.
func (p *neighbours) crossNeighbours(cross *mat.Dense) (m int) {
	rows, _ := cross.Dims()
	for p.near.CrossRows(m) < rows {
		m++
	}
	if p.near.CrossRows(m) != rows {
		panic(fmt.Sprintf("prior: cross has %d rows, which no number of neighbours has", rows))
	}
	return m
}

// Pull implements Prior. With H = -K̂GK̂ the derivative by K̂⁻¹, h_i = H b_i, and the rows and
// columns of a block, N(i) and i,
//
//	∂D_i = -b_iᵀh_i/D_i² - ½ c/D_i,   ∂w_i = -2 h_N/D_i,   z = K_NN⁻¹∂w_i at N(i), 0 at i
//	∂block = ∂D_i b_i b_iᵀ + ½ (z b_iᵀ + b_i zᵀ)
//
// where c, of the part -½ c R of G, gives ½ c (K̂ - Σ) as a part of H, whose ½ c K̂ is a derivative
// of ½ c log|K̂⁻¹|.
func (p *neighbours) Pull(dst *Cov, adjoint func(variances []float64) Adjoint) {
	p.pull(dst, adjoint(p.Variances()), func(_, _ []float64, _ []int) {})
}

// pull is Pull. add adds further terms of H b_i at the members of a block to h.
func (p *neighbours) pull(dst *Cov, g Adjoint, add func(h, b []float64, members []int)) {
	inverse, middle := p.entries(g.Gamma)
	kp, kq := p.products(g.P), p.products(g.Q)
	p.pullRows(dst, g.C, func(h, b []float64, i int, members []int, root float64) {
		floats.AddScaled(h, -g.C/2*root, inverse.Products[i])
		if g.Gamma != nil {
			floats.AddScaled(h, -root, middle.Products[i])
		}
		addVectors(h, b, members, kp, kq)
		add(h, b, members)
	})
	if g.independent != nil {
		for i, l := range dst.Noise {
			dst.Noise[i] = g.independent(i, l)
		}
	}
}

// addVectors adds to h the terms -½ (kp kqᵀ + kq kpᵀ) b of H b, for each pair of products with K̂.
func addVectors(h, b []float64, members []int, kp, kq [][]float64) {
	for r := range kp {
		bp, bq := 0.0, 0.0
		for a, j := range members {
			bp += b[a] * kp[r][j]
			bq += b[a] * kq[r][j]
		}
		for a, j := range members {
			h[a] -= (kp[r][j]*bq + kq[r][j]*bp) / 2
		}
	}
}

// pullRows sets dst, given c and a function that adds H b_i at the members of block i to h. root is
// √D_i.
func (p *neighbours) pullRows(
	dst *Cov, c float64, add func(h, b []float64, i int, members []int, root float64),
) {
	n := len(p.rows)
	noise := make([][]float64, n) // derivatives by the noise of the members of each block
	eachRow(n, func(i int) {
		members, root := p.members(i), math.Sqrt(p.innovate[i])
		b, h := make([]float64, len(members)), make([]float64, len(members))
		floats.ScaleTo(b, root, p.rows[i])
		add(h, b, i, members, root)
		noise[i] = p.pullBlock(dst.Blocks[i], i, b, h, c)
	})
	clear(dst.Noise)
	for i := range n {
		for a, j := range p.members(i) {
			dst.Noise[j] += noise[i][a]
		}
	}
}

// pullBlock sets the adjoint of a block, given b_i, h_i and c, and returns its diagonal, the
// derivatives by the noise of the members.
func (p *neighbours) pullBlock(triangle []float64, i int, b, h []float64, c float64) (noise []float64) {
	m, d := len(b)-1, p.innovate[i]
	byD := -floats.Dot(b, h)/d/d - c/2/d
	k, widest := p.block(p.members(i), p.blocks[i])
	u, share, _ := p.factorBlock(k, widest)
	z := append(floats.ScaleTo(make([]float64, m), -2/d, h[:m]), 0)
	solveMembers(blas.Trans, u, z[:m])
	solveMembers(blas.NoTrans, u, z[:m])
	noise = make([]float64, m+1)
	row := triangle
	for a := range m + 1 {
		for e, x := range b[a:] {
			row[e] = 2*byD*b[a]*x + z[a]*x + b[a]*z[a+e] // the derivative for both triangles
		}
		row[0] /= 2
		noise[a] = row[0]
		row = row[m+1-a:]
	}
	by := share * floats.Sum(noise)
	triangle[blockSize(m)-blockSize(m-widest)] += by
	noise[widest] += by
	return noise
}

// products are K̂ x for each x.
func (p *neighbours) products(x [][]float64) (kx [][]float64) {
	for _, x := range x {
		kx = append(kx, make([]float64, len(x)))
		p.Multiply(kx[len(kx)-1], x)
	}
	return kx
}

// Diagonal implements Prior: R = S - S Σ S and I - R K̂ = I - S Σ.
func (p *neighbours) Diagonal(g Adjoint) []float64 {
	inverse, middle := p.entries(g.Gamma)
	diagonal := make([]float64, len(p.tau))
	for i, t := range p.tau {
		share := 1 - t*inverse.Diagonal[i]
		diagonal[i] = -g.C / 2 * t * share
		if g.Gamma != nil {
			diagonal[i] += g.Gamma[i]*(2*share-1) + t*t*middle.Diagonal[i]
		}
		for r := range g.P {
			diagonal[i] += g.P[r][i] * g.Q[r][i]
		}
	}
	return diagonal
}

// Jacobian implements Prior.
func (p *neighbours) Jacobian(sigma []float64) func(dst, x []float64) {
	factor := p.factor
	return jacobianOf(sigma, factor.Solve, func(x []float64) []float64 {
		_, product := factor.Inverse(x)
		return product.Diagonal
	})
}

// jacobianOf is the Jacobian, given the functions that set x to Σ x and that return the diagonal of
// Σ diag(x) Σ, whose entries are Σ_j Σ_ij² x_j.
func jacobianOf(
	sigma []float64, covariance func(x []float64), squares func(x []float64) []float64,
) func(dst, x []float64) {
	n := len(sigma)
	scale, y := make([]float64, n), make([]float64, n)
	for i, v := range sigma {
		scale[i] = 1 / math.Sqrt(v)
	}
	return func(dst, x []float64) {
		floats.MulTo(y, scale, x[:n])
		covariance(y)
		floats.MulTo(dst[:n], scale, y)
		for i, s := range scale {
			y[i] = s * s * x[n+i]
		}
		for i, v := range squares(y) {
			dst[n+i] = -scale[i] * scale[i] * v
		}
	}
}

// covariance sets x to Σ x.
func (p *neighbours) covariance(x []float64) { p.factor.Solve(x) }

func (p *neighbours) Search() Search { return blockSearch{p} }

// blockSearch is the Search of a prior that gives columns of Σ at a factor.
type blockSearch struct {
	of interface {
		Prior
		covariance(x []float64)
	}
}

// These implement Search.
func (p blockSearch) Close()                    {}
func (p blockSearch) Variances(sigma []float64) { copy(sigma, p.of.Variances()) }
func (p blockSearch) Swept([]float64) bool      { return false }

// PrefersSweeps implements Search: a sweep takes a factor for every few cases.
func (p blockSearch) PrefersSweeps() bool { return false }

func (p blockSearch) Jacobian(sigma []float64, _ At) func(dst, x []float64) {
	return p.of.Jacobian(sigma)
}

// sweepCases is the number of cases that a sweep visits with one factor.
const sweepCases = 64

// Sweep implements Search, GPML Algorithm 3.5 lines 4-12: the columns of Σ of a few cases, and
// their means, follow the changes of the sites of these cases; then A is factored again.
func (p blockSearch) Sweep(_ bool, s Sites, visit Visit) error {
	n := len(s.Mu)
	b := slices.Clone(s.B)
	for i0 := 0; i0 < n; i0 += sweepCases {
		size := min(sweepCases, n-i0)
		if err := p.of.Factorise(s.Tau); err != nil {
			return err
		}
		p.of.Locate(Sites{s.Tau, s.Nu, s.Mean, s.Mu, b})
		own := make([][]float64, size) // the block of Σ of these cases
		linalg.Parallel(size, func(t int) {
			column := make([]float64, n)
			column[i0+t] = 1
			p.of.covariance(column)
			own[t] = column[i0 : i0+size]
		})
		mu := s.Mu[i0 : i0+size]
		for t := range size {
			i := i0 + t
			v := Resolved(own[t][t], p.of.Variance(i))
			dTau, dOffset, err := visit(i, v, s.Nu[i]-s.Tau[i]*mu[t])
			if err != nil {
				return err
			}
			s.Tau[i] += dTau
			s.Nu[i] += dOffset + dTau*mu[t]
			scale := 1 / (1 + dTau*v)
			row := slices.Clone(own[t])
			floats.AddScaled(mu, dOffset*scale, row)
			for r, x := range row {
				floats.AddScaled(own[r], -dTau*scale*x, row)
			}
		}
	}
	return nil
}
