package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
)

// Auto searches in rounds. A round begins with 50 trials that use no earlier round. Bayes takes
// turns with a regression of the points near the best one and, once there are enough points, with a
// quadratic around it. A climb with the regression and the quadratic follows, until several trials
// in a row have not improved the value by 1e-6. Then come 20 trials of Bayes in the whole space,
// which know the last 150 trials, and at most 8 along each axis through the best point of all
// rounds, in this hyperparameter alone. If one of these finds a better point, another climb
// follows. Bayes finds a good region in few trials, the regression follows its ridges, and the
// quadratic finds its maximum. Trials along an axis find the next maximum in its direction, and a
// new round finds another region. The time of a proposal does not grow with the length of the
// search.
//
// With trials under way, Bayes believes its own predictions of their values. The regression and the
// quadratic do not know them, and propose other points.
//
// Auto is for objectives without a gradient. If there is a gradient, BFGS takes its place: see
// WithGradient.
type Auto struct {
	Trials  int `yaml:"trials" within:"[1,100000]"` // 0 means 100; with a gradient, 100 evaluations or 3 climbs
	Overlap `yaml:",inline"`
	Window  `yaml:",inline"`
}

const (
	anewTrials        = 50
	elsewhereTrials   = 20
	mostKnown         = 150 // largest number of trials that Bayes knows in elsewhere
	axisTrials        = 8
	nearTrials        = 60   // largest number of points of a regression
	trialsWithoutGain = 2    // trialsWithoutGain·(d+1) trials without improvement end a climb
	negligible        = 1e-7 // expected gain below which no trial is worth it
)

// Check implements Strategy.
func (a Auto) Check(s Space) error {
	err := checkSearch(s, count{"trials", a.Trials, 1, maxTrials}, count{"asynchronous", a.Asynchronous, 2, 1000},
		count{"parallel", a.Parallel, 1, 1000})
	if err = cmp.Or(err, overlaps(a.Overlap, a.Window, 1)); err != nil {
		return err
	}
	return checkSobol(s)
}

// Optimizer implements Strategy.
func (Auto) Optimizer() string { return "" }

// Learns implements Learner.
func (Auto) Learns() {}

// models tells FitsModel that the strategy does.
func (Auto) models() {}

func (a Auto) waits() bool { return max(a.Asynchronous, a.Parallel) == 0 }

// WithGradient implements Guided: BFGS with as many restarts as Trials evaluations allow. By
// default there are at least three restarts, and one from each choice. If Trials are too few for
// that, it is Auto itself.
func (a Auto) WithGradient(s Space) Strategy {
	turns := param.Turns(s)
	climbs := int(math.Round(float64(cmp.Or(a.Trials, 100)) / PerClimb(len(s))))
	if a.Trials == 0 {
		climbs = max(climbs, 3, turns)
	}
	if turns == 0 || climbs < turns {
		return a
	}
	return BFGS{Ascent{MultiStart: MultiStart{climbs}}}
}

// Budget implements Strategy.
func (a Auto) Budget(s Space) Budget {
	return s.budget(Budget{Trials: cmp.Or(a.Trials, 100), AtMost: s.mixed(),
		AtOnce: max(1, a.Asynchronous, a.Parallel)})
}

// Ask implements Strategy. It replays the rounds.
func (a Auto) Ask(s Space, done []record.Trial, seed uint64) []Proposal {
	if len(s) == 0 {
		return askOnce(done)
	}
	own := Enqueued(done)
	past, left := slices.Clip(done[:own]), done[own:]
	if len(left) >= a.Budget(s).Trials {
		return nil
	}
	n := 0 // trials of the round before
	for round := uint64(0); ; round++ {
		var next []Proposal
		switch seed := seed + round; round % 6 {
		case 0:
			next, n = a.anew(s, past[:own:own], left, seed, round == 0)
		case 1:
			next, n = s.climb(slices.Concat(past[:own], past[len(past)-n:]), left, seed)
		case 2:
			next, n = s.elsewhere(past, left, seed)
		case 4:
			next, n = s.alongAxes(past, left, seed)
		case 3, 5:
			if _, best := s.met(past); best < len(past)-n {
				next, n = nil, 0 // no trial since the last climb was better
			} else {
				next, n = s.climb(past, left, seed)
			}
		}
		if next != nil {
			return next
		}
		past, left = append(past, left[:n]...), left[n:]
	}
}

