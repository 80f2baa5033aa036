package objective

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// mostRepeated is the largest number of cases that Repeated makes.
const mostRepeated = 1 << 24

// count is the sum of the weights; without weights, the number of cases.
func (d Data) count() float64 {
	if d.Y.Weight == nil {
		return float64(d.X.N())
	}
	return floats.Sum(d.Y.Weight)
}

// times returns the data with case i repeated times[i] times. weight has a new weight for each case
// of d; nil: the data have no weights.
func (d Data) times(times []int, weight []float64) Data {
	n := 0
	for _, k := range times {
		n += k
	}
	x := mat.NewDense(n, d.X.Dim(), nil)
	own := d
	own.X, own.Y.Value, own.Y.Index, own.Y.Weight, own.Groups = &kernel.Inputs{X: x}, nil, nil, nil, nil
	row := 0
	for i, k := range times {
		for range k {
			x.SetRow(row, d.X.X.RawRowView(i))
			row++
			if d.Y.Value != nil {
				own.Y.Value = append(own.Y.Value, d.Y.Value[i])
			} else {
				own.Y.Index = append(own.Y.Index, d.Y.Index[i])
			}
			if d.Groups != nil {
				own.Groups = append(own.Groups, d.Groups[i])
			}
			if weight != nil {
				own.Y.Weight = append(own.Y.Weight, weight[i])
			}
		}
	}
	return own
}

// Present are the data without the cases of weight 0, and without weights if all are 1.
func (d Data) Present() Data {
	times, zero, one := make([]int, len(d.Y.Weight)), false, true
	for i, w := range d.Y.Weight {
		if times[i] = 1; w == 0 {
			times[i], zero = 0, true
		}
		one = one && (w == 0 || w == 1)
	}
	switch {
	case zero && one:
		return d.times(times, nil)
	case zero:
		return d.times(times, d.Y.Weight)
	case one:
		d.Y.Weight = nil
	}
	return d
}

// Repeated returns the data without weights, with a case of weight w repeated w times, one after
// the other. Weights that are not whole numbers are an error.
func (d Data) Repeated() (Data, error) {
	if d.Y.Weight == nil {
		return d, nil
	}
	times, sum := make([]int, len(d.Y.Weight)), 0.0
	for i, w := range d.Y.Weight {
		if sum += w; w != math.Trunc(w) {
			return d, fmt.Errorf("the weight in row %d (counted from 1) is %v; want whole numbers, which are so many "+
				"equal cases", i+1, w)
		}
		if sum > mostRepeated {
			return d, fmt.Errorf("the weights add up to more than %d equal cases", mostRepeated)
		}
		times[i] = int(w)
	}
	return d.times(times, nil), nil
}
