// Package classifier fits the model that a plan finds best, keeps it in a model file, and predicts
// with it.
package classifier

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/model"
	"github.com/gpc-tune/gpc-tune/experiments/preprocess"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/internal/build"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/search"
)

// Schema names the form of a model file: a family and a version.
type Schema string

// Of version 1 a file has the training cases, of version 2 inducing inputs in place of them.
const (
	family    = "gpc-tune/model/"
	ofCases   = family + "1"
	condensed = family + "2"
	newest    = 2
)

// JSONSchema is that of what there is.
func (Schema) JSONSchema() map[string]any {
	return map[string]any{"enum": []string{ofCases, condensed}}
}

// ModelFile is a fitted classifier, as docs/model-file.md describes it: all that rebuilds its
// posterior without iterating, and where it comes from. Numbers are written such that they are read
// back to the bit.
type ModelFile struct {
	Schema      Schema             `json:"schema"`
	Experiment  string             `json:"experiment"` // the name in the YAML file
	Seed        uint64             `json:"seed"`
	Build       record.Build       `json:"build"`
	Dataset     string             `json:"dataset"`
	DataHash    string             `json:"data_hash"`
	Tuned       Tuned              `json:"tuned"`
	LogEvidence record.Spelled     `json:"log_evidence"` // nats, of this fit
	Model       Declared           `json:"model"`
	Theta       map[string]float64 `json:"theta"` // every hyperparameter on the theta scale, by name
	Columns     *data.Schema       `json:"columns"`
	Preprocess  *preprocess.Map    `json:"preprocess"`
	Labels      []int              `json:"labels,omitempty"`  // of the n training cases: indices into the classes
	Targets     []float64          `json:"targets,omitempty"` // or their numbers
	Inputs      [][]float64        `json:"inputs,omitempty"`  // n×d, preprocessed
	// With inducing inputs these two are there in place of labels, targets and inputs.
	Training *Training    `json:"training,omitempty"`
	Inducing [][]float64  `json:"inducing,omitempty"` // m×d, preprocessed
	State    approx.State `json:"state"`              // of the approximation; with inducing inputs condensed
	Samples  []Sample     `json:"samples,omitempty"`  // of Markov chains, over which predictions are averaged
	// Hash is the SHA-256, in hexadecimal, of the file as write makes it without this field.
	Hash string `json:"hash,omitempty"`
}

// Training is what remains of the training cases where a file does not have them: what scores of
// predictions compare with.
type Training struct {
	Cases   int             `json:"cases"`
	Counts  []int           `json:"counts,omitempty"`  // of each class
	Moments *record.Moments `json:"moments,omitempty"` // of numbers
}

// Sample is a fit at other hyperparameters.
type Sample struct {
	Theta map[string]float64 `json:"theta"`
	State approx.State       `json:"state"`
}

// Tuned says how the hyperparameters were found.
type Tuned struct {
	Method    string         `json:"method"`
	Objective string         `json:"objective"`
	Inference string         `json:"inference"`
	Value     record.Spelled `json:"value"` // of the objective
}

// Declared is the model as the experiment declares it, in YAML flow text.
type Declared struct {
	Kernel     string `json:"kernel"`
	Mean       string `json:"mean"`
	Likelihood string `json:"likelihood"`
	Inference  string `json:"inference"`
	Classes    string `json:"classes"` // joint | one_vs_rest
	Average    string `json:"average"`
}

// save writes the file, which holds training data: its mode is what the umask leaves. Whoever reads
// it sees the old one or the new one, whole.
func (f *ModelFile) save(name string) (err error) {
	if f.Hash, err = f.hash(); err != nil {
		return err
	}
	return atomicfile.Write(name, f.write)
}

// hash is what Hash should be. It does not depend on how the file is laid out.
func (f *ModelFile) hash() (string, error) {
	bare, h := *f, sha256.New()
	bare.Hash = ""
	err := bare.write(h)
	return hex.EncodeToString(h.Sum(nil)), err
}

// write writes a line a field.
func (f *ModelFile) write(w io.Writer) error {
	v, before := reflect.ValueOf(*f), "{\n"
	for i := range v.NumField() {
		name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		f := v.Field(i)
		if options == "omitempty" && (f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0) {
			continue
		}
		text, err := json.Marshal(v.Field(i).Interface())
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if _, err := fmt.Fprintf(w, "%s%q: %s", before, name, text); err != nil {
			return err
		}
		before = ",\n"
	}
	_, err := io.WriteString(w, "\n}\n")
	return err
}

