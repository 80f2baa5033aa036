package ledger

import (
	"math"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// folded is a configuration with the given error rates, two folds per repeat.
func folded(dataset, inference string, cases int, rates ...float64) reports.Configuration {
	label := record.Label{Likelihood: record.Plain("probit"), Inference: record.Plain(inference)}
	c := reports.Configuration{Dataset: dataset, Cases: cases, Label: label,
		Record: record.Configuration{Dataset: dataset, Cases: cases, Label: label}}
	for i, rate := range rates {
		c.Folds = append(c.Folds, reports.Fold{Repeat: i / 2, Fold: i % 2, Scores: reports.Scores{
			Results: []cv.Result{{Score: cv.Score{Name: "error_rate"}, Estimate: cv.Estimate{Value: rate}}}}})
	}
	return c
}

// A cell is the mean of its folds' error rates. Its error is that of the difference of two
// assignments to folds; its variance is the variance between repeats, averaged over the repeated
// methods. Data sets are weighted by their cases.
func TestMeasureByFolds(t *testing.T) {
	run := func(configurations ...reports.Configuration) *Run {
		return &Run{Report: &reports.Report{Configurations: configurations}}
	}
	r := Runs{
		posteriorsPaper: run(folded("crabs", "laplace", 100, 0.1, 0.3), folded("housing", "laplace", 300, 0.5, 0.5)),
		posteriorsFolds: run(
			folded("crabs", "laplace", 100, 0, 0.2, 0.4, 0.4, 0.5, 0.7), // 0.1, 0.4, 0.6
			folded("crabs", "pl", 100, 0.3, 0.3, 0.2, 0.4, 0.3, 0.3),
			folded("housing", "laplace", 300, 0.5, 0.5, 0.5, 0.5)),
	}
	variance := ((0.1-11./30)*(0.1-11./30) + (0.4-11./30)*(0.4-11./30) + (0.6-11./30)*(0.6-11./30)) / 2 / 2
	for _, c := range []struct {
		sets        []string
		here, error float64
	}{{[]string{"crabs"}, 0.2, math.Sqrt(2 * variance)}, {[]string{"crabs", "housing"}, 0.425, math.Sqrt(2*variance) / 4}} {
		m, err := measure(r, rowOf("Prob", "L"), c.sets)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(m.here-c.here) > 1e-12 || math.Abs(m.error-c.error) > 1e-12 {
			t.Errorf("%v: %+v, want %v and %v", c.sets, m, c.here, c.error)
		}
	}
	r[posteriorsPaper].Report.Configurations[0].Folds[1].Scores = reports.Scores{}
	if _, err := measure(r, rowOf("Prob", "L"), []string{"crabs"}); err == nil || !strings.Contains(err.Error(), "fold 1") {
		t.Errorf("without a fold: %v", err)
	}
}

// Every cell of Table I names a model of the experiment.
func TestRowsOfTable1(t *testing.T) {
	if got, want := rowOf("NT", "PEP"), (Of{Likelihood: "noisy_threshold",
		Inference: "{ep: {schedule: parallel, quadrature: {order: 10}, max_iterations: 10, unconverged: accept}}"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
