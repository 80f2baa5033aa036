package approx

import (
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/internal/cause"
)

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
	distance float64 // unit: posterior standard deviations
	rounding float64 // the distance that rounding errors may leave
	// additional distance that errors of K b may leave; iterations that make no progress have
	// reached it
	drift  float64
	floors int  // site precisions below 0, replaced by 0
	early  bool // the iteration ended before its limit, because it came no nearer
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
			errImprecise, method, o.evidence.value, d.Iterations)
	}
	d.Converged, d.Floors = f.reached(tolerance), f.floors
	if f.floors > 0 {
		d.Warnings = append(d.Warnings, cause.Raised.New("%s raised %d negative site precisions; with a likelihood "+
			"that calls for them its fixed point may depend on schedule and start", method, f.floors))
	}
	switch {
	case d.Converged && f.distance > max(tolerance, 1e-6):
		d.Warnings = append(d.Warnings, cause.Rounding.New("rounding error at prior variances this large leaves %s "+
			"%.1g posterior standard deviations from its fixed point", method, f.distance))
	case !d.Converged && (f.settled(tolerance) || f.rounding > unresolved || f.early):
		o.stopped(errImprecise, fmt.Sprintf("%s is still %.1g posterior standard deviations from its fixed point at "+
			"iteration %d; double precision does not carry prior variances this large beside posterior ones this "+
			"small (a smaller amplitude or noise in the kernel helps)", method, f.distance, d.Iterations))
	case !d.Converged:
		o.stopped(ErrNotConverged, fmt.Sprintf("%s stopped at iteration %d, %.3g posterior standard deviations "+
			"from its fixed point; raise max_iterations", method, d.Iterations, f.distance))
	}
	return nil
}

// stopped records why the fit has not converged, with an ErrNotConverged.
func (o *outcome) stopped(err error, why string) {
	o.diagnostics.Converged = false
	o.diagnostics.Failure = fmt.Errorf("%w: %s", err, why)
	o.evidence.err = o.diagnostics.Failure
}

// functional is the Functional of most posteriors.
type functional struct {
	value      float64
	err        error        // the reason if there is no derivative
	solve      func() error // computed before both derivatives, unless nil
	adjoint    func(dst *Cov, j int)
	several    int                  // the number of covariances, if there are several
	likelihood func(grad []float64) // nil if there is no gradient over the likelihood's parameters
}

func (f functional) Value() float64 { return f.value }

func (f functional) Adjoint(dst *Cov, j int) error {
	if count := max(1, f.several); j < 0 || j >= count {
		panic(fmt.Sprintf("approx: adjoint of covariance %d, want one of %d", j, count))
	}
	err := f.ready()
	if err == nil {
		f.adjoint(dst, j)
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

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
