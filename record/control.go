package record

import (
	"errors"
	"slices"
)

// ErrJournal marks every failure to read or to write a journal. A run stops at it, because further
// results would be lost.
var ErrJournal = errors.New("journal")

// Control sums up the commands that users give to a run. Configurations are numbered as in the
// plan.
type Control struct {
	Dropped []int      // they do not run, and are not compared; ascending
	Paused  []int      // none of their jobs starts; ascending
	First   []int      // their jobs start first, in the reverse order of the commands
	Own     []Enqueued // points to try, in the order of the commands
}

// Enqueued is a point that a user has enqueued. Its Number counts from 1 in its configuration.
type Enqueued struct {
	Configuration int
	Number        int
	Point         map[string]Number
	// Withdrawn means that it is not to be tried. Its result stays, and its failure goes.
	Withdrawn bool
}

// SamePoints reports whether both have the same points with the same withdrawals.
func (c Control) SamePoints(other Control) bool {
	return slices.EqualFunc(c.Own, other.Own, func(a, b Enqueued) bool { return a.Withdrawn == b.Withdrawn })
}

// Withdrawn reports whether a point was withdrawn.
func (c Control) Withdrawn(configuration, number int) bool {
	return slices.ContainsFunc(c.Own, func(of Enqueued) bool {
		return of.Configuration == configuration && of.Number == number && of.Withdrawn
	})
}
