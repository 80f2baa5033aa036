package classifier

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// The defaults are as documented, and every option sets the field that it is named after.
func TestOptions(t *testing.T) {
	for classes, want := range map[int]objective.Model{
		2: {Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{}, Inference: approx.EP{}},
		3: {Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Softmax{}, Inference: approx.EP{}},
	} {
		o := defaults(objective.Data{Y: approx.Targets{Classes: classes}})
		if err := o.settle(classes); err != nil || !reflect.DeepEqual(o.tunes, approx.Laplace{}) || !reflect.DeepEqual(o.Model, want) || o.Restarts != 3 || o.seed != 0 || o.preprocess != "standardize" ||
			o.Criterion != objective.Criterion(objective.LogEvidence{}) || o.Average != objective.Average(objective.Averaged{}) {
			t.Errorf("%d classes: %+v", classes, o)
		}
	}
	o := &options{}
	settings := objective.Settings{Gradients: objective.Differences}
	for _, set := range []Option{Kernel(kernel.Linear{}), Mean(objective.Constant{}), Likelihood(likelihood.Logit{}), Inference(approx.Laplace{}), TuneInference(approx.PL{}),
		Criterion(objective.LeaveOneOut{}), Average(objective.MAP{}), Settings(settings), Restarts(7), Seed(8), Preprocess("whiten"), Weights([]float64{1, 2})} {
		set(o)
	}
	want := &options{tunes: approx.PL{}, seed: 8, preprocess: "whiten", weights: []float64{1, 2}}
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

// nameless is a kernel of no table.
type nameless struct{ kernel.SE }

// Options that Load would refuse are errors of Train. Options that no file could hold are errors of
// Save. Every classifier that is trained and saved can be loaded.
func TestOptionsThatLoadRefuses(t *testing.T) {
	x, labels := cases(30, 2, 0.3)
	minus, one, three := -1.0, 1.0, 3.0
	length := func(s param.Setting) Option { return Kernel(kernel.SE{LengthScale: s}) }
	named := func(kind string) kernel.Named { return kernel.Named{Kind: kind, Kernel: kernel.SE{}} }
	noise := kernel.Named{Kind: "noise", Kernel: kernel.Noise{}}
	for _, c := range []struct {
		option     Option
		want, save string // errors of Train and of Save
	}{
		{length(param.Setting{Bounds: &[2]float64{3, 2}}), "classifier: kernel: bounds", ""},
		{length(param.Setting{Init: &one, Fixed: &one}), "classifier: kernel: length_scale", ""},
		{length(param.Setting{Init: &minus}), "classifier: kernel: length_scale = -1", ""},
		{length(param.Setting{Init: &three, Bounds: &[2]float64{1, 2}}), "classifier: kernel: length_scale = 3", ""},
		{Kernel(kernel.Sum{}), "classifier: kernel: sum needs a list", ""}, {Kernel(kernel.Sum{named("se")}), "", ""},
		{Kernel(kernel.Choice{named("se")}), "classifier: kernel: choice needs", ""},
		{Kernel(kernel.Sum{named("se"), noise}), "", ""}, {Kernel(kernel.Additive{Named: named("se")}), "", ""},
		{Kernel(kernel.Sum{named(""), noise}), "", `hyperparameter "1.amplitude" would be "1.se.amplitude" in the file: the Kind of`},
		{Kernel(kernel.Sum{noise, named("rbf")}), "", `hyperparameter "2.rbf.amplitude" would be "2.se.amplitude"`},
		{Kernel(kernel.PerClass{Kernel: kernel.SE{}}), "2 kernels for 2 classes: give one shared kernel", ""},
		{Kernel(nameless{}), "", "has no name"},
		{func(o *options) {
			Kernel(nameless{})(o)
			Inference(approx.EP{Alpha: 7})(o)
		}, "classifier: inference: alpha = 7 must be from 0.001 to 1", ""},
		{Inference(approx.EP{NegativeSites: 9}), `classifier: inference: unknown`, ""},
		{Inference(approx.EP{Iteration: approx.Iteration{MaxIterations: -1}}), "classifier: inference: max_iterations = -1", ""},
		{Mean(objective.Constant{Setting: param.Setting{Bounds: &[2]float64{3, 2}}}), "classifier: mean: ", ""},
		{Average(objective.MonteCarlo{Samples: -1}), "samples = -1 must not be negative", ""},
		{Columns("a", "a"), `classifier: column "a" and column "a" are the same`, ""}, {Columns("a", ""), "classifier: column 1 has no name", ""},
		{Columns("a", "b\xff"), "", `the name "b\xff" of a class or a column is not UTF-8`},
	} {
		got, err := Train(t.Context(), x, labels, c.option, Restarts(1))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
		if err != nil {
			continue
		}
		var file bytes.Buffer
		if err := got.Save(&file); (err == nil) != (c.save == "") || err != nil && !strings.Contains(err.Error(), c.save) {
			t.Errorf("%v, want %q", err, c.save)
		}
		if _, err := Load(&file); c.save == "" && err != nil {
			t.Error(err)
		}
	}
	texts := make([]string, len(labels))
	for i, label := range labels {
		texts[i] = fmt.Sprintf("a%v\xff", label)
	}
	got, err := Train(t.Context(), x, texts, Restarts(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Save(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "is not UTF-8") {
		t.Error(err)
	}
}

// Each class has the kernel with hyperparameters of its own, in the file too.
func TestKernelPerClass(t *testing.T) {
	x, labels := cases(30, 3, 0.3)
	got, err := Train(t.Context(), x, labels, Kernel(kernel.PerClass{Kernel: kernel.SE{}}), Restarts(1))
	if err != nil || len(got.Theta()) != 6 {
		t.Fatalf("%v, %v", got, err)
	}
	var file bytes.Buffer
	if err := got.Save(&file); err != nil {
		t.Fatal(err)
	}
	if back, err := Load(&file); err != nil || !maps.Equal(back.Theta(), got.Theta()) {
		t.Error(err)
	}
}

// The approximation that tunes has the inducing inputs of the one that predicts, unless it has its
// own or works with matrices only.
func TestTuningTakesOverTheStructure(t *testing.T) {
	own, other := objective.Inducing{Points: 5}, objective.Inducing{Points: 9}
	for _, c := range []struct{ tunes, want approx.Approximation }{
		{approx.Laplace{}, approx.Laplace{Structure: own}}, {approx.Laplace{Structure: other}, approx.Laplace{Structure: other}},
		{approx.NaiveMeanField{}, approx.NaiveMeanField{}}, {nil, nil},
	} {
		o := options{tunes: c.tunes}
		o.Model.Inference = approx.EP{Structure: own}
		if err := o.settle(2); err != nil || o.tunes != c.want {
			t.Errorf("%+v: tuned by %+v, %v, want %+v", c.tunes, o.tunes, err, c.want)
		}
	}
}
