package objective

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/inducing"
)

// WithInducing is the same objective with a copy of these inducing inputs, m×d. Its method must
// have the option inducing.
func WithInducing(o *Objective, z *mat.Dense) *Objective {
	c := Choice{Choice: inducing.Choice{Z: mat.DenseCopyOf(z)}}
	if before := o.induction().choice; before != nil {
		c.Tried, c.Fewer = before.Tried, before.Fewer
	}
	return o.with(&c)
}

// with is the same objective with these inducing inputs.
func (o *Objective) with(c *Choice) *Objective {
	own, before := *o, o.induction()
	with := &induction{option: before.option, x: before.x}
	if c.Z != nil {
		with.take(c)
	}
	own.room, own.structure = nil, with
	return &own
}

// tuned returns the vector that a local optimiser moves: the free hyperparameters and, with
// tune_inputs, the inducing inputs after them, row by row.
func (o *Objective) tuned(ctx context.Context, free []float64) ([]float64, error) {
	i := o.induction()
	if i == nil || !i.option.TuneInputs {
		return free, nil
	}
	chosen, err := i.choose(ctx, o.model.Kernels[0], o.Layout.kernel(o.Layout.Start(), 0))
	if err != nil {
		return nil, err
	}
	return slices.Concat(free, chosen.z.X.RawMatrix().Data), nil
}

// at splits u, the vector that a local optimiser moves: it returns the objective with the inducing
// inputs of u, and the free hyperparameters of u.
func (o *Objective) at(u []float64) (*Objective, []float64) {
	n := len(o.Layout.Free)
	if len(u) == n {
		return o, u
	}
	d := o.data.X.Dim()
	return WithInducing(o, mat.NewDense((len(u)-n)/d, d, slices.Clone(u[n:]))), u[:n]
}

// gradientBy is the gradient by the vector that a local optimiser moves (see tuned).
func (p *Point) gradientBy(dst []float64) error {
	n := len(p.objective.Layout.Free)
	err := p.Gradient(dst[:n])
	if err == nil && len(dst) > n {
		d := p.objective.data.X.Dim()
		err = p.InputGradient(mat.NewDense((len(dst)-n)/d, d, dst[n:]))
	}
	return err
}
