package cv

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// predict makes predictions about distinct cases.
func predict(t testing.TB, labels []int, proba [][]float64, trainCounts ...int) Predictions {
	t.Helper()
	p, err := NewPredictions(upTo(len(labels)), labels, dense(proba), trainCounts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func dense(rows [][]float64) *mat.Dense {
	m := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, row := range rows {
		m.SetRow(i, row)
	}
	return m
}

// random makes m random predictions with many ties among the probabilities.
func random(t testing.TB, m, classes int, r *rand.Rand) Predictions {
	labels := make([]int, m)
	proba := make([][]float64, m)
	counts := make([]int, classes)
	for c := range counts {
		counts[c] = 1 + r.IntN(20)
	}
	for i := range labels {
		labels[i] = r.IntN(classes)
		proba[i] = make([]float64, classes)
		for range 8 {
			proba[i][r.IntN(classes)] += 1. / 8
		}
	}
	return predict(t, labels, proba, counts...)
}

func score(t testing.TB, name string, p Predictions) Estimate {
	t.Helper()
	s, err := ScoreNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	e, ok := s.Func(p)
	if !ok {
		t.Fatalf("%s is not defined", name)
	}
	return e
}

func close(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance || math.IsNaN(got) && math.IsNaN(want)
}

const z = 1.959963984540054 // the 97.5 % point of the standard normal in tables

// Four cases of two classes, base line ½ : ½, by hand.
//
//	class   p             decision        log2 p + 1   brier   confidence
//	0       1/2 1/2       0 (tie)  right    0          1/2     1/2
//	1       1/2 1/2       0 (tie)  wrong    0          1/2     1/2
//	1       0   1         1        right    1          0       1
//	1       3/4 1/4       0        wrong   -1          9/8     3/4
func TestScoresOfTwoClasses(t *testing.T) {
	p := predict(t, []int{0, 1, 1, 1}, [][]float64{{0.5, 0.5}, {0.5, 0.5}, {0, 1}, {0.75, 0.25}}, 3, 3)
	half := z * math.Sqrt(2./3) / 2      // information has sample variance 2/3
	wilson := z / (2 * math.Sqrt(4+z*z)) // the interval is symmetric for p = ½
	loss := math.Ln2                     // mean of 1, 1, 0, 2 bits, of the same variance
	briers := math.Sqrt((2*0.03125*0.03125 + 0.53125*0.53125 + 0.59375*0.59375) / 3)
	none := math.NaN()
	third := wilsonOf(1./3, 3)
	want := map[string]Estimate{
		"information_bits": {0, -half, half},
		"errors":           {2, none, none},
		"error_rate":       {0.5, 0.5 - wilson, 0.5 + wilson},
		"log_loss":         {loss, loss - half*math.Ln2, loss + half*math.Ln2},
		"brier":            {0.53125, 0.53125 - z*briers/2, 0.53125 + z*briers/2},
		"ece":              {0.1875, none, none}, // one case of four is wrong with confidence ¾, all other bins are right
		"auc":              {0.5, none, none},    // against the one case of class 0: a tie, a win, a loss
		// One of the three cases of class 1 is decided to be of class 1, and the case of class 0 is
		// not.
		"sensitivity":       wilsonOf(1./3, 3),
		"specificity":       wilsonOf(1, 1),
		"balanced_accuracy": average(wilsonOf(1./3, 3), wilsonOf(1, 1)),
		"f1":                {0.5, 2 * third.Lo / (1 + third.Lo), 2 * third.Hi / (1 + third.Hi)},
		"matthews":          correlation(1, 0, 2, 1),
		"average_precision": wilsonOf((1+2./3+3./4)/3, 3), // precisions at the first, second and third case of class 1
	}
	results, warnings, _ := Evaluate(p)
	if len(results) != len(want) || len(warnings) != 0 {
		t.Fatalf("%d results, warnings %v", len(results), warnings)
	}
	for i, r := range results {
		w, ok := want[r.Name]
		if !ok || r.Name != Scores[i].Name {
			t.Fatalf("score %q is not in its place", r.Name)
		}
		if !close(r.Value, w.Value, 1e-14) || !close(r.Lo, w.Lo, 1e-14) || !close(r.Hi, w.Hi, 1e-14) {
			t.Errorf("%s = %v, want %v", r.Name, r.Estimate, w)
		}
	}
	if got := p.Confusion(); !slices.Equal(got[0], []int{1, 0}) || !slices.Equal(got[1], []int{2, 1}) {
		t.Errorf("confusion %v", got)
	}
}

func wilsonOf(rate float64, n int) Estimate {
	lo, hi := wilson(rate, float64(n))
	return Estimate{rate, lo, hi}
}

// average is the mean of estimates from disjoint cases: deviations add up in squares.
func average(of ...Estimate) Estimate {
	k, sum, below, above := float64(len(of)), 0.0, 0.0, 0.0
	for _, e := range of {
		sum += e.Value
		below += math.Pow(e.Value-e.Lo, 2)
		above += math.Pow(e.Hi-e.Value, 2)
	}
	return Estimate{sum / k, (sum - math.Sqrt(below)) / k, (sum + math.Sqrt(above)) / k}
}

// correlation is Matthews's for two classes from the four counts. Its interval spans two intervals:
// of the counts and of the counts plus ½.
func correlation(tp, fp, fn, tn float64) Estimate {
	e, more := phi(tp, fp, fn, tn, tp+fp+fn+tn), phi(tp+0.5, fp+0.5, fn+0.5, tn+0.5, tp+fp+fn+tn)
	return Estimate{e.Value, min(e.Lo, more.Lo), max(e.Hi, more.Hi)}
}

// phi is φ of the four counts. Its interval uses, on the scale of atanh, the large-sample variance
// of Bishop, Fienberg & Holland (1975, Discrete Multivariate Analysis, 11.3) times cases/(cases-1).
func phi(tp, fp, fn, tn, cases float64) Estimate {
	n := tp + fp + fn + tn
	r1, r2, c1, c2 := (tp+fn)/n, (fp+tn)/n, (tp+fp)/n, (fn+tn)/n
	phi := (tp*tn - fp*fn) / (n * n) / math.Sqrt(r1*r2*c1*c2)
	variance := 1 - phi*phi + phi*(1+phi*phi/2)*(r1-r2)*(c1-c2)/math.Sqrt(r1*r2*c1*c2) -
		0.75*phi*phi*((r1-r2)*(r1-r2)/(r1*r2)+(c1-c2)*(c1-c2)/(c1*c2))
	half := z * math.Sqrt(variance/n*cases/(cases-1)) / (1 - phi*phi)
	return Estimate{phi, math.Tanh(math.Atanh(phi) - half), math.Tanh(math.Atanh(phi) + half)}
}

// Two cases of three classes with training frequencies ¼, ¼, ½: their true classes have
// probabilities ½ (base ½) and ¼ (base ¼).
func TestScoresOfThreeClasses(t *testing.T) {
	p := predict(t, []int{2, 1}, [][]float64{{0.25, 0.25, 0.5}, {0.75, 0.25, 0}}, 1, 1, 2)
	if e := score(t, "information_bits", p); e.Value != 0 || e.Lo != 0 || e.Hi != 0 {
		t.Errorf("information %v of predictions that are the base line", e)
	}
	if e := score(t, "log_loss", p); !close(e.Value, 1.5*math.Ln2, 1e-15) {
		t.Errorf("log loss %v", e)
	}
	if e := score(t, "brier", p); !close(e.Value, (0.375+1.125)/2, 1e-15) {
		t.Errorf("brier %v", e)
	}
	results, _, _ := Evaluate(p)
	for _, r := range results {
		if slices.Contains([]string{"auc", "average_precision", "sensitivity", "specificity"}, r.Name) {
			t.Errorf("%s of three classes", r.Name)
		}
	}
}

// A probability of 0 is replaced by the smallest normal double, 2^-1022, and what follows is only a
// bound: differences are not tested. A case of a class without training cases, which the
// training frequencies give probability 0, has no information.
func TestFloors(t *testing.T) {
	p := predict(t, []int{0, 0, 1}, [][]float64{{0, 1}, {1, 0}, {0.5, 0.5}}, 7, 0)
	if e := score(t, "log_loss", p); !close(e.Value, 1023*math.Ln2/3, 1e-12) {
		t.Errorf("log loss %v", e)
	}
	if e := score(t, "information_bits", p); !close(e.Value, -1022./2, 1e-12) || math.IsNaN(e.Lo) {
		t.Errorf("information %v", e)
	}
	q := predict(t, []int{0, 0, 1}, [][]float64{{.5, .5}, {.75, .25}, {.25, .75}}, 7, 0)
	if e := score(t, "information_bits", q); !close(e.Value, (-1+math.Log2(.75))/2, 1e-12) || math.IsNaN(e.Lo) {
		t.Errorf("information %v without floors", e)
	}
	for _, name := range []string{"log_loss", "information_bits"} {
		s, _ := ScoreNamed(name)
		folds, n := s.OverFolds([]Predictions{p, q, q}, []Predictions{q, p, q}, 1)
		if n != 3 || !math.IsNaN(folds.P) {
			t.Errorf("%s: %+v", name, folds)
		}
	}
	none := predict(t, []int{1, 1}, [][]float64{{.5, .5}, {.25, .75}}, 7, 0)
	results, _, _ := Evaluate(none)
	if slices.ContainsFunc(results, func(r Result) bool { return r.Name == "information_bits" }) {
		t.Error("information of cases that no training part has")
	}
	_, warnings, _ := Evaluate(p)
	if len(warnings) != 2 || !strings.HasPrefix(warnings[0].Text, "1 of 3 cases had a probability below 2.23e-308") ||
		!strings.HasPrefix(warnings[1].Text, "1 of 3 cases are of a class without training cases") {
		t.Errorf("warnings %q", warnings)
	}
}

// One case has only Wilson intervals; one class has neither a ROC curve nor a correlation.
func TestOneCase(t *testing.T) {
	p := predict(t, []int{1}, [][]float64{{0.25, 0.75}}, 1, 1)
	results, _, _ := Evaluate(p)
	for _, r := range results {
		want := slices.Contains([]string{"error_rate", "sensitivity", "f1"}, r.Name)
		undefined := slices.Contains([]string{"auc", "average_precision", "specificity", "balanced_accuracy", "matthews"}, r.Name)
		if math.IsNaN(r.Lo) == want || math.IsNaN(r.Value) || undefined {
			t.Errorf("%s = %v", r.Name, r.Estimate)
		}
	}
}

// Newcombe (1998), Statistics in Medicine 17:857, table I, method 3 (Wilson's), to the four places printed.
func TestWilson(t *testing.T) {
	for _, test := range []struct {
		x, n   int
		lo, hi float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}} {
		lo, hi := wilson(float64(test.x)/float64(test.n), float64(test.n))
		if !close(lo, test.lo, 5e-5) || !close(hi, test.hi, 5e-5) {
			t.Errorf("%d of %d: [%.4f, %.4f], want [%.4f, %.4f]", test.x, test.n, lo, hi, test.lo, test.hi)
		}
	}
	// Each end of the interval is a rate π that is exactly z standard deviations away from p.
	for _, n := range []int{1, 7, 100, 1000000} {
		for x := 0; x <= n; x += max(1, n/7) {
			p := float64(x) / float64(n)
			lo, hi := wilson(p, float64(n))
			for _, pi := range []float64{lo, hi} {
				if d, sd := math.Abs(p-pi), math.Sqrt(pi*(1-pi)/float64(n)); math.Abs(d-z*sd) > 1e-11 {
					t.Errorf("%d of %d: π = %v is %v standard deviations away", x, n, pi, d/sd)
				}
			}
			if x == 0 && lo != 0 || x == n && hi != 1 || lo > p || p > hi {
				t.Errorf("%d of %d: [%v, %v]", x, n, lo, hi)
			}
		}
	}
}

// The area equals the share of correctly ordered pairs.
func TestAUCAgainstPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		p := random(t, 6+r.IntN(60), 2, r)
		var score [2][]float64
		for i, label := range p.Labels {
			score[label] = append(score[label], p.Proba.At(i, 1))
		}
		m, n := float64(len(score[1])), float64(len(score[0]))
		if m < 2 || n < 2 {
			continue
		}
		psi := func(x, y float64) float64 {
			switch {
			case x > y:
				return 1
			case x == y:
				return 0.5
			}
			return 0
		}
		area := 0.0
		for _, x := range score[1] {
			for _, y := range score[0] {
				area += psi(x, y) / (m * n)
			}
		}
		if e, ok := areaUnderCurve(p); !ok || !close(e.Value, area, 1e-14) {
			t.Fatalf("auc %v, want %v", e, area)
		}
	}
}

