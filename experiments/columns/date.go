package columns

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/data"
)

// date is a day or a time. It is an input if parts of it, or the days since another date, say
// something (see Table.dates).
var date = Kind{Name: "date", Use: Left, is: func(p *profile) (string, bool) { return "", p.dated() != nil }}

// dated is what the values of a column are as dates or times of one form.
type dated struct {
	form        data.Form
	n           int
	odd         map[string]int // texts that are none
	first, last time.Time
	latest      time.Time // the last value
	falls       bool      // a value is before the one above it
	sum         float64   // of the days since 1970
	parts       map[data.Part][2]float64
	ranked      float64   // the sum of days times rows, which is another for other dates
	usual       data.Form // the more usual form of dates that are written so
}

// american are dates that mostly have the month first: 12/31/2024, Dec 31, 2024.
var american, yearly = regexp.MustCompile(`^\d{1,2}/\d|^[A-Za-z]{3,9}\.? \d{1,2},? \d{4}`),
	regexp.MustCompile(`^\d{4}`)

const daysOfYear = 365.25

// cycle is a part of a date that init proposes, and after how many days it is the same again.
type cycle struct {
	part data.Part
	days float64
}

var cycles = []cycle{{"year", math.Inf(1)}, {"month", daysOfYear}, {"weekday", 7}, {"hour", 1}}

func newDates() (all []*dated) {
	for _, f := range data.Form("").Names() {
		all = append(all, &dated{form: data.Form(f), odd: map[string]int{}, parts: map[data.Part][2]float64{}})
	}
	return all
}

// addDate keeps the forms in which the texts so far are dates, but for a few.
func (p *profile) addDate(text string) {
	if len(p.dates) == 0 {
		return
	}
	p.dates = slices.DeleteFunc(p.dates, func(d *dated) bool {
		at, ok := data.ParseDate(text, d.form)
		if ok {
			d.add(text, at)
		} else {
			d.odd[strings.Clone(text)]++
		}
		return len(d.odd) > mostOdd
	})
}

