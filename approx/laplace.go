package approx

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
	"github.com/gpc-tune/gpc-tune/approx/utility"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
)

var _ Approximation = Laplace{}

// Laplace is Laplace's method (GPML 3.4, 3.5): the posterior is replaced by the Gaussian at its
// mode f̂, with precision K⁻¹ + W, W = -∂² log p(y|f)/∂f². With a = K⁻¹(f̂ - m) the log evidence
// (GPML 3.32), in nats, is
//
//	L = -½ aᵀ(f̂ - m) + log p(y|f̂) - ½ log|I + W K|
//
// For two classes, classes in order and numbers there is one latent process and W is diagonal. A
// W_i below 0, possible if the likelihood is not log-concave, is replaced by 0 and counted in
// Diagnostics.Floors. For C > 2 classes the likelihood is softmax with a latent process each, K is
// block diagonal, and a fit takes O(C n³) time and O(C n²) memory. Softmax does not depend on a
// constant added to all latent values of a case, so a shared prior mean has no effect: its
// derivative is 0.
//
// The mode is found by Newton's method (GPML Algorithms 3.1 and 3.3) with a line search; for
// several classes the steps are solved by conjugate gradients, with one factorisation at the mode.
// A State has a and then f̂, 2n or 2Cn numbers, one class after the other: a determines the
// posterior, f̂ is a warm start for nearby fits.
//
// A fit that stops before the mode has Diagnostics.Converged false. Its evidence is computed at the
// point where it stopped, and its adjoint is ErrNotConverged.
type Laplace struct {
	// Tolerance bounds the last Newton step δf: its length in posterior standard deviations,
	// √(δfᵀ(K⁻¹ + W)δf), and the corresponding change of ½ log|I + W K|, in nats. If the rounding
	// error of K a is larger, that is the bound. Default 1e-10.
	Tolerance float64 `yaml:"tolerance" within:"(0,1)"`
	// MaxIterations bounds the steps. Default 1000.
	MaxIterations int `yaml:"max_iterations" within:"[1,10000000]"`
	// Structure represents the prior covariance.
	Structure Structure `yaml:",inline"`
	// Points is the number of points in latent space for averages in predictions of more than two
	// classes, up to 1048576, rounded down to a multiple of 8. By default points are added until
	// the error estimate of every probability is 1e-5, up to 65536 lattice points. An estimate
	// above 1e-5 is a warning. A diagonal posterior covariance needs no points.
	Points int `yaml:"points" within:"[1,1048576]"`

	work *Work
}

// Uses implements Approximation: any likelihood of one latent value, with derivatives and Gaussian
// averages, and softmax.
func (l Laplace) Uses(lik likelihood.Likelihood, classes int) (Caps, error) {
	if err := checkIteration("laplace", l.Tolerance, l.MaxIterations); err != nil {
		return Caps{}, err
	}
	if l.Points < 0 || l.Points > utility.MostPoints {
		return Caps{}, fmt.Errorf("laplace: points = %d must be from 0, which means as many as an error of 1e-5 "+
			"takes, to %d", l.Points, utility.MostPoints)
	}
	if lik.Domain() == likelihood.Categorical {
		return Caps{
			Gradient: !hasFree(lik), LeaveOneOut: power(l.Structure, 1) == 1, Weights: l.Structure == nil,
		}, usesMulticlass(lik, classes)
	}
	var lacks error
	if _, ok := bound(lik).(likelihood.Differentiable); !ok {
		lacks = errors.New("laplace needs a likelihood with derivatives; use probit or logit, or inference: ep")
	}
	if err := usesOneProcess("laplace", lik, classes, lacks); err != nil {
		return Caps{}, err
	}
	gradient := knowsParameters(lik)
	cavities := power(l.Structure, 1) == 1
	return Caps{
		Gradient: gradient, LeaveOneOut: cavities, LeaveOneOutGradient: cavities && gradient, Weights: true,
	}, nil
}

// Memory implements Approximation. Merging cases needs a covariance, a factor and an inverse of the
// distinct values.
func (l Laplace) Memory(s Size) Memory {
	n2 := s.Cases * s.Cases
	if s.Classes > 2 {
		return memoryOfClasses(s, cmp.Or(l.Points, utility.DefaultPoints))
	}
	if m2 := s.Distinct * s.Distinct; s.Distinct < s.Cases {
		return Memory{
			Fit: words(2*m2, 2*s.Distinct*s.New), Evidence: words(m2, 0),
			LeaveOneOut: words(m2, 0), LeaveOneOutAdjoint: words(0, 4*m2),
		}
	}
	return Memory{Fit: words(n2, s.Cases*s.New), LeaveOneOut: words(n2, 0), LeaveOneOutAdjoint: words(0, 2*n2)}
}

// memoryOfClasses returns the memory of a method with several latent processes. points is the
// number of points of an average over the latent values.
func memoryOfClasses(s Size, points int) Memory {
	n2 := s.Cases * s.Cases
	return Memory{
		Fit:         words((s.Classes+2)*n2, s.Classes*(s.Cases*min(prior.InputsAtOnce, s.New)+points)),
		Evidence:    words((s.Kernels+s.Classes)*n2, 0),
		LeaveOneOut: words((s.Kernels+s.Classes)*n2, 0),
	}
}

func (l Laplace) structure() Structure { return l.Structure }

func (l Laplace) with(s Structure) (Approximation, bool) {
	l.Structure = s
	return l, true
}

func (l Laplace) in(w *Work) Approximation {
	l.work = w
	return l
}

// Fit implements Approximation.
func (l Laplace) Fit(ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State) (Posterior, error) {
	return interrupt.Do(ctx, func() (Posterior, error) {
		p, err := l.begin(cov, y, lik)
		if err != nil {
			return nil, err
		}
		limit := cmp.Or(l.MaxIterations, defaultIterations)
		at, length, iterations, err := findMode(ctx, p, start, limit)
		if err != nil {
			return nil, err
		}
		return p.finish(at, length, iterations, iterations < limit)
	})
}

// Restore implements Approximation.
func (l Laplace) Restore(cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error) {
	p, err := l.begin(cov, y, lik)
	if err != nil {
		return nil, err
	}
	at, length, err := restore(p, s)
	if err != nil {
		return nil, err
	}
	return p.finish(at, length, 0, false)
}

// begin checks the arguments.
func (l Laplace) begin(cov []Cov, y Targets, lik likelihood.Bound) (latentModel, error) {
	l.work.Reset()
	tolerance, alpha := cmp.Or(l.Tolerance, defaultTolerance), power(l.Structure, 1)
	if likelihood.Processes(lik.Likelihood(), y.Classes) > 1 {
		return newCategories(l.work, tolerance, l.Points, alpha, cov, y, lik)
	}
	return newLaplacePosterior(l.work, tolerance, alpha, cov, y, lik)
}
