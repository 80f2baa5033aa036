// Package terminal escapes and wraps texts for terminals, and quotes command lines for shells.
package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable escapes a text for a terminal: control characters except tab and line feed, characters
// that change the direction of writing, line and paragraph separators, and bytes that are not UTF-8
// are written as in a Go string, \x1b or \u202e.
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

// unprintable reports whether a character is not for a terminal. utf8.RuneError may stand for a
// byte.
func unprintable(r rune) bool {
	return r != '\t' && r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' ||
		r == '\u2029' || r == utf8.RuneError
}

// OneLine makes a text part of one line, on a terminal, in a page and in a picture: it escapes like
// Printable, and also writes tabs and line breaks as in a Go string.
func OneLine(text string) string { return Printable(breaks.Replace(text)) }

var breaks = strings.NewReplacer("\n", `\n`, "\t", `\t`, "\v", `\v`, "\f", `\f`, "\r", `\r`)

// CommandLine is a command line for a POSIX shell with exactly these arguments. It can be shown on
// a terminal: characters that Printable escapes are written for printf(1).
func CommandLine(args ...string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = quote(a)
	}
	return strings.Join(quoted, " ")
}

func quote(arg string) string {
	if plainArgument(arg) {
		return arg
	}
	var out strings.Builder
	inside := false // inside quotes of the kind '...' or "$(printf '...')"
	open := func(encoded bool) {
		if out.Len() > 0 {
			out.WriteString(map[bool]string{true: `')"`, false: "'"}[inside])
		}
		inside = encoded
		out.WriteString(map[bool]string{true: `"$(printf '`, false: "'"}[inside])
	}
	open(false)
	for i := 0; i < len(arg); {
		r, n := utf8.DecodeRuneInString(arg[i:])
		encoded := unprintable(r) && !(r == utf8.RuneError && n > 1)
		if encoded != inside {
			open(encoded)
		}
		switch {
		case encoded:
			for _, b := range []byte(arg[i : i+n]) {
				fmt.Fprintf(&out, `\%03o`, b)
			}
		case r == '\'':
			out.WriteString(`'\''`)
		default:
			out.WriteString(arg[i : i+n])
		}
		i += n
	}
	out.WriteString(map[bool]string{true: `')"`, false: "'"}[inside])
	return out.String()
}

// plainArgument reports whether a shell accepts an argument unchanged without quotes.
func plainArgument(arg string) bool {
	return arg != "" && arg[0] != '=' && strings.IndexFunc(arg, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_@%+=:,./-", r)
	}) < 0
}