func (d *dated) add(text string, at time.Time) {
	if d.n == 0 {
		d.first, d.last = at, at
		d.usual = data.DMY
		if american.MatchString(text) {
			d.usual = data.MDY
		} else if yearly.MatchString(text) {
			d.usual = data.YMD
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
	days := data.Part("days").Of(at)
	d.sum, d.ranked = d.sum+days, d.ranked+days*float64(d.n)
	for _, c := range cycles {
		v, old := c.part.Of(at), d.parts[c.part]
		if d.n == 1 {
			old = [2]float64{v, v}
		}
		d.parts[c.part] = [2]float64{min(old[0], v), max(old[1], v)}
	}
}

// dated is the form in which all values are dates, but for a few that stand for missing ones; of
// two the more usual one. It is nil if there is none.
func (p *profile) dated() *dated {
	if p.texts == 0 {
		return nil
	}
	all := slices.DeleteFunc(slices.Clone(p.dates), func(d *dated) bool {
		return d.n == 0 || (p.texts-d.n)*leastNumbers > p.there || p.texts+p.tokened() != p.there
	})
	if len(all) == 0 {
		return nil
	}
	return slices.MaxFunc(all, func(a, b *dated) int {
		usual := func(d *dated) int {
			if d.form == d.usual {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(usual(a), usual(b)))
	})
}

// other is a second form in which the values are dates, or nil: it cannot be seen whether day or
// month comes first.
func (p *profile) other(than *dated) *dated {
	for _, d := range p.dates {
		if d != than && d.n == than.n && d.ranked != than.ranked {
			return d
		}
	}
	return nil
}

var bornName = regexp.MustCompile(`(?i)(^|[_ .-])(birth|born|dob|geburt|geboren|naissance|nacimiento)|birth_?(day|date)` +
	`|geburts`)

// proposed are the parts of a date that vary. Of dates that only rise from row to row, which other
// parts than cycles number the rows.
func (d *dated) proposed(name string) (parts, leftOut []data.Part) {
	for _, c := range cycles {
		switch varies := d.parts[c.part][0] < d.parts[c.part][1]; {
		case !varies || d.form == data.Clock && c.part != "hour", c.part != "year" && bornName.MatchString(name):
		case !d.falls && d.n >= leastRows && d.last.Sub(d.first).Hours() < 2*24*c.days:
			leftOut = append(leftOut, c.part)
		default:
			parts = append(parts, c.part)
		}
	}
	return parts, leftOut
}

// dates says what becomes of columns of dates. Where it cannot be seen whether day or month comes
// first, it is as in the columns where it can. The later of two dates, on average, has the days
// since the earlier one.
func (t *Table) dates(profiles []*profile) {
	var all []int
	of, known := map[int]*dated{}, map[data.Form]int{}
	for j, c := range t.Columns {
		if c.Kind != date.Name {
			continue
		}
		of[j] = profiles[j].dated()
		if profiles[j].other(of[j]) == nil {
			known[of[j].form]++
		}
		if of[j].form != data.Clock {
			all = append(all, j)
		}
	}
	unsure := map[int]*dated{}
	for _, j := range all {
		if other := profiles[j].other(of[j]); other != nil {
			if known[other.form] > known[of[j].form] {
				of[j] = other
			}
			if known[of[j].form] == 0 {
				unsure[j] = profiles[j].other(of[j])
			}
		}
	}
	slices.SortStableFunc(all, func(a, b int) int {
		return cmp.Compare(of[a].sum/float64(of[a].n), of[b].sum/float64(of[b].n))
	})
	for _, j := range slices.Sorted(maps.Keys(of)) {
		c, d := &t.Columns[j], of[j]
		parts, leftOut := d.proposed(c.Name)
		meaning := &data.Date{Form: d.form, Parts: parts}
		c.Found = d.found(leftOut, unsure[j])
		at := slices.Index(all, j)
		if at > 0 {
			before := all[at-1]
			meaning.Since = data.Name(t.Naming(before))
			var same []data.Part
			if meaning.Parts, same = d.apart(of[before], parts); same != nil {
				c.Found += fmt.Sprintf("; %s hardly another than of %s: left out", joined(same), t.Columns[before].Name)
			}
		}
		c.odd = d.odd
		if len(parts) > 0 || at >= 0 && len(all) > 1 {
			c.Use, c.Date = Input, meaning
		}
	}
}

// apart divides parts of later dates into those that differ from those of the earlier ones, and those
// that hardly do, for too few days are between them.
func (d *dated) apart(from *dated, parts []data.Part) (differ, same []data.Part) {
	between := d.sum/float64(d.n) - from.sum/float64(from.n)
	for _, p := range parts {
		i := slices.IndexFunc(cycles, func(c cycle) bool { return c.part == p })
		if between < min(cycles[i].days, daysOfYear)/10 {
			same = append(same, p)
		} else {
			differ = append(differ, p)
		}
	}
	return differ, same
}

// found says what the dates are; other is another form that they may have, or nil.
func (d *dated) found(leftOut []data.Part, other *dated) string {
	text := fmt.Sprintf("dates, %s to %s", d.first.Format(time.DateOnly), d.last.Format(time.DateOnly))
	if d.form == data.Clock {
		text = fmt.Sprintf("times of the day, %s to %s", d.first.Format("15:04"), d.last.Format("15:04"))
	}
	if other != nil {
		text += fmt.Sprintf("; form %s is a guess, for %s fits as well: correct it if need be", d.form, other.form)
	}
	if leftOut != nil {
		text += fmt.Sprintf("; they rise from row to row, and %s would number the rows: left out", joined(leftOut))
	}
	return text
}

func joined(parts []data.Part) string {
	var texts []string
	for _, p := range parts {
		texts = append(texts, string(p))
	}
	return strings.Join(texts, " and ")
}
