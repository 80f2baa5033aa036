package classifier

import (
	"math"
	"reflect"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/objective"
)

// TestWeights: weights are repeated rows, and a model file keeps them.
func TestWeights(t *testing.T) {
	for _, m := range []approx.Approximation{approx.EP{}, approx.NaiveMeanField{}} {
		x, labels := cases(16, 2, 0.1)
		z, _ := cases(5, 2, 0.7)
		var weights []float64
		var rows [][]float64
		repeated := labels[:0:0]
		for i := range x {
			w := (i*i + i/3) % 4
			weights = append(weights, float64(w))
			for range w {
				rows, repeated = append(rows, x[i]), append(repeated, labels[i])
			}
		}
		choices := []Option{Inference(m), Restarts(1), Criterion(objective.LogEvidence{})}
		c, err := Train(t.Context(), x, labels, append(choices, Weights(weights))...)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Train(t.Context(), rows, repeated, choices...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Proba(t.Context(), z)
		if err != nil {
			t.Fatal(err)
		}
		want, err := d.Proba(t.Context(), z)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range got {
			for k, p := range row {
				if !(math.Abs(p-want[i][k]) <= 1e-5) {
					t.Errorf("%T: %v, of repeated rows %v", m, row, want[i])
				}
			}
		}
		if again, err := reloaded(t, c).Proba(t.Context(), z); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%T: loaded %v, want %v, error %v", m, again, got, err)
		}
	}
	x, labels := cases(16, 2, 0.1)
	if _, err := Train(t.Context(), x, labels, Weights([]float64{1, 2})); err == nil {
		t.Error("two weights of 16 rows are accepted")
	}
}
