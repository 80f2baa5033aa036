package reports

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"io"
	"maps"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/record"
)

var (
	//go:embed report.go
	reportSource string
	//go:embed answer.go
	answerSource string
	//go:embed configuration.go
	configurationSource string
	//go:embed contest.go
	contestSource string
	//go:embed partial.go
	partialSource string
)

// Sources are the source files with the types of results.json; the comments of fields become
// descriptions in its schema.
func Sources() []string {
	return []string{reportSource, answerSource, configurationSource, contestSource, partialSource}
}

// WriteJSON writes plain data with the fields in order; a Report is written as results.json.
func WriteJSON[T any](w io.Writer, v T) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// JSONSchema lists the values of a Status.
func (Status) JSONSchema() map[string]any {
	return map[string]any{"enum": []Status{Done, Cut, Dropped, Failed, Missing}}
}

// closed is the schema of an object with these members only.
func closed(properties map[string]any) map[string]any {
	return map[string]any{"type": "object", "properties": properties, "required": slices.Sorted(maps.Keys(properties)),
		"additionalProperties": false}
}

// MarshalJSON writes an object: counts and n are numbers, other scores {"value": v, "ci95": [lo,
// hi]}, with null for a missing interval. If the scores cover only some folds, it includes the
// Partial. It is empty if nothing was scored.
func (s Scores) MarshalJSON() ([]byte, error) {
	var o Object
	for _, r := range s.Results {
		if r.Count {
			o.Add(r.Name, Number(r.Value))
			continue
		}
		o.Add(r.Name, struct {
			Value Number     `json:"value"`
			CI95  *[2]Number `json:"ci95"`
		}{Number(r.Value), interval(r.Lo, r.Hi)})
	}
	if s.N > 0 {
		o.Add("n", s.N)
	}
	if s.Partial != nil {
		o.Add("partial", s.Partial)
	}
	return o.Close()
}

// JSONSchema is the schema of an object with all scores.
func (Scores) JSONSchema() map[string]any {
	number := Number(0).JSONSchema()
	interval := map[string]any{"type": []string{"array", "null"}, "items": number, "minItems": 2, "maxItems": 2,
		"description": "95 % interval; null where there is none"}
	properties := map[string]any{"n": map[string]any{"type": "integer", "minimum": 1, "description": "held-out cases"},
		"partial": partialSchema()}
	for _, s := range cv.Scores {
		of := closed(map[string]any{"value": number, "ci95": interval})
		if s.Count {
			of = Number(0).JSONSchema()
		}
		of["description"] = s.Doc + " (" + s.Unit + ")"
		properties[s.Name] = of
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}

// partialSchema is the schema of a Partial within types with their own schema.
func partialSchema() map[string]any {
	count := func(least int) map[string]any { return map[string]any{"type": "integer", "minimum": least} }
	of := closed(map[string]any{"done": count(1), "failed": count(0), "planned": count(2)})
	of["description"] = "the scores are over done of the planned folds, of which failed ones have failed and the " +
		"others are missing or were cut; absent: they are over all"
	return of
}

// MarshalJSON writes an object of {"x": […], "y": […], "n": […], "lo": […], "hi": […]} by name of
// the curve, with null for missing intervals.
func (c Curves) MarshalJSON() ([]byte, error) {
	var o Object
	for _, curve := range c {
		o.Add(curve.Name, struct {
			cv.Series
			Lo []Number `json:"lo,omitempty"`
			Hi []Number `json:"hi,omitempty"`
		}{curve.Series, record.Numbers(curve.Lo), record.Numbers(curve.Hi)})
	}
	return o.Close()
}

// JSONSchema is the schema of an object with all curves.
func (Curves) JSONSchema() map[string]any {
	numbers := map[string]any{"type": "array", "items": map[string]any{"type": "number"}}
	ends := map[string]any{"type": "array", "items": Number(0).JSONSchema()}
	properties := map[string]any{}
	for _, c := range cv.Curves {
		of := closed(map[string]any{"x": numbers, "y": numbers,
			"n": map[string]any{"type": "array", "items": map[string]any{"type": "integer"}}, "lo": ends, "hi": ends})
		of["description"] = c.Doc
		properties[c.Name] = of
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}

// Object collects the members of a JSON object in order.
type Object struct {
	text bytes.Buffer
	err  error
}

// Add adds a member.
func (o *Object) Add(name string, value any) {
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

// Close returns the text of the object, or the first error of Add.
func (o *Object) Close() ([]byte, error) {
	return []byte("{" + string(bytes.TrimSuffix(o.text.Bytes(), []byte(","))) + "}"), o.err
}

// MarshalJSON writes an object, in the order of the values.
func (v Values) MarshalJSON() ([]byte, error) {
	var o Object
	for _, value := range v {
		if value.Text != "" {
			o.Add(value.Name, record.Literal{Text: value.Text, JSON: value.JSON})
		} else {
			o.Add(value.Name, value.Value)
		}
	}
	return o.Close()
}

// JSONSchema is the schema of an object of numbers and of the values of choices.
func (Values) JSONSchema() map[string]any {
	return map[string]any{"type": "object", "additionalProperties": map[string]any{
		"anyOf": []map[string]any{Number(0).JSONSchema(), record.Literal{}.JSONSchema()}}}
}
