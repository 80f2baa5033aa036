package columns

// empty has no values.
var empty = Kind{Name: "empty", Use: Left, is: func(p *profile) (string, bool) {
	return "no values", p.there == 0
}}
