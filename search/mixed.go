package search

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// mixed reports whether some hyperparameter has discrete values only.
func (s Space) mixed() bool {
	return slices.ContainsFunc(s, func(p param.Spec) bool { return p.Map.Discrete() })
}

// roundToGrid moves theta to a point that can be evaluated, and returns it. A discrete
// hyperparameter moves to the nearest of its values. A hyperparameter whose condition does not hold
// moves to its initial value, so that points with the same objective are one point. A point that a
// constraint forbids moves towards the initial values, see allowed.
func (s Space) roundToGrid(theta []float64) []float64 {
	if s.OnGrid(theta); !s.Allows(theta) {
		copy(theta, s.NearestAllowed(theta))
	}
	return theta
}

// OnGrid is roundToGrid without constraints.
func (s Space) OnGrid(theta []float64) {
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
}

// Allows reports whether no constraint forbids theta.
func (s Space) Allows(theta []float64) bool { return param.Violated(s, theta) == nil }

// constrained reports whether the space has constraints.
func (s Space) constrained() bool {
	return slices.ContainsFunc(s, func(p param.Spec) bool { return len(p.Where) > 0 })
}

// NearestAllowed returns an allowed point near a forbidden one. On the line in the unit cube from
// the initial values, which are allowed, it bisects for the last point that is. Then each
// hyperparameter in turn gets the value of the forbidden point, if the constraints allow that.
func (s Space) NearestAllowed(theta []float64) []float64 {
	from, to := s.unit(s.Start()), s.unit(theta)
	best, lo, hi := s.Start(), 0.0, 1.0
	for range 20 {
		middle := (lo + hi) / 2
		u := floats.AddScaledTo(make([]float64, len(s)), from, middle, floats.SubTo(make([]float64, len(s)), to, from))
		if at := s.onGridAt(u); s.Allows(at) {
			best, lo = at, middle
		} else {
			hi = middle
		}
	}
	for j := range s {
		at := slices.Clone(best)
		at[j] = theta[j]
		if s.OnGrid(at); s.Allows(at) {
			best = at
		}
	}
	return best
}

// Allowed returns the fraction of random points of the space that its constraints allow, and where
// a search starts, in natural units: at the initial values, or if these are forbidden at the
// nearest allowed one of the points that have the initial values of the hyperparameters held. If
// there is none, start is nil.
func (s Space) Allowed(held []string) (fraction float64, start []float64) {
	const draws = 10_000
	rng := rand.New(param.Source(0, 0))
	first := s.unit(s.Start())
	nearest, from := s.Start(), math.Inf(1)
	if s.Allows(nearest) {
		from = 0
	}
	u := make([]float64, len(s))
	for range draws {
		for j := range u {
			u[j] = rng.Float64()
		}
		if s.Allows(s.onGridAt(u)) {
			fraction += 1.0 / draws
		}
		for j, p := range s {
			if slices.Contains(held, p.Name) {
				u[j] = first[j]
			}
		}
		if far := floats.Distance(u, first, 2); far < from {
			if theta := s.onGridAt(u); s.Allows(theta) {
				nearest, from = theta, far
			}
		}
	}
	if math.IsInf(from, 1) {
		return fraction, nil
	}
	begin := s.Start()
	for j, p := range s {
		at := p.Init
		if nearest[j] != begin[j] {
			at = min(max(p.Map.Natural(nearest[j]), p.Lo), p.Hi)
		}
		start = append(start, at)
	}
	return fraction, start
}

// Index is the number of the hyperparameter of this name, or -1.
func (s Space) Index(name string) int {
	return slices.IndexFunc(s, func(p param.Spec) bool { return p.Name == name })
}

// place maps a point u of the unit cube to theta.
func (s Space) place(u []float64) []float64 {
	theta, _ := s.placed(u)
	return theta
}

// placed is place, and reports whether a constraint forbids u itself.
func (s Space) placed(u []float64) (theta []float64, forbidden bool) {
	if theta = s.onGridAt(u); s.Allows(theta) {
		return theta, false
	}
	return s.NearestAllowed(theta), true
}

// onGridAt is place without constraints.
func (s Space) onGridAt(u []float64) []float64 {
	theta := make([]float64, len(s))
	for j, p := range s {
		theta[j] = p.Place(u[j])
	}
	s.OnGrid(theta)
	return theta
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
	merges := func(p param.Spec) bool { return p.Map.Discrete() || p.When != nil }
	if !s.constrained() && !slices.ContainsFunc(s, merges) {
		return at // each point has its own theta
	}
	theta := s.place(u)
	for j, p := range s {
		if p.Map.Discrete() || p.When != nil || theta[j] != p.Place(u[j]) {
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

// Check returns the errors of param.Spec.Check and of checkNames for all hyperparameters, and an
// error if a constraint forbids the initial values.
func (s Space) Check() error {
	var errs []error
	for _, p := range s {
		errs = append(errs, p.Check())
	}
	if err := errors.Join(append(errs, s.checkNames())...); err != nil {
		return err
	}
	if c := param.Violated(s, s.Start()); c != nil {
		return fmt.Errorf("where: %q does not hold at the initial values; give %s an init where it does", c.Text,
			strings.Join(c.Names, ", "))
	}
	return nil
}

// checkNames returns an error for every name that is empty or repeated. It also returns an error
// for every condition that names no earlier hyperparameter, or a value that this hyperparameter
// cannot have, and for every constraint that names no hyperparameter.
func (s Space) checkNames() error {
	var errs []error
	for j, p := range s {
		switch i := s.Index(p.Name); {
		case p.Name == "":
			errs = append(errs, fmt.Errorf("hyperparameter %d of %d has no name", j+1, len(s)))
		case i < j:
			errs = append(errs, fmt.Errorf("two hyperparameters are named %q", p.Name))
		}
		for c := p.When; c != nil; c = c.And {
			errs = append(errs, s.checkCondition(j, c))
		}
		for _, c := range p.Where {
			for _, name := range c.Names {
				if s.Index(name) < 0 {
					errs = append(errs, fmt.Errorf("where: %q names %s, which is no hyperparameter", c.Text, name))
				}
			}
		}
	}
	return errors.Join(errs...)
}

// checkCondition checks a condition of hyperparameter j.
func (s Space) checkCondition(j int, c *param.Condition) error {
	i := s.Index(c.Name)
	if i < 0 || i >= j {
		return fmt.Errorf("%s is conditional on %s, which must be a hyperparameter that stands before it", s[j].Name,
			c.Name)
	}
	if c.Values != nil && !s[i].Map.Discrete() {
		return fmt.Errorf("%s is conditional on values of %s, which takes any number in its range; give bounds",
			s[j].Name, c.Name)
	}
	var errs []error
	for _, v := range c.Values {
		if s[i].Admits(v) != nil {
			errs = append(errs, fmt.Errorf("%s is conditional on the value %v of %s, which has the values %v to %v",
				s[j].Name, v, s[i].Name, s[i].Lo, s[i].Hi))
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
