package prior

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Pairs are numbers of every case for every pair of classes, such as weights on the covariances of
// two latent values of a case.
type Pairs struct {
	classes, n int
	data       []float64
	diagonal   bool // the numbers of two different classes are 0
}

// NewPairs are zeros.
func NewPairs(classes, n int) Pairs {
	return Pairs{classes: classes, n: n, data: make([]float64, classes*classes*n)}
}

// Diagonal has the numbers x, Cn, for the pairs of a class with itself.
func Diagonal(x []float64, n int) Pairs {
	p := NewPairs(len(x)/n, n)
	p.diagonal = true
	for c := range p.classes {
		copy(p.Of(c, c), x[c*n:(c+1)*n])
	}
	return p
}

// Scaled are the numbers times a factor.
func (p Pairs) Scaled(factor float64) Pairs {
	p.data = slices.Clone(p.data)
	floats.Scale(factor, p.data)
	return p
}

// Of are the numbers of two classes, n, and At points to the number of a case.
func (p Pairs) Of(c, d int) []float64   { return p.data[(c*p.classes+d)*p.n : (c*p.classes+d+1)*p.n] }
func (p Pairs) At(c, d, i int) *float64 { return &p.data[(c*p.classes+d)*p.n+i] }

// each calls visit for every pair of classes whose numbers may be nonzero.
func (p Pairs) each(visit func(c, d int, numbers []float64)) {
	for c := range p.classes {
		for d := range p.classes {
			if c == d || !p.diagonal {
				visit(c, d, p.Of(c, d))
			}
		}
	}
}
