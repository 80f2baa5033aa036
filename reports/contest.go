package reports

import (
	"encoding/json"
	"fmt"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// Nested is the result of nested cross-validation: in every outer training set the configurations
// competed, and the winner was scored on the cases that the outer fold holds out. The Evaluation
// scores the selection procedure, not one configuration.
type Nested struct {
	Dataset        string `json:"dataset"`        // its name, or the file
	Configurations []int  `json:"configurations"` // indices of the configurations that competed
	Outer          string `json:"outer"`          // the splitter of the outer folds
	// the criterion of selection, on the predictions of all inner folds; or log_evidence
	Score string `json:"score"`
	Race  string `json:"race,omitempty"` // the rule that eliminated configurations within the inner folds
	Evaluation
	Fits       int         `json:"fits"`        // inner training sets of all configurations
	FitsSaved  int         `json:"fits_saved"`  // inner training sets that the race avoided
	OuterFolds []OuterFold `json:"outer_folds"` // the contests, one per outer fold
	// inner folds: indices of studies, the same in every configuration
	inner   []int
	studies []Study              // studies of the winners on the outer folds
	record  record.Configuration // the first configuration that competed
}

// OuterFold is one contest of Nested. Hyperparameters, LogEvidence and Scores belong to the winner
// on the outer fold.
type OuterFold struct {
	Repeat int    `json:"repeat"` // index of the repeat, from 0
	Fold   int    `json:"fold"`   // index of the fold, from 0
	Train  int    `json:"train"`  // training cases
	Test   int    `json:"test"`   // held-out cases
	Status Status `json:"status"` // done, failed or missing
	// index of the winning configuration; null: not known yet, or all have failed
	Winner *int `json:"winner"`
	// hyperparameters of the winner, natural units, tuned on all of the training cases
	Hyperparameters Values `json:"hyperparameters"`
	LogEvidence     Number `json:"log_evidence"` // of the winner, nats; null: there is none
	// threshold of the winner, as in the folds of a configuration
	Threshold *Number    `json:"threshold,omitempty"`
	Scores    Scores     `json:"scores"` // of the winner, on the held-out cases
	Inner     []Standing `json:"inner"`  // standings of the configurations
	Cuts      []CutOff   `json:"cuts"`   // eliminations by the race, with reasons
}

// Standing is the score of a configuration in a contest, over the folds until its elimination.
type Standing struct {
	Configuration int `json:"configuration"` // its index
	Folds         int `json:"folds"`         // number of folds in its score
	// value of the score that decides, of the predictions of these folds together
	Value Number     `json:"value"`
	CI95  *[2]Number `json:"ci95"` // 95 % interval of value; null: there is none
	// folds that value is over, if some are lacking; absent: over all folds of the contest
	Partial *Partial `json:"partial,omitempty"`
	Planned int      `json:"-"` // folds of the contest
}

// CutOff is the elimination of a configuration from a contest.
type CutOff struct {
	Configuration int        `json:"configuration"` // index of the eliminated configuration
	Folds         int        `json:"folds"`         // number of folds completed then
	Better        *int       `json:"better"`        // index of the best configuration at the cut; null: this one failed
	P             Number     `json:"p"`             // p value, if the rule is a test; else null
	Reason        string     `json:"reason"`        // the reason in words
	kind          cause.Kind // kind of the failure, if the configuration failed
}

// Race is a race of the configurations over the folds of an evaluation. The survivors continue with
// everything else that the experiment declares.
type Race struct {
	Dataset string `json:"dataset"` // its name, or the file
	// the race runs over the folds of this evaluation
	Evaluation string          `json:"evaluation"`
	Score      string          `json:"score"`   // the score that compares configurations
	Rule       string          `json:"rule"`    // the rule that eliminates them
	Options    json.RawMessage `json:"options"` // of the rule
	Folds      int             `json:"folds"`   // planned number of folds
	Done       int             `json:"done"`    // number of completed folds, at the end of a round
	Status     Status          `json:"status"`  // done, failed or missing
	// index of the best survivor; null: not known yet, or all have failed
	Winner    *int       `json:"winner"`
	Fits      int        `json:"fits"`       // training sets of all configurations without the race
	FitsSaved int        `json:"fits_saved"` // training sets that the race avoided
	JobsSaved int        `json:"jobs_saved"` // avoided jobs that were known beforehand
	Standings []Standing `json:"standings"`  // standings of the configurations
	Cuts      []CutOff   `json:"cuts"`       // eliminations, with reasons
}

// Why describes when and why a configuration was eliminated.
func (c CutOff) Why() string {
	best := ""
	if c.Better != nil {
		best = fmt.Sprintf(" (best #%d)", *c.Better)
	}
	return fmt.Sprintf("cut after fold %d: %s%s", c.Folds, c.Reason, best)
}

func (c CutOff) String() string { return fmt.Sprintf("#%d %s", c.Configuration, c.Why()) }
