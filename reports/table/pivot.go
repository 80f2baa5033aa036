package table

import (
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
)

// measurable is how many seconds the jobs of the quickest row take if times are to mean something.
const measurable = 0.1

// pivotParts are what the rows of a Pivot differ in.
var pivotParts = []string{"preprocess", "kernel", "mean", "likelihood", "inference", "tuned with", "tune"}

// pivotRow is a row of a Pivot.
type pivotRow struct {
	parts   []string
	cells   map[string]Cell    // by column
	seconds map[string]float64 // by data set
}

// Pivot is the table of an experiment on several data sets: one score, with a row for all that
// configurations differ in but data, and a column for every data set and evaluation. It is the
// first score that is published for the experiment, or else the error rate, or of numbers the root
// mean squared error. With times, rows of several inference methods end with the seconds of all
// jobs over those of the quickest row on the same data, as a geometric mean over the data sets,
// unless that row is too short to be measured; a row of which not all is done has no time. One data
// set or one row has no such table, nor have configurations of which two would share a cell: not
// ok.
func Pivot(r *reports.Report, times *reports.Timings) (t Table, ok bool) {
	p, ok := collect(r, times)
	if !ok || len(p.datasets) < 2 || len(p.rows) < 2 || len(p.names) == 0 {
		return t, false
	}
	for _, name := range pivotParts {
		t.Columns = append(t.Columns, parted(name))
	}
	for _, name := range p.names {
		t.Columns = append(t.Columns, numbers(name))
	}
	for _, row := range p.rows {
		var line []Cell
		for _, part := range row.parts {
			line = append(line, Cell{Text: part})
		}
		for _, name := range p.names {
			line = append(line, row.cells[name])
		}
		t.Rows = append(t.Rows, line)
	}
	var note []string
	if ratios := relative(p.rows, p.datasets); ratios != nil && len(p.methods) > 1 {
		note = []string{"time: the seconds of all jobs of a row, divided by those of the quickest row, geometric " +
			"mean over the data sets, in this one run"}
		t.Columns = append(t.Columns, numbers("time"))
		for i := range t.Rows {
			t.Rows[i] = append(t.Rows[i], decimals(ratios[i], 1))
		}
	}
	t.Lift()
	t.Caption = slices.Concat([]string{reports.Spaced(p.score.Name)}, t.Caption, note)
	return t, true
}

// pivot is what a Pivot is made of. names are those of the columns.
type pivot struct {
	score                    cv.Score
	rows                     []pivotRow
	names, datasets, methods []string
}

// collect puts the configurations into rows; not ok: two share a cell.
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

// row is the row of a configuration with these parts, a new one if there is none.
func (p *pivot) row(parts []string) pivotRow {
	at := slices.IndexFunc(p.rows, func(row pivotRow) bool { return slices.Equal(row.parts, parts) })
	if at < 0 {
		at = len(p.rows)
		p.rows = append(p.rows, pivotRow{parts, map[string]Cell{}, map[string]float64{}})
	}
	return p.rows[at]
}

// cell is the score of an evaluation, or what has become of it.
func (p *pivot) cell(e reports.Evaluation) Cell {
	s, known := e.Scores.Value(p.score.Name)
	if !known {
		return Cell{Text: string(e.Status)}
	}
	digits := 3
	if p.score.Count {
		digits = 0
	}
	return decimals(s.Value, digits).over(e.Scores.Partial)
}

// relative are the times of rows as ratios to the least of them, NaN where a data set is missing;
// nil where that is not measurable.
func relative(rows []pivotRow, datasets []string) (ratios []float64) {
	least := math.Inf(1)
	for _, row := range rows {
		log := 0.0 // of the geometric mean
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

// pivoted is the score that a Pivot is of.
func pivoted(r *reports.Report) cv.Score {
	name := "error_rate"
	for _, c := range slices.Backward(r.Configurations) {
		if len(c.Classes) == 0 {
			name = "rmse"
		}
		for _, p := range c.Published {
			for _, f := range slices.Backward(p.Figures) {
				if _, err := cv.ScoreNamed(f.Name); err == nil {
					name = f.Name
				}
			}
		}
	}
	s, err := cv.ScoreNamed(name)
	if err != nil {
		panic(err)
	}
	return s
}
