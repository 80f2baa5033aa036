package cv

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Score is a number that says how good predictions are.
type Score struct {
	Name    string // as in YAML files and results
	Doc     string
	Unit    string
	Greater bool // greater is better
	Numeric bool // of numeric targets; the other scores are of classes
	Count   bool // adds up over folds; the other scores are averaged, weighted by cases
	// Version is that of the value that Func computes: raised from 1 (or 0) when that changes by
	// more than rounding. Intervals are not on record.
	Version    int
	registered bool // by another program
	Column     Column
	// Base says that 0 is what the base line of Predictions has: the class frequencies of the
	// training part, or the mean and variance of its targets.
	Base bool
	// Within is what the score can be; an interval ends there. Zeros: any number.
	Within [2]float64
	// Each is the value of every row, of which the score is the mean; nil: it is no such mean.
	Each func(Predictions) []float64
	// Func computes the score; false: it is not defined for these predictions.
	Func func(Predictions) (Estimate, bool)
}

// Told is the version that keys have: 0 of the first version of this package's own scores.
func (s Score) Told() int {
	if s.Version < 2 && !s.registered {
		return 0
	}
	return s.Version
}

// Column says how a summary shows a score: one row for each evaluation, the scores side by side.
type Column struct {
	Heading  string // short, with the unit where that is not obvious; "": left out of summaries
	Digits   int    // after the decimal point; a Count is shown as "3/100" instead
	Percent  bool   // the value and its interval are multiplied by 100
	Interval bool   // followed by a column with the 95 % interval
	Brief    bool   // also where there is room for few: of outer folds, of the best points of a grid
}

// information has an interval that ends where every class would be known for certain.
func information(p Predictions) (Estimate, bool) {
	e := mean(p.information(), p.Cases)
	most := floats.Sum(p.certainty()) / float64(len(p.Base))
	e.Hi = math.Min(e.Hi, math.Max(most, e.Value)) // NaN stays
	return e, true
}

func errorCount(p Predictions) (Estimate, bool) { return withoutInterval(floats.Sum(p.wrong())), true }

func errorRate(p Predictions) (Estimate, bool) {
	rate := floats.Sum(p.wrong()) / float64(len(p.Labels))
	lo, hi := wilson(rate, distinct(p.Cases))
	return Estimate{rate, lo, hi}, true
}

func logLoss(p Predictions) (Estimate, bool) { return mean(logLosses(p), p.Cases), true }

func logLosses(p Predictions) []float64 {
	loss := p.logProba()
	floats.Scale(-1, loss)
	return loss
}

func brier(p Predictions) (Estimate, bool) { return mean(brierLosses(p), p.Cases), true }

func brierLosses(p Predictions) []float64 {
	loss := make([]float64, len(p.Labels))
	for i, label := range p.Labels {
		for c, q := range p.Proba.RawRowView(i) {
			if c == label {
				q = 1 - q
			}
			loss[i] += q * q
		}
	}
	return loss
}

// Apart is a test of differences of the score, with an interval that ends where differences do.
func (s Score) Apart(t TTest) TTest {
	if widest := s.Within[1] - s.Within[0]; widest > 0 {
		t.Lo, t.Hi = math.Max(t.Lo, -widest), math.Min(t.Hi, widest) // NaN stays
	}
	return t
}

// Of computes the score, with an interval that ends where the score does; false: it is not defined
// for these predictions.
func (s Score) Of(p Predictions) (e Estimate, ok bool) {
	e, ok = s.Func(p)
	if s.Within != [2]float64{} {
		e.Lo, e.Hi = math.Max(e.Lo, s.Within[0]), math.Min(e.Hi, s.Within[1]) // NaN stays
	}
	return e, ok
}
