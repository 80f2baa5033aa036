package approx

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// lowRank is the Gaussian that sites of precision τ make of a prior with m inducing inputs,
//
//	K̂ = Q + Λ,   Q = K_xz K_zz⁻¹ K_zx = VᵀV,   K_zz = UᵀU,   V = U⁻ᵀ K_zx,
//	Λ = N + α D,   D = diag(K - Q)
//
// N the noise that every case has of its own and α the power of the correction. With S = diag(τ),
//
//	T = (I + SΛ)⁻¹,   E = S T,   M = I + V E Vᵀ = U_MᵀU_M
//
// what the dense methods take from B = I + S^½ K S^½ is had in O(n m²), without a matrix n×n
// (Quiñonero-Candela & Rasmussen 2005; Woodbury's identity):
//
//	|B| = |I + SΛ| |M|,   R = (K̂ + S⁻¹)⁻¹ = E - E Vᵀ M⁻¹ V E
//	I - R K̂ = (I + S K̂)⁻¹ = (I - E Vᵀ M⁻¹ V) T
//	Σ = K̂ - K̂ R K̂ = Λ T + T Vᵀ M⁻¹ V T
//
// Nothing large cancels in these. τ may be negative as long as all 1 + τ_i Λ_i and M are positive,
// for then Σ is.
type lowRank struct {
	u      blas64.Triangular // of K_zz
	v      blas64.General    // V, m×n
	vars   []float64         // K̂_ii
	lambda []float64         // Λ
	spare  []float64         // D
	power  float64           // α
	jitter float64           // on the diagonal of K_zz
	widest int               // the inducing input of the largest prior variance, of which jitter is a share

	s, left, e []float64
	um         blas64.Triangular
	squares    []float64 // |U_M⁻ᵀ v_i|²
}

// leastShare is the least squared pivot of K_zz, as a share of its largest diagonal entry, with
// which it is factored as it is. If one is smaller, that share of the entry is added to the
// diagonal: then solves with U keep half of the digits. What is added is part of the model: the
// inducing variables are noisy values of the process.
const leastShare = 1e-8

// newLowRank factors K_zz and makes V.
func newLowRank(work *Work, cov Cov, power float64) (*lowRank, error) {
	if err := checkInducing(cov); err != nil {
		return nil, err
	}
	m, n := cov.Cross.Dims()
	vector := func() []float64 { return make([]float64, n) }
	p := &lowRank{
		v: work.general(m, n), vars: vector(), lambda: vector(), spare: vector(), power: power,
		s: vector(), left: slices.Repeat([]float64{1}, n), e: vector(), squares: vector(),
	}
	if err := p.factorInducing(cov.K.RawSymmetric()); err != nil {
		return nil, err
	}
	eachPart(n, func(j0, j1 int) {
		part := columns(p.v, j0, j1)
		for k := range m {
			copy(part.Data[k*part.Stride:k*part.Stride+part.Cols], cov.Cross.RawRowView(k)[j0:j1])
		}
		linalg.SolveTri(blas.Trans, p.u, part)
		q := p.spare[j0:j1]
		clear(q)
		addSquares(1, q, part)
		for j, v := range q {
			q[j] = max(cov.Diag[j0+j]-v, 0) // which only rounding takes below
		}
	})
	for i, d := range p.spare {
		p.lambda[i] = power * d
		if cov.Noise != nil {
			p.lambda[i] += cov.Noise[i]
		}
		p.vars[i] = cov.Diag[i] - d + p.lambda[i]
	}
	return p, nil
}

// factorInducing sets U, with as much jitter as it takes.
func (p *lowRank) factorInducing(k blas64.Symmetric) error {
	m := k.N
	for j := range m {
		if k.Data[j*k.Stride+j] > k.Data[p.widest*k.Stride+p.widest] {
			p.widest = j
		}
	}
	least := leastShare * k.Data[p.widest*k.Stride+p.widest]
	for _, p.jitter = range []float64{0, least} {
		a := linalg.NewSym(m)
		for j := range m {
			copy(a.Data[j*a.Stride+j:(j+1)*a.Stride], k.Data[j*k.Stride+j:j*k.Stride+m])
			a.Data[j*a.Stride+j] += p.jitter
		}
		var ok bool
		if p.u, ok = linalg.Cholesky(a); ok && (p.jitter > 0 || leastPivot(p.u) >= least) {
			return nil
		}
	}
	return fmt.Errorf("%w: the covariance of %d inducing inputs, with variances up to %.3g; standardise the inputs "+
		"or lower the amplitude", ErrNotPositiveDefinite, m, least/leastShare)
}

