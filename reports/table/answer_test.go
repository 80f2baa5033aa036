package table

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/record"
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

// A configuration that is better than the base rate says so, with the p value or, without a test,
// the difference.
func TestAnswerTellsOfTheBaseRate(t *testing.T) {
	nan := reports.Number(math.NaN())
	m, lines := reporttest.Rivals()
	for _, test := range []struct {
		skill *reports.Skill
		want  string
	}{
		{nil, ""},
		{&reports.Skill{By: "information_bits", Difference: 0.25, P: 0.5}, ""},
		{&reports.Skill{By: "log_loss", Difference: 0.25, P: 0.01, Better: true}, "significantly better than predicting the class frequencies (p = 0.01)"},
		{&reports.Skill{By: "information_bits", Difference: 0.25, P: 0.01, Better: true}, "significantly better than predicting the class frequencies (p = 0.01 by information_bits)"},
		{&reports.Skill{By: "log_evidence", Difference: 1, P: nan, Better: true}, "1 nat better than predicting the class frequencies"},
	} {
		r := reporttest.Build(t, m, lines)
		r.Answer.Skill = test.skill
		if got := fact(r, "skill"); got != test.want {
			t.Errorf("%+v: %q, want %q", test.skill, got, test.want)
		}
	}
}

// If log evidence chooses and a score of the outer fold is shown, the margin is in nats. Before the
// outer fold is done the score is the log evidence.
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
		"1.0000 bits per case (nested kfold information_bits, 2 held-out cases), ": append(lines, record.Line{Key: "other", Fit: &other}),
		"-4 nats (nested log_evidence of the training data); ":                     lines,
	} {
		r := reporttest.Build(t, m, lines)
		if got := fact(r, "score"); !strings.HasPrefix(got, score) {
			t.Errorf("score %q, want %q", got, score)
		}
		if got, want := fact(r, "margin"), "2 nats better than #1, the next best: it is more than 1 nat worse"; got != want {
			t.Errorf("margin %q, want %q", got, want)
		}
	}
}

// The winner of a race may have rivals with better scores over all folds.
func TestAgainst(t *testing.T) {
	rivals := []reports.Rival{{Configuration: 1, Difference: -0.5, Told: true}, {Configuration: 2, Difference: 0.25, Told: true},
		{Configuration: 3, Difference: -0.125}, {Configuration: 4, Difference: -0.25, Told: true, Unskilled: true}}
	for i := range rivals {
		rivals[i].Low, rivals[i].High = rivals[i].Difference-1, rivals[i].Difference+1
		rivals[i].P, rivals[i].Holm = 0.25, 1
	}
	all := Against(&reports.Report{Answer: &reports.Answer{Dataset: "toy", By: "information_bits", Evaluation: "kfold", Rivals: rivals}})
	if len(all) != 1 || all[0].Title != "differences from #0, the best on toy: information_bits (bits per case, kfold), below 0 is worse" {
		t.Fatalf("%+v", all)
	}
	want := []string{"#|difference|95 % interval|p|p (Holm)|verdict", "1|-0.500|-1.500 – 0.500|0.25|1|significantly worse",
		"2|0.250|-0.750 – 1.250|0.25|1|significantly better", "3|-0.125|-1.125 – 0.875|0.25|1|not significantly worse",
		"4|-0.250|-1.250 – 0.750|0.25|1|significantly worse, below base rate"}
	if got := lines(all[0])[1:]; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
