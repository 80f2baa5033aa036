package cv

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func regression(t *testing.T, targets, mean, variance []float64, trainMean, trainVariance float64) Predictions {
	t.Helper()
	p, err := NewRegression(upTo(len(targets)), targets, mean, variance, trainMean, trainVariance)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Three targets missed by 1, 2 and 2: mean square 3, its interval 3 ± z √(3/3).
func TestRegressionScores(t *testing.T) {
	targets, mean, variance := []float64{1, 2, 3}, []float64{2, 0, 5}, []float64{0.5, 1, 9}
	p := regression(t, targets, mean, variance, 1.5, 4)
	results, warnings, _ := Evaluate(p)
	if len(results) != 2 || results[0].Name != "rmse" || results[1].Name != "standardized_log_loss" || len(warnings) != 0 {
		t.Fatalf("results %v, warnings %v", results, warnings)
	}
	const z = 1.959963984540054
	if e := results[0].Estimate; !close(e.Value, math.Sqrt(3), 1e-15) || !close(e.Lo, math.Sqrt(3-z), 1e-14) || !close(e.Hi, math.Sqrt(3+z), 1e-14) {
		t.Errorf("rmse %v", e)
	}
	want, base := 0.0, distuv.Normal{Mu: 1.5, Sigma: 2}
	for i, y := range targets {
		want += (base.LogProb(y) - distuv.Normal{Mu: mean[i], Sigma: math.Sqrt(variance[i])}.LogProb(y)) / 3
	}
	if got := results[1].Value; !close(got, want, 1e-14) {
		t.Errorf("standardized log loss %v, want %v", got, want)
	}
}

// Predicting the base line has standardized log loss 0; another unit of the targets changes only
// the rmse; pooling joins the cases.
func TestRegressionScoreProperties(t *testing.T) {
	const m, scale, shift = 40, 7.0, -300.0
	r := rand.New(rand.NewPCG(1, 1))
	targets, mean, variance := make([]float64, m), make([]float64, m), make([]float64, m)
	moved := [3][]float64{make([]float64, m), make([]float64, m), make([]float64, m)}
	guess := [2][]float64{make([]float64, m), make([]float64, m)}
	for i := range m {
		targets[i], mean[i], variance[i] = r.NormFloat64(), r.NormFloat64(), 0.1+r.Float64()
		moved[0][i], moved[1][i], moved[2][i] = shift+scale*targets[i], shift+scale*mean[i], scale*scale*variance[i]
		guess[0][i], guess[1][i] = 0.3, 1.7
	}
	p := regression(t, targets, mean, variance, 0.3, 1.7)
	q := regression(t, moved[0], moved[1], moved[2], shift+scale*0.3, scale*scale*1.7)
	if e := score(t, "standardized_log_loss", regression(t, targets, guess[0], guess[1], 0.3, 1.7)); e != (Estimate{}) {
		t.Errorf("guessing: %v", e)
	}
	if a, b := score(t, "standardized_log_loss", p), score(t, "standardized_log_loss", q); !close(a.Value, b.Value, 1e-12) || !close(a.Lo, b.Lo, 1e-12) {
		t.Errorf("standardized log loss %v and, in other units, %v", a, b)
	}
	if a, b := score(t, "rmse", p), score(t, "rmse", q); !close(scale*a.Value, b.Value, 1e-12) {
		t.Errorf("rmse %v and, in other units, %v", a, b)
	}
	pooled := Pool(p, q)
	if !pooled.Numeric() || len(pooled.Cases) != 2*m || !slices.Equal(pooled.Targets[m:], q.Targets) || !slices.Equal(pooled.Base[:m], p.Base) ||
		!slices.Equal(pooled.Mean[m:], q.Mean) || !slices.Equal(pooled.Variance[:m], p.Variance) {
		t.Errorf("pooled %+v", pooled)
	}
	if results, _, _ := Evaluate(pooled); len(results) != 2 {
		t.Errorf("results %v", results)
	}
}

func TestBadRegression(t *testing.T) {
	for _, bad := range [][3]float64{{math.NaN(), 0, 1}, {0, math.Inf(1), 1}, {0, 0, 0}, {0, 0, -1}, {0, 0, math.NaN()}} {
		if _, err := NewRegression([]int{3}, bad[:1], bad[1:2], bad[2:], 0, 1); err == nil {
			t.Errorf("%v is no error", bad)
		}
	}
	// Equal training targets have variance 0 and give no base line.
	p := regression(t, []float64{1, 2}, []float64{1, 1}, []float64{1, 1}, 1, 0)
	if results, _, _ := Evaluate(p); len(results) != 1 || results[0].Name != "rmse" {
		t.Errorf("results %v", results)
	}
	defer func() {
		if recover() == nil {
			t.Error("wrong shapes: no panic")
		}
	}()
	NewRegression([]int{0}, []float64{0}, []float64{0, 1}, []float64{1}, 0, 1)
}