func TestAUCOfSeparatedClasses(t *testing.T) {
	p := predict(t, []int{0, 0, 0, 1, 1, 1}, [][]float64{{0.9, 0.1}, {0.8, 0.2}, {0.7, 0.3}, {0.4, 0.6}, {0.3, 0.7}, {0.6, 0.4}}, 1, 1)
	if e := score(t, "auc", p); e.Value != 1 || e.Hi != 1 || !(e.Lo > 0.5 && e.Lo < 0.6) {
		t.Errorf("auc %v", e)
	}
}

// Every score computed by its definition, one case at a time.
func TestScoresAgainstDefinitions(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		classes := 2 + r.IntN(4)
		p := random(t, 2+r.IntN(50), classes, r)
		m := float64(len(p.Labels))
		bits, loss, wrong, squares := []float64{}, []float64{}, 0.0, []float64{}
		gaps := 0.0
		for b := range 15 {
			n, sure, right := 0.0, 0.0, 0.0
			for i, label := range p.Labels {
				row := p.Proba.RawRowView(i)
				if top := slices.Max(row); top > float64(b)/15 && top <= float64(b+1)/15 {
					n++
					sure += top
					if slices.Index(row, top) == label {
						right++
					}
				}
			}
			if n > 0 {
				gaps += n / m * math.Abs(right/n-sure/n)
			}
		}
		for i, label := range p.Labels {
			row := p.Proba.RawRowView(i)
			q := row[label]
			if q == 0 {
				q = 0x1p-1022
			}
			bits = append(bits, math.Log2(q)-p.Base[i]/math.Ln2)
			loss = append(loss, -math.Log(q))
			if slices.Index(row, slices.Max(row)) != label {
				wrong++
			}
			square := 0.0
			for c, q := range row {
				if c == label {
					square += (q - 1) * (q - 1)
				} else {
					square += q * q
				}
			}
			squares = append(squares, square)
		}
		check := func(name string, want Estimate) {
			got := score(t, name, p)
			if !close(got.Value, want.Value, 1e-11) || !close(got.Lo, want.Lo, 1e-11) || !close(got.Hi, want.Hi, 1e-11) {
				t.Errorf("%s = %v, want %v", name, got, want)
			}
		}
		normal := func(v []float64) Estimate {
			sum, ss := 0.0, 0.0
			for _, x := range v {
				sum += x
			}
			mean := sum / m
			for _, x := range v {
				ss += (x - mean) * (x - mean)
			}
			half := z * math.Sqrt(ss/(m-1)) / math.Sqrt(m)
			return Estimate{mean, mean - half, mean + half}
		}
		none := math.NaN()
		informed, most := normal(bits), 0.0
		for _, base := range p.Base {
			most -= base / math.Ln2 / m
		}
		informed.Hi = min(informed.Hi, most) // the information if every class were known
		check("information_bits", informed)
		check("log_loss", normal(loss))
		check("brier", normal(squares))
		check("errors", Estimate{wrong, none, none})
		check("ece", Estimate{gaps, none, none})
		recalls, of, decided, hits := []Estimate{}, make([]int, classes), make([]int, classes), make([]int, classes)
		for i, row := range p.Confusion() {
			for j, n := range row {
				of[i] += n
				decided[j] += n
			}
			if hits[i] = row[i]; of[i] > 0 {
				recalls = append(recalls, wilsonOf(float64(row[i])/float64(of[i]), of[i]))
			}
		}
		if len(recalls) > 1 {
			check("balanced_accuracy", average(recalls...))
		}
		if classes == 2 && of[1] > 0 {
			check("sensitivity", recalls[len(recalls)-1])
		}
		if classes == 2 && of[0] > 0 {
			check("specificity", recalls[0])
		}
		k, f := 0.0, 0.0
		for c := range classes {
			if of[c]+decided[c] > 0 {
				k++
				f += 2 * float64(hits[c]) / float64(of[c]+decided[c])
			}
		}
		switch {
		case classes > 2:
			if e := score(t, "f1", p); !close(e.Value, f/k, 1e-12) {
				t.Errorf("f1 = %v, want %v", e, f/k)
			}
		case of[1] > 0:
			rows := of[1] + decided[1] - hits[1]
			j := wilsonOf(float64(hits[1])/float64(rows), rows)
			check("f1", Estimate{2 * float64(hits[1]) / float64(of[1]+decided[1]), 2 * j.Lo / (1 + j.Lo), 2 * j.Hi / (1 + j.Hi)})
		}
		total := 0
		for i, row := range p.Confusion() {
			for j, n := range row {
				if i != j {
					total += n
				}
			}
		}
		if float64(total) != wrong {
			t.Errorf("confusion %v, %v errors", p.Confusion(), wrong)
		}
	}
}

