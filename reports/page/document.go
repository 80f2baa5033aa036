package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// Bounds of a document, which is for reading. Where something is left out it says so, and which
// file has all of it.
const (
	longestSummary = 2000 // rows
	longestTable   = 200  // rows of any other table
	mostDetailed   = 100  // configurations
	mostNotes      = 40   // failures, and warnings
)

// document is a Report as people read it, in that order, before it is a page, Markdown or LaTeX.
type document struct {
	Experiment  string
	Answer      []table.Fact
	Alerts      []alert // what is missing
	Against     []sheet // every configuration beside the best
	Causes      []alert // failures and warnings by their causes
	Summary     sheet
	Pivot       sheet
	Published   sheet
	Contests    []chapter
	Details     []detail
	DetailsLeft int // left out
	Provenance  []table.Fact
}

// chapter is what came of a contest.
type chapter struct {
	Title  string
	Notes  alert
	Sheets []sheet
}

// alert is what is missing, failed or is doubtful.
type alert struct {
	Class string // bad or warn
	Title string
	Items []item
	Rest  string // where those are that are left out
	count int
}

// item is a text about a configuration, or about the whole run with -1.
type item struct {
	Configuration int
	Text          string
	Details       alert // what it sums up
}

// Left counts the items that are left out.
func (a alert) Left() int { return max(0, a.count-len(a.Items)) }

// add keeps the first items, and the first mostListed of a configuration.
func (a *alert) add(configuration int, texts ...string) {
	a.count += len(texts)
	for _, text := range texts[:min(len(texts), table.MostListed, mostNotes-len(a.Items))] {
		a.Items = append(a.Items, item{Configuration: configuration, Text: text})
	}
}

// detail is a configuration.
type detail struct {
	Index  int
	Title  string
	Facts  []table.Fact
	Sheets []sheet
}

// sheet is a Table of a document.
type sheet struct {
	Heading string
	table.Table
	All    int // rows, of which some may be left out
	Linked int // the first column has numbers of configurations, of which those below this one are in the document
	Note   string
}

// newDocument lays out the report, with summaries and other tables of at most so many rows.
func newDocument(r *reports.Report, summaryRows, tableRows int) document {
	d := document{
		Experiment:  r.Experiment,
		Answer:      table.Answered(r, tableRows),
		Alerts:      missing(r),
		Causes:      alerts(r),
		Summary:     newSheet("", table.Summary(r), -1, summaryRows, "results.csv has all of them"),
		Published:   newSheet("", published(r), -1, tableRows, "results.json has all of them"),
		Details:     details(r, tableRows),
		DetailsLeft: max(0, len(r.Configurations)-mostDetailed),
		Provenance:  provenance(r),
	}
	if t, ok := table.Pivot(r, nil); ok {
		d.Pivot = newSheet("data sets", t, -1, tableRows, "results.csv has all of them")
	}
	d.Summary.Linked, d.Published.Linked = len(d.Details), len(d.Details)
	for _, c := range table.Contests(r, len(r.Configurations) <= mostDetailed) {
		out := chapter{Title: c.Title, Notes: alert{Rest: "in results.json"}}
		out.Notes.add(-1, c.Notes...)
		for _, t := range c.Tables {
			out.Sheets = append(out.Sheets, newSheet(t.Heading, t.Table, -1, tableRows, "results.json has all of them"))
		}
		d.Contests = append(d.Contests, out)
	}
	for _, t := range table.Against(r) {
		of := newSheet(t.Heading, t.Table, -1, tableRows, "results.json has all of them")
		of.Linked = len(d.Details)
		d.Against = append(d.Against, of)
	}
	return d
}

// missing says that the run is not complete.
func missing(r *reports.Report) []alert {
	if r.Missing == 0 {
		return nil
	}
	return []alert{{Class: "bad", Title: fmt.Sprintf("Incomplete: at least %s missing; resume the run to complete it",
		table.Counted(r.Missing, "job is", "jobs are"))}}
}

