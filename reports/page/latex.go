package page

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// Limits of a page of paper.
const (
	longestPrinted = 40 // rows
	widestPrinted  = 80 // letters, three of them for the room between two columns
)

// latexHead explains the file, and lets a table that is wider than the text shrink.
const latexHead = "% Tables of gpc-tune, to be \\input after \\usepackage{booktabs}. With \\usepackage{graphicx} " +
	"those that are wider than the\n% text shrink to its width. pdfLaTeX knows the letters of Europe; names in " +
	"others need LuaLaTeX or XeLaTeX and a font that has them.\n" + `\providecommand{\gpctunefit}[1]{\sbox0{#1}%
  \ifdim\wd0>\linewidth\ifdefined\resizebox\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi\else\usebox0\fi}
`

// LaTeX writes report-details.tex: the whole document, every table with a caption and the label
// tab:EXPERIMENT:TABLE, or tab:EXPERIMENT:NUMBER:TABLE where it is of one configuration.
func LaTeX(out io.Writer, r *reports.Report) error {
	w := &latex{bufio.NewWriter(out), "tab:" + slug(r.Experiment), map[string]int{}, ""} // keeps the first error
	w.WriteString(latexHead)
	newDocument(r, table.ForPages, longestPrinted, longestPrinted).write(w)
	return w.Flush()
}

type latex struct {
	*bufio.Writer
	prefix string         // prefix of labels
	labels map[string]int // number of uses of each label
	above  string         // last heading
}

func (w *latex) heading(level int, text string) {
	w.above = text
	fmt.Fprintf(w, "\n\\%ssection*{%s}\n", strings.Repeat("sub", level-1), plainLaTeX(text))
}

// configuration begins a page, so that tables do not wait for more room than LaTeX remembers.
func (w *latex) configuration(text string) {
	fmt.Fprint(w, "\n\\clearpage")
	w.heading(2, text)
}

func (w *latex) paragraph(text string) { fmt.Fprintf(w, "\n%s\n", plainLaTeX(text)) }

func (w *latex) items(texts []string) {
	if len(texts) == 0 {
		return
	}
	fmt.Fprint(w, "\n\\begin{itemize}\n")
	for _, text := range texts {
		fmt.Fprintf(w, "\\item %s\n", plainLaTeX(text))
	}
	fmt.Fprint(w, "\\end{itemize}\n")
}

func (w *latex) facts(facts []table.Fact) {
	if len(facts) == 0 {
		return
	}
	fmt.Fprint(w, "\n\\begin{description}\n\\sloppy\n")
	for _, f := range facts {
		fmt.Fprintf(w, "\\item[%s] %s\n", plainLaTeX(f.Name), plainLaTeX(f.Text))
	}
	fmt.Fprint(w, "\\end{description}\n")
}

func (w *latex) table(in string, s sheet) {
	if len(s.Rows) == 0 {
		return
	}
	heading := cmp.Or(s.Heading, w.above)
	for i, part := range parts(s.Table) {
		s.Table = part
		if i == 1 {
			heading, s.Note = heading+", continued", ""
		}
		w.part(in, heading, s)
	}
}

// parts cuts a table that is wider than paper. Every part begins with the columns that distinguish
// the rows, if these leave room for others.
func parts(t table.Table) (out []table.Table) {
	key := 1
	for ; key < len(t.Columns); key++ {
		seen := map[string]bool{}
		for _, row := range t.Rows {
			seen[strings.Join(table.Texts(row[:key]), "\x00")] = true
		}
		if len(seen) == len(t.Rows) {
			break
		}
	}
	width := make([]int, len(t.Columns))
	for c, name := range t.ColumnNames() {
		width[c] = utf8.RuneCountInString(name)
		for _, row := range t.Rows {
			width[c] = max(width[c], utf8.RuneCountInString(row[c].String()))
		}
		width[c] += 3
	}
	keys := 0
	for _, w := range width[:key] {
		keys += w
	}
	if keys > widestPrinted/2 {
		return []table.Table{t}
	}
	for from, to := key, key; from < len(t.Columns) || len(out) == 0; from = to {
		all := keys
		for to < len(t.Columns) && (to == from || all+width[to] <= widestPrinted) {
			all += width[to]
			to++
		}
		part := table.Table{Columns: slices.Concat(t.Columns[:key], t.Columns[from:to])}
		if out == nil {
			part.Caption = t.Caption
		}
		for _, row := range t.Rows {
			part.Rows = append(part.Rows, slices.Concat(row[:key], row[from:to]))
		}
		out = append(out, part)
	}
	return out
}

