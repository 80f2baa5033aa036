package search

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// mixed reports whether some hyperparameter has discrete values only.
func (s Space) mixed() bool {
	return slices.ContainsFunc(s, func(p param.Spec) bool { return p.Map.Discrete() })
}

// roundToGrid moves theta to a point that can be evaluated, and returns it. A discrete
// hyperparameter moves to the nearest of its values. A hyperparameter whose condition does not hold
// moves to its initial value, so that points with the same objective are one point.
func (s Space) roundToGrid(theta []float64) []float64 {
	for j, p := range s {
		if p.Map.Discrete() {
			theta[j] = p.Nearest(theta[j])
		}
	}
	for j, matters := range param.InForce(s, theta) {
		if !matters {
			theta[j] = s[j].Map.Theta(s[j].Init)
		}
	}
	return theta
}

// index is the number of the hyperparameter of this name, or -1.
func (s Space) index(name string) int {
	return slices.IndexFunc(s, func(p param.Spec) bool { return p.Name == name })
}

// place maps a point u of the unit cube to theta.
func (s Space) place(u []float64) []float64 {
	theta := make([]float64, len(s))
	for j, p := range s {
		theta[j] = p.Place(u[j])
	}
	return s.roundToGrid(theta)
}

// unit is the point of the unit cube that is mapped to theta; nil for an unknown one.
func (s Space) unit(theta []float64) []float64 {
	if len(theta) != len(s) {
		return nil
	}
	u := make([]float64, len(s))
	for j, p := range s {
		u[j] = p.Unit(theta[j])
	}
	return u
}

// settled is the point of the unit cube that stands for all points u evaluated at the same theta.
func (s Space) settled(u []float64) []float64 {
	at := slices.Clone(u)
	theta := s.place(u)
	for j, p := range s {
		if p.Map.Discrete() || p.When != nil {
			at[j] = p.Unit(theta[j])
		}
	}
	return at
}

// features are the coordinates of a point of the unit cube in a regression.
func (s Space) features(u []float64) (x []float64) {
	for j, p := range s {
		if len(p.Choices) == 0 {
			x = append(x, u[j])
			continue
		}
		at := len(x)
		x = append(x, make([]float64, len(p.Choices))...)
		x[at+int(p.Place(u[j]))] = 1
	}
	return x
}

// Check returns the errors of param.Spec.Check and of checkNames for all hyperparameters.
func (s Space) Check() error {
	var errs []error
	for _, p := range s {
		errs = append(errs, p.Check())
	}
	return errors.Join(append(errs, s.checkNames())...)
}

// checkNames returns an error for every name that is empty or repeated. It also returns an error
// for every condition that names no earlier discrete hyperparameter, or a value that this
// hyperparameter cannot have.
func (s Space) checkNames() error {
	var errs []error
	for j, p := range s {
		switch i := s.index(p.Name); {
		case p.Name == "":
			errs = append(errs, fmt.Errorf("hyperparameter %d of %d has no name", j+1, len(s)))
		case i < j:
			errs = append(errs, fmt.Errorf("two hyperparameters are named %q", p.Name))
		}
		if p.When == nil {
			continue
		}
		i := s.index(p.When.Name)
		if i < 0 || i >= j || !s[i].Map.Discrete() {
			errs = append(errs, fmt.Errorf("%s is conditional on %s, which must be a whole number or a choice that "+
				"stands before it", p.Name, p.When.Name))
			continue
		}
		for _, v := range p.When.Values {
			if s[i].Admits(v) != nil {
				errs = append(errs, fmt.Errorf("%s is conditional on the value %v of %s, which has the values %v to %v",
					p.Name, v, s[i].Name, s[i].Lo, s[i].Hi))
			}
		}
	}
	return errors.Join(errs...)
}

// checkOrdered returns an error for choices among more than two values, because their order has no
// meaning.
func (s Space) checkOrdered() error {
	var errs []error
	for _, p := range s {
		if len(p.Choices) > 2 {
			errs = append(errs, fmt.Errorf("%s: the %d choices have no order, and this method moves along one; "+
				"use method: auto, sobol or random", p.Name, len(p.Choices)))
		}
	}
	return errors.Join(errs...)
}

// checkContinuous returns an error for discrete hyperparameters.
func (s Space) checkContinuous() error {
	var names []string
	for _, p := range s {
		if p.Map.Discrete() {
			names = append(names, p.Name)
		}
	}
	if names == nil {
		return nil
	}
	return fmt.Errorf("%s: the values are discrete, and this method moves in small steps; use method: auto, cmaes, "+
		"sobol or random", strings.Join(names, ", "))
}
