package figure

import (
	"math"
	"strconv"
	"strings"
)

// Drawable says if a number can be drawn; the bound keeps differences finite.
func Drawable(v float64) bool { return math.Abs(v) < 1e150 }

// span is what an axis shows. At an end that is snug there is no margin.
type span struct {
	lo, hi float64
	snug   bool
}

var nothing = span{lo: math.Inf(1), hi: math.Inf(-1)}

// spanOf covers the values that can be drawn.
func spanOf(values ...[]float64) span {
	s := nothing
	for _, vs := range values {
		for _, v := range vs {
			if Drawable(v) {
				s.lo, s.hi = min(s.lo, v), max(s.hi, v)
			}
		}
	}
	return s
}

// shown is the span of an axis over the spans of its layers.
func (a Axis) shown(spans []span) span {
	if n := len(a.Names); n > 0 {
		return span{lo: -0.5, hi: float64(n) - 0.5}
	}
	if a.Lo < a.Hi && Drawable(a.Lo) && Drawable(a.Hi) {
		return span{lo: a.Lo, hi: a.Hi}
	}
	all := nothing
	for _, s := range spans {
		all.lo, all.hi = min(all.lo, s.lo), max(all.hi, s.hi)
	}
	if all.lo > all.hi {
		return span{lo: 0, hi: 1} // nothing is drawn
	}
	lo, hi := all.lo, all.hi
	if lo == hi {
		pad := 0.1 * math.Abs(lo)
		if lo == 0 {
			pad = 1
		}
		return span{lo: lo - pad, hi: hi + pad}
	}
	if least := 1e-6 * max(math.Abs(lo), math.Abs(hi), 1e-6); hi-lo < least { // all but equal
		return span{lo: lo - least, hi: hi + least}
	}
	snugLo, snugHi := false, false
	for _, s := range spans {
		snugLo, snugHi = snugLo || s.snug && s.lo == lo, snugHi || s.snug && s.hi == hi
	}
	const margin = 0.04
	if !snugLo {
		all.lo -= margin * (hi - lo)
	}
	if !snugHi {
		all.hi += margin * (hi - lo)
	}
	return all
}

// ticks are round values, at most the given number and one, and their labels.
func (s span) ticks(most int) (at []float64, labels []string) {
	least := (s.hi - s.lo) / float64(most)
	exponent := math.Floor(math.Log10(least))
	step, digits := math.Pow(10, exponent+1), -int(exponent)-1
	for _, m := range []float64{5, 2} {
		if r := m * math.Pow(10, exponent); r >= least {
			step, digits = r, -int(exponent)
		}
	}
	first := math.Ceil(s.lo/step - 1e-9)
	for k := range most + 1 {
		if v := (first + float64(k)) * step; v <= s.hi+1e-9*step {
			at = append(at, v)
			labels = append(labels, Number(v, max(0, digits)))
		}
	}
	return at, labels
}

// Number writes a number with a true minus sign.
func Number(v float64, digits int) string {
	if v == 0 {
		v = 0 // not -0
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if math.Abs(v) >= 1e7 || digits > 6 {
		text = strconv.FormatFloat(v, 'g', 4, 64)
	}
	return strings.ReplaceAll(text, "-", "−")
}
