package search

import "github.com/gpc-tune/gpc-tune/record"

// repeat is a failed trial that runs again. The trials that its search has proposed since the
// failure are kept. To propose these again, the strategy is asked with the failure, and for all
// later trials with the new result.
type repeat struct {
	record.Retry
	failure record.Trial // the failed trial
	since   int          // number of trials proposed at the time of the failure
	missing bool         // the search goes on although the new result is not on record
}

// surrogate is a Strategy that fits a model to the points and the values of its history. Any other
// strategy replays its history, and would propose other points than the recorded ones if a value
// changed. For such a strategy a trial remains a failure once later trials are proposed.
type surrogate interface {
	Strategy
	models()
}

// fails reports whether the strategy is given the trial as a failure when it is asked for the trial
// of index proposed.
func (r *repeat) fails(s Strategy, proposed int) bool {
	_, models := s.(surrogate)
	return proposed < r.Known || !models && r.since < r.Known
}
