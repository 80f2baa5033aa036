package approx

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// multiclass is the posterior of Laplace's method for C > 2 classes, GPML 3.5. The C latent processes are independent
// a priori and coupled by W = D - ΠΠᵀ, D = diag π, between the classes of one case. With
//
//	B_c = I + D_c^½ K_c D_c^½ = U_cᵀU_c,   E_c = D_c^½ B_c⁻¹ D_c^½ = (K_c + D_c⁻¹)⁻¹,   Σ_c E_c = MᵀM
//
// and R = (I … I)ᵀ, which repeats a function of the cases for every class,
//
//	F = (K + W⁻¹)⁻¹ = E - E R (Σ_c E_c)⁻¹ Rᵀ E,   |I + W K| = |Σ_c E_c| Π_c |B_c|
//
// so that a step takes C + 1 factorisations, O(C n³) time, and a fit O(C n²) memory: no Cn×Cn matrix appears. Vectors of
// Cn hold one class after the other, entry c·n + i.
type multiclass struct {
	n, classes int
	k          []blas64.Symmetric // one shared, or one per class
	mean       []float64          // prior mean m
	y          []int
	lik        likelihood.Multinomial
	tolerance  float64
	points     int       // of PredictProba
	scale      []float64 // per class, max K_ii, which bounds every |K_ij|

	root []float64           // D^½
	u    []blas64.Triangular // one per class
	m    blas64.Triangular
	b    []float64 // K⁻¹(f̂ - m)
	at   *point
	outcome
	adjoints []Cov // one per covariance, once they are asked for

	work     blas64.Triangular // n×n
	e        []float64         // Cn
	z        []float64         // n
	f, pi, g []float64         // C, of one case
}

// usesMulticlass says why Laplace's method cannot work with a categorical likelihood on this many classes, or nil.
func usesMulticlass(lik likelihood.Likelihood, classes int) error {
	if _, ok := bound(lik).(likelihood.Multinomial); !ok {
		return fmt.Errorf("laplace needs a likelihood of classes whose latent values are its natural parameters; use softmax")
	}
	switch classes {
	case 0:
		return fmt.Errorf("softmax explains three or more classes and the targets are numbers; make two classes of them with data: {above: …} and use likelihood: logit")
	case 2:
		return fmt.Errorf("softmax is for three or more classes and there are two; use likelihood: logit, which with twice the kernel's variance is the same model")
	}
	return nil
}

func newMulticlass(l Laplace, cov []Cov, y Targets, lik likelihood.Bound) (*multiclass, error) {
	n, classes := y.Len(), y.Classes
	if classes < 3 || len(cov) != 1 && len(cov) != classes || len(y.Index) != n || n == 0 {
		panic(fmt.Sprintf("approx: %d covariances, %d classes, %d labels, want 1 or one per class, at least 3, and at least 1", len(cov), classes, len(y.Index)))
	}
	v := func(n int) []float64 { return make([]float64, n) }
	triangle := func() blas64.Triangular {
		return blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: n, Stride: n, Data: v(n * n)}
	}
	p := &multiclass{
		n: n, classes: classes, y: y.Index, lik: lik.(likelihood.Multinomial),
		tolerance: cmp.Or(l.Tolerance, defaultTolerance), points: cmp.Or(l.Points, defaultPoints),
		mean: v(classes * n), root: v(classes * n), b: v(classes * n), m: triangle(),
		work: triangle(), e: v(classes * n), z: v(n), f: v(classes), pi: v(classes), g: v(classes),
	}
	for j, prior := range cov {
		if err := checkPrior(prior, n); err != nil {
			if len(cov) > 1 {
				err = fmt.Errorf("class %d: %w", j, err)
			}
			return nil, err
		}
		p.k = append(p.k, prior.K.RawSymmetric())
	}
	for c := range classes {
		if mean := share(cov, c).Mean; mean != nil {
			copy(p.of(c, p.mean), mean)
		}
		scale := 0.0
		for i, k := 0, p.kernel(c); i < n; i++ {
			scale = max(scale, k.Data[i*k.Stride+i])
		}
		p.scale = append(p.scale, scale)
		p.u = append(p.u, triangle())
	}
	return p, nil
}

// share is the entry of a class in a list with one entry for all or one per class.
func share[T any](list []T, class int) T { return list[min(class, len(list)-1)] }

