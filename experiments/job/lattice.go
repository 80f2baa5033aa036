package job

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/preprocess"
	"github.com/gpc-tune/gpc-tune/record"
)

// lattice has the grid values along each of one or two raw inputs; empty: no lattice.
type lattice [][]float64

// lattice covers the range of the inputs, in the training data and the test file, extended by a
// tenth on both sides. There is none for more than two inputs, for categories, or if an input has
// too few or too many distinct values.
func (t *Set) lattice() (l lattice) {
	_, dim := t.Source.X.Dims()
	if dim > len(latticePoints) || slices.ContainsFunc(t.Source.Schema.Inputs,
		func(c data.Column) bool { return c.Levels != nil || c.Date != nil }) {
		return nil
	}
	for j := range dim {
		there := t.inputs(j)
		if test := t.Source.Test; test != nil {
			there = append(there, mat.Col(nil, j, test.X)...)
		}
		there = slices.DeleteFunc(there, math.IsNaN)
		if len(there) == 0 {
			return nil
		}
		lo, hi := slices.Min(there), slices.Max(there)
		margin := (hi - lo) / 10
		if lo == hi {
			margin = max(1, math.Abs(lo)) / 10
		}
		axis := floats.Span(make([]float64, latticePoints[dim-1]), lo-margin, hi+margin)
		for i, v := range axis[1:] {
			if !(axis[i] < v) || math.IsInf(v-axis[0], 0) {
				return nil
			}
		}
		l = append(l, axis)
	}
	return l
}

// size is the number of points of the lattice.
func (l lattice) size() int {
	n := min(len(l), 1)
	for _, axis := range l {
		n *= len(axis)
	}
	return n
}

// points are the points of the lattice in raw units, in rows along the first input.
func (l lattice) points() *mat.Dense {
	x := mat.NewDense(l.size(), len(l), nil)
	for i := range l.size() {
		x.Set(i, 0, l[0][i%len(l[0])])
		if len(l) > 1 {
			x.Set(i, 1, l[1][i/len(l[0])])
		}
	}
	return x
}

// surface records the predictions at the points of the lattice; nil without a lattice.
func (t *Set) surface(p *preprocess.Map, predict func(z *kernel.Inputs) Outcome) *record.Surface {
	l := t.lattice()
	if l == nil {
		return nil
	}
	points := l.points()
	o := predict(&kernel.Inputs{X: p.Apply(points)})
	s := &record.Surface{
		Names: t.Source.ColumnNames, Targets: record.Numbers(data.Pick(t.Source.Targets, t.Train)),
		Mean: record.Numbers(o.Mean), Variance: record.Numbers(o.Variance),
		LatentMean: lists(o.Means), LatentVariance: lists(o.Variances), Truth: lists(t.truth(points)),
	}
	for j, axis := range l {
		s.Axes, s.Inputs = append(s.Axes, record.Numbers(axis)), append(s.Inputs, record.Numbers(t.inputs(j)))
	}
	if classes := len(t.Source.Classes); classes == 2 {
		s.Proba = lists([][]float64{mat.Col(nil, 1, o.Proba)})
	} else {
		for c := range classes {
			s.Proba = append(s.Proba, record.Numbers(mat.Col(nil, c, o.Proba)))
		}
	}
	return s
}
