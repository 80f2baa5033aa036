// Package modelfile defines the model file, docs/model-file.md: its content, reading, writing and
// checking, and restoring its posterior.
package modelfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/internal/build"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/objective/preprocess"
	"github.com/gpc-tune/gpc-tune/record"
)

// Form identifies the format of a model file: a family and a version.
type Form string

// A file of version 1 has the training cases. A file of version 2 has inducing inputs instead, or a
// comparator that needs no cases.
const (
	family         = "gpc-tune/model/"
	version        = 2
	ofCases   Form = family + "1"
	condensed Form = family + "2"
)

// JSONSchema lists the formats.
func (Form) JSONSchema() map[string]any { return map[string]any{"enum": []Form{ofCases, condensed}} }

// File is a fitted classifier, as described in docs/model-file.md: everything needed to rebuild its
// posterior without iterating, and its origin. Numbers are written so that they are read back bit
// for bit.
type File struct {
	Schema      Form               `json:"schema"`
	About       string             `json:"about,omitempty"` // label and inputs, in words
	Experiment  string             `json:"experiment"`      // the name in the YAML file
	Seed        uint64             `json:"seed"`
	Build       record.Build       `json:"build"`
	Dataset     string             `json:"dataset"`
	DataHash    string             `json:"data_hash"`
	Tuned       Tuned              `json:"tuned"`
	LogEvidence record.Spelled     `json:"log_evidence"` // nats, of this fit
	Model       declared.Texts     `json:"model"`
	Theta       map[string]float64 `json:"theta"` // every hyperparameter on the theta scale, by name
	Columns     *data.Schema       `json:"columns"`
	Preprocess  *preprocess.Map    `json:"preprocess"`
	Labels      []int              `json:"labels,omitempty"`  // of the n training cases: indices into the classes
	Targets     []float64          `json:"targets,omitempty"` // or their numbers
	Inputs      [][]float64        `json:"inputs,omitempty"`  // n×d, preprocessed
	Weights     []float64          `json:"weights,omitempty"` // n, above 0; none: 1 each
	// With inducing inputs these two replace labels, targets and inputs. For a comparator that
	// needs no cases, the first does.
	Training *Training    `json:"training,omitempty"`
	Inducing [][]float64  `json:"inducing,omitempty"` // m×d, preprocessed
	State    approx.State `json:"state"`              // of the approximation; condensed with inducing inputs
	Samples  []Sample     `json:"samples,omitempty"`  // samples of Markov chains to average over
	// Coefficients of logistic regression, for readers; predictions are made from State.
	Coefficients []record.Coefficient `json:"coefficients,omitempty"`
	// Calibrate names the calibration of class probabilities. Calibration has its parameters for
	// every class, or for the second of two. Threshold has one number: the second of two classes is
	// predicted if its probability is at least this. It was chosen among held-out probabilities,
	// whose least and largest value are ThresholdRange. Costs has the costs of decisions, which a
	// Threshold replaces.
	Calibrate      string        `json:"calibrate,omitempty"`
	Calibration    [][]float64   `json:"calibration,omitempty"`
	Threshold      []float64     `json:"threshold,omitempty"`
	ThresholdRange []float64     `json:"threshold_range,omitempty"`
	Costs          *record.Costs `json:"costs,omitempty"`
	Sets           *Sets         `json:"sets,omitempty"` // what conformal sets compare with
	// Hash is the SHA-256, in hexadecimal, of the file as written without this field.
	Hash string `json:"hash,omitempty"`
}

// Training describes training cases that are not in the file, for the baselines of scores.
type Training struct {
	Cases   int             `json:"cases"`
	Counts  []int           `json:"counts,omitempty"`  // of each class
	Weights []float64       `json:"weights,omitempty"` // sums of case weights per class, if any
	Moments *record.Moments `json:"moments,omitempty"` // of numeric targets
	// Medians has the medians of the preprocessed inputs if there are no inducing inputs. They
	// replace missing values if Preprocess does not.
	Medians []float64 `json:"medians,omitempty"`
	// Least and Largest have the ends of the range of every preprocessed input, rounded outwards. A
	// value far outside of it gets a warning.
	Least   []float64 `json:"least,omitempty"`
	Largest []float64 `json:"largest,omitempty"`
}

// Sets has the held-out cases with which the conformal sets of new cases compare, as in
// cv.Conformal.
type Sets struct {
	Coverage float64 `json:"coverage"`
	// Proba has for each class, ascending, the probabilities of this class that held-out cases of
	// it had, and Weights how many cases each of these counts as; none: 1 each.
	Proba   [][]float64 `json:"proba"`
	Weights [][]float64 `json:"weights,omitempty"`
}

// Sample is a fit at other hyperparameters.
type Sample struct {
	Theta map[string]float64 `json:"theta"`
	State approx.State       `json:"state"`
}

