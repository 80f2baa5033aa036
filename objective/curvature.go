package objective

import (
	"context"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// Curvature is Laplace's approximation over the free hyperparameters at a maximum θ̂ of an
// objective f, the log posterior density of theta, or the log evidence under a flat prior. Theta is
// about N(θ̂, (-H)⁻¹), with H the Hessian of f. Hyperparameters that are discrete, at a bound, or
// without influence on f at θ̂ are fixed.
type Curvature struct {
	Inside         []int            // indices of the hyperparameters that are not fixed, among the free ones
	Hessian        *mat.SymDense    // rows and columns in the order of Inside
	StandardErrors []float64        // √[(-H)⁻¹]_ii; nil if f has no maximum there
	Correlations   *mat.SymDense    // nil if f has no maximum there
	Warnings       []approx.Warning // why something is missing or unreliable
}

const (
	// curvatureStep is the step in theta of the differences. Their error is h²/6 of the fourth
	// derivatives plus the gradient's rounding error over h: about 1e-6 of the curvature.
	curvatureStep = 1e-3
	// gradientRounding is the rounding error of a gradient relative to max(1, |f|).
	gradientRounding = 1e-8
)

// Curvature takes the Hessian at the given free hyperparameters by central differences of the
// gradient: two gradients for each hyperparameter inside its bounds. The error is from a fit or a
// gradient that failed; an f without a maximum at the point is not an error.
func (o *Objective) Curvature(ctx context.Context, free []float64) (*Curvature, error) {
	run := NewRun(ctx, o)
	point, err := run.Converged(free)
	if err != nil {
		return nil, err
	}
	noise := gradientRounding * max(1, math.Abs(point.Value())) / curvatureStep // error of H
	at := make([]float64, len(free))
	if err := run.Gradient(at, free); err != nil {
		return nil, err
	}
	c, specs := &Curvature{}, o.Layout.FreeSpecs()
	var rows [][]float64
	var atBound, flat []string
	matters := param.InForce(specs, free)
	for i, s := range specs {
		if s.Map.Discrete() || !matters[i] {
			continue
		}
		if lo, hi := s.ThetaBounds(); free[i] <= lo || free[i] >= hi {
			atBound = append(atBound, s.ThetaName())
			continue
		}
		row, err := run.hessianRow(free, i)
		if err != nil {
			return nil, err
		}
		if floats.Norm(row, math.Inf(1)) <= noise {
			flat = append(flat, s.ThetaName())
			continue
		}
		c.Inside, rows = append(c.Inside, i), append(rows, row)
	}
	if len(atBound) > 0 {
		c.Warnings = append(c.Warnings, cause.NoErrors.New("no standard error at a bound: %s",
			strings.Join(atBound, ", ")))
	}
	if len(flat) > 0 {
		c.Warnings = append(c.Warnings, cause.NoErrors.New("no standard error where the objective is flat: %s",
			strings.Join(flat, ", ")))
	}
	if len(c.Inside) == 0 {
		return c, nil
	}
	c.Hessian = mat.NewSymDense(len(rows), nil)
	for a, i := range c.Inside {
		for b, j := range c.Inside[:a+1] {
			c.Hessian.SetSym(a, b, (rows[a][j]+rows[b][i])/2)
		}
	}
	c.invert(specs, at, noise)
	return c, nil
}

// hessianRow is the central difference of the gradient along a free hyperparameter.
func (r *Run) hessianRow(free []float64, i int) ([]float64, error) {
	var gradient [2][]float64
	for side, step := range [2]float64{curvatureStep, -curvatureStep} {
		at := slices.Clone(free)
		at[i] += step
		gradient[side] = make([]float64, len(free))
		if err := r.Gradient(gradient[side], at); err != nil {
			return nil, err
		}
	}
	floats.Sub(gradient[0], gradient[1])
	floats.Scale(1/(2*curvatureStep), gradient[0])
	return gradient[0], nil
}

// invert sets the standard errors, correlations and warnings from H, the gradient at the point and
// the error of H (noise).
func (c *Curvature) invert(specs []param.Spec, gradient []float64, noise float64) {
	n := len(c.Inside)
	var eigen mat.EigenSym
	if !eigen.Factorize(c.Hessian, true) {
		c.Warnings = append(c.Warnings, cause.NoErrors.New("no standard errors: the Hessian has no eigenvalues in "+
			"floating point"))
		return
	}
	values := eigen.Values(nil) // ascending: the last has the least curvature
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	if values[n-1] > -noise {
		last := mat.Col(nil, n-1, &vectors)
		for a, v := range last {
			last[a] = math.Abs(v)
		}
		c.Warnings = append(c.Warnings, cause.NoErrors.New("no standard errors: this is not a maximum of the "+
			"objective: the second derivative is %.3g in a direction that is mostly %s",
			values[n-1], specs[c.Inside[floats.MaxIdx(last)]].ThetaName()))
		return
	}

	covariance := mat.NewSymDense(n, nil)
	decrement := 0.0 // gᵀ(-H)⁻¹g
	g := make([]float64, n)
	for a, i := range c.Inside {
		g[a] = gradient[i]
	}
	for k, lambda := range values {
		v := mat.Col(nil, k, &vectors)
		covariance.SymRankOne(covariance, -1/lambda, mat.NewVecDense(n, v))
		decrement -= floats.Dot(g, v) * floats.Dot(g, v) / lambda
	}
	c.StandardErrors, c.Correlations = make([]float64, n), mat.NewSymDense(n, nil)
	for a := range n {
		c.StandardErrors[a] = math.Sqrt(covariance.At(a, a))
	}
	for a, s := range c.StandardErrors {
		c.Correlations.SetSym(a, a, 1)
		for b := a + 1; b < n; b++ {
			c.Correlations.SetSym(a, b, max(-1, min(covariance.At(a, b)/(s*c.StandardErrors[b]), 1)))
		}
	}
	if d := math.Sqrt(decrement); d > 0.1 {
		c.Warnings = append(c.Warnings, cause.NoErrors.New("the standard errors are computed at a point whose "+
			"distance from a maximum is about %.2g of them", d))
	}
}
