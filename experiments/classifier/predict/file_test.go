package predict

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/modelfile"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	_ "github.com/gpc-tune/gpc-tune/internal/testing/garbage"
	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/reports"
)

// rows writes n cases of three inputs with labels that depend on them. One input is a combination
// of the others. Labels are classes, or numbers if classes is 0.
func rows(n, classes int, seed uint64) string {
	var b strings.Builder
	b.WriteString("who,x,label,y,z\n")
	for i := range n {
		u, v := float64((uint64(i)*37+seed)%101)/25-2, float64((uint64(i)*61+3*seed)%89)/22-2
		label := strconv.FormatFloat(u*v+math.Sin(3*u), 'g', -1, 64)
		if classes > 0 {
			label = string(rune('a' + int(math.Floor((u+v+8)*2))%classes))
		}
		fmt.Fprintf(&b, "n° %d,%v,%s,%v,%v\n", i, u, label, v, u+2*v)
	}
	return b.String()
}

// everyModel lists, as YAML flow text, the models of every inference with every likelihood that it
// supports on the given number of classes, with kernels of every shape, and every comparator.
func everyModel(t *testing.T, classes int) (models []string) {
	t.Helper()
	kernels := []string{"se", "{sum: [{se: {ard: true}}, {noise: {amplitude: {fixed: 0.31623}}}]}", "{product: [matern32, linear]}"}
	for _, a := range approx.Table {
		method, err := a.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		inference := a.Name
		if a.Name == "sampling" {
			inference = "{sampling: {chains: 8, samples: 2, temperatures: 1000}}"
		}
		for _, l := range likelihood.Table {
			lik, err := l.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			name := l.Name
			if name == "noisy_threshold" {
				name = "{noisy_threshold: {epsilon: 0.3}}" // for which few temperatures are enough
			}
			if name == "choice" {
				name = "{choice: [probit, logit]}"
			}
			add := func(kernel, mode string) {
				models = append(models, fmt.Sprintf("{kernel: %s, mean: {constant: 0.25}, likelihood: %s, inference: %s, classes: %s}", kernel, name, inference, mode))
			}
			k := kernels[len(models)%len(kernels)]
			if _, err := approx.Uses(method, lik, classes); err == nil {
				add(k, "joint")
				if lik.Domain() == likelihood.Categorical {
					add("{per_class: "+k+"}", "joint")
				}
			}
			if _, err := approx.Uses(approx.OneVsRest{Binary: method}, lik, classes); err == nil {
				add(k, "one_vs_rest")
				add("{per_class: "+k+"}", "one_vs_rest")
			}
		}
	}
	if classes > 0 {
		for _, c := range comparator.Table {
			models = append(models, fmt.Sprintf("{kernel: %s, inference: %s}", kernels[len(models)%len(kernels)], c.Name))
		}
	}
	return models
}

// fitted writes the model file of a configuration and returns its path.
func fitted(t *testing.T, p *plan.Plan, configuration int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "m.json")
	if _, _, err := Fit(t.Context(), p, name, FitOptions{Configuration: &configuration, Options: run.Options{Warn: t.Logf}}); err != nil {
		t.Fatal(err)
	}
	return name
}

// chains is a short MCMC over few hyperparameters, and prior gives them priors.
const chains = "{method: mcmc, objective: log_posterior, restarts: 2, burn: 5, samples: 4}"

func prior(kernel, likelihood, inference string) string {
	const of = "{prior: {log_normal: {mean: 0, sd: 1}}}"
	return fmt.Sprintf("{kernel: {%s: {amplitude: %s, length_scale: %s}}, likelihood: %s, inference: %s}", kernel, of, of, likelihood, inference)
}

