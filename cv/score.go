package cv

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/registry"
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
	Version int
	Column  Column
	// Func computes the score; false: it is not defined for these predictions.
	Func func(Predictions) (Estimate, bool)
}

// Column says how a summary shows a score: one row for each evaluation, the scores side by side.
type Column struct {
	Heading  string // short, with the unit where that is not obvious; "": left out of summaries
	Digits   int    // after the decimal point; a Count is shown as "3/100" instead
	Percent  bool   // the value and its interval are multiplied by 100
	Interval bool   // followed by a column with the 95 % interval
}

// Estimate is the value of a score on a sample of cases, with its 95 % confidence interval over
// such samples. Lo and Hi are NaN where there is no interval.
type Estimate struct{ Value, Lo, Hi float64 }

// Scores lists the scores in the order in which summaries show them, m being the number of
// predictions. The mean of v_i over cases has the interval mean ± z s/√m, with s the sample
// standard deviation and z = 1.96 the 97.5 % quantile of the normal; it needs two cases.
var Scores = []Score{
	{
		Name: "information_bits", Unit: "bits per case", Greater: true, Func: information,
		Column: Column{Heading: "bits", Digits: 3},
		Doc:    "test information, the mean of log2 p(y) minus that of the training frequencies [GPML 3.76]: 0 is guessing",
	},
	{
		Name: "errors", Unit: "cases", Count: true, Func: errorCount,
		Column: Column{Heading: "errors"},
		Doc: "cases whose class is not the one of largest probability; " +
			"a tie goes to the first class in natural order",
	},
	{
		Name: "error_rate", Unit: "share of cases", Func: errorRate,
		Column: Column{Heading: "error rate %", Digits: 1, Percent: true, Interval: true},
		Doc:    "errors per case, with Wilson's interval",
	},
	{
		Name: "log_loss", Unit: "nats per case", Func: logLoss,
		Column: Column{Heading: "log loss", Digits: 4},
		Doc:    "the mean of -ln p(y)",
	},
	{
		Name: "brier", Unit: "squared probability", Func: brier,
		Column: Column{Heading: "brier", Digits: 4},
		Doc:    "the mean of Σ_c (p_c - [y = c])² over all classes, 0 … 2",
	},
	{
		Name: "ece", Unit: "probability", Func: expectedCalibrationError,
		Doc: "expected calibration error: mean |accuracy - confidence| over 15 equal-width bins " +
			"of the largest probability; no interval",
	},
	{
		Name: "auc", Unit: "probability", Greater: true, Func: areaUnderCurve,
		Column: Column{Heading: "auc", Digits: 4},
		Doc: "area under the ROC curve, two classes only: how probably a case of the second class gets a larger " +
			"probability of it than one of the first; ties count half; Newcombe's score interval (2006, method 5)",
	},
	{
		Name: "rmse", Unit: "units of the target", Numeric: true, Func: rootMeanSquaredError,
		Column: Column{Heading: "rmse", Digits: 4},
		Doc:    "root mean squared error of the predicted mean, for numeric targets; its interval is that of the square",
	},
	{
		Name: "standardized_log_loss", Unit: "nats per case", Numeric: true, Func: standardizedLogLoss,
		Column: Column{Heading: "standardized log loss", Digits: 4},
		Doc: "the mean of -ln p(y) plus the log density under the training mean and variance [GPML 2.34]: " +
			"0 is guessing, less is better",
	},
}

func withoutInterval(value float64) Estimate { return Estimate{value, math.NaN(), math.NaN()} }

// ScoreNamed finds a score.
func ScoreNamed(name string) (Score, error) {
	return named("score", name, Scores, func(s Score) string { return s.Name })
}

// named finds a row of one of the package's tables.
func named[T any](what, name string, table []T, nameOf func(T) string) (T, error) {
	var names []string
	for _, row := range table {
		if nameOf(row) == name {
			return row, nil
		}
		names = append(names, nameOf(row))
	}
	var none T
	return none, fmt.Errorf("unknown %s %q%s", what, name, registry.Suggest(name, names))
}

// Result is the Estimate of a Score.
type Result struct {
	Score
	Estimate
}

// Evaluate computes, in the order of the table, all scores that are defined for p, of at least one
// row. The warnings count the probabilities that had to be raised to the smallest normal double to
// keep logarithms finite.
func Evaluate(p Predictions) (results []Result, warnings []string) {
	for _, s := range Scores {
		if s.Numeric != p.Numeric() {
			continue
		}
		if e, ok := s.Func(p); ok {
			results = append(results, Result{s, e})
		}
	}
	return results, p.warnings()
}

func information(p Predictions) (Estimate, bool) { return mean(p.information(), p.Cases), true }

func errorCount(p Predictions) (Estimate, bool) { return withoutInterval(floats.Sum(p.wrong())), true }

func errorRate(p Predictions) (Estimate, bool) {
	rate := floats.Sum(p.wrong()) / float64(len(p.Labels))
	lo, hi := wilson(rate, distinct(p.Cases))
	return Estimate{rate, lo, hi}, true
}

func logLoss(p Predictions) (Estimate, bool) {
	loss := p.logProba()
	floats.Scale(-1, loss)
	return mean(loss, p.Cases), true
}

func brier(p Predictions) (Estimate, bool) {
	loss := make([]float64, len(p.Labels))
	for i, label := range p.Labels {
		for c, q := range p.Proba.RawRowView(i) {
			if c == label {
				q = 1 - q
			}
			loss[i] += q * q
		}
	}
	return mean(loss, p.Cases), true
}
