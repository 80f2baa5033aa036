package prior

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// inducingClasses are priors with inducing inputs. With S = Σ_c π_c, E_i = (W_i⁻¹ + Λ_i)⁻¹, Λ_i =
// diag Λ_ic,
//
//	ε_c = π_c/(1 + π_c Λ_ic),   s = Σ_c ε_c,   E_i = diag ε - ε εᵀ/s
//	S |I + W_i Λ_i| = s Π_c (1 + π_c Λ_ic),   T_i = (I + W_i Λ_i)⁻¹ = I - E_i Λ_i
//
// and Cm×Cm instead of m×m, with V̂ the block diagonal matrix of the V_c,
//
//	M = I + V̂ E V̂ᵀ,   blocks M_cd = δ_cd I + V_c diag(E_cd) V_dᵀ
//	|I + W K̂| = Π_i |I + W_i Λ_i| · |M|,   R = (K̂ + W⁻¹)⁻¹ = E - E V̂ᵀ M⁻¹ V̂ E
//	(I + W K̂)⁻¹ = (I - E V̂ᵀ M⁻¹ V̂) T,   Σ_i = Λ_i T_i + T_iᵀ V̂_iᵀ M⁻¹ V̂_i T_i
//
// It takes O(C² n m² + C³ m³) time and O(C² m²) memory besides the priors. E maps vectors that are
// equal for all classes of a case to 0.
type inducingClasses struct {
	priors     []*inducing // one shared, or one per class
	n, classes int
	pi, e      []float64         // Cn: π, ε
	sum        []float64         // s
	um         blas64.Triangular // Cm×Cm
	inverse    blas64.Triangular // U_M⁻¹; computed on first use
	full       blas64.General    // M⁻¹; computed on first use
	variances  []float64         // π_c q_c; computed on first use
	diagonal   []float64         // of R_cc; likewise
}

// newInducingClasses has no sites yet. priors has one entry for all classes or one per class, with
// equal numbers of inducing inputs.
func newInducingClasses(priors []*inducing, classes int) *inducingClasses {
	n := priors[0].cases()
	v := func(n int) []float64 { return make([]float64, n) }
	return &inducingClasses{priors: priors, n: n, classes: classes, pi: v(classes * n), e: v(classes * n), sum: v(n)}
}

// withInducingClasses is withInducing for several classes.
func withInducingClasses(
	work *Work, cov []Cov, n, classes int, power float64, weight []float64,
) (Classes, error) {
	if cov[0].Cross == nil {
		return nil, nil
	}
	if weight != nil {
		return nil, errors.New("inducing inputs of several classes take no weights of cases; repeat each as " +
			"often as its weight says, or use classes: one_vs_rest")
	}
	priors := make([]*inducing, len(cov))
	for j := range cov {
		var err error
		if priors[j], err = newInducing(work, cov[j], n, power, nil); err != nil {
			return nil, ofClass(err, j, cov)
		}
	}
	return newInducingClasses(priors, classes), nil
}

// prior returns the prior of class c.
func (k *inducingClasses) prior(c int) *inducing { return share(k.priors, c) }

func (k *inducingClasses) LargestVariance(c int) float64 { return k.prior(c).LargestVariance() }

func (k *inducingClasses) Describe() (jitter, unexplained float64) {
	for _, p := range k.priors {
		j, u := p.Describe()
		jitter, unexplained = max(jitter, j), max(unexplained, u)
	}
	return jitter, unexplained
}

// of is the part of a vector that belongs to a class.
func (k *inducingClasses) of(c int, x []float64) []float64 { return x[c*k.n : (c+1)*k.n] }

// size is m.
func (k *inducingClasses) size() int { return k.priors[0].points() }

// Factorise implements Classes: it factors M.
func (k *inducingClasses) Factorise(pi []float64) error {
	copy(k.pi, pi)
	clear(k.sum)
	for c := range k.classes {
		e := k.of(c, k.e)
		for i, p := range k.of(c, pi) {
			e[i] = p / (1 + p*k.prior(c).independent[i])
			k.sum[i] += e[i]
		}
	}
	m, order := k.size(), k.classes*k.size()
	a := linalg.NewSym(order)
	block := func(c int) blas64.Symmetric {
		return blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: a.Stride, Data: a.Data[c*m*(a.Stride+1):]}
	}
	own := make([]float64, k.n)
	for c := range k.classes {
		k.coupling(own, c, c, 0)
		linalg.SyrkDiag(blas.NoTrans, 1, k.prior(c).v, own, 0, block(c))
	}
	k.crossBlocks(a)
	for j := range order {
		a.Data[j*a.Stride+j]++
	}
	var ok bool
	if k.um, ok = linalg.Cholesky(a); !ok {
		return fmt.Errorf("%w: the matrix I + V E Vᵀ of %d classes with %d inducing inputs each; standardise the "+
			"inputs or lower the amplitude", ErrNotPositiveDefinite, k.classes, m)
	}
	k.inverse.Data, k.full.Data, k.variances = nil, nil, nil
	return nil
}

