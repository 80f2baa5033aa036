package cv

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Calibration is a way to correct the predicted probability of a class, learnt from predictions of
// cases that the model was not fitted to.
type Calibration struct {
	Name, Doc string
	// Learn returns the parameters from the predicted probabilities of a class, whether each case
	// belongs to it, and how many cases it counts as; nil: 1 each. Both kinds of cases must occur.
	Learn func(proba []float64, is []bool, weight []float64) []float64
	// Apply is the corrected probability. It never falls as proba rises.
	Apply func(parameters []float64, proba float64) float64
	// learntFrom returns the range of the probabilities from which the parameters were learnt.
	// known is false if it does not follow from the parameters.
	learntFrom func(parameters []float64) (s Span, known bool)
	// Shared calibrations have the same parameters for all classes, learnt from the probabilities
	// of all classes together. A class may then have no cases.
	Shared bool
}

// Calibrations lists the ways of calibration.
var Calibrations = []Calibration{
	{"platt", "1/(1 + exp(-a ln(p/(1-p)) - b)), a ≥ 0 and b by maximum likelihood (Platt 1999)", plattLearn, plattApply,
		plattFrom, false},
	{"isotonic", "the monotone step function of least squares (Zadrozny & Elkan 2002), with lines between its steps",
		isotonicLearn, isotonicApply, isotonicFrom, false},
	{"temperature", "1/(1 + exp(-ln(p/(1-p))/T)), one temperature T for all classes by likelihood " +
		"(Guo et al. 2017), with a prior near 1", temperatureLearn, plattApply, plattFrom, true},
}

// Span is a range of probabilities, from the least to the largest.
type Span struct{ Lo, Hi float64 }

// Lacks reports whether the log odds of p lie outside the range, by more than half its width in log
// odds. What was learnt within the range is then extrapolated to p.
func (s Span) Lacks(p float64) bool {
	lo, hi, x := logOdds(s.Lo), logOdds(s.Hi), logOdds(p)
	const rounding = 1e-9
	margin := (hi-lo)/2 + rounding
	return x < lo-margin || x > hi+margin
}

// Extrapolates reports whether a calibration corrects a case with a probability that lies outside
// the range it was learnt from (see Span.Lacks).
func (c Calibration) Extrapolates(parameters [][]float64, proba []float64) bool {
	for k, p := range parameters {
		if len(proba) == 2 {
			k = 1
		}
		if s, known := c.learntFrom(p); known && s.Lacks(proba[k]) {
			return true
		}
	}
	return false
}

// CalibrationNamed returns the calibration with this name, or an error with suggestions.
func CalibrationNamed(name string) (Calibration, error) {
	return registry.Find("calibration", name, Calibrations, func(c Calibration) string { return c.Name })
}

// Calibrate learns parameters for every class; for two classes, for the second only. It is an error
// if a class does not occur among the predictions, unless all classes have the same parameters.
func (c Calibration) Calibrate(p Predictions) (parameters [][]float64, err error) {
	m, classes := p.Proba.Dims()
	if c.Shared {
		return c.calibrateShared(p), nil
	}
	for k := range classes {
		if classes == 2 && k == 0 {
			continue
		}
		proba, is, weight, n := make([]float64, m), make([]bool, m), make([]float64, m), 0
		for i, label := range p.Labels {
			proba[i], is[i], weight[i] = p.Proba.At(i, k), label == k, p.weight(i)
			if is[i] {
				n++
			}
		}
		if n == 0 || n == m {
			return nil, fmt.Errorf("calibration needs cases of class %d and of others", k)
		}
		parameters = append(parameters, c.Learn(proba, is, weight))
	}
	return parameters, nil
}

// calibrateShared learns the same parameters for every class from the probabilities of all classes;
// for two classes, from the probabilities of the second class.
func (c Calibration) calibrateShared(p Predictions) [][]float64 {
	_, classes := p.Proba.Dims()
	var proba, weight []float64
	var is []bool
	for i, label := range p.Labels {
		for k, q := range p.Proba.RawRowView(i) {
			if classes > 2 || k == 1 {
				proba, is, weight = append(proba, q), append(is, label == k), append(weight, p.weight(i))
			}
		}
	}
	of := c.Learn(proba, is, weight)
	if classes == 2 {
		return [][]float64{of}
	}
	return slices.Repeat([][]float64{of}, classes)
}

// Adjust corrects the probabilities of a case in place. For more than two classes they are then
// normalised to sum to 1.
func (c Calibration) Adjust(parameters [][]float64, proba []float64) {
	if len(proba) == 2 {
		proba[1] = c.Apply(parameters[0], proba[1])
		proba[0] = 1 - proba[1]
		return
	}
	sum := 0.0
	for k := range proba {
		proba[k] = c.Apply(parameters[k], proba[k])
		sum += proba[k]
	}
	floats.Scale(1/sum, proba)
}

// logOdds is ln(p/(1-p)), with p moved away from 0 and 1 by the rounding error of the sum of
// probabilities.
func logOdds(p float64) float64 {
	p = min(1-1e-15, max(1e-15, p))
	return math.Log(p / (1 - p))
}

// plattLearn returns a ≥ 0 and b of FitSigmoid for the log odds, and then the least and the largest
// probability.
func plattLearn(proba []float64, is []bool, weight []float64) []float64 {
	x := make([]float64, len(proba))
	for i, p := range proba {
		x[i] = logOdds(p)
	}
	a, b := FitSigmoid(logistic, x, nil, is, weight)
	return []float64{a, b, slices.Min(proba), slices.Max(proba)}
}

