package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// the parts of the page

//go:embed html/page.gohtml
var pageText string

//go:embed html/page.css
var pageStyle string

//go:embed html/page.js
var pageScript string

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(pageText))
})

// Bounds on what is unfolded, so that a browser opens the page of a large run at once.
const (
	longestOpen = 20 // maximum rows of an unfolded table
	mostOpen    = 3  // maximum number of configurations that are unfolded
	mostFigures = 6  // maximum number of figures that are unfolded
)

// Notes of the page.
const (
	headsNote   = "Each column head has an explanation (point at it). " + lastDigits
	againstNote = "Differences from the best, with one-sided 95 % bounds, which are wide enough for all comparisons " +
		"together and for training sets that overlap. A configuration whose bounds do not reach 0, or that another " +
		"one is shown to be better than, is not in the set of those that may be the best. gpc-tune compare DIR --all " +
		"shows all pairs."
)

// page is the content of report.html.
type page struct {
	document
	Style       template.CSS
	Scripts     []template.JS
	Policy      string // content security policy: nothing is loaded, and only Scripts run
	Live        *Live  // nil: the page of a file
	Waiting     bool   // there is no run yet
	Files       []fileSet
	card        string
	Drivers     *chapter  // what drives the predictions of the best; nil: not measured
	Effects     []drawing // effects of choices, before the list of configurations
	Figures     []drawing
	FiguresLeft int // left out
}