// crossBlocks fills the blocks M_cd = -V_c diag(ε_c ε_d/s) V_dᵀ, c < d. For a shared prior the
// blocks are symmetric, and it computes a triangle of each. Otherwise it takes one product for each
// c.
func (k *inducingClasses) crossBlocks(a blas64.Symmetric) {
	if len(k.priors) == 1 {
		k.othersOfShared(a)
		return
	}
	m, root := k.size(), make([]float64, k.n)
	for j0 := 0; j0 < k.n; j0 += casesAtOnce {
		j1 := min(k.n, j0+casesAtOnce)
		stack, giveBack := borrow(k.classes*m, j1-j0) // V_c diag(ε_c/√s)
		for c := range k.classes {
			for i := j0; i < j1; i++ {
				root[i] = k.of(c, k.e)[i] / math.Sqrt(k.sum[i])
			}
			scaleColumns(rows(stack, c*m, (c+1)*m), columns(k.prior(c).v, j0, j1), root[j0:j1])
		}
		for c := range k.classes - 1 {
			to := blas64.General{Rows: m, Cols: (k.classes - 1 - c) * m, Stride: a.Stride,
				Data: a.Data[c*m*a.Stride+(c+1)*m:]}
			linalg.Gemm(blas.NoTrans, blas.Trans, -1, rows(stack, c*m, (c+1)*m),
				rows(stack, (c+1)*m, k.classes*m), 1, to)
		}
		giveBack()
	}
}

func (k *inducingClasses) othersOfShared(a blas64.Symmetric) {
	m := k.size()
	var pairs [][2]int
	for c := range k.classes {
		for d := c + 1; d < k.classes; d++ {
			pairs = append(pairs, [2]int{c, d})
		}
	}
	linalg.Parallel(len(pairs), func(job int) {
		c, d := pairs[job][0], pairs[job][1]
		weights := make([]float64, k.n)
		k.coupling(weights, c, d, 0)
		block := blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: a.Stride, Data: a.Data[c*m*a.Stride+d*m:]}
		linalg.SyrkDiag(blas.NoTrans, 1, k.priors[0].v, weights, 0, block)
		linalg.Reflect(blas.Lower, all(block), all(block))
	})
}

// coupling sets dst to the entries E_cd of the cases from j0 on. On the diagonal it is ε_c Σ_{d≠c}
// ε_d/s, which does not cancel.
func (k *inducingClasses) coupling(dst []float64, c, d, j0 int) {
	ec, ed := k.of(c, k.e)[j0:], k.of(d, k.e)[j0:]
	for i := range dst {
		s := k.sum[j0+i]
		switch {
		case c != d:
			dst[i] = -ec[i] * ed[i] / s
		case ec[i] < s/2:
			dst[i] = ec[i] * (s - ec[i]) / s
		default:
			dst[i] = ec[i] * k.without(k.e, c, j0+i) / s
		}
	}
}

// without is the sum of the numbers at case i over the classes other than c.
func (k *inducingClasses) without(x []float64, c, i int) float64 {
	sum := 0.0
	for d := range k.classes {
		if d != c {
			sum += x[d*k.n+i]
		}
	}
	return sum
}

func (k *inducingClasses) LogDet() float64 {
	sum := 0.0
	for i := range k.n {
		sum += k.logDet(i, 1, func(p *inducing) float64 { return p.independent[i] })
	}
	return sum/2 + linalg.LogDet(k.um)
}

// logDet is
//
//	log S|I + α W_i diag(d_c)| = Σ_c log(1 + α π_c d_c) + log(S - Σ_c α π_c² d_c/(1 + α π_c d_c))
func (k *inducingClasses) logDet(i int, alpha float64, d func(p *inducing) float64) float64 {
	sum, rest, lost, total := 0.0, 0.0, 0.0, k.total(i)
	for c := range k.classes {
		p := k.pi[c*k.n+i]
		x := alpha * p * d(k.prior(c))
		sum += math.Log1p(x)
		rest += p / (1 + x)
		lost += p * x / (1 + x)
	}
	if lost < 0.5*total {
		return sum + math.Log(total) + math.Log1p(-lost/total)
	}
	return sum + math.Log(rest)
}

// total is S = Σ_c π_c, exactly 1 for probabilities.
func (k *inducingClasses) total(i int) float64 {
	if total := k.without(k.pi, -1, i); math.Abs(total-1) > 1e-12 {
		return total
	}
	return 1
}

