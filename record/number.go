package record

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Number is a float64 in JSON: the shortest decimal that parses to the same bits, null for NaN, and
// "+Inf" and "-Inf" for the infinities.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	switch {
	case n.None():
		return []byte("null"), nil
	case math.IsInf(float64(n), 0):
		return []byte(`"` + strconv.FormatFloat(float64(n), 'f', -1, 64) + `"`), nil
	}
	return json.Marshal(float64(n))
}

// JSONSchema is the schema of MarshalJSON's output.
func (Number) JSONSchema() map[string]any {
	return map[string]any{"anyOf": []map[string]any{
		{"type": []string{"number", "null"}}, {"enum": []string{"+Inf", "-Inf"}},
	}}
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *Number) UnmarshalJSON(text []byte) error {
	s := string(text)
	switch {
	case s == "null":
		s = "NaN"
	case s == `"+Inf"`, s == `"-Inf"`:
		s = s[1 : len(s)-1]
	case !json.Valid(text) || s[0] != '-' && (s[0] < '0' || s[0] > '9'):
		return fmt.Errorf("record: %s is not a number", s)
	}
	f, err := strconv.ParseFloat(s, 64)
	*n = Number(f)
	return err
}

// None reports whether the number is NaN: missing.
func (n Number) None() bool { return math.IsNaN(float64(n)) }

// Finite reports whether the number is neither NaN nor infinite.
func (n Number) Finite() bool { return !n.None() && !math.IsInf(float64(n), 0) }

// Numbers converts a vector.
func Numbers(x []float64) []Number { return converted[Number](x) }

// Floats converts a vector back.
func Floats(x []Number) []float64 { return converted[float64](x) }

func converted[To, From ~float64](x []From) []To {
	out := make([]To, len(x))
	for i, v := range x {
		out[i] = To(v)
	}
	return out
}

// Spelled is a Number whose NaN is written as "NaN", as in model files.
type Spelled Number

// MarshalJSON implements json.Marshaler.
func (n Spelled) MarshalJSON() ([]byte, error) {
	if Number(n).None() {
		return []byte(`"NaN"`), nil
	}
	return Number(n).MarshalJSON()
}

// JSONSchema is the schema of MarshalJSON's output.
func (Spelled) JSONSchema() map[string]any {
	return map[string]any{"anyOf": []map[string]any{{"type": "number"}, {"enum": []string{"NaN", "+Inf", "-Inf"}}}}
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *Spelled) UnmarshalJSON(text []byte) error {
	if string(text) == `"NaN"` {
		*n = Spelled(math.NaN())
		return nil
	}
	return (*Number)(n).UnmarshalJSON(text)
}
