package columns

import "fmt"

// text is anything else: sentences, and names that are too many for categories.
var text = Kind{Name: "text", Use: Left, is: func(p *profile) (string, bool) {
	switch n := len(p.levels); {
	case p.tally().n > 0 && p.texts > 0:
		return fmt.Sprintf("%d numbers and %d texts; missing_values: [TEXT, …] makes numbers of it if those stand for "+
			"missing ones", p.tally().n, p.texts), true
	case p.unique():
		return "texts that never repeat", true
	case n == 0:
		return fmt.Sprintf("more than %d different texts, too many for categories", maxLevels), true
	default:
		return fmt.Sprintf("%d different texts, too many for categories", n), true
	}
}}