// anew proposes the next of the first trials of a round, which use no earlier round, but the
// enqueued points own. It returns no proposal if these trials are done; n is their number. Bayes,
// the regression and the quadratic take turns. If the last trial of the regression or the quadratic
// found nothing better, every second of its turns goes to Bayes.
func (a Auto) anew(s Space, own, done []record.Trial, seed uint64, first bool) (next []Proposal, n int) {
	n = min(anewTrials, len(done))
	if n == anewTrials {
		return nil, n
	}
	starts := 0
	if first {
		starts = s.starts()
	}
	b := Bayes{Trials: min(anewTrials, cmp.Or(a.Trials, 100))}.on(s)
	known := append(own, done[:n]...)
	bayes := func() []Proposal { return b.propose(s, known, seed, starts) }
	begun := max(b.Initial, starts)
	idle := n%6 < 3 && n >= begun+3 && !s.improves(known[:len(known)-2])
	switch turn := n % 3; {
	case turn == 0 || n < begun || idle:
		return append([]Proposal{}, bayes()...), n
	case turn == 1 && n >= (len(s)+1)*(len(s)+2)/4: // half as many points as a quadratic has terms
		if next = s.near(known, seed); next != nil {
			return next, n
		}
	}
	return s.step(known, bayes, false), n
}

// improves reports whether the last of the trials is better than all before it.
func (s Space) improves(known []record.Trial) bool {
	_, best := s.met(known)
	return best == len(known)-1
}

// climb proposes the next trial around the best of the past. It returns no proposal if the climb
// has ended; n is the number of its trials.
func (s Space) climb(past, done []record.Trial, seed uint64) (next []Proposal, n int) {
	_, best := s.met(past)
	if best < 0 {
		return nil, 0
	}
	top, vain := past[best].Value(), 0
	for ; n < len(done) && vain < trialsWithoutGain*(len(s)+1); n++ {
		v := done[n].Value()
		if !done[n].UnderWay() {
			vain++
		}
		if v > top+LeastImprovement {
			vain = 0
		}
		top = max(top, v)
	}
	if vain == trialsWithoutGain*(len(s)+1) {
		return nil, n
	}
	known := slices.Concat(past, done)
	if n%2 == 1 {
		if next = s.near(known, seed); next != nil {
			return next, n
		}
	}
	return s.step(known, func() []Proposal { return s.after(known, anewTrials, seed) }, true), n
}

// elsewhere proposes the next of a few trials of Bayes in the whole space. If they are done it
// proposes none; n is their number.
func (s Space) elsewhere(past, done []record.Trial, seed uint64) (next []Proposal, n int) {
	if _, best := s.met(past); best < 0 {
		return nil, 0
	}
	if n = min(elsewhereTrials, len(done)); n == elsewhereTrials {
		return nil, n
	}
	return s.after(slices.Concat(past, done[:n]), mostKnown, seed), n
}

// after proposes the next trial of Bayes, which knows the best trial and at most this many of the
// last ones. The result is not nil; it is empty if all points are evaluated.
func (s Space) after(known []record.Trial, most int, seed uint64) []Proposal {
	late := known[max(0, len(known)-most):]
	if _, best := s.met(known); best < len(known)-len(late) {
		late = append([]record.Trial{known[best]}, late...)
	}
	return append([]Proposal{}, Bayes{Trials: math.MaxInt, Initial: 1}.on(s).propose(s, late, seed, 0)...)
}

