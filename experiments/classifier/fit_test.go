package classifier

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/record"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/reports"
)

// The message of fit about its configuration counts the configurations with a value, names equal
// ones, and shows a score with its own sign.
func TestWinnerAmong(t *testing.T) {
	for _, test := range []struct {
		objective           string
		value               float64
		fitted, all, equals int
		want                string
	}{
		{"log_evidence", -102.25, 2, 2, 1, "log_evidence of -102.25 is the largest of 2"},
		{"log_evidence", -102.25, 2, 3, 1, "log_evidence of -102.25 is the largest of 2, without the 1 that have failed"},
		{"cv_error_rate", -0.0625, 4, 4, 2, "cv_error_rate of 0.0625 is the smallest of 4; 2 are equal, and this is the first of them in the file"},
		{"cv_information_bits", 0.5, 4, 4, 1, "cv_information_bits of 0.5 is the largest of 4"},
	} {
		if got := (winner{value: record.Number(test.value)}).among(test.objective, test.fitted, test.all, test.equals); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// scoredReport is a report of configurations with these values of a score; classes is 0 for numeric
// targets.
func scoredReport(classes int, score string, values ...float64) *reports.Report {
	r := &reports.Report{}
	for _, v := range values {
		e := reports.Evaluation{Name: "kfold", Scores: reports.Scores{N: 10, Results: []cv.Result{{Score: cv.Score{Name: score}, Estimate: cv.Estimate{Value: v}}}}}
		r.Configurations = append(r.Configurations, reports.Configuration{Classes: make([]string, classes), Evaluations: []reports.Evaluation{e}})
	}
	return r
}

// The best configuration is the winner of the race or of most outer folds, or has the best score,
// the first of equals, among those with a value for all held-out cases.
func TestBestOfAStudy(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		r    *reports.Report
		by   string
		best int
		why  string
	}{
		{scoredReport(2, "information_bits", 0.25, 0.5, 0.5), "", 1, "its information_bits of 0.5 (kfold) is the largest of 3; 2 are equal, and this is the first of them in the file"},
		{scoredReport(2, "information_bits", nan, -0.5, -0.75), "", 1, "its information_bits of -0.5 (kfold) is the largest of 2, without the 1 that have failed"},
		{scoredReport(2, "error_rate", 0.25, 0.125), "error_rate", 1, "its error_rate of 0.125 (kfold) is the smallest of 2"},
		{scoredReport(2, "mean_loss", 4, 3, 5), "mean_loss", 1, "its mean_loss of 3 (kfold) is the smallest of 3"},
		{scoredReport(0, "standardized_log_loss", -1, -2), "", 1, "its standardized_log_loss of -2 (kfold) is the smallest of 2"},
		{scoredReport(2, "auc", 0.75, 0.5), "auc", 0, "its auc of 0.75 (kfold) is the largest of 2"},
	} {
		best, why, err := studied(c.r, c.by)
		if err != nil || best != c.best || why != c.why {
			t.Errorf("%s: %d, %s, %v; want %d, %s", c.by, best, why, err, c.best, c.why)
		}
	}
	r := scoredReport(2, "auc", 0.75, 0.5)
	r.Configurations[0].Evaluations[0].Scores.Partial = &reports.Partial{}
	if best, _, err := studied(r, "auc"); best != 1 || err != nil {
		t.Errorf("a part of the folds: %d, %v", best, err)
	}
	r.Configurations[1].Evaluations[0].Scores.Partial = &reports.Partial{}
	if _, _, err := studied(r, "auc"); !errors.Is(err, spec.ErrInvalid) || !strings.Contains(err.Error(), "no configuration has auc for all") {
		t.Error(err)
	}
	r = scoredReport(2, "information_bits", 0.25, 0.5, 0.75)
	zero, one, two := 0, 1, 2
	r.Nested = []reports.Nested{{Score: "auc", OuterFolds: []reports.OuterFold{{Winner: &two}, {Winner: nil}, {Winner: &one}, {Winner: &one}, {Winner: &two}}}}
	if best, why, err := studied(r, ""); best != 1 || why != "it won 2 of 5 outer folds of nested cross-validation by auc" || err != nil {
		t.Errorf("nested: %d, %s, %v", best, why, err)
	}
	if best, _, err := studied(r, "information_bits"); best != 2 || err != nil {
		t.Errorf("a score that was asked for: %d, %v", best, err)
	}
	r.Races = []reports.Race{{Winner: nil}, {Winner: &zero, Evaluation: "kfold", Score: "brier"}}
	if best, why, err := studied(r, ""); best != 0 || why != "it won the race over kfold by brier" || err != nil {
		t.Errorf("race: %d, %s, %v", best, why, err)
	}
	r.Races, r.Nested = r.Races[:1], []reports.Nested{{OuterFolds: []reports.OuterFold{{}}}}
	if best, _, err := studied(r, ""); best != 2 || err != nil {
		t.Errorf("nobody has won: %d, %v", best, err)
	}
}

// Configurations are compared by held-out cases where there are any, else by an objective that they
// have in common.
func TestHowConfigurationsAreCompared(t *testing.T) {
	const data, both = "data: {dataset: crabs, subsample: 30}\n", "model: {kernel: [se, linear], likelihood: probit, inference: laplace}\n"
	for _, c := range []struct {
		text, by    string
		studied     bool
		byObjective bool
		want        string // of the error
	}{
		{both + "tune: none\n", "", true, true, ""}, {both + "tune: none\nevaluate: {kfold: {k: 2}}\n", "", true, false, ""},
		{both + "tune: none\nevaluate: {kfold: {k: 2}}\n", "", false, true, ""}, {both + "tune: none\nevaluate: training\n", "", true, true, ""},
		{both + "tune: none\nevaluate: {kfold: {k: 2}}\n", "log_evidence", true, true, ""}, {both + "tune: none\nevaluate: {kfold: {k: 2}}\n", "auc", false, false, ""},
		{both + "tune: none\nevaluate: {kfold: {k: 2}}\n", "mean_loss", false, false, ""},
		{both + "tune: none\nevaluate: {kfold: {k: 2}}\n", "ac", false, false, `--by: unknown score "ac"`},
		{both + "tune: none\n", "auc", true, false, "--by auc needs held-out cases"},
		{both + "tune: {method: nelder_mead, objective: {cv: {score: auc}}}\n", "cv_auc", true, true, ""},
		{"model: {kernel: se, likelihood: probit, inference: [laplace, base_rate]}\ntune: none\n", "", true, false, "is a comparator, which has no objective in common"},
		{"model: {kernel: se, likelihood: probit, inference: [laplace, base_rate]}\ntune: none\nevaluate: {kfold: {k: 2}}\n", "", false, false, ""},
		{"model: {kernel: se, likelihood: probit, inference: [laplace, base_rate]}\ntune: none\n", "log_evidence", true, false, "--by log_evidence: configuration 1"},
		{both + "tune: [{method: bfgs}, {method: nelder_mead, objective: {cv: {score: auc}}}]\n", "", true, false, "configurations 0 (crabs, se, probit, laplace) and 2"},
	} {
		got, err := byObjective(plantest.Planned(t, data+c.text), c.by, c.studied)
		if got != c.byObjective || c.want == "" && err != nil || c.want != "" && (!errors.Is(err, spec.ErrInvalid) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s by %q, studied %v: %v, %v; want %v, %s", c.text, c.by, c.studied, got, err, c.byObjective, c.want)
		}
	}
}
