package experiments

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// evaluations sums the evaluations of the trials of a configuration, either the preliminary or the
// other ones.
func evaluations(c reports.Configuration, preliminary bool) (n int) {
	for _, s := range c.Studies {
		for _, t := range s.Trials {
			if t.Preliminary == preliminary {
				n += t.Evaluations
			}
		}
	}
	return n
}

// Methods that start at Laplace's optimum of the same training cases reach the best optimum that
// they reach from all starts, after less than half of the evaluations. The preliminary trials equal
// the trials of the configuration with Laplace's method.
func TestStartsAtLaplacesOptimum(t *testing.T) {
	methods := []string{"laplace", "ep", "variational"}[:exhaustive.Of(2, 3)]
	text := `
data: {dataset: crabs, preprocess: standardize, subsample: 60}
model: {kernel: [` + strings.Join([]string{"{se: {ard: true}}", "{sum: [linear, se]}"}[:exhaustive.Of(1, 2)], ", ") + `], likelihood: probit, inference: [` + strings.Join(methods, ", ") + `]}
evaluate: {kfold: {k: 2}}
`
	cold := runs(t, text+"tune: {method: bfgs, restarts: 3}\n").Configurations
	warm := runs(t, text+"tune: {method: bfgs, restarts: 3, start_inference: laplace}\n").Configurations
	for i, c := range warm {
		if c.Inference.Text == "laplace" {
			if n := evaluations(c, true); n > 0 || c.LogEvidence != cold[i].LogEvidence {
				t.Errorf("#%d is Laplace's: %d preliminary evaluations, log evidence %v, want %v", i, n, c.LogEvidence, cold[i].LogEvidence)
			}
			continue
		}
		laplace := warm[i/len(methods)*len(methods)]
		for k, s := range c.Studies {
			if of := cold[i].Studies[k].Fit.LogEvidence; s.Fit.LogEvidence < of-reports.SameOptimum {
				t.Errorf("#%d study %d ends at log evidence %v, and at %v from all starts", i, k, s.Fit.LogEvidence, of)
			}
			if len(s.Trials) != 4 || s.Fit.Chosen != 3 || s.Trials[3].Preliminary {
				t.Fatalf("#%d study %d: %d trials, and number %d is chosen", i, k, len(s.Trials), s.Fit.Chosen)
			}
			best := slices.MaxFunc(s.Trials[:3], func(a, b *record.Trial) int { return cmp.Compare(a.Value(), b.Value()) })
			for h, start := range s.Trials[3].Start {
				init, end := float64(s.Trials[0].Start[h]), float64(best.Points[0].Natural[h])
				if want := min(max(end, init*math.Exp(-2)), init*math.Exp(2)); math.Abs(float64(start)/want-1) > 1e-9 {
					t.Errorf("#%d study %d starts at %v instead of %v, and the best end is %v", i, k, start, want, end)
				}
			}
			for n, of := range laplace.Studies[k].Trials {
				if got := s.Trials[n]; !got.Preliminary || got.Value() != of.Value() || got.Evaluations != of.Evaluations {
					t.Errorf("#%d study %d: preliminary trial %d ends at %v, Laplace's at %v", i, k, n, got.Value(), of.Value())
				}
			}
		}
		n, from := evaluations(c, false), evaluations(cold[i], false)
		t.Logf("#%d %s: %d evaluations from all starts, %d from Laplace's optimum", i, c.Inference, from, n)
		if 2*n > from {
			t.Errorf("#%d takes %d evaluations, and %d from all starts", i, n, from)
		}
	}
}

// Methods that are tuned first with some of the cases, by themselves or by Laplace's method, reach
// the best optimum that they reach from all starts. Every training set has its own cases, and the
// tables name the cases and the method of preliminary trials.
func TestStartsAtOptimumOfSomeCases(t *testing.T) {
	const text = `
data: {dataset: crabs, preprocess: standardize}
model: {kernel: se, likelihood: probit, inference: ep}
evaluate: {kfold: {k: 2}}
`
	cold := runs(t, text+"tune: {method: bfgs, restarts: 3}\n").Configurations[0]
	for start, want := range map[string]string{"start_cases: 50": "50 cases",
		"start_inference: laplace, start_cases: 50": "laplace of 50 cases"} {
		r := runs(t, text+"tune: {method: bfgs, restarts: 3, "+start+"}\n")
		c := r.Configurations[0]
		for k, s := range c.Studies {
			if of := cold.Studies[k].Fit.LogEvidence; s.Fit.LogEvidence < of-reports.SameOptimum {
				t.Errorf("%s: study %d ends at log evidence %v, and at %v from all starts", start, k, s.Fit.LogEvidence, of)
			}
			if len(s.Trials) != 4 || s.Fit.Chosen != 3 || s.Trials[3].Preliminary || !s.Trials[2].Preliminary {
				t.Fatalf("%s: study %d has %d trials, and number %d is chosen", start, k, len(s.Trials), s.Fit.Chosen)
			}
			if got := c.TrialsOf(s)[0].Preliminary; got != want {
				t.Errorf("%s: a trial is of %q, want %q", start, got, want)
			}
		}
		if first, second := c.Studies[1].Trials[0].Value(), c.Studies[2].Trials[0].Value(); first == second {
			t.Errorf("%s: two folds have the same value %v", start, first)
		}
		if all, some := cold.Studies[0].Trials[0].Value(), c.Studies[0].Trials[0].Value(); !(some > all) {
			t.Errorf("%s: the log evidence of 50 cases is %v, that of all 200 is %v", start, some, all)
		}
	}
}

