package job

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/preprocess"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// crowd is a job on the first fourteen of twenty cases of two overlapping classes, with some of the
// others held out.
func crowd(inference, tuned approx.Approximation, held ...int) *Job {
	d := &data.Data{X: mat.NewDense(20, 1, nil), Classes: []string{"a", "b"}, ColumnNames: []string{"u"},
		Schema: &data.Schema{Inputs: []data.Column{{Name: "u"}}}}
	for i := range 20 {
		d.X.Set(i, 0, math.Mod(float64(7*i), 20)/5)
		d.Rows, d.Labels = append(d.Rows, 3*i), append(d.Labels, 0)
		if d.X.At(i, 0)+math.Cos(float64(i)) > 2 {
			d.Labels[i] = 1
		}
	}
	s := &Set{Evaluation: "kfold", Source: d, Test: held, Studies: 9, Seed: 5}
	for i := range 14 {
		s.Train = append(s.Train, i)
	}
	model := func(of approx.Approximation) objective.Model {
		return objective.Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{}, Inference: of}
	}
	return &Job{Model: model(inference), Tuned: model(tuned), Hybrid: inference != tuned, Criterion: objective.LogEvidence{},
		Average: objective.Averaged{}, Set: s}
}

// fitOf is the fit of a model to the training cases of a job, computed without it.
func fitOf(t *testing.T, j *Job, m objective.Model, free []float64) (*objective.Point, *objective.Objective) {
	t.Helper()
	p, err := j.Set.Prepare()
	if err != nil {
		t.Fatal(err)
	}
	o, err := objective.New(m, objective.LogEvidence{}, p.Data)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := o.At(context.Background(), free)
	if err != nil {
		t.Fatal(err)
	}
	return fit, o
}

// probabilities returns the probabilities of the second class for the cases with these numbers.
func probabilities(j *Job, fit *objective.Point, rows []int) (p []float64) {
	z := &kernel.Inputs{X: data.PickRows(j.Set.Source.X, rows)}
	both := mat.NewDense(len(rows), 2, nil)
	fit.PredictProba(both, z, j.Average)
	return mat.Col(nil, 1, both)
}

// lossOf is the mean log loss of such probabilities, in nats.
func lossOf(j *Job, p []float64, rows []int) (sum float64) {
	for i, row := range rows {
		if j.Set.Source.Labels[row] == 1 {
			sum -= math.Log(p[i]) / float64(len(rows))
		} else {
			sum -= math.Log(1-p[i]) / float64(len(rows))
		}
	}
	return sum
}

// asRows are the probabilities of both classes.
func asRows(p []float64) *mat.Dense {
	both := mat.NewDense(len(p), 2, nil)
	for i, v := range p {
		both.SetRow(i, []float64{1 - v, v})
	}
	return both
}

// countsOf counts the training cases of each class.
func countsOf(j *Job) []int {
	counts := make([]int, 2)
	for _, row := range j.Set.Train {
		counts[j.Set.Source.Labels[row]]++
	}
	return counts
}

func near(a, b, within float64) bool { return math.Abs(a-b) <= within*(1+math.Abs(b)) }