// alerts are failures, warnings and notes by their causes.
func alerts(r *reports.Report) (out []alert) {
	warnings, failures := r.WarningCauses(), r.FailureCauses()
	first := slices.IndexFunc(warnings, func(c reports.Cause) bool { return c.Note })
	if first < 0 {
		first = len(warnings)
	}
	for _, of := range []struct {
		class, title string
		causes       []reports.Cause
	}{{"bad", "Failures", failures}, {"warn", "Warnings", warnings[:first]}, {"calm", "Notes", warnings[first:]}} {
		a, all := alert{Class: of.class, Rest: "in results.json"}, 0
		for _, c := range of.causes {
			a.add(-1, table.CauseText(c))
			all += c.Count
			if len(a.Items) == 0 {
				continue
			}
			details := &a.Items[len(a.Items)-1].Details
			details.Rest = a.Rest
			for _, n := range c.Notices {
				details.add(n.Configuration, n.String())
			}
		}
		a.Title = fmt.Sprintf("%s: %d", of.title, all)
		if of.class == "bad" {
			a.Title += " (" + table.RetryHint + ")"
		}
		if all > 0 {
			out = append(out, a)
		}
	}
	return out
}

// published sets figures of others beside those of the run.
func published(r *reports.Report) table.Table {
	t := table.Table{Columns: table.Columns("#", "source", "figure", "published", "here", "here − published", "note")}
	for i, c := range r.Configurations {
		for _, p := range c.Published {
			for _, f := range p.Figures {
				theirs, ours, more := f.Texts()
				here, difference := table.Written(ours, f.Here), table.Cell{}
				if f.Partial == nil {
					difference = table.Written(more, f.Here-f.Published)
				} else if here.Text != "" {
					here.Partial = f.Partial
				}
				t.Rows = append(t.Rows,
					table.Row(i, p.Source, f.Name, table.Written(theirs, f.Published), here, difference, p.Note))
			}
		}
	}
	return t
}

// provenance says where the results come from.
func provenance(r *reports.Report) []table.Fact {
	m := r.Manifest
	command := []string{"gpc-tune", "run", cmp.Or(m.Source, "FILE.yaml")}
	for _, s := range m.Settings {
		command = append(command, "--set", s)
	}
	facts := []table.Fact{
		{Name: "command", Text: terminal.CommandLine(command...)},
		{Name: "seed", Text: strconv.FormatUint(m.Seed, 10)},
		{Name: "plan key", Text: m.Key},
		{Name: "gpc-tune", Text: m.Build.Version},
		{Name: "Go", Text: m.Build.Go},
		{Name: "architecture", Text: m.Build.Arch},
	}
	for _, c := range m.Configurations {
		if f := (table.Fact{Name: "data", Text: c.Dataset + " " + c.DataHash}); !slices.Contains(facts, f) {
			facts = append(facts, f)
		}
	}
	return slices.DeleteFunc(facts, func(f table.Fact) bool { return f.Text == "" })
}

// details are the configurations.
func details(r *reports.Report, rows int) (out []detail) {
	short := r.ShortNames()
	for i, c := range r.Configurations[:min(len(r.Configurations), mostDetailed)] {
		d := detail{Index: i, Title: strings.Join(
			[]string{c.Dataset, short[c.Kernel.Text], short[c.Likelihood.Text], short[c.Inference.Text]}, " · ")}
		d.Facts = append([]table.Fact{{Name: "status", Text: string(c.Status)}}, table.Facts(c, table.Readably)...)
		if o := table.Restarts(c); o != "" {
			d.Facts = append(d.Facts, table.Fact{Name: "optimisation", Text: o})
		}
		d.Sheets = configurationSheets(c, rows)
		out = append(out, d)
	}
	return out
}

