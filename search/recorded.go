package search

import (
	"slices"

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
	if by == nil || Moves(by) {
		return
	}
	if of, boxed := by.(Boxed); boxed {
		s = of.Box(s)
	}
	for i := range all {
		if j := s.Index(all[i].Name); j >= 0 && !all[i].Fixed {
			lo, hi := s[j].ThetaBounds()
			all[i].Range = &record.Range{Lo: record.Number(lo), Hi: record.Number(hi),
				Init: record.Number(s[j].Map.Theta(s[j].Init)), Even: s[j].Given}
		}
	}
}

// Moves reports whether the points of a strategy's trials differ from its proposals: it climbs from
// them or samples.
func Moves(s Strategy) bool {
	_, chains := s.(Sampler)
	return s != nil && (chains || s.Optimizer() != "")
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
		p := h.Spec()
		if p.Lo, p.Hi, p.Init = float64(h.Range.Lo), float64(h.Range.Hi), float64(h.Range.Init); !p.Map.Discrete() {
			p.Map = param.Identity
		}
		p.Given, p.Literals, p.When = h.Range.Even, nil, nil
		at := &p.When
		for c := h.When; c != nil; c = c.And {
			if s.Index(c.Name) < 0 { // here this condition holds always or never
				continue
			}
			on := all[slices.IndexFunc(all, func(o record.Hyperparameter) bool { return o.Name == c.Name })].Spec().Map
			*at = &param.Condition{Name: c.Name, Values: c.Values, Bounds: param.Bounds{Above: onTheta(on, c.Above),
				Below: onTheta(on, c.Below), AtLeast: onTheta(on, c.AtLeast), AtMost: onTheta(on, c.AtMost)}}
			at = &(*at).And
		}
		s, of = append(s, p), append(of, free)
	}
	return s, of
}

// onTheta is a bound on the theta scale; nil: there is none.
func onTheta(m param.Transform, bound *float64) *float64 {
	if bound == nil {
		return nil
	}
	theta := m.Theta(*bound)
	return &theta
}
