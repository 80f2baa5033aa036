package cells

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// units have, for each kind, the size of each unit in the smallest one; | separates its names,
// spelt as letters returns them.
var units = []map[string]float64{
	{"µm|μm|um|micron|microns": 1, "mm|millimeter|millimetre": 1e3, "cm|centimeter|centimetre|zentimeter": 1e4,
		"dm": 1e5, "m|meter|meters|metre|metres|mètre|mètres|metro|metros": 1e6,
		"km|kilometer|kilometers|kilometre|kilometres": 1e9, "in|inch|inches|zoll": 25400, "ft|feet|foot": 304800,
		"yd|yard|yards": 914400, "mi|mile|miles|meile|meilen": 1609344e3},
	{"µg|μg|ug|mcg": 1, "mg": 1e3, "g|G|gr|gram|grams|gramm": 1e6, "kg|kgs|kilo|kilos|kilogram|kilograms": 1e9,
		"t|T|ton|tons|tonne|tonnes|tonnen": 1e12, "oz|ounce|ounces": 28349523.125, "lb|lbs|pound|pounds": 453592370},
	{"µl|μl|ul": 1, "ml|milliliter|millilitre": 1e3, "cl": 1e4, "dl": 1e5, "l|liter|liters|litre|litres": 1e6},
	{"B|byte|bytes": 1, "kB": 1e3, "MB": 1e6, "gB": 1e9, "tB": 1e12, "kiB": 1 << 10, "MiB": 1 << 20, "giB": 1 << 30,
		"tiB": 1 << 40},
	// mb may be meant as megabytes. Among kb and gb the ratios are the same.
	{"b|bit|bits": 1, "kb": 1e3, "mb|Mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 1 << 10, "mib|Mib": 1 << 20,
		"gib": 1 << 30, "tib": 1 << 40},
}

// sizes has, for each name of a unit, its kind and its size in the smallest unit of the kind.
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

// prefixes has the prefixes of the SI by their letters. The case of m, p, y and z decides.
var prefixes = map[rune]string{'m': "milli", 'M': "mega", 'p': "pico", 'P': "peta", 'y': "yocto", 'Y': "yotta",
	'z': "zepto", 'Z': "zetta", 'k': "kilo", 'c': "centi", 'd': "deci", 'n': "nano", 'u': "micro", 'µ': "micro",
	'μ': "micro", 'f': "femto", 'h': "hecto", 'g': "giga", 't': "tera"}

// bases has the names of units that can have a prefix, by their letters in lower case, and singles
// has the names of units of one letter. The first name belongs to a small last letter, the second
// one to a capital.
var bases = map[string][2]string{"m": {"metre", "molar"}, "s": {"second", "siemens"}, "t": {"tonne", "tesla"},
	"b": {"bit", "byte"}, "ib": {"bit (binary)", "byte (binary)"}, "g": {"gram", "gram"}, "l": {"litre", "litre"},
	"a": {"ampere", "ampere"}, "v": {"volt", "volt"}, "w": {"watt", "watt"}, "f": {"farad", "farad"},
	"j": {"joule", "joule"}, "n": {"newton", "newton"}, "k": {"kelvin", "kelvin"}, "h": {"henry", "henry"},
	"pa": {"pascal", "pascal"}, "hz": {"hertz", "hertz"}, "mol": {"mole", "mole"}, "bq": {"becquerel", "becquerel"},
	"gy": {"gray", "gray"}, "sv": {"sievert", "sievert"}, "ev": {"electronvolt", "electronvolt"},
	"wh": {"watt-hour", "watt-hour"}, "ah": {"ampere-hour", "ampere-hour"}, "cal": {"calorie", "calorie"},
	"u": {"unit", "unit"}, "iu": {"international unit", "international unit"}, "eq": {"equivalent", "equivalent"},
	"osm": {"osmole", "osmole"}, "ci": {"curie", "curie"}, "bp": {"base pair", "base pair"}, "ω": {"ohm", "ohm"},
	"ohm": {"ohm", "ohm"}, "bit": {"bit", "bit"}, "byte": {"byte", "byte"}, "bar": {"bar", "bar"},
	"db": {"decibel", "decibel"}}

