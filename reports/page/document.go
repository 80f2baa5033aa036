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

// Bounds of a document, which is for reading. If rows or texts are left out, the document says so
// and names the file that has them all.
const (
	longestSummary = 2000 // rows
	longestTable   = 200  // rows of any other table
	mostDetailed   = 40   // configurations
	mostNotes      = 40   // failures, and warnings
)

// document is a Report as people read it, in that order, before it is a page, Markdown or LaTeX.
type document struct {
	Experiment  string
	Answer      []table.Fact
	Form        []Field   // an Article may have one
	Alerts      []alert   // missing results
	Results     []chapter // tables of the results
	Causes      []alert   // failures and warnings by their causes
	Chapters    []chapter // all other tables of the run
	Details     []detail
	DetailsLeft int // left out
	Provenance  []table.Fact
}

// chapter has tables under a heading.
type chapter struct {
	ID, Heading string
	Texts       []string  // paragraphs of an Article
	Figures     []drawing // set by the writer of the page
	Sheets      []sheet
	Note        string // set by the writer of the page
}

// units names the units of the tables of results.
func (c chapter) units() string {
	for _, s := range c.Sheets {
		if slices.ContainsFunc(s.Columns, func(of table.Column) bool { return of.Name == "bits" }) {
			return "Log evidence and log losses in nats, information in bits per case. "
		}
	}
	return "Log evidence and log losses in nats. "
}

// Field is a field of a form.
type Field struct {
	Name, Label string
	Kind        string   // type of the HTML input: number, text, date, …; not used with Choices
	Choices     []string // values of a category
	Value       string
	Hint        string // below the label
}

// alert is a box about missing results, failures or warnings.
type alert struct {
	Class string // bad or warn
	Title string
	Items []item
	Rest  string // place of the items that are left out
	count int
}

// item is a text about a configuration, or about the whole run with -1.
type item struct {
	Configuration int
	Text          string
	Details       alert // the texts that the item sums up
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
	Name    string // name of its section
	Remarks alert
	table.Table
	All    int    // number of rows, including the rows left out
	Minor  []bool // columns that small screens leave out; nil: none
	Linked []int  // configurations with details in the document; the first column has their numbers
	Note   string
}

// newDocument lays out the report for a writer. Summaries have at most summaryRows rows, other
// tables at most tableRows.
func newDocument(r *reports.Report, to table.Writer, summaryRows, tableRows int) document {
	d := document{
		Experiment:  r.Experiment,
		Answer:      table.Answered(r, tableRows),
		Alerts:      missing(r),
		Causes:      alerts(r),
		Details:     details(r, tableRows),
		DetailsLeft: max(0, len(r.Configurations)-mostDetailed),
		Provenance:  provenance(r),
	}
	for s, t := range table.Of(r, to) {
		empty := len(t.Rows) == 0 && t.Lead == "" && len(d.Results) > 0
		if empty || t.Long && len(r.Configurations) > mostDetailed {
			continue
		}
		in, most := &d.Chapters, tableRows
		if s.Results {
			in = &d.Results
		}
		if s.Chapter != "" && (len(*in) == 0 || (*in)[len(*in)-1].Heading != s.Chapter) {
			if *in = append(*in, chapter{ID: s.Name, Heading: s.Chapter}); s.Results && len(d.Results) == 1 {
				most = summaryRows
			}
			t.Name = ""
		}
		of := newSheet(s, t, most, "a number of this name")
		if len(of.Columns) > 0 && of.Columns[0].Name == "#" {
			of.Linked = detailed(r)
		}
		of.Remarks.add(-1, t.Notes...)
		if s.Name == "results" && to == table.ForPages {
			of.decidingFirst()
		}
		c := &(*in)[len(*in)-1]
		c.Sheets = append(c.Sheets, of)
	}
	return d
}