// A row of points has at each the value of the model that is tuned, and the scores of the held-out
// cases under the one that predicts. What a twin with other held-out cases would compute is kept
// for it, once.
func TestTrialOfARow(t *testing.T) {
	row := [][]float64{{0.3, 0.5}, {-0.2, 1}, {math.NaN(), 0}}
	for _, tuned := range []approx.Approximation{approx.Laplace{}, approx.EP{}} {
		alone := crowd(approx.EP{}, tuned, 14, 15, 16)
		j, twin := crowd(approx.EP{}, tuned, 14, 15, 16), crowd(approx.EP{}, tuned, 17, 18)
		j.SameTraining = twin
		got, err := j.Trial(t.Context(), 0, search.Proposal{Points: row})
		if err != nil || got.Status != "evaluated" || len(got.Points) != 3 || !got.Failure.IsZero() {
			t.Fatalf("%+v, %v", got, err)
		}
		if without, err := alone.Trial(t.Context(), 0, search.Proposal{Points: row}); err != nil || without.Evaluations != 3 || !without.Points[2].Value.None() || fmt.Sprint(without.Points[:2]) != fmt.Sprint(got.Points[:2]) {
			t.Errorf("with a twin %+v, alone %+v, %v", got, without, err)
		}
		model, of := twin.Tuned, twin.Set.Source
		twin.Tuned, twin.Set.Source = objective.Model{}, nil // it can compute nothing
		kept, err := twin.Trial(t.Context(), 0, search.Proposal{Points: row})
		if err != nil || kept.Evaluations != got.Evaluations || len(kept.Points) != 3 {
			t.Fatalf("%+v, %v", kept, err)
		}
		twin.Tuned, twin.Set.Source = model, of
		for _, part := range []struct {
			*Job
			record.Trial
		}{{j, got}, {twin, kept}} {
			for i, at := range part.Points[:2] {
				value, o := fitOf(t, part.Job, part.Tuned, row[i])
				predicts, _ := fitOf(t, part.Job, part.Model, row[i])
				loss := lossOf(part.Job, probabilities(part.Job, predicts, part.Set.Test), part.Set.Test)
				if !near(float64(at.Value), value.Value(), 1e-9) || !near(float64(at.Scores["log_loss"]), loss, 1e-7) || !at.Usable() ||
					!slices.Equal(record.Floats(at.Natural), o.Layout.Natural(row[i])) || !slices.Equal(record.Floats(at.Theta), row[i]) || !at.Gradient.None() {
					t.Errorf("%+v, want %v with %v", at, value.Value(), loss)
				}
			}
			if last := part.Points[2]; !last.Value.None() || last.Scores != nil || !strings.Contains(last.Failure.String(), "fold") {
				t.Errorf("no number: %+v", last)
			}
		}
		if again, err := twin.Trial(t.Context(), 0, search.Proposal{Points: row[:1]}); err != nil || len(again.Points) != 1 || again.Points[0].Value != kept.Points[0].Value {
			t.Errorf("other points: %+v, %v", again, err)
		}
	}
	whole := crowd(approx.EP{}, approx.Laplace{})
	if got, err := whole.Trial(t.Context(), 0, search.Proposal{Points: row[:1]}); err != nil || got.Points[0].Scores != nil || got.Evaluations != 1 || !got.Points[0].Usable() {
		t.Errorf("nothing is held out: %+v, %v", got, err)
	}
}

// Held-out numbers with weights are scored with them.
func TestTrialOfWeightedNumbers(t *testing.T) {
	j := crowd(approx.Exact{}, approx.Exact{}, 14, 15, 16)
	d := j.Set.Source
	d.Labels, d.Classes = nil, nil
	for i := range 20 {
		d.Targets, d.Weights = append(d.Targets, 3+math.Sin(d.X.At(i, 0))), append(d.Weights, float64(1+i%3))
	}
	j.Model.Likelihood = likelihood.Gaussian{}
	j.Tuned = j.Model
	free := []float64{0.3, 0.5}
	got, err := j.Trial(t.Context(), 0, search.Proposal{Points: [][]float64{free}})
	if err != nil || len(got.Points) != 1 || !got.Points[0].Usable() {
		t.Fatalf("%+v, %v", got, err)
	}
	fit, _ := fitOf(t, j, j.Model, free)
	mean, variance := make([]float64, 3), make([]float64, 3)
	fit.PredictMoments(mean, variance, &kernel.Inputs{X: data.PickRows(d.X, j.Set.Test)})
	squares, weights := 0.0, 0.0
	for i, row := range j.Set.Test {
		squares += d.Weights[row] * (mean[i] - d.Targets[row]) * (mean[i] - d.Targets[row])
		weights += d.Weights[row]
	}
	if got, want := float64(got.Points[0].Scores["rmse"]), math.Sqrt(squares/weights); !near(got, want, 1e-9) {
		t.Errorf("a root mean squared error of %v, want %v", got, want)
	}
}

