package search

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// surface is a smooth function of two hyperparameters with a known maximum, 0, or a known supremum within the bounds.
type surface struct {
	space Space
	f     func(x, y float64) float64
	best  float64
}

var surfaces = map[string]surface{
	"bowl": {
		Space{spec("x", param.Log, 1), spec("y", param.Identity, 2)},
		func(x, y float64) float64 { return -(x-1.5)*(x-1.5) - 10*(y-1.1)*(y-1.1) }, 0,
	},
	"oblique ridge": { // condition number 100, as where amplitude and length scale trade against each other
		Space{bounded("x", param.Identity, 0, -3, 3), bounded("y", param.Identity, 0, -3, 3)},
		func(x, y float64) float64 { return -50*(x-y-0.3)*(x-y-0.3) - (x+y-2)*(x+y-2)/2 }, 0,
	},
	"rosenbrock": {
		Space{bounded("x", param.Identity, -1, -2, 2), bounded("y", param.Identity, 1.5, -2, 2)},
		func(x, y float64) float64 { return -100*(y-x*x)*(y-x*x) - (1-x)*(1-x) }, 0,
	},
	// At y = 1 the rest is -(x-0.8)² - 0.36.
	"at an edge": {
		Space{bounded("x", param.Identity, 0, -1, 1), bounded("y", param.Identity, 0, -1, 1)},
		func(x, y float64) float64 { return -(x-y+0.2)*(x-y+0.2) - (y-1.6)*(y-1.6) }, -0.36,
	},
	"in a corner": {
		Space{bounded("x", param.Identity, 0, -1, 1), bounded("y", param.Identity, 0, -1, 1)},
		func(x, y float64) float64 { return -(x-2)*(x-2) - (x+y)*(x+y)/4 - 3*(y+1.5)*(y+1.5) }, -1 - 0.75,
	},
	// A tenth of the box, beside the maximum, cannot be evaluated.
	"hole": {
		Space{bounded("x", param.Identity, -1, -2, 2), bounded("y", param.Identity, -1, -2, 2)},
		func(x, y float64) float64 {
			if math.Hypot(x-1, y-0.2) < 0.7 {
				return math.NaN()
			}
			return -(x-0.5)*(x-0.5) - 2*(y-1)*(y-1)
		}, 0,
	},
}

func (s surface) at(theta []float64) float64 { return s.f(theta[0], theta[1]) }

// maximise runs a strategy on f to its end. A NaN is a failure.
func maximise(strategy Strategy, s Space, f func([]float64) float64, seed uint64) []record.Trial {
	var history []record.Trial
	for {
		batch := strategy.Ask(s, history, seed)
		if len(batch) == 0 {
			return history
		}
		for _, p := range batch {
			history = append(history, evaluated(len(history), p, f))
		}
	}
}

func evaluated(index int, p Proposal, f func([]float64) float64) record.Trial {
	t := record.Trial{Index: index, Status: "evaluated", Evaluations: len(p.Points)}
	for _, theta := range p.Points {
		point := record.Point{Theta: record.Numbers(theta), Natural: record.Numbers(theta), Value: record.Number(f(theta)), Gradient: record.Number(math.NaN())}
		if math.IsNaN(float64(point.Value)) {
			point.Failure = "not positive definite"
		}
		t.Points = append(t.Points, point)
	}
	return t
}

// adaptive are the strategies that learn from what they have seen, with how far below the maximum each may end.
var adaptive = []struct {
	strategy Strategy
	seeds    uint64
	short    float64
}{
	{NelderMead{}, 3, 1e-6},
	{CMAES{Evaluations: 900}, 3, 1e-6},
	{Bayes{}, 1, 0.05},
	{Bayes{Batch: 4}, 1, 0.2},
}

func TestAdaptiveStrategiesFindTheMaximum(t *testing.T) {
	for name, s := range surfaces {
		for _, a := range adaptive {
			for seed := range a.seeds {
				trials := maximise(a.strategy, s.space, s.at, seed)
				_, best, err := Winner(trials)
				if err != nil {
					t.Fatal(err)
				}
				if short := s.best - float64(best.Value); !(short <= a.short && short > -1e-12) {
					t.Errorf("%s, %T%+v, seed %d: %v below the maximum after %d trials", name, a.strategy, a.strategy, seed, short, len(trials))
				}
			}
		}
	}
}

