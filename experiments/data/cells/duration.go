package cells

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/pattern"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// TimeUnit is the unit of time of an input that is a duration.
type TimeUnit string

// spans lists the units with their seconds.
var spans = []struct {
	name    TimeUnit
	seconds float64
}{{"seconds", 1}, {"minutes", 60}, {"hours", 3600}, {"days", secondsOfDay}}

// Names are the possible values.
func (TimeUnit) Names() (names []string) {
	for _, s := range spans {
		names = append(names, string(s.name))
	}
	return names
}

// UnmarshalText reads one of them.
func (s *TimeUnit) UnmarshalText(text []byte) error {
	*s = TimeUnit(text)
	return s.Mistake()
}

// Mistake returns the reason why the text is no unit, or nil.
func (s TimeUnit) Mistake() error {
	return registry.Known("duration", string(s), s.Names())
}

// Seconds returns the number of seconds in one unit.
func (s TimeUnit) Seconds() float64 { return spans[slices.Index(s.Names(), string(s))].seconds }

// DurationStyle describes how a duration is written.
type DurationStyle struct {
	// Fields is the number of fields of a clock, as 3 of 1:30:00; 0: it has none.
	Fields int
	Named  bool // a unit has more than one letter, or is as in ISO 8601
}

// DaysOfYear is the mean number of days of a year.
const DaysOfYear = 365.25

// spanOf has the seconds of units of time by their names in several languages, in lower case.
var spanOf = func() map[string]float64 {
	all := map[string]float64{}
	for _, of := range []struct {
		names   string
		seconds float64
	}{
		{"µs us microsecond microseconds", 1e-6},
		{"ms msec millisecond milliseconds", 1e-3},
		{"s sec secs second seconds sek sekunde sekunden seconde secondes segundo segundos", 1},
		{"m min mins minute minutes minuten minuto minutos", 60},
		{"h hr hrs hour hours std stunde stunden heure heures hora horas", 3600},
		{"d day days tag tage tagen jour jours día días dia dias", secondsOfDay},
		{"w wk wks week weeks woche wochen semaine semaines semana semanas", 7 * secondsOfDay},
		{"mo mon mons month months monat monate monaten mois mes meses", DaysOfYear / 12 * secondsOfDay},
		{"y yr yrs year years jahr jahre jahren an ans année années año años", DaysOfYear * secondsOfDay},
	} {
		for _, name := range strings.Fields(of.names) {
			all[name] = of.seconds
		}
	}
	return all
}()

var (
	lastingClock = pattern.Of(`^(\d{1,6}):(\d{2})(?::(\d{2}(?:[.,]\d{1,9})?))?$`)
	standard     = pattern.Of(`^p(?:[\d.,]+[ymwd])*(?:t(?:[\d.,]+[hms])+)?$`)
	lastingPart  = pattern.Of(`^(?i:,|;|and|und|et|y|e)? *(\d[\d.,]*) *([\pLµ]*)\.? *`)
)

// ParseDuration reads a duration in seconds, such as 1:30:00, 2h 15m, 3 days and P3DT4H (ISO 8601),
// or days and a clock: 3 days, 4:05:06. Decimals follow a point or, in the notation comma, a comma.
// The first of two fields of a clock is hours if unit is hours or days, and else minutes. A number
// alone is in the unit. A year has 365.25 days, and a month is a twelfth of that.
func ParseDuration(text, decimal string, unit TimeUnit) (seconds float64, as DurationStyle, ok bool) {
	const longest = 60
	if len(text) > longest {
		return 0, as, false
	}
	if v, number := ParseNumber(text, decimal); number {
		if strings.HasSuffix(text, "%") || Currency(text) != "" {
			return 0, as, false
		}
		return finite(v*unit.Seconds(), as)
	}
	rest, minus := strings.CutPrefix(strings.TrimSpace(text), "-")
	if lower := strings.ToLower(rest); standard().MatchString(lower) && len(lower) > 2 {
		seconds, ok = isoSeconds(lower[1:], decimal)
		as.Named = true
	} else {
		seconds, as, ok = spelledSeconds(rest, decimal, unit)
	}
	if minus {
		seconds = -seconds
	}
	if !ok {
		return 0, as, false
	}
	return finite(seconds, as)
}

