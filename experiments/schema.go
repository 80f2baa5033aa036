package experiments

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/journal"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/objective/param"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/picture"
)

// schema is a JSON Schema, draft 2020-12.
type schema = map[string]any

// Schemas lists what has a schema: the YAML file, and every JSON output with the Go type that it is written from.
var Schemas = []struct {
	Name, Doc string
	of        any
	version   string // of the form; the value of its key "schema"
}{
	{"experiment", "the YAML file", nil, ""},
	{"results", "results.json", reports.Report{}, reports.Schema},
	{"manifest", "manifest.json", record.Manifest{}, journal.ManifestSchema},
	{"journal", "a line of journal/*.jsonl", record.Line{}, ""},
	{"timings", "timings.json", reports.Timings{}, "gpc-tune/timings/1"},
	{"model", "a model file of gpc-tune fit", ModelFile{}, modelSchema},
	{"predictions", "gpc-tune predict --format json", Predicted{}, "gpc-tune/predictions/1"},
	{"evidence", "gpc-tune evidence", Answer{}, ""},
	{"sample", "gpc-tune sample --format json", Drawn{}, ""},
	{"check", "gpc-tune check --format json", reports.Check{}, reports.CheckSchema},
	{"status", "gpc-tune status --format json", reports.Progress{}, "gpc-tune/status/1"},
	{"show", "gpc-tune show --format json", reports.Shown{}, "gpc-tune/show/1"},
	{"compare", "gpc-tune compare --format json", reports.Comparison{}, "gpc-tune/compare/1"},
}

// WriteSchema writes one of Schemas.
func WriteSchema(w io.Writer, name string) error {
	var have []string
	for _, s := range Schemas {
		if have = append(have, s.Name); s.Name != name {
			continue
		}
		out := experimentSchema()
		if s.of != nil {
			out = outputSchema(reflect.TypeOf(s.of), s.version)
		}
		out["$schema"], out["title"] = "https://json-schema.org/draft/2020-12/schema", "gpc-tune: "+s.Doc
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return e.Encode(out)
	}
	return fmt.Errorf("unknown schema %q%s", name, registry.Suggest(name, have))
}

// grammar makes the schema of what a decoder takes for a value of a type.
type grammar struct {
	alternatives bool              // any value may be a list of alternatives, which are expanded
	lists        []string          // but those of these keys, of which the elements are
	parts        map[string]schema // of keys and components that are read by code of their own
}

