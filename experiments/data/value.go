package data

import (
	"math"
	"strconv"
	"strings"
)

// Missing reports whether a field is one of the tokens for a missing value.
func Missing(s string) bool {
	return len(s) <= 3 && (s == "" || s == "?" || strings.EqualFold(s, "NA") || strings.EqualFold(s, "NaN"))
}

// maxMagnitude keeps squares and their sums over cases and columns finite.
const maxMagnitude = 1e100

// maxNumber is the number of bytes that the text of a number may have.
const maxNumber = 1000

// parseNumber reads a finite decimal number of magnitude up to maxMagnitude.
func parseNumber(s string) (float64, bool) {
	if len(s) > maxNumber {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(math.Abs(v) <= maxMagnitude) || isHex(s) {
		return 0, false
	}
	return v, true
}

// isNumber reports whether parseNumber accepts s.
func isNumber(s string) bool {
	_, ok := parseNumber(s)
	return ok
}

// isHex reports whether s has the prefix of a hexadecimal number, which strconv accepts and data
// files do not use.
func isHex(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return len(s) > 1 && (s[1] == 'x' || s[1] == 'X')
}

// Canonical is the canonical text of a label: for a number its shortest decimal form, so that 3,
// +3.0 and 3.0000 are equal.
func Canonical(label string) string {
	v, ok := parseNumber(label)
	switch {
	case !ok:
		return label
	case v == 0:
		return "0"
	case v == math.Trunc(v) && math.Abs(v) < 1e15:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
