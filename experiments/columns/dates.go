package columns

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// dates says what becomes of columns of dates. Where it cannot be seen whether day or month comes
// first, it is as in the columns where it can. The later of two dates, on average, has the days
// since the earlier one.
func (t *Table) dates(profiles []*profile) {
	var all []int
	of, known := map[int]*dated{}, map[cells.Form]int{}
	for j, c := range t.Columns {
		if c.Kind != date.Name {
			continue
		}
		of[j] = profiles[j].dated()
		if profiles[j].other(of[j]) == nil {
			known[of[j].form]++
		}
		if of[j].form != cells.Clock {
			all = append(all, j)
		}
	}
	unsure := map[int]*dated{}
	for _, j := range all {
		if other := profiles[j].other(of[j]); other != nil {
			if known[other.form] > known[of[j].form] {
				of[j] = other
			}
			if known[of[j].form] == 0 {
				unsure[j] = profiles[j].other(of[j])
			}
		}
	}
	slices.SortStableFunc(all, func(a, b int) int {
		return cmp.Compare(of[a].sum/float64(of[a].n), of[b].sum/float64(of[b].n))
	})
	for _, j := range slices.Sorted(maps.Keys(of)) {
		c, d := &t.Columns[j], of[j]
		parts, leftOut := d.proposed(c.Name, d.n >= leastRows)
		meaning := &cells.Date{Form: d.form, Parts: parts}
		c.Found = d.found(leftOut, unsure[j])
		at := slices.Index(all, j)
		if at > 0 {
			before := all[at-1]
			meaning.Since = cells.Name(t.Naming(before))
			var same []cells.Part
			if meaning.Parts, same = d.apart(of[before], parts); same != nil {
				c.Found += "; left out, for nearly the same in " + t.Columns[before].Name + ": " + joined(same)
			}
		}
		c.odd = d.odd
		if len(parts) > 0 || at >= 0 && len(all) > 1 {
			c.Use, c.Date = Input, meaning
		}
	}
}
