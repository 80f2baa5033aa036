package cells

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/pattern"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Date describes how the texts of an input are read as dates or times, and which inputs are made of
// them.
type Date struct {
	Form  Form   `yaml:"form" json:"form"`
	Parts []Part `yaml:"parts" json:"parts,omitempty"`
	// Since is another date; the days from it to this one are an input.
	Since Name `yaml:"since" json:"since,omitempty"`
	// Zone is utc, +01:00 or Europe/Berlin: the clock that all times with a zone are converted to.
	Zone Zone `yaml:"zone" json:"zone,omitempty"`
}

// Form is the order of day, month and year in a date of numbers. Every form accepts all separators,
// names of months, a time behind the date, and dates that begin with a year of four digits.
type Form string

// The forms.
const (
	YMD   Form = "ymd"
	DMY   Form = "dmy"
	MDY   Form = "mdy"
	Clock Form = "time" // of the day, without a date
)

// Names are the possible values.
func (Form) Names() []string { return []string{string(YMD), string(DMY), string(MDY), string(Clock)} }

// UnmarshalText reads one of them.
func (f *Form) UnmarshalText(text []byte) error {
	*f = Form(text)
	return f.check()
}

func (f Form) check() error {
	return registry.Known("form", string(f), f.Names())
}

// Part is the name of a number computed from a date or a time.
type Part string

// datePart computes the number of a Part from a time.
type datePart struct {
	name Part
	// cyclic means that the number is a phase, from 0 to 1, whose ends meet: the inputs are its
	// sine and cosine.
	cyclic bool
	of     func(time.Time) float64
}

// partsOf lists all parts. A time without a date has only the hour.
var partsOf = []datePart{
	{"year", false, func(t time.Time) float64 { return float64(t.Year()) }},
	{"month", true, func(t time.Time) float64 { return float64(t.Month()-1) / 12 }},
	{"day", true, func(t time.Time) float64 {
		last := t.AddDate(0, 1, -t.Day())
		return float64(t.Day()-1) / float64(last.Day())
	}},
	{"weekday", true, func(t time.Time) float64 { return float64((t.Weekday()+6)%7) / 7 }},
	{"hour", true, func(t time.Time) float64 { return t.Sub(midnight(t)).Hours() / 24 }},
	{"days", false, func(t time.Time) float64 { return secondsOf(t) / secondsOfDay }},
}

const secondsOfDay = 24 * 60 * 60

// Names are the possible values.
func (Part) Names() (names []string) {
	for _, p := range partsOf {
		names = append(names, string(p.name))
	}
	return names
}

// UnmarshalText reads one of them.
func (p *Part) UnmarshalText(text []byte) error {
	*p = Part(text)
	return p.check()
}

func (p Part) check() error {
	return registry.Known("part", string(p), p.Names())
}

// Of returns the number of the part at a time; for a cycle its phase, from 0 to 1.
func (p Part) Of(t time.Time) float64 { return p.lookup().of(t) }

// lookup returns the row of partsOf.
func (p Part) lookup() datePart { return partsOf[slices.Index(p.Names(), string(p))] }

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// secondsOf returns the seconds since 1970; timeOf is its inverse.
func secondsOf(t time.Time) float64 { return float64(t.Unix()) + float64(t.Nanosecond())*1e-9 }

func timeOf(seconds float64) time.Time {
	whole := math.Floor(seconds)
	return time.Unix(int64(whole), int64(1e9*(seconds-whole))).UTC()
}

// Mistake returns the first mistake of the date, or nil. CheckSince checks Since.
func (d Date) Mistake() error {
	if d.Form == "" {
		return fmt.Errorf("it has no form; write one of %s", List(d.Form.Names()))
	}
	if err := d.Form.check(); err != nil {
		return err
	}
	if d.Zone != "" {
		if err := d.Zone.check(); err != nil {
			return err
		}
	}
	for i, p := range d.Parts {
		switch err := p.check(); {
		case err != nil:
			return err
		case slices.Contains(d.Parts[:i], p):
			return fmt.Errorf("part %q occurs twice; remove one", p)
		case d.Form == Clock && p != "hour":
			return fmt.Errorf("a time of the day has no %s; its part is hour", p)
		}
	}
	if d.Form == Clock && d.Since != "" {
		return errors.New("days since another date need a date, and this is a time of the day; remove since")
	}
	return nil
}

