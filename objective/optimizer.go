package objective

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
)

// Optimizer makes a fresh method for each minimisation. One that knows how much there is to gain
// may stop where that is less than gain·max(1, |f|).
type Optimizer interface {
	Method(gain float64) optimize.Method
}

type (
	// BFGS keeps a dense inverse Hessian.
	BFGS struct{}
	// LBFGS is gonum's limited-memory BFGS.
	LBFGS struct{}
	// CG is gonum's nonlinear conjugate gradient method, whose directions need a closer line search
	// than the others'.
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

// lineSearch is gonum's bisection, which steps back from +Inf, ended where the decrease that the
// slope promises is below what the objective resolves. Bisecting on would compare rounding errors,
// some fifty fits of them.
type lineSearch struct {
	optimize.Bisection
	f, slope float64
}

// Init starts a search from a point of value f along a direction of this slope.
func (l *lineSearch) Init(f, slope, step float64) optimize.Operation {
	l.f, l.slope = f, slope
	return l.Bisection.Init(f, slope, step)
}

// Iterate takes the next step, or says that there is no progress to be had.
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

// Init has nothing to prepare.
func (small) Init(int) {}

// Converged tests the location of a major iteration.
func (s small) Converged(at *optimize.Location) optimize.Status {
	if floats.Norm(at.Gradient, math.Inf(1)) <= float64(s)*max(1, math.Abs(at.F)) {
		return optimize.GradientThreshold
	}
	return optimize.NotTerminated
}
