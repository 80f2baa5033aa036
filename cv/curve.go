package cv

import (
	"cmp"
	"math"
	"slices"
)

// Curve is a way to draw predictions.
type Curve struct {
	Name     string // as in YAML files and results
	Doc      string
	X, Y     string // what the axes show
	Diagonal bool   // perfect is y = x
	Func     func(p Predictions, c Confidence) Series
}

// Series are the points of a curve; N is the number of predictions behind each. Lo and Hi are the
// ends of a 95 % interval at each point by itself, NaN where there is none: they are no band that
// holds the whole curve with 95 %. Both are nil where a curve has no intervals.
type Series struct {
	X  []float64 `json:"x"`
	Y  []float64 `json:"y"`
	N  []int     `json:"n"`
	Lo []float64 `json:"lo,omitempty"`
	Hi []float64 `json:"hi,omitempty"`
}

// Confidence measures how sure a prediction is: the smaller, the sooner it is rejected.
type Confidence struct {
	Name, Doc string
	Func      func(proba []float64) float64
}

func gap(proba []float64) float64 {
	ascending := slices.Sorted(slices.Values(proba))
	return ascending[len(ascending)-1] - ascending[len(ascending)-2]
}

// reject is the mean of v over the predictions that are left when those of least confidence are
// rejected, with an interval, which ends at the mean of most, the largest values that v can have.
func reject(p Predictions, c Confidence, v, most []float64, interval func(*growing) (lo, hi float64)) Series {
	type row struct {
		sure, v, most float64
		of            int // case
	}
	rows := make([]row, len(v))
	for i := range v {
		rows[i] = row{v: v[i], most: most[i], of: p.Cases[i]}
		if p.Confidence == nil {
			rows[i].sure = c.Func(p.Proba.RawRowView(i))
		} else {
			rows[i].sure = p.Confidence[i]
		}
	}
	// The surest first. Equally sure rows are put in the order of v, so that sums have the same
	// bits in every order of the cases.
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.sure, a.sure), cmp.Compare(a.v, b.v), cmp.Compare(a.of, b.of))
	})
	var s Series
	left, certain := growing{cases: map[int]ofCase{}}, 0.0
	for i, r := range rows {
		left.add(r.of, r.v)
		certain += r.most
		if i+1 == len(rows) || rows[i+1].sure != r.sure {
			lo, hi := interval(&left)
			s.X = append(s.X, float64(len(rows)-left.rows)/float64(len(rows)))
			s.Y = append(s.Y, left.mean)
			s.N = append(s.N, left.rows)
			s.Lo = append(s.Lo, lo)
			s.Hi = append(s.Hi, math.Min(hi, math.Max(certain/float64(left.rows), left.mean))) // NaN stays
		}
	}
	for _, x := range [][]float64{s.X, s.Y, s.Lo, s.Hi} {
		slices.Reverse(x)
	}
	slices.Reverse(s.N)
	return s
}
