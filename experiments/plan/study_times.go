package plan

import (
	"cmp"
	"math"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// batch is a number of trials with equal numbers of points, and the least number of them that run
// one after another.
type batch struct {
	trials, points, rounds int
	preliminary            bool
}

// batches returns the trials of a study: its first batch, and then trials like the last one up to
// its budget. An assessment follows. once is the number of trials if all are in the first batch,
// else 0.
func batches(s schedule.Study) (b []batch, once int, budget search.Budget) {
	first := s.First()
	for _, p := range first {
		if k := len(b) - 1; k >= 0 && b[k].points == len(p.Points) {
			b[k].trials++
		} else {
			b = append(b, batch{1, len(p.Points), 1, p.Preliminary})
		}
	}
	budget = s.Budget()
	if budget.Whole > 0 { // a trial with a part of the budget counts as that part
		whole := int(math.Ceil(budget.Whole))
		return []batch{{whole, 1, whole, false}}, 0, budget
	}
	if more := budget.Trials - len(first); more > 0 {
		points, atOnce := 1, max(1, budget.AtOnce) // a strategy may report 0
		if len(first) > 0 {
			points = len(first[len(first)-1].Points)
		}
		return append(b, batch{more, points, (more + atOnce - 1) / atOnce, false}), 0, budget
	}
	if search.UnderWay(s.Strategy) > 0 { // one process runs them, because it records their order
		return b, 0, budget
	}
	return b, len(first), budget
}

// Times has the expected times of the parts of a study, in seconds of processor time.
type Times struct {
	Evaluation  float64 // one evaluation from a cold start, with its gradient if a local optimiser needs it
	Evaluations float64 // expected number in the longest job
	Longest     float64 // longest job
	Trials      float64 // all trials
	Preliminary float64 // preliminary trials
	All         float64 // all jobs
	Path        float64 // jobs of a study that must run one after another
}

// near is the fraction of search.PerClimb evaluations that a climb takes if it starts at the
// optimum of another inference method.
const near = 1. / 3

// perMove is the expected number of evaluations per transition of a Markov chain.
const perMove = 2.5

// choosing returns an upper bound of the time, in seconds, to find the number of inducing inputs
// for a tolerance; 0 without a tolerance.
func choosing(r *Rates, m objective.Model, s approx.Size, dim, free int) (seconds float64) {
	points, most := objective.Climbs(objective.InducingOf(m.Inference), s.Cases)
	for _, k := range points {
		m.Inference, _ = approx.With(m.Inference, objective.Inducing{Points: k})
		t, _ := r.Times(m, s, dim)
		seconds += t.First + min(search.PerClimb(free), float64(most))*t.Evaluation()
	}
	return seconds
}

// studyTimes returns the times of one study with these trials.
func studyTimes(r *Rates, j *job.Job, s approx.Size, free int, trials []batch) (c Times, ok bool) {
	_, dim := j.Set.Source.X.Dims()
	tuned, ok1 := r.Times(j.Tuned, s, dim)
	model, ok2 := r.Times(j.Model, s, dim)
	starting, ok3 := tuned, true
	if j.Starting.Inference != nil {
		first := s
		if j.StartCases > 0 {
			first.Cases, first.Distinct = min(s.Cases, j.StartCases), min(s.Distinct, j.StartCases)
		}
		starting, ok3 = r.Times(j.Starting, first, dim)
	}
	if !ok1 || !ok2 || !ok3 {
		return c, false
	}
	value := func(of FitTimes) float64 {
		if j.Optimizer != "" && j.Gradients == objective.Exact {
			return of.Gram + of.Pullback + of.Gradient
		}
		return of.Gram
	}
	evaluation := value(tuned)
	c.Evaluation = tuned.First + tuned.Fit + evaluation
	add := func(b batch, evaluations, seconds float64) {
		c.All += float64(b.trials) * seconds
		c.Path += float64(b.rounds) * seconds
		if seconds > c.Longest {
			c.Longest, c.Evaluations = seconds, evaluations
		}
	}
	moves, samples := 0.0, 0.0
	if j.Chain != nil {
		moves = float64(cmp.Or(j.Chain.Burn, 100*free) + cmp.Or(j.Chain.Samples, 100)*cmp.Or(j.Chain.Thin, 2))
		samples = float64(cmp.Or(j.Chain.Samples, 100) * trials[0].trials)
	}
	for _, b := range trials {
		n := float64(b.points)
		switch {
		case j.Optimizer != "": // restarts are far apart, so their fits take as long as cold ones
			fits := search.PerClimb(free) * float64(j.Gradients.Evaluations(free))
			if j.Evaluations > 0 {
				fits = min(fits, float64(j.Evaluations))
			}
			of := tuned
			switch {
			case b.preliminary:
				of = starting
				c.Preliminary += float64(b.trials) * (of.First + fits*(value(of)+of.Fit))
			case j.Starting.Inference != nil:
				fits *= near
			}
			add(b, fits, of.First+fits*(value(of)+of.Fit))
		case j.Chain != nil:
			add(b, perMove*moves, tuned.First+perMove*moves*(evaluation+tuned.Again))
		case j.Score != nil:
			sum := 0.0
			for _, set := range j.Folds {
				fold, _ := r.Times(j.Tuned, set.Size(s.Distinct < s.Cases), dim)
				sum += fold.First + fold.Fit + (n-1)*fold.Again + n*(fold.Gram+fold.Predict)
			}
			add(b, n*float64(len(j.Folds)), sum)
		default:
			each := tuned.Gram + tuned.Predict
			if j.Hybrid {
				each += model.Gram + model.Again + model.Predict - tuned.Predict
			}
			add(b, n, tuned.First+tuned.Fit+(n-1)*tuned.Again+n*each)
		}
	}
	c.Trials = c.All
	assess := model.First + model.Gram + model.Fit + model.Predict + samples*(model.Gram+model.Again+model.Predict)
	if j.Curvature {
		assess += 2 * float64(free) * (evaluation + tuned.Again)
	}
	if j.Climbs {
		most := 0
		for _, b := range trials {
			most += b.trials * b.points
		}
		climbs := min(1.5*search.PerClimb(free), float64(most)) // the climb from the end is shorter
		assess += climbs * tuned.Evaluation()
	}
	add(batch{1, 1, 1, false}, 1+samples, assess)
	first := choosing(r, j.Tuned, s, dim, free) // all other jobs wait for it
	c.All, c.Path, c.Longest = c.All+first, c.Path+first, c.Longest+first
	return c, true
}
