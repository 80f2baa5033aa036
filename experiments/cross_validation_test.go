package experiments

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/random"
	"github.com/gpc-tune/gpc-tune/record"
)

const small = `
data: {dataset: crabs, preprocess: standardize, subsample: 24}
model:
  kernel: {se: {amplitude: 2, length_scale: 1.5}}
  likelihood: probit
  inference: laplace
`

// At fixed hyperparameters the score over inner folds equals the score of an evaluation on the same
// folds. Leave-one-out is used because its folds involve no random choice.
func TestCrossValidatedObjectiveIsTheScore(t *testing.T) {
	regression := strings.NewReplacer("crabs", "housing", "probit", "{gaussian: {noise: 0.3}}", "laplace", "exact").Replace(small)
	for _, c := range []struct {
		text, score string
		sign        float64
	}{
		{small, "information_bits", 1}, {small, "log_loss", -1}, {small, "errors", -1}, {small, "brier", -1}, {regression, "standardized_log_loss", -1},
	} {
		fixed := strings.NewReplacer("amplitude: 2", "amplitude: {fixed: 2}", "1.5", "{fixed: 1.5}").Replace(c.text)
		want, ok := runs(t, fixed+"tune: none\nevaluate: leave_one_out\n").Configurations[0].Scores.Value(c.score)
		if !ok {
			t.Fatalf("%s: no score", c.score)
		}
		grid := fmt.Sprintf("tune: {method: grid, grid: {length_scale: {values: [1, 1.5]}}, objective: {cv: {score: %s, leave_one_out: {}}}}\n", c.score)
		r := runs(t, c.text+grid).Configurations[0]
		if r.Objective != "cv_"+c.score {
			t.Errorf("the objective is %q", r.Objective)
		}
		// The second point of a row starts from the first, so it agrees within the tolerance of the
		// approximation only.
		if got := float64(*r.Grid[1].Value); math.Abs(got-c.sign*want.Value) > 1e-8 {
			t.Errorf("%s: %v, want %v", c.score, got, c.sign*want.Value)
		}
	}
}

// Cases held out from a training set take no part in tuning on it, and every other case is held out
// once.
func TestFoldsOfATrainingSet(t *testing.T) {
	ds, err := data.Load(data.Spec{Dataset: "crabs"}, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	set := &job.Set{Evaluation: "kfold", Source: ds, Seed: 5}
	for row := range ds.Rows {
		if row%3 == 0 {
			set.Test = append(set.Test, row)
		} else {
			set.Train = append(set.Train, row)
		}
	}
	folds, err := set.Split(split.KFold{K: 4}, random.Derive(set.Seed, "cv", "kfold"), "cv kfold")
	if err != nil || len(folds) != 4 {
		t.Fatalf("%d folds, %v", len(folds), err)
	}
	var tested []int
	for _, f := range folds {
		both := slices.Concat(f.Train, f.Test)
		slices.Sort(both)
		if !slices.Equal(both, set.Train) {
			t.Errorf("fold %d is not of the training set", f.Fold)
		}
		tested = append(tested, f.Test...)
	}
	if slices.Sort(tested); !slices.Equal(tested, set.Train) {
		t.Error("not every case is held out once")
	}
}

// A strategy without gradients tunes a score and chooses the point with the best value.
func TestBayesTunesAScore(t *testing.T) {
	r := runs(t, small+"tune: {method: bayes, trials: 9, objective: {cv: {score: log_loss, kfold: {k: 3}}}}\nevaluate: {kfold: {k: 2}}\n").Configurations[0]
	best, chosen := math.Inf(-1), math.NaN()
	for _, p := range r.Grid {
		best = max(best, float64(*p.Value))
		if p.Chosen {
			chosen = float64(*p.Value)
		}
	}
	if len(r.Grid) != 9 || chosen != best || best >= 0 {
		t.Errorf("%d points, chosen %v, best %v", len(r.Grid), chosen, best)
	}
	if len(r.Failures) > 0 {
		t.Errorf("failures %v", r.Failures)
	}
}

// A point where a fold fails has no value, and its failure says where and why.
func TestCrossValidationFailure(t *testing.T) {
	p := plantest.Planned(t, small+"tune: {method: grid, grid: {length_scale: {values: [1, 2]}}, objective: {cv: {score: auc, leave_one_out: {}}}}\n")
	r, summary, err := run.Run(t.Context(), p, t.TempDir(), run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if summary.Failed != 1 { // the assessment, because there is no winner
		t.Errorf("%+v", summary)
	}
	if f := r.Configurations[0].Failures; len(f) == 0 || !strings.Contains(fmt.Sprint(f), "all training data: cv leave_one_out repeat 0 fold 0: auc is not defined for the held-out cases") {
		t.Errorf("failures %v", f)
	}
}

// The training evaluation predicts the training cases like new ones, with the fit that predicts all
// others: as if a test file contained them. Their scores come last.
func TestTrainingEvaluation(t *testing.T) {
	fits := func(data, tune, evaluate string) (*plan.Plan, map[int]*record.Fit) {
		p, lines := journalled(t, fmt.Sprintf("data: {dataset: crabs%s}\nmodel: {kernel: {sum: [se, noise]}, likelihood: probit, inference: laplace}\ntune: %s\nevaluate: %s\n", data, tune, evaluate))
		of := map[int]*record.Fit{}
		for _, line := range lines {
			if line.Fit != nil {
				of[line.Fit.Study] = line.Fit
			}
		}
		return p, of
	}
	p, tuned := fits("", "{method: random, trials: 3}", "{training: {}, kfold: {k: 2}}")
	if s := p.Manifest.Configurations[0].Studies; len(s) != 4 || s[0].Evaluation != "train" || s[3].Evaluation != "training" || s[3].Test != 200 || s[3].Train != 200 {
		t.Fatalf("studies %+v", s)
	}
	if !slices.Equal(tuned[0].Natural, tuned[3].Natural) {
		t.Errorf("fits at %v and %v", tuned[0].Natural, tuned[3].Natural)
	}
	_, itself := fits("", "none", "training")
	_, file := fits(", test: crabs", "none", "test")
	got, want := itself[1], file[0]
	if !slices.Equal(got.Rows, want.Rows) || !slices.Equal(got.Labels, want.Labels) || !slices.EqualFunc(got.Proba, want.Proba, slices.Equal[[]record.Number]) {
		t.Error("not what is predicted for a test file with the training cases")
	}
}