// experimentSchema is that of the YAML file, from the types and the tables that decode it.
func experimentSchema() schema {
	part := func(name string) schema { return schema{"$ref": "#/$defs/" + name} }
	kinds := map[string][]Entry{}
	for _, k := range Catalogue() {
		kinds[k.Name] = k.Entries
	}
	splitters, objectives, strategies := kinds["splitters"], kinds["objectives"], kinds["strategies"]
	within := splitters[1 : len(splitters)-1] // neither test nor nested
	scores := texts(names(cv.Scores, func(s cv.Score) string { return s.Name })...)

	// The model, in which any value may be a list.
	kernels := schema{"type": "array", "minItems": 1, "items": part("kernel")}
	model := grammar{true, modelLists, map[string]schema{
		"kernel": part("kernel"), "sum": kernels, "product": kernels, "inference": part("inference"),
		"mean": part("mean"), "likelihood": part("likelihood"), "classes": texts(classModes...),
	}}
	model.parts["active"] = required(model.structure(reflect.TypeFor[active]()), "dims", "kernel")
	defs := schema{"prior": model.component(kinds["priors"]), "setting": model.value(reflect.TypeFor[param.Setting]()),
		"mean": model.component(kinds["means"]), "likelihood": model.component(kinds["likelihoods"]),
		"kernel": alternatives(model.component(kinds["kernels"])), "inference": alternatives(model.component(kinds["inference"]))}
	model.parts["kernel"] = anyOf(part("kernel"), required(object(schema{"per_class": part("kernel")}), "per_class"))
	defs["model"] = required(model.structure(reflect.TypeFor[modelNodes]()), "inference")
	defs["illustrated"] = model.structure(reflect.TypeFor[modelNodes]())

	section := grammar{true, dataLists, map[string]schema{"dataset": part("dataset")}}
	for key, values := range data.Choices() {
		section.parts[key] = texts(values...)
	}
	defs["dataset"], defs["data"] = named(kinds["datasets"]), section.structure(reflect.TypeFor[data.Spec]())

	plain := grammar{}
	cross := plain.mapping(within)
	cross["properties"].(schema)["score"], cross["maxProperties"] = scores, 2
	defs["splitter"], defs["objective"] = plain.component(within), anyOf(named(objectives[:len(objectives)-1]), required(object(schema{"cv": required(cross, "score")}), "cv"))
	tuned := grammar{parts: map[string]schema{"objective": part("objective"), "inference": part("inference")}}
	tunes := []schema{named(append(slices.Clip(strategies), Entry{Name: "none", Doc: "nothing is tuned"})),
		required(object(schema{"method": schema{"const": "none"}, "objective": part("objective")}), "method")}
	for _, e := range strategies {
		tuned.parts["method"] = schema{"const": e.Name, "description": e.Doc}
		s := tuned.structure(reflect.TypeFor[tuning](), e.options)
		if e.Name != "bfgs" {
			required(s, "method")
		}
		tunes = append(tunes, s)
	}

	defs["tune"] = anyOf(tunes...)

	nested := grammar{parts: map[string]schema{"outer": part("splitter"), "inner": part("splitter"), "score": anyOf(scores, schema{"const": logEvidence})}}
	evaluated := grammar{parts: map[string]schema{"test": object(schema{}), "training": object(schema{}), "nested": nested.structure(reflect.TypeFor[nesting]())}}
	races := []schema{named(kinds["races"])}
	for _, e := range kinds["races"] {
		rule := plain.mapping([]Entry{e})
		rule["properties"].(schema)["score"], rule["required"] = scores, []string{e.Name}
		races = append(races, rule)
	}
	figures := schema{"evaluation": orNothing(text()), "note": orNothing(text())}
	for field := range publishedFields {
		figures[field] = schema{}
	}
	published := grammar{parts: map[string]schema{"figures": {"type": "array", "minItems": 1, "items": schema{"type": "object", "properties": figures, "additionalProperties": anyOf(schema{"type": "number"}, required(plain.structure(reflect.TypeFor[uncertain]()), "value"))}}}}
	defs["published"] = anyOf(published.structure(reflect.TypeFor[publishing]()), schema{"type": "array", "items": orNothing(part("published"))})

	illustrations := plain.component(kinds["illustrations"])
	top := grammar{parts: map[string]schema{
		"illustrate": anyOf(illustrations, schema{"type": "array", "minItems": 1, "items": illustrations}),
		"version":    {"const": 1},
		"name":       matching(text(), runName),
		"data":       alternatives(part("data")),
		"model":      alternatives(part("model")),
		"tune":       alternatives(part("tune")),
		"evaluate":   anyOf(named(splitters), evaluated.mapping(splitters)),
		"race":       anyOf(races...),
		"average":    plain.component(kinds["averages"]),
		"reject":     texts(rejects...),
		"loss":       {"type": "object", "additionalProperties": orNothing(schema{"type": "object", "additionalProperties": orNothing(schema{"type": "number"})})},
		"formats":    listOf(named(kinds["formats"])),
		"curves":     listOf(named(kinds["curves"])),
		"figures":    listOf(anyOf(named(kinds["figures"]), matching(schema{"type": "string"}, picture.Name))),
		"published":  part("published"),
	}}
	top.parts["predict"] = top.structure(reflect.TypeFor[predicting]())
	top.parts["report"] = top.structure(reflect.TypeFor[Report]())
	modelled := required(top.structure(reflect.TypeFor[document]()), "data", "model")
	modelled["properties"].(schema)["illustrate"] = empty
	top.parts["model"] = alternatives(part("illustrated"))
	illustrated := required(top.structure(reflect.TypeFor[document]()), "illustrate", "model")
	for _, key := range dataSections {
		delete(illustrated["properties"].(schema), key)
	}
	out := anyOf(modelled, illustrated)
	out["$defs"] = defs
	return out
}

// structure is the schema of a mapping that is read into structs, each key of which may be left empty.
func (g grammar) structure(types ...reflect.Type) schema {
	properties := schema{}
	for _, t := range types {
		collect(reflect.New(t).Elem(), func(name string, f reflect.Value, of reflect.StructField) {
			part, special := g.parts[name]
			switch {
			case special:
			case f.Type() == rawNode:
				panic(fmt.Sprintf("experiments: the schema of %v lacks its key %s", t, name))
			case f.Type() == reflect.TypeFor[param.Setting]():
				part = schema{"$ref": "#/$defs/setting"}
			default:
				part = g.value(f.Type())
				if i, ok := within(of); ok {
					i.schema(numeric(part))
				}
			}
			if g.alternatives && !slices.Contains(g.lists, name) {
				part = alternatives(part)
			}
			properties[name] = orNothing(part)
		})
	}
	return object(properties)
}

