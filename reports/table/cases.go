package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
)

const (
	// The table of strange cases has up to mostStrange of them, and at least leastListed cases,
	// strange or not.
	mostStrange, leastListed = 10, 3
	// strange is the probability of an outcome that is strange: of the label, or of an observed
	// number at least as far from its mean.
	strange = 0.05
)

// strangeCase is a held-out case with its least probable prediction.
type strangeCase struct {
	row, k  int // row in the data, and place among the predictions of the study
	study   *reports.Study
	outcome float64 // probability of the outcome
}

// strangeCases lists, for each answer, the held-out cases whose outcome is least probable, with the
// number of predictions that are so far off and the number to expect. It lists none of groups with
// weights, such as counts of successes.
func strangeCases(r *reports.Report) (out []Table) {
	for _, a := range r.Decided() {
		if t := strangeOf(r, a); t.Lead != "" {
			out = append(out, t)
		}
	}
	return out
}

func strangeOf(r *reports.Report, a reports.Answer) Table {
	var all []strangeCase
	at := map[int]int{} // place in all, by row
	off, expected, predictions := 0, 0.0, 0
	for _, s := range a.Scored() {
		if s.Predictions == nil {
			continue
		}
		if s.Predictions.Weight != nil && s.Predictions.Groups != nil {
			return Table{} // a count of successes is a group of two weighted rows, one for each label
		}
		for k, row := range s.Fit.Rows {
			p, less := outcome(*s.Predictions, k)
			expected, predictions = expected+less, predictions+1
			if p < strange {
				off++
			}
			of := strangeCase{row, k, s, p}
			if i, known := at[row]; !known {
				at[row], all = len(all), append(all, of)
			} else if p < all[i].outcome {
				all[i] = of
			}
		}
	}
	if predictions == 0 {
		return Table{}
	}
	slices.SortStableFunc(all, func(x, y strangeCase) int {
		return cmp.Or(cmp.Compare(x.outcome, y.outcome), cmp.Compare(x.row, y.row))
	})
	title := fmt.Sprintf("of #%d", a.Configuration)
	if len(r.Decided()) > 1 {
		title += " on " + a.Dataset
	}
	t := newPredictionTable(r)
	counted := fmt.Sprintf("%d of %d", off, predictions)
	if off == 0 {
		counted = fmt.Sprintf("none of %d", predictions)
	}
	t.Table = Table{Lead: fmt.Sprintf("The outcome of %s held-out predictions %s has a probability below %v; "+
		"expect %.0f if the probabilities are right.", counted, title, strange, expected)}
	switch {
	case off == 0:
		t.Lead += " So no case is strange."
	case float64(off) <= expected+2*math.Sqrt(expected):
		t.Lead += " So no more are strange than chance explains; one may still have a wrong label or value."
	default:
		t.Lead += " That is more than chance explains: such cases may have a wrong label or value, or be unlike the " +
			"others."
	}
	listed := slices.IndexFunc(all, func(c strangeCase) bool { return c.outcome >= strange })
	if listed < 0 {
		listed = len(all)
	}
	all = all[:min(len(all), max(listed, leastListed), mostStrange)]
	t.Lead += fmt.Sprintf(" The %d least probable cases follow; case is the row, from 0.", len(all))
	return t.cases(r, all)
}

// cases adds a row for each of these cases, which begins with its number and its ids.
func (t *predictionTable) cases(r *reports.Report, all []strangeCase) Table {
	ids := []string{}
	for _, of := range all {
		c := r.Configurations[of.study.Fit.Configuration]
		values := carried(r, c.Record.DataHash, of.study.Evaluation == "test")
		if t.Columns == nil {
			for _, name := range t.ids {
				if values[name] != nil {
					ids = append(ids, name)
				}
			}
			t.Columns = strangeColumns(*of.study.Predictions, ids)
		}
		cells := []any{of.row}
		for _, name := range ids {
			cells = append(cells, values[name][of.row])
		}
		p := of.study.Predictions
		if p.Numeric() {
			sd := math.Sqrt(p.Variance[of.k])
			cells = append(cells, reports.Number(p.Targets[of.k]), reports.Number(p.Mean[of.k]), reports.Number(sd))
		} else {
			proba := p.Proba.RawRowView(of.k)
			decision := cv.Decide(proba)
			cells = append(cells, c.Classes[p.Labels[of.k]], c.Classes[decision], reports.Number(proba[decision]))
		}
		t.Add(append(cells, probability(reports.Number(of.outcome)))...)
	}
	return t.Table
}

// strangeColumns are the columns of the table of strange cases, which begin with the number of the
// case and its ids.
func strangeColumns(p cv.Predictions, ids []string) []Column {
	names := append(append([]string{"case"}, ids...), "label", "most probable", "its probability",
		"probability of the label")
	if p.Numeric() {
		names = append(names[:1+len(ids)], "observed", "mean", "standard deviation", "probability of so far a value")
	}
	out := Columns(names...)
	for i := range out {
		out[i].KeepOnPage = true
		out[i].Right = i == 0 || i > len(ids) && (p.Numeric() || i > len(ids)+2)
	}
	return out
}

// outcome returns the probability of the outcome of a held-out case: of its label, or of a number
// at least as far from the predicted mean. less is the probability, by the prediction, of an
// outcome whose probability is below strange.
func outcome(p cv.Predictions, k int) (of, less float64) {
	if p.Numeric() {
		z := math.Abs(p.Targets[k]-p.Mean[k]) / math.Sqrt(p.Variance[k])
		return 2 * distuv.UnitNormal.Survival(z), strange
	}
	proba := p.Proba.RawRowView(k)
	for _, v := range proba {
		if v < strange {
			less += v
		}
	}
	return proba[p.Labels[k]], less
}
