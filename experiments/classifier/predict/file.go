// Package predict fits the best model of a plan to all of its cases, writes the model file, and
// predicts the rows of tables with it.
package predict

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/modelfile"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// ModelFile is a fitted classifier, as described in docs/model-file.md.
type ModelFile = modelfile.File

// save writes the file, which contains training data, with the mode that the umask leaves. Readers
// see the old or the new file, never a part.
func save(f *ModelFile, name string) error {
	if err := f.Seal(); err != nil {
		return err
	}
	return atomicfile.Write(name, f.Write)
}

// Hyperparameters are the hyperparameters of the model, as in modelfile.Fitted.
func (c *Classifier) Hyperparameters() []record.Named { return c.fitted.Hyperparameters() }

// InputNames lists the inputs as the kernel sees them: a category has one for each level.
func (c *Classifier) InputNames() []string { return c.file.Columns.ColumnNames() }

// Classifier is a model file with its posterior.
type Classifier struct {
	fitted    *modelfile.Fitted
	name      string // name of the model file
	file      *ModelFile
	calibrate *cv.Calibration // nil: none
	costs     *cv.Costs       // costs of decisions, from the model file or the user; nil: none
	threshold []float64       // used instead of costs, from the model file or the user; none: ½
	strict    bool            // refuse cases with values that cannot be read
	why       *explainer      // explains predictions; nil: they are not explained
	sets      *cv.Conformal   // conformal sets; nil: there are none
	drift     *Drift          // compares the cases; nil: they are not compared
	among     []float64       // held-out probabilities among which the threshold was chosen

	substitutes []float64 // values that replace missing ones, by column of the inputs
	spans       []span    // outside them values are far from the training cases, by preprocessed input
}

// About describes the label and the inputs in the user's words; empty if the file has no
// description.
func (c *Classifier) About() string { return c.file.About }

// Facts describe the model in words.
func (c *Classifier) Facts() []table.Fact {
	f := c.file
	m := slices.DeleteFunc([]string{f.Model.Kernel, f.Model.Mean, f.Model.Likelihood, f.Model.Inference},
		func(text string) bool { return text == "" || text == "none" })
	facts := []table.Fact{{Name: "predicts", Text: f.About}, {Name: "model", Text: strings.Join(m, ", ")},
		{Name: "fitted to", Text: fmt.Sprintf("%s, in the experiment %s with seed %d", f.Dataset, f.Experiment,
			f.Seed)}}
	if len(f.Threshold) == 1 && len(f.Columns.Classes) == 2 {
		facts = append(facts, table.Fact{Name: "decides", Text: fmt.Sprintf("for %s from the probability %s on",
			f.Columns.Classes[1], reports.Readable(f.Threshold[0]))})
	}
	if l := float64(f.LogEvidence); !math.IsNaN(l) {
		facts = append(facts, table.Fact{Name: "log evidence", Text: fmt.Sprintf("%.6g", l)})
	}
	return facts
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
	return ReadClassifier(text, name)
}

// ReadClassifier is LoadClassifier for the content of a model file of this name.
func ReadClassifier(text io.Reader, name string) (*Classifier, error) {
	linalg.SetThreads(runtime.GOMAXPROCS(0)) // there is only one job
	defer linalg.SetThreads(1)
	f, err := modelfile.Read(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", spec.ErrInvalid, name, err)
	}
	return restore(f, name)
}

