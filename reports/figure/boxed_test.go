package figure

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// A figure that cannot be drawn is a box in its place, and the others are as they were.
func TestBoxed(t *testing.T) {
	good := Figure{Title: "good", Columns: 1, Panels: []Panel{{Title: "panel", Layers: []Layer{Line{X: []float64{0, 1}, Y: []float64{0, 1}}}}}}
	bad := Figure{Title: "bad", Notes: []string{"a note"}, Columns: 1, Panels: []Panel{{Layers: []Layer{Line{X: []float64{0, 1}, Y: []float64{0}}}}}}
	for name, draw := range map[string]func(io.Writer, ...Figure) error{"svg": SVG, "pdf": PDF, "png": PNG} {
		var both, alone bytes.Buffer
		if err := draw(&both, good, bad); err != nil || both.Len() == 0 {
			t.Errorf("%s: %d bytes, %v", name, both.Len(), err)
		}
		if err := draw(&alone, bad); err != nil || alone.Len() == 0 {
			t.Errorf("%s: %d bytes, %v", name, alone.Len(), err)
		}
		if name != "svg" {
			continue
		}
		for _, want := range []string{">good<", ">panel<", ">bad<", ">a note<", "This figure could not be drawn: panic: runtime error: index out of"} {
			if !strings.Contains(both.String(), want) {
				t.Errorf("no %q in %s", want, &both)
			}
		}
	}
}
