package reports

import (
	"math"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// Answer is the conclusion of a run for one data set: the best configuration, its margin, and the
// reasons to doubt it. Configurations compete if they were scored on all planned folds.
type Answer struct {
	Dataset string `json:"dataset"` // its name, or the file
	// the column that is predicted; null: a run of an earlier version, which does not say it
	Label    *record.PredictedLabel `json:"label"`
	LeftOut  []record.ColumnReason  `json:"left_out"` // columns that are neither inputs nor the label
	Suspects []record.ColumnReason  `json:"suspects"` // inputs that may give the label away

	Configuration int `json:"configuration"` // index of the best
	// the score that decides, or log_evidence: the score of a race, of nested cross-validation or
	// of cross-validated tuning, or else the first score for which the base rate has the value 0
	By string `json:"by"`
	// the evaluation that the score belongs to. With nested cross-validation it scores the whole
	// selection procedure, on the outer folds. Empty: score is the log evidence of the training
	// data
	Evaluation string `json:"evaluation"`
	Score      Number `json:"score"`    // score of the best, or of the nested selection procedure
	Low        Number `json:"low"`      // lower end of the 95 % interval of score; null: there is none
	High       Number `json:"high"`     // upper end of the 95 % interval of score; null: there is none
	Cases      int    `json:"cases"`    // number of held-out cases that score is computed from
	Competed   int    `json:"competed"` // number of configurations that competed
	Different  int    `json:"-"`        // number of distinct held-out cases
	// number of distinct cases, or of groups, that the intervals are over; with nested
	// cross-validation cases of the inner folds
	Units   int  `json:"-"`
	Grouped bool `json:"-"` // Units counts groups
	// number of configurations that did not compete, by their worst status; Done: they have other
	// folds
	Absent map[Status]int `json:"-"`
	// index of the second best; null: no other configuration competed
	Next *int `json:"next"`
	// score corrected for the selection of the best on the same held-out cases, by the bootstrap of
	// their predictions. With nested cross-validation it corrects the score on the inner folds, to
	// compare with score. null: nothing was selected, or not by a score
	Corrected Number `json:"corrected"`
	// difference of score between the best and next, positive if the best is better; with nested
	// cross-validation on the inner folds; null: no other configuration competed
	Margin Number `json:"margin"`
	P      Number `json:"p"` // p value of next among rivals; null: there is no test
	// upper 95 % bound of the loss from using the best, in units of the score: the true score of
	// the truly best minus its own. null: no other configuration competed, or bounds are not known
	AtMost Number `json:"at_most"`
	// indices of the configurations that may be the best, the best first: the truly best is one of
	// them with 95 %; by log evidence: all within 1 nat of the best
	Set []int `json:"set"`
	// indices in set without the best, ordered by the number of hyperparameters, the smallest first
	Alternatives []int `json:"alternatives"`
	// skill of the best, or with nested cross-validation of the selection procedure; null: not
	// known
	Skill *Skill `json:"skill"`
	// gain from calibrating the held-out predictions further; null: not tried, as for numeric
	// targets, or for predictions without skill, without errors or calibrated already
	Recalibrated *Recalibrated `json:"recalibrated"`
	Rivals       []Rival       `json:"rivals"` // all other configurations that competed, best first
	Trust        []Trust       `json:"trust"`  // reasons to doubt the answer; empty: none found
	Keep         string        `json:"keep"`   // command or call that writes the best to a model file
	// classes of the file that the experiment leaves out
	ClassesLeftOut []record.ClassCount `json:"classes_left_out,omitempty"`
	// how nested cross-validation selected the best
	Nested *Choice `json:"nested,omitempty"`
	// what drives the held-out predictions that score is computed from; null: not measured
	Drivers *record.Drivers `json:"drivers,omitempty"`
	scored  []*Study
}

// Scored are the studies whose held-out cases Score is computed from: the folds of the best, or
// with nested cross-validation the outer folds of the winners. None: Score is the log evidence.
func (a Answer) Scored() []*Study { return a.scored }

// InformationUnit is a unit of information; PerBit is a bit in this unit.
type InformationUnit struct {
	Name   string
	PerBit float64
}

// Bits is the unit of information in which importances are recorded.
var Bits = InformationUnit{"bits", 1}

// UnitOfDrivers is the unit in which to show the Drivers of an answer: nats if its Score is in nats
// per case, else bits.
func UnitOfDrivers(a Answer) InformationUnit {
	if s, err := cv.ScoreNamed(a.By); err == nil && s.Unit == "nats per case" {
		return InformationUnit{"nats", math.Ln2}
	}
	return Bits
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
// mean and variance of its targets. It is corrected for the choice among all that competed.
type Skill struct {
	Against    string `json:"against"`    // base_rate
	By         string `json:"by"`         // the score for which the base rate has the value 0, or log_evidence
	Difference Number `json:"difference"` // difference of the scores; positive is better
	// lower 95 % bound of the true difference, after correction for the choice of the best; null:
	// there is none
	AtLeast Number `json:"at_least"`
	// whether the predictions are better than chance, by a permutation test at 5 % with the largest
	// statistic of all that competed; by log evidence: by more than 1 nat
	Known bool `json:"known"`
	// whether known is true and difference is above 0; at_least may still be below 0
	Better bool `json:"better"`
}

// Recalibrated is a calibration that was learnt from the predictions of all other folds for each
// fold, and is scored on that fold.
type Recalibrated struct {
	By   string `json:"by"`   // platt or temperature, whichever gains more
	Gain Number `json:"gain"` // bits per case; above 0 is better
	Low  Number `json:"low"`  // lower end of the 95 % interval of gain, by the t-test over cases
	High Number `json:"high"` // upper end of the 95 % interval of gain
	// it is advised: gain is above 0.01 and above 1.65 standard errors, and no fold has log odds
	// far outside the range of the other folds
	Helps bool `json:"helps"`
}

// Rival is a configuration other than the best.
type Rival struct {
	Configuration int    `json:"configuration"` // its index
	Score         Number `json:"score"`         // the score that decides
	// the score minus the score of the best, with the sign for which negative is worse
	Difference Number `json:"difference"`
	// lower one of two one-sided 95 % bounds of the true difference; null: there is none
	Low  Number `json:"low"`
	High Number `json:"high"` // the upper bound; the largest one of the set is at_most
	// p value of the hypothesis that no other configuration is better; null: there is none
	P     Number `json:"p"`
	InSet bool   `json:"in_set"` // it may be the best, at 95 %
	// in_set, and the difference counts as none: the two held-out cases (or groups) with the
	// largest differences contribute more than the sum over all, or it is below 0.001
	None bool `json:"none"`
	// it scores below the base rate, for which the score has the value 0
	Unskilled bool `json:"-"`
}

// Trust is a reason to doubt the answer.
type Trust struct {
	Kind   cause.Kind `json:"kind"`   // kind of the reason
	Cause  string     `json:"cause"`  // in words
	Count  int        `json:"count"`  // how often it occurred, in the unit of the cause
	Remedy string     `json:"remedy"` // what to do
	Text   string     `json:"-"`      // the cause with its count, for people
}

// SoFar is the result so far of an unfinished run for one data set. Configurations are compared on
// the folds that both have, so it is no verdict: the best may have been lucky, and others may not
// have begun.
type SoFar struct {
	Dataset       string `json:"dataset"`       // its name, or the file
	Configuration int    `json:"configuration"` // index of the best so far
	By            string `json:"by"`            // the score that will decide, or log_evidence
	Evaluation    string `json:"evaluation"`    // the evaluation that the score belongs to; empty: the log evidence
	Score         Number `json:"score"`         // score of the best so far, over all its folds
	Folds         int    `json:"folds"`         // number of folds that the best has
	Planned       int    `json:"planned"`       // number of folds that it will have
	// the other configurations that have folds in common with the best, in order, best first
	Rivals []Behind `json:"rivals"`
	NotYet []int    `json:"not_yet"` // indices of configurations without common folds yet
}

// Behind is a configuration of an unfinished run, compared with the best so far.
type Behind struct {
	Configuration int    `json:"configuration"` // its index
	Folds         int    `json:"folds"`         // number of folds that both have; the scores are over these
	Score         Number `json:"score"`         // its score
	// its score minus the score of the best, with the sign for which negative is worse
	Difference Number `json:"difference"`
}

// Rank of a configuration in an Answer.
const (
	Winner     = "best"
	InSet      = "in the set"
	BelowBase  = "below base rate"
	afterThese = 1 << 30
)

// Of returns the ranks of a configuration: Winner, or InSet if it may be the best, and BelowBase if
// it scores below the base rate.
func (a *Answer) Of(configuration int) (ranks []string) {
	if a == nil {
		return nil
	}
	if a.Configuration == configuration {
		return []string{Winner}
	}
	for _, v := range a.Rivals {
		if v.Configuration == configuration && v.InSet {
			ranks = append(ranks, InSet)
		}
		if v.Configuration == configuration && v.Unskilled {
			ranks = append(ranks, BelowBase)
		}
	}
	return ranks
}

// Place is the sort key of configurations: 0 is the best; configurations that did not compete are
// last.
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
