package record

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// MarshalJSON writes the shortest decimal that gives back the same bits, or a string for NaN and the infinities.
func (n Number) MarshalJSON() ([]byte, error) {
	f := float64(n)
	switch {
	case math.IsNaN(f):
		return []byte(`"NaN"`), nil
	case math.IsInf(f, 1):
		return []byte(`"+Inf"`), nil
	case math.IsInf(f, -1):
		return []byte(`"-Inf"`), nil
	}
	return json.Marshal(f)
}

// JSONSchema is that of what MarshalJSON writes.
func (Number) JSONSchema() map[string]any {
	return map[string]any{"anyOf": []map[string]any{{"type": "number"}, {"enum": []string{"NaN", "+Inf", "-Inf"}}}}
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *Number) UnmarshalJSON(text []byte) error {
	s := string(text)
	switch {
	case s == `"NaN"`, s == `"+Inf"`, s == `"-Inf"`:
		s = s[1 : len(s)-1]
	case !json.Valid(text) || s[0] != '-' && (s[0] < '0' || s[0] > '9'):
		return fmt.Errorf("record: %s is not a number", s)
	}
	f, err := strconv.ParseFloat(s, 64)
	*n = Number(f)
	return err
}

// Numbers converts a vector.
func Numbers(x []float64) []Number {
	out := make([]Number, len(x))
	for i, v := range x {
		out[i] = Number(v)
	}
	return out
}

// Floats converts a vector back.
func Floats(x []Number) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}
