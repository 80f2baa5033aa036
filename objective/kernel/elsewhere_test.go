package kernel_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/kernel/kerneltest"
)

// angular is a kernel as another package would define it, k(x, x') = σ² (1 + x·x')/√((1 + |x|²)(1 + |x'|²)).
type angular struct{}

func (angular) Params(int) []param.Spec {
	return []param.Spec{param.Setting{}.Spec("amplitude", param.Log, 1)}
}

func (angular) Memory(n, m, dim int) int64 { return 0 }

func (angular) Fill(dst kernel.Block, theta []float64) {
	for i := range dst.Rows() {
		x, row := dst.X.X.RawRowView(i), dst.Row(i)
		for j := range row {
			z := dst.Z.X.RawRowView(dst.First(i) + j)
			row[j] = math.Exp(2*theta[0]) * (1 + floats.Dot(x, z)) /
				math.Sqrt((1+floats.Dot(x, x))*(1+floats.Dot(z, z)))
		}
	}
}

func (k angular) Pull(grad, theta []float64, _, g kernel.Block) {
	for i := range g.Rows() {
		x := g.X.X.RawRowView(i)
		for j, v := range g.Row(i) {
			z := g.Z.X.RawRowView(g.First(i) + j)
			grad[0] += 2 * g.Weight(j) * v * math.Exp(2*theta[0]) * (1 + floats.Dot(x, z)) /
				math.Sqrt((1+floats.Dot(x, x))*(1+floats.Dot(z, z)))
		}
	}
}

// TestKernelOfAnotherPackage: the exported parts of a block are enough to define a kernel, alone and combined.
func TestKernelOfAnotherPackage(t *testing.T) {
	kerneltest.Check(t, angular{}, 3)
	kerneltest.Check(t, kernel.Sum{noise, {Kind: "angular", Kernel: kernel.Product{named("angular", angular{}), se}}}, 3)
}