// near proposes the next trial by a regression of the trials around the best; nil if there are too
// few, or if it fails.
func (s Space) near(known []record.Trial, seed uint64) []Proposal {
	q := s.quadratic(known, true)
	if q == nil {
		return nil
	}
	met, _ := s.met(known)
	nearest := q.nearest(met, known, nearTrials)
	if len(nearest) < len(q.free)+2 {
		return nil
	}
	var points [][]float64
	var trials []record.Trial
	for _, i := range nearest {
		points, trials = append(points, met[i]), append(trials, known[i])
	}
	r := q.around().regress(points, trials, seed)
	if r == nil {
		return nil
	}
	u, _ := r.improve(met, slices.Repeat([]float64{0.5}, len(q.free)), seed)
	return []Proposal{{Points: [][]float64{s.place(u)}, Gain: r.gain(u)}}
}

// step proposes the next trial by the quadratic around the best of the trials known, or Bayes' own
// if the quadratic expects no gain, and no more than Bayes. If few is true the quadratic can have
// fewer points than terms. The result is not nil; it is empty, and the search ends, if all points
// are evaluated.
func (s Space) step(known []record.Trial, bayes func() []Proposal, few bool) []Proposal {
	var u []float64
	var gain float64
	if q := s.quadratic(known, few); q != nil {
		met, _ := s.met(known)
		u, gain = q.improve(met)
	}
	if u == nil || gain <= negligible {
		next := bayes()
		if len(next) == 0 || next[0].Gain == nil || !(gain > *next[0].Gain) {
			return append([]Proposal{}, next...)
		}
	}
	return []Proposal{{Points: [][]float64{s.place(u)}, Gain: &gain}}
}

// alongAxes proposes the next of a few trials of Bayes along each axis through the best point so
// far, of the hyperparameters that matter there. If they are done it proposes none; n were its own.
func (s Space) alongAxes(past, done []record.Trial, seed uint64) (next []Proposal, n int) {
	_, i := s.met(past)
	if i < 0 {
		return nil, 0
	}
	best := &past[i]
	for j, p := range s {
		theta := best.Theta()
		if !param.InForce(s, theta)[j] {
			continue
		}
		trials := axisTrials
		p.Init, p.When, p.Where = p.Map.Natural(theta[j]), nil, s.whereAlong(theta, j)
		axis, start := Space{p}, along(*best, j)
		if p.Map.Discrete() {
			trials = axis.others(axisTrials)
		}
		start.Enqueued = 1
		known, own := []record.Trial{start}, done[n:min(n+trials, len(done))]
		for _, t := range own {
			known = append(known, along(t, j))
		}
		if len(own) < trials {
			b := Bayes{Trials: trials, Initial: min(3, trials)}.on(axis)
			for _, p := range b.propose(axis, known, seed+uint64(j), 0) {
				at := slices.Clone(theta)
				at[j] = p.Points[0][0]
				p.Points = [][]float64{s.roundToGrid(at)}
				next = append(next, p)
			}
			return next, n
		}
		for i, t := range own {
			if t.Value() > best.Value() {
				best = &own[i]
			}
		}
		n += trials
	}
	return nil, n
}

// whereAlong are the constraints of hyperparameter j alone, with the others at theta.
func (s Space) whereAlong(theta []float64, j int) []*param.Constraint {
	if !s.constrained() {
		return nil
	}
	return []*param.Constraint{{Names: []string{s[j].Name}, Holds: func(values []float64) bool {
		at := slices.Clone(theta)
		at[j] = s[j].Map.Theta(values[0])
		s.OnGrid(at)
		return s.Allows(at)
	}}}
}

// others is the number of values, without the initial one, that a discrete hyperparameter can have,
// at most most. Of a constrained one only the first 10 000 values count.
func (axis Space) others(most int) (n int) {
	p := axis[0]
	if len(p.Where) == 0 {
		return min(most, p.Count()-1)
	}
	for k := 0; k < min(p.Count(), 10_000) && n < most; k++ {
		if v := p.Nearest(p.Lo + float64(k)*cmp.Or(p.Step, 1)); v != p.Init && axis.Allows([]float64{v}) {
			n++
		}
	}
	return n
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
