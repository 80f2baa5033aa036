package experiments

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gpc-tune/gpc-tune/experiments/catalogue"
	"github.com/gpc-tune/gpc-tune/experiments/check"
	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/gallery"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/query"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/reports"
)

// compiled returns one of Schemas compiled by an independent validator, which also checks it
// against the meta-schema.
func compiled(t testing.TB, name string) *jsonschema.Schema {
	t.Helper()
	if s := compiledSchemas[name]; s != nil {
		return s
	}
	var text bytes.Buffer
	if err := catalogue.WriteSchema(&text, name); err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(&text)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	compiledSchemas[name] = s
	return s
}

// compiledSchemas are the results of compiled.
var compiledSchemas = map[string]*jsonschema.Schema{}

func TestUnknownSchema(t *testing.T) {
	if err := catalogue.WriteSchema(&bytes.Buffer{}, "result"); err == nil || !strings.Contains(err.Error(), `did you mean "results"?`) {
		t.Errorf("error %v", err)
	}
}

// everything is a file with every component of every table, by its name alone and with options.
func everything() map[string]any {
	both := func(kind string, leave ...string) (out []any) {
		for _, k := range catalogue.All() {
			for _, e := range k.Entries {
				if k.Name == kind && !slices.Contains(leave, e.Name) {
					out = append(out, e.Name, map[string]any{e.Name: map[string]any{}}, map[string]any{e.Name: nil})
				}
			}
		}
		return out
	}
	kernels := append(both("kernels", "sum", "product", "active", "additive", "choice", "per_class"),
		map[string]any{"sum": []any{"se", map[string]any{"product": []any{"linear", map[string]any{"periodic": map[string]any{"period": []any{1, map[string]any{"fixed": 2}}, "ard": true}}}}}},
		map[string]any{"active": map[string]any{"dims": []any{1, 2}, "kernel": "se"}}, map[string]any{"additive": map[string]any{"kernel": "se"}}, map[string]any{"choice": []any{"se", map[string]any{"matern32": map[string]any{"ard": []any{true, false}}}}}, map[string]any{"per_class": []any{"se", "noise"}})
	for _, prior := range both("priors") {
		kernels = append(kernels, map[string]any{"se": map[string]any{"amplitude": map[string]any{"init": []any{1, 2}, "bounds": []any{0.1, 10}, "prior": prior}}})
	}
	return map[string]any{"version": 1, "name": "all", "seed": 3,
		"data": []any{map[string]any{"dataset": []any{"crabs", "pima"}, "preprocess": []any{"whiten", "none", map[string]any{"whiten": []any{"all", "training"}}}}, map[string]any{"train": "a.csv", "drop": []any{"x", 2}, "id": "name", "classes": []any{3, "5"}, "subsample": []any{10, 20}}},
		"model": map[string]any{"kernel": kernels, "mean": append(both("means"), map[string]any{"constant": 0.5}), "likelihood": append(both("likelihoods", "choice"), map[string]any{"choice": []any{"probit", map[string]any{"noisy_threshold": map[string]any{"epsilon": []any{0.1, 0.2}}}}}, map[string]any{"noisy_threshold": map[string]any{"epsilon": 0.1}}),
			"inference": append(both("inference"), map[string]any{"ep": map[string]any{"schedule": []any{"mixed", "parallel"}, "damping": 0.5, "quadrature": map[string]any{"order": 10}, "unconverged": "accept"}}, map[string]any{"online": map[string]any{"order_seed": "none"}}, map[string]any{"svm": map[string]any{"costs": []any{1, 2}}}), "classes": []any{"joint", "one_vs_rest"}},
		"evaluate": map[string]any{"test": nil, "nested": map[string]any{"outer": map[string]any{"kfold": map[string]any{"k": 3}}, "score": "log_evidence"}, "hold_out": map[string]any{"stratified": false}},
		"race":     map[string]any{"paired_t": map[string]any{"alpha": 0.1}, "score": "auc"},
		"tune":     []any{"bfgs", map[string]any{"gradient": "differences", "restarts": 2, "stop": map[string]any{"patience": 3, "target": -1.5, "time": "10m"}}, map[string]any{"method": "bayes", "stop": map[string]any{"improvement": 0.1}}, map[string]any{"method": "grid", "objective": map[string]any{"cv": map[string]any{"score": "auc", "kfold": map[string]any{"k": 3}}}, "grid": map[string]any{"length_scale": map[string]any{"log": []any{0, 1}, "points": 3}}}},
		"predict":  map[string]any{"average": map[string]any{"monte_carlo": map[string]any{"samples": 10}}, "reject": "gap", "loss": map[string]any{"M": map[string]any{"F": 5}}, "reject_cost": 0.3},
		"report":   map[string]any{"formats": "html", "curves": []any{"calibration"}, "figures": []any{"grid", "latent-0"}},
	}
}

