package approx

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// multiclass is the posterior of Laplace's method for C > 2 classes, GPML 3.5. The C latent processes are independent
// a priori and coupled by W = D - ΠΠᵀ, D = diag π, whose blocks are diagonal. With
//
//	B_c = I + D_c^½ K_c D_c^½ = U_cᵀU_c,   E_c = D_c^½ B_c⁻¹ D_c^½ = (K_c + D_c⁻¹)⁻¹,   MᵀM = Σ_c E_c
//
// and R = (I … I)ᵀ, the Cn×n matrix that repeats a function of the cases for every class,
//
//	F = (K + W⁻¹)⁻¹ = E - E R (Σ_c E_c)⁻¹ RᵀE,   |I + W K| = |Σ_c E_c| Π_c |B_c|
//
// so that a fit takes C + 1 factorisations a step, O(C n³) time, and O(C n²) memory: no Cn×Cn matrix appears. Vectors hold
// one class after the other, entry c·n + i.
type multiclass struct {
	n, classes int
	k          []blas64.Symmetric // one shared, or one per class
	mean       []float64          // prior mean m
	y          []int
	lik        likelihood.Multinomial
	options    Laplace
	scale      []float64 // per class, max K_ii, which bounds every |K_ij|

	root []float64 // D^½
	u    []blas64.Triangular
	m    blas64.Triangular
	work blas64.Triangular // n×n
	e    []float64         // Cn
	z    []float64         // n
	pi   []float64         // C, and the two others likewise
	g, f []float64

	b           []float64 // K⁻¹(f̂ - m)
	at          *point
	value       float64
	err         error // why there is no adjoint
	adjoints    []Cov // one per covariance, once they are asked for
	diagnostics Diagnostics
}

func newMulticlass(l Laplace, cov []Cov, y Targets, lik likelihood.Bound) (*multiclass, error) {
	n, classes := y.Len(), y.Classes
	if classes < 3 || len(cov) != 1 && len(cov) != classes || len(y.Index) != n || n == 0 {
		panic(fmt.Sprintf("approx: %d covariances, %d classes, %d labels, want 1 or one per class, at least 3 and at least 1", len(cov), classes, len(y.Index)))
	}
	l.Tolerance = cmp.Or(l.Tolerance, defaultTolerance)
	v := func(n int) []float64 { return make([]float64, n) }
	triangle := func() blas64.Triangular {
		return blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: n, Stride: n, Data: v(n * n)}
	}
	p := &multiclass{
		n: n, classes: classes, y: y.Index, lik: lik.(likelihood.Multinomial), options: l,
		mean: v(classes * n), root: v(classes * n), e: v(classes * n), b: v(classes * n), z: v(n),
		pi: v(classes), g: v(classes), f: v(classes), m: triangle(), work: triangle(),
	}
	for c := range classes {
		prior := cov[min(c, len(cov)-1)]
		if c < len(cov) {
			if err := checkPrior(prior, n); err != nil {
				return nil, err
			}
			p.k = append(p.k, prior.K.RawSymmetric())
		}
		if prior.Mean != nil {
			copy(p.of(c, p.mean), prior.Mean)
		}
		scale := 0.0
		for i := range n {
			scale = max(scale, p.variance(c, i))
		}
		p.scale = append(p.scale, scale)
		p.u = append(p.u, triangle())
	}
	return p, nil
}

// kernel is the covariance of a class.
func (p *multiclass) kernel(c int) blas64.Symmetric { return p.k[min(c, len(p.k)-1)] }

// variance is the prior variance of f_i^c.
func (p *multiclass) variance(c, i int) float64 {
	k := p.kernel(c)
	return k.Data[i*k.Stride+i]
}

// of is the part of a vector that belongs to a class.
func (p *multiclass) of(c int, v []float64) []float64 { return v[c*p.n : (c+1)*p.n] }

func (p *multiclass) newPoint() *point { return newPoint(p.classes * p.n) }

// latentAt sets f = m + K a.
func (p *multiclass) latentAt(f, a []float64) {
	copy(f, p.mean)
	for c := range p.classes {
		linalg.Symv(1, p.kernel(c), p.of(c, a), 1, p.of(c, f))
	}
}

// differentiate fills what follows from a and f.
func (p *multiclass) differentiate(at *point) {
	at.psi = 0
	for i, y := range p.y {
		for c := range p.classes {
			p.f[c] = at.f[c*p.n+i]
		}
		at.psi += p.lik.Probabilities(p.pi, p.g, p.f, y)
		for c, j := 0, i; c < p.classes; c, j = c+1, j+p.n {
			at.w[j], at.g[j], at.r[j] = p.pi[c], p.g[c], p.g[c]-at.a[j]
			at.psi -= at.a[j] * (p.f[c] - p.mean[j]) / 2
		}
	}
}

