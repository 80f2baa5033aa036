package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// Inducing inputs are recommended from the number of cases on from which they pay, once for each
// method and size, and not for folds and comparators.
func TestAdvice(t *testing.T) {
	m := modelOf(t, "laplace", "probit", 0, kernel.SE{})
	_, from, err := inducingFrom(m, approx.Size{Classes: 2}, 1)
	if err != nil {
		t.Fatal(err)
	}
	study := func(n, index int, of comparator.Comparator) Study {
		set := &job.Set{Source: &data.Data{X: mat.NewDense(n, 1, nil), Classes: []string{"a", "b"}}, Train: make([]int, n)}
		return Study{Study: schedule.Study{Index: index}, Job: &job.Job{Model: m, Comparator: of, Set: set}}
	}
	advice := func(n int) string {
		return fmt.Sprintf("note: with about %d or more cases, inference: {laplace: {inducing: 500}} takes at most a tenth of the time of laplace; this data set has %d (docs/models.md)", from, n)
	}
	for _, c := range []struct {
		studies []Study
		want    []string
	}{
		{[]Study{study(from-1, 0, nil)}, nil}, {[]Study{study(from, 0, nil)}, []string{advice(from)}},
		{[]Study{study(from, 0, nil), study(from, 0, nil), study(from+1, 0, nil)}, []string{advice(from), advice(from + 1)}},
		{[]Study{study(from, 1, nil), study(from, 0, comparator.BaseRate{})}, nil},
		{[]Study{study(from-1, 0, nil), study(from, 0, nil)}, []string{advice(from)}},
	} {
		if got := (&Plan{Spec: &spec.Spec{}, Studies: c.studies}).Advice(); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := (&Plan{Spec: &spec.Spec{Program: &spec.Program{}}, Studies: []Study{study(from, 0, nil)}}).Advice(); got != nil {
		t.Errorf("a program is advised: %q", got)
	}
}

// Inducing inputs are recommended where they halve the memory at least, of both models of a job.
func TestAdviceOnMemory(t *testing.T) {
	m, svm := modelOf(t, "laplace", "probit", 0, kernel.SE{}), modelOf(t, "ensemble_mean_field", "probit", 0, kernel.SE{})
	set := &job.Set{Source: &data.Data{X: mat.NewDense(4000, 1, nil), Classes: []string{"a", "b"}}, Train: make([]int, 4000)}
	size := set.Size(false)
	with := modelOf(t, "laplace", "probit", 500, kernel.SE{})
	j := &job.Job{Model: m, Tuned: m, Set: set}
	need := j.MemoryWith(size, with, with)
	if need >= j.Memory(size) {
		t.Fatalf("%d bytes with inducing inputs, %d without", need, j.Memory(size))
	}
	if got := less(j, size, 2*need); !strings.HasPrefix(got, "write inference: {laplace: {inducing: 500}}, with which it needs ") || !strings.HasSuffix(got, "iB") {
		t.Errorf("%q", got)
	}
	if got := less(j, size, 2*need-1); got != "" {
		t.Errorf("less than half: %q", got)
	}
	for _, j := range []*job.Job{{Model: svm, Tuned: m, Set: set}, {Model: m, Tuned: svm, Set: set}} {
		if got := less(j, size, 1<<60); got != "" {
			t.Errorf("a method without inducing inputs: %q", got)
		}
	}
}

// A contest continues with the configurations that are still in. With WinnerOnly it continues with
// the winner, once all folds are known.
func TestWhoGoesOn(t *testing.T) {
	of := func(p float64, fold int) *record.Fit {
		return &record.Fit{Rows: []int{2 * fold, 2*fold + 1}, Labels: []int{0, 1}, TrainCounts: []int{5, 5},
			Proba: record.Matrix{{record.Number(p), record.Number(1 - p)}, {record.Number(1 - p), record.Number(p)}}}
	}
	lost := &record.Fit{Failure: cause.Failure.New("lost")}
	for _, c := range []struct {
		fits   []*record.Fit
		winner bool
		want   []int
	}{
		{[]*record.Fit{of(0.6, 0), of(0.6, 1), of(0.9, 0), of(0.9, 1)}, true, []int{7}},
		{[]*record.Fit{of(0.9, 0), of(0.9, 1), of(0.6, 0), of(0.6, 1)}, true, []int{4}},
		{[]*record.Fit{of(0.6, 0), of(0.6, 1), of(0.9, 0), of(0.9, 1)}, false, []int{4, 7}},
		{[]*record.Fit{lost, lost, of(0.9, 0), of(0.9, 1)}, true, []int{7}},
		{[]*record.Fit{lost, lost, lost, lost}, true, nil},
		{[]*record.Fit{of(0.6, 0), of(0.9, 0)}, true, []int{4, 7}}, // one of two folds
	} {
		r := record.Contest{Evaluation: "kfold", Score: "log_loss", Configurations: []int{4, 7}, Folds: []int{1, 2}, Next: []int{0}, WinnerOnly: c.winner}
		contest, err := r.Rule()
		if err != nil {
			t.Fatal(err)
		}
		if got := goOn(contest, r, 2, c.fits); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// The trials of equal searches are counted once. Two studies share trials if they have the same
// tuning, if one is the twin of the other, or if one is the preliminary search of the other.
func TestTrialsAreCountedOnce(t *testing.T) {
	all := func(*Rates) (Times, bool) { return Times{All: 10, Trials: 7, Preliminary: 4}, true }
	bfgs := search.Table.Default("bfgs")
	study := func(key, tuning, twin, starting string, seed uint64, first int, s search.Strategy) Study {
		return Study{First: first, Times: all, Study: schedule.Study{Key: key, Seed: seed, Strategy: s, Shared: schedule.Shared{Tuning: tuning, SameAs: twin, Starting: starting}}}
	}
	random := search.Random{Design: search.Design{Trials: 3}}
	for _, c := range []struct {
		name    string
		studies []Study
		lead    int
		want    Times // times of the second study
	}{
		{"others", []Study{study("a", "t", "", "", 1, 3, random), study("b", "u", "", "", 1, 3, random)}, 1, Times{All: 10, Trials: 7, Preliminary: 4}},
		{"not shared", []Study{study("a", "", "", "", 1, 3, random), study("b", "", "", "", 1, 3, random)}, 1, Times{All: 10, Trials: 7, Preliminary: 4}},
		{"the same tuning", []Study{study("a", "t", "", "", 1, 3, random), study("b", "t", "", "", 1, 3, random)}, 0, Times{All: 3, Preliminary: 4}},
		{"another seed", []Study{study("a", "t", "", "", 1, 3, random), study("b", "t", "", "", 2, 3, random)}, 1, Times{All: 10, Trials: 7, Preliminary: 4}},
		{"another seed, one random point", []Study{study("a", "t", "", "", 1, 1, random), study("b", "t", "", "", 2, 1, random)}, 1, Times{All: 10, Trials: 7, Preliminary: 4}},
		{"one start", []Study{study("a", "t", "", "", 1, 1, bfgs), study("b", "t", "", "", 2, 1, bfgs)}, 0, Times{All: 3, Preliminary: 4}},
		{"another strategy", []Study{study("a", "t", "", "", 1, 1, random), study("b", "t", "", "", 1, 1, bfgs)}, 1, Times{All: 10, Trials: 7, Preliminary: 4}},
		{"another start", []Study{study("a", "t", "", "s", 1, 1, bfgs), study("b", "t", "", "u", 1, 1, bfgs)}, 1, Times{All: 10, Trials: 7, Preliminary: 4}},
		{"a twin", []Study{study("a", "t", "", "", 1, 3, random), study("b", "", "a", "", 1, 3, random)}, 0, Times{Preliminary: 4}},
		{"started by it", []Study{study("a", "s", "", "", 1, 1, bfgs), study("b", "t", "", "s", 1, 1, bfgs)}, 1, Times{All: 6, Trials: 3}},
		{"started by another seed", []Study{study("a", "s", "", "", 1, 3, bfgs), study("b", "t", "", "s", 2, 3, bfgs)}, 1, Times{All: 10, Trials: 7, Preliminary: 4}},
		{"not started", []Study{study("a", "", "", "", 1, 1, bfgs), study("b", "t", "", "", 1, 1, bfgs)}, 1, Times{All: 10, Trials: 7, Preliminary: 4}},
	} {
		p := &planner{Plan: &Plan{Studies: c.studies}}
		p.lead()
		got, ok := p.Studies[1].Times(nil)
		if first, _ := p.Studies[0].Times(nil); p.Studies[0].RunsTrialsOf != 0 || p.Studies[1].RunsTrialsOf != c.lead || !ok || got != c.want || first.All != 10 {
			t.Errorf("%s: led by %d with %+v, want %d and %+v", c.name, p.Studies[1].RunsTrialsOf, got, c.lead, c.want)
		}
	}
}
