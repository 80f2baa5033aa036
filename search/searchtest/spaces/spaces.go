// Package spaces has the search spaces on which the tests of package search and of its scheduler
// run, and objectives with known maxima.
package spaces

import (
	"math"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// Spec is a free hyperparameter without bounds of its own.
func Spec(name string, m param.Transform, initial float64) param.Spec {
	return param.Setting{}.Spec(name, m, initial)
}

// Bounded is a free hyperparameter between lo and hi.
func Bounded(name string, m param.Transform, initial, lo, hi float64) param.Spec {
	return param.Setting{Bounds: &[2]float64{lo, hi}}.Spec(name, m, initial)
}

// Whole is a whole number that starts at lo.
func Whole(name string, lo, hi float64) param.Spec {
	return param.Spec{Name: name, Map: param.Whole, Init: lo, Lo: lo, Hi: hi, Given: true}
}

// Choice is a choice that starts at its first value.
func Choice(name string, values ...string) param.Spec {
	return param.Spec{Name: name, Map: param.Choice, Hi: float64(len(values) - 1), Choices: values, Given: true}
}

// SE is the space of one squared exponential kernel.
func SE() []param.Spec {
	return []param.Spec{Spec("amplitude", param.Log, 1), Spec("length_scale", param.Log, 2)}
}

// Constrained has numbers of all kinds. One of them matters for a large rate only. The
// constraint allows about a tenth of the points.
func Constrained() []param.Spec {
	three := 0.1
	decay := Bounded("decay", param.Identity, 0, -1, 1)
	decay.When = &param.Condition{Name: "rate", Bounds: param.Bounds{Above: &three}}
	s := []param.Spec{Choice("kind", "a", "b"), Bounded("rate", param.Log, 0.01, 1e-4, 1), Whole("batch", 1, 64),
		{Name: "drop", Map: param.Stepped, Hi: 1, Step: 0.25, Given: true}, decay}
	s[3].Where = []*param.Constraint{
		{Text: "rate * batch < 1 and rate * batch > 0.1", Names: []string{"rate", "batch"},
			Holds: func(x []float64) bool { return x[0]*x[1] < 1 && x[0]*x[1] > 0.1 }},
		{Text: "kind == a or drop > 0.3", Names: []string{"kind", "drop"},
			Holds: func(x []float64) bool { return x[0] == 0 || x[1] > 0.3 }},
	}
	s[4].Where = []*param.Constraint{{Text: "decay < drop", Names: []string{"decay", "drop"},
		Holds: func(x []float64) bool { return x[0] < x[1] }}}
	s[2].Init = 20
	return s
}

// Surface is a smooth function of two hyperparameters with a known maximum, or a known supremum
// within the bounds.
type Surface struct {
	Space []param.Spec
	Best  float64 // the maximum or supremum
	f     func(x, y float64) float64
}

// At is the value at theta.
func (s Surface) At(theta []float64) float64 { return s.f(theta[0], theta[1]) }

// Surfaces are functions on which adaptive strategies are tested.
var Surfaces = map[string]Surface{
	"bowl": {
		Space: []param.Spec{Spec("x", param.Log, 1), Spec("y", param.Identity, 2)},
		f:     func(x, y float64) float64 { return -(x-1.5)*(x-1.5) - 10*(y-1.1)*(y-1.1) },
		Best:  0,
	},
	"oblique ridge": { // condition number 100, like the trade-off of amplitude and length scale
		Space: []param.Spec{Bounded("x", param.Identity, 0, -3, 3), Bounded("y", param.Identity, 0, -3, 3)},
		f:     func(x, y float64) float64 { return -50*(x-y-0.3)*(x-y-0.3) - (x+y-2)*(x+y-2)/2 },
		Best:  0,
	},
	"rosenbrock": {
		Space: []param.Spec{Bounded("x", param.Identity, -1, -2, 2), Bounded("y", param.Identity, 1.5, -2, 2)},
		f:     func(x, y float64) float64 { return -100*(y-x*x)*(y-x*x) - (1-x)*(1-x) },
		Best:  0,
	},
	// At the edge y = 1 the function is -(x-0.8)² - 0.36.
	"at an edge": {
		Space: []param.Spec{Bounded("x", param.Identity, 0, -1, 1), Bounded("y", param.Identity, 0, -1, 1)},
		f:     func(x, y float64) float64 { return -(x-y+0.2)*(x-y+0.2) - (y-1.6)*(y-1.6) },
		Best:  -0.36,
	},
	"in a corner": {
		Space: []param.Spec{Bounded("x", param.Identity, 0, -1, 1), Bounded("y", param.Identity, 0, -1, 1)},
		f:     func(x, y float64) float64 { return -(x-2)*(x-2) - (x+y)*(x+y)/4 - 3*(y+1.5)*(y+1.5) },
		Best:  -1 - 0.75,
	},
	// A disc next to the maximum, a tenth of the box, cannot be evaluated.
	"hole": {
		Space: []param.Spec{Bounded("x", param.Identity, -1, -2, 2), Bounded("y", param.Identity, -1, -2, 2)},
		f: func(x, y float64) float64 {
			if math.Hypot(x-1, y-0.2) < 0.7 {
				return math.NaN()
			}
			return -(x-0.5)*(x-0.5) - 2*(y-1)*(y-1)
		},
	},
}

// Evaluated is the trial of these points with the values of f. A NaN is a failure.
func Evaluated(index int, points [][]float64, f func([]float64) float64) record.Trial {
	t := record.Trial{Index: index, Status: "evaluated", Evaluations: len(points)}
	for _, theta := range points {
		at := record.Numbers(theta)
		value, none := record.Number(f(theta)), record.Number(math.NaN())
		point := record.Point{Theta: at, Natural: at, Value: value, Gradient: none}
		if math.IsNaN(float64(point.Value)) {
			point.Failure = cause.NotPositiveDefinite.New("not positive definite")
		}
		t.Points = append(t.Points, point)
	}
	return t
}

// SomeFail evaluates a smooth objective. Every seventh trial fails.
func SomeFail(index int, points [][]float64) record.Trial {
	t := Evaluated(index, points, func(theta []float64) (value float64) {
		for j, u := range theta {
			value -= (u - 0.3*float64(j)) * (u - 0.3*float64(j))
		}
		return value
	})
	if index%7 == 3 {
		t.Points, t.Failure = nil, cause.NotPositiveDefinite.New("not positive definite")
		for _, theta := range points {
			t.Asked = append(t.Asked, record.Numbers(theta))
		}
	}
	return t
}
