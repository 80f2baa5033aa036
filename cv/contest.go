package cv

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Contest is a competition over folds that all contestants meet in the same order: the best score
// of the predictions of all folds together wins. Contestants are numbered from 0, and of equal ones
// the first is the better.
type Contest struct {
	Score Score
	Race  Race // nil: nobody is cut for being behind
	Folds int
}

// Race is a rule by which contestants leave a contest that they are not going to win. What it
// decides depends on the results of whole rounds, not on the order in which they came in. Its
// options are its exported fields; zero means the default.
type Race interface {
	// Check says what is wrong with the options.
	Check() error
	// Rounds says after how many folds contestants may be cut: ascending, from 1 to folds-1.
	Rounds(contestants, folds int) []int
	// Cut names those that leave after a round, and why. The best never does.
	Cut(Round) []Cut
}

// Races lists the rules.
var Races = registry.Table[Race]{
	registry.Of[PairedT, Race]("paired_t", "cut who is behind the best by a one-sided paired t-test over the folds so far, three or more (alpha: 0.05, for the whole race)"),
	registry.Of[SuccessiveHalving, Race]("successive_halving", "keep the best 1/eta after F/eta^s, …, F/eta of the F folds, until one is left (eta: 2)"),
}

// Round is the state of a race after a round.
type Round struct {
	Score       Score
	Contestants int             // at the start
	Folds       int             // of the contest
	Round, Done int             // index into Rounds(Contestants, Folds), and the folds done
	In          []int           // contestants left, the best by their Scores first
	Parts       [][]Predictions // by contestant and fold, of the folds so far
	Scores      []Estimate      // by contestant, of all these predictions together
}

// Cut says who left a contest, when and why.
type Cut struct {
	Contestant int
	Folds      int    // that were done
	Reason     string // without the name of the Better one
	Better     int    // who was best then; -1: it failed
	P          float64
}

// Attempt is what came of one fold: nothing yet, predictions, or a failure.
type Attempt struct {
	Predictions *Predictions
	Failure     string
}

// Attempted is the attempt on record, of so many classes; nil is none yet.
func Attempted(classes int, f *record.Fit) Attempt {
	if f == nil {
		return Attempt{}
	}
	if f.Failure != "" {
		return Attempt{Failure: f.Failure}
	}
	p, err := Recorded(classes, f)
	if err != nil {
		return Attempt{Failure: err.Error()}
	}
	return Attempt{Predictions: &p}
}

// NewContest makes the contest that is on record.
func NewContest(r record.Contest) (c Contest, err error) {
	c.Folds = len(r.Folds)
	if c.Score, err = ScoreNamed(r.Score); err != nil || r.Race == "" {
		return c, err
	}
	e, err := Races.Lookup("race", r.Race)
	if err != nil {
		return c, err
	}
	if c.Race, err = e.New(func(v any) error { return json.Unmarshal(r.Options, v) }); err != nil {
		return c, fmt.Errorf("race %s: %w", r.Race, err)
	}
	return c, c.Race.Check()
}

// Rounds says how many folds are done at the end of every round; the last is all of them.
func (c Contest) Rounds(contestants int) []int {
	var ends []int
	if c.Race != nil {
		ends = c.Race.Rounds(contestants, c.Folds)
	}
	return append(slices.Clip(ends), c.Folds)
}

// Standing is where a contest is.
type Standing struct {
	Ended  bool
	Folds  int        // done by all that are left, at the end of a round
	Next   int        // end of the round that is under way; Folds once the contest has ended
	In     []int      // contestants left, in order of their numbers
	Cuts   []Cut      // the others, in the order in which they left
	Scores []Estimate // of every contestant, over the folds at the end of its last round; NaN before the first
	Winner int        // -1: not known yet, or all have failed
}

// Judge says where a contest is after the attempts so far, by contestant and fold. Who fails in a
// fold is out.
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
				if a.Predictions == nil && a.Failure == "" {
					return s
				}
			}
		}
		s.leave(c.failed(attempts, parts, &s, end))
		s.Folds = end
		ranked := c.ranked(s)
		if end < c.Folds && len(ranked) > 1 {
			s.leave(c.Race.Cut(Round{Score: c.Score, Contestants: len(attempts), Folds: c.Folds, Round: round, Done: end, In: ranked, Parts: parts, Scores: s.Scores}))
		} else if end == c.Folds && len(ranked) > 0 {
			s.Winner = ranked[0]
		}
	}
	s.Ended = true
	return s
}

// failed scores who is left on the folds up to end, and says who failed there.
func (c Contest) failed(attempts [][]Attempt, parts [][]Predictions, s *Standing, end int) (cuts []Cut) {
	for _, k := range s.In {
		reason := ""
		for f := s.Folds; f < end && reason == ""; f++ {
			if a := attempts[k][f]; a.Failure == "" {
				parts[k] = append(parts[k], *a.Predictions)
			} else {
				reason = "failed: " + a.Failure
			}
		}
		if reason == "" {
			var ok bool
			if s.Scores[k], ok = c.Score.Func(Pool(parts[k]...)); !ok {
				reason = c.Score.Name + " is not defined for its held-out cases"
			}
		}
		if reason != "" {
			s.Scores[k] = Estimate{math.NaN(), math.NaN(), math.NaN()}
			cuts = append(cuts, Cut{Contestant: k, Folds: end, Reason: reason, Better: -1, P: math.NaN()})
		}
	}
	return cuts
}

// leave takes contestants out.
func (s *Standing) leave(cuts []Cut) {
	s.Cuts = append(s.Cuts, cuts...)
	s.In = slices.DeleteFunc(s.In, func(k int) bool {
		return slices.ContainsFunc(cuts, func(c Cut) bool { return c.Contestant == k })
	})
}

// ranked is who is left, the best first.
func (c Contest) ranked(s Standing) []int {
	in := slices.Clone(s.In)
	slices.SortStableFunc(in, func(a, b int) int {
		x, y := s.Scores[a].Value, s.Scores[b].Value
		switch {
		case x == y:
			return 0
		case x > y == c.Score.Greater:
			return -1
		}
		return 1
	})
	return in
}
