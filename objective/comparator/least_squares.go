package comparator

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// LeastSquares is the least-squares classifier, GPML 6.5.1: regression with Gaussian noise on
// targets -1 and +1. The hyperparameters, the noise among them, maximise the leave-one-out log
// density of the targets, GPML (5.10)-(5.12), or with groups the leave-group-out log density. With
// μ and σ² the mean and variance of a target that was left out, the probabilities are
//
//	p(y) = Φ( y (αμ + β)/√(1 + α²σ²) )
//
// with α and β fitted to these outputs. With more than two classes each has a regression with its
// own hyperparameters.
type LeastSquares struct {
	// Restarts is the number of climbs of BFGS, the first from the initial values; 0 is 1.
	Restarts int           `yaml:"restarts" within:"[1,100000]"`
	Noise    param.Setting `yaml:"noise"` // standard deviation; free from 0.1

	kernel kernel.Kernel
}

// Check looks at the noise.
func (l LeastSquares) Check() error {
	if l.Restarts < 0 {
		return fmt.Errorf("least_squares: restarts: %d; it takes 1 or more", l.Restarts)
	}
	return errors.Join(l.Noise.Check("noise", param.Log), oneKernel("least_squares", l.kernel))
}

// With sets the kernel.
func (l LeastSquares) With(k kernel.Kernel) Comparator { l.kernel = k; return l }

// model is the regression as a Gaussian-process model.
func (l LeastSquares) model() objective.Model {
	noise := l.Noise
	if noise.Bare != nil { // a bare number is a start, as for a kernel's hyperparameter
		noise.Init, noise.Bare = noise.Bare, nil
	}
	if start := 0.1; noise.Init == nil && noise.Fixed == nil {
		if b := noise.Bounds; b != nil {
			start = min(max(start, b[0]), b[1])
		}
		noise.Init = &start
	}
	return objective.Model{
		Kernels: []kernel.Kernel{l.kernel}, Likelihood: likelihood.Gaussian{Noise: noise}, Inference: approx.Exact{},
	}
}

// Params lists the kernel's hyperparameters and the noise, for more than two classes once for each
// class.
func (l LeastSquares) Params(dim int, classes []string) (specs []param.Spec) {
	layout := l.model().Layout(dim, nil, math.NaN())
	if len(classes) == 2 {
		return layout.Specs
	}
	for _, name := range classes {
		for _, s := range layout.Specs {
			s.Name = "class[" + name + "]." + s.Name
			specs = append(specs, s)
		}
	}
	return specs
}

// Seconds implements Comparator.
func (LeastSquares) Seconds(s approx.Size, _ int) float64 { return cubic(s, 1.2e-9) }

// Memory is the memory of tuning one regression while the others, already fitted, keep a covariance
// and its factor each.
func (l LeastSquares) Memory(s approx.Size, dim int) int64 {
	others, n := int64(machines(s.Classes)-1), int64(s.Cases)
	s.Classes = 0
	return l.model().Memory(s, dim, objective.LeaveOneOut{}, true) + 16*others*n*n
}

// Fit tunes every regression.
func (l LeastSquares) Fit(ctx context.Context, d objective.Data, seed uint64) (objective.Fitted, error) {
	d, err := repeated("least_squares", d)
	if err != nil {
		return nil, err
	}
	return learn(ctx, "least_squares", d, func(index []int, counts []float64) (Fitted, error) {
		groups, criterion := members(d.Groups), objective.Criterion(objective.LeaveOneOut{})
		if len(groups) == 1 {
			return nil, errors.New("a training set of one group has no other to leave it to")
		}
		if groups != nil {
			criterion = objective.LeaveGroupOut{Groups: groups}
		}
		f := &regressions{summary: Summary{LogEvidence: math.NaN(), Converged: true}, classes: len(counts)}
		for m := range machines(f.classes) {
			y := against(index, f.classes, m)
			o, err := l.regression(d, y, criterion)
			if err != nil {
				return nil, err
			}
			restarts := objective.Restarts{Count: l.Restarts, Seed: seed, Workers: 1}
			tuning, err := objective.Maximize(ctx, o, restarts, objective.Settings{})
			if err != nil {
				return nil, err
			}
			point, err := o.At(ctx, tuning.Theta)
			if err != nil {
				return nil, err
			}
			mean, variance, fit := l.leaveOut(point.Theta, d.X, y, groups)
			f.add(o, point, platt(y, mean, variance, nil))
			f.summary.Warnings = append(f.summary.Warnings, extrapolated("least_squares", mean, fit)...)
			f.summary.Iterations += tuning.Evaluations
			if tuning.Status == objective.EvaluationLimit || tuning.Status == objective.Stalled {
				f.summary.Converged = false
			}
			f.summary.Warnings = append(f.summary.Warnings, tuning.Warnings...)
		}
		return f, nil
	})
}

// regression makes the objective of the regression on y.
func (l LeastSquares) regression(d objective.Data, y []float64, c objective.Criterion) (*objective.Objective, error) {
	return objective.New(l.model(), c, objective.Data{X: d.X, Y: approx.Targets{Value: y}, Scaled: d.Scaled})
}

