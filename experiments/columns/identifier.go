package columns

// Texts that never repeat are sentences if they have more than longest bytes on average, or more
// than shortest and, most of them, blanks.
const shortest, longest = 20, 60

// identifier tells every case from all others.
var identifier = Kind{Name: "identifier", Use: ID, is: func(p *profile) (string, bool) {
	switch {
	case !p.unique() || p.there < 3:
		return "", false
	case p.isNumber():
		return "whole numbers that never repeat, named like an identifier",
			p.isWhole() && idName.MatchString(p.name)
	case p.dated() != nil || p.tally().n > 0 || p.there < leastRows/2 && !idName.MatchString(p.name):
		return "", false
	}
	sentences := p.bytes > longest*p.there || p.bytes > shortest*p.there && 2*p.blanks > p.there
	return "texts that never repeat", !sentences
}}
