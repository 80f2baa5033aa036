package prior

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// denseClasses are priors whose K_c are all matrices. With
//
//	B_c = I + D_c^½ K_c D_c^½ = U_cᵀU_c,
//	E_c = D_c^½ B_c⁻¹ D_c^½ = (K_c + D_c⁻¹)⁻¹,   Σ_c E_c = MᵀM
//
// and R = (I … I)ᵀ, which repeats a function of the cases for every class (GPML 3.5),
//
//	F = (K + W⁻¹)⁻¹ = E - E R (Σ_c E_c)⁻¹ Rᵀ E,   |I + W K| Π_i S_i = |Σ_c E_c| Π_c |B_c|
//
// divided by |RᵀD R| = Π_i w_i with weights, D = diag wπ, so that it takes C + 1 factorisations,
// O(C n³) time, and O(C n²) memory: no Cn×Cn matrix is formed.
type denseClasses struct {
	n, classes int
	weight     []float64 // nil: 1 each
	work       *Work
	k          []blas64.Symmetric  // one shared, or one per class
	pi, root   []float64           // D, D^½
	u          []blas64.Triangular // one per class; below the diagonal is B_c⁻¹
	left       []float64           // [B_c⁻¹]_ii
	m          blas64.Triangular
	inner      blas64.Triangular // n×n, temporary
	e, z       []float64         // Cn and n, temporary

	multiplied  bool               // whether the factor has these:
	q           []blas64.General   // Q_c = M⁻ᵀ E_c K_c
	own         []float64          // q_c = diag(K_c - K_c E_c K_c)
	known       bool               // whether the factor has these:
	information []blas64.Symmetric // -½ F_cc, summed over the classes that share a covariance
	variances   []float64          // π_c q_c
}

func newDenseClasses(work *Work, cov []Cov, n, classes int, _ float64, weight []float64) (Classes, error) {
	v := work.Take
	triangle := func() blas64.Triangular {
		return blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: n, Stride: n, Data: v(n * n)}
	}
	p := &denseClasses{
		n: n, classes: classes, weight: weight, work: work,
		pi: make([]float64, classes*n), root: v(classes * n), left: v(classes * n),
		m: triangle(), inner: triangle(), e: v(classes * n), z: make([]float64, n),
	}
	for j, prior := range cov {
		if err := prior.Check(n); err != nil {
			return nil, ofClass(err, j, cov)
		}
		p.k = append(p.k, prior.K.RawSymmetric())
	}
	for range classes {
		p.u = append(p.u, triangle())
	}
	return p, nil
}

// normalise divides each entry of x by the weight of its case; the first entry belongs to the case
// with index from.
func (p *denseClasses) normalise(x []float64, from int) {
	if p.weight != nil {
		floats.Div(x, p.weight[from:from+len(x)])
	}
}

// of is the part of a vector for a class.
func (p *denseClasses) of(c int, x []float64) []float64 { return x[c*p.n : (c+1)*p.n] }

// These implement Classes.
func (p *denseClasses) LargestVariance(c int) float64           { return largest(share(p.k, c)) }
func (p *denseClasses) Penalty(int) float64                     { return 0 }
func (p *denseClasses) Describe() (jitter, unexplained float64) { return 0, 0 }

func (p *denseClasses) Multiply(dst, x []float64) {
	sharing := p.classes / len(p.k) // classes per covariance
	rows := func(v []float64, j int) blas64.General {
		return blas64.General{Rows: sharing, Cols: p.n, Stride: p.n, Data: v[j*sharing*p.n : (j+1)*sharing*p.n]}
	}
	for j, k := range p.k {
		linalg.SymvRows(1, k, rows(x, j), 0, rows(dst, j))
	}
}

// square is an n×n matrix.
func (p *denseClasses) square(data []float64) blas64.General {
	return blas64.General{Rows: p.n, Cols: p.n, Stride: p.n, Data: data}
}

// symmetric is the matrix stored above the diagonal of u.
func (p *denseClasses) symmetric(u blas64.Triangular) blas64.Symmetric {
	return blas64.Symmetric{Uplo: blas.Upper, N: p.n, Stride: p.n, Data: u.Data}
}