// Pooled predictions keep the base lines of their folds: two cases with p = ½, against ½ and
// against ¼, have (0 + 1)/2 bits.
func TestPool(t *testing.T) {
	a := predict(t, []int{0}, [][]float64{{0.5, 0.5}}, 5, 5)
	b := predict(t, []int{1}, [][]float64{{0.5, 0.5}}, 3, 1)
	b.Cases = []int{8}
	p := Pool(a, b)
	if e := score(t, "information_bits", p); !close(e.Value, 0.5, 1e-15) {
		t.Errorf("information %v", e)
	}
	if !slices.Equal(p.Cases, []int{0, 8}) || !slices.Equal(p.Labels, []int{0, 1}) {
		t.Errorf("cases %v, labels %v", p.Cases, p.Labels)
	}
}

// Repeating all predictions three times does not narrow an interval: the unit of every interval is
// the case.
func TestRepeatedPredictions(t *testing.T) {
	p := random(t, 40, 2, rand.New(rand.NewPCG(4, 4)))
	once, _, _ := Evaluate(p)
	thrice, _, _ := Evaluate(Pool(p, p, p))
	for i := range once {
		a, b := once[i], thrice[i]
		if a.Count {
			b.Value /= 3
		}
		if !close(b.Value, a.Value, 1e-12) || !close(b.Lo, a.Lo, 1e-12) || !close(b.Hi, a.Hi, 1e-12) {
			t.Errorf("%s: %v, three times %v", a.Name, a.Estimate, b.Estimate)
		}
	}
}

