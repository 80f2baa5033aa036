package spec

import (
	"math"
	"reflect"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/internal/jsonschema"
)

// An interval replaces the bounds that a type has, and an end that is infinite is no bound.
func TestIntervalsInTheSchema(t *testing.T) {
	of := jsonschema.Schema{"type": "integer", "minimum": 0}
	inf := math.Inf(1)
	for _, c := range []struct {
		interval declared.Interval
		want     jsonschema.Schema
	}{
		{declared.Interval{Lo: 1, Hi: 10}, jsonschema.Schema{"type": "integer", "minimum": 1.0, "maximum": 10.0}},
		{declared.Interval{Lo: 0, Hi: inf, LoOpen: true}, jsonschema.Schema{"type": "integer", "exclusiveMinimum": 0.0}},
		{declared.Interval{Lo: -inf, Hi: 3, HiOpen: true},
			jsonschema.Schema{"type": "integer", "minimum": 0, "exclusiveMaximum": 3.0}},
	} {
		got := jsonschema.Schema{"type": of["type"], "minimum": of["minimum"]}
		if bounded(c.interval, got); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %v, want %v", c.interval, got, c.want)
		}
	}
}

// bounds has numbers with intervals, alone and in a list.
type bounds struct {
	One  float64   `yaml:"one" within:"(0,1]"`
	Many []float64 `yaml:"many" within:"[2,inf)"`
}

// A component has its options with their bounds. Each may be a list of alternatives, unless it is a
// list itself.
func TestComponentsInTheSchema(t *testing.T) {
	one := jsonschema.Schema{"type": "number", "exclusiveMinimum": 0.0, "maximum": 1.0}
	element := jsonschema.Schema{"type": "number", "minimum": 2.0}
	entries := []Entry{{Name: "plain", Doc: "no options"}, {Name: "a", Doc: "of a", Options: reflect.TypeFor[bounds]()}}
	got := grammar{}.mapping(entries)
	inner := jsonschema.Object(jsonschema.Schema{"one": jsonschema.OrNothing(one),
		"many": jsonschema.OrNothing(jsonschema.ListOf(element))})
	want := jsonschema.OrNothing(inner)
	want["description"] = "of a"
	if !reflect.DeepEqual(got, jsonschema.Object(jsonschema.Schema{"a": want})) {
		t.Errorf("%v\nwant %v", got, want)
	}
	for _, list := range []bool{false, true} {
		g := grammar{alternatives: true, lists: []string{"many"}}
		if list {
			g.lists = append(g.lists, "a")
		}
		inner := jsonschema.Object(jsonschema.Schema{"one": jsonschema.OrNothing(jsonschema.Alternatives(one)),
			"many": jsonschema.OrNothing(jsonschema.ListOf(jsonschema.Alternatives(element)))})
		if !list {
			inner = jsonschema.Alternatives(inner)
		}
		want := jsonschema.OrNothing(inner)
		want["description"] = "of a"
		if got := g.mapping(entries); !reflect.DeepEqual(got, jsonschema.Object(jsonschema.Schema{"a": want})) {
			t.Errorf("a list %t: %v\nwant %v", list, got, want)
		}
	}
}

// each visits a schema and all within it.
func each(s any, visit func(jsonschema.Schema)) {
	switch s := s.(type) {
	case []jsonschema.Schema:
		for _, v := range s {
			each(v, visit)
		}
	case jsonschema.Schema:
		visit(s)
		for _, v := range s {
			each(v, visit)
		}
	}
}

// A kernel on some columns needs both them and its kernel; one of every column needs its kernel.
func TestNeededKeysOfKernels(t *testing.T) {
	for name, want := range map[string][]string{"active": {"dims", "kernel"}, "additive": {"kernel"}} {
		found := false
		each(ExperimentSchema(), func(s jsonschema.Schema) {
			if kernels, is := s["properties"].(jsonschema.Schema); is && kernels[name] != nil {
				each(kernels[name], func(s jsonschema.Schema) { found = found || reflect.DeepEqual(s["required"], want) })
			}
		})
		if !found {
			t.Errorf("%s does not need %q", name, want)
		}
	}
}
