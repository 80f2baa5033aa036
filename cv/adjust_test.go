package cv

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Many cases whose log odds are twice too large: Platt's a is ½ and b is 0, and both calibrations
// bring the log loss close to the log loss of the true probabilities.
func TestCalibrationOfOverconfidence(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var labels []int
	var proba, truth [][]float64
	for range 4000 {
		f := 2 * r.NormFloat64()
		label := 0
		if r.Float64() < sigmoid(f) {
			label = 1
		}
		labels = append(labels, label)
		proba = append(proba, []float64{1 - sigmoid(2*f), sigmoid(2 * f)})
		truth = append(truth, []float64{1 - sigmoid(f), sigmoid(f)})
	}
	p, q := predict(t, labels, proba, 1, 1), predict(t, labels, truth, 1, 1)
	before, want := score(t, "log_loss", p).Value, score(t, "log_loss", q).Value
	for _, c := range Calibrations {
		parameters, err := c.Calibrate(p)
		if err != nil {
			t.Fatal(err)
		}
		if c.Name == "temperature" && (math.Abs(parameters[0][0]-0.5) > 0.05 || parameters[0][1] != 0) {
			t.Errorf("1/T = %v, want ½", parameters)
		}
		if c.Name == "platt" && (math.Abs(parameters[0][0]-0.5) > 0.05 || math.Abs(parameters[0][1]) > 0.1) {
			t.Errorf("a, b = %v, want ½, 0", parameters)
		}
		after := predict(t, labels, proba, 1, 1)
		for i := range labels {
			c.Adjust(parameters, after.Proba.RawRowView(i))
		}
		if e := score(t, "log_loss", after).Value; e > want+0.01 || e > before-0.05 {
			t.Errorf("%s: log loss %v, before %v, of the true probabilities %v", c.Name, e, before, want)
		}
	}
}

// Calibration needs cases of a class and of others.
func TestCalibrationNeedsBothSides(t *testing.T) {
	proba := [][]float64{{0.5, 0.3, 0.2}, {0.2, 0.3, 0.5}, {0.1, 0.8, 0.1}}
	for _, labels := range [][]int{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {0, 1, 1}} {
		for _, c := range Calibrations {
			if _, err := c.Calibrate(predict(t, labels, proba, 1, 1, 1)); (err == nil) != c.Shared {
				t.Errorf("%s of labels %v: error %v", c.Name, labels, err)
			}
		}
	}
	for _, c := range Calibrations {
		if of, err := c.Calibrate(predict(t, []int{0, 2, 1}, proba, 1, 1, 1)); err != nil || len(of) != 3 {
			t.Errorf("%s: %v, %v", c.Name, of, err)
		}
	}
}

// Of n cases with log odds ±x of the second class, all with the right sign, a = 1/T solves
// n x / (1 + exp(a x)) = ln(a) / (a s²), where s is the prior standard deviation of ln a. Of three
// classes with probabilities ½ of the label and ¼ of the others, the log odds 0 of the label tell
// nothing of T, and there are 2n others with x = ln 3.
func TestTemperatureOfRightDecisions(t *testing.T) {
	const n = 20
	var proba [][]float64
	var labels []int
	for i := range n {
		labels = append(labels, i%2)
		proba = append(proba, []float64{0.8 - 0.6*float64(i%2), 0.2 + 0.6*float64(i%2)})
	}
	temperature, err := CalibrationNamed("temperature")
	if err != nil {
		t.Fatal(err)
	}
	of, err := temperature.Calibrate(predict(t, labels, proba, 1, 1))
	check := func(n, x, a float64) {
		t.Helper()
		if got, want := n*x/(1+math.Exp(a*x)), math.Log(a)/(a*0.2*0.2); !(a > 1.1) || math.Abs(got-want) > 1e-7 {
			t.Errorf("1/T %v: %v, want %v", a, got, want)
		}
	}
	if err != nil || len(of) != 1 {
		t.Fatal(of, err)
	}
	check(n, math.Log(4), of[0][0])
	proba, labels = nil, nil
	for i := range n {
		row := []float64{0.25, 0.25, 0.25}
		row[i%3] = 0.5
		labels, proba = append(labels, i%3), append(proba, row)
	}
	of, err = temperature.Calibrate(predict(t, labels, proba, 1, 1, 1))
	if err != nil || len(of) != 3 || of[0][0] != of[2][0] {
		t.Fatal(of, err)
	}
	check(2*n, math.Log(3), of[0][0])
}