// Copies of cases in the group of the case do not narrow an interval of a score or of a curve.
func TestCopiesInGroups(t *testing.T) {
	for _, classes := range []int{2, 3} {
		p := random(t, 40, classes, rand.New(rand.NewPCG(5, uint64(classes))))
		copies := p
		copies.Cases, copies.Groups, p.Groups = nil, p.Cases, nil
		for _, i := range p.Cases {
			copies.Cases = append(copies.Cases, 40+i)
		}
		first := p
		first.Groups = p.Cases
		twice := Pool(first, copies)
		once, _, _ := Evaluate(p)
		both, _, _ := Evaluate(twice)
		for i, a := range once {
			b := both[i]
			if a.Count {
				b.Value /= 2
			}
			if !close(b.Value, a.Value, 1e-12) || !close(b.Lo, a.Lo, 1e-12) || !close(b.Hi, a.Hi, 1e-12) {
				t.Errorf("%d classes, %s: %v, of two copies %v", classes, a.Name, a.Estimate, b.Estimate)
			}
		}
		for _, c := range Curves {
			a, b := c.Func(p, Confidences[0]), c.Func(twice, Confidences[0])
			if len(a.Lo) > 0 && !close(b.Lo[0], a.Lo[0], 1e-12) {
				t.Errorf("%d classes, curve %s: from %v, of two copies from %v", classes, c.Name, a.Lo[0], b.Lo[0])
			}
		}
	}
}

