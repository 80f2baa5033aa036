package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// TestRemember compares every kernel with its remembering version, on a path that changes the amplitude in every
// step, and sometimes all of theta or the inputs.
func TestRemember(t *testing.T) {
	const dim = 3
	rng := rand.New(rand.NewPCG(5, 6))
	inputs := func(n int) *kernel.Inputs {
		x := mat.NewDense(n, dim, nil)
		for i := range n {
			for j := range dim {
				x.Set(i, j, rng.NormFloat64())
			}
		}
		return &kernel.Inputs{X: x}
	}
	kernels := map[string]kernel.Kernel{
		"sum":    kernel.Sum{{Kind: "se", Kernel: kernel.SE{}}, {Kind: "noise", Kernel: kernel.Noise{}}},
		"active": kernel.Active{Dims: []int{3, 1}, Named: kernel.Named{Kind: "se", Kernel: kernel.SE{ARD: true}}},
	}
	for _, e := range kernel.Table {
		kernels[e.Name], _ = e.New(nil)
	}
	for name, k := range kernels {
		remembered := kernel.Remember(k)
		x, z := inputs(7), inputs(5)
		theta := make([]float64, len(k.Params(dim)))
		for step := range 16 {
			theta[0] = rng.NormFloat64()
			switch step {
			case 5, 11:
				for j := range theta {
					theta[j] = rng.NormFloat64() / 2
				}
			case 8:
				x = inputs(9)
			case 14:
				z = inputs(6)
			}
			gram, want := mat.NewSymDense(x.N(), nil), mat.NewSymDense(x.N(), nil)
			kernel.Gram(remembered, gram, theta, x)
			kernel.Gram(k, want, theta, x)
			same(t, fmt.Sprintf("%s, step %d: Gram", name, step), gram, want)
			cross, wantCross := mat.NewDense(x.N(), z.N(), nil), mat.NewDense(x.N(), z.N(), nil)
			kernel.Cross(remembered, cross, theta, x, z)
			kernel.Cross(k, wantCross, theta, x, z)
			same(t, fmt.Sprintf("%s, step %d: Cross", name, step), cross, wantCross)
		}
	}
}

// counted is a kernel that counts how often it fills covariances.
type counted struct {
	kernel.SE
	fills *int
}

func (c counted) Fill(dst kernel.Block, theta []float64) {
	*c.fills++
	c.SE.Fill(dst, theta)
}

// Covariances are computed when the other hyperparameters or the inputs change, once more to be
// kept, and not again while only the amplitude changes; variances are always computed.
func TestRememberedIsNotComputedAnew(t *testing.T) {
	fills := 0
	k := kernel.Remember(counted{fills: &fills})
	x := &kernel.Inputs{X: mat.NewDense(4, 1, []float64{0, 1, 3, 4})}
	z := &kernel.Inputs{X: mat.NewDense(2, 1, []float64{2, 5})}
	for _, of := range []func(theta []float64){
		func(theta []float64) { kernel.Gram(k, mat.NewSymDense(4, nil), theta, x) },
		func(theta []float64) { kernel.Cross(k, mat.NewDense(4, 2, nil), theta, x, z) },
	} {
		for _, length := range []float64{0.5, -1} {
			for i, want := range []int{1, 2, 2, 2, 2} {
				if i == 0 {
					fills = 0
				}
				if of([]float64{float64(i), length}); fills != want {
					t.Errorf("length scale %v: computed %d times in %d evaluations, want %d", length, fills, i+1, want)
				}
			}
		}
	}
}

// same allows a few rounding errors.
func same(t *testing.T, what string, got, want mat.Matrix) {
	t.Helper()
	r, c := want.Dims()
	for i := range r {
		for j := range c {
			if g, w := got.At(i, j), want.At(i, j); math.Abs(g-w) > 4e-16*math.Abs(w) {
				t.Fatalf("%s[%d,%d] = %v, want %v", what, i, j, g, w)
			}
		}
	}
}
