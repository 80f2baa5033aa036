package ledger

import (
	"math"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/record"
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

// A cell is the mean over folds of the error rates, averaged over the assignments to folds. Its
// error is the standard deviation of the difference from one more assignment. The variance is the
// variance between repeats, averaged over the methods that were repeated. Data sets are weighted by
// their cases.
func TestMeasureByFolds(t *testing.T) {
	run := func(configurations ...reports.Configuration) *Run {
		return &Run{Report: &reports.Report{Configurations: configurations}}
	}
	r := Runs{
		posteriorsFolds: run(
			folded("crabs", "laplace", 100, 0, 0.2, 0.4, 0.4, 0.5, 0.7), // 0.1, 0.4, 0.6
			folded("crabs", "pl", 100, 0.3, 0.3, 0.2, 0.4, 0.3, 0.3),
			folded("housing", "laplace", 300, 0.5, 0.5, 0.5, 0.5)),
	}
	variance := ((0.1-11./30)*(0.1-11./30) + (0.4-11./30)*(0.4-11./30) + (0.6-11./30)*(0.6-11./30)) / 2 / 2
	for _, c := range []struct {
		sets        []string
		here, error float64
	}{{[]string{"crabs"}, 1.1 / 3, math.Sqrt(4 * variance / 3)},
		{[]string{"crabs", "housing"}, (1.1/3 + 1.5) / 4, math.Sqrt(4*variance/3) / 4}} {
		m, err := measure(r, rowOf("Prob", "L"), c.sets)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(m.here-c.here) > 1e-12 || math.Abs(m.error-c.error) > 1e-12 {
			t.Errorf("%v: %+v, want %v and %v", c.sets, m, c.here, c.error)
		}
	}
	r[posteriorsFolds].Report.Configurations[0].Folds[1].Scores = reports.Scores{}
	if _, err := measure(r, rowOf("Prob", "L"), []string{"crabs"}); err == nil || !strings.Contains(err.Error(), "fold 1") {
		t.Errorf("without a fold: %v", err)
	}
}

// The difference from EP is compared with the published difference. Both methods have the same
// folds.
func TestDifferenceFromEP(t *testing.T) {
	rows, err := Rows()
	if err != nil {
		t.Fatal(err)
	}
	at := func(setting string) Row {
		for _, row := range rows {
			if row.Setting == setting {
				return row
			}
		}
		t.Fatalf("no row of %s", setting)
		return Row{}
	}
	const cell = "Prob PPL thyroid_binary (n=215)" // published: 0.071, and 0.062 with EP
	for _, c := range []struct {
		pl   []float64
		says bool
	}{
		{[]float64{0.071, 0.071, 0.072, 0.072, 0.070, 0.070}, false},
		{[]float64{0.062, 0.062, 0.063, 0.063, 0.061, 0.061}, true},
		{[]float64{0.052, 0.052, 0.072, 0.072, 0.062, 0.062}, false}, // too uncertain
	} {
		r := Runs{posteriorsFolds: {Report: &reports.Report{Configurations: []reports.Configuration{
			folded("thyroid_binary", "pl", 215, c.pl...),
			folded("thyroid_binary", "ep", 215, 0.062, 0.062, 0.062, 0.062, 0.062, 0.062)}}}}
		if text, err := besideEP(r, at(cell), 0.071, []string{"thyroid_binary"}); (text != "") != c.says || err != nil {
			t.Errorf("%v: %q, %v", c.pl, text, err)
		}
	}
	if text, err := besideEP(nil, at("Prob PEP thyroid_binary (n=215)"), 0.062, nil); text != "" || err != nil {
		t.Errorf("EP itself: %q, %v", text, err)
	}
}

// Every cell of Table I names a model of the experiment.
func TestRowsOfTable1(t *testing.T) {
	if got, want := rowOf("NT", "PEP"), (Of{Likelihood: "noisy_threshold",
		Inference: "{ep: {schedule: parallel, quadrature: {order: 10}, max_iterations: 10, unconverged: accept}}"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
