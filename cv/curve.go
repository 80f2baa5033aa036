package cv

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Curve is a way to draw predictions.
type Curve struct {
	Name string // as in YAML files and results
	Doc  string
	X, Y string // what the axes show
	// Diagonal: perfect is y = x.
	Diagonal bool
	Func     func(p Predictions, c Confidence) Series
}

// Series are the points of a curve; N is the number of predictions behind each.
type Series struct {
	X []float64 `json:"x"`
	Y []float64 `json:"y"`
	N []int     `json:"n"`
}

// Curves lists the curves. In both reject curves the least sure predictions are rejected first, equally sure ones all
// together; so there is a point for x = 0 and one after each group but the last, and the order of the cases does not
// matter. N is the number of predictions that are left.
var Curves = []Curve{
	{
		Name: "error_reject", X: "share rejected", Y: "error rate of the rest",
		Doc: "error rate against the share of the cases that are rejected, the least sure first",
		Func: func(p Predictions, c Confidence) Series {
			return reject(p, c, p.wrong())
		},
	},
	{
		Name: "information_reject", X: "share rejected", Y: "test information of the rest, bits per case",
		Doc: "test information against the share of the cases that are rejected, the least sure first",
		Func: func(p Predictions, c Confidence) Series {
			return reject(p, c, p.information())
		},
	},
	{
		Name: "calibration", X: "mean largest probability", Y: "share of correct decisions", Diagonal: true,
		Doc:  "accuracy against confidence in the bins of ece, the empty ones left out",
		Func: func(p Predictions, _ Confidence) Series { return calibration(p) },
	},
}

// CurveNamed finds a curve.
func CurveNamed(name string) (Curve, error) {
	return named("curve", name, Curves, func(c Curve) string { return c.Name })
}

// Confidence measures how sure a prediction is: the smaller, the sooner it is rejected.
type Confidence struct {
	Name, Doc string
	Func      func(proba []float64) float64
}

// Confidences lists the measures of confidence.
var Confidences = []Confidence{
	{"max_probability", "the largest class probability", func(proba []float64) float64 { return floats.Max(proba) }},
	{"gap", "the difference of the two largest class probabilities", gap},
}

// ConfidenceNamed finds a measure of confidence.
func ConfidenceNamed(name string) (Confidence, error) {
	return named("confidence", name, Confidences, func(c Confidence) string { return c.Name })
}

func gap(proba []float64) float64 {
	ascending := slices.Sorted(slices.Values(proba))
	return ascending[len(ascending)-1] - ascending[len(ascending)-2]
}

// reject is the mean of v over the predictions that are left when those of least confidence are rejected.
func reject(p Predictions, c Confidence, v []float64) Series {
	type row struct{ sure, v float64 }
	rows := make([]row, len(v))
	for i := range v {
		if p.Confidence != nil {
			rows[i] = row{p.Confidence[i], v[i]}
		} else {
			rows[i] = row{c.Func(p.Proba.RawRowView(i)), v[i]}
		}
	}
	// The surest first. Equally sure rows are put in the order of v, so that sums have the same bits in every order of
	// the cases.
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(b.sure, a.sure), cmp.Compare(a.v, b.v)) })
	var s Series
	sum := 0.0
	for i, r := range rows {
		sum += r.v
		if left := i + 1; left == len(rows) || rows[left].sure != r.sure {
			s.X = append(s.X, float64(len(rows)-left)/float64(len(rows)))
			s.Y = append(s.Y, sum/float64(left))
			s.N = append(s.N, left)
		}
	}
	slices.Reverse(s.X)
	slices.Reverse(s.Y)
	slices.Reverse(s.N)
	return s
}
