package modelfile

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/internal/build"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/preprocess"
	"github.com/gpc-tune/gpc-tune/record"
)

// cases are the training cases and their description. If the file has inducing inputs instead, X
// has these, and Y only the number of classes; of a comparator that needs no cases X is empty.
func (f *File) cases(compared bool) (d objective.Data, of Training, err error) {
	classes, dim := f.Columns.Classes, len(f.Columns.ColumnNames())
	switch {
	case len(classes) > 0 && len(f.Targets) > 0:
		return d, of, Wrong("targets", "%d numbers do not go with classes", len(f.Targets))
	case len(classes) == 0 && len(f.Labels) > 0:
		return d, of, Wrong("labels", "%d labels do not go with numbers", len(f.Labels))
	case f.Schema == condensed:
		return f.inducing(classes, dim, compared)
	case f.Training != nil || len(f.Inducing) > 0:
		return d, of, Wrong("inducing", "a file with schema %q has none, nor training", f.Schema)
	}
	if n := len(f.Weights); n > 0 && n != len(f.Inputs) {
		return d, of, Wrong("weights", "%d weights of %d cases", n, len(f.Inputs))
	}
	for i, w := range f.Weights {
		if !(w > 0 && w <= math.MaxFloat64) {
			return d, of, Wrong("weights", "case %d has %v, want a finite number above 0", i, w)
		}
	}
	counts := make([]int, len(classes))
	for i, label := range f.Labels {
		if label < 0 || label >= len(classes) {
			return d, of, Wrong("labels", "case %d has %d, want 0 to %d", i, label, len(classes)-1)
		}
		counts[label]++
	}
	n, y := len(f.Inputs), approx.Coded(len(classes), f.Labels, f.Targets)
	if n < 2 || y.Len() != n {
		return d, of, Wrong("inputs", "%d cases of inputs, and %d of labels or targets; want as many, 2 or more", n,
			y.Len())
	}
	y.Weight = f.Weights
	x, err := inputs("inputs", f.Inputs, dim)
	// Initial length scales are not needed any more.
	of = TrainingOf(counts, f.Labels, f.Targets, f.Weights)
	return objective.Data{X: x, Y: y, Classes: classes, Scaled: true}, of, err
}

// TrainingOf describes training cases by the numbers of cases per class, with their labels, or by
// their numeric targets, and by their weights, if they have any.
func TrainingOf(counts, labels []int, targets, weights []float64) (t Training) {
	if len(targets) > 0 {
		mean, variance := stat.PopMeanVariance(targets, weights)
		return Training{Cases: len(targets), Moments: &record.Moments{Mean: record.Number(mean),
			Variance: record.Number(variance)}}
	}
	for _, n := range counts {
		t.Cases += n
	}
	t.Counts = counts
	if weights != nil {
		t.Weights = make([]float64, len(counts))
		for i, label := range labels {
			t.Weights[label] += weights[i]
		}
	}
	return t
}

// inputs reads n×d numbers.
func inputs(part string, rows [][]float64, dim int) (*kernel.Inputs, error) {
	x := mat.NewDense(len(rows), dim, nil)
	for i, row := range rows {
		if len(row) != dim {
			return nil, Wrong(part, "row %d has %d numbers, want %d", i, len(row), dim)
		}
		x.SetRow(i, row)
	}
	return &kernel.Inputs{X: x}, nil
}

