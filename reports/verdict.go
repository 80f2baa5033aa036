package reports

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/record"
)

// compare compares all others with the best, which comes first: over the held-out cases, or by the
// size of the difference of log evidences. It also corrects the score of the best for its
// selection.
func (r *Report) compare(a *Answer, of contested, all []competitor) {
	nan := Number(math.NaN())
	a.Set, a.Corrected, a.Margin, a.P, a.AtMost = []int{a.Configuration}, nan, nan, nan, nan
	var set cv.BestSet
	if of.score != nil {
		c := r.contenders(all)
		set = c.Set(*of.score, 0)
		if len(all) > 1 {
			a.AtMost = Number(set.AtMost[0])
		}
		if e, ok := c.Corrected(*of.score); ok {
			a.Corrected = Number(e.Value)
		}
	}
	for k, other := range all[1:] {
		d := Number(of.better(other.score.Value - all[0].score.Value))
		rival := Rival{other.index, Number(other.score.Value), d, nan, nan, nan, -d <= bareMention, false,
			of.score != nil && of.score.Base && of.better(other.score.Value) < -Rounding}
		if of.score != nil {
			e := set.Differences[k+1]
			rival.Low, rival.High, rival.P = Number(e.Lo), Number(e.Hi), Number(set.P[k+1])
			rival.InSet, rival.None = set.In[k+1], set.None[k+1]
		}
		if rival.InSet {
			a.Set = append(a.Set, rival.Configuration)
		}
		a.Rivals = append(a.Rivals, rival)
	}
	if len(all) > 1 {
		a.Next, a.P = &all[1].index, a.Rivals[0].P
		a.Margin = Number(of.better(all[0].score.Value - all[1].score.Value))
	}
	a.Units = set.Units
	a.Grouped = a.Units != different(all[0].folds)
	a.Alternatives = slices.Clone(a.Set[1:])
	slices.SortStableFunc(a.Alternatives, func(i, j int) int {
		return cmp.Compare(len(r.Configurations[i].Hyperparameters), len(r.Configurations[j].Hyperparameters))
	})
}

// different counts the distinct cases that the folds hold out. Repeats hold the same cases out
// again.
func different(folds []*Study) int {
	cases := map[int]bool{}
	for _, s := range folds {
		if s.Predictions != nil {
			for _, i := range s.Predictions.Cases {
				cases[i] = true
			}
		}
	}
	return len(cases)
}

// contenders collects the predictions of competitors for their comparison.
func (r *Report) contenders(all []competitor) cv.Contenders {
	out := cv.Contenders{Seed: r.Manifest.Seed}
	for _, c := range all {
		var parts []cv.Predictions
		for _, s := range c.folds {
			parts = append(parts, *s.Predictions)
		}
		out.Parts = append(out.Parts, parts)
	}
	held, train, repeats := 0, 0, 0
	for _, s := range all[0].folds {
		held, train = held+s.Test, train+s.Train
		if s.Fold == 0 {
			repeats++ // the folds of a repeat, or of an outer training set, begin
		}
	}
	out.Ratio = float64(held*len(all[0].folds)) / float64(train*max(1, repeats))
	first := r.Configurations[all[0].index].Record
	for _, g := range r.Manifest.Groups {
		if g.DataHash == first.DataHash && g.Test == (all[0].folds[0].Evaluation == testSet) {
			out.Groups = g.Of
		}
	}
	return out
}

// skill compares predictions with the base rate over the held-out cases of all folds: the folds of
// the best or, with nested cross-validation, the outer folds. Without predictions it compares the
// log evidence with the log likelihood of the class frequencies. nil: not known.
func (r *Report) skill(of contested, all []competitor, folds []*Study) *Skill {
	c := r.Configurations[all[0].index]
	done := slices.DeleteFunc(slices.Clone(folds), func(s *Study) bool { return s.Predictions == nil })
	if len(done) == 0 {
		return skillByEvidence(c)
	}
	if of.nested != nil && !slices.Equal(folds, all[0].folds) {
		all = []competitor{{index: all[0].index, folds: done}}
	}
	score, contenders := cv.BaseScore(len(c.Classes)), r.contenders(all)
	gain, ok, _ := score.Of(pool(all[0].folds))
	if !ok {
		return nil
	}
	s := &Skill{baseRateName, score.Name, Number(contested{score: &score}.better(gain.Value)), Number(math.NaN()),
		contenders.Knows(0), false}
	if !all[0].base {
		s.AtLeast = Number(contenders.AtLeast(score, 0))
	}
	s.Better = s.Known && s.Difference > 0
	return s
}

// skillByEvidence compares the log evidence with the log likelihood of the class frequencies.
func skillByEvidence(c Configuration) *Skill {
	fit, nan := c.Studies[0].Fit, Number(math.NaN())
	if fit == nil || len(fit.TrainCounts) == 0 || c.LogEvidence.None() {
		return nil
	}
	counts := record.Floats(fit.TrainWeights)
	if fit.TrainWeights == nil {
		for _, k := range fit.TrainCounts {
			counts = append(counts, float64(k))
		}
	}
	base, n := 0.0, floats.Sum(counts)
	for _, k := range counts {
		if k > 0 {
			base += k * math.Log(k/n)
		}
	}
	d := c.LogEvidence - Number(base)
	return &Skill{baseRateName, logEvidence, d, nan, d > bareMention, d > bareMention}
}
