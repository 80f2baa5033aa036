package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Columns is the number of columns that a terminal needs for a text: 2 for each wide or fullwidth
// character of Unicode Standard Annex #11, 0 for a combining or invisible one, 1 for any other.
func Columns(text string) (n int) {
	for _, r := range text {
		kind := width.LookupRune(r).Kind()
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

// Cut shortens a longer text to this many columns, and ends it with an ellipsis.
func Cut(text string, columns int) string {
	if Columns(text) <= columns {
		return text
	}
	end, n := 0, 0
	for i, r := range text {
		if n += Columns(string(r)); n > columns-1 {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	return text[:end] + "…"
}

// Wrap breaks the lines of a text at blanks, so that each has at most this many columns; 0: no
// limit. Further lines of a broken line begin with the indent. A longer word stays whole, and so
// does a command of the program at the end of a line, after a colon, so that it can be copied.
func Wrap(text string, columns int, indent string) string {
	if columns == 0 {
		return text
	}
	lines := strings.Split(Commands(text), "\n")
	for i, line := range lines {
		lines[i] = wrapped(line, columns, indent)
	}
	return strings.Join(lines, "\n")
}

// wrapped is Wrap of one line.
func wrapped(line string, columns int, indent string) string {
	if Columns(line) <= columns {
		return line
	}
	at := lastCommand(line)
	words := strings.Split(line, " ")
	if at > 0 {
		words = append(strings.Split(line[:at-1], " "), line[at:])
	}
	var out strings.Builder
	column := 0
	for i, word := range words {
		n := Columns(word)
		switch {
		case i == 0:
		case column+1+n > columns && strings.TrimSpace(out.String()) != "":
			out.WriteString("\n" + indent)
			column = Columns(indent)
		default:
			out.WriteByte(' ')
			column++
		}
		out.WriteString(word)
		column += n
	}
	return out.String()
}
