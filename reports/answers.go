package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/record"
)

// decide returns the answer for every data set, in the order of the configurations. For a data set
// with an unfinished run it adds to r.SoFar instead.
func (r *Report) decide() (out []Answer) {
	out = []Answer{}
	done := make([]bool, len(r.Configurations))
	for i, first := range r.Configurations {
		if done[i] {
			continue
		}
		var group []int
		for k := i; k < len(r.Configurations); k++ {
			if !done[k] && sameData(first, r.Configurations[k]) {
				done[k] = true
				group = append(group, k)
			}
		}
		if s, open := r.soFar(group); open {
			r.SoFar = append(r.SoFar, s)
		} else if a, ok := r.answer(group); ok {
			out = append(out, a)
		}
	}
	return out
}

// AnswerOf returns the answer for the data of a configuration, nil if there is none.
func (r *Report) AnswerOf(configuration int) *Answer {
	for _, a := range r.Decided() {
		if sameData(r.Configurations[configuration], r.Configurations[a.Configuration]) {
			return &a
		}
	}
	return nil
}

// answer finds the best of configurations with the same data. ok is false if none is scored on all
// folds.
func (r *Report) answer(group []int) (a Answer, ok bool) {
	of := r.contest(group)
	all := r.competitors(group, of)
	if len(all) == 0 {
		return a, false
	}
	best := all[0]
	c := r.Configurations[best.index]
	a = Answer{Dataset: c.Dataset, Configuration: best.index, By: of.by, Evaluation: of.evaluation,
		Score: Number(best.score.Value), Low: Number(best.score.Lo), High: Number(best.score.Hi), Competed: len(all),
		Rivals: []Rival{}, Keep: r.keep(best.index)}
	r.describe(&a, c)
	for _, s := range best.folds {
		a.Cases += s.Test
	}
	a.Absent = map[Status]int{}
	for _, k := range group {
		if !slices.ContainsFunc(all, func(c competitor) bool { return c.index == k }) {
			a.Absent[r.Configurations[k].worst()]++
		}
	}
	r.compare(&a, of, all)
	folds := best.folds
	if n := of.nested; n != nil && a.nested(n) {
		folds = nil
		for i := range n.studies {
			folds = append(folds, &n.studies[i])
		}
	} else if n != nil {
		a.Evaluation = ""
	}
	a.scored, a.Different = folds, different(folds)
	a.Skill = r.skill(of, all, folds)
	if a.Skill != nil && a.Skill.Known {
		a.Recalibrated = r.recalibrated(folds)
	}
	a.Trust = r.trust(of, a, folds)
	return a, true
}

// describe sets the label, the columns left out and the suspects of a configuration's training
// data.
func (r *Report) describe(a *Answer, c Configuration) {
	a.LeftOut, a.Suspects = []record.ColumnReason{}, []record.ColumnReason{}
	for _, d := range r.Manifest.Data {
		if d.DataHash == c.Record.DataHash && d.Label.Name != "" {
			a.Label, a.ClassesLeftOut = &d.Label, d.OtherClasses
			a.LeftOut, a.Suspects = append(a.LeftOut, d.LeftOut...), append(a.Suspects, d.Suspects...)
			return
		}
	}
}

// nested sets the score of the selection procedure on the outer folds. It returns false if there is
// none yet.
func (a *Answer) nested(n *Nested) bool {
	a.Nested = &Choice{Folds: len(n.OuterFolds), By: n.Score, Score: a.Score}
	for _, f := range n.OuterFolds {
		if f.Winner != nil && *f.Winner == a.Configuration {
			a.Nested.Wins++
		}
	}
	score, found := n.Scores.Value(a.By)
	for _, s := range n.Scores.Results {
		if !found && s.Base {
			a.By, score, found = s.Name, s.Estimate, true
		}
	}
	if !found {
		return false
	}
	a.Score, a.Low, a.High, a.Cases = Number(score.Value), Number(score.Lo), Number(score.Hi), n.Scores.N
	if n.Scores.Partial != nil {
		a.Low, a.High = Number(math.NaN()), Number(math.NaN())
	}
	return true
}

// keep is the command that writes a configuration to a model file. Another program than gpc-tune
// may have components that gpc-tune lacks; keep then returns a call for that program.
func (r *Report) keep(configuration int) string {
	if r.Manifest.Build.Program != "" {
		of := ""
		if len(r.Configurations) > 1 {
			of = fmt.Sprintf("Configuration: new(%d)", configuration)
		}
		return fmt.Sprintf(`experiments.Fit(ctx, plan, "model.json", experiments.FitOptions{%s}) in %s`, of,
			r.Manifest.Build.Program)
	}
	args := []string{"gpc-tune", "fit", cmp.Or(r.Manifest.Source, "FILE.yaml")}
	if len(r.Configurations) > 1 {
		args = append(args, "--configuration", strconv.Itoa(configuration))
	}
	for _, s := range r.Manifest.Settings {
		args = append(args, "--set", s)
	}
	return terminal.CommandLine(append(args, "-m", "model.json")...)
}

// Ranked returns the indices of the configurations, grouped by data set, best first. In each group
// the configurations that did not compete come last, in the order of the file.
func (r *Report) Ranked() []int {
	out := make([]int, len(r.Configurations))
	first, place := map[string]int{}, make([]int, len(out))
	for i, c := range r.Configurations {
		out[i] = i
		if _, met := first[c.Dataset]; !met {
			first[c.Dataset] = i
		}
		place[i] = r.AnswerOf(i).Place(i)
	}
	slices.SortStableFunc(out, func(a, b int) int {
		return cmp.Or(cmp.Compare(first[r.Configurations[a].Dataset], first[r.Configurations[b].Dataset]),
			cmp.Compare(place[a], place[b]))
	})
	return out
}
