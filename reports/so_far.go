package reports

import (
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
)

// soFar compares configurations with the same data before all are scored on all folds. ok is false
// if nothing is missing or nothing is scored yet, and for programs.
func (r *Report) soFar(group []int) (s SoFar, ok bool) {
	of := r.contest(group)
	s = SoFar{Dataset: r.Configurations[group[0]].Dataset, By: of.by, Evaluation: of.evaluation, Rivals: []Behind{},
		NotYet: []int{}}
	var among []int // configurations with the same folds
	var studies [][]*Study
	var done [][]bool
	unfinished := false
	for _, k := range group {
		c := &r.Configurations[k]
		mine := c.competes(of)
		if of.score == nil {
			mine = []*Study{&c.Studies[0]}
		}
		alike := func(a, b *Study) bool { return sameFold(*a, *b) }
		if len(mine) == 0 || len(among) > 0 && !slices.EqualFunc(studies[0], mine, alike) {
			continue
		}
		failed := slices.ContainsFunc(mine, func(s *Study) bool { return s.status() == Failed })
		var has []bool
		for _, study := range mine {
			unfinished = unfinished || study.status() == Missing && !failed
			has = append(has, !failed && of.counts(*c, study))
		}
		among, studies, done = append(among, k), append(studies, mine), append(done, has)
		s.Planned = len(mine)
	}
	if !unfinished || r.Configurations[group[0]].Program != nil {
		return s, false
	}
	value := func(k int, folds []int) float64 {
		return of.better(of.on(r.Configurations[among[k]], studies[k], folds))
	}
	order := cv.Ahead(done, value)
	best := order[0]
	folds := cv.Common(done, order[:1])
	if len(folds) == 0 {
		return s, false
	}
	s.Configuration, s.Folds, s.Score = among[best], len(folds), Number(of.better(value(best, folds)))
	for _, k := range order[1:] {
		both := cv.Common(done, []int{best, k})
		switch {
		case len(both) > 0:
			s.Rivals = append(s.Rivals, Behind{among[k], len(both), Number(of.better(value(k, both))),
				Number(value(k, both) - value(best, both))})
		case !slices.ContainsFunc(studies[k], func(s *Study) bool {
			return s.status() == Failed || s.cut || s.dropped
		}):
			s.NotYet = append(s.NotYet, among[k])
		}
	}
	return s, true
}

// counts reports whether a study has predictions, or the log evidence, to be compared.
func (of contested) counts(c Configuration, s *Study) bool {
	if of.score != nil {
		return s.Predictions != nil
	}
	v := float64(c.LogEvidence)
	return !math.IsNaN(v) && !math.IsInf(v, 0) && c.Inference.Name() != "one_vs_rest"
}

// on is the score of a configuration on some folds together, or its log evidence.
func (of contested) on(c Configuration, studies []*Study, folds []int) float64 {
	if of.score == nil {
		return float64(c.LogEvidence)
	}
	var parts []*Study
	for _, f := range folds {
		parts = append(parts, studies[f])
	}
	e, ok, err := of.score.Of(pool(parts))
	if !ok || err != nil {
		return math.NaN()
	}
	return e.Value
}
