package approx

import (
	"context"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
)

// siteMethod is a method that iterates a siteState, after begin has checked the arguments.
type siteMethod interface {
	begin(cov []Cov, y Targets, lik likelihood.Bound) (*siteState, error)
}

// fitSites is Fit of a siteMethod.
func fitSites(
	ctx context.Context, m siteMethod, cov []Cov, y Targets, lik likelihood.Bound, start State,
) (Posterior, error) {
	return interrupt.Do(ctx, func() (Posterior, error) {
		if start == nil {
			var err error
			if start, err = startNearby(ctx, m, cov, y, lik); err != nil {
				return nil, err
			}
		}
		p, err := m.begin(cov, y, lik)
		if err != nil {
			return nil, err
		}
		f, err := p.run(ctx, start)
		if err != nil {
			return nil, err
		}
		return p.concluded(f)
	})
}

// restoreSites is Restore of a siteMethod: it uses a State without iterating.
func restoreSites(m siteMethod, cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error) {
	p, err := m.begin(cov, y, lik)
	if err != nil {
		return nil, err
	}
	if err := p.set(s); err != nil {
		return nil, err
	}
	defer p.startSearch()()
	f, err := p.refresh()
	if err != nil {
		return nil, err
	}
	p.computeEvidence()
	return p.concluded(f)
}

// concluded is the posterior where the iteration ended.
func (p *siteState) concluded(f fixedPoint) (Posterior, error) {
	err := p.finish(f)
	if p.closing != nil {
		return p.closing(), err
	}
	return p, err
}

const (
	// A fit of many cases starts from the sites of a first fit, with covariances of rank startRank.
	// startWithin is the distance from the fixed point of the first fit at which Newton's method
	// takes over. startTolerance is the distance at which the first fit ends: with 2e-4 the probit
	// likelihood takes one factorisation more (n = 1 000, 5 classes).
	startRank      = 96
	startWithin    = 0.1
	startTolerance = 1e-5
)

// startNearby returns the sites of a fit with covariances of lower rank, in a fraction of the time;
// nil: none.
func startNearby(ctx context.Context, m siteMethod, cov []Cov, y Targets, lik likelihood.Bound) (State, error) {
	if likelihood.Processes(lik.Likelihood(), y.Classes) == 1 {
		return nil, nil
	}
	near := prior.Reduced(cov, startRank)
	if near == nil {
		return nil, nil
	}
	p, err := m.begin(near, y, lik)
	if err != nil || p.options.accepts() { // a fit with cov has the same error
		return nil, nil
	}
	o := &p.options
	o.Tolerance, o.MaxIterations = max(o.Tolerance, startTolerance), min(o.MaxIterations, iterationCap)
	p.newtonDistance = startWithin
	f, err := p.run(ctx, nil)
	if err != nil || !(f.distance <= nearEnough) {
		return nil, ctx.Err()
	}
	return p.state, nil
}
