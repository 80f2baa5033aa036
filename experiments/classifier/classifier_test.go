package classifier

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/modelfile"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
)

// cases returns n cases with two inputs of very different scales, and their classes.
func cases(n, classes int, seed float64) (x [][]float64, labels []int) {
	for i := range n {
		u, v := math.Sin(float64(i)+seed), math.Cos(2.3*float64(i)-seed)
		x = append(x, []float64{1000 * u, v})
		labels = append(labels, 10*(int(math.Floor((u+v+0.4*math.Sin(9*u)+8)*1.5))%classes))
	}
	return x, labels
}

// Training takes rows of inputs and labels of any type; predictions are probabilities and labels of that type.
func TestTrainPredictsLabels(t *testing.T) {
	for _, classes := range []int{2, 3} {
		x, labels := cases(60, classes, 0.3)
		c, err := Train(t.Context(), x, labels, Restarts(1))
		if err != nil {
			t.Fatal(err)
		}
		if want := []int{0, 10, 20}[:classes]; !slices.Equal(c.Classes(), want) {
			t.Errorf("classes %v, want %v", c.Classes(), want)
		}
		proba, err := c.Proba(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		decided, err := c.Predict(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for i, row := range proba {
			sum, best := 0.0, 0
			for k, p := range row {
				if sum += p; p > row[best] {
					best = k
				}
			}
			if math.Abs(sum-1) > 1e-12 || decided[i] != c.Classes()[best] {
				t.Errorf("case %d: probabilities %v, decided %v", i, row, decided[i])
			}
			if decided[i] != labels[i] {
				wrong++
			}
		}
		if wrong > 15 {
			t.Errorf("%d classes: %d of 60 training cases are wrong", classes, wrong)
		}
	}
}

// models returns options for every supported pair of inference and likelihood for the given number of classes.
func models(classes int) (all [][]Option) {
	for _, a := range approx.Table.Names() {
		method := approx.Table.Default(a)
		if a == "sampling" {
			method = approx.Sampling{Chains: 4, Samples: 2, Temperatures: 20, Burn: 2}
		}
		for _, l := range likelihood.Table.Names() {
			lik := likelihood.Table.Default(l)
			if lik.Domain() == likelihood.Numeric {
				continue
			}
			for _, inference := range []approx.Approximation{method, approx.OneVsRest{Binary: method}} {
				var k kernel.Kernel = kernel.Matern52{ARD: true}
				if l == "step" {
					k = kernel.Sum{{Kind: "se", Kernel: kernel.SE{}}, {Kind: "noise", Kernel: kernel.Noise{}}}
				}
				m := objective.Model{Kernels: []kernel.Kernel{k}, Likelihood: lik, Inference: inference}
				if _, err := m.Check(classes); err == nil {
					all = append(all, []Option{Kernel(k), Likelihood(lik), Inference(inference)})
				}
			}
		}
	}
	return all
}

// For every model, the loaded classifier predicts the same as the saved one, to the last bit; many goroutines predict
// the same as one.
func TestSavedIsLoaded(t *testing.T) {
	tried := 0
	for _, classes := range []int{2, 3} {
		x, labels := cases(16, classes, 0.1)
		z, _ := cases(3, classes, 0.7)
		for _, m := range models(classes) {
			m = append(m, Restarts(1), Settings(objective.Settings{Evaluations: 1}), Criterion(objective.LogEvidence{}))
			c, err := Train(t.Context(), x, labels, m...)
			if err != nil {
				continue // no gradient, or not converged
			}
			tried++
			want, err := c.Proba(t.Context(), z)
			if err != nil {
				t.Fatal(err)
			}
			var file bytes.Buffer
			if err := c.Save(&file); err != nil {
				t.Fatal(err)
			}
			loaded, err := Load(&file)
			if err != nil {
				t.Errorf("%+v: %v", c.file.Model, err)
				continue
			}
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for range 3 {
						if got, err := loaded.Proba(t.Context(), z); err != nil || !reflect.DeepEqual(got, want) {
							t.Errorf("%+v: %v, want %v, error %v", c.file.Model, got, want, err)
						}
					}
				})
			}
			all.Wait()
			if loaded.LogEvidence() != c.LogEvidence() || !reflect.DeepEqual(loaded.Theta(), c.Theta()) {
				t.Errorf("%+v: %v, %v", c.file.Model, loaded.LogEvidence(), loaded.Theta())
			}
		}
	}
	if tried < 15 {
		t.Errorf("only %d models", tried)
	}
}

