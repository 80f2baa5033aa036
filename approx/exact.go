package approx

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

var (
	_ Approximation = Exact{}
	_ LeaveOneOut   = (*exactPosterior)(nil)
	_ LeaveGroupOut = (*exactPosterior)(nil)
)

// Exact is regression with Gaussian noise of variance σ² (GPML 2.2), which needs no approximation:
// every case is a Gaussian site of precision 1/σ² at y_i. With R = (K + σ²I)⁻¹ and b = R(y - m) the
// log evidence (GPML 2.30), in nats, is
//
//	L = -½ bᵀ(y - m) - ½ log|I + K/σ²| - ½ n log 2πσ²
//
// A case of weight w has the noise σ²/w there, and n is the sum of the weights. Latent gives the
// process without the noise, GPML (2.25)-(2.26). A State is empty.
type Exact struct {
	// Structure represents the prior covariance.
	Structure Structure `yaml:",inline"`
}

// Uses implements Approximation: numeric targets with the gaussian likelihood.
func (e Exact) Uses(lik likelihood.Likelihood, classes int) (Caps, error) {
	_, gaussian := bound(lik).(likelihood.GaussianNoise)
	switch gaussian = gaussian && lik.Domain() == likelihood.Numeric; {
	case classes == 0 && !gaussian:
		return Caps{}, errors.New("exact needs Gaussian noise; use likelihood: gaussian")
	case !gaussian:
		return Caps{}, errors.New("exact needs likelihood: gaussian and numeric labels; for classes use " +
			"inference: ep with likelihood: probit, or laplace with softmax")
	case classes != 0:
		return Caps{}, errors.New("exact is for numeric labels; for classes use likelihood: probit with " +
			"inference: ep, or softmax with laplace")
	}
	gradient := isGaussian(lik) || !hasFree(lik)
	cavities := power(e.Structure, 1) == 1
	return Caps{
		Gradient: gradient, LowerBound: power(e.Structure, 1) == 0,
		LeaveOneOut: cavities, LeaveOneOutGradient: cavities && gradient, LeaveGroupOut: cavities, Weights: true,
	}, nil
}

func (e Exact) structure() Structure { return e.Structure }

func (e Exact) with(s Structure) (Approximation, bool) {
	e.Structure = s
	return e, true
}

// Memory implements Approximation: the factor, and the inverse that leave-one-out needs.
func (Exact) Memory(s Size) Memory {
	n2 := s.Cases * s.Cases
	return Memory{Fit: words(n2, s.Cases*s.New), LeaveOneOut: words(n2, 0)}
}

// Fit implements Approximation.
func (e Exact) Fit(
	ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State,
) (Posterior, error) {
	return interrupt.Do(ctx, func() (Posterior, error) { return e.Restore(cov, y, lik, start) })
}

// Restore implements Approximation, GPML Algorithm 2.1 lines 2-3 and 7.
func (e Exact) Restore(cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error) {
	if err := checkState("exact", s, 0); err != nil {
		return nil, err
	}
	base, err := newProcess(nil, cov, y, lik, power(e.Structure, 1), true)
	if err != nil {
		return nil, err
	}
	p := &exactPosterior{process: base, noise: lik.(likelihood.GaussianNoise).NoiseVariance()}
	n := len(p.y)
	p.tau = slices.Repeat([]float64{1 / p.noise}, n)
	if p.weight != nil {
		floats.Mul(p.tau, p.weight)
	}
	if err := p.factorise(p.tau); err != nil {
		return nil, err
	}
	for i, m := range p.mean {
		p.b[i] = p.y[i] - m
	}
	value, residual := -p.prior.Solve(p.b)/2, make([]float64, n) // (y - m)ᵀR(y - m)
	for i, t := range p.tau {
		value -= p.prior.Penalty(i, t)
		residual[i] = -p.prior.PenaltySlope(i, t) * t
	}
	value -= p.prior.LogDet() + p.count()*math.Log(2*math.Pi*p.noise)/2
	if !finite(value) {
		return nil, fmt.Errorf("%w: exact, log evidence %v; the targets or the prior variances overflow",
			ErrNotPositiveDefinite, value)
	}
	p.evidence = p.functional(value, prior.Adjoint{
		P: [][]float64{p.b}, Q: [][]float64{scaled(p.b, 0.5)}, C: 1, Residual: residual,
	}, p.b)
	p.diagnostics.Converged = true
	return p, nil
}

// exactPosterior is regression with Gaussian noise. With inducing inputs the prior covariance is
// K̂, and the term of the correction is subtracted from the log evidence. With R = (K̂ + σ²I)⁻¹,
//
//	L = -½ bᵀ(y - m) - ½ log|I + K̂/σ²| - ½ n log 2πσ² - Σ_i (1-α)/2α log(1 + α D_i/σ²)
//
// and at α = 0 Titsias' (2009) bound, whose last term is Σ_i D_i/2σ².
type exactPosterior struct {
	process
	noise float64   // σ²
	tau   []float64 // w/σ²
}