// inducing reads the inducing inputs, if the model is no comparator, and the description of the
// training cases.
func (f *File) inducing(classes []string, dim int, compared bool) (d objective.Data, of Training, err error) {
	t := f.Training
	switch {
	case compared && t != nil && (len(f.Inducing) > 0 || len(t.Medians) != dim):
		return d, of, Wrong("training.medians", "%d medians and %d inducing inputs, want %d and none for a comparator",
			len(t.Medians), len(f.Inducing), dim)
	case t == nil || len(f.Inducing) == 0 && !compared || len(f.Labels)+len(f.Targets)+len(f.Inputs) > 0:
		return d, of, Wrong("schema", "a file with schema %q has training and inducing, and neither labels, targets "+
			"nor inputs", f.Schema)
	case len(classes) == 0 && (t.Moments == nil || len(t.Counts) > 0 || !t.Moments.Mean.Finite() ||
		!(t.Moments.Variance >= 0) || !t.Moments.Variance.Finite()):
		return d, of, Wrong("training", "want the moments of numbers, finite, with a variance of 0 or more")
	case len(classes) > 0 && (len(t.Counts) != len(classes) || t.Moments != nil):
		return d, of, Wrong("training.counts", "%d counts for %d classes", len(t.Counts), len(classes))
	}
	if t.Weights != nil && len(t.Weights) != len(t.Counts) ||
		slices.ContainsFunc(t.Weights, func(w float64) bool { return !(w >= 0 && w <= math.MaxFloat64) }) {
		return d, of, Wrong("training.weights", "want a number, 0 or more, for each class")
	}
	if len(t.Least) != len(t.Largest) || t.Least != nil && len(t.Least) != dim {
		return d, of, Wrong("training.least", "%d least and %d largest values of %d inputs", len(t.Least),
			len(t.Largest), dim)
	}
	for j, v := range t.Least {
		if !(v <= t.Largest[j]) || math.IsInf(v, 0) || math.IsInf(t.Largest[j], 0) {
			return d, of, Wrong("training.least", "a range from %v to %v of input %d", v, t.Largest[j], j)
		}
	}
	sum := 0
	for i, n := range t.Counts {
		if sum += n; n < 0 || sum < 0 {
			return d, of, Wrong("training.counts", "%d cases of class %d", n, i)
		}
	}
	if t.Cases < 2 || len(classes) > 0 && sum != t.Cases {
		return d, of, Wrong("training.cases", "%d, want 2 or more, and as many as there are of all classes", t.Cases)
	}
	z := &kernel.Inputs{X: &mat.Dense{}}
	if !compared {
		z, err = inputs("inducing", f.Inducing, dim)
	}
	return objective.Data{X: z, Y: approx.Targets{Classes: len(classes)}, Classes: classes, Scaled: true}, *t, err
}

// Keep stores the state of a fit. If z is nil, it also stores the cases x with their labels or
// targets. Otherwise the fit is condensed to the inducing inputs z, which are empty for a
// comparator, and Keep stores of, the description of the cases.
func (f *File) Keep(
	state approx.State, x, z *mat.Dense, of Training, labels []int, targets, weights []float64,
) {
	f.Schema, f.State = ofCases, append(approx.State{}, state...)
	if z != nil {
		if f.Schema, f.Inducing = condensed, rows(z); f.Inducing == nil {
			of.Medians = medians(rows(x), len(f.Columns.ColumnNames()))
		}
		of.Least, of.Largest = rounded(ranges(rows(x)))
		f.Training = &of
		return
	}
	f.Labels, f.Targets, f.Inputs, f.Weights = labels, targets, rows(x), weights
}

// ranges returns the least and the largest value of every column.
func ranges(rows [][]float64) (least, largest []float64) {
	for i, row := range rows {
		if i == 0 {
			least, largest = slices.Clone(row), slices.Clone(row)
		}
		for j, v := range row {
			least[j], largest[j] = min(least[j], v), max(largest[j], v)
		}
	}
	return least, largest
}

// rounded widens ranges to multiples of a step of 2 to 20 % of their width, so that a file without
// training cases has no value of one.
func rounded(least, largest []float64) (lo, hi []float64) {
	for j, v := range least {
		if step := math.Pow(10, math.Floor(math.Log10((largest[j]-v)/5))); step > 0 {
			least[j], largest[j] = step*math.Floor(v/step), step*math.Ceil(largest[j]/step)
		}
	}
	return least, largest
}

// Ranges returns the least and the largest value of every preprocessed input of the training cases.
// They are nil if the file does not have them.
func (f *File) Ranges() (least, largest []float64) {
	if f.Schema == condensed {
		return f.Training.Least, f.Training.Largest
	}
	return ranges(f.Inputs)
}