// Restore fits every regression at the theta of the state.
func (l LeastSquares) Restore(d objective.Data, s approx.State) (Fitted, error) {
	d, err := repeated("least_squares", d)
	if err != nil {
		return nil, err
	}
	index, counts, err := counted(d)
	if err != nil {
		return nil, err
	}
	if err := kernel.CheckDim(l.kernel, d.X.Dim()); err != nil {
		return nil, err
	}
	f := &regressions{summary: Summary{LogEvidence: math.NaN()}, classes: len(counts)}
	var lengths []int
	for range machines(f.classes) {
		lengths = append(lengths, len(l.kernel.Params(d.X.Dim()))+1, 2)
	}
	parts, err := cut(s, lengths...)
	if err != nil {
		return nil, err
	}
	for m := range machines(f.classes) {
		o, err := l.regression(d, against(index, f.classes, m), nil)
		if err != nil {
			return nil, err
		}
		point, err := o.Restore(parts[2*m], nil)
		if err != nil {
			return nil, err
		}
		f.add(o, point, sigmoid{parts[2*m+1][0], parts[2*m+1][1]})
	}
	return f, nil
}

// members lists the cases of every group, in the order of their first cases; nil if there are no
// groups.
func members(groups []string) (of [][]int) {
	at := map[string]int{}
	for i, g := range groups {
		if _, met := at[g]; !met {
			at[g], of = len(of), append(of, nil)
		}
		of[at[g]] = append(of[at[g]], i)
	}
	return of
}

// leaveOut returns the mean and variance of every target given all others, GPML (5.12): y_i - [R
// y]_i/R_ii and 1/R_ii with R = (K + σ²I)⁻¹. With groups they are given the targets of all other
// groups: y_g - R_gg⁻¹[R y]_g and the diagonal of R_gg⁻¹, with the block R_gg of R. fit is the mean
// of the latent process at every case given all targets, y - σ²R y.
func (l LeastSquares) leaveOut(
	theta []float64, x *kernel.Inputs, y []float64, groups [][]int,
) (mean, variance, fit []float64) {
	n, last := x.N(), len(theta)-1
	k := mat.NewSymDense(n, nil)
	kernel.Gram(l.kernel, k, theta[:last], x)
	noise := l.model().Likelihood.At(theta[last:]).(likelihood.GaussianNoise).NoiseVariance()
	for i := range n {
		k.SetSym(i, i, k.At(i, i)+noise)
	}
	u, _, _ := linalg.CholeskyJitter(k.RawSymmetric()) // the point has been fitted: it is positive definite
	r := linalg.InverseCholesky(u)
	b := make([]float64, n)
	linalg.Symv(1, r, y, 0, b)
	mean, variance, fit = make([]float64, n), make([]float64, n), make([]float64, n)
	for i, v := range b {
		fit[i] = y[i] - noise*v
	}
	if groups == nil {
		for i := range n {
			variance[i] = 1 / r.Data[i*r.Stride+i]
			mean[i] = y[i] - b[i]*variance[i]
		}
	}
	for _, g := range groups {
		block := linalg.NewSym(len(g))
		for a, i := range g {
			for c, j := range g[a:] {
				block.Data[a*block.Stride+a+c] = r.Data[i*r.Stride+j]
			}
		}
		u, _ := linalg.Cholesky(block) // positive definite too: the criterion has factorised it
		covariance := linalg.InverseCholesky(u)
		for a, i := range g {
			mean[i] = y[i]
			for c, j := range g {
				mean[i] -= covariance.Data[min(a, c)*covariance.Stride+max(a, c)] * b[j]
			}
			variance[i] = covariance.Data[a*covariance.Stride+a]
		}
	}
	return mean, variance, fit
}

// regressions is a fitted LeastSquares.
type regressions struct {
	summary  Summary
	classes  int
	points   []*objective.Point
	sigmoids []sigmoid
}

func (f *regressions) add(o *objective.Objective, p *objective.Point, s sigmoid) {
	f.points, f.sigmoids = append(f.points, p), append(f.sigmoids, s)
	f.summary.Natural = append(f.summary.Natural, o.Layout.Natural(p.Theta)...)
}

// PredictProba uses the mean and the variance of new targets.
func (f *regressions) PredictProba(dst *mat.Dense, z *kernel.Inputs) {
	checkShape(dst, z, f.classes)
	mean, variance := make([][]float64, len(f.points)), make([][]float64, len(f.points))
	for m, p := range f.points {
		mean[m], variance[m] = make([]float64, z.N()), make([]float64, z.N())
		p.PredictMoments(mean[m], variance[m], z)
	}
	probabilities(dst, f.sigmoids, mean, variance)
}

// State is, for every regression, its theta and the α and β of its probabilities.
func (f *regressions) State() (s approx.State) {
	for m, p := range f.points {
		s = append(append(s, p.Theta...), f.sigmoids[m].alpha, f.sigmoids[m].beta)
	}
	return s
}

// Summary has the hyperparameters of every regression.
func (f *regressions) Summary() Summary { return f.summary }
