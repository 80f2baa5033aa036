package table

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/gpc-tune/gpc-tune/internal/terminal"
)

// print writes a table as text: its lead, its caption or else its title, and the rows. The first
// table of a text has no blank line above it, and is written even without rows.
func (t Table) print(w io.Writer, on Screen, first bool) {
	if t.Lead != "" {
		fmt.Fprintf(w, "\n%s\n", on.wrap(terminal.OneLine(t.Lead), "    "))
		var notes bytes.Buffer
		list(&notes, "", t.Notes)
		for line := range strings.Lines(notes.String()) {
			fmt.Fprintln(w, on.wrap(strings.TrimSuffix(line, "\n"), "        "))
		}
	}
	if len(t.Rows) == 0 && !first {
		return
	}
	t.MoveConstantsToCaption()
	heading, gap := cmp.Or(t.Title, t.Name), ""
	switch {
	case len(t.Caption) > 0:
		heading, gap = strings.Join(t.Caption, ", "), "\n"
		if t.Title != "" {
			heading = t.Title + ": " + heading
		}
	case first:
		heading = ""
	}
	if !first {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s\n%s", on.wrap(terminal.OneLine(heading), ""), gap)
	t.writeOn(w, on)
}

// writeOn lays out a table for the width of the screen; columns are two blanks apart. Numbers are
// right-aligned, with the counts of partial ones after them.
func (t Table) writeOn(w io.Writer, on Screen) {
	left := t.fit(on.Width)
	lines, width := t.lines()
	for i, line := range lines {
		var text strings.Builder
		for c, cell := range line {
			pad := strings.Repeat(" ", width[c]-terminal.Columns(cell))
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

// Fit leaves out columns with a dropRank until no row has more than this many characters, and
// returns their names. The columns with the smallest dropRank are kept first.
func (t *Table) Fit(most int) (left []string) {
	t.Columns, t.Rows = slices.Clone(t.Columns), slices.Clone(t.Rows)
	for i := range t.Rows {
		t.Rows[i] = slices.Clone(t.Rows[i])
	}
	all, widths := t.size()
	var spared []int
	for c, column := range t.Columns {
		if column.dropRank > 0 {
			spared, all = append(spared, c), all-widths[c]-2
		}
	}
	slices.SortStableFunc(spared, func(a, b int) int {
		return cmp.Compare(t.Columns[a].dropRank, t.Columns[b].dropRank)
	})
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
		t.replace(c, nil, nil)
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
		if text := row[c].text(); terminal.Columns(text) > most {
			t.Rows[i][c].Text = terminal.Cut(text, most)
		}
	}
	t.Columns[c].Name = terminal.Cut(t.Columns[c].Name, most)
}

// lines are the header and the rows as texts, and the widths of the columns.
func (t Table) lines() (lines [][]string, width []int) {
	lines = make([][]string, 1+len(t.Rows))
	behind := make([]int, len(t.Columns)) // width of the longest count of each column
	counted := func(cell Cell) int { return len(cell.String()) - len(cell.text()) }
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
			width[c] = max(width[c], terminal.Columns(cell))
		}
	}
	return lines, width
}

// Line makes any text a single line of printable characters, with blanks for line breaks.
func Line(text string) string {
	return terminal.Printable(strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " "))
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

// Write lays out the table for people, for a screen or a file.
func (t Table) Write(w io.Writer, on Screen) error {
	var text bytes.Buffer
	on = on.signed()
	t.print(&text, on, false)
	return on.show(w, text.String())
}
