package cv

import (
	"cmp"
	"math"
	"slices"
)

// Curve is a function of predictions to plot.
type Curve struct {
	Name     string // name in YAML files and results
	Doc      string
	X, Y     string // titles of the axes
	Diagonal bool   // perfect predictions are on y = x
	Func     func(p Predictions, c Confidence) Series
}

// Series are the points of a curve; N is the number of predictions that each is computed from. Lo
// and Hi are the ends of a pointwise 95 % interval, NaN if there is none; together they are not a
// 95 % band for the whole curve. Both are nil if a curve has no intervals.
type Series struct {
	X  []float64 `json:"x"`
	Y  []float64 `json:"y"`
	N  []int     `json:"n"`
	Lo []float64 `json:"lo,omitempty"`
	Hi []float64 `json:"hi,omitempty"`
}

// Confidence measures how confident a prediction is; the smallest values are rejected first.
type Confidence struct {
	Name, Doc string
	Func      func(proba []float64) float64
}

func gap(proba []float64) float64 {
	ascending := slices.Sorted(slices.Values(proba))
	return ascending[len(ascending)-1] - ascending[len(ascending)-2]
}

// reject returns the mean of v over the remaining predictions, with an interval, as a function of
// the rejected fraction. Predictions with the least confidence are rejected first. Rows whose v is
// NaN are left out. The interval is limited by the mean of most, the largest possible values of v.
func reject(p Predictions, c Confidence, v, most []float64, interval func(*growing) (lo, hi float64)) Series {
	type row struct {
		sure, v, most, weight float64
		of                    int // the independent unit
	}
	var rows []row
	for i := range v {
		r := row{v: v[i], most: most[i], weight: p.weight(i), of: p.Units()[i]}
		if p.Confidence == nil {
			r.sure = c.Func(p.Proba.RawRowView(i))
		} else {
			r.sure = p.Confidence[i]
		}
		if !math.IsNaN(r.v) {
			rows = append(rows, r)
		}
	}
	// The most confident first. Rows with equal confidence are ordered by v, so that sums are
	// bit-identical for every order of the cases.
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.sure, a.sure), cmp.Compare(a.v, b.v), cmp.Compare(a.of, b.of))
	})
	total := 0.0
	for _, r := range rows {
		total += r.weight
	}
	var s Series
	left, certain := growing{cases: map[int]ofCase{}}, 0.0
	for i, r := range rows {
		left.add(r.of, r.v, r.weight)
		certain += r.weight * r.most
		if i+1 == len(rows) || rows[i+1].sure != r.sure {
			lo, hi := interval(&left)
			s.X = append(s.X, (total-left.weight)/total)
			s.Y = append(s.Y, left.mean)
			s.N = append(s.N, left.rows)
			s.Lo = append(s.Lo, lo)
			s.Hi = append(s.Hi, math.Min(hi, math.Max(certain/left.weight, left.mean))) // keeps NaN
		}
	}
	for _, x := range [][]float64{s.X, s.Y, s.Lo, s.Hi} {
		slices.Reverse(x)
	}
	slices.Reverse(s.N)
	return s
}
