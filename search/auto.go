package search

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"github.com/gpc-tune/gpc-tune/experiments/record"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Auto searches in rounds, by turns 50 trials of Bayes that begin anew, and along each axis through
// the best point so far at most 8 of its trials in that hyperparameter alone. From the best of the
// 50, and where an axis has a better point, BFGS with forward differences climbs, in the
// hyperparameters that matter and are not discrete, until three iterations have improved the value
// by less than 1e-6. Bayes finds a region in fewer trials, BFGS its top, an axis the next top in
// its direction, and a new beginning another region. A proposal takes as long in a long search as
// in a short one.
type Auto struct {
	Trials int `yaml:"trials" within:"[1,100000]"` // 0 means 100
}

const (
	firstRound = 50
	axisTrials = 8
	climbStep  = 0.1  // of param.Spec.Scale: the unit of a climb
	difference = 1e-5 // of that unit
)

// Check implements Strategy.
func (a Auto) Check(s Space) error {
	if err := checkSearch(s, count{"trials", a.Trials, 1, maxTrials}); err != nil {
		return err
	}
	return checkSobol(s)
}

// Optimizer implements Strategy.
func (Auto) Optimizer() string { return "" }

// Learns implements Learner.
func (Auto) Learns() {}

// Budget implements Strategy.
func (a Auto) Budget(s Space) Budget {
	return s.budget(Budget{Trials: cmp.Or(a.Trials, 100), AtMost: s.mixed(), AtOnce: 1})
}

// Ask implements Strategy. It replays the rounds.
func (a Auto) Ask(s Space, done []record.Trial, seed uint64) []Proposal {
	if len(s) == 0 {
		return askOnce(done)
	}
	own := owned(done)
	past, left := slices.Clip(done[:own]), done[own:]
	if len(left) >= a.Budget(s).Trials {
		return nil
	}
	for round := 0; ; round++ {
		var next []Proposal
		var from *record.Trial
		var n int
		if round%2 == 0 {
			next, from, n = a.anew(s, past[:own:own], left, seed+uint64(round), round == 0)
		} else {
			next, from, n = s.alongAxes(past, left, seed+uint64(round))
		}
		for _, climbs := range []bool{false, true} {
			if climbs && from != nil {
				next, n = s.climb(*from, left)
			}
			if next != nil {
				return next
			}
			past, left, n = append(past, left[:n]...), left[n:], 0
		}
	}
}

// anew proposes the next of the trials of Bayes that know nothing but the points of the user. If
// they are done it proposes none; n were its own. From is the best of them, if it is better than
// the points of the user, or in the first round the best of all.
func (a Auto) anew(s Space, own, done []record.Trial, seed uint64, first bool) (
	next []Proposal, from *record.Trial, n int,
) {
	b, starts := Bayes{Trials: min(firstRound, cmp.Or(a.Trials, 100))}.on(s), 0
	if first {
		starts = s.starts()
	}
	known := append(own, done[:min(b.Trials, len(done))]...)
	if len(done) < b.Trials {
		// not nil: where every point is met there is none, and the search ends
		return append([]Proposal{}, b.propose(s, known, seed, starts)...), nil, 0
	}
	if _, best := s.met(known); best >= len(own) || first && best >= 0 {
		from = &known[best]
	}
	return nil, from, b.Trials
}

