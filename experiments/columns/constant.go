package columns

import "fmt"

// constant has one value.
var constant = Kind{Name: "constant", Use: Left, is: func(p *profile) (string, bool) {
	if len(p.levels) != 1 {
		return "", false
	}
	for value := range p.levels {
		if p.missing > 0 {
			return fmt.Sprintf("one value, %s, or none", short(value)), true
		}
		return fmt.Sprintf("one value, %s", short(value)), true
	}
	return "", false
}}