// temperatureLearn returns 1/T of fitSlope for the log odds, b = 0, and then the least and the
// largest probability.
func temperatureLearn(proba []float64, is []bool, weight []float64) []float64 {
	x := make([]float64, len(proba))
	for i, p := range proba {
		x[i] = logOdds(p)
	}
	return []float64{fitSlope(logistic, x, is, weight), 0, slices.Min(proba), slices.Max(proba)}
}

// plattApply is at least floor, so that the classes of a case never sum to 0.
func plattApply(parameters []float64, p float64) float64 {
	return max(floor, sigmoid(parameters[0]*logOdds(p)+parameters[1]))
}

func plattFrom(parameters []float64) (s Span, known bool) {
	if len(parameters) < 4 {
		return s, false
	}
	return Span{parameters[2], parameters[3]}, true
}

func isotonicFrom(points []float64) (s Span, known bool) {
	return Span{points[0], points[len(points)-2]}, true
}

// isotonicLearn makes one block of all cases with the same probability, and pools adjacent
// violators (Ayer et al. 1955), weighted by their cases. The parameters are points x₁, y₁, x₂, y₂,
// … with both coordinates ascending: the ends of every block. The y are limited to [1/(n+2),
// 1-1/(n+2)] for n cases.
func isotonicLearn(proba []float64, is []bool, weight []float64) []float64 {
	weight = counted(weight, len(proba))
	order := make([]int, len(proba))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(proba[i], proba[j]) })
	type block struct{ lo, hi, n, sum float64 }
	var blocks []block
	for k := 0; k < len(order); {
		b := block{lo: proba[order[k]], hi: proba[order[k]]}
		for ; k < len(order) && proba[order[k]] == b.hi; k++ {
			b.n += weight[order[k]]
			if is[order[k]] {
				b.sum += weight[order[k]]
			}
		}
		for len(blocks) > 0 {
			last := blocks[len(blocks)-1]
			if last.sum*b.n < b.sum*last.n {
				break
			}
			b = block{last.lo, b.hi, last.n + b.n, last.sum + b.sum}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	edge := 1 / (floats.Sum(weight) + 2)
	var out []float64
	for _, b := range blocks {
		y := min(1-edge, max(edge, b.sum/b.n))
		out = append(out, b.lo, y)
		if b.hi > b.lo {
			out = append(out, b.hi, y)
		}
	}
	return out
}

// isotonicApply interpolates linearly between the points and is constant beyond them.
func isotonicApply(points []float64, p float64) float64 {
	n := len(points) / 2
	i := 0
	for i < n && points[2*i] < p {
		i++
	}
	switch {
	case i == 0:
		return points[1]
	case i == n:
		return points[2*n-1]
	}
	x0, y0, x1, y1 := points[2*i-2], points[2*i-1], points[2*i], points[2*i+1]
	return y0 + (y1-y0)*(p-x0)/(x1-x0)
}

// Thresholds lists what a threshold can maximise: the names of the scores of decisions, and
// Utility.
func Thresholds() []string {
	return []string{"f1", "balanced_accuracy", "matthews", Utility}
}

// Utility is minus the mean cost of a decision.
const Utility = "utility"

// mostThresholds is the maximum number of thresholds to try; if there are more, quantiles are
// taken.
const mostThresholds = 500

// BestThreshold returns the threshold t that maximises one of Thresholds on these predictions. With
// the threshold t the decision is the second of two classes if its probability is at least t.
// Candidates are ½ and the midpoints between neighbouring probabilities. Of several best candidates
// the nearest to ½ is chosen. costs are for Utility; nil: 1 per error.
func BestThreshold(p Predictions, maximise string, costs *Costs) (float64, error) {
	if p.Numeric() || p.Proba.RawMatrix().Cols != 2 {
		return 0, fmt.Errorf("a threshold is for two classes")
	}
	value := func(q Predictions) (float64, bool) {
		if costs == nil {
			costs = &Costs{Loss: ZeroOne(2)}
		}
		sum := 0.0
		for i, truth := range q.Labels {
			sum -= q.weight(i) * costs.Loss[truth][q.Decision(i)]
		}
		return sum, true
	}
	if maximise != Utility {
		s, err := ScoreNamed(maximise)
		if err != nil || !slices.Contains(Thresholds(), maximise) {
			return 0, fmt.Errorf("unknown %q%s", maximise, registry.Suggest(maximise, Thresholds()))
		}
		value = func(q Predictions) (float64, bool) {
			e, ok := s.Func(q)
			return e.Value, ok
		}
	}
	var proba []float64
	for i := range p.Labels {
		proba = append(proba, p.Proba.At(i, 1))
	}
	slices.Sort(proba)
	proba = slices.Compact(proba)
	candidates := []float64{0.5}
	for i := 1; i < len(proba); i += max(1, len(proba)/mostThresholds) {
		candidates = append(candidates, (proba[i-1]+proba[i])/2)
	}
	slices.SortStableFunc(candidates, func(a, b float64) int { return cmp.Compare(math.Abs(a-0.5), math.Abs(b-0.5)) })
	best, at := math.Inf(-1), 0.5
	for _, t := range candidates {
		q := p
		q.Threshold = make([]float64, len(p.Labels))
		for i := range q.Threshold {
			q.Threshold[i] = t
		}
		if v, ok := value(q); ok && v > best {
			best, at = v, t
		}
	}
	return at, nil
}
