package reports

// Answer is the conclusion of a run for one data set: which configuration is best, by how much, and
// what speaks against trusting that. Configurations compete if they were scored on all planned
// folds.
type Answer struct {
	Dataset       string `json:"dataset"`       // its name, or the file
	Configuration int    `json:"configuration"` // index of the best
	// the score that decides, or log_evidence: the score of a race, of nested cross-validation or
	// of cross-validated tuning, or else the first score for which the base rate has the value 0
	By string `json:"by"`
	// the evaluation that the score belongs to; with nested cross-validation that of the whole
	// selection procedure, on the outer folds; empty: it is the log evidence of the training data
	Evaluation string `json:"evaluation"`
	Score      Number `json:"score"`    // of the best, or with nested cross-validation of the selection procedure
	Low        Number `json:"low"`      // lower end of the 95 % interval of score; null: there is none
	High       Number `json:"high"`     // upper end of the 95 % interval of score; null: there is none
	Cases      int    `json:"cases"`    // number of held-out cases that score is computed from
	Competed   int    `json:"competed"` // number of configurations that competed
	// number of configurations that did not compete, by their worst status; Done: their folds are
	// others
	Absent map[Status]int `json:"-"`
	Next   *int           `json:"next"` // index of the second best; null: nothing else competed
	// difference of score between the best and next, positive if the best is better; with nested
	// cross-validation on the inner folds; null: nothing else competed
	Margin Number `json:"margin"`
	P      Number `json:"p"` // p value of next among rivals, with Holm's correction; null: there is no test
	// indices of configurations not significantly different from the best: p above 0.05 with Holm's
	// correction, or no test; by log evidence those within 1 nat
	Indistinguishable []int `json:"indistinguishable"`
	// of the best, or with nested cross-validation of the selection procedure; null: not known
	Skill  *Skill  `json:"skill"`
	Rivals []Rival `json:"rivals"` // all other configurations that competed, best first
	Trust  []Trust `json:"trust"`  // reasons to doubt the answer; empty: none found
	Keep   string  `json:"keep"`   // command or call that writes the best to a model file
	// how nested cross-validation selected the best
	Nested *Choice `json:"nested,omitempty"`
}

// Choice describes how nested cross-validation selected the best configuration.
type Choice struct {
	Wins  int `json:"wins"`        // outer folds in which the best was selected
	Folds int `json:"outer_folds"` // number of outer folds
	// the criterion of selection: a score on the inner folds, or log_evidence of the training data
	By    string `json:"by"`
	Score Number `json:"score"` // of the best
}

// Skill compares the best with the base rate: the class frequencies of the training data, or the
// mean and variance of its targets.
type Skill struct {
	Against    string `json:"against"`    // base_rate
	By         string `json:"by"`         // the score for which the base rate has the value 0, or log_evidence
	Difference Number `json:"difference"` // of the scores; positive is better
	P          Number `json:"p"`          // two-sided p value of no difference; null: there is no test
	Better     bool   `json:"better"`     // significantly, by a test at 5 %; by log evidence by more than 1 nat
}

// Rival is a configuration other than the best.
type Rival struct {
	Configuration int    `json:"configuration"` // its index
	Score         Number `json:"score"`         // the score that decides
	// mean over folds, or of base_rate over cases, of the score minus that of the best, with the
	// sign for which negative is worse
	Difference Number `json:"difference"`
	Low        Number `json:"low"`  // lower end of the 95 % interval of difference; null: there is none
	High       Number `json:"high"` // upper end of the 95 % interval of difference; null: there is none
	// p value of the corrected resampled t-test over folds, or for a single fold or base_rate of
	// the t-test over cases;
	P    Number `json:"p"`    // two-sided; null: there is no test
	Holm Number `json:"holm"` // p with Holm's correction for all rivals
	Told bool   `json:"told"` // it is significantly different from the best
	// it scores below the base rate, for which the score has the value 0
	Unskilled bool `json:"-"`
}

// Trust is a reason to doubt the answer.
type Trust struct {
	Cause  string `json:"cause"`  // in words
	Count  int    `json:"count"`  // how often it occurred, in the unit of the cause
	Remedy string `json:"remedy"` // what to do
	Text   string `json:"-"`      // the cause with its count, for people
}

// Rank of a configuration in an Answer.
const (
	Winner     = "best"
	AsGood     = "≈ best"
	BelowBase  = "below base rate"
	notRanked  = ""
	afterThese = 1 << 30
)

// Of returns the rank of a configuration: Winner, BelowBase if it scores below the base rate,
// AsGood if it is not significantly different from the best, or "".
func (a *Answer) Of(configuration int) string {
	if a == nil {
		return notRanked
	}
	if a.Configuration == configuration {
		return Winner
	}
	for _, v := range a.Rivals {
		switch {
		case v.Configuration != configuration:
		case v.Unskilled:
			return BelowBase
		case !v.Told:
			return AsGood
		}
	}
	return notRanked
}

// Place is the sort key of configurations: 0 is the best; those that did not compete are last.
func (a *Answer) Place(configuration int) int {
	if a == nil {
		return afterThese
	}
	if a.Configuration == configuration {
		return 0
	}
	for i, v := range a.Rivals {
		if v.Configuration == configuration {
			return i + 1
		}
	}
	return afterThese
}