// leastPivot is the least U_ii².
func leastPivot(u blas64.Triangular) float64 {
	least := math.Inf(1)
	for i := range u.N {
		d := u.Data[i*u.Stride+i]
		least = min(least, d*d)
	}
	return least
}

// checkInducing says what is wrong with the prior of one latent process with inducing inputs.
func checkInducing(cov Cov) error {
	m, n := cov.Cross.Dims()
	if r := cov.K.SymmetricDim(); r != m || len(cov.Diag) != n ||
		cov.Noise != nil && len(cov.Noise) != n || cov.Mean != nil && len(cov.Mean) != n {
		panic(fmt.Sprintf("approx: K is %d×%d, Cross %d×%d, and Diag, Noise and Mean have %d, %d and %d entries, "+
			"want m×m, m×n and n", r, r, m, n, len(cov.Diag), len(cov.Noise), len(cov.Mean)))
	}
	for i, v := range cov.Mean {
		if !finite(v) {
			return fmt.Errorf("prior mean of case %d is %v: the mean's hyperparameters are out of range", i, v)
		}
	}
	for i, v := range cov.Diag {
		noise := 0.0
		if cov.Noise != nil {
			noise = cov.Noise[i]
		}
		if !finite(v+noise) || v < 0 || noise < 0 {
			return fmt.Errorf("%w: the prior variance of case %d is %v, and that of its noise %v; an input or a "+
				"hyperparameter is out of range", ErrNotPositiveDefinite, i, v, noise)
		}
	}
	for j := range m {
		for l := range j + 1 {
			if v := cov.K.At(l, j); !finite(v) {
				return fmt.Errorf("%w: the covariance of inducing inputs %d and %d is %v; an input or a "+
					"hyperparameter is out of range", ErrNotPositiveDefinite, l, j, v)
			}
		}
	}
	raw := cov.Cross.RawMatrix()
	wrong := make([]bool, m)
	linalg.Rows(m, func(j0, j1 int) {
		for j := j0; j < j1; j++ {
			wrong[j] = !allFinite(raw.Data[j*raw.Stride : j*raw.Stride+n])
		}
	})
	if j := slices.Index(wrong, true); j >= 0 {
		row := raw.Data[j*raw.Stride : j*raw.Stride+n]
		i := slices.IndexFunc(row, func(v float64) bool { return !finite(v) })
		return fmt.Errorf("%w: the covariance of inducing input %d and case %d is %v; an input or a hyperparameter is "+
			"out of range", ErrNotPositiveDefinite, j, i, row[i])
	}
	return nil
}

// casesAtOnce is how many cases a pass over V takes at a time.
const casesAtOnce = 512

// eachPart runs work for every part of n cases, of which threads take some each. The parts do not
// depend on the number of threads.
func eachPart(n int, work func(j0, j1 int)) {
	linalg.Parallel((n+casesAtOnce-1)/casesAtOnce, func(job int) {
		work(job*casesAtOnce, min(n, (job+1)*casesAtOnce))
	})
}

// columns views columns j0 to j1.
func columns(a blas64.General, j0, j1 int) blas64.General {
	a.Cols = j1 - j0
	if a.Rows > 0 {
		a.Data = a.Data[j0:]
	}
	return a
}

// scaledColumns copies columns j0 to j1, each times its own number.
func scaledColumns(a blas64.General, j0, j1 int, by []float64) blas64.General {
	out := linalg.NewGeneral(a.Rows, j1-j0)
	for k := range a.Rows {
		from, to := a.Data[k*a.Stride+j0:k*a.Stride+j1], out.Data[k*out.Stride:k*out.Stride+out.Cols]
		if by == nil {
			copy(to, from)
		} else {
			floats.MulTo(to, from, by[j0:j1])
		}
	}
	return out
}

// describe says how the prior was made.
func (p *lowRank) describe(d *Diagnostics) {
	left, all := floats.Sum(p.spare), 0.0
	for i, v := range p.vars {
		all += v - p.lambda[i] + p.spare[i]
	}
	if d.Jitter = p.jitter; all > 0 {
		d.Unexplained = left / all
	}
}

// n is the number of cases, and m that of inducing inputs.
func (p *lowRank) n() int { return len(p.s) }
func (p *lowRank) m() int { return p.v.Rows }

