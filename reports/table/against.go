package table

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Against compares every other configuration with the best of its data set, one table per data set.
func Against(r *reports.Report) (out []Table) {
	for _, a := range r.Decided() {
		if len(a.Rivals) > 0 {
			out = append(out, against(a))
		}
	}
	return out
}

// against has a row for every rival: the difference to the best, in the units of the score, with
// negative values for worse ones.
func against(a reports.Answer) Table {
	by := withSelectionScore(a).By
	s := unitOf(by)
	of := ""
	if a.Evaluation != "" {
		of = ", " + a.Evaluation
	}
	if a.Nested != nil && a.Nested.By != "log_evidence" {
		of += ", inner folds"
	}
	sign := "below 0 is worse"
	if score, err := cv.ScoreNamed(by); err == nil && !score.Greater {
		sign = "turned so that below 0 is worse"
	}
	t := Table{Title: fmt.Sprintf("differences from #%d, the best on %s: %s (%s%s), %s", a.Configuration, a.Dataset, by,
		s.unit, of, sign)}
	t.Columns = []Column{{Name: "dataset", data: true}, {Name: "best", data: true}, {Name: "by", data: true},
		numbers("#"), numbers("difference"), numbers("95 % bounds"), numbers("p"),
		{Name: "verdict", KeepInText: true, KeepOnPage: true}}
	var all []reports.Number
	for _, v := range a.Rivals {
		all = append(all, v.Difference, v.Low, v.High)
	}
	digits := commonDigits(s.factor, all...)
	text := func(x reports.Number) string { return reports.Decimals(s.factor*float64(x), digits) }
	for _, v := range a.Rivals {
		found := verdict(v.InSet)
		if v.Unskilled {
			found += ", " + reports.BelowBase
		}
		interval := between(v.Low, v.High, nil)
		if interval.Value != nil {
			interval.Text = reports.Between(text(v.Low), text(v.High))
		}
		t.Add(a.Dataset, a.Configuration, by, v.Configuration, written(text(v.Difference), v.Difference), interval,
			probability(v.P), found)
	}
	return t
}
