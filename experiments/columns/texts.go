package columns

import (
	"maps"
	"slices"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// Reading describes the different texts of a column that has no type.
type Reading struct {
	Words []string    `json:"words"` // texts that stand for missing values
	Odd   []string    `json:"odd"`   // texts that are neither such words nor dates
	Date  *cells.Date `json:"date"`  // how the others are read as dates; nil: they are no dates
	Other cells.Form  `json:"other"` // a second form in which they are dates; empty: there is none
}

// ReadTexts finds whether different texts of a column are dates or stand for missing values. It
// reads dates in the form in which Read does, and all of them on the clock of UTC if some have a
// zone. The parts are days, month and weekday, and the hour if the times of the day differ.
func ReadTexts(texts []string) (r Reading) {
	p := newProfile("", 0, 1)
	for _, text := range texts {
		p.add(text)
		if cells.Missing(text) || isToken(text) {
			r.Words = append(r.Words, text)
		} else {
			r.Odd = append(r.Odd, text)
		}
	}
	d := p.dated()
	if d == nil {
		return r
	}
	if other := p.other(d); other != nil {
		r.Other = other.form
	}
	r.Odd = slices.Sorted(maps.Keys(d.odd))
	r.Date = &cells.Date{Form: d.form, Parts: []cells.Part{"hour"}}
	if d.form != cells.Clock {
		r.Date.Parts = []cells.Part{"days", "month", "weekday"}
		if of := d.parts["hour"]; of[0] < of[1] {
			r.Date.Parts = append(r.Date.Parts, "hour")
		}
	}
	if len(d.zones) > 0 {
		r.Date.Zone = "utc"
	}
	return r
}