// restore checks the content of the file and rebuilds the posterior.
func restore(f *ModelFile, name string) (c *Classifier, err error) {
	c = &Classifier{name: name, file: f, threshold: f.Threshold, among: f.ThresholdRange}
	if err = f.CheckColumns(); err == nil {
		err = cmp.Or(c.readCosts(), c.checkAdjustment(), c.readSets())
	}
	if err == nil {
		c.fitted, err = f.Restore(name+": ", min(len(f.Samples), 1))
	}
	switch {
	case err == nil:
		c.substitutes, c.spans = f.Substitutes(), spansOf(f.Ranges())
		return c, nil
	case errors.Is(err, strictyaml.ErrMistakes): // the errors have the name
		return nil, err
	case errors.Is(err, machine.ErrMemory):
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return nil, c.damage(err)
}

// damage is the error for a damaged file.
func (c *Classifier) damage(err error) error {
	return fmt.Errorf("%w: %s: %w", spec.ErrInvalid, c.name, err)
}

// readCosts sets the costs of the file.
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
	c.costs = costs
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
	r := f.ThresholdRange
	if r != nil && !(f.Threshold != nil && len(r) == 2 && r[0] >= 0 && r[0] <= r[1] && r[1] <= 1) {
		return modelfile.Wrong("threshold_range", "%v, want the least and the largest probability, with a threshold", r)
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

// readSets sets the conformal sets of the file.
func (c *Classifier) readSets() error {
	of, classes := c.file.Sets, len(c.file.Columns.Classes)
	if of == nil {
		return nil
	}
	if err := cv.CheckCoverage(of.Coverage); err != nil {
		return modelfile.Wrong("sets.coverage", "%w", err)
	}
	if classes == 0 || len(of.Proba) != classes || of.Weights != nil && len(of.Weights) != classes {
		return modelfile.Wrong("sets", "want a list of probabilities, and of weights if there are any, for each of %d "+
			"classes", classes)
	}
	for k, proba := range of.Proba {
		for i, p := range proba {
			if !(p >= 0 && p <= 1) || i > 0 && p < proba[i-1] {
				return modelfile.Wrong("sets.proba", "%v of class %d, want ascending probabilities", p, k)
			}
		}
		if of.Weights != nil && (len(of.Weights[k]) != len(proba) || slices.ContainsFunc(of.Weights[k],
			func(w float64) bool { return !(w > 0) || math.IsInf(w, 0) })) {
			return modelfile.Wrong("sets.weights", "want a number above 0 for each of %d cases of class %d", len(proba),
				k)
		}
	}
	c.sets = &cv.Conformal{Coverage: of.Coverage, Proba: of.Proba, Weight: of.Weights}
	return nil
}

// covering returns the conformal sets with the user's coverage in place of the one of the file.
func (c *Classifier) covering(coverage *float64) (*cv.Conformal, error) {
	if coverage == nil {
		return c.sets, nil
	}
	err := cv.CheckCoverage(*coverage)
	switch {
	case len(c.file.Columns.Classes) == 0:
		err = errors.New("the model predicts numbers, and sets are for classes; leave it out")
	case err == nil && c.sets == nil:
		err = fmt.Errorf("%s has no held-out cases to compare with; fit it with predict: {sets: {coverage: %v}} in "+
			"the file of the experiment", c.name, *coverage)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: --sets: %w", spec.ErrInvalid, err)
	}
	other := *c.sets
	other.Coverage = *coverage
	return &other, nil
}

// WithoutSets returns the classifier without the conformal sets of its file, for predictions of
// probabilities and decisions alone.
func (c *Classifier) WithoutSets() *Classifier {
	other := *c
	other.sets = nil
	return &other
}

// outcome predicts cases, with one fit or averaged over the samples, and warns of cases to which
// the calibration or the threshold of the file is extrapolated.
func (c *Classifier) outcome(held *kernel.Inputs) (o job.Outcome, warnings []cause.Notice, err error) {
	o, err = c.uncalibrated(held)
	if err != nil || c.calibrate == nil && c.among == nil {
		return o, nil, err
	}
	var e job.Extrapolations
	for i := range held.N() {
		row := o.Proba.RawRowView(i)
		if c.calibrate != nil {
			e.Calibrate(c.calibrate, c.file.Calibration, row)
		}
		e.Decide(c.among, row)
	}
	return o, e.Warnings(), nil
}

func (c *Classifier) uncalibrated(held *kernel.Inputs) (average job.Outcome, err error) {
	if c.fitted.Compared != nil {
		return job.Compared(c.fitted.Compared, held, c.fitted.Data.Y.Classes), nil
	}
	n := 0
	for point, err := range c.fitted.Posteriors() {
		if err != nil {
			return average, c.damage(err)
		}
		n++
		average.Average(job.OutcomeOn(point, c.fitted.Data.Y.Classes, held, c.fitted.Average), n)
	}
	return average, nil
}

// work is the number of multiplications of a prediction.
func (c *Classifier) work() float64 {
	n, processes := float64(c.fitted.Data.X.N()), float64(max(1, len(c.file.Columns.Classes)-1))
	if c.fitted.Compared != nil {
		return 1e3 + n*float64(len(c.file.Columns.ColumnNames()))
	}
	return float64(max(1, len(c.file.Samples))) * processes * (n*n + 60*n)
}
