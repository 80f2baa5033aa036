package columns

import "github.com/gpc-tune/gpc-tune/experiments/data"

// mostClasses is the most values of a column that is taken for the label without being named.
const mostClasses = 20

// classes says whether the values could be classes: few ones, that are texts or whole numbers.
func (p *profile) classes() bool {
	n := len(p.levels)
	if n < 2 || n > mostClasses || p.there < 2*n || p.dated() != nil {
		return false
	}
	return !p.isNumber() || p.isWhole() && (n <= 10 || p.there >= 20*n)
}

// label says whether the values could be classes of a column that is the label by its name or
// place: those of classes, or more texts that repeat often.
func (p *profile) label() bool {
	n := len(p.levels)
	return p.classes() || n > mostClasses && n <= data.MaxClasses && p.there >= 5*n && p.dated() == nil && !p.isNumber()
}

// filled reports whether nearly all values are there, as a label has them.
func (p *profile) filled() bool { return 10*p.missing <= p.there }

// quantity reports whether the values are numbers, and not the numbers of the rows.
func (p *profile) quantity() bool {
	_, counts := rowNumber.is(p)
	_, identifies := identifier.is(p)
	return p.isNumber() && len(p.levels) != 1 && !counts && !identifies
}
