package approx

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// eps is the spacing of float64 at 1.
const eps = 0x1p-52

// sites is the Gaussian posterior that the methods with one latent process share: one Gaussian site
// per case, so that the posterior of f at the training inputs has precision K⁻¹ + S, S = diag(τ).
// Where τ ≥ 0 (see negativeSites for the rest), with
//
//	B = I + S^½ K S^½ = UᵀU,   R = S^½ B⁻¹ S^½ = (K + S⁻¹)⁻¹,   b = K⁻¹(μ - m)
//
// its covariance is Σ = K - K R K, and at a new input the latent mean is k*ᵀb and the latent
// variance k** - |U⁻ᵀ S^½ k*|² (GPML 3.24 and 3.60-3.61). The eigenvalues of B are at least 1, so K
// may be singular and τ_i may be 0. R is never formed to compute b: at large amplitudes the
// explicit product would change the log evidence by whole nats.
type sites struct {
	*cases
	k        blas64.Symmetric
	root     []float64 // S^½
	u        blas64.Triangular
	negative negativeSites
}

// cases are the cases of a fit with one latent process, and its results.
type cases struct {
	mean []float64 // prior mean m
	y    []float64
	lik  likelihood.MomentMatcher
	b    []float64
	work *Work
	outcome
}

// newSites checks the arguments of a Fit or Restore with one latent process.
func newSites(cov []Cov, y Targets, lik likelihood.Bound) (*sites, error) {
	c, err := newCases(cov, y, lik)
	if err != nil {
		return nil, err
	}
	if err := checkPrior(cov[0], len(c.y)); err != nil {
		return nil, err
	}
	return &sites{cases: c, k: cov[0].K.RawSymmetric(), root: make([]float64, len(c.y))}, nil
}

// newCases checks the arguments except for the covariances.
func newCases(cov []Cov, y Targets, lik likelihood.Bound) (*cases, error) {
	n := y.Len()
	if len(cov) != 1 || y.Classes != 2 && y.Classes != 0 || len(y.Value) != n || n == 0 {
		panic(fmt.Sprintf("approx: %d covariances, %d classes, %d labels of ±1 or numbers, want 1, 2 or 0, and at "+
			"least 1", len(cov), y.Classes, len(y.Value)))
	}
	c := &cases{mean: cov[0].Mean, y: y.Value, lik: lik.(likelihood.MomentMatcher), b: make([]float64, n)}
	if c.mean == nil {
		c.mean = make([]float64, n)
	}
	for i, v := range c.y {
		if !finite(v) {
			return nil, fmt.Errorf("target of case %d is %v, want a finite number", i, v)
		}
	}
	return c, nil
}

// checkPrior returns an error if the prior of one latent process at n training inputs is invalid.
func checkPrior(cov Cov, n int) error {
	if r := cov.K.SymmetricDim(); r != n || cov.Mean != nil && len(cov.Mean) != n {
		panic(fmt.Sprintf("approx: K is %d×%d and the mean has %d entries, want %d", r, r, len(cov.Mean), n))
	}
	for i, m := range cov.Mean {
		if !finite(m) {
			return fmt.Errorf("prior mean of case %d is %v: the mean's hyperparameters are out of range", i, m)
		}
	}
	k := cov.K.RawSymmetric()
	row := func(i int) []float64 { return k.Data[i*k.Stride+i : i*k.Stride+n] }
	wrong := make([]bool, n)
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			wrong[i] = !linalg.AllFinite(row(i)) || row(i)[0] < 0
		}
	})
	i := slices.Index(wrong, true)
	if i < 0 {
		return nil
	}
	if j := slices.IndexFunc(row(i), func(v float64) bool { return !finite(v) }); j >= 0 {
		return fmt.Errorf("%w: K[%d,%d] = %v; an input or a hyperparameter is out of range",
			ErrNotPositiveDefinite, i, i+j, row(i)[j])
	}
	return fmt.Errorf("%w: K[%d,%d] = %v, want a variance", ErrNotPositiveDefinite, i, i, row(i)[0])
}

