package figure

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Drawable reports whether a number can be drawn; the bound keeps differences finite.
func Drawable(v float64) bool { return math.Abs(v) < 1e150 }

// known lists the values that are not NaN.
func known(z [][]float64) (out []float64) {
	for _, row := range z {
		for _, v := range row {
			if Drawable(v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// span is the range of an axis. An end with noMargin has no margin, except where another span of
// the axis asks for one.
type span struct {
	lo, hi   float64
	noMargin bool
	margin   bool
}

var nothing = span{lo: math.Inf(1), hi: math.Inf(-1)}

// spanOf covers all values that can be drawn.
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

// union covers several spans, with a margin at the ends without noMargin, or that need it.
func union(spans []span) span {
	all := nothing
	for _, s := range spans {
		all.lo, all.hi = min(all.lo, s.lo), max(all.hi, s.hi)
	}
	lo, hi := all.lo, all.hi
	least := 1e-6 * max(math.Abs(lo), math.Abs(hi), 1e-6)
	switch {
	case lo > hi: // nothing to draw
		return span{lo: 0, hi: 1}
	case lo == 0 && hi == 0:
		return span{lo: -1, hi: 1}
	case lo == hi:
		return span{lo: lo - 0.1*math.Abs(lo), hi: hi + 0.1*math.Abs(lo)}
	case hi-lo < least: // almost equal
		return span{lo: lo - least, hi: hi + least}
	}
	padded := func(ends func(span) bool) bool {
		snug := slices.ContainsFunc(spans, func(s span) bool { return s.noMargin && ends(s) })
		return !snug || slices.ContainsFunc(spans, func(s span) bool { return s.margin && ends(s) })
	}
	const margin = 0.05
	if padded(func(s span) bool { return s.lo == lo }) {
		all.lo -= margin * (hi - lo)
	}
	if padded(func(s span) bool { return s.hi == hi }) {
		all.hi += margin * (hi - lo)
	}
	return all
}

// logTicks are the ticks of a range of logarithms: round values with labels.
func (s span) logTicks(most int) (at []float64, labels []string) {
	all := decades(s, []float64{1, 2, 5})
	if len(all) > most {
		all = decades(s, []float64{1})
	}
	if len(all) < 2 {
		at, _ = s.ticks(most) // the range is too short, or too long, for round numbers
		for _, v := range at {
			labels = append(labels, strconv.FormatFloat(math.Exp(v), 'g', 3, 64))
		}
		return at, labels
	}
	for i := 0; i < len(all); i += (len(all)-1)/most + 1 {
		at = append(at, math.Log(all[i]))
		labels = append(labels, strconv.FormatFloat(all[i], 'g', -1, 64))
	}
	return at, labels
}

// decades are the numbers with logarithms in the range: powers of ten times each of the factors.
func decades(s span, factors []float64) (out []float64) {
	const slack = 1e-9
	for e := math.Floor(s.lo/math.Ln10 - slack); e <= s.hi/math.Ln10+slack && math.Abs(e) < 300; e++ {
		for _, f := range factors {
			v := math.Log(f) + e*math.Ln10
			if v < s.lo-slack || v > s.hi+slack {
				continue
			}
			// Parsed from text, so that 10^-3 is the double nearest to 0.001.
			if round, err := strconv.ParseFloat(fmt.Sprintf("%ge%g", f, e), 64); err == nil {
				out = append(out, round)
			}
		}
	}
	return out
}

// ticks are round values, at most one more than the given number, with labels.
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

// Number formats a number with a true minus sign.
func Number(v float64, digits int) string {
	if v == 0 {
		v = 0 // replaces -0
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if math.Abs(v) >= 1e7 || digits > 6 {
		text = strconv.FormatFloat(v, 'g', 4, 64)
	}
	return strings.ReplaceAll(text, "-", "−")
}
