// Package reporttest has hand-made runs and reports, which the tests of reports and of the packages
// below it share.
package reporttest

import (
	"bytes"
	"embed"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/record/parsed"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Rivals is a hand-made run of two configurations that meet in nested cross-validation and in a
// race. Every fold holds out one case of each class; the probabilities of their true classes are
//
//	                        #0      #1
//	inner folds (study 1)  ½, 1    ½, ½
//	            (study 2)  1, ½    ½, ½
//	outer fold  (study 3)  1, 1
//	race        (study 4)  ½, ½    1, ½
//	            (study 5)          1, 1
//
// so #0 wins the outer training set and #1 the race, after whose first fold one of two goes on.
func Rivals() (m record.Manifest, lines []record.Line) {
	m = record.Manifest{
		Experiment: "rivals", Source: "rivals.yaml", Settings: []string{"seed=1"}, Seed: 1, Key: "k",
		Build: record.Build{Version: "1", Go: "go1.26", Arch: "amd64"},
		Contests: []record.Contest{
			{Evaluation: "kfold", Score: "log_loss", Configurations: []int{0, 1}, Folds: []int{1, 2}, Next: []int{3},
				WinnerOnly: true},
			{Evaluation: "hold_out", Score: "information_bits", Race: "successive_halving",
				Options: []byte(`{"eta":2}`), Configurations: []int{0, 1}, Folds: []int{4, 5}},
		},
	}
	truths := [2]map[int][2]record.Number{{1: {0.5, 1}, 2: {1, 0.5}, 3: {1, 1}, 4: {0.5, 0.5}},
		{1: {0.5, 0.5}, 2: {0.5, 0.5}, 4: {1, 0.5}, 5: {1, 1}}}
	for c, inference := range []string{"laplace", "ep"} {
		m.Configurations = append(m.Configurations, record.Configuration{
			Dataset: "toy", DataHash: "d", Cases: 8, Inputs: 2,
			Label: record.Label{Preprocess: "none", Kernel: Declared("se"), Mean: Declared("zero"),
				Likelihood: Declared("probit"), Inference: Declared(inference)}, Classes: []string{"F", "M"},
			Tune:            "none",
			Hyperparameters: []record.Hyperparameter{{Name: "amplitude", Theta: "log_amplitude"}},
			Studies: []record.Study{
				{Key: "whole", Evaluation: "train", Train: 8, Jobs: 1},
				{Key: "inner 0", Evaluation: "nested fold 0", Train: 4, Test: 2, Jobs: 1},
				{Key: "inner 1", Evaluation: "nested fold 0", Fold: 1, Train: 4, Test: 2, Jobs: 1},
				{Key: "outer", Evaluation: "nested", Train: 6, Test: 2, Jobs: 1},
				{Key: "race 0", Evaluation: "hold_out", Train: 6, Test: 2, Jobs: 1},
				{Key: "race 1", Evaluation: "hold_out", Fold: 1, Train: 6, Test: 2, Jobs: 1},
			},
		})
		whole := &record.Fit{Configuration: c, Chosen: -1, Natural: []record.Number{2},
			LogEvidence: record.Number(-4 - c), Converged: true, TrainCounts: []int{4, 4}}
		if c == 0 {
			whole.Posterior = []record.Marginal{{Name: "log_amplitude", Mean: 0.75, SD: 0.25, RHat: 1.0625, ESS: 80}}
		} else {
			whole.Curvature = &record.Curvature{Names: []string{"log_amplitude"},
				StandardErrors: []record.Number{0.125}, Correlations: [][]record.Number{{1}}}
		}
		lines = append(lines, record.Line{Key: fmt.Sprint(c), Fit: whole})
		for study := 1; study < 6; study++ {
			p, done := truths[c][study]
			if !done {
				continue
			}
			lines = append(lines, record.Line{Key: fmt.Sprint(c, study), Fit: &record.Fit{
				Configuration: c, Study: study, Chosen: -1, Natural: []record.Number{2}, LogEvidence: -3,
				Converged: true, TrainCounts: []int{3, 3},
				Rows: []int{2 * study, 2*study + 1}, Labels: []int{0, 1},
				Proba: [][]record.Number{{p[0], 1 - p[0]}, {1 - p[1], p[1]}},
			}})
		}
	}
	return m, lines
}

// ShownFit is a fit with all records for figures, of a study with three training cases of two
// classes and one held-out case.
func ShownFit() record.Fit {
	return record.Fit{
		Labels: []int{1}, Rows: []int{0}, TrainCounts: []int{1, 2}, Proba: [][]record.Number{{0.5, 0.5}},
		MAP: []record.Number{0.5}, LatentMean: [][]record.Number{{0}}, LatentVariance: [][]record.Number{{1}},
		TrainLabels: []int{0, 1, 1}, TrainLatentMean: [][]record.Number{{1, 2, 3}},
		Surface: &record.Surface{
			Names: []string{"x"}, Axes: [][]record.Number{{0, 1}}, Inputs: [][]record.Number{{0, 0.5, 1}},
			Proba:      [][]record.Number{{0.5, 0.75}},
			LatentMean: [][]record.Number{{0, 1}}, LatentVariance: [][]record.Number{{1, 1}},
		},
	}
}

// ShownManifest is the manifest of a run with ShownFit.
var ShownManifest = record.Manifest{Configurations: []record.Configuration{{Classes: []string{"a", "b"},
	Studies: []record.Study{{Evaluation: "test", Train: 3, Test: 1}}}}}

// Stopped is a hand-made run of three configurations over five folds of two cases, one of each
// class, that has stopped:
//
//	0  all folds: the true classes have ½ in each, so that the log loss is ln 2
//	1  two folds: ¾ in the first and ⅞ in the second, so that it is (ln(4/3) + ln(8/7))/2
//	2  four folds, ⅝ in each but ½ in the first: (ln 2 + 3 ln(8/5))/4; the fifth has failed
//
// The middle one has the best scores so far.
func Stopped() (m record.Manifest, lines []record.Line) {
	m = record.Manifest{Experiment: "stopped", Key: "k", Curves: []string{"error_reject"}}
	truths := [3][]float64{{0.5, 0.5, 0.5, 0.5, 0.5}, {0.75, 0.875}, {0.5, 0.625, 0.625, 0.625}}
	for c, inference := range []string{"laplace", "ep", "pl"} {
		of := record.Configuration{
			Dataset: "toy", DataHash: "d", Cases: 10, Inputs: 2,
			Label: record.Label{Preprocess: "none", Kernel: Declared("se"), Mean: Declared("zero"),
				Likelihood: Declared("probit"), Inference: Declared(inference)}, Classes: []string{"F", "M"},
			Tune:            "none",
			Hyperparameters: []record.Hyperparameter{{Name: "amplitude", Theta: "log_amplitude"}},
			Costs:           &record.Costs{Loss: [][]record.Number{{0, 1}, {2, 0}}},
			Studies:         []record.Study{{Key: "whole", Evaluation: "train", Train: 10, Jobs: 1}},
		}
		fit := func(study int) *record.Fit {
			return &record.Fit{Configuration: c, Study: study, Chosen: -1, Natural: []record.Number{2},
				LogEvidence: record.Number(-4 - c), Converged: true, TrainCounts: []int{4, 4}}
		}
		lines = append(lines, record.Line{Key: fmt.Sprint(c), Fit: fit(0)})
		for k := range 5 {
			of.Studies = append(of.Studies, record.Study{Key: fmt.Sprint("fold ", k), Evaluation: "kfold", Fold: k,
				Train: 8, Test: 2, Jobs: 1})
			f := fit(k + 1)
			if k < len(truths[c]) {
				p := record.Number(truths[c][k])
				f.Rows, f.Labels, f.Proba = []int{2 * k, 2*k + 1}, []int{0, 1},
					[][]record.Number{{p, 1 - p}, {1 - p, p}}
			} else if c == 1 {
				continue
			} else {
				f.Failure = cause.Failure.New("oh")
			}
			lines = append(lines, record.Line{Key: fmt.Sprint(c, " ", k), Fit: f})
		}
		m.Configurations = append(m.Configurations, of)
	}
	return m, lines
}

// Run reads the hand-made run in testdata. Its configurations are
//
//	0  four restarts, one of which panicked, and the winner's four test cases
//	1  a grid over two folds; one point fails, and at another the folds differ
//	2  interrupted: of the second fold only trial 1 is on record
//	3  nothing could be fitted
func Run(t testing.TB) (m record.Manifest, lines []record.Line) {
	t.Helper()
	manifest, journal := Read(t, "manifest.json"), Read(t, "journal.jsonl")
	m, lines, err := Parse(manifest, journal)
	if err != nil {
		t.Fatal(err)
	}
	return m, lines
}

// Parse reads a manifest, with its components, and the lines of a journal.
func Parse(manifest, journal []byte) (m record.Manifest, lines []record.Line, err error) {
	if err := json.Unmarshal(manifest, &m); err != nil {
		return m, nil, err
	}
	m.Link(Declared)
	for text := range bytes.Lines(journal) {
		var line record.Line
		if err := json.Unmarshal(text, &line); err != nil {
			return m, nil, err
		}
		lines = append(lines, line)
	}
	return m, lines, nil
}

//go:embed testdata
var testdata embed.FS

// Read reads manifest.json or journal.jsonl of the hand-made run.
func Read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := testdata.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Build builds the report of a run that has one.
func Build(t testing.TB, m record.Manifest, lines []record.Line) *reports.Report {
	t.Helper()
	r, err := reports.Build(m, lines)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Declared is a component by its text.
func Declared(text string) record.Component { return parsed.ComponentOf(text) }

// Texts checks that a picture is well-formed and has numbers for coordinates, and lists its texts.
func Texts(t testing.TB, svg []byte) (out []string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	open := ""
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("not XML: %v\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			open = token.Name.Local
			for _, a := range token.Attr {
				if notANumber.MatchString(a.Value) && a.Name.Local != "aria-label" {
					t.Fatalf("%s has %s=%q", open, a.Name.Local, a.Value)
				}
			}
		case xml.EndElement:
			open = ""
		case xml.CharData:
			if open == "text" {
				out = append(out, string(token))
			}
		}
	}
	return out
}

// Damage calls try with every text that differs from the given one in one value.
func Damage(t *testing.T, text []byte, try func([]byte)) {
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

// Searched is a run of one configuration that scored three points by cross-validation, two of them
// alike.
func Searched(objective string) *reports.Report {
	of := record.Configuration{
		Dataset: "toy", Cases: 8, Inputs: 1, Label: record.Label{Kernel: Declared("se"),
			Likelihood: Declared("probit"), Inference: Declared("laplace")}, Classes: []string{"F", "M"},
		Tune: "random", Objective: objective,
		Hyperparameters: []record.Hyperparameter{{Name: "amplitude", Theta: "log_amplitude"}},
		Studies:         []record.Study{{Key: "whole", Evaluation: "train", Train: 8, Jobs: 4}},
	}
	var lines []record.Line
	for i, value := range []record.Number{-0.5, -0.25, -0.25} {
		at := []record.Number{record.Number(i)}
		lines = append(lines, record.Line{Key: string(rune('a' + i)),
			Trial: &record.Trial{Index: i, Status: "evaluated",
				Points: []record.Point{{Theta: at, Natural: at, Value: value, Gradient: record.Number(math.NaN())}}}})
	}
	r, err := reports.Build(record.Manifest{Experiment: "searched", Configurations: []record.Configuration{of}}, lines)
	if err != nil {
		panic(err)
	}
	return r
}

// Held is a run of configurations over three folds: how many bits the true class
// gets more than ½ depends on the configuration and, by noise, on the case.
func Held(cases int, bits ...func(i int) float64) (m record.Manifest, lines []record.Line) {
	m, _ = Stopped()
	first := m.Configurations[0]
	first.Studies, first.Costs, first.Cases = nil, nil, cases
	for k := range 4 {
		s := record.Study{Key: fmt.Sprint(k), Evaluation: "train", Train: cases, Jobs: 1}
		if k > 0 {
			s.Evaluation, s.Fold, s.Train, s.Test = "kfold", k-1, cases/3*2, cases/3
		}
		first.Studies = append(first.Studies, s)
	}
	m.Configurations = nil
	for c, of := range bits {
		m.Configurations = append(m.Configurations, first)
		for study := range 4 {
			f := &record.Fit{Configuration: c, Study: study, Chosen: -1, Natural: []record.Number{2}, LogEvidence: -4,
				Converged: true, TrainCounts: []int{cases / 3, cases / 3}}
			for i := (study - 1) * cases / 3; study > 0 && i < study*cases/3; i++ {
				p, label := record.Number(0.5*math.Pow(2, of(i))), i/2%2
				f.Rows, f.Labels = append(f.Rows, i), append(f.Labels, label)
				f.Proba = append(f.Proba, [][]record.Number{{p, 1 - p}, {1 - p, p}}[label])
			}
			lines = append(lines, record.Line{Key: fmt.Sprint(c, ".", study), Fit: f})
		}
	}
	return m, lines
}

// Two is a report of two kernels over three folds of 30 cases: the first gives the true class of
// every case half a bit more than ½, the second a quarter, but to every tenth case half a bit less.
func Two() *reports.Report {
	m, lines := Held(90, func(int) float64 { return 0.5 }, func(i int) float64 {
		if i%10 == 0 {
			return -0.5
		}
		return 0.25
	})
	m.Experiment, m.Configurations[1].Kernel = "two", Declared("linear")
	r, err := reports.Build(m, lines)
	if err != nil {
		panic(err)
	}
	return r
}

// ManyClasses is a run of two configurations over three folds with a case of every class in each.
// The first gives ¾ to the true class, but in the last fold to the next class. The second gives ¾
// to the next class in every case whose class has an even index, else to the true class.
func ManyClasses(n int) (m record.Manifest, lines []record.Line) {
	m, lines = Held(3*n, func(int) float64 { return 0 }, func(int) float64 { return 0 })
	for c := range m.Configurations {
		of := &m.Configurations[c]
		of.Classes = nil
		for k := range n {
			of.Classes = append(of.Classes, fmt.Sprintf("species %d", k+1))
		}
	}
	for _, l := range lines {
		f := l.Fit
		f.TrainCounts = slices.Repeat([]int{2}, n)
		for i := range f.Rows {
			f.Labels[i] = i
			wrong := f.Configuration == 0 && f.Study == 3 || f.Configuration == 1 && i%2 == 0
			decided := i
			if wrong {
				decided = (i + 1) % n
			}
			f.Proba[i] = slices.Repeat([]record.Number{record.Number(0.25 / float64(n-1))}, n)
			f.Proba[i][decided] = 0.75
		}
	}
	return m, lines
}

var notANumber = regexp.MustCompile(`NaN|Inf`)

// Hill is a configuration with a grid of 11 length scales, ln = 0, 0.5, … 5, and 3 amplitudes, ln =
// -1, 0, 1. The log evidence is 10 i for the i-th length scale; the information is greatest and the
// errors are fewest elsewhere.
func Hill() reports.Configuration {
	of := reports.Scores{N: 200, Weight: 200}
	c := reports.Configuration{
		Dataset: "hills", Cases: 50, Inputs: 2, Label: record.Label{Kernel: Declared("{se: {ard: true}}"),
			Likelihood: Declared("probit"), Inference: Declared("laplace")}, Tune: "grid",
		Objective: "log_evidence", Evaluations: []reports.Evaluation{{Name: "test", Scores: of}}, Scores: of,
	}
	for i := range 11 {
		for j := range 3 {
			evidence := reports.Number(10 * i)
			c.Grid = append(c.Grid, reports.GridPoint{
				Point: reports.Values{{Name: "amplitude", Value: reports.Number(math.Exp(float64(j - 1)))},
					{Name: "noise", Value: 0.1},
					{Name: "length_scale", Value: reports.Number(math.Exp(0.5 * float64(i)))}},
				LogEvidence: &evidence,
				Scores: reports.Values{{Name: "information_bits",
					Value: reports.Number(HillInformation(float64(i), float64(j)))},
					{Name: "errors", Value: reports.Number(20 + (i-6)*(i-6) + 40*j)}, {Name: "n", Value: 200}},
			})
		}
	}
	c.Best = c.BestPoints()
	return c
}

// HillInformation is the test information of Hill at length scale i and amplitude j.
func HillInformation(i, j float64) float64 { return -0.01*(i-4)*(i-4) - 0.013*j }

// Evaluated is a configuration with reject curves of 100 cases and the test information given.
func Evaluated(likelihood, inference string, information cv.Estimate, curves ...string) reports.Configuration {
	e := reports.Evaluation{Name: "kfold",
		Scores: reports.Scores{N: 100, Weight: 100, Results: []cv.Result{{Score: cv.Scores[0], Estimate: information}}}}
	for _, name := range curves {
		curve, err := cv.CurveNamed(name)
		if err != nil {
			panic(err)
		}
		var s cv.Series
		for i := range 100 {
			s.X, s.Y, s.N = append(s.X, float64(i)/100), append(s.Y, information.Value+float64(i*i)/2e4),
				append(s.N, 100-i)
		}
		e.Curves = append(e.Curves, reports.Curve{Curve: curve, Series: s})
	}
	return reports.Configuration{Dataset: "d", Label: record.Label{Kernel: Declared("se"), Mean: Declared("zero"),
		Likelihood: Declared(likelihood), Inference: Declared(inference)}, Evaluations: []reports.Evaluation{e},
		Curves: e.Curves}
}

// Scored is a configuration with error rate rate and 100 rate errors in every evaluation.
func Scored(dataset, likelihood, inference string, rate float64, evaluations ...string) reports.Configuration {
	c := reports.Configuration{Dataset: dataset, Tune: "bfgs", Classes: []string{"a", "b"},
		Label: record.Label{Preprocess: "none", Kernel: Declared("{se: {amplitude: 2}}"), Mean: Declared("zero"),
			Likelihood: Declared(likelihood), Inference: Declared(inference), TuneInference: Declared(inference)}}
	for _, name := range evaluations {
		e := reports.Evaluation{Name: name, Status: reports.Done}
		for _, s := range cv.Scores {
			if value, has := map[string]float64{"errors": 100 * rate, "error_rate": rate}[s.Name]; has {
				e.Scores.Results = append(e.Scores.Results, cv.Result{Score: s, Estimate: cv.Estimate{Value: value}})
			}
		}
		c.Evaluations = append(c.Evaluations, e)
	}
	return c
}
