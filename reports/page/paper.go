package page

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// paperHead explains the file of a paper.
const paperHead = "% The answer, the results and every configuration beside the best, to be \\input after " +
	"\\usepackage{booktabs,longtable,siunitx}.\n% results.csv has all else.\n"

// widestRow is the maximum number of letters in a row of a paper. Dispensable columns are left out
// until it fits.
const widestRow = 80

// Paper writes report.tex, for a paper: the answer, the results and the comparisons with the best,
// in tables with complete rows, which may continue on the next page. Numbers are aligned by
// siunitx.
func Paper(out io.Writer, r *reports.Report) error {
	w := &paper{latex{bufio.NewWriter(out), "tab:" + slug(r.Experiment), map[string]int{}}}
	w.WriteString(paperHead)
	d := newDocument(r, table.ForPaper, longestPrinted, longestPrinted)
	w.heading(2, d.Experiment)
	w.facts(d.Answer)
	for _, a := range d.Alerts {
		w.paragraph(a.Title)
	}
	for _, c := range slices.Concat(d.Results, d.Chapters) {
		for _, s := range c.Sheets {
			w.long(s)
		}
	}
	return w.Flush()
}

type paper struct{ latex }

// long writes a table with its rows whole.
func (w *paper) long(s sheet) {
	if len(s.Rows) == 0 {
		return
	}
	if left := s.Table.Fit(widestRow); len(left) > 0 {
		s.Note = strings.TrimPrefix(s.Note+"; not here, but in results.csv: "+strings.Join(left, ", "), "; ")
	}
	caption := s.caption(cmp.Or(s.Heading, s.Name))
	numeric := make([]bool, len(s.Columns))
	align := ""
	for c, column := range s.Columns {
		format := aligned(s.Rows, c)
		numeric[c] = format != ""
		switch {
		case numeric[c]:
			align += "S[table-format=" + format + "]"
		case column.Right:
			align += "r"
		default:
			align += "l"
		}
	}
	fmt.Fprint(w, "\n\\begingroup\\small\\setlength{\\tabcolsep}{4pt}\\sisetup{group-minimum-digits=99}\n")
	fmt.Fprintf(w, "\\begin{longtable}{%s}\n\\caption{%s}\\label{%s}\\\\\n\\toprule\n", align,
		plainLaTeX(caption), w.label(s.Name))
	var names []string
	for _, name := range s.ColumnNames() {
		names = append(names, "{"+plainLaTeX(name)+"}")
	}
	fmt.Fprintf(w, "%s \\\\\n\\midrule\n\\endhead\n\\bottomrule\n\\endfoot\n", strings.Join(names, " & "))
	for _, row := range s.Rows {
		var cells []string
		for c, cell := range row {
			text := plainLaTeX(cell.String())
			if numeric[c] {
				text = cell.String()
			}
			cells = append(cells, text)
		}
		fmt.Fprintf(w, "%s \\\\\n", strings.Join(cells, " & "))
	}
	fmt.Fprint(w, "\\end{longtable}\n\\endgroup\n")
}

// aligned is the format by which siunitx aligns a column of plain numbers: the numbers of digits
// before and after the point, and the sign. It is empty if the column has other texts.
func aligned(rows [][]table.Cell, c int) string {
	before, after, sign := 0, 0, ""
	for _, row := range rows {
		text := row[c].String()
		if text == "" {
			continue
		}
		number := printedNumber().FindStringSubmatch(text)
		if number == nil || number[4] != "" {
			return ""
		}
		whole, part, _ := strings.Cut(number[2], ".")
		before, after = max(before, len(whole)), max(after, len(part))
		if number[1] != "" {
			sign = "-"
		}
	}
	numeric := func(row []table.Cell) bool { _, is := row[c].Number(); return is }
	if !slices.ContainsFunc(rows, numeric) {
		return ""
	}
	return fmt.Sprintf("%s%d.%d", sign, before, after)
}