// variance is the prior variance K_ii.
func (s *sites) variance(i int) float64 { return s.k.Data[i*s.k.Stride+i] }

// largest is the largest prior variance.
func (s *sites) largest() float64 { return largest(s.k) }

// largest is the largest number on the diagonal, at least 0.
func largest(k blas64.Symmetric) float64 {
	v := 0.0
	for i := range k.N {
		v = max(v, k.Data[i*k.Stride+i])
	}
	return v
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// upper views a square matrix as its upper triangle.
func upper(v blas64.General) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: v.Rows, Stride: v.Stride, Data: v.Data}
}

// all views the memory of a symmetric matrix, both triangles.
func all(s blas64.Symmetric) blas64.General {
	return blas64.General{Rows: s.N, Cols: s.N, Stride: s.Stride, Data: s.Data}
}

// full is a symmetric matrix with both of its triangles.
func full(s blas64.Symmetric) blas64.General {
	a := linalg.NewGeneral(s.N, s.N)
	for i := range s.N {
		copy(a.Data[i*a.Stride+i:(i+1)*a.Stride], s.Data[i*s.Stride+i:i*s.Stride+s.N])
	}
	linalg.Reflect(blas.Lower, a, a)
	return a
}

// room allocates the memory of the factor, once.
func (s *sites) room() {
	if n := len(s.root); s.u.Data == nil {
		s.u = upper(s.work.general(n, n))
	}
}

// factorise sets S = diag(tau) and factors B.
func (s *sites) factorise(tau []float64) error {
	s.diagnostics.Factorizations++
	n := len(tau)
	for i, t := range tau {
		s.root[i] = max(math.Sqrt(max(t, 0)), leastRoot)
	}
	s.room()
	b := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: s.u.Stride, Data: s.u.Data}
	silent := s.silent()
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			row, r, root := b.Data[i*b.Stride+i:i*b.Stride+n], s.root[i], s.root[i:n]
			if silent { // B = I
				clear(row)
			} else {
				for j, v := range s.k.Data[i*s.k.Stride+i : i*s.k.Stride+n] {
					row[j] = r * v * root[j]
				}
			}
			row[0]++
		}
	})
	if silent {
		return s.addNegative(tau)
	}
	var ok bool
	if s.u, ok = linalg.Cholesky(b); !ok {
		return fmt.Errorf("%w: B = I + S^½ K S^½; K, with variances up to %.3g, has an eigenvalue below 0. If "+
			"rounding made it, standardise the inputs or lower the amplitude", ErrNotPositiveDefinite, s.largest())
	}
	return s.addNegative(tau)
}

// negativeSites is the contribution of sites of negative precision, those of cases J, -τ_J = T, to
// the posterior of the others. With E the columns J of the identity and R₊, Σ₊ those of the others,
//
//	C = I - T^½ EᵀΣ₊E T^½ = VᵀV,   F = V⁻ᵀ T^½ Eᵀ(I - KR₊)
//	R = R₊ - FᵀF,   Σ = Σ₊ + (FK)ᵀFK,   |B| = |B₊||C|
//
// C is positive definite if and only if Σ is. F is |J|×n, and empty if all sites are positive.
type negativeSites struct {
	f, fk  blas64.General
	tau    []float64 // -T, and 0 for the others
	logDet float64   // ½ log|C|
}

