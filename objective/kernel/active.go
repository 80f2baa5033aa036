package kernel

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Active is a kernel that sees some of the input columns only. theta and its names are the kernel's own; inside a sum
// or a product the prefix is the position and the kind of the kernel ("2.se.length_scale").
type Active struct {
	Dims []int // the columns, counted from 1
	Named
}

// Params implements Kernel.
func (a Active) Params(int) []param.Spec {
	specs := a.Kernel.Params(len(a.Dims))
	for i, s := range specs {
		if s.Column > 0 {
			specs[i].Column = a.Dims[s.Column-1]
		}
	}
	return specs
}

func (a Active) checkDim(dim int) error {
	if len(a.Dims) == 0 {
		return errors.New("active: no columns; give at least one in dims")
	}
	var errs []error
	for i, c := range a.Dims {
		if c < 1 || c > dim {
			errs = append(errs, fmt.Errorf("active: column %d in dims; columns are counted from 1 to %d", c, dim))
		}
		if slices.Contains(a.Dims[:i], c) {
			errs = append(errs, fmt.Errorf("active: column %d twice in dims; give it once", c))
		}
	}
	if err := CheckDim(a.Kernel, len(a.Dims)); err != nil {
		errs = append(errs, fmt.Errorf("active: %w", err))
	}
	return errors.Join(errs...)
}

// Memory implements Kernel: the columns, and the kernel's own.
func (a Active) Memory(n, m, dim int) int64 {
	return a.Kernel.Memory(n, m, len(a.Dims)) + words((n+m)*len(a.Dims))
}

// Gram implements Kernel.
func (a Active) Gram(dst *mat.SymDense, theta []float64, x *Inputs) {
	a.Kernel.Gram(dst, theta, x.only(a.Dims))
}

// Cross implements Kernel.
func (a Active) Cross(dst *mat.Dense, theta []float64, x, z *Inputs) {
	a.Kernel.Cross(dst, theta, x.only(a.Dims), z.only(a.Dims))
}

// Diag implements Kernel.
func (a Active) Diag(dst, theta []float64, z *Inputs) {
	a.Kernel.Diag(dst, theta, z.only(a.Dims))
}

// Pullback implements Kernel.
func (a Active) Pullback(grad, theta []float64, x *Inputs, own, g *mat.SymDense) {
	a.Kernel.Pullback(grad, theta, x.only(a.Dims), own, g)
}

// PullbackCross implements Kernel.
func (a Active) PullbackCross(grad, theta []float64, x, z *Inputs, g *mat.Dense) {
	a.Kernel.PullbackCross(grad, theta, x.only(a.Dims), z.only(a.Dims), g)
}

// PullbackDiag implements Kernel.
func (a Active) PullbackDiag(grad, theta []float64, z *Inputs, g []float64) {
	a.Kernel.PullbackDiag(grad, theta, z.only(a.Dims), g)
}