// Factorise implements Classes: GPML Algorithm 3.3 lines 4-8.
func (p *denseClasses) Factorise(pi []float64) error {
	copy(p.pi, pi)
	p.known, p.multiplied = false, false
	n := p.n
	eachRow(n, func(i int) { clear(p.m.Data[i*n : (i+1)*n]) })
	for c, u := range p.u {
		root, left, k, inverse := p.of(c, p.root), p.of(c, p.left), share(p.k, c), p.inner.Data
		for i, w := range p.of(c, pi) {
			root[i] = max(math.Sqrt(w), leastRoot)
		}
		eachRow(n, func(i int) {
			row := u.Data[i*n+i : (i+1)*n]
			for j, v := range k.Data[i*k.Stride+i : i*k.Stride+n] {
				row[j] = root[i] * v * root[i+j]
			}
			row[0]++
		})
		if _, ok := linalg.Cholesky(p.symmetric(u)); !ok {
			return fmt.Errorf("%w: B = I + D^½ K D^½ of class %d; K has a negative eigenvalue beyond rounding error",
				ErrNotPositiveDefinite, c)
		}
		eachRow(n, func(i int) { copy(inverse[i*n+i:(i+1)*n], u.Data[i*n+i:(i+1)*n]) })
		linalg.InverseCholesky(p.inner)
		eachRow(n, func(i int) {
			left[i] = inverse[i*n+i]
			row := p.m.Data[i*n+i : (i+1)*n]
			for j, v := range inverse[i*n+i : (i+1)*n] {
				row[j] += root[i] * v * root[i+j]
			}
		})
		linalg.Reflect(blas.Lower, p.square(u.Data), p.square(inverse))
	}
	if _, ok := linalg.Cholesky(p.symmetric(p.m)); !ok {
		return fmt.Errorf("%w: Σ_c E_c; the prior variances, up to %.2g, are too large for its rounding error",
			ErrNotPositiveDefinite, p.LargestVariance(0))
	}
	return nil
}

// multiplyE sets x ← E_c x by two triangular solves.
func (p *denseClasses) multiplyE(c int, x []float64) {
	root := p.of(c, p.root)
	for i, r := range root {
		x[i] *= r
	}
	linalg.SolveTriVec(blas.Trans, p.u[c], x)
	linalg.SolveTriVec(blas.NoTrans, p.u[c], x)
	for i, r := range root {
		x[i] *= r
	}
}

func (p *denseClasses) LogDet() float64 {
	sum := linalg.LogDet(p.m)
	for _, u := range p.u {
		sum += linalg.LogDet(u)
	}
	for _, w := range p.weight {
		sum -= math.Log(w) / 2
	}
	return sum
}

// Shrink implements Classes: (I - F K) x.
//
// z = (Σ_c E_c)⁻¹ Σ_c E_c K_c x_c is the part common to the classes' K_c x_c; F maps it to 0.
func (p *denseClasses) Shrink(dst, x, kx []float64) {
	clear(p.z)
	copy(p.e, kx)
	linalg.Parallel(p.classes, func(c int) { p.multiplyE(c, p.of(c, p.e)) })
	for c := range p.classes {
		for i, v := range p.of(c, p.e) {
			p.z[i] += v
		}
	}
	linalg.SolveTriVec(blas.Trans, p.m, p.z)
	linalg.SolveTriVec(blas.NoTrans, p.m, p.z)
	linalg.Parallel(p.classes, func(c int) {
		e := p.of(c, p.e)
		for i, v := range p.of(c, kx) {
			e[i] = v - p.z[i]
		}
		p.multiplyE(c, e)
	})
	for j, v := range p.e {
		dst[j] = x[j] - v
	}
}

// products returns the Q_c, which it computes once per factor in C n³ operations.
func (p *denseClasses) products() []blas64.General {
	if p.multiplied {
		return p.q
	}
	p.multiplied = true
	if p.q == nil {
		p.own = make([]float64, p.classes*p.n)
		for range p.classes {
			p.q = append(p.q, p.work.General(p.n, p.n))
		}
	}
	for c, q := range p.q {
		p.multiplyPrior(q, c)
		linalg.SolveTri(blas.Trans, p.m, q)
	}
	return p.q
}

// multiplyPrior sets x to E_c K_c, and the q_c of the class:
//
//	E_c K_c = D_c^½ (I - B_c⁻¹) D_c^-½,   q_c = [K_c - K_c E_c K_c]_ii = (1 - [B_c⁻¹]_ii) / π_c
//
// and 1 - [B_c⁻¹]_ii, which may cancel, is from row i of B_c B_c⁻¹ = I.
func (p *denseClasses) multiplyPrior(x blas64.General, c int) {
	n, k, root, bInverse, own := p.n, share(p.k, c), p.of(c, p.root), p.u[c].Data, p.of(c, p.own)
	reciprocal := make([]float64, n)
	for i, r := range root {
		reciprocal[i] = 1 / r
	}
	linalg.Reflect(blas.Upper, x, p.square(bInverse))
	clear(own)
	linalg.SumRows(n, own, func(sum []float64, i0, i1 int) { // Σ_{j≠i} K_ij D_j^½ [B_c⁻¹]_ji
		for i := i0; i < i1; i++ {
			row, r, s := x.Data[i*n:(i+1)*n], root[i], 0.0
			copy(row[:i], bInverse[i*n:])
			right, below, after := row[i+1:], sum[i+1:n], root[i+1:n]
			for j, v := range k.Data[i*k.Stride+i+1 : i*k.Stride+n] {
				v *= right[j]
				s += v * after[j]
				below[j] += v * r
			}
			sum[i] += s
			for j, b := range row {
				row[j] = -r * b * reciprocal[j]
			}
		}
	})
	for i, sum := range own {
		variance, pi := k.Data[i*k.Stride+i], root[i]*root[i]
		own[i] = max((variance+sum*reciprocal[i])/(1+pi*variance), 0)
		x.Data[i*n+i] = pi * own[i]
	}
}

