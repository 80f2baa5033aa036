// Package scoretest contains the checks that every score must pass: a finite value within its range
// and its interval; the same value for the same predictions and for rows in another order; the sums
// and means that it claims; and no better value for worse predictions. A test of a score of your
// own is
//
//	func TestMine(t *testing.T) { scoretest.Check(t, mine) }
package scoretest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/cv"
)

// Check computes the score of predictions of two and three classes or of numeric targets: one row
// and many, with ties, certain and wrong ones, and cases that are predicted twice. It must be
// defined for some of them.
func Check(t *testing.T, s cv.Score) {
	t.Helper()
	defined := false
	for _, m := range []int{1, 2, 40} {
		for _, classes := range []int{2, 3} {
			if s.Numeric {
				classes = 0
			}
			ok, err := conform(s, m, classes)
			if err != nil {
				t.Errorf("%d predictions of %d classes: %v", m, classes, err)
			}
			defined = defined || ok
		}
	}
	if !defined {
		t.Error("it is never defined")
	}
}

// conform returns the first violation, and whether the score is defined.
func conform(s cv.Score, m, classes int) (defined bool, err error) {
	for _, quality := range []float64{0, 0.5, 1} {
		p := predictions(m, classes, quality)
		before := cv.Pool(p)
		e, ok, err := s.Checked(p)
		if err != nil || !ok {
			return defined, err
		}
		if _, _ = s.Func(p); !reflect.DeepEqual(cv.Pool(p), before) {
			return defined, fmt.Errorf("it changes the predictions")
		}
		value := func(p cv.Predictions) float64 { // NaN if undefined
			if e, ok := s.Func(p); ok {
				return e.Value
			}
			return math.NaN()
		}
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a)) }
		if v := value(reversed(p)); !near(e.Value, v) {
			return defined, fmt.Errorf("it is %v, and %v with the rows in another order", e.Value, v)
		}
		if v := value(cv.Pool(p, p)); s.Count && !near(2*e.Value, v) {
			return defined, fmt.Errorf("a Count is %v, and %v of the same predictions twice", e.Value, v)
		}
		if best, v := value(predictions(m, classes, 1)), e.Value; s.Greater && best < v || !s.Greater && best > v {
			return defined, fmt.Errorf("it is %v for the right classes or targets and better, %v, for others", best, v)
		}
		if v := value(baseline(p)); s.Base && !near(0, v) {
			return defined, fmt.Errorf("a Base score is %v for predictions that are the baseline", v)
		}
		defined = true
	}
	return defined, nil
}

// The training part of all predictions has this many cases of every class, and these moments.
var trained = []int{3, 2, 5}

const mean, variance = 0.5, 2

// predictions of quality 1 are right and certain, of quality 0 random, some of them certain and
// wrong. Every fifth row is of the case before.
func predictions(m, classes int, quality float64) cv.Predictions {
	r := rand.New(rand.NewPCG(uint64(m), uint64(classes)))
	var cases, labels []int
	var targets, means, variances []float64
	proba := make([]float64, 0, m*classes)
	for i := range m {
		cases = append(cases, i-max(0, i%5-3))
		if classes == 0 {
			y := r.NormFloat64()
			targets = append(targets, y)
			means = append(means, y+(1-quality)*r.NormFloat64())
			variances = append(variances, 1.5-quality)
			continue
		}
		labels = append(labels, (i+1)%classes)
		row := make([]float64, classes)
		for range 4 { // quarters, for ties
			row[r.IntN(classes)] += (1 - quality) / 4
		}
		row[labels[i]] += quality
		proba = append(proba, row...)
	}
	if classes == 0 {
		return must(cv.NewRegression(cases, targets, means, variances, mean, variance))
	}
	p := must(cv.NewPredictions(cases, labels, mat.NewDense(m, classes, proba), trained[:classes]))
	p.Ordered = true
	for i := range m {
		set := make([]bool, classes)
		for k, q := range p.Proba.RawRowView(i) {
			set[k] = q > 0.3
		}
		p.Sets = append(p.Sets, set)
	}
	return p
}

// baseline is the same cases predicted as the training part is.
func baseline(p cv.Predictions) cv.Predictions {
	m := len(p.Cases)
	if p.Numeric() {
		return must(cv.NewRegression(p.Cases, p.Targets, slices.Repeat([]float64{mean}, m),
			slices.Repeat([]float64{variance}, m), mean, variance))
	}
	_, classes := p.Proba.Dims()
	total := 0
	for _, count := range trained[:classes] {
		total += count
	}
	q := cv.Pool(p)
	q.Proba.Apply(func(_, c int, _ float64) float64 { return float64(trained[c]) / float64(total) }, q.Proba)
	base := must(cv.NewPredictions(q.Cases, q.Labels, q.Proba, trained[:classes]))
	base.Ordered = p.Ordered
	return base
}

// reversed is the predictions with the last row first.
func reversed(p cv.Predictions) cv.Predictions {
	q := cv.Pool(p)
	for _, v := range [][]int{q.Cases, q.Labels} {
		slices.Reverse(v)
	}
	for _, v := range [][]float64{q.Base, q.Targets, q.Mean, q.Variance} {
		slices.Reverse(v)
	}
	slices.Reverse(q.Sets)
	for i := range p.Labels {
		q.Proba.SetRow(len(p.Labels)-1-i, p.Proba.RawRowView(i))
	}
	return q
}

func must(p cv.Predictions, err error) cv.Predictions {
	if err != nil {
		panic(err)
	}
	return p
}
