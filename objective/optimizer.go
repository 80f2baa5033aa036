package objective

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
)

// Optimizer makes a new method for each minimisation. A method that estimates the remaining gain
// may stop where this is less than gain·max(1, |f|).
type Optimizer interface {
	Method(gain float64) optimize.Method
}

type (
	// BFGS keeps a dense inverse Hessian.
	BFGS struct{}
	// LBFGS is gonum's limited-memory BFGS.
	LBFGS struct{}
	// CG is gonum's nonlinear conjugate gradient method. Its directions need a more exact line
	// search than other methods.
	CG struct{}
	// GradientDescent is gonum's steepest descent.
	GradientDescent struct{}
)

// Method is BFGS with curvatures from values too.
func (BFGS) Method(threshold float64) optimize.Method { return &quasiNewton{threshold: threshold} }

// Method is a new optimize.LBFGS.
func (LBFGS) Method(float64) optimize.Method { return &optimize.LBFGS{Linesearcher: &lineSearch{}} }

// Method is a new optimize.CG.
func (CG) Method(float64) optimize.Method {
	return &optimize.CG{Linesearcher: &lineSearch{Bisection: optimize.Bisection{CurvatureFactor: 0.1}}}
}

// Method is a new optimize.GradientDescent.
func (GradientDescent) Method(float64) optimize.Method {
	return &optimize.GradientDescent{Linesearcher: &lineSearch{}}
}

// lineSearch is gonum's bisection, which steps back from +Inf. It ends where the decrease predicted
// by the slope is below the resolution of the objective: further bisections would compare rounding
// errors in about fifty fits.
type lineSearch struct {
	optimize.Bisection
	f, slope float64
}

// Init starts a search from a point with the value f along a direction with this slope.
func (l *lineSearch) Init(f, slope, step float64) optimize.Operation {
	l.f, l.slope = f, slope
	return l.Bisection.Init(f, slope, step)
}

// Iterate takes the next step, or returns an error if no progress is possible.
func (l *lineSearch) Iterate(f, slope float64) (optimize.Operation, float64, error) {
	op, step, err := l.Bisection.Iterate(f, slope)
	if op == optimize.FuncEvaluation && !(-l.slope*step > resolution*max(1, math.Abs(l.f))) {
		return optimize.NoOperation, step, optimize.ErrNoProgress
	}
	return op, step, err
}

// small stops a minimisation where the largest entry of the gradient is below a multiple of max(1,
// |f|).
type small float64

// Init does nothing.
func (small) Init(int) {}

// Converged tests the location of a major iteration.
func (s small) Converged(at *optimize.Location) optimize.Status {
	if floats.Norm(at.Gradient, math.Inf(1)) <= float64(s)*max(1, math.Abs(at.F)) {
		return optimize.GradientThreshold
	}
	return optimize.NotTerminated
}