// At the best slope the objective changes by less than its rounding error. The fit ends there: 12
// Newton steps from 0 are enough for 265 cases, and each asks for F at z and -z once a case.
func TestSlopeEndsAtRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		const n = 265
		x, is := make([]float64, n), make([]bool, n)
		for i := range x {
			x[i] = r.NormFloat64()
			is[i] = r.Float64() < sigmoid(2*x[i])
		}
		calls := 0
		fitSlope(func(z float64) (float64, float64) { calls++; return logistic(z) }, x, is, nil)
		if evaluations := calls / (2 * n); evaluations > 13 {
			t.Errorf("%d evaluations", evaluations)
		}
	}
}

// The gradient of Platt's objective is 0 at the learnt parameters, also for probabilities that are
// all near 1. There the objective is 4.0 with a rounding error of 4e-16, and its second derivative
// by a is 14. So a gradient below √(2 · 14 · 4e-16) = 1e-7 cannot be told from 0.
func TestPlattIsStationary(t *testing.T) {
	for _, c := range []struct {
		proba     []float64
		tolerance float64
	}{{[]float64{0.1, 0.2, 0.9, 0.6, 0.4, 0.7}, 1e-9}, {[]float64{0.91, 0.92, 0.99, 0.96, 0.94, 0.97}, 1e-7}} {
		proba := c.proba
		is := []bool{false, true, true, true, false, false}
		ab := plattLearn(proba, is, ones(len(is)))
		var ga, gb float64
		for i, p := range proba {
			target := 1. / 5
			if is[i] {
				target = 4. / 5
			}
			d := plattApply(ab, p) - target
			ga, gb = ga+d*logOdds(p), gb+d
		}
		if math.Abs(ga) > c.tolerance || math.Abs(gb) > c.tolerance {
			t.Errorf("%v: gradient %v, %v at %v", proba, ga, gb, ab)
		}
	}
}

// Without weights each case counts as 1.
func TestLearningWithoutWeights(t *testing.T) {
	proba, is := []float64{0.1, 0.3, 0.2, 0.8, 0.7, 0.9}, []bool{false, false, true, true, false, true}
	for _, c := range Calibrations {
		if got, want := c.Learn(proba, is, nil), c.Learn(proba, is, ones(6)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.Name, got, want)
		}
	}
}

// By hand: in order of probability the labels are 0 | 1 0 1 0 | 1, where the tie at 0.8 is one
// point. The middle four pool at ½; with six cases the values stay ⅛ away from 0 and 1.
func TestIsotonicByHand(t *testing.T) {
	got := isotonicLearn([]float64{0.1, 0.3, 0.2, 0.8, 0.8, 0.9}, []bool{false, false, true, true, false, true}, ones(6))
	want := []float64{0.1, 1. / 8, 0.2, 0.5, 0.8, 0.5, 0.9, 7. / 8}
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return close(a, b, 1e-15) }) {
		t.Fatalf("%v, want %v", got, want)
	}
	for p, want := range map[float64]float64{0: 1. / 8, 0.15: 5. / 16, 0.5: 0.5, 0.85: 11. / 16, 1: 7. / 8} {
		if got := isotonicApply(got, p); !close(got, want, 1e-12) {
			t.Errorf("at %v: %v, want %v", p, got, want)
		}
	}
}

