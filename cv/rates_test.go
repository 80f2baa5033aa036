package cv

import (
	"math"
	"math/rand/v2"
	"testing"
)

// decided makes predictions with the given decisions.
func decided(t testing.TB, classes int, labels, decisions []int) Predictions {
	t.Helper()
	proba, counts := make([][]float64, len(labels)), make([]int, classes)
	for i, d := range decisions {
		proba[i] = make([]float64, classes)
		proba[i][d] = 1
	}
	for c := range counts {
		counts[c] = 1
	}
	return predict(t, labels, proba, counts...)
}

// The examples of scikit-learn's documentation of balanced_accuracy_score, f1_score (average="macro"),
// matthews_corrcoef and average_precision_score, to the places printed there.
func TestRatesAgainstScikitLearn(t *testing.T) {
	labels := []int{0, 1, 2, 0, 1, 2}
	for _, c := range []struct {
		name   string
		p      Predictions
		want   float64
		places float64
	}{
		{"balanced_accuracy", decided(t, 2, []int{0, 1, 0, 0, 1, 0}, []int{0, 1, 0, 0, 0, 1}), 0.625, 1e-3},
		{"f1", decided(t, 3, labels, []int{0, 2, 1, 0, 0, 1}), 0.267, 5e-4},
		{"matthews", decided(t, 2, []int{1, 1, 1, 0}, []int{1, 0, 1, 1}), -0.33, 5e-3},
		{"average_precision", predict(t, []int{0, 0, 1, 1}, [][]float64{{.9, .1}, {.6, .4}, {.65, .35}, {.2, .8}}, 1, 1), 0.83, 5e-3},
	} {
		if e := score(t, c.name, c.p); !close(e.Value, c.want, c.places) {
			t.Errorf("%s = %v, want %v", c.name, e.Value, c.want)
		}
	}
}

// Gorodkin's R_K computed by its definition: covariances of indicators of classes and decisions,
// summed over the classes.
func TestMatthewsAgainstCovariances(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 100 {
		classes := 2 + r.IntN(4)
		p := random(t, 4+r.IntN(40), classes, r)
		covariance := func(a, b func(i, c int) float64) (sum float64) {
			m := float64(len(p.Labels))
			for c := range classes {
				ab, ma, mb := 0.0, 0.0, 0.0
				for i := range p.Labels {
					ab, ma, mb = ab+a(i, c)*b(i, c), ma+a(i, c), mb+b(i, c)
				}
				sum += ab/m - ma/m*mb/m
			}
			return sum
		}
		is := func(hit bool) float64 {
			if hit {
				return 1
			}
			return 0
		}
		x := func(i, c int) float64 { return is(p.Labels[i] == c) }
		y := func(i, c int) float64 { return is(Decide(p.Proba.RawRowView(i)) == c) }
		want := covariance(x, y) / math.Sqrt(covariance(x, x)*covariance(y, y))
		e, ok := matthews(p)
		switch {
		case covariance(x, x) < 1e-9:
			if ok {
				t.Errorf("%v of one class", e)
			}
		case covariance(y, y) < 1e-9:
			if e.Value != 0 || !(e.Lo < 0 && e.Hi > 0) {
				t.Errorf("%v where all decisions are for one class", e)
			}
		case !close(e.Value, want, 1e-12) || e.Lo > e.Value || e.Hi < e.Value:
			t.Errorf("%v, want %v", e, want)
		}
	}
}

