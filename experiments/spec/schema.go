package spec

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/internal/jsonschema"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/reports/picture"
	"github.com/gpc-tune/gpc-tune/search"
)

// grammar makes JSON schemas that mirror the decoder of a type.
type grammar struct {
	alternatives bool                         // any value may be a list of alternatives, which is expanded
	lists        []string                     // except for these keys, whose elements may be alternatives
	parts        map[string]jsonschema.Schema // schemas of keys and components that have their own decoding
}

// ExperimentSchema is the schema of the YAML file, from the types and tables that decode it.
func ExperimentSchema() jsonschema.Schema {
	part := func(name string) jsonschema.Schema { return jsonschema.Schema{"$ref": "#/$defs/" + name} }
	kinds := map[string][]Entry{}
	for _, k := range Kinds() {
		kinds[k.Name] = k.Entries
	}
	splitters, objectives, strategies := kinds["splitters"], kinds["objectives"], kinds["strategies"]
	within := splitters[1 : len(splitters)-1] // without test and nested
	scores := jsonschema.Texts(names(cv.Scores, func(s cv.Score) string { return s.Name })...)

	// In the model any value may be a list.
	model := grammar{true, modelLists, map[string]jsonschema.Schema{
		"kernel": part("kernel"), "inference": part("inference"), "mean": part("mean"),
		"likelihood": part("likelihood"), "classes": jsonschema.Texts(declared.ClassModes...),
	}}
	model.parts["active"] = jsonschema.Required(model.structure(reflect.TypeFor[kernel.Active]()), "dims", "kernel")
	model.parts["additive"] = jsonschema.Required(model.structure(reflect.TypeFor[kernel.Additive]()), "kernel")
	inner := slices.DeleteFunc(slices.Clone(kinds["kernels"]), func(e Entry) bool {
		return e.Options == reflect.TypeFor[kernel.PerClass]() // stands outermost
	})
	defs := jsonschema.Schema{"prior": grammar{true, modelLists, nil}.component(kinds["priors"]),
		"setting": model.value(reflect.TypeFor[param.Setting]()),
		"mean":    model.component(kinds["means"]), "likelihood": model.component(kinds["likelihoods"]),
		"kernel":    jsonschema.Alternatives(model.component(inner)),
		"inference": jsonschema.Alternatives(model.component(kinds["inference"]))}
	model.parts["kernel"] = jsonschema.AnyOf(part("kernel"),
		jsonschema.Required(jsonschema.Object(jsonschema.Schema{"per_class": part("kernel")}), "per_class"))
	defs["model"] = jsonschema.Required(model.structure(reflect.TypeFor[declared.Nodes]()), "inference")
	defs["illustrated"] = model.structure(reflect.TypeFor[declared.Nodes]())

	section := grammar{true, dataLists, map[string]jsonschema.Schema{"dataset": part("dataset")}}
	for key, values := range data.Choices() {
		section.parts[key] = jsonschema.Texts(values...)
	}
	section.parts["preprocess"] = jsonschema.AnyOf(section.parts["preprocess"],
		section.structure(reflect.TypeOf(data.Spec{}.Preprocess)))
	defs["dataset"], defs["data"] = named(kinds["datasets"]), section.structure(reflect.TypeFor[data.Spec]())

	plain := grammar{}
	cross := plain.mapping(within)
	cross["properties"].(jsonschema.Schema)["score"], cross["maxProperties"] = scores, 2
	defs["splitter"], defs["objective"] = plain.component(within),
		jsonschema.AnyOf(named(objectives[:len(objectives)-1]),
			jsonschema.Required(jsonschema.Object(jsonschema.Schema{"cv": jsonschema.Required(cross, "score")}), "cv"))
	single := grammar{parts: model.parts}
	tuned := grammar{parts: map[string]jsonschema.Schema{"objective": part("objective"),
		"inference": part("inference"), "start_inference": single.component(kinds["inference"])}}
	tunes := []jsonschema.Schema{named(append(slices.Clip(strategies), Entry{Name: "none", Doc: "nothing is tuned"})),
		jsonschema.Required(jsonschema.Object(jsonschema.Schema{"method": jsonschema.Schema{"const": "none"},
			"objective": part("objective")}), "method")}
	for _, e := range strategies {
		tuned.parts["method"] = jsonschema.Schema{"const": e.Name, "description": e.Doc}
		s := tuned.structure(reflect.TypeFor[tuning](), e.Options)
		if e.Name != "bfgs" {
			jsonschema.Required(s, "method")
		}
		if search.Table.Default(e.Name).Optimizer() == "" {
			delete(s["properties"].(jsonschema.Schema), "start_inference")
			delete(s["properties"].(jsonschema.Schema), "start_cases")
		}
		tunes = append(tunes, s)
	}

	defs["tune"] = jsonschema.AnyOf(tunes...)

	nested := grammar{parts: map[string]jsonschema.Schema{"outer": part("splitter"), "inner": part("splitter"),
		"score": jsonschema.AnyOf(scores, jsonschema.Schema{"const": LogEvidence})}}
	evaluated := grammar{parts: map[string]jsonschema.Schema{"test": jsonschema.Object(jsonschema.Schema{}),
		"training": jsonschema.Object(jsonschema.Schema{}), "nested": nested.structure(reflect.TypeFor[nesting]())}}
	races := []jsonschema.Schema{named(kinds["races"])}
	for _, e := range kinds["races"] {
		rule := plain.mapping([]Entry{e})
		rule["properties"].(jsonschema.Schema)["score"], rule["required"] = scores, []string{e.Name}
		races = append(races, rule)
	}
	illustrations := plain.component(kinds["illustrations"])
	top := grammar{parts: map[string]jsonschema.Schema{
		"illustrate": jsonschema.AnyOf(illustrations,
			jsonschema.Schema{"type": "array", "minItems": 1, "items": illustrations}),
		"version":   {"const": 1},
		"name":      jsonschema.Matching(jsonschema.Text(), runName()),
		"data":      jsonschema.Alternatives(part("data")),
		"model":     jsonschema.Alternatives(part("model")),
		"tune":      jsonschema.Alternatives(part("tune")),
		"evaluate":  jsonschema.AnyOf(named(splitters), evaluated.mapping(splitters)),
		"race":      jsonschema.AnyOf(races...),
		"average":   plain.component(kinds["averages"]),
		"reject":    jsonschema.Texts(rejects()...),
		"calibrate": jsonschema.Texts(calibrations...),
		"threshold": jsonschema.Required(grammar{parts: map[string]jsonschema.Schema{
			"maximise": jsonschema.Texts(cv.Thresholds()...)}}.structure(reflect.TypeFor[thresholding]()), "maximise"),
		"sets": jsonschema.Required(grammar{parts: map[string]jsonschema.Schema{"coverage": {"type": "number",
			"exclusiveMinimum": 0, "exclusiveMaximum": 1}}}.structure(reflect.TypeFor[setting]()), "coverage"),
		"loss": {"type": "object", "additionalProperties": jsonschema.OrNothing(jsonschema.Schema{"type": "object",
			"additionalProperties": jsonschema.OrNothing(jsonschema.Schema{"type": "number"})})},
		"formats": jsonschema.ListOf(named(kinds["formats"])),
		"curves":  jsonschema.ListOf(named(kinds["curves"])),
		"figures": jsonschema.ListOf(jsonschema.AnyOf(named(kinds["figures"]),
			jsonschema.Matching(jsonschema.Schema{"type": "string"}, picture.Name))),
		"program": part("program"),
	}}
	top.parts["predict"] = top.structure(reflect.TypeFor[predicting]())
	top.parts["report"] = top.structure(reflect.TypeFor[Report]())
	modelled := jsonschema.Required(top.structure(reflect.TypeFor[document]()), "data", "model")
	modelled["properties"].(jsonschema.Schema)["illustrate"] = jsonschema.Empty
	modelled["properties"].(jsonschema.Schema)["program"] = jsonschema.Empty
	top.parts["model"] = jsonschema.Alternatives(part("illustrated"))
	illustrated := jsonschema.Required(top.structure(reflect.TypeFor[document]()), "illustrate", "model")
	illustrated["properties"].(jsonschema.Schema)["program"] = jsonschema.Empty
	for _, key := range dataSections {
		delete(illustrated["properties"].(jsonschema.Schema), key)
	}
	program := grammar{parts: map[string]jsonschema.Schema{"input": jsonschema.Texts(inputs...),
		"hyperparameters": {"type": "object", "additionalProperties": plain.component(kinds["ranges"]),
			"propertyNames": jsonschema.Schema{"pattern": parameterName().String()}},
		"minimize": jsonschema.AnyOf(jsonschema.Schema{"type": "boolean"}, jsonschema.ListOf(
			jsonschema.Matching(jsonschema.Text(), parameterName()))),
		"require": {"type": "object", "additionalProperties": plain.structure(reflect.TypeFor[requiring]()),
			"propertyNames": jsonschema.Schema{"pattern": parameterName().String()}},
		"where":      jsonschema.ListOf(jsonschema.Text()),
		"stop_early": plain.component(kinds["stop_early"])}}
	defs["program"] = jsonschema.Required(program.structure(reflect.TypeFor[programming]()), "hyperparameters")
	programmed := jsonschema.Required(top.structure(reflect.TypeFor[document]()), "program")
	for key := range programmed["properties"].(jsonschema.Schema) {
		if !slices.Contains(programSections, key) {
			delete(programmed["properties"].(jsonschema.Schema), key)
		}
	}
	out := jsonschema.AnyOf(modelled, illustrated, programmed)
	out["$defs"] = defs
	describeAll(out)
	for _, part := range defs {
		describeAll(part)
	}
	return out
}

