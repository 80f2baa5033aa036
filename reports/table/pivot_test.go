package table

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// lines returns a pivot table as text, its caption first.
func lines(t Table) (out []string) {
	t.MoveConstantsToCaption()
	out = append(out, strings.Join(t.Caption, ", "))
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	out = append(out, strings.Join(names, "|"))
	for _, row := range t.Rows {
		out = append(out, strings.Join(Texts(row), "|"))
	}
	return out
}

func TestPivot(t *testing.T) {
	r := &reports.Report{Configurations: []reports.Configuration{
		reporttest.Scored("a", "probit", "laplace", 0.25, "test"),
		reporttest.Scored("a", "logit", "{ep: {schedule: parallel}}", 0.1234, "test"),
		reporttest.Scored("b", "probit", "laplace", 0.5, "test"),
		reporttest.Scored("b", "logit", "{ep: {schedule: parallel}}", 0, "test"),
		reporttest.Scored("a", "none", "p1nn", 0.75, "test"),
	}}
	for _, c := range []*reports.Configuration{&r.Configurations[4]} {
		c.Kernel, c.Mean, c.Tune = reporttest.Declared("none"), reporttest.Declared("none"), "none"
	}
	failed := reporttest.Scored("b", "probit", "pl", 0, "test")
	failed.Evaluations[0] = reports.Evaluation{Name: "test", Status: reports.Failed}
	r.Configurations = append(r.Configurations, failed)
	const rest = "preprocess none, kernel se, mean zero, tune bfgs"
	want := []string{"error rate, " + rest, "likelihood|inference|a|b", "probit|laplace|0.250|0.500", "logit|ep(schedule: parallel)|0.123|0.000", "|p1nn|0.750|", "probit|pl||failed"}
	pivot, ok := Pivot(r, nil)
	if got := lines(pivot); !ok || !slices.Equal(got, want) {
		t.Errorf("%v, got\n%s\nwant\n%s", ok, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	// Times are geometric means over the data sets of rows that have all of them, relative to the
	// smallest: √(1·4) = 2, √(2·32) = 8, 3 times 2.
	times := &reports.Timings{}
	for _, seconds := range []float64{1, 2, 4, 32, 1e-3, 6} {
		times.Configurations = append(times.Configurations, reports.ConfigurationTimings{Seconds: seconds})
	}
	pivot, _ = Pivot(r, times)
	if !strings.HasPrefix(pivot.Legend[len(pivot.Legend)-1], "time: ") {
		t.Errorf("legend %q", pivot.Legend)
	}
	want = []string{"likelihood|inference|a|b|time", "probit|laplace|0.250|0.500|1.0", "logit|ep(schedule: parallel)|0.123|0.000|4.0", "|p1nn|0.750||", "probit|pl||failed|"}
	if got := lines(pivot)[1:]; !slices.Equal(got, want) {
		t.Errorf("with times\n%s", strings.Join(got, "\n"))
	}
	for i := range times.Configurations {
		times.Configurations[i].Seconds /= 100
	}
	if pivot, _ = Pivot(r, times); pivot.Columns[len(pivot.Columns)-1].Name != "b" {
		t.Errorf("of milliseconds: %q", lines(pivot))
	}

}

// With several evaluations every data set has one column for each. With one inference method there
// are no times. There is no pivot for a single
// data set or row, or if two configurations have the same place.
func TestPivotShapes(t *testing.T) {
	r := &reports.Report{Configurations: []reports.Configuration{reporttest.Scored("a", "probit", "ep", 0.5, "test", "kfold"), reporttest.Scored("a", "logit", "ep", 0.25, "test", "kfold"), reporttest.Scored("b", "probit", "ep", 0, "kfold")}}
	pivot, ok := Pivot(r, nil)
	want := []string{"error rate, preprocess none, kernel se, mean zero, inference ep, tune bfgs", "likelihood|a test|a kfold|b kfold", "probit|0.500|0.500|0.000", "logit|0.250|0.250|"}
	if got := lines(pivot); !ok || !slices.Equal(got, want) {
		t.Errorf("%v, got\n%s", ok, strings.Join(got, "\n"))
	}
	pivot, _ = Pivot(r, &reports.Timings{Configurations: slices.Repeat([]reports.ConfigurationTimings{{Seconds: 5}}, 3)})
	if got := lines(pivot); !slices.Equal(got, want) {
		t.Errorf("with times of one method, got\n%s", strings.Join(got, "\n"))
	}
	for name, r := range map[string]*reports.Report{
		"none":         {},
		"one data set": {Configurations: r.Configurations[:2]},
		"one row":      {Configurations: []reports.Configuration{r.Configurations[0], r.Configurations[2]}},
		"one place":    {Configurations: append(slices.Clone(r.Configurations), r.Configurations[2])},
		"unscored":     {Configurations: []reports.Configuration{reporttest.Scored("a", "probit", "ep", 0), reporttest.Scored("b", "logit", "ep", 0)}},
	} {
		if pivot, ok := Pivot(r, nil); ok {
			t.Errorf("%s: %q", name, lines(pivot))
		}
	}
	numbers := reporttest.Scored("a", "gaussian", "exact", 0, "test")
	numbers.Classes = nil
	rmse, _ := cv.ScoreNamed("rmse")
	numbers.Evaluations[0].Scores.Results = []cv.Result{{Score: rmse, Estimate: cv.Estimate{Value: 1.5}}}
	other, third := numbers, numbers
	other.Dataset, third.Kernel = "b", reporttest.Declared("linear")
	pivot, _ = Pivot((&reports.Report{Configurations: []reports.Configuration{numbers, other, third}}), nil)
	if got := lines(pivot); !strings.HasPrefix(got[0], "rmse, ") || got[2] != "se|1.500|1.500" {
		t.Errorf("of numbers\n%s", strings.Join(got, "\n"))
	}
}

// The summary contains the cost of decisions if costs are given.
func TestSummaryOfDecisions(t *testing.T) {
	r := &reports.Report{Configurations: []reports.Configuration{reporttest.Scored("a", "probit", "laplace", 0.25, "test"), reporttest.Scored("a", "probit", "ep", 0.25, "test")}}
	for i := range r.Configurations {
		r.Configurations[i].LogEvidence = reports.Number(math.NaN())
	}
	r.Configurations[1].Evaluations[0].Decisions = &reports.Decisions{Loss: 0.0625, Rejected: 7}
	lines := lines(Summary(r))
	if !strings.Contains(lines[1], "|cost|rejected") || !strings.HasSuffix(lines[2], "||") || !strings.HasSuffix(lines[3], "|0.0625|7") {
		t.Error(fmt.Sprint(strings.Join(lines, "\n")))
	}
}

// A row with missing jobs or failed folds has no time, complete rows have.
func TestPivotTimesOfWholeRows(t *testing.T) {
	r := &reports.Report{Configurations: []reports.Configuration{
		reporttest.Scored("a", "probit", "laplace", 0.25, "test"), reporttest.Scored("a", "probit", "ep", 0.25, "test"), reporttest.Scored("a", "probit", "pl", 0.25, "test"),
		reporttest.Scored("b", "probit", "laplace", 0.5, "test"), reporttest.Scored("b", "probit", "ep", 0.5, "test"), reporttest.Scored("b", "probit", "pl", 0.5, "test"),
	}}
	r.Configurations[1].Missing = 1
	r.Configurations[5].Evaluations[0].Status = reports.Failed
	times := &reports.Timings{}
	for _, seconds := range []float64{8, 1, 1, 8, 1, 1} {
		times.Configurations = append(times.Configurations, reports.ConfigurationTimings{Seconds: seconds})
	}
	pivot, ok := Pivot(r, times)
	if got := strings.Join(lines(pivot)[1:], "\n"); !ok || got != "inference|a|b|time\nlaplace|0.250|0.500|1.0\nep|0.250|0.500|\npl|0.250|0.500|" {
		t.Errorf("%v\n%s", ok, got)
	}
}
