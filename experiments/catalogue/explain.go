package catalogue

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/jsonschema"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/reports/stores"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// Explain documents a name of the Catalogue: its description, its hyperparameters with their
// defaults and bounds, its other options, and where a file uses it. It also documents words of the
// glossary, keys of the file, columns and fields of the results, tables of export, and kinds of
// warnings and failures. For an experiment of the gallery it prints the file.
func Explain(out io.Writer, name string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	var have []string
	found := 0
	for _, k := range spec.Kinds() {
		for _, e := range k.Entries {
			if have = append(have, e.Name); e.Name != name {
				continue
			}
			if found++; found > 1 {
				fmt.Fprintln(w)
			}
			if e.File != nil {
				_, err := out.Write(e.File)
				return err
			}
			explainEntry(w, k, e)
		}
	}
	more, names := explainKey(w, name, found > 0)
	if have = append(have, names...); more || found == 0 && explainHyperparameter(w, name) {
		found++
	}
	if small := strings.ToLower(name); found == 0 && small != name && Explain(io.Discard, small) == nil {
		return Explain(out, small)
	}
	if found == 0 {
		return fmt.Errorf("nothing is called %q%s (gpc-tune list shows all names)", name, registry.Nearest(name, have))
	}
	return w.Flush()
}

// explainEntry documents an entry of the Catalogue.
func explainEntry(w io.Writer, k spec.Kind, e spec.Entry) {
	fmt.Fprintf(w, "%s (gpc-tune list %s)\n%s\n", e.Name, k.Name, e.Doc)
	options := explainOptions(w, k, e)
	fmt.Fprintf(w, "\nin a file:\n")
	if k.Name != "strategies" || e.Component != nil {
		fmt.Fprintf(w, "  "+k.In+"\n", example(e))
	}
	if len(options) > 0 {
		with := "{%s: {%s: …}}"
		if k.Name == "strategies" {
			with = "%s, %s: …"
		}
		fmt.Fprintf(w, "  "+k.In+"\n", fmt.Sprintf(with, e.Name, strings.Join(options, ": …, ")))
	}
}

// alsoExplained lists further sources of explanations. Each writes its explanation of a name, and
// returns all names that it knows.
var alsoExplained = []func(write func(format string, args ...any), name string) (names []string){
	explainWords, explainFileKeys, explainCalibrations, explainColumns, explainTables, explainCauses, explainFields,
}

// explainKey documents the words of the glossary, the keys of the file, headings of tables and
// fields of results with this name; below means that something precedes them. It returns all names
// that it knows.
func explainKey(w io.Writer, name string, below bool) (found bool, names []string) {
	write := func(format string, args ...any) {
		if below {
			fmt.Fprintln(w)
		}
		found, below = true, true
		fmt.Fprintf(w, format, args...)
	}
	for _, explain := range alsoExplained {
		names = append(names, explain(write, name)...)
	}
	return found, names
}

func explainWords(write func(format string, args ...any), name string) (names []string) {
	for _, t := range glossary() {
		if names = append(names, t.words...); t.named(name) {
			write("%s (a word of the glossary)\n%s\n", name, t.meaning)
		}
	}
	return names
}

func explainFileKeys(write func(format string, args ...any), name string) (names []string) {
	for _, s := range spec.Sections {
		for _, k := range s.Keys {
			if names = append(names, k.Name); k.Name == name {
				write("%s (a key of the file: %s)\n%s\n%s", k.Name, s.Name, k.Doc, usage(k))
			}
		}
	}
	return names
}

// explainColumns documents columns of tables by their headings.
func explainColumns(write func(format string, args ...any), name string) (names []string) {
	column := strings.TrimSuffix(table.Heading(name), " %")
	for _, s := range cv.Scores {
		heading := strings.TrimSuffix(s.Column.Heading, " %")
		if heading == "" {
			continue
		}
		if names = append(names, heading); column == heading && column != s.Name {
			write("%s (a column of tables)\nthe score %s: %s (%s)\n", name, s.Name, s.Doc, s.Unit)
		}
	}
	for _, heading := range slices.Sorted(maps.Keys(table.HeadDocs)) {
		if heading == "" {
			continue
		}
		if names = append(names, heading); column == heading {
			write("%s (a column of tables)\n%s\n", name, table.HeadDocs[heading])
		}
	}
	return names
}

func explainTables(write func(format string, args ...any), name string) (names []string) {
	for _, s := range table.Exported() {
		if names = append(names, s.Name); plain(s.Name) == plain(name) {
			write("%s (a table of gpc-tune export)\n%s\n", s.Name, cmp.Or(s.Doc, "see the columns"))
		}
	}
	for _, s := range stores.All {
		if names = append(names, s.Name); s.Name == plain(name) {
			write("%s (gpc-tune export --what %s)\n%s\n", s.Name, s.Name, s.Doc)
		}
	}
	return names
}

