package search

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/experiments/record"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// MultiFidelity is Bayesian optimisation that climbs through levels of a budget, such as a third of
// the cases and all of them. The first level has all Trials, as Bayes has; each of the
// others half as many as the one before. A regression in the hyperparameters and the level has the
// values of all trials so far (Kandasamy et al. 2017, ICML), each as its distance below the best of
// its level, squashed (see Bayes), in a unit of the level. A level begins with the best point of
// the one before and with the point whose distance from it was the unit there. The distance
// between these two is its own unit. So values of levels are comparable, whatever their scales are.
type MultiFidelity struct {
	Fidelity `yaml:",inline"`
	Trials   int `yaml:"trials" within:"[1,1000]"` // of the first level; 0 means 40
	Levels   int `yaml:"levels" within:"[1,10]"`   // 0 means 2
}

// Check implements Strategy.
func (m MultiFidelity) Check(s Space) error {
	err := checkSearch(s, count{"trials", m.Trials, 1, 1000}, count{"levels", m.Levels, 1, 10},
		count{"eta", m.Eta, 2, 100})
	if err != nil || len(s) == 0 {
		return err
	}
	return errors.Join(m.check(s, "multi_fidelity"), checkSobol(s))
}

// level is a number of trials with this part of the budget.
type level struct {
	trials int
	part   float64
}

func (m MultiFidelity) levels() (all []level) {
	n, trials := cmp.Or(m.Levels, 2), cmp.Or(m.Trials, 40)
	for l := range n {
		all = append(all, level{max(1, trials>>l), math.Pow(m.eta(), float64(l-n+1))})
	}
	return all
}

// Optimizer implements Strategy.
func (MultiFidelity) Optimizer() string { return "" }

// Budget implements Strategy.
func (m MultiFidelity) Budget(s Space) Budget {
	b := Budget{AtOnce: 1, AtMost: s.mixed()}
	for _, of := range m.levels() {
		if b.Trials += of.trials; m.shares(s) {
			b.Whole += float64(of.trials) * of.part
		}
	}
	return s.budget(b)
}

// Ask implements Strategy.
func (m MultiFidelity) Ask(s Space, done []record.Trial, seed uint64) []Proposal {
	if len(s) == 0 {
		return askOnce(done)
	}
	rows, values := []float64{}, []float64{} // of the levels before
	var best, typical []float64              // points of the level before
	var met [][]float64
	for l, of := range m.levels() {
		here := done[:min(len(done), of.trials)]
		done = done[len(here):]
		points, _ := s.met(here)
		met = append(met, points...)
		if len(here) == of.trials {
			var unit float64
			rows, values, unit = m.learn(s, l, here, rows, values)
			best, typical = s.extremes(here, unit)
			continue
		}
		var next [][]float64
		switch first := (Bayes{Trials: of.trials}).on(s); {
		case l == 0 && len(here) < first.Initial:
			for _, p := range first.propose(s, nil, seed, s.starts())[len(here):] {
				next = append(next, p.Points...)
			}
		case l > 0 && len(here) == 0 && best != nil:
			next = [][]float64{best}
		case l > 0 && len(here) == 1 && typical != nil:
			next = [][]float64{typical}
		default:
			known, all, _ := m.learn(s, l, here, slices.Clip(rows), slices.Clip(values))
			if u := m.improve(s, l, known, all, points, met, seed+uint64(l*1000+len(here))); u != nil {
				next = [][]float64{s.place(u)}
			}
		}
		return m.propose(s, next, of.part)
	}
	return nil
}

// features are the coordinates of a point at a level in the regression.
func (m MultiFidelity) features(s Space, l int, u []float64) []float64 {
	if i := s.index(m.Of); i >= 0 {
		u = slices.Clone(u)
		u[i] = 0
	}
	return append(s.features(u), float64(l)/4)
}

// learn adds the trials of a level to rows and values; unit is that of the level.
func (m MultiFidelity) learn(s Space, l int, here []record.Trial, rows, values []float64) (_, _ []float64,
	unit float64) {
	var at, of []float64
	points, _ := s.met(here)
	for i, u := range points {
		if u != nil {
			at, of = append(at, m.features(s, l, u)...), append(of, here[i].Value())
		}
	}
	below := belowBest(of)
	if below == nil {
		return rows, values, 1
	}
	if l > 0 && len(of) > 1 {
		unit = math.Abs(of[0] - of[1])
		if math.IsInf(unit, 0) {
			unit = 0
		}
	}
	more, unit := squashed(below, unit)
	return append(rows, at...), append(values, more...), unit
}

// extremes are the best point of a level, and the one whose distance below it is nearest to the
// unit; nil if there are no two.
func (s Space) extremes(here []record.Trial, unit float64) (best, typical []float64) {
	_, top := s.met(here)
	if top < 0 {
		return nil, nil
	}
	nearest := math.Inf(1)
	for _, t := range here {
		below := here[top].Value() - t.Value()
		if off := math.Abs(below - unit); below > 0 && off < nearest {
			nearest, typical = off, t.Theta()
		}
	}
	return here[top].Theta(), typical
}

// improve is the point of the largest expected improvement at a level; nil if every point is met.
func (m MultiFidelity) improve(s Space, l int, rows, values []float64, here, met [][]float64, seed uint64) []float64 {
	if len(values) == 0 {
		return s.next(len(met), met, seed)
	}
	in := s.everywhere()
	in.features = func(u []float64) []float64 { return m.features(s, l, u) }
	if i := s.index(m.Of); i >= 0 {
		at := s[i].Unit(m.at(s, m.levels()[l].part))
		in.point = func(c []float64) []float64 {
			c = slices.Clone(c)
			c[i] = at
			return s.settled(c)
		}
	}
	r := in.fit(rows, values, 1, seed)
	if r == nil {
		return s.next(len(met), met, seed)
	}
	leader := slices.MaxFunc(met, func(a, b []float64) int {
		if a == nil || b == nil {
			return cmp.Compare(len(a), len(b))
		}
		x, _ := r.at(a)
		y, _ := r.at(b)
		return cmp.Compare(x, y)
	})
	u, _ := r.improve(here, leader, param.Source(seed, 0).Uint64())
	return u
}