// The interval of the mean F1 is the normal one with the variance of the mean of the cases' influence
// values: the derivatives, here by central differences, of F1 by the weight of a case. It stays
// within [0, 1].
func TestIntervalOfF1AgainstInfluenceValues(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 20 {
		n, classes := 10+r.IntN(40), 3+r.IntN(2)
		p := random(t, n, classes, r)
		f := func(heavier int, by float64) (sum float64) {
			k := 0.0
			for c := range classes {
				both, either := 0.0, 0.0
				for i, label := range p.Labels {
					w := 1.0
					if i == heavier {
						w += by
					}
					for _, is := range []bool{label == c, p.Decision(i) == c} {
						if is {
							either += w
						}
					}
					if label == c && p.Decision(i) == c {
						both += w
					}
				}
				if either > 0 {
					k, sum = k+1, sum+2*both/either
				}
			}
			return sum / k
		}
		squares := 0.0
		for i := range n { // the influence values are n times the derivatives, and sum to 0
			d := (f(i, 1e-4) - f(i, -1e-4)) / 2e-4
			squares += d * d
		}
		e := score(t, "f1", p)
		half := z * math.Sqrt(squares*float64(n)/float64(n-1))
		if !close(e.Value, f(-1, 0), 1e-12) || !close(e.Lo, max(0, e.Value-half), 1e-7) || !close(e.Hi, min(1, e.Value+half), 1e-7) {
			t.Fatalf("%v, want %v ± %v", e, f(-1, 0), half)
		}
	}
	labels := []int{0, 0, 0, 1, 1, 1, 2, 2, 2}
	if e := score(t, "f1", decided(t, 3, labels, []int{0, 0, 0, 1, 1, 1, 2, 2, 0})); e.Hi != 1 || e.Lo > 0.9 {
		t.Errorf("%v with one error", e)
	}
	if e := score(t, "f1", decided(t, 3, labels, []int{0, 1, 2, 2, 2, 2, 0, 1, 0})); e.Lo != 0 {
		t.Errorf("%v with one case right", e)
	}
}

// The area under the steps of the precision-recall curve is the average precision, which is by
// definition the mean, over the cases of class 1, of the precision at the case's own probability.
func TestAveragePrecisionAgainstCases(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 100 {
		p := random(t, 6+r.IntN(60), 2, r)
		e, ok := averagePrecision(p)
		s, drawn := PrecisionRecall(p)
		if ok != drawn {
			t.Fatalf("a score: %v, a curve: %v", ok, drawn)
		}
		if !ok {
			continue
		}
		want, positives := 0.0, 0.0
		for i, label := range p.Labels {
			if label == 0 {
				continue
			}
			positives++
			hits, rows := 0.0, 0.0
			for j, other := range p.Labels {
				if p.Proba.At(j, 1) >= p.Proba.At(i, 1) {
					rows++
					hits += float64(other)
				}
			}
			want += hits / rows
		}
		area := 0.0
		for k := 1; k < len(s.X); k++ {
			area += (s.X[k] - s.X[k-1]) * s.Y[k]
		}
		if want /= positives; !close(e.Value, want, 1e-12) || !close(area, want, 1e-12) {
			t.Fatalf("%v, area %v, want %v", e, area, want)
		}
	}
}

// Intervals cover the population's value in about 95 of 100 samples. The populations have two
// classes, 1 : 4, and three; decisions are right with given probabilities, so that the population's
// scores are known.
func TestIntervalsOfRatesCover(t *testing.T) {
	const samples, n = 600, 120
	for _, population := range [][][]float64{ // the share of each class and decision
		{{0.72, 0.08}, {0.06, 0.14}},
		{{0.30, 0.06, 0.04}, {0.05, 0.20, 0.05}, {0.03, 0.03, 0.24}},
	} {
		classes := len(population)
		var labels, decisions []int
		for c, row := range population {
			for d, share := range row {
				for range int(math.Round(share * 100)) {
					labels, decisions = append(labels, c), append(decisions, d)
				}
			}
		}
		truth := decided(t, classes, labels, decisions)
		covered := map[string]int{}
		r := rand.New(rand.NewPCG(7, uint64(classes)))
		for range samples {
			var l, d []int
			for range n {
				i := r.IntN(len(labels))
				l, d = append(l, labels[i]), append(d, decisions[i])
			}
			p := decided(t, classes, l, d)
			for _, name := range []string{"balanced_accuracy", "f1", "matthews"} {
				if e, want := score(t, name, p), score(t, name, truth); e.Lo <= want.Value && want.Value <= e.Hi {
					covered[name]++
				}
			}
		}
		for name, k := range covered {
			t.Logf("%d classes, %s: %.3f", classes, name, float64(k)/samples)
			if share := float64(k) / samples; share < 0.93-4*math.Sqrt(0.93*0.07/samples) {
				t.Errorf("%d classes, %s: covered in %v", classes, name, share)
			}
		}
	}
}

