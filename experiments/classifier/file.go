// Package classifier fits the best model of a plan, writes it to a model file, and predicts with
// it.
package classifier

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/record"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/internal/build"
	"github.com/gpc-tune/gpc-tune/internal/declared"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/modelfile"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// ModelFile is a fitted classifier, as described in docs/model-file.md.
type ModelFile = modelfile.File[data.Schema]

// save writes the file, which contains training data, with the mode that the umask leaves. Readers
// see the old or the new file, never a part.
func save(f *ModelFile, name string) error {
	if err := f.Seal(); err != nil {
		return err
	}
	return atomicfile.Write(name, f.Write)
}

// Classifier is a model file with its posterior.
type Classifier struct {
	name      string // of the file
	file      *ModelFile
	average   objective.Average
	data      objective.Data
	training  modelfile.Training
	calibrate *cv.Calibration // nil: none
	objective *objective.Objective
	point     *objective.Point  // at the file's theta; samples are restored one at a time
	compared  comparator.Fitted // used instead of model and point; nil: none
	costs     *cv.Costs         // of decisions, of the file or of the user; nil: none
	threshold []float64         // of the file or of the user, instead of costs; none: ½
}

// LoadClassifier reads a model file and rebuilds the posterior. Problems of the file are
// ErrInvalid, or Problems, with their positions and remedies. If the memory is too small for the
// posterior, the error is search.ErrMemory.
func LoadClassifier(name string) (*Classifier, error) {
	text, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; write one with gpc-tune fit or experiments.Fit", spec.ErrInvalid, err)
	}
	defer text.Close()
	linalg.SetThreads(runtime.GOMAXPROCS(0)) // there is only one job
	defer linalg.SetThreads(1)
	f, err := modelfile.Read[data.Schema](text)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", spec.ErrInvalid, name, err)
	}
	return restore(f, name)
}

// restore checks the content of the file and rebuilds the posterior.
func restore(f *ModelFile, name string) (*Classifier, error) {
	if err := checkColumns(f); err != nil {
		return nil, damage(name, err)
	}
	c := &Classifier{name: name, file: f, threshold: f.Threshold}
	if err := c.readCosts(); err != nil {
		return nil, damage(name, err)
	}
	if err := c.checkAdjustment(); err != nil {
		return nil, damage(name, err)
	}
	m, err := c.readModel()
	if err != nil {
		return nil, err
	}
	if err := c.readCases(m); err != nil {
		return nil, damage(name, err)
	}
	if err := c.fits(m); err != nil {
		return nil, err
	}
	evidence, err := c.restorePosterior(m)
	if err != nil {
		return nil, damage(name, err)
	}
	// the checksum covers what none of the checks above depends on
	if err := cmp.Or(f.Agrees(evidence), f.Sealed()); err != nil {
		return nil, damage(name, err)
	}
	return c, nil
}

// damage is the error for a damaged file.
func damage(name string, err error) error {
	return fmt.Errorf("%w: %s: %w; the file was changed: write it again with gpc-tune fit or experiments.Fit",
		spec.ErrInvalid, name, err)
}

// checkColumns checks the description of inputs and labels.
func checkColumns(f *ModelFile) error {
	if f.Columns == nil || f.Preprocess == nil {
		return modelfile.Wrong("columns, preprocess", "one of them is missing")
	}
	if err := f.Columns.Check(); err != nil {
		return modelfile.Wrong("columns", "%w", err)
	}
	if err := f.Preprocess.Check(len(f.Columns.ColumnNames())); err != nil {
		return modelfile.Wrong("preprocess", "%w", err)
	}
	if f.Columns.Imputes() != (f.Preprocess.Impute != nil) {
		return modelfile.Wrong("preprocess", "impute must be there if and only if columns has missing: mean or median")
	}
	return nil
}

// readCosts sets the costs of the file, unless it has a threshold.
func (c *Classifier) readCosts() error {
	f, classes := c.file, len(c.file.Columns.Classes)
	if f.Costs == nil {
		return nil
	}
	costs := &cv.Costs{Reject: (*float64)(f.Costs.Reject)}
	all := []float64{}
	for _, row := range f.Costs.Loss {
		costs.Loss, all = append(costs.Loss, record.Floats(row)), append(all, record.Floats(row)...)
	}
	if costs.Reject != nil {
		all = append(all, *costs.Reject)
	}
	square := len(costs.Loss) == classes && classes > 1 &&
		!slices.ContainsFunc(costs.Loss, func(row []float64) bool { return len(row) != classes })
	if !square || slices.ContainsFunc(all, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		return modelfile.Wrong("costs", "want a number for each of %d true classes and each decision", classes)
	}
	if f.Threshold == nil {
		c.costs = costs
	}
	return nil
}

