package cv

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Loss has the cost of every decision: L[c][d] is that of deciding for class d where class c is the
// truth.
type Loss [][]float64

// ZeroOne is the loss under which every error costs 1.
func ZeroOne(classes int) Loss {
	l := make(Loss, classes)
	for c := range l {
		l[c] = make([]float64, classes)
		for d := range l[c] {
			if c != d {
				l[c][d] = 1
			}
		}
	}
	return l
}

// Decide is the decision of least expected loss Σ_c L[c][d] p(c), GPML 3.1.1, and that loss. A tie
// goes to the first class, in natural order.
func (l Loss) Decide(proba []float64) (decision int, expected float64) {
	risk := make([]float64, len(l))
	for c, p := range proba {
		floats.AddScaled(risk, p, l[c])
	}
	decision = floats.MinIdx(risk)
	return decision, risk[decision]
}

// Costs are those of decisions: for a class, and for none.
type Costs struct {
	Loss   Loss
	Reject *float64 // nil: one class is always decided for
}

// Rejected is the decision for no class.
const Rejected = -1

// Decide is the decision of least expected cost, and that cost. A tie goes to deciding for a class.
func (c Costs) Decide(proba []float64) (decision int, expected float64) {
	decision, expected = c.Loss.Decide(proba)
	if c.Reject != nil && *c.Reject < expected {
		return Rejected, *c.Reject
	}
	return decision, expected
}

// Of is what a decision costs where class truth is the truth.
func (c Costs) Of(truth, decision int) float64 {
	if decision == Rejected {
		return *c.Reject
	}
	return c.Loss[truth][decision]
}

// Decisions are the decisions of least expected cost on m cases, and what they cost.
type Decisions struct {
	Loss      Estimate // mean cost of a case
	Expected  float64  // the mean of what the predictions say that it will be
	Likeliest float64  // mean cost of deciding for the class of largest probability instead
	Rejected  int
	Table     [][]int // C×(C+1): cases of class i that were decided to be class j, and, last, none
}

// Decisions makes them. The predictions are of classes.
func (c Costs) Decisions(p Predictions) Decisions {
	m, classes := p.Proba.Dims()
	d := Decisions{Table: counts(classes, classes+1)}
	cost, expected, likeliest := make([]float64, m), make([]float64, m), make([]float64, m)
	for i, truth := range p.Labels {
		row := p.Proba.RawRowView(i)
		var decision int
		decision, expected[i] = c.Decide(row)
		cost[i], likeliest[i] = c.Of(truth, decision), c.Loss[truth][Decide(row)]
		if decision == Rejected {
			d.Rejected++
			decision = classes
		}
		d.Table[truth][decision]++
	}
	d.Loss = mean(cost, p.Cases)
	d.Expected, d.Likeliest = stat.Mean(expected, nil), stat.Mean(likeliest, nil)
	return d
}

// Extremes are the least and the largest probability of the last class.
func (p Predictions) Extremes() (lo, hi float64) {
	_, classes := p.Proba.Dims()
	last := mat.Col(nil, classes-1, p.Proba)
	return slices.Min(last), slices.Max(last)
}
