package approx

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// softmaxRule is the rule of the variational method for softmax. With N(μ_i, Σ_i) the marginal of
// the latent values of case i, the bound L has the term
//
//	E log p(y_i|f) = μ_iy - E log Σ_c exp f_c
//
// whose derivatives are y - E π with respect to μ_i and -½ H_i with respect to Σ_i, H = E[diag π -
// ππᵀ]. So the best Gaussian has sites of the precisions W_i = H_i (Opper & Archambeau 2009). The
// sites of joint have W = diag d - ddᵀ/s, s = Σ_c d_c. With h_ab = -H_ab and u_c = d_c/√s, W = H if
//
//	u_a u_b = h_ab,   d_a = u_a Σ_c u_c
//
// which has a solution for three classes. For more, d is computed from the least squares of
// log(u_a u_b/h_ab), weighted, and then changed to the maximum of L over d, where
//
//	∂L/∂d_ia = -½ [P Σ Γ Σ Pᵀ]_ia,ia = 0,   Γ = W - H
//
// with P of prior.Contrasts: ∂W_i/∂d_ia is the product of row a of P_i with itself. This maximum
// couples all cases. Its natural-gradient step is the solution δ of
//
//	Σ_jc [P Σ Pᵀ]_ia,jc² δ_jc = -[P Σ Γ Σ Pᵀ]_ia,ia
//
// In all sites ν - τ E x = E π - y. With more than mostCoupled values x, d is that of the least squares:
// then the gradient of L leaves out its dependence on d, about 1e-3 of the gradient.
//
// Measured with 5 and 6 classes, n = 20 and 60, amplitudes 1 to 30: the maximum over d is at most .01
// nats below the maximum over all Gaussians, and the d of the least squares at most .012 nats lower.
type softmaxRule struct {
	variationalRule
	sites   *prior.Contrasts
	index   []int
	values  []float64   // E log p(y_i|f)
	errors  []float64   // estimates of their errors
	target  []float64   // d of the next sites
	offset  []float64   // E π - y
	last    []float64   // the previous d of the least squares; nil: none
	coupled bool        // steps are natural-gradient steps
	steps   int         // the number of these
	gap     prior.Pairs // Γ; zero for three classes
}

const (
	// mostPrecise is the largest d: a larger one changes only the h of two other classes, both with
	// tiny probabilities.
	mostPrecise = 1e3
	// leastAgreement is the smallest h, for the same reason.
	leastAgreement = 1e-13
	// ridge is the squared change of W, in units of the marginals, below which a natural-gradient
	// step leaves out a change of d.
	ridge = 1e-5
	// coupledWithin is the change of d, in units of the marginals, at which natural-gradient steps
	// begin. They are taken by half, and change d by at most a factor e.
	coupledWithin = 0.05
	// mostCoupled is the largest number of values x for which they are computed.
	mostCoupled = 300
	// mostSteps is the largest number of natural-gradient steps. If they do not converge, the sites
	// return to the least squares.
	mostSteps = 300
	// lineNoise and gridNoise are bounds of the errors of E π of three and of more classes.
	lineNoise, gridNoise = 1e-9, 1e-6
	// A step changes log d by 1/(1 + followed γ) of the distance to the least squares. γ is the
	// derivative of their log d with respect to log Σ_i, computed from Σ_i times widening. Whole steps
	// would oscillate where a class is certain: h ∝ exp(-μ²/2σ²)/σ grows with the variance σ² there.
	// followed is below 1 because a variance falls by less than the precision of its site rises.
	widening, followed = 1.1, 0.7
	// Anderson's acceleration is used below the distance accelerateWithin.
	accelerateWithin = 0.1
	// boundRounding is the relative error of the bound beyond which a decrease undoes a step.
	boundRounding = 1e-8
)

