package approx

import (
	"errors"
	"fmt"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// Uses is m.Uses. For a likelihood.Choice it returns the results that m can compute with every
// likelihood of the choice.
func Uses(m Approximation, lik likelihood.Likelihood, classes int) (all Caps, err error) {
	for i, l := range likelihood.Alternatives(lik) {
		caps, err := m.Uses(l, classes)
		if err != nil {
			return Caps{}, err
		}
		if i == 0 {
			all = caps
			continue
		}
		all = Caps{
			Gradient:            all.Gradient && caps.Gradient,
			LowerBound:          all.LowerBound && caps.LowerBound,
			LeaveOneOut:         all.LeaveOneOut && caps.LeaveOneOut,
			LeaveOneOutGradient: all.LeaveOneOutGradient && caps.LeaveOneOutGradient,
			LeaveGroupOut:       all.LeaveGroupOut && caps.LeaveGroupOut,
			NoEvidence:          all.NoEvidence || caps.NoEvidence,
			Unconverged:         all.Unconverged || caps.Unconverged,
			Ordered:             all.Ordered || caps.Ordered,
			Sampled:             all.Sampled || caps.Sampled,
			Weights:             all.Weights && caps.Weights,
		}
	}
	return all, nil
}

// usesOneProcess returns an error if a method with one latent process cannot work with lik for this
// number of classes. It accepts two classes, or numbers with a likelihood for these. lacks is an
// error if lik does not have a function that the method needs, or nil.
func usesOneProcess(method string, lik likelihood.Likelihood, classes int, lacks error) error {
	if classes == 0 && lik.Domain() == likelihood.Numeric {
		return lacks
	}
	return usesBinary(method, lik, classes, lacks)
}

// usesBinary returns an error if a binary method cannot work with lik for this number of classes:
// two, or several in order, which have one latent process too.
func usesBinary(method string, lik likelihood.Likelihood, classes int, lacks error) error {
	switch domain := lik.Domain(); {
	case classes == 0 && domain == likelihood.Numeric:
		return fmt.Errorf("%s is for two classes, and the labels are numbers; use inference: exact", method)
	case classes == 0:
		return fmt.Errorf("%s is for two classes, and the labels are numbers; turn them into two classes with "+
			"data: {above: …}, or use likelihood: gaussian with inference: exact", method)
	case domain == likelihood.Categorical && classes > 2:
		return fmt.Errorf("%s has one latent process and this likelihood one for each class; use inference: "+
			"laplace or ep, or likelihood: probit with classes: one_vs_rest", method)
	case domain != likelihood.Binary && domain != likelihood.Ordered:
		return fmt.Errorf("%s needs a likelihood of two classes; use probit or logit", method)
	case lacks != nil:
		return lacks
	case classes != 2 && domain == likelihood.Binary:
		return fmt.Errorf("%s with a likelihood of two classes cannot model %d classes; use classes: "+
			"one_vs_rest, likelihood: softmax with inference: laplace, or likelihood: ordinal if they have an order",
			method, classes)
	}
	if _, ok := bound(lik).(likelihood.MomentMatcher); !ok {
		return fmt.Errorf("%s needs the likelihood's Gaussian averages for its predictions; use likelihood: probit "+
			"or logit", method)
	}
	return nil
}

// usesClasses returns the reason why a likelihood with a latent process for every class cannot work
// with this number of classes, or nil.
func usesClasses(classes int) error {
	switch classes {
	case 0:
		return errors.New("this likelihood is for three or more classes, and the labels are numbers; turn them into " +
			"two classes with data: {above: …}, and use likelihood: probit or logit")
	case 2:
		return errors.New("this likelihood is for three or more classes, and there are two; use likelihood: probit, " +
			"which is multinomial_probit of two, or logit, which is softmax of two with twice the kernel's variance")
	}
	return nil
}

// hasFree reports whether a parameter of lik is to be optimised.
func hasFree(lik likelihood.Likelihood) bool {
	for _, s := range lik.Params() {
		if !s.Fixed {
			return true
		}
	}
	return false
}

// knowsParameters reports whether there is a gradient over the parameters of lik that are to be
// optimised.
func knowsParameters(lik likelihood.Likelihood) bool {
	_, ok := bound(lik).(likelihood.Parametric)
	return ok || !hasFree(lik)
}

// isGaussian reports whether a likelihood's one parameter is log σ.
func isGaussian(lik likelihood.Likelihood) bool {
	_, ok := lik.(likelihood.Gaussian)
	return ok
}

// bound binds lik to some values of its parameters, to find its abilities.
func bound(lik likelihood.Likelihood) likelihood.Bound {
	return lik.At(make([]float64, len(lik.Params())))
}

// checkState returns an error unless the state has n numbers.
func checkState(method string, s State, n int) error {
	if len(s) != n {
		return fmt.Errorf("%s: state has %d numbers, want %d; it belongs to other data or another method",
			method, len(s), n)
	}
	for i, v := range s {
		if !finite(v) {
			return fmt.Errorf("%s: state[%d] = %v, want a finite number", method, i, v)
		}
	}
	return nil
}

// checkIteration validates the options that every iterative method has.
func checkIteration(method string, tolerance float64, maxIterations int) error {
	if !(tolerance >= 0 && tolerance < 1) {
		return fmt.Errorf("%s: tolerance = %v must be between 0 and 1 (0 means the default, %v)",
			method, tolerance, defaultTolerance)
	}
	if maxIterations < 0 {
		return fmt.Errorf("%s: max_iterations = %d must not be negative (0 means the default, %d)",
			method, maxIterations, defaultIterations)
	}
	return nil
}

const (
	defaultTolerance  = 1e-10
	defaultIterations = 1000
)
