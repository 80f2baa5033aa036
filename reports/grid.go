package reports

import (
	"maps"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// grid lists the points that the study of all the training data evaluated, in the order of the
// trials.
func (b *builder) grid(objective string) []GridPoint {
	out := []GridPoint{}
	whole := &b.studies[0]
	if whole.local() {
		return out
	}
	held := b.held()
	unscored := 0
	for _, t := range whole.Trials {
		for i, p := range t.Points {
			g := GridPoint{Trial: t.Index, Point: natural(b.record, p.Natural), Scores: Values{},
				StandardError: p.StandardError, Chosen: whole.chosePoint(t, p), Own: t.Enqueued > 0,
				Preliminary: t.Preliminary, Share: t.Share.String(),
				Values: namedValues(p), Output: t.Output}
			if t.Early || t.Outside {
				g.Share = t.Status
			}
			value := p.Value
			if objective == "log_evidence" {
				g.LogEvidence = &value
			} else {
				g.Value = &value
			}
			scores, missing := scoresAt(held, t.Index, i, p.Theta)
			if scores != nil {
				g.Scores = scores
			}
			if missing && !t.Preliminary && p.Failure.IsZero() {
				unscored++
			}
			out = append(out, g)
		}
	}
	if len(held) > 0 && unscored > 0 {
		b.warnings.add(held[0].Evaluation,
			cause.Unscored.New("%d of %d grid points have no scores; a fold is missing or failed there",
				unscored, len(out)))
	}
	return out
}

// namedValues has the named values of a program at a point, in the order of their names.
func namedValues(p record.Point) (all Values) {
	for _, name := range slices.Sorted(maps.Keys(p.Values)) {
		all = append(all, record.Named{Name: name, Value: p.Values[name]})
	}
	return all
}

// held lists the studies of the first evaluation, which hold out cases.
func (b *builder) held() (out []*Study) {
	for i := range b.studies {
		if s := &b.studies[i]; s.Test > 0 && !s.Nested && (len(out) == 0 || s.Evaluation == out[0].Evaluation) {
			out = append(out, s)
		}
	}
	return out
}

// scoresAt combines the scores of one point over folds. Each fold must have evaluated exactly this
// point, as the given point of the given trial. Journals keep scores of a point, not its
// predictions, so pooling is not possible: a count adds up, other scores are averaged with the
// numbers of held-out cases as weights. For means over cases this is the pooled score; for auc, ece
// and rmse it is a definition. scores is nil if a fold evaluated another point, as adaptive search
// does. missing is true if a fold has not evaluated the point yet, or failed.
func scoresAt(held []*Study, trial, point int, theta []record.Number) (scores Values, missing bool) {
	if len(held) == 0 {
		return nil, false
	}
	n := 0.0
	var parts []record.Point
	for _, s := range held {
		t, found := slices.BinarySearchFunc(
			s.Trials, trial, func(t *record.Trial, index int) int { return t.Index - index })
		if !found {
			return nil, s.Fit == nil // a search that has ended without the trial will not have it
		}
		if point >= len(s.Trials[t].Points) {
			return nil, true
		}
		p := s.Trials[t].Points[point]
		switch {
		case !slices.Equal(p.Theta, theta):
			return nil, false
		case !p.Failure.IsZero():
			return nil, true
		}
		parts = append(parts, p)
		n += float64(s.Test)
	}
	var out Values
	for _, score := range cv.Scores {
		total := 0.0
		for i, p := range parts {
			v, found := p.Scores[score.Name]
			if !found {
				v = record.Number(math.NaN())
			}
			weight := float64(held[i].Test) / n
			if score.Count {
				weight = 1
			}
			total += weight * float64(v)
		}
		if !math.IsNaN(total) {
			out = append(out, record.Named{Name: score.Name, Value: Number(total)})
		}
	}
	if len(out) == 0 {
		return nil, true
	}
	return append(out, record.Named{Name: "n", Value: Number(n)}), false
}

// expected returns the best point of a program whose values have noise. noisy is false for other
// searches, and before the regression of the values.
func (c Configuration) expected() (best Best, noisy bool) {
	if len(c.Studies) == 0 || c.Studies[0].Fit == nil || c.Studies[0].Fit.Expected == nil {
		return best, false
	}
	of := c.Studies[0].Fit.Expected
	i := slices.IndexFunc(c.Grid, func(p GridPoint) bool { return p.Chosen })
	if i < 0 {
		return best, false
	}
	return Best{By: c.Objective, Value: of.Value, StandardDeviation: &of.StandardDeviation, Trial: c.Grid[i].Trial,
		Point: i}, true
}

// bestBy returns the first point of the grid with the best value of the tuning objective or of a
// score; Point is -1 if there is none.
func (c Configuration) bestBy(by string, greater bool) Best {
	found := Best{By: by, Point: -1}
	for i, p := range c.Grid {
		v, known := p.by(by, c.Objective)
		if !known || p.Preliminary {
			continue
		}
		if b := float64(found.Value); found.Point < 0 || greater && v > b || !greater && v < b {
			found.Value, found.Point, found.Trial = Number(v), i, p.Trial
		}
	}
	return found
}

// BestPoints returns the first point of the grid that is best by the tuning objective, and by every
// score.
func (c Configuration) BestPoints() []Best {
	out := []Best{}
	add := func(found Best) {
		if found.Point >= 0 {
			out = append(out, found)
		}
	}
	measured := c.bestBy(c.Objective, !c.Minimises())
	if best, noisy := c.expected(); noisy {
		best.Luckiest = &measured.Point
		add(best)
	} else {
		add(measured)
	}
	for _, s := range cv.Scores {
		add(c.bestBy(s.Name, s.Greater))
	}
	return out
}
