package columns

import "regexp"

var weightName = regexp.MustCompile(`(?i)^(fnlwgt|pweight|fweight|weights|w|wt|` +
	`(sample|case|survey|freq|frequency|sampling|observation|obs|population|design)[_ .-]?(weight|wt|wgt)s?)$`)

// weight says how much a case counts, which is no input.
var weight = Kind{Name: "weight", Use: Left, is: func(p *profile) (string, bool) {
	return "weights of cases, by its name: no input; if each case counts as that many, name it under weights " +
			"instead",
		p.isNumber() && p.tally().min >= 0 && weightName.MatchString(p.name)
}}