// illustrating is a file with every illustration.
func illustrating() map[string]any {
	return map[string]any{"version": 1, "name": "all", "seed": 3,
		"illustrate": []any{"prior", map[string]any{"prior": map[string]any{"inputs": map[string]any{"from": -1, "to": 1.5, "points": 3}, "draws": 2, "classes": nil}}, "likelihood", map[string]any{"likelihood": map[string]any{"latent": map[string]any{"points": 3}, "label": 1}},
			"posterior", map[string]any{"posterior": map[string]any{"mean": []any{1}, "covariance": []any{[]any{9}}, "labels": 1}},
			"softmax", map[string]any{"softmax": map[string]any{"deviations": []any{1, 2, 3}, "latent": map[string]any{"points": 3}}},
			"cavity", map[string]any{"cavity": map[string]any{"covariance": []any{[]any{9}}, "labels": 1, "precision": map[string]any{"to": 3}}}},
		"model":  map[string]any{"kernel": []any{"se", "noise"}, "mean": "zero", "likelihood": []any{"probit", map[string]any{"noisy_threshold": map[string]any{"epsilon": 0.1}}}, "inference": []any{"ep", map[string]any{"pl": map[string]any{"max_iterations": 3}}}},
		"report": map[string]any{"formats": "html"},
	}
}

// Every bundled experiment, the files of the README and a file with everything are valid.
func TestSchemaOfExperiments(t *testing.T) {
	s := compiled(t, "experiment")
	valid := func(name string, text []byte) {
		t.Helper()
		var file any
		if err := strictyaml.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(file); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range gallery.Names() {
		text, err := gallery.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		valid(name, text)
	}
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(readme), "```yaml\n")
	block, _, _ = strings.Cut(block, "```")
	valid("README.md", []byte(block))
	all := everything()
	text, err := strictyaml.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	valid("everything", text)
	if text, err = strictyaml.Marshal(illustrating()); err != nil {
		t.Fatal(err)
	}
	valid("illustrating", text)
	for _, k := range catalogue.All() { // one at a time where a file has only one of them
		for _, e := range k.Entries {
			for key, kind := range map[string]string{"tune": "strategies", "evaluate": "splitters", "race": "races"} {
				if k.Name == kind {
					if key != "tune" || e.Component != nil {
						valid(e.Name, fmt.Appendf(nil, "data: {dataset: iris}\nmodel: {inference: p1nn}\n%s: %s\n", key, e.Name))
					} else if s.Validate(map[string]any{"data": map[string]any{"dataset": "iris"}, "tune": e.Name}) == nil {
						t.Errorf("%s is valid without its options", e.Name)
					}
					if key == "tune" {
						valid(e.Name, fmt.Appendf(nil, "data: {dataset: iris}\nmodel: {inference: p1nn}\ntune: {method: %s, objective: loo_log_probability, inference: [ep, {pl: {}}]}\n", e.Name))
					} else {
						valid(e.Name, fmt.Appendf(nil, "data: {dataset: iris}\nmodel: {inference: p1nn}\n%s: {%s: {}}\n", key, e.Name))
					}
				}
			}
		}
	}
}

// Each value of the files in turn becomes an odd one: the schema accepts every value that the
// decoder accepts. It rejects every value that the decoder rejects for its form or as an unknown
// key or name.
func TestSchemaAgreesWithTheDecoder(t *testing.T) {
	s := compiled(t, "experiment")
	tried, taken, refused := 0, 0, 0
	try := func(root any) {
		if tried++; !exhaustive.Tries(4, tried) {
			return
		}
		text, err := strictyaml.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		_, err = spec.Parse("t.yaml", text, nil)
		valid := s.Validate(root)
		if err == nil {
			if taken++; valid != nil {
				t.Errorf("%s\nis valid, but not by the schema: %v", text, valid)
			}
			return
		}
		for _, of := range []string{"unknown ", "expected ", "no data;", "no model;"} {
			if !strings.Contains(err.Error(), of) || strings.Contains(err.Error(), "unknown figure") || strings.Contains(err.Error(), "found nothing") {
				continue
			}
			if refused++; valid == nil {
				t.Errorf("%s\nis valid by the schema, but: %v", text, err)
			}
			return
		}
	}
	file := everything()
	file["data"], file["model"] = map[string]any{"dataset": "crabs", "preprocess": []any{"whiten", "none"}}, map[string]any{
		"kernel":     []any{map[string]any{"sum": []any{"se", map[string]any{"linear": map[string]any{"bias": true, "amplitude": map[string]any{"init": 1, "bounds": []any{0.1, 10}, "prior": map[string]any{"gamma": map[string]any{"shape": 1, "rate": 1}}}}}}}},
		"likelihood": map[string]any{"noisy_threshold": map[string]any{"epsilon": 0.1}}, "inference": map[string]any{"ep": map[string]any{"schedule": "mixed", "max_iterations": 10}}}
	damageYAML(file, func() { try(file) })
	file = illustrating()
	damageYAML(file, func() { try(file) })
	if taken < exhaustive.Of(25, 100) || refused < exhaustive.Of(75, 300) {
		t.Errorf("only %d changes taken and %d refused", taken, refused)
	}
}

