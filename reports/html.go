package reports

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the parts of the page
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

//go:embed html/page.gohtml
var pageText string

//go:embed html/page.css
var pageStyle string

//go:embed html/page.js
var pageScript string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// Bounds of the page, so that a browser opens that of a large run at once. Where something is left out the page says so, and
// which file has all of it.
const (
	longestSummary = 2000    // rows
	longestTable   = 200     // rows of any other table
	longestOpen    = 20      // rows of a table that is not folded
	widest         = 16      // named values that have a column each, and classes in a confusion matrix
	mostDetailed   = 100     // configurations
	mostOpen       = 3       // configurations that are not folded
	mostCompared   = 10      // configurations: pairs grow with the square
	mostNotes      = 40      // failures, and warnings
	largestFigure  = 1 << 20 // bytes
	largestFigures = 4 << 20 // bytes, of all
)

// page is what report.html shows.
type page struct {
	Experiment  string
	Style       template.CSS
	Scripts     []template.JS
	Policy      string // content security: nothing is loaded, and no script runs but Scripts
	Live        *Live  // nil: the page of a file
	Waiting     bool   // there is no run yet
	Files       []fileSet
	Alerts      []alert
	Summary     sheet
	Published   sheet
	Contests    string // as text
	Figures     []picture
	FiguresLeft int // left out
	Comparisons sheet
	Compared    alert // what was not
	Details     []detail
	DetailsLeft int // left out
	Provenance  []fact
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
}

// Left counts the items that are left out.
func (a alert) Left() int { return max(0, a.count-len(a.Items)) }

// add keeps the first items, and the first mostListed of a configuration.
func (a *alert) add(configuration int, texts ...string) {
	a.count += len(texts)
	for _, text := range texts[:min(len(texts), mostListed, mostNotes-len(a.Items))] {
		a.Items = append(a.Items, item{configuration, text})
	}
}

// detail is a configuration.
type detail struct {
	Index  int
	Title  string
	Open   bool
	Facts  []fact
	Sheets []sheet
}

// sheet is a Table on the page.
type sheet struct {
	Heading string
	Table
	All    int // rows, of which some may be left out
	Linked int // the first column has numbers of configurations, of which those below this one are on the page
	Note   string
}

// Folded says that it is shown on demand.
func (s sheet) Folded() bool { return s.Heading != "" && len(s.Rows) > longestOpen }

// Link says that a cell of the first column is the number of a configuration that is on the page.
func (s sheet) Link(column int, cell string) bool {
	i, err := strconv.Atoi(cell)
	return column == 0 && err == nil && i < s.Linked
}

// picture is a figure: what stands above it, its panels and its legend.
type picture struct {
	Heading string
	Notes   []string
	Panels  []template.HTML
	Keys    []template.HTML
	size    int
}

// renderHTML writes report.html, a page that needs nothing else and loads nothing: what is missing, failed or doubtful, the
// summary, published figures beside those of the run, contests, the pictures of figures.svg, comparisons, every configuration, and
// where all of it comes from.
func renderHTML(w io.Writer, r *Report) error {
	return pageTemplate.Execute(w, newPage(r, pageScript))
}

// policy lets a page run its scripts and load nothing.
func policy(scripts ...string) string {
	p := "default-src 'none'; style-src 'unsafe-inline'; script-src"
	for _, s := range scripts {
		hash := sha256.Sum256([]byte(s))
		p += " 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
	}
	return p
}

// newPage lays out a Report.
func newPage(r *Report, scripts ...string) page {
	p := page{
		Experiment:  r.Experiment,
		Style:       template.CSS(pageStyle + ".drawing{" + style + "}"),
		Policy:      policy(scripts...),
		Alerts:      r.alerts(),
		Summary:     newSheet("", r.Summary(), -1, longestSummary, "results.csv has all of them"),
		Published:   newSheet("", r.published(), -1, longestTable, "results.json has all of them"),
		Details:     r.details(),
		DetailsLeft: max(0, len(r.Configurations)-mostDetailed),
		Provenance:  r.provenance(),
	}
	for _, s := range scripts {
		p.Scripts = append(p.Scripts, template.JS(s))
	}
	p.Summary.Linked, p.Published.Linked = len(p.Details), len(p.Details)
	p.Compared.Rest = "that gpc-tune compare DIR shows"
	var contests strings.Builder
	r.writeContests(&contests, len(r.Configurations) <= mostDetailed)
	p.Contests = strings.TrimSpace(contests.String())
	p.Figures, p.FiguresLeft = pictures(drawn(r))
	if len(r.Configurations) > mostCompared {
		p.Compared.add(-1, fmt.Sprintf("%d configurations have too many pairs for a page: gpc-tune compare DIR shows them", len(r.Configurations)))
	} else if c, err := Compare(r); err == nil {
		p.Comparisons = newSheet("differences", c.differences(), -1, longestTable, "gpc-tune compare DIR shows all of them")
		p.Compared.add(-1, c.notes()...)
	}
	return p
}

