package approx

import (
	"fmt"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// explain adds the cause to a fit that has not converged, as far as it was measured;
// largestPrecision is the largest τ_i K_ii. If p(y|f) jumps and the rank of K is smaller than the
// number of cases, all latent values are combinations of a few numbers. No case has an independent
// component, so contradicting labels determine these numbers ever more precisely with each update.
// The precisions of sites grow until double precision cannot represent the precisions of sites and
// of the prior together.
func (p *process) explain(method string, tau []float64, sharpest float64, f fixedPoint) {
	_, smooth := p.lik.(likelihood.Differentiable)
	if smooth || slices.ContainsFunc(tau, func(t float64) bool { return t < 0 }) {
		return
	}
	n, rank := len(p.y), p.prior.Rank()
	if rank == n {
		return
	}
	why := fmt.Sprintf("p(y|f) jumps and the covariance of the %d cases has rank %d, so contradictory labels "+
		"make the precision of latent values grow without bound", n, rank)
	way := fmt.Sprintf("a noise kernel in a sum with the others, of amplitude %.2g or more, gives every case "+
		"a latent value of its own; likelihood: probit or logit does not jump",
		math.Sqrt(leastNoise*p.prior.LargestVariance()))
	at := fmt.Sprintf("%s stopped at iteration %d", method, p.diagnostics.Iterations)
	if finite(f.distance) {
		at += fmt.Sprintf(", %.3g posterior standard deviations from its fixed point", f.distance)
	}
	if sharpest > unbounded {
		p.stopped(errContradictory, fmt.Sprintf("%s: a site had %.0g times the precision of the prior, for %s; %s",
			at, sharpest, why, way))
		return
	}
	if f.early {
		p.stopped(errContradictory, fmt.Sprintf("%s: %s; %s", at, why, way))
		return
	}
	p.stopped(ErrNotConverged, fmt.Sprintf("%s; raise max_iterations. If that does not help: %s; %s", at, why, way))
}

const (
	// unbounded is a precision of a site, relative to the prior, that a single case does not reach
	// alone.
	unbounded = 1e8
	// leastNoise is the variance of a noise kernel, relative to the largest prior variance, that
	// was observed to bound the sites.
	leastNoise = 1e-6
)
