package page

import (
	"bufio"
	_ "embed"
	"html/template"
	"io"
	"slices"
	"sync"

	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// Article is a page about something other than a run, such as a model: facts first, then a form if
// it has fields, then parts with tables and figures.
type Article struct {
	Title string
	Facts []table.Fact
	Form  []Field // sent to the address of the page
	Parts []Part
}

// Part is a part of an Article under a heading.
type Part struct {
	Heading string
	Texts   []string // paragraphs
	Tables  []table.Table
	Figures []figure.Figure
}

//go:embed html/article.gohtml
var articleText string

// articleTemplate uses the templates of a report's page for tables and figures.
var articleTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.Must(template.New("page").Parse(pageText)).New("article").Parse(articleText))
})

// articleStyle lays out the figures of a part side by side where they fit.
const articleStyle = "form{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,15rem),1fr));" +
	"gap:10px 16px;align-items:end;margin:12px 0}form label{display:block;font-weight:600;overflow-wrap:anywhere}" +
	"form small{display:block;color:var(--pale);font-weight:400}form input,form select{font:inherit;" +
	"font-weight:400;color:inherit;width:100%;padding:5px 8px;border:1px solid var(--pale);border-radius:6px;" +
	"background:var(--paper)}" +
	"form button{padding:6px 16px;border:1px solid var(--pale);border-radius:6px;background:var(--raised);" +
	"font-weight:600;cursor:pointer}:focus-visible{outline:2px solid var(--link);outline-offset:2px}" +
	".figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,600px),1fr));" +
	"gap:0 16px;align-items:start}.figures>:has(.panels svg+svg){grid-column:1/-1}"

// document is the article as a document.
func (a Article) document() document {
	d := document{Experiment: a.Title, Answer: a.Facts, Form: a.Form}
	for _, p := range a.Parts {
		c := chapter{Heading: p.Heading, Texts: p.Texts}
		for _, t := range p.Tables {
			rows := t.Rows // a sheet changes its rows
			t.Rows = nil
			for _, row := range rows {
				t.Rows = append(t.Rows, slices.Clone(row))
			}
			t.Columns = slices.Clone(t.Columns)
			c.Sheets = append(c.Sheets, newSheet(table.Section{}, t, longestTable, ""))
		}
		c.Figures, _ = drawings(p.Figures)
		d.Chapters = append(d.Chapters, c)
	}
	return d
}

// HTML writes the article as a single file that loads nothing, in the style of a report.
func (a Article) HTML(w io.Writer) error {
	p := page{document: a.document(), Style: template.CSS(pageStyle + articleStyle), Policy: policy(pageScript),
		Scripts: []template.JS{template.JS(pageScript)}}
	return p.execute(w, articleTemplate())
}

// Markdown writes the article without its figures.
func (a Article) Markdown(out io.Writer) error {
	w, d := markdown{bufio.NewWriter(out)}, a.document()
	w.heading(1, d.Experiment)
	w.facts(d.Answer)
	for _, c := range d.Chapters {
		w.heading(2, c.Heading)
		for _, text := range c.Texts {
			w.paragraph(text)
		}
		for _, s := range c.Sheets {
			w.table(s)
		}
	}
	return w.Flush()
}
