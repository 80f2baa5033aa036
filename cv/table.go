// Package cv scores predictions of held-out cases, and compares models by them.
//
// Package cv/split divides the cases. Predictions are the class probabilities of n cases, n×C, or
// the means and variances of numbers; Evaluate has every score of the table Scores. Two of them,
// for the probability p_i that case i's true class was given:
//
//	log_loss         = -(1/n) Σ_i ln p_i                  nats per case
//	information_bits = (1/n) Σ_i (log₂ p_i - log₂ π_i)    bits per case, GPML (3.76)
//
// π_i is the fraction of that class in the training set, so that predicting these fractions has 0
// bits.
//
// Curves, calibration, thresholds, standard errors and tests of differences between models are
// computed from the same predictions.
//
// Classes are numbered 0 … C-1 in natural order; for two classes class 1 is y = +1. The package
// handles labels and predictions only, no models. The reference is GPML, Rasmussen & Williams 2006.
package cv

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Races lists the rules that eliminate contestants.
var Races = registry.Table[Race]{
	registry.Of[PairedT, Race]("paired_t", "stop configurations that are worse than the best by a one-sided "+
		"paired t-test over three or more folds (alpha: 0.05, over the whole race)"),
	registry.Of[SuccessiveHalving, Race]("successive_halving",
		"after F/eta^s, …, F/eta of the F folds, keep the best 1/eta of the configurations, until one remains "+
			"(eta: 2)"),
}

// Scores lists the scores in the order of summaries, m being the number of predictions. The mean of
// v_i over cases has the interval mean ± z s/√m, with s the sample standard deviation and z = 1.96
// the 97.5 % quantile of the normal distribution; it needs at least two cases.
var Scores = []Score{
	{
		Name: "information_bits", Unit: "bits per case", Greater: true, Func: information,
		Base: true, Each: informations,
		Negligible: 0.001,
		Column:     Column{Heading: "bits", Digits: 3, Brief: true},
		Doc: "test information, the mean of log2 p(y) minus that of the training frequencies [GPML 3.76]: " +
			"0 is guessing",
	},
	{
		Name: "errors", Unit: "cases", Count: true, Func: errorCount,
		Column: Column{Heading: "errors", Brief: true},
		Doc: "cases whose decision, by the largest probability or the threshold, is not their class; " +
			"a tie goes to the first class in natural order",
	},
	{
		Name: "error_rate", Unit: "share of cases", Func: errorRate,
		Within: [2]float64{0, 1}, Each: Predictions.wrong,
		Column: Column{Heading: "error rate %", Digits: 1, Percent: true, Interval: true},
		Doc:    "errors per case, with Wilson's interval",
	},
	{
		Name: "log_loss", Unit: "nats per case", Func: logLoss,
		Within: [2]float64{0, math.Inf(1)}, Each: logLosses,
		Negligible: 0.001,
		Column:     Column{Heading: "log loss", Digits: 4},
		Doc:        "the mean of -ln p(y)",
	},
	{
		Name: "brier", Unit: "squared probability", Func: brier,
		Within: [2]float64{0, 2}, Each: brierLosses,
		Negligible: 0.001,
		Column:     Column{Heading: "brier", Digits: 4},
		Doc: "the mean of Σ_c (p_c - [y = c])² over all classes, 0 … 2: of two classes twice " +
			"the mean of (p - y)²",
	},
	{
		Name: "ece", Unit: "probability", Func: expectedCalibrationError,
		Doc: "expected calibration error: mean |accuracy - confidence| over 15 equal-width bins of the largest " +
			"probability; no interval",
	},
	{
		Name: "auc", Unit: "probability", Greater: true, Func: areaUnderCurve,
		Column: Column{Heading: "auc", Digits: 4},
		Doc: "area under the ROC curve of two classes: that a case of the second gets the larger probability in a " +
			"pair; ties count half; the base rate may be below 0.5; Newcombe (2006, method 5)",
	},
	{
		Name: "average_precision", OfSecond: true, Unit: "probability", Greater: true, Func: averagePrecision,
		Doc: "area under the precision-recall curve of two classes: the mean precision with each case of the second " +
			"as the threshold; guessing scores the share of that class; Wilson's interval",
	},
	{
		Name: "balanced_accuracy", Unit: "share of cases", Greater: true, Func: balancedAccuracy,
		Doc: "share of correct decisions, averaged over the classes: guessing scores 1 / number of classes; the " +
			"interval combines Wilson's intervals of the classes",
	},
	{
		Name: "sensitivity", OfSecond: true, Unit: "share of cases", Greater: true, Func: recallOfTwo(1),
		Doc: "share of correct decisions among the cases of the second of two classes (recall), with Wilson's " +
			"interval",
	},
	{
		Name: "specificity", Unit: "share of cases", Greater: true, Func: recallOfTwo(0),
		Doc: "share of correct decisions among the cases of the first of two classes, with Wilson's interval",
	},
	{
		Name: "f1", OfSecond: true, Unit: "share of cases", Greater: true, Func: f1,
		Doc: "2 TP/(2 TP + FP + FN) of the second class, the harmonic mean of precision and recall, with Wilson's " +
			"interval transformed; of more classes their mean, normal interval",
	},
	{
		Name: "matthews", Unit: "correlation", Greater: true, Func: matthews,
		Doc: "Matthews's correlation of classes and decisions, for more than two classes Gorodkin's R_K, -1 … 1: " +
			"0 is guessing; the interval is normal in atanh, also with two cases more in the table",
	},
	{
		Name: "coverage", Unit: "share of cases", Greater: true, Func: covered,
		Within: [2]float64{0, 1},
		Column: Column{Heading: "coverage %", Digits: 1, Percent: true},
		Doc:    "share of cases whose class is in their conformal set (predict: sets), with Wilson's interval",
	},
	{
		Name: "set_size", Unit: "classes", Func: setSize,
		Within: [2]float64{0, math.Inf(1)},
		Column: Column{Heading: "set size", Digits: 2},
		Doc:    "mean number of classes in a conformal set",
	},
	{
		Name: "mean_absolute_error", Unit: "classes", Func: ofOrdered(rankErrors),
		Within: [2]float64{0, math.Inf(1)}, Each: rankErrors,
		Column: Column{Heading: "rank error", Digits: 3},
		Doc: "the mean distance, in classes, of the class of largest probability from the true one, for classes " +
			"whose order the file gives",
	},
	{
		Name: "ranked_probability_score", Unit: "squared probability", Func: ofOrdered(rankedProbabilities),
		Within: [2]float64{0, math.Inf(1)}, Each: rankedProbabilities,
		Negligible: 0.001,
		Column:     Column{Heading: "ranked probability", Digits: 4},
		Doc: "the mean of Σ_k (P(y ≤ k) - [y ≤ k])² over all classes but the last, for classes whose order the file " +
			"gives",
	},
	{
		Name: "rmse", Unit: "units of the target", Numeric: true, Func: rootMeanSquaredError,
		Column: Column{Heading: "rmse", Digits: 4, Brief: true},
		Doc: "root mean squared error of the predicted mean, for numeric targets; " +
			"its interval is that of the square",
	},
	{
		Name: "standardized_log_loss", Unit: "nats per case", Numeric: true, Func: standardizedLogLoss,
		Base: true, Each: standardizedLosses,
		Negligible: 0.001,
		Column:     Column{Heading: "standardized log loss", Digits: 4},
		Doc: "the mean of -ln p(y) plus the log density under the training mean and variance [GPML 2.34]: " +
			"0 is guessing, less is better",
	},
}

