package kernel

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// Active is a kernel of some of the input columns. theta and its names are the kernel's own; inside
// a sum or a product the prefix is the position and the kind of the kernel ("2.se.length_scale").
type Active struct {
	Dims  []int `yaml:"dims" within:"[1,inf)"` // the columns, counted from 1
	Named `yaml:"kernel"`
}

func (a Active) checkOptions() error {
	if a.Kernel == nil || len(a.Dims) == 0 {
		return errors.New("active needs dims and a kernel, as in {active: {dims: [1, 2], kernel: se}}")
	}
	return nil
}

func (a Active) Params(int) []param.Spec {
	specs := a.Kernel.Params(len(a.Dims))
	for i, s := range specs {
		if s.Column > 0 {
			specs[i].Column = a.Dims[s.Column-1]
		}
	}
	return specs
}

func (a Active) parts(int) ([]Named, int)  { return []Named{a.Named}, len(a.Dims) }
func (a Active) with(parts []Named) Kernel { return Active{a.Dims, parts[0]} }

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

// Memory implements Kernel: the selected columns, and the kernel's own memory.
func (a Active) Memory(n, m, dim int) int64 {
	return a.Kernel.Memory(n, m, len(a.Dims)) + words((n+m)*len(a.Dims))
}

// seen returns the block with the selected columns of its inputs. The zero Block stays the zero
// Block.
func (a Active) seen(b Block) Block {
	if b.known() {
		b.X, b.Z = b.X.only(a.Dims), b.Z.only(a.Dims)
	}
	return b
}

func (a Active) Fill(dst Block, theta []float64) { a.Kernel.Fill(a.seen(dst), theta) }

func (a Active) Pull(grad, theta []float64, own, g Block) {
	a.Kernel.Pull(grad, theta, a.seen(own), a.seen(g))
}
