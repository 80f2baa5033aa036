package schedule

import (
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// repeat is a failed trial that runs again. The trials that its search has proposed since the
// failure are kept. To propose these again, the strategy is asked with the failure, and for all
// later trials with the new result.
type repeat struct {
	record.Retry
	failure record.Trial // the failed trial
	since   int          // number of trials proposed at the time of the failure
	missing bool         // the search goes on although the new result is not on record
}

// fails reports whether the strategy is given the trial as a failure when it is asked for the trial
// of index proposed. A strategy that replays its history is given the failure once it has proposed
// later trials.
func (r *repeat) fails(s search.Strategy, proposed int) bool {
	return proposed < r.Known || !search.FitsModel(s) && r.since < r.Known
}
