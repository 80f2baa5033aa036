package figure

import (
	"strings"
	"testing"
)

// A text is broken between words, and what does not fit is cut with an ellipsis.
func TestWrappedTexts(t *testing.T) {
	wide := small.width("mmmm mmmm")
	for _, c := range []struct {
		text string
		most int
		want string // lines, between bars
	}{
		{"", 3, ""}, {"mmmm", 3, "mmmm"}, {"mmmm mmmm", 3, "mmmm mmmm"}, {" mmmm  mmmm ", 3, "mmmm mmmm"}, {"mmmm mmmm mmmm", 3, "mmmm mmmm|mmmm"},
		{"mmmm mmmm mmmm mmmm mmmm", 3, "mmmm mmmm|mmmm mmmm|mmmm"}, {"mmmm mmmm m mmmm mmmm mmmm", 2, "mmmm mmmm|m mmmm…"},
		{"mmmmmmmmmmmmmmmm mm", 3, "mmmmmmmm…|mm"}, {"mm mmmmmmmmmmmmmmmm", 3, "mm|mmmmmmmm…"},
	} {
		lines := small.wrap(c.text, wide, c.most)
		got := strings.Join(lines, "|")
		if !strings.HasSuffix(c.want, "…") && !strings.Contains(c.want, "…|") && got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
		if strings.Count(got, "|") != strings.Count(c.want, "|") || strings.Contains(got, "…") != strings.Contains(c.want, "…") || len(lines) > c.most {
			t.Errorf("%q: %s, want about %s", c.text, got, c.want)
		}
		for _, line := range lines {
			if small.width(line) > wide {
				t.Errorf("%q: %s is too wide", c.text, line)
			}
		}
		if joined := strings.ReplaceAll(got, "|", " "); !strings.Contains(got, "…") && joined != strings.Join(strings.Fields(c.text), " ") {
			t.Errorf("%q: words are lost in %s", c.text, got)
		}
	}
}