// explainCauses documents a kind of warnings and failures. Its names are suggested to nobody.
func explainCauses(write func(format string, args ...any), name string) []string {
	kind := cause.Kind(name)
	if name == "" || kind.UnmarshalText([]byte(name)) != nil {
		return nil
	}
	text, meaning, _ := kind.Explanation()
	if meaning != "" {
		text += ": " + meaning
	}
	for _, r := range kind.Remedies() {
		text += "\n  remedy: " + r
	}
	write("%s (a kind of warnings and failures)\n%s\n", name, text)
	return nil
}

// explainFields documents fields of results.json and other outputs. The meanings of a field in the
// parts of an output stand together, each once in all outputs.
func explainFields(write func(format string, args ...any), name string) (names []string) {
	var said []string
	for _, s := range Schemas {
		if s.Of == nil {
			continue
		}
		before := len(said)
		for _, of := range fieldsOf(outputSchema(reflect.TypeOf(s.Of), "")) {
			if of[1] == "" {
				continue
			}
			if names = append(names, of[0]); name == of[0] && !slices.Contains(said, of[1]) {
				said = append(said, of[1])
			}
		}
		switch here := said[before:]; len(here) {
		case 0:
		case 1:
			write("%s (a field of %s)\n%s\n", name, s.Doc, here[0])
		default:
			write("%s (a field of several parts of %s)\n- %s\n", name, s.Doc, strings.Join(here, "\n- "))
		}
	}
	return names
}

// explainCalibrations documents the way of calibration with this name. It returns all their names.
func explainCalibrations(write func(format string, args ...any), name string) (names []string) {
	for _, c := range cv.Calibrations {
		if names = append(names, c.Name); c.Name == name {
			write("%s (a way of calibration)\n%s\n  example: predict: {calibrate: %[1]s}\n", c.Name, c.Doc)
		}
	}
	return names
}

// explainHyperparameter documents a hyperparameter by its name in reports, as likelihood.noise,
// 2.se.length_scale[3], or start amplitude of restarts; the words before the last dot name the part
// of the model.
func explainHyperparameter(w io.Writer, name string) (found bool) {
	path := strings.Split(strings.TrimPrefix(strings.TrimPrefix(name, "start "), "end "), ".")
	last, _, _ := strings.Cut(path[len(path)-1], "[")
	of := ""
	if len(path) > 1 {
		of = path[len(path)-2]
	}
	for _, k := range spec.Kinds() {
		for _, e := range k.Entries {
			if of != "" && e.Name != of && k.Name != of+"s" {
				continue
			}
			for _, s := range hyperparameters(e) {
				if part, _, _ := strings.Cut(s.Name, "["); part != last {
					continue
				}
				if !found {
					fmt.Fprintf(w, "%s (a hyperparameter)\n  of\tin gpc-tune list\tstarts at\tbounds\t"+
						"on the theta scale\n", name)
				}
				found = true
				fmt.Fprintf(w, "  %s\t%s\t%s\t%.3g … %.3g\t%s\n", e.Name, k.Name, starts(s), s.Lo, s.Hi, s.ThetaName())
			}
		}
	}
	if found {
		fmt.Fprintf(w, "\nin a file: a number, {init: v} or {fixed: v}; {init: 1} tunes one that is held\n")
	}
	return found
}

// hyperparameters lists the hyperparameters that a component has for one input.
func hyperparameters(e spec.Entry) []param.Spec {
	switch c := e.Component.(type) {
	case interface{ Params(int) []param.Spec }:
		return c.Params(1)
	case interface{ Params() []param.Spec }:
		return c.Params()
	}
	return nil
}

// starts returns the initial value of a hyperparameter, in words.
func starts(s param.Spec) string {
	start := fmt.Sprintf("%.6g", s.Init)
	switch {
	case math.IsNaN(s.Init):
		start = "from the data"
	case s.Fixed:
		start += ", held there"
	}
	return start
}

// usage has the default of a key and an example, one line each, if documented.
func usage(k spec.Key) (lines string) {
	for _, of := range [][2]string{{"default", k.Default}, {"example", k.Example}} {
		if of[1] != "" {
			lines += fmt.Sprintf("  %s: %s\n", of[0], of[1])
		}
	}
	return lines
}

// fieldsOf lists the property names of a schema and of its parts with their descriptions, without
// duplicates.
func fieldsOf(s jsonschema.Schema) (fields [][2]string) {
	take := func(of any) {
		part, _ := of.(jsonschema.Schema)
		properties, _ := part["properties"].(jsonschema.Schema)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			property, _ := properties[name].(jsonschema.Schema)
			text, _ := property["description"].(string)
			if f := [2]string{name, text}; !slices.Contains(fields, f) {
				fields = append(fields, f)
			}
		}
	}
	take(s)
	if defs, is := s["$defs"].(jsonschema.Schema); is {
		for _, name := range slices.Sorted(maps.Keys(defs)) {
			take(defs[name])
		}
	}
	return fields
}

