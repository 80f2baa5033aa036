package classifier

import (
	"errors"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/machine"
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

// There is a worker for each restart, as far as the processors and the memory allow. A gradient
// takes memory of its own.
func TestWorkers(t *testing.T) {
	before := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(before)
	x, labels := cases(60, 2, 0.3)
	d, err := objective.NewData(x, labels)
	if err != nil {
		t.Fatal(err)
	}
	model := defaults(d).Model
	model.Inference = approx.Laplace{}
	of := func(gradients objective.Gradients, workers int64) int64 { // their memory
		one := model.Memory(approx.Size{Cases: 60, Distinct: 60, Classes: 2}, 2, objective.LeaveOneOut{},
			gradients == objective.Exact)
		return machine.Footprint(workers*one, machine.Percent())
	}
	if of(objective.Exact, 1) <= of(objective.Differences, 1) {
		t.Fatal("a gradient takes no memory")
	}
	for _, c := range []struct {
		restarts  int
		gradients objective.Gradients
		memory    int64
		want      int // 0: not even one
	}{
		{1, objective.Exact, 1 << 40, 1}, {2, objective.Exact, 1 << 40, 2}, {5, objective.Exact, 1 << 40, 3},
		{5, objective.Exact, of(objective.Exact, 2), 2}, {5, objective.Exact, of(objective.Exact, 1), 1}, {5,
			objective.Exact, of(objective.Exact, 1) - 1, 0},
		{5, objective.Differences, of(objective.Differences, 3), 3}, {5, objective.Differences,
			of(objective.Differences, 1) - 1, 0},
	} {
		o := defaults(d)
		o.Model, o.Criterion = model, objective.LeaveOneOut{}
		o.Restarts, o.Settings.Gradients, o.memory = c.restarts, c.gradients, c.memory
		workers, err := o.admit(d)
		if c.want == 0 && !errors.Is(err, ErrMemory) || c.want > 0 && (err != nil || workers != c.want) {
			t.Errorf("%+v: %d, %v", c, workers, err)
		}
	}
	if now := runtime.GOMAXPROCS(0); now != 3 {
		t.Errorf("of 3 processors the process has kept %d", now)
	}
}
