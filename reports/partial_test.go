package reports

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/record"
)

// stopped is a hand-made run of three configurations over five folds of two cases, one of each class, that has stopped:
//
//	0  all folds: the true classes have ½ in each, so that the log loss is ln 2
//	1  two folds: ¾ in the first and ⅞ in the second, so that it is (ln(4/3) + ln(8/7))/2
//	2  four folds, ⅝ in each but ½ in the first: (ln 2 + 3 ln(8/5))/4; the fifth has failed
//
// The middle one has the best scores so far, and a published one.
func stopped() (m record.Manifest, lines []record.Line) {
	m = record.Manifest{Experiment: "stopped", Key: "k", Curves: []string{"error_reject"}}
	truths := [3][]float64{{0.5, 0.5, 0.5, 0.5, 0.5}, {0.75, 0.875}, {0.5, 0.625, 0.625, 0.625}}
	for c, inference := range []string{"laplace", "ep", "pl"} {
		of := record.Configuration{
			Dataset: "toy", DataHash: "d", Cases: 10, Inputs: 2, Label: record.Label{Preprocess: "none", Kernel: declared("se"), Mean: declared("zero"), Likelihood: declared("probit"), Inference: declared(inference)}, Classes: []string{"F", "M"}, Tune: "none",
			Hyperparameters: []record.Hyperparameter{{Name: "amplitude", Theta: "log_amplitude"}},
			Costs:           &record.Costs{Loss: [][]record.Number{{0, 1}, {2, 0}}},
			Studies:         []record.Study{{Key: "whole", Evaluation: "train", Train: 10, Jobs: 1}},
		}
		fit := func(study int) *record.Fit {
			return &record.Fit{Configuration: c, Study: study, Chosen: -1, Natural: []record.Number{2}, LogEvidence: record.Number(-4 - c), Converged: true, TrainCounts: []int{4, 4}}
		}
		lines = append(lines, record.Line{Key: fmt.Sprint(c), Fit: fit(0)})
		for k := range 5 {
			of.Studies = append(of.Studies, record.Study{Key: fmt.Sprint("fold ", k), Evaluation: "kfold", Fold: k, Train: 8, Test: 2, Jobs: 1})
			f := fit(k + 1)
			if k < len(truths[c]) {
				p := record.Number(truths[c][k])
				f.Rows, f.Labels, f.Proba = []int{2 * k, 2*k + 1}, []int{0, 1}, [][]record.Number{{p, 1 - p}, {1 - p, p}}
			} else if c == 1 {
				continue
			} else {
				f.Failure = "oh"
			}
			lines = append(lines, record.Line{Key: fmt.Sprint(c, " ", k), Fit: f})
		}
		m.Configurations = append(m.Configurations, of)
	}
	m.Configurations[1].Published = []record.Published{{Source: "A", Figures: []record.Figure{{Name: "log_loss", Value: 0.5}}}}
	return m, lines
}

var (
	twoOfFive  = (math.Log(4./3) + math.Log(8./7)) / 2
	fourOfFive = (math.Ln2 + 3*math.Log(8./5)) / 4
)