func newSoftmaxRule(p *siteState, sites *prior.Contrasts, index []int) *softmaxRule {
	v := func() []float64 { return make([]float64, len(p.tau)) }
	r := &softmaxRule{
		variationalRule: variationalRule{siteState: p, model: p.lik.(likelihood.LogConcave)}, sites: sites, index: index,
		values: make([]float64, len(index)), errors: make([]float64, len(index)), target: v(), offset: v(),
	}
	p.prepare, p.initial, p.options.Schedule = r.average, r.start, Parallel
	return r
}

// classes is C.
func (r *softmaxRule) classes() int { return len(r.tau) / len(r.index) }

// start returns the sites for the prior marginals, unless there is a start. (From the mode, where
// marginals are narrow, means would move by one unit in a step, because softmax decays
// exponentially.)
func (r *softmaxRule) start(_ context.Context, start State) (State, error) {
	if start != nil {
		return start, nil
	}
	n, classes, size := len(r.index), r.classes(), len(r.tau)
	covariance, hessian := mat.NewSymDense(classes, nil), mat.NewSymDense(classes, nil)
	for c := range classes {
		covariance.SetSym(c, c, r.sites.Classes.LargestVariance(c))
	}
	mean, pi, s := make([]float64, classes), make([]float64, classes), make(State, 2*size)
	for i := range n {
		for c := range mean {
			mean[c] = -r.mean[c*n+i]
		}
		likelihood.Softmax{}.LogSum(pi, hessian, mean, covariance)
		average := 0.0
		for c, m := range mean {
			average += hessian.At(c, c) / mat.Trace(hessian) * m
		}
		for c, p := range pi {
			j := c*n + i
			s[j] = max(hessian.At(c, c), leastAgreement)
			s[size+j] = p - r.y[j] + s[j]*(average-mean[c])
		}
	}
	return s, nil
}

// average computes the averages of all cases, and the sites that follow from them. Natural-gradient
// steps are not linear enough for Anderson's acceleration.
func (r *softmaxRule) average() (linear bool) {
	n, classes, noise := len(r.index), r.classes(), lineNoise
	if classes > 3 {
		noise = gridNoise
	}
	hessians := make([]*mat.SymDense, n)
	linalg.Rows(n, func(i0, i1 int) {
		v := func() []float64 { return make([]float64, classes) }
		mean, pi, d, wide, wider := v(), v(), v(), v(), mat.NewSymDense(classes, nil)
		for i := i0; i < i1; i++ {
			hessians[i] = mat.NewSymDense(classes, nil)
			for c := range mean {
				mean[c] = -r.mu[c*n+i]
			}
			covariance := mat.NewSymDense(classes, slices.Clone(r.sites.Block(i)))
			logSum, deviation := likelihood.Softmax{}.LogSum(pi, hessians[i], mean, covariance)
			r.values[i], r.errors[i] = mean[r.index[i]]-logSum, max(deviation, noise)
			for c, p := range pi {
				r.offset[c*n+i] = p - r.y[c*n+i]
			}
			leastSquares(d, hessians[i])
			covariance.ScaleSym(widening, covariance)
			likelihood.Softmax{}.LogSum(pi, wider, mean, covariance)
			leastSquares(wide, wider)
			for j, c := i, 0; c < classes; j, c = j+n, c+1 {
				growth := max(math.Log(wide[c]/d[c])/math.Log(widening), 0)
				r.target[j] = r.tau[j] * math.Pow(d[c]/r.tau[j], 1/(1+followed*growth))
			}
		}
	})
	if classes == 3 {
		return true
	}
	r.compareSites(hessians)
	if !r.near() {
		return true
	}
	r.step()
	r.steps++
	r.coupled = r.steps < mostSteps
	return false
}

