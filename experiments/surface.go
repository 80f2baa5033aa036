package experiments

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// lattice is the values along each of one or two raw inputs; none: there is no lattice.
type lattice [][]float64

// latticePoints are how many they are, for one input and for each of two.
var latticePoints = [...]int{201, 41}

// lattice covers the training cases, and those of a test file, with a tenth of their range to either side. There is none over
// more inputs, over categories, or where a range has too few numbers or too many.
func (t *trainingSet) lattice() (l lattice) {
	_, dim := t.source.X.Dims()
	if dim > len(latticePoints) || slices.ContainsFunc(t.source.Schema.Inputs, func(c data.Column) bool { return c.Levels != nil }) {
		return nil
	}
	for j := range dim {
		there := t.inputs(j)
		if test := t.source.Test; test != nil {
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

// inputs is a raw input of the training cases.
func (t *trainingSet) inputs(j int) (v []float64) {
	for _, row := range t.train {
		v = append(v, t.source.X.At(row, j))
	}
	return v
}

// size is the number of its points.
func (l lattice) size() int {
	n := min(len(l), 1)
	for _, axis := range l {
		n *= len(axis)
	}
	return n
}

// points are its points, raw, in rows along the first input.
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

// surface is the record of what is predicted at the points of the lattice; nil where there is none.
func (t *trainingSet) surface(p *data.Preprocessor, predict func(z *kernel.Inputs) outcome) *record.Surface {
	l := t.lattice()
	if l == nil {
		return nil
	}
	points := l.points()
	o := predict(&kernel.Inputs{X: p.Apply(points)})
	s := &record.Surface{
		Names: t.source.ColumnNames, Targets: record.Numbers(subset(t.source.Targets, t.train)), Mean: record.Numbers(o.Mean), Variance: record.Numbers(o.Variance),
		LatentMean: lists(o.means), LatentVariance: lists(o.variances), Truth: lists(t.truth(points)),
	}
	for j, axis := range l {
		s.Axes, s.Inputs = append(s.Axes, record.Numbers(axis)), append(s.Inputs, record.Numbers(t.inputs(j)))
	}
	if classes := len(t.source.Classes); classes == 2 {
		s.Proba = lists([][]float64{mat.Col(nil, 1, o.Proba)})
	} else {
		for c := range classes {
			s.Proba = append(s.Proba, record.Numbers(mat.Col(nil, c, o.Proba)))
		}
	}
	return s
}

// truth is what is true at raw inputs, where that is known: of the second of two classes, of every class, or of the mean.
func (t *trainingSet) truth(x *mat.Dense) (truth [][]float64) {
	if t.source.Truth == nil {
		return nil
	}
	n, _ := x.Dims()
	for i := range n {
		for k, v := range t.source.Truth(x.RawRowView(i)) {
			if i == 0 {
				truth = append(truth, make([]float64, n))
			}
			truth[k][i] = v
		}
	}
	if len(truth) == 2 {
		truth = truth[1:]
	}
	return truth
}

// lists are plain data.
func lists(v [][]float64) (out [][]record.Number) {
	for _, part := range v {
		out = append(out, record.Numbers(part))
	}
	return out
}

// labels are the classes of the training cases; none where the targets are numbers.
func (t *trainingSet) labels() []int { return subset(t.source.Labels, t.train) }
