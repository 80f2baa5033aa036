package classifier

import (
	"reflect"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// The defaults are those of the comments, and every option sets what it is named after.
func TestOptions(t *testing.T) {
	for classes, want := range map[int]objective.Model{
		2: {Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{}, Inference: approx.EP{}},
		3: {Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Softmax{}, Inference: approx.Laplace{}},
	} {
		o := defaults(objective.Data{Y: approx.Targets{Classes: classes}})
		if !reflect.DeepEqual(o.Model, want) || o.Restarts != 3 || o.seed != 0 || o.preprocess != "standardize" ||
			o.Criterion != objective.Criterion(objective.LogEvidence{}) || o.Average != objective.Average(objective.Averaged{}) {
			t.Errorf("%d classes: %+v", classes, o)
		}
	}
	o := &options{}
	settings := objective.Settings{Gradients: objective.Differences}
	for _, set := range []Option{Kernel(kernel.Linear{}), Mean(objective.Constant{}), Likelihood(likelihood.Logit{}), Inference(approx.Laplace{}),
		Criterion(objective.LeaveOneOut{}), Average(objective.MAP{}), Settings(settings), Restarts(7), Seed(8), Preprocess("whiten"), Weights([]float64{1, 2})} {
		set(o)
	}
	want := &options{seed: 8, preprocess: "whiten", weights: []float64{1, 2}}
	want.Model = objective.Model{Kernels: []kernel.Kernel{kernel.Linear{}}, Mean: objective.Constant{}, Likelihood: likelihood.Logit{}, Inference: approx.Laplace{}}
	want.Criterion, want.Average, want.Settings, want.Restarts = objective.LeaveOneOut{}, objective.MAP{}, settings, 7
	if !reflect.DeepEqual(o, want) {
		t.Errorf("%+v, want %+v", o, want)
	}
	if err := o.check(3); err != nil || !slices.Equal(o.columns, []string{"x1", "x2", "x3"}) {
		t.Errorf("%v, %v", o.columns, err)
	}
	if err := o.check(2); err == nil {
		t.Error("three names of two columns")
	}
	o.Average = nil
	if err := o.check(3); err == nil {
		t.Error("an average that is nil")
	}
}