// linearise sets r = W(f - m) + g.
func (p *multiclass) linearise(at *point) {
	for i := range p.n {
		average := 0.0
		for j := i; j < len(at.f); j += p.n {
			average += at.w[j] * (at.f[j] - p.mean[j])
		}
		for j := i; j < len(at.f); j += p.n {
			at.r[j] = at.w[j]*(at.f[j]-p.mean[j]-average) + at.g[j]
		}
	}
}

// factorise factors every B_c and Σ_c E_c, GPML Algorithm 3.3 lines 4-8.
func (p *multiclass) factorise(pi []float64) error {
	n := p.n
	clear(p.m.Data)
	for c, u := range p.u {
		root, k := p.of(c, p.root), p.kernel(c)
		for i, w := range p.of(c, pi) {
			root[i] = math.Sqrt(w)
		}
		for i, r := range root {
			row := u.Data[i*n : (i+1)*n]
			for j, v := range k.Data[i*k.Stride+i : i*k.Stride+n] {
				row[i+j] = r * v * root[i+j]
			}
			row[i]++
		}
		if _, ok := linalg.Cholesky(blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: u.Data}); !ok {
			return fmt.Errorf("%w: B = I + D^½ K D^½ of class %d; K has a negative eigenvalue beyond rounding error", ErrNotPositiveDefinite, c)
		}
		inverse := p.inverse(c)
		for i, r := range root {
			row := p.m.Data[i*n+i : (i+1)*n]
			for j, v := range inverse.Data[i*n+i : (i+1)*n] {
				row[j] += r * v * root[i+j]
			}
		}
	}
	if _, ok := linalg.Cholesky(blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: p.m.Data}); !ok {
		return fmt.Errorf("%w: Σ_c E_c; the prior variances, up to %.2g, are too large for its rounding error", ErrNotPositiveDefinite, p.scale[0])
	}
	return nil
}

