package reports

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/record"
)

// local says if the study's trials are local optimisations, or chains, from start points.
func (s *Study) local() bool {
	return slices.ContainsFunc(s.Trials, func(t *record.Trial) bool { return len(t.Start) > 0 })
}

// Study is a study of the manifest with what the journal has of it.
type Study struct {
	record.Study
	Trials      []*record.Trial // by index
	Fit         *record.Fit     // nil: missing
	Predictions *cv.Predictions // nil: none
	Nested      bool            // in nested cross-validation
	waiting     bool            // for a contest to decide whether it runs
	cut         bool            // it does not run
}

func (s *Study) status() Status {
	switch {
	case s.Fit == nil && s.cut:
		return Cut
	case s.Fit == nil:
		return Missing
	case s.Fit.Failure != "":
		return Failed
	}
	return Done
}

// missing counts the jobs that are known to be missing: the fit, and trials before the last one on
// record. How many trials there would have been after it, the journal cannot tell.
func (s *Study) missing() int {
	last, missing := -1, 0
	if s.idle() {
		return 0
	}
	if len(s.Trials) > 0 {
		last = s.Trials[len(s.Trials)-1].Index
	}
	if s.Fit == nil {
		missing = 1
	} else {
		last = max(last, s.Fit.Chosen)
	}
	return last - len(s.Trials) + 1 + missing
}

// idle says that the study has no jobs, or none yet.
func (s *Study) idle() bool {
	return (s.waiting || s.cut) && s.Fit == nil && len(s.Trials) == 0
}

// names lists the hyperparameters in natural units.
func names(c record.Configuration) (out []string) {
	for _, h := range c.Hyperparameters {
		out = append(out, h.Name)
	}
	return out
}

// ThetaNames lists the free hyperparameters on the theta scale.
func ThetaNames(c record.Configuration) (out []string) {
	for _, h := range c.Hyperparameters {
		if !h.Fixed {
			out = append(out, h.Theta)
		}
	}
	return out
}

// left counts the jobs that are known and not on record. A study with its fit on record asked for
// no trial after those that are; before, the manifest says how many there are to be.
func (s *Study) left() (trials, fits int) {
	switch {
	case s.idle():
		return 0, 0
	case s.Fit != nil:
		return s.missing(), 0
	}
	return max(s.missing()-1, s.Jobs-1-len(s.Trials)), 1
}

// Status says what became of a study.
type Status string

const (
	Done    Status = "done"
	Cut     Status = "cut"     // a race has cut the configuration before
	Failed  Status = "failed"  // its final fit is a failure
	Missing Status = "missing" // its final fit is not on record, as the run was interrupted; the worst
)

// worse is the worse of two.
func worse(a, b Status) Status {
	order := []Status{Done, Cut, Failed, Missing}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}
