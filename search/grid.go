package search

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/record"
)

// Grid evaluates every point of a rectangular grid. A key of Axes is the natural name of a free
// hyperparameter, either with its whole path ("1.se.length_scale") or, where that is unambiguous,
// its last component ("length_scale"). A free hyperparameter without an axis stays at its Init.
//
// Axes are nested in the order of the space, the first changing slowest, except that the last
// amplitude among the axes, if any, is the innermost. A proposal is one row along the innermost
// axis. Along an amplitude the kernel keeps its shape, so each point is a good warm start for the
// next. With Apart a proposal is one point.
type Grid struct {
	Axes map[string]Axis `yaml:"grid"`
	// Apart makes every point a separate job with a cold start and its own line in the journal: an
	// interrupted run loses only the running points. It is meant for points that take minutes.
	Apart bool `yaml:"apart"`
}

// Axis is the list of values that one hyperparameter takes, in one of three forms.
type Axis struct {
	// Log has the natural logarithms of the first and the last value; the others are equally spaced
	// in the logarithm.
	Log *[2]float64 `yaml:"log"`
	// Linear has the first and the last value in natural units; the values are equally spaced.
	Linear *[2]float64 `yaml:"linear"`
	Points int         `yaml:"points" within:"[1,1000000]"` // number of values of Log or Linear, both ends included
	Values []float64   `yaml:"values"`                      // the values themselves in natural units, in this order
}

// axis is an Axis with its position in the space.
type axis struct {
	dim   int
	theta []float64
}

// Check implements Strategy: unknown, ambiguous and repeated names, malformed axes, values outside
// the bounds.
func (g Grid) Check(s Space) error {
	_, err := g.resolve(s)
	if err == nil && g.Budget(s).Trials == 0 {
		return errors.New("where: no point of the grid satisfies it")
	}
	return err
}

// Ask implements Strategy: all rows, or all points, in one batch, without forbidden points.
func (g Grid) Ask(s Space, done []record.Trial, _ uint64) []Proposal {
	if len(done) > 0 {
		return nil
	}
	axes, rows := g.must(s)
	inner, outer := axes[len(axes)-1], axes[:len(axes)-1]
	var proposals []Proposal
	for row := range rows {
		var along Proposal
		base, rest := s.Start(), row
		for _, a := range slices.Backward(outer) {
			base[a.dim] = a.theta[rest%len(a.theta)]
			rest /= len(a.theta)
		}
		for _, u := range inner.theta {
			point := slices.Clone(base)
			point[inner.dim] = u
			if s.OnGrid(point); s.Allows(point) {
				along.Points = append(along.Points, point)
			}
		}
		if !g.Apart && len(along.Points) > 0 {
			proposals = append(proposals, along)
			continue
		}
		for _, point := range along.Points {
			proposals = append(proposals, Proposal{Points: [][]float64{point}})
		}
	}
	return proposals
}

// Budget implements Strategy: the rows, or the points.
func (g Grid) Budget(s Space) Budget {
	if s.constrained() {
		return Budget{Trials: len(g.Ask(s, nil, 0))}
	}
	axes, rows := g.must(s)
	if g.Apart {
		rows *= len(axes[len(axes)-1].theta)
	}
	return Budget{Trials: rows}
}

// must returns the axes of a grid that passes its Check, and the number of its rows.
func (g Grid) must(s Space) (axes []axis, rows int) {
	axes, err := g.resolve(s)
	if err != nil {
		panic(fmt.Sprintf("search: a grid is used that fails its Check: %v", err))
	}
	rows = 1
	for _, a := range axes[:len(axes)-1] {
		rows *= len(a.theta)
	}
	return axes, rows
}

// Box implements Boxed: from the least to the greatest value of every axis, evenly on the theta
// scale.
func (g Grid) Box(s Space) (box Space) {
	axes, _ := g.must(s)
	for j, p := range s {
		for _, a := range axes {
			if a.dim == j && len(a.theta) > 1 {
				p.Lo, p.Hi = p.Map.Natural(slices.Min(a.theta)), p.Map.Natural(slices.Max(a.theta))
				p.Given, p.Init = true, min(max(p.Init, p.Lo), p.Hi)
				box = append(box, p)
			}
		}
	}
	return box
}

// Optimizer implements Strategy.
func (Grid) Optimizer() string { return "" }