// structure is the schema of a mapping that is read into structs; every key may be empty.
func (g grammar) structure(types ...reflect.Type) jsonschema.Schema {
	properties := jsonschema.Schema{}
	for _, t := range types {
		registry.Options(reflect.New(t).Elem(), func(name string, f reflect.Value, of reflect.StructField) {
			part, special := g.parts[name]
			switch {
			case special:
			case f.Type() == reflect.TypeFor[*strictyaml.Node]():
				panic(fmt.Sprintf("experiments: the schema of %v lacks its key %s", t, name))
			case f.Type() == reflect.TypeFor[param.Setting]():
				part = jsonschema.Schema{"$ref": "#/$defs/setting"}
			default:
				part = g.value(f.Type())
				if i, ok := declared.Within(of); ok {
					bounded(i, numeric(part))
				}
			}
			if g.alternatives && !slices.Contains(g.lists, name) {
				part = jsonschema.Alternatives(part)
			}
			properties[name] = jsonschema.OrNothing(part)
			if text := describe(t.Name(), name); text != "" {
				properties[name].(jsonschema.Schema)["description"] = text
			}
		})
	}
	return jsonschema.Object(properties)
}

// value is the schema of a value, mirroring decoder.value. A struct that also reads text, such as a
// hyperparameter, is a number or a mapping.
func (g grammar) value(t reflect.Type) jsonschema.Schema {
	v := reflect.New(t)
	if of, ok := v.Interface().(interface{ Names() []string }); ok {
		return jsonschema.Texts(of.Names()...)
	}
	if of, ok := v.Interface().(declared.ListOrMap); ok {
		return jsonschema.AnyOf(g.value(reflect.TypeOf(of.List()).Elem()), g.value(reflect.TypeOf(of.Map()).Elem()))
	}
	if t == reflect.TypeFor[param.Literal]() {
		return jsonschema.OrNothing(jsonschema.Text())
	}
	if what, _ := declared.Inner(t); what != "" {
		return jsonschema.Schema{"$ref": "#/$defs/" + what}
	}
	reads := v.Type().Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
	switch t.Kind() {
	case reflect.Pointer:
		return g.value(t.Elem())
	case reflect.Struct:
		switch s := g.structure(t); {
		case reads && len(s["properties"].(jsonschema.Schema)) > 0:
			return textOr(s, v.Interface())
		case reads:
			return jsonschema.Text()
		default:
			return s
		}
	case reflect.Map:
		return jsonschema.Schema{"type": "object", "additionalProperties": jsonschema.OrNothing(g.value(t.Elem()))}
	case reflect.Slice:
		return jsonschema.ListOf(g.element(t))
	case reflect.Array:
		return jsonschema.Schema{"type": "array", "minItems": t.Len(), "maxItems": t.Len(), "items": g.element(t)}
	case reflect.Interface:
		return jsonschema.Schema{"$ref": "#/$defs/prior"}
	case reflect.String:
		return jsonschema.Text()
	}
	return jsonschema.Number(t)
}