// Names lists all names that Explain knows.
func Names() (names []string) {
	for _, k := range spec.Kinds() {
		for _, e := range k.Entries {
			names = append(names, e.Name)
		}
	}
	_, more := explainKey(io.Discard, "", false)
	names = append(names, more...)
	slices.Sort(names)
	return slices.Compact(names)
}

// explainOptions writes the hyperparameters of a component, for one input, and its other options.
// It returns their names.
func explainOptions(w io.Writer, k spec.Kind, e spec.Entry) (names []string) {
	for i, s := range hyperparameters(e) {
		if names = append(names, s.Name); i == 0 {
			fmt.Fprintf(w, "\nhyperparameters: each is a number, {init: v} or {fixed: v}, optionally with "+
				"bounds: [lo, hi] and prior:\n  name\tstarts at\tbounds\ton the theta scale\n")
		}
		fmt.Fprintf(w, "  %s\t%s\t%.3g … %.3g\t%s\n", s.Name, starts(s), s.Lo, s.Hi, s.ThetaName())
	}
	if e.Options == nil {
		return nil
	}
	heading := "\noptions:\n"
	registry.Options(e.Defaults, func(name string, f reflect.Value, of reflect.StructField) {
		if !slices.Contains(names, name) {
			usual := describeDefault(f)
			fmt.Fprintf(w, "%s  %s\t%s%s%s\n", heading, name, describeField(of), usual, meaning(k, name, usual == ""))
			names, heading = append(names, name), ""
		}
	})
	return names
}

// meaning describes an option by the section of the file that has the name of the kind; empty if
// there is none. With usual it has the default value.
func meaning(k spec.Kind, option string, usual bool) string {
	for _, s := range spec.Sections {
		for _, key := range s.Keys {
			if s.Name != k.Name || key.Name != option {
				continue
			}
			if usual && key.Default != "" {
				return ": " + key.Doc + " (default " + key.Default + ")"
			}
			return ": " + key.Doc
		}
	}
	return ""
}

// describeDefault returns the default, if it is one value.
func describeDefault(v reflect.Value) string {
	of, named := v.Interface().(interface{ Names() []string })
	switch {
	case named:
		return ", by default " + of.Names()[v.Int()]
	case v.Kind() == reflect.Slice && v.Len() > 0:
		return ", by default " + strings.ReplaceAll(strings.Trim(fmt.Sprint(v), "[]"), " ", ", ")
	case v.Kind() == reflect.Bool, (v.CanInt() || v.CanFloat()) && !v.IsZero():
		return fmt.Sprintf(", by default %v", v)
	case v.Kind() == reflect.Struct && !v.IsZero():
		var parts []string
		registry.Options(v, func(name string, f reflect.Value, _ reflect.StructField) {
			parts = append(parts, fmt.Sprintf("%s: %v", name, f))
		})
		return ", by default {" + strings.Join(parts, ", ") + "}"
	}
	return ""
}

// describeField describes the possible values of an option: their type and the range of a number.
func describeField(of reflect.StructField) string {
	text := describeType(of.Type)
	if i, ok := declared.Within(of); ok {
		return strings.TrimSuffix(text, ", 0 or more") + ", " + i.String()
	}
	return text
}

// describeType describes the possible values in words.
func describeType(t reflect.Type) string {
	if of, ok := reflect.New(t).Interface().(interface{ Names() []string }); ok {
		return strings.Join(of.Names(), " | ")
	}
	switch t.Kind() {
	case reflect.Pointer:
		return describeType(t.Elem())
	case reflect.Slice:
		return "a list, each " + describeType(t.Elem())
	case reflect.Array:
		return fmt.Sprintf("a list of %d, each %s", t.Len(), describeType(t.Elem()))
	case reflect.Map:
		return "{name: …}, each " + describeType(t.Elem())
	case reflect.Interface:
		return "a prior (gpc-tune list priors)"
	case reflect.Struct:
		if t == reflect.TypeFor[param.Setting]() {
			return "a hyperparameter"
		}
		if what, _ := declared.Inner(t); what != "" {
			return "a " + what
		}
		var parts []string
		registry.Options(reflect.New(t).Elem(), func(name string, _ reflect.Value, of reflect.StructField) {
			parts = append(parts, name+": "+describeField(of))
		})
		if parts == nil {
			return "a number or a name"
		}
		text := "{" + strings.Join(parts, ", ") + "}"
		if of, ok := reflect.New(t).Interface().(interface{ Reads() ([]string, bool) }); ok {
			texts, numbers := of.Reads()
			if numbers {
				texts = append([]string{"a number"}, texts...)
			}
			text = strings.Join(append(texts, text), " | ")
		}
		return text
	}
	return declared.TypeName(t.Kind())
}

// example is the entry as a file uses it.
func example(e spec.Entry) string {
	if shape, _, ok := strings.Cut(e.Doc, "; "); ok && strings.HasPrefix(shape, e.Name+": ") {
		return "{" + shape + "}"
	}
	return e.Name
}
