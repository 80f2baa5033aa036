// Package jsonschema has building blocks of JSON Schema, draft 2020-12.
package jsonschema

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
)

// Schema is a JSON Schema, draft 2020-12.
type Schema = map[string]any

// Object is a mapping with these keys and no others.
func Object(properties Schema) Schema {
	return Schema{"type": "object", "properties": properties, "additionalProperties": false}
}

// Alternatives is a value, or a list of alternatives.
func Alternatives(of Schema) Schema {
	return AnyOf(of, Schema{"type": "array", "minItems": 1, "items": OrNothing(of)})
}

var Empty = Schema{"type": "null"}

// OrNothing is a value that may be empty.
func OrNothing(of Schema) Schema { return AnyOf(of, Empty) }

// Required makes keys of a mapping mandatory and not empty.
func Required(s Schema, keys ...string) Schema {
	s["required"] = keys
	for _, key := range keys {
		of := s["properties"].(Schema)[key].(Schema)
		if choices, is := of["anyOf"].([]Schema); is {
			of["anyOf"] = slices.DeleteFunc(choices, func(c Schema) bool { return reflect.DeepEqual(c, Empty) })
		}
	}
	return s
}

// AnyOf is one of several schemas; nested choices are flattened.
func AnyOf(of ...Schema) Schema {
	var all []Schema
	for _, s := range of {
		if inner, is := s["anyOf"].([]Schema); is && len(s) == 1 {
			all = append(all, inner...)
		} else {
			all = append(all, s)
		}
	}
	return Schema{"anyOf": all}
}

func Texts(of ...string) Schema { return Schema{"enum": of} }

// Text is any scalar, because a name or a label may be written as a number.
func Text() Schema { return Schema{"type": []string{"string", "number", "boolean"}} }

// Matching is a text that matches an expression.
func Matching(of Schema, expression *regexp.Regexp) Schema {
	of["pattern"] = expression.String()
	return of
}

// ListOf is a list, or one element.
func ListOf(of Schema) Schema { return AnyOf(Schema{"type": "array", "items": of}, of) }

// Number is the schema of a bool or a number.
func Number(t reflect.Type) Schema {
	switch k := t.Kind(); {
	case k == reflect.Bool:
		return Schema{"type": "boolean"}
	case k == reflect.Float64:
		return Schema{"type": "number"}
	case k >= reflect.Int && k <= reflect.Int64:
		return Schema{"type": "integer"}
	case k >= reflect.Uint && k <= reflect.Uint64:
		return Schema{"type": "integer", "minimum": 0}
	}
	panic(fmt.Sprintf("experiments: no schema of %v", t))
}
