package cells

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Zone is a time zone: utc, an offset from UTC such as +01:00, or a name such as Europe/Berlin. A
// name needs the time zone database of the machine.
type Zone string

// UnmarshalText reads a zone.
func (z *Zone) UnmarshalText(text []byte) error {
	*z = Zone(text)
	return z.check()
}

func (z Zone) check() error {
	_, ok := zoneHours(string(z))
	if ok = ok && (z == "utc" || z[0] == '+' || z[0] == '-'); !ok && strings.Contains(string(z), "/") {
		_, err := z.location()
		ok = err == nil
	}
	if !ok {
		return fmt.Errorf("unknown zone %q; write utc, by how much its clock is ahead of that, as +01:00, or a name "+
			"that this machine knows, as Europe/Berlin", string(z))
	}
	return nil
}

var locations sync.Map // known locations by name

func (z Zone) location() (*time.Location, error) {
	if known, ok := locations.Load(z); ok {
		return known.(*time.Location), nil
	}
	l, err := time.LoadLocation(string(z))
	if err == nil {
		locations.Store(z, l)
	}
	return l, err
}

// clock converts a UTC time to the wall clock of the zone; the result is marked UTC.
func (z Zone) clock(utc time.Time) time.Time {
	if hours, ok := zoneHours(string(z)); ok {
		return utc.Add(time.Duration(hours * float64(time.Hour)))
	}
	l, err := z.location()
	if err != nil {
		panic(err) // check has found it
	}
	_, seconds := utc.In(l).Zone()
	return utc.Add(time.Duration(seconds) * time.Second)
}

// zoneHours returns the hours by which the clock of a zone is ahead of UTC. The zone is an offset,
// or a name of RFC 822 or of a European zone.
func zoneHours(zone string) (hours float64, ok bool) {
	ahead, known := map[string]float64{"z": 0, "utc": 0, "ut": 0, "gmt": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5,
		"mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "wet": 0, "west": 1, "cet": 1,
		"cest": 2, "eet": 2, "eest": 3}[zone]
	if known {
		return ahead, true
	}
	digits := strings.Replace(strings.TrimLeft(zone, "+-"), ":", "", 1)
	if len(zone) < 3 || len(digits) != 2 && len(digits) != 4 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	whole, _ := strconv.ParseFloat(digits[:2], 64) // there are digits alone
	minutes, _ := strconv.ParseFloat("0"+digits[2:], 64)
	hours = whole + minutes/60
	if zone[0] == '-' {
		hours = -hours
	}
	return hours, whole < 24 && minutes < 60
}
