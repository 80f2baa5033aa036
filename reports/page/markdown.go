package page

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/pattern"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// Markdown writes report.md: the document, with tables in the form that GitHub and many others
// read.
func Markdown(out io.Writer, r *reports.Report) error {
	w := markdown{bufio.NewWriter(out)} // keeps the first error
	newDocument(r, table.ForPages, longestSummary, longestTable).write(w)
	return w.Flush()
}

type markdown struct{ *bufio.Writer }

func (w markdown) heading(level int, text string) {
	if level > 1 {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s %s\n", strings.Repeat("#", level), plainMarkdown(text))
}

func (w markdown) paragraph(text string) { fmt.Fprintf(w, "\n%s\n", plainMarkdown(text)) }

func (w markdown) items(texts []string) {
	for i, text := range texts {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "- %s\n", plainMarkdown(text))
	}
}

func (w markdown) facts(facts []table.Fact) {
	var texts []string
	for _, f := range facts {
		texts = append(texts, f.Name+": "+f.Text)
	}
	w.items(texts)
}

func (w markdown) table(s sheet) {
	if len(s.Rows) == 0 {
		return
	}
	if s.Heading != "" {
		w.heading(3, s.Heading)
	}
	for _, note := range []string{strings.Join(s.Caption, ", "), s.Note} {
		if note != "" {
			w.paragraph(note)
		}
	}
	fmt.Fprintln(w)
	w.row(s.ColumnNames())
	for _, c := range s.Columns {
		if c.Right {
			fmt.Fprint(w, "| ---: ")
		} else {
			fmt.Fprint(w, "| --- ")
		}
	}
	fmt.Fprintln(w, "|")
	for _, row := range s.Rows {
		w.row(table.Texts(row))
	}
}

func (w markdown) row(cells []string) {
	for _, cell := range cells {
		fmt.Fprintf(w, "| %s ", plainMarkdown(cell))
	}
	fmt.Fprintln(w, "|")
}

var (
	markdownSigns = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`,
		">", `\>`, "|", `\|`,
		"~", `\~`, "&", `\&`, "$", `\$`, "://", `:\//`, "www.", `www\.`)
	// markdownEnds matches signs that begin a heading, a list or a rule at the beginning of a line,
	// or that end a heading.
	markdownEnds = pattern.Of(`^([0-9]*)([-+.)#]+(?: |$))|(#$)`)
)

// plainMarkdown is a text as Markdown that reads as it is: nothing in it is markup, a cell of its
// own, or an address to follow.
func plainMarkdown(text string) string {
	return markdownEnds().ReplaceAllString(markdownSigns.Replace(table.Line(text)), `$1\$2$3`)
}
