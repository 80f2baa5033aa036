package columns

import "fmt"

// text is anything else: sentences, and names that are too many for categories.
var text = Kind{Name: "text", Use: Left, is: func(p *profile) (string, bool) {
	unit, others, _ := p.measured()
	switch n := len(p.levels); {
	case unit != "" && others == nil && p.tally().n > 0:
		return fmt.Sprintf("%d numbers without a unit, and %d in %s; columns: {%s: {unit: %[3]s}} takes all to be in "+
			"%[3]s", p.tally().n, p.texts, unit, p.name), true
	case p.tally().n > 0 && p.texts > 0:
		return fmt.Sprintf("%d numbers and %d texts; missing_values: [TEXT, …] makes numbers of it if those stand for "+
			"missing ones", p.tally().n, p.texts), true
	case p.unique():
		return "texts that never repeat", true
	case n == 0:
		return fmt.Sprintf("more than %d different texts, too many for categories", p.most), true
	default:
		return fmt.Sprintf("%d different texts, too many for categories", n), true
	}
}}
