package columns

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/internal/pattern"
)

// number holds numbers.
var number = Kind{Name: "number", Use: Input, is: func(p *profile) (string, bool) {
	if !p.isNumber() || len(p.currencies) > 1 {
		return "", false
	}
	t := p.tally()
	what := "numbers"
	if p.isWhole() {
		what = "whole numbers"
	}
	if p.levels != nil && len(p.levels) <= 2 {
		what = "two numbers"
	}
	found := fmt.Sprintf("%s, %.6g to %.6g, mean %.6g", what, t.min, t.max, t.mean)
	if p.percent > 0 && p.bare > 0 {
		found += fmt.Sprintf("; %d with a percent sign are divided by 100, and others, without one, are not; "+
			"write all alike", p.percent)
	}
	if s := p.standIn(); s.n > 0 && p.missingWords[s.text()] > 0 {
		found += fmt.Sprintf("; %s (%d times) is taken for a missing value", s.text(), s.n)
	} else if s.n > 0 {
		found += fmt.Sprintf("; if %s (%d times) stands for a missing value, add it to missing_values", s.text(), s.n)
	}
	if p.countsDays() {
		found += fmt.Sprintf("; they look like dates that a spreadsheet has as numbers of days, %.6g for %s: write "+
			"dates, or drop the column", t.min,
			time.Date(1899, 12, 30+int(t.min), 0, 0, 0, 0, time.UTC).Format(time.DateOnly))
	}
	if n := len(p.levels); n > 2 && p.isWhole() {
		days := 0
		for text := range p.levels {
			if _, _, ok := cells.ParseDate(text, cells.YMD); ok && t.min >= 19000101 && t.max <= 21001231 {
				days++
			}
		}
		if days == n {
			found += fmt.Sprintf("; if they are dates, as 20241231 is, write columns: {%s: {date: {form: ymd, parts: "+
				"[year, month, weekday]}}}", p.name)
		}
	}
	return found, true
}}

// dayWords are words in the names of columns of dates.
var dayWords = set(`date dates day days dob birth born admitted admission discharged discharge visit visited start
	started end ended enrolled enrolment registered registration created opened closed joined hired
	released signup ordered shipped delivered expires expiry died death datum tag aufnahme entlassung
	geburt geburtsdatum besuch beginn ende eintritt austritt fecha jour`)

// Numbers of days of spreadsheets, for dates of 1954 to 2064, and the longest time between two of
// them: 20 years.
const firstDay, lastDay, mostDays = 20000, 60000, 7305

// countsDays reports whether the values look like the numbers of days that spreadsheets have for
// dates: whole numbers of a few years, in a column with the name of a date.
func (p *profile) countsDays() bool {
	if !p.isNumber() || !p.isWhole() {
		return false
	}
	t, named := p.tally(), slices.ContainsFunc(words(p.name), func(w string) bool { return dayWords[w] })
	return named && t.min >= firstDay && t.max <= lastDay && t.max-t.min <= mostDays
}

var weightName = pattern.Of(`(?i)^(fnlwgt|pweight|fweight|weights|w|wt|` +
	`(sample|case|survey|freq|frequency|sampling|observation|obs|population|design)[_ .-]?(weight|wt|wgt)s?)$`)

// weight is a column of weights of cases, which are no input.
var weight = Kind{Name: "weight", Use: Left, is: func(p *profile) (string, bool) {
	return "weights of cases, by its name: no input; if each case counts as that many, name it under weights " +
			"instead",
		p.isNumber() && p.tally().min >= 0 && weightName().MatchString(p.name)
}}

// mostSizes is the largest number of different texts of an unknown unit that are categories.
const mostSizes = 10

// measure holds numbers with a unit behind them, or with limits of detection.
var measure = Kind{Name: "measure", Use: Input, is: func(p *profile) (string, bool) {
	unit, others, ok := p.unitOfNumbers()
	if !ok || others != nil {
		return "", false
	}
	t := &p.amounts[p.notation]
	found := fmt.Sprintf("numbers, %.6g to %.6g", t.min, t.max)
	if n := p.tally(); n.n > 0 {
		found = fmt.Sprintf("numbers, %.6g to %.6g", min(t.min, n.min), max(t.max, n.max))
	}
	if unit != "" {
		var converted []string
		for other := range p.units {
			if times, _ := cells.Convert(other, unit); other != "" && times != 1 {
				converted = append(converted, other)
			}
		}
		if converted != nil { // the range mixes several units
			found += " as they are written, in"
		}
		found += " " + unit
		if bare := p.tally().n; bare > 0 {
			found += fmt.Sprintf("; %d without a unit, taken to be in %s", bare, unit)
		}
		if slices.Sort(converted); converted != nil {
			found += fmt.Sprintf("; %s converted", strings.Join(converted, ", "))
		}
	}
	for _, side := range []struct{ limit, what string }{{"<", "below"}, {">", "above"}} {
		if n := p.limits[side.limit]; n > 0 {
			found += fmt.Sprintf("; %d %s a limit of detection", n, side.what)
		}
	}
	return found, true
}}

