package cv

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// Predictions are a model's predictions for cases that it was not trained on, together with their
// true targets. All scores and curves are functions of them. For classes Labels and Proba are set,
// for numeric targets the last three fields.
type Predictions struct {
	// the case of each of the m rows; rows of one case (repeated_kfold) count once in intervals
	Cases []int
	// Groups has the group of every row; nil: every case is one. Groups are independent of each
	// other, and cases of one group are not: intervals count a group once.
	Groups []int
	Labels []int      // m: the class, 0 … C-1
	Proba  *mat.Dense // m×C: class probabilities; rows sum to 1
	// Ordered means that the classes have an order.
	Ordered bool
	// Weight is, for every row, how many cases it counts as; nil: 1 each. Intervals count a row as
	// one case: weights are not more information.
	Weight []float64
	// Base is the baseline, for every row: log p of its true class with the class frequencies of
	// the training part, or the log density of its target under the normal distribution with the
	// mean and variance of the training part; in nats.
	Base []float64

	// Confidence is, for every row, a measure of confidence from the model, if it knows more than
	// its probabilities; the smallest values are rejected first. nil: a Confidence of the tables is
	// computed from the probabilities.
	Confidence []float64

	// Threshold is, for every row, the probability of the second of two classes from which on it is
	// decided for. nil: the class with the largest probability is decided for.
	Threshold []float64

	// Sets are m×C: whether each class is in the conformal set of the row. nil: there are no sets.
	Sets [][]bool

	// for each of the m rows the target, its predicted mean and its predicted variance, noise
	// included
	Targets, Mean, Variance []float64
}

// Units are the independent units of the rows, over which intervals are: groups or, without groups,
// cases.
func (p Predictions) Units() []int {
	if p.Groups != nil {
		return p.Groups
	}
	return p.Cases
}

// Numeric reports whether the targets are numbers.
func (p Predictions) Numeric() bool { return p.Proba == nil }

// sumTolerance is the allowed deviation of a sum of probabilities from 1: far above rounding
// errors, far below mistakes.
const sumTolerance = 1e-6

// NewPredictions checks the predictions of one classifier. trainCounts has the number of training
// cases of every class, or the sum of their weights. Wrong shapes panic. Fewer than two
// classes, and a class outside 0 … C-1, are errors. So are a probability outside [0, 1], and a row
// that does not sum to 1 within 1e-6. A probability may exceed 1 by rounding, but none may be
// negative.
func NewPredictions[N int | float64](
	cases, labels []int, proba *mat.Dense, trainCounts []N,
) (Predictions, error) {
	m, classes := proba.Dims()
	if len(cases) != m || len(labels) != m || len(trainCounts) != classes {
		panic(fmt.Sprintf("cv: %d cases, %d labels, %d×%d probabilities, %d training counts",
			len(cases), len(labels), m, classes, len(trainCounts)))
	}
	if classes < 2 {
		return Predictions{}, fmt.Errorf("probabilities of %d class; there must be two or more", classes)
	}
	total := 0.0
	for c, count := range trainCounts {
		if !(count >= 0) {
			return Predictions{}, fmt.Errorf("class %d has %v training cases", c, count)
		}
		total += float64(count)
	}
	if total == 0 {
		return Predictions{}, fmt.Errorf("no training cases, so no base line")
	}
	base := make([]float64, m)
	for i, label := range labels {
		if label < 0 || label >= classes {
			return Predictions{}, fmt.Errorf("case %d is of class %d; there are %d classes", cases[i], label, classes)
		}
		row := proba.RawRowView(i)
		for c, p := range row {
			if !(p >= 0 && p <= 1+sumTolerance) {
				return Predictions{}, fmt.Errorf("case %d has probability %v for class %d", cases[i], p, c)
			}
		}
		if sum := floats.Sum(row); math.Abs(sum-1) > sumTolerance {
			return Predictions{}, fmt.Errorf("the class probabilities of case %d sum to %v", cases[i], sum)
		}
		base[i] = math.Log(float64(trainCounts[label]) / total)
	}
	return Predictions{Cases: cases, Labels: labels, Proba: proba, Base: base}, nil
}