func (s *sites) addNegative(tau []float64) error {
	n := len(tau)
	var cases []int
	for i, t := range tau {
		if t < 0 {
			cases = append(cases, i)
		}
	}
	f, fk, negative := linalg.NewGeneral(len(cases), n), linalg.NewGeneral(len(cases), n), make([]float64, n)
	if len(cases) == 0 {
		s.negative = negativeSites{f: f, fk: fk, tau: negative}
		return nil
	}
	s.negative = negativeSites{} // for shrink
	for a, i := range cases {
		row, k := f.Data[a*n:(a+1)*n], fk.Data[a*n:(a+1)*n]
		row[i], negative[i] = math.Sqrt(-tau[i]), tau[i]
		linalg.Symv(1, s.k, row, 0, k)
		s.shrink(row, row, k)
		linalg.Symv(1, s.k, row, 0, k)
	}
	c := linalg.NewSym(len(cases))
	for a := range cases {
		for b := a; b < len(cases); b++ {
			c.Data[a*c.Stride+b] = -fk.Data[a*n+cases[b]] * math.Sqrt(-tau[cases[b]])
		}
		c.Data[a*c.Stride+a]++
	}
	v, ok := linalg.Cholesky(c)
	if !ok {
		return fmt.Errorf("%w: the covariance of the posterior; %d sites have negative precision",
			ErrNotPositiveDefinite, len(cases))
	}
	linalg.SolveTri(blas.Trans, v, f)
	linalg.SolveTri(blas.Trans, v, fk)
	s.negative = negativeSites{f, fk, negative, linalg.LogDet(v)}
	return nil
}

// logDet returns ½ log|B|.
func (s *sites) logDet() float64 { return linalg.LogDet(s.u) + s.negative.logDet }

// leastRoot replaces √0, so that S^½ has an inverse. It is too small to change any sum.
const leastRoot = 1e-140

// silent reports S = 0: all sites have zero precision.
func (s *sites) silent() bool {
	return !slices.ContainsFunc(s.root, func(r float64) bool { return !(r <= leastRoot) })
}

// shrink sets dst = (I - R K) x = (I + S K)⁻¹ x by two triangular solves, given kx = K x; it
// overwrites kx. dst may be x.
func (s *sites) shrink(dst, x, kx []float64) {
	fkx := make([]float64, s.negative.f.Rows)
	if len(fkx) > 0 {
		linalg.Gemv(blas.NoTrans, 1, s.negative.f, kx, 0, fkx)
	}
	for i, r := range s.root {
		kx[i] *= r
	}
	linalg.SolveTriVec(blas.Trans, s.u, kx)
	linalg.SolveTriVec(blas.NoTrans, s.u, kx)
	for i, r := range s.root {
		dst[i] = x[i] - r*kx[i]
	}
	if len(fkx) > 0 {
		linalg.Gemv(blas.Trans, 1, s.negative.f, fkx, 1, dst)
	}
}

// invert sets v to U⁻¹, and returns the diagonal of B⁻¹.
func (s *sites) invert(v blas64.General) []float64 {
	n, shares := len(s.root), make([]float64, len(s.root))
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			copy(v.Data[i*n+i:(i+1)*n], s.u.Data[i*s.u.Stride+i:i*s.u.Stride+n])
		}
	})
	if !s.silent() { // else it is the identity
		linalg.InverseTri(upper(v))
	}
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			row := v.Data[i*n+i : (i+1)*n]
			shares[i] = floats.Dot(row, row)
		}
	})
	return shares
}

// remaining sets dst[j] = K_jj - |U⁻ᵀ S^½ k_j|² for some cases, with k_j their columns of K: the
// variances given sites τ ≥ 0.
func (s *sites) remaining(dst []float64, cases []int) {
	for _, j := range cases {
		dst[j] = s.variance(j)
	}
	m := len(cases)
	if m == 0 || s.silent() {
		return
	}
	x := linalg.NewGeneral(len(s.root), m)
	linalg.Rows(x.Rows, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			for a, j := range cases {
				x.Data[i*m+a] = s.root[i] * s.k.Data[min(i, j)*s.k.Stride+max(i, j)]
			}
		}
	})
	linalg.SolveTri(blas.Trans, s.u, x)
	for i := range x.Rows {
		for a, j := range cases {
			dst[j] -= x.Data[i*m+a] * x.Data[i*m+a]
		}
	}
}