func TestBadPredictions(t *testing.T) {
	for _, test := range []struct {
		labels []int
		proba  [][]float64
		counts []int
		want   string
	}{
		{[]int{2}, [][]float64{{0.5, 0.5}}, []int{1, 1}, "case 0 is of class 2; there are 2 classes"},
		{[]int{-1}, [][]float64{{0.5, 0.5}}, []int{1, 1}, "class -1"},
		{[]int{0}, [][]float64{{0.5, 0.4}}, []int{1, 1}, "case 0 sum to 0.9"},
		{[]int{0}, [][]float64{{1.5, -0.5}}, []int{1, 1}, "probability 1.5 for class 0"},
		{[]int{0}, [][]float64{{math.NaN(), 1}}, []int{1, 1}, "probability NaN for class 0"},
		{[]int{0}, [][]float64{{0.5, 0.5}}, []int{0, 0}, "no training cases"},
		{[]int{0}, [][]float64{{0.5, 0.5}}, []int{2, -1}, "class 1 has -1 training cases"},
		{[]int{0}, [][]float64{{1}}, []int{3}, "two or more"},
	} {
		_, err := NewPredictions([]int{0}, test.labels, dense(test.proba), test.counts)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: error %v, want %q", test, err, test.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("two labels for one row: no panic")
		}
	}()
	NewPredictions([]int{0}, []int{0, 1}, dense([][]float64{{1, 0}}), []int{1, 1})
}