// Comparators, which tune themselves, have no start_cases. Models with nothing to tune have none
// either, nor models with no more cases than requested, which have a warning.
func TestStartsOfNoCases(t *testing.T) {
	const text = `
data: {dataset: crabs, preprocess: standardize}
model: {kernel: [se, {se: {amplitude: {fixed: 1}, length_scale: {fixed: 1}}}], likelihood: probit, inference: [ep, base_rate]}
`
	for n, want := range map[int][]string{199: {"199 cases", "", ""}, 200: {"", "", ""}} {
		p := plantest.Planned(t, fmt.Sprintf("%stune: {method: bfgs, restarts: 2, start_cases: %d}\n", text, n))
		var got []string
		for _, c := range p.Manifest.Configurations {
			got = append(got, c.Start())
		}
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("start_cases: %d: configurations start from %q, want %q", n, got, want)
		}
		warned := strings.Contains(fmt.Sprint(p.Manifest.Warnings), "start_cases: 200 are not fewer than the training cases, 200")
		if warned != (n == 200) {
			t.Errorf("start_cases: %d: warnings %v", n, p.Manifest.Warnings)
		}
	}
}

// The start of a fold depends on nothing that is held out there: with other held-out labels its
// trials and its fit are the same.
func TestStartsKnowNothingHeldOut(t *testing.T) {
	for _, start := range []string{"start_inference: laplace", "start_cases: 12"} {
		t.Run(start, func(t *testing.T) { knowsNothingHeldOut(t, start) })
	}
}

func knowsNothingHeldOut(t *testing.T, start string) {
	rows := []string{"x,y,label"}
	for i := range 30 {
		x, y := float64(i%6), float64(i/6)
		rows = append(rows, fmt.Sprintf("%v,%v,%c", x, y, "ab"[(i%6+i/6+i%4)%3%2]))
	}
	text := `
data: {train: cases.csv, preprocess: standardize}
model: {kernel: se, likelihood: probit, inference: ep}
tune: {method: bfgs, restarts: 2, ` + start + `}
evaluate: {kfold: {k: 3, stratified: false}}
`
	write := func(rows []string) string {
		name := filepath.Join(t.TempDir(), "cases.csv")
		if err := os.WriteFile(name, []byte(strings.Join(rows, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		return strings.Replace(text, "cases.csv", name, 1)
	}
	before := runs(t, write(rows)).Configurations[0].Studies
	other := slices.Clone(rows)
	for _, row := range before[1].Fit.Rows {
		last := len(other[row+1]) - 1
		other[row+1] = other[row+1][:last] + map[byte]string{'a': "b", 'b': "a"}[other[row+1][last]]
	}
	after := runs(t, write(other)).Configurations[0].Studies
	same := func(k int) bool {
		return fmt.Sprint(values(before[k])) == fmt.Sprint(values(after[k])) &&
			fmt.Sprint(before[k].Fit.Natural, before[k].Fit.Proba) == fmt.Sprint(after[k].Fit.Natural, after[k].Fit.Proba)
	}
	if !same(1) {
		t.Errorf("trials %v, and %v with other held-out labels", values(before[1]), values(after[1]))
	}
	for _, k := range []int{0, 2, 3} {
		if same(k) {
			t.Errorf("study %d has other training labels, and the same trials %v", k, values(after[k]))
		}
	}
}

// values has the points and values of the trials of a study.
func values(s reports.Study) (all []record.Point) {
	for _, t := range s.Trials {
		all = append(all, t.Points...)
	}
	return all
}

// A run with preliminary trials gives the same bytes for any number of workers.
func TestStartsForAnyWorkers(t *testing.T) {
	const text = `
data: {dataset: crabs, preprocess: standardize, subsample: 40}
model: {kernel: se, likelihood: probit, inference: [ep, laplace]}
tune: {method: bfgs, restarts: 3, start_inference: laplace}
evaluate: {kfold: {k: 2}}
`
	var want []byte
	for _, workers := range []int{1, 4} {
		dir := t.TempDir()
		var o run.Options
		o.Workers = workers
		if _, _, err := run.Run(t.Context(), plantest.Planned(t, text), dir, o); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "results.json"))
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		} else if !bytes.Equal(got, want) {
			t.Errorf("%d workers write other results", workers)
		}
	}
}

