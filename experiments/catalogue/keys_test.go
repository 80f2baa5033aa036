package catalogue

import (
	"bytes"
	"flag"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/jsonschema"
	_ "github.com/gpc-tune/gpc-tune/internal/testing/garbage"
	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
)

var update = flag.Bool("update", false, "write docs/file.md and docs/names.md")

// described visits the properties of a schema and of its parts.
func described(s any, visit func(name string, property jsonschema.Schema)) {
	switch s := s.(type) {
	case jsonschema.Schema:
		if properties, is := s["properties"].(jsonschema.Schema); is {
			for name, p := range properties {
				visit(name, p.(jsonschema.Schema))
			}
		}
		for _, v := range s {
			described(v, visit)
		}
	case []jsonschema.Schema:
		for _, v := range s {
			described(v, visit)
		}
	}
}

// Every key of the file is explained, and every explanation belongs to a key.
func TestEveryKeyIsExplained(t *testing.T) {
	known := map[string]bool{}
	described(spec.ExperimentSchema(), func(name string, property jsonschema.Schema) {
		if known[name] = true; property["description"] == nil {
			t.Errorf("key %s has no description; add it to spec.Sections", name)
		}
	})
	for _, s := range spec.Sections {
		for i, k := range s.Keys {
			if !known[k.Name] {
				t.Errorf("%s: %s is no key of the file", s.Name, k.Name)
			}
			if k.Doc == "" || slices.ContainsFunc(s.Keys[:i], func(o spec.Key) bool { return o.Name == k.Name }) {
				t.Errorf("%s: %s is without an explanation, or there twice", s.Name, k.Name)
			}
			if k.Example != "" && !strings.Contains(k.Example, k.Name) {
				t.Errorf("%s: the example of %s is without it: %s", s.Name, k.Name, k.Example)
			}
		}
	}
}

// docs/file.md is the output of writeKeys, docs/names.md the output of writeNames.
func TestGuide(t *testing.T) {
	for name, write := range map[string]func(io.Writer) error{
		"../../docs/file.md": writeKeys, "../../docs/names.md": writeNames,
	} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(name, got.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, _ := os.ReadFile(name)
		golden.Equal(t, name+" (if it is meant: go test ./experiments/catalogue -update)", got.Bytes(), want)
	}
}

// Every reason why a likelihood does not go with an inference method says what to use instead.
func TestImpossiblePairsHaveAWayOut(t *testing.T) {
	for _, reason := range strings.Split(pairs(), "\n") {
		if number, _, found := strings.Cut(reason, ". "); found && len(number) == 1 && !strings.Contains(reason, "use ") {
			t.Errorf("no way out: %s", reason)
		}
	}
}

// Names of every kind are explained: a component, a key, a column, a score, a field of the results.
func TestExplain(t *testing.T) {
	for name, want := range map[string]string{
		"se": "gpc-tune list kernels", "missing": "a key of the file: data", "bits": "the score information_bits",
		"loo": "leave-one-out", "f1": "gpc-tune list scores", "log": "natural logarithms",
		"leave_one_out": "gpc-tune list splitters", "hyperparameters": "natural units",
	} {
		var out bytes.Buffer
		if err := Explain(&out, name); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("explain %s: %v, without %q:\n%s", name, err, want, out.String())
		}
	}
	if err := Explain(&bytes.Buffer{}, "missng"); err == nil || !strings.Contains(err.Error(), `did you mean "missing"`) {
		t.Errorf("error %v", err)
	}
}

// A schema has definitions if its output has parts, and only then.
func TestDefinitionsOfSchemas(t *testing.T) {
	type part struct {
		N int `json:"n"`
	}
	for _, c := range []struct {
		of   any
		want bool
	}{{part{}, false}, {struct {
		Part part `json:"part"`
	}{}, true}} {
		if _, has := outputSchema(reflect.TypeOf(c.of), "")["$defs"]; has != c.want {
			t.Errorf("%T: definitions %v", c.of, has)
		}
	}
}
