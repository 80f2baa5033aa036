package record

import (
	"errors"
	"slices"
)

// ErrJournal marks every failure to read or to write a journal. A run stops at it, because further
// results would be lost.
var ErrJournal = errors.New("journal")

// Control is the result of all commands that users have given to a run. Configurations are numbered
// as in the plan.
type Control struct {
	Dropped  []int      // configurations that do not run and are not compared; ascending
	Paused   []int      // configurations whose jobs do not start; ascending
	First    []int      // configurations whose jobs start first, the latest command first
	Enqueued []Enqueued // points to try, in the order of the commands
}

// Enqueued is a point that a user has enqueued. Its Number counts from 1 in its configuration.
type Enqueued struct {
	Configuration int
	Number        int
	Point         map[string]Number
	// Withdrawn means that the point is not to be evaluated. An earlier result of the point stays
	// on record; a failure does not count.
	Withdrawn bool
}

// SamePoints reports whether both have the same points with the same withdrawals.
func (c Control) SamePoints(other Control) bool {
	return slices.EqualFunc(c.Enqueued, other.Enqueued, func(a, b Enqueued) bool { return a.Withdrawn == b.Withdrawn })
}

// Withdrawn reports whether a point was withdrawn.
func (c Control) Withdrawn(configuration, number int) bool {
	return slices.ContainsFunc(c.Enqueued, func(of Enqueued) bool {
		return of.Configuration == configuration && of.Number == number && of.Withdrawn
	})
}
