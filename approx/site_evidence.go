package approx

import (
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// finish makes the posterior's evidence where the iteration ended.
func (p *marginals) finish(f fixedPoint) error {
	of := p.of
	err := of.conclude(p.method, f, p.target)
	if err == nil && !of.diagnostics.Converged {
		p.storage.explain(p.method, f, p.sharpest)
		if p.options.accepts() {
			err = p.accept(f)
		}
	}
	value, failure := of.evidence.value, of.evidence.err
	if p.rule.stationary(f) && !p.penalised {
		of.evidence = functional{value: value, adjoint: p.storage.stationaryAdjoint}
		if _, ok := of.lik.(likelihood.Parametric); ok {
			of.evidence.likelihood = func(grad []float64) {
				for i := range p.tau {
					p.rule.explicit(grad, i)
				}
			}
		}
	} else {
		of.evidence = p.differentiate(value, 1, func(i int) weight { return p.terms[i].weight }, p.rule.explicit)
		of.evidence.err = p.noGradient(true)
	}
	if failure != nil {
		of.evidence.err = failure
	}
	return err
}

// accept takes a fit that has not converged as it is.
func (p *marginals) accept(f fixedPoint) error {
	d := &p.of.diagnostics
	if p.options.Unconverged == AcceptUnconverged && p.of.evidence.value > 0 &&
		p.of.lik.Likelihood().Domain() != likelihood.Numeric {
		return fmt.Errorf("%w: the updates of %s diverge: after %d of them the log evidence is %.3g, but a log "+
			"probability is at most 0; lower damping", ErrNotConverged, p.method, d.Iterations, p.of.evidence.value)
	}
	p.of.evidence.err = nil                                   // noGradient has another
	within := math.Pow(10, math.Ceil(math.Log10(f.distance))) // so that fits that are alike say the same
	d.Warnings = append(d.Warnings, fmt.Sprintf("%s stopped before it converged, within %.0g posterior standard "+
		"deviations of its fixed point, and is used as it is", p.method, within))
	return nil
}

// noGradient says why the implicit part of a derivative cannot be had, of the evidence or of
// another scalar; nil where it can.
func (p *marginals) noGradient(evidence bool) error {
	_, smooth := p.of.lik.(likelihood.Differentiable)
	switch {
	case p.options.accepts():
		return fmt.Errorf("%w: unconverged: accept takes a fit where it stops, not at a fixed point", ErrNoGradient)
	case evidence && p.nodes != nil && !smooth:
		return fmt.Errorf("%w: p(y|f) jumps, and its quadrature with it", ErrNoGradient)
	case p.rule.negative() && !isConcave(p.moments): // at this point or at the next: Uses promises none
		return fmt.Errorf("%w: sites may have negative precision, and are kept", ErrNoGradient)
	}
	return nil
}

// LeaveOneOut implements LeaveOneOuter by the cavities: Σ_i log p(y_i|y_-i) ≈
// Σ_i log ∫ p(y_i|f) N(f; m_-i, v_-i) df. The cavity N(m, c) is a function of marginal and site:
// 1/c = 1/v - τ, m = μ - c(ν - τμ).
func (p *marginals) LeaveOneOut() (Functional, error) {
	if !p.of.diagnostics.Converged && !p.options.accepts() {
		return nil, p.of.evidence.err
	}
	logs, weights := make([]float64, len(p.of.y)), make([]weight, len(p.of.y))
	linalg.Rows(len(p.of.y), func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			c, v := p.cavity(i), p.sigma[i]
			a := averaged(p.of.lik, p.of.y[i], c)
			logs[i] = a.log
			ratio := c.variance / v
			byVariance := ((a.d[1]+a.d[0]*a.d[0])/2 - a.d[0]*p.of.b[i]) * ratio * c.variance // ∂log Z/∂v · v
			byMean := a.d[0] * ratio * math.Sqrt(v)
			weights[i] = weight{byMean, byVariance, -byMean, byVariance}
		}
	})
	sum := 0.0
	for _, v := range logs {
		sum += v
	}
	f := p.differentiate(sum, 0, func(i int) weight { return weights[i] }, func(grad []float64, i int) {
		p.byParams(grad, 1, i, p.cavity(i))
	})
	f.err = p.noGradient(false)
	return f, nil
}