// TestIsotonicOfTies compares the fit with the min-max formula of isotonic regression over the
// distinct probabilities,
//
//	y_g = max_{a ≤ g} min_{b ≥ g} (cases of the class in groups a … b) / (cases in groups a … b)
//
// (Robertson, Wright & Dykstra 1988, Order Restricted Statistical Inference, 1.4.4). Permuted rows
// give the same bits.
func TestIsotonicOfTies(t *testing.T) {
	check := func(proba []float64, is []bool) {
		t.Helper()
		points := isotonicLearn(proba, is, ones(len(is)))
		order := rand.New(rand.NewPCG(1, uint64(len(proba)))).Perm(len(proba))
		if again := isotonicLearn(permute(proba, order), permute(is, order), ones(len(is))); !slices.Equal(again, points) {
			t.Fatalf("%v %v: %v, and with the rows in another order %v", proba, is, points, again)
		}
		groups := slices.Compact(slices.Sorted(slices.Values(proba)))
		edge := 1 / float64(len(proba)+2)
		for g, p := range groups {
			want := 0.
			for a := range g + 1 {
				least := 1.
				for b := g; b < len(groups); b++ {
					n, yes := 0., 0.
					for i, q := range proba {
						if q >= groups[a] && q <= groups[b] {
							n++
							if is[i] {
								yes++
							}
						}
					}
					least = min(least, yes/n)
				}
				want = max(want, least)
			}
			want = min(1-edge, max(edge, want))
			if got := isotonicApply(points, p); !close(got, want, 1e-14) {
				t.Fatalf("%v %v: %v at %v, want %v", proba, is, got, p, want)
			}
		}
	}
	low, high := slices.Repeat([]float64{0.2}, 5), slices.Repeat([]float64{0.8}, 5)
	check(slices.Concat(low, high), []bool{false, false, false, false, true, false, true, true, true, true})
	check(slices.Concat(low, high), []bool{false, false, false, false, true, true, true, true, true, false})
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		proba, is := make([]float64, 2+r.IntN(40)), []bool(nil)
		levels := 1 + r.IntN(12)
		for i := range proba {
			proba[i] = float64(r.IntN(levels)+1) / float64(levels+1)
			is = append(is, r.Float64() < proba[i])
		}
		check(proba, is)
	}
}

// TestPlattWithoutAnyClass: separated by a millionth, the corrected probabilities of new cases
// underflow for all classes, and still are probabilities.
func TestPlattWithoutAnyClass(t *testing.T) {
	platt, err := CalibrationNamed("platt")
	if err != nil {
		t.Fatal(err)
	}
	proba := []float64{0.2, 0.3, 0.5}
	platt.Adjust([][]float64{{1e4, 0}, {1e4, 0}, {1e4, -1e4}}, proba)
	if !close(proba[0]+proba[1]+proba[2], 1, 1e-12) {
		t.Errorf("probabilities %v", proba)
	}
}

// F1 is largest between 0.1 and 0.2: both cases of class 1 and one of class 0 are above. By utility
// the best threshold makes one error; if missing class 1 costs nine times as much, the threshold
// moves below the doubtful case at 0.2.
func TestBestThreshold(t *testing.T) {
	p := predict(t, []int{0, 0, 1, 0, 1}, [][]float64{{.95, .05}, {.9, .1}, {.8, .2}, {.75, .25}, {.6, .4}}, 1, 1)
	for _, c := range []struct {
		maximise string
		costs    *Costs
		want     float64
	}{
		{"f1", nil, 0.15}, // 2·2/(4+1+0) = 0.8 against 2/(2+0+1) = 0.67
		{"balanced_accuracy", nil, 0.15},
		{Utility, nil, 0.325}, // one error
		{Utility, &Costs{Loss: Loss{{0, 1}, {9, 0}}}, 0.15},
	} {
		got, err := BestThreshold(p, c.maximise, c.costs)
		if err != nil || !close(got, c.want, 1e-15) {
			t.Errorf("%s: %v, want %v (%v)", c.maximise, got, c.want, err)
		}
	}
	q := p
	q.Threshold = []float64{0.15, 0.15, 0.15, 0.15, 0.15}
	if e := score(t, "sensitivity", q); e.Value != 1 {
		t.Errorf("sensitivity %v above the threshold", e)
	}
	if got := Pool(q, q).Threshold; len(got) != 10 {
		t.Errorf("pooled thresholds %v", got)
	}
	if _, err := BestThreshold(p, "brier", nil); err == nil {
		t.Error("brier does not depend on a threshold")
	}
}