// variance is the prior variance K̂_ii, and largest the largest.
func (p *lowRank) variance(i int) float64 { return p.vars[i] }
func (p *lowRank) largest() float64       { return max(0, slices.Max(p.vars)) }

// project sets dst = V x, and lift adds c Vᵀ y to dst.
func (p *lowRank) project(dst, x []float64) { linalg.Gemv(blas.NoTrans, 1, p.v, x, 0, dst) }
func (p *lowRank) lift(dst []float64, c float64, y []float64) {
	linalg.Gemv(blas.Trans, c, p.v, y, 1, dst)
}

// multiply sets dst = K̂ x. They must not share memory.
func (p *lowRank) multiply(dst, x []float64) {
	y := make([]float64, p.m())
	p.project(y, x)
	floats.MulTo(dst, p.lambda, x)
	p.lift(dst, 1, y)
}

// factorise sets S = diag(tau) and factors M.
func (p *lowRank) factorise(tau []float64) error {
	copy(p.s, tau)
	for i, t := range tau {
		rest := 1 + t*p.lambda[i]
		if !(rest > 0) {
			return fmt.Errorf("%w: the covariance of the posterior; the site of case %d has precision %.4g and the "+
				"part of its prior that the inducing inputs do not tell variance %.4g",
				ErrNotPositiveDefinite, i, t, p.lambda[i])
		}
		p.left[i] = 1 / rest
		p.e[i] = t * p.left[i]
	}
	a := linalg.NewSym(p.m())
	linalg.SyrkDiag(blas.NoTrans, 1, p.v, p.e, 0, a)
	for j := range a.N {
		a.Data[j*a.Stride+j]++
	}
	var ok bool
	if p.um, ok = linalg.Cholesky(a); !ok {
		return fmt.Errorf("%w: M = I + V E Vᵀ of %d inducing inputs; standardise the inputs or lower the amplitude",
			ErrNotPositiveDefinite, p.m())
	}
	return nil
}

// logDet returns ½ log|B|.
func (p *lowRank) logDet() float64 {
	sum := 0.0
	for i, t := range p.s {
		sum += math.Log1p(t * p.lambda[i])
	}
	return sum/2 + linalg.LogDet(p.um)
}

// shrink sets dst = (I - R K̂) x = (I + S K̂)⁻¹ x. Of kx it takes the memory. dst may be x or kx.
func (p *lowRank) shrink(dst, x, kx []float64) {
	y, z := make([]float64, p.m()), make([]float64, p.n())
	floats.MulTo(z, p.left, x)
	p.project(y, z)
	p.solve(y)
	clear(kx)
	p.lift(kx, 1, y)
	for i, e := range p.e {
		dst[i] = z[i] - e*kx[i]
	}
}

// solve sets y = M⁻¹ y.
func (p *lowRank) solve(y []float64) {
	linalg.SolveTriVec(blas.Trans, p.um, y)
	linalg.SolveTriVec(blas.NoTrans, p.um, y)
}

// variances sets sigma to Σ_ii = Λ_i T_i + T_i² |U_M⁻ᵀ v_i|², and keeps the squares.
func (p *lowRank) variances(sigma []float64) {
	eachPart(p.n(), func(j0, j1 int) {
		part := scaledColumns(p.v, j0, j1, nil)
		linalg.SolveTri(blas.Trans, p.um, part)
		clear(p.squares[j0:j1])
		addSquares(1, p.squares[j0:j1], part)
	})
	for i := range sigma {
		sigma[i] = p.left[i] * (p.lambda[i] + p.left[i]*p.squares[i])
	}
}

// adjoint is the derivative G of a scalar with respect to K̂, given what it is made of:
//
//	G = ½ Σ_k (p_k q_kᵀ + q_k p_kᵀ) - ½ c R + (I - R K̂) diag(γ) (I - K̂ R)
type adjoint struct {
	p, q  [][]float64
	c     float64
	gamma []float64 // nil: 0
	spare []float64 // what a change of D does beside; nil: 0
}

