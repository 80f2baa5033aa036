package columns

import (
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// lasting is what the values of a column are as durations.
type lasting struct {
	n        int
	odd      map[string]int // texts that are none
	clocks   [4]int         // those with so many fields
	named    bool           // a unit is written in full
	beyond   bool           // a clock goes beyond a day
	sum      float64        // seconds, clocks of two fields as minutes and seconds
	min, max float64
}

func (l *lasting) add(text string) {
	v, as, ok := cells.ParseDuration(text, "point", "minutes")
	if !ok {
		v, as, ok = cells.ParseDuration(text, "comma", "minutes")
	}
	if !ok {
		if l.odd == nil {
			l.odd = map[string]int{}
		}
		l.odd[strings.Clone(text)]++
		return
	}
	if l.n == 0 {
		l.min, l.max = math.Inf(1), math.Inf(-1)
	}
	l.n++
	l.clocks[as.Fields]++
	l.named = l.named || as.Named
	hours := v / 3600
	if as.Fields == 2 {
		hours = v / 60
	}
	l.beyond = l.beyond || as.Fields > 0 && hours >= 24
	l.sum, l.min, l.max = l.sum+v, min(l.min, v), max(l.max, v)
}

// unit is the largest unit of which the mean duration has two or more. Clocks of two fields are
// hours and minutes, unless others have seconds too.
func (l *lasting) unit() cells.Span {
	if l.clocks[2] == l.n {
		return "hours"
	}
	names := cells.Span("").Names()
	for _, name := range slices.Backward(names) {
		unit := cells.Span(name)
		if l.sum/float64(l.n) >= 2*unit.Seconds() && !(l.clocks[2] > 0 && longUnit(unit)) {
			return unit
		}
	}
	return cells.Span(names[0])
}

// longUnit says whether a clock of two fields is hours and minutes where durations are in the unit.
func longUnit(unit cells.Span) bool { return unit == "hours" || unit == "days" }
