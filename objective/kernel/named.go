package kernel

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Named is a kernel inside a combination, with its name in Table, which becomes part of the names of its
// hyperparameters. Combinations need no Kind.
type Named struct {
	Kind   string
	Kernel Kernel
}

// path is the kernel's component in the names of hyperparameters. Combinations have none: the components of what they
// combine follow.
func (n Named) path() string {
	switch k := n.Kernel.(type) {
	case Sum, Product:
		return ""
	case Active:
		return k.path()
	}
	return n.Kind + "."
}

// Leaf is a kernel of which others are made, with the number of columns that it sees.
type Leaf struct {
	Kernel
	Dim int
}

// Leaves lists the kernels that k is made of, k itself if it is no combination.
func Leaves(k Kernel, dim int) (leaves []Leaf) {
	switch k := k.(type) {
	case Sum:
		for _, p := range k {
			leaves = append(leaves, Leaves(p.Kernel, dim)...)
		}
	case Product:
		for _, p := range k {
			leaves = append(leaves, Leaves(p.Kernel, dim)...)
		}
	case Active:
		return Leaves(k.Kernel, len(k.Dims))
	default:
		return []Leaf{{k, dim}}
	}
	return leaves
}

// parts is the kernels of a sum or a product; theta is theirs in order.
type parts []Named

// params names every hyperparameter by position and kind, "1.se.length_scale", or, inside a combination of
// combinations, by the positions and the kind: "1.2.se.length_scale".
func (ps parts) params(dim int) []param.Spec {
	var out []param.Spec
	for i, p := range ps {
		for _, s := range p.Kernel.Params(dim) {
			s.Name = strconv.Itoa(i+1) + "." + p.path() + s.Name
			out = append(out, s)
		}
	}
	return out
}

// split cuts theta or grad into the kernels' own.
func (ps parts) split(what string, v []float64, dim int) [][]float64 {
	own, at := make([][]float64, len(ps)), 0
	for i, p := range ps {
		next := at + len(p.Kernel.Params(dim))
		if next > len(v) {
			panic(fmt.Sprintf("kernel: len(%s) = %d, want %d or more", what, len(v), next))
		}
		own[i], at = v[at:next], next
	}
	checkLen(what, len(v), at)
	return own
}

// memory is that of the kernels one by one.
func (ps parts) memory(n, m, dim int) (sum int64) {
	for _, p := range ps {
		sum += p.Kernel.Memory(n, m, dim)
	}
	return sum
}

// check says which of the kernels cannot be used on inputs with dim columns; what is the combination's name.
func (ps parts) check(what string, dim int) error {
	if len(ps) == 0 {
		return fmt.Errorf("%s: no kernels; give at least one", what)
	}
	var errs []error
	for i, p := range ps {
		if err := CheckDim(p.Kernel, dim); err != nil {
			errs = append(errs, fmt.Errorf("%s, kernel %d: %w", what, i+1, err))
		}
	}
	return errors.Join(errs...)
}