// leastSquares sets d for which u_a u_b is near h_ab. The weights of the squares are √(h_ab/√(H_aa
// H_bb)).
func leastSquares(d []float64, hessian *mat.SymDense) {
	classes := len(d)
	square, right := mat.NewSymDense(classes, nil), mat.NewVecDense(classes, nil)
	for a := range classes {
		for b := range a {
			h := max(-hessian.At(a, b), leastAgreement)
			ha, hb := max(hessian.At(a, a), h), max(hessian.At(b, b), h)
			weight := math.Sqrt(h / math.Sqrt(ha*hb))
			square.SetSym(a, b, weight)
			for _, c := range []int{a, b} {
				square.SetSym(c, c, square.At(c, c)+weight)
				right.SetVec(c, right.AtVec(c)+weight*math.Log(h))
			}
		}
	}
	var factor mat.Cholesky
	if factor.Factorize(square) {
		factor.SolveVecTo(right, right) // its error is a condition number
	} else {
		right.ScaleVec(math.NaN(), right)
	}
	for c := range d {
		d[c] = math.Exp(right.AtVec(c))
	}
	if top := floats.MaxIdx(d); d[top]*d[top] > mostPrecise {
		factor := d[top] / math.Sqrt(mostPrecise)
		floats.Scale(factor, d)
		d[top] /= factor * factor
	}
	floats.Scale(floats.Sum(d), d)
}

// compareSites sets Γ.
func (r *softmaxRule) compareSites(hessians []*mat.SymDense) {
	n, classes, total := len(r.index), r.classes(), r.sites.Total()
	r.gap = prior.NewPairs(classes, n)
	for i, h := range hessians {
		for a := range classes {
			for b := range classes {
				w := -h.At(a, b) - r.tau[a*n+i]*r.tau[b*n+i]/total[i]
				if a == b {
					w += r.tau[a*n+i]
				}
				*r.gap.At(a, b, i) = w
			}
		}
	}
}

// near reports whether natural-gradient steps are taken: from where the least squares hardly change.
// They are not taken with a tolerance for which d of the least squares is near enough.
func (r *softmaxRule) near() bool {
	if r.coupled || r.steps == mostSteps || len(r.tau) > mostCoupled || r.options.Tolerance >= startTolerance {
		return r.coupled
	}
	change := slices.Clone(r.target)
	if r.last != nil {
		floats.Sub(change, r.last)
	} else { // a start from another fit may be near the maximum
		floats.Sub(change, r.tau)
		floats.Scale(coupledWithin, change)
	}
	r.last = slices.Clone(r.target)
	for j, v := range r.sigma {
		if !(math.Abs(change[j])*v < coupledWithin) {
			return false
		}
	}
	r.coupled = true
	return true
}

// step sets the targets to half a natural-gradient step.
func (r *softmaxRule) step() {
	right, squares := r.sites.Couplings(r.gap)
	z, x := make([]float64, len(right)), make([]float64, len(right))
	for j, v := range r.sigma {
		right[j] /= -v
	}
	step, _ := gmres(func(dst, scaled []float64) {
		floats.DivTo(x, scaled, r.sigma)
		squares(z, x)
		for j, v := range r.sigma {
			dst[j] = z[j]/v + ridge*scaled[j]
		}
	}, right, 1e-3)
	for j, d := range r.tau {
		move := step[j] / r.sigma[j] / 2
		if r.target[j] = min(d+min(move, d), mostPrecise); move < 0 {
			r.target[j] = d * math.Exp(max(-1, move/d))
		}
	}
}

// match returns the site of one class. It is made from the marginal, without a cavity.
func (r *softmaxRule) match(j int, _, _ float64) (site, error) {
	blur := r.errors[j%len(r.index)] * max(1, math.Sqrt(r.sigma[j]))
	return site{tau: r.target[j], offset: r.offset[j], average: averages{proper: true}, blur: blur}, nil
}

// residual is the derivative of L with respect to the covariances of x, ½ Γ.
func (r *softmaxRule) residual() prior.Pairs { return r.gap.Scaled(0.5) }

// term is, for a case, E log p(y|f) + ½ tr(W Σ) + ½ log s/2π, the last for g, with tr(W Σ) =
// Σ_c d_c Var x_c - 1.
func (r *softmaxRule) term(j int) term {
	t := term{value: r.tau[j] * r.sigma[j] / 2}
	if j < len(r.index) {
		t.value += r.values[j] + (math.Log(r.sites.Total()[j]/(2*math.Pi))-1)/2
	}
	return t
}
