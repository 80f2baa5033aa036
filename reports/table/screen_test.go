package table

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// On a terminal lines fit its width, the answer comes last, and colours are separate from the text,
// so that no name can set one. Without a terminal the answer comes first, in at most six lines.
func TestTextOnScreen(t *testing.T) {
	m, lines := reporttest.Run(t)
	m.Configurations[0].Dataset = "\x1b[31mred"
	r := reporttest.Build(t, m, lines)
	var text, colours bytes.Buffer
	if err := TextOn(&text, r, Screen{Width: 80, Color: &colours}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		if words := strings.Fields(line); utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 80 && len(words) > 1 &&
			!strings.HasPrefix(line, "#") && !strings.Contains(line, "folds)") {
			t.Errorf("wider than 80: %s", line)
		}
	}
	if strings.ContainsAny(text.String(), "\x00\x1b") {
		t.Errorf("%q has codes of colours", text.String())
	}
	if codes := colours.String(); !strings.Contains(codes, "\x1b[1;32m") || strings.Contains(codes, "red") {
		t.Errorf("the colours are %q", codes)
	}
	answer := Answered(r, MostAnswered)
	if last := terminal.OneLine(answer[len(answer)-1].Name) + ":"; !strings.Contains(text.String()[strings.LastIndex(text.String(), "\n\n"):], last) {
		t.Errorf("the text does not end with %q", last)
	}

	text.Reset()
	if err := Text(&text, r); err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(text.String(), "\n\n")
	if n := strings.Count(first, "\n") + 1; n != len(answer) || n > MostAnswered || !strings.HasPrefix(first, terminal.OneLine(answer[0].Name)+": ") {
		t.Errorf("the text begins with\n%s", first)
	}
}

// Words wrap; a narrow table first omits the columns that can be spared, the last first, and then
// cuts words.
func TestNarrow(t *testing.T) {
	if got := (Screen{Width: 9}).wrap("one two three four", "  "); got != "one two\n  three\n  four" {
		t.Errorf("%q", got)
	}
	table := Table{Columns: []Column{numbers("#"), words("kernel"), numbers("bits"), numbers("brier").droppedAt(2), numbers("auc").droppedAt(3)},
		Rows: [][]Cell{Row(0, "a long name of a kernel", 0, 1, 2)}}
	wide, narrow := table, table
	if left := wide.fit(39); len(left) != 1 || left[0] != "auc" {
		t.Errorf("%q are left out", left)
	}
	if left := narrow.fit(20); len(left) != 2 || left[0] != "brier" || narrow.Rows[0][1].text() != "a long nam…" || table.Rows[0][1].text() != "a long name of a kernel" {
		t.Errorf("%q are left out of %v", left, narrow.Rows)
	}
}
