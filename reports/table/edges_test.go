package table

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Of many items the first ten are listed, and the rest counted.
func TestLongLists(t *testing.T) {
	for n, want := range map[int]string{1: "    x: 0\n", 10: "    x: 9\n", 11: "    x: and 1 more\n", 25: "    x: and 15 more\n"} {
		var items []int
		for i := range n {
			items = append(items, i)
		}
		var out strings.Builder
		if list(&out, "x: ", items); !strings.HasSuffix(out.String(), want) || strings.Count(out.String(), "\n") != min(n, 11) {
			t.Errorf("%d items:\n%s", n, &out)
		}
	}
}

// Four hyperparameters are shown, and of more the first three and the last.
func TestLongHyperparameters(t *testing.T) {
	var v reports.Values
	for k := range 6 {
		v = append(v, record.Named{Name: string(rune('a' + k)), Value: record.Number(k)})
	}
	for n, want := range map[int]string{1: "a = 0", 4: "a = 0 b = 1 c = 2 d = 3", 5: "a = 0 b = 1 c = 2 … e = 4", 6: "a = 0 b = 1 c = 2 … f = 5"} {
		if got := strings.ReplaceAll(abridged(v[:n]), "=", " = "); strings.Join(strings.Fields(got), " ") != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// An unfinished run names the best so far, the differences of six others, and the number of
// configurations that have not begun.
func TestBestSoFar(t *testing.T) {
	r := &reports.Report{Configurations: make([]reports.Configuration, 12)}
	s := reports.SoFar{Dataset: "d", Configuration: 3, By: "error_rate", Evaluation: "kfold", Score: 0.25, Folds: 2, Planned: 10}
	facts := func() string {
		var all []string
		for _, f := range soFar(r, s) {
			all = append(all, fmt.Sprint(f))
		}
		return strings.Join(all, "\n")
	}
	if got := facts(); !strings.Contains(got, " on 2 of 10 folds") || strings.Contains(got, "not yet") || strings.Contains(got, "from #3") {
		t.Error(got)
	}
	for k := range 7 {
		s.Rivals = append(s.Rivals, reports.Behind{Configuration: k + 4, Folds: 1 + k%2, Difference: -0.125})
	}
	s.NotYet = []int{0, 1}
	if got := facts(); !strings.Contains(got, "% from #3, on the folds that both have: #4 -12.5 (1 fold), #5 -12.5 (2 folds), ") && !strings.Contains(got, "#4 −12.5 (1 fold), #5 −12.5 (2 folds)") ||
		!strings.Contains(got, "#9") || strings.Contains(got, "#10") || !strings.Contains(got, ", 1 more") || !strings.Contains(got, "; 2 configurations of 10 not yet") {
		t.Error(got)
	}
	s.Rivals, s.Planned = s.Rivals[:6], 1
	if got := facts(); strings.Contains(got, "more") || strings.Contains(got, "fold") && strings.Contains(got, "on 2 of") || strings.Contains(got, "both have") {
		t.Error(got)
	}
}

// Standings of a race are ordered by the winner, the length of participation, and the score. Equal
// standings are named.
func TestStandingsOfRaces(t *testing.T) {
	one, partial := 1, &reports.Partial{}
	r := reports.Race{Score: "error_rate", Winner: &one, Status: reports.Done, Rule: "paired_t", Folds: 10, Done: 10, Fits: 50, FitsSaved: 20, JobsSaved: 1,
		Standings: []reports.Standing{{Configuration: 0, Folds: 10, Value: 0.25}, {Configuration: 1, Folds: 10, Value: 0.25}, {Configuration: 2, Folds: 4, Value: 0.25, Partial: partial},
			{Configuration: 3, Folds: 10, Value: 0.125}, {Configuration: 4, Folds: 4, Value: 0.5, Partial: partial}}}
	order := func() (all []int) {
		for _, s := range byStanding(r) {
			all = append(all, s.Configuration)
		}
		return all
	}
	if got := order(); !slices.Equal(got, []int{1, 3, 0, 2, 4}) {
		t.Errorf("%v", got)
	}
	notes := strings.Join(raceContest(r)[0].Notes, "\n")
	if !strings.Contains(notes, "1 other is equal to #1, which is the first of them in the file") {
		t.Error(notes)
	}
	r.Standings[0].Value = 0.5
	if notes := strings.Join(raceContest(r)[0].Notes, "\n"); strings.Contains(notes, "equal to") {
		t.Error(notes)
	}
	r.Standings[3].Value = 0.25
	if notes := strings.Join(raceContest(r)[0].Notes, "\n"); !strings.Contains(notes, "1 other is equal to #1") {
		t.Error(notes)
	}
	r.Standings[3].Value = 0.125
	r.Score, r.Winner = "information_bits", nil
	if got := order(); !slices.Equal(got, []int{0, 1, 3, 4, 2}) {
		t.Errorf("more is better: %v", got)
	}
}

// Up to Widest classes have a table of all decisions. More classes have a table of the most
// frequent wrong decisions.
func TestDecisionsOfManyClasses(t *testing.T) {
	for _, n := range []int{2, Widest, Widest + 1} {
		c := reports.Configuration{}
		e := reports.Evaluation{Name: "kfold", Confusion: make([][]int, n)}
		for k := range n {
			c.Classes, e.Confusion[k] = append(c.Classes, fmt.Sprint("class", k)), make([]int, n)
			e.Confusion[k][(k+1)%n] = k + 1
		}
		c.Evaluations = []reports.Evaluation{e}
		all := decisions(c)
		if len(all) != 1 || (len(all[0].Columns) == n+1) != (n <= Widest) || n > Widest && len(all[0].Rows) != Widest {
			t.Errorf("%d classes: %d columns, %d rows", n, len(all[0].Columns), len(all[0].Rows))
		}
	}
}

// Columns with a dropRank are left out, the largest value first, until the rows fit.
func TestColumnsThatDoNotFit(t *testing.T) {
	table := func() *Table {
		return &Table{Columns: []Column{{Name: "aaaa"}, {Name: "bbbb", dropRank: 1}, {Name: "cccc", dropRank: 3}, {Name: "dddd", dropRank: 2}}, Rows: [][]Cell{{{}, {}, {}, {}}}}
	}
	for most, want := range map[int]string{100: "", 22: "", 21: "cccc", 16: "cccc", 15: "cccc dddd", 10: "cccc dddd", 9: "bbbb cccc dddd", 1: "bbbb cccc dddd"} {
		left := table().Fit(most)
		slices.Sort(left)
		if got := strings.Join(left, " "); got != want {
			t.Errorf("%d characters: %q left out, want %q", most, got, want)
		}
	}
}

// Wrong decisions are those for another class, the most frequent first; right ones and pairs without
// cases are none.
func TestWrongDecisions(t *testing.T) {
	c := reports.Configuration{Classes: []string{"a", "b", "c"}}
	e := reports.Evaluation{Confusion: [][]int{{9, 1, 0}, {0, 8, 3}, {2, 0, 7}}}
	var got []string
	for _, row := range confused(c, e).Rows {
		text := ""
		for _, cell := range row {
			text += fmt.Sprint(cell)
		}
		got = append(got, text)
	}
	if want := []string{"bc3", "ca2", "ab1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