// CheckSince checks the relation of the date of this name to others. all maps every column that has
// a meaning to its date, other columns to nil.
func (d Date) CheckSince(name Name, all map[Name]*Date) error {
	other := all[d.Since]
	switch {
	case d.Since == name:
		return errors.New("it is since itself; name another date")
	case d.Since != "" && other == nil:
		return fmt.Errorf("%q is not described as a date; add {%s: {date: {form: ymd}}} to columns", d.Since, d.Since)
	case d.Since != "" && other.Form == Clock:
		return fmt.Errorf("%q is a time of the day; name a date", d.Since)
	case len(d.Parts) > 0 || d.Since != "":
		return nil
	}
	for _, other := range all {
		if other != nil && other.Since == name {
			return nil
		}
	}
	return errors.New("it makes no input; name its parts, as in parts: [year, month], or leave the column out " +
		"(drop)")
}

// WithoutTime marks a date without a time of the day.
const WithoutTime = "without time"

// Number is the time in seconds since 1970, with the mark WithoutTime of a date alone.
func (d *Date) Number(text string) (v float64, mark string, ok bool) {
	at, how, ok := ParseDate(text, d.Form)
	if !how.Timed {
		mark = WithoutTime
	}
	if ok && d.Zone != "" && how.Zone != "" {
		var ahead float64
		ahead, ok = zoneHours(how.Zone)
		at = d.Zone.clock(at.Add(-time.Duration(ahead * float64(time.Hour))))
	}
	return secondsOf(at), mark, ok
}

// Explain returns the fault of a text without a date, and a remedy in the data section.
func (d *Date) Explain(string) (wrong, remedy string) {
	what := "a date in the form " + string(d.Form)
	if d.Form == Clock {
		what = "a time of the day"
	}
	if d.Zone != "" {
		what += " with a known zone or none"
	}
	return "is not " + what, "name another form, or add the text to missing_values"
}

// ExplainSeveral returns the fault of several texts.
func (d *Date) ExplainSeveral() string { return "are not in the form " + string(d.Form) }

// InputNames returns the names of the inputs that are made of column c. origins has the name of the
// part for each of them.
func (d *Date) InputNames(c string) (names, origins []string) {
	for _, p := range d.Parts {
		name := c + " " + string(p)
		if p.lookup().cyclic {
			names, origins = append(names, name+" (sine)", name+" (cosine)"), append(origins, name, name)
		} else {
			names, origins = append(names, name), append(origins, name)
		}
	}
	if d.Since != "" {
		name := c + " days since " + string(d.Since)
		names, origins = append(names, name), append(origins, name)
	}
	return names, origins
}

// Width returns the number of inputs made of the date.
func (d *Date) Width() int { return len(d.Sources()) }

// Sources has for each input the index of the first input of the same part.
func (d *Date) Sources() (of []int) {
	_, origins := d.InputNames("")
	for _, o := range origins {
		of = append(of, slices.Index(origins, o))
	}
	return of
}

// FillColumns makes the inputs of the times at and writes them to the matrix, from the given column
// on. Days since another date count from since, the times of the other date. All times are in
// seconds. They are NaN where the times are. The hour is NaN where the mark is WithoutTime.
func (d *Date) FillColumns(x *mat.Dense, column int, at, since []float64, marks []string) {
	for i, v := range at {
		row := x.RawRowView(i)[column:]
		put := func(v float64) { row[0], row = v, row[1:] }
		for _, p := range d.Parts {
			of := p.lookup()
			value := v
			if !math.IsNaN(v) {
				value = of.of(timeOf(v))
			}
			if p == "hour" && marks[i] == WithoutTime {
				value = math.NaN()
			}
			if of.cyclic {
				sine, cosine := math.Sincos(2 * math.Pi * value)
				put(sine)
				put(cosine)
			} else {
				put(value)
			}
		}
		if d.Since != "" {
			put((v - since[i]) / secondsOfDay)
		}
	}
}

