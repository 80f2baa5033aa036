package plan

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	_ "github.com/gpc-tune/gpc-tune/internal/testing/garbage"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// modelOf is a model with a number of inducing inputs, or 0 for none.
func modelOf(t *testing.T, inference, of string, inducing int, kernels ...kernel.Kernel) objective.Model {
	t.Helper()
	m := objective.Model{Kernels: kernels, Likelihood: likelihood.Table.Default(of), Inference: approx.Table.Default(inference)}
	if inducing > 0 {
		with, ok := objective.Induced(m.Inference, inducing)
		if !ok {
			t.Fatalf("%s has no inducing inputs", inference)
		}
		m.Inference = with
	}
	return m
}

// The nominal times of problems, worked out by hand from the operations that the comment of times
// counts.
func TestNominalTimes(t *testing.T) {
	se, linear := kernel.SE{}, kernel.SE{ARD: true}
	for _, c := range []struct {
		name  string
		model objective.Model
		size  approx.Size
		want  FitTimes
	}{
		// n² = 1e6, n³ = 1e9; two inputs, two hyperparameters, ten new cases
		{"laplace", modelOf(t, "laplace", "probit", 0, se), approx.Size{Cases: 1000, Distinct: 1000, New: 10, Classes: 2},
			FitTimes{First: 1.2e-3, Gram: 1e-2, Fit: 0.121, Again: 0.041, Gradient: 0.06, Pullback: 3e-3,
				Predict: 2e-4 + 1e-3 + 1e-4 + 1e-5}},
		{"two kernels", modelOf(t, "laplace", "probit", 0, se, linear), approx.Size{Cases: 1000, Distinct: 1000, Classes: 2},
			FitTimes{First: 1.2e-3, Gram: 2e-2, Fit: 0.121, Again: 0.041, Gradient: 0.06, Pullback: 6e-3}},
		// one process for each of three classes
		{"softmax", modelOf(t, "laplace", "softmax", 0, se), approx.Size{Cases: 1000, Distinct: 1000, New: 10, Classes: 3},
			FitTimes{First: 1.2e-3, Gram: 1e-2, Fit: 0.363, Again: 0.123, Gradient: 0.18, Pullback: 3e-3,
				Predict: 2e-4 + 3*(1e-3+1e-4+1e-5)}},
		// 100 inducing inputs: n m = 1e5, n m² = 1e7, in six passes
		{"inducing", modelOf(t, "laplace", "probit", 100, se), approx.Size{Cases: 1000, Distinct: 1000, New: 10, Classes: 2},
			FitTimes{First: 1.2e-4, Gram: 1e-3, Fit: 6e-3 + 1.2e-2 + 1e-3, Again: 1.8e-3 + 6e-3 + 1e-3, Gradient: 3e-3 + 6e-3,
				Pullback: 3e-4, Predict: 2e-5 + 1e-5 + 1e-5 + 1e-5}},
	} {
		got, ok := Nominal.Times(c.model, c.size, 2)
		a, b := []float64{got.First, got.Gram, got.Fit, got.Again, got.Gradient, got.Pullback, got.Predict},
			[]float64{c.want.First, c.want.Gram, c.want.Fit, c.want.Again, c.want.Gradient, c.want.Pullback, c.want.Predict}
		for i := range a {
			if math.Abs(a[i]-b[i]) > 1e-12 {
				t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
				break
			}
		}
		if sum := got.Gram + got.Fit + got.Gradient + got.Pullback; !ok || math.Abs(got.Evaluation()-sum) > 1e-12 {
			t.Errorf("%s: an evaluation takes %v, its parts %v", c.name, got.Evaluation(), sum)
		}
	}
}

