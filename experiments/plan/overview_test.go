package plan_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/record"
)

// A plan counts all its jobs, the jobs that must win a contest first, and the jobs that copy a
// result. It also counts the size of its journal, here by hand: 100 cases of 2 classes, and 2
// hyperparameters of se.
func TestPlansAreCounted(t *testing.T) {
	const data, model = "data: {dataset: crabs, subsample: 100}\n", "model: {kernel: se, likelihood: probit, inference: laplace}\n"
	// a point is 2·2 + 10 numbers, a path 60 steps of 3 numbers, a latent mean 1 per class
	const point, path = 14, 180
	for _, c := range []struct {
		text                            string
		jobs, contested, shared, writes int
		atMost                          bool
	}{
		{text: model + "tune: none", jobs: 1, writes: 20*2*100 + 500},
		{text: model + "tune: {method: bfgs, restarts: 3}", jobs: 4, writes: 20*(2*100+3*(point+path)) + 4*500},
		{text: model + "tune: {method: bfgs, restarts: 3}\nevaluate: {kfold: {k: 2}}", jobs: 12,
			writes: 20*(2*100+3*(point+path)) + 2*20*(3*2*50+3*point) + 12*500},
		{text: model + "tune: {method: bfgs, restarts: 3}\nevaluate: training", jobs: 8, shared: 3 + 1,
			writes: 20*(2*100+3*(point+path)) + 20*(3*2*100+3*point) + 8*500},
		{text: model + "tune: {method: random, trials: 6}", jobs: 7, writes: 20*(2*100+6*point) + 7*500},
		{text: strings.Replace(model, "laplace", "base_rate", 1) + "evaluate: {kfold: {k: 2}}", jobs: 3, writes: 20*(2*100) + 2*20*3*50 + 3*500},
		{text: strings.Replace(model, "laplace", "[laplace, ep]", 1) + "tune: {method: bfgs, restarts: 3, inference: laplace}", jobs: 8, shared: 3,
			writes: 2 * (20*(2*100+3*(point+path)) + 4*500)},
		{text: strings.Replace(model, "laplace", "[laplace, ep]", 1) + "tune: none\nevaluate: {kfold: {k: 3}}\nrace: paired_t", jobs: 8, contested: 2, atMost: true,
			writes: 2 * (20*2*100 + 20*3*2*100 + 4*500)},
		{text: "model: {kernel: {se: {length_scale: {prior: {gamma: {shape: 2, rate: 1}}}, amplitude: {prior: {gamma: {shape: 2, rate: 1}}}}}, likelihood: probit, inference: laplace}\n" +
			"tune: {method: mcmc, restarts: 3, burn: 2, samples: 5, objective: log_posterior}", jobs: 4, writes: 20*(2*100+3*5*point) + 4*500},
	} {
		p := plantest.Planned(t, data+c.text)
		jobs, atMost := p.Jobs()
		if jobs != c.jobs || atMost != c.atMost || p.Contested() != c.contested || p.Shared() != c.shared || p.Journal() != int64(c.writes) {
			t.Errorf("%s: %d jobs (at most: %v), %d contested, %d shared, %d bytes; want %+v", c.text, jobs, atMost, p.Contested(), p.Shared(), p.Journal(), c)
		}
		sum, rows := 0, p.Overview(nil)
		for _, row := range rows {
			sum += row.Jobs
			if row.All != 0 || row.Memory <= 0 || row.Comparator != strings.Contains(c.text, "base_rate") || !row.Comparator && row.Free != 2 && !strings.Contains(c.text, "none") {
				t.Errorf("%s: %+v", c.text, row)
			}
		}
		if sum != jobs || len(rows) != len(p.Manifest.Configurations) {
			t.Errorf("%s: %d rows with %d jobs, want %d", c.text, len(rows), sum, jobs)
		}
	}
}

