package page

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/picture"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// on is a configuration with error rate rate and 100 rate errors in every evaluation.
func on(dataset, likelihood, inference string, rate float64, evaluations ...string) reports.Configuration {
	c := reports.Configuration{Dataset: dataset, Label: record.Label{Preprocess: "none", Kernel: reporttest.Declared("{se: {amplitude: 2}}"), Mean: reporttest.Declared("zero"), Likelihood: reporttest.Declared(likelihood), Inference: reporttest.Declared(inference), TuneInference: reporttest.Declared(inference)}, Tune: "bfgs", Classes: []string{"a", "b"}}
	for _, name := range evaluations {
		e := reports.Evaluation{Name: name, Status: reports.Done}
		for _, s := range cv.Scores {
			if s.Name == "errors" {
				e.Scores.Results = append(e.Scores.Results, cv.Result{Score: s, Estimate: cv.Estimate{Value: 100 * rate}})
			}
			if s.Name == "error_rate" {
				e.Scores.Results = append(e.Scores.Results, cv.Result{Score: s, Estimate: cv.Estimate{Value: rate}})
			}
		}
		c.Evaluations = append(c.Evaluations, e)
	}
	return c
}

// lines returns a pivot table as text, its caption first.
func lines(t table.Table) (out []string) {
	out = append(out, strings.Join(t.Caption, ", "))
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	out = append(out, strings.Join(names, "|"))
	for _, row := range t.Rows {
		out = append(out, strings.Join(texts(row), "|"))
	}
	return out
}

