package approx

import (
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// finish makes the posterior's evidence where the iteration ended.
func (p *siteState) finish(f fixedPoint) error {
	if p.pull == nil {
		p.jacobian, p.pull = p.prior.Jacobian, p.pullImplicit
	}
	f.early = p.diagnostics.Iterations < p.options.MaxIterations
	err := p.conclude(p.method, f, p.target)
	if err == nil && !p.diagnostics.Converged {
		p.explain(p.method, p.tau, p.largestPrecision, f)
		if p.options.accepts() {
			err = p.accept(f)
		}
	}
	value, failure := p.evidence.value, p.evidence.err
	if p.rule.stationary(f) && !p.penalised {
		p.evidence = functional{value: value, adjoint: func(dst *Cov, j int) { p.pull(dst, j, nil, 1) }}
		if _, ok := p.lik.(likelihood.Parametric); ok {
			p.evidence.likelihood = func(grad []float64) {
				for i := range p.tau {
					p.rule.explicit(grad, i)
				}
			}
		}
	} else {
		p.evidence = p.differentiate(value, 1, func(i int) weight { return p.terms[i].weight }, p.rule.explicit)
		p.evidence.err = p.noGradient(true)
	}
	if failure != nil {
		p.evidence.err = failure
	}
	return err
}

// accept takes a fit that has not converged as it is.
func (p *siteState) accept(f fixedPoint) error {
	d := &p.diagnostics
	if p.options.Unconverged == AcceptUnconverged && p.evidence.value > 0 &&
		p.lik.Likelihood().Domain() != likelihood.Numeric {
		return fmt.Errorf("%w: the updates of %s diverge: after %d of them the log evidence is %.3g, but a log "+
			"probability is at most 0; lower damping", errDiverged, p.method, d.Iterations, p.evidence.value)
	}
	p.evidence.err = nil // noGradient has another
	// rounded, so that similar fits have the same message
	within := math.Pow(10, math.Ceil(math.Log10(f.distance)))
	d.Warnings = append(d.Warnings, cause.Unconverged.New("%s stopped before it converged, within %.0g posterior "+
		"standard deviations of its fixed point, and is used as it is", p.method, within))
	return nil
}

// noGradient returns an error if the implicit part of a derivative cannot be computed. evidence is
// true for the derivative of the evidence, and false for another scalar.
func (p *siteState) noGradient(evidence bool) error {
	_, smooth := p.lik.(likelihood.Differentiable)
	switch {
	case p.options.accepts():
		return fmt.Errorf("%w: unconverged: accept takes a fit where it stops, not at a fixed point", ErrNoGradient)
	case evidence && p.nodes != nil && !smooth:
		return fmt.Errorf("%w: p(y|f) jumps, and its quadrature with it", ErrNoGradient)
	// here or at another point: Uses promises no gradient
	case p.rule.negative() && !isConcave(p.moments):
		return fmt.Errorf("%w: sites may have negative precision, and are kept", ErrNoGradient)
	}
	return nil
}

// LeaveOneOut implements LeaveOneOut by the cavities: Σ_i log p(y_i|y_-i) ≈ Σ_i log ∫ p(y_i|f)
// N(f; m_-i, v_-i) df. The cavity N(m, c) is a function of marginal and site: 1/c = 1/v - τ, m = μ
// - c(ν - τμ). If a case has several copies, one copy is left out, and the logarithm counts for
// every copy.
func (p *siteState) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged && !p.options.accepts() {
		return nil, p.evidence.err
	}
	logs, weights := make([]float64, len(p.y)), make([]weight, len(p.y))
	linalg.Rows(len(p.y), func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			w, share := p.weight.of(i), p.weight.copyShare(i)
			c, v := p.cavity(i, share), p.sigma[i]
			a := averaged(p.lik, p.y[i], c)
			logs[i] = w * a.log
			ratio := c.variance / v
			// byVariance is v ∂log Z/∂v.
			byVariance := w * ((a.d[1]+a.d[0]*a.d[0])/2 - a.d[0]*share*p.b[i]) * ratio * c.variance
			byMean := w * a.d[0] * ratio * math.Sqrt(v)
			weights[i] = weight{byMean, byVariance, -share * byMean, share * byVariance}
		}
	})
	sum := 0.0
	for _, v := range logs {
		sum += v
	}
	f := p.differentiate(sum, 0, func(i int) weight { return weights[i] }, func(grad []float64, i int) {
		byParams(grad, p.weight.of(i), p.lik, p.y[i], p.cavity(i, p.weight.copyShare(i)))
	})
	f.err = p.noGradient(false)
	return f, nil
}