// Months are the names of months in several languages, from January on; | separates several names
// of one.
var Months = []string{
	"january|jan, february|feb, march|mar, april|apr, may, june|jun, july|jul, august|aug, " +
		"september|sep|sept, october|oct, november|nov, december|dec",
	"januar|jan|jänner, februar|feb, märz|mär|mrz, april|apr, mai, juni|jun, juli|jul, august|aug, " +
		"september|sep, oktober|okt, november|nov, dezember|dez",
	"janvier|janv, février|févr, mars, avril|avr, mai, juin, juillet|juil, août, septembre|sept, " +
		"octobre|oct, novembre|nov, décembre|déc",
	"enero|ene, febrero|feb, marzo|mar, abril|abr, mayo|may, junio|jun, julio|jul, agosto|ago, " +
		"septiembre|sep|sept, octubre|oct, noviembre|nov, diciembre|dic",
}

// monthOf has the number of each month by its names, and weekdays are words before a date.
var monthOf, weekdays = func() (map[string]int, map[string]bool) {
	months, days := map[string]int{}, map[string]bool{}
	for _, of := range Months {
		for k, names := range strings.Split(of, ", ") {
			for _, name := range strings.Split(names, "|") {
				months[name] = k + 1
			}
		}
	}
	for _, day := range strings.Fields("monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri " +
		"sat sun tues thur thurs montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do " +
		"fr sa so lundi mardi mercredi jeudi vendredi samedi dimanche lun mer jeu ven sam dim lunes martes miércoles " +
		"jueves viernes sábado domingo mié jue vie sáb dom") {
		days[day] = true
	}
	return months, days
}()

var (
	clockText = `(\d{1,2})(?::(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)? ?([ap]\.?m\.?)?`
	zoneText  = ` ?(z|utc|gmt|[a-z]{1,3}t|[+-]\d{2}(?::?\d{2})?)?`
	timed     = pattern.Of(`^(.*?)(?:(?:^|[t ]|, |:)` + clockText + zoneText + `)?$`)
	clock     = pattern.Of(`^` + clockText + zoneText + `$`)
	closed    = pattern.Of(`^(\d{8})(?:t?(\d{2})(\d{2})(\d{2}))?(z?)$`)
	ordinals  = pattern.Of(`^(\d{1,2})(?:st|nd|rd|th|er)$`)
)

// DateStyle describes how a date is written.
type DateStyle struct {
	Timed bool   // a time of the day follows
	Zone  string // zone behind the time, in lower case; empty: none
}

// ParseDate reads a date, with a time behind it or not, or a time of the day: 2024-12-31,
// 31.12.2024 14:30, 12/31/24, 31 Dec 2024, 2024-12-31T14:30:00Z, 20241231, 2:30 pm. Two digits of a
// year are from 1969 on. The result is the time on the clock of the zone, as UTC.
func ParseDate(text string, form Form) (at time.Time, how DateStyle, ok bool) {
	if len(text) < 3 || len(text) > 40 || !strings.ContainsAny(text, "0123456789") {
		return at, how, false
	}
	text = strings.ToLower(strings.Join(strings.Fields(strings.Trim(text, "[]")), " "))
	if m := closed().FindStringSubmatch(text); m != nil && form != Clock {
		cut := map[Form][2]int{YMD: {4, 6}, DMY: {2, 4}, MDY: {2, 4}}[form]
		day, ok := dayOf([]string{m[1][:cut[0]], m[1][cut[0]:cut[1]], m[1][cut[1]:]}, "-", form)
		at, ok = onClock(day, ok, m[2], m[3], m[4], "", "")
		return at, DateStyle{m[2] != "", m[5]}, ok
	}
	m := cutClock(text)
	if m == nil || strings.HasPrefix(text, "-") { // as of a year before 1
		return at, how, false
	}
	how = DateStyle{m[2] != "", m[7]}
	if form == Clock {
		at, ok = onClock(time.Unix(0, 0).UTC(), m[1] == "" && m[2] != "", m[2:]...)
		return at, how, ok
	}
	var fields []string
	separators, from := "", 0
	for i, r := range m[1] + " " {
		if !strings.ContainsRune("-/., 年月日", r) {
			continue
		}
		if r != ' ' && i < len(m[1]) && !strings.ContainsRune(separators, r) {
			separators += string(r)
		}
		if i > from {
			fields = append(fields, m[1][from:i])
		}
		from = i + len(string(r))
	}
	day, ok := dayOf(fields, separators, form)
	at, ok = onClock(day, ok, m[2:]...)
	return at, how, ok
}