func TestPivot(t *testing.T) {
	r := &reports.Report{Configurations: []reports.Configuration{
		on("a", "probit", "laplace", 0.25, "test"),
		on("a", "logit", "{ep: {schedule: parallel}}", 0.1234, "test"),
		on("b", "probit", "laplace", 0.5, "test"),
		on("b", "logit", "{ep: {schedule: parallel}}", 0, "test"),
		on("a", "none", "p1nn", 0.75, "test"),
	}}
	for _, c := range []*reports.Configuration{&r.Configurations[4]} {
		c.Kernel, c.Mean, c.Tune = reporttest.Declared("none"), reporttest.Declared("none"), "none"
	}
	failed := on("b", "probit", "pl", 0, "test")
	failed.Evaluations[0] = reports.Evaluation{Name: "test", Status: reports.Failed}
	r.Configurations = append(r.Configurations, failed)
	const rest = "preprocess none, kernel se, mean zero, tune bfgs"
	want := []string{"error rate, " + rest, "likelihood|inference|a|b", "probit|laplace|0.250|0.500", "logit|ep(schedule: parallel)|0.123|0.000", "|p1nn|0.750|", "probit|pl||failed"}
	pivot, ok := table.Pivot(r, nil)
	if got := lines(pivot); !ok || !slices.Equal(got, want) {
		t.Errorf("%v, got\n%s\nwant\n%s", ok, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	// Times are geometric means over the data sets of rows that have all of them, relative to the
	// smallest: √(1·4) = 2, √(2·32) = 8, 3 times 2.
	times := &reports.Timings{}
	for _, seconds := range []float64{1, 2, 4, 32, 1e-3, 6} {
		times.Configurations = append(times.Configurations, reports.ConfigurationTimings{Seconds: seconds})
	}
	pivot, _ = table.Pivot(r, times)
	if !strings.HasPrefix(pivot.Caption[len(pivot.Caption)-1], "time: ") {
		t.Errorf("caption %q", pivot.Caption)
	}
	want = []string{"likelihood|inference|a|b|time", "probit|laplace|0.250|0.500|1.0", "logit|ep(schedule: parallel)|0.123|0.000|4.0", "|p1nn|0.750||", "probit|pl||failed|"}
	if got := lines(pivot)[1:]; !slices.Equal(got, want) {
		t.Errorf("with times\n%s", strings.Join(got, "\n"))
	}
	for i := range times.Configurations {
		times.Configurations[i].Seconds /= 100
	}
	if pivot, _ = table.Pivot(r, times); pivot.Columns[len(pivot.Columns)-1].Name != "b" {
		t.Errorf("of milliseconds: %q", lines(pivot))
	}

	// If there are published figures, the pivot shows the score that they have.
	r.Configurations[3].Published = []reports.Published{{Figures: reports.PublishedFigures{{Name: "log_evidence"}, {Name: "errors"}, {Name: "brier"}}}}
	pivot, _ = table.Pivot(r, nil)
	if got := lines(pivot); got[0] != "errors, "+rest || got[2] != "probit|laplace|25|50" {
		t.Errorf("of errors\n%s", strings.Join(got, "\n"))
	}
}

// With several evaluations every data set has one column for each. There is no pivot for a single
// data set or row, or if two configurations have the same place.
func TestPivotShapes(t *testing.T) {
	r := &reports.Report{Configurations: []reports.Configuration{on("a", "probit", "ep", 0.5, "test", "kfold"), on("a", "logit", "ep", 0.25, "test", "kfold"), on("b", "probit", "ep", 0, "kfold")}}
	pivot, ok := table.Pivot(r, nil)
	want := []string{"error rate, preprocess none, kernel se, mean zero, inference ep, tune bfgs", "likelihood|a test|a kfold|b kfold", "probit|0.500|0.500|0.000", "logit|0.250|0.250|"}
	if got := lines(pivot); !ok || !slices.Equal(got, want) {
		t.Errorf("%v, got\n%s", ok, strings.Join(got, "\n"))
	}
	for name, r := range map[string]*reports.Report{
		"none":         {},
		"one data set": {Configurations: r.Configurations[:2]},
		"one row":      {Configurations: []reports.Configuration{r.Configurations[0], r.Configurations[2]}},
		"one place":    {Configurations: append(slices.Clone(r.Configurations), r.Configurations[2])},
		"unscored":     {Configurations: []reports.Configuration{on("a", "probit", "ep", 0), on("b", "logit", "ep", 0)}},
	} {
		if pivot, ok := table.Pivot(r, nil); ok {
			t.Errorf("%s: %q", name, lines(pivot))
		}
	}
	numbers := on("a", "gaussian", "exact", 0, "test")
	numbers.Classes = nil
	rmse, _ := cv.ScoreNamed("rmse")
	numbers.Evaluations[0].Scores.Results = []cv.Result{{Score: rmse, Estimate: cv.Estimate{Value: 1.5}}}
	other, third := numbers, numbers
	other.Dataset, third.Kernel = "b", reporttest.Declared("linear")
	pivot, _ = table.Pivot((&reports.Report{Configurations: []reports.Configuration{numbers, other, third}}), nil)
	if got := lines(pivot); !strings.HasPrefix(got[0], "rmse, ") || got[2] != "se|1.500|1.500" {
		t.Errorf("of numbers\n%s", strings.Join(got, "\n"))
	}
}

func TestLabels(t *testing.T) {
	r := &reports.Report{Configurations: []reports.Configuration{on("a", "probit", "laplace", 0), on("a", "logit", "laplace", 0), on("a", "none", "p1nn", 0)}}
	c := &r.Configurations[2]
	c.Kernel, c.Mean, c.Tune = reporttest.Declared("none"), reporttest.Declared("none"), "none"
	if got := picture.Labels(r); !slices.Equal(got, []string{"#0 probit, laplace", "#1 logit, laplace", "#2 p1nn"}) {
		t.Errorf("%q", got)
	}
	if got := picture.Labels(&reports.Report{}); got != nil {
		t.Errorf("of nothing %q", got)
	}
}

// The summary contains the cost of decisions if costs are given.
func TestSummaryOfDecisions(t *testing.T) {
	r := &reports.Report{Configurations: []reports.Configuration{on("a", "probit", "laplace", 0.25, "test"), on("a", "probit", "ep", 0.25, "test")}}
	for i := range r.Configurations {
		r.Configurations[i].LogEvidence = reports.Number(math.NaN())
	}
	r.Configurations[1].Evaluations[0].Decisions = &reports.Decisions{Loss: 0.0625, Rejected: 7}
	lines := lines(table.Summary(r))
	if !strings.Contains(lines[1], "|cost|rejected") || !strings.HasSuffix(lines[2], "||") || !strings.HasSuffix(lines[3], "|0.0625|7") {
		t.Error(fmt.Sprint(strings.Join(lines, "\n")))
	}
}

// Every format for readers contains the pivot besides the summary.
func TestPivotIsReported(t *testing.T) {
	r := &reports.Report{Configurations: []reports.Configuration{on("a", "probit", "ep", 0.5, "test"), on("a", "logit", "ep", 0.25, "test"), on("b", "probit", "ep", 0, "test")}}
	for format, row := range map[string]string{"text": "logit       0.250", "markdown": "| logit | 0.250 |  |", "latex": `logit & 0.250 & `, "html": `<td>logit</td><td class="n">0.250</td>`} {
		if out := string(Render(t, format, r)); strings.Count(out, row) != 1 || !strings.Contains(out, "error rate, preprocess none") {
			t.Errorf("%s has no %q:\n%s", format, row, out)
		}
	}
}
