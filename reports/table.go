package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Table is the summary of a Report, ready to be laid out: cells are texts, empty where there is nothing to say.
type Table struct {
	Caption []string // what is the same in every row: "dataset crabs"
	Columns []Column
	Rows    [][]string
}

// Column is a column of a Table.
type Column struct {
	Name  string
	Right bool // numbers: aligned to the right
	keep  bool // not to be lifted into the caption
	gaps  bool // an empty cell is no difference
}

// Summary has one row per configuration, or several if there are several evaluations. Columns of words that are the
// same in every row are lifted into the caption; columns without any entry are left out. Of a run without data it has the
// illustrations.
func (r *Report) Summary() Table {
	if len(r.Illustrations) > 0 {
		return r.illustrations()
	}
	words := func(name string) Column { return Column{Name: name} }
	part := func(name string) Column { return Column{Name: name, gaps: true} }
	number := func(name string) Column { return Column{Name: name, Right: true, keep: true} }
	t := Table{Columns: []Column{
		{Name: "#", Right: true, keep: true}, words("dataset"), words("preprocess"), part("kernel"), part("mean"), part("likelihood"), words("inference"),
		words("tuned with"), part("tune"), words("evaluation"), number("log evidence"), number("loo"), number("bits"), number("errors"), number("error rate %"), number("95 % interval"), number("cost"), number("rejected"), number("log loss"),
		number("brier"), number("auc"), number("rmse"), number("standardized log loss"), {Name: "status", keep: true},
	}}
	short := r.shorten()
	hybrid := slices.ContainsFunc(r.Configurations, Configuration.hybrid)
	for i, c := range r.Configurations {
		tunedWith := ""
		if hybrid {
			tunedWith = short[c.TuneInference.Text]
		}
		evaluations := c.Evaluations
		if len(evaluations) == 0 {
			evaluations = []Evaluation{{Status: Done}}
		}
		for _, e := range evaluations {
			s := e.Scores
			errors, rate, interval := "", "", ""
			if count, ok := s.Value("errors"); ok {
				errors = s.Partial.beside(fmt.Sprintf("%.0f/%d", count.Value, s.N))
			}
			if r, ok := s.Value("error_rate"); ok {
				rate = s.Partial.beside(decimals(100*r.Value, 1))
				interval = s.Partial.whole(fmt.Sprintf("%.1f – %.1f", 100*r.Lo, 100*r.Hi))
			}
			score := func(name string, digits int) string {
				if e, ok := s.Value(name); ok {
					return s.Partial.beside(decimals(e.Value, digits))
				}
				return ""
			}
			cost, rejected := "", ""
			if e.Decisions != nil {
				cost, rejected = s.Partial.beside(decimals(float64(e.Decisions.Loss), 4)), s.Partial.beside(strconv.Itoa(e.Decisions.Rejected))
			}
			t.Rows = append(t.Rows, []string{strconv.Itoa(i), c.Dataset, c.Preprocess, c.part(short[c.Kernel.Text]), c.part(c.Mean.Text), c.part(short[c.Likelihood.Text]), short[c.Inference.Text], tunedWith, c.part(c.Tune), e.Name,
				decimals(float64(c.LogEvidence), 3), decimals(float64(c.leaveOneOut()), 4), score("information_bits", 3), errors, rate, interval, cost, rejected, score("log_loss", 4), score("brier", 4), score("auc", 4), score("rmse", 4), score("standardized_log_loss", 4), state(c, e)})
		}
	}
	t.lift()
	return t
}

// part is the name of a part of the configuration; that a comparator has none of the parts of a model need not be said.
func (c Configuration) part(name string) string {
	if c.Likelihood.Text == "none" && name == "none" {
		return ""
	}
	return name
}

// state says what a row lacks.
func state(c Configuration, e Evaluation) string {
	switch {
	case e.Scored < e.Folds:
		return fmt.Sprintf("%s: %d of %d folds", e.Status, e.Scored, e.Folds)
	case c.Status != Done:
		return string(c.Status)
	case c.Missing > 0:
		return "incomplete"
	}
	return c.unconverged(e.Name)
}

// lift moves what does not vary into the caption, as far as rows have it, and drops empty columns.
func (t *Table) lift() {
	for c := len(t.Columns) - 1; c >= 0; c-- {
		text := ""
		if i := slices.IndexFunc(t.Rows, func(row []string) bool { return row[c] != "" }); i >= 0 {
			text = t.Rows[i][c]
		}
		constant := !slices.ContainsFunc(t.Rows, func(row []string) bool { return row[c] != text && !(row[c] == "" && t.Columns[c].gaps) })
		empty := text == ""
		if !empty && (t.Columns[c].keep || !constant) {
			continue
		}
		if !empty {
			t.Caption = append([]string{t.Columns[c].Name + " " + text}, t.Caption...)
		}
		t.Columns = slices.Delete(t.Columns, c, c+1)
		for i := range t.Rows {
			t.Rows[i] = slices.Delete(t.Rows[i], c, c+1)
		}
	}
}

// decimals is x with so many digits, or with more where it would look like 0, 1 or -1 and is not; NaN is empty.
func decimals(x float64, digits int) string {
	if math.IsNaN(x) {
		return ""
	}
	if x == 0 {
		x = 0 // not -0
	}
	looks := func(digits int) bool {
		rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', digits, 64), 64)
		return rounded != x && (rounded == 0 || math.Abs(rounded) == 1)
	}
	for least := digits; looks(digits); digits++ {
		if digits > least+6 {
			return strconv.FormatFloat(x, 'g', 2, 64) // far from what a reader can see in a table
		}
	}
	return strconv.FormatFloat(x, 'f', digits, 64)
}