// cutClock divides a text: element 1 is the text before the time; then come hour, minute, second,
// fraction, am or pm, and zone. It returns nil if the text is malformed.
func cutClock(text string) []string {
	colon := strings.IndexByte(text, ':')
	if colon < 0 && !strings.HasSuffix(strings.TrimSuffix(text, "."), "m") {
		return []string{text, text, "", "", "", "", "", ""}
	}
	if colon < 0 { // 2 pm
		return timed().FindStringSubmatch(text)
	}
	from := colon
	for from > 0 && text[from-1] >= '0' && text[from-1] <= '9' {
		from--
	}
	if colon-from > 2 { // 10/Oct/2000:13:55:36
		from = colon + 1
	}
	m := clock().FindStringSubmatch(text[from:])
	if m == nil {
		return nil
	}
	day := text[:from]
	for _, between := range []string{", ", " ", "t", ":"} {
		if before, is := strings.CutSuffix(day, between); is {
			return append([]string{text, before}, m[1:]...)
		}
	}
	if day != "" {
		return nil
	}
	return append([]string{text, ""}, m[1:]...)
}

// onClock adds to a day the time from hour, minute, second, fraction, and am or pm.
func onClock(day time.Time, ok bool, of ...string) (time.Time, bool) {
	if !ok || of[0] == "" {
		return day, ok
	}
	var v [3]int
	for k := range v {
		v[k], _ = strconv.Atoi(of[k])
	}
	if of[4] != "" {
		if v[0] < 1 || v[0] > 12 {
			return day, false
		}
		v[0] %= 12
		if of[4][0] == 'p' {
			v[0] += 12
		}
	}
	fraction, _ := strconv.ParseFloat("0."+of[3], 64)
	return day.Add(time.Duration((v[0]*60+v[1])*60+v[2])*time.Second + time.Duration(math.Round(fraction*1e9))),
		v[0] < 24 && v[1] < 60 && v[2] < 60
}

// dayOf returns the day of three fields, or of month and year. Months may be names.
func dayOf(fields []string, separators string, form Form) (day time.Time, ok bool) {
	month := 0
	var rest []string
	for _, f := range fields {
		named := monthOf[f]
		switch ordinal := ordinals().FindStringSubmatch(f); {
		case weekdays[f] && named == 0 && rest == nil && month == 0:
		case named > 0 && month == 0:
			month = named
		case named > 0:
			return day, false
		case ordinal != nil:
			rest = append(rest, ordinal[1])
		case f != "de" && f != "of":
			rest = append(rest, f)
		}
	}
	switch {
	case month > 0 && len(rest) == 1:
		rest = []string{rest[0], "1"}
	case month > 0 && len(rest) == 2 && len(rest[0]) <= 2:
		rest = []string{rest[1], rest[0]}
	case month > 0:
	case len(separators) != 1 && len(fields) != len([]rune(separators)): // not 2024年12月31日
		return day, false
	case len(rest) == 2: // month and year
		if len(rest[0]) != 4 {
			rest[0], rest[1] = rest[1], rest[0]
		}
		rest = append(rest, "1")
	case len(rest) == 3 && len(rest[0]) == 4: // the year comes first whatever the form
	case len(rest) == 3 && form == DMY:
		rest = []string{rest[2], rest[1], rest[0]}
	case len(rest) == 3 && form == MDY:
		rest = []string{rest[2], rest[0], rest[1]}
	}
	if len(rest) == 2 { // the month has a name
		rest = []string{rest[0], strconv.Itoa(month), rest[1]}
	}
	if len(rest) != 3 || len(fields) == 2 && len(rest[0]) != 4 {
		return day, false
	}
	return calendar(rest, len(fields) > 2 && (month > 0 || separators == "/" || len(rest[1]+rest[2]) == 4))
}

// calendar returns the day of a year, month and day in digits; short allows years of two digits.
func calendar(of []string, short bool) (day time.Time, ok bool) {
	var v [3]int
	for k, text := range of {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || k > 0 && len(text) > 2 {
			return day, false
		}
		v[k] = int(n)
	}
	switch {
	case len(of[0]) == 2 && short:
		v[0] += 1900
		if v[0] < 1969 {
			v[0] += 100
		}
	case len(of[0]) != 4 || v[0] == 0:
		return day, false
	}
	day = time.Date(v[0], time.Month(v[1]), v[2], 0, 0, 0, 0, time.UTC)
	return day, day.Day() == v[2] && int(day.Month()) == v[1]
}
