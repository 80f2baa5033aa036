package cv

import "github.com/gpc-tune/gpc-tune/internal/cause"

// Race is a rule that eliminates contestants which are unlikely to win a contest. Decisions depend
// on the results of whole rounds, not on the order in which these arrived. The options are the
// exported fields; zero means the default.
type Race interface {
	// Check returns an error for invalid options.
	Check() error
	// Rounds returns the numbers of folds after which contestants may be eliminated: ascending,
	// from 1 to folds-1.
	Rounds(contestants, folds int) []int
	// Cut returns the contestants eliminated after a round, with the reasons. The best is never
	// eliminated.
	Cut(Round) []Cut
}

// Round is the state of a race after a round.
type Round struct {
	Score       Score
	Contestants int             // at the start
	Folds       int             // of the contest
	Round, Done int             // Round is the index into Rounds(Contestants, Folds), Done the folds completed
	In          []int           // remaining contestants, the best by their Scores first
	Parts       [][]Predictions // by contestant and fold, for the folds so far
	Scores      []Estimate      // by contestant, over all these predictions together
}

// Cut is an elimination from a contest.
type Cut struct {
	Contestant int
	Folds      int        // completed before
	Reason     string     // does not contain the name of the Better one
	Kind       cause.Kind // of the failure, if it failed
	Better     int        // the best contestant then; -1: this one failed
	P          float64
}
