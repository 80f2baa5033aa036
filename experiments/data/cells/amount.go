package cells

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Amount is a number of a table with a unit behind it, or a limit of detection.
type Amount struct {
	Value float64
	Unit  string // text behind the number, without blanks; may be empty
	Limit string // "<" or ">": the value is below or above the number; empty: it is the number
	Sign  string // a percent sign, or the currency, of a number without a unit
}

// maxUnit is the number of bytes that a unit may have.
const maxUnit = 20

// limitSigns begin a limit of detection, the longer ones first.
var limitSigns = []struct{ text, limit string }{{"<=", "<"}, {"=<", "<"}, {"<", "<"}, {"≤", "<"}, {">=", ">"},
	{"=>", ">"}, {">", ">"}, {"≥", ">"}}

// ParseAmount reads a number in a notation (see ParseNumber), with a unit behind it or not, and a
// sign of a limit before it or not: 70.1 kg, 172cm, <0.5, ≥ 100 mg/dl. A unit begins with a letter
// or one of °, µ and %.
func ParseAmount(text, decimal string) (a Amount, ok bool) {
	if text = strings.TrimSpace(text); len(text) > maxNumber {
		return a, false
	}
	for _, s := range limitSigns {
		if rest, is := strings.CutPrefix(text, s.text); is {
			text, a.Limit = strings.TrimSpace(rest), s.limit
			break
		}
	}
	if a.Value, ok = ParseNumber(text, decimal); ok {
		if a.Sign = Currency(text); strings.HasSuffix(text, "%") {
			a.Sign = "%"
		}
		return a, true
	}
	at := endOfNumber(text)
	unit := strings.Join(strings.Fields(text[at:]), "")
	first, _ := utf8.DecodeRuneInString(unit)
	begins := unicode.IsLetter(first) || strings.ContainsRune("°µ%", first)
	if at == 0 || len(unit) > maxUnit || unit == "%" || !begins {
		return a, false
	}
	a.Unit = unit
	a.Value, ok = ParseNumber(strings.TrimSpace(text[:at]), decimal)
	return a, ok
}

// endOfNumber returns the index after the leading number of a text. The number ends at the first
// letter, ° or % after a digit, unless it is the e of an exponent.
func endOfNumber(text string) int {
	started := false
	for i, r := range text {
		switch {
		case r >= '0' && r <= '9':
			started = true
		case !started || !unicode.IsLetter(r) && !strings.ContainsRune("°%", r):
		case (r == 'e' || r == 'E') && isDigit(strings.TrimLeft(text[i+1:min(len(text), i+3)], "+-")):
		default:
			return i
		}
	}
	return len(text)
}

// isDigit reports whether a text begins with a digit.
func isDigit(text string) bool { return text != "" && text[0] >= '0' && text[0] <= '9' }

// Quantity reads numbers with a unit, or with limits of detection.
type Quantity struct {
	Unit    string // numbers are converted to this unit; empty: they have none
	Limits  bool   // the sign < or > may precede a number
	Decimal string // the notation of numbers
}

// Number returns the value in the unit of the quantity, and the sign of its limit of detection.
func (m Quantity) Number(text string) (v float64, mark string, ok bool) {
	a, ok := ParseAmount(text, m.Decimal)
	if !ok || a.Limit != "" && !m.Limits || a.Sign != "" && m.Unit != "" {
		return 0, "", false
	}
	if a.Unit == "" {
		return a.Value, a.Limit, true
	}
	times, ok := Convert(a.Unit, m.Unit)
	return a.Value * times, a.Limit, ok && m.Unit != ""
}

// Explain returns the fault of a text without a number, and a remedy in the data section.
func (m Quantity) Explain(text string) (wrong, remedy string) {
	switch a, ok := ParseAmount(text, m.Decimal); {
	case !ok:
		return strings.TrimPrefix(WhyNoNumber(text, m.Decimal), fmt.Sprintf("%q ", text)),
			"or add the text to missing_values"
	case a.Limit != "" && !m.Limits:
		return "is a limit", "or set limits: true"
	case a.Sign != "":
		return fmt.Sprintf("is in %s, not %s", a.Sign, m.Unit), "or add the text to missing_values"
	case m.Unit == "":
		return "has the unit " + a.Unit, fmt.Sprintf("or set unit: %s", a.Unit)
	case strings.EqualFold(a.Unit, m.Unit):
		return "has another unit by its letter case: " + Readings([]string{a.Unit, m.Unit}),
			"or leave the column out (drop)"
	default:
		return fmt.Sprintf("has the unit %s, not %s", a.Unit, m.Unit), "or add the text to missing_values"
	}
}

// ExplainSeveral returns the fault of several texts.
func (m Quantity) ExplainSeveral() string {
	if m.Unit == "" {
		return "are no numbers"
	}
	return "are no numbers in " + m.Unit
}