// Kernels of every kind, means and averages are restored too.
func TestEveryPartIsKept(t *testing.T) {
	x, labels := cases(20, 2, 0.1)
	inner := kernel.Sum{{Kind: "se", Kernel: kernel.SE{ARD: true}}, {Kind: "noise", Kernel: kernel.Noise{}}}
	k := kernel.Product{{Kernel: inner}, {Kernel: kernel.Active{Dims: []int{2}, Named: kernel.Named{Kind: "linear", Kernel: kernel.Linear{}}}}}
	c, err := Train(t.Context(), x, labels, Kernel(k), Mean(objective.Constant{}), Average(objective.MonteCarlo{Samples: 20}),
		Seed(7), Preprocess("whiten"), Columns("length", "label"), Restarts(1), Settings(objective.Settings{Evaluations: 3}))
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := c.Save(&file); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	loaded, err := Load(&file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := c.Proba(t.Context(), x)
	got, other := loaded.Proba(t.Context(), x)
	if err != nil || other != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v, errors %v, %v", got, want, other, err)
	}
	if !slices.Equal(loaded.Classes(), []string{"0", "10"}) || !strings.Contains(text, `"name":"label_"`) {
		t.Error(loaded.Classes(), text[:300])
	}
	// Without priors the log evidence is maximized. The value of Laplace's method differs from the
	// value of EP.
	tuned := loaded.file.Tuned
	if tuned.Method != "bfgs" || tuned.Objective != "log_evidence" || tuned.Inference != "laplace" ||
		loaded.file.Model.Inference != "ep" || !(math.Abs(float64(tuned.Value)-c.LogEvidence()) < 1) ||
		float64(tuned.Value) == c.LogEvidence() {
		t.Errorf("tuned: %+v, of the log evidence %v", tuned, c.LogEvidence())
	}
}

