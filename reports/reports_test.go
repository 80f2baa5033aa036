package reports

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/golden"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// run reads the hand-made run in testdata. Its configurations are
//
//	0  four restarts, one of which panicked, and the winner's four test cases
//	1  a grid over two folds; one point fails, and at another the folds differ
//	2  interrupted: of the second fold only trial 1 is on record
//	3  nothing could be fitted
func run(t testing.TB) (m record.Manifest, lines []record.Line) {
	t.Helper()
	manifest, journal := read(t, "manifest.json"), read(t, "journal.jsonl")
	m, lines, err := parse(manifest, journal)
	if err != nil {
		t.Fatal(err)
	}
	return m, lines
}

func parse(manifest, journal []byte) (m record.Manifest, lines []record.Line, err error) {
	if err := json.Unmarshal(manifest, &m); err != nil {
		return m, nil, err
	}
	m.Link(declared)
	for text := range bytes.Lines(journal) {
		var line record.Line
		if err := json.Unmarshal(text, &line); err != nil {
			return m, nil, err
		}
		lines = append(lines, line)
	}
	return m, lines, nil
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func build(t testing.TB, m record.Manifest, lines []record.Line) *Report {
	t.Helper()
	r, err := Build(m, lines)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func render(t testing.TB, format string, r *Report) []byte {
	t.Helper()
	f, err := FormatNamed(format)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := f.Render(&out, r); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// The golden files fix the layout; that their numbers are right is what TestNumbers and TestCSVAgreesWithJSON say.
func TestGolden(t *testing.T) {
	m, lines := run(t)
	r := build(t, m, lines)
	for format, name := range map[string]string{"text": "report.txt", "json": "results.json", "csv": "results.csv", "predictions": "predictions.csv", "trials": "trials.csv", "html": "report.html", "markdown": "report.md", "latex": "report.tex"} {
		compare(t, name, render(t, format, r))
	}
}

var update = flag.Bool("update", false, "write the golden files again")

// compare compares with a golden file.
func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile("testdata/"+name, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, _ := os.ReadFile("testdata/" + name)
	golden.Equal(t, name+" (if it is meant: go test ./reports -update)", got, want)
}

// The numbers of the hand-made run, worked by hand.
//
// Configuration 0, base line ½ : ½. Of four cases one is tied and right, one tied and wrong, one sure and right, one
// wrong with p = ¼: information 0, 0, 1, -1 bits.
//
// Configuration 1, pooled: base lines ¾ : ¼ and ½ : ½, so p = ¾, ½ | ½, 1 of the true classes are worth 0, 1 | 0, 1
// bits. The second case is tied, hence decided for F, and wrong. Among p(M) the classes have ¼, ½ (F) and ½, 1 (M):
// 3½ of 4 pairs.
func TestNumbers(t *testing.T) {
	var results struct {
		Missing        int
		Configurations []struct {
			Missing     int
			LogEvidence *float64 `json:"log_evidence"`
			Scores      map[string]any
			Folds       []struct{ Scores map[string]any }
			Grid        []map[string]any
			Best        []Best
			Evaluations []struct{ Confusion [][]int }
		}
	}
	if err := json.Unmarshal(read(t, "results.json"), &results); err != nil {
		t.Fatal(err)
	}
	const z = 1.959963984540054
	check := func(what string, got any, want float64) {
		t.Helper()
		if g, ok := got.(float64); !ok || math.Abs(g-want) > 1e-15*max(1, math.Abs(want)) {
			t.Errorf("%s = %v, want %v", what, got, want)
		}
	}
	score := func(what string, scores map[string]any, name string, want float64, interval ...float64) {
		t.Helper()
		entry := scores[name].(map[string]any)
		check(what+" "+name, entry["value"], want)
		if len(interval) == 0 {
			if entry["ci95"] != nil {
				t.Errorf("%s %s has the interval %v", what, name, entry["ci95"])
			}
			return
		}
		for i, end := range entry["ci95"].([]any) {
			check(fmt.Sprintf("%s %s end %d", what, name, i), end, interval[i])
		}
	}
	ln := math.Log

	zero, one := results.Configurations[0], results.Configurations[1]
	check("evidence", *zero.LogEvidence, -3.25)
	half := z * math.Sqrt(1./6) // √(sample variance 2/3) / √4
	score("#0", zero.Scores, "information_bits", 0, -half, half)
	score("#0", zero.Scores, "log_loss", ln(2), ln(2)*(1-half), ln(2)*(1+half))
	check("#0 errors", zero.Scores["errors"], 2)
	w := z / (2 * math.Sqrt(4+z*z))
	score("#0", zero.Scores, "error_rate", 0.5, 0.5-w, 0.5+w)
	score("#0", zero.Scores, "ece", 0.1875) // ¼ · ¾
	score("#0", zero.Scores, "auc", 0.5)    // one case of class F: no interval
	check("#0 n", zero.Scores["n"], 4)

	half = z * math.Sqrt(1./12) // √(sample variance 1/3) / √4
	score("#1", one.Scores, "information_bits", 0.5, 0.5-half, 0.5+half)
	check("#1 errors", one.Scores["errors"], 1)
	mean := (ln(4./3) + ln(2) + ln(2) + 0) / 4
	ss := 0.0
	for _, loss := range []float64{ln(4. / 3), ln(2), ln(2), 0} {
		ss += (loss - mean) * (loss - mean)
	}
	half = z * math.Sqrt(ss/3/4)
	score("#1", one.Scores, "log_loss", mean, mean-half, mean+half)
	half = z * math.Sqrt((0.15625*0.15625+2*0.21875*0.21875+0.28125*0.28125)/3/4)
	score("#1", one.Scores, "brier", 0.28125, 0.28125-half, 0.28125+half) // 1/8, 1/2, 1/2, 0
	score("#1", one.Scores, "ece", 0.0625)                                // ¼ · ¼ of the one case in its bin
	// The ends A of Newcombe's interval (2006, method 5) for two cases of each class: (0.875 - A)² = z² V(A).
	end := func(inside, outside float64) float64 {
		for range 200 {
			a := (inside + outside) / 2
			v := a * (1 - a) * (1 + (1-a)/(2-a) + a/(1+a)) / 4
			if (0.875-a)*(0.875-a) < z*z*v {
				inside = a
			} else {
				outside = a
			}
		}
		return inside
	}
	score("#1", one.Scores, "auc", 0.875, end(0.875, 0), end(0.875, 1))
	if got := fmt.Sprint(one.Evaluations[0].Confusion); got != "[[2 0] [1 1]]" {
		t.Errorf("#1 confusion %s", got)
	}
	check("#1 errors of fold 0", one.Folds[0].Scores["errors"], 1)
	check("#1 errors of fold 1", one.Folds[1].Scores["errors"], 0)

	// Grid scores: folds of two cases each. The second point has no auc in fold 0; at the third the folds went different
	// ways; the fourth failed.
	want := []string{
		`{"log_evidence":-6,"point":{"length_scale":1},"scores":{"auc":0.75,"error_rate":0.5,"errors":2,"information_bits":0.5,"n":4}}`,
		`{"log_evidence":-5,"point":{"length_scale":2.718281828459045},"scores":{"error_rate":0.25,"errors":1,"information_bits":0.75,"n":4}}`,
		`{"chosen":true,"log_evidence":-4,"point":{"length_scale":7.38905609893065},"scores":{}}`,
		`{"log_evidence":null,"point":{"length_scale":20.085536923187668},"scores":{}}`,
	}
	for i, p := range one.Grid {
		got, err := json.Marshal(p)
		if err != nil || string(got) != want[i] {
			t.Errorf("grid point %d is %s, want %s", i, got, want[i])
		}
	}
	if got := fmt.Sprint(one.Best); got != "[{log_evidence -4 2} {information_bits 0.75 1} {errors 1 1} {error_rate 0.25 1} {auc 0.75 0}]" {
		t.Errorf("best %s", got)
	}

	// Missing: trial 0 and the fit of the second fold.
	if results.Missing != 2 || results.Configurations[2].Missing != 2 || results.Configurations[3].LogEvidence != nil {
		t.Errorf("missing %d and %d, evidence %v", results.Missing, results.Configurations[2].Missing, results.Configurations[3].LogEvidence)
	}
	check("#2 n", results.Configurations[2].Scores["n"], 2)
}

// Every number of the CSV file is the one of the JSON file.
func TestCSVAgreesWithJSON(t *testing.T) {
	rows, err := csv.NewReader(bytes.NewReader(read(t, "results.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var results struct {
		Configurations []struct {
			LogEvidence json.Number `json:"log_evidence"`
			Folds       []struct {
				LogEvidence json.Number `json:"log_evidence"`
				Scores      map[string]json.RawMessage
			}
			Evaluations []struct{ Scores map[string]json.RawMessage }
		}
	}
	if err := json.Unmarshal(read(t, "results.json"), &results); err != nil {
		t.Fatal(err)
	}
	header := rows[0]
	rows = rows[1:]
	next := func() map[string]string {
		if len(rows) == 0 {
			t.Fatal("rows are missing")
		}
		row := map[string]string{}
		for i, cell := range rows[0] {
			row[header[i]] = cell
		}
		rows = rows[1:]
		return row
	}
	check := func(row map[string]string, evidence json.Number, scores map[string]json.RawMessage) {
		if row["log_evidence"] != evidence.String() {
			t.Errorf("%v: want the log evidence %v", row, evidence)
		}
		for _, s := range cv.Scores {
			var want [3]*float64
			text := scores[s.Name]
			var whole struct {
				Value *float64
				CI95  *[2]*float64
			}
			switch {
			case text == nil:
			case s.Count:
				if err := json.Unmarshal(text, &want[0]); err != nil {
					t.Fatal(err)
				}
			default:
				if err := json.Unmarshal(text, &whole); err != nil {
					t.Fatal(err)
				}
				if want[0] = whole.Value; whole.CI95 != nil {
					want[1], want[2] = whole.CI95[0], whole.CI95[1]
				}
			}
			for i, suffix := range []string{"", "_lo", "_hi"} {
				cell := row[s.Name+suffix]
				if want[i] == nil && cell != "" || want[i] != nil && cell != fmt.Sprint(*want[i]) {
					t.Errorf("%s %s fold %s: %s%s is %q", row["configuration"], row["evaluation"], row["fold"], s.Name, suffix, cell)
				}
			}
		}
		if row["n"] != string(scores["n"]) {
			t.Errorf("n is %q, want %q", row["n"], scores["n"])
		}
	}
	for _, c := range results.Configurations {
		check(next(), c.LogEvidence, nil)
		for _, f := range c.Folds {
			check(next(), f.LogEvidence, f.Scores)
		}
		for _, e := range c.Evaluations {
			check(next(), c.LogEvidence, e.Scores)
		}
	}
	if len(rows) != 0 {
		t.Errorf("%d rows too many", len(rows))
	}
}

// The lines of a journal come in any order, and a job may be on record more than once.
func TestOrderDoesNotMatter(t *testing.T) {
	m, lines := run(t)
	r := rand.New(rand.NewPCG(1, 1))
	want := map[string][]byte{}
	formats := slices.DeleteFunc(slices.Clone(Formats), func(f Format) bool { return f.Name == "png" }) // slow, and of the same figures as svg
	for _, f := range formats {
		want[f.Name] = render(t, f.Name, build(t, m, lines))
	}
	for range 30 {
		shuffled := slices.Clone(lines)
		for range r.IntN(5) {
			again := lines[r.IntN(len(lines))]
			again.Seconds = r.Float64()
			shuffled = append(shuffled, again)
		}
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		report := build(t, m, shuffled)
		for _, f := range formats {
			if !golden.Equal(t, f.Name+" depends on the order of the journal", render(t, f.Name, report), want[f.Name]) {
				t.FailNow()
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		what string
		do   func(m *record.Manifest, lines []record.Line) []record.Line
		want string
	}{
		{"a configuration too many", func(m *record.Manifest, l []record.Line) []record.Line { l[0].Trial.Configuration = 4; return l }, `job "a0": it is of configuration 4; the manifest has 4`},
		{"a negative configuration", func(m *record.Manifest, l []record.Line) []record.Line { l[4].Fit.Configuration = -1; return l }, "configuration -1"},
		{"a study too many", func(m *record.Manifest, l []record.Line) []record.Line { l[0].Trial.Study = 1; return l }, "study 1 of configuration 0, which has 1"},
		{"a negative index", func(m *record.Manifest, l []record.Line) []record.Line { l[0].Trial.Index = -1; return l }, "the index is out of range"},
		{"an index that overflows", func(m *record.Manifest, l []record.Line) []record.Line { l[0].Trial.Index = math.MaxInt; return l }, "the index is out of range"},
		{"a winner that overflows", func(m *record.Manifest, l []record.Line) []record.Line { l[4].Fit.Chosen = math.MaxInt; return l }, "out of range"},
		{"an empty line", func(m *record.Manifest, l []record.Line) []record.Line { return append(l, record.Line{Key: "x"}) }, `(job "x") must have a trial or a fit`},
		{"a trial and a fit", func(m *record.Manifest, l []record.Line) []record.Line { l[0].Fit = l[4].Fit; return l }, "and not both"},
		{"two results of a job", func(m *record.Manifest, l []record.Line) []record.Line {
			fit := *l[4].Fit
			fit.LogEvidence++
			return append(l, record.Line{Key: "af", Fit: &fit})
		}, "fit of study 0 of configuration 0 has two different results"},
		{"two keys of a job", func(m *record.Manifest, l []record.Line) []record.Line {
			return append(l, record.Line{Key: "other", Fit: l[4].Fit})
		}, `of jobs "af" and "other"`},
		{"one key of two jobs", func(m *record.Manifest, l []record.Line) []record.Line { l[1].Key = "a0"; return l }, `job "a0" is both the trial 0`},
		{"a short start", func(m *record.Manifest, l []record.Line) []record.Line {
			l[0].Trial.Start = []record.Number{1}
			return l
		}, "the start has 1 hyperparameters, want 3"},
		{"a short step", func(m *record.Manifest, l []record.Line) []record.Line { l[0].Trial.Path[1].Theta = nil; return l }, "step 1 has 0 free hyperparameters, want 2"},
		{"a short point", func(m *record.Manifest, l []record.Line) []record.Line { l[0].Trial.Points[0].Theta = nil; return l }, "point 0 has 3 hyperparameters, 0 of them free; want 3 and 2"},
		{"a short question", func(m *record.Manifest, l []record.Line) []record.Line {
			l[0].Trial.Asked = [][]record.Number{{1}}
			return l
		}, "asked for 1 free hyperparameters, want 2"},
		{"a short winner", func(m *record.Manifest, l []record.Line) []record.Line { l[4].Fit.Natural = nil; return l }, "0 hyperparameters, want 3"},
		{"a case too few", func(m *record.Manifest, l []record.Line) []record.Line {
			l[4].Fit.Labels = l[4].Fit.Labels[1:]
			return l
		}, "4 held-out cases with 3 labels and 4 predictions; the study holds out 4"},
		{"a latent value too few", func(m *record.Manifest, l []record.Line) []record.Line {
			l[4].Fit.LatentMean = [][]record.Number{{1, 2, 3}}
			return l
		}, "of 1 and 1 processes, one with 3 cases"},
		{"a confidence too few", func(m *record.Manifest, l []record.Line) []record.Line {
			l[4].Fit.Confidence = []record.Number{1, 2, 3}
			return l
		}, "the confidence of 3 cases; 4 are held out"},
		{"other cases than planned", func(m *record.Manifest, l []record.Line) []record.Line {
			m.Configurations[0].Studies[0].Test = 5
			return l
		}, "holds out 5"},
		{"counts of one class", func(m *record.Manifest, l []record.Line) []record.Line { l[4].Fit.TrainCounts = []int{6}; return l }, "training counts of 1 classes, want 2"},
		{"probabilities of one class", func(m *record.Manifest, l []record.Line) []record.Line {
			l[4].Fit.Proba[1] = l[4].Fit.Proba[1][:1]
			return l
		}, "case 1 has probabilities of 1 classes, want 2"},
		{"a label too large", func(m *record.Manifest, l []record.Line) []record.Line { l[4].Fit.Labels[0] = 2; return l }, "case 0 is of class 2"},
		{"no probabilities", func(m *record.Manifest, l []record.Line) []record.Line { l[4].Fit.Proba[2][0] = 1; return l }, "sum to 2"},
		{"no studies", func(m *record.Manifest, l []record.Line) []record.Line { m.Configurations[3].Studies = nil; return l }, "configuration 3: no studies"},
		{"negative cases", func(m *record.Manifest, l []record.Line) []record.Line {
			m.Configurations[3].Studies[0].Test = -1
			return l
		}, "holds out -1 cases"},
		{"one name twice", func(m *record.Manifest, l []record.Line) []record.Line {
			m.Configurations[0].Hyperparameters[1].Name = "length_scale"
			return l
		}, `two hyperparameters are named "length_scale"`},
		{"an unknown curve", func(m *record.Manifest, l []record.Line) []record.Line { m.Curves = []string{"roc"}; return l }, `unknown curve "roc"`},
		{"an unknown confidence", func(m *record.Manifest, l []record.Line) []record.Line { m.Reject = "gapp"; return l }, `did you mean "gap"?`},
	} {
		m, lines := run(t)
		lines = test.do(&m, lines)
		if _, err := Build(m, lines); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.what, err, test.want)
		}
	}
	if _, err := FormatNamed("jsn"); err == nil || !strings.Contains(err.Error(), `did you mean "json"?`) {
		t.Errorf("error %v", err)
	}
}

// Before the first job is finished everything is missing, and nothing else is said.
func TestNothingYet(t *testing.T) {
	m, _ := run(t)
	r := build(t, m, nil)
	if r.Missing != 8 { // one fit for every study
		t.Errorf("%d missing, want 8", r.Missing)
	}
	text := string(render(t, "text", r))
	if !strings.Contains(text, "INCOMPLETE: at least 8 jobs are missing") || strings.Contains(text, "NaN") {
		t.Errorf("%s", text)
	}
	if !json.Valid(render(t, "json", r)) {
		t.Error("the JSON is not valid")
	}
	empty := build(t, record.Manifest{Experiment: "none"}, nil)
	if got := string(render(t, "text", empty)); got != "none\n\n\n" {
		t.Errorf("%q", got)
	}
}

// One case with a rate of 1 and three with a rate of ½ make (1 + 1½)/4; counts add up.
func TestGridScoresWeighCases(t *testing.T) {
	theta := []record.Number{1}
	held := func(cases int, scores map[string]record.Number) *study {
		return &study{Study: record.Study{Test: cases}, trials: []*record.Trial{{Index: 3, Points: []record.Point{{Theta: theta, Scores: scores}}}}}
	}
	studies := []*study{
		held(1, map[string]record.Number{"error_rate": 1, "errors": 1, "auc": 1}),
		held(3, map[string]record.Number{"error_rate": 0.5, "errors": 1.5, "auc": 0}),
	}
	got, missing := scoresAt(studies, 3, 0, theta)
	want := Values{{"errors", 2.5}, {"error_rate", 0.625}, {"auc", 0.25}, {"n", 4}}
	if missing || !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, at := range []struct{ trial, point int }{{2, 0}, {3, 1}} {
		if got, missing := scoresAt(studies, at.trial, at.point, theta); got != nil || !missing {
			t.Errorf("scores of point %v: %v, missing: %v", at, got, missing)
		}
	}
	if got, missing := scoresAt(studies, 3, 0, []record.Number{2}); got != nil || missing {
		t.Errorf("scores where the folds tried another point: %v, missing: %v", got, missing)
	}
	studies[1].trials[0].Points[0].Failure = "no"
	if got, missing := scoresAt(studies, 3, 0, theta); got != nil || !missing {
		t.Errorf("scores of a failed point: %v, missing: %v", got, missing)
	}
}

// A trial that failed before it had a point says where it was to be.
func TestFailedTrialSaysWhere(t *testing.T) {
	m, lines := run(t)
	lines[0].Trial = &record.Trial{Index: lines[0].Trial.Index, Failure: "timed out", Asked: [][]record.Number{{0.5, -1}}}
	for _, f := range build(t, m, lines).Configurations[0].Failures {
		if f.Message == "timed out" {
			if len(f.Theta) != 2 || f.Theta[0].Number != 0.5 || f.Theta[1].Number != -1 {
				t.Errorf("failed at %v", f.Theta)
			}
			return
		}
	}
	t.Error("the failure is not reported")
}

// Two evaluations: the test set comes first, and its scores are those of the configuration.
func TestSeveralEvaluations(t *testing.T) {
	m, lines := run(t)
	m.Configurations[0].Studies = append(m.Configurations[0].Studies, record.Study{Key: "z", Evaluation: "repeated_kfold", Repeat: 1, Fold: 2, Train: 4, Test: 2})
	lines = append(lines, record.Line{Key: "zf", Fit: &record.Fit{
		Configuration: 0, Study: 1, Chosen: -1, Natural: []record.Number{1, 1, 1}, LogEvidence: -1, TrainCounts: []int{2, 2},
		Rows: []int{4, 5}, Labels: []int{0, 1}, Proba: [][]record.Number{{1, 0}, {0, 1}}, Warnings: []string{"odd"},
	}})
	c := build(t, m, lines).Configurations[0]
	if len(c.Evaluations) != 2 || c.Evaluations[0].Name != "test" || c.Scores.N != 4 || c.Evaluations[1].Scores.N != 2 {
		t.Errorf("evaluations %+v", c.Evaluations)
	}
	if len(c.Folds) != 1 || c.Folds[0].Repeat != 1 || c.Folds[0].Fold != 2 || c.Folds[0].LogEvidence != -1 {
		t.Errorf("folds %+v", c.Folds)
	}
	if !slices.Contains(c.Warnings, "repeated_kfold repeat 1 fold 2 fit: odd") {
		t.Errorf("warnings %q", c.Warnings)
	}
	if rows := (&Report{Configurations: []Configuration{c}}).Summary().Rows; len(rows) != 2 {
		t.Errorf("rows %q", rows)
	}
}

func TestOptima(t *testing.T) {
	ends := []float64{-5, -3, math.NaN(), -3.0004, -4.9993, math.Inf(1), -3.0012, -7}
	var c Configuration
	for _, v := range ends {
		c.Restarts = append(c.Restarts, Restart{Value: Number(v)})
	}
	// -7 | -5, -4.9993 | -3.0012, -3.0004, -3
	if got, want := c.Optima(), (Optima{Restarts: 8, Failed: 2, Distinct: 3, AtBest: 3, Lo: -7, Hi: -3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestShorten(t *testing.T) {
	for text, want := range map[string]string{
		"se":   "se",
		"{se:": "{se:", // not YAML: as it is
		"{sum: [{se: {length_scale: {init: 1}, amplitude: 2}}, {noise: {amplitude: {fixed: 0.3}}}]}": "sum(se, noise)",
		"{active: {dims: [1, 2], kernel: {se: {ard: true}}}}":                                        "active(dims: 1, 2, kernel: se(ard: true))",
		"{per_class: se}": "per_class(se)",
		"{pl: {schedule: parallel, max_iterations: 10}}": "pl(schedule: parallel)",
	} {
		r := Report{Configurations: []Configuration{{Label: record.Label{Kernel: declared(text)}}}}
		if got := r.shorten()[text]; got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	// What would look the same shows the settings in which it differs, and if it looks the same even so its full text.
	for _, want := range []map[string]string{
		{"{noisy_threshold: {epsilon: 0.1}}": "noisy_threshold(epsilon: 0.1)", "{noisy_threshold: {epsilon: {init: 0.1, bounds: [0.01, 0.2]}}}": "noisy_threshold(epsilon: init 0.1 bounds 0.01 to 0.2)", "{se: {amplitude: 1}}": "se"},
		{"{sum: [{se: {amplitude: 3, length_scale: {fixed: 10.485569}}}, noise]}": "sum(se(length_scale: fixed 10.49), noise)", "{sum: [{se: {amplitude: 3, length_scale: {fixed: 2}}}, noise]}": "sum(se(length_scale: fixed 2), noise)"},
		{"ep": "ep", "{ep: {damping: 0.5}}": "ep(damping: 0.5)", "{ep: {damping: 0.5, tolerance: 1e-9}}": "ep(damping: 0.5, tolerance: 1e-09)"},
		{"{ep: {damping: 0.50001}}": "{ep: {damping: 0.50001}}", "{ep: {damping: 0.50002}}": "{ep: {damping: 0.50002}}", "{ep: {damping: 0.4}}": "ep(damping: 0.4)"},
		{"{se: {length_scale: {prior: {inverse_gamma: {shape: 3}}}}}": "se(length_scale: prior inverse_gamma shape 3)", "se": "se"},
	} {
		if got := shorten(slices.Collect(func(yield func(record.Component) bool) {
			for text := range want {
				if !yield(declared(text)) {
					return
				}
			}
		})); !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func TestTimings(t *testing.T) {
	m, lines := run(t)
	again := lines[0]
	again.Seconds = 10
	timings, err := BuildTimings(m, append(lines, again))
	if err != nil {
		t.Fatal(err)
	}
	c := timings.Configurations[0]
	if c.Seconds != 25 || !slices.Equal(c.Studies[0].Trials, []float64{1, 10, 2, 3, 4}) || !slices.Equal(c.Studies[0].Fits, []float64{5}) {
		t.Errorf("%+v", c)
	}
	if timings.Jobs != len(lines)+1 || timings.Seconds != 25+15 || timings.Build.Arch != "amd64" {
		t.Errorf("%d jobs, %v seconds", timings.Jobs, timings.Seconds)
	}
	var out bytes.Buffer
	if err := timings.WriteJSON(&out); err != nil || !json.Valid(out.Bytes()) {
		t.Error("the JSON is not valid", err)
	}
	lines[0].Trial.Configuration = 9
	if _, err := BuildTimings(m, lines); err == nil {
		t.Error("a configuration too many: no error")
	}
}

// NaN has no number in JSON and infinities are words; all others come back to the bit.
func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{0.1: "0.1", -0.25: "-0.25", 1e300: "1e+300", math.Inf(1): `"+Inf"`, math.Inf(-1): `"-Inf"`, math.NaN(): "null"} {
		if got, err := json.Marshal(Number(x)); err != nil || string(got) != want {
			t.Errorf("%v is %s, want %s", x, got, want)
		}
	}
	got, err := json.Marshal(Values{{"b", 1}, {"a<\"", 2}})
	if err != nil || string(got) != `{"b":1,"a\u003c\"":2}` {
		t.Errorf("%s, %v", got, err)
	}
}

// builds adds the hand-made run, and manifests and journals that say other things.
func builds(f *testing.F, add func(manifest, journal []byte)) {
	manifest, journal := read(f, "manifest.json"), read(f, "journal.jsonl")
	add(manifest, journal)
	for line := range bytes.Lines(journal) {
		add(manifest, line)
	}
	add(manifest, []byte(`{"key":"x","trial":{"configuration":7}}`))
	for _, contest := range []record.Contest{
		{Score: "brier", Configurations: []int{1, 2}, Folds: []int{1, 2}, Next: []int{0}, Race: "paired_t", Options: []byte("{}")},
		{Score: "log_loss", Configurations: []int{2, 1}, Folds: []int{1}, Next: []int{2}, Race: "successive_halving", Options: []byte(`{"eta": 3}`), WinnerOnly: true},
		{Score: "log_evidence", Configurations: []int{0, 1}, Next: []int{0}, WinnerOnly: true},
	} {
		m, _, err := parse(manifest, nil)
		if err != nil {
			f.Fatal(err)
		}
		m.Contests = []record.Contest{contest}
		text, err := json.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		add(text, journal)
	}
	add([]byte(`{"configurations":[{"classes":["a"],"studies":[{"evaluation":"test","test":1}]}]}`), []byte(`{"fit":{"rows":[0],"labels":[0],"proba":[[1]],"train_counts":[1]}}`))
}

// built holds that whatever stands in a manifest and a journal, there is a report or an error, and the same of any order of the
// lines; ok says that there is one.
func built(t *testing.T, manifest, journal []byte) (report, again *Report, ok bool) {
	m, lines, err := parse(manifest, journal)
	if err != nil {
		return nil, nil, false
	}
	report, err = Build(m, lines)
	_, timingsErr := BuildTimings(m, lines)
	backwards := slices.Clone(lines)
	slices.Reverse(backwards)
	again, err2 := Build(m, backwards)
	if (err == nil) != (err2 == nil) || err == nil && timingsErr != nil {
		t.Fatalf("errors %v, %v, %v", err, err2, timingsErr)
	}
	return report, again, err == nil
}

// sameBytes holds that a format has the same bytes of both, and is what it says.
func sameBytes(t *testing.T, format string, report, again *Report) {
	text := render(t, format, report)
	golden.Equal(t, format+" depends on the order of the lines", render(t, format, again), text)
	if format == "json" && !json.Valid(text) {
		t.Errorf("not JSON: %s", text)
	}
	if format == "svg" {
		texts(t, text)
	}
}

// FuzzBuild makes reports of anything; results.json has all that is in them.
func FuzzBuild(f *testing.F) {
	builds(f, func(manifest, journal []byte) { f.Add(manifest, journal) })
	f.Fuzz(func(t *testing.T, manifest, journal []byte) {
		if report, again, ok := built(t, manifest, journal); ok {
			sameBytes(t, "json", report, again)
		}
	})
}

// FuzzRender writes them in one format at a time, which takes a hundred times as long.
func FuzzRender(f *testing.F) {
	format := uint8(0)
	builds(f, func(manifest, journal []byte) {
		f.Add(manifest, journal, format)
		format++
	})
	f.Fuzz(func(t *testing.T, manifest, journal []byte, format uint8) {
		of := Formats[int(format)%len(Formats)]
		if report, again, ok := built(t, manifest, journal); ok && of.Name != "png" {
			sameBytes(t, of.Name, report, again)
		}
	})
}

// Every value of the hand-made run, one after the other, is replaced by something odd.
func TestDamage(t *testing.T) {
	manifest, journal := read(t, "manifest.json"), bytes.Split(bytes.TrimSpace(read(t, "journal.jsonl")), []byte("\n"))
	count := 0
	try := func(manifest, journal []byte) {
		m, lines, err := parse(manifest, journal)
		if err != nil {
			return // of another type
		}
		if r, err := Build(m, lines); err == nil {
			count++
			for _, f := range Formats {
				if at := slices.Index([]string{"html", "markdown", "latex", "svg"}, f.Name); f.Name == "png" || at >= 0 && count%8 != at { // they take longer than all the others together
					continue
				}
				text := render(t, f.Name, r)
				if f.Name == "svg" {
					texts(t, text)
				}
			}
		}
	}
	damage(t, manifest, func(text []byte) { try(text, bytes.Join(journal, []byte("\n"))) })
	for i := range journal {
		damage(t, journal[i], func(text []byte) {
			lines := slices.Clone(journal)
			lines[i] = text
			try(manifest, bytes.Join(lines, []byte("\n")))
		})
	}
	if count < 500 {
		t.Errorf("only %d damaged runs could be reported", count)
	}
}

// damage calls try with every text that differs from the given one in one value.
func damage(t *testing.T, text []byte, try func([]byte)) {
	var root any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	odd := []any{nil, -1, 0, 1, 1e300, "NaN", "+Inf", "", "test", []any{}, map[string]any{}, true}
	replace := func(old any, set func(any)) {
		for _, v := range odd {
			set(v)
			damaged, err := json.Marshal(root)
			if err != nil {
				t.Fatal(err)
			}
			try(damaged)
		}
		set(old)
	}
	var walk func(any)
	walk = func(node any) {
		switch node := node.(type) {
		case map[string]any:
			for key, old := range node {
				replace(old, func(v any) { node[key] = v })
				walk(old)
			}
		case []any:
			for i, old := range node {
				replace(old, func(v any) { node[i] = v })
				walk(old)
			}
		}
	}
	walk(root)
}

// Jobs that more than one build has computed are told, in the report itself; equal lines of several are one job.
func TestMixedBuilds(t *testing.T) {
	m, lines := run(t)
	m.Build = record.Build{Version: "1", Go: "go1", Arch: "here"}
	mixing := func() (found []string) {
		r, err := Build(m, lines)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range r.Warnings {
			if strings.HasPrefix(w, "computed by more than one build") {
				found = append(found, w)
			}
		}
		return found
	}
	if got := mixing(); got != nil {
		t.Errorf("one build: %q", got)
	}
	lines[0].Build = m.Build.String()
	if got := mixing(); got != nil {
		t.Errorf("one build, which a line names: %q", got)
	}
	lines[0].Build = "1 go1 there"
	want := fmt.Sprintf(": 1 go1 here (%d jobs), 1 go1 there (1 jobs)", len(lines)-1)
	if got := mixing(); len(got) != 1 || !strings.HasSuffix(got[0], want) {
		t.Errorf("two builds: %q, want %q", got, want)
	}
}

// declared is a component by its text.
func declared(text string) record.Component { return strictyaml.ComponentOf(text) }