// kernel is the covariance of a class.
func (p *multiclass) kernel(c int) blas64.Symmetric { return share(p.k, c) }

// of is the part of a vector that belongs to a class.
func (p *multiclass) of(c int, v []float64) []float64 { return v[c*p.n : (c+1)*p.n] }

func (p *multiclass) newPoint() *point { return newPoint(p.classes * p.n) }

// part is the model of every third case.
func (p *multiclass) part() (latentModel, []int) {
	cases := everyThird(p.n)
	if cases == nil {
		return nil, nil
	}
	y, cov, entries := make([]int, len(cases)), make([]Cov, len(p.k)), []int(nil)
	for a, i := range cases {
		y[a] = p.y[i]
	}
	for j, k := range p.k {
		cov[j] = Cov{K: principal(k, cases), Mean: make([]float64, len(cases))}
	}
	for c := range p.classes {
		for a, i := range cases {
			share(cov, c).Mean[a] = p.mean[c*p.n+i]
			entries = append(entries, c*p.n+i)
		}
	}
	part, err := newMulticlass(Laplace{Tolerance: 1}, cov, Targets{Classes: p.classes, Index: y}, p.lik)
	if err != nil {
		return nil, nil
	}
	return part, entries
}

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
	p.diagnostics.Factorizations++
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
	return p.tolerance / max(1, reach), math.Sqrt(noise)
}

// finish makes the posterior at a point, given the length of the Newton step there. The factors must be those of the
// point, so that everything belongs to one and the same f.
func (p *multiclass) finish(at *point, length float64, iterations int) (Posterior, error) {
	for j, d := range at.delta {
		p.b[j] = at.a[j] + d // as in laplacePosterior.finish
	}
	p.at, p.state, p.diagnostics.Iterations = at, at.state(), iterations
	p.evidence.value = at.psi - linalg.LogDet(p.m)
	for _, u := range p.u {
		p.evidence.value -= linalg.LogDet(u)
	}
	target, rounding := p.precision(at)
	return p, p.conclude("laplace", fixedPoint{distance: length, rounding: rounding}, target)
}

// Evidence implements Posterior. The adjoints of all covariances are computed together, at the first call.
func (p *multiclass) Evidence() Functional { return multiclassEvidence{p.evidence, p} }

type multiclassEvidence struct {
	functional
	posterior *multiclass
}

func (e multiclassEvidence) Adjoint(dst *Cov, j int) error {
	p := e.posterior
	if r := dst.K.SymmetricDim(); r != p.n || j < 0 || j >= len(p.k) {
		panic(fmt.Sprintf("approx: adjoint of covariance %d is %d×%d, want %d×%d and one of %d", j, r, r, p.n, p.n, len(p.k)))
	}
	if e.err != nil {
		return e.err
	}
	if p.adjoints == nil {
		p.adjoint()
	}
	dst.K.CopySym(p.adjoints[j].K)
	if dst.Mean != nil {
		copy(dst.Mean, p.adjoints[j].Mean)
	}
	return nil
}

