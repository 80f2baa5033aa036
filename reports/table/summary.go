package table

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
)

// unconverged describes which fits of a row had not converged.
func unconverged(c reports.Configuration, evaluation string) string {
	count := 0
	for _, f := range c.Folds {
		if f.Evaluation == evaluation && f.Converged != nil {
			count++
		}
	}
	switch {
	case c.Converged != nil:
		return "not converged"
	case count > 0:
		return Counted(count, "fold", "folds") + " not converged"
	}
	return ""
}

// Summary has one row per configuration and evaluation. Columns of words with equal values in every
// row are lifted into the caption; empty columns are left out. For a run without data it has the
// illustrations, or the searches of a program.
func Summary(r *reports.Report) Table {
	if len(r.Illustrations) > 0 {
		return illustrations(r)
	}
	if len(r.Configurations) > 0 && r.Configurations[0].Program != nil {
		return searches(r)
	}
	t := Table{Columns: []Column{
		numbers("#"), {Name: "status", KeepInText: true}, words("dataset"), words("preprocess"),
		optionalWords("kernel"), optionalWords("mean"), optionalWords("likelihood"), words("inference"),
		words("tuned with"), optionalWords("tune"), words("evaluation"),
		numbers("log evidence").droppedAt(5).explained(true, "of all of the training data, nats"),
		numbers("loo").droppedAt(30).explained(true, "mean leave-one-out log probability of the training cases, nats"),
		numbers("inducing inputs"), numbers("unexplained").explained(false, "share of the prior variance that the "+
			"inducing inputs leave"),
	}}
	decides := deciding(r)
	for i, s := range cv.Scores {
		if s.Column.Heading == "" {
			continue
		}
		column := numbers(s.Column.Heading).droppedAt(10+i).explained(s.Greater, s.Doc+" ("+s.Unit+")")
		if slices.Contains(decides, s.Name) {
			column.dropRank = 0
			column.Decides = true
		}
		t.Columns = append(t.Columns, column)
		if s.Column.Interval {
			t.Columns = append(t.Columns, numbers("95 % interval").droppedAt(29))
		}
		if s.Name == decisionScore {
			t.Columns = append(t.Columns, numbers("cost").droppedAt(6), numbers("rejected").droppedAt(7))
		}
	}
	choice, chooses := choosing(r)
	if chooses {
		t.Columns = append(t.Columns, numbers("inner "+heading(choice)))
	}
	t.markDeciding(decides, chooses)
	short := r.ShortNames()
	for _, i := range r.Ranked() {
		c, answer := r.Configurations[i], r.AnswerOf(i)
		tunedWith := ""
		if c.Hybrid() {
			tunedWith = short[c.TuneInference.Text]
		}
		evaluations := c.Evaluations
		if len(evaluations) == 0 {
			evaluations = []reports.Evaluation{{Status: reports.Done}}
		}
		for _, e := range evaluations {
			row := Row(i, standing(answer, i, c, e), c.Dataset, c.Preprocess, c.Part(short[c.Kernel.Text]),
				c.Part(c.Mean.Text),
				c.Part(short[c.Likelihood.Text]), short[c.Inference.Text], tunedWith, c.Part(c.Tune), e.Name,
				decimals(c.LogEvidence, 3), decimals(c.LeftOneOut(), 4), inducingCells(c), summaryCells(e))
			if chooses {
				row = append(row, inner(answer, i))
			}
			t.Add(row)
		}
	}
	for _, a := range r.Decided() {
		if len(a.Set) > 1 {
			meaning := "may be the best, at 95 %"
			if withSelectionScore(a).By == "log_evidence" {
				meaning = "within 1 nat of the best"
			}
			t.Legend = append(t.Legend, reports.InSet+": "+meaning)
			break
		}
	}
	if slices.ContainsFunc(t.Rows, func(row []Cell) bool {
		return slices.ContainsFunc(row, func(c Cell) bool { return c.Starred })
	}) {
		t.Legend = append(t.Legend, "*: over some folds alone, see status")
	}
	return t
}

// markDeciding marks the log evidence if it decides, or the score on the inner folds, which is the
// last column, instead of all others.
func (t *Table) markDeciding(decides []string, inner bool) {
	for i := range t.Columns {
		c := &t.Columns[i]
		evidence := c.Name == "log evidence" && slices.Contains(decides, "log_evidence")
		c.Decides = !inner && (c.Decides || evidence) || inner && i == len(t.Columns)-1
	}
}

