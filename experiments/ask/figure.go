package ask

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture"
)

// Figure shows the latent functions over their one input and, beside them, what the likelihood makes of them; where every
// class has a latent function, with a row for each of the first draws. More than one input is a Problem.
func (d *Drawn) Figure() (figure.Figure, error) {
	if d.inputs != 1 {
		return figure.Figure{}, spec.Problems{{File: "--format", Message: fmt.Sprintf("a picture has one input, and these cases have %d; use --grid lo:hi:points or data with one, or csv or json", d.inputs)}}
	}
	return picture.Samples(d.shown), nil
}
