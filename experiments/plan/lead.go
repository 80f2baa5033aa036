package plan

import (
	"reflect"

	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// lead sets RunsTrialsOf of each study: the first study that proposes the same trials, and
// therefore runs them. The time of shared trials is counted once.
func (p *planner) lead() {
	type start struct {
		of    string // Key or Tuning
		stage *schedule.Stage
	}
	first := map[start]int{}
	for i := range p.Studies {
		s := &p.Studies[i]
		s.RunsTrialsOf = i
		if k, found := first[start{s.SameAs, s.Stage}]; found {
			s.RunsTrialsOf = p.Studies[k].RunsTrialsOf
		} else if k, found := first[start{s.Tuning, s.Stage}]; found && p.Studies[k].sameProposals(s) {
			s.RunsTrialsOf = k
		}
		first[start{s.Key, s.Stage}] = i
		if s.RunsTrialsOf == i && s.Tuning != "" {
			first[start{s.Tuning, s.Stage}] = i
		}
		if s.RunsTrialsOf < i {
			s.subtractLead()
		} else if k, ok := first[start{s.Starting, s.Stage}]; s.Starting != "" && ok && p.Studies[k].sameStart(s) {
			s.subtractPreliminary()
		}
	}
}

// sameProposals reports whether two studies with the same Tuning propose the same trials.
func (s *Study) sameProposals(t *Study) bool { return s.sameStart(t) && s.Starting == t.Starting }

// sameStart reports whether the strategies of two studies propose the same trials.
func (s *Study) sameStart(t *Study) bool {
	// whose one start is the initial value, not a random one
	same := s.Seed == t.Seed || s.First == 1 && s.Strategy.Optimizer() != ""
	return same && reflect.DeepEqual(s.Strategy, t.Strategy)
}

// subtractLead subtracts the times of trials that another study computes.
func (s *Study) subtractLead() {
	times := s.Times
	s.Times = func(r *Rates) (Times, bool) {
		c, ok := times(r)
		c.All, c.Trials = c.All-c.Trials, 0
		if s.SameAs != "" {
			c.All = 0
		}
		return c, ok
	}
}

// subtractPreliminary subtracts the times of preliminary trials, which another study computes.
func (s *Study) subtractPreliminary() {
	times := s.Times
	s.Times = func(r *Rates) (Times, bool) {
		c, ok := times(r)
		c.All, c.Trials, c.Preliminary = c.All-c.Preliminary, c.Trials-c.Preliminary, 0
		return c, ok
	}
}
