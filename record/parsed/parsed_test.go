package parsed

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
)

// A component of a record has the parts of its text, and a number where a word is one.
func TestComponents(t *testing.T) {
	for text, want := range map[string]string{
		"{a: [1.5, b], c: {d: -2}}": "(a=(1.5#1.5 b) c=(d=-2#-2))",
		"nan":                       "nan", ".5": ".5#0.5", "[]": "", "{a": "{a", "": "", "a: 1": "(a=1#1)",
	} {
		var shown func(n record.Node) string
		shown = func(n record.Node) string {
			var parts []string
			for _, p := range n.Parts {
				if text := shown(p.Node); p.Key != "" {
					parts = append(parts, p.Key+"="+text)
				} else {
					parts = append(parts, text)
				}
			}
			switch {
			case parts != nil:
				return "(" + strings.Join(parts, " ") + ")"
			case n.Number != nil:
				return fmt.Sprintf("%s#%v", n.Word, float64(*n.Number))
			}
			return n.Word
		}
		if c := ComponentOf(text); c.Text != text || shown(c.Node) != want {
			t.Errorf("%q: %q, %s; want %s", text, c.Text, shown(c.Node), want)
		}
	}
	if c := Component(nil); c.Text != "" || len(c.Node.Parts) > 0 {
		t.Errorf("nothing: %+v", c)
	}
}
