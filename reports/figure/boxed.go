package figure

import (
	"io"

	"github.com/gpc-tune/gpc-tune/internal/panicked"
)

// boxed writes figures with draw, which writes nothing before all are drawn. If that panics, the
// figures that cannot be drawn alone become boxes that say why.
func boxed(w io.Writer, figures []Figure, draw func(io.Writer, []Figure) error) (err error) {
	if panicked.Try(func() { err = draw(w, figures) }) == nil {
		return err
	}
	var all []Figure
	for _, f := range figures {
		if thrown := panicked.Try(func() { err = draw(io.Discard, []Figure{f}) }); thrown != nil {
			f = Figure{Title: f.Title, Notes: f.Notes, Print: f.Print, Failure: thrown.Error()}
		}
		all = append(all, f)
	}
	return draw(w, all)
}
