package columns

import (
	"maps"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// fold finds columns of categories that are spelt in several ways, as yes, Yes and YES, which
// ignore_case makes one. Single letters can mean different things by their case, as alleles do,
// unless they are answers.
func (t *Table) fold(profiles []*profile) {
	var all []string
	for _, p := range profiles {
		if ways := p.spellings(); ways != "" {
			t.Spec.IgnoreCase.Columns = append(t.Spec.IgnoreCase.Columns, cells.Name(t.Naming(p.place)))
			all = append(all, ways)
			p.spelt, p.levels = p.levels, p.folded()
		}
	}
	t.Spellings = strings.Join(all, "; ")
}

// folded counts the values that differ in letter case alone as the most frequent of them.
func (p *profile) folded() map[string]int {
	out, as := map[string]int{}, data.Spellings(p.levels)
	for level, n := range p.levels {
		out[as[level]] += n
	}
	return out
}

// spellings lists the ways in which a category is spelt; empty if it is one, or if there are no
// categories.
func (p *profile) spellings() string {
	if p.texts == 0 || p.amounts[p.notation].n == p.texts || p.lasting.n == p.texts || p.dated() != nil {
		return ""
	}
	folded := p.folded()
	if len(folded) == len(p.levels) || len(folded) > mostCategories || p.there < 2*len(folded) {
		return ""
	}
	all, letters := map[string][]string{}, []string(nil)
	for _, level := range slices.Sorted(maps.Keys(p.levels)) {
		lower := strings.ToLower(level)
		all[lower] = append(all[lower], level)
	}
	for _, lower := range slices.Sorted(maps.Keys(all)) {
		if !isToken(lower) {
			letters = append(letters, lower)
		}
	}
	told := ""
	for _, lower := range slices.Sorted(maps.Keys(all)) {
		switch ways := all[lower]; {
		case len(ways) == 1:
		case len(lower) == 1 && !answered(letters):
			return ""
		case told == "":
			told = p.name + ": " + strings.Join(ways, ", ")
		}
	}
	return told
}