// missing returns an alert if the run is not complete.
func missing(r *reports.Report) []alert {
	text := table.Missing(r)
	if text == "" {
		return nil
	}
	return []alert{{Class: "bad", Title: "Incomplete: " + text}}
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
	}{
		{"bad", "", failures}, {"warn", "Warnings", warnings[:first]}, {"calm", "Notes", warnings[first:]},
	} {
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
		if a.Title = fmt.Sprintf("%s: %d (of all fits, chosen or not)", of.title, all); of.title == "" {
			a.Title = "Failures: " + cmp.Or(table.Failures(r), strconv.Itoa(all))
		}
		if all > 0 {
			out = append(out, a)
		}
	}
	return out
}

// provenance lists the origin of the results: the command, the seed and others.
func provenance(r *reports.Report) []table.Fact {
	m := r.Manifest
	command := []string{"gpc-tune", m.Command(), cmp.Or(m.Source, "FILE.yaml")}
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

// detailed lists the configurations that a document describes one by one, the best first.
func detailed(r *reports.Report) []int {
	all := r.Ranked()
	return all[:min(len(all), mostDetailed)]
}

// details describes the configurations one by one.
func details(r *reports.Report, rows int) (out []detail) {
	short := r.ShortNames()
	for _, i := range detailed(r) {
		c := r.Configurations[i]
		parts := []string{c.Dataset, short[c.Kernel.Text], short[c.Likelihood.Text], short[c.Inference.Text]}
		// a program has fewer parts
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		d := detail{Index: i, Title: strings.Join(parts, " · ")}
		d.Facts = append([]table.Fact{{Name: "status", Text: string(c.Status)}}, table.Facts(c, false)...)
		if o := table.Restarts(c); o != "" {
			d.Facts = append(d.Facts, table.Fact{Name: "optimisation", Text: o})
		}
		for s, t := range table.OfConfiguration(c, table.ForPages) {
			d.Sheets = append(d.Sheets, newSheet(s, t, rows, "the hyperparameter, in natural units"))
		}
		out = append(out, d)
	}
	return out
}

// newSheet lays out a table of at most most rows: the rows with the best numbers if a column ranks
// them, or else the first rows. otherwise documents columns that have no documentation.
func newSheet(of table.Section, t table.Table, most int, otherwise string) sheet {
	t.Spread()
	s := sheet{Heading: cmp.Or(t.Title, t.Name), Name: reports.Spaced(of.Name), Remarks: alert{Rest: "in results.json"},
		Table: t, All: len(t.Rows)}
	if s.All > most {
		which := "first"
		if by := slices.IndexFunc(s.Columns, func(c table.Column) bool { return c.Ranks }); by >= 0 {
			which = "best"
			less := s.Columns[by].Greater < 0
			slices.SortStableFunc(s.Rows, func(a, b []table.Cell) int {
				return cmp.Compare(rank(b[by], less), rank(a[by], less))
			})
		}
		s.Rows = s.Rows[:most]
		s.Note = fmt.Sprintf("the %s %d of %d rows; %s has all of them", which, most, s.All,
			cmp.Or(of.File, "results.json"))
	}
	s.Explain(otherwise)
	for c := range s.Columns {
		column := &s.Columns[c]
		column.Right = column.Right || !slices.ContainsFunc(s.Rows, func(row []table.Cell) bool {
			_, numeric := row[c].Number()
			return row[c].String() != "" && !numeric
		})
		if s.Heading != "" {
			column.KeepInText = column.KeepOnPage || column.Right || len(s.Rows) == 1
		}
	}
	s.MoveConstantsToCaption()
	s.alignDecimals()
	return s
}

// decidingFirst puts the columns by which configurations are compared behind their numbers. Then
// follow the words that tell the models apart, the status and all else, which small screens leave
// out.
func (s *sheet) decidingFirst() {
	place := func(c table.Column, first bool) int {
		switch {
		case first:
			return 0
		case c.Decides:
			return 1
		case !c.Right && c.Name != "status":
			return 2
		}
		return 3
	}
	order, places := []int{}, map[int]int{}
	for j, c := range s.Columns {
		order, places[j] = append(order, j), place(c, j == 0)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(places[a], places[b]) })
	columns, rows := s.Columns, s.Rows
	s.Columns, s.Rows, s.Minor = nil, nil, nil
	for _, j := range order {
		s.Columns, s.Minor = append(s.Columns, columns[j]), append(s.Minor, places[j] == 3)
	}
	for _, row := range rows {
		var cells []table.Cell
		for _, j := range order {
			cells = append(cells, row[j])
		}
		s.Rows = append(s.Rows, cells)
	}
}

