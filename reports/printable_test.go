package reports

import "testing"

// TestPrintableLetters: what could steer a terminal is written as in a Go string; tabs, line feeds and letters of any script stay.
func TestPrintableLetters(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "",
		"a\tb\nc":           "a\tb\nc",
		"Größe, 大きさ, ε = 1": "Größe, 大きさ, ε = 1",
		"\x1b[2J":           `\x1b[2J`,
		"a\rb":              `a\x0db`,
		"\x00\x7f":          `\x00\x7f`,
		"\u009b31m":         `\u009b31m`,
		"a\u202eb":          `a\u202eb`,
		"\u2066x\u2069":     `\u2066x\u2069`,
		"x\u2028y\u2029z":   `x\u2028y\u2029z`,
		"\xff and \xc3\x28": `\xff and \xc3(`,
		"\ufffd":            "\ufffd", // the replacement letter itself, in three bytes
		"tab\t\x07":         "tab\t" + `\x07`,
	} {
		if got := Printable(text); got != want {
			t.Errorf("%+q: %+q, want %+q", text, got, want)
		}
	}
}
