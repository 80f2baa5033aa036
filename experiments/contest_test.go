package experiments

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// written writes cases of crabs to a file, so that a plain run can repeat the inner runs of nested
// cross-validation.
func written(t *testing.T, ds *data.Data, rows []int) string {
	t.Helper()
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.Write(append(slices.Clone(ds.ColumnNames), "label"))
	for _, row := range rows {
		var cells []string
		for _, x := range ds.X.RawRowView(row) {
			cells = append(cells, fmt.Sprint(x))
		}
		w.Write(append(cells, ds.Classes[ds.Labels[row]]))
	}
	w.Flush()
	name := filepath.Join(t.TempDir(), "part.csv")
	if err := os.WriteFile(name, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// The inner scores equal the scores of a run on the outer training set alone. The outer scores
// equal the scores of the winner in plain cross-validation over the same folds. Leave-one-out is
// used because its folds involve no random choice.
func TestNestedIsSelectionThenCrossValidation(t *testing.T) {
	const model = "model: {kernel: [se, linear], likelihood: [probit, logit], inference: laplace}\ntune: {method: bfgs, restarts: 1}\n"
	const source = "data: {dataset: crabs, preprocess: standardize, subsample: 24}\n"
	r := runs(t, source+model+"evaluate: {nested: {outer: {kfold: {k: 3}}, inner: leave_one_out, score: brier}, kfold: {k: 3}}\n")
	ds, err := data.Load(data.Spec{Dataset: "crabs", Subsample: 24}, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	n := r.Nested[0]
	if len(r.Nested) != 1 || len(n.OuterFolds) != 3 || n.Scored != 3 || n.Status != reports.Done || n.Fits != 4*24*2 || n.FitsSaved != 0 {
		t.Fatalf("%+v", n)
	}
	// The plan gives the outer sets; their rows refer to ds.
	p := plantest.Planned(t, source+model+"evaluate: {nested: {outer: {kfold: {k: 3}}, inner: leave_one_out, score: brier}}\n")
	var outer []*job.Set
	for _, s := range p.Studies[:len(p.Manifest.Configurations[0].Studies)] {
		if s.Job.Set.Evaluation == "nested" {
			outer = append(outer, s.Job.Set)
		}
	}
	errors := 0.0
	for i, f := range n.OuterFolds {
		inner := runs(t, "data: {train: "+written(t, ds, outer[i].Train)+", preprocess: standardize}\n"+model+"evaluate: leave_one_out\n")
		best := math.Inf(1)
		for k, c := range inner.Configurations {
			want, _ := c.Scores.Value("brier")
			if got := f.Inner[k]; math.Abs(float64(got.Value)-want.Value) > 1e-6 || math.Abs(float64(got.CI95[0])-want.Lo) > 1e-6 || got.Configuration != k || got.Folds != len(outer[i].Train) {
				t.Errorf("fold %d, configuration %d: inner %+v, want %+v", i, k, got, want)
			}
			if want.Value < best {
				best = want.Value
				if *f.Winner != k && float64(f.Inner[*f.Winner].Value) > want.Value {
					t.Errorf("fold %d: %d won, and %d is better", i, *f.Winner, k)
				}
			}
		}
		plain := r.Configurations[*f.Winner].Folds[slices.IndexFunc(r.Configurations[*f.Winner].Folds, func(g reports.Fold) bool { return g.Evaluation == "kfold" && g.Fold == i })]
		for _, s := range plain.Scores.Results {
			if got, ok := f.Scores.Value(s.Name); !ok || got.Value != s.Value && !math.IsNaN(s.Value) {
				t.Errorf("fold %d: outer %s %v, want %v", i, s.Name, got.Value, s.Value)
			}
		}
		if plain.LogEvidence != f.LogEvidence || !slices.Equal(plain.Hyperparameters, f.Hyperparameters) || plain.Test != f.Test {
			t.Errorf("fold %d: %+v, want %+v", i, f, plain)
		}
		e, _ := plain.Scores.Value("errors")
		errors += e.Value
	}
	if e, _ := n.Scores.Value("errors"); e.Value != errors || n.Scores.N != 24 {
		t.Errorf("%v errors of %d, want %v", e.Value, n.Scores.N, errors)
	}
	// Nested cross-validation reports nothing for single configurations.
	for _, c := range r.Configurations {
		if len(c.Evaluations) != 1 || c.Evaluations[0].Name != "kfold" || c.Missing != 0 {
			t.Errorf("evaluations %+v, %d missing", c.Evaluations, c.Missing)
		}
	}
}

// With the log evidence as score, the winner of an outer fold has the largest one on its training
// set, and there are no inner folds.
func TestNestedByLogEvidence(t *testing.T) {
	r := runs(t, "data: {dataset: crabs, preprocess: standardize, subsample: 40}\nmodel: {kernel: [se, linear], likelihood: [probit, logit], inference: laplace}\n"+
		"tune: {method: bfgs, restarts: 1}\nevaluate: {nested: {outer: {kfold: {k: 4}}, score: log_evidence}}\n")
	for i, f := range r.Nested[0].OuterFolds {
		best := -1
		for k, c := range r.Configurations {
			g := c.Folds[i]
			if g.LogEvidence != f.Inner[k].Value || len(c.Folds) != 4 {
				t.Errorf("fold %d, configuration %d: %v, want %v", i, k, f.Inner[k].Value, g.LogEvidence)
			}
			if best < 0 || g.LogEvidence > r.Configurations[best].Folds[i].LogEvidence {
				best = k
			}
		}
		if *f.Winner != best || f.LogEvidence != r.Configurations[best].Folds[i].LogEvidence {
			t.Errorf("fold %d: %d won, want %d", i, *f.Winner, best)
		}
	}
}

// With labels independent of the inputs, the best of many configurations looks better than
// guessing, and nested cross-validation does not.
func TestNestedScoreOfNoiseIsChance(t *testing.T) {
	needs.That(t, exhaustive.All(), "seconds of simulation: make test-all")
	model := "model: {kernel: {se: {amplitude: [{fixed: 1}, {fixed: 4}], length_scale: [{fixed: 0.3}, {fixed: 0.5}, {fixed: 0.8}, {fixed: 1.4}, {fixed: 2.5}, {fixed: 5}]}}, likelihood: probit, inference: laplace}\n" +
		"tune: none\nevaluate: {kfold: {k: 4}, nested: {outer: {kfold: {k: 4}}, inner: {kfold: {k: 3}}, score: error_rate}}\n"
	const files, cases = 8, 48
	nested, naive, bits, variance := 0.0, 0.0, 0.0, 0.0
	for seed := range files {
		r := rand.New(rand.NewPCG(uint64(seed), 71))
		text := "a,b,label\n"
		labels := r.Perm(cases)
		for _, label := range labels {
			text += fmt.Sprintf("%v,%v,%d\n", r.NormFloat64(), r.NormFloat64(), label%2)
		}
		name := filepath.Join(t.TempDir(), "noise.csv")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		report := runs(t, fmt.Sprintf("seed: %d\ndata: {train: %s}\n", seed, name)+model)
		e, ok := report.Nested[0].Scores.Value("error_rate")
		if !ok || report.Nested[0].Scores.N != cases {
			t.Fatalf("%+v", report.Nested[0])
		}
		nested += e.Value / files
		best := 1.0
		for _, c := range report.Configurations {
			e, _ := c.Scores.Value("error_rate")
			best = min(best, e.Value)
		}
		naive += best / files
		information, _ := report.Nested[0].Scores.Value("information_bits")
		bits += information.Value / files
		variance += math.Pow((information.Hi-information.Lo)/2/1.96/files, 2)
	}
	standardError := 0.5 / math.Sqrt(files*cases)
	if bits > 3*math.Sqrt(variance) {
		t.Errorf("%v ± %v bits in noise", bits, math.Sqrt(variance))
	}
	if math.Abs(nested-0.5) > 3*standardError || naive > 0.5-3*standardError {
		t.Errorf("error rate %v nested, and %v of the best; chance is 0.5 ± %v", nested, naive, standardError)
	}
}

const crabsRace = `
seed: 1
data: {dataset: crabs, preprocess: standardize}
model: {kernel: [{se: {length_scale: {fixed: 5}}}, linear, {matern32: {length_scale: {fixed: 5}}}, {se: {length_scale: {fixed: 1}}}], likelihood: probit, inference: laplace}
tune: {method: bfgs, restarts: 1}
evaluate: {kfold: {k: 10}}
`

// A race reports what it saved, and the paired one keeps the winner of the full run. The results of
// configurations that were not cut do not change.
func TestRaceOnCrabs(t *testing.T) {
	full := runs(t, crabsRace)
	best := 0
	for k, c := range full.Configurations {
		v, _ := c.Scores.Value("information_bits")
		if b, _ := full.Configurations[best].Scores.Value("information_bits"); v.Value > b.Value {
			best = k
		}
	}
	for rule, least := range map[string]int{"paired_t": 12, "successive_halving": 20} {
		p := plantest.Planned(t, crabsRace, "race="+rule)
		r, summary, err := run.Run(t.Context(), p, t.TempDir(), run.Options{})
		if err != nil {
			t.Fatal(err)
		}
		race := r.Races[0]
		if len(r.Races) != 1 || race.Winner == nil || rule == "paired_t" && *race.Winner != best || race.Status != reports.Done {
			t.Errorf("%s: %+v, want the winner %d", rule, race, best)
		}
		done := 0
		for k, c := range r.Configurations {
			cut := slices.IndexFunc(race.Cuts, func(c reports.CutOff) bool { return c.Configuration == k })
			if cut < 0 {
				if c.LogEvidence != full.Configurations[k].LogEvidence || !slices.EqualFunc(c.Folds, full.Configurations[k].Folds, func(a, b reports.Fold) bool { return a.LogEvidence == b.LogEvidence }) {
					t.Errorf("%s: configuration %d is another than without the race", rule, k)
				}
				done++
				if done += len(c.Folds); c.Status != reports.Done {
					t.Errorf("%s: configuration %d is %s", rule, k, c.Status)
				}
				continue
			}
			if n := race.Cuts[cut].Folds; n != len(c.Folds) || c.Status != reports.Cut || c.Evaluations[0].Scored != n || !math.IsNaN(float64(c.LogEvidence)) {
				t.Errorf("%s: configuration %d, cut after %d folds: %+v", rule, k, n, c)
			}
			done += len(c.Folds)
		}
		if race.Fits != 44 || race.FitsSaved != race.Fits-done || race.FitsSaved < least || race.JobsSaved != 2*race.FitsSaved || r.Missing != 0 || summary.Total != 2*done {
			t.Errorf("%s: %d of %d fits saved (%d jobs), at least %d expected; %d done, %+v", rule, race.FitsSaved, race.Fits, race.JobsSaved, least, done, summary)
		}
	}
}

// A race inside nested cross-validation cuts within every outer fold, with the same bytes for any
// number of workers and after interruptions.
func TestNestedRaceIsTheSameHoweverItRuns(t *testing.T) {
	text := strings.Replace(small, "subsample: 24", "subsample: 60", 1)
	text = strings.Replace(text, "kernel: {se: {amplitude: 2, length_scale: 1.5}}", "kernel: [se, linear, {se: {amplitude: {fixed: 1}, length_scale: {fixed: 0.3}}}]", 1) +
		"tune: {method: bfgs, restarts: 1}\nevaluate: {kfold: {k: 5}, nested: {outer: {kfold: {k: 3}}, inner: {repeated_kfold: {k: 4, repeats: 2}}}}\nrace: {score: log_loss, paired_t: {alpha: 0.1}}\n"
	var want []byte
	for _, workers := range []int{1, 3} {
		dir := t.TempDir()
		for stops := 0; ; stops++ {
			drain := make(chan struct{})
			limit := schedule.Options{Workers: workers}
			if workers == 3 {
				limit.Drain, limit.Progress = drain, func(e schedule.Event) {
					if e.Done == 40 {
						close(drain)
					}
				}
			}
			p := plantest.Planned(t, text)
			_, _, err := run.Run(t.Context(), p, dir, run.Options{Resume: true, Options: limit})
			if err == nil {
				break
			}
			f, err := run.ReadFolder(dir)
			if err != nil {
				t.Fatal(err)
			}
			progress, err := f.Progress()
			if err != nil || progress.Finished || progress.Done >= progress.Known || stops > 20 {
				t.Fatalf("stop %d: %+v, %v", stops, progress, err)
			}
			if r, err := f.Report(); err != nil || r.Missing == 0 || stops == 0 && r.Nested[0].Status != reports.Missing {
				t.Errorf("stop %d: %v, %+v", stops, err, r)
			}
		}
		got, err := os.ReadFile(filepath.Join(dir, "results.json"))
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		golden.Equal(t, fmt.Sprintf("%d workers: other results", workers), got, want)
		f, err := run.ReadFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		progress, err := f.Progress()
		if err != nil || !progress.Finished {
			t.Errorf("%+v, %v", progress, err)
		}
		r, err := f.Report()
		if err != nil || r.Missing != 0 || r.Nested[0].FitsSaved == 0 || r.Races[0].FitsSaved == 0 {
			t.Errorf("%v: %+v", err, r.Nested[0])
		}
	}
}

// A damaged manifest is an error.
func TestDamagedContests(t *testing.T) {
	p := plantest.Planned(t, small+"tune: none\nevaluate: {nested: {outer: {kfold: {k: 2}}, inner: {kfold: {k: 2}}}}\nrace: paired_t\n", "model.likelihood=[probit, logit]")
	dir := t.TempDir()
	if _, _, err := run.Run(t.Context(), p, dir, run.Options{}); err != nil {
		t.Fatal(err)
	}
	f, err := run.ReadFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := f.Report(); err != nil || r.Nested[0].Scored != 2 {
		t.Fatal(err)
	}
	for i, damage := range []func(*record.Contest){
		func(c *record.Contest) { c.Configurations = nil },
		func(c *record.Contest) { c.Configurations = []int{0, 2} },
		func(c *record.Contest) { c.Configurations = []int{-1} },
		func(c *record.Contest) { c.Folds = nil },
		func(c *record.Contest) { c.Folds = []int{1, 99} },
		func(c *record.Contest) { c.Next = nil },
		func(c *record.Contest) { c.Next = []int{-1} },
		func(c *record.Contest) { c.Score = "log_evidence" },
		func(c *record.Contest) { c.Score = "rmse" },
		func(c *record.Contest) { c.Race = "relay" },
		func(c *record.Contest) { c.Options = []byte(`{"alpha": "a"}`) },
		func(c *record.Contest) { c.Options = nil },
	} {
		g := *f
		g.Manifest.Contests = slices.Clone(f.Manifest.Contests)
		damage(&g.Manifest.Contests[1])
		if _, err := g.Report(); err == nil || !strings.Contains(err.Error(), "contest 1: ") {
			t.Errorf("damage %d: error %v", i, err)
		}
	}
}

func TestMistakesInContests(t *testing.T) {
	base := "data: {dataset: crabs, subsample: 40}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\n"
	for text, want := range map[string]string{
		"evaluate: {nested: {inner: {kfold: {k: 5}}, score: log_evidence}}":     "3:28: score: log_evidence needs no inner folds",
		"evaluate: {nested: {outer: {kfolds: {k: 5}}}}":                         `3:28: unknown splitter "kfolds"; did you mean "kfold"?`,
		"evaluate: {nested: {score: bits}}":                                     `3:28: unknown score "bits"`,
		"evaluate: {nested: {folds: 3}}":                                        `3:21: unknown key "folds"`,
		"evaluate: {nested: {outer: {kfold: {k: 50}}}}":                         "outer: k: 50 folds of 40 cases",
		"evaluate: {nested: {outer: {kfold: {k: 2}}, inner: {kfold: {k: 30}}}}": "inner, in outer fold 0: k: 30 folds of 20 cases",
		"evaluate: {nested: {score: rmse}}":                                     "the predictions have no rmse",
		"race: paired_t":                                                        "3:7: a race needs folds",
		"evaluate: {nested: {score: log_evidence}}\nrace: paired_t":             "4:7: a race needs folds",
		"evaluate: kfold\nrace: {paired: {}}":                                   `unknown race "paired"; did you mean "paired_t"?`,
		"evaluate: kfold\nrace: {paired_t: {alpha: 7}}":                         "alpha = 7 must be greater than 0 and less than 1",
		"evaluate: kfold\nrace: {paired_t: {}, successive_halving: {}}":         "expected a race",
		"evaluate: kfold\nrace: {score: rmse, successive_halving: {}}":          "the predictions have no rmse",
	} {
		s, err := spec.Parse("t.yaml", []byte(base+text+"\n"), nil)
		if err == nil {
			_, err = plan.New(t.Context(), s)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n%v\nwant %s", text, err, want)
		}
	}
	s, err := spec.Parse("t.yaml", []byte("data: {dataset: iris}\nmodel: [{kernel: se, likelihood: softmax, inference: laplace}, {kernel: se, likelihood: probit, inference: laplace, classes: one_vs_rest}]\nevaluate: {nested: {score: log_evidence}}\n"), nil)
	if err == nil {
		_, err = plan.New(t.Context(), s)
	}
	if err == nil || !strings.Contains(err.Error(), "3:12: iris, se, softmax, laplace and iris, se, probit, {one_vs_rest: laplace}: the log evidence of one_vs_rest") {
		t.Error(err)
	}
}