// By default EP predicts with the hyperparameters that maximise Laplace's evidence. Separate
// classes get probabilities near 1; Laplace's probabilities would be too near to equal. EP tunes
// models that Laplace's method does not support.
func TestTunedWithLaplace(t *testing.T) {
	var x [][]float64
	var labels []int
	for i := range 90 {
		k := float64(i % 3)
		x = append(x, []float64{6*k + math.Sin(float64(i)), 6*math.Mod(k*k, 3) + math.Cos(1.7*float64(i))})
		labels = append(labels, i%3)
	}
	mean := func(options ...Option) (p float64, c *Classifier[int]) {
		t.Helper()
		c, err := Train(t.Context(), x[:60], labels[:60], append(options, Restarts(1))...)
		if err != nil {
			t.Fatal(err)
		}
		proba, err := c.Proba(t.Context(), x[60:])
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range proba {
			p += row[labels[60+i]] / 30
		}
		return p, c
	}
	ep, c := mean()
	laplace, of := mean(Inference(approx.Laplace{}))
	if !reflect.DeepEqual(c.Theta(), of.Theta()) || !(ep > 0.97) || !(laplace < 0.9) {
		t.Errorf("mean probability of the label %v at %v, by Laplace's method %v at %v", ep, c.Theta(), laplace, of.Theta())
	}
	if _, again := mean(Inference(approx.EP{}), TuneInference(approx.Laplace{})); !reflect.DeepEqual(again.Theta(), c.Theta()) {
		t.Errorf("tuned by option: %v, want %v", again.Theta(), c.Theta())
	}
	o := defaults(objective.Data{Y: approx.Targets{Classes: 2}})
	Likelihood(likelihood.NoisyThreshold{})(o)
	if err := o.settle(2); err != nil || o.tunes != nil || o.Model.Inference == nil {
		t.Errorf("%v, %v tunes", err, o.tunes)
	}
	inputs := objective.Inducing{Points: 5, TuneInputs: true}
	_, err := Train(t.Context(), x, labels, Inference(approx.EP{}), TuneInference(approx.Laplace{Structure: inputs}))
	if want := "the same inducing inputs"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// Theta returns the hyperparameters by name. Changes of the returned map do not change the
// classifier.
func TestThetaByName(t *testing.T) {
	x, labels := cases(20, 2, 0.1)
	c, err := Train(t.Context(), x, labels, Kernel(kernel.Matern52{ARD: true}), Restarts(1),
		Settings(objective.Settings{Evaluations: 3}))
	if err != nil {
		t.Fatal(err)
	}
	theta, at := c.Theta(), c.points[0].Theta
	want := map[string]float64{"log_amplitude": at[0], "log_length_scale[1]": at[1], "log_length_scale[2]": at[2]}
	if !reflect.DeepEqual(theta, want) {
		t.Errorf("%v, want %v", theta, want)
	}
	clear(theta)
	if !reflect.DeepEqual(c.Theta(), want) {
		t.Errorf("afterwards %v", c.Theta())
	}
}

// The random numbers of a case depend on the seed and on its row alone, however many rows there
// are.
func TestManyRows(t *testing.T) {
	x, labels := cases(20, 2, 0.1)
	c, err := Train(t.Context(), x, labels, Average(objective.MonteCarlo{Samples: 20}), Seed(7), Restarts(1),
		Settings(objective.Settings{Evaluations: 1}))
	if err != nil {
		t.Fatal(err)
	}
	z, _ := cases(2*looks+10, 2, 0.7)
	got, err := c.Proba(t.Context(), z)
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := kernel.NewInputs(z)
	if err != nil {
		t.Fatal(err)
	}
	want := mat.NewDense(len(z), 2, nil)
	c.points[0].PredictProba(want, &kernel.Inputs{X: c.file.Preprocess.Apply(inputs.X)}, c.average)
	for i, row := range got {
		if math.Abs(row[0]-want.At(i, 0)) > 1e-12 {
			t.Fatalf("row %d: %v, want %v", i, row, want.RawRowView(i))
		}
	}
}

// tiring is Laplace's method whose fits do not converge after the first most ones.
type tiring struct {
	approx.Laplace
	fits *int
	most int
}

type unfinished struct{ approx.Posterior }

func (unfinished) Diagnostics() approx.Diagnostics { return approx.Diagnostics{} }

func (m tiring) Fit(
	ctx context.Context, cov []approx.Cov, y approx.Targets, lik likelihood.Bound, start approx.State,
) (approx.Posterior, error) {
	p, err := m.Laplace.Fit(ctx, cov, y, lik, start)
	if *m.fits++; *m.fits > m.most && err == nil {
		return unfinished{p}, nil
	}
	return p, err
}

// The last fit, which the classifier keeps, must converge too.
func TestLastFitMustConverge(t *testing.T) {
	x, labels := cases(20, 2, 0.1)
	train := func(most int) (fits int, err error) {
		_, err = Train(t.Context(), x, labels, Inference(tiring{most: most, fits: &fits}), Restarts(1),
			Settings(objective.Settings{Evaluations: 3}))
		return fits, err
	}
	all, err := train(math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	if fits, err := train(all - 1); !errors.Is(err, approx.ErrNotConverged) || fits != all {
		t.Errorf("%d of %d fits, error %v", fits, all, err)
	}
}

// A file that decides or calibrates in its own way is left to the program that does.
func TestDecisionsOfAFile(t *testing.T) {
	x, labels := cases(10, 2, 0)
	c, err := Train(t.Context(), x, labels, Restarts(1), Settings(objective.Settings{Evaluations: 1}))
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(f *modelfile.File){
		func(f *modelfile.File) { f.Calibrate = "sigmoid" }, func(f *modelfile.File) { f.Threshold = []float64{0.3} },
		func(f *modelfile.File) { f.Costs = &record.Costs{} },
	} {
		f := *c.file
		change(&f)
		if _, err := restore(&f); err == nil ||
			!strings.HasPrefix(err.Error(), "calibrate, threshold, costs: they are not applied here") {
			t.Errorf("calibrate %q, threshold %v, costs %v: %v", f.Calibrate, f.Threshold, f.Costs, err)
		}
	}
}

// reloaded is a classifier after a way through a model file.
func reloaded(t testing.TB, c *Classifier[int]) *Classifier[string] {
	t.Helper()
	var file bytes.Buffer
	if err := c.Save(&file); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(&file)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// The classifier keeps tuned inducing inputs, and Load restores them.
func TestTunedInputsAreKept(t *testing.T) {
	x, labels := cases(40, 2, 0.3)
	var proba [2][][]float64
	for i, tunes := range []bool{false, true} {
		c, err := Train(t.Context(), x, labels, Restarts(1), Settings(objective.Settings{Evaluations: 20}),
			Inference(approx.Variational{Structure: objective.Inducing{Points: 5, TuneInputs: tunes}}))
		if err != nil {
			t.Fatal(err)
		}
		loaded := reloaded(t, c)
		proba[i], err = c.Proba(t.Context(), x)
		if got, other := loaded.Proba(t.Context(), x); err != nil || other != nil || !reflect.DeepEqual(got, proba[i]) {
			t.Errorf("%v, want %v, errors %v, %v", got, proba[i], other, err)
		}
	}
	if reflect.DeepEqual(proba[0], proba[1]) {
		t.Error("the same probabilities with inputs that were not tuned")
	}
}

func TestMistakesAreErrors(t *testing.T) {
	x, labels := cases(10, 2, 0)
	train := func(of ...Option) error {
		_, err := Train(t.Context(), x, labels, of...)
		return err
	}
	ended, end := context.WithCancel(t.Context())
	end()
	_, cancelled := Train(ended, x, labels)
	_, noRows := Train(t.Context(), nil, []int{})
	c, err := Train(t.Context(), x, labels, Restarts(1), Settings(objective.Settings{Evaluations: 1}))
	if err != nil {
		t.Fatal(err)
	}
	proba := func(x ...[]float64) error {
		_, err := c.Proba(t.Context(), x)
		return err
	}
	_, late := c.Predict(ended, x)
	for want, err := range map[string]error{
		"an option is nil":                               train(Kernel(nil)),
		"1 names of columns and 2 inputs":                train(Columns("a")),
		`unknown preprocess "scale"`:                     train(Preprocess("scale")),
		"probit has no MacKay form":                      train(Average(objective.MacKay{})),
		"this likelihood is for three or more classes":   train(Likelihood(likelihood.Softmax{}), Inference(approx.Laplace{})),
		"there are no inputs":                            noRows,
		"row 2 (counted from 1) has 1 inputs":            proba([]float64{1, 2}, []float64{1}),
		"input NaN in row 1, column 2":                   proba([]float64{1, math.NaN()}),
		"input -Inf in row 1, column 1":                  proba([]float64{math.Inf(-1), 0}),
		context.Canceled.Error():                         cancelled,
		"classifier: line 1, column 1: not a model file": load("x1,x2\n"),
		"its schema is":                                  load(`{"schema": "other/1"}`),
		"a kernel of type classifier.private":            unnamed(t),
		"columns, preprocess: one of them is missing; the file was changed: write it again with gpc-tune fit": load(`{"schema": "gpc-tune/model/1"}`),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if !errors.Is(cancelled, context.Canceled) || !errors.Is(late, context.Canceled) {
		t.Error(cancelled, late)
	}
	if p, err := c.Proba(t.Context(), nil); err != nil || len(p) != 0 {
		t.Errorf("no rows: %v, %v", p, err)
	}
}

func load(text string) error {
	_, err := Load(strings.NewReader(text))
	return err
}

// private is a kernel that is not registered.
type private struct{ kernel.SE }

func unnamed(t *testing.T) error {
	x, labels := cases(10, 2, 0)
	c, err := Train(t.Context(), x, labels, Kernel(private{}), Restarts(1), Settings(objective.Settings{Evaluations: 1}))
	if err != nil {
		t.Fatal(err)
	}
	return c.Save(&bytes.Buffer{})
}

func BenchmarkProbaOfOne(b *testing.B) {
	for _, f := range []struct{ n, classes int }{{500, 2}, {500, 10}} {
		x, labels := cases(f.n, f.classes, 0.3)
		for i := range labels {
			labels[i] = (labels[i]/10 + i%(f.classes/2)) % f.classes // every class has cases
		}
		c, err := Train(b.Context(), x, labels, Restarts(1), Settings(objective.Settings{Evaluations: 2}))
		if err != nil {
			b.Fatal(err)
		}
		loaded := reloaded(b, c)
		z := [][]float64{{12, 0.3}}
		b.Run(fmt.Sprintf("n=%d/classes=%d", f.n, len(loaded.Classes())), func(b *testing.B) {
			b.ReportAllocs()
			before := machine.ProcessTime()
			for b.Loop() {
				if _, err := loaded.Proba(b.Context(), z); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(machine.ProcessTime()-before)/float64(b.N), "processor-ns/op")
		})
	}
}
