package figure

import (
	"io"

	"github.com/gpc-tune/gpc-tune/internal/panicked"
)

// boxed writes figures with draw, which writes nothing before all are drawn. If draw panics, boxed
// draws each figure alone: a figure that cannot be drawn becomes a box with the reason.
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