// configurationSheets are the tables of a configuration, of at most so many rows.
func configurationSheets(c reports.Configuration, most int) (out []sheet) {
	values := table.Rows{Columns: []string{"hyperparameter", "value"}}
	for _, h := range c.ByInput(c.Hyperparameters) {
		values.Add(h.Name, h.Number)
	}
	errors := table.Rows{Columns: []string{"hyperparameter", "standard error"}}
	for i, e := range c.StandardErrors {
		errors.Columns = append(errors.Columns, "correlation with "+e.Name)
		row := []any{e.Name, e.Number}
		for _, x := range c.Correlations[i] {
			row = append(row, x)
		}
		errors.Add(row...)
	}
	posterior := table.Rows{Columns: []string{"hyperparameter", "mean", "standard deviation", "R-hat",
		"effective samples"}}
	for _, m := range c.Posterior {
		posterior.Add(m.Name, m.Mean, m.SD, m.RHat, m.ESS)
	}
	best := table.Rows{Columns: []string{"best", "value", "point", "hyperparameters"}}
	for _, b := range c.Best {
		by := b.By
		if by == c.Objective {
			by = c.Maximised()
		}
		if among := c.Among(b.By); strings.Contains(among, " of ") {
			by += " of " + among
		}
		by += c.Equals(b)
		best.Add(by, b.Value, b.Point, c.Grid[b.Point].Point)
	}
	tables := append([]table.HeadedRows{{Heading: "hyperparameters", Rows: values},
		{Heading: "standard errors", Rows: errors}, {Heading: "posterior", Rows: posterior},
		{Heading: "best points" + c.SoFar(), Rows: best}}, table.ConfigurationTables(c)...)
	for _, e := range c.Evaluations {
		name := e.Name
		if e.Scores.Partial != nil {
			name += ", " + e.Scores.Partial.String()
		}
		if d := e.Decisions; d != nil {
			costs := table.Rows{Columns: []string{"decisions", "cost of a case"}}
			costs.Add("of least expected cost", d.Loss)
			costs.Add("what is expected of them", d.Expected)
			costs.Add("for the largest probability", d.Likeliest)
			tables = append(tables, table.HeadedRows{Heading: fmt.Sprintf(
				"costs, %s (%d of %d cases rejected)", name, d.Rejected, e.Scores.N), Rows: costs})
		}
		if len(e.Confusion) > table.Widest {
			continue
		}
		confusion := table.Rows{Columns: append([]string{"class"}, c.Classes...)}
		for i, row := range e.Confusion {
			cells := []any{classCell(c.Classes[i])}
			for _, n := range row {
				cells = append(cells, n)
			}
			confusion.Add(cells...)
		}
		tables = append(tables, table.HeadedRows{Heading: "decisions, " + name + " (rows: true classes)",
			Rows: confusion})
	}
	for _, t := range tables {
		rest := map[string]string{"restarts": "trials.csv", "points": "trials.csv", "folds": "results.csv"}[t.Heading]
		rows := t.Spread()
		laid := rows.Table(table.Readably)
		laid.Explain(map[bool]string{true: "cases that are decided for this class",
			false: "the hyperparameter, in natural units"}[strings.HasPrefix(t.Heading, "decisions")])
		out = append(out, newSheet(t.Heading, laid, slices.Index(rows.Columns, c.Maximised()), most,
			cmp.Or(rest, "results.json")+" has all of them"))
	}
	return slices.DeleteFunc(out, func(s sheet) bool { return len(s.Rows) == 0 })
}

// classCell is the name of a class, a number where it is one.
func classCell(name string) table.Cell {
	x, err := strconv.ParseFloat(name, 64)
	return table.Cell{Text: name, Numeric: err == nil && !math.IsNaN(x), Value: x}
}

