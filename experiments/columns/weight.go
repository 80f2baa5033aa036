package columns

import "regexp"

var weightName = regexp.MustCompile(`(?i)^(fnlwgt|pweight|fweight|weights|w|wt|` +
	`(sample|case|survey|freq|frequency|sampling|observation|obs|population|design)[_ .-]?(weight|wt|wgt)s?)$`)

// weight says how much a case counts, which is no input; no method here weights cases.
var weight = Kind{Name: "weight", Use: Left, is: func(p *profile) (string, bool) {
	return "weights of cases, by its name: no input, and all cases count alike here",
		p.isNumber() && p.tally().min >= 0 && weightName.MatchString(p.name)
}}
