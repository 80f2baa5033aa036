package kernel

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// Additive is the kernel Σ_j k_j(x_j, x'_j) of a sum of functions of one input each, as generalised
// additive models have them: k with hyperparameters of its own on every column, or on every group
// of columns that Tie names. It is Sum over Active for inputs of any number of columns.
type Additive struct {
	Named `yaml:"kernel"`
}

func (a Additive) checkOptions() error {
	if a.Kernel == nil {
		return errors.New("additive needs a kernel, as in {additive: {kernel: se}}")
	}
	return nil
}

// over is the sum over groups of columns. Columns with equal numbers in group are one group.
func (a Additive) over(group []int) (s Sum) {
	at := map[int]int{}
	for c, g := range group {
		i, met := at[g]
		if !met {
			i, at[g] = len(s), len(s)
			s = append(s, Named{Kernel: Active{Named: a.Named}})
		}
		of := s[i].Kernel.(Active)
		of.Dims = append(slices.Clip(of.Dims), c+1)
		s[i].Kernel = of
	}
	return s
}

// sum has a term for every column.
func (a Additive) sum(dim int) Sum {
	each := make([]int, dim)
	for c := range each {
		each[c] = c
	}
	return a.over(each)
}

func (a Additive) parts(dim int) ([]Named, int) { return a.sum(dim), dim }
func (a Additive) with(parts []Named) Kernel    { return Sum(parts) }
func (a Additive) path(string) string           { return "" }

func (a Additive) checkDim(dim int) error {
	if dim > maxParts {
		return fmt.Errorf("additive: a kernel for each of %d columns; at most %d", dim, maxParts)
	}
	return a.sum(dim).checkDim(dim)
}

// Additive implements the methods of Kernel by the sum.

func (a Additive) Params(dim int) []param.Spec     { return a.sum(dim).Params(dim) }
func (a Additive) Memory(n, m, dim int) int64      { return a.sum(dim).Memory(n, m, dim) }
func (a Additive) Fill(dst Block, theta []float64) { a.sum(dst.X.Dim()).Fill(dst, theta) }
func (a Additive) Pull(grad, theta []float64, own, g Block) {
	a.sum(g.X.Dim()).Pull(grad, theta, own, g)
}
