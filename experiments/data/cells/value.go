// Package cells reads the texts of single cells: numbers, amounts with units, dates, durations and
// labels. It knows no tables.
package cells

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Missing reports whether a field is one of the tokens for a missing value.
func Missing(s string) bool {
	return len(s) <= 3 && (s == "" || s == "?" || strings.EqualFold(s, "NA") || strings.EqualFold(s, "NaN"))
}

// MaxMagnitude keeps squares and their sums over cases and columns finite.
const MaxMagnitude = 1e100

// maxNumber is the number of bytes that the text of a number may have.
const maxNumber = 1000

// minusSign is U+2212, which typesetting programs write for a minus.
const minusSign = "−"

// ParsePlain reads a finite decimal number of magnitude up to MaxMagnitude, but not the words,
// hexadecimal digits and underscores that strconv accepts. A minus may be the sign U+2212.
func ParsePlain(s string) (float64, bool) {
	if len(s) > maxNumber {
		return 0, false
	}
	s = strings.ReplaceAll(s, minusSign, "-")
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(math.Abs(v) <= MaxMagnitude) || !isDecimal(s) {
		return 0, false
	}
	return v, true
}

// isDecimal reports whether s has characters of decimal numbers only.
func isDecimal(s string) bool { return strings.Trim(s, "0123456789+-.eE") == "" }

// IsNumber reports whether ParsePlain accepts s.
func IsNumber(s string) bool {
	_, ok := ParsePlain(s)
	return ok
}

// AllNumbers reports whether every class is a number.
func AllNumbers(classes []string) bool {
	return !slices.ContainsFunc(classes, func(c string) bool { return !IsNumber(c) })
}

// Canonical returns the class that a label names, in a notation of numbers (see ParseNumber). A
// whole number loses its plus sign and a fraction of zeros: +3 and 3.0000 are the class 3, and its
// minus is a hyphen. Any other label is unchanged, for example 007 and 1e2.
func Canonical(label, decimal string) string {
	point := "."
	if decimal == "comma" {
		point = ","
	}
	number := label
	if rest, is := strings.CutPrefix(label, minusSign); is {
		number = "-" + rest
	}
	whole, zeros, _ := strings.Cut(number, point)
	digits := strings.TrimLeft(whole, "+-")
	switch {
	case strings.Trim(zeros, "0") != "", strings.Trim(digits, "0123456789") != "", len(whole)-len(digits) > 1,
		digits == "", digits[0] == '0' && len(digits) > 1:
		return label
	case digits == "0" || whole[0] == '+':
		return digits
	}
	return whole
}

// Name is a column or a label as the user wrote it; a number is kept as its text.
type Name string

// UnmarshalText keeps the text unchanged.
func (n *Name) UnmarshalText(text []byte) error {
	*n = Name(text)
	return nil
}

// Several is a number with its noun.
func Several(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// List formats the first ten names.
func List(names []string) string {
	if len(names) > 10 {
		return strings.Join(names[:10], ", ") + ", … (" + strconv.Itoa(len(names)) + " in all)"
	}
	return strings.Join(names, ", ")
}

// Positional returns names for n columns of a file without names.
func Positional(n int) []string {
	names := make([]string, n)
	for j := range names {
		names[j] = "x" + strconv.Itoa(j+1)
	}
	return names
}