// count is the sum of the weights, n without.
func (p *exactPosterior) count() float64 {
	if p.weight == nil {
		return float64(len(p.y))
	}
	return floats.Sum(p.weight)
}

// functional is a scalar with its adjoint; mean is the derivative with respect to m.
func (p *exactPosterior) functional(value float64, g prior.Adjoint, mean []float64) functional {
	f := functional{value: value, adjoint: func(dst *Cov, _ int) {
		p.prior.Pull(dst, g.Constant)
		if dst.Mean != nil {
			copy(dst.Mean, mean)
		}
	}}
	return p.byNoise(f, g.Residual, func() []float64 { return p.prior.Diagonal(g) })
}

// byNoise adds the derivative with respect to log σ, given diag G. The evidence depends on the
// noise through the diagonal of K + σ²I, and through D/σ² in the correction.
func (p *exactPosterior) byNoise(f functional, residual []float64, diagonal func() []float64) functional {
	if isGaussian(p.lik.Likelihood()) {
		f.likelihood = func(grad []float64) {
			d := diagonal()
			if p.weight == nil {
				grad[0] += 2 * p.noise * floats.Sum(d)
			}
			// w copies have the term w log σ², and one case has log σ²/w
			for i, w := range p.weight {
				grad[0] += 2*p.noise*d[i]/w + 1 - w
			}
			for i, w := range residual {
				grad[0] -= 2 * w * p.prior.ResidualVariance(i)
			}
		}
	}
	return f
}

// LeaveOneOut implements LeaveOneOut, GPML (5.10)-(5.13), with R = S(I - KR) = (I - RK)S:
//
//	Σ_i log p(y_i|y_-i) = Σ_i [ ½ log R_ii - ½ b_i²/R_ii - ½ log 2π ]
//	G = ½ (R q bᵀ + b (R q)ᵀ) - R C R,   ∂L/∂m = R q,
//	q_i = b_i/R_ii,   C_ii = ½ (1 + b_i²/R_ii)/R_ii
func (p *exactPosterior) LeaveOneOut() (Functional, error) {
	n := len(p.y)
	if p.weight != nil {
		return p.leaveCopyOut()
	}
	value, q, gamma, kq := -float64(n)*math.Log(2*math.Pi)/2, make([]float64, n), make([]float64, n), make([]float64, n)
	for i, r := range p.prior.Diagonal(prior.Adjoint{C: -2}) {
		b := p.b[i]
		value += (math.Log(r) - b*b/r) / 2
		q[i] = b / r / p.noise
		gamma[i] = -(1 + b*b/r) / r / 2 / (p.noise * p.noise)
	}
	p.prior.Multiply(kq, q)
	p.prior.Shrink(q, q, kq)
	return p.functional(value, prior.Adjoint{P: [][]float64{p.b}, Q: [][]float64{q}, Gamma: gamma}, q), nil
}

// leaveCopyOut returns the leave-one-out sum if one copy of a case is left out. It is computed by
// Laplace's method, which is exact here.
func (p *exactPosterior) leaveCopyOut() (Functional, error) {
	at := newPoint(len(p.y))
	at.w, at.concave, at.d3 = p.tau, p.tau, make([]float64, len(p.y))
	p.prior.Multiply(at.f, p.b)
	floats.Add(at.f, p.mean)
	laplace := laplacePosterior{process: p.process, model: p.lik.(likelihood.Differentiable), mode: at, moving: p.prior}
	return laplace.LeaveOneOut()
}

// leftOutAdjoint sets dst from R, q and C, for which root diag(c) rootᵀ = R C R.
func (p *exactPosterior) leftOutAdjoint(dst *Cov, r *mat.SymDense, q []float64, root blas64.General, c []float64) {
	n := len(p.y)
	rq := make([]float64, n)
	linalg.Symv(1, r.RawSymmetric(), q, 0, rq)
	prior.CheckAdjoint(dst.K, n)
	g := dst.K.RawSymmetric()
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			row, b, q := g.Data[i*g.Stride+i:i*g.Stride+n], p.b[i], rq[i]
			for j := range row {
				row[j] = (q*p.b[i+j] + b*rq[i+j]) / 2
			}
		}
	})
	linalg.SyrkDiag(blas.NoTrans, -1, root, c, 1, g)
	if dst.Mean != nil {
		copy(dst.Mean, rq)
	}
}

