package declared

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

func there[T any](v T) *T { return &v }

// read makes the component that a text declares.
func read[I any](text string, table registry.Table[I]) (v I, err error) {
	d := NewDecoder(strictyaml.NewFindings("text"))
	if n := strictyaml.Parse([]byte(text), d.Found); n != nil {
		v, _, _ = Component(d, n, "component", table)
	}
	return v, d.Found.Err()
}

// back writes a component, reads it and compares.
func back[I any](t *testing.T, v, want I, table registry.Table[I], declared string) {
	t.Helper()
	got, err := text(v, "component", table)
	if err != nil || got != declared {
		t.Errorf("%#v is %q, want %q, error %v", v, got, declared, err)
		return
	}
	again, err := read(got, table)
	if err != nil || !reflect.DeepEqual(again, want) {
		t.Errorf("%s comes back as %#v, want %#v, error %v", got, again, want, err)
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
		{kernel.Sum{{Kind: "se", Kernel: kernel.SE{ARD: true}}, {Kind: "product", Kernel: kernel.Product{{Kind: "linear", Kernel: kernel.Linear{}},
			{Kind: "active", Kernel: kernel.Active{Dims: []int{1, 3}, Named: kernel.Named{Kind: "noise", Kernel: kernel.Noise{}}}}}}},
			"{sum: [{se: {ard: true}}, {product: [linear, {active: {dims: [1, 3], kernel: noise}}]}]}"},
		{kernel.PerClass{Kernel: kernel.Matern52{ARD: true}}, "{per_class: {matern52: {ard: true}}}"},
	} {
		back(t, k.kernel, k.kernel, kernel.Table, k.text)
	}
	usual := approx.Table.Default("ep").(approx.EP)
	damped := usual
	damped.Schedule, damped.Damping, damped.NegativeSites = approx.Parallel, 0.5, 1
	damped.Structure = objective.Inducing{Points: 20, Select: objective.Selection(1), Correction: approx.Correction{Form: approx.FITC}}
	back[approx.Approximation](t, approx.EP{}, usual, approx.Table, "ep") // zero options are the defaults
	back[approx.Approximation](t, damped, damped, approx.Table, "{ep: {schedule: "+damped.Schedule.Names()[damped.Schedule]+
		", damping: 0.5, inducing: {points: 20, select: kmeans, correction: fitc}, negative_sites: "+
		damped.NegativeSites.Names()[1]+"}}")
	damped.Structure = objective.FullScale{Inducing: objective.Inducing{Points: 20}, Neighbours: objective.Neighbours{Count: 5}}
	back[approx.Approximation](t, damped, damped, approx.Table, "{ep: {schedule: "+damped.Schedule.Names()[damped.Schedule]+
		", damping: 0.5, inducing: {points: 20}, neighbours: {count: 5}, negative_sites: "+damped.NegativeSites.Names()[1]+"}}")
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

// An enumeration has a text also where it is none of its values; no file may have that.
func TestValuesOutOfRange(t *testing.T) {
	for _, v := range []int{-1, 99} {
		wrong, err := text[approx.Approximation](approx.EP{NegativeSites: approx.NegativeSites(v)}, "inference", approx.Table)
		if err != nil {
			t.Error(err)
		}
		if _, err := read(wrong, approx.Table); err == nil || !strings.Contains(err.Error(), fmt.Sprintf(`"%d" (have floor,`, v)) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	for want, v := range map[string]any{
		"": approx.EP{Alpha: 0.5, NegativeSites: approx.KeepNegative}, "at negative_sites = 99 must be from 0 to 2, for floor, keep, narrow": &approx.EP{NegativeSites: 99},
		"at negative_sites = -1 must be from": approx.EP{NegativeSites: -1}, "at alpha = NaN must be from 0.001 to 1": approx.EP{Alpha: math.NaN()},
		"at max_iterations = -1 must be": approx.EP{Iteration: approx.Iteration{MaxIterations: -1}},
		"at pointer = 0 must be": struct {
			P *int `yaml:"pointer" within:"[1,2]"`
			N *int `yaml:"nothing" within:"[1,2]"`
		}{P: new(int)},
	} {
		if err := CheckOptions("at ", v); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", v, err, want)
		}
	}
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
	for _, e := range table {
		if !e.NeedsOptions {
			back(t, table.Default(e.Name), table.Default(e.Name), table, e.Name)
		}
	}
}

func TestComponentsWithoutAName(t *testing.T) {
	type nameless struct{ kernel.SE }
	for _, k := range []kernel.Kernel{nameless{}, kernel.Sum{{Kernel: nameless{}}}, kernel.PerClass{Kernel: nameless{}}} {
		if got, err := text(k, "kernel", kernel.Table); err == nil || !strings.Contains(err.Error(), "register") {
			t.Errorf("%T: %q, %v", k, got, err)
		}
	}
}

func TestKernelsMadeOfKernels(t *testing.T) {
	for declared, want := range map[string]string{
		"sum":                                  "text:1:1: sum needs a list of kernels, as in {sum: [se, noise]}",
		"{product: []}":                        "text:1:1: product needs a list of kernels",
		"{sum: {se: {}}}":                      "text:1:7: expected a list of kernels, as in [se, noise], found a mapping",
		"{sum: [se, sea]}":                     `text:1:12: unknown kernel "sea"; did you mean "se"?`,
		"{sum: [se, {per_class: se}]}":         "text:1:12: per_class must stand outermost, as in {per_class: {sum: [se, noise]}}",
		"{per_class: {per_class: se}}":         "text:1:13: per_class must stand outermost",
		"per_class":                            "text:1:1: per_class needs a kernel, as in {per_class: se}",
		"active":                               "text:1:1: active needs dims and a kernel, as in {active: {dims: [1, 2], kernel: se}}",
		"{active: {dims: [1, 0], kernel: se}}": "text:1:21: dims = 0 must be at least 1",
		"{active: {dims: [1]}}":                "text:1:1: active needs dims and a kernel",
		"{sum: [" + strings.Repeat("se, ", 1000) + "se]}": "text:1:1: a sum of 1001 kernels; at most 1000",
		"{sum: [{se: {amplitude: -1}}]}":                  "text:1:25: amplitude",
	} {
		d := NewDecoder(strictyaml.NewFindings("text"))
		if n := strictyaml.Parse([]byte(declared), d.Found); n != nil {
			d.kernel(n)
		}
		if err := d.Found.Err(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60s: %v, want %s", declared, err, want)
		}
	}
}
