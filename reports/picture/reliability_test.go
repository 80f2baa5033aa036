package picture

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// heldOutRun is a report of configurations with these predictions of one evaluation, the first of
// which is the best.
func heldOutRun(by string, kernels []string, predictions ...cv.Predictions) *reports.Report {
	r := &reports.Report{}
	a := reports.Answer{Dataset: "d", By: by, Evaluation: "kfold"}
	for k, p := range predictions {
		c := reporttest.Scored("d", "probit", "laplace", 0)
		c.Kernel, c.Classes = reporttest.Declared(kernels[k%len(kernels)]), nil
		if !p.Numeric() {
			c.Classes = []string{"no", "yes"}
		}
		c.Evaluations = []reports.Evaluation{{Name: "kfold", Scores: reports.Scores{N: len(p.Cases)}}}
		c.Studies = []reports.Study{{Study: record.Study{Evaluation: "kfold"}, Predictions: &p}}
		r.Configurations = append(r.Configurations, c)
		if k > 0 {
			a.Rivals = append(a.Rivals, reports.Rival{Configuration: k})
		}
	}
	r.Answer = &a
	return r
}

// Of 40 cases, ten each have the probabilities .05, .35, .65 and .95, and 1, 3, 8 and 7 are of the
// second class: so the last group has 3 wrong decisions that are sure, the first 1, and 20 · .05 = 1
// would be expected.
func TestReliability(t *testing.T) {
	proba := mat.NewDense(40, 2, nil)
	var cases, labels []int
	for i := range 40 {
		p, positive := []float64{0.05, 0.35, 0.65, 0.95}[i/10], []int{1, 3, 8, 7}[i/10]
		proba.SetRow(i, []float64{1 - p, p})
		cases, labels = append(cases, i), append(labels, 0)
		if i%10 < positive {
			labels[i] = 1
		}
	}
	p, err := cv.NewPredictions(cases, labels, proba, []int{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	f := single(t, pictured(t, "reliability", heldOutRun("information_bits", []string{"se", "linear"}, p, p)))
	if f.Title != "Reliability of the probabilities: #0 se" || len(f.Panels) != 2 ||
		!slices.Contains(f.Notes, "4 of 20 decisions with a probability of 0.9 or more are wrong; if the probabilities are right, expect 1.0") {
		t.Errorf("%q, %q", f.Title, f.Notes)
	}
	points := f.Panels[0].Layers[1].(figure.Intervals)
	if fmt.Sprint(points.Y) != "[0.1 0.3 0.8 0.7]" || math.Abs(points.X[3]-0.95) > 1e-12 {
		t.Errorf("%+v", points)
	}
	// Wilson's interval of 7 of 10, statsmodels.stats.proportion.proportion_confint(7, 10, method="wilson")
	if math.Abs(points.Lo[3]-0.39677815) > 1e-7 || math.Abs(points.Hi[3]-0.89220873) > 1e-7 {
		t.Errorf("interval %v to %v", points.Lo[3], points.Hi[3])
	}
	if bars := f.Panels[1].Layers[0].(figure.Bars); bars.Heights[1]+bars.Heights[7]+bars.Heights[12]+bars.Heights[13]+bars.Heights[18]+bars.Heights[19]+bars.Heights[6]+bars.Heights[0] != 40 {
		t.Errorf("%+v", bars)
	}
}

// R² by hand: the squared errors sum to 4, and the targets 1, 2, 4, 5 deviate from 3 by 10 in squares.
// Standardised residuals of 1, -1, 1 and -1 are covered by intervals from 68.3 % on.
func TestObserved(t *testing.T) {
	p, err := cv.NewRegression([]int{0, 1, 2, 3}, []float64{1, 2, 4, 5}, []float64{0, 3, 3, 6}, []float64{1, 1, 1, 1}, 3, 2.5)
	if err != nil {
		t.Fatal(err)
	}
	f := single(t, pictured(t, "observed", heldOutRun("rmse", []string{"se"}, p)))
	if f.Title != "Predicted and observed" || f.Panels[0].Title != "R² 0.600" {
		t.Errorf("%q, %q", f.Title, f.Panels[0].Title)
	}
	covered := f.Panels[2].Layers[1].(figure.Line)
	if covered.Y[13] != 0 || covered.Y[14] != 1 || !strings.HasSuffix(f.Notes[0], "intervals of 95 % cover 100.0 %") {
		t.Errorf("%v, %q", covered.Y, f.Notes)
	}
	if residuals := f.Panels[1].Layers[1].(figure.Points); !slices.Equal(residuals.Y, []float64{1, -1, 1, -1}) {
		t.Errorf("%v", residuals.Y)
	}
}

// Of twelve configurations half have the linear kernel, with probabilities of the true class of .8
// instead of .4 in every case: log2 .8 - log2 .4 = 1 bit, so the effects are ±½ bit, exactly.
func TestFactors(t *testing.T) {
	var all []cv.Predictions
	for k := range 12 {
		proba := mat.NewDense(4, 2, nil)
		for i := range 4 {
			q := []float64{0.4, 0.8}[k%2]
			proba.Set(i, i%2, q)
			proba.Set(i, 1-i%2, 1-q)
		}
		p, err := cv.NewPredictions([]int{0, 1, 2, 3}, []int{0, 1, 0, 1}, proba, []int{1, 1})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	r := heldOutRun("information_bits", []string{"se", "linear"}, all...)
	f := single(t, pictured(t, "factors", r))
	if len(f.Panels) != 1 || f.Panels[0].Title != "kernel" || !slices.Equal(f.Panels[0].Y.Names, []string{"se", "linear"}) {
		t.Fatalf("%+v", f)
	}
	if bars := f.Panels[0].Layers[1].(figure.Intervals); math.Abs(bars.X[0]+0.5) > 1e-12 || math.Abs(bars.X[1]-0.5) > 1e-12 {
		t.Errorf("%+v", bars)
	}
	r.Answer.Rivals = r.Answer.Rivals[1:]
	if few := pictured(t, "factors", r); len(few) > 0 {
		t.Errorf("11 configurations: %+v", few)
	}
}
