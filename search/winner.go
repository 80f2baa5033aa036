package search

import (
	"cmp"
	"fmt"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// Winner returns the usable point with the largest value among the trials, and the index of its
// trial. Preliminary and failed trials and values that are not finite are ignored; of equal values
// the first point of the lowest index is chosen. If no point is usable, the error has the first
// cause.
func Winner(trials []record.Trial) (index int, best record.Point, err error) {
	return BestOf(trials, false)
}

// BestOf is Winner among the trials that are preliminary, or among the others.
func BestOf(trials []record.Trial, preliminary bool) (index int, best record.Point, err error) {
	index = -1
	var first cause.Notice
	for _, t := range trials {
		if t.Preliminary != preliminary {
			continue
		}
		if !t.Failure.IsZero() {
			first = cmp.Or(first, t.Failure)
			continue
		}
		for _, p := range t.Points {
			switch {
			case !p.Usable():
				first = cmp.Or(first, p.Failure)
			case index < 0 || p.Value > best.Value || p.Value == best.Value && t.Index < index:
				index, best = t.Index, p
			}
		}
	}
	if index >= 0 {
		return index, best, nil
	}
	none := fmt.Sprintf("none of %d trials has a usable point", len(trials))
	if first.IsZero() {
		return -1, best, cause.Failure.New("%s", none)
	}
	return -1, best, fmt.Errorf("%s; the first: %w", none, first)
}