// project sets v = U⁻ᵀ S^½ K, so that Σ = K - vᵀv + (FK)ᵀFK.
func (s *sites) project(v blas64.General) {
	const tile = 32 // of the transposition
	if s.silent() {
		clear(v.Data)
		return
	}
	n, k := len(s.root), s.k
	for i0 := 0; i0 < n; i0 += tile {
		for j0 := i0; j0 < n; j0 += tile {
			for i := i0; i < min(i0+tile, n); i++ {
				for j := max(i, j0); j < min(j0+tile, n); j++ {
					x := k.Data[i*k.Stride+j]
					v.Data[i*v.Stride+j] = s.root[i] * x
					v.Data[j*v.Stride+i] = s.root[j] * x
				}
			}
		}
	}
	linalg.SolveTri(blas.Trans, s.u, v)
}

// locate sets b and μ = m + K b for the factorised sites.
//
// In K b terms of the size of the prior variances cancel to the size of the posterior. Its rounding
// error, at worst n ε max K_ii Σ|b|, would limit how near the sites get to a fixed point and the
// accuracy of bᵀK b, because standard deviations can be √(τ max K_ii) times smaller than those of
// the prior. So it is summed in twice the precision. The remaining errors are the rounding of μ and
// b themselves, and of the product of K with the refinement, for which refined is Σ|Δb|.
func (s *sites) locate(tau, nu, mu []float64) (refined float64) {
	r, kr := make([]float64, len(tau)), make([]float64, len(tau))
	// b = (I - R K)(ν - S m), followed by one step of refinement, because the first result has the
	// rounding error of K (ν - S m).
	for i, t := range tau {
		r[i] = nu[i] - t*s.mean[i]
	}
	linalg.Symv(1, s.k, r, 0, kr)
	s.shrink(s.b, r, kr)
	copy(mu, s.mean)
	linalg.SymvCompensated(s.k, s.b, mu)
	for i, t := range tau {
		r[i] = nu[i] - t*mu[i] - s.b[i]
	}
	linalg.Symv(1, s.k, r, 0, kr)
	s.shrink(r, r, kr)
	for i, d := range r {
		s.b[i] += d
		refined += math.Abs(d)
	}
	linalg.Symv(1, s.k, r, 1, mu) // not K times the change of b: μ need not follow the last digit of b
	return refined
}

// multiply sets dst = K x.
func (s *sites) multiply(dst, x []float64) { linalg.Symv(1, s.k, x, 0, dst) }

// information sets dst to R = S^½ B⁻¹ S^½.
func (s *sites) information(dst *mat.SymDense) {
	s.inverseTo(dst)
	n, r := len(s.root), dst.RawSymmetric()
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			row, si := r.Data[i*r.Stride+i:i*r.Stride+n], s.root[i]
			for j := range row {
				row[j] *= si * s.root[i+j]
			}
		}
	})
	if s.negative.f.Rows > 0 {
		linalg.Syrk(blas.Trans, -1, s.negative.f, 1, r)
	}
}

// inverseTo sets dst to B⁻¹.
func (s *sites) inverseTo(dst *mat.SymDense) {
	n := len(s.root)
	checkAdjoint(dst, n)
	r := dst.RawSymmetric()
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			copy(r.Data[i*r.Stride+i:i*r.Stride+n], s.u.Data[i*s.u.Stride+i:i*s.u.Stride+n])
		}
	})
	linalg.InverseCholesky(upper(blas64.General{Rows: n, Cols: n, Stride: r.Stride, Data: r.Data}))
}

// inverse returns the full B⁻¹.
func (s *sites) inverse() blas64.General {
	n := len(s.root)
	a := linalg.NewGeneral(n, n)
	copy(a.Data, s.u.Data)
	linalg.InverseCholesky(upper(a))
	linalg.Reflect(blas.Lower, a, a)
	return a
}

