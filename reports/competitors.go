package reports

import (
	"cmp"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
)

const (
	// Rounding is a difference in bits or nats per case that is far below the contribution of a
	// case. An iterative fit, such as a calibration, leaves an error below it.
	Rounding     = 1e-6
	bareMention  = 1.0 // nats: less is "not worth more than a bare mention" (Kass & Raftery 1995, JASA 90:773)
	logEvidence  = "log_evidence"
	baseRateName = "base_rate"
)

// competitor is a configuration with the folds that it competes on.
type competitor struct {
	index int
	score cv.Estimate
	folds []*Study // none if the log evidence decides
	base  bool     // it predicts the base rate
}

// contested is the criterion by which configurations with the same data compete.
type contested struct {
	by         string
	score      *cv.Score // nil: the log evidence
	evaluation string
	nested     *Nested // nil: none
	race       *Race   // nil: none
}

// contest determines the criterion: nested cross-validation, a race, the score that is tuned, or
// else the first score for which the base rate is 0; without held-out cases the log evidence.
func (r *Report) contest(group []int) (c contested) {
	first := r.Configurations[group[0]]
	for i := range r.Nested {
		if n := &r.Nested[i]; slices.Contains(group, n.Configurations[0]) {
			c.nested, c.by, c.evaluation = n, n.Score, n.Outer
		}
	}
	for i := range r.Races {
		if n := &r.Races[i]; c.nested == nil && slices.Contains(group, n.Standings[0].Configuration) {
			c.race, c.by, c.evaluation = n, n.Score, n.Evaluation
		}
	}
	if c.by == "" {
		i := slices.IndexFunc(group, func(k int) bool { return len(r.Configurations[k].Evaluations) > 0 })
		if i < 0 {
			c.by = logEvidence
			return c
		}
		c.evaluation = r.Configurations[group[i]].Evaluations[0].Name
	}
	if c.by != logEvidence {
		var tuned []string
		for _, k := range group {
			tuned = append(tuned, r.Configurations[k].Objective)
		}
		s := cv.Deciding(c.by, tuned, len(first.Classes))
		c.by, c.score = s.Name, &s
	}
	return c
}

// competitors are the configurations scored on all folds, best first.
func (r *Report) competitors(group []int, of contested) (out []competitor) {
	var folds []*Study // folds of the first competitor; the others must have the same
	for _, k := range group {
		c := &r.Configurations[k]
		if of.score == nil {
			if v := float64(c.LogEvidence); !math.IsNaN(v) && !math.IsInf(v, 0) && c.Inference.Name() != "one_vs_rest" {
				out = append(out, competitor{k, cv.Estimate{Value: v, Lo: math.NaN(), Hi: math.NaN()}, nil, false})
			}
			continue
		}
		mine := c.competes(of)
		whole := len(mine) > 0 && !slices.ContainsFunc(mine, func(s *Study) bool { return s.Predictions == nil })
		alike := func(a, b *Study) bool { return sameFold(*a, *b) }
		if !whole || folds != nil && !slices.EqualFunc(folds, mine, alike) {
			continue
		}
		if e, ok, _ := of.score.Of(pool(mine)); ok {
			folds = mine
			out = append(out, competitor{k, e, mine, c.Inference.Name() == baseRateName})
		}
	}
	slices.SortStableFunc(out, func(a, b competitor) int {
		return cmp.Compare(of.better(b.score.Value), of.better(a.score.Value))
	})
	if of.race != nil && of.race.Winner != nil {
		if i := slices.IndexFunc(out, func(c competitor) bool { return c.index == *of.race.Winner }); i > 0 {
			won := out[i]
			out = slices.Insert(slices.Delete(out, i, i+1), 0, won)
		}
	}
	return out
}

// pool concatenates the predictions of the folds. Every fold must have predictions.
func pool(folds []*Study) cv.Predictions {
	var parts []cv.Predictions
	for _, s := range folds {
		parts = append(parts, *s.Predictions)
	}
	return cv.Pool(parts...)
}

// competes returns the folds on which a configuration competes.
func (c *Configuration) competes(of contested) (out []*Study) {
	for i := range c.Studies {
		s := &c.Studies[i]
		if of.nested != nil && slices.Contains(of.nested.inner, i) ||
			of.nested == nil && s.Evaluation == of.evaluation && !s.Nested {
			out = append(out, s)
		}
	}
	return out
}

// better changes the sign of a score, or of a difference of scores, if less is better.
func (of contested) better(v float64) float64 {
	if of.score != nil && !of.score.Greater {
		return -v
	}
	return v
}
