package approx

import "github.com/gpc-tune/gpc-tune/approx/prior"

// Work is memory that fits use one after the other. The start of a fit invalidates the Posterior of
// the previous one.
type Work = prior.Work

// In returns m with its fits in w, or m itself if it does not use a Work.
func In(w *Work, m Approximation) Approximation {
	if i, ok := m.(interface{ in(*Work) Approximation }); ok {
		return i.in(w)
	}
	return m
}

// Spare is the number of bytes that a fit of m leaves free in a Work for later computations.
func Spare(m Approximation, s Size) int64 {
	if _, ok := m.(interface{ in(*Work) Approximation }); !ok {
		return 0
	}
	s.New = 0
	return m.Memory(s).Fit.Passing
}