// Latent implements Posterior. A variance is floored at 0, against rounding.
func (s *sites) Latent(mean, variance []float64, cross *mat.Dense, diag []float64, class int) {
	n, m := cross.Dims()
	if n != len(s.b) || len(mean) != m || variance != nil && len(variance) != m || len(diag) != m {
		panic(fmt.Sprintf("approx: cross is %d×%d, mean, variance and diag have %d, %d and %d entries, want %d×m and m",
			n, m, len(mean), len(variance), len(diag), len(s.b)))
	}
	raw := cross.RawMatrix()
	linalg.Gemv(blas.Trans, 1, raw, s.b, 0, mean)
	if variance == nil {
		return
	}
	defer s.work.release(s.work.mark())
	v := s.work.general(n, m) // U⁻ᵀ S^½ k*
	for i, r := range s.root {
		floats.ScaleTo(v.Data[i*m:(i+1)*m], r, raw.Data[i*raw.Stride:i*raw.Stride+m])
	}
	linalg.SolveTri(blas.Trans, s.u, v)
	copy(variance, diag)
	linalg.AddSquares(-1, v, variance)
	if f := s.negative.f; f.Rows > 0 {
		fk := linalg.NewGeneral(f.Rows, m) // F k*
		linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, f, raw, 0, fk)
		linalg.AddSquares(1, fk, variance)
	}
	for j, x := range variance {
		variance[j] = max(x, 0)
	}
}

func checkAdjoint(dst *mat.SymDense, n int) {
	if r := dst.SymmetricDim(); r != n {
		panic(fmt.Sprintf("approx: adjoint is %d×%d, want %d×%d", r, r, n, n))
	}
}

// checkLatent panics unless there are m means and, if requested, m variances.
func checkLatent(mean, variance []float64, m int) {
	if len(mean) != m || variance != nil && len(variance) != m {
		panic(fmt.Sprintf("approx: mean and variance have %d and %d entries, want %d", len(mean), len(variance), m))
	}
}

func checkProbabilities(dst *mat.Dense, m, classes int) {
	if r, c := dst.Dims(); r != m || c != classes {
		panic(fmt.Sprintf("approx: probabilities are %d×%d, want %d×%d", r, c, m, classes))
	}
}

// stationaryAdjoint sets dst to the explicit weight on dK and on dm, GPML (5.27), of an evidence
// that is stationary in the sites:
//
//	G = ½ b bᵀ - ½ R,   ∂L/∂m = b
func (s *sites) stationaryAdjoint(dst *Cov) {
	n := len(s.b)
	s.information(dst.K)
	raw := dst.K.RawSymmetric()
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			row, b := raw.Data[i*raw.Stride+i:i*raw.Stride+n], s.b[i]
			for j, r := range row {
				row[j] = (b*s.b[i+j] - r) / 2
			}
		}
	})
	if dst.Mean != nil {
		copy(dst.Mean, s.b)
	}
}

// PredictProba implements Posterior.
func (s *sites) PredictProba(dst *mat.Dense, cross []*mat.Dense, diag, mean [][]float64) {
	averageTwoClasses(s, s.lik, dst, cross, diag, mean)
}

// averageTwoClasses is PredictProba by averaging over the latent Gaussian, GPML (3.25): p(y = ±1) =
// ∫ p(y|f) q(f) df. It panics for numeric targets, which have no classes; Latent has their mean and
// variance.
func averageTwoClasses(
	p interface {
		Latent(mean, variance []float64, cross *mat.Dense, diag []float64, class int)
	}, lik likelihood.MomentMatcher, dst *mat.Dense, cross []*mat.Dense, diag, mean [][]float64,
) {
	if lik.Likelihood().Domain() == likelihood.Numeric {
		panic("approx: class probabilities of numeric targets")
	}
	m := len(diag[0])
	checkProbabilities(dst, m, 2)
	mu, variance := make([]float64, m), make([]float64, m)
	p.Latent(mu, variance, cross[0], diag[0], 0)
	for j := range mu {
		if mean != nil {
			mu[j] += mean[0][j]
		}
		minus, _ := lik.Moments(-1, mu[j], variance[j])
		plus, _ := lik.Moments(+1, mu[j], variance[j])
		minus, plus = math.Exp(minus), math.Exp(plus)
		dst.Set(j, 0, minus/(minus+plus)) // the sum is 1 up to rounding in the likelihood
		dst.Set(j, 1, plus/(minus+plus))
	}
}

// outcome is the result of a fit besides its posterior.
type outcome struct {
	evidence    functional
	state       State
	diagnostics Diagnostics
}