// damageYAML replaces each value of a tree by odd ones, adds a key to each mapping, and calls try
// each time.
func damageYAML(node any, try func()) {
	each := func(old any, set func(any)) {
		for _, v := range []any{"x", 2, -1.5, true, nil, []any{}, []any{"x"}, map[string]any{}, map[string]any{"x": 1}} {
			set(v)
			try()
		}
		set(old)
		damageYAML(old, try)
	}
	switch node := node.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(node)) { // the same ones are tried each time
			each(node[key], func(v any) { node[key] = v })
		}
		node["strange"] = 1
		try()
		delete(node, "strange")
	case []any:
		for i, old := range node {
			each(old, func(v any) { node[i] = v })
		}
	}
}

// What runs write conforms to the schemas; with a key too many, a key too few or a value of another
// type it does not.
func TestSchemasOfOutputs(t *testing.T) {
	schemas := map[string]*jsonschema.Schema{}
	for _, s := range catalogue.Schemas {
		schemas[s.Name] = compiled(t, s.Name)
	}
	seen := map[string]int{}
	compare := func(name string, text []byte) {
		t.Helper()
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := schemas[name].Validate(value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		root := value.(map[string]any)
		root["strange"] = 1
		if schemas[name].Validate(value) == nil {
			t.Errorf("%s may have a strange key", name)
		}
		delete(root, "strange")
		for key, old := range root {
			root[key] = map[string]any{"strange": []any{}}
			if schemas[name].Validate(value) == nil && !slices.Contains([]string{"theta", "gradient", "scores", "point"}, key) {
				t.Errorf("%s: %s may be anything", name, key)
			}
			root[key] = old
		}
		seen[name]++
	}
	write := func(name string, v any) {
		t.Helper()
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		compare(name, text)
	}
	file := func(name string, path ...string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(path...))
		if err != nil {
			t.Fatal(err)
		}
		compare(name, text)
	}
	for _, text := range []string{
		"data: {dataset: crabs, subsample: 40}\nmodel: {kernel: se, likelihood: probit, inference: [laplace, p1nn]}\ntune: {method: bfgs, restarts: 2, standard_errors: true}\nevaluate: {kfold: {k: 2}, nested: {outer: {kfold: {k: 2}}, inner: {kfold: {k: 2}}}}\n" +
			"race: successive_halving\nreport: {curves: [error_reject, information_reject, calibration]}\npredict: {loss: {M: {F: 5}}, reject_cost: 0.3}\n",
		"data: {dataset: iris, subsample: 40}\nmodel: {kernel: {per_class: se}, likelihood: softmax, inference: laplace}\ntune: {method: grid, grid: {'class[setosa].amplitude': {values: [1, 1e6]}}}\nevaluate: hold_out\n",
		"illustrate: [prior, likelihood, posterior]\nmodel: {kernel: [se, noise], likelihood: probit, inference: [ep, laplace]}\n",
		"data: {dataset: housing, subsample: 40}\nmodel: {kernel: {se: {amplitude: {prior: {half_normal: {scale: 2}}}, length_scale: {prior: {log_normal: {mean: 0, sd: 1}}}}}, likelihood: gaussian, inference: exact}\ntune: {method: mcmc, objective: log_posterior, samples: 4, burn: 2, restarts: 2}\nevaluate: hold_out\n",
	} {
		p, dir := plantest.Planned(t, text), filepath.Join(t.TempDir(), "run")
		_, _, err := run.Run(t.Context(), p, dir, run.Options{})
		if err != nil {
			t.Fatal(err)
		}
		file("results", dir, "results.json")
		file("manifest", dir, "manifest.json")
		file("timings", dir, "timings.json")
		segments, _ := filepath.Glob(filepath.Join(dir, "journal", "*.jsonl"))
		for _, segment := range segments {
			text, err := os.ReadFile(segment)
			if err != nil {
				t.Fatal(err)
			}
			for line := range bytes.Lines(text) {
				compare("journal", line)
			}
		}
		folder, err := run.ReadFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		progress, err := folder.Progress()
		if err != nil {
			t.Fatal(err)
		}
		write("status", progress)
		report, err := folder.Report()
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range [][2]int{{-1, -1}, {0, -1}, {0, 0}}[:min(3, 1+2*len(report.Configurations))] {
			shown, err := report.Show(of[0], of[1])
			if err != nil {
				t.Fatal(err)
			}
			write("show", shown)
		}
		if c, err := reports.Compare(report); err == nil {
			write("compare", c)
		}
	}
	q := query.Query{Data: "crabs", Kernel: "se", Mean: "zero", Likelihood: "probit", Inference: "laplace", LeaveOneOut: true}
	answer, err := q.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write("evidence", answer)
	q.Data, q.Mean, q.Inference = "", "zero", ""
	drawn, err := query.Sampling{Query: q, Grid: "0:1:3", Count: 2}.Draw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write("sample", drawn)
	p := plantest.Planned(t, valid)
	checked, err := check.Check(t.Context(), p, check.CheckOptions{Workers: 1, NoSampling: true})
	if err != nil {
		t.Fatal(err)
	}
	write("check", checked)
	name := modelOf(t, p, 0)
	file("model", name)
	file("model", modelOf(t, plantest.Planned(t, valid, "model.inference=svm"), 0))
	c, err := predict.LoadClassifier(name)
	if err != nil {
		t.Fatal(err)
	}
	predicted, err := c.Predict("crabs", spec.Deciding{Loss: "M,F,2"})
	if err != nil {
		t.Fatal(err)
	}
	write("predictions", predicted)
	p = plantest.Planned(t, "program: {minimize: true, hyperparameters: {x: {linear: {from: 0, to: 1}}}}\n"+
		"tune: {method: random, trials: 1}\n")
	dir := filepath.Join(t.TempDir(), "asked")
	for range 2 { // a point, and then none
		asked, err := run.Ask(t.Context(), p, dir, run.Options{})
		if err != nil {
			t.Fatal(err)
		}
		write("ask", asked)
	}
	for _, s := range catalogue.Schemas {
		if s.Of != nil && seen[s.Name] == 0 {
			t.Errorf("no %s was checked: %v", s.Name, reflect.TypeOf(s.Of))
		}
	}
}

