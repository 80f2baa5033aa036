package cv

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Loss has the cost of every decision: L[c][d] is the cost of deciding for class d if the true
// class is c.
type Loss [][]float64

// ZeroOne is the loss with cost 1 for every error.
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

// Decide returns the decision with the least expected loss Σ_c L[c][d] p(c), GPML 3.1.1, and that
// loss. Among equal losses the first class in natural order is chosen.
func (l Loss) Decide(proba []float64) (decision int, expected float64) {
	risk := l.expected(proba)
	decision = floats.MinIdx(risk)
	return decision, risk[decision]
}

// expected is the expected loss of every decision.
func (l Loss) expected(proba []float64) []float64 {
	risk := make([]float64, len(l))
	for c, p := range proba {
		floats.AddScaled(risk, p, l[c])
	}
	return risk
}

// Costs are the costs of decisions, including the decision to reject.
type Costs struct {
	Loss   Loss
	Reject *float64 // cost of rejecting; nil: no case is rejected
}

// Rejected is the decision to reject: no class is chosen.
const Rejected = -1

// Decide returns the decision with the least expected cost, and that cost. Among equal costs a
// class is preferred to rejection. With a threshold it returns the decision of DecideAt and the
// expected cost of that.
func (c Costs) Decide(proba []float64, threshold ...float64) (decision int, expected float64) {
	if len(threshold) > 0 {
		decision = DecideAt(proba, threshold...)
		return decision, c.Loss.expected(proba)[decision]
	}
	decision, expected = c.Loss.Decide(proba)
	if c.Reject != nil && *c.Reject < expected {
		return Rejected, *c.Reject
	}
	return decision, expected
}

// Of is the cost of a decision if the true class is truth.
func (c Costs) Of(truth, decision int) float64 {
	if decision == Rejected {
		return *c.Reject
	}
	return c.Loss[truth][decision]
}

// Decisions are the decisions of Costs.Decide on m cases, with their thresholds, and their costs.
type Decisions struct {
	Loss      Estimate // mean cost per case
	Expected  float64  // mean expected cost per case, according to the predicted probabilities
	Likeliest float64  // mean cost per case when deciding for the class with the largest probability instead
	Rejected  int
	Table     [][]int // C×(C+1): number of cases of class i with decision j; the last column counts rejections
}

// Decisions computes them. The predictions must be of classes.
func (c Costs) Decisions(p Predictions) Decisions {
	m, classes := p.Proba.Dims()
	d := Decisions{Table: counts(classes, classes+1)}
	cost, expected, likeliest := make([]float64, m), make([]float64, m), make([]float64, m)
	for i, truth := range p.Labels {
		row := p.Proba.RawRowView(i)
		var threshold []float64
		if p.Threshold != nil {
			threshold = p.Threshold[i : i+1]
		}
		var decision int
		decision, expected[i] = c.Decide(row, threshold...)
		cost[i], likeliest[i] = c.Of(truth, decision), c.Loss[truth][Decide(row)]
		if decision == Rejected {
			d.Rejected++
			decision = classes
		}
		d.Table[truth][decision]++
	}
	d.Loss = p.mean(cost)
	lo, hi := c.extremes()
	d.Loss.Lo, d.Loss.Hi = max(d.Loss.Lo, lo), min(d.Loss.Hi, hi) // NaN stays
	d.Expected, d.Likeliest = stat.Mean(expected, p.Weight), stat.Mean(likeliest, p.Weight)
	return d
}

// extremes are the least and the largest cost that a case can have.
func (c Costs) extremes() (lo, hi float64) {
	all := slices.Concat(c.Loss...)
	if c.Reject != nil {
		all = append(all, *c.Reject)
	}
	return slices.Min(all), slices.Max(all)
}

// Extremes returns the smallest and the largest probability of the last class.
func (p Predictions) Extremes() (lo, hi float64) {
	_, classes := p.Proba.Dims()
	last := mat.Col(nil, classes-1, p.Proba)
	return slices.Min(last), slices.Max(last)
}