// Evidence implements Posterior.
func (o *outcome) Evidence() Functional { return o.evidence }

// State implements Posterior.
func (o *outcome) State() State { return o.state }

// Diagnostics implements Posterior.
func (o *outcome) Diagnostics() Diagnostics { return o.diagnostics }

// fixedPoint is the distance of an iteration from its fixed point.
type fixedPoint struct {
	distance float64 // in posterior standard deviations
	rounding float64 // the distance that rounding errors may leave
	// additional distance that errors of K b may leave; iterations that make no progress have
	// reached it
	drift  float64
	floors int // site precisions below 0, replaced by 0
}

// unresolved is the distance above which rounding is not accepted as the reason: the prior variance
// is then too large for double precision.
const unresolved = 1e-3

// settled reports whether continuing is useless: the distance is within the tolerance, or within
// the rounding error.
func (f fixedPoint) settled(tolerance float64) bool { return f.distance <= max(tolerance, f.rounding) }

// reached reports whether the fixed point is reached. If rounding may leave more than unresolved, a
// distance below that counts only if it is far below.
func (f fixedPoint) reached(tolerance float64) bool {
	limit := unresolved
	if f.rounding > unresolved {
		limit /= 1000
	}
	return f.distance <= max(tolerance, f.rounding, f.drift) && f.distance <= max(tolerance, limit)
}

// conclude records the end of an iteration in the diagnostics. Its evidence must be set.
func (o *outcome) conclude(method string, f fixedPoint, tolerance float64) error {
	d := &o.diagnostics
	if !finite(o.evidence.value) || math.IsNaN(f.distance) {
		return fmt.Errorf("%w: %s, log evidence %v at iteration %d; the prior variances overflow",
			ErrNotConverged, method, o.evidence.value, d.Iterations)
	}
	d.Converged, d.Floors = f.reached(tolerance), f.floors
	if f.floors > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%s raised %d negative site precisions; with a likelihood "+
			"that calls for them its fixed point may depend on schedule and start", method, f.floors))
	}
	switch {
	case d.Converged && f.distance > max(tolerance, 1e-6):
		d.Warnings = append(d.Warnings, fmt.Sprintf("rounding error at prior variances this large leaves %s %.1g "+
			"posterior standard deviations from its fixed point", method, f.distance))
	case !d.Converged && (f.settled(tolerance) || f.rounding > unresolved):
		o.stopped(fmt.Sprintf("%s is still %.1g posterior standard deviations from its fixed point at "+
			"iteration %d; double precision does not carry prior variances this large beside posterior ones this "+
			"small (a smaller amplitude or noise in the kernel helps)", method, f.distance, d.Iterations))
	case !d.Converged:
		o.stopped(fmt.Sprintf("%s stopped at iteration %d, %.3g posterior standard deviations from its fixed "+
			"point; raise max_iterations", method, d.Iterations, f.distance))
	}
	return nil
}

// stopped records why the fit has not converged.
func (o *outcome) stopped(why string) {
	o.diagnostics.Converged = false
	o.diagnostics.Failure = fmt.Errorf("%w: %s", ErrNotConverged, why)
	o.evidence.err = o.diagnostics.Failure
}

// functional is a Functional of a posterior with one latent process.
type functional struct {
	value      float64
	err        error        // the reason if there is no derivative
	solve      func() error // computed before both derivatives, unless nil
	adjoint    func(dst *Cov)
	likelihood func(grad []float64) // nil if there is no gradient over the likelihood's parameters
}

func (f functional) Value() float64 { return f.value }

func (f functional) Adjoint(dst *Cov, j int) error {
	if j != 0 {
		panic(fmt.Sprintf("approx: adjoint of covariance %d, want 0", j))
	}
	err := f.ready()
	if err == nil {
		f.adjoint(dst)
	}
	return err
}

func (f functional) Likelihood(grad []float64) error {
	switch {
	case f.err != nil || len(grad) == 0:
		return f.err
	case f.likelihood == nil:
		return fmt.Errorf("%w with respect to the likelihood's parameters", ErrNoGradient)
	}
	err := f.ready()
	if err == nil {
		f.likelihood(grad)
	}
	return err
}

