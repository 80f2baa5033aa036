package columns

import (
	"fmt"
	"regexp"
	"unicode"
)

// groupName are names of columns that say whom or what several rows are of.
var groupName = regexp.MustCompile(`(?i)^(patients?|subjects?|subj|participants?|persons?|households?|famil(y|ies)|` +
	`customers?|clients?|users?|animals?|sessions?|individuals?|respondents?|pupils?|students?|probands?|volunteers?|` +
	`donors?|strat(um|a)|litters?|cages?|nests?|herds?|twins?|dyads?|couples?|villages?|speakers?|accounts?|devices?|` +
	`probanden?|teilnehmer|haushalte?|kunden?|sch(ü|ue)ler|sujets?|foyers?|m(é|e)nages?|pacientes?|sujetos?|` +
	`hogar(es)?|clientes?|pazient[ei]|soggett[oi]|famigli[ae]|sujeitos?|dom(i|í)c(i|í)lios?|pati(ë|e)nt(en)?|` +
	`huishoudens?|klant(en)?|pacjen(t|ci)|klien(t|ci)|gospodarstw[oa]|patienter|hush(å|a)ll|kunder)` +
	`([_ .-]?(id|ids|nr|no|number|code|key|num))?$`)

// Groups have at least leastGroups values, and no more than mostOfGroup rows each on average.
const leastGroups, leastNamedGroups, mostOfGroup = 10, 5, 50

// group says whom or what several cases come from. Its name tells, or its values do: there are many
// of them, and each has several rows.
var group = Kind{Name: "group", Use: Group, is: func(p *profile) (string, bool) {
	n := len(p.levels)
	named := groupName.MatchString(p.name) || idName.MatchString(p.name) && !countName.MatchString(p.name)
	switch {
	case p.missing > 0 || p.dated() != nil || p.isNumber() && !p.isWhole():
		return "", false
	case named && p.levels == nil && p.repeats:
		return fmt.Sprintf("more than %d different values that repeat: cases of one stay on one side of a split",
			p.most), true
	case n < leastNamedGroups || p.there > mostOfGroup*n:
		return "", false
	case named && p.there >= n+n/5:
	case n < leastGroups || p.isNumber() || p.alone() || codeName.MatchString(p.name) || !p.coded() && !p.together():
		return "", false
	}
	return fmt.Sprintf("%d different values, %.3g cases each: cases of one stay on one side of a split", n,
		float64(p.there)/float64(n)), true
}}

// alone reports whether some value occurs once.
func (p *profile) alone() bool {
	for _, n := range p.levels {
		if n == 1 {
			return true
		}
	}
	return false
}

// together reports whether the rows of each value follow one another.
func (p *profile) together() bool { return p.runs == len(p.levels) }

// coded reports whether all values have letters and digits, as P07 has.
func (p *profile) coded() bool {
	for level := range p.levels {
		digits, letters := 0, 0
		for _, r := range level {
			if unicode.IsDigit(r) {
				digits++
			} else if unicode.IsLetter(r) {
				letters++
			}
		}
		if digits == 0 || letters > 2*digits+2 {
			return false
		}
	}
	return len(p.levels) > 0
}
