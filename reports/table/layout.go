package table

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gpc-tune/gpc-tune/internal/terminal"
)

// drop removes a column.
func (t *Table) drop(c int) {
	t.Columns = slices.Delete(t.Columns, c, c+1)
	for i := range t.Rows {
		t.Rows[i] = slices.Delete(t.Rows[i], c, c+1)
	}
}

// Columns are columns with these names that are never lifted into the caption.
func Columns(names ...string) (out []Column) {
	for _, name := range names {
		out = append(out, Column{Name: name, Keep: true})
	}
	return out
}

// section writes a table under a heading, if it has rows.
func (t Table) section(w io.Writer, heading string) { t.sectionOn(w, Screen{}, heading) }

func (t Table) sectionOn(w io.Writer, on Screen, heading string) {
	if len(t.Rows) > 0 {
		t.Lift()
		fmt.Fprintf(w, "\n%s\n", on.wrap(heading, ""))
		t.writeOn(w, on)
	}
}

// Table is ready to be laid out.
type Table struct {
	Caption []string // values that are equal in every row: "dataset crabs"
	Columns []Column
	Rows    [][]Cell
}

// Column is a column of a Table.
type Column struct {
	Name  string
	Right bool   // numbers: aligned to the right
	Keep  bool   // never lifted into the caption of a text
	Stays bool   // never lifted on a page
	Doc   string // documentation for readers
	// 1: greater is better; -1: less is better; 0: neither
	Greater int
	gaps    bool // an empty cell does not count as a different value
	spare   int  // columns with the largest value are left out first on a narrow terminal; 0: never left out
}

// words, parted and numbers make columns: of words that may be lifted into the caption, of such
// words that some rows lack, and of numbers, which are never lifted.
func words(name string) Column   { return Column{Name: name} }
func parted(name string) Column  { return Column{Name: name, gaps: true} }
func numbers(name string) Column { return Column{Name: name, Right: true, Keep: true} }

// spared returns the column with this value of spare.
func (c Column) spared(spare int) Column {
	c.spare = spare
	return c
}

// explained returns the column with its documentation.
func (c Column) explained(greater bool, doc string) Column {
	c.Doc, c.Greater = doc, map[bool]int{true: 1, false: -1}[greater]
	return c
}

// Lift moves columns with equal values into the caption, ignoring gaps if allowed, and drops empty
// columns.
func (t *Table) Lift() {
	for c := len(t.Columns) - 1; c >= 0; c-- {
		text := ""
		if i := slices.IndexFunc(t.Rows, func(row []Cell) bool { return row[c].Text != "" }); i >= 0 {
			text = t.Rows[i][c].String()
		}
		constant := !slices.ContainsFunc(t.Rows, func(row []Cell) bool {
			cell := row[c].String()
			return cell != text && !(cell == "" && t.Columns[c].gaps)
		})
		empty := text == ""
		if !empty && (t.Columns[c].Keep || !constant) {
			continue
		}
		if !empty {
			t.Caption = append([]string{t.Columns[c].Name + " " + text}, t.Caption...)
		}
		t.Columns = slices.Delete(t.Columns, c, c+1)
		for i := range t.Rows {
			t.Rows[i] = slices.Delete(t.Rows[i], c, c+1)
		}
	}
}

// write lays out a table.
func (t Table) write(w io.Writer) { t.writeOn(w, Screen{}) }

// writeOn lays out a table for the width of the screen; columns are two blanks apart. Numbers are
// right-aligned, with the counts of partial ones after them.
func (t Table) writeOn(w io.Writer, on Screen) {
	left := t.fit(on.Width)
	lines, width := t.lines()
	for i, line := range lines {
		var text strings.Builder
		for c, cell := range line {
			pad := strings.Repeat(" ", width[c]-utf8.RuneCountInString(cell))
			if t.Columns[c].Right {
				cell = pad + cell
			} else {
				cell += pad
			}
			if c > 0 {
				text.WriteString("  ")
			}
			text.WriteString(cell)
		}
		shown := strings.TrimRight(text.String(), " ")
		if i > 0 {
			shown = on.marked(MarkOf(t.Rows[i-1]), shown)
		} else {
			shown = on.bold(shown)
		}
		fmt.Fprintln(w, shown)
	}
	if len(left) > 0 {
		fmt.Fprintln(w, on.wrap("columns that did not fit: "+strings.Join(left, ", "), "    "))
	}
}