// Classifier is a model file with its posterior.
type Classifier struct {
	name      string // of the file
	file      *ModelFile
	average   objective.Average
	x         *kernel.Inputs // training cases, or inducing inputs
	y         approx.Targets // of the training cases; with inducing inputs the number of classes alone
	training  Training
	objective *objective.Objective
	point     *objective.Point  // at the file's theta; its samples are restored one at a time
	compared  comparator.Fitted // instead of the two; nil: none
}

// LoadClassifier reads a model file and rebuilds the posterior. What is wrong with the file is an
// ErrInvalid, or Problems, that says where and what to do; a posterior that the memory cannot hold
// is search.ErrMemory.
func LoadClassifier(name string) (*Classifier, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; write one with gpc-tune fit", spec.ErrInvalid, err)
	}
	linalg.SetThreads(runtime.GOMAXPROCS(0)) // the one job there is
	defer linalg.SetThreads(1)
	f, err := decodeModel(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", spec.ErrInvalid, name, err)
	}
	return f.restore(name)
}

// decodeModel reads the text of a model file, strictly.
func decodeModel(text []byte) (*ModelFile, error) {
	var header struct {
		Schema any          `json:"schema"`
		Build  record.Build `json:"build"`
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch err := json.Unmarshal(text, &header); {
	case errors.As(err, &syntax):
		return nil, fmt.Errorf("%s: no model file, or cut off or changed here (%w); write it again with gpc-tune fit",
			placeIn(text, syntax.Offset), err)
	case err != nil && !errors.As(err, &kind):
		return nil, fmt.Errorf("no model file (%w); write one with gpc-tune fit", err)
	}
	schema, _ := header.Schema.(string)
	version, of := strings.CutPrefix(schema, family)
	switch number, err := strconv.Atoi(version); {
	case !of || err != nil || number < 1:
		return nil, fmt.Errorf("no model file: its schema is %q, want %q or %q; model files are written by "+
			"gpc-tune fit", schema, ofCases, condensed)
	case number > newest:
		return nil, fmt.Errorf("a model file of version %d, written by gpc-tune %s; this gpc-tune, %s, reads "+
			"versions up to %d: use one as new as that, or write the file again with gpc-tune fit", number,
			header.Build.Version, build.Version(), newest)
	}
	// Null stands for nothing in a model file, and the decoder takes it for whatever was there
	// before.
	tokens := json.NewDecoder(bytes.NewReader(text))
	for {
		token, err := tokens.Token()
		if err != nil {
			break // the end, or what is told below
		}
		if token == nil {
			return nil, fmt.Errorf("%s: null, want a value; write the file again with gpc-tune fit",
				placeIn(text, tokens.InputOffset()))
		}
	}
	f := &ModelFile{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	switch err := d.Decode(f); {
	case errors.As(err, &kind):
		return nil, fmt.Errorf("%s: %s: found %s, want %s; write the file again with gpc-tune fit",
			placeIn(text, kind.Offset), kind.Field, kind.Value, kind.Type)
	case err != nil:
		return nil, fmt.Errorf("%w; write the file again with gpc-tune fit", err)
	}
	return f, nil
}

// placeIn says where an offset is: line 3, column 14.
func placeIn(text []byte, offset int64) string {
	before := text[:min(max(offset-1, 0), int64(len(text)))]
	return fmt.Sprintf("line %d, column %d", 1+bytes.Count(before, []byte("\n")),
		len(before)-bytes.LastIndexByte(before, '\n'))
}

// evidenceTolerance is how far, relative to 1 or to itself, the log evidence may be from the one on
// file: far more than builds and processors differ by, far less than what a change of the file
// does.
const evidenceTolerance = 1e-4

// restore checks what the file says and rebuilds the posterior.
func (f *ModelFile) restore(name string) (*Classifier, error) {
	if err := f.checkColumns(); err != nil {
		return nil, damage(name, err)
	}
	c := &Classifier{name: name, file: f}
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
	want := float64(f.LogEvidence)
	differ := math.IsNaN(evidence) != math.IsNaN(want) ||
		math.Abs(evidence-want) > evidenceTolerance*max(1, math.Abs(want))
	if differ && f.Schema != condensed {
		return nil, damage(name, wrong("log_evidence", "%v on file, and %v by its numbers", want, evidence))
	}
	if hash, err := f.hash(); err != nil || hash != f.Hash { // what none of the above depends on
		return nil, damage(name, wrong("hash", "%q on file, and %s by its content", f.Hash, hash))
	}
	return c, nil
}

// wrong is what is wrong with a part of a model file, and damage what is wrong with a file.
func wrong(part, format string, args ...any) error { return fmt.Errorf(part+": "+format, args...) }

func damage(name string, err error) error {
	return fmt.Errorf("%w: %s: %w; the file was changed: write it again with gpc-tune fit", spec.ErrInvalid, name, err)
}

// checkColumns checks what is said of inputs and labels.
func (f *ModelFile) checkColumns() error {
	if f.Columns == nil || f.Preprocess == nil {
		return wrong("columns, preprocess", "one of them is missing")
	}
	if err := f.Columns.Check(); err != nil {
		return wrong("columns", "%w", err)
	}
	if err := f.Preprocess.Check(len(f.Columns.ColumnNames())); err != nil {
		return wrong("preprocess", "%w", err)
	}
	if f.Columns.Imputes() != (f.Preprocess.Impute != nil) {
		return wrong("preprocess", "impute must be there if and only if columns has missing: mean or median")
	}
	return nil
}

// readModel reads the model, and how class probabilities are formed.
func (c *Classifier) readModel() (m model.Model, err error) {
	f, prefix := c.file, c.name+": model."
	found := strictyaml.NewFindings(c.name)
	m = spec.ReadModel(found, spec.Texts{
		Kernel: f.Model.Kernel, Mean: f.Model.Mean, Likelihood: f.Model.Likelihood,
		Inference: f.Model.Inference, Classes: f.Model.Classes,
	}, prefix, true)
	c.average = spec.ReadAverage(found.As(prefix+"average"), f.Model.Average, f.Seed)
	if err := found.Err(); err != nil {
		return m, fmt.Errorf("%w\nthe file was changed, or is that of another version: write it again with "+
			"gpc-tune fit", err)
	}
	if m.Comparator == nil {
		if err := c.average.Uses(m.Likelihood); err != nil {
			return m, damage(c.name, wrong("model.average", "%w", err))
		}
	}
	return m, nil
}

// readCases reads the training cases, or the inducing inputs.
func (c *Classifier) readCases(m model.Model) (err error) {
	f, classes := c.file, len(c.file.Columns.Classes)
	switch {
	case m.Numeric() != (classes == 0):
		return wrong("columns.classes", "%d classes do not go with likelihood %s", classes, f.Model.Likelihood)
	case classes > 0 && len(f.Targets) > 0:
		return wrong("targets", "%d numbers do not go with classes", len(f.Targets))
	case classes == 0 && len(f.Labels) > 0:
		return wrong("labels", "%d labels do not go with numbers", len(f.Labels))
	case f.Schema == condensed:
		return c.readInducing(m, classes)
	case f.Training != nil || len(f.Inducing) > 0:
		return wrong("inducing", "a file with schema %q has none, nor training", f.Schema)
	}
	counts := make([]int, classes)
	for i, label := range f.Labels {
		if label < 0 || label >= classes {
			return wrong("labels", "case %d has %d, want 0 to %d", i, label, classes-1)
		}
		counts[label]++
	}
	c.y = job.Coded(classes, f.Labels, f.Targets)
	if n := len(f.Inputs); n < 2 || c.y.Len() != n {
		return wrong("inputs", "%d cases of inputs, and %d of labels or targets; want as many, 2 or more", n, c.y.Len())
	}
	c.training = trainingOf(counts, f.Targets)
	c.x, err = f.rows("inputs", f.Inputs)
	return err
}

// trainingOf describes training cases.
func trainingOf(counts []int, targets []float64) (t Training) {
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

// rows reads inputs.
func (f *ModelFile) rows(part string, rows [][]float64) (*kernel.Inputs, error) {
	dim := len(f.Columns.ColumnNames())
	x := mat.NewDense(len(rows), dim, nil)
	for i, row := range rows {
		if len(row) != dim {
			return nil, wrong(part, "row %d has %d numbers, want %d", i, len(row), dim)
		}
		x.SetRow(i, row)
	}
	return &kernel.Inputs{X: x}, nil
}

// readInducing reads the inducing inputs, and what is there of the training cases.
func (c *Classifier) readInducing(m model.Model, classes int) (err error) {
	f, t := c.file, c.file.Training
	switch {
	case m.Comparator != nil:
		return wrong("schema", "%q is for models with inducing inputs, not for comparators", f.Schema)
	case t == nil || len(f.Inducing) == 0 || len(f.Labels)+len(f.Targets)+len(f.Inputs) > 0:
		return wrong("schema", "a file with schema %q has training and inducing, and neither labels, targets nor "+
			"inputs", f.Schema)
	case classes == 0 && (t.Moments == nil || len(t.Counts) > 0),
		classes == 0 && !(t.Moments.Mean.Finite() && t.Moments.Variance >= 0 && t.Moments.Variance.Finite()):
		return wrong("training", "want the moments of numbers, finite, with a variance of 0 or more")
	case classes > 0 && (len(t.Counts) != classes || t.Moments != nil):
		return wrong("training.counts", "%d counts for %d classes", len(t.Counts), classes)
	}
	sum := 0
	for i, n := range t.Counts {
		if sum += n; n < 0 || sum < 0 {
			return wrong("training.counts", "%d cases of class %d", n, i)
		}
	}
	if t.Cases < 2 || classes > 0 && sum != t.Cases {
		return wrong("training.cases", "%d, want 2 or more, and as many as there are of all classes", t.Cases)
	}
	c.y, c.training = approx.Targets{Classes: classes}, *t
	c.x, err = f.rows("inducing", f.Inducing)
	return err
}

// fits checks that the parts of the model go together, and that there is memory for its posterior.
func (c *Classifier) fits(m model.Model) error {
	n, dim := c.x.X.Dims()
	classes := c.y.Classes
	size := approx.Size{Cases: n, Distinct: n, New: n, Classes: classes}
	var need int64
	if m.Comparator != nil {
		need = m.Comparator.Memory(size, dim)
	} else if _, err := m.On(classes).Check(classes); err != nil {
		return damage(c.name, wrong("model", "%w", err))
	} else {
		need = m.On(classes).Memory(size, dim, nil, false)
	}
	need = job.Footprint(need)
	if len(c.file.Samples) > 0 {
		need *= 2 // a sample beside the one that theta is
	}
	if free, known := machine.Available(); known && need > free {
		return fmt.Errorf("%w: %s: the posterior of its %d cases needs %s, and %s are free; use a larger machine, "+
			"or fit on a subsample", search.ErrMemory, c.name, n, humanize.IBytes(uint64(need)),
			humanize.IBytes(uint64(free)))
	}
	return nil
}

// restorePosterior returns the log evidence as well; NaN where that needs the training cases.
func (c *Classifier) restorePosterior(m model.Model) (evidence float64, err error) {
	f := c.file
	// Where length scales start matters no more.
	data := objective.Data{X: c.x, Y: c.y, Classes: f.Columns.Classes, Scaled: true}
	switch {
	case m.Comparator != nil:
		if c.compared, err = m.Comparator.Restore(data, f.State); err != nil {
			return 0, wrong("state", "%w", err)
		}
		return c.compared.Summary().LogEvidence, nil
	case f.Schema == condensed:
		c.objective, err = objective.NewCondensed(m.On(c.y.Classes), c.x.X, f.Columns.Classes)
	default:
		c.objective, err = objective.New(m.On(c.y.Classes), nil, data)
	}
	if err != nil {
		return 0, wrong("model", "%w", err)
	}
	theta, err := thetaOf(f.Theta, c.objective.Layout)
	if err != nil {
		return 0, wrong("theta", "%w", err)
	}
	if c.point, err = c.at(theta, f.State); err != nil {
		return 0, wrong("state", "%w", err)
	}
	return c.point.Posterior.Evidence().Value(), nil
}

// at is the fit at theta that has left a state.
func (c *Classifier) at(theta []float64, s approx.State) (*objective.Point, error) {
	if c.file.Schema == condensed {
		return c.objective.Expand(theta, s)
	}
	return c.objective.Restore(theta, s)
}

// outcome predicts cases, with the one fit or with the average over the samples.
func (c *Classifier) outcome(held *kernel.Inputs) (average job.Outcome, err error) {
	if c.compared != nil {
		return job.Compared(c.compared, held, c.y.Classes), nil
	}
	predict := func(point *objective.Point) job.Outcome {
		return job.OutcomeOn(point, c.y.Classes, held, c.average)
	}
	if len(c.file.Samples) == 0 {
		return predict(c.point), nil
	}
	for i, s := range c.file.Samples {
		theta, err := thetaOf(s.Theta, c.objective.Layout)
		if err != nil {
			return average, damage(c.name, wrong("samples", "sample %d: theta: %w", i, err))
		}
		point, err := c.at(theta, s.State)
		if err != nil {
			return average, damage(c.name, wrong("samples", "sample %d: state: %w", i, err))
		}
		average.Average(predict(point), i+1)
	}
	return average, nil
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