// Wherever the score of some folds is shown to people, the count is in the same cell or line, and no interval beside it.
func TestPartialScoresAreShownWithTheirCounts(t *testing.T) {
	m, lines := stopped()
	r := build(t, m, lines)
	texts := map[string]string{}
	for _, format := range []string{"text", "markdown", "latex", "html"} {
		texts[format] = string(render(t, format, r))
	}
	var shown, compared, live bytes.Buffer
	for c := range 3 {
		s, err := r.Show(c, -1)
		if err != nil {
			t.Fatal(err)
		}
		if err := shownText(&shown, s); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Compare(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := comparisonText(&compared, c); err != nil {
		t.Fatal(err)
	}
	p, err := BuildProgress(m, lines)
	if err != nil {
		t.Fatal(err)
	}
	if err := NewLive("v", "d", p, "").WriteHTML(&live, r); err != nil {
		t.Fatal(err)
	}
	texts["show"], texts["compare"], texts["live"] = shown.String(), compared.String(), live.String()
	for _, of := range []struct {
		value float64
		count string
	}{{twoOfFive, "2 of 5 folds)"}, {fourOfFive, "4 of 5 folds, 1 failed)"}} {
		for name, text := range texts {
			count := 0
			for _, number := range []string{fmt.Sprintf("%.4f", of.value), significant(of.value)} {
				for _, after := range strings.Split(text, number)[1:] {
					if after[0] >= '0' && after[0] <= '9' {
						continue // another number
					}
					if !strings.HasPrefix(after, " ("+of.count) {
						t.Errorf("%s shows %s without the count: %.60q", name, number, after)
					}
					count++
				}
			}
			if count == 0 && name != "compare" {
				t.Errorf("%s does not show %v", name, of.value)
			}
		}
	}
	// So it is with what is not a score by name.
	for name, want := range map[string][]string{
		"text": {"    kfold (2 of 5 folds): decisions cost ", "published, A: log_loss 0.5 (here 0.210607 (2 of 5 folds))\n", "missing: 2 of 5 folds\n", "failed: 4 of 5 folds\n"},
		"html": {"<h3>decisions, kfold, 2 of 5 folds (rows: true classes)</h3>", "<td class=\"n partial\">0.210607 (2 of 5 folds)</td></tr>",
			"#1 ep (2 of 5 folds)</span>", "#2 pl (4 of 5 folds, 1 failed): AUC 0.969</span>", "#0 laplace: AUC 0.500 ("},
		"compare": {"corrected t-test, folds 2 of 5\n", "McNemar, of 4 cases only #0 is right on 0, only #1 on 2\n"},
	} {
		for _, w := range want {
			if !strings.Contains(texts[name], w) {
				t.Errorf("%s: no %q", name, w)
			}
		}
	}
	if intervals := strings.Count(texts["text"], "–"); intervals != 1 { // of the error rate of the whole configuration
		t.Errorf("%d intervals in\n%s", intervals, texts["text"])
	}
}

// Programs find the count beside the values, and nothing where all folds are done.
func TestPartialScoresForPrograms(t *testing.T) {
	m, lines := stopped()
	r := build(t, m, lines)
	type scores struct {
		LogLoss struct{ Value float64 } `json:"log_loss"`
		Partial *Partial
	}
	var results struct {
		Configurations []struct {
			Scores      scores
			Evaluations []struct{ Scores scores }
			Folds       []struct{ Scores map[string]any }
			Published   []struct {
				Figures map[string]struct{ Partial *Partial }
			}
		}
	}
	if err := json.Unmarshal(render(t, "json", r), &results); err != nil {
		t.Fatal(err)
	}
	want := []*Partial{nil, {2, 0, 5}, {4, 1, 5}}
	for i, c := range results.Configurations {
		for _, got := range []scores{c.Scores, c.Evaluations[0].Scores} {
			if fmt.Sprint(got.Partial) != fmt.Sprint(want[i]) {
				t.Errorf("#%d: %v, want %v", i, got.Partial, want[i])
			}
			if value := []float64{math.Ln2, twoOfFive, fourOfFive}[i]; math.Abs(got.LogLoss.Value-value) > 1e-15 {
				t.Errorf("#%d: %v, want %v", i, got.LogLoss.Value, value)
			}
		}
		for _, f := range c.Folds {
			if f.Scores["partial"] != nil {
				t.Errorf("#%d: a fold is %v", i, f.Scores["partial"])
			}
		}
	}
	if got := results.Configurations[1].Published[0].Figures["log_loss"].Partial; got == nil || *got != *want[1] {
		t.Errorf("published: %v", got)
	}
	rows, err := csv.NewReader(bytes.NewReader(render(t, "csv", r))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var pooled []string
	for _, row := range rows[1:] {
		if fold := row[slices.Index(rows[0], "fold")]; strings.HasPrefix(fold, "pooled") {
			pooled = append(pooled, fold)
		}
	}
	if !slices.Equal(pooled, []string{"pooled", "pooled 2 of 5 folds", "pooled 4 of 5 folds, 1 failed"}) {
		t.Errorf("results.csv has %q", pooled)
	}
}

// What two have in common is compared, and of how many folds that is is told; what a race has cut is not.
func TestComparePartial(t *testing.T) {
	m, lines := stopped()
	c, err := Compare(build(t, m, lines))
	if err != nil {
		t.Fatal(err)
	}
	of := func(a, b int) Pair {
		return c.Pairs[slices.IndexFunc(c.Pairs, func(p Pair) bool { return p.First.Configuration == a && p.Second.Configuration == b })]
	}
	for _, test := range []struct {
		a, b   int
		want   Partial
		losses []float64 // differences, by fold
	}{
		{0, 1, Partial{2, 0, 5}, []float64{math.Log(1.5), math.Log(1.75)}},
		{0, 2, Partial{4, 1, 5}, []float64{0, math.Log(1.25), math.Log(1.25), math.Log(1.25)}},
		{1, 2, Partial{2, 1, 5}, []float64{-math.Log(1.5), -math.Log(1.4)}},
	} {
		e := of(test.a, test.b).Evaluations[0]
		if e.Folds != test.want.Done || e.Partial == nil || *e.Partial != test.want {
			t.Errorf("#%d − #%d: %d folds, %v", test.a, test.b, e.Folds, e.Partial)
		}
		mean := 0.0
		for _, d := range test.losses {
			mean += d / float64(len(test.losses))
		}
		if got := e.Scores[2]; got.Name != "log_loss" || math.Abs(float64(got.Difference)-mean) > 1e-15 || got.DF != len(test.losses)-1 {
			t.Errorf("#%d − #%d: %+v, want %v", test.a, test.b, got, mean)
		}
	}
	// Beside a whole run of its own the two folds are compared as well; beside one without any, none is.
	whole := func(n int) *Report {
		lines := slices.DeleteFunc(slices.Clone(lines), func(l record.Line) bool { return l.Fit.Configuration != 1 || l.Fit.Study > n })
		m := m
		return build(t, m, lines)
	}
	if c, err = Compare(whole(5), whole(0)); err != nil {
		t.Fatal(err)
	}
	if p := of(1, 1); len(p.Evaluations) != 0 || !slices.Contains(p.Notes, "kfold: no fold is done by both: the first has 2 of 5 folds, the second 0 of 5 folds") {
		t.Errorf("%+v", p)
	}
}

// In the middle of a race's second round, which is the fourth fold, the scores are those at the end of the first, and have the
// count; nobody has won. Of three contestants successive halving keeps two after ⌈5/4⌉ folds.
func TestRaceUnderWay(t *testing.T) {
	m, lines := stopped()
	m.Contests = []record.Contest{{Evaluation: "kfold", Score: "log_loss", Race: "successive_halving", Options: []byte(`{"eta":2}`), Configurations: []int{0, 1, 2}, Folds: []int{1, 2, 3, 4, 5}}}
	r := build(t, m, lines)
	race := r.Races[0]
	if race.Winner != nil || race.Done != 2 || race.Status != Missing {
		t.Fatalf("%+v", race)
	}
	for i, s := range race.Standings {
		if s.Partial == nil || *s.Partial != (Partial{2, 0, 5}) {
			t.Errorf("#%d: %v", i, s.Partial)
		}
	}
	var text bytes.Buffer
	r.writeContests(&text, true)
	for _, want := range []string{": 2 of 5 folds done, 2 of 3 configurations left\n", "#0 cut after fold 2: rank 3 of 3, of whom 2 go on (best #1)\n", "#1             0.210607 (2 of 5 folds)  2\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "…") || strings.Contains(text.String(), "won") {
		t.Errorf("%s", text.String())
	}
}
