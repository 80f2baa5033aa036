package approx

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

var (
	_ LeaveOneOuter = (*laplacePosterior)(nil)
	_ LeaveOneOuter = (*meanField)(nil)
	_ LeaveOneOuter = (*onlinePosterior)(nil)
	_ LeaveOneOuter = (*multiclass)(nil)
)

// cavities are what Gaussian sites τ leave of the marginals N(μ_i, v_i) without their own site, N(μ_i - c_i b_i, c_i)
// with c_i = v_i/(1 - τ_i v_i), and the leave-one-out sum Σ_i log Z_i = Σ_i log ∫ p(y_i|f) N(f; μ_i - c_i b_i, c_i) df ≈
// Σ_i log p(y_i|y_-i) over them, as if the other sites stayed where they are. The derivatives of log Z_i are explicit: each
// by one of μ_i, v_i, τ_i and b_i, the others held.
type cavities struct {
	sum            float64
	marginal       []float64 // v
	mean, variance []float64
	byMu, byV      []float64
	byTau, byB     []float64
	inverse        blas64.General // B⁻¹, of the sites τ ≥ 0
}

// cavities fills all of it, given the marginal means.
func (s *sites) cavities(mu []float64) (*cavities, error) {
	n := len(s.b)
	vector := func() []float64 { return make([]float64, n) }
	c := &cavities{marginal: vector(), mean: vector(), variance: vector(), byMu: vector(), byV: vector(), byTau: vector(), byB: vector(), inverse: s.inverse()}
	projected, raised := vector(), vector() // v_i as K_ii less a square, and what sites of negative precision add to it
	v := linalg.NewGeneral(n, n)
	s.project(v)
	for i := range projected {
		projected[i] = s.variance(i)
	}
	subtractSquares(projected, v)
	addSquares(1, raised, s.negative.fk)
	rounding := 0.0 // relative, of a cavity's variance where the posterior's is (1 - share)/τ
	for i, b := range s.b {
		// Both 1 - τ_i v_i and K_ii less what the other cases know of f_i may cancel; the share 1 - τ_i v_i = [B⁻¹]_ii does not.
		tau, share, v := s.root[i]*s.root[i], c.inverse.Data[i*n+i], projected[i]
		if tau*s.variance(i) > 1 {
			v = (1 - share) / tau
			rounding = max(rounding, 8*eps*tau*s.variance(i)/(share*(1-share)))
		}
		v += raised[i]
		share = max(share-tau*raised[i]-s.negative.tau[i]*v, eps)
		c.marginal[i] = max(v, 0)
		c.variance[i] = c.marginal[i] / share
		c.mean[i] = mu[i] - c.variance[i]*b
		logZ, d1, d2 := s.lik.LogZ(s.y[i], c.mean[i], c.variance[i])
		c.sum += logZ
		byVariance := (d2+d1*d1)/2 - d1*b // of the cavity
		c.byMu[i], c.byB[i] = d1, -c.variance[i]*d1
		c.byV[i], c.byTau[i] = byVariance/(share*share), byVariance*c.variance[i]*c.variance[i]
	}
	if !(rounding < unresolved) {
		return nil, fmt.Errorf("%w: leave-one-out needs what the other cases leave of a variance, which rounding error hides to a relative %.1g; a smaller amplitude or noise in the kernel helps", ErrNotConverged, rounding)
	}
	if !finite(c.sum) {
		return nil, fmt.Errorf("%w: leave-one-out sum %v; the prior variances overflow", ErrNotConverged, c.sum)
	}
	return c, nil
}

// precisions adds to byTau what a change of τ_j does to all v_i, by dv_i = -Σ_ij² dτ_j, where Σ = S^-½(I - B⁻¹)S^-½ but for
// what sites of negative precision add.
func (s *sites) precisions(c *cavities) {
	n := len(s.b)
	var raised blas64.General
	if s.negative.fk.Rows > 0 {
		raised = linalg.NewGeneral(n, n)
		linalg.Gemm(blas.Trans, blas.NoTrans, 1, s.negative.fk, s.negative.fk, 0, raised)
	}
	for j, rj := range s.root {
		for i, ri := range s.root {
			sigma := -c.inverse.Data[j*n+i] / ri / rj
			switch {
			case i == j:
				sigma = c.marginal[i]
			case raised.Data != nil:
				sigma += raised.Data[j*n+i]
			}
			c.byTau[j] -= c.byV[i] * sigma * sigma
		}
	}
}

