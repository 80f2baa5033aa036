package columns

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// mostCategories is how many different texts are believed to be categories.
const mostCategories = 60

// category is one of a few texts.
var category = Kind{Name: "category", Use: Input, is: func(p *profile) (string, bool) {
	n := len(p.levels)
	if n == 0 || n > mostCategories || p.there < 2*n {
		return "", false
	}
	return fmt.Sprintf("%d categories: %s", n, p.some()), true
}}

// some lists the most frequent values with how often each occurs.
func (p *profile) some() string {
	const most = 5
	values := slices.SortedFunc(maps.Keys(p.levels), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.levels[b], p.levels[a]), cells.Natural(a, b))
	})
	var told []string
	for _, v := range values[:min(most, len(values))] {
		told = append(told, fmt.Sprintf("%s (%d)", short(v), p.levels[v]))
	}
	if len(values) > most {
		told = append(told, "…")
	}
	return strings.Join(told, ", ")
}

// short is the beginning of a text.
func short(text string) string {
	const most = 30
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
