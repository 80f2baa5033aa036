package schedule

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"
)

// The winner has the whole budget, although the values of small budgets are greater, and is near
// the best point. The search costs as much as far fewer trials with the whole budget.
func TestHyperbandFinds(t *testing.T) {
	s := Study{Key: "n", Strategy: search.Hyperband{Fidelity: search.Fidelity{Of: "n", Eta: 2}}, Space: search.Space{param.Between("x", param.Identity, 0, 1),
		param.Between("n", param.Whole, 10, 80)}}
	cost := 0.0
	s.Value = func(_ context.Context, theta []float64) (float64, error) {
		cost += theta[1] / 80
		return -math.Abs(theta[0]-0.3) - theta[1], nil
	}
	j := mustOpen(t, "")
	sum := mustRun(t, []Study{s}, j, Options{Workers: 1})
	lines := j.Lines()
	fit := lines[len(lines)-1].Fit
	if x, n := float64(fit.Natural[0]), fit.Natural[1]; n != 80 || math.Abs(x-0.3) > 0.05 {
		t.Errorf("the best is x = %v at n = %v", x, n)
	}
	// four brackets, each of about four trials of the whole budget
	if sum.Done != s.Budget().Trials || cost > 17 {
		t.Errorf("%+v, at the cost of %v trials", sum, cost)
	}
	full := 0
	for _, line := range lines {
		if t := line.Trial; t != nil && !t.Preliminary {
			full++
		}
	}
	if full != 1+1+2+4 {
		t.Errorf("%d trials have the whole budget", full)
	}
	if _, _, err := search.Winner([]record.Trial{{Preliminary: true, Points: []record.Point{{Value: 1}}}}); err == nil {
		t.Error("a preliminary trial wins")
	}
}

// A simplex whose first corner fails goes on from the others.
func TestNelderMeadStartsAtAFailure(t *testing.T) {
	s := hill(search.NelderMead{Trials: 120}, func([]record.Number) {})
	value, calls := s.Value, 0
	s.Value = func(ctx context.Context, theta []float64) (float64, error) {
		if calls++; calls == 1 {
			return 0, errors.New("the first fails")
		}
		return value(ctx, theta)
	}
	j := mustOpen(t, "")
	mustRun(t, []Study{s}, j, Options{Workers: 1})
	best := math.Inf(-1)
	for _, line := range j.Lines() {
		if line.Trial != nil {
			best = max(best, line.Trial.Value())
		}
	}
	if best < 0.99 {
		t.Errorf("%d points, the best of value %v", calls, best)
	}
}

// The journal is the same for any number of workers, with failures of every kind: of a point, of a
// trial, panics.
func TestWorkersDoNotMatterToAdaptiveStrategies(t *testing.T) {
	s := spaces.Surfaces["hole"]
	var want string
	for _, workers := range []int{1, 8} {
		var studies []Study
		for i, a := range []search.Strategy{search.NelderMead{Restarts: 3, Trials: 90}, search.CMAES{Trials: 60}, search.Bayes{Trials: 20, Batch: 3}} {
			studies = append(studies, Study{
				Key: string(rune('a' + i)), Index: i, Space: s.Space, Strategy: a, Seed: 5,
				Trial: func(_ context.Context, index int, p search.Proposal) (record.Trial, error) {
					switch index % 11 {
					case 4:
						return record.Trial{}, errors.New("singular")
					case 9:
						panic("out of range")
					}
					return spaces.Evaluated(index, p.Points, s.At), nil
				},
				Assess: func(context.Context, int, []float64, []record.Trial) (record.Fit, error) { return record.Fit{}, nil },
			})
		}
		j := mustOpen(t, "")
		mustRun(t, studies, j, Options{Workers: workers})
		for _, l := range j.Lines() {
			if x := l.Trial; x != nil && len(x.Points)+len(x.Asked) != 1 {
				t.Errorf("trial %d has %d points and asked for %d", x.Index, len(x.Points), len(x.Asked))
			}
		}
		if want == "" {
			want = canonical(j.Lines())
		}
		if canonical(j.Lines()) != want {
			t.Errorf("%d workers give another journal", workers)
		}
	}
}

// An enqueued point that a constraint forbids fails with the reason, and is not moved.
func TestForbiddenEnqueuedPoint(t *testing.T) {
	space := search.Space(spaces.Constrained())
	f := Function{Space: space, Strategy: search.Random{Design: search.Design{Trials: 2}}, Value: func(context.Context, []float64) (float64, error) { return 0, nil }}
	study := f.Study("k")
	s := &tuning{Study: &study, asked: map[string]int{}, keys: map[string]bool{}, enqueuedAt: map[string][]string{}}
	if j := s.enqueuedJob(1, map[string]record.Number{"rate": 0.5, "batch": 64}); j.refused == nil || !strings.Contains(j.refused.Error(), "rate * batch < 1") {
		t.Error(j.refused)
	}
	if j := s.enqueuedJob(1, map[string]record.Number{"rate": 0.01, "batch": 64, "drop": 0.5}); j.refused != nil {
		t.Error(j.refused)
	}
}

// stubborn proposes the same points whatever the constraints are, as a strategy of another program
// might.
type stubborn struct{ search.Random }

func (stubborn) Ask(s search.Space, done []record.Trial, seed uint64) []search.Proposal {
	if len(done) > 0 {
		return nil
	}
	var all []search.Proposal
	for i := range 20 {
		all = append(all, search.Proposal{Points: [][]float64{param.Start(s, seed, i)}})
	}
	return all
}

// Forbidden points of a strategy that does not know of constraints are moved to allowed ones.
func TestForbiddenPointsAreMoved(t *testing.T) {
	study := Study{Space: spaces.Constrained(), Strategy: stubborn{search.Random{Design: search.Design{Trials: 20}}}, Seed: 1}
	forbidden := 0
	for i, p := range study.ask(nil) {
		if !study.Space.Allows(stubborn{}.Ask(study.Space, nil, 1)[i].Points[0]) {
			forbidden++
		}
		if !study.Space.Allows(p.Points[0]) {
			t.Errorf("trial %d: forbidden %v", i, p.Points[0])
		}
	}
	if forbidden < 10 {
		t.Errorf("%d of the proposals were forbidden", forbidden)
	}
}