// inverse returns B_c⁻¹ in p.work.
func (p *multiclass) inverse(c int) blas64.Symmetric {
	for i := range p.n {
		copy(p.work.Data[i*p.n+i:(i+1)*p.n], p.u[c].Data[i*p.n+i:(i+1)*p.n])
	}
	return linalg.InverseCholesky(p.work)
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
// z = (Σ_c E_c)⁻¹ Σ_c E_c K_c x_c is what the classes' K_c x_c have in common; F does not see it.
func (p *multiclass) shrink(dst, x, kx []float64) {
	clear(p.z)
	copy(p.e, kx)
	for c := range p.classes {
		e := p.of(c, p.e)
		p.multiplyE(c, e)
		for i, v := range e {
			p.z[i] += v
		}
	}
	linalg.SolveTriVec(blas.Trans, p.m, p.z)
	linalg.SolveTriVec(blas.NoTrans, p.m, p.z)
	for c := range p.classes {
		e := p.of(c, p.e)
		for i, v := range p.of(c, kx) {
			e[i] = v - p.z[i]
		}
		p.multiplyE(c, e)
	}
	for j, v := range p.e {
		dst[j] = x[j] - v
	}
}

// newton fills the Newton step from at, GPML Algorithm 3.3 lines 9-11 as a change of a: δ = (I + W K)⁻¹ r.
func (p *multiclass) newton(at *point) float64 {
	for c := range p.classes {
		linalg.Symv(1, p.kernel(c), p.of(c, at.r), 0, p.of(c, at.kr))
	}
	p.shrink(at.delta, at.r, at.kr)
	return math.Sqrt(math.Abs(dot(at.kr, at.delta)))
}

// precision returns the length of a Newton step that is short enough, and one that rounding may leave in every step.
//
// Write x_c = u_c - Σ_d π_d u_d for a direction u of the latent values of one case. A step of length λ has |x_c| ≤ λ t_c
// with t_c² = min(4 max K, 1/π_c(1-π_c)): the first from the prior, the second because Σ_c π_c x_c² ≤ λ². As the third
// derivative of log p is -Σ_c π_c x_c³, it changes ½ log|I + W K| by at most ½ λ Σ π_c(1-π_c) t_c³. An error η in f leaves
// steps of about √(ηᵀWη), and |η_i^c| is about eps max K_jj Σ|a_j^c|.
func (p *multiclass) precision(at *point) (target, rounding float64) {
	var reach, noise float64
	for c, scale := range p.scale {
		weight, size := 0.0, 0.0
		for j, pi := range p.of(c, at.w) {
			w := pi * (1 - pi)
			t := math.Sqrt(min(4*scale, 1/w))
			reach += w * t * t * t / 2
			weight += w
			size += math.Abs(at.a[c*p.n+j])
		}
		noise += weight * (eps * scale * size) * (eps * scale * size)
	}
	return p.options.Tolerance / max(1, reach), math.Sqrt(noise)
}

// finish makes the posterior at a point, given the length of the Newton step there. The factors must be those of the
// point, so that everything belongs to one and the same f.
func (p *multiclass) finish(at *point, length float64) (Posterior, error) {
	for j, d := range at.delta { // see laplacePosterior.finish
		p.b[j] = at.a[j] + d
	}
	p.at = at
	p.value = at.psi - linalg.LogDet(p.m)
	for _, u := range p.u {
		p.value -= linalg.LogDet(u)
	}
	return p, nil
}

// adjoint sets dst to the weight on dK_c and on dm_c summed over the classes c that share them, as for two classes:
//
//	G_c = ½ g_c g_cᵀ - ½ F_cc + ½ (u_c g_cᵀ + g_c u_cᵀ),   ∂L/∂m_c = g_c + u_c
//	u = (I + W K)⁻¹ s,   s_i^c = ∂(-½ log|I + W K|)/∂f_i^c = -½ tr(Σ_i ∂W_i/∂f_i^c)
//
// with Σ_i the C×C posterior covariance of case i.
func (p *multiclass) adjoint() {
	n := p.n
	p.adjoints = make([]Cov, len(p.k))
	for j := range p.adjoints {
		p.adjoints[j] = Cov{K: mat.NewSymDense(n, nil), Mean: make([]float64, n)}
	}
	// Z_c = M⁻ᵀ E_c K_c D_c^½ = M⁻ᵀ D_c^½ (I - B_c⁻¹) and V_c = D_c^½ (K_c - K_c E_c K_c) D_c^½ = I - B_c⁻¹, so that
	// D_c^½ Σ_cd D_d^½ = δ_cd V_c + Z_cᵀZ_d.
	z := make([]blas64.General, p.classes)
	v := make([]float64, p.classes*n)  // the diagonal of V_c
	common := linalg.NewGeneral(n, n)  // Σ_c Z_c D_c^½
	lower := linalg.NewGeneral(n, n)   // M⁻ᵀ
	product := linalg.NewGeneral(n, n) // M⁻ᵀ E_c
	for i := range n {
		copy(p.work.Data[i*n+i:(i+1)*n], p.m.Data[i*n+i:(i+1)*n])
	}
	linalg.InverseTri(p.work)
	for i := range n {
		for j := i; j < n; j++ {
			lower.Data[j*n+i] = p.work.Data[i*n+j]
		}
	}
	for c := range p.classes {
		root, inverse := p.of(c, p.root), p.inverse(c)
		g := p.adjoints[min(c, len(p.k)-1)].K.RawSymmetric()
		z[c] = linalg.NewGeneral(n, n)
		for i := range n {
			inverse.Data[i*n+i]--
			p.of(c, v)[i] = -inverse.Data[i*n+i]
			g.Data[i*g.Stride+i] -= root[i] * root[i] / 2
			for j := i; j < n; j++ {
				b := inverse.Data[i*n+j] // [B⁻¹ - I]_ij
				z[c].Data[i*n+j], z[c].Data[j*n+i] = -root[i]*b, -root[j]*b
				g.Data[i*g.Stride+j] -= root[i] * b * root[j] / 2
			}
		}
		linalg.SolveTri(blas.Trans, p.m, z[c])
		for i := range n {
			for j, r := range root {
				x := z[c].Data[i*n+j]
				common.Data[i*n+j] += x * r
				product.Data[i*n+j] = (lower.Data[i*n+j]*r - x) * r
			}
		}
		linalg.Syrk(blas.Trans, 0.5, product, 1, g)
	}

	s := make([]float64, p.classes*n)
	// s_c = -½ π_c (q_c - Σ_d π_d q_d) with q_c the posterior variance of f_c - Σ_d π_d f_d. First π_c q_c.
	for c := range p.classes {
		root, q := p.of(c, p.root), p.of(c, s)
		for i := range n {
			for j, r := range root {
				d := z[c].Data[i*n+j] - r*common.Data[i*n+j]
				q[j] += d * d
			}
		}
		for i, r := range root {
			pi := r * r
			others := 0.0
			for d := range p.classes {
				if d != c {
					others += p.of(d, p.at.w)[i] * p.of(d, v)[i]
				}
			}
			q[i] += (1-pi)*(1-pi)*p.of(c, v)[i] + pi*others
		}
	}
	for i := range n {
		average := 0.0
		for j := i; j < len(s); j += n {
			average += s[j]
		}
		for j := i; j < len(s); j += n {
			s[j] = (p.at.w[j]*average - s[j]) / 2
		}
	}
	ks := make([]float64, len(s))
	for c := range p.classes {
		linalg.Symv(1, p.kernel(c), p.of(c, s), 0, p.of(c, ks))
	}
	p.shrink(s, s, ks)
	for c := range p.classes {
		dst := p.adjoints[min(c, len(p.k)-1)]
		raw := dst.K.RawSymmetric()
		g, u := p.of(c, p.b), p.of(c, s)
		for i, gi := range g {
			row := raw.Data[i*raw.Stride+i : i*raw.Stride+n]
			for j := range row {
				gj, uj := g[i+j], u[i+j]
				row[j] += (gi*gj + u[i]*gj + gi*uj) / 2
			}
			dst.Mean[i] += gi + u[i]
		}
	}
}
func (p *multiclass) Evidence() Functional { return multiclassEvidence{p} }

type multiclassEvidence struct{ p *multiclass }

func (e multiclassEvidence) Value() float64 { return e.p.value }
func (e multiclassEvidence) Adjoint(dst *Cov, j int) error {
	if e.p.adjoints == nil {
		e.p.adjoint()
	}
	dst.K.CopySym(e.p.adjoints[j].K)
	if dst.Mean != nil {
		copy(dst.Mean, e.p.adjoints[j].Mean)
	}
	return nil
}
func (e multiclassEvidence) Likelihood(grad []float64) error { return nil }

// project returns what class c contributes to the covariance of the latent values at new inputs, GPML Algorithm 3.4 lines
// 4-9: with k* = cross and k** = diag it is, between classes c and d,
//
//	δ_cd q_c + x_cᵀ x_d,   q_c = k** - k*ᵀ E_c k*,   x_c = M⁻ᵀ E_c k*
func (p *multiclass) project(c int, cross *mat.Dense, diag []float64) (q []float64, x blas64.General) {
	n, m := cross.Dims()
	if n != p.n || len(diag) != m {
		panic(fmt.Sprintf("approx: cross is %d×%d and diag has %d entries, want %d×m and m", n, m, len(diag), p.n))
	}
	root, k := p.of(c, p.root), cross.RawMatrix()
	x = linalg.NewGeneral(n, m)
	scale := func(x, k blas64.General) {
		for i, r := range root {
			row := x.Data[i*x.Stride : i*x.Stride+m]
			for j, v := range k.Data[i*k.Stride : i*k.Stride+m] {
				row[j] = r * v
			}
		}
	}
	scale(x, k)
	linalg.SolveTri(blas.Trans, p.u[c], x)
	q = slices.Clone(diag)
	subtractSquares(q, x)
	for j, v := range q {
		q[j] = max(v, 0)
	}
	linalg.SolveTri(blas.NoTrans, p.u[c], x)
	scale(x, x)
	linalg.SolveTri(blas.Trans, p.m, x)
	return q, x
}

// Latent implements Posterior. A variance is floored at 0, which only rounding can reach.
func (p *multiclass) Latent(mean, variance []float64, cross *mat.Dense, diag []float64, class int) {
	linalg.Gemv(blas.Trans, 1, cross.RawMatrix(), p.of(class, p.b), 0, mean)
	q, x := p.project(class, cross, diag)
	for i := range q {
		q[i] = -q[i]
	}
	subtractSquares(q, x)
	for j, v := range q {
		variance[j] = -v
	}
}

func entry[T any](list []T, c int) T { return list[min(c, len(list)-1)] }

// LatentCovariance sets dst[j] to the C×C covariance.
func (p *multiclass) LatentCovariance(dst []*mat.SymDense, cross []*mat.Dense, diag [][]float64) {
	x := make([]blas64.General, p.classes)
	q := make([][]float64, p.classes)
	for c := range p.classes {
		q[c], x[c] = p.project(c, entry(cross, c), entry(diag, c))
	}
	for j, s := range dst {
		for c := range p.classes {
			for d := c; d < p.classes; d++ {
				sum := 0.0
				for i := range p.n {
					sum += x[c].Data[i*x[c].Stride+j] * x[d].Data[i*x[d].Stride+j]
				}
				if c == d {
					sum += q[c][j]
				}
				s.SetSym(c, d, sum)
			}
		}
	}
}

func (p *multiclass) PredictProba(dst *mat.Dense, cross []*mat.Dense, diag, mean [][]float64) {}
func (p *multiclass) State() State                                                            { return p.at.state() }
func (p *multiclass) Diagnostics() Diagnostics                                                { return p.diagnostics }
func checkPrior(cov Cov, n int) error                                                         { return nil }
