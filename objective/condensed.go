package objective

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Condensed is a fit with m inducing inputs reduced to the O(m²) numbers that predictions need,
// whatever the number of training cases.
type Condensed struct {
	Z     *mat.Dense // the inducing inputs, m×d
	State approx.State
}

// Condense reduces p to the numbers that predictions need. ok is false where predictions need the
// training cases.
func (p *Point) Condense() (c Condensed, ok bool) {
	i := p.objective.induction()
	if i == nil {
		return c, false
	}
	s, ok := approx.Condense(p.Posterior)
	return Condensed{i.z.X, s}, ok
}

// NewCondensed is the objective of a model with the inducing inputs z and without training cases.
// Only its method Expand may be called. classes are the labels; none: the targets are numbers.
func NewCondensed(m Model, z *mat.Dense, classes []string) (*Objective, error) {
	x := &kernel.Inputs{X: z}
	m = m.On(len(classes))
	o := &Objective{model: m, structure: &induction{induced: &induced{z: x}}}
	// Scaled needs no distances between cases; the initial theta is not used
	o.data = Data{X: x, Y: approx.Targets{Classes: len(classes)}, Classes: classes, Scaled: true}
	var err error
	if o.caps, err = m.Check(len(classes)); err == nil {
		err = cmp.Or(linalg.Err(), x.Check(x.Dim()))
	}
	for _, k := range m.Kernels {
		err = cmp.Or(err, kernel.CheckDim(k, x.Dim()))
	}
	o.Layout = m.LayoutOn(o.data)
	return o, err
}

// Expand rebuilds the point that was fitted at theta and condensed to s. Its predictions are the
// same to the last bit, on the same build. Its evidence is NaN.
func (o *Objective) Expand(theta []float64, s approx.State) (*Point, error) {
	l := o.Layout
	if len(theta) != len(l.Specs) {
		panic(fmt.Sprintf("objective: len(theta) = %d, want %d", len(theta), len(l.Specs)))
	}
	p := &Point{Theta: slices.Clone(theta), objective: o, lik: o.model.Likelihood.At(l.likelihood(theta))}
	err := l.checkFinite(theta)
	if err != nil {
		return o.finish(p, err)
	}
	z := o.induction().z
	for j, k := range o.model.Kernels {
		own := mat.NewSymDense(z.N(), nil)
		smoothGram(k, own, l.kernel(theta, j), z)
		p.cov = append(p.cov, approx.Cov{K: own})
	}
	p.Posterior, err = approx.Expand(o.model.Inference, p.cov, o.data.Y.Classes, p.lik, s)
	return o.finish(p, err)
}
