package plan

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// work counts how often a job does each part of a fit.
type work struct{ first, gram, cold, warm, slope, predict float64 }

// takes is the time of such work with a model.
func (w work) takes(t *testing.T, m objective.Model, s approx.Size) float64 {
	t.Helper()
	of, ok := Nominal.Times(m, s, 2)
	if !ok {
		t.Fatal("no nominal times")
	}
	return w.first*of.First + w.gram*of.Gram + w.cold*of.Fit + w.warm*of.Again + w.slope*(of.Gradient+of.Pullback) + w.predict*of.Predict
}

// The time of a study is the sum for its trials and its assessment, counted here in parts of fits.
// Two hyperparameters are free: a climb takes 15 evaluations, and by differences 5 times as many;
// from the optimum of another method it takes a third.
func TestTimesOfStudies(t *testing.T) {
	laplace, ep := modelOf(t, "laplace", "probit", 0, kernel.SE{}), modelOf(t, "ep", "probit", 0, kernel.SE{})
	size := approx.Size{Cases: 1000, Distinct: 1000, New: 10, Classes: 2}
	set := &job.Set{Source: &data.Data{X: mat.NewDense(1000, 2, nil), Classes: []string{"a", "b"}}, Train: make([]int, 1000)}
	fold := &job.Set{Source: set.Source, Train: make([]int, 800), Test: make([]int, 200)}
	foldSize := approx.Size{Cases: 800, Distinct: 800, New: 200, Classes: 2}
	once := work{first: 1, gram: 1, cold: 1, predict: 1} // an assessment
	climb := func(n float64) work { return work{first: 1, gram: n, cold: n, slope: n} }
	flat := func(n float64) work { return work{first: 1, gram: n, cold: n} }
	sum := func(tuned work, t2 *testing.T) float64 { return tuned.takes(t2, laplace, size) }
	moves := 2.5 * (3 + 4*5)
	for _, c := range []struct {
		name          string
		job           *job.Job
		trials        []batch
		trial, assess float64 // times of one
		evaluations   float64 // evaluations of the longest job
	}{
		{"none", &job.Job{Model: laplace, Tuned: laplace}, nil, 0, sum(once, t), 1},
		{"bfgs", &job.Job{Model: laplace, Tuned: laplace, Optimizer: "bfgs"}, []batch{{3, 1, 1, false}}, sum(climb(15), t), sum(once, t), 15},
		{"few evaluations", &job.Job{Model: laplace, Tuned: laplace, Optimizer: "bfgs", Evaluations: 7}, []batch{{3, 1, 1, false}}, sum(climb(7), t), sum(once, t), 7},
		{"differences", &job.Job{Model: laplace, Tuned: laplace, Optimizer: "bfgs", Gradients: objective.Differences}, []batch{{3, 1, 1, false}}, sum(flat(75), t), sum(once, t), 75},
		{"errors", &job.Job{Model: laplace, Tuned: laplace, Optimizer: "bfgs", Curvature: true}, []batch{{3, 1, 1, false}}, sum(climb(15), t),
			sum(once, t) + sum(work{gram: 4, warm: 4, slope: 4}, t), 15},
		{"another model", &job.Job{Model: ep, Tuned: laplace, Optimizer: "bfgs"}, []batch{{3, 1, 1, false}}, sum(climb(15), t), once.takes(t, ep, size), 15},
		{"a row", &job.Job{Model: laplace, Tuned: laplace}, []batch{{3, 4, 2, false}}, sum(work{first: 1, gram: 4, cold: 1, warm: 3, predict: 4}, t), sum(once, t), 4},
		{"a hybrid row", &job.Job{Model: ep, Tuned: laplace, Hybrid: true}, []batch{{3, 4, 2, false}},
			sum(work{first: 1, gram: 4, cold: 1, warm: 3}, t) + work{gram: 4, warm: 4, predict: 4}.takes(t, ep, size), once.takes(t, ep, size), 4},
		{"folds", &job.Job{Model: laplace, Tuned: laplace, Score: &cv.Score{}, Folds: []*job.Set{fold, fold, fold}}, []batch{{3, 4, 2, false}},
			3 * work{first: 1, gram: 4, cold: 1, warm: 3, predict: 4}.takes(t, laplace, foldSize), sum(once, t), 12},
		{"chains", &job.Job{Model: laplace, Tuned: laplace, Chain: &objective.Chain{Burn: 3, Samples: 4, Thin: 5}}, []batch{{3, 1, 1, false}},
			sum(work{first: 1, gram: moves, warm: moves}, t), sum(once, t) + sum(work{gram: 12, warm: 12, predict: 12}, t), moves},
		{"a compared search", &job.Job{Model: laplace, Tuned: laplace, Climbs: true}, []batch{{5, 2, 2, false}}, sum(work{first: 1, gram: 2, cold: 1, warm: 1, predict: 2}, t),
			sum(once, t) + sum(work{gram: 10, cold: 10, slope: 10}, t), 1}, // at most the evaluations of the search
		{"a long compared search", &job.Job{Model: laplace, Tuned: laplace, Climbs: true}, []batch{{99, 1, 9, false}}, sum(work{first: 1, gram: 1, cold: 1, predict: 1}, t),
			sum(once, t) + sum(work{gram: 22.5, cold: 22.5, slope: 22.5}, t), 1},
	} {
		c.job.Set = set
		got, ok := studyTimes(Nominal, c.job, size, 2, c.trials)
		n, rounds := 0., 0.
		for _, b := range c.trials {
			n, rounds = n+float64(b.trials), rounds+float64(b.rounds)
		}
		fit, _ := Nominal.Times(c.job.Tuned, size, 2)
		want := Times{Evaluation: fit.First + fit.Fit + fit.Gram, Evaluations: c.evaluations, Longest: max(c.trial, c.assess), Trials: n * c.trial,
			All: n*c.trial + c.assess, Path: rounds*c.trial + c.assess}
		if c.job.Optimizer != "" && c.job.Gradients == objective.Exact {
			want.Evaluation += fit.Gradient + fit.Pullback
		}
		if !ok || !closeTo(got, want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
	}
	// A preliminary trial is one of another method, and those after it are shorter.
	j := &job.Job{Model: ep, Tuned: ep, Starting: laplace, Optimizer: "bfgs", Set: set}
	got, ok := studyTimes(Nominal, j, size, 2, []batch{{2, 1, 1, true}, {1, 1, 1, false}})
	before, after := climb(15).takes(t, laplace, size), climb(15./3).takes(t, ep, size)
	if assess := once.takes(t, ep, size); !ok || !isNear(got.Preliminary, 2*before) || !isNear(got.Trials, 2*before+after) || !isNear(got.All, 2*before+after+assess) || !isNear(got.Path, before+after+assess) {
		t.Errorf("%+v, want trials of %v and %v, and %v", got, before, after, assess)
	}
	// Chains without lengths have the defaults: 100 moves of burn-in for each hyperparameter, and
	// 100 samples of 2 moves each.
	j = &job.Job{Model: laplace, Tuned: laplace, Chain: &objective.Chain{}, Set: set}
	got, _ = studyTimes(Nominal, j, size, 2, []batch{{1, 1, 1, false}})
	if want := sum(work{first: 1, gram: 1000, warm: 1000}, t); !isNear(got.Trials, want) {
		t.Errorf("%+v, want %v", got, want)
	}
	if want := sum(once, t) + sum(work{gram: 100, warm: 100, predict: 100}, t); !isNear(got.All-got.Trials, want) {
		t.Errorf("%+v, want %v", got, want)
	}
	// Without a rate there are no times.
	unknown := &Rates{known: map[string]speed{}, measure: func(m objective.Model, _, _ int) (speed, error) {
		if approx.Table.NameOf(m.Inference) == "ep" {
			return speed{}, errors.New("not measured")
		}
		return speed{1, 1}, nil
	}}
	for _, c := range []struct {
		model, tuned, starting objective.Model
		ok                     bool
	}{{laplace, laplace, laplace, true}, {ep, laplace, laplace, false}, {laplace, ep, laplace, false}, {laplace, laplace, ep, false}, {laplace, laplace, objective.Model{}, true}} {
		j := &job.Job{Model: c.model, Tuned: c.tuned, Starting: c.starting, Optimizer: "bfgs", Set: set}
		if _, ok := studyTimes(unknown, j, size, 2, []batch{{1, 1, 1, false}}); ok != c.ok {
			t.Errorf("%+v: %v", c, ok)
		}
	}
}

func isNear(a, b float64) bool { return math.Abs(a-b) <= 1e-12*(1+math.Abs(b)) }

func closeTo(a, b Times) bool {
	return isNear(a.Evaluation, b.Evaluation) && isNear(a.Evaluations, b.Evaluations) && isNear(a.Longest, b.Longest) && isNear(a.Trials, b.Trials) &&
		isNear(a.Preliminary, b.Preliminary) && isNear(a.All, b.All) && isNear(a.Path, b.Path)
}
