package cv

// Race is a rule by which contestants leave a contest that they are not going to win. What it
// decides depends on the results of whole rounds, not on the order in which they came in. Its
// options are its exported fields; zero means the default.
type Race interface {
	// Check says what is wrong with the options.
	Check() error
	// Rounds says after how many folds contestants may be cut: ascending, from 1 to folds-1.
	Rounds(contestants, folds int) []int
	// Cut names those that leave after a round, and why. The best never does.
	Cut(Round) []Cut
}

// Round is the state of a race after a round.
type Round struct {
	Score       Score
	Contestants int             // at the start
	Folds       int             // of the contest
	Round, Done int             // index into Rounds(Contestants, Folds), and the folds done
	In          []int           // contestants left, the best by their Scores first
	Parts       [][]Predictions // by contestant and fold, of the folds so far
	Scores      []Estimate      // by contestant, of all these predictions together
}

// Cut says who left a contest, when and why.
type Cut struct {
	Contestant int
	Folds      int    // that were done
	Reason     string // without the name of the Better one
	Better     int    // who was best then; -1: it failed
	P          float64
}
