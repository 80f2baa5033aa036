package reports

import (
	"bytes"
	"encoding/json"
	"io"
	"math"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/record"
)

// renderJSON writes results.json: the Report with its fields in order.
func renderJSON(w io.Writer, r *Report) error { return writeJSON(w, r) }

func writeJSON[T any](w io.Writer, v T) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// MarshalJSON implements json.Marshaler.
func (x Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(x)) {
		return []byte("null"), nil
	}
	return record.Number(x).MarshalJSON()
}

// MarshalJSON writes an object, in the order of the values.
func (v Values) MarshalJSON() ([]byte, error) {
	var o object
	for _, value := range v {
		o.add(value.Name, value.Number)
	}
	return o.close()
}

// MarshalJSON writes an object, by name.
func (f Figures) MarshalJSON() ([]byte, error) {
	var o object
	for _, figure := range f {
		o.add(figure.Name, figure)
	}
	return o.close()
}

// MarshalJSON writes an object: counts and n are numbers, other scores {"value": v, "ci95": [lo, hi]}, with null for an
// interval that does not exist. It is empty if nothing was scored.
func (s Scores) MarshalJSON() ([]byte, error) {
	var o object
	for _, r := range s.Results {
		if r.Count {
			o.add(r.Name, Number(r.Value))
			continue
		}
		var interval *[2]Number
		if !math.IsNaN(r.Lo) {
			interval = &[2]Number{Number(r.Lo), Number(r.Hi)}
		}
		o.add(r.Name, struct {
			Value Number     `json:"value"`
			CI95  *[2]Number `json:"ci95"`
		}{Number(r.Value), interval})
	}
	if s.N > 0 {
		o.add("n", s.N)
	}
	return o.close()
}

// MarshalJSON writes an object of {"x": […], "y": […], "n": […], "lo": […], "hi": […]}, by name of the curve, with null for an
// interval that does not exist.
func (c Curves) MarshalJSON() ([]byte, error) {
	var o object
	for _, curve := range c {
		o.add(curve.Name, struct {
			cv.Series
			Lo []Number `json:"lo,omitempty"`
			Hi []Number `json:"hi,omitempty"`
		}{curve.Series, ends(curve.Lo), ends(curve.Hi)})
	}
	return o.close()
}

func ends(x []float64) (out []Number) {
	for _, v := range x {
		out = append(out, Number(v))
	}
	return out
}

// object collects the members of a JSON object in their order.
type object struct {
	text bytes.Buffer
	err  error
}

func (o *object) add(name string, value any) {
	e := json.NewEncoder(&o.text)
	e.SetEscapeHTML(false)
	for _, part := range []any{name, value} {
		if err := e.Encode(part); err != nil && o.err == nil {
			o.err = err
		}
		o.text.WriteByte(':')
	}
	o.text.Bytes()[o.text.Len()-1] = ','
}

func (o *object) close() ([]byte, error) {
	return []byte("{" + string(bytes.TrimSuffix(o.text.Bytes(), []byte(","))) + "}"), o.err
}
