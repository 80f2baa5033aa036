package objective

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

func TestDataThatCannotBeAreErrorsOfNew(t *testing.T) {
	inputs := func(rows ...float64) *kernel.Inputs {
		if len(rows) == 0 {
			return &kernel.Inputs{X: &mat.Dense{}}
		}
		return &kernel.Inputs{X: mat.NewDense(len(rows)/2, 2, rows)}
	}
	x, nan, inf := inputs(1, 2, 3, 4, 5, 6), math.NaN(), math.Inf(1)
	binary := func(y ...float64) approx.Targets { return approx.Targets{Classes: 2, Value: y} }
	several := func(classes int, y ...int) approx.Targets { return approx.Targets{Classes: classes, Index: y} }
	probit, softmax := Model{Likelihood: likelihood.Probit{}, Inference: approx.EP{}}, Model{Likelihood: likelihood.Softmax{}, Inference: approx.Laplace{}}
	numeric := Model{Likelihood: likelihood.Gaussian{}, Inference: approx.Exact{}}
	ordinal := Model{Likelihood: likelihood.Ordinal{}, Inference: approx.EP{}}
	for _, c := range []struct {
		model Model
		data  Data
		want  string // "": no error
	}{
		{probit, Data{X: x, Y: binary(-1, 1, 1)}, ""},
		{probit, Data{X: x, Y: binary(1, 1, 1)}, ""},
		{softmax, Data{X: x, Y: several(3, 0, 0, 1)}, ""},
		{numeric, Data{X: x, Y: approx.Targets{Value: []float64{0, 0.5, 7}}}, ""},
		{probit, Data{X: x, Y: binary(1, 0, 1)}, "label 0 in row 2 (counted from 1); the labels of two classes must be -1 and +1"},
		{probit, Data{X: x, Y: binary(1, -1, 2)}, "label 2 in row 3"},
		{probit, Data{X: x, Y: binary(nan, -1, 1)}, "label NaN in row 1"},
		{probit, Data{X: x, Y: binary(1, -1)}, "3 rows of inputs and 2 targets"},
		{probit, Data{X: x, Y: binary(1, -1, 1, 1)}, "3 rows of inputs and 4 targets"},
		{probit, Data{X: x, Y: several(2, 0, 1, 1)}, "3 targets in Index"},
		{probit, Data{X: x, Y: several(3, 0, 1, 2)}, "use classes: one_vs_rest"},
		{probit, Data{X: x, Y: approx.Targets{Value: []float64{-1, 1, 1}}}, "the labels are numbers"},
		{probit, Data{X: x, Y: several(1, 0, 0, 0)}, "1 classes"},
		{probit, Data{X: x, Y: several(-2, 0, 0, 0)}, "-2 classes"},
		{probit, Data{X: inputs(1, 2, nan, 4, 5, 6), Y: binary(-1, 1, 1)}, "input NaN in row 2, column 1"},
		{probit, Data{X: inputs(1, 2, 3, 4, 5, inf), Y: binary(-1, 1, 1)}, "input +Inf in row 3, column 2"},
		{probit, Data{X: inputs(), Y: binary()}, "there are no cases"},
		{probit, Data{Y: binary()}, "there are no cases"},
		{probit, Data{X: x, Y: binary(-1, 1, 1), Classes: []string{"a"}}, "1 names of classes and 2 classes"},
		{probit, Data{X: x, Y: binary(-1, 1, 1), Groups: []string{"a"}}, "3 rows of inputs and 1 groups"},
		{softmax, Data{X: x, Y: several(3, 0, 1, 3)}, "label 3 in row 3 (counted from 1); the labels of 3 classes must be 0 … 2"},
		{softmax, Data{X: x, Y: several(3, 0, -1, 2)}, "label -1 in row 2"},
		{softmax, Data{X: x, Y: approx.Targets{Classes: 3, Value: []float64{0, 1, 2}}}, "3 targets in Value"},
		{softmax, Data{X: x, Y: binary(-1, 1, 1)}, "is for three or more classes"},
		{numeric, Data{X: x, Y: approx.Targets{Value: []float64{0, 0.5, -inf}}}, "target -Inf in row 3"},
		{numeric, Data{X: x, Y: binary(-1, 1, 1)}, "numeric labels"},
		{ordinal, Data{X: x, Y: several(3, 0, 1, 2)}, ""},
		{ordinal, Data{X: x, Y: binary(-1, 1, 1), alphabetical: true}, ""},
		{ordinal, Data{X: x, Y: several(3, 0, 1, 2), alphabetical: true}, "only alphabetical"},
	} {
		c.model.Kernels = []kernel.Kernel{kernel.SE{}}
		_, err := New(c.model, LogEvidence{}, c.data)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.data.Y, err, c.want)
		}
	}
}