func TestTables(t *testing.T) {
	for _, s := range Scores {
		if s.Doc == "" || s.Unit == "" || s.Func == nil {
			t.Errorf("score %q is not documented", s.Name)
		}
	}
	for _, c := range Curves {
		if got, err := CurveNamed(c.Name); err != nil || got.Doc == "" || got.X == "" || got.Y == "" {
			t.Errorf("curve %q: %v, %v", c.Name, got, err)
		}
	}
	for _, c := range Confidences {
		if got, err := ConfidenceNamed(c.Name); err != nil || got.Doc == "" {
			t.Errorf("confidence %q: %v, %v", c.Name, got, err)
		}
	}
	if _, err := ScoreNamed("error_rat"); err == nil || !strings.Contains(err.Error(), `did you mean "error_rate"?`) {
		t.Errorf("error %v", err)
	}
}

// A score of another program has its version in keys from 1 on, and what it breaks is an error; of
// this package's own only later versions are in keys.
func TestScoresOfOtherPrograms(t *testing.T) {
	own := Scores
	defer func() { Scores = own }()
	first := true
	RegisterScore(Score{Name: "moody", Doc: "another value each time", Version: 1, Func: func(Predictions) (Estimate, bool) {
		first = !first
		return Estimate{map[bool]float64{false: 1, true: 2}[first], math.NaN(), math.NaN()}, true
	}})
	if len(Scores) != len(own)+1 {
		t.Fatalf("%d scores", len(Scores))
	}
	moody := Scores[len(own)]
	for _, c := range []struct {
		s    Score
		want int
	}{{Score{Version: 0}, 0}, {Score{Version: 1}, 0}, {Score{Version: 2}, 2}, {moody, 1}} {
		if got := c.s.KeyVersion(); got != c.want {
			t.Errorf("version %d of %q: %d in keys, want %d", c.s.Version, c.s.Name, got, c.want)
		}
	}
	p := predict(t, []int{0, 1}, [][]float64{{0.5, 0.5}, {0.5, 0.5}}, 1, 1)
	if _, _, err := moody.Of(p); err == nil || !strings.Contains(err.Error(), "moody") {
		t.Errorf("the score gives two values: %v", err)
	}
	if _, _, err := Evaluate(p); err == nil || !strings.Contains(err.Error(), "moody") {
		t.Errorf("among all scores: %v", err)
	}
}

func permute[T any](v []T, order []int) []T {
	out := make([]T, len(v))
	for to, from := range order {
		out[to] = v[from]
	}
	return out
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
