package catalogue

import (
	"strings"
	"testing"
)

// Sections of another text take the place of those of a study, and comments of other sections stay.
// Options of tune and predict stay if the method does, and so do keys of data.
func TestWithSections(t *testing.T) {
	const study = "# first\nversion: 1\ndata:\n  train: a.csv # 3 rows\n  missing: median\n" +
		"tune: {method: bfgs, restarts: 1, inference: {laplace: {inducing: 50}}}\n" +
		"predict: {average: map} # why\nevaluate: {kfold: {k: 5}}\n"
	for own, want := range map[string]string{
		`{}`: "predict: {average: map, sets: {coverage: 0.9}} # why\n",
		`{"tune": {"restarts": 3}, "seed": 7}`: "tune: {method: bfgs, restarts: 3, inference: {laplace: {inducing: 50}}}\n" +
			"predict: {average: map, sets: {coverage: 0.9}} # why\nevaluate: {kfold: {k: 5}}\nseed: 7\n",
		`{"tune": {"method": "sobol"}}`:                "tune: {method: sobol}\n",
		`{"tune": "none"}`:                             "tune: none\n",
		`{"data": {"missing": "drop", "drop": ["1"]}}`: "  train: a.csv # 3 rows\n  missing: drop\n  drop: [\"1\"]\n",
		`{"predict": {"calibrate": "temperature"}}`:    "predict: {average: map, calibrate: temperature} # why\n",
		`{"evaluate": {"hold_out": {"test_size": 1}}}`: "predict: {average: map} # why\nevaluate: {hold_out: {test_size: 1}}\n",
		`{"evaluate": "group_kfold"}`:                  "predict: {average: map, sets: {coverage: 0.9}} # why\nevaluate: group_kfold\n",
	} {
		text, err := WithSections(study, own)
		if err != nil || !strings.HasPrefix(text, "# first\nversion: 1\n") || !strings.Contains(text, want) {
			t.Errorf("with %s: %v, no %q in\n%s", own, err, want, text)
		}
	}
	if _, err := WithSections(study, "a: ["); err == nil {
		t.Error("a text that is no YAML")
	}
}