// Penalty implements Classes; at α = 0 it is ½ tr(W_i D_i).
func (k *inducingClasses) Penalty(i int) float64 {
	alpha := k.priors[0].power
	if alpha == 1 {
		return 0
	}
	if alpha >= leastPower {
		return (1 - alpha) / (2 * alpha) * k.logDet(i, alpha, func(p *inducing) float64 { return p.residual[i] })
	}
	sum := 0.0
	for c := range k.classes {
		sum += k.pi[c*k.n+i] * k.without(k.pi, c, i) * k.prior(c).residual[i]
	}
	return (1 - alpha) / 2 * sum
}

// penaltySlopes are the derivatives of Penalty with respect to D_ic: (1-α)/2 [(W_i⁻¹ + α
// D_i)⁻¹]_cc.
func (k *inducingClasses) penaltySlopes() []float64 {
	dst := make([]float64, k.classes*k.n)
	alpha := k.priors[0].power
	e := make([]float64, k.classes)
	for i := range k.n {
		sum := 0.0
		for c := range e {
			p := k.pi[c*k.n+i]
			e[c] = p / (1 + alpha*p*k.prior(c).residual[i])
			sum += e[c]
		}
		for c := range e {
			rest := 0.0
			for d, v := range e {
				if d != c {
					rest += v
				}
			}
			dst[c*k.n+i] = (1 - alpha) / 2 * e[c] * rest / sum
		}
	}
	return dst
}

// leadingInputs is the preconditioner with the first m/8 + 16 of the m inducing inputs, so that its
// factorisation takes little time compared with the factorisation for all inputs.
type leadingInputs struct{ *inducingClasses }

func (k *inducingClasses) Preconditioner() Preconditioner {
	m := k.size()
	priors := make([]*inducing, len(k.priors))
	for j, p := range k.priors {
		priors[j] = p.leading(min(m, 16+m/8))
	}
	return leadingInputs{newInducingClasses(priors, k.classes)}
}

func (s leadingInputs) Factorise(pi []float64) bool { return s.inducingClasses.Factorise(pi) == nil }

func (s leadingInputs) Covariance(dst, x []float64) {
	s.Shrink(x, x, nil)
	s.Multiply(dst, x)
}

func (k *inducingClasses) Multiply(dst, x []float64) {
	for c := range k.classes {
		floats.MulTo(k.of(c, dst), k.prior(c).independent, k.of(c, x))
	}
	y := make([]float64, k.classes*k.size())
	k.project(y, x)
	k.lift(dst, 1, y)
}

// project sets dst, Cm, to V̂ x, and lift sets dst, Cn, to V̂ᵀ y + beta dst. A prior shared by the
// classes is read from memory once for all of them.
func (k *inducingClasses) project(dst, x []float64) {
	if len(k.priors) == 1 {
		linalg.Gemm(blas.NoTrans, blas.Trans, 1, k.perClass(x), k.priors[0].v, 0, k.perClass(dst))
		return
	}
	m := k.size()
	for c := range k.classes {
		k.prior(c).project(dst[c*m:(c+1)*m], k.of(c, x))
	}
}

func (k *inducingClasses) lift(dst []float64, beta float64, y []float64) {
	if len(k.priors) == 1 {
		linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, k.perClass(y), k.priors[0].v, beta, k.perClass(dst))
		return
	}
	m := k.size()
	for c := range k.classes {
		linalg.Gemv(blas.Trans, 1, k.prior(c).v, y[c*m:(c+1)*m], beta, k.of(c, dst))
	}
}

// perClass has a row for every class.
func (k *inducingClasses) perClass(x []float64) blas64.General {
	each := len(x) / k.classes
	return blas64.General{Rows: k.classes, Cols: each, Stride: max(1, each), Data: x}
}

func (k *inducingClasses) Shrink(dst, x, _ []float64) {
	n, m := k.n, k.size()
	z, y, common := make([]float64, len(x)), make([]float64, k.classes*m), make([]float64, n)
	// T x = x/(1 + πΛ) + ε ȳ, ȳ = Σ_c ε_c Λ_c x_c/s
	for c := range k.classes {
		for i, v := range k.of(c, x) {
			common[i] += k.e[c*n+i] * k.prior(c).independent[i] * v / k.sum[i]
		}
	}
	for c := range k.classes {
		for i, v := range k.of(c, x) {
			j := c*n + i
			z[j] = v/(1+k.pi[j]*k.prior(c).independent[i]) + k.e[j]*common[i]
		}
	}
	k.project(y, z)
	linalg.SolveTriVec(blas.Trans, k.um, y)
	linalg.SolveTriVec(blas.NoTrans, k.um, y)
	w := make([]float64, len(x))
	k.lift(w, 0, y)
	clear(common)
	for c := range k.classes {
		for i, v := range k.of(c, w) {
			common[i] += k.e[c*n+i] * v / k.sum[i]
		}
	}
	for j, v := range w {
		dst[j] = z[j] - k.e[j]*(v-common[j%n])
	}
}
