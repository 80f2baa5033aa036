package reports

import (
	"fmt"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// contest is a contest of the manifest with its state.
type contest struct {
	record.Contest
	now cv.Standing
}

// scored is the number of folds in the score of a contestant.
func (c contest) scored(k int) int {
	for _, cut := range c.now.Cuts {
		if cut.Contestant == k {
			return cut.Folds
		}
	}
	return c.now.Folds
}

// judge computes the states of the contests. It marks the studies that a contest has cut or that
// wait for it.
func judge(m record.Manifest, studies [][]Study) ([]contest, error) {
	var out []contest
	for i, r := range m.Contests {
		if err := checkContest(r, m, studies); err != nil {
			return nil, fmt.Errorf("contest %d: %w", i, err)
		}
		c := contest{Contest: r}
		if len(r.Folds) == 0 {
			c.now = byEvidence(r, studies)
		} else {
			rule, err := r.Rule()
			if err == nil && rule.Score.Numeric != (len(m.Configurations[r.Configurations[0]].Classes) == 0) {
				err = fmt.Errorf("the predictions have no %s", r.Score)
			}
			if err != nil {
				return nil, fmt.Errorf("contest %d: %w", i, err)
			}
			c.now = rule.Judge(attempts(r, studies))
		}
		for k, configuration := range r.Configurations {
			in := slices.Contains(c.now.In, k)
			for f, index := range r.Folds {
				s := &studies[configuration][index]
				s.Nested = r.WinnerOnly
				s.cut = !in && f >= c.scored(k)
				s.waiting = in && f >= c.now.Next
			}
			for _, index := range r.Next {
				s := &studies[configuration][index]
				s.Nested = r.WinnerOnly
				if len(r.Folds) > 0 {
					s.waiting = in && !c.now.Ended
					s.cut = !in || r.WinnerOnly && c.now.Ended && k != c.now.Winner
				}
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// checkContest returns an error if studies that a contest refers to are missing or do not fit
// together.
func checkContest(r record.Contest, m record.Manifest, studies [][]Study) error {
	if len(r.Configurations) == 0 || r.WinnerOnly && len(r.Next) != 1 || len(r.Folds) == 0 &&
		(r.Score != "log_evidence" || !r.WinnerOnly) {
		return fmt.Errorf("a contest has no contestants or no folds")
	}
	for _, c := range r.Configurations {
		for _, s := range slices.Concat([]int{0}, r.Folds, r.Next) {
			if c < 0 || c >= len(studies) || s < 0 || s >= len(studies[c]) {
				return fmt.Errorf("no study %d of configuration %d", s, c)
			}
			if first := r.Configurations[0]; studies[c][s].Test != studies[first][s].Test ||
				len(m.Configurations[c].Classes) != len(m.Configurations[first].Classes) {
				return fmt.Errorf("study %d of configurations %d and %d: other cases or classes", s, first, c)
			}
		}
	}
	return nil
}

// attempts returns the results of every contestant on the folds.
func attempts(r record.Contest, studies [][]Study) [][]cv.Attempt {
	out := make([][]cv.Attempt, len(r.Configurations))
	for k, configuration := range r.Configurations {
		for _, f := range r.Folds {
			s := studies[configuration][f]
			a := cv.Attempt{Predictions: s.Predictions}
			switch {
			case s.dropped:
				a.Failure = cause.ByHand.New("dropped by hand")
			case s.Fit != nil:
				a.Failure = s.Fit.Failure
			}
			out[k] = append(out[k], a)
		}
	}
	return out
}

// byEvidence ranks the configurations by their log evidence on the outer training set.
func byEvidence(r record.Contest, studies [][]Study) cv.Standing {
	nan := math.NaN()
	s := cv.Standing{Ended: true, Winner: -1, Scores: make([]cv.Estimate, len(r.Configurations))}
	for k, configuration := range r.Configurations {
		s.Scores[k] = cv.Estimate{Value: nan, Lo: nan, Hi: nan}
		fit := studies[configuration][r.Next[0]].Fit
		switch {
		case studies[configuration][r.Next[0]].dropped:
			s.Cuts = append(s.Cuts, cv.Cut{Contestant: k, Reason: "dropped by hand", Kind: cause.ByHand, Better: -1,
				P: nan})
		case fit == nil:
			s.Ended = false
		case !fit.Failure.IsZero():
			s.Cuts = append(s.Cuts, cv.Cut{Contestant: k, Reason: "failed: " + fit.Failure.String(),
				Kind: fit.Failure.Kind, Better: -1, P: nan})
		default:
			s.Scores[k].Value = float64(fit.LogEvidence)
			if math.IsNaN(s.Scores[k].Value) {
				s.Cuts = append(s.Cuts, cv.Cut{Contestant: k, Reason: "it has no log evidence", Kind: cause.Failure,
					Better: -1, P: nan})
			} else if s.Winner < 0 || s.Scores[k].Value > s.Scores[s.Winner].Value {
				s.Winner = k
			}
		}
	}
	if !s.Ended {
		s.Winner = -1
	}
	return s
}
