package comparator

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Probabilities at the mode equal the probabilities of scikit-learn's
// LogisticRegression(fit_intercept=False, C=σ², tol=1e-12) at σ = 1.5, to its seven digits.
func TestAtModeIsPenalisedLikelihood(t *testing.T) {
	x := mat.NewDense(6, 2, []float64{0.5, 1, -1, 0.3, 2, -0.7, -0.4, -1.2, 1.1, 0.8, -1.5, 0.2})
	z := &kernel.Inputs{X: mat.NewDense(1, 2, []float64{0.7, -0.4})}
	for _, c := range []struct {
		y    approx.Targets
		want []float64
	}{
		{approx.Targets{Classes: 2, Value: []float64{1, -1, 1, -1, 1, 1}}, []float64{0.4649735, 0.5350265}},
		{approx.Targets{Classes: 3, Index: []int{0, 1, 2, 1, 0, 2}}, []float64{0.2851503, 0.3046479, 0.4102018}},
	} {
		bias := false
		f := fitted(t, LogisticRegression{Bias: &bias, Average: AtMode}.at(1.5), objective.Data{X: &kernel.Inputs{X: x}, Y: c.y})
		p := predicted(f, z, c.y.Classes)
		for k, want := range c.want {
			if math.Abs(p.At(0, k)-want) > 2e-6 {
				t.Errorf("%d classes: %v, want %v", c.y.Classes, p.RawRowView(0), c.want)
			}
		}
		if s := f.Summary(); s.Natural[1] != 1 {
			t.Errorf("%d classes: %+v", c.y.Classes, s)
		}
	}
}

// Classes that are far apart have nearly certain labels, which averages do not give; the mode is
// chosen. Few cases with many inputs are overfitted at the mode; averages are chosen. The option
// average decides without folds.
func TestAverageIsChosen(t *testing.T) {
	separate := objective.Data{X: &kernel.Inputs{X: mat.NewDense(60, 2, nil)}, Y: approx.Targets{Classes: 3}}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		k := i % 3
		separate.Y.Index = append(separate.Y.Index, k)
		separate.X.X.SetRow(i, []float64{8*float64(k%2) + r.NormFloat64(), 8*float64(k/2) + r.NormFloat64()})
	}
	many := objective.Data{X: &kernel.Inputs{X: mat.NewDense(40, 30, nil)}, Y: approx.Targets{Classes: 2}}
	for i := range 40 {
		sign := float64(2*(i%2) - 1)
		for j := range 30 {
			many.X.X.Set(i, j, r.NormFloat64()+0.25*sign)
		}
		many.Y.Value = append(many.Y.Value, sign)
	}
	sigma := 3.0
	for _, c := range []struct {
		d    objective.Data
		l    LogisticRegression
		want float64
	}{
		{separate, LogisticRegression{}, 1}, {separate, LogisticRegression{Average: Averaged}, 0},
		{many, LogisticRegression{}.at(sigma), 0}, {many, LogisticRegression{Average: AtMode}.at(sigma), 1},
	} {
		if s := fitted(t, c.l, c.d).Summary(); s.Natural[1] != c.want {
			t.Errorf("%+v of %d classes: %v, want %v", c.l.Average, c.d.Y.Classes, s.Natural, c.want)
		}
	}
	p := predicted(fitted(t, LogisticRegression{}, separate), separate.X, 3)
	for i, k := range separate.Y.Index {
		if !(p.At(i, k) > 0.9) {
			t.Errorf("case %d of class %d: %v", i, k, p.RawRowView(i))
		}
	}
}