// RawRanges is Ranges before preprocessing. With whitening, which mixes the inputs, it is nil for a
// file without cases.
func (f *File) RawRanges() (least, largest []float64) {
	if f.Schema != condensed {
		return ranges(rows(f.Raw()))
	}
	if f.Preprocess.Root != nil {
		return nil, nil
	}
	for j, v := range f.Training.Least {
		least = append(least, f.Preprocess.Original(j, v))
		largest = append(largest, f.Preprocess.Original(j, f.Training.Largest[j]))
	}
	return least, largest
}

func rows(x *mat.Dense) (rows [][]float64) {
	n, _ := x.Dims()
	for i := range n {
		rows = append(rows, x.RawRowView(i))
	}
	return rows
}

// Fitted is the model of a file with its posterior.
type Fitted struct {
	Data     objective.Data
	Training Training
	Average  objective.Average
	Compared comparator.Fitted // used instead of a Gaussian process; nil: none

	file      *File
	objective *objective.Objective
	point     *objective.Point // the fit at the file's theta
	natural   []record.Named   // hyperparameters of Compared that are numbers
}

// Hyperparameters are the hyperparameters of the fit, in natural units and named by input, as in
// length_scale[age].
func (c *Fitted) Hyperparameters() (out []record.Named) {
	if c.point == nil {
		return c.natural
	}
	l, origins := c.objective.Layout, c.file.Columns.Origins()
	for i, v := range l.Natural(c.point.Theta) {
		of := record.Hyperparameter{Name: l.Specs[i].Name}
		if column := l.Specs[i].Column; column > 0 {
			of.Column = origins[column-1]
		}
		out = append(out, record.Named{Name: of.Shown(), Value: record.Number(v)})
	}
	return out
}

// CheckColumns checks the description of inputs and labels, and the preprocessing of the inputs.
func (f *File) CheckColumns() error {
	if f.Columns == nil || f.Preprocess == nil {
		return Wrong("columns, preprocess", "one of them is missing")
	}
	if err := f.Columns.Check(); err != nil {
		return Wrong("columns", "%w", err)
	}
	if err := f.Preprocess.Check(len(f.Columns.ColumnNames())); err != nil {
		return Wrong("preprocess", "%w", err)
	}
	if f.Columns.Imputes() != (f.Preprocess.Impute != nil) {
		return Wrong("preprocess", "impute must be there if and only if columns has missing: mean or median")
	}
	return nil
}

// Substitutes returns the values that replace missing ones, one for each column of the inputs
// before preprocessing. They come from the preprocessing if it replaces missing values. Otherwise
// they are the medians of the training (or inducing) inputs, or the means with whitening, which
// mixes the columns.
func (f *File) Substitutes() []float64 {
	p := f.Preprocess
	switch {
	case p.Impute != nil:
		return p.Impute
	case p.Root != nil:
		return p.Mean
	}
	rows := f.Inputs
	if f.Schema == condensed {
		rows = f.Inducing
	}
	var out []float64
	if f.Schema == condensed && rows == nil {
		out = slices.Clone(f.Training.Medians)
	} else {
		out = medians(rows, len(f.Columns.ColumnNames()))
	}
	for j := range out {
		out[j] = p.Original(j, out[j])
	}
	return out
}

// Raw returns the training inputs, or the inducing inputs, before preprocessing; nil if the file
// has neither. Values that whitening has dropped, along directions in which the training cases did
// not vary, are the means.
func (f *File) Raw() *mat.Dense {
	rows := f.Inputs
	if rows == nil {
		rows = f.Inducing
	}
	if rows == nil {
		return nil
	}
	p, d := f.Preprocess, len(f.Columns.ColumnNames())
	out := mat.NewDense(len(rows), d, nil)
	for i, row := range rows {
		out.SetRow(i, row)
	}
	if len(p.Root) > 0 { // z = W (x - mean) with W = R Rᵀ, whose pseudoinverse is R (RᵀR)⁻² Rᵀ
		var gram, square, inner, back mat.Dense
		root := mat.NewDense(d, len(p.Root)/d, p.Root)
		gram.Mul(root.T(), root)
		square.Mul(&gram, &gram)
		inner.Mul(root.T(), out.T())
		if err := back.Solve(&square, &inner); err != nil {
			return nil // not for whitening that Fit has made
		}
		out.Mul(back.T(), root.T())
		for i := range rows {
			floats.Add(out.RawRowView(i), p.Mean)
		}
		return out
	}
	for i := range rows {
		for j, z := range out.RawRowView(i) {
			out.Set(i, j, p.Original(j, z))
		}
	}
	return out
}

