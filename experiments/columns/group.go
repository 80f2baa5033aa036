package columns

import (
	"fmt"
	"regexp"
)

var groupName = regexp.MustCompile(`(?i)^(patient|subject|participant|person|household|family|customer|client|user|` +
	`animal|session|individual|respondent|pupil|student|proband)s?([_ .-]?(id|nr|no|number|code|key))?$`)

// group names what several cases come from, and are alike for.
var group = Kind{Name: "group", Use: Group, is: func(p *profile) (string, bool) {
	n := len(p.levels)
	if p.missing > 0 || n < 10 || p.there < n+n/5 || p.there > 50*n || !groupName.MatchString(p.name) {
		return "", false
	}
	return fmt.Sprintf("%d different values, %.3g cases each: cases of one stay on one side of a split", n,
		float64(p.there)/float64(n)), true
}}