// Pool concatenates the predictions of several models in this order; each keeps its own baseline.
// There must be at least one, all with the same classes, or all with numeric targets.
func Pool(parts ...Predictions) Predictions {
	all := Predictions{Ordered: parts[0].Ordered}
	for _, p := range parts {
		all.Cases = append(all.Cases, p.Cases...)
		all.Groups = append(all.Groups, p.Groups...)
		all.Labels = append(all.Labels, p.Labels...)
		all.Base = append(all.Base, p.Base...)
		all.Targets = append(all.Targets, p.Targets...)
		all.Mean = append(all.Mean, p.Mean...)
		all.Variance = append(all.Variance, p.Variance...)
		all.Confidence = append(all.Confidence, p.Confidence...)
		all.Threshold = append(all.Threshold, p.Threshold...)
		all.Weight = append(all.Weight, p.Weight...)
		all.Sets = append(all.Sets, p.Sets...)
	}
	if len(all.Groups) < len(all.Cases) {
		all.Groups = nil // unless all parts have them
	}
	if len(all.Sets) < len(all.Cases) {
		all.Sets = nil
	}
	if len(all.Confidence) < len(all.Cases) {
		all.Confidence = nil // unless all parts have it
	}
	if len(all.Threshold) < len(all.Cases) {
		all.Threshold = nil
	}
	if len(all.Weight) < len(all.Cases) {
		all.Weight = nil
	}
	if parts[0].Numeric() {
		return all
	}
	_, classes := parts[0].Proba.Dims()
	all.Proba = mat.NewDense(len(all.Cases), classes, nil)
	row := 0
	for _, p := range parts {
		all.Proba.Slice(row, row+len(p.Cases), 0, classes).(*mat.Dense).Copy(p.Proba)
		row += len(p.Cases)
	}
	return all
}

// weight returns the weight of row i.
func (p Predictions) weight(i int) float64 { return weighed(p.Weight, i) }

// weighed is the weight of row i (nil: 1 each).
func weighed(weight []float64, i int) float64 {
	if weight == nil {
		return 1
	}
	return weight[i]
}

// Total is the sum of the weights: the number of rows where they have none.
func (p Predictions) Total() float64 {
	if p.Weight == nil {
		return float64(len(p.Cases))
	}
	return floats.Sum(p.Weight)
}

// sum returns the sum of v over the rows, by their weights.
func (p Predictions) sum(v []float64) float64 {
	if p.Weight == nil {
		return floats.Sum(v)
	}
	return floats.Dot(p.Weight, v)
}

// present returns the rows whose value is not NaN.
func (p Predictions) present(v []float64) rowsOf {
	if !floats.HasNaN(v) {
		return rowsOf{v, p.Units(), p.Weight}
	}
	var s rowsOf
	for i, x := range v {
		if math.IsNaN(x) {
			continue
		}
		s.v, s.cases = append(s.v, x), append(s.cases, p.Units()[i])
		if p.Weight != nil {
			s.weight = append(s.weight, p.Weight[i])
		}
	}
	return s
}

// mean is the mean of v by the weights, with its normal 95 % interval.
func (p Predictions) mean(v []float64) Estimate { return rowsOf{v, p.Units(), p.Weight}.estimate() }

// effective is the number of units among the rows for which is holds, for intervals of rates: with
// weights or groups Kish's (Σ_g w_g)²/Σ_g w_g², w_g the weight of the rows of unit g.
func (p Predictions) effective(is func(i int) bool) float64 {
	var units []int
	of := map[int]float64{}
	for i, g := range p.Units() {
		if is(i) {
			units = append(units, g)
			of[g] += p.weight(i)
		}
	}
	if p.Weight == nil && p.Groups == nil {
		return float64(distinct(units))
	}
	sum, squares := 0.0, 0.0
	for _, g := range units { // a fixed order makes sums the same each time
		if w, left := of[g]; left {
			sum, squares = sum+w, squares+w*w
			delete(of, g)
		}
	}
	return sum * sum / squares
}

// all holds for every row.
func all(int) bool { return true }

// Decide is the class with the largest probability. Among equal ones the first in natural order is
// chosen.
func Decide(proba []float64) int { return floats.MaxIdx(proba) }

// DecideAt is Decide or, with a threshold, the second of two classes if its probability is at least
// the threshold, else the first.
func DecideAt(proba []float64, threshold ...float64) int {
	switch {
	case len(threshold) == 0:
		return Decide(proba)
	case proba[1] >= threshold[0]:
		return 1
	}
	return 0
}

// Decision is the class decided for in row i.
func (p Predictions) Decision(i int) int {
	if p.Threshold == nil {
		return Decide(p.Proba.RawRowView(i))
	}
	return DecideAt(p.Proba.RawRowView(i), p.Threshold[i])
}

