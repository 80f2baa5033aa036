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

// Auto searches in rounds of trials of Bayes, by turns 50 that begin anew and 25 that know the best
// 25 so far. If one of them is the best that its round knows, BFGS with forward differences climbs
// from there, in the hyperparameters that matter and are not discrete, until three iterations have
// improved the value by less than 1e-6. Bayes finds a region in fewer trials, BFGS its top, and a
// new beginning another region. A proposal takes as long in a long search as in a short one.
type Auto struct {
	Trials int `yaml:"trials" within:"[1,100000]"` // 0 means 100
}

const (
	firstRound = 50
	laterRound = 25
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
	trials := a.Budget(s).Trials
	if len(left) >= trials {
		return nil
	}
	for round := 0; ; round++ {
		known, bayes, starts := past[:own:own], Bayes{Trials: min(firstRound, trials)}, 0
		if round == 0 {
			starts = s.starts()
		} else if round%2 == 1 {
			known, bayes = bestKnown(past), Bayes{Trials: laterRound, Initial: 1}
		}
		if len(left) < bayes.Trials {
			return bayes.on(s).propose(s, append(known, left...), seed+uint64(round), starts)
		}
		known = append(known, left[:bayes.Trials]...)
		past, left = append(past, left[:bayes.Trials]...), left[bayes.Trials:]
		if _, best := s.met(known); best >= len(known)-bayes.Trials || round == 0 && best >= 0 {
			next, n := s.climb(known[best], left)
			if next != nil {
				return next
			}
			past, left = append(past, left[:n]...), left[n:]
		}
	}
}

// bestKnown are the best 25 trials, as a round knows them that goes on from the past.
func bestKnown(past []record.Trial) []record.Trial {
	best := slices.Clone(past)
	slices.SortStableFunc(best, func(a, b record.Trial) int { return cmp.Compare(b.Value(), a.Value()) })
	best = slices.Clip(best[:min(len(best), laterRound)])
	for i := range best {
		best[i].Own = i + 1
	}
	return best
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
