package page

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	_ "github.com/gpc-tune/gpc-tune/internal/testing/garbage"
	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

func Render(t testing.TB, format string, r *reports.Report) []byte {
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

// The golden files fix the layout; TestNumbers and TestCSVAgreesWithJSON check the numbers. The text, the
// page and results.json have every score; the other files have few, so that they stay the same where a
// score is added.
func TestGolden(t *testing.T) {
	m, lines := reporttest.Run(t)
	r := reporttest.Build(t, m, lines)
	for format, name := range map[string]string{"text": "report.txt", "json": "results.json", "predictions": "predictions.csv", "html": "report.html"} {
		compare(t, name, withoutCode(Render(t, format, r)))
	}
	compare(t, "results.csv", columnsUpTo(t, "n", Render(t, "csv", r)))
	compare(t, "trials.csv", columnsUpTo(t, "failure", Render(t, "trials", r)))
	withScores(r, "information_bits", "errors")
	for format, name := range map[string]string{"markdown": "report.md", "latex": "report.tex"} {
		compare(t, name, Render(t, format, r))
	}
}

// withScores leaves only these scores in a report.
func withScores(r *reports.Report, names ...string) {
	of := func(s *reports.Scores) {
		s.Results = slices.DeleteFunc(slices.Clone(s.Results), func(r cv.Result) bool { return !slices.Contains(names, r.Name) })
	}
	for i := range r.Configurations {
		c := &r.Configurations[i]
		of(&c.Scores)
		for k := range c.Evaluations {
			of(&c.Evaluations[k].Scores)
		}
		for k := range c.Folds {
			of(&c.Folds[k].Scores)
		}
	}
	for i := range r.Nested {
		of(&r.Nested[i].Scores)
		for k := range r.Nested[i].OuterFolds {
			of(&r.Nested[i].OuterFolds[k].Scores)
		}
	}
}

// columnsUpTo are the columns of a CSV file up to the last that is not a score.
func columnsUpTo(t *testing.T, last string, text []byte) []byte {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	for _, row := range rows {
		w.Write(row[:slices.Index(rows[0], last)+1])
	}
	w.Flush()
	return out.Bytes()
}

var update = flag.Bool("update", false, "write the golden files again")

// code matches the style and the scripts of a page, and the checksums of the scripts.
var code = regexp.MustCompile(`(?s)(<style>).*?(</style>)|(<script>).*?(</script>)|sha256-[^&]*`)

// withoutCode is a page without its style and scripts, which html_test.go and the browser test.
func withoutCode(page []byte) []byte { return code.ReplaceAll(page, []byte("$1$2$3$4")) }

// compare compares with a golden file.
func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile("testdata/"+name, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, _ := os.ReadFile("testdata/" + name)
	golden.Equal(t, name+" (if it is meant: go test ./reports/page -update)", got, want)
}

// The numbers of the hand-made run, computed by hand.
//
// Configuration 0, base line ½ : ½. Of four cases one is tied and right, one tied and wrong, one
// certain and right, one wrong with p = ¼ for the truth: information 0, 0, 1, -1 bits.
//
// Configuration 1, pooled: base lines ¾ : ¼ and ½ : ½; the true classes have p = ¾, ½ | ½, 1, which
// gives 0, 1 | 0, 1 bits. The second case is tied, hence decided for F, and wrong. The
// probabilities of M are ¼, ½ for the cases of F, and ½, 1 for the cases of M: 3½ of 4 pairs are
// ordered rightly.
func TestNumbers(t *testing.T) {
	var results struct {
		Missing        int
		Configurations []struct {
			Missing     int
			LogEvidence *float64 `json:"log_evidence"`
			Scores      map[string]any
			Folds       []struct{ Scores map[string]any }
			Grid        []map[string]any
			Best        []reports.Best
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
	score("#1", one.Scores, "ece", 0.0625)                                // ¼ · ¼ from the one case in its bin
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

	// Grid scores: folds of two cases each. The second point has no auc in fold 0; the third point
	// differs between the folds; the fourth failed.
	want := []string{
		`{"log_evidence":-6,"point":{"length_scale":1},"scores":{"auc":0.75,"error_rate":0.5,"errors":2,"information_bits":0.5,"n":4},"trial":0}`,
		`{"log_evidence":-5,"point":{"length_scale":2.718281828459045},"scores":{"error_rate":0.25,"errors":1,"information_bits":0.75,"n":4},"trial":0}`,
		`{"chosen":true,"log_evidence":-4,"point":{"length_scale":7.38905609893065},"scores":{},"trial":1}`,
		`{"log_evidence":null,"point":{"length_scale":20.085536923187668},"scores":{},"trial":1}`,
	}
	for i, p := range one.Grid {
		got, err := json.Marshal(p)
		if err != nil || string(got) != want[i] {
			t.Errorf("grid point %d is %s, want %s", i, got, want[i])
		}
	}
	if got := fmt.Sprint(one.Best); got != "[{log_evidence -4 <nil> <nil> 1 2} {information_bits 0.75 <nil> <nil> 0 1} {errors 1 <nil> <nil> 0 1} "+
		"{error_rate 0.25 <nil> <nil> 0 1} {auc 0.75 <nil> <nil> 0 0}]" {
		t.Errorf("best %s", got)
	}

	// Trial 0 and the fit of the second fold are missing.
	if results.Missing != 2 || results.Configurations[2].Missing != 2 || results.Configurations[3].LogEvidence != nil {
		t.Errorf("missing %d and %d, evidence %v", results.Missing, results.Configurations[2].Missing, results.Configurations[3].LogEvidence)
	}
	check("#2 n", results.Configurations[2].Scores["n"], 2)
}

// Every number in the CSV file equals the one in the JSON file.
func TestCSVAgreesWithJSON(t *testing.T) {
	m, lines := reporttest.Run(t)
	r := reporttest.Build(t, m, lines)
	csvFile, jsonFile := Render(t, "csv", r), Render(t, "json", r)
	rows, err := csv.NewReader(bytes.NewReader(csvFile)).ReadAll()
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
	if err := json.Unmarshal(jsonFile, &results); err != nil {
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

// The lines of a journal come in any order, and a job may be recorded more than once.
func TestOrderDoesNotMatter(t *testing.T) {
	m, lines := reporttest.Run(t)
	r := rand.New(rand.NewPCG(1, 1))
	want := map[string][]byte{}
	formats := slices.DeleteFunc(slices.Clone(Formats), func(f Format) bool { return f.Name == "png" }) // slow, and with the same figures as svg
	for _, f := range formats {
		want[f.Name] = Render(t, f.Name, reporttest.Build(t, m, lines))
	}
	for range 30 {
		shuffled := slices.Clone(lines)
		for range r.IntN(5) {
			again := lines[r.IntN(len(lines))]
			again.Seconds = r.Float64()
			shuffled = append(shuffled, again)
		}
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		report := reporttest.Build(t, m, shuffled)
		for _, f := range formats {
			if !golden.Equal(t, f.Name+" depends on the order of the journal", Render(t, f.Name, report), want[f.Name]) {
				t.FailNow()
			}
		}
	}
}

// Two evaluations: the test set comes first, and its scores are the scores of the configuration.
func TestSeveralEvaluations(t *testing.T) {
	m, lines := reporttest.Run(t)
	m.Configurations[0].Studies = append(m.Configurations[0].Studies, record.Study{Key: "z", Evaluation: "repeated_kfold", Repeat: 1, Fold: 2, Train: 4, Test: 2})
	lines = append(lines, record.Line{Key: "zf", Fit: &record.Fit{
		Configuration: 0, Study: 1, Chosen: -1, Natural: []record.Number{1, 1, 1}, LogEvidence: -1, TrainCounts: []int{2, 2},
		Rows: []int{4, 5}, Labels: []int{0, 1}, Proba: [][]record.Number{{1, 0}, {0, 1}}, Warnings: []cause.Notice{cause.Rounding.New("odd")},
	}})
	c := reporttest.Build(t, m, lines).Configurations[0]
	if len(c.Evaluations) != 2 || c.Evaluations[0].Name != "test" || c.Scores.N != 4 || c.Evaluations[1].Scores.N != 2 {
		t.Errorf("evaluations %+v", c.Evaluations)
	}
	if len(c.Folds) != 1 || c.Folds[0].Repeat != 1 || c.Folds[0].Fold != 2 || c.Folds[0].LogEvidence != -1 {
		t.Errorf("folds %+v", c.Folds)
	}
	if !strings.Contains(fmt.Sprint(c.Warnings), "repeated_kfold repeat 1 fold 2 fit: odd") {
		t.Errorf("warnings %q", c.Warnings)
	}
	if rows := table.Summary((&reports.Report{Configurations: []reports.Configuration{c}})).Rows; len(rows) != 2 {
		t.Errorf("rows %q", rows)
	}
}

// builds adds the hand-made run and variants of its manifest and journal.
func builds(f *testing.F, add func(manifest, journal []byte)) {
	manifest, journal := reporttest.Read(f, "manifest.json"), reporttest.Read(f, "journal.jsonl")
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
		m, _, err := reporttest.Parse(manifest, nil)
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

// built checks that any manifest and journal give either a report or an error, and the same for any
// order of the lines. ok reports whether there is a report.
func built(t *testing.T, manifest, journal []byte) (report, again *reports.Report, ok bool) {
	m, lines, err := reporttest.Parse(manifest, journal)
	if err != nil {
		return nil, nil, false
	}
	report, err = reports.Build(m, lines)
	_, timingsErr := reports.BuildTimings(m, lines)
	backwards := slices.Clone(lines)
	slices.Reverse(backwards)
	again, err2 := reports.Build(m, backwards)
	if (err == nil) != (err2 == nil) || err == nil && timingsErr != nil {
		t.Fatalf("errors %v, %v, %v", err, err2, timingsErr)
	}
	return report, again, err == nil
}

// sameBytes checks that a format has the same bytes for both reports and is valid JSON or SVG if it
// claims to be.
func sameBytes(t *testing.T, format string, report, again *reports.Report) {
	text := Render(t, format, report)
	golden.Equal(t, format+" depends on the order of the lines", Render(t, format, again), text)
	if format == "json" && !json.Valid(text) {
		t.Errorf("not JSON: %s", text)
	}
	if format == "svg" {
		reporttest.Texts(t, text)
	}
}

// FuzzBuild builds reports of arbitrary input and compares results.json, which contains the whole
// report.
func FuzzBuild(f *testing.F) {
	builds(f, func(manifest, journal []byte) { f.Add(manifest, journal) })
	f.Fuzz(func(t *testing.T, manifest, journal []byte) {
		if report, again, ok := built(t, manifest, journal); ok {
			sameBytes(t, "json", report, again)
		}
	})
}

// FuzzRender writes such reports in one format at a time, which takes a hundred times as long.
func FuzzRender(f *testing.F) {
	format := uint8(0)
	builds(f, func(manifest, journal []byte) {
		f.Add(manifest, journal, format)
		format++
	})
	f.Fuzz(func(t *testing.T, manifest, journal []byte, format uint8) {
		of := Formats[int(format)%len(Formats)]
		if report, again, ok := built(t, manifest, journal); ok && of.Name != "png" && of.Name != "pdf" {
			sameBytes(t, of.Name, report, again)
		}
	})
}

// Each value of the hand-made run in turn is replaced by an odd one.
func TestDamage(t *testing.T) {
	manifest, journal := reporttest.Read(t, "manifest.json"), bytes.Split(bytes.TrimSpace(reporttest.Read(t, "journal.jsonl")), []byte("\n"))
	tried, count := 0, 0
	try := func(manifest, journal []byte) {
		if tried++; !exhaustive.Tries(5, tried) {
			return
		}
		m, lines, err := reporttest.Parse(manifest, journal)
		if err != nil {
			return // a value of the wrong type
		}
		if r, err := reports.Build(m, lines); err == nil {
			count++
			for i, f := range Formats {
				if (count+i)%3 > 0 {
					continue // three damages of a value meet all formats
				}
				if at := slices.Index([]string{"html", "markdown", "latex", "svg", "pdf"}, f.Name); f.Name == "png" || at >= 0 && count%8 != at { // these formats take longer than all the others together
					continue
				}
				text := Render(t, f.Name, r)
				if f.Name == "svg" {
					reporttest.Texts(t, text)
				}
			}
		}
	}
	reporttest.Damage(t, manifest, func(text []byte) { try(text, bytes.Join(journal, []byte("\n"))) })
	for i := range journal {
		reporttest.Damage(t, journal[i], func(text []byte) {
			lines := slices.Clone(journal)
			lines[i] = text
			try(manifest, bytes.Join(lines, []byte("\n")))
		})
	}
	if count < exhaustive.Of(100, 500) {
		t.Errorf("only %d damaged runs could be reported", count)
	}
}

// Before the first job has finished, the report only says that all jobs are missing.
func TestNothingYet(t *testing.T) {
	m, _ := reporttest.Run(t)
	r := reporttest.Build(t, m, nil)
	if r.Missing != 8 { // one fit for every study
		t.Errorf("%d missing, want 8", r.Missing)
	}
	text := string(Render(t, "text", r))
	if !strings.Contains(text, "INCOMPLETE: at least 8 jobs are missing") || strings.Contains(text, "NaN") {
		t.Errorf("%s", text)
	}
	if !json.Valid(Render(t, "json", r)) {
		t.Error("the JSON is not valid")
	}
	empty := reporttest.Build(t, record.Manifest{Experiment: "none"}, nil)
	if got := string(Render(t, "text", empty)); got != "none\n\n\n" {
		t.Errorf("%q", got)
	}
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
