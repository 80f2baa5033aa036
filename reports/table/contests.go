package table

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
)

// contests are races and nested cross-validations, each with a line, remarks on it, and tables; the
// scores of all contestants are Long.
func contests(r *reports.Report) (out []Table) {
	for _, race := range r.Races {
		out = append(out, raceContest(race)...)
	}
	for _, n := range r.Nested {
		out = append(out, nestedContest(n)...)
	}
	return out
}

// nestedContest is the result of nested cross-validation: the scores, and the winner of every outer
// fold; and the inner scores of every configuration and the eliminations.
func nestedContest(n reports.Nested) []Table {
	scores := Table{Lead: fmt.Sprintf("nested cross-validation of %s over %s, winners by %s%s", n.Dataset, n.Outer,
		n.Score, competition(n)), Columns: Columns("score", "value", "95 % interval")}
	scores.Title = fmt.Sprintf("outer scores, %s of %d of %d folds", Counted(n.Scores.N, "case", "cases"), n.Scored,
		n.Folds)
	for _, s := range n.Scores.Results {
		scores.Add(s.Name, valueCells(s.Estimate, n.Scores.Partial))
	}
	inner := "inner " + heading(n.Score)
	if n.Fits == 0 {
		inner = n.Score
	}
	t := Table{Title: "outer folds"}
	t.Columns = slices.Concat(Columns("repeat", "fold", "train", "test", "status", "winner", inner, "next", inner),
		outerColumns(), []Column{{Name: "log evidence", KeepInText: true, dropRank: 2},
			{Name: "hyperparameters", KeepInText: true, dropRank: 3}})
	greater := true
	if score, err := cv.ScoreNamed(n.Score); err == nil {
		greater = score.Greater
	}
	wins, undecided, ties := map[int]int{}, 0, 0
	for _, f := range n.OuterFolds {
		leaders := leaders(f, greater)
		if leaders[1].Configuration >= 0 && leaders[0].Value == leaders[1].Value {
			ties++
		}
		t.Add(outerRow(f, leaders)...)
		if f.Winner != nil {
			wins[*f.Winner]++
		} else {
			undecided++
		}
	}
	scores.Notes = winners(n, wins, undecided, ties)
	all := innerScores(n, inner)
	if !slices.ContainsFunc(n.OuterFolds, func(f reports.OuterFold) bool { return f.Repeat > 0 }) {
		t.replace(0, nil, nil)
		all.replace(0, nil, nil)
	}
	return []Table{scores, t, all}
}

// outerRow is the row of an outer fold, with the winner and the second best of its contest.
func outerRow(f reports.OuterFold, leaders [2]reports.Standing) []any {
	status := string(f.Status)
	if f.Status == reports.Done {
		status = ""
	}
	row := Row(f.Repeat, f.Fold, f.Train, f.Test, status)
	for _, s := range leaders {
		if s.Configuration < 0 {
			row = append(row, Cell{}, Cell{})
		} else {
			row = append(row, Row(fmt.Sprintf("#%d", s.Configuration), s.Value)...)
		}
	}
	for _, score := range cv.Scores {
		if score.Column.Brief {
			row = append(row, scoreCell(f.Scores, score.Name))
		}
	}
	return []any{row, decimals(f.LogEvidence, 3), reports.Assignments(f.Hyperparameters, reports.Readable)}
}

// innerScores are the scores of every configuration in the competitions of the outer folds.
func innerScores(n reports.Nested, inner string) Table {
	all := Table{Title: "scores in the competitions", Long: true,
		Columns: Columns("repeat", "fold", "configuration", inner, "95 % interval", "inner folds", "")}
	for _, f := range n.OuterFolds {
		for _, s := range f.Inner {
			won := cutWhy(f.Cuts, s.Configuration)
			if f.Winner != nil && *f.Winner == s.Configuration && won == "" {
				won = "winner"
			}
			all.Add(f.Repeat, f.Fold, standingRow(s), won)
		}
	}
	return all
}

// cutWhy is when and why a configuration was eliminated, if it was.
func cutWhy(cuts []reports.CutOff, configuration int) (why string) {
	for _, c := range cuts {
		if c.Configuration == configuration {
			why = c.Why()
		}
	}
	return why
}