// alerts are what a reader must know before the results.
func (r *Report) alerts() (out []alert) {
	if r.Missing > 0 {
		out = append(out, alert{Class: "bad", Title: fmt.Sprintf("Incomplete: at least %d jobs are missing; resume the run to complete it", r.Missing)})
	}
	failures, warnings := alert{Class: "bad", Rest: "in results.json"}, alert{Class: "warn", Rest: "in results.json"}
	warnings.add(-1, r.Warnings...)
	for i, c := range r.Configurations {
		var texts []string
		for _, f := range c.Failures {
			texts = append(texts, f.String())
		}
		failures.add(i, texts...)
		warnings.add(i, c.Warnings...)
	}
	for _, n := range r.Nested {
		for _, f := range n.OuterFolds {
			if f.Status == Failed {
				for _, c := range f.Cuts {
					failures.add(-1, fmt.Sprintf("nested repeat %d fold %d: %v", f.Repeat, f.Fold, c))
				}
			}
		}
	}
	failures.Title, warnings.Title = fmt.Sprintf("Failures: %d", failures.count), fmt.Sprintf("Warnings: %d", warnings.count)
	return append(out, slices.DeleteFunc([]alert{failures, warnings}, func(a alert) bool { return a.count == 0 })...)
}

// published sets figures of others beside those of the run.
func (r *Report) published() Table {
	t := Table{Columns: columns("#", "source", "figure", "published", "here", "here − published", "note")}
	for i, c := range r.Configurations {
		for _, p := range c.Published {
			for _, f := range p.Figures {
				here, difference := "", ""
				if x := float64(f.Here); !math.IsNaN(x) {
					here, difference = significant(x), significant(x-float64(f.Published))
				}
				t.Rows = append(t.Rows, []string{strconv.Itoa(i), p.Source, f.Name, significant(float64(f.Published)), here, difference, p.Note})
			}
		}
	}
	return t
}

// provenance says where the results come from.
func (r *Report) provenance() []fact {
	m := r.manifest
	command := []string{"gpc-tune", "run", cmp.Or(m.Source, "FILE.yaml")}
	for _, s := range m.Settings {
		command = append(command, "--set", s)
	}
	facts := []fact{
		{"command", CommandLine(command...)},
		{"seed", strconv.FormatUint(m.Seed, 10)},
		{"plan key", m.Key},
		{"gpc-tune", m.Build.Version},
		{"Go", m.Build.Go},
		{"architecture", m.Build.Arch},
	}
	for _, c := range m.Configurations {
		if f := (fact{"data", c.Dataset + " " + c.DataHash}); !slices.Contains(facts, f) {
			facts = append(facts, f)
		}
	}
	return slices.DeleteFunc(facts, func(f fact) bool { return f.Text == "" })
}

// pictures takes a drawing apart, and counts the pictures that are too large for the page.
func pictures(d *drawing) (out []picture, left int) {
	const smallest, largest = 0.8, 1.5 // at which letters can be read, and do not shout
	body := d.body.Bytes()
	for i, part := range d.parts {
		end := len(body)
		if i+1 < len(d.parts) {
			end = d.parts[i+1].from
		}
		if part.class == "heading" {
			out = append(out, picture{Heading: part.text})
		}
		if len(out) == 0 || part.text == "" {
			continue
		}
		p := &out[len(out)-1]
		svg := template.HTML(fmt.Sprintf("<svg viewBox=\"%s %s %s %s\" width=%[3]q height=%[4]q style=\"min-width:%spx;max-width:%spx\" role=\"img\" aria-label=\"%s\">\n%s</svg>",
			px(part.x), px(part.y), px(part.width), px(part.height), px(smallest*part.width), px(largest*part.width), escape(part.text), body[part.from:end])) // texts are escaped, numbers are numbers
		switch part.class {
		case "note":
			p.Notes = append(p.Notes, part.text)
		case "panel":
			p.Panels = append(p.Panels, svg)
		case "key":
			p.Keys = append(p.Keys, svg)
		}
		p.size += len(svg)
	}
	all, total := len(out), 0
	out = slices.DeleteFunc(out, func(p picture) bool {
		if p.size > largestFigure || total+p.size > largestFigures {
			return true
		}
		total += p.size
		return false
	})
	return out, all - len(out)
}

// details are the configurations.
func (r *Report) details() (out []detail) {
	short := r.shorten()
	for i, c := range r.Configurations[:min(len(r.Configurations), mostDetailed)] {
		d := detail{Index: i, Title: strings.Join([]string{c.Dataset, short[c.Kernel], short[c.Likelihood], short[c.Inference]}, " · "), Open: len(r.Configurations) <= mostOpen}
		d.Facts = append([]fact{{"status", string(c.Status)}}, c.facts(sixDigits)...)
		if o := c.optima(); o != "" {
			d.Facts = append(d.Facts, fact{"optimisation", o})
		}
		d.Sheets = c.sheets()
		out = append(out, d)
	}
	return out
}