// Curves lists the curves. In both reject curves the least confident predictions are rejected
// first, predictions of equal confidence together. There is a point for x = 0 and one after each
// such group but the last, and the order of the cases does not matter. N is the number of remaining
// predictions. Intervals treat their selection as fixed: Wilson's for error rates and fractions of
// correct decisions, the normal one for test information.
var Curves = []Curve{
	{
		Name: "error_reject", X: "share rejected", Y: "error rate of the rest",
		Doc: "error rate against the share of the cases that are rejected, the least certain first",
		Func: func(p Predictions, c Confidence) Series {
			return reject(p, c, p.wrong(), slices.Repeat([]float64{1}, len(p.Labels)),
				func(s *growing) (lo, hi float64) { return wilson(s.mean, s.effective()) })
		},
	},
	{
		Name: "information_reject", X: "share rejected", Y: "test information of the rest, bits per case",
		Doc: "test information against the share of the cases that are rejected, the least certain first",
		Func: func(p Predictions, c Confidence) Series {
			return reject(p, c, p.information(), p.certainty(), (*growing).interval)
		},
	},
	{
		Name: "calibration", X: "mean largest probability", Y: "share of correct decisions", Diagonal: true,
		Doc:  "accuracy against confidence in the bins of ece, the empty ones left out",
		Func: func(p Predictions, _ Confidence) Series { s, _ := calibration(p); return s },
	},
}

// CurveNamed returns the curve with this name, or an error with suggestions.
func CurveNamed(name string) (Curve, error) {
	return registry.Find("curve", name, Curves, func(c Curve) string { return c.Name })
}

// Confidences lists the measures of confidence.
var Confidences = []Confidence{
	{"max_probability", "the largest class probability", func(proba []float64) float64 { return floats.Max(proba) }},
	{"gap", "the difference of the two largest class probabilities", gap},
}

// ConfidenceNamed returns the measure with this name, or an error with suggestions.
func ConfidenceNamed(name string) (Confidence, error) {
	return registry.Find("confidence", name, Confidences, func(c Confidence) string { return c.Name })
}

// ScoreNamed returns the score with this name, or an error with suggestions.
func ScoreNamed(name string) (Score, error) {
	return registry.Find("score", name, Scores, func(s Score) string { return s.Name })
}

// Result is a Score with its Estimate.
type Result struct {
	Score
	Estimate
}

// Evaluate computes, in the order of the table, all scores that are defined for p, which must have
// at least one row. A warning counts the probabilities that were raised to the smallest normal
// double to keep logarithms finite. err joins the errors of Score.Of for all scores.
func Evaluate(p Predictions) (results []Result, warnings []cause.Notice, err error) {
	for _, s := range Scores {
		e, ok, fault := s.Of(p)
		if err = errors.Join(err, fault); ok {
			results = append(results, Result{s, e})
		}
	}
	return results, p.warnings(), err
}

// RegisterScore adds a score of another program to Scores, as kernel.Register does a kernel. Its
// Version counts from 1.
func RegisterScore(s Score) {
	var have []string
	for _, other := range Scores {
		have = append(have, other.Name)
	}
	registry.CheckName("score", s.Name, s.Version, have)
	if s.Doc == "" || s.Func == nil {
		panic(fmt.Sprintf("score %q needs a doc and a function", s.Name))
	}
	s.registered = true
	Scores = append(Scores, s)
}
