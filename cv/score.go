package cv

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/internal/panicked"
)

// Score is a measure of the quality of predictions.
type Score struct {
	Name    string // name in YAML files and results
	Doc     string
	Unit    string
	Greater bool // greater values are better
	Numeric bool // the score is for numeric targets; other scores are for classes
	// OfSecond is true for a score of two classes that is about the second one, in natural order
	// or as declared positive.
	OfSecond bool
	Count    bool // adds up over folds; other scores are averaged, weighted by the number of cases
	// Version is the version of the value that Func computes: raised from 1 (or 0) if it changes by
	// more than rounding. Intervals are not recorded.
	Version    int
	registered bool // another program has registered it
	Column     Column
	// Base means that the baseline of Predictions has the value 0: the class frequencies of the
	// training part, or the mean and variance of its targets.
	Base bool
	// Negligible is a difference that decides nothing, in units of the score: a model that is worse
	// by less may be the best, however many cases there are.
	Negligible float64
	// Within is the range of the score, which limits its intervals. Zeros: unlimited.
	Within [2]float64
	// Each returns the value of every row, if the score is their mean; nil: it is not a mean. NaN
	// leaves a row out. An infinite value means that only a bound is known, which Func counts; then
	// differences over folds are not tested.
	Each func(Predictions) []float64
	// Func computes the score; false: it is not defined for these predictions.
	Func func(Predictions) (Estimate, bool)
}

// KeyVersion is the version in the keys of jobs: 0 for the first version of this package's own
// scores.
func (s Score) KeyVersion() int {
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
	Brief    bool   // also shown in short summaries: outer folds, best points of a grid
}

// each returns the result of Each on a copy of the predictions; nil if there is no Each, or if its
// result is not valid.
func (s Score) each(p Predictions) (rows []float64) {
	if s.Each == nil || panicked.Try(func() { rows = s.Each(Pool(p)) }) != nil || len(rows) != len(p.Cases) {
		return nil
	}
	return rows
}

// information is mean test information in bits. Its interval ends at the value for certain
// predictions of the true classes.
func information(p Predictions) (Estimate, bool) {
	s := p.present(p.information())
	if len(s.v) == 0 {
		return Estimate{}, false
	}
	e, most := s.estimate(), p.present(p.certainty())
	e.Hi = math.Min(e.Hi, math.Max(stat.Mean(most.v, most.weight), e.Value)) // keeps NaN
	return e, true
}

func informations(p Predictions) []float64 { return p.mark(p.information(), -1) }

// mark sets a value to an infinity if the probability of its row was raised to floor.
func (p Predictions) mark(rows []float64, sign int) []float64 {
	for i, floored := range p.floored() {
		if floored {
			rows[i] = math.Inf(sign)
		}
	}
	return rows
}

func errorCount(p Predictions) (Estimate, bool) { return withoutInterval(p.sum(p.wrong())), true }

func errorRate(p Predictions) (Estimate, bool) {
	rate := p.sum(p.wrong()) / p.Total()
	lo, hi := wilson(rate, p.effective(all))
	return Estimate{rate, lo, hi}, true
}

func logLoss(p Predictions) (Estimate, bool) { return p.mean(p.logLoss()), true }

func logLosses(p Predictions) []float64 { return p.mark(p.logLoss(), 1) }

func brier(p Predictions) (Estimate, bool) { return p.mean(brierLosses(p)), true }

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

// Of computes the score, with an interval limited to the range of the score; false: it is not
// defined for these predictions. The error is a violation of Checked by a score of another program.
func (s Score) Of(p Predictions) (e Estimate, ok bool, err error) {
	switch {
	case s.Numeric != p.Numeric():
		return e, false, nil
	case s.registered:
		e, ok, err = s.Checked(p)
	default:
		e, ok = s.Func(p)
		ok = ok && finite(e.Value)
	}
	if s.Within != [2]float64{} {
		e.Lo, e.Hi = math.Max(e.Lo, s.Within[0]), math.Min(e.Hi, s.Within[1]) // keeps NaN
	}
	return e, ok, err
}

// Checked computes the score twice, on copies of the predictions. It is an error if Func or Each
// panics, or if the two values are not the same. It is an error if a value is not finite, is
// outside Within or its own interval, or is not the mean of Each. Errors name the score.
func (s Score) Checked(p Predictions) (e Estimate, ok bool, err error) {
	var again Estimate
	var still bool
	var rows []float64
	err = panicked.Try(func() {
		e, ok = s.Func(Pool(p))
		again, still = s.Func(Pool(p))
		if s.Each != nil {
			rows = s.Each(Pool(p))
		}
	})
	if err != nil {
		return e, false, fmt.Errorf("score %s: %w", s.Name, err)
	}
	fault := func(format string, args ...any) (Estimate, bool, error) {
		return e, false, fmt.Errorf("score %s: "+format, append([]any{s.Name}, args...)...)
	}
	lo, hi := s.Within[0], s.Within[1]
	bits := func(e Estimate) [3]uint64 {
		return [3]uint64{math.Float64bits(e.Value), math.Float64bits(e.Lo), math.Float64bits(e.Hi)}
	}
	switch {
	case ok != still || ok && bits(e) != bits(again):
		return fault("it is %v and then %v for the same predictions", e, again)
	case !ok:
		return e, false, nil
	case !finite(e.Value):
		return fault("its value is %v; where it is not defined, Func returns false", e.Value)
	case lo < hi && !(e.Value >= lo && e.Value <= hi):
		return fault("its value %v is not within [%v, %v]", e.Value, lo, hi)
	case e.Lo > e.Value || e.Hi < e.Value || math.IsNaN(e.Lo) != math.IsNaN(e.Hi):
		return fault("its interval from %v to %v does not contain its value %v", e.Lo, e.Hi, e.Value)
	case s.Each == nil:
		return e, true, nil
	case len(rows) != len(p.Cases):
		return fault("Each has %d values of %d rows", len(rows), len(p.Cases))
	}
	there := p.present(rows)
	if m := stat.Mean(there.v, there.weight); known(there.v) && !(math.Abs(m-e.Value) <= 1e-6*max(1, math.Abs(m))) {
		return fault("its value %v is not the mean of Each, %v", e.Value, m)
	}
	return e, true, nil
}