// pull sets dst to the derivative with respect to K_zz, K_zx, the variances and the noise. squares
// must be those of the factor. With P = K_zz⁻¹K_zx, ℓ = diag G, h = α ℓ + spare the weight on D and
// G₀ = G - diag(h) that on Q,
//
//	K_zz: -P G₀ Pᵀ,   K_zx: 2 P G₀,   K_ii: h_i,   N_i: ℓ_i
//
// As P = U⁻¹V, V R = M⁻¹V E, V (I - R K̂) = M⁻¹ V T, and with Γ = γ T²
//
//	V G = ½ Σ_k (V p_k q_kᵀ + V q_k p_kᵀ) + M⁻¹ V (Γ - ½ c E) - M⁻¹ (V Γ Vᵀ) M⁻¹ V E
func (p *lowRank) pull(dst *Cov, g adjoint) {
	n, m := p.n(), p.m()
	inverse := linalg.InverseCholesky(copyOf(p.um)) // M⁻¹
	weights, noise, middle := p.diagonals(g, inverse)
	vp, vq := make([][]float64, len(g.p)), make([][]float64, len(g.p))
	for r := range g.p {
		vp[r], vq[r] = make([]float64, m), make([]float64, m)
		p.project(vp[r], g.p[r])
		p.project(vq[r], g.q[r])
	}
	h := scaled(noise, p.power)
	if g.spare != nil {
		floats.Add(h, g.spare)
	}
	full, cross := full(inverse), dst.Cross.RawMatrix()
	eachPart(n, func(j0, j1 int) { // P G₀
		v, x := columns(p.v, j0, j1), columns(cross, j0, j1)
		linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, full, scaledColumns(p.v, j0, j1, weights), 0, x)
		if middle.Data != nil {
			linalg.Gemm(blas.NoTrans, blas.NoTrans, -1, middle, scaledColumns(p.v, j0, j1, p.e), 1, x)
		}
		for k := range m {
			vk, xk := v.Data[k*v.Stride:k*v.Stride+v.Cols], x.Data[k*x.Stride:k*x.Stride+x.Cols]
			for j := range xk {
				xk[j] -= h[j0+j] * vk[j]
			}
			for r := range g.p {
				floats.AddScaled(xk, vp[r][k]/2, g.q[r][j0:j1])
				floats.AddScaled(xk, vq[r][k]/2, g.p[r][j0:j1])
			}
		}
		linalg.SolveTri(blas.NoTrans, p.u, x)
	})
	p.pullInducing(dst, cross)
	linalg.Rows(m, func(k0, k1 int) {
		for k := k0; k < k1; k++ {
			floats.Scale(2, cross.Data[k*cross.Stride:k*cross.Stride+n])
		}
	})
	copy(dst.Diag, h)
	copy(dst.Noise, noise)
}

// diagonals returns Γ - ½ c E, ℓ = diag G and, if there is a γ, M⁻¹ (V Γ Vᵀ) M⁻¹, given M⁻¹.
func (p *lowRank) diagonals(g adjoint, inverse blas64.Symmetric) (weights, noise []float64, middle blas64.General) {
	n := p.n()
	weights, noise = make([]float64, n), make([]float64, n)
	for i, e := range p.e {
		weights[i] = -g.c / 2 * e
		noise[i] = -g.c / 2 * (e - e*e*p.squares[i])
	}
	for r := range g.p {
		for i := range noise {
			noise[i] += g.p[r][i] * g.q[r][i]
		}
	}
	if g.gamma == nil {
		return weights, noise, middle
	}
	gamma, inner := make([]float64, n), linalg.NewSym(p.m())
	for i, v := range g.gamma {
		gamma[i] = v * p.left[i] * p.left[i]
	}
	linalg.SyrkDiag(blas.NoTrans, 1, p.v, gamma, 0, inner)
	middle = sandwich(inner, inverse)
	square := make([]float64, n) // v_iᵀ M⁻¹ (V Γ Vᵀ) M⁻¹ v_i
	p.quadratic(square, middle)
	for i, e := range p.e {
		weights[i] += gamma[i]
		noise[i] += gamma[i]*(1-2*e*p.squares[i]) + e*e*square[i]
	}
	return weights, noise, middle
}

// quadratic sets dst[i] = v_iᵀ A v_i.
func (p *lowRank) quadratic(dst []float64, a blas64.General) {
	eachPart(p.n(), func(j0, j1 int) {
		v := columns(p.v, j0, j1)
		x := linalg.NewGeneral(v.Rows, v.Cols)
		linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, a, v, 0, x)
		out := dst[j0:j1]
		clear(out)
		for k := range v.Rows {
			vk, xk := v.Data[k*v.Stride:k*v.Stride+v.Cols], x.Data[k*x.Stride:k*x.Stride+x.Cols]
			for j := range out {
				out[j] += vk[j] * xk[j]
			}
		}
	})
}

// scaled is c x.
func scaled(x []float64, c float64) []float64 {
	return floats.ScaleTo(make([]float64, len(x)), c, x)
}