// winners states who won how many outer folds, and in which folds there is no winner.
func winners(n reports.Nested, wins map[int]int, undecided, ties int) (notes []string) {
	var won []string
	for _, c := range n.Configurations {
		if wins[c] > 0 {
			won = append(won, fmt.Sprintf("#%d in %d of %d outer folds", c, wins[c], len(n.OuterFolds)))
		}
	}
	if len(won) > 0 && undecided > 0 {
		won = append(won, fmt.Sprintf("no winner, or none yet, in %d of %d outer folds", undecided,
			len(n.OuterFolds)))
	}
	if len(won) > 0 {
		notes = append(notes, "chosen: "+strings.Join(won, ", "))
	}
	if ties > 0 {
		notes = append(notes, fmt.Sprintf(
			"in %d of %d outer folds another configuration is equal to the winner, which is the first of them in "+
				"the file", ties, len(n.OuterFolds)))
	}
	for _, f := range n.OuterFolds {
		if f.Status == reports.Failed {
			for _, c := range f.Cuts {
				notes = append(notes, fmt.Sprintf("FAILED repeat %d fold %d: %v", f.Repeat, f.Fold, c))
			}
		}
	}
	return notes
}

// competition describes how the configurations competed.
func competition(n reports.Nested) string {
	switch {
	case n.Fits == 0:
		return " on the outer training set"
	case n.Race == "":
		return " over the inner folds"
	}
	return fmt.Sprintf(" over the inner folds, race %s: %d of %d inner fits saved", n.Race, n.FitsSaved, n.Fits)
}

// leaders returns the winner and the best of the others; its configuration is -1 if there is none.
func leaders(f reports.OuterFold, greater bool) [2]reports.Standing {
	out := [2]reports.Standing{{Configuration: -1}, {Configuration: -1}}
	if f.Winner == nil {
		return out
	}
	for _, s := range f.Inner {
		if s.Configuration == *f.Winner {
			out[0] = s
		} else if !math.IsNaN(float64(s.Value)) &&
			!slices.ContainsFunc(f.Cuts, func(c reports.CutOff) bool { return c.Configuration == s.Configuration }) {
			if out[1].Configuration < 0 || s.Value != out[1].Value && s.Value > out[1].Value == greater {
				out[1] = s
			}
		}
	}
	return out
}

func standingRow(s reports.Standing) []Cell {
	lo, hi := standingInterval(s)
	return Row(fmt.Sprintf("#%d", s.Configuration), Cell{Value: s.Value}.over(s.Partial), between(lo, hi, s.Partial),
		s.Folds)
}

// scoreCell is a score; empty: it is not defined.
func scoreCell(s reports.Scores, name string) (c Cell) {
	if e, ok := s.Value(name); ok {
		c.Value = reports.Number(e.Value)
	}
	return c
}

// valueCells are a score and its interval, with equally many decimals, which may be over some folds
// only.
func valueCells(e cv.Estimate, of *reports.Partial) []Cell {
	value, interval := Cell{Value: reports.Number(e.Value)}, between(reports.Number(e.Lo), reports.Number(e.Hi), of)
	if of, is := interval.Value.(Interval); is {
		value.Text = reports.Decimals(e.Value, commonDigits(1, of[:]...))
	}
	return Row(value.over(of), interval)
}

// outerColumns are the columns for the scores of outer folds.
func outerColumns() (out []Column) {
	for _, s := range cv.Scores {
		if s.Column.Brief {
			out = append(out, Columns(heading(s.Name))...)
		}
	}
	out[0].Name = "outer " + out[0].Name
	return out
}

