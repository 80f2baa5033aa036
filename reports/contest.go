package reports

import (
	"encoding/json"
	"fmt"

	"github.com/gpc-tune/gpc-tune/internal/record"
)

// Nested is what came of nested cross-validation: in every outer training set the configurations
// competed, and the winner was scored on what the outer fold holds out. The scores of the
// Evaluation are those of choosing that way, of no one configuration.
type Nested struct {
	Dataset        string `json:"dataset"`        // its name, or the file
	Configurations []int  `json:"configurations"` // indices of those that competed
	Outer          string `json:"outer"`          // how the outer folds were made
	// by which the winners were chosen: of the predictions of all inner folds, or log_evidence
	Score string `json:"score"`
	Race  string `json:"race,omitempty"` // the rule that cut configurations within the inner folds
	Evaluation
	Fits       int                  `json:"fits"`        // inner training sets of all configurations
	FitsSaved  int                  `json:"fits_saved"`  // inner training sets that the race made needless
	OuterFolds []OuterFold          `json:"outer_folds"` // the competition of each
	inner      []int                // the studies that decide, of every configuration
	studies    []Study              // of the winners, on the outer folds
	record     record.Configuration // the first that competed
}

// OuterFold is one competition of Nested. Hyperparameters, LogEvidence and Scores are of the
// winner, on the outer fold.
type OuterFold struct {
	Repeat int    `json:"repeat"` // its repeat, from 0
	Fold   int    `json:"fold"`   // its number, from 0
	Train  int    `json:"train"`  // training cases
	Test   int    `json:"test"`   // held-out cases
	Status Status `json:"status"` // done, failed or missing
	// index of its configuration; null: not known yet, or all have failed
	Winner *int `json:"winner"`
	// of the winner, natural units, tuned on all of the training cases
	Hyperparameters Values `json:"hyperparameters"`
	LogEvidence     Number `json:"log_evidence"` // of the winner, nats; null where there is none
	// of the winner, as in the folds of a configuration
	Threshold *Number    `json:"threshold,omitempty"`
	Scores    Scores     `json:"scores"` // of the winner, of the held-out cases
	Inner     []Standing `json:"inner"`  // where the configurations stood
	Cuts      []CutOff   `json:"cuts"`   // who was cut by the race, and why
}

// Standing is the score of a configuration in a competition, over the folds until it left.
type Standing struct {
	Configuration int `json:"configuration"` // its index
	Folds         int `json:"folds"`         // that the configuration was scored on
	// of the score that decides, of the predictions of these folds together
	Value Number     `json:"value"`
	CI95  *[2]Number `json:"ci95"` // 95 % interval of value; null where there is none
	// value is over some of the folds of the competition; absent: over all
	Partial *Partial `json:"partial,omitempty"`
	Planned int      `json:"-"` // folds of the competition
}

// CutOff says when and why a configuration left a competition.
type CutOff struct {
	Configuration int    `json:"configuration"` // index of the one that left
	Folds         int    `json:"folds"`         // that were done then
	Better        *int   `json:"better"`        // index of the best configuration then; null: this one failed
	P             Number `json:"p"`             // p value, where the rule is a test; else null
	Reason        string `json:"reason"`        // why, in words
}

// Race is a race of the configurations over the folds of an evaluation. Those that are left have
// gone on to all else that the experiment asks for.
type Race struct {
	Dataset    string          `json:"dataset"`    // its name, or the file
	Evaluation string          `json:"evaluation"` // the way of holding out over whose folds it goes
	Score      string          `json:"score"`      // by which configurations are compared
	Rule       string          `json:"rule"`       // by which they are cut
	Options    json.RawMessage `json:"options"`    // of the rule
	Folds      int             `json:"folds"`      // as planned
	Done       int             `json:"done"`       // folds that are, at the end of a round
	Status     Status          `json:"status"`     // done, failed or missing
	// index of the best of those that are left; null: not known yet, or all have failed
	Winner    *int       `json:"winner"`
	Fits      int        `json:"fits"`       // training sets of all configurations, without the race
	FitsSaved int        `json:"fits_saved"` // training sets that the race made needless
	JobsSaved int        `json:"jobs_saved"` // jobs that the race made needless, of those known beforehand
	Standings []Standing `json:"standings"`  // where the configurations stood
	Cuts      []CutOff   `json:"cuts"`       // who was cut, and why
}

// Why says when and why a configuration was cut.
func (c CutOff) Why() string {
	best := ""
	if c.Better != nil {
		best = fmt.Sprintf(" (best #%d)", *c.Better)
	}
	return fmt.Sprintf("cut after fold %d: %s%s", c.Folds, c.Reason, best)
}

func (c CutOff) String() string { return fmt.Sprintf("#%d %s", c.Configuration, c.Why()) }
