package data

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Amount is a number as tables write it: with a unit behind it, or a limit of detection.
type Amount struct {
	Value float64
	Unit  string // what stands behind the number, without blanks; empty: nothing
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

// endOfNumber is where the number ends with which a text begins: at the first letter, but for an
// exponent and what stands before the first digit.
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

// units have, for each kind, how many of the smallest one each is; | separates its names in lower
// case.
var units = []map[string]float64{
	{"µm|μm|um|micron|microns": 1, "mm|millimeter|millimetre": 1e3, "cm|centimeter|centimetre|zentimeter": 1e4,
		"dm": 1e5, "m|meter|meters|metre|metres|mètre|mètres|metro|metros": 1e6,
		"km|kilometer|kilometers|kilometre|kilometres": 1e9, "in|inch|inches|zoll": 25400, "ft|feet|foot": 304800,
		"yd|yard|yards": 914400, "mi|mile|miles|meile|meilen": 1609344e3},
	{"µg|μg|ug|mcg": 1, "mg": 1e3, "g|gr|gram|grams|gramm": 1e6, "kg|kgs|kilo|kilos|kilogram|kilograms": 1e9,
		"t|ton|tons|tonne|tonnes|tonnen": 1e12, "oz|ounce|ounces": 28349523.125, "lb|lbs|pound|pounds": 453592370},
	{"µl|μl|ul": 1, "ml|milliliter|millilitre": 1e3, "cl": 1e4, "dl": 1e5, "l|liter|liters|litre|litres": 1e6},
	{"b|byte|bytes": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
		"tib": 1 << 40},
}

// sizes are the units by their names: the kind, and how many of the smallest one each is.
var sizes = func() map[string]size {
	all := map[string]size{}
	for kind, of := range units {
		for names, times := range of {
			for _, name := range strings.Split(names, "|") {
				all[name] = size{kind, times}
			}
		}
	}
	return all
}()

type size struct {
	kind  int
	times float64
}

// WellKnown reports whether a unit can be converted to others.
func WellKnown(unit string) bool {
	_, is := sizes[strings.ToLower(unit)]
	return is
}

// Convert returns how many of the unit to one of the unit from is. Units that are spelt alike are
// the same, whatever the case of letters, but for m and M, milli and mega; others must be lengths,
// weights, volumes or sizes of files.
func Convert(from, to string) (times float64, ok bool) {
	mega := from != to && len(from) == len(to) && from != "" && from[1:] == to[1:] && from[0]|0x20 == 'm'
	a, known := sizes[strings.ToLower(from)]
	b, also := sizes[strings.ToLower(to)]
	switch {
	case strings.EqualFold(from, to) && (!mega || known):
		return 1, true
	case known && also && a.kind == b.kind:
		return a.times / b.times, true
	}
	return 0, false
}

// measured are numbers with a unit, or with limits of detection.
type measured struct {
	unit    string
	limits  bool
	decimal string // the notation of numbers
}

func (m measured) number(text string) (v float64, mark string, ok bool) {
	a, ok := ParseAmount(text, m.decimal)
	if !ok || a.Limit != "" && !m.limits || a.Sign != "" && m.unit != "" {
		return 0, "", false
	}
	if a.Unit == "" {
		return a.Value, a.Limit, true
	}
	times, ok := Convert(a.Unit, m.unit)
	return a.Value * times, a.Limit, ok && m.unit != ""
}

func (m measured) lacks(text string) (wrong, remedy string) {
	switch a, ok := ParseAmount(text, m.decimal); {
	case !ok:
		return strings.TrimPrefix(notNumber(text, m.decimal), fmt.Sprintf("%q ", text)),
			"or add the text to missing_values"
	case a.Limit != "" && !m.limits:
		return "is a limit", "or set limits: true"
	case a.Sign != "":
		return fmt.Sprintf("is in %s, not %s", a.Sign, m.unit), "or add the text to missing_values"
	case m.unit == "":
		return "has the unit " + a.Unit, fmt.Sprintf("or set unit: %s", a.Unit)
	default:
		return fmt.Sprintf("has the unit %s, not %s", a.Unit, m.unit), "or add the text to missing_values"
	}
}

func (m measured) others() string {
	if m.unit == "" {
		return "are no numbers"
	}
	return "are no numbers in " + m.unit
}
