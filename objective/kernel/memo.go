package kernel

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// amplified kernels are σ² times a function of the rest of theta, σ = e^theta[0].
type amplified interface{ amplified() }

func (Stationary[P]) amplified() {}
func (Linear) amplified()        {}
func (Polynomial) amplified()    {}
func (Periodic) amplified()      {}
func (NeuralNetwork) amplified() {}

// Memo is a kernel for evaluations one after the other, as along a row of a grid: while only the amplitude changes, its
// covariances are scaled and not computed anew. It keeps up to n² + n·m numbers, and is not safe for concurrent use.
type Memo struct {
	Kernel
	gram, cross unit
}

// unit is a covariance at amplitude 1.
type unit struct {
	x, z *Inputs
	rest []float64 // of theta
	data []float64
	full bool // whether data holds it
}

// Remember is k with a memory, or k itself where that would be of no use.
func Remember(k Kernel) Kernel {
	leaf := k
	if a, ok := k.(Active); ok {
		leaf = a.Kernel
	}
	if _, ok := leaf.(amplified); !ok {
		return k
	}
	return &Memo{Kernel: k}
}

// again says whether the covariance at amplitude 1 is that of the call before, and notes which it is.
func (u *unit) again(rest []float64, x, z *Inputs) bool {
	if x == u.x && z == u.z && slices.Equal(rest, u.rest) {
		return true
	}
	u.x, u.z, u.rest, u.full = x, z, append(u.rest[:0], rest...), false
	return false
}

// scale sets dst to σ² times the covariance at amplitude 1, which compute makes of its theta where it is not there yet.
func (u *unit) scale(dst block, theta []float64, compute func(data, theta []float64)) {
	if !u.full {
		if n := dst.rows * dst.cols; cap(u.data) < n {
			u.data = linalg.Floats(n)
		}
		compute(u.data[:dst.rows*dst.cols], append([]float64{0}, u.rest...))
		u.full = true
	}
	from, v := dst, variance(theta[0])
	from.data, from.stride = u.data, dst.cols
	for i := range dst.rows {
		floats.ScaleTo(dst.row(i), v, from.row(i))
	}
}

// Gram implements Kernel.
func (m *Memo) Gram(dst *mat.SymDense, theta []float64, x *Inputs) {
	if !m.gram.again(theta[1:], x, nil) {
		m.Kernel.Gram(dst, theta, x)
		return
	}
	m.gram.scale(triangle(dst, x), theta, func(data, theta []float64) { m.Kernel.Gram(mat.NewSymDense(x.N(), data), theta, x) })
}

// Cross implements Kernel.
func (m *Memo) Cross(dst *mat.Dense, theta []float64, x, z *Inputs) {
	if !m.cross.again(theta[1:], x, z) {
		m.Kernel.Cross(dst, theta, x, z)
		return
	}
	m.cross.scale(full(dst, x, z), theta, func(data, theta []float64) { m.Kernel.Cross(mat.NewDense(x.N(), z.N(), data), theta, x, z) })
}
