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
	Contestants int // number at the start
	Folds       int // number of folds of the contest
	// Round is the index into Rounds(Contestants, Folds), and Done the number of completed folds
	Round, Done int
	In          []int           // remaining contestants, the best by their Scores first
	Parts       [][]Predictions // predictions by contestant and fold, for the folds so far
	Scores      []Estimate      // score of every contestant, over all these predictions together
}

// Cut is an elimination from a contest.
type Cut struct {
	Contestant int
	Folds      int        // completed before
	Reason     string     // does not contain the name of the Better one
	Kind       cause.Kind // kind of the failure, if it failed
	Better     int        // the best contestant then; -1: this one failed
	P          float64
}