func summaries(r *reports.Report) []Table { return []Table{Summary(r)} }

// deciding are the scores by which configurations compete.
func deciding(r *reports.Report) (names []string) {
	for _, a := range r.Decided() {
		names = append(names, a.By)
	}
	return names
}

// standing is the rank of a row: the best, or in the set that may be the best. If the row is not
// complete, its status follows.
func standing(a *reports.Answer, i int, c reports.Configuration, e reports.Evaluation) Cell {
	of, lacks, out := a.Of(i), state(c, e), Cell{}
	if a != nil && a.Nested == nil && a.Evaluation != e.Name {
		of = nil
	}
	switch {
	case len(of) > 0 && of[0] != reports.BelowBase:
		out.Mark = map[string]Mark{reports.Winner: Winner, reports.InSet: InSet}[of[0]]
	case lacks != "" && len(of) == 0:
		out.Mark = NotCompeting
	}
	if lacks != "" {
		of = append(of, lacks)
	}
	out.Text = strings.Join(of, ", ")
	return out
}

// choosing is the score by which nested cross-validation selects, if there is one.
func choosing(r *reports.Report) (by string, ok bool) {
	for _, a := range r.Decided() {
		if n := a.Nested; n != nil && n.By != "log_evidence" {
			return n.By, true
		}
	}
	return "", false
}

// inner is the score of a configuration on the inner folds of nested cross-validation.
func inner(a *reports.Answer, i int) Cell {
	if a == nil || a.Nested == nil {
		return Cell{}
	}
	if a.Configuration == i {
		return decimals(a.Nested.Score, 4)
	}
	for _, rival := range a.Rivals {
		if rival.Configuration == i {
			return decimals(rival.Score, 4)
		}
	}
	return Cell{}
}

// inducingCells are the number of inducing inputs, and the fraction of the prior variance that they
// leave unexplained.
func inducingCells(c reports.Configuration) []Cell {
	i := c.Inducing
	if i == nil {
		return make([]Cell, 2)
	}
	share := float64(i.Unexplained)
	return Row(i.Points, written(reports.Brief(100*share)+" %", i.Unexplained))
}

// decisionScore is the score after which a summary has the costs of decisions.
const decisionScore = "error_rate"

// summaryCells are the scores of an evaluation in a row of a summary, whose status tells the number
// of folds that they are over.
func summaryCells(e reports.Evaluation) (out []Cell) {
	of := e.Scores.Partial
	starred := func(c Cell) Cell {
		c = c.over(of)
		c.Starred = c.Partial != nil
		return c
	}
	for _, s := range cv.Scores {
		if s.Column.Heading == "" {
			continue
		}
		v, known := e.Scores.Value(s.Name)
		factor, cell, interval := 1.0, Cell{}, Cell{}
		if s.Column.Percent {
			factor = 100
		}
		switch {
		case known && s.Count:
			cell = written(fmt.Sprintf("%.0f/%.0f", v.Value, e.Scores.Weight), reports.Number(v.Value))
		case known:
			cell = decimals(factor*v.Value, s.Column.Digits)
			if s.Base && math.Abs(v.Value) < reports.Rounding {
				cell.Text = reports.Decimals(0, s.Column.Digits)
			}
			interval.Text = of.Whole(reports.Between(fmt.Sprintf("%.*f", s.Column.Digits, factor*v.Lo),
				fmt.Sprintf("%.*f", s.Column.Digits, factor*v.Hi)))
		}
		out = append(out, starred(cell))
		if s.Column.Interval {
			out = append(out, interval)
		}
		if s.Name == decisionScore {
			cost, rejected := Cell{}, Cell{}
			if d := e.Decisions; d != nil {
				cost, rejected = starred(decimals(d.Loss, 4)), starred(Row(d.Rejected)[0])
			}
			out = append(out, cost, rejected)
		}
	}
	return out
}

// state tells why a row is not complete or not converged; empty if it is both.
func state(c reports.Configuration, e reports.Evaluation) string {
	switch {
	case c.Status == reports.Dropped:
		return string(c.Status)
	case e.Scored < e.Folds:
		return fmt.Sprintf("%s: %d/%d folds done", e.Status, e.Scored, e.Folds)
	case c.Status != reports.Done:
		return string(c.Status)
	case c.Missing > 0:
		return "incomplete"
	}
	return unconverged(c, e.Name)
}
