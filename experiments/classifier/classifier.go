// Package classifier goes from arrays to probabilities: it tunes a Gaussian-process classifier on
// rows of inputs and labels of any type, predicts, and saves the fitted classifier.
//
//	c, err := classifier.Train(ctx, x, labels)
//	proba, err := c.Proba(ctx, z) // proba[i][k] is that of class c.Classes()[k] in row i of z
//
// # What is computed
//
// Inputs are standardised. A latent function f with a Gaussian-process prior explains the labels of
// two classes by p(y = +1|f) = Φ(f). Three or more classes have one function each, and their
// probabilities are the softmax of these functions. The hyperparameters of the prior maximise the
// log marginal likelihood log p(y|X, θ), as Laplace's method gives it (GPML 3.4, 3.5). The
// posterior of f at these hyperparameters is then approximated by expectation propagation (GPML
// 3.6), because Laplace's method makes probabilities too near to equal where amplitudes are large.
// Probabilities are averages over the posterior of f at the new inputs (GPML 3.25). Options change
// each of these steps. The book is Rasmussen & Williams, Gaussian Processes for Machine Learning
// (2006), called GPML.
//
// # What it leaves out
//
// It opens no files and changes nothing of the process. Save writes and Load reads the model file
// of the command gpc-tune, so each predicts with models that the other has fitted. It compares no
// models: package objective evaluates single models, package experiments whole experiments.
package classifier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"unicode/utf8"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/modelfile"
	"github.com/gpc-tune/gpc-tune/internal/build"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/preprocess"
	"github.com/gpc-tune/gpc-tune/record"
)

// ErrMemory is the error of a computation that needs more memory than is free or allowed.
var ErrMemory = machine.ErrMemory

// Classifier is a fitted classifier for labels of type L. It does not change, and any number of
// goroutines may use it at once.
type Classifier[L comparable] struct {
	labels   []L // labels of the classes, in order
	file     *modelfile.File
	declared error // why the file cannot be written
	dim      int
	average  objective.Average
	points   []*objective.Point // one, or the samples of Markov chains
	warnings []approx.Warning
}

// Train tunes the hyperparameters on the cases whose inputs are the rows of x, and fits. The result
// depends on the arguments alone. A mistake in inputs or labels is an error that names the row, as
// in objective.NewData. Other errors are an option out of range, a model whose parts are
// incompatible, a fit that fails at all restarts, and the end of ctx. A training set that needs
// more memory than is free, or than Memory allows, is ErrMemory before anything is computed; it
// grows with the square of the number of cases, unless the inference has inducing inputs.
func Train[L comparable](ctx context.Context, x [][]float64, labels []L, choices ...Option) (*Classifier[L], error) {
	d, err := objective.NewData(x, labels)
	if err != nil {
		return nil, err
	}
	o := defaults(d)
	for _, choose := range choices {
		choose(o)
	}
	if err := o.check(d.X.Dim()); err != nil {
		return nil, err
	}
	if err := o.settle(d.Y.Classes); err != nil {
		return nil, err
	}
	file := &modelfile.File{Columns: o.schema(d.Classes)}
	back, err := o.declare(file)
	if err != nil {
		return nil, err
	}
	all := d
	d.Y.Weight = o.weights
	if err := d.Check(); err != nil {
		return nil, fmt.Errorf("classifier: %w", err)
	}
	d = d.Present()
	before, _, err := preprocess.FitWeighted(d.X.X, d.Y.Weight, o.preprocess, "error")
	if err != nil {
		return nil, fmt.Errorf("classifier: %w", err)
	}
	d.X, d.Scaled = &kernel.Inputs{X: before.Apply(d.X.X)}, before.How != "none"
	on, err := objective.New(o.tuned(d.Y.Classes), o.Criterion, d)
	if err != nil {
		return nil, err
	}
	restarts := objective.Restarts{Count: o.Restarts, Seed: o.seed}
	if restarts.Workers, err = o.admit(d); err != nil {
		return nil, err
	}
	if err := objective.Choose(ctx, on, nil); err != nil {
		return nil, err
	}
	tuning, err := objective.Maximize(ctx, on, restarts, o.Settings)
	if err != nil {
		return nil, err
	}
	if o.tunes != nil {
		predicting := o.Model
		predicting.Inference = approx.ForPredictions(predicting.Inference)
		if on, err = objective.New(predicting, nil, d); err != nil {
			return nil, err
		}
	}
	if tuning.Inputs != nil {
		on = objective.WithInducing(on, mat.NewDense(len(tuning.Inputs)/d.X.Dim(), d.X.Dim(), tuning.Inputs))
	} else if on, err = objective.Rechosen(ctx, on, on.Layout.Fill(tuning.Theta)); err != nil {
		return nil, err
	}
	point, err := on.At(ctx, tuning.Theta)
	if err == nil {
		err = point.Converged()
	}
	if err != nil {
		return nil, err
	}
	c := &Classifier[L]{
		labels: make([]L, d.Y.Classes), file: file, declared: back.unwritable(on.Layout, file.Columns),
		dim: d.X.Dim(), average: declared.Seeded(o.Average, o.seed),
		points: []*objective.Point{point}, warnings: tuning.Warnings,
	}
	for i, label := range labels {
		c.labels[classOf(all.Y, i)] = label
	}
	index := make([]int, d.X.N())
	for i := range index {
		index[i] = classOf(d.Y, i)
	}
	c.keep(o, on, tuning, d, before, index)
	return c, nil
}