// pullBack sets dst to what weights γ_v on the marginal variances and u = (I - RK)γ_μ on the means, which move by
// dμ = (I - KR)(dK b + dm), make of dK and dm:
//
//	G = ½(u bᵀ + b uᵀ) + (I - RK) diag(γ_v) (I - KR),   ∂/∂m = u,   I - RK = S^½ B⁻¹ S^-½ + FᵀFK
func (s *sites) pullBack(dst *Cov, inverse blas64.General, u, gamma []float64) {
	n := len(s.b)
	checkAdjoint(dst.K, n)
	rest := linalg.NewGeneral(n, n) // I - RK
	for i, ri := range s.root {
		for j, rj := range s.root {
			rest.Data[i*n+j] = ri * inverse.Data[i*n+j] / rj
		}
	}
	if s.negative.f.Rows > 0 {
		linalg.Gemm(blas.Trans, blas.NoTrans, 1, s.negative.f, s.negative.fk, 1, rest)
	}
	raw := dst.K.RawSymmetric()
	linalg.SyrkDiag(blas.NoTrans, 1, rest, gamma, 0, raw)
	for i, b := range s.b {
		row := raw.Data[i*raw.Stride+i : i*raw.Stride+n]
		for j := range row {
			row[j] += (u[i]*s.b[i+j] + b*u[i+j]) / 2
		}
	}
	if dst.Mean != nil {
		copy(dst.Mean, u)
	}
}

// LeaveOneOut implements LeaveOneOuter by the cavities of the sites τ = W, b = ∇log p at the mode. Mode and W move with K:
// the weight on f̂ is that on μ, that on b times -W and that on τ times -∂³log p/∂f³.
func (p *laplacePosterior) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged {
		return nil, p.evidence.err
	}
	c, err := p.cavities(p.mode.f)
	if err != nil {
		return nil, err
	}
	solve := func() (gamma, u []float64) {
		n := len(p.b)
		gamma, u = make([]float64, n), make([]float64, n)
		for i, w := range p.mode.concave {
			gamma[i] = c.byMu[i] - c.byB[i]*w - c.byTau[i]*p.mode.d3[i]
		}
		linalg.Symv(1, p.k, gamma, 0, u)
		p.moving.shrink(u, gamma, u)
		return gamma, u
	}
	p.precisions(c)
	f := functional{value: c.sum, err: p.evidence.err, adjoint: func(dst *Cov) {
		_, u := solve()
		p.pullBack(dst, c.inverse, u, c.byV)
	}}
	explicit, ok1 := p.lik.(likelihood.MomentParams)
	model, ok2 := p.lik.(likelihood.DifferentiableParams)
	if ok1 && ok2 {
		f.likelihood = func(grad []float64) {
			n := len(p.b)
			_, u := solve()
			ku := make([]float64, n)
			linalg.Symv(1, p.k, u, 0, ku) // a change of ∇log p by δ moves the mode by Σδ, and Σγ = K u
			d, d1, d2 := make([]float64, len(grad)), make([]float64, len(grad)), make([]float64, len(grad))
			for i := range n {
				explicit.DLogZ(d, d1, d2, p.y[i], c.mean[i], c.variance[i])
				floats.Add(grad, d)
				model.ParamDerivs(d, d1, d2, p.y[i], p.mode.f[i])
				floats.AddScaled(grad, ku[i]+c.byB[i], d1)
				if p.mode.w[i] > 0 {
					floats.AddScaled(grad, -c.byTau[i], d2)
				}
			}
		}
	}
	return f, nil
}

// LeaveOneOut implements LeaveOneOuter by the cavities of the sites in linear response. Fields z, with b and τ, move with K
// as m₀ + A b = <h> says, and so do the λ.
func (p *meanField) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged {
		return nil, p.evidence.err
	}
	mu := make([]float64, len(p.b))
	p.latentAt(mu, p.b)
	c, err := p.cavities(mu)
	if err != nil {
		return nil, err
	}
	p.precisions(c)
	return functional{value: c.sum, err: p.evidence.err, adjoint: func(dst *Cov) { p.leaveOneOutAdjoint(dst, c) }}, nil
}

