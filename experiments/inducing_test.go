package experiments

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/query"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
)

// TestInducingBesideGPBoost: FITC with Laplace's method and logit, tuned from (ln l, ln σ) = (0,
// 0), compared with GPBoost 1.7 with 100 inducing points of its own choice: negative log evidence
// 8844.24 at (0.258, 1.033) and test log loss 0.43472.
func TestInducingBesideGPBoost(t *testing.T) {
	needs.That(t, exhaustive.All(), "minutes for 20 000 cases: make test-all")
	dir := t.TempDir()
	names, err := query.Waves(20000, 2, dir)
	if err != nil {
		t.Fatal(err)
	}
	report := runs(t, fmt.Sprintf(`
data: {train: %q, test: %q, label: label}
model:
  kernel: {se: {amplitude: {init: 1}, length_scale: {init: 1}}}
  likelihood: logit
  inference: {laplace: {inducing: 100}}
tune: {method: bfgs, restarts: 1}
evaluate: test
`, names[0], names[1]))
	c := report.Configurations[0]
	if evidence := float64(c.LogEvidence); !(evidence >= -8844.24-0.5) {
		t.Errorf("log evidence %.2f, want -8844.24 or more", evidence)
	}
	loss, ok := c.Scores.Value("log_loss")
	if !ok || !(math.Abs(float64(loss.Value)-0.43472) <= 0.0005) {
		t.Errorf("test log loss %.5f, want 0.43472", float64(loss.Value))
	}
}

// TestInducingOfFewCases: with no more cases than inducing points a method equals the exact one.
func TestInducingOfFewCases(t *testing.T) {
	const file = `
data: {dataset: crabs, preprocess: standardize}
model: {kernel: {sum: [se, noise]}, likelihood: probit, inference: %s}
tune: {method: bfgs, restarts: 1}
evaluate: training
`
	got := runs(t, fmt.Sprintf(file, "{ep: {inducing: {points: 200, correction: vfe}}}")).Configurations[0]
	want := runs(t, fmt.Sprintf(file, "ep")).Configurations[0]
	if got.LogEvidence != want.LogEvidence {
		t.Errorf("log evidence %v, exactly %v", got.LogEvidence, want.LogEvidence)
	}
}

// TestTunedInputs: the fit to all training cases has the inducing inputs that its search ended at.
func TestTunedInputs(t *testing.T) {
	c := runs(t, `
data: {dataset: crabs, preprocess: standardize, subsample: 60}
model: {kernel: se, likelihood: logit, inference: {laplace: {inducing: {points: 4, tune_inputs: true}}}}
tune: {method: bfgs, restarts: 1, evaluations: 60}
evaluate: training
`).Configurations[0]
	if got, want := float64(c.LogEvidence), float64(c.Restarts[0].Value); !(math.Abs(got-want) < 1e-6) {
		t.Errorf("log evidence %v, that of the search %v", got, want)
	}
}

// TestCostsOfATolerance: a tolerance is met by one climb with 64 inducing inputs and one with 128;
// the second takes as long as the climb of the only trial, with as many evaluations.
func TestCostsOfATolerance(t *testing.T) {
	const file = `
version: 1
name: costs
data: {dataset: crabs}
model: {kernel: se, likelihood: logit, inference: {laplace: {inducing: %s}}}
tune: {method: bfgs, restarts: 1}
`
	costs := func(inducing string) plan.Times {
		c, ok := plantest.Planned(t, fmt.Sprintf(file, inducing)).Studies[0].Times(plan.Nominal)
		if !ok {
			t.Fatal("no costs")
		}
		return c
	}
	given, found := costs("128"), costs("{points: 128, tolerance: 0.001}")
	for what, more := range map[string]float64{
		"all": found.All - given.All, "path": found.Path - given.Path, "longest": found.Longest - given.Longest,
	} {
		if !(more > given.Trials && more < 2*given.Trials) {
			t.Errorf("%s: %v s more, want one to two times %v", what, more, given.Trials)
		}
	}
}

// TestRechosenInputs: with rechoose the inducing inputs are selected again at the tuned
// hyperparameters, and the log evidence before that equals the log evidence of the same search
// without rechoose.
func TestRechosenInputs(t *testing.T) {
	const file = `
data: {dataset: crabs, preprocess: standardize, subsample: 60}
model: {kernel: se, likelihood: logit, inference: {laplace: {inducing: {points: 5%s}}}}
tune: {method: bfgs, restarts: 1}
evaluate: training
`
	kept, again := runs(t, fmt.Sprintf(file, "")).Configurations[0], runs(t, fmt.Sprintf(file, ", rechoose: true")).Configurations[0]
	if kept.Inducing.Before != nil {
		t.Errorf("without rechoose: %v before", *kept.Inducing.Before)
	}
	if again.Inducing.Before == nil || *again.Inducing.Before != kept.LogEvidence {
		t.Errorf("log evidence %v before, want %v", again.Inducing.Before, kept.LogEvidence)
	}
	if again.LogEvidence == kept.LogEvidence || slices.Equal(again.Inducing.Cases, kept.Inducing.Cases) {
		t.Errorf("the choice is the same: %v, %v", again.LogEvidence, again.Inducing.Cases)
	}
}
