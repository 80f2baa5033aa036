package experiments

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/catalogue"
	"github.com/gpc-tune/gpc-tune/experiments/columns"
	"github.com/gpc-tune/gpc-tune/experiments/data/sets"
	"github.com/gpc-tune/gpc-tune/experiments/gallery"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
)

// The starter writes a valid plan, also by the schema: for every bundled set, and for files with
// odd names, missing values, words among the inputs, few cases, no header, numeric labels or many
// classes.
func TestStarter(t *testing.T) {
	schema, dir := compiled(t, "experiment"), t.TempDir()
	sources := map[string]string{} // and what the file must contain
	for i, s := range sets.Table {
		if !exhaustive.Tries(3, i) {
			continue
		}
		sources[s.Name] = "dataset: " + s.Name + " "
	}
	for name, file := range map[string][2]string{
		"odd: #1.csv":   {"x,\"a, #b\"\n1,\"i: l\"\n2,well\n3,well\n4,\"i: l\"\n", `label: "a, #b"`},
		"missing.csv":   {"x,y,c\n1,2,a\n,3,a\n3,,b\n4,5,b\n", "missing: median # of 2 values in 2 inputs"},
		"words.csv":     {"x,w,c\n1,p,a\n2,q,a\n3,p,b\n4,q,b\n", "categorical: one_hot"},
		"bare.csv":      {"1,2,0\n3,4,1\n5,6,0\n7,8,1\n", `label: "3"`},
		"numbers.csv":   {"x,y\n1,0.5\n2,0.25\n3,7.5\n4,1\n", "likelihood: {gaussian: {noise: {init: 1}}}"},
		"prices.csv":    {"x,y\n1,100000.5\n2,250000\n3,120000\n4,110000\n", "mean: {constant: {fixed: 145000}} # the label has mean 145000 and standard deviation 61032.7\n"},
		"tiny.csv":      {"x,y\n1,1e-7\n2,-2e-7\n3,2.5e-7\n4,0\n", "noise: {init: 8.2e-08, bounds: [8.2e-12, 0.00082]}"},
		"long.csv":      {long(9000, "0."), "inference: [{exact: {inducing: "},
		"kinds.csv":     {long(9000, "k"), "inference: [{ep: {inducing: "},
		"classes.csv":   {"x,c\n1,a\n2,a\n3,b\n4,b\n5,c\n6,c\n", "likelihood: softmax"},
		"control.csv":   {"x\x07,c\n1,a\n2,a\n3,b\n4,b\n", "#   x: whole numbers, 1 to 4"},
		"sub dir/x.csv": {"x,c\n1,a\n2,a\n3,b\n4,b\n", "train: sub dir/x.csv "},
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(file[0]), 0o666); err != nil {
			t.Fatal(err)
		}
		sources[path] = file[1]
	}
	for source, want := range sources {
		path := filepath.Join(dir, "an odd, name.yaml")
		started, err := catalogue.Starter(t.Context(), path, source, columns.Given{}, 0)
		text := started.Text
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if !strings.Contains(text, want) || !strings.Contains(text, "\nname: an-odd-name\n") {
			t.Errorf("%s: %q is not in\n%s", source, want, text)
		}
		var file any
		if err := strictyaml.Unmarshal([]byte(text), &file); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(file); err != nil {
			t.Errorf("%s: %v\n%s", source, err, text)
		}
		s, err := spec.Parse(path, []byte(text), nil)
		if err != nil {
			t.Fatalf("%s: %v\n%s", source, err, text)
		}
		if p, err := plan.New(t.Context(), s); err != nil || len(p.Studies) == 0 {
			t.Errorf("%s: %v\n%s", source, err, text)
		} else if slices.ContainsFunc(p.Manifest.Warnings, func(w cause.Notice) bool { return strings.Contains(w.Text, "prior") }) {
			t.Errorf("%s: %v\n%s", source, p.Manifest.Warnings, text)
		}
	}
	for source, label := range map[string]string{"nothing.csv": "", filepath.Join(dir, "bare.csv"): "9"} {
		if text, err := catalogue.Starter(t.Context(), "a.yaml", source, columns.Given{Label: label}, 0); err == nil {
			t.Errorf("%s: %s", source, text.Text)
		}
	}
}

