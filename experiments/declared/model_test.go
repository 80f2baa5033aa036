package declared

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// ends has one field for each form of an interval.
type ends struct {
	Closed float64 `within:"[1,10]"`
	Open   float64 `within:"(0,1)"`
	Lower  float64 `within:"(0,1]"`
	Upper  float64 `within:"[0,1)"`
	Least  float64 `within:"[0.5,inf]"`
	Above  float64 `within:"(-3,inf)"`
	Any    float64
	Empty  float64 `within:"[2,2]"`
	One    float64 `within:"[2]"`
	Text   float64 `within:"[a,b]"`
	Half   float64 `within:"[1,b]"`
	Other  float64 `within:"[a,5]"`
}

func TestIntervals(t *testing.T) {
	of := reflect.TypeFor[ends]()
	for name, want := range map[string]struct {
		text    string
		in, out []float64
	}{
		"Closed": {"from 1 to 10", []float64{1, 5, 10}, []float64{0.99, 10.1, math.NaN()}},
		"Open":   {"greater than 0 and less than 1", []float64{1e-300, 0.5}, []float64{0, 1, -1, 2, math.NaN()}},
		"Lower":  {"greater than 0 and at most 1", []float64{0.1, 1}, []float64{0, 1.1}},
		"Upper":  {"at least 0 and less than 1", []float64{0, 0.9}, []float64{-0.1, 1}},
		"Least":  {"at least 0.5", []float64{0.5, 1e300}, []float64{0.4}},
		"Above":  {"greater than -3", []float64{-2.9, 1e300}, []float64{-3, math.Inf(1)}},
	} {
		f, _ := of.FieldByName(name)
		i, ok := Within(f)
		if !ok || i.String() != want.text {
			t.Errorf("%s: %v, %v", name, i, ok)
		}
		for _, v := range want.in {
			if !i.has(v) {
				t.Errorf("%v is not %v", v, i)
			}
		}
		for _, v := range want.out {
			if i.has(v) {
				t.Errorf("%v is %v", v, i)
			}
		}
	}
	if f, _ := of.FieldByName("Any"); true {
		if i, ok := Within(f); ok {
			t.Errorf("%v without a tag", i)
		}
	}
	for _, name := range []string{"Empty", "One", "Text", "Half", "Other"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is an interval", name)
				}
			}()
			f, _ := of.FieldByName(name)
			Within(f)
		}()
	}
	for v, want := range map[float64]string{3: "3", -1e6: "-1000000", 0.25: "0.25", 1e15: "1e+15", 999999999999999: "999999999999999"} {
		if got := plain(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

func TestTypeNames(t *testing.T) {
	for k, want := range map[reflect.Kind]string{
		reflect.Bool: "true or false", reflect.Float64: "a number", reflect.String: "text", reflect.Int: "a whole number",
		reflect.Int64: "a whole number", reflect.Uint: "a whole number, 0 or more", reflect.Uint64: "a whole number, 0 or more",
	} {
		if got := TypeName(k); got != want {
			t.Errorf("%v: %s", k, got)
		}
	}
}

// The parts of a model come back from their texts.
func TestModelsComeBack(t *testing.T) {
	se, ep := []kernel.Kernel{kernel.SE{}}, approx.Table.Default("ep")
	for _, c := range []struct {
		model objective.Model
		want  Texts
	}{
		{objective.Model{Kernels: se, Mean: objective.Zero{}, Likelihood: likelihood.Probit{}, Inference: ep},
			Texts{"se", "zero", "probit", "ep", "joint", "averaged"}},
		{objective.Model{Kernels: append(se, se...), Mean: objective.Constant{}, Likelihood: likelihood.Softmax{}, Inference: approx.Laplace{}},
			Texts{"{per_class: se}", "constant", "softmax", "laplace", "joint", "averaged"}},
		{objective.Model{Kernels: se, Mean: objective.Zero{}, Likelihood: likelihood.Logit{},
			Inference: approx.OneVsRest{Binary: approx.Table.Default("laplace")}},
			Texts{"se", "zero", "logit", "laplace", "one_vs_rest", "averaged"}},
	} {
		got, err := TextsOf(c.model, objective.Averaged{})
		if err != nil || got != c.want {
			t.Errorf("%+v, %v, want %+v", got, err, c.want)
		}
		found := strictyaml.NewFindings("")
		m := ReadModel(found, got, "", true)
		if err := found.Err(); err != nil || m.Classes != c.want.Classes || m.PerClass != (len(c.model.Kernels) > 1) {
			t.Errorf("%+v: %+v, %v", got, m, err)
		}
		if !reflect.DeepEqual(m.On(len(c.model.Kernels)), c.model) && !m.PerClass {
			t.Errorf("%+v: %+v, want %+v", got, m.On(2), c.model)
		}
		if m.PerClass && (len(m.On(4).Kernels) != 4 || len(m.On(1).Kernels) != 2) {
			t.Errorf("%d kernels of 4 classes", len(m.On(4).Kernels))
		}
		want := c.want.Inference
		if c.want.Classes == "one_vs_rest" {
			want = "{one_vs_rest: laplace}"
		}
		if as := Method(c.model.Inference); as.Text != want || m.Written.Inference.Text != want || m.Written.Method != c.want.Inference {
			t.Errorf("%+v: %q, %q, %q", c.want, as.Text, m.Written.Inference.Text, m.Written.Method)
		}
	}
	type nameless struct{ kernel.SE }
	type unknown struct{ likelihood.Probit }
	type method struct{ approx.Laplace }
	for want, m := range map[string]objective.Model{
		"a kernel of type":     {Kernels: []kernel.Kernel{nameless{}}, Likelihood: likelihood.Probit{}, Inference: ep},
		"a likelihood of type": {Kernels: se, Likelihood: unknown{}, Inference: ep},
		"a inference of type":  {Kernels: se, Likelihood: likelihood.Probit{}, Inference: method{}},
	} {
		if _, err := TextsOf(m, objective.Averaged{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Every mistake in the texts of a model names its part, once.
func TestMistakesInTexts(t *testing.T) {
	good := Texts{"se", "zero", "probit", "ep", "joint", "averaged"}
	for want, change := range map[string]func(*Texts){
		"--kernel: is empty; give a name or YAML flow text, as in --kernel se":             func(t *Texts) { t.Kernel = " " },
		"--mean: is empty; give a name or YAML flow text, as in --mean zero":               func(t *Texts) { t.Mean = "" },
		"--likelihood: is empty; give a name or YAML flow text, as in --likelihood probit": func(t *Texts) { t.Likelihood = "null" },
		"--inference: is empty; give a name or YAML flow text, as in --inference laplace":  func(t *Texts) { t.Inference = "" },
		`--classes: unknown way to model classes "some"`:                                   func(t *Texts) { t.Classes = "some" },
		`unknown kernel "sea"`:                                func(t *Texts) { t.Kernel = "sea" },
		"--inference:1:1: logistic_regression is for classes": func(t *Texts) { t.Inference, t.Likelihood = "logistic_regression", "gaussian" },
		"has one kernel for all classes; write kernel: ":      func(t *Texts) { t.Inference, t.Kernel = "svm", "{per_class: se}" },
		`unknown inference "lapace"; did you mean "laplace"`:  func(t *Texts) { t.Inference = "lapace" },
		"--inference:1:1: exact":                              func(t *Texts) { t.Inference = "exact" },
		"write its key too, as in {amplitude: 3}":             func(t *Texts) { t.Kernel = "{se: 3}" },
		"write its key too, as in {damping: 0.5}":             func(t *Texts) { t.Inference = "{ep: 0.5}" },
	} {
		texts := good
		change(&texts)
		found := strictyaml.NewFindings("")
		ReadModel(found, texts, "--", true)
		if err := found.Err(); err == nil || !strings.Contains(err.Error(), want) || found.Found() != 1 {
			t.Errorf("%+v: %v\nwant %s", texts, err, want)
		}
	}
	found := strictyaml.NewFindings("")
	good.Inference = ""
	if m := ReadModel(found, good, "--", false); found.Err() != nil || m.Inference != nil || m.Written.Inference.Text != "" {
		t.Errorf("%+v, %v", m, found.Err())
	}
}

// A comparator needs the parts that it uses, and a kernel only if it has one.
func TestPartsOfComparators(t *testing.T) {
	for _, c := range []struct {
		inference                string
		kernel, mean, likelihood bool // needless
	}{{"ep", false, false, false}, {"logistic_regression", true, true, true}, {"svm", false, true, true}, {"base_rate", true, true, true}} {
		n := strictyaml.Parse([]byte(c.inference), strictyaml.NewFindings(""))
		for part, want := range map[string]bool{"kernel": c.kernel, "mean": c.mean, "likelihood": c.likelihood, "inference": false} {
			if got := Needless(part, n); got != want {
				t.Errorf("%s of %s: needless %v", part, c.inference, got)
			}
		}
	}
	found := strictyaml.NewFindings("")
	m := ReadModel(found, Texts{Kernel: "{matern52: {ard: true}}", Mean: "zero", Likelihood: "probit", Inference: "svm", Classes: "joint"}, "", true)
	if err := found.Err(); err != nil || m.Comparator == nil || m.Written.Kernel.Text != "{matern52: {ard: true}}" ||
		m.Written.Likelihood.Text != "none" || m.Written.Mean.Text != "none" || m.Written.Tuning.Text != "svm" {
		t.Errorf("%+v, %v", m.Written, err)
	}
	m = ReadModel(found, Texts{Kernel: "none", Mean: "none", Likelihood: "none", Inference: "base_rate", Classes: "joint"}, "", true)
	if err := found.Err(); err != nil || m.Comparator == nil || m.Written.Kernel.Text != "none" || m.Kernels != nil {
		t.Errorf("%+v, %v", m.Written, err)
	}
}

// A method is refused if no number of classes suits it, with the reason for the first.
func TestUsable(t *testing.T) {
	laplace, exact := approx.Laplace{}, approx.Exact{}
	for _, c := range []struct {
		a      approx.Approximation
		lik    likelihood.Likelihood
		usable bool
	}{
		{laplace, likelihood.Probit{}, true}, {laplace, likelihood.Softmax{}, true}, {laplace, likelihood.Gaussian{}, true},
		{exact, likelihood.Gaussian{}, true}, {exact, likelihood.Probit{}, false}, {exact, likelihood.Softmax{}, false},
		{approx.OneVsRest{Binary: laplace}, likelihood.Probit{}, true}, {approx.OneVsRest{Binary: laplace}, likelihood.Softmax{}, false},
		{approx.OneVsRest{Binary: exact}, likelihood.Probit{}, false},
	} {
		err := Usable(c.a, c.lik)
		if (err == nil) != c.usable {
			t.Errorf("%T with %T: %v", c.a, c.lik, err)
		}
	}
	_, first := exact.Uses(likelihood.Probit{}, 2)
	if err := Usable(exact, likelihood.Probit{}); err == nil || err.Error() != first.Error() {
		t.Errorf("%v, want %v", err, first)
	}
}

func TestUnjoin(t *testing.T) {
	a, b, c := errors.New("a"), errors.New("b"), errors.New("c")
	if got := Unjoin(errors.Join(a, errors.Join(b, c))); !reflect.DeepEqual(got, []error{a, b, c}) {
		t.Errorf("%v", got)
	}
	if got := Unjoin(a); !reflect.DeepEqual(got, []error{a}) || Unjoin(nil) != nil {
		t.Errorf("%v", got)
	}
}

// An averaging that draws random numbers has a seed derived from the seed of the experiment.
func TestAveragesAreSeeded(t *testing.T) {
	found := strictyaml.NewFindings("")
	one, two := ReadAverage(found, "{monte_carlo: {samples: 10}}", 1), ReadAverage(found, "{monte_carlo: {samples: 10}}", 2)
	if one == nil || reflect.DeepEqual(one, two) || !reflect.DeepEqual(one, ReadAverage(found, "{monte_carlo: {samples: 10}}", 1)) {
		t.Errorf("%+v, %+v", one, two)
	}
	if a := ReadAverage(found, "averaged", 1); !reflect.DeepEqual(a, objective.Averaged{}) || found.Err() != nil {
		t.Errorf("%+v, %v", a, found.Err())
	}
	if a := ReadAverage(found, "{", 1); a != nil || found.Err() == nil {
		t.Errorf("%+v", a)
	}
}