// Every property of results.json has a description, and the description of a number names its
// scale.
func TestResultsAreDescribed(t *testing.T) {
	var text bytes.Buffer
	if err := catalogue.WriteSchema(&text, "results"); err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]struct{ Description string }
	}
	var s struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(text.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	s.Defs["reports.Report"] = s.object
	for name, of := range s.Defs {
		for key, p := range of.Properties {
			if p.Description == "" {
				t.Errorf("%s.%s has no description", name, key)
			}
			if key == "log_evidence" && !strings.Contains(p.Description, "nats") || key == "hyperparameters" && !strings.Contains(p.Description, "natural units") {
				t.Errorf("%s.%s: no scale in %q", name, key, p.Description)
			}
		}
	}
	if len(s.Defs) < 15 {
		t.Errorf("%d types in results.json", len(s.Defs))
	}
}

// Every number among the options of components and sections has a range, so that 0 cannot silently
// stand for a default. Keys of hyperparameters and grids accept any number.
func TestEveryOptionHasARange(t *testing.T) {
	free := []string{"init", "fixed", "bounds", "log", "linear", "values", "from", "to"} // none of these has a default of 0
	checked := 0
	var visit func(of reflect.Type)
	visit = func(of reflect.Type) {
		registry.Options(reflect.New(of).Elem(), func(name string, f reflect.Value, field reflect.StructField) {
			kind := f.Type()
			for kind.Kind() == reflect.Pointer || kind.Kind() == reflect.Slice || kind.Kind() == reflect.Array || kind.Kind() == reflect.Map {
				kind = kind.Elem()
			}
			switch k := kind.Kind(); {
			case reflect.PointerTo(kind).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) && k != reflect.Struct:
			case k == reflect.Struct:
				visit(kind)
			case k >= reflect.Int && k <= reflect.Float64:
				checked++
				if _, ok := declared.Within(field); !ok && !slices.Contains(free, name) {
					t.Errorf("%v has no range of %s: give the field a tag such as within:\"[1,1000]\"", of, name)
				}
			}
		})
	}
	for _, kind := range catalogue.All() {
		if kind.Name == "priors" || kind.Name == "illustrations" {
			continue // their defaults are not 0, and they check themselves
		}
		for _, e := range kind.Entries {
			if e.Options != nil {
				visit(e.Options)
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d numbers", checked)
	}
}
