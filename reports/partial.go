package reports

import (
	"fmt"
)

// Partial says that a score is over some of the folds that are planned, because others are missing,
// have failed, or were cut by a race. A score without one is over all of them. Whoever shows a
// score with one shows the count beside it and no interval, sorts it after those that are whole,
// and calls it neither best nor worse.
type Partial struct {
	Done    int `json:"done"`    // folds that the score is over
	Failed  int `json:"failed"`  // folds that failed; the others are missing or were cut
	Planned int `json:"planned"` // folds of the evaluation
}

// partial is nil where all folds are done, or none.
func partial(done, failed, planned int) *Partial {
	if done == 0 || done == planned {
		return nil
	}
	return &Partial{done, failed, planned}
}

// String is "1 of 5 folds", or "3 of 5 folds, 2 failed".
func (p *Partial) String() string {
	text := fmt.Sprintf("%d of %d folds", p.Done, p.Planned)
	if p.Failed > 0 {
		text += fmt.Sprintf(", %d failed", p.Failed)
	}
	return text
}

// Beside is a number as text, if there is one, with the count where that is due: "0.71 (1 of 5
// folds)".
func (p *Partial) Beside(number string) string {
	if p == nil || number == "" {
		return number
	}
	return fmt.Sprintf("%s (%v)", number, p)
}

// Whole is a text that is left out of what is partial, as an interval.
func (p *Partial) Whole(text string) string {
	if p != nil {
		return ""
	}
	return text
}
