package cv

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// Contest is a competition over folds that all contestants visit in the same order. The contestant
// with the best score of its predictions on all folds together wins. Contestants are numbered from
// 0; of equal scores the lower number ranks first.
type Contest struct {
	Score Score
	Race  Race // nil: contestants are eliminated only if they fail
	Folds int
}

// Attempt is the result of one contestant on one fold: none yet, predictions, or a failure.
type Attempt struct {
	Predictions *Predictions
	Failure     cause.Notice
}

// NewContest makes a contest by a score over a number of folds. An empty race means that all
// contestants visit all folds. The options of the race are JSON.
func NewContest(score, race string, options []byte, folds int) (c Contest, err error) {
	c.Folds = folds
	if c.Score, err = ScoreNamed(score); err != nil || race == "" {
		return c, err
	}
	e, err := Races.Lookup("race", race)
	if err != nil {
		return c, err
	}
	if c.Race, err = e.New(func(v any) error { return json.Unmarshal(options, v) }); err != nil {
		return c, fmt.Errorf("race %s: %w", race, err)
	}
	return c, c.Race.Check()
}

// Rounds returns the number of folds completed at the end of every round; the last number is
// c.Folds.
func (c Contest) Rounds(contestants int) []int {
	var ends []int
	if c.Race != nil {
		ends = c.Race.Rounds(contestants, c.Folds)
	}
	return append(slices.Clip(ends), c.Folds)
}

// Standing is the state of a contest.
type Standing struct {
	Ended bool
	Folds int   // completed by all remaining contestants, at the end of a round
	Next  int   // folds at the end of the current round; Folds once the contest has ended
	In    []int // remaining contestants, in order of their numbers
	Cuts  []Cut // eliminated contestants, in order of elimination
	// every contestant's score on the folds up to the end of its last round; NaN before the first
	Scores []Estimate
	Winner int // -1: not known yet, or all have failed
}

// Judge returns the state of the contest after the attempts so far, indexed by contestant and fold.
// A contestant that fails in a fold is eliminated.
func (c Contest) Judge(attempts [][]Attempt) Standing {
	nan := math.NaN()
	s := Standing{Winner: -1, In: make([]int, len(attempts)), Scores: make([]Estimate, len(attempts))}
	for k := range attempts {
		s.In[k], s.Scores[k] = k, Estimate{nan, nan, nan}
	}
	parts := make([][]Predictions, len(attempts))
	ends := c.Rounds(len(attempts))
	for round, end := range ends {
		s.Next = end
		for _, k := range s.In {
			for _, a := range attempts[k][s.Folds:end] {
				if a.Predictions == nil && a.Failure.IsZero() {
					return s
				}
			}
		}
		s.leave(c.failed(attempts, parts, &s, end))
		s.Folds = end
		ranked := c.ranked(s)
		if end < c.Folds && len(ranked) > 1 {
			s.leave(c.Race.Cut(Round{
				Score: c.Score, Contestants: len(attempts), Folds: c.Folds, Round: round, Done: end,
				In: ranked, Parts: parts, Scores: s.Scores,
			}))
		} else if end == c.Folds && len(ranked) > 0 {
			s.Winner = ranked[0]
		}
	}
	s.Ended = true
	return s
}

// failed computes the scores of the remaining contestants on the folds up to end, and returns the
// contestants that failed on these folds.
func (c Contest) failed(attempts [][]Attempt, parts [][]Predictions, s *Standing, end int) (cuts []Cut) {
	for _, k := range s.In {
		reason, kind := "", cause.Kind("")
		for f := s.Folds; f < end && reason == ""; f++ {
			if a := attempts[k][f]; a.Failure.IsZero() {
				parts[k] = append(parts[k], *a.Predictions)
			} else {
				if reason, kind = "failed: "+a.Failure.String(), a.Failure.Kind; kind == cause.ByHand {
					reason = a.Failure.String()
				}
			}
		}
		if reason == "" {
			e, ok, err := c.Score.Of(Pool(parts[k]...))
			switch s.Scores[k] = e; {
			case err != nil:
				reason, kind = "failed: "+err.Error(), cause.Failed(err).Kind
			case !ok:
				reason, kind = c.Score.Name+" is not defined for its held-out cases", cause.Undefined
			}
		}
		if reason != "" {
			s.Scores[k] = Estimate{math.NaN(), math.NaN(), math.NaN()}
			cuts = append(cuts, Cut{Contestant: k, Folds: end, Reason: reason, Kind: kind, Better: -1, P: math.NaN()})
		}
	}
	return cuts
}

// leave eliminates contestants.
func (s *Standing) leave(cuts []Cut) {
	s.Cuts = append(s.Cuts, cuts...)
	s.In = slices.DeleteFunc(s.In, func(k int) bool {
		return slices.ContainsFunc(cuts, func(c Cut) bool { return c.Contestant == k })
	})
}

// ranked returns the remaining contestants, the best first.
func (c Contest) ranked(s Standing) []int {
	in := slices.Clone(s.In)
	slices.SortStableFunc(in, func(a, b int) int {
		order := cmp.Compare(s.Scores[a].Value, s.Scores[b].Value)
		if c.Score.Greater {
			order = -order
		}
		return order
	})
	return in
}