// LeaveGroupOut implements LeaveGroupOut. With R_gg the block of R for the n_g cases of group g,
//
//	log p(y_g|y_-g) = ½ log|R_gg| - ½ b_gᵀ R_gg⁻¹ b_g - ½ n_g log 2π
//
// The adjoint is the one of LeaveOneOut with q_g = R_gg⁻¹ b_g and C_gg = ½ (q_g q_gᵀ + R_gg⁻¹).
func (p *exactPosterior) LeaveGroupOut(groups [][]int) (Functional, error) {
	n := len(p.y)
	in := make([]int, n) // how many groups
	for _, i := range slices.Concat(groups...) {
		if i < 0 || i >= n {
			return nil, fmt.Errorf("a group to leave out has case %d, and there are cases 0 to %d", i, n-1)
		}
		in[i]++
	}
	if i := slices.IndexFunc(in, func(k int) bool { return k != 1 }); i >= 0 {
		return nil, fmt.Errorf("case %d is in %d of the groups to leave out; every case must be in one", i, in[i])
	}
	r := mat.NewSymDense(n, nil)
	k, ok := p.prior.(prior.Fisher)
	if !ok {
		return nil, errors.New("exact leaves groups out only without inducing inputs, and groups of weighted cases " +
			"only without noise in the kernel; repeat each case as often as its weight says")
	}
	k.Information(r)
	value, q := -float64(n)*math.Log(2*math.Pi)/2, make([]float64, n)
	// the difference between w copies with noise σ² and one case with noise σ²/w
	for _, w := range p.weight {
		value += ((1-w)*math.Log(2*math.Pi*p.noise) - math.Log(w)) / 2
	}
	roots := make([]blas64.Triangular, len(groups))
	for g, group := range groups {
		logDet, square, err := p.leftOutGroup(group, r, q, &roots[g])
		if err != nil {
			return nil, fmt.Errorf("%w of group %d given the others", err, g)
		}
		value += logDet
		value -= square / 2
	}
	adjoint := func(dst *Cov, _ int) {
		p.leftOutAdjoint(dst, r, q, groupRoot(groups, r, roots), slices.Repeat([]float64{1}, n))
	}
	return p.byNoise(functional{value: value, adjoint: adjoint}, nil, func() []float64 {
		dst, d := Cov{K: mat.NewSymDense(n, nil)}, make([]float64, n)
		adjoint(&dst, 0)
		for i := range d {
			d[i] = dst.K.At(i, i)
		}
		return d
	}), nil
}

// leftOutGroup fills q_g and U with C_gg = UᵀU, and returns ½ log|R_gg| and b_gᵀ R_gg⁻¹ b_g.
func (p *exactPosterior) leftOutGroup(
	g []int, r *mat.SymDense, q []float64, root *blas64.Triangular,
) (logDet, square float64, err error) {
	block, own, qg := linalg.NewSym(len(g)), make([]float64, len(g)), make([]float64, len(g))
	for a, i := range g {
		own[a] = p.b[i]
		for c := a; c < len(g); c++ {
			block.Data[a*block.Stride+c] = r.At(i, g[c])
		}
	}
	u, ok := linalg.Cholesky(block)
	if !ok {
		return 0, 0, fmt.Errorf("%w: exact, the precision", ErrNotPositiveDefinite)
	}
	logDet = linalg.LogDet(u)
	block = linalg.InverseCholesky(u)
	linalg.Symv(1, block, own, 0, qg)
	for a, i := range g {
		q[i] = qg[a]
		for c := a; c < len(g); c++ {
			block.Data[a*block.Stride+c] = (qg[a]*qg[c] + block.Data[a*block.Stride+c]) / 2
		}
	}
	if *root, ok = linalg.Cholesky(block); !ok {
		return 0, 0, fmt.Errorf("%w: exact, the covariance", ErrNotPositiveDefinite)
	}
	return logDet, dot(own, qg), nil
}

// rowsAtOnce is the number of rows per part of groupRoot.
const rowsAtOnce = 128

// groupRoot has the columns R_·g Uᵀ of every group, so that R C R is its product with its
// transpose.
func groupRoot(groups [][]int, r *mat.SymDense, roots []blas64.Triangular) blas64.General {
	n := r.SymmetricDim()
	root := linalg.NewGeneral(n, n)
	for k, g := range groups {
		m := len(g)
		u := linalg.NewGeneral(m, m)
		for a := range g {
			copy(u.Data[a*m+a:(a+1)*m], roots[k].Data[a*roots[k].Stride+a:])
		}
		linalg.Parallel((n+rowsAtOnce-1)/rowsAtOnce, func(job int) {
			from := job * rowsAtOnce
			rows := min(rowsAtOnce, n-from)
			columns, product := linalg.NewGeneral(rows, m), linalg.NewGeneral(rows, m)
			for row := range rows {
				for a, i := range g {
					columns.Data[row*m+a] = r.At(from+row, i)
				}
			}
			linalg.Gemm(blas.NoTrans, blas.Trans, 1, columns, u, 0, product)
			for row := range rows {
				for a, i := range g {
					root.Data[(from+row)*n+i] = product.Data[row*m+a]
				}
			}
		})
	}
	return root
}
