package kernel

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Remember is k for consecutive evaluations, as along a row of a grid. While only the amplitude of
// a kernel in k changes, that kernel's covariances are scaled and not computed again. It keeps
// Remembered(k) covariances of n cases with themselves and with m others. It is not safe for
// concurrent use.
func Remember(k Kernel) Kernel {
	if _, ok := k.(Additive); ok { // its kernels have common options
		return k
	}
	if c, ok := k.(combination); ok {
		parts, _ := c.parts(0)
		parts = slices.Clone(parts)
		for i, p := range parts {
			parts[i].Kernel = Remember(p.Kernel)
		}
		return c.with(parts)
	}
	if l, ok := k.(leaf); ok && scales(l) {
		return &memo{leaf: l}
	}
	return k
}

// Remembered is the number of covariances that Remember(k) keeps, each of n² + n·m numbers.
func Remembered(k Kernel) (n int) {
	for _, l := range Leaves(k, 1) {
		if l, ok := l.Kernel.(leaf); ok && scales(l) {
			n++
		}
	}
	return n
}

// leaf is a kernel of Table.
type leaf interface {
	Kernel
	Configurable
}

// scales reports whether scaling covariances of k is faster than computing them: k has an amplitude
// and needs memory. A kernel without memory is computed in one pass over the covariances.
func scales(k leaf) bool {
	settings := k.Settings()
	return len(settings) > 0 && settings[0].Name == amplitudeName && k.Memory(1, 1, 1) > 0
}

// memo is a kernel that keeps the last covariances at amplitude 1, from the second time that they
// are wanted.
type memo struct {
	leaf
	last [2]unit // the last whole matrix and the last triangle
}

// unit is a covariance at amplitude 1.
type unit struct {
	rest []float64 // theta without the amplitude
	of   Block     // its cases, and the covariances if full
	full bool
}

// Fill implements Kernel.
func (m *memo) Fill(dst Block, theta []float64) {
	if dst.shape == diagonal {
		m.leaf.Fill(dst, theta)
		return
	}
	u := &m.last[dst.shape]
	if dst.X != u.of.X || dst.Z != u.of.Z {
		*u = unit{of: Block{X: dst.X, Z: dst.Z}}
	}
	if u.rest == nil || !slices.Equal(theta[1:], u.rest) {
		m.leaf.Fill(dst, theta)
		u.rest, u.full = slices.Clone(theta[1:]), false
		return
	}
	if !u.of.known() {
		u.of = dst.like()
	}
	if !u.full {
		m.leaf.Fill(u.of, append([]float64{0}, u.rest...))
		u.full = true
	}
	v := variance(theta[0])
	dst.zip(u.of, func(dst, unit []float64) { floats.ScaleTo(dst, v, unit) })
}