// classOf returns the index of the class of case i.
func classOf(y approx.Targets, i int) int {
	if y.Classes > 2 {
		return y.Index[i]
	}
	return int(y.Value[i]+1) / 2
}

// admit returns the number of restarts that run at once, which memory and processors limit.
func (o *options) admit(d objective.Data) (workers int, err error) {
	n, classes := d.X.N(), d.Y.Classes
	size := approx.Size{Cases: n, Distinct: n, Classes: classes}
	one := o.tuned(classes).Memory(size, d.X.Dim(), o.Criterion, o.Settings.Gradients == objective.Exact)
	one = max(one, o.Model.On(classes).Memory(size, d.X.Dim(), nil, false))
	for workers = max(1, min(o.Restarts, runtime.GOMAXPROCS(0))); ; workers-- {
		err = machine.Admit(machine.Footprint(one*int64(workers), machine.Percent()), o.memory)
		if err == nil || workers == 1 {
			break
		}
	}
	if err != nil {
		err = fmt.Errorf("classifier: %w; the memory grows with the square of %d cases: train on a part of them, or "+
			"with inducing inputs, as in approx.EP{Structure: objective.Inducing{Points: 500}}", err, n)
	}
	return workers, err
}

// defaults are the options for a training set.
func defaults(d objective.Data) *options {
	o := &options{preprocess: "standardize"}
	o.Restarts, o.Criterion, o.Average = 3, objective.LogEvidence{}, objective.Averaged{}
	o.Model = objective.Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{}}
	if d.Y.Classes > 2 {
		o.Model.Likelihood = likelihood.Softmax{}
	}
	return o
}

// settle chooses the inference methods that no option has chosen, for this number of classes.
func (o *options) settle(classes int) error {
	if o.Model.Inference == nil {
		o.Model.Inference = approx.EP{}
		if o.tunes == nil {
			o.tunes = approx.Laplace{}
			caps, err := o.tuned(classes).Check(classes)
			gradient, lacks := o.Criterion.Uses(caps)
			if err != nil || lacks != nil || !gradient {
				o.tunes = nil
			}
		}
	}
	if o.tunes != nil && approx.StructureOf(o.tunes) == nil {
		o.tunes, _ = approx.With(o.tunes, approx.StructureOf(o.Model.Inference))
	}
	if of := objective.InducingOf(o.tunes); of.TuneInputs && of != objective.InducingOf(o.Model.Inference) {
		return errors.New("classifier: with TuneInputs the inference that tunes and the one that predicts need the " +
			"same inducing inputs")
	}
	return nil
}