// CauseTitles names the section of the causes: "Failures, Warnings".
func (p page) CauseTitles() string {
	var names []string
	for _, a := range p.Causes {
		name, _, _ := strings.Cut(a.Title, ":")
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// Card is the command for a model card of the run; empty if it has no answer about a model.
func (p page) Card() string { return p.card }

// Open reports whether the configurations are unfolded.
func (p page) Open() bool { return len(p.Details) <= mostOpen }

// Folded reports whether the table is shown on demand only.
func (s sheet) Folded() bool { return s.Heading != "" && len(s.Rows) > longestOpen }

// Link reports whether a cell of the first column is the number of a configuration that is on the
// page.
func (s sheet) Link(column int, cell table.Cell) bool {
	x, numeric := cell.Number()
	return column == 0 && numeric && slices.Contains(s.Linked, int(x))
}

// Standing returns the CSS class of a row.
func (s sheet) Standing(row []table.Cell) table.Mark { return table.MarkOf(row) }

// Class returns the CSS classes of a cell: n for a column of numbers, aligned to the right; partial
// for a score over only some of the folds; and minor for a column that small screens leave out.
func (s sheet) Class(column int, cell table.Cell) string {
	var classes []string
	if s.Columns[column].Right {
		classes = append(classes, "n")
	}
	if cell.Partial != nil {
		classes = append(classes, "partial")
	}
	if s.Minor != nil && s.Minor[column] {
		classes = append(classes, "minor")
	}
	return strings.Join(classes, " ")
}

// Head returns the CSS classes of the head of a column.
func (s sheet) Head(column int) string { return s.Class(column, table.Cell{}) }

// HTML writes report.html, a single file that loads nothing: missing results, failures and
// warnings, the summary, contests, the figures, comparisons, every
// configuration, and the origin of the results.
func HTML(w io.Writer, r *reports.Report) error {
	return newPage(r, pageScript).write(w)
}

// write writes the page. Names are escaped as on a terminal, so that none changes the direction of
// writing.
func (p page) write(w io.Writer) error { return p.execute(w, pageTemplate()) }

func (p page) execute(w io.Writer, as *template.Template) error {
	var text strings.Builder
	if err := as.Execute(&text, p); err != nil {
		return err
	}
	_, err := io.WriteString(w, terminal.Printable(text.String()))
	return err
}

// policy is the content security policy of a page that runs these scripts and loads nothing.
func policy(scripts ...string) string {
	p := "default-src 'none'; style-src 'unsafe-inline'; script-src"
	for _, s := range scripts {
		hash := sha256.Sum256([]byte(s))
		p += " 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
	}
	return p
}

// newPage lays out a Report.
func newPage(r *reports.Report, scripts ...string) page {
	p := page{
		document: newDocument(r, table.ForPages, longestSummary, longestTable),
		Style:    template.CSS(pageStyle),
		Policy:   policy(scripts...),
	}
	for _, s := range scripts {
		p.Scripts = append(p.Scripts, template.JS(s))
	}
	if len(r.Decided()) > 0 && r.Manifest.Build.Program == "" {
		p.card = "gpc-tune card DIR, with the folder of this run,"
	}
	all := picture.All(r)
	var drivers []figure.Figure
	all, drivers = parted(all, picture.Drivers)
	p.Drivers = driven(r, drivers)
	firstOther := slices.IndexFunc(all, func(f figure.Figure) bool { return f.Kind != picture.Against })
	if firstOther < 0 {
		firstOther = len(all)
	}
	for i := range p.Results {
		switch c := &p.Results[i]; c.ID {
		case "results":
			c.Note = headsNote
			if len(p.Details) > 0 {
				c.Note = c.units() + headsNote
			}
		case "against":
			c.ID, c.Note = "comparisons", againstNote
			c.Figures, _ = drawings(all[:firstOther])
		}
	}
	rest, factors := parted(all[firstOther:], picture.Factors)
	p.Effects, _ = drawings(factors)
	p.Figures, p.FiguresLeft = drawings(rest)
	for i := range p.Figures {
		p.Figures[i].Folded = i >= mostFigures || !leading(r, p.Figures[i].of)
	}
	return p
}

// parted divides figures by their kind.
func parted(all []figure.Figure, kind string) (others, of []figure.Figure) {
	for _, f := range all {
		if f.Kind == kind {
			of = append(of, f)
		} else {
			others = append(others, f)
		}
	}
	return others, of
}

// driven is the chapter on what drives the predictions of the answers; nil if it was not measured.
func driven(r *reports.Report, figures []figure.Figure) *chapter {
	c, of := &chapter{}, reports.Answer{}
	cases := 0
	for _, a := range r.Decided() {
		switch text := table.Driven(a); {
		case text == "":
			continue
		case len(r.Decided()) > 1:
			c.Texts = append(c.Texts, a.Dataset+": "+text)
		case len(figures) == 0: // or else the text is in the answer, above
			c.Texts = append(c.Texts, text)
		}
		if of.Drivers == nil || a.Drivers.Cases > cases {
			of, cases = a, a.Drivers.Cases
		}
	}
	if of.Drivers == nil {
		return nil
	}
	if c.Figures, _ = drawings(figures); len(figures) > 0 {
		drawn := table.Counted(cases, "case", "cases")
		if cases < of.Different {
			drawn = fmt.Sprintf("%d of the %d cases, drawn at random to save time", cases, of.Different)
		}
		c.Note = fmt.Sprintf("The loss of information, in %s per case, if the values of an input come from other "+
			"held-out cases: %s, each predicted by a fit without it, and %d permutations of each input. The loss can "+
			"be more than the whole score, because predictions from wrong values can be worse than guessing. An input "+
			"is above noise if its loss is above its level of noise, which one random column in 20 exceeds, and its "+
			"interval is above 0. Inputs that carry the same information share it: each can be unimportant alone.",
			reports.UnitOfDrivers(of).Name, drawn, of.Drivers.Repeats)
	}
	return c
}

// leading reports whether a figure shows all configurations, the best one, or the next.
func leading(r *reports.Report, of []int) bool {
	all := r.Decided()
	return len(of) == 0 || len(all) == 0 || slices.ContainsFunc(all, func(a reports.Answer) bool {
		return slices.Contains(of, a.Configuration) || a.Next != nil && slices.Contains(of, *a.Next)
	})
}

//go:embed html/live.js
var liveScript string

// LivePolicy is the content security policy of Live.WriteHTML, which report.html keeps to as well:
// the page loads from its own origin only, and runs only its own scripts.
var LivePolicy = policy(pageScript, liveScript) + "; connect-src 'self'"
