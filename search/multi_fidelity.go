package search

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
)

// MultiFidelity is Bayesian optimisation that climbs through levels of a budget, such as a third of
// the cases and all of them. The first level has Trials trials. A later level has half the trials
// of the level before, or fewer if no point is left. One regression, with the hyperparameters and
// the level as inputs, has the values of all trials so far (Kandasamy et al. 2017, ICML). A value
// enters as its distance below the best value of its level, squashed (see Bayes), in a unit of the
// level. A level begins with the best point of the level before, and with the point whose distance
// from the best was the unit there. The distance between the values of these two is the unit of the
// new level. This makes the values of levels comparable, whatever their scales.
type MultiFidelity struct {
	Fidelity `yaml:",inline"`
	Trials   int `yaml:"trials" within:"[1,1000]"` // trials of the first level; 0 means 40
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

// level is a number of trials at one budget: a fraction of the whole and, if the budget is a
// hyperparameter, its value.
type level struct {
	trials       int
	part, budget float64
}

// levels are the levels of a space. If rounding to the bounds or values of the space makes several
// budgets equal, only the last of these levels stays.
func (m MultiFidelity) levels(s Space) (all []level) {
	n := cmp.Or(m.Levels, 2)
	for l := range n {
		of := level{part: math.Pow(m.eta(), float64(l-n+1))}
		of.budget = of.part
		if i := s.Index(m.Of); i >= 0 {
			theta := s.Start()
			theta[i] = m.at(s, of.part)
			of.budget = s.roundToGrid(theta)[i]
		}
		if k := len(all); k > 0 && all[k-1].budget == of.budget {
			all = all[:k-1]
		}
		of.trials = max(1, cmp.Or(m.Trials, 40)>>len(all))
		all = append(all, of)
	}
	return all
}

// has reports whether a trial belongs to this level.
func (of level) has(t record.Trial, budget int) bool {
	switch {
	case budget >= 0:
		return t.Theta()[budget] == of.budget
	case t.Share == (record.Share{}):
		return of.part == 1
	}
	return t.Share.Part == of.part
}

// models tells FitsModel that the strategy does.
func (MultiFidelity) models() {}

// Optimizer implements Strategy.
func (MultiFidelity) Optimizer() string { return "" }

// Budget implements Strategy.
func (m MultiFidelity) Budget(s Space) Budget {
	alone := len(s) == 1 && !m.Shares(s) // only the budget: a level has one point
	b := Budget{AtOnce: 1, AtMost: s.mixed() || alone}
	for _, of := range m.levels(s) {
		if b.Trials += of.trials; m.Shares(s) {
			b.Whole += float64(of.trials) * of.part
		}
	}
	return s.budget(b)
}

// Ask implements Strategy. A level ends with its last trial, or where it has no new point.
func (m MultiFidelity) Ask(s Space, done []record.Trial, seed uint64) []Proposal {
	if len(s) == 0 {
		return askOnce(done)
	}
	budget := s.Index(m.Of)
	rows, values := []float64{}, []float64{} // rows and values of the earlier levels
	var starts [][]float64                   // best and unit point of the level before
	var met [][]float64
	for l, of := range m.levels(s) {
		n := slices.IndexFunc(done, func(t record.Trial) bool { return !of.has(t, budget) })
		if n < 0 {
			n = len(done)
		}
		here := done[:n]
		done = done[n:]
		points, _ := s.met(here)
		met = append(met, points...)
		known, all, unit := m.learn(s, l, here, slices.Clip(rows), slices.Clip(values))
		if len(done) == 0 && n < of.trials {
			first := starts
			if l == 0 {
				first = m.initial(s, of, seed)
			}
			next := m.unmet(s, first, of, here)
			if l > 0 && len(next) > 0 {
				next = next[:1]
			}
			if len(next) == 0 {
				u := m.improve(s, of, l, known, all, points, met, seed+uint64(l*1000+n))
				if u != nil {
					next = m.unmet(s, [][]float64{s.place(u)}, of, here)
				}
			}
			if len(next) > 0 {
				return next
			}
		}
		rows, values, starts = known, all, s.extremes(here, unit)
	}
	return nil
}

// initial are the points with which Bayes begins.
func (m MultiFidelity) initial(s Space, of level, seed uint64) (points [][]float64) {
	for _, p := range (Bayes{Trials: of.trials}).on(s).propose(s, nil, seed, s.starts()) {
		points = append(points, p.Points...)
	}
	return points
}

// unmet are proposals of the points that no trial of the level has evaluated.
func (m MultiFidelity) unmet(s Space, points [][]float64, of level, here []record.Trial) (next []Proposal) {
	var seen [][]float64
	for _, t := range here {
		seen = append(seen, t.Theta())
	}
	for _, p := range m.propose(s, points, of.part) {
		theta := p.Points[0]
		if !slices.ContainsFunc(seen, func(met []float64) bool { return slices.Equal(met, theta) }) {
			next, seen = append(next, p), append(seen, theta)
		}
	}
	return next
}

// features are the coordinates of a point at a level in the regression.
func (m MultiFidelity) features(s Space, l int, u []float64) []float64 {
	if i := s.Index(m.Of); i >= 0 {
		u = slices.Clone(u)
		u[i] = 0
	}
	return append(s.features(u), float64(l)/4)
}

// learn adds the trials of a level to rows and values, and returns the unit of the level.
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
		if unit = math.Abs(of[0] - of[1]); !(unit < math.Inf(1)) {
			unit = 0 // one of the first two trials has failed
		}
	}
	more, unit := squashed(below, unit)
	return append(rows, at...), append(values, more...), unit
}

// extremes are the best point of a level, and the point whose value is below the best by the
// distance nearest to the unit, as far as there are any.
func (s Space) extremes(here []record.Trial, unit float64) (points [][]float64) {
	_, top := s.met(here)
	if top < 0 {
		return nil
	}
	var typical []float64
	nearest := math.Inf(1)
	for _, t := range here {
		below := here[top].Value() - t.Value()
		if off := math.Abs(below - unit); below > 0 && off < nearest {
			nearest, typical = off, t.Theta()
		}
	}
	if points = [][]float64{here[top].Theta()}; typical != nil {
		points = append(points, typical)
	}
	return points
}

// improve is the point of the largest expected improvement at a level; nil if every point is met.
func (m MultiFidelity) improve(s Space, of level, l int, rows, values []float64, here, met [][]float64,
	seed uint64) []float64 {
	if len(values) == 0 {
		return s.next(len(met), met, seed)
	}
	in := s.everywhere()
	in.features = func(u []float64) []float64 { return m.features(s, l, u) }
	if i := s.Index(m.Of); i >= 0 {
		at := s[i].Unit(of.budget)
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