var singles = map[string][2]string{"a": {"year", "ampere"}, "b": bases["b"], "g": {"gram", "gauss"},
	"h": {"hour", "henry"}, "k": {"thousand", "kelvin"}, "m": {"metre or minute", "molar or million"}, "s": bases["s"],
	"t": bases["t"], "w": {"week", "watt"}}

// letters normalises the letter case of a unit that has only letters, if the case distinguishes no
// units: Kg becomes kg, and mS stays, a millisiemens. It also returns the name of the unit, which
// is empty if the unit is unknown.
func letters(unit string) (as, name string) {
	lower := strings.ToLower(unit)
	first, _ := utf8.DecodeRuneInString(unit)
	prefix, base := unicode.ToLower(first), lower[utf8.RuneLen(unicode.ToLower(first)):]
	decides := strings.ContainsRune("mpyz", prefix)
	last, _ := utf8.DecodeLastRuneInString(unit)
	capital := 0
	if unicode.IsUpper(last) {
		capital = 1
	}
	names, is := bases[base]
	switch _, prefixed := prefixes[prefix]; {
	case base == "":
		if names, is := singles[lower]; is {
			return unit, names[capital]
		}
		return lower, bases[lower][0]
	case unit == "Pa":
		return unit, bases["pa"][0]
	case !prefixed || !is || !decides && bases[lower] != [2]string{}:
		return lower, bases[lower][0]
	case !strings.HasSuffix(base, "b") && unit == strings.ToUpper(unit) && !decides: // KM is km
		capital = 0
	}
	if decides {
		prefix = first
	}
	if names[0] != names[1] && capital == 1 {
		base = base[:len(base)-1] + strings.ToUpper(base[len(base)-1:])
	}
	return string(prefix) + base, prefixes[prefix] + names[capital]
}

// spelling returns a unit with normalised letter case, and the unit in words: mg/dL is mg/dl,
// milligram/decilitre.
func spelling(unit string) (as, words string) {
	for unit != "" {
		size := strings.IndexFunc(unit, func(r rune) bool { return !unicode.IsLetter(r) })
		switch {
		case size < 0:
			size = len(unit)
		case size == 0:
			_, size = utf8.DecodeRuneInString(unit)
			as, words, unit = as+unit[:size], words+unit[:size], unit[size:]
			continue
		}
		part, name := letters(unit[:size])
		if name == "" {
			name = part
		}
		as, words, unit = as+part, words+name, unit[size:]
	}
	return as, words
}

// known returns the size of a unit that can be converted to others.
func known(unit string) (size, bool) {
	as, _ := spelling(unit)
	of, is := sizes[as]
	return of, is
}

// WellKnown reports whether a unit can be converted to others.
func WellKnown(unit string) bool {
	_, is := known(unit)
	return is
}

// Convert returns the size of one unit from in units of to. Letter case counts only if it
// distinguishes units, such as mg and Mg, or Mb and MB. Differently spelt units must be lengths,
// weights, volumes, or sizes of files in bits or in bytes.
func Convert(from, to string) (times float64, ok bool) {
	a, convertible := known(from)
	b, also := known(to)
	if convertible && also && a.kind == b.kind {
		return a.times / b.times, true
	}
	from, _ = spelling(from)
	to, _ = spelling(to)
	return 1, from == to
}

// Readings describes the first ambiguity of letter case among the units: two different units that
// differ only in letter case, or a unit that would be convertible in another letter case. It is
// empty if there is no ambiguity.
func Readings(units []string) string {
	named := func(unit string) string {
		_, words := spelling(unit)
		return fmt.Sprintf("%s (%s)", unit, words)
	}
	for i, a := range units {
		for _, b := range units[i+1:] {
			if _, same := Convert(a, b); !same && strings.EqualFold(a, b) {
				return named(a) + " and " + named(b) + " differ in letter case alone"
			}
		}
		for other := range sizes {
			if as, _ := spelling(a); as != other && strings.EqualFold(as, other) && !WellKnown(a) {
				return fmt.Sprintf("%s may be meant as %s", named(a), named(strings.ToLower(a)))
			}
		}
	}
	return ""
}
