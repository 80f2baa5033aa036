package columns

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/internal/pattern"
)

// dated describes the values of a column if they are read as dates or times of one form.
type dated struct {
	form        cells.Form
	n           int
	odd         map[string]int // texts that are no dates of the form
	first, last time.Time
	latest      time.Time // the last value
	falls       bool      // a value is earlier than the previous one
	sum         float64   // sum of the days since 1970
	parts       map[cells.Part][2]float64
	fingerprint float64    // fingerprint of the dates: the sum of days times row numbers
	usual       cells.Form // the most usual form of dates in this notation
	timed       int        // number of dates with a time of the day
	zones       map[string]bool
}

// american matches dates in notations that mostly have the month first: 12/31/2024, Dec 31, 2024.
var american, yearly = pattern.Of(`^\d{1,2}/\d|^[A-Za-z]{3,9}\.? \d{1,2},? \d{4}`),
	pattern.Of(`^\d{4}`)

const mostTold = 6 // largest number of zones, units or currencies that a message lists

// cycle is a part of a date that init proposes, with its period in days.
type cycle struct {
	part cells.Part
	days float64
}

var cycles = []cycle{{"year", math.Inf(1)}, {"month", cells.DaysOfYear}, {"weekday", 7}, {"hour", 1}}

func newDates() (all []*dated) {
	for _, f := range cells.Form("").Names() {
		all = append(all, &dated{form: cells.Form(f), odd: map[string]int{}, parts: map[cells.Part][2]float64{}})
	}
	return all
}

func (d *dated) add(text string, at time.Time, how cells.DateStyle) {
	if how.Timed {
		d.timed++
	}
	if how.Zone != "" && len(d.zones) <= mostTold {
		if d.zones == nil {
			d.zones = map[string]bool{}
		}
		d.zones[strings.Clone(how.Zone)] = true
	}
	if d.n == 0 {
		d.first, d.last = at, at
		d.usual = cells.DMY
		if american().MatchString(text) {
			d.usual = cells.MDY
		} else if yearly().MatchString(text) {
			d.usual = cells.YMD
		}
	}
	d.falls = d.falls || d.n > 0 && at.Before(d.latest)
	d.latest = at
	if at.Before(d.first) {
		d.first = at
	}
	if at.After(d.last) {
		d.last = at
	}
	d.n++
	days := cells.Part("days").Of(at)
	d.sum, d.fingerprint = d.sum+days, d.fingerprint+days*float64(d.n)
	for _, c := range cycles {
		if c.part == "hour" && !how.Timed {
			continue
		}
		v := c.part.Of(at)
		old, met := d.parts[c.part]
		if !met {
			old = [2]float64{v, v}
		}
		d.parts[c.part] = [2]float64{min(old[0], v), max(old[1], v)}
	}
}

// bornName matches names of dates of birth, whose month and weekday hardly matter.
var bornName = pattern.Of(`(?i)(^|[_ .-])(birth|born|dob|geburt|geboren|naissance|nacimiento)`)

// proposed returns the parts of dates that vary. If many dates only rise from row to row, it leaves
// out the parts that do not repeat: they would only number the rows.
func (d *dated) proposed(name string, many bool) (parts, leftOut []cells.Part) {
	for _, c := range cycles {
		switch varies := d.parts[c.part][0] < d.parts[c.part][1]; {
		case c.part == "hour" && 2*d.timed < d.n: // most would have none
		case !varies || d.form == cells.Clock && c.part != "hour", c.part != "year" && bornName().MatchString(name):
		case !d.falls && many && d.last.Sub(d.first).Hours() < 2*24*c.days:
			leftOut = append(leftOut, c.part)
		default:
			parts = append(parts, c.part)
		}
	}
	return parts, leftOut
}

// apart divides the parts of later dates in two: parts that differ from the same parts of the
// earlier dates, and parts that are almost the same because too few days lie between.
func (d *dated) apart(from *dated, parts []cells.Part) (differ, same []cells.Part) {
	between := d.sum/float64(d.n) - from.sum/float64(from.n)
	for _, p := range parts {
		i := slices.IndexFunc(cycles, func(c cycle) bool { return c.part == p })
		if between < min(cycles[i].days, cells.DaysOfYear)/10 {
			same = append(same, p)
		} else {
			differ = append(differ, p)
		}
	}
	return differ, same
}

// found describes the dates in words. other is a second form that fits them as well, or nil.
func (d *dated) found(leftOut []cells.Part, other *dated) string {
	text := fmt.Sprintf("dates, %s to %s", d.first.Format(time.DateOnly), d.last.Format(time.DateOnly))
	if d.form == cells.Clock {
		text = fmt.Sprintf("times of the day, %s to %s", d.first.Format("15:04"), d.last.Format("15:04"))
	}
	if other != nil {
		text += fmt.Sprintf("; form %s is a guess, for %s fits as well: correct it if need be", d.form, other.form)
	}
	if n := d.n - d.timed; n > 0 && d.timed > 0 && d.form != cells.Clock {
		text += fmt.Sprintf("; %d without a time, whose hour is missing", n)
	}
	if len(d.zones) > 1 {
		text += fmt.Sprintf("; zones %s: hours are on the clock there, zone: utc converts all",
			strings.Join(slices.Sorted(maps.Keys(d.zones)), ", "))
	}
	if leftOut != nil {
		text += fmt.Sprintf("; they rise from row to row, and %s would number the rows: left out", joined(leftOut))
	}
	return text
}

func joined(parts []cells.Part) string {
	var texts []string
	for _, p := range parts {
		texts = append(texts, string(p))
	}
	return strings.Join(texts, " and ")
}

// durationStats has statistics of the values of a column as durations.
type durationStats struct {
	n        int
	odd      map[string]int // texts that are no durations
	clocks   [4]int         // number of clocks by their number of fields
	named    bool           // a unit is written in full
	overADay bool           // a clock goes beyond a day
	sum      float64        // seconds, clocks of two fields as minutes and seconds
	min, max float64
}

func (l *durationStats) add(text string) {
	v, as, ok := cells.ParseDuration(text, "point", "minutes")
	if !ok {
		v, as, ok = cells.ParseDuration(text, "comma", "minutes")
	}
	if !ok {
		if l.odd == nil {
			l.odd = map[string]int{}
		}
		l.odd[strings.Clone(text)]++
		return
	}
	if l.n == 0 {
		l.min, l.max = math.Inf(1), math.Inf(-1)
	}
	l.n++
	l.clocks[as.Fields]++
	l.named = l.named || as.Named
	hours := v / 3600
	if as.Fields == 2 {
		hours = v / 60
	}
	l.overADay = l.overADay || as.Fields > 0 && hours >= 24
	l.sum, l.min, l.max = l.sum+v, min(l.min, v), max(l.max, v)
}

// unit returns the largest unit that fits twice into the mean duration. A clock of two fields is
// hours and minutes, unless other values have seconds.
func (l *durationStats) unit() cells.TimeUnit {
	if l.clocks[2] == l.n {
		return "hours"
	}
	names := cells.TimeUnit("").Names()
	for _, name := range slices.Backward(names) {
		unit := cells.TimeUnit(name)
		if l.sum/float64(l.n) >= 2*unit.Seconds() && !(l.clocks[2] > 0 && longUnit(unit)) {
			return unit
		}
	}
	return cells.TimeUnit(names[0])
}

// longUnit reports whether a clock of two fields is hours and minutes, rather than minutes and
// seconds, if durations are in the unit.
func longUnit(unit cells.TimeUnit) bool { return unit == "hours" || unit == "days" }
