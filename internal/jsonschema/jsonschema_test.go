package jsonschema

import (
	"reflect"
	"regexp"
	"testing"
)

func TestNumbers(t *testing.T) {
	whole, natural := Schema{"type": "integer"}, Schema{"type": "integer", "minimum": 0}
	for _, c := range []struct {
		of   reflect.Type
		want Schema
	}{
		{reflect.TypeFor[bool](), Schema{"type": "boolean"}}, {reflect.TypeFor[float64](), Schema{"type": "number"}},
		{reflect.TypeFor[int](), whole}, {reflect.TypeFor[int8](), whole}, {reflect.TypeFor[int64](), whole},
		{reflect.TypeFor[uint](), natural}, {reflect.TypeFor[uint16](), natural}, {reflect.TypeFor[uint64](), natural},
	} {
		if got := Number(c.of); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %v", c.of, got)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a text is a number")
		}
	}()
	Number(reflect.TypeFor[string]())
}

// Choices within choices are one choice, and required keys may not be empty.
func TestChoices(t *testing.T) {
	a, b, c := Schema{"type": "a"}, Schema{"type": "b"}, Schema{"type": "c"}
	if got, want := AnyOf(a, AnyOf(b, c)), (Schema{"anyOf": []Schema{a, b, c}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	named := Schema{"anyOf": []Schema{b, c}, "title": "t"}
	if got, want := AnyOf(a, named), (Schema{"anyOf": []Schema{a, named}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	got := Required(Object(Schema{"x": OrNothing(a), "y": OrNothing(b), "z": c}), "x", "z")
	want := Schema{"type": "object", "additionalProperties": false, "required": []string{"x", "z"},
		"properties": Schema{"x": Schema{"anyOf": []Schema{a}}, "y": Schema{"anyOf": []Schema{b, Empty}}, "z": c}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	if got := Alternatives(a)["anyOf"].([]Schema); len(got) != 2 || !reflect.DeepEqual(got[0], a) || got[1]["minItems"] != 1 ||
		!reflect.DeepEqual(got[1]["items"], OrNothing(a)) {
		t.Errorf("%v", got)
	}
}

func TestMatching(t *testing.T) {
	got := Matching(Schema{"type": "string"}, regexp.MustCompile("^a+$"))
	if want := (Schema{"type": "string", "pattern": "^a+$"}); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}
