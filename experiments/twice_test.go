package experiments

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// repetitive are experiments in which several parts need the same computations.
var repetitive = map[string]string{
	"two that are tuned with one": "model: {kernel: se, likelihood: probit, inference: [laplace, ep]}\ntune: {method: bfgs, restarts: 2, inference: laplace}\nevaluate: {kfold: {k: 2}, training: {}}\n",
	"ways of tuning":              "model: {kernel: se, likelihood: probit, inference: [laplace, ep]}\ntune: [{method: bfgs, restarts: 1}, {method: bfgs, restarts: 2, inference: laplace}]\nevaluate: {kfold: {k: 2}}\n",
	"a grid":                      "model: {kernel: se, likelihood: probit, inference: [laplace, ep]}\ntune: {method: grid, inference: laplace, grid: {length_scale: {values: [1, 2]}, amplitude: {values: [1, 3]}}}\nevaluate: training\n",
	"a search over folds":         "model: {kernel: se, likelihood: probit, inference: laplace}\ntune: {method: random, trials: 3, objective: {cv: {score: log_loss, kfold: {k: 2}}}}\nevaluate: {kfold: {k: 2}, training: {}}\n",
	"bayes":                       "model: {kernel: se, likelihood: probit, inference: laplace}\ntune: {method: bayes, initial: 3, trials: 5}\nevaluate: training\n",
	"chains": "model: {kernel: {se: {length_scale: {prior: {gamma: {shape: 2, rate: 1}}}, amplitude: {prior: {gamma: {shape: 2, rate: 1}}}}}, likelihood: probit, inference: [laplace, ep]}\n" +
		"tune: {method: mcmc, burn: 2, samples: 4, objective: log_posterior, inference: laplace}\nevaluate: training\n",
	"starts":      "model: {kernel: se, likelihood: probit, inference: [ep, laplace, pl]}\ntune: {method: bfgs, restarts: 2, start_inference: laplace}\nevaluate: {kfold: {k: 2}, training: {}}\n",
	"some cases":  "model: {kernel: se, likelihood: probit, inference: [ep, laplace, pl]}\ntune: {method: bfgs, restarts: 2, start_inference: laplace, start_cases: 9}\nevaluate: {kfold: {k: 2}, training: {}}\n",
	"comparators": "model: {kernel: se, likelihood: probit, inference: [laplace, logistic_regression, p1nn]}\ntune: {method: bfgs, restarts: 1}\nevaluate: {kfold: {k: 2}, training: {}}\n",
	"nothing":     "model: {kernel: [se, linear], likelihood: probit, inference: laplace}\ntune: none\nevaluate: {kfold: {k: 2}, training: {}}\n",
	"outer folds": "model: {kernel: [se, linear], likelihood: probit, inference: laplace}\ntune: {method: bfgs, restarts: 1}\nevaluate: {nested: {outer: {kfold: {k: 3}}, inner: {kfold: {k: 2}}}, kfold: {k: 3}}\n",
	"a race":      "model: {kernel: [se, linear, matern32], likelihood: probit, inference: [laplace, ep]}\ntune: {method: bfgs, restarts: 2, inference: laplace}\nevaluate: {kfold: {k: 4}, training: {}}\nrace: {successive_halving: {eta: 2}}\n",
	"rest":        "data: {dataset: iris, preprocess: standardize, subsample: 30}\nmodel: {kernel: se, likelihood: probit, inference: laplace, classes: one_vs_rest}\ntune: {method: bfgs, restarts: 1}\nevaluate: {kfold: {k: 2}, training: {}}\n",
}

// repeated is the plan of one of them.
func repeated(t *testing.T, name string) *plan.Plan {
	text := repetitive[name]
	if !strings.HasPrefix(text, "data") {
		text = "data: {dataset: crabs, preprocess: standardize, subsample: 24}\n" + text
	}
	return plantest.Planned(t, text)
}

// apart makes every study of a plan compute everything itself.
func apart(p *plan.Plan) *plan.Plan {
	for i := range p.Studies {
		p.Studies[i].Shared, p.Studies[i].Job.SameTraining = schedule.Shared{}, nil
	}
	return p
}

// counted counts the computations of a plan's studies, keyed by all that determines their results.
type counted struct {
	sync.Mutex
	times map[string]int
}

// refusing is a comparator that fails to fit.
type refusing struct{ comparator.Comparator }

func (refusing) Fit(context.Context, objective.Data, uint64) (objective.Fitted, error) {
	return nil, errors.New("fitted a second time")
}

