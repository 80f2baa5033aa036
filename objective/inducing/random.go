package inducing

import (
	"context"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Random draws cases without replacement, and passes over a case whose inputs equal the inputs of
// one already drawn.
type Random struct{}

// Select implements Method. Kernel and theta have no effect.
func (Random) Select(ctx context.Context, _ kernel.Kernel, _ []float64, x *kernel.Inputs, m int,
	seed uint64) (Choice, error) {
	var cases []int
	for _, i := range rand.New(param.Source(seed, 0)).Perm(x.N()) {
		if len(cases) == m {
			break
		}
		equal := func(k int) bool { return floats.Equal(x.X.RawRowView(i), x.X.RawRowView(k)) }
		if !slices.ContainsFunc(cases, equal) {
			cases = append(cases, i)
		}
	}
	return chosen(x, cases, m, "no other cases have other inputs"), ctx.Err()
}
