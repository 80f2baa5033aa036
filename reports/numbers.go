package reports

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/record"
)

// Exact is the shortest decimal that gives back the same bits; NaN is empty.
func Exact(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// Assignments writes values as "name=value name=value".
func Assignments(v Values, format func(float64) string) string {
	var out []string
	for _, value := range v {
		out = append(out, value.Name+"="+format(float64(value.Number)))
	}
	return strings.Join(out, " ")
}

// Number is a float64 for JSON: the shortest decimal that gives back the same bits, null for NaN
// (there is no such number), "+Inf" and "-Inf" for the infinities.
type Number = record.Number

// Shortest is x as in JSON; NaN is empty.
func Shortest(x Number) string { return Exact(float64(x)) }

// Decimals is x with so many digits, or with more where it would look like 0, 1 or -1 and is not;
// NaN is empty.
func Decimals(x float64, digits int) string {
	if math.IsNaN(x) {
		return ""
	}
	if x == 0 {
		x = 0 // not -0
	}
	looks := func(digits int) bool {
		rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', digits, 64), 64)
		return rounded != x && (rounded == 0 || math.Abs(rounded) == 1)
	}
	for least := digits; looks(digits); digits++ {
		if digits > least+6 {
			return strconv.FormatFloat(x, 'g', 2, 64) // far from what a reader can see in a table
		}
	}
	return strconv.FormatFloat(x, 'f', digits, 64)
}

// Brief is x to two digits.
func Brief(x float64) string { return fmt.Sprintf("%.2g", x) }

// Significant is x to six digits.
func Significant(x float64) string { return fmt.Sprintf("%.6g", x) }

// Values are named numbers, in a fixed order.
type Values []Value

// Value is a named number.
type Value struct {
	Name   string
	Number Number
}

// values names the entries of x; a shorter x, where something failed, gives no values.
func values(names []string, x []record.Number) Values {
	v := Values{}
	if len(x) == len(names) {
		for i, name := range names {
			v = append(v, Value{name, x[i]})
		}
	}
	return v
}

// Get finds a value by its name.
func (v Values) Get(name string) (float64, bool) {
	for _, value := range v {
		if value.Name == name {
			return float64(value.Number), true
		}
	}
	return 0, false
}
