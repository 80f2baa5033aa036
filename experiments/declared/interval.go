package declared

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Interval is the range of a number in a file, from the tag `within` of its field: "[1,1000]", or
// "(0,1)" without the ends; an end may be inf. If zero stands for the default, the interval
// excludes 0, so that an explicit 0 is an error.
type Interval struct {
	Lo, Hi         float64
	LoOpen, HiOpen bool
}

// Within returns the interval of a field; ok is false if it has none.
func Within(f reflect.StructField) (i Interval, ok bool) {
	tag, ok := f.Tag.Lookup("within")
	if !ok {
		return i, false
	}
	lo, hi, two := strings.Cut(strings.Trim(tag, "[]()"), ",")
	var errLo, errHi error
	i.Lo, errLo = strconv.ParseFloat(lo, 64)
	i.Hi, errHi = strconv.ParseFloat(hi, 64)
	i.LoOpen, i.HiOpen = strings.HasPrefix(tag, "("), strings.HasSuffix(tag, ")")
	if !two || errLo != nil || errHi != nil || !(i.Lo < i.Hi) {
		panic(fmt.Sprintf("declared: field %s has the interval %q, want for example [1,1000] or (0,1)", f.Name, tag))
	}
	return i, true
}

// CheckOptions returns an error, which begins with prefix, for every number and name of the options
// of v that no file could give. Zero stands for the default.
func CheckOptions(prefix string, v any) error {
	var errs []error
	of := reflect.Indirect(reflect.ValueOf(v))
	registry.Options(of, func(name string, f reflect.Value, of reflect.StructField) {
		zero := f.IsZero()
		if f.Kind() == reflect.Pointer && !zero {
			f = f.Elem()
		}
		i, ranged := Within(of)
		switch names, is := reflect.Zero(f.Type()).Interface().(interface{ Names() []string }); {
		case zero:
		case ranged && i.excludes(f):
			errs = append(errs, fmt.Errorf("%s%s = %v must be %v", prefix, name, f, i))
		case is && f.CanInt() && (f.Int() < 0 || f.Int() >= int64(len(names.Names()))):
			errs = append(errs, fmt.Errorf("%s%s = %d must be from 0 to %d, for %s", prefix, name, f.Int(),
				len(names.Names())-1, strings.Join(names.Names(), ", ")))
		}
	})
	return errors.Join(errs...)
}

// excludes reports whether v is a number that is not in the interval.
func (i Interval) excludes(v reflect.Value) bool {
	return v.CanFloat() && !i.has(v.Float()) || v.CanInt() && !i.has(float64(v.Int())) ||
		v.CanUint() && !i.has(float64(v.Uint()))
}

// has reports whether v is in the interval.
func (i Interval) has(v float64) bool {
	return (v > i.Lo || v == i.Lo && !i.LoOpen) && (v < i.Hi || v == i.Hi && !i.HiOpen)
}

// String describes the interval, to follow "must be".
func (i Interval) String() string {
	switch {
	case math.IsInf(i.Hi, 1) && i.LoOpen:
		return fmt.Sprintf("greater than %s", plain(i.Lo))
	case math.IsInf(i.Hi, 1):
		return fmt.Sprintf("at least %s", plain(i.Lo))
	case i.LoOpen && i.HiOpen:
		return fmt.Sprintf("greater than %s and less than %s", plain(i.Lo), plain(i.Hi))
	case i.LoOpen:
		return fmt.Sprintf("greater than %s and at most %s", plain(i.Lo), plain(i.Hi))
	case i.HiOpen:
		return fmt.Sprintf("at least %s and less than %s", plain(i.Lo), plain(i.Hi))
	}
	return fmt.Sprintf("from %s to %s", plain(i.Lo), plain(i.Hi))
}

// plain formats a number, integers without an exponent.
func plain(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
