package columns

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// lastName are names of durations; without one, 1:30:00 is a time of the day.
var lastName = regexp.MustCompile(`(?i)duration|dauer|durée|duree|duraci|elapsed|laufzeit|runtime|run_time|uptime|` +
	`downtime|tenure|(^|[_ .-])(wait|waited|waiting|lap|pace|split|age|stay|time_(spent|taken|to|in|on))([_ .-]|$)`)

// duration holds lengths of time: 2h 15m, 3 days, P3DT4H, and 1:30:00 where the name says so or a
// clock goes beyond a day.
var duration = Kind{Name: "duration", Use: Input, is: func(p *profile) (string, bool) {
	l := &p.lasting
	numbers := p.tally()
	none := numbers.n == 0 || numbers.min == 0 && numbers.max == 0
	if l.n == 0 || !none || (p.texts-l.n)*leastNumbers > p.there || p.texts+numbers.n+p.tokened() != p.there ||
		!l.named && !l.beyond && !(l.clocks[2]+l.clocks[3] == l.n && lastName.MatchString(p.name)) {
		return "", false
	}
	for text := range l.odd { // a unit that is one of time in small letters is another unit
		if _, _, ok := cells.ParseDuration(strings.ToLower(text), "", "minutes"); ok {
			return "", false
		}
	}
	unit := l.unit()
	of := unit.Seconds()
	if l.clocks[2] == l.n { // they were taken for minutes and seconds
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