// textOr is the schema of a value that is read from a text (a number or one of its Names) or from a
// mapping.
func textOr(mapping jsonschema.Schema, v any) jsonschema.Schema {
	var texts []string
	numbers := true
	if of, ok := v.(interface{ Reads() ([]string, bool) }); ok {
		texts, numbers = of.Reads()
	}
	var all []jsonschema.Schema
	if numbers {
		all = append(all, jsonschema.Schema{"type": "number"})
	}
	if len(texts) > 0 {
		all = append(all, jsonschema.Texts(texts...))
	}
	return jsonschema.AnyOf(append(all, mapping)...)
}

// numeric is the schema of the numbers within one of numbers, of lists of them, or of alternatives.
func numeric(s jsonschema.Schema) jsonschema.Schema {
	if choices, is := s["anyOf"].([]jsonschema.Schema); is {
		return numeric(choices[0])
	}
	if items, is := s["items"].(jsonschema.Schema); is {
		return numeric(items)
	}
	return s
}

// element is the schema of an element of a list.
func (g grammar) element(t reflect.Type) jsonschema.Schema {
	s := g.value(t.Elem())
	if g.alternatives {
		return jsonschema.Alternatives(s)
	}
	return s
}

// component is the schema of a component of a table: its name, or a mapping from its name to its
// options.
func (g grammar) component(entries []Entry) jsonschema.Schema {
	m := g.mapping(entries)
	m["minProperties"], m["maxProperties"] = 1, 1
	return jsonschema.AnyOf(named(entries), m)
}