// A score over folds is the mean over all of their held-out cases, or their sum, with the sign for
// which more is better. A fit that fails in one fold fails its point only.
func TestTrialOverFolds(t *testing.T) {
	row := [][]float64{{0.3, 0.5}, {math.NaN(), 0}, {-0.2, 1}}
	for name, sign := range map[string]float64{"log_loss": -1, "information_bits": 1, "errors": -1} {
		score, err := cv.ScoreNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		j := crowd(approx.EP{}, approx.EP{}, 14, 15)
		j.Score = &score
		if j.Folds, err = j.Set.Split(split.KFold{K: 3}, 1, "inner"); err != nil {
			t.Fatal(err)
		}
		got, err := j.Trial(t.Context(), 0, search.Proposal{Points: row})
		if err != nil || len(got.Points) != 3 {
			t.Fatalf("%+v, %v", got, err)
		}
		for _, i := range []int{0, 2} {
			want := 0.0
			for _, fold := range j.Folds {
				part := crowd(approx.EP{}, approx.EP{}, fold.Test...)
				part.Set.Train = fold.Train
				fit, _ := fitOf(t, part, part.Tuned, row[i])
				p := probabilities(part, fit, fold.Test)
				switch name {
				case "log_loss":
					want += sign * lossOf(part, p, fold.Test) * float64(len(fold.Test)) / 14
				case "errors":
					for k, c := range fold.Test {
						if (p[k] > 0.5) != (part.Set.Source.Labels[c] == 1) {
							want += sign
						}
					}
				default: // relative to the frequencies of the classes in the training part
					own, of := cv.NewPredictions(fold.Test, data.Pick(part.Set.Source.Labels, fold.Test), asRows(p), countsOf(part))
					e, _, err := score.Of(own)
					if of != nil || err != nil {
						t.Fatal(of, err)
					}
					want += e.Value * float64(len(fold.Test)) / 14
				}
			}
			if at := got.Points[i]; !near(float64(at.Value), want, 1e-7) || at.Scores["log_loss"] == 0 {
				t.Errorf("%s: %+v, want %v", name, at, want)
			}
		}
		if last := got.Points[1]; !last.Value.None() || !strings.Contains(last.Failure.String(), "inner repeat 0 fold 0") {
			t.Errorf("%+v", last)
		}
	}
}

