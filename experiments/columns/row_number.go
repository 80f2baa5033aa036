package columns

import "fmt"

// rowNumber counts the rows.
var rowNumber = Kind{Name: "row number", Use: ID, is: func(p *profile) (string, bool) {
	t := p.tally()
	counts := p.isWhole() && p.missing == 0 && p.tokened() == 0 && p.unique() && (t.min == 0 || t.min == 1) &&
		t.max-t.min == float64(p.there-1)
	if !counts || p.there < leastRows && !idName.MatchString(p.name) {
		return "", false
	}
	return fmt.Sprintf("the numbers %g to %g, each once", t.min, t.max), true
}}