// differentiate computes what derivatives need, once per factor: the variances π_c q_c, and
//
//	F_cc = E_c - E_c (Σ_d E_d)⁻¹ E_c
//
// in (2C + ⅓) n³ operations, C n³ less after Marginals. With Q_c = M⁻ᵀ E_c K_c and
// V_c = D_c^½ (K_c - K_c E_c K_c) D_c^½ = I - B_c⁻¹,
//
//	D_c^½ Σ_cd D_d^½ = δ_cd V_c + D_c^½ Q_cᵀQ_d D_d^½,   M⁻ᵀ E_c = (M⁻ᵀ - Q_c) D_c
func (p *denseClasses) differentiate() {
	if p.known {
		return
	}
	n, q := p.n, p.products()
	for j := len(p.information); j < len(p.k); j++ {
		p.information = append(p.information,
			blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: p.work.Take(n * n)})
	}
	for _, g := range p.information {
		eachRow(n, func(i int) { clear(g.Data[i*n : (i+1)*n]) })
	}
	for c := range q {
		root, left, g := p.of(c, p.root), p.of(c, p.left), share(p.information, c)
		bInverse := p.square(p.inner.Data)
		linalg.Reflect(blas.Upper, bInverse, p.square(p.u[c].Data))
		eachRow(n, func(i int) {
			row, to := bInverse.Data[i*n+i:(i+1)*n], g.Data[i*n+i:(i+1)*n]
			row[0] = left[i]
			for j, b := range row {
				to[j] -= root[i] * b * root[i+j] / 2
			}
		})
	}
	p.variances = p.measure(q)
	for c := range q {
		linalg.Syrk(blas.Trans, 0.5, q[c], 1, share(p.information, c))
	}
	p.known, p.multiplied = true, false
}

// measure returns the π_c q_c, whose terms are summed without cancellation, and replaces Q_c by M⁻ᵀ
// E_c.
func (p *denseClasses) measure(products []blas64.General) []float64 {
	n := p.n
	mInverse := p.inner.Data // M⁻¹ above the diagonal and M⁻ᵀ below
	eachRow(n, func(i int) { copy(mInverse[i*n+i:(i+1)*n], p.m.Data[i*n+i:(i+1)*n]) })
	linalg.InverseTri(p.inner)
	linalg.Reflect(blas.Lower, p.square(mInverse), p.square(mInverse))
	// pis is D, with the lower bound that p.root has
	s, pis := make([]float64, p.classes*n), make([]float64, p.classes*n)
	floats.MulTo(pis, p.root, p.root)
	const strip = 256
	linalg.Parallel((n+strip-1)/strip, func(job int) {
		from, to := job*strip, min(n, (job+1)*strip)
		common := make([]float64, to-from) // Σ_c Q_c D_c
		for i := range n {
			clear(common)
			for c, x := range products {
				pi := p.of(c, pis)[from:to]
				for j, v := range x.Data[i*n+from : i*n+to] {
					common[j] += v * pi[j]
				}
			}
			p.normalise(common, from)
			below := min(max(i+1-from, 0), to-from) // columns in which M⁻ᵀ is nonzero
			for c, x := range products {
				pi, q, row := p.of(c, pis)[from:to], p.of(c, s)[from:to], x.Data[i*n+from:i*n+to]
				for j, d := range pi {
					v := row[j] - common[j]
					q[j] += d * v * v
				}
				for j, m := range mInverse[i*n+from : i*n+from+below] {
					row[j] = (m - row[j]) * pi[j]
				}
				for j := below; j < len(row); j++ {
					row[j] *= -pi[j]
				}
			}
		}
	})
	shared, mean := make([]float64, n), slices.Clone(p.pi) // Σ_c π_c V_c
	for c := range p.classes {
		p.normalise(p.of(c, mean), 0)
	}
	for j, pi := range mean {
		shared[j%n] += pi * (1 - p.left[j])
	}
	for j, pi := range mean {
		s[j] += (1-p.left[j])*(1-2*pi) + pi*shared[j%n]
	}
	return s
}