func finite(seconds float64, as DurationStyle) (float64, DurationStyle, bool) {
	return seconds, as, math.Abs(seconds) <= MaxMagnitude
}

// isoSeconds reads the text after P in a duration of ISO 8601. Each unit must be shorter than the
// previous one.
func isoSeconds(text, decimal string) (seconds float64, ok bool) {
	days, clock, _ := strings.Cut(text, "t")
	for k, part := range []string{days, clock} {
		last := math.Inf(1)
		for part != "" {
			at := strings.IndexAny(part, "ymwdhs")
			v, is := ParseNumber(strings.Replace(part[:at], ",", ".", 1), "")
			unit := spanOf[part[at:at+1]]
			if part[at] == 'm' && k == 0 {
				unit = spanOf["month"]
			}
			if !is || unit >= last {
				return 0, false
			}
			seconds, last, part = seconds+v*unit, unit, part[at+1:]
		}
	}
	return seconds, true
}

// spelledSeconds reads numbers with units of time, each unit shorter than the previous one. A
// clock, or a number of the next shorter unit, may follow.
func spelledSeconds(rest, decimal string, unit TimeUnit) (seconds float64, as DurationStyle, ok bool) {
	last := math.Inf(1)
	for rest != "" {
		clock := strings.TrimLeft(rest, ", ")
		if m := lastingClock().FindStringSubmatch(clock); m != nil && last > spanOf["h"] {
			v, fields, ok := clockSeconds(m, unit)
			as.Fields = fields
			return seconds + v, as, ok
		}
		m := lastingPart().FindStringSubmatch(rest)
		if m == nil {
			return 0, as, false
		}
		v, is := ParseNumber(m[1], decimal)
		of, known := timeUnit(m[2], last < math.Inf(1))
		if m[2] == "" && len(m[0]) == len(rest) && len(m[1]) == 2 { // as in 2h15
			of, known = last/60, last == 60 || last == 3600
		}
		if !is || !known || of >= last {
			return 0, as, false
		}
		as.Named = as.Named || len(m[2]) > 1
		seconds, last, rest = seconds+v*of, of, rest[len(m[0]):]
	}
	return seconds, as, last < math.Inf(1)
}

// timeUnit returns the seconds of a unit of time in any letter case. At the beginning M is no unit,
// because it may mean months or minutes. MS and mS are no units either, because they are no
// milliseconds.
func timeUnit(unit string, further bool) (seconds float64, known bool) {
	lower := strings.ToLower(unit)
	if lower != unit && (lower == "m" && !further || lower == "ms" || lower == "us" || lower == "µs") {
		return 0, false
	}
	seconds, known = spanOf[lower]
	return seconds, known
}

// clockSeconds returns the seconds of a clock with two or three fields.
func clockSeconds(m []string, unit TimeUnit) (seconds float64, fields int, ok bool) {
	first, _ := strconv.ParseFloat(m[1], 64) // the expression has digits alone
	second, _ := strconv.ParseFloat(m[2], 64)
	if m[3] == "" {
		if unit == "hours" || unit == "days" {
			return 3600*first + 60*second, 2, second < 60
		}
		return 60*first + second, 2, second < 60
	}
	third, _ := strconv.ParseFloat(strings.Replace(m[3], ",", ".", 1), 64)
	return 3600*first + 60*second + third, 3, second < 60 && third < 60
}

// Durations reads durations as numbers in a unit.
type Durations struct {
	Unit    TimeUnit // unit of the numbers; a number alone is in it
	Decimal string   // the notation of numbers
}

// Number is the duration in the unit.
func (l Durations) Number(text string) (v float64, mark string, ok bool) {
	v, _, ok = ParseDuration(text, l.Decimal, l.Unit)
	return v / l.Unit.Seconds(), "", ok
}

// Explain returns the fault of a text without a duration, and a remedy in the data section.
func (l Durations) Explain(string) (wrong, remedy string) {
	return "is no duration", "or add the text to missing_values"
}

// ExplainSeveral returns the fault of several texts.
func (l Durations) ExplainSeveral() string { return "are no durations" }
