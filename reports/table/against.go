package table

import (
	"fmt"
	"strings"

	"github.com/gpc-tune/gpc-tune/reports"
)

// Against compares every other configuration with the best of its data set, one table per data set.
func Against(r *reports.Report) (out []Titled) {
	for _, a := range r.Decided() {
		if len(a.Rivals) > 0 {
			out = append(out, against(a))
		}
	}
	return out
}

// against has a row for every rival: the difference to the best, in the units of the score, with
// negative values for worse ones.
func against(a reports.Answer) Titled {
	by := a.By
	if a.Nested != nil {
		by = a.Nested.By
	}
	s := shown(by)
	t := Table{Columns: []Column{numbers("#"), numbers("difference"), numbers("95 % interval"), numbers("p"),
		numbers("p (Holm)"), {Name: "verdict", Keep: true, Stays: true}}}
	var all []reports.Number
	for _, v := range a.Rivals {
		all = append(all, v.Difference, v.Low, v.High)
	}
	digits := commonDigits(s.factor, all...)
	cell := func(x reports.Number) Cell { return decimals(s.factor*float64(x), digits) }
	for _, v := range a.Rivals {
		found := verdict(by, v.Told)
		if v.Told && v.Difference > 0 {
			found = strings.Replace(found, "worse", "better", 1)
		}
		if v.Unskilled && v.Told {
			found += ", " + reports.BelowBase
		} else if v.Unskilled {
			found = reports.BelowBase
		}
		between := Cell{}
		if !v.Low.None() {
			between.Text = cell(v.Low).Text + " – " + cell(v.High).Text
		}
		t.Rows = append(t.Rows, Row(v.Configuration, cell(v.Difference), between, probability(v.P),
			probability(v.Holm), found))
	}
	t.Lift()
	of := ""
	if a.Evaluation != "" {
		of = ", " + a.Evaluation
	}
	return Titled{fmt.Sprintf("differences from #%d, the best on %s: %s (%s%s), below 0 is worse", a.Configuration,
		a.Dataset, by, s.unit, of), t}
}
