package table

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// fact returns the text of a fact of the answer, "" if there is none.
func fact(r *reports.Report, name string) string {
	for _, f := range Answered(r, MostAnswered) {
		if f.Name == name {
			return f.Text
		}
	}
	return ""
}

// The two questions of skill, better than chance and better than the base rate, have one text, and
// the conclusion begins with a doubt unless both are answered yes.
func TestAnswerTellsOfTheBaseRate(t *testing.T) {
	nan := reports.Number(math.NaN())
	m, lines := reporttest.Rivals()
	skill := func(by string, d float64, known bool) *reports.Skill {
		least := reports.Number(d - 0.5)
		if by == "log_evidence" {
			least = nan
		}
		return &reports.Skill{By: by, Difference: reports.Number(d), AtLeast: least, Known: known, Better: known && d > 0}
	}
	const chance = "its predictions of the labels are better than chance (permutation test at 5 %); it scores 0.2 bits per case "
	const may = "its predictions of the labels are not shown to be better than chance (permutation test at 5 %); it scores 0.2 bits per case "
	const base = "than the base rate (lower 95 % bound "
	for _, test := range []struct {
		skill            *reports.Skill
		conclusion, want string
	}{
		{nil, "use #0, the se kernel with laplace: 0 nats per case (lower is better). Any of the 2 may be the best; #0 is at most 1.9 nats per case " +
			"worse than any of them. No other of them is simpler", ""},
		{skill("information_bits", 0.75, true), "use #0, the se kernel with laplace: 0 nats per case (lower is better), and at least 0.25 bits per case better than guessing. ",
			strings.Replace(chance, "it scores 0.2", "its score is at least 0.25", 1) + "better than the base rate, at 95 %"},
		{skill("information_bits", 0.25, true), "use #0, the se kernel with laplace: 0 nats per case (lower is better); its predictions are better than chance, but guessing may " +
			"score as well. ", chance + "better " + base + "-0.25)"},
		{skill("information_bits", 0.25, false), "skill not shown: do not rely on #0, the best of 2, yet: it scores 0.2 bits per case better than the base rate, but chance alone may do that", may + "better " + base + "-0.25)"},
		{skill("information_bits", -0.25, true), "scores no better: #0, the best of 2, tells something about the labels, but ", chance + "worse " + base + "-0.75)"},
		{skill("information_bits", -0.25, false), "no skill: even #0, the best of 2, predicts no better than the base rate", may + "worse " + base + "-0.75)"},
		{skill("log_evidence", 1, true), "use #0, the se kernel with laplace: 0 nats per case (lower is better). Any ", "it scores 1 nat better than the base rate"},
	} {
		r := reporttest.Build(t, m, lines)
		r.Answer.Skill = test.skill
		if got := fact(r, "skill"); got != test.want {
			t.Errorf("%+v: %q, want %q", test.skill, got, test.want)
		}
		if got := fact(r, "conclusion"); !strings.HasPrefix(got, test.conclusion) {
			t.Errorf("%+v: %q, want %q", test.skill, got, test.conclusion)
		}
		doubts := slices.ContainsFunc(Answered(r, 12), Fact.Doubts)
		if want := !strings.HasPrefix(test.conclusion, "use "); doubts != want {
			t.Errorf("%+v: doubts %v, want %v", test.skill, doubts, want)
		}
	}
}

// The reasons to doubt an answer are listed, each with its remedy if there is one.
func TestTrustNamesRemedies(t *testing.T) {
	m, lines := reporttest.Rivals()
	r := reporttest.Build(t, m, lines)
	r.Answer.Trust = []reports.Trust{{Text: "a bound was met", Remedy: "widen the bounds"}, {Text: "few restarts"}}
	if got, want := fact(r, "trust"), "a bound was met (remedy: widen the bounds); few restarts"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// If the log evidence selects and the score of the outer fold is shown, the margin is in nats.
// Before the outer fold is done the score is the log evidence.
func TestAnswerOfNestedChoice(t *testing.T) {
	m, lines := reporttest.Rivals()
	m.Contests[0].Folds, m.Contests[0].Score = nil, "log_evidence"
	other := *lines[slices.IndexFunc(lines, func(l record.Line) bool { return l.Fit.Study == 3 })].Fit
	other.Configuration, other.LogEvidence = 1, -4
	for _, l := range lines {
		if l.Fit.Study == 0 && l.Fit.Configuration == 1 {
			l.Fit.LogEvidence = -6
		}
	}
	for score, lines := range map[string][]record.Line{
		"1.000 bits per case (nested kfold information_bits, 2 held-out cases), ": append(lines, record.Line{Key: "other", Fit: &other}),
		"-4 nats (nested log_evidence of the training data); ":                    lines,
	} {
		r := reporttest.Build(t, m, lines)
		if got := fact(r, "score"); !strings.HasPrefix(got, score) {
			t.Errorf("score %q, want %q", got, score)
		}
		if got, want := fact(r, "margin"), "2 nats better than #1, the next best"; got != want {
			t.Errorf("margin %q, want %q", got, want)
		}
	}
}

// The table of differences tells for every rival whether it is in the set.
func TestAgainst(t *testing.T) {
	rivals := []reports.Rival{{Configuration: 1, Difference: -0.5}, {Configuration: 2, Difference: -0.25, InSet: true},
		{Configuration: 3, Difference: -0.125, InSet: true, Unskilled: true}, {Configuration: 4, Difference: -0.25, Unskilled: true}}
	for i := range rivals {
		rivals[i].Low, rivals[i].High = rivals[i].Difference-1, rivals[i].Difference+1
		rivals[i].P = 0.25
	}
	all := Against(&reports.Report{Answer: &reports.Answer{Dataset: "toy", By: "information_bits", Evaluation: "kfold", Rivals: rivals}})
	if len(all) != 1 || all[0].Title != "differences from #0, the best on toy: information_bits (bits per case, kfold), below 0 is worse" {
		t.Fatalf("%+v", all)
	}
	want := []string{"#|difference|95 % bounds|p|verdict", "1|-0.500|-1.500 to 0.500|0.25|not in the set",
		"2|-0.250|-1.250 to 0.750|0.25|in the set", "3|-0.125|-1.125 to 0.875|0.25|in the set, below base rate",
		"4|-0.250|-1.250 to 0.750|0.25|not in the set, below base rate"}
	if got := lines(all[0])[1:]; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A score of 0 up to the error of an iterative fit is neither below the base rate nor shown as below
// 0; a score further below is both.
func TestNothingBelowTheBaseRateByRounding(t *testing.T) {
	m, lines := reporttest.Held(120, func(i int) float64 { return 0.5 + 0.1*float64(i%5) },
		func(int) float64 { return -1e-8 }, func(int) float64 { return -1e-4 })
	r := reporttest.Build(t, m, lines)
	texts := map[string]string{}
	table := Summary(r)
	at := func(name string) int {
		return slices.IndexFunc(table.Columns, func(c Column) bool { return c.Name == name })
	}
	for _, row := range table.Rows {
		texts[row[at("#")].String()] = row[at("status")].String() + "|" + row[at("bits")].String()
	}
	if want := (map[string]string{"0": "best|0.700", "1": "|0.000", "2": "below base rate|-0.0001"}); !maps.Equal(texts, want) {
		t.Errorf("%q, want %q", texts, want)
	}
}
