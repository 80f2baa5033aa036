package columns

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// mostSizes is how many different texts with a unit that is not known are categories.
const mostSizes = 10

// measure holds numbers with a unit behind them, or with limits of detection.
var measure = Kind{Name: "measure", Use: Input, is: func(p *profile) (string, bool) {
	unit, others, ok := p.measured()
	if !ok || others != nil {
		return "", false
	}
	t := &p.amounts[p.notation]
	found := fmt.Sprintf("numbers, %.6g to %.6g", t.min, t.max)
	if n := p.tally(); n.n > 0 {
		found = fmt.Sprintf("numbers, %.6g to %.6g", min(t.min, n.min), max(t.max, n.max))
	}
	if unit != "" {
		var converted []string
		for other := range p.units {
			if times, _ := cells.Convert(other, unit); other != "" && times != 1 {
				converted = append(converted, other)
			}
		}
		if converted != nil { // the range is of several units
			found += " as they are written, in"
		}
		found += " " + unit
		if bare := p.tally().n; bare > 0 {
			found += fmt.Sprintf("; %d without a unit, taken to be in %s", bare, unit)
		}
		if slices.Sort(converted); converted != nil {
			found += fmt.Sprintf("; %s converted", strings.Join(converted, ", "))
		}
	}
	for _, side := range []struct{ limit, what string }{{"<", "below"}, {">", "above"}} {
		if n := p.limits[side.limit]; n > 0 {
			found += fmt.Sprintf("; %d %s a limit of detection", n, side.what)
		}
	}
	return found, true
}}

// mixture holds numbers in several currencies, or in units that cannot be converted.
var mixture = Kind{Name: "numbers in several units", Use: Left, is: func(p *profile) (string, bool) {
	if p.isNumber() && len(p.currencies) > 1 {
		return "in " + strings.Join(slices.Sorted(maps.Keys(p.currencies)), ", ") + "; write all in one currency", true
	}
	unit, others, ok := p.measured()
	if readings := cells.Readings(append(others, unit)); ok && others != nil && readings != "" {
		return readings + "; write all in one unit", true
	}
	_, few := category.is(p)
	signed := p.percent > 0 || len(p.currencies) > 0
	if !ok || others == nil || !signed && (few || !slices.ContainsFunc(append(others, unit), cells.WellKnown)) {
		return "", false
	}
	return fmt.Sprintf("in %s and %s; write all in one unit", unit, strings.Join(others, ", ")), true
}}

// measured is the unit of numbers, empty if they have limits alone, and the others that cannot be
// converted to it. It is not ok if the texts are something else.
func (p *profile) measured() (unit string, others []string, ok bool) {
	t := &p.amounts[p.notation]
	known := map[string]int{}
	for u, n := range p.units {
		if u != "" {
			known[u] = n
		}
	}
	limits := p.limits["<"] + p.limits[">"]
	if t.n == 0 || t.n != p.texts || p.texts+p.tally().n+p.tokened() != p.there || len(p.units) > mostTold ||
		p.dated() != nil || idName.MatchString(p.name) {
		return "", nil, false
	}
	if len(known) == 0 {
		return "", nil, p.tally().n > 0 && (p.levels == nil || len(p.levels) > mostSizes || p.order() == nil)
	}
	all := slices.SortedFunc(maps.Keys(known), func(a, b string) int {
		return cmp.Or(cmp.Compare(known[b], known[a]), cmp.Compare(a, b))
	})
	unit, total := all[0], 0
	for _, other := range all {
		total += known[other]
		if _, same := cells.Convert(other, unit); !same {
			others = append(others, other)
		}
	}
	others = append(others, slices.Sorted(maps.Keys(p.currencies))...)
	if p.percent > 0 {
		others = append(others, "%")
	}
	few := p.levels != nil && len(p.levels) <= mostSizes && !cells.WellKnown(unit) &&
		(others == nil || cells.Readings(append(others, unit)) == "")
	return unit, others, !few && 2*total >= t.n+p.tally().n-limits
}
