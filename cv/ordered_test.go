package cv

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestScoresOfOrderedClasses: by hand. Without an order they are not defined.
func TestScoresOfOrderedClasses(t *testing.T) {
	p, err := NewPredictions([]int{0, 1, 2}, []int{0, 2, 1}, mat.NewDense(3, 3, []float64{
		0.2, 0.3, 0.5, // 2 off: (1 - 0.2)² + (1 - 0.5)²
		0.125, 0.5, 0.375, // 1 off: 0.125² + 0.625²
		0.25, 0.5, 0.25, // right: 0.25² + (1 - 0.75)²
	}), []int{1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"mean_absolute_error":      (2 + 1 + 0) / 3.,
		"ranked_probability_score": (0.64 + 0.25 + 0.015625 + 0.390625 + 0.0625 + 0.0625) / 3,
	} {
		for _, s := range Scores {
			if s.Name != name {
				continue
			}
			p.Ordered = false
			if _, ok, err := s.Of(p); ok || err != nil {
				t.Errorf("%s is defined without an order, %v", name, err)
			}
			p.Ordered = true
			if e, ok, err := s.Of(Pool(p, p)); !ok || err != nil || math.Abs(e.Value-want) > 1e-15 {
				t.Errorf("%s = %v, want %v (%v)", name, e.Value, want, err)
			}
		}
	}
}