// Confusion counts, in row i and column j of a C×C table, the cases of class i with decision j.
func (p Predictions) Confusion() [][]int {
	_, classes := p.Proba.Dims()
	table := counts(classes, classes)
	for i, label := range p.Labels {
		table[label][p.Decision(i)]++
	}
	return table
}

// counts returns a table of zeros.
func counts(rows, columns int) [][]int {
	table := make([][]int, rows)
	for i := range table {
		table[i] = make([]int, columns)
	}
	return table
}

// wrong is, for every row, 1 if its decision is an error and 0 if not.
func (p Predictions) wrong() []float64 {
	out := make([]float64, len(p.Labels))
	for i, label := range p.Labels {
		if p.Decision(i) != label {
			out[i] = 1
		}
	}
	return out
}

// floor is the smallest normal double. It replaces smaller probabilities before a logarithm is
// taken. (On amd64 math.Log is off by up to 36 nats below it.)
const floor = 0x1p-1022

// logProba is log p of the true class of every row, in nats.
func (p Predictions) logProba() []float64 {
	out := make([]float64, len(p.Labels))
	for i, label := range p.Labels {
		out[i] = math.Log(max(p.Proba.At(i, label), floor))
	}
	return out
}

// logLoss is, for every row, -log p of the true class, in nats.
func (p Predictions) logLoss() []float64 {
	out := p.logProba()
	floats.Scale(-1, out)
	return out
}

// floored reports, for every row, whether floor replaced the probability of the true class.
func (p Predictions) floored() []bool {
	out := make([]bool, len(p.Labels))
	for i, label := range p.Labels {
		out[i] = p.Proba.At(i, label) < floor
	}
	return out
}

// information is, for every row, log2 p of the true class minus the same for the baseline, in bits;
// NaN if the class has no training cases, because the baseline then is not finite.
func (p Predictions) information() []float64 {
	out := p.logProba()
	for i, base := range p.Base {
		out[i] = (out[i] - base) / math.Ln2
		if math.IsInf(base, -1) {
			out[i] = math.NaN()
		}
	}
	return out
}

// certainty returns, for every row, the information in bits of a prediction that gives the true
// class probability 1.
func (p Predictions) certainty() []float64 {
	out := make([]float64, len(p.Base))
	for i, base := range p.Base {
		out[i] = -base / math.Ln2
		if math.IsInf(base, -1) {
			out[i] = math.NaN()
		}
	}
	return out
}

// warnings reports how many probabilities were replaced by floor.
func (p Predictions) warnings() (out []cause.Notice) {
	floored, unseen := 0, 0
	for i, is := range p.floored() {
		if is {
			floored++
		}
		if math.IsInf(p.Base[i], -1) {
			unseen++
		}
	}
	if floored > 0 {
		out = append(out, cause.OwnClass.New("%d of %d cases had a probability below %.3g for their own class; "+
			"log_loss and information_bits take it as that, and compare --all does not test their differences",
			floored, len(p.Labels), floor))
	}
	if unseen > 0 {
		out = append(out, cause.AbsentClass.New("%d of %d cases are of a class without training cases; "+
			"information_bits leaves them out", unseen, len(p.Labels)))
	}
	return out
}

// Mix replaces p by a mixture of itself, with the weight 1-w, and of the predictions q of another
// model for the same cases, with the weight w. Class probabilities are averaged; numeric targets
// get the moments of MixMoments. Calling it with the weights 1/2, 1/3, … in turn gives all parts
// equal weights.
func (p *Predictions) Mix(q Predictions, w float64) {
	if p.Numeric() {
		MixMoments(p.Mean, p.Variance, q.Mean, q.Variance, w)
		return
	}
	p.Proba.Apply(func(i, c int, old float64) float64 { return (1-w)*old + w*q.Proba.At(i, c) }, p.Proba)
}

// MixMoments mixes two distributions, elementwise: the first has mean and variance and the weight
// 1-w, the second m, v and w. It replaces mean and variance by the moments of the mixture, whose
// variance is the weighted average of both variances plus w(1-w) times the squared difference of
// the means.
func MixMoments(mean, variance, m, v []float64, w float64) {
	for i := range mean {
		d := m[i] - mean[i]
		mean[i] += w * d
		variance[i] += w*(v[i]-variance[i]) + w*(1-w)*d*d
	}
}