// sheets are the tables of a configuration.
func (c Configuration) sheets() (out []sheet) {
	values := Rows{columns: []string{"hyperparameter", "value"}}
	for _, h := range c.Hyperparameters {
		values.add(h.Name, h.Number)
	}
	errors := Rows{columns: []string{"hyperparameter", "standard error"}}
	for i, e := range c.StandardErrors {
		errors.columns = append(errors.columns, "correlation with "+e.Name)
		row := []any{e.Name, e.Number}
		for _, x := range c.Correlations[i] {
			row = append(row, x)
		}
		errors.add(row...)
	}
	posterior := Rows{columns: []string{"hyperparameter", "mean", "standard deviation", "R-hat", "effective samples"}}
	for _, m := range c.Posterior {
		posterior.add(m.Name, m.Mean, m.SD, m.RHat, m.ESS)
	}
	best := Rows{columns: []string{"best", "value", "point", "hyperparameters"}}
	for _, b := range c.Best {
		best.add(b.By, b.Value, b.Point, c.Grid[b.Point].Point)
	}
	tables := append([]headed{{"hyperparameters", values}, {"standard errors", errors}, {"posterior", posterior}, {"best points", best}}, c.tables()...)
	for _, e := range c.Evaluations {
		if d := e.Decisions; d != nil {
			costs := Rows{columns: []string{"decisions", "cost of a case"}}
			costs.add("of least expected cost", d.Loss)
			costs.add("what is expected of them", d.Expected)
			costs.add("for the largest probability", d.Likeliest)
			tables = append(tables, headed{fmt.Sprintf("costs, %s (%d of %d cases rejected)", e.Name, d.Rejected, e.Scores.N), costs})
		}
		if len(e.Confusion) > widest {
			continue
		}
		confusion := Rows{columns: append([]string{"class"}, c.Classes...)}
		for i, row := range e.Confusion {
			cells := []any{c.Classes[i]}
			for _, n := range row {
				cells = append(cells, n)
			}
			confusion.add(cells...)
		}
		tables = append(tables, headed{"decisions, " + e.Name + " (rows: true classes)", confusion})
	}
	for _, t := range tables {
		rest := map[string]string{"restarts": "trials.csv", "points": "trials.csv", "folds": "results.csv"}[t.heading]
		rows := t.spread()
		out = append(out, newSheet(t.heading, rows.table(sixDigits), slices.Index(rows.columns, c.Objective), longestTable, cmp.Or(rest, "results.json")+" has all of them"))
	}
	return slices.DeleteFunc(out, func(s sheet) bool { return len(s.Rows) == 0 })
}

// newSheet lays out a table of at most most rows: those with the largest numbers in the column by, or with -1 the first ones.
// rest says where the others are.
func newSheet(heading string, t Table, by, most int, rest string) sheet {
	s := sheet{Heading: heading, Table: t, All: len(t.Rows)}
	if s.All > most {
		which := "first"
		if by >= 0 {
			which = "best"
			slices.SortStableFunc(s.Rows, func(a, b []string) int { return cmp.Compare(largeness(b[by]), largeness(a[by])) })
		}
		s.Rows = s.Rows[:most]
		s.Note = fmt.Sprintf("the %s %d of %d rows; %s", which, most, s.All, rest)
	}
	for c := range s.Columns {
		column := &s.Columns[c]
		column.Right = column.Right || !slices.ContainsFunc(s.Rows, func(row []string) bool {
			return row[c] != "" && math.IsInf(largeness(row[c]), -1)
		})
		if heading != "" {
			column.keep = column.Right || len(s.Rows) == 1
		}
	}
	s.lift()
	return s
}

// largeness is the number that a cell is; what is none is below all.
func largeness(cell string) float64 {
	x, err := strconv.ParseFloat(cell, 64)
	if err != nil || math.IsNaN(x) {
		return math.Inf(-1)
	}
	return x
}

// spread gives every name of the Values of a column a column of its own, if there are not too many.
func (t Rows) spread() Rows {
	at := func(row []any, c int) any { // a row may end early
		if c < len(row) {
			return row[c]
		}
		return nil
	}
	names := make([][]string, len(t.columns)) // nil: not Values
	uses := map[string]int{}
	for c := range t.columns {
		for _, row := range t.cells {
			v, _ := at(row, c).(Values)
			for _, value := range v {
				if !slices.Contains(names[c], value.Name) {
					names[c] = append(names[c], value.Name)
					uses[value.Name]++
				}
			}
		}
		if len(names[c]) > widest {
			names[c] = nil
		}
	}
	out := Rows{cells: make([][]any, len(t.cells))}
	for c, column := range t.columns {
		if names[c] == nil {
			out.columns = append(out.columns, column)
			for i, row := range t.cells {
				out.cells[i] = append(out.cells[i], at(row, c))
			}
			continue
		}
		for _, name := range names[c] {
			label := name
			if uses[name] > 1 {
				label = column + " " + name
			}
			out.columns = append(out.columns, label)
			for i, row := range t.cells {
				v, _ := at(row, c).(Values)
				x, found := v.Get(name)
				if !found {
					x = math.NaN()
				}
				out.cells[i] = append(out.cells[i], Number(x))
			}
		}
	}
	return out
}

// sixDigits is x to six digits; NaN is empty.
func sixDigits(x Number) string {
	if math.IsNaN(float64(x)) {
		return ""
	}
	return significant(float64(x))
}