// A trial with a fraction of the budget has some of the cases, the first folds, or fewer inducing
// inputs. A score over folds uses all held-out cases of these folds. The trial has no scores, and a
// twin does not take it for another fraction.
func TestTrialOfAShare(t *testing.T) {
	free := []float64{0.3, 0.5}
	loss, err := cv.ScoreNamed("log_loss")
	if err != nil {
		t.Fatal(err)
	}
	few := approx.Approximation(approx.EP{})
	few, _ = approx.With(few, objective.Inducing{Points: 6})
	fewer, _ := approx.With(few, objective.Inducing{Points: 2})
	for _, c := range []struct {
		share  record.Share
		tuned  approx.Approximation // inference of the job
		folded bool
		want   func(j *Job, set *Set) (train []int, model objective.Model)
	}{
		{record.Share{Of: "cases", Part: 1. / 3}, approx.EP{}, false, func(j *Job, set *Set) ([]int, objective.Model) {
			return data.Pick(set.Train, set.some(5)), j.Tuned
		}},
		{record.Share{Of: "cases", Part: 1. / 3}, approx.EP{}, true, func(j *Job, set *Set) ([]int, objective.Model) {
			return data.Pick(set.Train, set.some(3)), j.Tuned
		}},
		{record.Share{Of: "cases", Part: 1e-3}, approx.EP{}, false, func(j *Job, set *Set) ([]int, objective.Model) {
			return data.Pick(set.Train, set.some(2)), j.Tuned
		}},
		{record.Share{Of: "folds", Part: 1. / 3}, approx.EP{}, true, func(j *Job, set *Set) ([]int, objective.Model) {
			return set.Train, j.Tuned
		}},
		{record.Share{Of: "inducing", Part: 1. / 3}, few, false, func(j *Job, set *Set) ([]int, objective.Model) {
			m := j.Tuned
			m.Inference = fewer
			return set.Train, m
		}},
	} {
		j, twin := crowd(c.tuned, c.tuned, 14, 15), crowd(c.tuned, c.tuned, 16)
		if j.SameTraining = twin; c.folded {
			j.Score = &loss
			if j.Folds, err = j.Set.Split(split.KFold{K: 3}, 1, "inner"); err != nil {
				t.Fatal(err)
			}
		}
		all, err := j.Trial(t.Context(), 0, search.Proposal{Points: [][]float64{free}})
		if err != nil || len(all.Points) != 1 {
			t.Fatalf("%+v, %v", all, err)
		}
		got, err := j.Trial(t.Context(), 1, search.Proposal{Points: [][]float64{free}, Share: c.share, Preliminary: true})
		if err != nil || len(got.Points) != 1 || !got.Points[0].Usable() || got.Points[0].Scores != nil || got.Points[0].Value == all.Points[0].Value {
			t.Fatalf("%v: %+v, %v; all have %+v", c.share, got, err, all)
		}
		sets := []*Set{j.Set}
		if c.folded {
			if sets = j.Folds; c.share.Of == "folds" {
				sets = sets[:1]
			}
		}
		want, held := 0.0, 0
		for _, set := range sets {
			part := crowd(c.tuned, c.tuned, set.Test...)
			rows, model := c.want(j, set)
			part.Set.Train = rows
			p, err := part.Set.Prepare()
			if err != nil {
				t.Fatal(err)
			}
			o, err := objective.New(model, objective.LogEvidence{}, p.Data)
			if err == nil {
				err = objective.Choose(t.Context(), o, new(objective.Choices))
			}
			if err != nil {
				t.Fatal(err)
			}
			fit, err := o.At(t.Context(), free)
			if err != nil {
				t.Fatal(err)
			}
			if want += fit.Value(); c.folded {
				want -= fit.Value() + lossOf(part, probabilities(part, fit, set.Test), set.Test)*float64(len(set.Test))
				held += len(set.Test)
			}
		}
		if c.folded {
			want /= float64(held)
		}
		if value := float64(got.Points[0].Value); !near(value, want, 1e-7) {
			t.Errorf("%v over folds %v: %v, want %v", c.share, c.folded, value, want)
		}
		if kept, err := twin.Trial(t.Context(), 0, search.Proposal{Points: [][]float64{free}}); err != nil || kept.Points[0].Value != all.Points[0].Value {
			t.Errorf("%v: the twin's trial of all is %+v, %v", c.share, kept, err)
		}
	}
}