// leaveOneOutAdjoint: with C_i = r_i (z_i + r_i) and V_i = 1 - C_i a site is τ = C/D, D = λV + vC, b = yr/√λ, and the
// derivatives by z are ∂C = -∂³log Φ, ∂b = -yC/√λ and ∂<h> = y√λ V. So weights b̄ and τ̄ are, at fixed λ, ζ = Rρ on
// -(m₀ + A b - <h>), with ρ = b̄ + τ̄ y λ^(3/2) ∂³log Φ/(C D²).
func (p *meanField) leaveOneOutAdjoint(dst *Cov, c *cavities) {
	n := len(p.b)
	byB, rho, zeta, shift := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	copy(byB, c.byB)
	linalg.Symv(1, p.k, c.byMu, 1, byB) // μ = m₀ + K b
	for i, l := range p.lambda {
		curvature, d := p.response(i)
		if rho[i] = byB[i]; curvature > 0 {
			rho[i] += c.byTau[i] * p.y[i] * l * math.Sqrt(l) * p.cut[i].Third / curvature / (d * d)
		}
		zeta[i] = p.root[i] * rho[i]
	}
	linalg.SolveTriVec(blas.Trans, p.u, zeta)
	linalg.SolveTriVec(blas.NoTrans, p.u, zeta)
	for i, r := range p.root {
		zeta[i] *= r
	}
	linalg.Symv(1, p.a, zeta, 0, shift)
	u, byLambda := make([]float64, n), make([]float64, n)
	for i, l := range p.lambda {
		curvature, d := p.response(i)
		h := p.y[i] * math.Sqrt(l) * p.cut[i].Mean
		u[i] = c.byMu[i] - zeta[i]
		byLambda[i] = -c.byTau[i]*curvature*p.cut[i].Variance/(d*d) + (zeta[i]*h-p.b[i]*(byB[i]-shift[i]))/(2*l)
	}
	p.pullBack(dst, c.inverse, u, c.byV)
	p.pullLambda(dst.K, byLambda)
	p.pullJitter(dst.K)
}

// response is C_i and D_i of the site τ_i = C_i/D_i.
func (p *meanField) response(i int) (curvature, d float64) {
	curvature = p.cut[i].Hazard * p.cut[i].Mean
	return curvature, p.lambda[i]*p.cut[i].Variance + p.noise*curvature
}

// LeaveOneOut implements LeaveOneOuter by the cavities of the sites that the visits left. With γ the weight on μ, which includes
// that on b = ν - Sμ, the weights on the sites are byB + Σγ on ν, and -μ times that on τ beside its own.
func (p *onlinePosterior) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged {
		return nil, p.evidence.err
	}
	n := len(p.b)
	mu := make([]float64, n)
	p.latentAt(mu, p.b)
	c, err := p.cavities(mu)
	if err != nil {
		return nil, err
	}
	f := functional{value: c.sum}
	higher, ok := p.lik.(likelihood.HigherMoments)
	switch {
	case !ok:
		f.err = fmt.Errorf("%w: the likelihood does not tell how its moments change", ErrNoGradient)
	case p.diagnostics.Iterations > 1:
		f.err = fmt.Errorf("%w: online with several sweeps", ErrNoGradient)
	}
	if f.err != nil {
		return f, nil
	}
	p.precisions(c)
	solve := func() (u []float64, w visitWeights) {
		gamma, u := make([]float64, n), make([]float64, n)
		w = visitWeights{tau: make([]float64, n), nu: make([]float64, n)}
		for i, r := range p.root {
			gamma[i] = c.byMu[i] - (r*r+p.negative.tau[i])*c.byB[i]
		}
		linalg.Symv(1, p.k, gamma, 0, u)
		p.shrink(u, gamma, u)
		linalg.Symv(1, p.k, u, 0, w.nu)
		for i, b := range c.byB {
			w.nu[i] += b
			w.tau[i] = c.byTau[i] - mu[i]*w.nu[i]
		}
		return u, w
	}
	f.adjoint = func(dst *Cov) {
		u, w := solve()
		p.pullBack(dst, c.inverse, u, c.byV)
		p.addReverse(dst, higher, w)
	}
	if model, ok := p.lik.(likelihood.MomentParams); ok {
		f.likelihood = func(grad []float64) {
			_, w := solve()
			p.addParams(grad, model, higher, w)
			d, d1, d2 := make([]float64, len(grad)), make([]float64, len(grad)), make([]float64, len(grad))
			for i, y := range p.y {
				model.DLogZ(d, d1, d2, y, c.mean[i], c.variance[i])
				floats.Add(grad, d)
			}
		}
	}
	return f, nil
}

// LeaveOneOut implements LeaveOneOuter by block cavities, over which softmax is averaged as in predictions. It has no
// derivatives.
func (p *multiclass) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged {
		return nil, p.evidence.err
	}
	proba, sum := make([]float64, p.classes), 0.0
	p.blockCavities(func(i int, mean []float64, cavity *mat.SymDense) {
		p.deviation.Add(p.lik.Average(proba, mean, cavity, p.points))
		sum += math.Log(max(proba[p.y[i]], leastProbability))
	})
	if !finite(sum) {
		return nil, fmt.Errorf("%w: leave-one-out sum %v; the prior variances overflow", ErrNotConverged, sum)
	}
	return functional{value: sum, err: ErrNoGradient}, nil
}

