// Package inducing chooses inducing inputs Z where n cases are too many for an n×n covariance. The
// values of the process at the m inputs Z determine all others approximately, by
//
//	Q = K_xz K_zz⁻¹ K_zx
//
// in place of K_xx: O(n m²) operations in place of O(n³) (J. Quiñonero-Candela and C. E. Rasmussen,
// A unifying view of sparse approximate Gaussian process regression, JMLR 6, 2005).
//
// A method is a file and its line in Table. For the same arguments it returns the same Z, with any
// number of threads, in at most O(n m) memory. It uses neither labels nor approximations.
package inducing

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Method chooses inducing inputs.
type Method interface {
	// Select chooses up to m > 0 different inducing inputs for the n×d cases x and the kernel at
	// theta. If they are fewer, Choice.Fewer has the reason. It is an error if ctx ends, or if the
	// method needs the kernel's variances and these are not finite or none is positive.
	Select(ctx context.Context, k kernel.Kernel, theta []float64, x *kernel.Inputs, m int,
		seed uint64) (Choice, error)
}

// Choice holds the inducing inputs that a method has chosen.
type Choice struct {
	Z *mat.Dense // a row for each inducing input, in the units of x
	// Cases are the rows of x that were chosen, in this order; nil if the inducing inputs are not
	// cases.
	Cases []int
	Fewer cause.Notice // why there are fewer than were asked for; zero if there are not
}

// chosen makes the Choice of these cases of x; why is the reason if they are fewer than m.
func chosen(x *kernel.Inputs, cases []int, m int, why string) Choice {
	c := Choice{Z: mat.NewDense(len(cases), x.Dim(), nil), Cases: cases}
	for row, i := range cases {
		c.Z.SetRow(row, x.X.RawRowView(i))
	}
	return c.of(m, why)
}

// of sets Fewer if there are fewer than m inducing inputs.
func (c Choice) of(m int, why string) Choice {
	if found, _ := c.Z.Dims(); found < m {
		c.Fewer = cause.FewerInducing.New("%d of %d inducing inputs: %s", found, m, why)
	}
	return c
}

// partSize is the number of cases that a thread takes at a time. It determines the order of
// summation, and so the last bits of results.
const partSize = 2048

// parts is the number of parts of at most most cases into which n cases are divided.
func parts(n, most int) int { return (n + most - 1) / most }

// inParts runs work for the cases from i0 to i1 of every part of n, which threads share.
func inParts(n, most int, work func(part, i0, i1 int)) {
	linalg.Parallel(parts(n, most), func(part int) { work(part, part*most, min(n, (part+1)*most)) })
}

// rows views the cases from i0 to i1.
func rows(x *kernel.Inputs, i0, i1 int) *kernel.Inputs {
	return &kernel.Inputs{X: x.X.Slice(i0, i1, 0, x.Dim()).(*mat.Dense)}
}
