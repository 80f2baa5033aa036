package kernel

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// Choice is one of several kernels. Its first hyperparameter chooses the kernel: a param.Choice
// with the name "choice" and a value for every kernel, its position and kind ("2.matern32"). After
// it come the kernels' own hyperparameters, named as in a sum, each with the condition that its
// kernel is chosen. Every theta is rounded to the nearest value, so that the derivative by the
// choice is 0.
type Choice []Named

func (c Choice) parts(dim int) ([]Named, int) { return c, dim }
func (c Choice) with(parts []Named) Kernel    { return Choice(parts) }
func (c Choice) path(string) string           { return "" }
func (c Choice) checkDim(dim int) error       { return checkParts("choice", c, dim) }
func (c Choice) chooses()                     {}

func (c Choice) checkOptions() error {
	if n := len(c); n < 2 || n > maxParts {
		return fmt.Errorf("choice needs a list of 2 to %d kernels, as in {choice: [se, matern32]}; found %d",
			maxParts, n)
	}
	return nil
}

// Params implements Kernel.
func (c Choice) Params(dim int) []param.Spec {
	var kinds []string
	for _, p := range c {
		kinds = append(kinds, p.Kind)
	}
	return param.OneOf(kinds, func(i int, _ string) []param.Spec { return c[i].params(i, dim) })
}

// chosen returns the kernel, its part of theta, and the position in theta at which this part
// begins.
func (c Choice) chosen(theta []float64, dim int) (k Kernel, own []float64, from int) {
	i, from := param.Chosen(theta, len(c), func(i int) int { return count(c[i].Kernel, dim) })
	return c[i].Kernel, theta[from:][:count(c[i].Kernel, dim)], from
}

// Memory implements Kernel: the largest among the kernels.
func (c Choice) Memory(n, m, dim int) (most int64) {
	for _, p := range c {
		most = max(most, p.Kernel.Memory(n, m, dim))
	}
	return most
}

func (c Choice) Fill(dst Block, theta []float64) {
	k, own, _ := c.chosen(theta, dst.X.Dim())
	k.Fill(dst, own)
}

func (c Choice) Pull(grad, theta []float64, own, g Block) {
	k, theta, from := c.chosen(theta, g.X.Dim())
	k.Pull(grad[from:][:len(theta)], theta, own, g)
}