// newSheet lays out a table of at most most rows: those with the largest numbers in the column by,
// or with -1 the first ones. rest says where the others are.
func newSheet(heading string, t table.Table, by, most int, rest string) sheet {
	s := sheet{Heading: heading, Table: t, All: len(t.Rows)}
	if s.All > most {
		which := "first"
		if by >= 0 {
			which = "best"
			slices.SortStableFunc(s.Rows, func(a, b []table.Cell) int { return cmp.Compare(rank(b[by]), rank(a[by])) })
		}
		s.Rows = s.Rows[:most]
		s.Note = fmt.Sprintf("the %s %d of %d rows; %s", which, most, s.All, rest)
	}
	s.Explain("a number of this name")
	for c := range s.Columns {
		column := &s.Columns[c]
		column.Right = column.Right || !slices.ContainsFunc(s.Rows, func(row []table.Cell) bool {
			return row[c].Text != "" && !row[c].Numeric
		})
		if heading != "" {
			column.Keep = column.Stays || column.Right || len(s.Rows) == 1
		}
	}
	s.Lift()
	return s
}

// rank is by what a cell is sorted; what is no number is below all.
func rank(c table.Cell) float64 {
	if !c.Numeric {
		return math.Inf(-1)
	}
	return c.Value
}

// The notes of a document.
const (
	nothingWrong = "No job is missing or has failed, and no fit has a warning."
	unitsNote    = "Log evidence and log losses in nats, information in bits per case. Every number to its last " +
		"digit is in results.json and results.csv."
	provenanceNote = "The command and the build that began the run. Equal runs give this file equal bytes, so it " +
		"has no times: they are in timings.json, and gpc-tune report DIR --figure time draws them."
)

// prose is how a document is written from its beginning to its end.
type prose interface {
	heading(level int, text string)
	paragraph(text string)
	items(texts []string)
	facts([]table.Fact)
	table(in string, s sheet) // in: the number of the configuration that it belongs to, if it does to one
}

// write writes the document.
func (d document) write(w prose) {
	w.heading(1, d.Experiment)
	w.facts(d.Answer)
	for _, a := range d.Alerts {
		w.paragraph(a.Title)
	}
	w.heading(2, "Results")
	w.table("", d.Summary)
	w.table("", d.Pivot)
	w.paragraph(unitsNote)
	for _, s := range d.Against {
		w.table("", s)
	}
	for _, a := range d.Causes {
		w.heading(2, a.Title)
		w.items(a.texts())
	}
	if len(d.Alerts)+len(d.Causes) == 0 {
		w.paragraph(nothingWrong)
	}
	if len(d.Published.Rows) > 0 {
		w.heading(2, "Published figures")
		w.table("", d.Published)
	}
	if len(d.Contests) > 0 {
		w.heading(2, "Contests")
	}
	for _, c := range d.Contests {
		w.paragraph(c.Title)
		w.items(c.Notes.texts())
		for _, s := range c.Sheets {
			w.table("", s)
		}
	}
	for _, c := range d.Details {
		in := fmt.Sprintf("#%d", c.Index)
		w.heading(2, in+" "+c.Title)
		w.facts(c.Facts)
		for _, s := range c.Sheets {
			w.table(in, s)
		}
	}
	if d.DetailsLeft > 0 {
		w.paragraph(table.Counted(d.DetailsLeft, "more configuration is", "more configurations are") +
			" not here: gpc-tune show DIR shows them, and results.json has them.")
	}
	w.heading(2, "Provenance")
	w.facts(d.Provenance)
	w.paragraph(provenanceNote)
}

// texts are the items, each with its configuration, and how many are left out.
func (a alert) texts() (out []string) {
	for _, i := range a.Items {
		text := i.Text
		if i.Configuration >= 0 {
			text = fmt.Sprintf("#%d %s", i.Configuration, text)
		}
		out = append(out, text)
	}
	if a.Left() > 0 {
		out = append(out, fmt.Sprintf("and %d more, %s", a.Left(), a.Rest))
	}
	return out
}
