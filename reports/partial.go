package reports

import (
	"fmt"
)

// Partial means that a score is over some of the planned folds only, because others are missing,
// have failed, or were eliminated by a race. A score without it is over all folds. A partial score
// is shown with the count and without an interval, sorted after complete ones, and is never called
// best or worse.
type Partial struct {
	Done    int `json:"done"`    // number of folds in the score
	Failed  int `json:"failed"`  // number of failed folds; the others are missing or were eliminated
	Planned int `json:"planned"` // folds of the evaluation
}

// partial returns nil if all folds are done, or none.
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

// Beside is a number as text, with the count if it is partial: "0.71 (1 of 5 folds)".
func (p *Partial) Beside(number string) string {
	if p == nil || number == "" {
		return number
	}
	return fmt.Sprintf("%s (%v)", number, p)
}

// Whole returns text, or "" if p is partial, as for an interval.
func (p *Partial) Whole(text string) string {
	if p != nil {
		return ""
	}
	return text
}
