package reports

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/record"
)

// local reports whether the study's trials are local optimisations, or chains, from start points.
func (s *Study) local() bool {
	return slices.ContainsFunc(s.Trials, func(t *record.Trial) bool { return len(t.Start) > 0 })
}

// Study is a study of the manifest with its results in the journal.
type Study struct {
	record.Study
	Trials      []*record.Trial // by index
	seconds     []float64       // wall times of Trials
	Fit         *record.Fit     // nil: missing
	Predictions *cv.Predictions // nil: none
	Nested      bool            // belongs to nested cross-validation
	waiting     bool            // a contest has not decided yet whether it runs
	cut         bool            // it does not run, by decision of a contest
	dropped     bool            // its configuration was dropped by hand
}

func (s *Study) status() Status {
	switch {
	case s.dropped:
		return Dropped
	case s.Fit == nil && s.cut:
		return Cut
	case s.Fit == nil:
		return Missing
	case !s.Fit.Failure.IsZero():
		return Failed
	}
	return Done
}

// Chose reports whether a trial is the best.
func (s *Study) Chose(t *record.Trial) bool { return s.status() == Done && s.Fit.Chosen == t.Index }

// chosePoint reports whether a point of a trial has the chosen hyperparameters.
func (s *Study) chosePoint(t *record.Trial, p record.Point) bool {
	return s.Chose(t) && slices.Equal(p.Natural, s.Fit.Natural)
}

// missing counts the jobs known to be missing: the fit, and trials before the last one on record.
// The number of trials after that one cannot be known from the journal.
func (s *Study) missing() int {
	last, missing := -1, 0
	if s.idle() {
		return 0
	}
	n := s.proposed()
	if n > 0 {
		last = s.Trials[n-1].Index
	}
	if s.Fit == nil {
		missing = 1
	} else if n == len(s.Trials) || s.Fit.Chosen < s.Trials[n].Index {
		last = max(last, s.Fit.Chosen)
	}
	return last - n + 1 + missing
}

// proposed is the number of trials on record that the strategy has proposed; trials of enqueued
// points follow.
func (s *Study) proposed() int {
	n := slices.IndexFunc(s.Trials, func(t *record.Trial) bool { return t.Enqueued > 0 })
	if n < 0 {
		return len(s.Trials)
	}
	return n
}

// idle reports whether the study has no jobs, or none yet.
func (s *Study) idle() bool {
	return (s.waiting || s.cut || s.dropped) && s.Fit == nil && len(s.Trials) == 0
}

// names lists the hyperparameters in natural units.
func names(c record.Configuration) (out []string) {
	for _, h := range c.Hyperparameters {
		out = append(out, h.Name)
	}
	return out
}

// free are the hyperparameters that are tuned.
func free(c record.Configuration) []record.Hyperparameter {
	return slices.DeleteFunc(slices.Clone(c.Hyperparameters), func(h record.Hyperparameter) bool { return h.Fixed })
}

// ThetaNames lists the free hyperparameters on the theta scale.
func ThetaNames(c record.Configuration) (out []string) {
	for _, h := range free(c) {
		out = append(out, h.Theta)
	}
	return out
}

// left counts the known jobs that are not on record. If the fit of a study is on record, no further
// trials exist; otherwise the manifest has their expected number.
func (s *Study) left() (trials, fits int) {
	switch {
	case s.idle():
		return 0, 0
	case s.Fit != nil:
		return s.missing(), 0
	}
	return max(s.missing()-1, s.Jobs-1-s.proposed()), 1
}

// Status is the state of a study.
type Status string

const (
	Done    Status = "done"
	Cut     Status = "cut"     // a race has eliminated the configuration before
	Dropped Status = "dropped" // the configuration was dropped by hand
	Failed  Status = "failed"  // its final fit is a failure
	Missing Status = "missing" // its final fit is not on record; the worst status
)

// worse returns the worse of two states.
func worse(a, b Status) Status {
	order := []Status{Done, Cut, Dropped, Failed, Missing}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}