func (w *latex) part(in, heading string, s sheet) {
	caption := s.caption(strings.TrimSpace(in + " " + heading))
	label := w.label(in, heading)
	align := ""
	for _, c := range s.Columns {
		if c.Right {
			align += "r"
		} else {
			align += "l"
		}
	}
	fmt.Fprintf(w, "\n\\begin{table}[htbp]\n\\centering\\small\n\\caption{%s}\\label{%s}\n", plainLaTeX(caption), label)
	fmt.Fprintf(w, "\\gpctunefit{\\begin{tabular}{%s}\n\\toprule\n", align)
	w.row(s.ColumnNames())
	fmt.Fprint(w, "\\midrule\n")
	for _, row := range s.Rows {
		w.row(table.Texts(row))
	}
	fmt.Fprint(w, "\\bottomrule\n\\end{tabular}}\n\\end{table}\n")
}

// caption returns the caption of a table with this heading.
func (s sheet) caption(heading string) string {
	if len(s.Caption) > 0 {
		heading += ": " + strings.Join(s.Caption, ", ")
	}
	if s.Note != "" {
		heading += "; " + s.Note
	}
	return heading
}

// label returns a unique label for a table.
func (w *latex) label(in, heading string) string {
	label := w.prefix
	for _, part := range []string{in, heading} {
		if part = slug(part); part != "" {
			label += ":" + part
		}
	}
	if w.labels[label]++; w.labels[label] > 1 {
		label = fmt.Sprintf("%s:%d", label, w.labels[label])
	}
	return label
}

func (w *latex) row(cells []string) {
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprint(w, " & ")
		}
		fmt.Fprint(w, plainLaTeX(cell))
	}
	fmt.Fprint(w, " \\\\\n")
}

var (
	latexSigns = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "&", `\&`, "%", `\%`, "$", `\$`,
		"#", `\#`, "_", `\_`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`,
		"<", `\textless{}`, ">", `\textgreater{}`, "|", `\textbar{}`, `"`, `\symbol{34}`, "`", `\symbol{96}`,
		"'", "'{}", "--", "-{}-", "[", "{[}", "]", "{]}", "*", "{*}",
		"−", "$-$", "±", `$\pm$`, "≈", `$\approx$`, "…", `\ldots{}`, "–", "--")
	printedNumber = regexp.MustCompile(`^(-?)([0-9]+(?:\.[0-9]+)?)(?:e([+-])0*([0-9]+))?$`)
	notInLabels   = regexp.MustCompile(`[^A-Za-z0-9.]+`)
)

// plainLaTeX escapes a text for LaTeX, so that it is printed unchanged: without commands,
// ligatures, or options of a \\ or \item before it. Numbers have a minus sign, and powers of ten
// instead of an e.
func plainLaTeX(text string) string {
	words := strings.Split(table.Line(text), " ")
	for i, word := range words {
		number := printedNumber.FindStringSubmatch(word)
		switch {
		case number == nil:
			words[i] = latexSigns.Replace(word)
		case number[4] != "":
			words[i] = fmt.Sprintf(`$%s%s\times10^{%s%s}$`, number[1], number[2],
				strings.TrimPrefix(number[3], "+"), number[4])
		case number[1] != "":
			words[i] = "$" + word + "$"
		}
	}
	return strings.Join(words, " ")
}

// slug is a text as part of a label.
func slug(text string) string { return strings.Trim(notInLabels.ReplaceAllString(text, "-"), "-") }
