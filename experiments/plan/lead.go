package plan

import (
	"reflect"

	"github.com/gpc-tune/gpc-tune/internal/rates"
	"github.com/gpc-tune/gpc-tune/search"
)

// lead finds the study that does the trials of each: the first that starts with it and asks for the
// same. So what they take is counted once.
func (p *planner) lead() {
	type start struct {
		of    string // Key or Tuning
		stage *search.Stage
	}
	first := map[start]int{}
	for i := range p.Studies {
		s := &p.Studies[i]
		s.Lead = i
		if k, found := first[start{s.Twin, s.Stage}]; found {
			s.Lead = p.Studies[k].Lead
		} else if k, found := first[start{s.Tuning, s.Stage}]; found && p.Studies[k].asksAs(s) {
			s.Lead = k
		}
		first[start{s.Key, s.Stage}] = i
		if s.Lead == i && s.Tuning != "" {
			first[start{s.Tuning, s.Stage}] = i
		}
		if s.Lead < i {
			s.follow()
		}
	}
}

// asksAs says that two studies of one Tuning ask for the same trials.
func (s *Study) asksAs(t *Study) bool {
	same := s.Seed == t.Seed || s.First == 1 && s.Strategy.Optimizer() != "" // of which the start is no random one
	return same && reflect.DeepEqual(s.Strategy, t.Strategy)
}

// follow takes what another study does out of the costs.
func (s *Study) follow() {
	costs := s.Costs
	s.Costs = func(r *rates.Rates) (Costs, bool) {
		c, ok := costs(r)
		c.All, c.Trials = c.All-c.Trials, 0
		if s.Twin != "" {
			c.All = 0
		}
		return c, ok
	}
}