// Fit leaves out columns with a spare until no row has more than this many characters, and returns
// their names. The columns with the smallest spare are kept first.
func (t *Table) Fit(most int) (left []string) {
	t.Columns, t.Rows = slices.Clone(t.Columns), slices.Clone(t.Rows)
	for i := range t.Rows {
		t.Rows[i] = slices.Clone(t.Rows[i])
	}
	all, widths := t.size()
	var spared []int
	for c, column := range t.Columns {
		if column.spare > 0 {
			spared, all = append(spared, c), all-widths[c]-2
		}
	}
	slices.SortStableFunc(spared, func(a, b int) int { return cmp.Compare(t.Columns[a].spare, t.Columns[b].spare) })
	var out []int
	for _, c := range spared {
		if all+widths[c]+2 <= most {
			all += widths[c] + 2
			continue
		}
		left, out = append(left, t.Columns[c].Name), append(out, c)
	}
	slices.Sort(out)
	for _, c := range slices.Backward(out) {
		t.drop(c)
	}
	return left
}

// size is the width of the table and of its columns.
func (t *Table) size() (all int, widths []int) {
	_, widths = t.lines()
	for _, w := range widths {
		all += w + 2
	}
	return all - 2, widths
}

// fit leaves out columns, and then shortens words, until the table is narrow enough.
func (t *Table) fit(most int) (left []string) {
	if most == 0 {
		return nil
	}
	left = t.Fit(most)
	const least = 6
	all, widths := t.size()
	for ; all > most; all, widths = t.size() {
		longest := -1
		for c, w := range widths {
			if !t.Columns[c].Right && w > least && (longest < 0 || w > widths[longest]) {
				longest = c
			}
		}
		if longest < 0 {
			break
		}
		t.shorten(longest, max(least, widths[longest]-(all-most)))
	}
	return left
}

// shorten cuts the words of a column.
func (t *Table) shorten(c, most int) {
	for i, row := range t.Rows {
		if letters := []rune(row[c].Text); len(letters) > most {
			t.Rows[i][c].Text = string(letters[:most-1]) + "…"
		}
	}
	if letters := []rune(t.Columns[c].Name); len(letters) > most {
		t.Columns[c].Name = string(letters[:most-1]) + "…"
	}
}

// lines are the header and the rows as texts, and the widths of the columns.
func (t Table) lines() (lines [][]string, width []int) {
	lines = make([][]string, 1+len(t.Rows))
	behind := make([]int, len(t.Columns)) // the longest count
	counted := func(cell Cell) int { return len(cell.String()) - len(cell.Text) }
	for c, column := range t.Columns {
		lines[0] = append(lines[0], terminal.OneLine(column.Name))
		for _, row := range t.Rows {
			behind[c] = max(behind[c], counted(row[c]))
		}
	}
	for i, row := range t.Rows {
		for c, cell := range row {
			text := terminal.OneLine(cell.String())
			if t.Columns[c].Right && text != "" {
				text += strings.Repeat(" ", behind[c]-counted(cell))
			}
			lines[i+1] = append(lines[i+1], text)
		}
	}
	width = make([]int, len(t.Columns))
	for _, line := range lines {
		for c, cell := range line {
			width[c] = max(width[c], utf8.RuneCountInString(cell))
		}
	}
	return lines, width
}

// ColumnNames are the names of the columns.
func (t Table) ColumnNames() (names []string) {
	for _, c := range t.Columns {
		names = append(names, cmp.Or(c.Name, "remark"))
	}
	return names
}

// Line makes any text a single line of printable characters.
func Line(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}

// MostListed is the maximum number of warnings, and of failures, that the text lists for one
// configuration.
const MostListed = 10

// list writes the first MostListed items, one per line, and counts the rest.
func list[T any](w io.Writer, label string, items []T) {
	for i, item := range items {
		if i == MostListed {
			fmt.Fprintf(w, "    %sand %d more\n", label, len(items)-i)
			return
		}
		fmt.Fprintf(w, "    %s%s\n", label, terminal.OneLine(fmt.Sprint(item)))
	}
}