// mixed are the first columns of tables whose rows are different quantities.
var mixed = []string{"hyperparameter", "score", "best", "class"}

// alignDecimals gives the numbers of every column equally many decimals, so that the largest has
// four significant digits, if all have the usual text and none is below a hundredth of the largest.
func (s *sheet) alignDecimals() {
	if len(s.Columns) == 0 || slices.Contains(mixed, s.Columns[0].Name) {
		return
	}
	for j := range s.Columns {
		var values []float64
		usual, whole := true, true
		for _, row := range s.Rows {
			v, is := row[j].Value.(reports.Number)
			if row[j].Value == nil && row[j].Text == "" || is && v.None() {
				continue
			}
			usual = usual && is && row[j].Text == "" && v.Finite()
			if values = append(values, math.Abs(float64(v))); float64(v) != math.Trunc(float64(v)) {
				whole = false
			}
		}
		if !usual || whole || len(values) < 2 {
			continue
		}
		most := slices.Max(values)
		least := slices.Min(slices.DeleteFunc(values, func(v float64) bool { return v == 0 }))
		if least < most/100 || most >= 1e6 || most < 1e-4 {
			continue
		}
		for _, row := range s.Rows {
			if v, is := row[j].Value.(reports.Number); is && !v.None() {
				row[j].Text = reports.Decimals(float64(v), max(0, 3-int(math.Floor(math.Log10(most)))))
			}
		}
	}
}

// rank is the number by which a cell is sorted, with the sign changed if less is better. A cell
// that is no number is below all others.
func rank(c table.Cell, less bool) float64 {
	switch x, ok := c.Number(); {
	case !ok:
		return math.Inf(-1)
	case less:
		return -x
	default:
		return x
	}
}

// The notes of a document.
const (
	nothingWrong   = "No job is missing or has failed, and no fit has a warning."
	lastDigits     = "Every number to its last digit is in results.json and results.csv."
	provenanceNote = "The command and the build that began the run. Equal runs give this file equal bytes, so it " +
		"has no times: they are in timings.json, and gpc-tune report DIR --figure time draws them."
)

// prose writes a document from its beginning to its end.
type prose interface {
	heading(level int, text string)
	paragraph(text string)
	items(texts []string)
	facts([]table.Fact)
	table(s sheet)
}

// write writes the document.
func (d document) write(w prose) {
	w.heading(1, d.Experiment)
	w.facts(d.Answer)
	for _, a := range d.Alerts {
		w.paragraph(a.Title)
	}
	for i, c := range d.Results {
		if i == 0 {
			w.heading(2, c.Heading)
		}
		for _, s := range c.Sheets {
			w.table(s)
		}
		if i == 0 {
			w.paragraph(c.units() + lastDigits)
		}
	}
	for _, a := range d.Causes {
		w.heading(2, a.Title)
		w.items(a.texts())
	}
	if len(d.Alerts)+len(d.Causes) == 0 {
		w.paragraph(nothingWrong)
	}
	for _, c := range d.Chapters {
		w.heading(2, c.Heading)
		for _, s := range c.Sheets {
			if s.Lead != "" {
				w.paragraph(s.Lead)
			}
			w.items(s.Remarks.texts())
			w.table(s)
		}
	}
	for _, c := range d.Details {
		w.heading(2, fmt.Sprintf("#%d %s", c.Index, c.Title))
		w.facts(c.Facts)
		for _, s := range c.Sheets {
			w.table(s)
		}
	}
	if d.DetailsLeft > 0 {
		w.paragraph(table.Counted(d.DetailsLeft, "more configuration is", "more configurations are") +
			" not here, none better than these: gpc-tune show DIR --configuration N shows #N, and results.json " +
			"has all.")
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
