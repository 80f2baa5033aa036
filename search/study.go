package search

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/experiments/record"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// Study is the tuning of one configuration on one training set, ending with an assessment of the
// best trial.
type Study struct {
	// Key is a content hash of everything that determines the study's results, unique in a run.
	Key           string
	Configuration int // index into Manifest.Configurations, recorded in the study's lines
	Index         int // index into Configuration.Studies, likewise
	Space         Space
	Strategy      Strategy // nil: there is nothing to tune
	Seed          uint64
	Stage         *Stage // the stage that starts the study; nil: it starts at once
	Shared               // jobs with the same result as those of other studies
	Memory        int64  // upper bound of the bytes that one of its jobs needs
	Less          string // text for errors: how to reduce Memory, and to how much; "": unknown
	// Value is the objective at theta, which is maximised. It stands for Trial and Assess, and is
	// for strategies that evaluate points as they are, without a local optimiser or chains. An
	// error, or a value that is not finite, is the failure of that point.
	Value func(ctx context.Context, theta []float64) (float64, error)
	// Trial evaluates one proposal. Failures of the computation are recorded in the Trial. An error
	// is returned for cancellation; any other error is recorded as the Trial's Failure.
	Trial func(ctx context.Context, index int, p Proposal) (record.Trial, error)
	// Assess fits the classifier at theta of the best trial (nil if nothing was tuned), or for a
	// Sampler at every point of the trials, and predicts the held-out cases. chosen is the index of
	// the best trial, or -1.
	Assess func(ctx context.Context, chosen int, theta []float64, trials []record.Trial) (record.Fit, error)
}

// Shared identifies the jobs of a study whose results other studies of the run have in common, so
// that nothing is computed twice: a job waits while another study's job with the same result is
// pending or running.
type Shared struct {
	// Tuning is a content hash of everything that determines a trial except its points. Of the
	// studies with the same hash, one runs the trial at a point, and the others copy the result
	// unless it failed.
	Tuning string
	// Fitting is the corresponding hash for the assessment.
	Fitting string
	// Twin is the Key of another study on the same cases that proposes the same trials. That
	// study's Trial and Assess also compute and keep the results of this study, which its own Trial
	// and Assess then return at once. It stands for Tuning and Fitting if these are empty.
	Twin string
	// Paths means that the trials keep the paths of local optimisers. A study without it does not
	// keep them when it copies such a trial.
	Paths bool
}

// Stage is a point where studies wait for others. Its decision depends on finished results only,
// never on time, so that a resumed run decides the same.
type Stage struct {
	After []int // indices of the studies waited for; not empty
	// Open is called once with the assessments of those studies, which must not be modified; an
	// assessment is nil if its study was itself dropped. It returns the configurations that
	// continue. The other studies that wait here never run.
	Open func(fits []*record.Fit) (configurations []int)
}

// Winner returns the usable point with the largest value among the trials, and the index of its
// trial. Failed trials and values that are not finite are ignored; of equal values the first point
// of the lowest index is chosen. If no point is usable, the error says so with the first cause.
func Winner(trials []record.Trial) (index int, best record.Point, err error) {
	index = -1
	var first cause.Notice
	for _, t := range trials {
		if !t.Failure.IsZero() {
			first = cmp.Or(first, t.Failure)
			continue
		}
		for _, p := range t.Points {
			switch {
			case !p.Usable():
				first = cmp.Or(first, p.Failure)
			case index < 0 || p.Value > best.Value || p.Value == best.Value && t.Index < index:
				index, best = t.Index, p
			}
		}
	}
	if index >= 0 {
		return index, best, nil
	}
	none := fmt.Sprintf("none of %d trials has a usable point", len(trials))
	if first.IsZero() {
		return -1, best, cause.Failure.New("%s", none)
	}
	return -1, best, fmt.Errorf("%s; the first: %w", none, first)
}

// trial evaluates the points of a proposal by Value.
func (s *Study) trial(ctx context.Context, p Proposal) (record.Trial, error) {
	t := record.Trial{Status: "evaluated", Evaluations: len(p.Points)}
	for _, theta := range p.Points {
		value, err := s.Value(ctx, theta)
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
		at := record.Point{Theta: record.Numbers(theta), Natural: s.natural(theta), Value: record.Number(value)}
		if err == nil && !at.Value.Finite() {
			err = cause.NotFinite.New("the objective is %v", value)
		}
		if err != nil {
			at.Value, at.Failure = record.Number(math.NaN()), cause.Failed(err)
		}
		t.Points = append(t.Points, at)
	}
	return t, nil
}

// natural is theta in natural units.
func (s *Study) natural(theta []float64) []record.Number {
	out := []record.Number{}
	for j, u := range theta {
		out = append(out, record.Number(s.Space[j].Map.Natural(u)))
	}
	return out
}