// resolve matches the axes with the space, outermost first.
func (g Grid) resolve(s Space) ([]axis, error) {
	if len(g.Axes) == 0 {
		example := "{length_scale: {log: [-1, 4], points: 11}}"
		if _, err := s.find("length_scale"); err != nil && len(s) > 0 {
			example = fmt.Sprintf("{%s: {values: [%v, %v]}}", s[0].Name, s[0].Lo, s[0].Hi)
			if s[0].Map == param.Choice {
				example = fmt.Sprintf("{%s: {values: [%s]}}", s[0].Name, s[0].Quoted(s[0].Init))
			}
		}
		return nil, fmt.Errorf("the grid has no axes; write grid: %s", example)
	}
	var axes []axis
	var errs []error
	size := 1.0
	named := map[int]string{}
	for _, name := range slices.Sorted(maps.Keys(g.Axes)) {
		dim, err := s.find(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if other, twice := named[dim]; twice {
			errs = append(errs, fmt.Errorf("grid axes %q and %q both name %s; keep one", other, name, s[dim].Name))
			continue
		}
		named[dim] = name
		theta, err := g.Axes[name].theta(s[dim])
		if err != nil {
			errs = append(errs, fmt.Errorf("grid axis %q: %w", name, err))
			continue
		}
		size *= float64(len(theta))
		axes = append(axes, axis{dim, theta})
	}
	for i, p := range s {
		if named[i] == "" {
			errs = append(errs, p.Check())
		}
	}
	if size > maxTrials {
		errs = append(errs, fmt.Errorf("the grid has %.3g points, more than %d; use fewer axes or points",
			size, maxTrials))
	}
	if err := errors.Join(append(errs, s.checkNames())...); err != nil {
		return nil, err
	}
	slices.SortFunc(axes, func(a, b axis) int { return a.dim - b.dim })
	for i, a := range slices.Backward(axes) {
		if s[a.dim].Component() == "amplitude" {
			return append(slices.Delete(axes, i, i+1), a), nil
		}
	}
	return axes, nil
}

// find returns the index of the free hyperparameter with this name: its whole path or its last
// component.
func (s Space) find(name string) (int, error) {
	paths := map[string][]string{} // full names by their last component
	found := -1
	for i, p := range s {
		if p.Name == name {
			return i, nil
		}
		last := p.Component()
		paths[last] = append(paths[last], p.Name)
		if last == name {
			found = i
		}
	}
	switch len(paths[name]) {
	case 1:
		return found, nil
	case 0:
		have := make([]string, len(s)) // the shortest names that can be written
		for i, p := range s {
			have[i] = p.Name
			if last := p.Component(); len(paths[last]) == 1 {
				have[i] = last
			}
		}
		return 0, fmt.Errorf("no free hyperparameter is called %q%s", name, registry.Suggest(name, have))
	}
	return 0, fmt.Errorf("%q is ambiguous; write one of %s", name, strings.Join(paths[name], ", "))
}

// theta returns the values of the axis on the theta scale.
func (a Axis) theta(p param.Spec) ([]float64, error) {
	values, err := a.values()
	if err != nil {
		return nil, err
	}
	theta := make([]float64, len(values))
	for i, v := range values {
		if a.Log != nil {
			theta[i], v = v, param.Log.Natural(v)
		}
		if err := p.Admits(v); err != nil {
			return nil, err
		}
		// A logarithm is exactly theta under that transform.
		if a.Log == nil || p.Map != param.Log {
			theta[i] = p.Map.Theta(v)
		}
		// Rounding of the transform may exceed the bound.
		theta[i] = min(max(theta[i], p.Map.Theta(p.Lo)), p.Map.Theta(p.Hi))
	}
	return theta, nil
}

// values returns the values of the axis in natural units, or for Log their logarithms.
func (a Axis) values() ([]float64, error) {
	ends := cmp.Or(a.Log, a.Linear)
	switch {
	case a.Values != nil && ends == nil:
		if len(a.Values) == 0 || a.Points != 0 {
			return nil, errors.New("values must list at least one number, without points")
		}
		return a.Values, nil
	case a.Values != nil || ends == nil || a.Log != nil && a.Linear != nil:
		return nil, errors.New("write one of {log: [lo, hi], points: n}, of a model with natural logarithms, " +
			"{linear: [lo, hi], points: n} and {values: […]}")
	}
	lo, hi, unit := ends[0], ends[1], ""
	if a.Log != nil {
		unit = " (natural logarithms of the values)"
	}
	switch {
	case a.Points < 1 || a.Points > maxTrials:
		return nil, fmt.Errorf("points = %d must be from 1 to %d", a.Points, maxTrials)
	case !(lo <= hi):
		return nil, fmt.Errorf("[%v, %v] must have the smaller end first%s", lo, hi, unit)
	case (a.Points == 1) != (lo == hi):
		return nil, fmt.Errorf("[%v, %v] with both ends included cannot have points: %d", lo, hi, a.Points)
	case a.Points == 1:
		return []float64{lo}, nil
	}
	return floats.Span(make([]float64, a.Points), lo, hi), nil
}
