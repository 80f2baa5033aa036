package kernel

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Remember is k for evaluations one after the other, as along a row of a grid: while of a kernel in
// it only the amplitude changes, that kernel's covariances are scaled and not computed anew. It
// keeps as many covariances of n cases with themselves and with m others as Remembered says, and is
// not safe for concurrent use.
func Remember(k Kernel) Kernel {
	if c, ok := k.(combination); ok {
		return c.with(Remember)
	}
	if l, ok := k.(leaf); ok && scales(l) {
		return &memo{leaf: l}
	}
	return k
}

// Remembered is how many covariances Remember(k) keeps, each of n² + n·m numbers.
func Remembered(k Kernel) (n int) {
	for _, l := range Leaves(k, 1) {
		if l, ok := l.Kernel.(leaf); ok && scales(l) {
			n++
		}
	}
	return n
}

type leaf interface {
	Kernel
	Configurable
}

// scales says whether k is better scaled than computed: it has an amplitude, and takes memory to
// compute, as what is one pass over the covariances does not.
func scales(k leaf) bool { return k.Settings()[0].Name == amplitudeName && k.Memory(1, 1, 1) > 0 }

// memo is a kernel that keeps the last covariances at amplitude 1, once they are wanted again.
type memo struct {
	leaf
	upper, whole unit
}

// unit is a covariance at amplitude 1.
type unit struct {
	of   Block     // no matrix yet, or one that full says holds the covariances
	rest []float64 // theta but for the amplitude
	full bool
}

// Fill implements Kernel.
func (m *memo) Fill(dst Block, theta []float64) {
	u := &m.whole
	if dst.shape == upper {
		u = &m.upper
	}
	sameCases := dst.X == u.of.X && dst.Z == u.of.Z
	if dst.shape == diagonal || !sameCases || !slices.Equal(theta[1:], u.rest) {
		m.leaf.Fill(dst, theta)
		if dst.shape != diagonal {
			if !sameCases {
				u.of = Block{X: dst.X, Z: dst.Z}
			}
			u.rest, u.full = append(u.rest[:0], theta[1:]...), false
		}
		return
	}
	if !u.of.known() {
		u.of = dst.like()
	}
	if !u.full {
		m.leaf.Fill(u.of, append([]float64{0}, u.rest...))
		u.full = true
	}
	for i := range dst.Rows() {
		floats.ScaleTo(dst.Row(i), variance(theta[0]), u.of.Row(i))
	}
}