// count makes c record the computations of p. Studies whose results come from their twin lose the
// parts that they would need to compute them.
func (c *counted) count(p *plan.Plan) {
	c.times = map[string]int{}
	for i := range p.Studies {
		s := &p.Studies[i]
		j, set, trial, assess := s.Job, s.Job.Set, s.Trial, s.Assess
		if s.SameAs != "" {
			j.Model, j.Tuned = objective.Model{}, objective.Model{}
			if j.Comparator != nil {
				j.Comparator = refusing{j.Comparator}
			}
			continue
		}
		of := p.Manifest.Configurations[s.Configuration]
		hear := func(what ...any) {
			c.Lock()
			defer c.Unlock()
			c.times[fmt.Sprint(of.DataHash, set.Train, of.Kernel.Text, of.Likelihood.Text, what)]++
		}
		s.Trial = func(ctx context.Context, index int, p search.Proposal) (record.Trial, error) {
			tuned, seed, held := cmp.Or(of.TuneInference.Text, of.Inference.Text), uint64(0), ""
			if j.Chain != nil || j.Score != nil {
				seed = set.Seed + uint64(index)
			}
			if j.Optimizer == "" && j.Chain == nil && (set.Held() > 0 || j.SameTraining != nil) { // then its result includes scores
				held = fmt.Sprint(set.Test, of.Inference.Text)
			}
			if p.Preliminary {
				tuned = of.StartInference.Text
			}
			hear(of.Tune, of.Objective, tuned, p.Points, seed, held)
			return trial(ctx, index, p)
		}
		s.Assess = func(ctx context.Context, chosen int, theta []float64, trials []record.Trial) (record.Fit, error) {
			hear(of.Inference.Text, chosen, theta, set.Test, j.Whole && of.TuneInference.Text == of.Inference.Text, i)
			return assess(ctx, chosen, theta, trials)
		}
	}
}

// ran returns the journal of a run, without times.
func ran(t *testing.T, p *plan.Plan, dir string) string {
	t.Helper()
	if _, _, err := run.Run(t.Context(), p, dir, run.Options{Resume: true}); err != nil {
		t.Fatal(err)
	}
	f, err := run.ReadFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, line := range f.Lines {
		line.Seconds, line.Build = 0, ""
		if err := json.NewEncoder(&all).Encode(line); err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

// difference returns the first line in which two texts differ.
func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d:\n%s\nwant\n%s", i, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// A run computes nothing twice, and its records equal the records of a run in which every study
// computes everything itself. The folder of such a run resumes from any point.
func TestNothingIsComputedTwice(t *testing.T) {
	for i, name := range slices.Sorted(maps.Keys(repetitive)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			alone := t.TempDir()
			want := ran(t, apart(repeated(t, name)), alone)
			p, heard := repeated(t, name), counted{}
			heard.count(p)
			if got := ran(t, p, t.TempDir()); got != want {
				t.Errorf("not what every study finds by itself: %s", difference(got, want))
			}
			for what, times := range heard.times {
				if times > 1 {
					t.Errorf("%d times: %s", times, what)
				}
			}
			segments, _ := filepath.Glob(filepath.Join(alone, "journal", "*.jsonl"))
			text := plantest.ReadAll(t, segments[0])
			lines := slices.Collect(strings.Lines(text))
			for k, n := range []int{1, len(lines) / 2, len(lines) - 1} {
				if !exhaustive.Tries(3, i, k) {
					continue
				}
				os.WriteFile(segments[0], []byte(strings.Join(lines[:n], "")), 0o666)
				others, _ := filepath.Glob(filepath.Join(alone, "journal", "*.jsonl"))
				for _, other := range others {
					if other != segments[0] {
						os.Remove(other)
					}
				}
				if got := ran(t, repeated(t, name), alone); got != want {
					t.Errorf("after %d of %d jobs it ends otherwise: %s", n, len(lines), difference(got, want))
				}
			}
		})
	}
}

// Costs count shared work once.
func TestCostsCountOnce(t *testing.T) {
	if n := repeated(t, "two that are tuned with one").Shared(); n != 5*2+2 {
		t.Errorf("%d jobs take their results from others, want the trials of five studies and two assessments", n)
	}
	for name, want := range map[string][]int{ // by study: the study that runs its trials
		"two that are tuned with one": {0, 1, 2, 0, 0, 1, 2, 0},
		"ways of tuning":              {0, 1, 2, 3, 4, 5, 6, 7, 8, 6, 7, 8},
		"a grid":                      {0, 0, 2, 2},
		"nothing":                     {0, 1, 2, 0, 4, 5, 6, 4},
	} {
		alone := apart(repeated(t, name))
		for i, s := range repeated(t, name).Studies {
			if s.RunsTrialsOf != want[i] {
				t.Errorf("%s: study %d does the trials of study %d, want %d", name, s.RunsTrialsOf, i, want[i])
			}
			c, _ := s.Times(plan.Nominal)
			of, _ := alone.Studies[s.RunsTrialsOf].Times(plan.Nominal)
			if s.RunsTrialsOf == i && (c.Trials != of.Trials || c.All < of.All) || s.RunsTrialsOf < i && c.Trials != 0 {
				t.Errorf("%s: study %d takes %+v", name, i, c)
			}
		}
	}
}
