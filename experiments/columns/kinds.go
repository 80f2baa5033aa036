package columns

import (
	"fmt"
	"maps"
	"slices"
	"unicode"

	"github.com/gpc-tune/gpc-tune/internal/pattern"
)

// kinds are tried in this order; the last one takes every column.
var kinds = []Kind{empty, constant, weight, rowNumber, duration, measure, mixture, group, identifier, date, code,
	number, answer, ordered, category, text}

// empty has no values.
var empty = Kind{Name: "empty", Use: Left, is: func(p *profile) (string, bool) {
	return "no values", p.present == 0
}}

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

// date is a day or a time. It is an input if parts of it, or the days since another date, are
// informative (see Table.dates).
var date = Kind{Name: "date", Use: Left, is: func(p *profile) (string, bool) { return "", p.dated() != nil }}

// Texts that never repeat are sentences if they have more than longest bytes on average. With more
// than shortest bytes they are sentences if most of them have blanks.
const shortest, longest = 20, 60

// identifier has a different value for every case.
var identifier = Kind{Name: "identifier", Use: ID, is: func(p *profile) (string, bool) {
	switch {
	case !p.unique() || p.present < 3:
		return "", false
	case p.isNumber():
		return "whole numbers that never repeat, named like an identifier",
			p.isWhole() && idName().MatchString(p.name)
	case p.dated() != nil || p.tally().n > 0 || p.present < leastRows/2 && !idName().MatchString(p.name):
		return "", false
	}
	sentences := p.bytes > longest*p.present || p.bytes > shortest*p.present && 2*p.blanks > p.present
	return "texts that never repeat", !sentences
}}

// rowNumber counts the rows.
var rowNumber = Kind{Name: "row number", Use: ID, is: func(p *profile) (string, bool) {
	t := p.tally()
	counts := p.isWhole() && p.missing == 0 && p.nMissingWords() == 0 && p.unique() && (t.min == 0 || t.min == 1) &&
		t.max-t.min == float64(p.present-1)
	if !counts || p.present < leastRows && !idName().MatchString(p.name) {
		return "", false
	}
	return fmt.Sprintf("the numbers %g to %g, each once", t.min, t.max), true
}}

// groupName matches names of columns that identify the person or thing of several rows.
var groupName = pattern.Of(`(?i)^(patients?|subjects?|subj|participants?|persons?|households?|famil(y|ies)|` +
	`customers?|clients?|users?|animals?|sessions?|individuals?|respondents?|pupils?|students?|probands?|volunteers?|` +
	`donors?|strat(um|a)|litters?|cages?|nests?|herds?|twins?|dyads?|couples?|villages?|speakers?|accounts?|devices?|` +
	`probanden?|teilnehmer|haushalte?|kunden?|sch(ü|ue)ler|sujets?|foyers?|m(é|e)nages?|pacientes?|sujetos?|` +
	`hogar(es)?|clientes?|pazient[ei]|soggett[oi]|famigli[ae]|sujeitos?|dom(i|í)c(i|í)lios?|pati(ë|e)nt(en)?|` +
	`huishoudens?|klant(en)?|pacjen(t|ci)|klien(t|ci)|gospodarstw[oa]|patienter|hush(å|a)ll|kunder)` +
	`([_ .-]?(id|ids|nr|no|number|code|key|num))?$`)

// Groups have at least leastGroups values, and no more than mostOfGroup rows each on average.
const leastGroups, leastNamedGroups, mostOfGroup = 10, 5, 50

// group identifies the person or thing from which several cases come. It is recognised by its name,
// or by many values with several rows each.
var group = Kind{Name: "group", Use: Group, is: func(p *profile) (string, bool) {
	n := len(p.levels)
	named := groupName().MatchString(p.name) || idName().MatchString(p.name) && !countName().MatchString(p.name)
	switch {
	case p.missing > 0 || p.dated() != nil || p.isNumber() && !p.isWhole():
		return "", false
	case named && p.levels == nil && p.repeats:
		return fmt.Sprintf("more than %d different values that repeat: cases of one stay on one side of a split",
			p.most), true
	case n < leastNamedGroups || p.present > mostOfGroup*n:
		return "", false
	case named && p.present >= n+n/5:
	case n < leastGroups || p.isNumber() || p.alone() || codeName().MatchString(p.name) || !p.coded() && !p.together():
		return "", false
	}
	found := fmt.Sprintf("%d different values, %.3g cases each: cases of one stay on one side of a split", n,
		float64(p.present)/float64(n))
	if !named {
		found += fmt.Sprintf("; if cases to come have the same values, make it an input: gpc-tune init with --input %s",
			p.name)
	}
	return found, true
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

// coded reports whether all values have letters and digits, such as P07.
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

// oddText is one of the texts that are no numbers.
func (p *profile) oddText() string {
	for _, text := range slices.Sorted(maps.Keys(p.odd)) {
		return short(text)
	}
	return ""
}

// text is the last kind: sentences, and too many names for categories.
var text = Kind{Name: "text", Use: Left, is: func(p *profile) (string, bool) {
	unit, others, _ := p.unitOfNumbers()
	switch n := len(p.levels); {
	case p.texts == 0 && p.onlyIn[point] != "" && p.onlyIn[comma] != "":
		return fmt.Sprintf("numbers with decimal points and with decimal commas, such as %s and %s; write all alike",
			p.onlyIn[point], p.onlyIn[comma]), true
	case unit != "" && others == nil && p.tally().n > 0:
		return fmt.Sprintf("%d numbers without a unit, and %d in %s; columns: {%s: {unit: %[3]s}} takes all to be in "+
			"%[3]s", p.tally().n, p.texts, unit, p.name), true
	case p.tally().n > 0 && p.texts > 0:
		return fmt.Sprintf("%d numbers and %d texts, such as %q; missing_values: [TEXT, …] makes numbers of it if "+
			"those stand for missing ones", p.tally().n, p.texts, p.oddText()), true
	case p.unique():
		return "texts that never repeat", true
	case n == 0:
		return fmt.Sprintf("more than %d different texts, too many for categories", p.most), true
	default:
		return fmt.Sprintf("%d different texts, too many for categories", n), true
	}
}}