// tuned returns the model whose criterion is maximised, for this number of classes.
func (o *options) tuned(classes int) objective.Model {
	if o.tunes == nil {
		return o.Model.On(classes)
	}
	return o.Model.TunedBy(o.tunes, classes)
}

// check validates the options for dim inputs.
func (o *options) check(dim int) error {
	switch m := o.Model; {
	case m.Kernels[0] == nil || m.Likelihood == nil || o.Criterion == nil || o.Average == nil:
		return errors.New("classifier: an option is nil; leave it out for the default")
	case o.columns != nil && len(o.columns) != dim:
		return fmt.Errorf("classifier: %d names of columns and %d inputs", len(o.columns), dim)
	}
	for j := range dim - len(o.columns) {
		o.columns = append(o.columns, "x"+strconv.Itoa(j+1))
	}
	if err := o.Average.Uses(o.Model.Likelihood); err != nil {
		return fmt.Errorf("classifier: %w", err)
	}
	return nil
}

// schema describes the columns of a file.
func (o *options) schema(classes []string) *data.Schema {
	dim := len(o.columns)
	of := &data.Schema{Header: true, Width: dim + 1, Classes: classes,
		Label: data.Column{Name: "label", Index: dim}}
	for j, name := range o.columns {
		of.Inputs = append(of.Inputs, data.Column{Name: name, Index: j})
	}
	for slices.Contains(o.columns, of.Label.Name) {
		of.Label.Name += "_"
	}
	return of
}

// readBack is a model as Load reads it from the file.
type readBack struct {
	declared.Model
	unnamed error // reason why the texts of the file cannot give the model back
}

// declare sets the texts of the model, and reads them as Load does, which checks all options.
func (o *options) declare(f *modelfile.File) (m readBack, err error) {
	if err := f.Columns.Check(); err != nil {
		return m, fmt.Errorf("classifier: %w", err)
	}
	if f.Model, m.unnamed = declared.TextsOf(o.Model, o.Average); m.unnamed != nil {
		return m, declared.CheckOptions("classifier: inference: ", o.Model.Inference)
	}
	m.Model, err = declared.ReadBack(f.Model, "classifier: ")
	return m, err
}

// unwritable returns the reason why the trained model, with these hyperparameters and columns,
// cannot be written to a file; nil if it can.
func (m readBack) unwritable(l objective.Layout, of *data.Schema) error {
	if m.unnamed != nil {
		return m.unnamed
	}
	for _, text := range append(of.ColumnNames(), of.Classes...) {
		if !utf8.ValidString(text) {
			return fmt.Errorf("the name %q of a class or a column is not UTF-8, in which model files are written", text)
		}
	}
	on, err := m.OnColumns(of.Sources())
	if err != nil {
		return err
	}
	back := on.On(len(of.Classes)).Layout(len(of.Inputs), of.Classes, math.NaN())
	for i, s := range back.Specs {
		if i < len(l.Specs) && l.Specs[i].Name != s.Name {
			return fmt.Errorf("hyperparameter %q would be %q in the file: the Kind of a kernel.Named, or of a "+
				"likelihood.Named, must be the name of what it holds", l.Specs[i].Name, s.Name)
		}
	}
	return nil
}

