package kernel

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// combination is a kernel made of other kernels.
type combination interface {
	Kernel
	// parts lists the kernels, and the number of columns of each if the inputs have dim columns.
	parts(dim int) ([]Named, int)
	// with returns the same combination of other kernels.
	with(parts []Named) Kernel
	// path is the part of a name between the combination's own prefix and the hyperparameter.
	// holder is the kind of the kernel that holds the combination. Sums and products have none: the
	// names of their components follow.
	path(holder string) string
	checkDim(dim int) error
}

// isChoice reports whether k stands for one of its parts, chosen by a hyperparameter.
func isChoice(k Kernel) bool {
	_, is := k.(interface{ chooses() })
	return is
}

// Leaf is a kernel that is no combination, with its number of input columns.
type Leaf struct {
	Kernel
	Dim   int
	Share float64 // fraction of evaluations: 1, or 1/n in a choice among n kernels
}

// Leaves lists the kernels that k combines; k itself if it is no combination.
func Leaves(k Kernel, dim int) (all []Leaf) {
	c, ok := k.(combination)
	if !ok {
		return []Leaf{{k, dim, 1}}
	}
	share := 1.0
	parts, dim := c.parts(dim)
	if isChoice(k) {
		share /= float64(len(parts))
	}
	for _, p := range parts {
		for _, leaf := range Leaves(p.Kernel, dim) {
			leaf.Share *= share
			all = append(all, leaf)
		}
	}
	return all
}

// count is the number of k's hyperparameters on inputs with dim columns.
func count(k Kernel, dim int) (n int) {
	switch c := k.(type) {
	case combination:
		parts, dim := c.parts(dim)
		for _, p := range parts {
			n += count(p.Kernel, dim)
		}
		if isChoice(k) {
			n++
		}
	case Configurable:
		for _, s := range c.Settings() {
			if n++; s.PerColumn {
				n += dim - 1
			}
		}
	default:
		n = len(k.Params(dim))
	}
	return n
}

// CheckDim reports whether k can be used on inputs with dim columns; the error names each kernel
// that cannot. Kernels without a limit can always be used.
func CheckDim(k Kernel, dim int) error {
	if c, ok := k.(combination); ok {
		return c.checkDim(dim)
	}
	return nil
}

// Named is a kernel inside a combination, with its name in Table, which becomes part of the names
// of its hyperparameters. Combinations need no Kind.
type Named struct {
	Kind   string
	Kernel Kernel
}

// path is the kernel's component in the names of hyperparameters. A kernel without a Kind has the
// kind of its holder, for example of an Active or a Tied.
func (n Named) path(holder string) string {
	kind := cmp.Or(n.Kind, holder)
	if c, ok := n.Kernel.(combination); ok {
		return c.path(kind)
	}
	if kind == "" {
		return ""
	}
	return kind + "."
}

// params names every hyperparameter of a sum or a product by position and kind,
// "1.se.length_scale", or, inside a combination of combinations, by the positions and the kind:
// "1.2.se.length_scale".
func params(parts []Named, dim int) (all []param.Spec) {
	for i, p := range parts {
		all = append(all, p.params(i, dim)...)
	}
	return all
}

// params are the hyperparameters of part i of a combination, with their paths.
func (n Named) params(i, dim int) (all []param.Spec) {
	for _, s := range n.Kernel.Params(dim) {
		all = append(all, s.Within(strconv.Itoa(i+1)+"."+n.path("")))
	}
	return all
}

// split cuts theta or grad into the kernels' own.
func split(parts []Named, v []float64, dim int) (own [][]float64) {
	for _, p := range parts {
		n := count(p.Kernel, dim)
		own, v = append(own, v[:n]), v[n:]
	}
	return own
}

// memory is the sum of the kernels' memory.
func memory(parts []Named, n, m, dim int) (sum int64) {
	for _, p := range parts {
		sum += p.Kernel.Memory(n, m, dim)
	}
	return sum
}

// maxParts limits the parts of a sum or a product.
const maxParts = 1000

// checkCount returns an error if a combination has no kernels or too many.
func checkCount(what string, n int) error {
	switch {
	case n == 0:
		return fmt.Errorf("%s needs a list of kernels, as in {%s: [se, noise]}", what, what)
	case n > maxParts:
		return fmt.Errorf("a %s of %d kernels; at most %d", what, n, maxParts)
	}
	return nil
}

// checkParts returns an error for every kernel that cannot be used on inputs with dim columns; what
// is the combination's name.
func checkParts(what string, parts []Named, dim int) error {
	if len(parts) == 0 {
		return fmt.Errorf("%s: no kernels; give at least one", what)
	}
	var errs []error
	for i, p := range parts {
		if err := CheckDim(p.Kernel, dim); err != nil {
			errs = append(errs, fmt.Errorf("%s, kernel %d: %w", what, i+1, err))
		}
	}
	return errors.Join(errs...)
}

// PerClass declares that the latent function of each class has this kernel, with separate
// hyperparameters. It cannot stand inside another kernel. A model replaces it by one kernel for
// each class.
type PerClass struct{ Kernel }

func (p PerClass) checkOptions() error {
	if p.Kernel == nil {
		return errors.New("per_class needs a kernel, as in {per_class: se}")
	}
	return nil
}