// pullInducing sets dst.K to -P G₀ Pᵀ given P G₀, with what reaches the variance that jitter is a
// share of.
func (p *lowRank) pullInducing(dst *Cov, pg blas64.General) {
	m := p.m()
	checkAdjoint(dst.K, m)
	product := linalg.NewGeneral(m, m) // P G₀ Vᵀ
	linalg.Gemm(blas.NoTrans, blas.Trans, -1, pg, p.v, 0, product)
	transposed := linalg.NewGeneral(m, m)
	for i := range m {
		for j := range m {
			transposed.Data[j*m+i] = product.Data[i*m+j]
		}
	}
	linalg.SolveTri(blas.NoTrans, p.u, transposed) // U⁻¹ V G₀ Pᵀ, transposed
	trace := 0.0
	for i := range m {
		trace += transposed.Data[i*m+i]
		for j := i; j < m; j++ {
			dst.K.SetSym(i, j, (transposed.Data[i*m+j]+transposed.Data[j*m+i])/2)
		}
	}
	if p.jitter > 0 {
		dst.K.SetSym(p.widest, p.widest, dst.K.At(p.widest, p.widest)+leastShare*trace)
	}
}

// sandwich is B A B of symmetric matrices.
func sandwich(a, b blas64.Symmetric) blas64.General {
	left, out := linalg.NewGeneral(a.N, a.N), linalg.NewGeneral(a.N, a.N)
	fb := full(b)
	linalg.Symm(1, a, fb, 0, left)
	linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, fb, left, 0, out)
	return out
}

func copyOf(u blas64.Triangular) blas64.Triangular {
	u.Data = slices.Clone(u.Data)
	return u
}

// latent sets mean[j] and, unless it is nil, variance[j] of f at new inputs, given b with f = m +
// K̂ b at the training inputs, cross = K(Z, new) and their prior variances.
func (p *lowRank) latent(mean, variance, b []float64, cross *mat.Dense, diag []float64) {
	p.told(b).latent(mean, variance, cross, diag)
}

// told is what predictions need, given b.
func (p *lowRank) told(b []float64) told {
	t := told{u: p.u, um: p.um, weights: make([]float64, p.m())}
	p.project(t.weights, b)
	linalg.SolveTriVec(blas.NoTrans, p.u, t.weights)
	return t
}

// told is what the posterior of the inducing variables says of new inputs: with k = K(Z, new),
//
//	mean  kᵀ w,   w = U⁻¹ V b = K_zz⁻¹ E[f_z]
//	variance  K(new, new) - |U⁻ᵀk|² + |U_M⁻ᵀU⁻ᵀk|²
//
// in O(m) and O(m²) a case.
type told struct {
	u, um   blas64.Triangular // of K_zz and of M
	weights []float64         // w
}

// latent sets mean[j] and, unless it is nil, variance[j], given cross = K(Z, new) and the prior
// variances.
func (t told) latent(mean, variance []float64, cross *mat.Dense, diag []float64) {
	m, k := cross.Dims()
	if m != len(t.weights) || len(diag) != k {
		panic(fmt.Sprintf("approx: cross is %d×%d and diag has %d entries, want %d×m and m", m, k, len(diag),
			len(t.weights)))
	}
	checkLatent(mean, variance, k)
	linalg.Gemv(blas.Trans, 1, cross.RawMatrix(), t.weights, 0, mean)
	if variance == nil {
		return
	}
	c := scaledColumns(cross.RawMatrix(), 0, k, nil)
	linalg.SolveTri(blas.Trans, t.u, c)
	copy(variance, diag)
	addSquares(-1, variance, c)
	linalg.SolveTri(blas.Trans, t.um, c)
	addSquares(1, variance, c)
	for j, x := range variance {
		variance[j] = max(x, 0)
	}
}

// penalty is (1-α)/2α log(1 + α D_i τ_i) of a site of precision τ_i.
func (p *lowRank) penalty(i int, tau float64) float64 {
	d := p.spare[i]
	if p.power < 1e-6 {
		return (1 - p.power) / 2 * d * tau
	}
	return (1 - p.power) / (2 * p.power) * math.Log1p(p.power*d*tau)
}

// penaltySlope is its derivative by D_i over τ_i, which is that by τ_i over D_i.
func (p *lowRank) penaltySlope(i int, tau float64) float64 {
	return (1 - p.power) / 2 / (1 + p.power*p.spare[i]*tau)
}
