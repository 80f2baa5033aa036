package approx

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// multiclass is the posterior of Laplace's method for C > 2 classes, GPML 3.5. The C latent
// processes are independent a priori and coupled by W = D - ΠΠᵀ, D = diag π, between the classes of
// one case. With
//
//	B_c = I + D_c^½ K_c D_c^½ = U_cᵀU_c,
//	E_c = D_c^½ B_c⁻¹ D_c^½ = (K_c + D_c⁻¹)⁻¹,   Σ_c E_c = MᵀM
//
// and R = (I … I)ᵀ, which repeats a function of the cases for every class,
//
//	F = (K + W⁻¹)⁻¹ = E - E R (Σ_c E_c)⁻¹ Rᵀ E,   |I + W K| = |Σ_c E_c| Π_c |B_c|
//
// so that it takes C + 1 factorisations, O(C n³) time, and O(C n²) memory: no Cn×Cn matrix is
// formed. Vectors of length Cn contain one class after the other, entry c·n + i.
type multiclass struct {
	*categories
	k        []blas64.Symmetric  // one shared, or one per class
	root     []float64           // D^½
	u        []blas64.Triangular // one per class; below the diagonal is B_c⁻¹
	left     []float64           // [B_c⁻¹]_ii
	m        blas64.Triangular
	adjoints []Cov // one per covariance; computed on first use
	room     *Work

	work blas64.Triangular // n×n
	e    []float64         // Cn
}

func newMulticlass(
	work *Work, tolerance float64, points int, cov []Cov, y Targets, lik likelihood.Bound,
) (*multiclass, error) {
	base := newCategories(tolerance, points, cov, y, lik)
	n, classes := base.n, base.classes
	v := work.take
	triangle := func() blas64.Triangular {
		return blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: n, Stride: n, Data: v(n * n)}
	}
	p := &multiclass{
		categories: base, room: work, root: v(classes * n), left: v(classes * n), m: triangle(),
		work: triangle(), e: v(classes * n),
	}
	p.storage = p
	for j, prior := range cov {
		if err := checkPrior(prior, n); err != nil {
			return nil, ofClass(err, j, cov)
		}
		p.k = append(p.k, prior.K.RawSymmetric())
	}
	for c := range classes {
		p.scale = append(p.scale, largest(p.kernel(c)))
		p.u = append(p.u, triangle())
	}
	return p, nil
}

// kernel is the covariance of a class.
func (p *multiclass) kernel(c int) blas64.Symmetric { return share(p.k, c) }

// latentAt sets f = m + K a.
func (p *multiclass) latentAt(f, a []float64) {
	copy(f, p.mean)
	p.multiplyK(a, 1, f)
}

// multiplyK sets dst ← K x + β dst.
func (p *multiclass) multiplyK(x []float64, beta float64, dst []float64) {
	p.diagnostics.Products++
	sharing := p.classes / len(p.k) // classes per covariance
	rows := func(v []float64, j int) blas64.General {
		return blas64.General{Rows: sharing, Cols: p.n, Stride: p.n, Data: v[j*sharing*p.n : (j+1)*sharing*p.n]}
	}
	for j, k := range p.k {
		linalg.SymvRows(1, k, rows(x, j), beta, rows(dst, j))
	}
}

// eachRow calls work for every row of a matrix, in blocks divided among threads.
func eachRow(n int, work func(i int)) {
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			work(i)
		}
	})
}

// square is an n×n matrix.
func (p *multiclass) square(data []float64) blas64.General {
	return blas64.General{Rows: p.n, Cols: p.n, Stride: p.n, Data: data}
}

// symmetric is the matrix stored above the diagonal of u.
func (p *multiclass) symmetric(u blas64.Triangular) blas64.Symmetric {
	return blas64.Symmetric{Uplo: blas.Upper, N: p.n, Stride: p.n, Data: u.Data}
}

// factorise factors every B_c and Σ_c E_c, GPML Algorithm 3.3 lines 4-8.
func (p *multiclass) factorise(pi []float64) error {
	p.diagnostics.Factorizations++
	n := p.n
	eachRow(n, func(i int) { clear(p.m.Data[i*n : (i+1)*n]) })
	for c, u := range p.u {
		root, left, k, inverse := p.of(c, p.root), p.of(c, p.left), p.kernel(c), p.work.Data
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
		linalg.InverseCholesky(p.work)
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
			ErrNotPositiveDefinite, p.scale[0])
	}
	return nil
}