// ranIn is the report of a plan that is run in a folder.
func ranIn(t *testing.T, dir, text string, settings ...string) *reports.Report {
	t.Helper()
	r, _, err := run.Run(t.Context(), plantest.Planned(t, text, settings...), dir, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sameRounded allows for the rounding of x = exp(log x), of relative size eps (1 + |log x|) or less.
func sameRounded(x, y float64) bool {
	const eps = 0x1p-52
	return math.Abs(x-y) <= eps*(1+math.Abs(math.Log(y)))*y
}

// A run that starts from another one starts each training set at that run's hyperparameters for the
// same cases, and ends at the same optimum after less than half of the evaluations.
func TestStartsFromRun(t *testing.T) {
	const text = `
data: {dataset: crabs, preprocess: standardize, subsample: 60}
model: {kernel: {se: {ard: true}}, likelihood: probit, inference: [laplace, ep]}
evaluate: {kfold: {k: 2}}
tune: {method: bfgs`
	dir := t.TempDir()
	before := ranIn(t, dir, text+"}\n").Configurations
	from := fmt.Sprintf("%s, start_from: %q}\n", text, dir)
	for i, c := range ranIn(t, t.TempDir(), from).Configurations {
		for k, s := range c.Studies {
			of := before[i].Studies[k]
			if got, want := s.Trials[0].Start, of.Fit.Natural; !floats.EqualFunc(record.Floats(got), record.Floats(want), sameRounded) {
				t.Errorf("#%d study %d starts at %v, want %v", i, k, got, want)
			}
			if s.Fit.LogEvidence < of.Fit.LogEvidence-reports.SameOptimum {
				t.Errorf("#%d study %d ends at %v, and started from a run with %v", i, k, s.Fit.LogEvidence, of.Fit.LogEvidence)
			}
		}
		if n, first := evaluations(c, false), evaluations(before[i], false); 2*n > first {
			t.Errorf("#%d takes %d evaluations, and the run that it started from %d", i, n, first)
		}
	}
	if again := plantest.Planned(t, from); again.Manifest.Key != plantest.Planned(t, from).Manifest.Key {
		t.Error("the same plan has two keys")
	} else if cold := plantest.Planned(t, text+"}\n"); slices.ContainsFunc(again.Studies, func(s plan.Study) bool { return s.Key == cold.Studies[s.Index].Key }) {
		t.Error("a search from other starts has the same key")
	}
	both := plantest.Planned(t, strings.Replace(from, "tune: ", "tune: [{method: bfgs}, ", 1)[:len(from)+len("[{method: bfgs}, ")-1]+"]\n")
	if n := len(both.Manifest.Configurations); n != 4 {
		t.Errorf("two ways of tuning with two methods are %d configurations", n)
	}
	other := plantest.Planned(t, from, "seed=1").Manifest // whose sample is another
	if w := fmt.Sprint(other.Warnings); !strings.Contains(w, "hyperparameters of other data") {
		t.Errorf("warnings %s", w)
	}
	for want, settings := range map[string][]string{
		"no result for hold_out repeat 0 fold 0":          {"evaluate={hold_out: {test_size: 0.2}}"},
		"holds out other cases":                           {"evaluate.kfold.k=3"},
		"no configuration with the kernel":                {"model.kernel=matern52"},
		"the likelihood and the hyperparameters of crabs": {"model.likelihood=logit"},
		"nowhere is no run folder":                        {"tune.start_from=nowhere"},
		`method none takes no "start_from"`:               {"tune.method=none"},
		"outside its bounds":                              {"model.kernel={se: {ard: true, amplitude: {init: 1e-3, bounds: [1e-4, 1e-2]}}}"},
	} {
		s, err := spec.Parse("t.yaml", []byte(from), settings)
		if err == nil {
			_, err = plan.New(t.Context(), s)
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "t.yaml") {
			t.Errorf("%v: %v, want %q", settings, err, want)
		}
	}
}

// The search of a program starts at the best point of an earlier one.
func TestProgramStartsFromRun(t *testing.T) {
	const text = `
program:
  command: [sh, -c, "echo {x} {kind} | awk '{print ($1-3)^2 + ($2 == \"b\")}'"]
  hyperparameters: {x: {linear: {from: 0, to: 10}}, kind: {choice: {values: [b, a]}}}
  minimize: true
tune: {method: random, trials: 6`
	dir := t.TempDir()
	best := ranIn(t, dir, text+"}\n").Configurations[0]
	point := best.Grid[best.Best[0].Point].Point
	next := ranIn(t, t.TempDir(), fmt.Sprintf("%s, start_from: %q}\n", strings.Replace(text, "random, trials: 6", "bayes, trials: 2", 1), dir)).Configurations[0]
	if got := next.Grid[0].Point; fmt.Sprint(got) != fmt.Sprint(point) {
		t.Errorf("the first point is %v, want the best of the other run, %v", got, point)
	}
	same := ranIn(t, t.TempDir(), fmt.Sprintf("%s, start_from: %q}\n", text, dir)) // random points have no start
	if n := same.Warnings; len(n) != 1 || !strings.Contains(n[0].String(), "start_from has no effect: the points of random are the same") {
		t.Errorf("warnings: %v", n)
	}
}