// value is the schema of a value, after decoder.value. A struct that reads text too, as hyperparameters do, is a number or a mapping.
func (g grammar) value(t reflect.Type) schema {
	v := reflect.New(t)
	if of, ok := v.Interface().(interface{ Names() []string }); ok {
		return texts(of.Names()...)
	}
	reads := v.Type().Implements(textUnmarshaler)
	switch t.Kind() {
	case reflect.Pointer:
		return g.value(t.Elem())
	case reflect.Struct:
		switch s := g.structure(t); {
		case reads && len(s["properties"].(schema)) > 0:
			return anyOf(schema{"type": "number"}, s)
		case reads:
			return text()
		default:
			return s
		}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": orNothing(g.value(t.Elem()))}
	case reflect.Slice:
		return listOf(g.element(t))
	case reflect.Array:
		return schema{"type": "array", "minItems": t.Len(), "maxItems": t.Len(), "items": g.element(t)}
	case reflect.Interface:
		return schema{"$ref": "#/$defs/prior"}
	case reflect.String:
		return text()
	}
	return number(t)
}

// numeric is the part of a schema that is of the numbers: of a list, its elements.
func numeric(s schema) schema {
	if choices, is := s["anyOf"].([]schema); is {
		s = choices[len(choices)-1]
	}
	if items, is := s["items"].(schema); is {
		s = items
	}
	return s
}

// element is the schema of an element of a list.
func (g grammar) element(t reflect.Type) schema {
	s := g.value(t.Elem())
	if g.alternatives {
		return alternatives(s)
	}
	return s
}

// component is the schema of a member of a table: its name, or a mapping of its name to its options.
func (g grammar) component(entries []Entry) schema {
	m := g.mapping(entries)
	m["minProperties"], m["maxProperties"] = 1, 1
	return anyOf(named(entries), m)
}

// mapping is the schema of names with options.
func (g grammar) mapping(entries []Entry) schema {
	properties := schema{}
	for _, e := range entries {
		options, special := g.parts[e.Name]
		switch {
		case e.options != nil:
			options = g.value(e.options)
		case !special:
			continue
		}
		if g.alternatives && !slices.Contains(g.lists, e.Name) {
			options = alternatives(options)
		}
		options = orNothing(options)
		options["description"] = e.Doc
		properties[e.Name] = options
	}
	return object(properties)
}

// named is the schema of the names that stand for themselves.
func named(entries []Entry) schema {
	var of []schema
	for _, e := range entries {
		if !slices.ContainsFunc(compositions, func(c Entry) bool { return c.Name == e.Name }) {
			of = append(of, schema{"const": e.Name, "description": e.Doc})
		}
	}
	return schema{"anyOf": of}
}

// object is a mapping with these keys and no others.
func object(properties schema) schema {
	return schema{"type": "object", "properties": properties, "additionalProperties": false}
}

// alternatives is a value, or a list of alternatives.
func alternatives(of schema) schema {
	return anyOf(of, schema{"type": "array", "minItems": 1, "items": orNothing(of)})
}

var empty = schema{"type": "null"}

// orNothing is a value that may be left empty.
func orNothing(of schema) schema { return anyOf(of, empty) }

// required makes keys of a mapping ones that must be there and not be empty.
func required(s schema, keys ...string) schema {
	s["required"] = keys
	for _, key := range keys {
		of := s["properties"].(schema)[key].(schema)
		if choices, is := of["anyOf"].([]schema); is {
			of["anyOf"] = slices.DeleteFunc(choices, func(c schema) bool { return reflect.DeepEqual(c, empty) })
		}
	}
	return s
}

// anyOf is one of several, of which those that are a choice themselves are taken apart.
func anyOf(of ...schema) schema {
	var all []schema
	for _, s := range of {
		if inner, is := s["anyOf"].([]schema); is && len(s) == 1 {
			all = append(all, inner...)
		} else {
			all = append(all, s)
		}
	}
	return schema{"anyOf": all}
}

