package spec

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// interval is the range of a number in a file, from the tag `within` of its field: "[1,1000]", or
// "(0,1)" without the ends; an end may be inf. If zero stands for the default, the interval
// excludes 0, so that an explicit 0 is an error.
type interval struct {
	lo, hi         float64
	loOpen, hiOpen bool
}

// Within returns the interval of a field; ok is false if it has none.
func Within(f reflect.StructField) (i interval, ok bool) {
	tag, ok := f.Tag.Lookup("within")
	if !ok {
		return i, false
	}
	lo, hi, two := strings.Cut(strings.Trim(tag, "[]()"), ",")
	var errLo, errHi error
	i.lo, errLo = strconv.ParseFloat(lo, 64)
	i.hi, errHi = strconv.ParseFloat(hi, 64)
	i.loOpen, i.hiOpen = strings.HasPrefix(tag, "("), strings.HasSuffix(tag, ")")
	if !two || errLo != nil || errHi != nil || !(i.lo < i.hi) {
		panic(fmt.Sprintf("experiments: field %s has the interval %q, want for example [1,1000] or (0,1)", f.Name, tag))
	}
	return i, true
}

// has reports whether v is in the interval.
func (i interval) has(v float64) bool {
	return (v > i.lo || v == i.lo && !i.loOpen) && (v < i.hi || v == i.hi && !i.hiOpen)
}

// String describes the interval, to follow "must be".
func (i interval) String() string {
	switch {
	case math.IsInf(i.hi, 1) && i.loOpen:
		return fmt.Sprintf("greater than %s", plain(i.lo))
	case math.IsInf(i.hi, 1):
		return fmt.Sprintf("at least %s", plain(i.lo))
	case i.loOpen && i.hiOpen:
		return fmt.Sprintf("greater than %s and less than %s", plain(i.lo), plain(i.hi))
	case i.loOpen:
		return fmt.Sprintf("greater than %s and at most %s", plain(i.lo), plain(i.hi))
	case i.hiOpen:
		return fmt.Sprintf("at least %s and less than %s", plain(i.lo), plain(i.hi))
	}
	return fmt.Sprintf("from %s to %s", plain(i.lo), plain(i.hi))
}

// plain formats a number, integers without an exponent.
func plain(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