// The record of a climb has its start, its path if all of the training data is used, and its end,
// with the steepest slope there; scores has the scores of the held-out cases at each step.
func TestTrialOfAClimb(t *testing.T) {
	start := []float64{0.3, 0.5}
	for _, c := range []struct{ whole, traced, hybrid, preliminary bool }{
		{false, false, false, false}, {true, false, false, false}, {true, true, false, false}, {true, true, true, false}, {true, true, true, true},
	} {
		tuned := approx.Approximation(approx.EP{})
		if c.hybrid {
			tuned = approx.Laplace{}
		}
		j := crowd(approx.EP{}, tuned, 14, 15, 16, 17)
		j.Optimizer, j.Whole, j.TraceScores = "bfgs", c.whole, c.traced
		if j.Starting = j.Tuned; c.preliminary {
			j.Starting = j.Model
		}
		got, err := j.Trial(t.Context(), 0, search.Proposal{Points: [][]float64{start}, Preliminary: c.preliminary})
		if err != nil || len(got.Points) != 1 || got.Status != "converged" || got.Evaluations < 3 {
			t.Fatalf("%+v: %+v, %v", c, got, err)
		}
		of := j.Tuned
		if c.preliminary {
			of = j.Starting
		}
		end := got.Points[0]
		fit, o := fitOf(t, j, of, record.Floats(end.Theta))
		slope := make([]float64, 2)
		if err := fit.Gradient(slope); err != nil || !near(float64(end.Value), fit.Value(), 1e-9) || math.Abs(float64(end.Gradient)-floats.Norm(slope, math.Inf(1))) > 1e-7 || end.Gradient > 1e-3 {
			t.Errorf("%+v: %+v, want %v with the gradient %v, %v", c, end, fit.Value(), slope, err)
		}
		if !slices.Equal(record.Floats(got.Start), o.Layout.Natural(start)) {
			t.Errorf("%+v: started at %v", c, got.Start)
		}
		if n := len(got.Path); (n > 1) != c.whole || n > 0 && (!slices.Equal(got.Path[n-1].Theta, end.Theta) || got.Path[n-1].Value != end.Value || !slices.Equal(record.Floats(got.Path[0].Theta), start)) {
			t.Errorf("%+v: %+v", c, got.Path)
		}
		for _, s := range got.Path {
			predicts, _ := fitOf(t, j, j.Model, record.Floats(s.Theta))
			loss := lossOf(j, probabilities(j, predicts, j.Set.Test), j.Set.Test)
			if scored := c.traced && !c.preliminary; (s.Scores != nil) != scored || scored && !near(float64(s.Scores["log_loss"]), loss, 1e-7) {
				t.Errorf("%+v: %+v, want %v", c, s, loss)
			}
			if told := c.hybrid && !c.preliminary; (s.LogEvidence != nil) != told || told && !near(float64(*s.LogEvidence), predicts.Value(), 1e-7) {
				t.Errorf("%+v: %+v, want %v", c, s, predicts.Value())
			}
		}
	}
	j := crowd(approx.EP{}, approx.EP{}, 14)
	j.Optimizer = "bfgs"
	if got, err := j.Trial(t.Context(), 0, search.Proposal{Points: [][]float64{{math.NaN(), 0}}}); err != nil || len(got.Points) != 0 || !strings.Contains(got.Failure.String(), "restart from [NaN 0]") {
		t.Errorf("%+v, %v", got, err)
	}
}

// A preliminary trial of some of the cases climbs to an optimum of these alone, with their weights, preprocessed as all
// are; the trial after it is of all cases.
func TestTrialOfSomeCases(t *testing.T) {
	j := crowd(approx.EP{}, approx.EP{}, 15)
	for i := range 20 {
		j.Set.Source.Weights = append(j.Set.Source.Weights, float64(1+i%3))
	}
	j.Set.How = preprocess.Choice{How: "standardize"}
	j.Optimizer, j.Starting, j.StartCases = "bfgs", j.Tuned, 9
	start := []float64{0.3, 0.2}
	trial, err := j.Trial(context.Background(), 0, search.Proposal{Points: [][]float64{start}, Preliminary: true})
	if err != nil || len(trial.Points) != 1 {
		t.Fatalf("%+v, %v", trial, err)
	}
	p, err := j.Set.Prepare()
	if err != nil {
		t.Fatal(err)
	}
	some := objective.Data{Y: approx.Targets{Classes: 2}, Scaled: true}
	x := mat.NewDense(9, 1, nil)
	for i, k := range j.Set.some(9) {
		x.Set(i, 0, p.Data.X.X.At(k, 0))
		some.Y.Value = append(some.Y.Value, p.Data.Y.Value[k])
		some.Y.Weight = append(some.Y.Weight, float64(1+k%3))
	}
	some.X = &kernel.Inputs{X: x}
	o, err := objective.New(j.Tuned, objective.LogEvidence{}, some)
	if err != nil {
		t.Fatal(err)
	}
	end := trial.Points[0]
	fit, err := o.At(context.Background(), record.Floats(end.Theta))
	// these few cases do not determine the amplitude, whose slope is 0.01 where the climb ends
	if err != nil || !near(float64(end.Value), fit.Value(), 1e-12) || !near(float64(end.Gradient), 0.01, 1e-4) {
		t.Errorf("it ends at %v with gradient %v; the log evidence of these cases is %v, %v", end.Value, end.Gradient,
			fit.Value(), err)
	}
	all, err := j.Trial(context.Background(), 1, search.Proposal{Points: [][]float64{record.Floats(end.Theta)}})
	if err != nil || len(all.Points) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	whole, _ := fitOf(t, j, j.Tuned, record.Floats(all.Points[0].Theta))
	if !near(float64(all.Points[0].Value), whole.Value(), 1e-12) {
		t.Errorf("the last trial has the value %v, the log evidence of all cases is %v", all.Points[0].Value, whole.Value())
	}
}