// A kind of model is measured once; one that cannot be measured has no times, and after some
// seconds further kinds have the speed of the last one.
func TestSpeedsAreRemembered(t *testing.T) {
	measured := 0
	r := &Rates{known: map[string]speed{}, measure: func(m objective.Model, classes, dim int) (speed, error) {
		if measured++; dim == 9 {
			return speed{}, errors.New("cannot")
		}
		return speed{float64(measured), 1}, nil
	}}
	m, wide := modelOf(t, "laplace", "probit", 0, kernel.SE{}), modelOf(t, "laplace", "probit", 0, kernel.SE{ARD: true})
	ask := func(m objective.Model, classes, dim int, want speed, times int) {
		t.Helper()
		if s, ok := r.speed(m, classes, dim); s != want || ok != (want != speed{}) || measured != times {
			t.Errorf("%v, %v after %d measurements, want %v after %d", s, ok, measured, want, times)
		}
	}
	ask(m, 2, 9, speed{}, 1)
	ask(m, 2, 9, speed{}, 1)
	ask(m, 2, 2, speed{2, 1}, 2)
	ask(wide, 2, 2, speed{3, 1}, 3)
	ask(m, 3, 2, speed{4, 1}, 4)
	ask(m, 2, 2, speed{2, 1}, 4)
	r.spent = 4 * time.Second
	ask(modelOf(t, "ep", "probit", 0, kernel.SE{}), 2, 2, speed{4, 1}, 4)
	r.last = speed{} // nothing could be measured so far
	ask(modelOf(t, "variational", "probit", 0, kernel.SE{}), 2, 2, speed{5, 1}, 5)
}

