package table

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// print writes the contests, with the long tables or without.
func print(w *bytes.Buffer, r *reports.Report, long bool) {
	for _, t := range contests(r) {
		if long || !t.Long {
			t.print(w, Screen{}, false)
		}
	}
}

// During the second round of a race, which ends with the fourth fold, the scores are those at the
// end of the first round and show the number of folds; there is no winner yet. Of three contestants
// successive halving keeps two after ⌈5/4⌉ folds.
func TestRaceUnderWay(t *testing.T) {
	m, lines := reporttest.Stopped()
	m.Contests = []record.Contest{{Evaluation: "kfold", Score: "log_loss", Race: "successive_halving", Options: []byte(`{"eta":2}`), Configurations: []int{0, 1, 2}, Folds: []int{1, 2, 3, 4, 5}}}
	r := reporttest.Build(t, m, lines)
	race := r.Races[0]
	if race.Winner != nil || race.Done != 2 || race.Status != reports.Missing {
		t.Fatalf("%+v", race)
	}
	for i, s := range race.Standings {
		if s.Partial == nil || *s.Partial != (reports.Partial{Done: 2, Failed: 0, Planned: 5}) {
			t.Errorf("#%d: %v", i, s.Partial)
		}
	}
	var text bytes.Buffer
	print(&text, r, true)
	for _, want := range []string{": 2 of 5 folds done, 2 of 3 configurations left\n", "#0 cut after fold 2: rank 3 of 3; the best 2 stay (best #1)\n", "#1             0.2106 (2 of 5 folds)  2\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "…") || strings.Contains(text.String(), "won") {
		t.Errorf("%s", text.String())
	}
}

// If only the order in the file decides a contest, the text says so.
func TestContestsTellTies(t *testing.T) {
	m, lines := reporttest.Rivals()
	for _, l := range lines { // both have probabilities ½, 1 in each fold of both contests
		if f := l.Fit; f.Study > 0 && f.Study != 3 {
			f.Proba = [][]record.Number{{0.5, 0.5}, {0, 1}}
		}
	}
	m.Contests[1].Race, m.Contests[1].Options = "paired_t", []byte("{}")
	again := *lines[len(lines)-1].Fit // a fit for the second fold of the race, which only the other contestant had
	again.Configuration = 0
	r := reporttest.Build(t, m, append(lines, record.Line{Key: "again", Fit: &again}))
	var text bytes.Buffer
	print(&text, r, false)
	for _, want := range []string{"    1 other is equal to #0, which is the first of them in the file\n", "    in 1 of 1 outer folds another configuration is equal to the winner, which is the first of them in the file\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	m, lines = reporttest.Rivals()
	text.Reset()
	if print(&text, reporttest.Build(t, m, lines), true); strings.Contains(text.String(), "equal") {
		t.Errorf("%s", text.String())
	}
}
