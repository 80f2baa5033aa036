package flow

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

func there[T any](v T) *T { return &v }

// back writes a component, reads it and compares.
func back[I any](t *testing.T, v, want I, table registry.Table[I], text string) {
	t.Helper()
	got, err := Text(v, "component", table)
	if err != nil || got != text {
		t.Errorf("%#v is %q, want %q, error %v", v, got, text, err)
		return
	}
	n, err := Parse(got)
	if err != nil {
		t.Error(err)
		return
	}
	if yaml := strictyaml.ComponentOf(got); !reflect.DeepEqual(yaml.Node, n) {
		t.Errorf("%s: %#v, and YAML has it as %#v", got, n, yaml.Node)
	}
	read, err := Read(n, "component", table)
	if err != nil || !reflect.DeepEqual(read, want) {
		t.Errorf("%s comes back as %#v, want %#v, error %v", got, read, want, err)
	}
}

func TestComponentsComeBack(t *testing.T) {
	for _, k := range []struct {
		kernel kernel.Kernel
		text   string
	}{
		{kernel.SE{}, "se"},
		{kernel.Matern32{ARD: true, Amplitude: param.Setting{Bare: there(3.1623)}},
			"{matern32: {ard: true, amplitude: 3.1623}}"},
		{kernel.Linear{Bias: there(false)}, "{linear: {bias: false}}"},
		{kernel.Polynomial{Degree: 3}, "{polynomial: {degree: 3}}"},
		{kernel.Noise{Amplitude: param.Setting{Fixed: there(1e-6)}}, "{noise: {amplitude: {fixed: 1e-06}}}"},
		{kernel.SE{LengthScale: param.Setting{Init: there(2.0), Bounds: &[2]float64{0.5, 8},
			Prior: param.InverseGamma{Shape: 3, Scale: 2}}},
			"{se: {length_scale: {init: 2, bounds: [0.5, 8], prior: {inverse_gamma: {shape: 3, scale: 2}}}}}"},
	} {
		back(t, k.kernel, k.kernel, kernel.Table, k.text)
	}
	usual := approx.Table.Default("ep").(approx.EP)
	damped := usual
	damped.Schedule, damped.Damping, damped.NegativeSites = approx.Parallel, 0.5, 1
	damped.Inducing = approx.Inducing{Points: 20, Select: approx.KMeans, Correction: approx.Correction{Form: approx.FITC}}
	back[approx.Approximation](t, approx.EP{}, usual, approx.Table, "ep") // zero options are the defaults
	back[approx.Approximation](t, damped, damped, approx.Table, "{ep: {schedule: "+damped.Schedule.Names()[damped.Schedule]+
		", damping: 0.5, inducing: {points: 20, select: kmeans, correction: fitc}, negative_sites: "+
		damped.NegativeSites.Names()[1]+"}}")
	online := approx.Online{Sweeps: 3, OrderSeed: approx.OrderSeed{Unchanged: true}}
	back[approx.Approximation](t, online, online, approx.Table, "{online: {order_seed: none, sweeps: 3}}")
	back[likelihood.Likelihood](t, likelihood.NoisyThreshold{Epsilon: param.Setting{Bare: there(0.25)}},
		likelihood.NoisyThreshold{Epsilon: param.Setting{Bare: there(0.25)}}, likelihood.Table,
		"{noisy_threshold: {epsilon: 0.25}}")
	back[objective.Mean](t, objective.Constant{}, objective.Constant{}, objective.Means, "constant")
	back[objective.Mean](t, objective.Constant{Setting: param.Setting{Bare: there(-0.5)}},
		objective.Constant{Setting: param.Setting{Bare: there(-0.5)}}, objective.Means, "{constant: -0.5}")
	back[objective.Average](t, objective.MonteCarlo{Samples: 10}, objective.MonteCarlo{Samples: 10}, objective.Averages,
		"{monte_carlo: {samples: 10}}")
}

// With default options the text of every component is its name, and it is read back as the same component.
func TestEveryComponentHasAText(t *testing.T) {
	every(t, kernel.Table)
	every(t, approx.Table)
	every(t, likelihood.Table)
	every(t, objective.Means)
	every(t, objective.Averages)
}

func every[I any](t *testing.T, table registry.Table[I]) {
	for _, name := range table.Names() {
		back(t, table.Default(name), table.Default(name), table, name)
	}
}

func TestTextsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "column 1",
		"{se":                    "want a colon",
		"{se: {ard: true}":       "want a comma or }",
		"{se: {ard: true}} se":   "want the end",
		"[se, ]":                 "want a word",
		`{se: "a}`:               "want a text in quotes",
		"{se: 'a}":               "want a text in quotes",
		strings.Repeat("[", 200): "at most 100 levels",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"see":                              `unknown kernel "see"; did you mean "se"?`,
		"[se]":                             "want a kernel, its name or {name: {options}}",
		"{se: ard}":                        "want options, of ard, amplitude, length_scale",
		"{se: {adr: true}}":                `unknown option "adr" (have ard, amplitude, length_scale)`,
		"{se: {ard: [1, 2]}}":              "want one value",
		"{se: {ard: maybe}}":               `"maybe" is not a value of type bool`,
		"{se: {amplitude: {init: x}}}":     `amplitude: init: "x" is not a value of type float64`,
		"{se: {amplitude: {bounds: [1]}}}": "want 2 values",
		"{polynomial: {degree: -1}}":       "not a value of type uint",
	} {
		n, err := Parse(text)
		if err == nil {
			_, err = Read(n, "kernel", kernel.Table)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	type nameless struct{ kernel.SE }
	if _, err := Text[kernel.Kernel](nameless{}, "kernel", kernel.Table); err == nil || !strings.Contains(err.Error(), "register") {
		t.Error(err)
	}
}

// What Parse reads, it reads again as the same from the text that String writes.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"se", "{sum: [se, {noise: {amplitude: 'it''s'}}]}", `{a: "b\n"}`, "[1e3, {x: []}]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(n.String())
		if err == nil && again.String() != n.String() {
			t.Errorf("%q is %q, and that %q", text, n, again)
		}
	})
}
