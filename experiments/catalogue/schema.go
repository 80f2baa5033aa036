package catalogue

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/experiments/query"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/jsonschema"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Schemas lists the formats that have a schema: the YAML file, and every JSON output with its Go
// type.
var Schemas = []struct {
	Name, Doc string
	Of        any    // the Go type; nil for the YAML file
	version   string // version of the format; the value of its key "schema"
}{
	{"experiment", "the YAML file", nil, ""},
	{"results", "results.json", reports.Report{}, reports.Schema},
	{"manifest", "manifest.json", record.Manifest{}, journal.ManifestSchema},
	{"journal", "a line of journal/*.jsonl", record.Line{}, ""},
	{"timings", "timings.json", reports.Timings{}, "gpc-tune/timings/1"},
	{"model", "a model file of gpc-tune fit", predict.ModelFile{}, ""},
	{"predictions", "gpc-tune predict --format json", predict.Predicted{}, "gpc-tune/predictions/1"},
	{"evidence", "gpc-tune evidence", query.Answer{}, ""},
	{"sample", "gpc-tune sample --format json", query.Drawn{}, ""},
	{"check", "gpc-tune check --format json", reports.Check{}, reports.CheckSchema},
	{"ask", "gpc-tune ask", run.Asked{}, ""},
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
		out := spec.ExperimentSchema()
		if s.Of != nil {
			out = outputSchema(reflect.TypeOf(s.Of), s.version)
		}
		out["$schema"], out["title"] = "https://json-schema.org/draft/2020-12/schema", "gpc-tune: "+s.Doc
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return e.Encode(out)
	}
	return fmt.Errorf("unknown schema %q%s", name, registry.Suggest(name, have))
}

// outputSchema is the schema of the JSON encoding of a type.
func outputSchema(t reflect.Type, version string) jsonschema.Schema {
	o := outputs{}
	out := o.fields(t)
	if version != "" {
		out["properties"].(jsonschema.Schema)["schema"].(jsonschema.Schema)["const"] = version
	}
	if len(o) > 0 {
		out["$defs"] = jsonschema.Schema(o)
	}
	return out
}

// comments are the comments of the fields of outputs in the sources, by type and field, used as
// descriptions in schemas.
var comments = sync.OnceValue(func() map[string]string {
	docs := map[string]string{}
	for _, source := range append(slices.Concat(reports.Sources(), record.Sources()), cause.Source) {
		f, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ParseComments)
		if err != nil {
			panic(err) // cannot fail: it has been compiled
		}
		ast.Inspect(f, func(n ast.Node) bool {
			t, is := n.(*ast.TypeSpec)
			if !is {
				return true
			}
			if s, is := t.Type.(*ast.StructType); is {
				for _, field := range s.Fields.List {
					for _, of := range field.Names {
						docs[f.Name.Name+"."+t.Name.Name+"."+
							of.Name] = strings.Join(strings.Fields(field.Doc.Text()+field.Comment.Text()), " ")
					}
				}
			}
			return false
		})
	}
	return docs
})

// outputs are the schemas of the structs within an output, by name.
type outputs jsonschema.Schema

func (o outputs) value(t reflect.Type) jsonschema.Schema {
	if t.Kind() == reflect.Pointer {
		return o.value(t.Elem())
	}
	name := t.String()
	part := jsonschema.Schema{"$ref": "#/$defs/" + name}
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
			o[name] = nil // it may contain itself
			o[name] = o.fields(t)
		}
		return part
	case reflect.Map:
		return jsonschema.Schema{"type": "object", "additionalProperties": o.value(t.Elem())}
	case reflect.Slice:
		if t == reflect.TypeFor[json.RawMessage]() {
			return jsonschema.Schema{}
		}
		return jsonschema.Schema{"type": "array", "items": o.value(t.Elem())}
	case reflect.Array:
		return jsonschema.Schema{"type": "array", "minItems": t.Len(), "maxItems": t.Len(), "items": o.value(t.Elem())}
	case reflect.String:
		return jsonschema.Schema{"type": "string"}
	case reflect.Interface:
		return jsonschema.Schema{}
	}
	return jsonschema.Number(t)
}

// fields is the schema of a struct's object. A pointer that is always written may be null, as may
// the lists of records.
func (o outputs) fields(t reflect.Type) jsonschema.Schema {
	properties, always := jsonschema.Schema{}, []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			inner := o.fields(f.Type)
			maps.Copy(properties, inner["properties"].(jsonschema.Schema))
			always = append(always, inner["required"].([]string)...)
			continue
		case tag == "" || tag == "-":
			continue
		}
		of := o.value(f.Type)
		if options == "" {
			always = append(always, tag)
			if k := f.Type.Kind(); k == reflect.Pointer || k == reflect.Slice &&
				t.PkgPath() == reflect.TypeFor[record.Line]().PkgPath() {
				of = jsonschema.OrNothing(of)
			}
		}
		if doc := comments()[t.String()+"."+f.Name]; doc != "" {
			of["description"] = doc
		}
		properties[tag] = of
	}
	out := jsonschema.Object(properties)
	out["required"] = always
	return out
}
