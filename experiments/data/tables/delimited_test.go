package tables

import (
	"encoding/csv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Lines without quotes are read without copying, with the same result as csv.Reader: fields, and
// the places that messages name.
func TestUnquotedLinesAreReadAsCSV(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "1.5", "#", " ", "  ", "\t", ",", ";", "\n", "\r\n", "\r", "\n\n", "é", "\u00a0", "\v", "-"}
	for range 20000 {
		var b strings.Builder
		for range r.IntN(20) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		text := b.String()
		comma := delimiters[r.IntN(len(delimiters))].char
		plain := newRecords(text, comma, &FileError{})
		if _, is := plain.lines.(*unquoted); !is {
			t.Fatalf("%q is read with copies", text)
		}
		quoted := csvOf(text, newRecords("\"", comma, &FileError{}).lines.(*csv.Reader))
		for {
			want, end := quoted.Read()
			got, atEnd := plain.Read()
			if end != atEnd || !slices.Equal(got, want) {
				t.Fatalf("%q between %q: %q %v, want %q %v", text, comma, got, atEnd, want, end)
			}
			if end != nil {
				break
			}
			for j := range got {
				line, column := plain.FieldPos(j)
				if wantLine, wantColumn := quoted.FieldPos(j); line != wantLine || column != wantColumn {
					t.Fatalf("%q between %q: field %d at %d:%d, want %d:%d", text, comma, j, line, column, wantLine, wantColumn)
				}
			}
		}
	}
}

// csvOf is a reader of text with the settings of another reader.
func csvOf(text string, like *csv.Reader) *csv.Reader {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.Comment, r.FieldsPerRecord, r.TrimLeadingSpace = like.Comma, like.Comment, like.FieldsPerRecord, like.TrimLeadingSpace
	return r
}

// The first 20 columns whose names are taken have a warning each; further ones are counted.
func TestColumnsOfTheSameName(t *testing.T) {
	for again, want := range map[int]string{
		20: `the column name "a" occurs twice (columns 1 and 21); the latter is called "a.21"`,
		21: "further columns without a name of their own: 1", 23: "further columns without a name of their own: 3",
	} {
		read := Source{text: "a" + strings.Repeat(",a", again) + "\n1" + strings.Repeat(",2", again) + "\n"}.Read(Options{})
		if n := len(read.Warnings); n != min(again, 21) || read.Warnings[n-1].Text != want {
			t.Errorf("%d: %v, want %s at the end", again, read.Warnings, want)
		}
	}
}
