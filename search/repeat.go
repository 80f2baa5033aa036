package search

import "github.com/gpc-tune/gpc-tune/record"

// repeat is a failed trial that runs again. The trials that its search has proposed since the
// failure stay as they are. So, to propose them again, the strategy is asked with the failure, and
// for all later ones with the new result.
type repeat struct {
	record.Retry
	failure record.Trial // the trial as it was
	since   int          // number of trials proposed when it had failed
	missing bool         // the search goes on although the new result is not on record
}

// surrogate is a Strategy that fits a model to the points and the values of its history. Another
// strategy replays its history, and would propose other points than those on record if a value
// changed. So a trial stays a failure to it once it has proposed others.
type surrogate interface {
	Strategy
	models()
}

// fails reports whether the strategy is to know the trial as a failure when it is asked after
// proposed trials.
func (r *repeat) fails(s Strategy, proposed int) bool {
	_, models := s.(surrogate)
	return proposed < r.Known || !models && r.since < r.Known
}
