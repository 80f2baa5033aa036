package reports

// Answer is what a run says of one data set: which configuration is best, by how much, and whether
// to trust that. Configurations compete that were scored on all folds that are planned.
type Answer struct {
	Dataset       string `json:"dataset"`       // its name, or the file
	Configuration int    `json:"configuration"` // index of the best
	// the score that decides, or log_evidence: that of a race, of nested or cross-validated tuning,
	// or else the first of which 0 is the base rate
	By string `json:"by"`
	// the way of holding out that it is of; of nested cross-validation it is that of choosing,
	// scored on the outer folds; empty: it is the log evidence of the training data
	Evaluation string `json:"evaluation"`
	Score      Number `json:"score"`    // of the best, or nested of the choice
	Low        Number `json:"low"`      // of the 95 % interval of score; null where there is none
	High       Number `json:"high"`     // of the 95 % interval of score; null where there is none
	Cases      int    `json:"cases"`    // held-out cases that score is of
	Competed   int    `json:"competed"` // how many configurations did
	Next       *int   `json:"next"`     // index of the second best; null: nothing else competed
	// by how much the score of the best is better than that of next; of nested cross-validation
	// by the inner folds; null: nothing else competed
	Margin Number `json:"margin"`
	P      Number `json:"p"` // that of next among rivals, with Holm's correction; null where there is no test
	// indices of those that cannot be told apart from the best: p above 0.05 with Holm's correction
	// or no test; of log evidences those within 1 nat
	Indistinguishable []int   `json:"indistinguishable"`
	Skill             *Skill  `json:"skill"`  // of the best, or nested of the choice; null where it is not known
	Rivals            []Rival `json:"rivals"` // everything else that competed, best first
	Trust             []Trust `json:"trust"`  // what speaks against trusting the answer; empty: nothing found
	Keep              string  `json:"keep"`   // the command that keeps the best as a model file
	// how nested cross-validation chose the best
	Nested *Choice `json:"nested,omitempty"`
}

// Choice says of nested cross-validation how the best came to be chosen.
type Choice struct {
	Wins  int `json:"wins"`        // outer folds in which the best was chosen
	Folds int `json:"outer_folds"` // all of them
	// by which is chosen: a score, of the inner folds, or log_evidence, of the training data
	By    string `json:"by"`
	Score Number `json:"score"` // of the best
}

// Skill is what the best is worth against the base rate: the class frequencies of the training
// data, or the mean and variance of its targets.
type Skill struct {
	Against    string `json:"against"`    // base_rate
	By         string `json:"by"`         // the score of which 0 is the base rate, or log_evidence
	Difference Number `json:"difference"` // of the scores; above 0 is better
	P          Number `json:"p"`          // of no difference, two-sided; null where there is no test
	Better     bool   `json:"better"`     // by a test at 5 %; of log evidences by more than 1 nat
}

// Rival is a configuration beside the best.
type Rival struct {
	Configuration int    `json:"configuration"` // its index
	Score         Number `json:"score"`         // that decides
	// mean over folds of the score less that of the best; below 0 is worse, whatever the score
	Difference Number `json:"difference"`
	Low        Number `json:"low"`  // of the 95 % interval of difference; null where there is none
	High       Number `json:"high"` // of the 95 % interval of difference; null where there is none
	// the corrected resampled t-test over folds, or of one fold the paired t-test over cases
	P    Number `json:"p"`    // two-sided; null where there is no test
	Holm Number `json:"holm"` // p with Holm's correction for all rivals
	Told bool   `json:"told"` // it can be told apart from the best
}

// Trust is a cause to doubt the answer.
type Trust struct {
	Cause  string `json:"cause"`  // in words
	Count  int    `json:"count"`  // how often it was met, in what the cause says
	Remedy string `json:"remedy"` // what to do
	Text   string `json:"-"`      // the cause with its count, for people
}

// Standing of a configuration in an Answer.
const (
	Winner     = "best"
	AsGood     = "≈ best"
	notRanked  = ""
	afterThese = 1 << 30
)

// Of says how a configuration stands: Winner, AsGood for one that cannot be told apart, or nothing.
func (a *Answer) Of(configuration int) string {
	if a == nil {
		return notRanked
	}
	if a.Configuration == configuration {
		return Winner
	}
	for _, i := range a.Indistinguishable {
		if i == configuration {
			return AsGood
		}
	}
	return notRanked
}

// Place is by what configurations are sorted: 0 is the best; those that did not compete are last.
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