// raceContest is the result of a race, with the scores of all contestants.
func raceContest(r reports.Race) []Table {
	options := ""
	var compact bytes.Buffer
	if json.Compact(&compact, r.Options) == nil && compact.String() != "{}" {
		options = " " + strings.NewReplacer(`"`, "", ":", ": ", ",", ", ").Replace(compact.String())
	}
	end := fmt.Sprintf("%d of %d folds done, %d of %d configurations left", r.Done, r.Folds,
		len(r.Standings)-len(r.Cuts), len(r.Standings))
	if r.Status != reports.Missing {
		winner := "no configuration"
		if r.Winner != nil {
			winner = fmt.Sprintf("#%d", *r.Winner)
		}
		end = fmt.Sprintf("%s won, %d of %d configurations cut, %d of %d fits saved (%s)", winner, len(r.Cuts),
			len(r.Standings), r.FitsSaved, r.Fits, Counted(r.JobsSaved, "job", "jobs"))
	}
	out := Table{Lead: fmt.Sprintf("race over %s of %s by %s, %s%s: %s", r.Evaluation, r.Dataset, r.Score, r.Rule,
		options, end)}
	for _, c := range r.Cuts {
		out.Notes = append(out.Notes, c.String())
	}
	if r.Winner != nil {
		best, ties := r.Standings[slices.IndexFunc(
			r.Standings, func(s reports.Standing) bool { return s.Configuration == *r.Winner })], -1
		for _, s := range r.Standings {
			if s.Partial == nil && s.Value == best.Value {
				ties++
			}
		}
		if ties > 0 {
			out.Notes = append(out.Notes, fmt.Sprintf("%s equal to #%d, which is the first of them in the file",
				Counted(ties, "other is", "others are"), *r.Winner))
		}
	}
	t := Table{Title: "scores in the race", Long: true,
		Columns: Columns("configuration", heading(r.Score), "95 % interval", "folds")}
	for _, s := range byStanding(r) {
		t.Add(standingRow(s))
	}
	return []Table{out, t}
}

// byStanding lists the contestants: the winner, then by the length of participation and by score.
func byStanding(r reports.Race) []reports.Standing {
	sign := -1.0
	if s, err := cv.ScoreNamed(r.Score); err == nil && !s.Greater {
		sign = 1
	}
	won := func(s reports.Standing) int {
		if r.Winner != nil && *r.Winner == s.Configuration {
			return 0
		}
		return 1
	}
	return slices.SortedStableFunc(slices.Values(r.Standings), func(a, b reports.Standing) int {
		return cmp.Or(cmp.Compare(won(a), won(b)), cmp.Compare(b.Folds, a.Folds),
			cmp.Compare(sign*float64(a.Value), sign*float64(b.Value)))
	})
}

// nestedRows has a row for every configuration in every outer fold: its inner score, and for the
// winner the scores on the outer fold.
func nestedRows(r *reports.Report) Table {
	t := Table{Columns: append(Columns("dataset", "repeat", "fold", "train", "test", "configuration", "won", "score",
		"inner_folds", "inner_folds_planned", "inner", "inner_lo", "inner_hi", "cut", "status", "hyperparameters",
		"log_evidence", "n"), scoreColumns()...)}
	for _, n := range r.Nested {
		for _, f := range n.OuterFolds {
			for _, s := range f.Inner {
				won := f.Winner != nil && *f.Winner == s.Configuration
				lo, hi := standingInterval(s)
				row := Row(n.Dataset, f.Repeat, f.Fold, f.Train, f.Test, s.Configuration, won, n.Score, s.Folds,
					s.Planned, s.Value, lo, hi, cutWhy(f.Cuts, s.Configuration))
				if won {
					row = append(row, Row(string(f.Status), f.Hyperparameters, f.LogEvidence, scoreCells(f.Scores))...)
				}
				t.Add(row)
			}
		}
	}
	return t
}

func standingInterval(s reports.Standing) (lo, hi reports.Number) {
	if s.CI95 == nil {
		return reports.Number(math.NaN()), reports.Number(math.NaN())
	}
	return s.CI95[0], s.CI95[1]
}

// raceRows has a row for every configuration in a race.
func raceRows(r *reports.Report) Table {
	t := Table{Columns: Columns("dataset", "evaluation", "rule", "score", "configuration", "won", "folds",
		"folds_planned", "value", "lo", "hi", "cut", "better", "p", "reason")}
	for _, race := range r.Races {
		for _, s := range race.Standings {
			lo, hi := standingInterval(s)
			end := Row(false)
			for _, c := range race.Cuts {
				if c.Configuration == s.Configuration {
					end = Row(true, nil, c.P, c.Reason)
					if c.Better != nil {
						end[1].Value = *c.Better
					}
				}
			}
			t.Add(race.Dataset, race.Evaluation, race.Rule, race.Score, s.Configuration,
				race.Winner != nil && *race.Winner == s.Configuration, s.Folds, race.Folds, s.Value, lo, hi, end)
		}
	}
	return t
}