// alongAxes proposes the next of a few trials of Bayes along each axis through the best point so
// far, of the hyperparameters that matter there. If they are done it proposes none; n were its own,
// and from is the best, if it is better than those of the past.
func (s Space) alongAxes(past, done []record.Trial, seed uint64) (next []Proposal, from *record.Trial, n int) {
	_, i := s.met(past)
	if i < 0 {
		return nil, nil, 0
	}
	best := &past[i]
	for j, p := range s {
		theta := best.Theta()
		if !param.InForce(s, theta)[j] {
			continue
		}
		trials := axisTrials
		if lo, hi := p.ThetaBounds(); p.Map.Discrete() {
			trials = int(min(axisTrials, hi-lo)) // the other values
		}
		p.Init, p.When = p.Map.Natural(theta[j]), nil
		axis, start := Space{p}, along(*best, j)
		start.Own = 1
		known, own := []record.Trial{start}, done[n:min(n+trials, len(done))]
		for _, t := range own {
			known = append(known, along(t, j))
		}
		if len(own) < trials {
			b := Bayes{Trials: trials, Initial: min(3, trials)}.on(axis)
			for _, p := range b.propose(axis, known, seed+uint64(j), 0) {
				at := slices.Clone(theta)
				at[j] = p.Points[0][0]
				p.Points = [][]float64{s.settle(at)}
				next = append(next, p)
			}
			return next, nil, 0
		}
		for i, t := range own {
			if t.Value() > best.Value() {
				best, from = &own[i], &own[i]
			}
		}
		n += trials
	}
	return nil, from, n
}

// along is the trial as one of hyperparameter j alone.
func along(t record.Trial, j int) record.Trial {
	theta := t.Theta()
	if theta == nil {
		return t
	}
	t.Asked = [][]record.Number{{record.Number(theta[j])}}
	if len(t.Points) > 0 {
		t.Points = slices.Clone(t.Points[:1])
		t.Points[0].Theta = t.Asked[0]
	}
	return t
}

// climb proposes the next point of a climb from a trial, given the trials done since. If it has
// ended it proposes none, and n of those were its own.
func (s Space) climb(from record.Trial, done []record.Trial) (next []Proposal, n int) {
	part, free := s.smooth(from.Theta())
	if len(part) == 0 {
		return nil, 0
	}
	f, d := part.frame(part.start(), climbStep), begin(objective.BFGS{}.Method(1e-9), len(part), 3)
	defer d.end()
	value := -from.Value()
	for z := d.ask(); z != nil; z = d.ask() {
		var points [][]float64
		valued, sloped := d.task.Op&optimize.FuncEvaluation != 0 && n > 0, d.task.Op&optimize.GradEvaluation != 0
		if valued {
			points = append(points, slices.Clone(z))
		}
		if sloped {
			points = append(points, f.around(z)...)
		}
		if n+len(points) > len(done) {
			theta := slices.Clone(from.Theta())
			for k, v := range f.propose(points[len(done)-n]).Points[0] {
				theta[free[k]] = v
			}
			return []Proposal{{Points: [][]float64{theta}}}, n
		}
		var values []float64
		for i, p := range points {
			values = append(values, f.outside(p)-done[n+i].Value())
		}
		n += len(points)
		if valued {
			value, values, points = values[0], values[1:], points[1:]
		}
		if sloped {
			d.task.Gradient = slope(z, value, points, values)
			if floats.Norm(d.task.Gradient, 1) == 0 {
				break // a plateau
			}
		}
		d.tell(value)
	}
	return nil, n
}

// smooth is the space of the hyperparameters that matter at theta and are not discrete, with theta
// as their initial values; free has their numbers.
func (s Space) smooth(theta []float64) (part Space, free []int) {
	for j, matters := range param.InForce(s, theta) {
		if p := s[j]; matters && !p.Map.Discrete() {
			p.Init, p.When = p.Map.Natural(theta[j]), nil
			part, free = append(part, p), append(free, j)
		}
	}
	return part, free
}

// around are the points next to z along each axis, within the bounds.
func (f frame) around(z []float64) (points [][]float64) {
	for k := range z {
		p := slices.Clone(z)
		if p[k] += difference; p[k] > f.hi[k] {
			p[k] = z[k] - difference
		}
		points = append(points, p)
	}
	return points
}

// slope is the gradient at z by differences from the values around it, 0 along an axis where there
// is none.
func slope(z []float64, value float64, around [][]float64, values []float64) []float64 {
	g := make([]float64, len(z))
	for k, v := range values {
		if !math.IsInf(v, 0) && !math.IsInf(value, 0) {
			g[k] = (v - value) / (around[k][k] - z[k])
		}
	}
	return g
}
