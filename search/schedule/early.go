package schedule

import (
	"errors"

	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/record"
)

// EarlyStop is a rule that ends trials early. It compares the values on the way of a trial with the
// values of earlier trials. The options are the exported fields; zero means the default.
type EarlyStop interface {
	// Stops reports whether a trial ends at the last of its values so far. earlier has the values
	// on the way of each finished trial. Greater values are better.
	Stops(sofar []record.Interim, earlier [][]record.Interim) bool
}

// EarlyStops lists the rules that end trials early.
var EarlyStops = registry.Table[EarlyStop]{
	registry.Of[Median, EarlyStop]("median", "ends a trial whose best value so far is worse than the median of "+
		"the averages of earlier trials up to this step"),
	registry.Of[AsynchronousHalving, EarlyStop]("successive_halving", "ends a trial at step `from`, or at `from` "+
		"times eta, eta^2, …, if it is not among the best 1/eta of the earlier trials and itself there"),
}

// ErrEarly is the error with which a Function's Value returns its last value on the way, after
// Evaluation.Report has told it to stop.
var ErrEarly = errors.New("the trial was stopped early")

const (
	earlyStatus = "stopped early" // status of a trial that was stopped early
	// earlyBatch is the number of trials that run together in a search that proposes all its trials
	// at once, if trials may end early. A trial is compared with the trials before its batch, so
	// that the result does not depend on the number of workers.
	earlyBatch = 8
	// mostInterim is the largest number of values on the way that a trial keeps.
	mostInterim = 10_000
)

// interim are the values on the way of the trials that have any.
func interim(trials []record.Trial) (all [][]record.Interim) {
	for _, t := range trials {
		if len(t.Interim) > 0 {
			all = append(all, t.Interim)
		}
	}
	return all
}
