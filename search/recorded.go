package search

import (
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
)

// Boxed is a Strategy that searches in a part of the space.
type Boxed interface {
	Strategy
	// Box returns this part of the space. Hyperparameters that the strategy does not move are left
	// out.
	Box(s Space) Space
}

// Record sets the Range of hyperparameters in the search of a strategy without local optimiser and
// chains. With these, the trials' points differ from the proposals.
func Record(all []record.Hyperparameter, by Strategy, s Space) {
	if by == nil || moves(by) {
		return
	}
	if of, boxed := by.(Boxed); boxed {
		s = of.Box(s)
	}
	for i := range all {
		if j := s.index(all[i].Name); j >= 0 && !all[i].Fixed {
			lo, hi := s[j].ThetaBounds()
			all[i].Range = &record.Range{Lo: record.Number(lo), Hi: record.Number(hi),
				Init: record.Number(s[j].Map.Theta(s[j].Init)), Even: s[j].Given}
		}
	}
}

// recordedSpace is the space that Record has written, on the theta scale, and the position of each
// of its hyperparameters among the free ones, as points on record have them.
func recordedSpace(all []record.Hyperparameter) (s Space, of []int) {
	free := -1
	for _, h := range all {
		if h.Fixed {
			continue
		}
		if free++; h.Range == nil {
			continue
		}
		p := param.Spec{Name: h.Name, Map: param.Identity, Lo: float64(h.Range.Lo), Hi: float64(h.Range.Hi),
			Init: float64(h.Range.Init), Given: h.Range.Even, Choices: h.Choices}
		switch {
		case h.Choices != nil:
			p.Map = param.Choice
		case h.Whole:
			p.Map, p.Step, p.Log = param.Whole, float64(h.Step), h.Log
		}
		if h.When != nil && s.index(h.When.Name) >= 0 { // else it matters always here, or never
			p.When = &param.Condition{Name: h.When.Name, Values: h.When.Values}
		}
		s, of = append(s, p), append(of, free)
	}
	return s, of
}