// mapping is the schema of names with options.
func (g grammar) mapping(entries []Entry) jsonschema.Schema {
	properties := jsonschema.Schema{}
	for _, e := range entries {
		options, special := g.parts[e.Name]
		switch {
		case special:
		case e.Options == nil:
			continue
		default:
			options = g.value(e.Options)
		}
		if g.alternatives && !slices.Contains(g.lists, e.Name) {
			options = jsonschema.Alternatives(options)
		}
		options = jsonschema.OrNothing(options)
		options["description"] = e.Doc
		properties[e.Name] = options
	}
	return jsonschema.Object(properties)
}

// named is the schema of names without options.
func named(entries []Entry) jsonschema.Schema {
	var of []jsonschema.Schema
	for _, e := range entries {
		if e.Options == nil || e.Component != nil {
			of = append(of, jsonschema.Schema{"const": e.Name, "description": e.Doc})
		}
	}
	return jsonschema.Schema{"anyOf": of}
}

// bounded adds an interval to the schema of a number.
func bounded(i declared.Interval, s jsonschema.Schema) {
	put := func(open bool, exclusive, inclusive string, v float64) {
		if math.IsInf(v, 0) {
			return
		}
		delete(s, inclusive) // bounds that the type already has
		if open {
			s[exclusive] = v
		} else {
			s[inclusive] = v
		}
	}
	put(i.LoOpen, "exclusiveMinimum", "minimum", i.Lo)
	put(i.HiOpen, "exclusiveMaximum", "maximum", i.Hi)
}