// multiplyE sets x ← E_c x by two triangular solves.
func (p *multiclass) multiplyE(c int, x []float64) {
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

// shrink sets dst = (I - F K) x = (I + W K)⁻¹ x, given kx = K x; it overwrites p.e. dst may be x.
//
// z = (Σ_c E_c)⁻¹ Σ_c E_c K_c x_c is the part common to the classes' K_c x_c; F maps it to 0.
func (p *multiclass) shrink(dst, x, kx []float64) {
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

// newton fills the Newton step from at, GPML Algorithm 3.3 lines 9-11 as a change of a: δ = (I + W
// K)⁻¹ r.
func (p *multiclass) newton(at *point) float64 {
	p.multiplyK(at.r, 0, at.kr)
	p.shrink(at.delta, at.r, at.kr)
	return math.Sqrt(math.Abs(dot(at.kr, at.delta)))
}

// finish makes the posterior at a point, given the length of the Newton step there. The factors
// must be those of the point, so that everything belongs to the same f.
func (p *multiclass) finish(at *point, length float64, iterations int) (Posterior, error) {
	value := at.psi - linalg.LogDet(p.m)
	for _, u := range p.u {
		value -= linalg.LogDet(u)
	}
	return p, p.settle(value, at, length, iterations)
}

// Evidence implements Posterior. The adjoints of all covariances are computed together, on first
// use.
func (p *multiclass) Evidence() Functional { return multiclassEvidence{p.evidence, p} }

type multiclassEvidence struct {
	functional
	posterior *multiclass
}

func (e multiclassEvidence) Adjoint(dst *Cov, j int) error {
	p := e.posterior
	if r := dst.K.SymmetricDim(); r != p.n || j < 0 || j >= len(p.k) {
		panic(fmt.Sprintf("approx: adjoint of covariance %d is %d×%d, want %d×%d and one of %d",
			j, r, r, p.n, p.n, len(p.k)))
	}
	if e.err != nil {
		return e.err
	}
	if p.adjoints == nil {
		p.adjoint()
	}
	to, from := dst.K.RawSymmetric(), p.adjoints[j].K.RawSymmetric()
	eachRow(p.n, func(i int) {
		copy(to.Data[i*to.Stride+i:i*to.Stride+p.n], from.Data[i*from.Stride+i:i*from.Stride+p.n])
	})
	if dst.Mean != nil {
		copy(dst.Mean, p.adjoints[j].Mean)
	}
	return nil
}

// adjoint fills the weights on dK_c and dm_c, summed over the classes that share them. As for two
// classes, GPML (5.20)-(5.24),
//
//	G_c = ½ g_c g_cᵀ - ½ F_cc + ½ (u_c g_cᵀ + g_c u_cᵀ),   ∂L/∂m_c = g_c + u_c
//	u = (I + W K)⁻¹ s,   s_i^c = ∂(-½ log|I + W K|)/∂f_i^c = -½ tr(Σ_i ∂W_i/∂f_i^c)
//
// with F_cc = E_c - E_c (Σ_d E_d)⁻¹ E_c and Σ_i the C×C posterior covariance of case i. It takes
// (2C + ⅓) n³ operations and temporarily C n² numbers.
func (p *multiclass) adjoint() {
	n := p.n
	p.adjoints = make([]Cov, len(p.k))
	for j := range p.adjoints {
		k := p.room.take(n * n)
		eachRow(n, func(i int) { clear(k[i*n : (i+1)*n]) })
		p.adjoints[j] = Cov{K: mat.NewSymDense(n, k), Mean: make([]float64, n)}
	}
	defer p.room.release(p.room.mark())
	// With Z_c = M⁻ᵀ E_c K_c D_c^½ = M⁻ᵀ D_c^½ (I - B_c⁻¹) and V_c = D_c^½ (K_c - K_c E_c K_c)
	// D_c^½ = I - B_c⁻¹, D_c^½ Σ_cd D_d^½ = δ_cd V_c + Z_cᵀZ_d, and M⁻ᵀ E_c = (M⁻ᵀ D_c^½ - Z_c)
	// D_c^½.
	z := make([]blas64.General, p.classes)
	for c := range z {
		z[c] = p.room.general(n, n)
		root, left, bInverse, zc := p.of(c, p.root), p.of(c, p.left), p.u[c].Data, z[c].Data
		g := share(p.adjoints, c).K.RawSymmetric()
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
	s := p.slope(z)
	for c := range z {
		linalg.Syrk(blas.Trans, 0.5, z[c], 1, share(p.adjoints, c).K.RawSymmetric())
	}
	u, ku := s, make([]float64, p.classes*n)
	p.multiplyK(u, 0, ku)
	p.shrink(u, u, ku)
	for c := range p.classes {
		dst := share(p.adjoints, c)
		raw := dst.K.RawSymmetric()
		gc, uc := p.of(c, p.b), p.of(c, u)
		eachRow(n, func(i int) {
			g, u := gc[i], uc[i]
			row := raw.Data[i*n+i : (i+1)*n]
			for j := range row {
				row[j] += (g*gc[i+j] + u*gc[i+j] + g*uc[i+j]) / 2
			}
			dst.Mean[i] += g + u
		})
	}
}

// slope returns s, and replaces Z_c by M⁻ᵀ E_c. The terms of q_c (see byLatent) are summed without
// cancellation.
func (p *multiclass) slope(z []blas64.General) []float64 {
	n := p.n
	mInverse := p.work.Data // M⁻¹ above the diagonal and M⁻ᵀ below
	eachRow(n, func(i int) { copy(mInverse[i*n+i:(i+1)*n], p.m.Data[i*n+i:(i+1)*n]) })
	linalg.InverseTri(p.work)
	linalg.Reflect(blas.Lower, p.square(mInverse), p.square(mInverse))
	s := make([]float64, p.classes*n) // at first π_c q_c
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
	shared := make([]float64, n) // Σ_c π_c V_c
	for j, pi := range p.at.w {
		shared[j%n] += pi * (1 - p.left[j])
	}
	for j, pi := range p.at.w {
		s[j] += (1-p.left[j])*(1-2*pi) + pi*shared[j%n]
	}
	p.byLatent(s)
	return s
}