// Matthews's interval covers the population's value in 95 of 100 samples, also if most decisions
// (in some samples all) are for one class, and if nearly all are right. It lies within [-1, 1].
func TestMatthewsIntervalCovers(t *testing.T) {
	const samples = 800
	for name, population := range map[string][][]float64{ // the share of each class and decision
		"few decisions":      {{0.80, 0.01}, {0.17, 0.02}},
		"fewer":              {{0.895, 0.005}, {0.09, 0.01}},
		"guessed":            {{0.855, 0.045}, {0.095, 0.005}},
		"worse than guessed": {{0.88, 0.02}, {0.098, 0.002}},
		"rare":               {{0.97, 0.01}, {0.01, 0.01}},
		"nearly all right":   {{0.49, 0.01}, {0.01, 0.49}},
		"even":               {{0.25, 0.25}, {0.25, 0.25}},
		"three classes":      {{0.83, 0.01, 0}, {0.07, 0.02, 0}, {0.06, 0, 0.01}},
	} {
		for _, n := range []int{40, 160} {
			classes := len(population)
			value := func(share [][]float64) float64 { // Gorodkin's R_K by its definition
				a, pq, pp, qq := 0.0, 0.0, 0.0, 0.0
				for c := range classes {
					of, decided := 0.0, 0.0
					for d := range classes {
						of, decided = of+share[c][d], decided+share[d][c]
					}
					a, pq, pp, qq = a+share[c][c], pq+of*decided, pp+of*of, qq+decided*decided
				}
				return (a - pq) / math.Sqrt((1-pp)*(1-qq))
			}
			truth := value(population)
			r := rand.New(rand.NewPCG(uint64(n), uint64(len(name))))
			covered, defined := 0, 0
			for range samples {
				var labels, decisions []int
				for range n {
					u := r.Float64()
					c, d := 0, 0
					for u -= population[0][0]; u >= 0 && c*classes+d < classes*classes-1; u -= population[c][d] {
						if d++; d == classes {
							c, d = c+1, 0
						}
					}
					labels, decisions = append(labels, c), append(decisions, d)
				}
				e, ok := matthews(decided(t, classes, labels, decisions))
				if !ok {
					continue
				}
				if !(-1 <= e.Lo && e.Lo <= e.Value && e.Value <= e.Hi && e.Hi <= 1) {
					t.Fatalf("%s: %v", name, e)
				}
				defined++
				if e.Lo <= truth && truth <= e.Hi {
					covered++
				}
			}
			share := float64(covered) / float64(defined)
			t.Logf("%s, %d cases: covered in %.3f of %d", name, n, share, defined)
			if share < 0.92 {
				t.Errorf("%s, %d cases: covered in %.3f", name, n, share)
			}
		}
	}
}

// Weights that are fractions do not hide that there is one class alone, or that all decisions are for one.
func TestMatthewsOfOneClassWithFractions(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 200 {
		p := random(t, 5+r.IntN(40), 2+r.IntN(3), r)
		p.Weight = make([]float64, len(p.Labels))
		for i := range p.Labels {
			p.Weight[i] = 0.1 + r.Float64()
			for c := range p.Proba.RawRowView(i) {
				p.Proba.RawRowView(i)[c] = 0
			}
			p.Proba.RawRowView(i)[0] = 1
			p.Labels[i] = i % 2
		}
		if e, ok := matthews(p); !ok || e.Value != 0 || !(e.Lo < 0 && e.Hi > 0) {
			t.Fatalf("%v, %v where all decisions are for one class", e, ok)
		}
		for i := range p.Labels {
			p.Labels[i] = 1
		}
		if e, ok := matthews(p); ok {
			t.Fatalf("%v of one class", e)
		}
	}
}
