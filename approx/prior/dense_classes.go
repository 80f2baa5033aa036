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

// normalise divides numbers of the cases from case from on by their weights.
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
	p.known = false
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

// differentiate computes what derivatives need, once per factor: the variances π_c q_c, and
//
//	F_cc = E_c - E_c (Σ_d E_d)⁻¹ E_c
//
// in (2C + ⅓) n³ operations and temporarily C n² numbers. With Z_c = M⁻ᵀ E_c K_c D_c^½ = M⁻ᵀ D_c^½
// (I - B_c⁻¹) and V_c = D_c^½ (K_c - K_c E_c K_c) D_c^½ = I - B_c⁻¹,
//
//	D_c^½ Σ_cd D_d^½ = δ_cd V_c + Z_cᵀZ_d,   M⁻ᵀ E_c = (M⁻ᵀ D_c^½ - Z_c) D_c^½
func (p *denseClasses) differentiate() {
	if p.known {
		return
	}
	p.known = true
	n := p.n
	p.information = make([]blas64.Symmetric, len(p.k))
	for j := range p.information {
		p.information[j] = blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: p.work.Take(n * n)}
		eachRow(n, func(i int) { clear(p.information[j].Data[i*n : (i+1)*n]) })
	}
	defer p.work.Release(p.work.Mark())
	z := make([]blas64.General, p.classes)
	for c := range z {
		z[c] = p.work.General(n, n)
		root, left, bInverse, zc := p.of(c, p.root), p.of(c, p.left), p.u[c].Data, z[c].Data
		g := share(p.information, c)
		linalg.Reflect(blas.Upper, z[c], p.square(bInverse))
		eachRow(n, func(i int) {
			r := root[i]
			copy(zc[i*n:i*n+i], bInverse[i*n:])
			row := zc[i*n : (i+1)*n]
			row[i] = left[i]
			for j := i; j < n; j++ {
				g.Data[i*n+j] -= r * row[j] * root[j] / 2
			}
			for j, b := range row {
				row[j] = -r * b
			}
			row[i] = r * (1 - left[i])
		})
		linalg.SolveTri(blas.Trans, p.m, z[c])
	}
	p.variances = p.measure(z)
	for c := range z {
		linalg.Syrk(blas.Trans, 0.5, z[c], 1, share(p.information, c))
	}
}

// measure returns the π_c q_c, whose terms are summed without cancellation, and replaces Z_c by M⁻ᵀ
// E_c.
func (p *denseClasses) measure(z []blas64.General) []float64 {
	n := p.n
	mInverse := p.inner.Data // M⁻¹ above the diagonal and M⁻ᵀ below
	eachRow(n, func(i int) { copy(mInverse[i*n+i:(i+1)*n], p.m.Data[i*n+i:(i+1)*n]) })
	linalg.InverseTri(p.inner)
	linalg.Reflect(blas.Lower, p.square(mInverse), p.square(mInverse))
	s := make([]float64, p.classes*n)
	const strip = 256
	linalg.Parallel((n+strip-1)/strip, func(job int) {
		from, to := job*strip, min(n, (job+1)*strip)
		common := make([]float64, to-from) // of Σ_c Z_c D_c^½
		for i := range n {
			clear(common)
			for c := range z {
				root := p.of(c, p.root)[from:to]
				for j, v := range z[c].Data[i*n+from : i*n+to] {
					common[j] += v * root[j]
				}
			}
			p.normalise(common, from)
			below := min(max(i+1-from, 0), to-from) // columns in which M⁻ᵀ is nonzero
			for c := range z {
				root, q, row := p.of(c, p.root)[from:to], p.of(c, s)[from:to], z[c].Data[i*n+from:i*n+to]
				for j, r := range root {
					d := row[j] - r*common[j]
					q[j] += d * d
				}
				for j, m := range mInverse[i*n+from : i*n+from+below] {
					row[j] = (m*root[j] - row[j]) * root[j]
				}
				for j := below; j < len(row); j++ {
					row[j] *= -root[j]
				}
			}
		}
	})
	shared, mean := make([]float64, n), slices.Clone(p.pi) // Σ_c π_c V_c
	for c := range z {
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