func texts(of ...string) schema { return schema{"enum": of} }

// text is any scalar, as a name or a label may be written as a number.
func text() schema { return schema{"type": []string{"string", "number", "boolean"}} }

// matching is a text that an expression describes.
func matching(of schema, expression *regexp.Regexp) schema {
	of["pattern"] = expression.String()
	return of
}

// listOf is a list, or one element.
func listOf(of schema) schema { return anyOf(schema{"type": "array", "items": of}, of) }

// number is the schema of a bool or a number.
func number(t reflect.Type) schema {
	switch k := t.Kind(); {
	case k == reflect.Bool:
		return schema{"type": "boolean"}
	case k == reflect.Float64:
		return schema{"type": "number"}
	case k >= reflect.Int && k <= reflect.Int64:
		return schema{"type": "integer"}
	case k >= reflect.Uint && k <= reflect.Uint64:
		return schema{"type": "integer", "minimum": 0}
	}
	panic(fmt.Sprintf("experiments: no schema of %v", t))
}

// outputSchema is that of what encoding/json writes of a type.
func outputSchema(t reflect.Type, version string) schema {
	o := outputs{}
	out := o.fields(t)
	if version != "" {
		out["properties"].(schema)["schema"].(schema)["const"] = version
	}
	if len(o) > 0 {
		out["$defs"] = schema(o)
	}
	return out
}

// comments are those of the fields of outputs, by type and field, from the sources: what a schema says of them.
var comments = sync.OnceValue(func() map[string]string {
	docs := map[string]string{}
	for _, source := range slices.Concat(reports.Sources(), record.Sources()) {
		f, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ParseComments)
		if err != nil {
			panic(err) // it was compiled
		}
		ast.Inspect(f, func(n ast.Node) bool {
			t, is := n.(*ast.TypeSpec)
			if !is {
				return true
			}
			if s, is := t.Type.(*ast.StructType); is {
				for _, field := range s.Fields.List {
					for _, of := range field.Names {
						docs[f.Name.Name+"."+t.Name.Name+"."+of.Name] = strings.Join(strings.Fields(field.Doc.Text()+field.Comment.Text()), " ")
					}
				}
			}
			return false
		})
	}
	return docs
})

// outputs are the schemas of the structs within an output, by name.
type outputs schema

func (o outputs) value(t reflect.Type) schema {
	if t.Kind() == reflect.Pointer {
		return o.value(t.Elem())
	}
	name := t.String()
	part := schema{"$ref": "#/$defs/" + name}
	if own, ok := reflect.Zero(t).Interface().(interface{ JSONSchema() map[string]any }); ok {
		o[name] = own.JSONSchema()
		return part
	}
	if t.Implements(reflect.TypeFor[json.Marshaler]()) && t != reflect.TypeFor[json.RawMessage]() {
		panic(fmt.Sprintf("experiments: %v writes JSON of its own, and says nothing of its schema", t))
	}
	switch t.Kind() {
	case reflect.Struct:
		if _, known := o[name]; !known {
			o[name] = nil // it may hold itself
			o[name] = o.fields(t)
		}
		return part
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": o.value(t.Elem())}
	case reflect.Slice:
		if t == reflect.TypeFor[json.RawMessage]() {
			return schema{}
		}
		return schema{"type": "array", "items": o.value(t.Elem())}
	case reflect.Array:
		return schema{"type": "array", "minItems": t.Len(), "maxItems": t.Len(), "items": o.value(t.Elem())}
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Interface:
		return schema{}
	}
	return number(t)
}

// fields is the schema of a struct's object. A pointer that is always written may be null, and so may the lists of records.
func (o outputs) fields(t reflect.Type) schema {
	properties, always := schema{}, []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			inner := o.fields(f.Type)
			maps.Copy(properties, inner["properties"].(schema))
			always = append(always, inner["required"].([]string)...)
			continue
		case tag == "" || tag == "-":
			continue
		}
		of := o.value(f.Type)
		if options == "" {
			always = append(always, tag)
			if k := f.Type.Kind(); k == reflect.Pointer || k == reflect.Slice && t.PkgPath() == reflect.TypeFor[record.Line]().PkgPath() {
				of = orNothing(of)
			}
		}
		if doc := comments()[t.String()+"."+f.Name]; doc != "" {
			of["description"] = doc
		}
		properties[tag] = of
	}
	out := object(properties)
	out["required"] = always
	return out
}