// A larger log odds never makes a class less probable. Where held-out predictions contradict their
// labels, the slope is 0 and the probability is the mean of Platt's targets, for both kinds of
// calibration up to its limits.
func TestCalibrationIsNeverReversed(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 50 {
		n := 20 + r.IntN(60)
		proba, is, weight := make([]float64, n), make([]bool, n), make([]float64, n)
		scale := math.Exp(10 * (r.Float64() - 1)) // scale of the log odds
		positive, negative := 2.0, 2.0
		for i := range n {
			f := r.NormFloat64()
			proba[i], is[i], weight[i] = sigmoid(scale*f), r.Float64() < sigmoid(-2*f), 0.5+r.Float64()
			if i < 2 {
				is[i] = i == 0
			}
		}
		for i, yes := range is {
			if yes {
				positive += weight[i]
			} else {
				negative += weight[i]
			}
		}
		positive, negative = positive-2, negative-2
		mean := (positive*(positive+1)/(positive+2) + negative/(negative+2)) / (positive + negative)
		ab := plattLearn(proba, is, weight)
		// The fit ends where a step gains less than 1e-20 n; the second derivative is about n/4.
		if q := plattApply(ab, 0.9); ab[0] == 0 && math.Abs(q-mean) > 1e-9 {
			t.Errorf("slope 0 and probability %v, want %v", q, mean)
		}
		if ab[0] != 0 && n > 40 {
			t.Errorf("slope %v of %d cases", ab[0], n)
		}
		for _, c := range Calibrations {
			of, before := c.Learn(proba, is, weight), 0.0
			for p := 0.0; p <= 1; p += 1. / 64 {
				now := c.Apply(of, p)
				if now < before {
					t.Fatalf("%s: %v of %v, and less before: %v", c.Name, now, p, before)
				}
				before = now
			}
		}
	}
}

// A probability is far outside a range if its log odds lie beyond an end by more than half the
// width of the range, in log odds.
func TestSpanLacks(t *testing.T) {
	s := Span{sigmoid(-1), sigmoid(3)}
	for x, want := range map[float64]bool{-3.1: true, -2.9: false, 0: false, 4.9: false, 5.1: true} {
		if got := s.Lacks(sigmoid(x)); got != want {
			t.Errorf("log odds %v: %v", x, got)
		}
	}
	if even := (Span{0.5, 0.5}); even.Lacks(0.5) || !even.Lacks(0.51) {
		t.Error("a range of one probability")
	}
	proba := []float64{0.4, 0.5, 0.55, 0.6}
	for _, c := range Calibrations {
		of := c.Learn(proba, []bool{false, true, false, true}, ones(4))
		if c.Extrapolates([][]float64{of}, []float64{0.5, 0.5}) || !c.Extrapolates([][]float64{of}, []float64{0.1, 0.9}) {
			t.Errorf("%s: parameters %v", c.Name, of)
		}
		three := [][]float64{of, of, of}
		if c.Extrapolates(three, []float64{0.4, 0.4, 0.4}) || !c.Extrapolates(three, []float64{0.45, 0.45, 0.1}) {
			t.Errorf("%s: of three classes, parameters %v", c.Name, of)
		}
	}
	if Calibrations[0].Extrapolates([][]float64{{1, 2}}, []float64{0, 1}) {
		t.Error("older parameters tell no range")
	}
}
