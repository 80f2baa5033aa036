package columns

import (
	"maps"
	"slices"
	"strings"
)

// fold finds categories that are spelt in several ways, as yes, Yes and YES, and then takes all
// texts in lower case. Single letters can mean different things by their case, as alleles do,
// unless they are answers.
func (t *Table) fold(profiles []*profile) {
	for _, p := range profiles {
		if t.Spellings = p.spellings(); t.Spellings != "" {
			t.Spec.IgnoreCase = true
			break
		}
	}
	if !t.Spec.IgnoreCase {
		return
	}
	for _, p := range profiles {
		if p.levels != nil && p.texts > 0 {
			p.levels = p.folded()
		}
	}
}

// folded is how often each value occurs in lower case.
func (p *profile) folded() map[string]int {
	out := map[string]int{}
	for level, n := range p.levels {
		out[strings.ToLower(level)] += n
	}
	return out
}

// spellings lists the ways in which a category is spelt; empty if it is one, or if there are no
// categories.
func (p *profile) spellings() string {
	if p.texts == 0 {
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
