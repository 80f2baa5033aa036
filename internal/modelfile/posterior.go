package modelfile

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Cases are the training cases of a file with these classes (none: the targets are numbers) and so
// many input columns, and how many there are of each class.
func (f *File[C]) Cases(classes []string, dim int) (d objective.Data, counts []int, err error) {
	switch {
	case len(classes) > 0 && len(f.Targets) > 0:
		return d, nil, Wrong("targets", "%d numbers do not go with classes", len(f.Targets))
	case len(classes) == 0 && len(f.Labels) > 0:
		return d, nil, Wrong("labels", "%d labels do not go with numbers", len(f.Labels))
	}
	counts = make([]int, len(classes))
	for i, label := range f.Labels {
		if label < 0 || label >= len(classes) {
			return d, nil, Wrong("labels", "case %d has %d, want 0 to %d", i, label, len(classes)-1)
		}
		counts[label]++
	}
	n, y := len(f.Inputs), approx.Coded(len(classes), f.Labels, f.Targets)
	if n < 2 || y.Len() != n {
		return d, nil, Wrong("inputs", "%d cases of inputs, and %d of labels or targets; want as many, 2 or more", n,
			y.Len())
	}
	x := mat.NewDense(n, dim, nil)
	for i, row := range f.Inputs {
		if len(row) != dim {
			return d, nil, Wrong("inputs", "case %d has %d numbers, want %d", i, len(row), dim)
		}
		x.SetRow(i, row)
	}
	// Where length scales start matters no more.
	return objective.Data{X: &kernel.Inputs{X: x}, Y: y, Classes: classes, Scaled: true}, counts, nil
}

// Point rebuilds the posterior of a model without a comparator.
func (f *File[C]) Point(o *objective.Objective) (*objective.Point, error) {
	theta, err := thetaOf(f.Theta, o.Layout)
	if err != nil {
		return nil, Wrong("theta", "%w", err)
	}
	point, err := o.Restore(theta, f.State)
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
	point, err := o.Restore(theta, f.Samples[i].State)
	if err != nil {
		return nil, Wrong("samples", "sample %d: state: %w", i, err)
	}
	return point, nil
}

// evidenceTolerance is how far, relative to 1 or to itself, the log evidence may be from the one on
// file: far more than builds and processors differ by, far less than what a change of the file
// does.
const evidenceTolerance = 1e-4

// Agrees says if the log evidence that the file's numbers give is not the one on file.
func (f *File[C]) Agrees(evidence float64) error {
	want := float64(f.LogEvidence)
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