// adjoint fills the weights on dK_c and dm_c, summed over the classes that share them. As for two classes, GPML (5.20)-(5.24),
//
//	G_c = ½ g_c g_cᵀ - ½ F_cc + ½ (u_c g_cᵀ + g_c u_cᵀ),   ∂L/∂m_c = g_c + u_c
//	u = (I + W K)⁻¹ s,   s_i^c = ∂(-½ log|I + W K|)/∂f_i^c = -½ tr(Σ_i ∂W_i/∂f_i^c)
//
// with F_cc = E_c - E_c (Σ_d E_d)⁻¹ E_c and Σ_i the C×C posterior covariance of case i. It takes 2⅔ C n³ operations and
// C n² numbers for their duration.
func (p *multiclass) adjoint() {
	n := p.n
	p.adjoints = make([]Cov, len(p.k))
	for j := range p.adjoints {
		p.adjoints[j] = Cov{K: mat.NewSymDense(n, nil), Mean: make([]float64, n)}
	}
	// With Z_c = M⁻ᵀ E_c K_c D_c^½ = M⁻ᵀ D_c^½ (I - B_c⁻¹) and V_c = D_c^½ (K_c - K_c E_c K_c) D_c^½ = I - B_c⁻¹,
	// D_c^½ Σ_cd D_d^½ = δ_cd V_c + Z_cᵀZ_d, and M⁻ᵀ E_c = (M⁻ᵀ D_c^½ - Z_c) D_c^½.
	z := make([]blas64.General, p.classes)
	v := make([]float64, p.classes*n)                                          // the diagonals of V_c
	common := linalg.NewGeneral(n, n)                                          // Σ_c Z_c D_c^½
	fraction := blas64.General{Rows: n, Cols: n, Stride: n, Data: p.work.Data} // M⁻ᵀ E_c
	mInverse := linalg.NewGeneral(n, n)                                        // M⁻¹ above the diagonal and M⁻ᵀ below
	for i := range n {
		copy(mInverse.Data[i*n+i:(i+1)*n], p.m.Data[i*n+i:(i+1)*n])
	}
	linalg.InverseTri(blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: n, Stride: n, Data: mInverse.Data})
	for i := range n {
		for j := range i {
			mInverse.Data[i*n+j] = mInverse.Data[j*n+i]
		}
	}
	for c := range p.classes {
		root, vc, bInverse := p.of(c, p.root), p.of(c, v), p.inverse(c)
		g := share(p.adjoints, c).K.RawSymmetric()
		z[c] = linalg.NewGeneral(n, n)
		for i, r := range root {
			vc[i] = 1 - bInverse.Data[i*n+i]
			z[c].Data[i*n+i] = r * vc[i]
			g.Data[i*n+i] -= r * r * (1 - vc[i]) / 2
			for j := i + 1; j < n; j++ {
				b := bInverse.Data[i*n+j]
				z[c].Data[i*n+j], z[c].Data[j*n+i] = -r*b, -root[j]*b
				g.Data[i*n+j] -= r * b * root[j] / 2
			}
		}
		linalg.SolveTri(blas.Trans, p.m, z[c])
		for i := range n {
			for j, r := range root {
				x := z[c].Data[i*n+j]
				common.Data[i*n+j] += x * r
				if j <= i {
					fraction.Data[i*n+j] = (mInverse.Data[i*n+j]*r - x) * r
				} else {
					fraction.Data[i*n+j] = -x * r
				}
			}
		}
		linalg.Syrk(blas.Trans, 0.5, fraction, 1, g)
	}
	u, ku := p.slope(z, v, common), make([]float64, p.classes*n)
	for c := range p.classes {
		linalg.Symv(1, p.kernel(c), p.of(c, u), 0, p.of(c, ku))
	}
	p.shrink(u, u, ku)
	for c := range p.classes {
		dst := share(p.adjoints, c)
		raw := dst.K.RawSymmetric()
		gc, uc := p.of(c, p.b), p.of(c, u)
		for i, g := range gc {
			row := raw.Data[i*n+i : (i+1)*n]
			for j := range row {
				row[j] += (g*gc[i+j] + uc[i]*gc[i+j] + g*uc[i+j]) / 2
			}
			dst.Mean[i] += g + uc[i]
		}
	}
}

// slope returns s. As ∂W_i/∂f_i is the third cumulant of the class, s_c = -½ π_c (q_c - Σ_d π_d q_d) with q_c the
// posterior variance of the difference f_c - Σ_d π_d f_d, whose terms are added up without what cancels between them.
func (p *multiclass) slope(z []blas64.General, v []float64, common blas64.General) []float64 {
	n := p.n
	s := make([]float64, p.classes*n) // at first π_c q_c
	total := make([]float64, n)       // Σ_c π_c q_c
	shared := make([]float64, n)      // Σ_c π_c V_c
	for j, pi := range p.at.w {
		shared[j%n] += pi * v[j]
	}
	for c := range p.classes {
		root, vc, q := p.of(c, p.root), p.of(c, v), p.of(c, s)
		for i := range n {
			for j, r := range root {
				d := z[c].Data[i*n+j] - r*common.Data[i*n+j]
				q[j] += d * d
			}
		}
		for i, pi := range p.of(c, p.at.w) {
			q[i] += vc[i]*(1-2*pi) + pi*shared[i]
			total[i] += q[i]
		}
	}
	for j, pi := range p.at.w {
		s[j] = (pi*total[j%n] - s[j]) / 2
	}
	return s
}
