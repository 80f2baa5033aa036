package cv

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func draw(t testing.TB, name, confidence string, p Predictions) Series {
	t.Helper()
	curve, err := CurveNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := ConfidenceNamed(confidence)
	if err != nil {
		t.Fatal(err)
	}
	return curve.Func(p, c)
}

// By hand. Confidences ½ (two cases, one wrong), ¾ (wrong) and 1 (right); information 0, 0, -1 and 1 bits. Both cases
// of confidence ½ go at once.
func TestRejectCurves(t *testing.T) {
	p := predict(t, []int{0, 1, 1, 1}, [][]float64{{0.5, 0.5}, {0.5, 0.5}, {0, 1}, {0.75, 0.25}}, 3, 3)
	x, n := []float64{0, 0.5, 0.75}, []int{4, 2, 1}
	for _, confidence := range []string{"max_probability", "gap"} {
		for name, y := range map[string][]float64{"error_reject": {0.5, 0.5, 0}, "information_reject": {0, 0, 1}} {
			s := draw(t, name, confidence, p)
			if !slices.Equal(s.X, x) || !slices.Equal(s.Y, y) || !slices.Equal(s.N, n) {
				t.Errorf("%s by %s: %v, want %v, %v, %v", name, confidence, s, x, y, n)
			}
		}
	}
	// ½ ½ is in the bin of (7/15, 8/15], ¾ in that of (11/15, 12/15].
	s := draw(t, "calibration", "gap", p)
	if !slices.Equal(s.X, []float64{0.5, 0.75, 1}) || !slices.Equal(s.Y, []float64{0.5, 0, 1}) || !slices.Equal(s.N, []int{2, 1, 1}) {
		t.Errorf("calibration %v", s)
	}
}

// With three classes the two measures differ: (0.5, 0.5, 0) is surer than (0.4, 0.3, 0.3) by the largest probability
// and less sure by the gap.
func TestConfidences(t *testing.T) {
	p := predict(t, []int{1, 0}, [][]float64{{0.5, 0.5, 0}, {0.4, 0.3, 0.3}}, 1, 1, 1)
	if s := draw(t, "error_reject", "max_probability", p); !slices.Equal(s.Y, []float64{0.5, 1}) {
		t.Errorf("by the largest probability %v", s)
	}
	if s := draw(t, "error_reject", "gap", p); !slices.Equal(s.Y, []float64{0.5, 0}) {
		t.Errorf("by the gap %v", s)
	}
}

// A confidence of the model's own goes before both measures, also where several folds are put together; where one of them
// has none, no two are comparable and the measure serves.
func TestOwnConfidence(t *testing.T) {
	p := predict(t, []int{0, 1, 1}, [][]float64{{0.9, 0.1}, {0.9, 0.1}, {0.1, 0.9}}, 1, 1)
	p.Confidence = []float64{-3, -7, -5}
	q := p
	q.Confidence = []float64{-1, -9, -2}
	for _, name := range []string{"max_probability", "gap"} {
		if s := draw(t, "error_reject", name, p); !slices.Equal(s.X, []float64{0, 1. / 3, 2. / 3}) || !slices.Equal(s.Y, []float64{1. / 3, 0, 0}) {
			t.Errorf("by distance, not %s: %v", name, s)
		}
		if s := draw(t, "error_reject", name, Pool(p, q)); !slices.Equal(s.N, []int{6, 5, 4, 3, 2, 1}) || s.Y[2] != 0 {
			t.Errorf("two folds by distance, not %s: %v", name, s)
		}
		q.Confidence = nil
		if s := draw(t, "error_reject", name, Pool(p, q)); !slices.Equal(s.N, []int{6}) {
			t.Errorf("one of two folds has distances: %v", s)
		}
		q.Confidence = []float64{-1, -9, -2}
	}
}

// Against the definition, one threshold at a time, and in another order of the cases to the last bit.
func TestRejectAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 60 {
		classes := 2 + r.IntN(3)
		m := 1 + r.IntN(60)
		p := random(t, m, classes, r)
		order := r.Perm(m)
		permuted := Predictions{Cases: permute(p.Cases, order), Labels: permute(p.Labels, order), Base: permute(p.Base, order), Proba: mat.NewDense(m, classes, nil)}
		for to, from := range order {
			permuted.Proba.SetRow(to, p.Proba.RawRowView(from))
		}
		for _, c := range Confidences {
			sure := make([]float64, m)
			for i := range sure {
				sure[i] = c.Func(p.Proba.RawRowView(i))
			}
			thresholds := slices.Compact(slices.Sorted(slices.Values(sure)))
			for name, v := range map[string][]float64{"error_reject": p.wrong(), "information_reject": p.information()} {
				s := draw(t, name, c.Name, p)
				if len(s.X) != len(thresholds) {
					t.Fatalf("%d points, want %d", len(s.X), len(thresholds))
				}
				for k, threshold := range thresholds {
					left, sum := 0, 0.0
					for i := range v {
						if sure[i] >= threshold {
							left++
							sum += v[i]
						}
					}
					if s.N[k] != left || s.X[k] != float64(m-left)/float64(m) || math.Abs(s.Y[k]-sum/float64(left)) > 1e-10 {
						t.Fatalf("%s by %s at %v: (%v, %v, %d)", name, c.Name, threshold, s.X[k], s.Y[k], s.N[k])
					}
				}
				if again := draw(t, name, c.Name, permuted); !slices.Equal(again.Y, s.Y) || !slices.Equal(again.X, s.X) {
					t.Fatalf("%s by %s depends on the order of the cases", name, c.Name)
				}
			}
		}
	}
}