// leastProbability is the smallest whose logarithm is taken.
const leastProbability = 0x1p-1022

// blockCavities calls visit for every case with the mean and covariance of its latent values without its site, of precision
// W_i = D - ππᵀ, D = diag π, and slope g_i = e_y - π: the marginal N(f̂_i, Σ_i) becomes N(f̂_i - C_i g_i, C_i) with
// C_i = (Σ_i⁻¹ - W_i)⁻¹. But for what is common to all classes, which softmax does not see,
//
//	C_i = Σ_H + Σ_H D^½ (I - D^½ Σ_H D^½)⁻¹ D^½ Σ_H,   Σ_H = H Σ_i Hᵀ,   H = I - 1πᵀ
//
// where nothing is divided by a small π.
func (p *multiclass) blockCavities(visit func(i int, mean []float64, covariance *mat.SymDense)) {
	n, classes := p.n, p.classes
	cross, diag := make([]*mat.Dense, len(p.k)), make([][]float64, len(p.k))
	for j, k := range p.k {
		cross[j], diag[j] = mat.NewDense(n, n, full(k).Data), make([]float64, n)
		for i := range n {
			diag[j][i] = cross[j].At(i, i)
		}
	}
	vector := func() []float64 { return make([]float64, classes) }
	pi, root, b, mean := vector(), vector(), vector(), vector()
	p.covariances(cross, diag, true, func(i int, q []float64, s *mat.SymDense) {
		for c, j := 0, i; c < classes; c, j = c+1, j+n {
			pi[c], root[c], b[c] = p.at.w[j], math.Sqrt(p.at.w[j]), p.left[j] // which is 1 - πq without the cancellation
		}
		cavity := blockCavity(pi, root, b, q, s)
		for c := range classes {
			mean[c] = p.at.f[c*n+i]
			for d := range classes {
				mean[c] -= cavity.At(c, d) * p.b[d*n+i]
			}
		}
		visit(i, mean, cavity)
	})
}

// blockCavity returns C_i, given Σ_i but for a common term, what of its diagonal is q, and b = 1 - πq, [B_c⁻¹]_ii. I - D^½ Σ_H D^½ =
// √π√πᵀ + P(diag b - D^½ (Σ_i - diag q) D^½)P with P = I - √π√πᵀ has eigenvalues between 0 and 1.
func blockCavity(pi, root, b, q []float64, s *mat.SymDense) *mat.SymDense {
	classes := len(pi)
	rest, sigma := mat.NewSymDense(classes, nil), mat.NewSymDense(classes, nil)
	for c := range pi {
		for d := c; d < classes; d++ {
			rest.SetSym(c, d, -root[c]*root[d]*s.At(c, d))
			sigma.SetSym(c, d, s.At(c, d))
		}
		rest.SetSym(c, c, b[c]-pi[c]*(s.At(c, c)-q[c]))
	}
	projectOut(rest, root, root)
	ones := make([]float64, classes)
	for c := range ones {
		ones[c] = 1
	}
	projectOut(sigma, ones, pi)
	var eigen mat.EigenSym
	rest.SymRankOne(rest, 1, mat.NewVecDense(classes, root))
	if !eigen.Factorize(rest, true) {
		sigma.SetSym(0, 0, math.NaN())
		return sigma
	}
	var vectors, gain mat.Dense
	eigen.VectorsTo(&vectors)
	for c, r := range root { // D^½ V
		row := vectors.RawRowView(c)
		for d := range row {
			row[d] *= r
		}
	}
	gain.Mul(sigma, &vectors)
	for d, lambda := range eigen.Values(nil) {
		sigma.SymRankOne(sigma, 1/max(lambda, eps), gain.ColView(d))
	}
	return sigma
}

// projectOut sets a ← (I - u wᵀ) a (I - w uᵀ).
func projectOut(a *mat.SymDense, u, w []float64) {
	n := len(u)
	var aw mat.VecDense
	aw.MulVec(a, mat.NewVecDense(n, w))
	waw := mat.Dot(mat.NewVecDense(n, w), &aw)
	for c := range n {
		for d := c; d < n; d++ {
			a.SetSym(c, d, a.At(c, d)-u[c]*aw.AtVec(d)-aw.AtVec(c)*u[d]+waw*u[c]*u[d])
		}
	}
}