// From the stated number of cases on, to two digits upwards, inducing inputs take a tenth of the
// time, and not before.
func TestInducingPaysFrom(t *testing.T) {
	for _, name := range []string{"laplace", "ep"} {
		m := modelOf(t, name, "probit", 0, kernel.SE{})
		with, from, err := inducingFrom(m, approx.Size{Classes: 2}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if objective.InducingOf(with.Inference).Points != inducing || objective.InducingOf(m.Inference).Points != 0 {
			t.Errorf("%+v", with.Inference)
		}
		gain := func(n int) float64 {
			s := approx.Size{Cases: n, Distinct: n, Classes: 2}
			exact, _ := Nominal.Times(m, s, 2)
			less, _ := Nominal.Times(with, s, 2)
			return exact.Evaluation() / less.Evaluation()
		}
		digit := int(math.Pow(10, math.Floor(math.Log10(float64(from)))-1))
		if from%digit != 0 || gain(from) < 10 || gain(from-digit) >= 10 || from < 1000 || from > 100_000 {
			t.Errorf("%s: from %d cases %v times as fast, with %d fewer %v times", name, from, gain(from), digit, gain(from-digit))
		}
		if _, _, err := inducingFrom(with, approx.Size{Classes: 2}, 2); err == nil {
			t.Errorf("%s: inducing inputs pay beside themselves", name)
		}
	}
}

// A plan that exceeds a limit is reported once; at the limit it is not.
func TestPlansGrow(t *testing.T) {
	for _, c := range []struct {
		studies, jobs, folded int
		want                  string
	}{
		{maxStudies, 10, 0, ""}, {maxStudies + 1, 1, 0, "1000000 trainings"}, {2, maxJobs / 2, 0, ""}, {3, maxJobs/3 + 1, 0, "10000000 jobs"},
		{1, 1, split.MaxFolded, ""}, {1, 1, split.MaxFolded + 1, "cases in the folds"},
	} {
		p := &planner{Plan: &Plan{}, Findings: strictyaml.NewFindings("t.yaml")}
		fits := p.grow(strictyaml.Place{}, 0, 5, 0) && p.grow(strictyaml.Place{}, c.studies, c.jobs, c.folded)
		again := p.grow(strictyaml.Place{}, 1, 0, 0)
		text := ""
		if err := p.Err(); err != nil {
			text = err.Error()
		}
		reports := strings.Count(text, "the experiment has more than")
		if fits != (c.want == "") || !strings.Contains(text, c.want) || !fits && (again || reports != 1) {
			t.Errorf("%+v: fits %v, then %v: %s", c, fits, again, text)
		}
		if of := p.size; of.studies != c.studies+1 || of.jobs != c.studies*c.jobs || of.folded != c.folded {
			t.Errorf("%+v: counted %+v", c, of)
		}
	}
}

// A model that is declared again is run once, and a warning says so once.
func TestRepetitionsAreCounted(t *testing.T) {
	for _, repeats := range [][]int{{0}, {0, 0}, {0, 0, 0}, {1}, {1, 0}, {2, 1}} {
		p := &planner{Plan: &Plan{}, declared: map[string]int{}}
		declared := 0
		for i, more := range repeats {
			c := &candidate{}
			c.declared.Repeats = more
			if known := p.known(c, []byte("a")); known != (i > 0) {
				t.Errorf("%v: the %dth is known: %v", repeats, i, known)
			}
			if declared += 1 + more; len(p.Manifest.Warnings) != min(declared-1, 1) {
				t.Errorf("%v: after %d declarations the warnings are %v", repeats, declared, p.Manifest.Warnings)
			}
		}
		if p.known(&candidate{}, []byte("b")) {
			t.Error("another identity is known")
		}
	}
}

// Calibration is for classes, and a threshold for two.
func TestAdjustmentsFit(t *testing.T) {
	for _, c := range []struct {
		classes            int
		calibrate          bool
		threshold, mistake string
		learns             bool
	}{
		{2, false, "", "", false}, {0, false, "", "", false}, {2, true, "", "", true}, {3, true, "", "", true}, {1, true, "", "", true},
		{0, true, "", "numeric labels", false}, {2, false, "f1", "", true}, {3, false, "f1", "a threshold is for two", false},
		{0, false, "f1", "numeric labels", false}, {1, true, "f1", "has 1 classes", false},
	} {
		p := &planner{Plan: &Plan{Spec: &spec.Spec{Threshold: c.threshold, Seed: 7}}, Findings: strictyaml.NewFindings("t.yaml")}
		if c.calibrate {
			p.Spec.Calibration = &cv.Calibration{Name: "any"}
		}
		a := p.adjust(&data.Data{Classes: []string{"a", "b", "c"}[:c.classes]})
		text := ""
		if err := p.Err(); err != nil {
			text = err.Error()
		}
		if (a != nil) != c.learns || (text == "") != (c.mistake == "") || !strings.Contains(text, c.mistake) {
			t.Errorf("%+v: %+v, %s", c, a, text)
		}
		if a != nil && (a.Seed != 7 || a.Threshold != c.threshold || a.Calibration != p.Spec.Calibration) {
			t.Errorf("%+v: %+v", c, a)
		}
	}
}

// Hyperparameters start where an earlier run ended, if that is within their bounds, the ends
// included; fixed ones stay.
func TestBegun(t *testing.T) {
	space := []param.Spec{{Name: "a", Init: 1, Lo: 0, Hi: 2}, {Name: "b", Init: 5, Fixed: true}}
	for v, fits := range map[float64]bool{0: true, 2: true, 1.5: true, -0.1: false, 2.1: false, math.NaN(): false} {
		e := earlier{Manifest: record.Manifest{Configurations: []record.Configuration{{Hyperparameters: make([]record.Hyperparameter, 2)}}}}
		got, err := e.begun(0, space, &record.Fit{Natural: record.Numbers([]float64{v, 8})})
		if (err == nil) != fits || fits && (got[0].Init != v || got[1].Init != 5) || space[0].Init != 1 {
			t.Errorf("%v: %v, %v", v, got, err)
		}
	}
}

// The expected time is the larger of two: the time of all jobs divided by the workers, and the time
// of jobs that wait for one another. Comparators are not counted.
func TestExpected(t *testing.T) {
	row := func(all, path float64) Overview { return Overview{Times: Times{All: all, Path: path}} }
	for _, c := range []struct {
		rows    []Overview
		workers int
		seconds float64
		known   bool
	}{
		{nil, 1, 0, false}, {[]Overview{row(6, 1), row(4, 2)}, 1, 10, true}, {[]Overview{row(6, 1), row(4, 2)}, 4, 2.5, true},
		{[]Overview{row(6, 1), row(4, 2)}, 20, 2, true}, {[]Overview{row(6, 1), row(0, 0)}, 1, 0, false},
		{[]Overview{row(6, 5), {Comparator: true}}, 3, 5, true}, {[]Overview{{Comparator: true}}, 3, 0, false},
	} {
		if seconds, known := Expected(c.rows, c.workers); seconds != c.seconds || known != c.known {
			t.Errorf("%+v: %v, %v", c, seconds, known)
		}
	}
}

// own is a strategy of another program, with a budget that says less than it should.
type own struct {
	asks int
	search.Strategy
}

func (s own) Ask(search.Space, []record.Trial, uint64) []search.Proposal {
	return slices.Repeat([]search.Proposal{{Points: [][]float64{{1, 1}}}}, s.asks)
}

func (own) Budget(search.Space) search.Budget { return search.Budget{Trials: 5, AtMost: true} }

// Trials with equal numbers of points are one batch; how many wait for one another follows from
// those at once.
func TestBatches(t *testing.T) {
	space := search.Space{{Name: "a", Init: 1, Lo: 0.5, Hi: 2}, {Name: "b", Init: 1, Lo: 0.5, Hi: 2}}
	for _, c := range []struct {
		strategy search.Strategy
		want     []batch
		once     int
	}{
		{search.Random{Design: search.Design{Trials: 7}}, []batch{{7, 1, 1, false}}, 7},
		// d + 2 points before the regression
		{search.Bayes{Trials: 10}, []batch{{4, 1, 1, false}, {6, 1, 6, false}}, 0},
		{search.Bayes{Trials: 10, Batch: 4}, []batch{{4, 1, 1, false}, {6, 1, 2, false}}, 0},
		{search.Bayes{Trials: 12, Batch: 4}, []batch{{4, 1, 1, false}, {8, 1, 2, false}}, 0},
		{search.Bayes{Trials: 4}, []batch{{4, 1, 1, false}}, 4},
		{own{asks: 2}, []batch{{2, 1, 1, false}, {3, 1, 3, false}}, 0}, {own{}, []batch{{5, 1, 5, false}}, 0},
		{search.Bayes{Trials: 4, Overlap: search.Overlap{Asynchronous: 2}}, []batch{{2, 1, 1, false}, {2, 1, 1, false}}, 0},
	} {
		got, once, _ := batches(schedule.Study{Space: space, Strategy: c.strategy, Seed: 1})
		if !slices.Equal(got, c.want) || once != c.once {
			t.Errorf("%+v: %v, %d, want %v, %d", c.strategy, got, once, c.want, c.once)
		}
	}
}

// Configurations are compared on the fits that all of them have; a failure is the worst.
func TestRankingOfConfigurations(t *testing.T) {
	fit := func(v float64) *record.Fit { return &record.Fit{LogEvidence: record.Number(v)} }
	failed := fit(99)
	failed.Failure.Text = "lost"
	rank := ranking(func(f *record.Fit) float64 { return float64(f.LogEvidence) })
	got := rank([][]*record.Fit{{fit(1), fit(5)}, {fit(2), fit(3)}, {failed, fit(9)}, {fit(4), fit(4)}})
	if want := []int{3, 0, 1, 2}; !slices.Equal(got, want) { // the means are 3, 2.5, none, 4
		t.Errorf("%v, want %v", got, want)
	}
}

// Two times give the two speeds; if one of them were negative, the other explains the larger time.
func TestSpeedOf(t *testing.T) {
	cubic, rest := [2]float64{1, 64}, [2]float64{2, 32}
	for _, want := range []speed{{2, 3}, {1e-9, 4}, {0.5, 1e-9}} {
		seconds := [2]float64{}
		for i := range seconds {
			seconds[i] = want.cubic*cubic[i] + want.rest*rest[i]
		}
		got := speedOf(cubic, rest, seconds)
		if math.Abs(got.cubic-want.cubic) > 1e-12 || math.Abs(got.rest-want.rest) > 1e-12 {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if got := speedOf(cubic, rest, [2]float64{1, 128}); got != (speed{cubic: 2}) {
		t.Errorf("faster than cubic: %+v", got)
	}
	if got := speedOf(cubic, rest, [2]float64{8, 64}); got != (speed{rest: 2}) {
		t.Errorf("slower than the rest: %+v", got)
	}
}
