package page

import (
	"html/template"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/panicked"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// Bounds on the figures of a page, so that a browser opens the page of a large run at once.
const (
	largestFigure  = 1 << 20 // bytes
	largestFigures = 4 << 20 // bytes, of all
)

// drawing is a figure on the page.
type drawing struct {
	Name    string
	Folded  bool
	Heading string
	Notes   []string
	Panels  []template.HTML
	Pairs   bool // panels belong side by side in pairs
	Keys    []key
	Failure string // why it could not be drawn
	of      []int
}

// key is an entry of a legend.
type key struct {
	Name   string
	Sample template.HTML
}

// drawings returns the figures in parts. left is the number of figures that are too large for the
// page.
func drawings(figures []figure.Figure) (out []drawing, left int) {
	room := largestFigures
	for _, f := range figures {
		p := drawing{Name: f.Name, Heading: f.Title, Notes: f.Notes, Failure: f.Failure, of: f.Of,
			Pairs: f.Columns == 2 && len(f.Panels) > 2}
		var size int
		draw := func(part figure.Figure) template.HTML {
			var b strings.Builder
			figure.SVG(&b, part) // a Builder does not fail
			size += b.Len()
			// its texts are escaped
			return template.HTML(strings.Replace(b.String(), ` xmlns="http://www.w3.org/2000/svg"`, "", 1))
		}
		thrown := panicked.Try(func() {
			panels, names, samples := f.Parts()
			for _, panel := range panels {
				p.Panels = append(p.Panels, draw(panel))
			}
			for i, name := range names {
				p.Keys = append(p.Keys, key{name, draw(samples[i])})
			}
		})
		if thrown != nil {
			p.Failure = thrown.Error()
		}
		if size > min(largestFigure, room) {
			left++
			continue
		}
		room -= size
		out = append(out, p)
	}
	return out, left
}