// The times of an overview are the sums of the times of the studies, or the longest.
func TestOverviewAddsTimesUp(t *testing.T) {
	p := plantest.Planned(t, "data: {dataset: crabs, subsample: 100}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\ntune: {method: bfgs, restarts: 3}\nevaluate: {kfold: {k: 4}}\n")
	var want plan.Times
	for _, s := range p.Studies {
		of, ok := s.Times(plan.Nominal)
		if !ok {
			t.Fatal("no times")
		}
		want.All += of.All
		want.Path, want.Evaluation = max(want.Path, of.Path), max(want.Evaluation, of.Evaluation)
		if of.Longest > want.Longest {
			want.Longest, want.Evaluations = of.Longest, of.Evaluations
		}
	}
	if got := p.Overview(plan.Nominal)[0].Times; got != want || len(p.Studies) != 5 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A search without gradients is compared with climbs, on all of the training data, if the objective
// has gradients.
func TestWhichSearchesAreCompared(t *testing.T) {
	const head = "data: {dataset: crabs, subsample: 40}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\nevaluate: {kfold: {k: 2}}\ntune: "
	for tune, want := range map[string]bool{"none": false, "{method: random, trials: 3}": true, "{method: bfgs, restarts: 2}": false,
		"{method: random, trials: 3, objective: {cv: {score: log_loss, kfold: {k: 2}}}}": false, "{method: bayes, trials: 9}": true} {
		for i, s := range plantest.Planned(t, head+tune).Studies {
			if s.Job.Climbs != (want && i == 0) || s.Job.Whole != (i == 0) {
				t.Errorf("%s, study %d: %v", tune, i, s.Job.Climbs)
			}
		}
	}
}

// The manifest has the columns that only identify cases, of the training and of the test file, once
// however many models there are.
func TestIdentifiersAreRecorded(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"train.csv": "a,who,y\n1,u,no\n2,v,yes\n3,w,no\n4,x,yes\n", "test.csv": "a,who,y\n5,k,no\n,l,yes\n6,m,yes\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p := plantest.Planned(t, "data: {train: "+dir+"/train.csv, test: "+dir+"/test.csv, label: y, id: who, group: who, missing: drop}\n"+
		"model: {kernel: [se, linear], likelihood: probit, inference: [laplace, p1nn]}\ntune: none\nevaluate: test\n")
	hash := p.Manifest.Configurations[0].DataHash
	want := []record.IDs{{DataHash: hash, Rows: []int{0, 1, 2, 3}, Columns: []record.IDColumn{{Name: "who", Values: []string{"u", "v", "w", "x"}}}},
		{DataHash: hash, Test: true, Rows: []int{0, 2}, Columns: []record.IDColumn{{Name: "who", Values: []string{"k", "m"}}}}}
	if !reflect.DeepEqual(p.Manifest.IDs, want) {
		t.Errorf("%+v, want %+v", p.Manifest.IDs, want)
	}
}

// Warnings name settings without effect.
func TestWhatHasNoEffectIsWarnedOf(t *testing.T) {
	const prior = "{se: {length_scale: {prior: {gamma: {shape: 2, rate: 1}}}}}"
	for _, c := range []struct{ text, want string }{
		{"model: {kernel: se, likelihood: probit, inference: laplace}\ntune: {method: bfgs}", ""},
		{"model: {kernel: " + prior + ", likelihood: probit, inference: laplace}\ntune: {method: bfgs}", "the priors have no effect; tune: {objective: log_posterior} uses them"},
		{"model: {kernel: " + prior + ", likelihood: probit, inference: laplace}\ntune: none", ""},
		{"model: {kernel: " + prior + ", likelihood: probit, inference: laplace}\ntune: {method: bfgs, objective: log_posterior}", ""},
		{"model: {kernel: se, likelihood: probit, inference: laplace}\ntune: {method: bfgs, objective: log_posterior}", "no free hyperparameter has a prior"},
		{"model: {kernel: " + prior + ", inference: least_squares}", "the priors have no effect"},
		{"model: {kernel: se, inference: least_squares}", ""},
		{"model: {kernel: [se, se], likelihood: probit, inference: laplace}\ntune: none", "is declared more than once"},
	} {
		text := ""
		for _, w := range plantest.Planned(t, "data: {dataset: crabs, subsample: 40}\n"+c.text).Manifest.Warnings {
			text += w.String() + "\n"
		}
		if (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: %q, want %q", c.text, text, c.want)
		}
	}
}

// Configurations compete on the same data only: not on another file with as many cases and the same
// classes, and not on another label of the same file.
func TestContestsAreWithinData(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.csv": "x,y,z\n1,no,yes\n2,yes,no\n3,no,no\n4,yes,yes\n", "b.csv": "x,y\n5,no\n6,yes\n7,no\n8,yes\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p := plantest.Planned(t, "data:\n- {train: "+dir+"/a.csv, label: y, columns: [x]}\n- {train: "+dir+"/b.csv, label: y}\n"+
		"- {train: "+dir+"/a.csv, label: z, columns: [x]}\n"+
		"model: {kernel: [se, linear], likelihood: probit, inference: laplace}\ntune: none\nevaluate: {kfold: {k: 2}}\nrace: paired_t\n")
	var got [][]int
	for _, c := range p.Manifest.Contests {
		got = append(got, c.Configurations)
	}
	if want := [][]int{{0, 1}, {2, 3}, {4, 5}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