// medians returns the median of each column.
func medians(rows [][]float64, columns int) []float64 {
	out, column := make([]float64, columns), make([]float64, len(rows))
	for j := range out {
		for i, row := range rows {
			column[i] = row[j]
		}
		out[j] = preprocess.Median(column)
	}
	return out
}

// Restore checks the content of a file with correct columns and rebuilds the posterior. Mistakes in
// the texts of the model are strictyaml.Problems, at prefix followed by model and the name of the
// part. If there is no memory for the posterior and as many of its samples, the error is
// machine.ErrMemory.
func (f *File) Restore(prefix string, samples int) (*Fitted, error) {
	c := &Fitted{file: f}
	m, err := c.model(prefix + "model.")
	if err != nil {
		return nil, err
	}
	if classes := f.Columns.Classes; m.Numeric() != (len(classes) == 0) {
		return nil, Wrong("columns.classes", "%d classes do not go with likelihood %s", len(classes),
			f.Model.Likelihood)
	}
	if _, expands := m.Comparator.(comparator.Expander); m.Comparator != nil && f.Schema == condensed && !expands {
		return nil, Wrong("schema", "%q is not for comparators that need their training cases", f.Schema)
	}
	if c.Data, c.Training, err = f.cases(m.Comparator != nil); err != nil {
		return nil, err
	}
	if err := c.admit(m, 1+samples); err != nil {
		return nil, err
	}
	evidence, err := c.posterior(m)
	if err != nil {
		return nil, err
	}
	// the checksum covers fields that no check above depends on
	return c, cmp.Or(f.agrees(evidence), f.sealed())
}

// model reads the model and the averaging of class probabilities.
func (c *Fitted) model(prefix string) (m declared.Model, err error) {
	f, found := c.file, strictyaml.NewFindings("")
	m = declared.ReadModel(found, f.Model, prefix, true)
	c.Average = declared.ReadAverage(found.As(prefix+"average"), f.Model.Average, f.Seed)
	switch err := found.Err(); {
	case err == nil:
	case f.Build.Program != build.This().Program:
		return m, fmt.Errorf("%w\nthe file is from %s, which may have components of its own: predict there", err,
			cmp.Or(f.Build.Program, "gpc-tune"))
	default:
		return m, fmt.Errorf("%w\nthe file was changed, or is that of another version: write it again with "+
			"gpc-tune fit or experiments.Fit", err)
	}
	if m.Comparator != nil {
		return m, nil
	}
	if err := c.Average.Uses(m.Likelihood); err != nil {
		return m, Wrong("model.average", "%w", err)
	}
	if m, err = m.OnColumns(f.Columns.Sources()); err != nil {
		err = Wrong("model.kernel", "%w", err)
	}
	return m, err
}

// admit checks that the parts of the model are compatible, and that the given number of posteriors
// fit into memory at once.
func (c *Fitted) admit(m declared.Model, posteriors int) error {
	n, dim := c.Data.X.N(), len(c.file.Columns.ColumnNames())
	classes := c.Data.Y.Classes
	size := approx.Size{Cases: n, Distinct: n, New: n, Classes: classes}
	var need int64
	if m.Comparator != nil {
		need = m.Comparator.Memory(size, dim)
	} else if _, err := m.On(classes).Check(classes); err != nil {
		return Wrong("model", "%w", err)
	} else {
		need = m.On(classes).Memory(size, dim, nil, false)
	}
	err := machine.Admit(machine.Footprint(need*int64(posteriors), machine.Slack), 0)
	if err != nil {
		err = fmt.Errorf("the posterior of its %d cases: %w; use a larger machine, or fit on a part of the cases or "+
			"with inducing inputs", n, err)
	}
	return err
}