// ready calls solve, and returns the error if there is no derivative.
func (f functional) ready() error {
	if f.err != nil || f.solve == nil {
		return f.err
	}
	return f.solve()
}

// usesOneProcess returns an error if a method with one latent process cannot work with lik for this
// number of classes. It accepts two classes, or numbers with a likelihood for these. lacks is the
// error for what the method needs and lik does not have, or nil.
func usesOneProcess(method string, lik likelihood.Likelihood, classes int, lacks error) error {
	if classes == 0 && lik.Domain() == likelihood.Numeric {
		return lacks
	}
	return usesBinary(method, lik, classes, lacks)
}

// usesBinary returns an error if a binary method cannot work with lik for this number of classes.
func usesBinary(method string, lik likelihood.Likelihood, classes int, lacks error) error {
	switch domain := lik.Domain(); {
	case classes == 0 && domain == likelihood.Numeric:
		return fmt.Errorf("%s is for two classes, and the labels are numbers; use inference: exact", method)
	case classes == 0:
		return fmt.Errorf("%s is for two classes, and the labels are numbers; turn them into two classes with "+
			"data: {above: …}, or use likelihood: gaussian with inference: exact", method)
	case domain == likelihood.Categorical && classes > 2:
		return fmt.Errorf("%s has one latent process and this likelihood one for each class; use inference: laplace, "+
			"or likelihood: probit with classes: one_vs_rest", method)
	case domain != likelihood.Binary:
		return fmt.Errorf("%s needs a likelihood of two classes; use probit or logit", method)
	case lacks != nil:
		return lacks
	case classes != 2:
		return fmt.Errorf("%s with a likelihood of two classes cannot model %d classes; use classes: "+
			"one_vs_rest, or likelihood: softmax with inference: laplace", method, classes)
	}
	if _, ok := bound(lik).(likelihood.MomentMatcher); !ok {
		return fmt.Errorf("%s needs the likelihood's Gaussian averages for its predictions; use likelihood: probit "+
			"or logit", method)
	}
	return nil
}

// hasFree reports whether a parameter of lik is to be optimised.
func hasFree(lik likelihood.Likelihood) bool {
	for _, s := range lik.Params() {
		if !s.Fixed {
			return true
		}
	}
	return false
}

// knowsParameters reports whether there is a gradient over the parameters of lik that are to be
// optimised.
func knowsParameters(lik likelihood.Likelihood) bool {
	_, ok := bound(lik).(likelihood.Parametric)
	return ok || !hasFree(lik)
}

// isGaussian reports whether a likelihood's one parameter is log σ.
func isGaussian(lik likelihood.Likelihood) bool {
	_, ok := lik.(likelihood.Gaussian)
	return ok
}

// bound binds lik to some values of its parameters, to find its abilities.
func bound(lik likelihood.Likelihood) likelihood.Bound {
	return lik.At(make([]float64, len(lik.Params())))
}

// checkState returns an error unless the state has n numbers.
func checkState(method string, s State, n int) error {
	if len(s) != n {
		return fmt.Errorf("%s: state has %d numbers, want %d; it belongs to other data or another method",
			method, len(s), n)
	}
	for i, v := range s {
		if !finite(v) {
			return fmt.Errorf("%s: state[%d] = %v, want a finite number", method, i, v)
		}
	}
	return nil
}

// checkIteration validates the options that every iterative method has.
func checkIteration(method string, tolerance float64, maxIterations int) error {
	if !(tolerance >= 0 && tolerance < 1) {
		return fmt.Errorf("%s: tolerance = %v must be between 0 and 1 (0 means the default, %v)",
			method, tolerance, defaultTolerance)
	}
	if maxIterations < 0 {
		return fmt.Errorf("%s: max_iterations = %d must not be negative (0 means the default, %d)",
			method, maxIterations, defaultIterations)
	}
	return nil
}

const (
	defaultTolerance  = 1e-10
	defaultIterations = 1000
)
