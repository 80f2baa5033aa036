package objective

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
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