// posterior rebuilds the posterior, and returns the log evidence in nats.
func (c *Fitted) posterior(m declared.Model) (evidence float64, err error) {
	f := c.file
	if m.Comparator != nil {
		if f.Schema == condensed {
			e := m.Comparator.(comparator.Expander)
			c.Compared, err = e.Expand(len(f.Columns.ColumnNames()), c.Data.Y.Classes, f.State)
		} else {
			c.Compared, err = m.Comparator.Restore(c.Data, f.State)
		}
		if err != nil {
			return 0, Wrong("state", "%w", err)
		}
		values, origins := c.Compared.Summary().Natural, f.Columns.Origins()
		for i, p := range m.Comparator.Params(len(f.Columns.ColumnNames()), f.Columns.Classes) {
			of := record.Hyperparameter{Name: p.Name}
			if p.Column > 0 {
				of.Column = origins[p.Column-1]
			}
			if !p.Map.Discrete() { // a choice is no number
				c.natural = append(c.natural, record.Named{Name: of.Shown(), Value: record.Number(values[i])})
			}
		}
		return c.Compared.Summary().LogEvidence, nil
	}
	if on := m.On(c.Data.Y.Classes); f.Schema == condensed {
		c.objective, err = objective.NewCondensed(on, c.Data.X.X, c.Data.Classes)
	} else {
		c.objective, err = objective.New(on, nil, c.Data)
	}
	if err != nil {
		return 0, Wrong("model", "%w", err)
	}
	theta, err := thetaOf(f.Theta, c.objective.Layout)
	if err != nil {
		return 0, Wrong("theta", "%w", err)
	}
	if c.point, err = c.at(theta, f.State); err != nil {
		return 0, Wrong("state", "%w", err)
	}
	return c.point.Posterior.Evidence().Value(), nil
}

// at is the fit at theta with this state.
func (c *Fitted) at(theta []float64, s approx.State) (*objective.Point, error) {
	if c.file.Schema == condensed {
		return c.objective.Expand(theta, s)
	}
	return c.objective.Restore(theta, s)
}

// Posteriors iterates over the posteriors over which predictions are averaged. These are the
// samples of Markov chains, restored one at a time, or else the one posterior of the file. A
// comparator has none.
func (c *Fitted) Posteriors() iter.Seq2[*objective.Point, error] {
	return func(yield func(*objective.Point, error) bool) {
		if len(c.file.Samples) == 0 {
			yield(c.point, nil)
		}
		for i, s := range c.file.Samples {
			theta, err := thetaOf(s.Theta, c.objective.Layout)
			if err != nil {
				yield(nil, Wrong("samples", "sample %d: theta: %w", i, err))
				return
			}
			point, err := c.at(theta, s.State)
			if err != nil {
				yield(nil, Wrong("samples", "sample %d: state: %w", i, err))
				return
			}
			if !yield(point, nil) {
				return
			}
		}
	}
}

// evidenceTolerance is the allowed difference, absolute or relative, of the log evidence from the
// one in the file: far above differences between builds and processors, far below the effect of a
// changed file.
const evidenceTolerance = 1e-4

// agrees returns an error if the log evidence computed from the file differs from the one in it. It
// cannot be computed without the training cases.
func (f *File) agrees(evidence float64) error {
	want := float64(f.LogEvidence)
	if f.Schema == condensed {
		return nil
	}
	if math.IsNaN(evidence) != math.IsNaN(want) || math.Abs(evidence-want) > evidenceTolerance*max(1, math.Abs(want)) {
		return Wrong("log_evidence", "%v on file, and %v by its numbers", want, evidence)
	}
	return nil
}

// thetaOf is the vector of the hyperparameters with these names.
func thetaOf(values map[string]float64, l objective.Layout) ([]float64, error) {
	theta := make([]float64, len(l.Specs))
	names := make([]string, len(l.Specs))
	for i, s := range l.Specs {
		names[i] = s.ThetaName()
		v, is := values[names[i]]
		if !is {
			return nil, fmt.Errorf("no %s", names[i])
		}
		if s.Map.Discrete() {
			if err := s.Admits(v); err != nil {
				return nil, err
			}
		}
		theta[i] = v
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("unknown hyperparameter %q%s", name, registry.Suggest(name, names))
		}
	}
	return theta, nil
}
