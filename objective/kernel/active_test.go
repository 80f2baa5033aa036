package kernel_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/testing/allocated"
	_ "github.com/gpc-tune/gpc-tune/internal/testing/garbage"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// TestMemoryOfColumns: a kernel of some columns takes the memory that it takes on these columns alone, plus a copy of
// them. With 100 of 200 columns the copies are larger than the covariances.
func TestMemoryOfColumns(t *testing.T) {
	const n, m, dim = 100, 150, 200
	dims := make([]int, 100)
	for j := range dims {
		dims[j] = 2*j + 1
	}
	x, z := normals(n, dim, 1), normals(m, dim, 2)
	k := kernel.Active{Dims: dims, Named: kernel.Named{Kind: "linear", Kernel: kernel.Linear{}}}
	theta := make([]float64, len(k.Params(dim)))
	cross := mat.NewDense(n, m, nil)
	kept, passing := allocated.Large(func() any {
		x, z := &kernel.Inputs{X: x.X}, &kernel.Inputs{X: z.X}
		kernel.Cross(k, cross, theta, x, z)
		return []*kernel.Inputs{x, z}
	})
	got, stated := float64(kept+passing), float64(k.Memory(n, m, dim)-k.Kernel.Memory(n, m, len(dims)))
	if math.Abs(got-stated) > 0.1*stated {
		t.Errorf("the columns take %v bytes, stated %v", got, stated)
	}
}
