package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/record"
)

// Exact is the shortest decimal that parses to the same bits; NaN is empty.
func Exact(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// Assignments writes values as "name=value name=value", on one line.
func Assignments(v Values, format func(float64) string) string {
	var out []string
	for _, value := range v {
		out = append(out, terminal.OneLine(value.Name)+"="+Assigned(value, format))
	}
	return strings.Join(out, " ")
}

// Assigned is a number, or the text of a choice, on one line.
func Assigned(v record.Named, format func(float64) string) string {
	if v.Text != "" {
		return terminal.OneLine(v.Text)
	}
	return format(float64(v.Value))
}

// Number is a float64 in JSON: the shortest decimal that parses to the same bits, null for NaN,
// "+Inf" and "-Inf" for the infinities.
type Number = record.Number

// interval has the ends of an estimate; nil: it has none.
func interval(lo, hi float64) *[2]Number {
	if math.IsNaN(lo) {
		return nil
	}
	return &[2]Number{Number(lo), Number(hi)}
}

// Shortest is x as in JSON; NaN is empty.
func Shortest(x Number) string { return Exact(float64(x)) }

// Decimals is x with this number of decimals, or with more if it would otherwise be shown as 0, 1
// or -1 although it is not; NaN is empty.
func Decimals(x float64, digits int) string {
	if math.IsNaN(x) {
		return ""
	}
	if math.Abs(x) < negligible {
		x = 0 // replaces -0
	}
	looks := func(digits int) bool {
		rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', digits, 64), 64)
		return rounded != x && (rounded == 0 || math.Abs(rounded) == 1)
	}
	for least := digits; looks(digits); digits++ {
		if digits > least+6 {
			return strconv.FormatFloat(x, 'g', 2, 64) // the exponent shows that it is not zero
		}
	}
	return strconv.FormatFloat(x, 'f', digits, 64)
}

// Readable is x to four significant digits, without an exponent from 0.0001 to below a million and
// without trailing zeros; values below 1e-12, which are 0 up to rounding, become 0. NaN is empty.
func Readable(x float64) string {
	size := math.Abs(x)
	switch {
	case math.IsNaN(x):
		return ""
	case size < negligible:
		return "0"
	case math.IsInf(x, 0) || size < 1e-4 || size >= 1e6:
		return fmt.Sprintf("%.4g", x)
	case size >= 1000:
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	digits := 3 - int(math.Floor(math.Log10(size)))
	text := strconv.FormatFloat(x, 'f', digits, 64)
	if digits == 0 { // 999.99…, whose logarithm is rounded to 3
		return text
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// negligible is the rounding error of sums of numbers of order 1.
const negligible = 1e-12

// P is a p value to two digits; values below 0.0001 or above 0.99 are shown as bounds. NaN is
// empty.
func P(p Number) string {
	switch v := float64(p); {
	case p.None():
		return ""
	case v < 1e-4:
		return "< 0.0001"
	case v < 0.1:
		return fmt.Sprintf("%.2g", v)
	case v == 1:
		return "1"
	case v > 0.99:
		return "> 0.99"
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

// Brief is x to two significant digits.
func Brief(x float64) string { return fmt.Sprintf("%.2g", x) }

// Significant is x to six significant digits.
func Significant(x float64) string { return fmt.Sprintf("%.6g", x) }

// Values are named numbers in a fixed order.
type Values []record.Named

// values names the entries of x. It returns none if x is shorter than names, because of a failure.
func values(names []string, x []record.Number) Values {
	v := Values{}
	if len(x) == len(names) {
		for i, name := range names {
			v = append(v, record.Named{Name: name, Value: x[i]})
		}
	}
	return v
}

// withChoices gives the values of choices the text of the choice.
func (v Values) withChoices(of []record.Hyperparameter) Values {
	for i := range v {
		if n := float64(v[i].Value); n >= 0 && n < float64(len(of[i].Choices)) {
			l := of[i].Literal(int(n))
			v[i].Text, v[i].JSON = l.Text, l.JSON
		}
	}
	return v
}

// natural names the values of the hyperparameters whose conditions hold, in natural units.
func natural(c record.Configuration, x []record.Number) Values {
	return inForce(c, values(names(c), x).withChoices(c.Hyperparameters))
}

// unmeasured names all hyperparameters, in natural units, of a point of a trial that has failed.
// theta has the free ones.
func unmeasured(c record.Configuration, theta []record.Number) Values {
	var x []record.Number
	for _, h := range c.Hyperparameters {
		v := h.Init
		if !h.Fixed && len(theta) > 0 {
			v, theta = record.Number(h.Spec().Map.Natural(float64(theta[0]))), theta[1:]
		}
		x = append(x, v)
	}
	return natural(c, x)
}

// onTheta names the free hyperparameters on the theta scale.
func onTheta(c record.Configuration, x []record.Number) Values {
	return values(ThetaNames(c), x).withChoices(free(c))
}

// inForce leaves out the values of hyperparameters whose conditions do not hold.
func inForce(c record.Configuration, all Values) Values {
	v := Values{}
	for _, n := range all {
		i := slices.IndexFunc(c.Hyperparameters, func(h record.Hyperparameter) bool {
			return n.Name == h.Name || n.Name == h.Theta
		})
		if c.Hyperparameters[i].When.Holds(v.Get) { // the hyperparameters that it names come first
			v = append(v, n)
		}
	}
	return v
}

// Get returns a value by name.
func (v Values) Get(name string) (float64, bool) {
	for _, value := range v {
		if value.Name == name {
			return float64(value.Value), true
		}
	}
	return 0, false
}

// Between is an interval in words: "0.1 – 0.2", and "-0.1 to 0.2" where a minus sign would stand at
// the dash.
func Between(lo, hi string) string {
	for _, end := range []string{lo, hi} {
		if strings.HasPrefix(end, "-") || strings.HasPrefix(end, "\u2212") {
			return lo + " to " + hi
		}
	}
	return lo + " – " + hi
}