// Tuned describes how the hyperparameters were found.
type Tuned struct {
	Method    string         `json:"method"`
	Objective string         `json:"objective"`
	Inference string         `json:"inference"`
	Value     record.Spelled `json:"value"` // of the objective
}

// Seal sets Hash.
func (f *File) Seal() (err error) {
	f.Hash, err = f.hash()
	return err
}

// sealed returns an error if Hash is not the hash of the content.
func (f *File) sealed() error {
	if hash, err := f.hash(); err != nil || hash != f.Hash {
		return Wrong("hash", "%q on file, and %s by its content", f.Hash, hash)
	}
	return nil
}

// hash is the correct Hash. It does not depend on white space in the file.
func (f *File) hash() (string, error) {
	bare, h := *f, sha256.New()
	bare.Hash = ""
	err := bare.Write(h)
	return hex.EncodeToString(h.Sum(nil)), err
}

// Write writes one field per line.
func (f *File) Write(w io.Writer) error {
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

// Read reads a model file, strictly. Reading takes up to eight times the memory of the text, so a
// text of more than 1 MiB that is longer than an eighth of the free memory is machine.ErrMemory.
func Read(r io.Reader) (*File, error) { return read(r, machine.Available) }

func read(r io.Reader, available func() (int64, bool)) (*File, error) {
	// Finding the free memory takes longer than reading a short text.
	const short = 1 << 20
	longest := int64(short)
	text, err := io.ReadAll(io.LimitReader(r, short+1))
	if err == nil && len(text) > short {
		longest = math.MaxInt64 - 1
		if free, known := available(); known {
			longest = free / 8
		}
		var more []byte
		more, err = io.ReadAll(io.LimitReader(r, longest-short))
		text = append(text, more...)
	}
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > longest {
		return nil, fmt.Errorf("%w: it is longer than %s, and reading takes eight times as much; is it a model file? "+
			"use a larger machine, or fit on a part of the cases or with inducing inputs", machine.ErrMemory,
			humanize.IBytes(uint64(longest)))
	}
	return decode(text)
}

// decode reads the text of a model file.
func decode(text []byte) (*File, error) {
	var header struct {
		Schema any          `json:"schema"`
		Build  record.Build `json:"build"`
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch err := json.Unmarshal(text, &header); {
	case errors.As(err, &syntax):
		return nil, fmt.Errorf("%s: not a model file, or cut off or changed here (%w); write it again with "+
			"gpc-tune fit or experiments.Fit",
			placeIn(text, syntax.Offset), err)
	case err != nil && !errors.As(err, &kind):
		return nil, fmt.Errorf("not a model file (%w); write one with gpc-tune fit or experiments.Fit", err)
	}
	schema, _ := header.Schema.(string)
	of, is := strings.CutPrefix(schema, family)
	switch number, err := strconv.Atoi(of); {
	case !is || err != nil || number < 1:
		return nil, fmt.Errorf("not a model file: its schema is %q, want %q or %q; model files are written by "+
			"gpc-tune fit or experiments.Fit", schema, ofCases, condensed)
	case number > version:
		return nil, fmt.Errorf("a model file of version %d, written by gpc-tune %s; this gpc-tune, %s, reads "+
			"versions up to %d: use a newer gpc-tune, or write the file again with gpc-tune fit or experiments.Fit",
			number, header.Build.Version, build.Version(), version)
	}
	// Null is not allowed in a model file; the decoder would ignore it.
	tokens := json.NewDecoder(bytes.NewReader(text))
	for {
		token, err := tokens.Token()
		if err != nil {
			break // the end, or an error that is reported below
		}
		if token == nil {
			return nil, fmt.Errorf("%s: null, want a value; write the file again with gpc-tune fit or experiments.Fit",
				placeIn(text, tokens.InputOffset()))
		}
	}
	f := &File{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	switch err := d.Decode(f); {
	case errors.As(err, &kind):
		return nil, fmt.Errorf("%s: %s: found %s, want %s; write the file again with gpc-tune fit or experiments.Fit",
			placeIn(text, kind.Offset), kind.Field, kind.Value, kind.Type)
	case err != nil:
		return nil, fmt.Errorf("%w; write the file again with gpc-tune fit or experiments.Fit", err)
	}
	return f, nil
}

// placeIn describes an offset: line 3, column 14.
func placeIn(text []byte, offset int64) string {
	before := text[:min(max(offset-1, 0), int64(len(text)))]
	return fmt.Sprintf("line %d, column %d", 1+bytes.Count(before, []byte("\n")),
		len(before)-bytes.LastIndexByte(before, '\n'))
}

// Wrong is the error for a part of a model file that gpc-tune cannot have written.
func Wrong(part, format string, args ...any) error {
	return fmt.Errorf(part+": "+format+"; the file was changed: write it again with gpc-tune fit or experiments.Fit",
		args...)
}
