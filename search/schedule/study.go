package schedule

import (
	"context"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// Study is the tuning of one configuration on one training set, ending with an assessment of the
// best trial.
type Study struct {
	// Key is a content hash of everything that determines the study's results, unique in a run.
	Key           string
	Configuration int // index into Manifest.Configurations, recorded in the study's lines
	Index         int // index into Configuration.Studies, recorded too
	Space         search.Space
	Strategy      search.Strategy // nil: there is nothing to tune
	Stop          Stop            // ends the search before the strategy does
	Seed          uint64
	// Preliminary means that the trials of the strategy maximise a cheaper objective. The best of
	// their ends is then the start of one more trial, which maximises the objective itself.
	Preliminary bool
	Stage       *Stage // the stage that starts the study; nil: it starts at once
	Turn               // decides when jobs start; zero: the order of the studies decides
	Shared             // identifies jobs with the same result as jobs of other studies
	// Minimize means that Value is the objective with its sign changed: the least value of the
	// objective is the best.
	Minimize bool
	// Objectives are the names of several values that are minimised together; nil: there is one.
	Objectives []string
	Require    []Require // bounds for values of a trial
	Early      EarlyStop // ends trials of Value early; nil: they run to their end
	// Noise means that Value has noise. The winner is then the trial with the largest expected
	// value.
	Noise bool
	// Ends means that Value returns soon after the end of its context, so the run waits for it.
	Ends bool
	// Told means that Run evaluates no points: Ask gives them, and Tell records their values.
	Told   bool
	Memory int64  // upper bound of the bytes that one of its jobs needs
	Less   string // text for errors: how to reduce Memory, and to how much; "": unknown
	// Value is the objective at theta, which is maximised. It replaces Trial and Assess, for
	// strategies without a local optimiser and chains. An error, or a value that is not finite, is
	// the failure of that point.
	Value func(ctx context.Context, theta []float64) (float64, error)
	// Trial evaluates one proposal. Failures of the computation are recorded in the Trial. An error
	// is returned for cancellation; any other error is recorded as the Trial's Failure.
	Trial func(ctx context.Context, index int, p search.Proposal) (record.Trial, error)
	// Assess fits the classifier at theta of the best trial (nil if nothing was tuned), or for a
	// Sampler at every point of the trials, and predicts the held-out cases. chosen is the index of
	// the best trial, or -1.
	Assess func(ctx context.Context, chosen int, theta []float64, trials []record.Trial) (record.Fit, error)
}

// Shared identifies the jobs of a study that have the same result as jobs of other studies of the
// run. Nothing is computed twice: a job waits while another study's job with the same result is
// pending or running.
type Shared struct {
	// Tuning is a content hash of everything that determines a trial except its points. Of the
	// studies with the same hash, one runs the trial at a point, and the others copy the result
	// unless it failed.
	Tuning string
	// Starting is the Tuning of the studies whose trials are the preliminary trials of this study.
	Starting string
	// Fitting is the corresponding hash for the assessment.
	Fitting string
	// SameAs is the Key of another study on the same cases that proposes the same trials. The Trial
	// and Assess of that study also compute and keep the results of this study. Its own Trial and
	// Assess then return them at once. SameAs is used in place of Tuning and Fitting if these are
	// empty.
	SameAs string
	// Paths means that the trials keep the paths of local optimisers. A study without it does not
	// keep them when it copies such a trial.
	Paths bool
}

// Turn decides when the jobs of a study start. No result depends on it.
type Turn struct {
	Ladder *Ladder // nil: jobs start in the order of the studies
	Rung   int
	Cost   float64 // expected time of all jobs; between equal claims the cheaper study starts
}

// Ladder compares configurations while a run goes on, so that an interrupted run has spent its time
// on the configurations that may win. A rung has one study of each configuration, all of the same
// cases, such as a fold of a cross-validation.
//
// All configurations get their first rung, the cheapest first. After that, rung k of the
// configuration of rank r is done in the order of k r: when the best configuration has k rungs, the
// configuration of rank r has about k/r. Successive rejects allocates rungs in the same way; its
// probability of missing the best of several arms within a given time is the smallest possible, up
// to the logarithm of their number (Audibert, Bubeck & Munos 2010, COLT).
type Ladder struct {
	Rungs int // number of compared rungs; further studies have higher rungs
	// Rank returns the rows of fits, the best first. A row has the fits of a configuration by rung;
	// nil: none yet.
	Rank func(fits [][]*record.Fit) []int
}

// Stage is a point where studies wait for others. Its decision depends on finished results only,
// never on time, so that a resumed run decides the same.
type Stage struct {
	After []int // indices of the studies waited for; not empty
	// Open is called once with the assessments of the studies of After, which must not be modified.
	// An assessment is nil if its study was itself dropped. Open returns the configurations that
	// continue. Studies of other configurations that wait here never run.
	Open func(fits []*record.Fit) (configurations []int)
}

// together is the number of trials of one batch that run together; 0: all of them. A search that
// proposes all its trials at once runs them one after another if it can stop between them, and in
// smaller batches if a trial is compared with earlier ones.
func (s *Study) together() int {
	switch {
	case s.Strategy.Budget(s.Space).AtOnce > 0:
		return 0
	case s.Stop != (Stop{}):
		return 1
	case s.Early != nil:
		return earlyBatch
	}
	return 0
}

// First returns the proposals that can run before any result is known.
func (s *Study) First() []search.Proposal {
	if s.Strategy == nil {
		return nil
	}
	first := s.ask(nil)
	if n := s.together(); n > 0 {
		return first[:min(n, len(first))]
	}
	var begun []record.Trial
	for len(first) > len(begun) && len(first) < max(search.UnderWay(s.Strategy), search.Ahead(s.Strategy)) {
		begun = append(begun, record.Begun(first[len(begun)].Points))
		first = append(first, s.Strategy.Ask(s.Space, begun, s.Seed)...)
	}
	return first
}

// ask returns the next proposals of the strategy, up to its budget, because enqueued points have
// the indices after the budget. After preliminary trials it returns one proposal. It starts at the
// best of their end points, or at the initial values if they all failed. The start is moved into
// the box from which starts are drawn: outside, a hyperparameter may have no effect, and a local
// optimiser would not move it.
func (s *Study) ask(done []record.Trial) []search.Proposal {
	next := s.Strategy.Ask(s.Space, told(done, s.Objectives, s.Require, s.Seed), s.Seed)
	left := s.Strategy.Budget(s.Space).Trials - len(done) + search.Enqueued(done)
	next = next[:min(len(next), max(0, left))]
	for _, p := range next {
		for i, theta := range p.Points { // also of a strategy that does not know of constraints
			if !s.Space.Allows(theta) {
				p.Points[i] = s.Space.NearestAllowed(theta)
			}
		}
	}
	switch {
	case !s.Preliminary:
	case len(next) > 0:
		for i := range next {
			next[i].Preliminary = true
		}
	case done[len(done)-1].Preliminary:
		start := s.Space.Start()
		if _, best, err := search.BestOf(done, true); err == nil {
			for j, u := range best.Theta {
				if s.Space[j].Map.Discrete() {
					start[j] = float64(u)
					continue
				}
				start[j] = min(max(float64(u), start[j]-param.SearchBox), start[j]+param.SearchBox)
			}
		}
		return []search.Proposal{{Points: [][]float64{start}}}
	}
	return next
}

// Budget is the strategy's budget, with AtMost if the search may stop before.
func (s *Study) Budget() search.Budget {
	if s.Strategy == nil {
		return search.Budget{}
	}
	b := s.Strategy.Budget(s.Space)
	if n := s.together(); n > 0 {
		b.AtOnce = n
	}
	b.AtMost = b.AtMost || s.Stop != (Stop{})
	if s.Preliminary {
		b.Trials++
		b.AtOnce = max(b.AtOnce, 1)
	}
	return b
}

// evaluated is the trial of one point with its value.
func (s *Study) evaluated(theta []float64, value float64) record.Trial {
	return record.Trial{Status: "evaluated", Evaluations: 1, Points: []record.Point{{Theta: record.Numbers(theta),
		Natural: s.natural(theta), Value: record.Number(value)}}}
}

// natural is theta in natural units. Bounds and initial values are exact, and rounding takes no
// value out of the bounds.
func (s *Study) natural(theta []float64) []record.Number {
	out := []record.Number{}
	for j, u := range theta {
		p := s.Space[j]
		v := min(max(p.Map.Natural(u), p.Lo), p.Hi)
		for _, exact := range []float64{p.Lo, p.Hi, p.Init} {
			if u == p.Map.Theta(exact) {
				v = exact
			}
		}
		out = append(out, record.Number(v))
	}
	return out
}
