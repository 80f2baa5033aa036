package experiments

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// The end of a search is compared with climbs of bfgs, which take at most as many evaluations as the
// search. A search that ends more than 1 nat below the study that bfgs tunes has a warning. Markov
// chains, climbs themselves and cross-validated objectives are not compared.
func TestSearchesAreComparedWithClimbs(t *testing.T) {
	tuned := func(tune string) (fit *record.Fit, best float64, evaluations int) {
		_, lines := journalled(t, fmt.Sprintf(`
data: {dataset: crabs, preprocess: standardize}
model: {kernel: se, likelihood: probit, inference: laplace}
tune: %s
`, tune))
		for _, l := range lines {
			if l.Fit != nil {
				fit = l.Fit
				continue
			}
			evaluations += l.Trial.Evaluations
			for _, p := range l.Trial.Points {
				if best == 0 || float64(p.Value) > best {
					best = float64(p.Value)
				}
			}
		}
		return fit, best, evaluations
	}
	climb, top, _ := tuned("bfgs")
	if climb.Climbed != 0 {
		t.Error("a climb is compared with climbs")
	}
	if f, _, _ := tuned("{method: sobol, trials: 4, objective: {cv: {score: log_loss, kfold: {k: 2}}}}"); f.Climbed != 0 {
		t.Error("an objective without a gradient is compared with climbs")
	}
	const grid = "{method: grid, grid: {length_scale: {log: %s, points: %d}, amplitude: {log: %s, points: %[2]d}}}"
	for _, test := range []struct {
		tune  string
		below bool
	}{
		{fmt.Sprintf(grid, "[4, 5]", 6, "[-3, -2]"), true}, {fmt.Sprintf(grid, "[0, 5]", 11, "[0, 5]"), true},
		{fmt.Sprintf(grid, "[2, 2.1]", 2, "[2, 2.1]"), true}, {"{method: bayes, trials: 30}", false},
	} {
		fit, best, evaluations := tuned(test.tune)
		warned := slices.ContainsFunc(fit.Warnings, func(n cause.Notice) bool { return n.Kind == cause.BelowClimb })
		if fit.Climbed < 1 || fit.Climbed > evaluations {
			t.Errorf("%s: %d evaluations of climbs, after a search with %d", test.tune, fit.Climbed, evaluations)
		}
		if warned != test.below || top-best > 1 != test.below {
			t.Errorf("%s ended at %v, bfgs at %v: %v", test.tune, best, top, fit.Warnings)
		}
	}
}