// mixture holds numbers in several currencies, or in units that cannot be converted.
var mixture = Kind{Name: "numbers in several units", Use: Left, is: func(p *profile) (string, bool) {
	if p.isNumber() && len(p.currencies) > 1 {
		return "in " + strings.Join(slices.Sorted(maps.Keys(p.currencies)), ", ") + "; write all in one currency", true
	}
	unit, others, ok := p.unitOfNumbers()
	if readings := cells.Readings(append(others, unit)); ok && others != nil && readings != "" {
		return readings + "; write all in one unit", true
	}
	_, few := category.is(p)
	signed := p.percent > 0 || len(p.currencies) > 0
	if !ok || others == nil || !signed && (few || !slices.ContainsFunc(append(others, unit), cells.WellKnown)) {
		return "", false
	}
	return fmt.Sprintf("in %s and %s; write all in one unit", unit, strings.Join(others, ", ")), true
}}

// unitOfNumbers returns the unit of the numbers, and the other units that cannot be converted to
// it. The unit is empty if the numbers only have limits. ok is false if the texts are no such
// numbers.
func (p *profile) unitOfNumbers() (unit string, others []string, ok bool) {
	t := &p.amounts[p.notation]
	known := map[string]int{}
	for u, n := range p.units {
		if u != "" {
			known[u] = n
		}
	}
	limits := p.limits["<"] + p.limits[">"]
	if t.n == 0 || t.n != p.texts || p.texts+p.tally().n+p.nMissingWords() != p.present || len(p.units) > mostTold ||
		p.dated() != nil || idName().MatchString(p.name) {
		return "", nil, false
	}
	if len(known) == 0 {
		return "", nil, p.tally().n > 0 && (p.levels == nil || len(p.levels) > mostSizes || p.order() == nil)
	}
	all := slices.SortedFunc(maps.Keys(known), func(a, b string) int {
		return cmp.Or(cmp.Compare(known[b], known[a]), cmp.Compare(a, b))
	})
	unit, total := all[0], 0
	for _, other := range all {
		total += known[other]
		if _, same := cells.Convert(other, unit); !same {
			others = append(others, other)
		}
	}
	others = append(others, slices.Sorted(maps.Keys(p.currencies))...)
	if p.percent > 0 {
		others = append(others, "%")
	}
	few := p.levels != nil && len(p.levels) <= mostSizes && !cells.WellKnown(unit) &&
		(others == nil || cells.Readings(append(others, unit)) == "")
	return unit, others, !few && 2*total >= t.n+p.tally().n-limits
}

// lastName matches names of durations; in a column without such a name, 1:30:00 is a time of the
// day.
var lastName = pattern.Of(`(?i)duration|dauer|durée|duree|duraci|elapsed|laufzeit|runtime|run_time|uptime|` +
	`downtime|tenure|(^|[_ .-])(wait|waited|waiting|lap|pace|split|age|stay|time_(spent|taken|to|in|on))([_ .-]|$)`)

// duration holds lengths of time: 2h 15m, 3 days, P3DT4H, and 1:30:00 where the name says so or a
// clock goes beyond a day.
var duration = Kind{Name: "duration", Use: Input, is: func(p *profile) (string, bool) {
	l := &p.durations
	numbers := p.tally()
	none := numbers.n == 0 || numbers.min == 0 && numbers.max == 0
	if l.n == 0 || !none || (p.texts-l.n)*leastNumbers > p.present ||
		p.texts+numbers.n+p.nMissingWords() != p.present ||
		!l.named && !l.overADay && !(l.clocks[2]+l.clocks[3] == l.n && lastName().MatchString(p.name)) {
		return "", false
	}
	for text := range l.odd { // a unit that is one of time in small letters is another unit
		if _, _, ok := cells.ParseDuration(strings.ToLower(text), "", "minutes"); ok {
			return "", false
		}
	}
	unit := l.unit()
	of := unit.Seconds()
	if l.clocks[2] == l.n { // the sum took them as minutes and seconds
		of /= 60
	}
	found := fmt.Sprintf("durations, %.4g to %.4g %s", l.min/of, l.max/of, unit)
	if l.clocks[2] > 0 {
		first, second := "hours", "minutes"
		if !longUnit(unit) {
			first, second = second, "seconds"
		}
		found += fmt.Sprintf("; 1:30 is read as %s and %s", first, second)
		if l.clocks[3] == 0 {
			found += ", a guess"
		}
	}
	return found, true
}}