// keep makes the model file.
func (c *Classifier[L]) keep(
	o *options, on *objective.Objective, t objective.Tuning, d objective.Data, before *preprocess.Map, index []int,
) {
	point := c.points[0]
	c.file.Seed, c.file.Build, c.file.Preprocess = o.seed, build.This(), before
	c.file.LogEvidence, c.file.Theta = record.Spelled(point.Posterior.Evidence().Value()), map[string]float64{}
	for i, s := range on.Layout.Specs {
		c.file.Theta[s.ThetaName()] = point.Theta[i]
	}
	counts := make([]int, len(d.Classes))
	for _, label := range index {
		counts[label]++
	}
	state := point.Posterior.State()
	condensed, ok := point.Condense()
	if ok {
		state = condensed.State
	}
	c.file.Keep(state, d.X.X, condensed.Z, modelfile.TrainingOf(counts, index, nil, d.Y.Weight), index, nil,
		d.Y.Weight)
	c.file.Tuned = modelfile.Tuned{
		Method: cmp.Or(o.Settings.Method, "bfgs"), Objective: objective.Criteria.NameOf(o.Criterion),
		Inference: c.file.Model.Inference, Value: record.Spelled(t.Value),
	}
	if o.tunes != nil { // a method that has no name in files leaves the text empty
		m := o.Model
		m.Inference = o.tunes
		texts, _ := declared.TextsOf(m, o.Average)
		c.file.Tuned.Inference = texts.Inference
	}
}

// Save writes the model file, which holds the training inputs and labels. A component whose type
// has no name in files is an error; Register gives it a name. Other errors are a kernel.Named with
// a Kind that is not the name of its kernel, and a text that is not UTF-8.
func (c *Classifier[L]) Save(w io.Writer) error {
	if c.declared != nil {
		return fmt.Errorf("classifier: %w", c.declared)
	}
	f := *c.file
	if err := f.Seal(); err != nil {
		return fmt.Errorf("classifier: %w", err)
	}
	return f.Write(w)
}

// Load reads a model file, of Save or of gpc-tune fit, and rebuilds the posterior without
// iterating: one factorisation of n×n numbers for two classes, C+1 for C classes. The labels are
// the texts of the classes. A mistake in the file is an error that names its place. A file of a
// regression, or of a classifier that is not a Gaussian process, is an error too. A file whose text
// or posterior needs more memory than is free is ErrMemory.
func Load(r io.Reader) (*Classifier[string], error) {
	f, err := modelfile.Read(r)
	if err == nil {
		var c *Classifier[string]
		if c, err = restore(f); err == nil {
			return c, nil
		}
	}
	return nil, fmt.Errorf("classifier: %w", err)
}

func restore(f *modelfile.File) (*Classifier[string], error) {
	if err := f.CheckColumns(); err != nil {
		return nil, err
	}
	c := &Classifier[string]{labels: f.Columns.Classes, file: f, dim: len(f.Columns.ColumnNames())}
	switch {
	case len(c.labels) == 0:
		return nil, errors.New("columns.classes: there are none; gpc-tune predict predicts numbers")
	case f.Calibrate != "" || f.Threshold != nil || f.Costs != nil:
		return nil, errors.New("calibrate, threshold, costs: they are not applied here; gpc-tune predict does")
	}
	fitted, err := f.Restore("", len(f.Samples))
	if err != nil {
		return nil, err
	}
	if fitted.Compared != nil {
		return nil, fmt.Errorf("model.inference: %s is no Gaussian process; gpc-tune predict predicts with it",
			f.Model.Inference)
	}
	c.average = fitted.Average
	for point, err := range fitted.Posteriors() {
		if err != nil {
			return nil, err
		}
		c.points = append(c.points, point)
	}
	return c, nil
}

// Classes are the labels, in the order of the columns of Proba: numbers by value, texts by bytes.
func (c *Classifier[L]) Classes() []L { return slices.Clone(c.labels) }

// LogEvidence is the log marginal likelihood at the tuned hyperparameters, in nats; NaN where the
// inference method has none.
func (c *Classifier[L]) LogEvidence() float64 { return float64(c.file.LogEvidence) }

// Theta are the hyperparameters by name, on the scale on which they were tuned: log_length_scale is
// the natural logarithm of a length scale of the preprocessed inputs.
func (c *Classifier[L]) Theta() map[string]float64 {
	theta := make(map[string]float64, len(c.file.Theta))
	for name, v := range c.file.Theta {
		theta[name] = v
	}
	return theta
}