// The end of a search is compared with climbs that take at most as many evaluations; only a climb
// that ends more than one nat higher gives a warning.
func TestSearchesAreComparedWithClimbs(t *testing.T) {
	j := crowd(approx.EP{}, approx.EP{}, 14)
	_, o := fitOf(t, j, j.Tuned, []float64{0, 0})
	top, err := objective.Optimize(t.Context(), o, []float64{0.3, 0.5}, objective.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	ended := func(below float64, evaluations int) []record.Trial {
		point := record.Point{Theta: record.Numbers(top.Theta), Value: record.Number(top.Value - below)}
		lost := record.Point{Theta: point.Theta, Value: 99, Failure: cause.Failure.New("lost")}
		return []record.Trial{{Index: 0, Evaluations: evaluations / 2, Points: []record.Point{{Value: 1e9}}},
			{Index: 1, Evaluations: evaluations - evaluations/2, Points: []record.Point{{Value: -1e9}, point, lost}}}
	}
	for _, c := range []struct {
		below       float64
		evaluations int
		free        []float64
		off, warned bool
	}{
		{below: 0, evaluations: 200, free: top.Theta}, {below: 0.99, evaluations: 200, free: top.Theta}, {below: 1.01, evaluations: 200, free: top.Theta, warned: true},
		{below: 5, evaluations: 2, free: top.Theta, warned: true}, {below: 5, evaluations: 1, free: top.Theta, warned: true}, {below: 5, evaluations: 0, free: top.Theta}, {below: 5, evaluations: 200},
		{below: 5, evaluations: 200, free: top.Theta, off: true},
	} {
		var f record.Fit
		j.Climbs = !c.off
		if err := j.compareWithClimbs(t.Context(), 1, c.free, ended(c.below, c.evaluations), &f); err != nil {
			t.Fatal(err)
		}
		compared := !c.off && c.free != nil && c.evaluations > 0
		if (len(f.Warnings) == 1) != c.warned || len(f.Warnings) > 1 || (f.Climbed > 0) != compared || f.Climbed > c.evaluations {
			t.Errorf("%+v: %d evaluations, %v", c, f.Climbed, f.Warnings)
		}
		if n := c.evaluations; n > 0 && n <= 2 && f.Climbed != n {
			t.Errorf("%d evaluations, want all", f.Climbed)
		}
	}
}

// The set of a job, and the set of its twin, are in use while the parts of the job are.
func TestPartsAreInUse(t *testing.T) {
	j := crowd(approx.EP{}, approx.EP{}, 14)
	j.SameTraining = crowd(approx.EP{}, approx.EP{}, 15)
	all, done, err := j.parts()
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	for i, of := range []*Job{j, j.SameTraining} {
		of.Set.Use()() // another job on the same cases ends
		if p, _ := of.Set.Prepare(); p != all[i].p {
			t.Errorf("part %d is released before its end", i)
		}
	}
	done()
	for i, of := range []*Job{j, j.SameTraining} {
		if p, _ := of.Set.Prepare(); p == all[i].p {
			t.Errorf("part %d is kept after its end", i)
		}
	}
}
