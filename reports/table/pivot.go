package table

import (
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
)

// measurable is the minimum time in seconds of the quickest row for a comparison of times.
const measurable = 0.1

// pivotParts are the parts that distinguish the rows of a Pivot.
var pivotParts = []string{"preprocess", "kernel", "mean", "likelihood", "inference", "tuned with", "tune"}

// pivotRow is a row of a Pivot.
type pivotRow struct {
	parts   []string
	cells   map[string]Cell    // by column
	seconds map[string]float64 // times of all jobs by data set
}

// Pivot is the table of an experiment on several data sets: one score, with a row for everything
// that distinguishes configurations except the data, and a column for every data set and
// evaluation. The score is the error rate, or for numeric targets the root mean squared error. With
// times, rows with different inference methods end with the time of all jobs, relative to the
// quickest row: a geometric mean over the data sets. There is no time for an incomplete row, or if
// the quickest is too short to be measured. ok is false with a single data set or row, or if two
// configurations share a cell.
func Pivot(r *reports.Report, times *reports.Timings) (t Table, ok bool) {
	p, ok := collect(r, times)
	if !ok || len(p.datasets) < 2 || len(p.rows) < 2 || len(p.names) == 0 {
		return t, false
	}
	for _, name := range pivotParts {
		t.Columns = append(t.Columns, optionalWords(name))
	}
	for _, name := range p.names {
		t.Columns = append(t.Columns, numbers(name))
	}
	for _, row := range p.rows {
		var line []any
		for _, part := range row.parts {
			line = append(line, part)
		}
		for _, name := range p.names {
			line = append(line, row.cells[name])
		}
		t.Add(line...)
	}
	if ratios := relative(p.rows, p.datasets); ratios != nil && len(p.methods) > 1 {
		t.Legend = []string{"time: the seconds of all jobs of a row, divided by those of the quickest row, geometric " +
			"mean over the data sets, in this one run"}
		t.Columns = append(t.Columns, numbers("time"))
		for i := range t.Rows {
			t.Rows[i] = append(t.Rows[i], decimals(ratios[i], 1))
		}
	}
	t.Caption = []string{reports.Spaced(p.score.Name)}
	return t, true
}

func pivots(r *reports.Report) (out []Table) {
	if t, ok := Pivot(r, nil); ok {
		out = append(out, t)
	}
	return out
}

// pivot has the data of a Pivot. names are the names of the columns.
type pivot struct {
	score                    cv.Score
	rows                     []pivotRow
	names, datasets, methods []string
}

// collect arranges the configurations in rows; ok is false if two share a cell.
func collect(r *reports.Report, times *reports.Timings) (p pivot, ok bool) {
	p.score = pivoted(r)
	short := r.ShortNames()
	hybrid := slices.ContainsFunc(r.Configurations, reports.Configuration.Hybrid)
	several := slices.ContainsFunc(r.Configurations,
		func(c reports.Configuration) bool { return len(c.Evaluations) > 1 })
	add := func(list *[]string, name string) {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	for i, c := range r.Configurations {
		parts := []string{c.Preprocess, c.Part(short[c.Kernel.Text]), c.Part(c.Mean.Text),
			c.Part(short[c.Likelihood.Text]), short[c.Inference.Text], "", c.Part(c.Tune)}
		if hybrid {
			parts[5] = short[c.TuneInference.Text]
		}
		row := p.row(parts)
		if _, taken := row.seconds[c.Dataset]; taken {
			return p, false
		}
		row.seconds[c.Dataset] = math.NaN()
		unfinished := func(e reports.Evaluation) bool { return e.Status != reports.Done }
		if times != nil && c.Missing == 0 && c.Status != reports.Failed &&
			!slices.ContainsFunc(c.Evaluations, unfinished) {
			row.seconds[c.Dataset] = times.Configurations[i].Seconds
		}
		add(&p.datasets, c.Dataset)
		add(&p.methods, c.Inference.Text)
		for _, e := range c.Evaluations {
			name := c.Dataset
			if several {
				name += " " + e.Name
			}
			add(&p.names, name)
			row.cells[name] = p.cell(e)
		}
	}
	return p, true
}

// row returns the row of configurations with these parts, possibly a new one.
func (p *pivot) row(parts []string) pivotRow {
	at := slices.IndexFunc(p.rows, func(row pivotRow) bool { return slices.Equal(row.parts, parts) })
	if at < 0 {
		at = len(p.rows)
		p.rows = append(p.rows, pivotRow{parts, map[string]Cell{}, map[string]float64{}})
	}
	return p.rows[at]
}

// cell is the score of an evaluation, or its status.
func (p *pivot) cell(e reports.Evaluation) Cell {
	s, known := e.Scores.Value(p.score.Name)
	if !known {
		return Cell{Value: string(e.Status)}
	}
	digits := 3
	if p.score.Count {
		digits = 0
	}
	return decimals(s.Value, digits).over(e.Scores.Partial)
}

// relative returns the times of rows as ratios to the smallest; NaN if a data set is missing. It is
// nil if the smallest time is too short to be measured.
func relative(rows []pivotRow, datasets []string) (ratios []float64) {
	least := math.Inf(1)
	for _, row := range rows {
		log := 0.0 // log of the geometric mean
		for _, name := range datasets {
			s, known := row.seconds[name]
			if !known {
				s = math.NaN()
			}
			log += math.Log(s) / float64(len(datasets))
		}
		ratios = append(ratios, math.Exp(log))
		if log < least {
			least = log
		}
	}
	if math.IsInf(least, 1) || least < math.Log(measurable) {
		return nil
	}
	for i := range ratios {
		ratios[i] /= math.Exp(least)
	}
	return ratios
}

// pivoted is the score of a Pivot.
func pivoted(r *reports.Report) cv.Score {
	name := "error_rate"
	for _, c := range slices.Backward(r.Configurations) {
		if len(c.Classes) == 0 {
			name = "rmse"
		}
	}
	s, err := cv.ScoreNamed(name)
	if err != nil {
		panic(err)
	}
	return s
}