// With n points in an area A, none is within r of the maximum with probability (1 - πr²/A)ⁿ, 3e-7 here, if they are
// independent and the maximum is inside; Sobol's sequence and the Latin hypercube leave no larger gaps.
func TestDesignsComeCloseToTheMaximum(t *testing.T) {
	const n, r = 400, 0.43
	s := surfaces["bowl"]
	for _, strategy := range []Strategy{Random{Design{n}}, Sobol{Design{n}}, LatinHypercube{Design{n}}} {
		_, best, err := Winner(maximise(strategy, s.space, s.at, 1))
		if err != nil {
			t.Fatal(err)
		}
		if short := s.best - float64(best.Value); short > 10*r*r {
			t.Errorf("%T ends %v below the maximum", strategy, short)
		}
	}
}

// Five hyperparameters, with a maximum where two are at bounds.
func TestMoreHyperparameters(t *testing.T) {
	s := make(Space, 5)
	for j := range s {
		s[j] = bounded("x", param.Identity, 0, -1, 1)
	}
	f := func(theta []float64) float64 {
		v := 0.0
		for j, u := range theta {
			d := u - 0.4*float64(j)
			v -= float64(1+9*j) * d * d
		}
		return v
	}
	want := -28*0.2*0.2 - 37*0.6*0.6
	for _, strategy := range []Strategy{NelderMead{Evaluations: 600}, CMAES{Evaluations: 1000}} {
		_, best, err := Winner(maximise(strategy, s, f, 1))
		if err != nil {
			t.Fatal(err)
		}
		if short := want - float64(best.Value); !(short <= 1e-4) {
			t.Errorf("%T ends %v below the maximum, at %v", strategy, short, best.Theta)
		}
	}
}

// The journal of a run is the same for any number of workers, with failures of every kind: of a point, of a trial, panics.
func TestWorkersDoNotMatterToAdaptiveStrategies(t *testing.T) {
	s := surfaces["hole"]
	var want string
	for _, workers := range []int{1, 8} {
		var studies []Study
		for i, a := range []Strategy{NelderMead{Restarts: 3, Evaluations: 30}, CMAES{Evaluations: 60}, Bayes{Trials: 20, Batch: 3}} {
			studies = append(studies, Study{
				Key: string(rune('a' + i)), Index: i, Space: s.space, Strategy: a, Seed: 5,
				Trial: func(_ context.Context, index int, p Proposal) (record.Trial, error) {
					switch index % 11 {
					case 4:
						return record.Trial{}, errors.New("singular")
					case 9:
						panic("out of range")
					}
					return evaluated(index, p, s.at), nil
				},
				Assess: func(context.Context, int, []float64, []record.Trial) (record.Fit, error) { return record.Fit{}, nil },
			})
		}
		j := mustOpen(t, "")
		mustRun(t, studies, j, Options{Workers: workers})
		for _, l := range j.Lines() {
			if x := l.Trial; x != nil && len(x.Points)+len(x.Asked) != 1 {
				t.Errorf("trial %d has %d points and asked for %d", x.Index, len(x.Points), len(x.Asked))
			}
		}
		if want == "" {
			want = canonical(j.Lines())
		}
		if canonical(j.Lines()) != want {
			t.Errorf("%d workers give another journal", workers)
		}
	}
}

// Nothing but failures ends a search too, without a NaN.
func TestNothingButFailures(t *testing.T) {
	s := surfaces["bowl"]
	for _, a := range adaptive {
		for i, trial := range maximise(a.strategy, s.space, func([]float64) float64 { return math.NaN() }, 3) {
			for _, u := range trial.Points[0].Theta {
				if math.IsNaN(float64(u)) {
					t.Fatalf("%T: trial %d is at %v", a.strategy, i, trial.Points[0].Theta)
				}
			}
		}
	}
}
