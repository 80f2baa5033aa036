package columns

import "fmt"

// mostSizes is how many different texts with a unit are categories, as sizes of packets are.
const mostSizes = 10

// measure holds numbers that all have the same unit behind them. They are left out: a reader of
// numbers that took any unit would take grams for kilograms.
var measure = Kind{Name: "number with a unit", Use: Left, is: func(p *profile) (string, bool) {
	if p.units == 0 || p.units != p.there || p.levels != nil && len(p.levels) <= mostSizes {
		return "", false
	}
	return fmt.Sprintf("numbers with the unit %s; without it (name it in the header) they would be an input", p.unit),
		true
}}