// Warnings are the warnings of the tuning. After Load there are none: a model file has none.
func (c *Classifier[L]) Warnings() []string { return cause.Texts(c.warnings) }

// Proba returns the class probabilities of the cases whose inputs are the rows of x, which sum to
// 1. It is an error if a row has another length than the rows of the training set, if an input is
// infinite, or if ctx ends. A missing input, NaN, is an error unless the classifier was fitted to
// replace missing inputs.
func (c *Classifier[L]) Proba(ctx context.Context, x [][]float64) ([][]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	z := make([]float64, 0, len(x)*c.dim)
	for i, row := range x {
		if len(row) != c.dim {
			return nil, fmt.Errorf("classifier: row %d (counted from 1) has %d inputs, want %d", i+1, len(row), c.dim)
		}
		for j, v := range row {
			if missing := math.IsNaN(v); math.IsInf(v, 0) || missing && c.file.Preprocess.Impute == nil {
				return nil, fmt.Errorf("classifier: input %v in row %d, column %d (counted from 1); "+
					"every input must be a finite number", v, i+1, j+1)
			}
		}
		z = append(z, row...)
	}
	if len(x) == 0 {
		return [][]float64{}, nil
	}
	proba, err := interrupt.Do(ctx, func() (*mat.Dense, error) {
		return c.predict(ctx, mat.NewDense(len(x), c.dim, z))
	})
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(x))
	for i := range out {
		out[i] = proba.RawRowView(i)
	}
	return out, nil
}

func (c *Classifier[L]) predict(ctx context.Context, x *mat.Dense) (*mat.Dense, error) {
	c.file.Preprocess.ApplyTo(x)
	z := &kernel.Inputs{X: x}
	if err := z.Check(c.dim); err != nil {
		return nil, fmt.Errorf("classifier: preprocessed, %w", err)
	}
	n, classes := z.N(), len(c.labels)
	var mean cv.Predictions
	for k, point := range c.points {
		proba := mat.NewDense(n, classes, nil)
		point.PredictProba(proba, z, stopping{c.average, ctx})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if k == 0 {
			mean.Proba = proba
		} else {
			mean.Mix(cv.Predictions{Proba: proba}, 1/float64(k+1))
		}
	}
	for i := range n {
		if floats.HasNaN(mean.Proba.RawRowView(i)) {
			return nil, fmt.Errorf("classifier: row %d (counted from 1) has no probabilities; "+
				"its inputs are too far from those of the training cases", i+1)
		}
	}
	return mean.Proba, nil
}

// stopping is an average that ends with its context, and then leaves cases without probabilities.
type stopping struct {
	objective.Average
	ctx context.Context
}

// looks is the number of cases between two checks of the context.
const looks = 384

func (s stopping) Predict(dst *mat.Dense, p *objective.Point, z *kernel.Inputs) {
	n, classes := dst.Dims()
	for i := 0; i < n && s.ctx.Err() == nil; i += looks {
		end, part := min(i+looks, n), z
		if n > looks {
			part = &kernel.Inputs{X: z.X.Slice(i, end, 0, z.Dim()).(*mat.Dense)}
		}
		s.Average.Predict(dst.Slice(i, end, 0, classes).(*mat.Dense), p, part)
	}
}

// Predict returns the label of largest probability for each row of x. If two probabilities are
// equal, it is the label that comes first in Classes. It returns the same errors as Proba.
func (c *Classifier[L]) Predict(ctx context.Context, x [][]float64) ([]L, error) {
	proba, err := c.Proba(ctx, x)
	if err != nil {
		return nil, err
	}
	out := make([]L, len(proba))
	for i, row := range proba {
		out[i] = c.labels[floats.MaxIdx(row)]
	}
	return out, nil
}
