package cv

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Score is a measure of the quality of predictions.
type Score struct {
	Name    string // as written in YAML files and results
	Doc     string
	Unit    string
	Greater bool // greater values are better
	Numeric bool // for numeric targets; the other scores are for classes
	Count   bool // adds up over folds; other scores are averaged, weighted by the number of cases
	// Version is the version of the value that Func computes: raised from 1 (or 0) if it changes by
	// more than rounding. Intervals are not recorded.
	Version    int
	registered bool // by another program
	Column     Column
	// Base means that the baseline of Predictions has the value 0: the class frequencies of the
	// training part, or the mean and variance of its targets.
	Base bool
	// Within is the range of the score, which limits its intervals. Zeros: unlimited.
	Within [2]float64
	// Each returns the value of every row, if the score is their mean; nil: it is not a mean.
	Each func(Predictions) []float64
	// Func computes the score; false: it is not defined for these predictions.
	Func func(Predictions) (Estimate, bool)
}

// Told is the version in the keys of jobs: 0 for the first version of this package's own scores.
func (s Score) Told() int {
	if s.Version < 2 && !s.registered {
		return 0
	}
	return s.Version
}

// Column is the form of a score in a summary, which has one row per evaluation and one column per
// score.
type Column struct {
	Heading  string // short, with the unit unless it is obvious; "": not in summaries
	Digits   int    // after the decimal point; a Count is shown as "3/100" instead
	Percent  bool   // the value and its interval are multiplied by 100
	Interval bool   // followed by a column with the 95 % interval
	Brief    bool   // also shown in short summaries: of outer folds, of the best points of a grid
}

// information is mean test information in bits. Its interval ends at the value for certain
// predictions of the true classes.
func information(p Predictions) (Estimate, bool) {
	e := mean(p.information(), p.Cases)
	most := floats.Sum(p.certainty()) / float64(len(p.Base))
	e.Hi = math.Min(e.Hi, math.Max(most, e.Value)) // keeps NaN
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

// Apart tests differences of the score; the interval is limited to possible differences.
func (s Score) Apart(t TTest) TTest {
	if widest := s.Within[1] - s.Within[0]; widest > 0 {
		t.Lo, t.Hi = math.Max(t.Lo, -widest), math.Min(t.Hi, widest) // keeps NaN
	}
	return t
}

// Of computes the score, with an interval limited to the range of the score; false: it is not
// defined for these predictions.
func (s Score) Of(p Predictions) (e Estimate, ok bool) {
	e, ok = s.Func(p)
	if s.Within != [2]float64{} {
		e.Lo, e.Hi = math.Max(e.Lo, s.Within[0]), math.Min(e.Hi, s.Within[1]) // keeps NaN
	}
	return e, ok
}