// A model file gives exactly the predictions of the run that fitted the same model: every inference
// with every likelihood, on two and three classes and on numeric targets, and averages over Markov
// chains.
func TestModelFileGivesTheRunsPredictions(t *testing.T) {
	for _, f := range []struct {
		classes       int
		section, tune string
		models        []string
	}{
		{2, "preprocess: standardize, positive: a", "none", everyModel(t, 2)},
		{3, "preprocess: whiten, missing: mean, order: [b, a, c]", "none\npredict: {average: {monte_carlo: {samples: 10}}}", everyModel(t, 3)},
		{0, "preprocess: none", "none", everyModel(t, 0)},
		{2, "missing: median", chains, []string{prior("se", "probit", "laplace"), prior("matern32", "logit", "ep")}},
		{3, "preprocess: standardize", chains, []string{prior("se", "softmax", "laplace"), prior("se", "probit", "ep, classes: one_vs_rest")}},
		{0, "preprocess: none", chains, []string{prior("se", "gaussian", "exact")}},
		{2, "preprocess: standardize", "none", []string{
			"{kernel: {sum: [se, noise]}, mean: {constant: 0.3}, likelihood: probit, inference: {laplace: {inducing: 7}}}",
			"{kernel: {se: {ard: true}}, likelihood: logit, inference: {variational: {inducing: {points: 9, select: kmeans}}}}"}},
		{3, "missing: median", "none", []string{
			"{kernel: {per_class: matern52}, likelihood: probit, inference: {ep: {inducing: 6}}, classes: one_vs_rest}"}},
		{2, "missing: median", chains, []string{prior("se", "probit", "{ep: {inducing: {points: 5, correction: vfe}}}")}},
	} {
		dir, classes, models := t.TempDir(), f.classes, f.models
		for name, text := range map[string]string{"train.csv": rows(24, classes, 5), "test.csv": rows(9, classes, 11)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		text := fmt.Sprintf("data: {train: train.csv, test: test.csv, label: label, id: who, %s}\nmodel: [%s]\ntune: %s\nreport: {formats: predictions}\n", f.section, strings.Join(models, ", "), f.tune)
		s, err := spec.Parse(filepath.Join(dir, "t.yaml"), []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.New(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Manifest.Configurations) != len(models) {
			t.Fatalf("%d configurations of %d models", len(p.Manifest.Configurations), len(models))
		}
		folder := filepath.Join(dir, "run")
		if _, _, err := run.Run(t.Context(), p, folder, run.Options{Warn: t.Logf}); err != nil {
			t.Fatal(err)
		}
		want := cells(t, filepath.Join(folder, "predictions.csv"))
		for i, c := range p.Manifest.Configurations {
			loaded, err := LoadClassifier(fitted(t, p, i))
			if err != nil {
				t.Errorf("%s: %v", models[i], err)
				continue
			}
			predicted, err := loaded.Predict(filepath.Join(dir, "test.csv"), spec.Deciding{})
			if err != nil {
				t.Errorf("%s: %v", models[i], err)
				continue
			}
			var b bytes.Buffer
			if err := PredictedFormats[0].Render(&b, predicted); err != nil {
				t.Fatal(err)
			}
			got, err := csv.NewReader(&b).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			for k, row := range got[1:] {
				for j, name := range got[0] {
					if name == "who" {
						if want := fmt.Sprintf("n° %d", k); row[j] != want {
							t.Errorf("id %q, want %q", row[j], want)
						}
					}
					compared++
					if want := want[[3]string{strconv.Itoa(i), strconv.Itoa(k), name}]; row[j] != want {
						t.Errorf("%s, %s: case %d has %s %s, the run %s", c.Kernel, models[i], k, name, row[j], want)
					}
				}
			}
			if compared < 9*5 {
				t.Errorf("%s: %d cells", models[i], compared)
			}
		}
	}
}

// cells maps configuration, case and column of a table of predictions to the cell.
func cells(t *testing.T, name string) map[[3]string]string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	m := map[[3]string]string{}
	for _, row := range rows[1:] {
		for j, name := range rows[0] {
			m[[3]string{row[0], row[4], name}] = row[j]
		}
	}
	return m
}

const tuned = `data: {dataset: crabs, preprocess: standardize, subsample: 40}
model: {kernel: se, likelihood: probit, inference: [ep, laplace]}
tune: {method: bfgs, restarts: 2}
`

// Fit keeps the configuration of largest log evidence, in the same bytes for any number of workers.
func TestFitKeepsTheBestConfiguration(t *testing.T) {
	report := reported(t, tuned)
	best := 0
	if report.Configurations[1].LogEvidence > report.Configurations[0].LogEvidence {
		best = 1
	}
	var first []byte
	for _, workers := range []int{1, 3} {
		name := filepath.Join(t.TempDir(), "m.json")
		var told []string
		o := FitOptions{Options: run.Options{Warn: func(format string, args ...any) {
			told = append(told, fmt.Sprintf(format, args...))
		}}}
		o.Workers = workers
		f, _, err := Fit(t.Context(), plantest.Planned(t, tuned), name, o)
		if err != nil {
			t.Fatal(err)
		}
		if want := report.Configurations[best]; float64(f.LogEvidence) != float64(want.LogEvidence) || f.Model.Inference != want.Inference.Text {
			t.Errorf("kept %v of %s, want %v of %s", f.LogEvidence, f.Model.Inference, want.LogEvidence, want.Inference)
		}
		want := fmt.Sprintf("configuration %d (crabs, se, probit, %s) is selected: its log_evidence of ", best,
			f.Model.Inference)
		if len(told) == 0 || !strings.HasPrefix(told[0], want) {
			t.Errorf("told %q, want %s", told, want)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = text
		}
		golden.Equal(t, fmt.Sprintf("%d workers write other bytes", workers), text, first)
	}
}

func TestFitRefuses(t *testing.T) {
	for text, says := range map[string]string{
		strings.Replace(tuned, "crabs", "[crabs, pima]", 1): "have different labels",
	} {
		_, _, err := Fit(t.Context(), plantest.Planned(t, text), filepath.Join(t.TempDir(), "m.json"), FitOptions{Options: run.Options{Warn: t.Logf}})
		if !errors.Is(err, spec.ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	if _, _, err := Fit(t.Context(), plantest.Planned(t, tuned), filepath.Join(t.TempDir(), "no", "m.json"), FitOptions{Options: run.Options{Warn: t.Logf}}); !errors.Is(err, spec.ErrInvalid) {
		t.Errorf("no folder: %v", err)
	}
	if _, _, err := Fit(t.Context(), plantest.Planned(t, tuned), filepath.Join(t.TempDir(), "m.json"), FitOptions{Configuration: new(2), Options: run.Options{Warn: t.Logf}}); !errors.Is(err, spec.ErrInvalid) {
		t.Errorf("configuration 2 of 2: %v", err)
	}
}

// models are small model files of two classes, three classes and numeric targets, and of every
// comparator.
func models(t testing.TB) (texts [][]byte) {
	t.Helper()
	dir := t.TempDir()
	for _, m := range []struct {
		classes int
		model   string
	}{
		{2, "{kernel: se, likelihood: probit, inference: laplace}\ntune: none"},
		{3, "{kernel: {per_class: se}, likelihood: logit, inference: ep, classes: one_vs_rest}\ntune: none"},
		{0, "{kernel: se, likelihood: gaussian, inference: exact}\ntune: none"},
		{3, "{inference: base_rate}"},
		{2, "{inference: p1nn}"},
		{2, "{kernel: se, inference: {svm: {costs: [1], length_scales: [2], folds: 2}}}"},
		{3, "{kernel: se, inference: least_squares}"},
		{2, "{inference: logistic_regression}"},
		{2, prior("se", "probit", "laplace") + "\ntune: " + strings.Replace(chains, "restarts: 2", "restarts: 1", 1)},
		{2, "{kernel: se, likelihood: probit, inference: {laplace: {inducing: 4}}}\ntune: none"},
		{3, "{kernel: se, likelihood: logit, inference: {ep: {inducing: 3}}, classes: one_vs_rest}\ntune: none"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "train.csv"), []byte(rows(8, m.classes, 5)), 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := spec.Parse(filepath.Join(dir, "t.yaml"), []byte("data: {train: train.csv, label: label, id: who, missing: median, preprocess: standardize}\nmodel: "+m.model+"\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.New(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, "m.json")
		if _, _, err := Fit(t.Context(), p, name, FitOptions{Options: run.Options{Warn: t.Logf}}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	return texts
}

// A model file cut anywhere is detected, and so is one with lists of another length, with a missing
// field or with an extra one.
func TestDamagedModelFilesAreErrors(t *testing.T) {
	refused := func(what string, text []byte) {
		t.Helper()
		f, err := modelfile.Read(bytes.NewReader(text))
		if err == nil {
			_, err = restore(f, "m.json")
		}
		if err == nil {
			t.Errorf("%s was accepted", what)
		}
	}
	for _, text := range models(t) {
		if f, err := modelfile.Read(bytes.NewReader(text)); err != nil {
			t.Fatal(err)
		} else if _, err := restore(f, "m.json"); err != nil {
			t.Fatal(err)
		}
		for cut := range len(text) - 2 { // without the last brace
			refused(fmt.Sprintf("the first %d bytes", cut), text[:cut])
		}
		var laidOut bytes.Buffer
		if err := json.Indent(&laidOut, text, "", "\t"); err != nil {
			t.Fatal(err)
		}
		if f, err := modelfile.Read(bytes.NewReader(laidOut.Bytes())); err != nil {
			t.Error(err)
		} else if _, err := restore(f, "m.json"); err != nil {
			t.Errorf("the same content laid out in another way: %v", err)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		with := func(name string, value string) []byte {
			changed := map[string]json.RawMessage{}
			for k, v := range fields {
				changed[k] = v
			}
			if changed[name] = json.RawMessage(value); value == "" {
				delete(changed, name)
			}
			b, err := json.Marshal(changed)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		refused("another field", with("colour", "1"))
		refused("another seed", with("seed", "2"))
		refused("other scales", with("preprocess", strings.Replace(string(fields["preprocess"]), `"scale":[`, `"scale":[1`, 1)))
		for _, name := range []string{"schema", "log_evidence", "model", "theta", "columns", "preprocess", "inputs", "training",
			"inducing", "hash"} {
			if fields[name] != nil {
				refused("no "+name, with(name, ""))
			}
			refused("null "+name, with(name, "null"))
			refused("a number for "+name, with(name, "17"))
		}
		for name, value := range fields {
			var list []json.RawMessage
			if json.Unmarshal(value, &list) != nil || len(list) == 0 {
				continue
			}
			for what, changed := range map[string][]json.RawMessage{
				"shorter": list[1:], "longer": append(list[:len(list):len(list)], list[0]), "none": {},
				"NaN": append(list[:1:1], json.RawMessage(`"NaN"`)), "null": append(list[:1:1], json.RawMessage("null")),
			} {
				b, err := json.Marshal(changed)
				if err != nil {
					t.Fatal(err)
				}
				refused(name+" "+what, with(name, string(b)))
			}
		}
	}
}

func TestModelFileErrorsSayWhereAndWhatToDo(t *testing.T) {
	text := string(models(t)[0])
	for name, f := range map[string]struct{ text, says string }{
		"cut":          {text[:200], fmt.Sprintf("line %d, column", 1+strings.Count(text[:200], "\n"))},
		"newer":        {strings.Replace(text, "model/1", "model/3", 1), "a model file of version 3, written by gpc-tune"},
		"other form":   {strings.Replace(text, "model/1", "model/2", 1), `schema: a file with schema "gpc-tune/model/2" has training and inducing`},
		"foreign":      {`{"schema": "gpc-tune/results/1"}`, `its schema is "gpc-tune/results/1", want "gpc-tune/model/1"`},
		"nothing":      {``, "not a model file"},
		"list":         {`[1, 2]`, "not a model file"},
		"csv":          {rows(3, 2, 1), "not a model file"},
		"unknown":      {strings.Replace(text, `"seed"`, `"sede"`, 1), `unknown field "sede"`},
		"not a number": {strings.Replace(text, `"inputs": [[`, `"inputs": [["x",`, 1), "inputs"},
		"kernel":       {strings.Replace(text, `"kernel":"`, `"kernel":"no_`, 1), "model.kernel:1:1: unknown kernel"},
		"theta":        {strings.Replace(text, `"theta": {"`, `"theta": {"no_`, 1), "theta: no "},
		"evidence":     {strings.Replace(text, `"log_evidence": -`, `"log_evidence": -1`, 1), "log_evidence: "},
		"changed":      {strings.Replace(text, `"who"`, `"whose"`, 1), "hash: "},
	} {
		path := filepath.Join(t.TempDir(), "m.json")
		if err := os.WriteFile(path, []byte(f.text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := LoadClassifier(path)
		var problems spec.Problems
		if !errors.Is(err, spec.ErrInvalid) && !errors.As(err, &problems) || !strings.Contains(err.Error(), f.says) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", name, err, f.says)
		}
	}
}

// A file with any one value changed, dropped or doubled is refused or predicts; it never panics and
// never gives NaN.
func TestAnyValueOfAModelFileMayBeWrong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.csv")
	if err := os.WriteFile(path, []byte("who,x,y,z\na,1,2,3\nb,,2,3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, text := range models(t) {
		var root any
		if err := json.Unmarshal(text, &root); err != nil {
			t.Fatal(err)
		}
		tried := 0
		try := func(where string) {
			t.Helper()
			if tried++; !exhaustive.Tries(3, tried) { // a value has 10 wrong ones, and the next value begins with another
				return
			}
			b, err := json.Marshal(root)
			if err != nil {
				t.Fatal(err)
			}
			f, err := modelfile.Read(bytes.NewReader(b))
			if err != nil {
				return
			}
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("%s: %v", where, r)
				}
			}()
			if err := f.Seal(); err != nil {
				t.Fatal(err)
			}
			if c, err := restore(f, "m.json"); err == nil {
				_, _ = c.Predict(path, spec.Deciding{})
			}
		}
		wrong := []any{nil, -1, 0, 2, 1e9, 1e300, "", "sampling", []any{}, map[string]any{}}
		var visit func(where string, v any, set func(any))
		visit = func(where string, v any, set func(any)) {
			for _, w := range wrong {
				set(w)
				try(fmt.Sprintf("%s = %v", where, w))
			}
			set(v)
			switch v := v.(type) {
			case map[string]any:
				for k, inner := range v {
					delete(v, k)
					try("no " + where + "." + k)
					visit(where+"."+k, inner, func(w any) { v[k] = w })
				}
			case []any:
				for i := range min(len(v), 3) {
					visit(fmt.Sprintf("%s[%d]", where, i), v[i], func(w any) { v[i] = w })
				}
				set(append(v[:len(v):len(v)], v...))
				try(where + " twice")
				set(v)
			}
		}
		visit("", root, func(w any) { root = w })
	}
}

func FuzzModelFile(f *testing.F) {
	for _, text := range models(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := modelfile.Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		if err := file.Seal(); err != nil {
			t.Fatal(err)
		}
		c, err := restore(file, "m.json")
		if err != nil {
			return
		}
		// An accepted file has the same content when it is written and read again.
		var b bytes.Buffer
		if err := c.file.Write(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := modelfile.Read(bytes.NewReader(b.Bytes())); err != nil {
			t.Fatal(err)
		}
		if file.Columns.Sparse {
			return
		}
		line := strings.Repeat("1,", file.Columns.Width-1) + "1\n"
		path := filepath.Join(t.TempDir(), "new.csv")
		if err := os.WriteFile(path, []byte(line), 0o666); err != nil {
			t.Fatal(err)
		}
		_, _ = c.Predict(path, spec.Deciding{Loss: "a,b,2"})
	})
}

// reported runs a configuration file and returns its report.
func reported(t *testing.T, text string, settings ...string) *reports.Report {
	t.Helper()
	p := plantest.Planned(t, text, settings...)
	r, _, err := run.Run(t.Context(), p, t.TempDir(), run.Options{Warn: func(format string, args ...any) { t.Logf(format, args...) }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