// TestStarterTime: with much time init writes the largest study, which leaves out nothing. With
// little time it writes the smallest one, which lists the parts left out. Both are valid.
func TestStarterTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cases.csv")
	var text strings.Builder
	text.WriteString("x,z,y\n")
	for i := range 5000 {
		fmt.Fprintf(&text, "%d.25,%d.5,%c\n", i*7919%5000, i*31%977, 'p'+i*i%7%2)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		source string
		limit  time.Duration
		has    []string
		lacks  []string
	}{
		{"crabs", 1e6 * time.Hour, []string{"matern32", "[ep, ", "restarts: 3", "{kfold: {k: 10}}"}, nil},
		{path, time.Microsecond, []string{"inducing: 50", "subsample: 2000"}, []string{"1000 inducing inputs rather than 50",
			"all 5000 cases rather than 2000", "kernel {matern32: {ard: true, length_scale: {prior: {log_normal: {mean: 1.0, sd: 0.8}}}}}"}},
		{"crabs", time.Microsecond, []string{"restarts: 1", "{rational_quadratic: {ard: false, length_scale: "}, []string{"inference ep", "takes longer than asked for"}},
		{path, 1e6 * time.Hour, []string{"matern32", "inducing: 1000", "{kfold: {k: 5}}"}, nil},
	}[:exhaustive.Of(2, 4)] {
		started, err := catalogue.Starter(t.Context(), path+".yaml", of.source, columns.Given{}, of.limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range of.has {
			if !strings.Contains(started.Text, want) {
				t.Errorf("%s in %v: %q is not in\n%s", of.source, of.limit, want, started.Text)
			}
		}
		for _, want := range of.lacks {
			if !strings.Contains(started.LeftOut, want) {
				t.Errorf("%s in %v: %q is not in %q", of.source, of.limit, want, started.LeftOut)
			}
		}
		if (started.LeftOut == "") != (of.lacks == nil) || strings.Contains(started.Text, "# left out") != (of.lacks != nil) {
			t.Errorf("%s in %v lacks %q:\n%s", of.source, of.limit, started.LeftOut, started.Text)
		}
		if strings.Contains(started.Text, "takes about 0s") {
			t.Errorf("%s in %v: the next larger study takes no time:\n%s", of.source, of.limit, started.Text)
		}
		if (started.Seconds <= of.limit.Seconds()) != (of.lacks == nil) {
			t.Errorf("%s in %v takes %v s", of.source, of.limit, started.Seconds)
		}
	}
}

// TestStarterWide: where there are more inputs than cases, one length scale serves all. Sixty inputs are described.
func TestStarterWide(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cases.csv")
	var text strings.Builder
	const inputs = 150
	for j := range inputs {
		fmt.Fprintf(&text, "x%d,", j)
	}
	text.WriteString("y\n")
	for i := range 40 {
		for j := range inputs {
			fmt.Fprintf(&text, "%d.5,", (i*i+7*j*i)%31)
		}
		fmt.Fprintf(&text, "%c\n", 'p'+i%2)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	started, err := catalogue.Starter(t.Context(), path+".yaml", path, columns.Given{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(started.Text, "ard: true,") || strings.Count(started.Text, "\n    - {") != 2 ||
		!strings.Contains(started.Text, "# 150 inputs for 40 cases: one length scale for all.") ||
		!strings.Contains(started.Text, "#   and 90 more (gpc-tune data shows all)") {
		t.Error(started.Text)
	}
}

// long is a table with the given number of rows, whose labels are three texts or, without a text,
// numbers.
func long(rows int, label string) string {
	var text strings.Builder
	text.WriteString("x,y\n")
	for i := range rows {
		fmt.Fprintf(&text, "%d.25,%s%d\n", i*7919%rows, label, i%3)
	}
	return text.String()
}

// Every name is explained, with its place in a valid file.
func TestExplain(t *testing.T) {
	schema := compiled(t, "experiment")
	for _, k := range catalogue.All() {
		for _, e := range k.Entries {
			var text bytes.Buffer
			if err := catalogue.Explain(&text, e.Name); err != nil {
				t.Fatal(err)
			}
			if name, is := strings.CutPrefix(e.Name, "gallery:"); is {
				file, err := gallery.Read(name)
				if err != nil {
					t.Errorf("%s: %v", e.Name, err)
				}
				golden.Equal(t, e.Name, text.Bytes(), file)
				continue
			}
			_, place, found := strings.Cut(text.String(), e.Name+" (gpc-tune list "+k.Name+")\n"+e.Doc+"\n")
			_, place, _ = strings.Cut(place, "in a file:\n")
			place, _, _ = strings.Cut(strings.NewReplacer("[kernel, …]", "[se, noise]", "[likelihood, …]", "[probit, logit]").Replace(place), "\n")
			if k.Name == "strategies" && e.Component == nil && found && strings.HasPrefix(place, "  tune: {method: "+e.Name+", ") {
				continue // its options have no values there
			}
			file := map[string]any{"data": map[string]any{"dataset": "crabs"}, "model": map[string]any{}}
			if err := strictyaml.Unmarshal([]byte(strings.NewReplacer("kernel: …", "kernel: se", "per_class: kernel", "per_class: se").Replace(place)), &file); err != nil || !found {
				t.Fatalf("%s: %v\n%s", e.Name, err, text.String())
			}
			if file["illustrate"] != nil {
				delete(file, "data")
			}
			if file["program"] != nil {
				delete(file, "data")
				delete(file, "model")
			} else if model := file["model"].(map[string]any); model["inference"] == nil {
				model["inference"] = "laplace"
			}
			if err := schema.Validate(file); err != nil {
				t.Errorf("%s: %v", place, err)
			}
		}
	}
	var text bytes.Buffer
	if err := catalogue.Explain(&text, "noisy_threshold"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  epsilon  ", "logit_epsilon", ", held there", "  model: {likelihood: {noisy_threshold: {epsilon: …}}}\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	if err := catalogue.Explain(&text, "seee"); err == nil || !strings.Contains(err.Error(), `did you mean "seed"?`) {
		t.Errorf("error %v", err)
	}
}
