package objective

import (
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/inducing"
)

// WithInducing is the same objective with these inducing inputs, m×d, which it takes a copy of; its
// method must have that option.
func WithInducing(o *Objective, z *mat.Dense) *Objective {
	return o.with(&Choice{Choice: inducing.Choice{Z: mat.DenseCopyOf(z)}})
}

// with is the same objective with these inducing inputs.
func (o *Objective) with(c *Choice) *Objective {
	own := *o
	own.room, own.inducing = nil, &induction{option: o.inducing.option, x: o.inducing.x}
	if c.Z != nil {
		own.inducing.take(c)
	}
	return &own
}
