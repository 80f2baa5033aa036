package reports

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable is a text of any origin for a terminal: control characters but tab and line feed, those that turn the direction
// of writing round, line and paragraph separators, and bytes that are not UTF-8 are written as in a Go string, \x1b or \u202e.
func Printable(text string) string {
	if strings.IndexFunc(text, unprintable) < 0 {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case !unprintable(r) || r == utf8.RuneError && n > 1:
			out.WriteString(text[i : i+n])
		case n == 1:
			out.WriteString(`\x` + strconv.FormatUint(0x100|uint64(text[i]), 16)[1:])
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			out.WriteString(quoted[1 : len(quoted)-1])
		}
		i += n
	}
	return out.String()
}

// unprintable says if a letter is not for a terminal. utf8.RuneError may stand for a byte.
func unprintable(r rune) bool {
	return r != '\t' && r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError
}

// cell is a text of any origin as a part of one line.
func cell(text string) string { return breaks.Replace(text) }

var breaks = strings.NewReplacer("\n", `\n`, "\t", `\t`, "\v", `\v`, "\f", `\f`, "\r", `\r`)
