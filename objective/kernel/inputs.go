package kernel

import "gonum.org/v1/gonum/mat"

// Inputs is a set of cases: the n×d matrix X. What many theta share (squared distances, inner products) is computed at
// most once and kept, safely for concurrent use.
type Inputs struct {
	X *mat.Dense
}

// N is the number of cases.
func (x *Inputs) N() int { n, _ := x.X.Dims(); return n }

// Dim is the number of input columns.
func (x *Inputs) Dim() int { _, d := x.X.Dims(); return d }