// checkAdjustment checks the parameters learnt from predictions.
func (c *Classifier) checkAdjustment() error {
	f, classes := c.file, len(c.file.Columns.Classes)
	for i, t := range f.Threshold {
		if i > 0 || classes != 2 || !(t >= 0 && t <= 1) {
			return modelfile.Wrong("threshold", "%v, want one probability, of two classes", f.Threshold)
		}
	}
	if f.Calibrate == "" {
		if f.Calibration != nil {
			return modelfile.Wrong("calibration", "there is none without calibrate")
		}
		return nil
	}
	way, err := cv.CalibrationNamed(f.Calibrate)
	if err != nil {
		return modelfile.Wrong("calibrate", "%w", err)
	}
	want := classes
	if classes == 2 {
		want = 1
	}
	if len(f.Calibration) != want {
		return modelfile.Wrong("calibration", "%d lists of parameters, want %d", len(f.Calibration), want)
	}
	for _, parameters := range f.Calibration {
		if len(parameters) < 2 || len(parameters)%2 != 0 {
			return modelfile.Wrong("calibration", "%d parameters, want two or more pairs", len(parameters))
		}
	}
	c.calibrate = &way
	return nil
}

// readModel reads the model and the averaging of class probabilities.
func (c *Classifier) readModel() (m declared.Model, err error) {
	f, prefix := c.file, c.name+": model."
	found := strictyaml.NewFindings(c.name)
	m = declared.ReadModel(found, declared.Texts{
		Kernel: f.Model.Kernel, Mean: f.Model.Mean, Likelihood: f.Model.Likelihood,
		Inference: f.Model.Inference, Classes: f.Model.Classes,
	}, prefix, true)
	c.average = declared.ReadAverage(found.As(prefix+"average"), f.Model.Average, f.Seed)
	switch err := found.Err(); {
	case err == nil:
	case f.Build.Program != build.This().Program:
		return m, fmt.Errorf("%w\nthe file is from %s, which may have components of its own: predict there", err,
			cmp.Or(f.Build.Program, "gpc-tune"))
	default:
		return m, fmt.Errorf("%w\nthe file was changed, or is that of another version: write it again with "+
			"gpc-tune fit or experiments.Fit", err)
	}
	if m.Comparator == nil {
		if err := c.average.Uses(m.Likelihood); err != nil {
			return m, damage(c.name, modelfile.Wrong("model.average", "%w", err))
		}
		if m, err = m.OnColumns(f.Columns.Sources()); err != nil {
			return m, damage(c.name, modelfile.Wrong("model.kernel", "%w", err))
		}
	}
	return m, nil
}

// readCases reads the training cases.
func (c *Classifier) readCases(m declared.Model) (err error) {
	f := c.file
	if classes := f.Columns.Classes; m.Numeric() != (len(classes) == 0) {
		return modelfile.Wrong("columns.classes", "%d classes do not go with likelihood %s", len(classes),
			f.Model.Likelihood)
	}
	if m.Comparator != nil && f.Schema != modelfile.OfCases {
		return modelfile.Wrong("schema", "%q is for models with inducing inputs, not for comparators", f.Schema)
	}
	c.data, c.training, err = f.Cases(f.Columns.Classes, len(f.Columns.ColumnNames()))
	return err
}

// fits checks that the parts of the model are compatible, and that there is memory for its
// posterior.
func (c *Classifier) fits(m declared.Model) error {
	n, dim := c.data.X.X.Dims()
	classes := c.data.Y.Classes
	size := approx.Size{Cases: n, Distinct: n, New: n, Classes: classes}
	var need int64
	if m.Comparator != nil {
		need = m.Comparator.Memory(size, dim)
	} else if _, err := m.On(classes).Check(classes); err != nil {
		return damage(c.name, modelfile.Wrong("model", "%w", err))
	} else {
		need = m.On(classes).Memory(size, dim, nil, false)
	}
	// a sample in addition to the one at theta
	if err := c.file.Admit(need, 1+min(len(c.file.Samples), 1)); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

// restorePosterior also returns the log evidence in nats.
func (c *Classifier) restorePosterior(m declared.Model) (evidence float64, err error) {
	f := c.file
	if m.Comparator != nil {
		if c.compared, err = m.Comparator.Restore(c.data, f.State); err != nil {
			return 0, modelfile.Wrong("state", "%w", err)
		}
		return c.compared.Summary().LogEvidence, nil
	}
	if c.objective, err = f.Objective(m.On(c.data.Y.Classes), c.data); err != nil {
		return 0, err
	}
	if c.point, err = f.Point(c.objective); err != nil {
		return 0, err
	}
	return c.point.Posterior.Evidence().Value(), nil
}

// outcome predicts cases, with one fit or averaged over the samples.
func (c *Classifier) outcome(held *kernel.Inputs) (o job.Outcome, err error) {
	o, err = c.uncalibrated(held)
	if err != nil || c.calibrate == nil {
		return o, err
	}
	for i := range held.N() {
		c.calibrate.Adjust(c.file.Calibration, o.Proba.RawRowView(i))
	}
	return o, nil
}

func (c *Classifier) uncalibrated(held *kernel.Inputs) (average job.Outcome, err error) {
	if c.compared != nil {
		return job.Compared(c.compared, held, c.data.Y.Classes), nil
	}
	predict := func(point *objective.Point) job.Outcome {
		return job.OutcomeOn(point, c.data.Y.Classes, held, c.average)
	}
	if len(c.file.Samples) == 0 {
		return predict(c.point), nil
	}
	for i := range c.file.Samples {
		point, err := c.file.Sample(c.objective, i)
		if err != nil {
			return average, damage(c.name, err)
		}
		average.Average(predict(point), i+1)
	}
	return average, nil
}
