package modelfile

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/experiments/record"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Cases are the training cases of a file with these classes (none: numeric targets) and this number
// of input columns, and their description. If the file has inducing inputs instead, X has these,
// and Y only the number of classes.
func (f *File[C]) Cases(classes []string, dim int) (d objective.Data, of Training, err error) {
	switch {
	case len(classes) > 0 && len(f.Targets) > 0:
		return d, of, Wrong("targets", "%d numbers do not go with classes", len(f.Targets))
	case len(classes) == 0 && len(f.Labels) > 0:
		return d, of, Wrong("labels", "%d labels do not go with numbers", len(f.Labels))
	case f.Schema == condensed:
		return f.inducing(classes, dim)
	case f.Training != nil || len(f.Inducing) > 0:
		return d, of, Wrong("inducing", "a file with schema %q has none, nor training", f.Schema)
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
	x, err := inputs("inputs", f.Inputs, dim)
	// Initial length scales are not needed any more.
	return objective.Data{X: x, Y: y, Classes: classes, Scaled: true}, TrainingOf(counts, f.Targets), err
}

// TrainingOf describes training cases by the numbers of cases per class, or by their numeric
// targets.
func TrainingOf(counts []int, targets []float64) (t Training) {
	if len(targets) > 0 {
		mean, variance := stat.PopMeanVariance(targets, nil)
		return Training{Cases: len(targets), Moments: &record.Moments{Mean: record.Number(mean),
			Variance: record.Number(variance)}}
	}
	for _, n := range counts {
		t.Cases += n
	}
	t.Counts = counts
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

// inducing reads the inducing inputs, and the description of the training cases.
func (f *File[C]) inducing(classes []string, dim int) (d objective.Data, of Training, err error) {
	t := f.Training
	switch {
	case t == nil || len(f.Inducing) == 0 || len(f.Labels)+len(f.Targets)+len(f.Inputs) > 0:
		return d, of, Wrong("schema", "a file with schema %q has training and inducing, and neither labels, targets "+
			"nor inputs", f.Schema)
	case len(classes) == 0 && (t.Moments == nil || len(t.Counts) > 0 || !t.Moments.Mean.Finite() ||
		!(t.Moments.Variance >= 0) || !t.Moments.Variance.Finite()):
		return d, of, Wrong("training", "want the moments of numbers, finite, with a variance of 0 or more")
	case len(classes) > 0 && (len(t.Counts) != len(classes) || t.Moments != nil):
		return d, of, Wrong("training.counts", "%d counts for %d classes", len(t.Counts), len(classes))
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
	z, err := inputs("inducing", f.Inducing, dim)
	return objective.Data{X: z, Y: approx.Targets{Classes: len(classes)}, Classes: classes, Scaled: true}, *t, err
}

// Keep stores the state of a fit to the cases x with their labels or targets or, unless z is nil,
// of a fit condensed to inducing inputs z, with the description of its cases.
func (f *File[C]) Keep(state approx.State, x, z *mat.Dense, of Training, labels []int, targets []float64) {
	f.Schema, f.State = OfCases, append(approx.State{}, state...)
	if z != nil {
		f.Schema, f.Training, f.Inducing = condensed, &of, rows(z)
		return
	}
	f.Labels, f.Targets, f.Inputs = labels, targets, rows(x)
}

func rows(x *mat.Dense) (rows [][]float64) {
	n, _ := x.Dims()
	for i := range n {
		rows = append(rows, x.RawRowView(i))
	}
	return rows
}

// Admit returns machine.ErrMemory if there is no memory for so many posteriors at once, each of
// which needs these bytes.
func (f *File[C]) Admit(bytes int64, posteriors int) error {
	err := machine.Admit(machine.Footprint(bytes*int64(posteriors), machine.Slack), 0)
	if err != nil {
		err = fmt.Errorf("the posterior of its %d cases: %w; use a larger machine, or fit on a part of the cases or "+
			"with inducing inputs", max(len(f.Inputs), len(f.Inducing)), err)
	}
	return err
}

// Objective is the objective of the model with the result of Cases.
func (f *File[C]) Objective(m objective.Model, d objective.Data) (o *objective.Objective, err error) {
	if f.Schema == condensed {
		o, err = objective.NewCondensed(m, d.X.X, d.Classes)
	} else {
		o, err = objective.New(m, nil, d)
	}
	if err != nil {
		return nil, Wrong("model", "%w", err)
	}
	return o, nil
}

// Point rebuilds the posterior of a model without a comparator.
func (f *File[C]) Point(o *objective.Objective) (*objective.Point, error) {
	theta, err := thetaOf(f.Theta, o.Layout)
	if err != nil {
		return nil, Wrong("theta", "%w", err)
	}
	point, err := f.at(o, theta, f.State)
	if err != nil {
		return nil, Wrong("state", "%w", err)
	}
	return point, nil
}

// Sample rebuilds the posterior at a sample of the hyperparameters.
func (f *File[C]) Sample(o *objective.Objective, i int) (*objective.Point, error) {
	theta, err := thetaOf(f.Samples[i].Theta, o.Layout)
	if err != nil {
		return nil, Wrong("samples", "sample %d: theta: %w", i, err)
	}
	point, err := f.at(o, theta, f.Samples[i].State)
	if err != nil {
		return nil, Wrong("samples", "sample %d: state: %w", i, err)
	}
	return point, nil
}

// at is the fit at theta with this state.
func (f *File[C]) at(o *objective.Objective, theta []float64, s approx.State) (*objective.Point, error) {
	if f.Schema == condensed {
		return o.Expand(theta, s)
	}
	return o.Restore(theta, s)
}

// evidenceTolerance is the allowed difference, absolute or relative, of the log evidence from the
// one in the file: far above differences between builds and processors, far below the effect of a
// changed file.
const evidenceTolerance = 1e-4

// Agrees returns an error if the log evidence computed from the file differs from the one in it. It
// cannot be computed without the training cases.
func (f *File[C]) Agrees(evidence float64) error {
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
		theta[i] = v
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("unknown hyperparameter %q%s", name, registry.Suggest(name, names))
		}
	}
	return theta, nil
}
