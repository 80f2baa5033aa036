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

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/job"
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

// The schema of a model file is its family and a version.
const (
	modelFamily  = "gpc-tune/model/"
	modelVersion = 1
	ModelSchema  = modelFamily + "1"
)

// ModelFile is a fitted classifier, as docs/model-file.md describes it: all that rebuilds its posterior without iterating, and
// where it comes from. Numbers are written such that they are read back to the bit.
type ModelFile struct {
	Schema      string             `json:"schema"`
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
	Preprocess  *data.Preprocessor `json:"preprocess"`
	Labels      []int              `json:"labels,omitempty"`  // of the n training cases: indices into the classes
	Targets     []float64          `json:"targets,omitempty"` // or their numbers
	Inputs      [][]float64        `json:"inputs"`            // n×d, preprocessed
	State       approx.State       `json:"state"`             // of the approximation
	Samples     []Sample           `json:"samples,omitempty"` // of Markov chains, over which predictions are averaged
	// Hash is the SHA-256, in hexadecimal, of the file as write makes it without this field.
	Hash string `json:"hash,omitempty"`
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

// Save writes the file, which holds training data: its mode is what the umask leaves. Whoever reads it sees the old one or
// the new one, whole.
func (f *ModelFile) Save(name string) (err error) {
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
		if options == "omitempty" && v.Field(i).Len() == 0 {
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
	data      objective.Data
	counts    []int // training cases per class
	objective *objective.Objective
	point     *objective.Point  // at the file's theta; its samples are restored one at a time
	compared  comparator.Fitted // instead of the two; nil: none
}

// LoadClassifier reads a model file and rebuilds the posterior. What is wrong with the file is an ErrInvalid, or Problems,
// that says where and what to do; a posterior that the memory cannot hold is search.ErrMemory.
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
		return nil, fmt.Errorf("%s: no model file, or cut off or changed here (%w); write it again with gpc-tune fit", placeIn(text, syntax.Offset), err)
	case err != nil && !errors.As(err, &kind):
		return nil, fmt.Errorf("no model file (%w); write one with gpc-tune fit", err)
	}
	schema, _ := header.Schema.(string)
	version, of := strings.CutPrefix(schema, modelFamily)
	switch number, err := strconv.Atoi(version); {
	case !of || err != nil || number < 1:
		return nil, fmt.Errorf("no model file: its schema is %q, want %q; model files are written by gpc-tune fit", schema, ModelSchema)
	case number > modelVersion:
		return nil, fmt.Errorf("a model file of version %d, written by gpc-tune %s; this gpc-tune, %s, reads version %d: use one as new as that, or write the file again with gpc-tune fit", number, header.Build.Version, build.Version(), modelVersion)
	}
	// Null stands for nothing in a model file, and the decoder takes it for whatever was there before.
	tokens := json.NewDecoder(bytes.NewReader(text))
	for {
		token, err := tokens.Token()
		if err != nil {
			break // the end, or what is told below
		}
		if token == nil {
			return nil, fmt.Errorf("%s: null, want a value; write the file again with gpc-tune fit", placeIn(text, tokens.InputOffset()))
		}
	}
	f := &ModelFile{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	switch err := d.Decode(f); {
	case errors.As(err, &kind):
		return nil, fmt.Errorf("%s: %s: found %s, want %s; write the file again with gpc-tune fit", placeIn(text, kind.Offset), kind.Field, kind.Value, kind.Type)
	case err != nil:
		return nil, fmt.Errorf("%w; write the file again with gpc-tune fit", err)
	}
	return f, nil
}

// placeIn says where an offset is: line 3, column 14.
func placeIn(text []byte, offset int64) string {
	before := text[:min(max(offset-1, 0), int64(len(text)))]
	return fmt.Sprintf("line %d, column %d", 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n'))
}

// evidenceTolerance is how far, relative to 1 or to itself, the log evidence may be from the one on file: far more than builds
// and processors differ by, far less than what a change of the file does.
const evidenceTolerance = 1e-4

// restore checks what the file says and rebuilds the posterior.
func (f *ModelFile) restore(name string) (*Classifier, error) {
	damaged := func(part, format string, args ...any) error { return damage(name, part, fmt.Errorf(format, args...)) }
	if f.Columns == nil || f.Preprocess == nil {
		return nil, damaged("columns, preprocess", "one of them is missing")
	}
	if err := f.Columns.Check(); err != nil {
		return nil, damaged("columns", "%w", err)
	}
	dim, n, classes := len(f.Columns.ColumnNames()), len(f.Inputs), len(f.Columns.Classes)
	if err := f.Preprocess.Check(dim); err != nil {
		return nil, damaged("preprocess", "%w", err)
	}
	if f.Columns.Imputes() != (f.Preprocess.Impute != nil) {
		return nil, damaged("preprocess", "impute must be there if and only if columns has missing: mean or median")
	}

	prefix := name + ": model."
	found := strictyaml.NewFindings(name)
	m := spec.ReadModel(found, spec.Texts{
		Kernel: f.Model.Kernel, Mean: f.Model.Mean, Likelihood: f.Model.Likelihood,
		Inference: f.Model.Inference, Classes: f.Model.Classes,
	}, prefix, true)
	c := &Classifier{name: name, file: f, average: spec.ReadAverage(found.As(prefix+"average"), f.Model.Average, f.Seed)}
	if err := found.Err(); err != nil {
		return nil, fmt.Errorf("%w\nthe file was changed, or is that of another version: write it again with gpc-tune fit", err)
	}
	if m.Comparator == nil {
		if err := c.average.Uses(m.Likelihood); err != nil {
			return nil, damaged("model.average", "%w", err)
		}
	}
	if m.Numeric() != (classes == 0) {
		return nil, damaged("columns.classes", "%d classes do not go with likelihood %s", classes, f.Model.Likelihood)
	}

	y := approx.Targets{Classes: classes, Value: f.Targets}
	if classes > 0 {
		if len(f.Targets) > 0 {
			return nil, damaged("targets", "%d numbers do not go with classes", len(f.Targets))
		}
		c.counts = make([]int, classes)
		for i, label := range f.Labels {
			if label < 0 || label >= classes {
				return nil, damaged("labels", "case %d has %d, want 0 to %d", i, label, classes-1)
			}
			if c.counts[label]++; classes == 2 {
				y.Value = append(y.Value, float64(2*label-1))
			}
		}
		if classes > 2 {
			y.Index = f.Labels
		}
	} else if len(f.Labels) > 0 {
		return nil, damaged("labels", "%d labels do not go with numbers", len(f.Labels))
	}
	if n < 2 || y.Len() != n {
		return nil, damaged("inputs", "%d cases of inputs, and %d of labels or targets; want as many, 2 or more", n, y.Len())
	}
	x := mat.NewDense(n, dim, nil)
	for i, row := range f.Inputs {
		if len(row) != dim {
			return nil, damaged("inputs", "case %d has %d numbers, want %d", i, len(row), dim)
		}
		x.SetRow(i, row)
	}
	c.data = objective.Data{X: &kernel.Inputs{X: x}, Y: y, Classes: f.Columns.Classes, Scaled: true} // where length scales start matters no more

	model, size := m.On(classes), approx.Size{Cases: n, Distinct: n, New: n, Classes: classes}
	var need int64
	if m.Comparator != nil {
		need = m.Comparator.Memory(size, dim)
	} else if _, err := model.Check(classes); err != nil {
		return nil, damaged("model", "%w", err)
	} else {
		need = model.Memory(size, dim, nil, false)
	}
	need = job.Footprint(need)
	if len(f.Samples) > 0 {
		need *= 2 // a sample beside the one that theta is
	}
	if free, known := machine.Available(); known && need > free {
		return nil, fmt.Errorf("%w: %s: the posterior of its %d cases needs %s, and %s are free; use a larger machine, or fit on a subsample", search.ErrMemory, name, n, humanize.IBytes(uint64(need)), humanize.IBytes(uint64(free)))
	}
	evidence, want := 0.0, float64(f.LogEvidence)
	if m.Comparator != nil {
		var err error
		if c.compared, err = m.Comparator.Restore(c.data, f.State); err != nil {
			return nil, damaged("state", "%w", err)
		}
		evidence = c.compared.Summary().LogEvidence
	} else {
		o, err := objective.New(model, nil, c.data)
		if err != nil {
			return nil, damaged("model", "%w", err)
		}
		theta, err := thetaOf(f.Theta, o.Layout)
		if err != nil {
			return nil, damaged("theta", "%w", err)
		}
		c.objective = o
		if c.point, err = o.Restore(theta, f.State); err != nil {
			return nil, damaged("state", "%w", err)
		}
		evidence = c.point.Posterior.Evidence().Value()
	}
	if math.IsNaN(evidence) != math.IsNaN(want) || math.Abs(evidence-want) > evidenceTolerance*max(1, math.Abs(want)) {
		return nil, damaged("log_evidence", "%v on file, and %v by its numbers", want, evidence)
	}
	if hash, err := f.hash(); err != nil || hash != f.Hash { // what none of the above depends on
		return nil, damaged("hash", "%q on file, and %s by its content", f.Hash, hash)
	}
	return c, nil
}

// damage is what is wrong with a part of a model file.
func damage(name, part string, err error) error {
	return fmt.Errorf("%w: %s: %s: %w; the file was changed: write it again with gpc-tune fit", spec.ErrInvalid, name, part, err)
}

// outcome predicts cases, with the one fit or with the average over the samples.
func (c *Classifier) outcome(held *kernel.Inputs) (average job.Outcome, err error) {
	if c.compared != nil {
		return job.Compared(c.compared, held, c.data.Y.Classes), nil
	}
	predict := func(point *objective.Point) job.Outcome {
		return job.OutcomeOn(point, c.data.Y.Classes, held, c.average)
	}
	if len(c.file.Samples) == 0 {
		return predict(c.point), nil
	}
	for i, s := range c.file.Samples {
		theta, err := thetaOf(s.Theta, c.objective.Layout)
		if err != nil {
			return average, damage(c.name, "samples", fmt.Errorf("sample %d: theta: %w", i, err))
		}
		point, err := c.objective.Restore(theta, s.State)
		if err != nil {
			return average, damage(c.name, "samples", fmt.Errorf("sample %d: state: %w", i, err))
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
