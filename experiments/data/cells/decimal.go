package cells

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DecimalModes are the values of the key decimal, the notation of numbers. Without it only a plain
// decimal number is a number, so that the ambiguous 1,234 is refused.
var DecimalModes = []string{"point", "comma"}

// ParseNumber reads a decimal number of magnitude up to 1e100 in a notation: "" (1234.5), "point"
// (also 1,234.5) or "comma" (1234,5 and 1.234,5). In the last two, thousands may also be separated
// by blanks or apostrophes; all groups but the first have three digits, and the first does not
// begin with 0, and a currency sign or code may precede or follow the number. Parentheses mean a
// minus, as in accounting, and a minus may be the sign U+2212. A percent sign at the end divides by
// 100.
func ParseNumber(s, decimal string) (float64, bool) {
	if v, ok := ParsePlain(s); ok && (decimal != "comma" || strings.IndexByte(s, '.') < 0) {
		return v, true
	}
	if len(s) > maxNumber {
		return 0, false
	}
	s = strings.ReplaceAll(s, minusSign, "-")
	exponent := ""
	if share, percent := strings.CutSuffix(s, "%"); percent && !strings.ContainsAny(s, "eE") {
		s, exponent = strings.TrimSpace(share), "e-2"
	}
	if decimal == "" {
		if exponent == "" {
			return 0, false
		}
		return ParsePlain(s + exponent)
	}
	s = withoutCurrency(s)
	if within, is := strings.CutPrefix(s, "("); is {
		if within, is = strings.CutSuffix(within, ")"); !is || strings.ContainsAny(within, "+-") {
			return 0, false
		}
		s = "-" + withoutCurrency(strings.TrimSpace(within))
	}
	sign, group := ".", ","
	if decimal == "comma" {
		sign, group = group, sign
	}
	whole, fraction, parted := strings.Cut(s, sign)
	whole, ok := ungrouped(whole, group)
	if !ok || strings.ContainsAny(fraction, ".,") {
		return 0, false
	}
	if parted {
		whole += "." + fraction
	}
	return ParsePlain(whole + exponent)
}

// currencies are codes of currencies, ISO 4217.
var currencies = []string{"USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "AUD", "CAD", "SEK", "NOK", "DKK", "PLN",
	"CZK", "BRL", "MXN", "KRW", "ZAR"}

// withoutCurrency removes a currency sign or code before or after a number: $5, -$5, 5 €, EUR 5.
func withoutCurrency(s string) string {
	minus := ""
	if rest, negative := strings.CutPrefix(s, "-"); negative {
		minus, s = "-", rest
	}
	first, size := utf8.DecodeRuneInString(s)
	last, end := utf8.DecodeLastRuneInString(s)
	switch {
	case unicode.Is(unicode.Sc, first):
		s = s[size:]
	case unicode.Is(unicode.Sc, last):
		s = s[:len(s)-end]
	case len(s) > 3 && slices.Contains(currencies, s[:3]):
		s = s[3:]
	case len(s) > 3 && slices.Contains(currencies, s[len(s)-3:]):
		s = s[:len(s)-3]
	}
	return minus + strings.TrimSpace(s)
}

// Currency returns the sign or the code that withoutCurrency removes from a number, or "". If a
// sign has a code, it returns the code.
func Currency(s string) string {
	s = strings.TrimLeft(strings.Trim(s, "()"), "-"+minusSign)
	rest := withoutCurrency(s)
	if rest == s {
		return ""
	}
	sign := strings.TrimSpace(strings.Replace(s, rest, "", 1))
	if code, known := map[string]string{"$": "USD", "€": "EUR", "£": "GBP", "₹": "INR", "₩": "KRW"}[sign]; known {
		return code
	}
	return sign
}

// ungrouped removes the separators of thousands from the integer part of a number: the given one,
// blanks or apostrophes, but only one kind.
func ungrouped(s, group string) (string, bool) {
	between := func(r rune) bool {
		return string(r) == group || r == '\'' || r == '’' || unicode.IsSpace(r)
	}
	at := strings.IndexFunc(s, between)
	if at < 0 {
		return s, !strings.ContainsAny(s, ".,")
	}
	sign := []rune(s[at:])[0]
	groups := strings.Split(s, string(sign))
	first := strings.TrimLeft(groups[0], "+-")
	if len(first) == 0 || len(first) > 3 || first[0] == '0' || len(groups[0])-len(first) > 1 {
		return "", false
	}
	for i, g := range groups {
		if i > 0 && len(g) != 3 || strings.Trim(g, "0123456789+-") != "" || i > 0 && strings.ContainsAny(g, "+-") {
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}

// WhyNoNumber returns the reason why ParseNumber refused s.
func WhyNoNumber(s, decimal string) string {
	if len(s) > maxNumber {
		return fmt.Sprintf("%q has more than the %d bytes of a number", strings.ToValidUTF8(s[:40], "")+"…", maxNumber)
	}
	v, err := strconv.ParseFloat(s, 64)
	_, comma := ParseNumber(s, "comma")
	_, point := ParseNumber(s, "point")
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "…"
	}
	switch {
	case math.IsInf(v, 0), math.IsNaN(v), err == nil && isDecimal(s) && math.Abs(v) > MaxMagnitude:
		return fmt.Sprintf("%q is not finite, or beyond %g", s, MaxMagnitude)
	case decimal == "comma" && point:
		return fmt.Sprintf("%q has a decimal point, but decimal: comma is set", s)
	case decimal == "" && (comma || point) && Currency(s) != "":
		return fmt.Sprintf("%q has the sign of a currency; set decimal: point or decimal: comma, as the column is "+
			"written", s)
	case decimal == "" && comma && point && !strings.Contains(s, ","):
		return fmt.Sprintf("%q has blanks, apostrophes or parentheses; set decimal: point or decimal: comma, as the "+
			"column is written", s)
	case decimal == "" && comma && point:
		return fmt.Sprintf("%q has a comma; set decimal: comma if it is the decimal separator, decimal: point if "+
			"it separates thousands", s)
	case decimal == "" && comma:
		return fmt.Sprintf("%q has a decimal comma; set decimal: comma", s)
	case decimal == "" && point:
		return fmt.Sprintf("%q has thousands separators; set decimal: point", s)
	}
	if err == nil { // a notation of Go, such as 0x1p-2
		return fmt.Sprintf("%q is not a number in decimals; write %v", s, v)
	}
	return fmt.Sprintf("%q is not a number", s)
}
