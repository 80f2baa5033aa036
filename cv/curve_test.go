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

// By hand. Confidences ½ (two cases, one wrong), ¾ (wrong) and 1 (right); information 0, 0, -1 and
// 1 bits. Both cases of confidence ½ are rejected together.
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
	// Both ½ are in the bin (7/15, 8/15], and ¾ is in the bin (11/15, 12/15].
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

// The model's own confidence takes precedence over both measures, also for pooled folds. If one of
// the folds has none, confidences are not comparable and the measure is used.
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

// Compared with the definition, one threshold at a time. Another order of the cases gives the same
// curve to the last bit.
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

// The intervals equal the intervals of the scores for the remaining cases, also if several rows
// belong to one case.
func TestRejectIntervals(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for round := range 40 {
		m := 2 + r.IntN(80)
		p := random(t, m, 2, r)
		for i := range p.Cases {
			p.Cases[i] = r.IntN(1 + m/(1+round%4))
		}
		gap := Confidences[1]
		for _, curve := range []string{"error_reject", "information_reject"} {
			s := draw(t, curve, gap.Name, p)
			for k := range s.X {
				sure := make([]float64, m)
				for i := range sure {
					sure[i] = gap.Func(p.Proba.RawRowView(i))
				}
				slices.Sort(sure)
				threshold := sure[m-s.N[k]] // the smallest confidence of the cases left
				var left Predictions
				var rows []float64
				for i := range m {
					if row := p.Proba.RawRowView(i); gap.Func(row) >= threshold {
						left.Cases, left.Labels, left.Base = append(left.Cases, p.Cases[i]), append(left.Labels, p.Labels[i]), append(left.Base, p.Base[i])
						rows = append(rows, row...)
					}
				}
				left.Proba = mat.NewDense(len(left.Cases), 2, rows)
				e := score(t, map[string]string{"error_reject": "error_rate", "information_reject": "information_bits"}[curve], left)
				for _, x := range [][2]float64{{s.Y[k], e.Value}, {s.Lo[k], e.Lo}, {s.Hi[k], e.Hi}} {
					if !close(x[0], x[1], 1e-9*max(1, math.Abs(e.Value))) {
						t.Fatalf("%s with %d of %d left: %v (%v … %v), want %v", curve, s.N[k], m, s.Y[k], s.Lo[k], s.Hi[k], e)
					}
				}
			}
		}
	}
}

// Wilson's interval of the share of correct decisions in a bin: for two cases, both right, the
// lower end is 2/(2+z²), and for one case, which is wrong, the upper end is z²/(1+z²).
func TestCalibrationIntervals(t *testing.T) {
	p := predict(t, []int{0, 1, 1}, [][]float64{{1, 0}, {0, 1}, {0.75, 0.25}}, 1, 1)
	s := draw(t, "calibration", "gap", p)
	want := [][3]float64{{0, 0, z * z / (1 + z*z)}, {1, 2 / (2 + z*z), 1}}
	for i, w := range want {
		if !close(s.Y[i], w[0], 0) || !close(s.Lo[i], w[1], 1e-15) || !close(s.Hi[i], w[2], 1e-15) {
			t.Errorf("bin %d: %v (%v … %v), want %v", i, s.Y[i], s.Lo[i], s.Hi[i], w)
		}
	}
}

// Compared with counts at each threshold, with many ties; the area under the curve is the score
// auc.
func TestROCAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for range 100 {
		p := random(t, 2+r.IntN(60), 2, r)
		s, ok := ROC(p)
		size := [2]float64{}
		var thresholds []float64
		for i, label := range p.Labels {
			size[label]++
			thresholds = append(thresholds, p.Proba.At(i, 1))
		}
		if ok != (size[0] > 0 && size[1] > 0) {
			t.Fatalf("%v cases of the classes: a curve is there: %v", size, ok)
		}
		if !ok {
			continue
		}
		thresholds = slices.Compact(slices.Sorted(slices.Values(append(thresholds, 2))))
		slices.Reverse(thresholds)
		if len(s.X) != len(thresholds) {
			t.Fatalf("%d points, want %d", len(s.X), len(thresholds))
		}
		area := 0.0
		for k, threshold := range thresholds {
			above := [2]float64{}
			for i, label := range p.Labels {
				if p.Proba.At(i, 1) >= threshold {
					above[label]++
				}
			}
			if s.X[k] != above[0]/size[0] || s.Y[k] != above[1]/size[1] || s.N[k] != int(above[0]+above[1]) {
				t.Fatalf("at %v: (%v, %v, %d), want %v of %v", threshold, s.X[k], s.Y[k], s.N[k], above, size)
			}
			if k > 0 {
				area += (s.X[k] - s.X[k-1]) * (s.Y[k] + s.Y[k-1]) / 2
			}
		}
		if e := score(t, "auc", p); !close(area, e.Value, 1e-14) {
			t.Fatalf("the area is %v, auc is %v", area, e.Value)
		}
	}
	if _, ok := ROC(random(t, 20, 3, r)); ok {
		t.Error("three classes have a curve")
	}
}