// Parts that do not go together, or have options that no file could have, are errors.
func TestModelsThatCannotBeAreErrorsOfNew(t *testing.T) {
	x := &kernel.Inputs{X: mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})}
	two, three, numbers := approx.Targets{Classes: 2, Value: []float64{-1, 1, 1}}, approx.Targets{Classes: 3, Index: []int{0, 1, 2}},
		approx.Targets{Value: []float64{0, 0.5, 7}}
	probit := Model{Likelihood: likelihood.Probit{}, Inference: approx.EP{}}
	noisy := Model{Likelihood: likelihood.NoisyThreshold{Epsilon: param.Setting{Bare: ptr(0.7)}}, Inference: approx.EP{}}
	softmax := Model{Likelihood: likelihood.Softmax{}, Inference: approx.Laplace{}}
	numeric := Model{Likelihood: likelihood.Gaussian{}, Inference: approx.Exact{}}
	se := kernel.Named{Kind: "se", Kernel: kernel.SE{}}
	wrong := kernel.Named{Kind: "se", Kernel: kernel.SE{LengthScale: param.Setting{Bounds: &[2]float64{3, 2}}}}
	groups := func(g ...[]int) Criterion { return LeaveGroupOut{Groups: g} }
	for _, c := range []struct {
		model     Model
		kernel    kernel.Kernel
		y         approx.Targets
		criterion Criterion
		want      string // "": no error
	}{
		{probit, wrong.Kernel, two, nil, "[3, 2]"}, {probit, kernel.Sum{se, {Kernel: kernel.Product{se, wrong}}}, two, nil, "[3, 2]"},
		{probit, nil, two, nil, "a kernel, or a part of one, is nil"}, {probit, kernel.Sum{se, {}}, two, nil, "is nil"},
		{probit, kernel.PerClass{}, two, nil, "per_class needs a kernel"},
		{probit, kernel.PerClass{Kernel: kernel.SE{}}, two, nil, "2 kernels for 2 classes"},
		{softmax, kernel.PerClass{Kernel: kernel.SE{}}, three, nil, ""},
		{noisy, kernel.SE{}, two, nil, "epsilon = 0.7 must be less than 0.5"},
		{numeric, kernel.SE{}, numbers, groups([]int{0, 2}, []int{1}), ""},
		{probit, kernel.SE{}, two, groups([]int{0, 2}, []int{1}), "this inference method leaves no groups out"},
	} {
		c.model.Kernels = []kernel.Kernel{c.kernel}
		o, err := New(c.model, c.criterion, Data{X: x, Y: c.y})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.model, err, c.want)
		}
		if err == nil && c.y.Classes == 3 && len(o.Layout.Specs) != 6 {
			t.Errorf("%d hyperparameters of three classes", len(o.Layout.Specs))
		}
	}
	for want, g := range map[string]Criterion{
		"case 1 is in 0 of the groups": groups([]int{0, 2}), "case 2 is in 2 of the groups": groups([]int{0, 2}, []int{1, 2}),
		"a group to leave out has case 3, and there are cases 0 to 2": groups([]int{0, 2}, []int{1, 3}), "has case -1": groups([]int{-1}),
	} {
		numeric.Kernels = []kernel.Kernel{kernel.SE{}}
		o, err := New(numeric, g, Data{X: x, Y: numbers})
		if err == nil {
			_, err = o.At(t.Context(), o.Layout.Pick(o.Layout.Start()))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// All methods accept a training set with one class; a constant explains its labels.
func TestOneClass(t *testing.T) {
	x := &kernel.Inputs{X: mat.NewDense(6, 1, []float64{1, 2, 3, 4, 5, 6})}
	for _, e := range approx.Table {
		m, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		o, err := New(Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{}, Inference: m}, LogEvidence{}, Data{X: x, Y: approx.Targets{Classes: 2, Value: []float64{1, 1, 1, 1, 1, 1}}})
		if err != nil {
			continue
		}
		p, err := o.At(t.Context(), []float64{0, 0})
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		if err := p.Converged(); err != nil || !(p.Value() < 0) || !(p.Value() > 6*math.Log(0.5)) {
			t.Errorf("%s: log evidence %v, %v", e.Name, p.Value(), err)
		}
	}
}

func TestNewCasesThatCannotBePanic(t *testing.T) {
	p := fitted(t, likelihood.Probit{})
	for want, z := range map[string]*mat.Dense{
		"the inputs have 3 columns, want 2": mat.NewDense(1, 3, nil),
		"input NaN in row 2, column 1":      mat.NewDense(2, 2, []float64{1, 2, math.NaN(), 3}),
	} {
		func() {
			defer func() {
				if r, ok := recover().(string); !ok || !strings.Contains(r, want) {
					t.Errorf("panic %v, want %q", r, want)
				}
			}()
			predict(p, &kernel.Inputs{X: z}, Averaged{})
		}()
	}
}
