package experiments

import (
	"fmt"
	"math"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/ask"
)

// TestInducingBesideGPBoost: FITC with Laplace's method and logit, tuned from (ln l, ln σ) = (0, 0),
// as GPBoost 1.7 does it with 100 inducing points of its own choice: the negative log evidence
// 8844.24 at (0.258, 1.033) and the test log loss 0.43472.
func TestInducingBesideGPBoost(t *testing.T) {
	dir := t.TempDir()
	names, err := ask.Waves(20000, 2, dir)
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

// TestInducingOfFewCases: with no more cases than points a method is the exact one.
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
