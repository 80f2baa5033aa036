// Package spec reads configuration files: text becomes declared values, each with its position in
// the file, and every mistake is reported with its position. It contains the schema of the file,
// which mirrors the decoder. It reads no data.
package spec

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/illustrate"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// Spec is a configuration file, decoded and checked as far as possible without the data. Its lists
// of alternatives are expanded: the experiment is the cross product of Data and Models.
type Spec struct {
	Name     string
	Seed     uint64
	Dir      string // relative paths in the file start here
	Data     []DataSpec
	Models   []Model
	Evaluate []Evaluation
	Race     *Race             // nil: no race
	Average  objective.Average // the averaging over latent values in predictions
	Reject   string            // the measure of confidence by which cases are rejected
	Report   Report
	File     string
	Text     string // the text of the file
	Settings []string

	Averaging   record.Component // Average as the file declares it
	Calibration *cv.Calibration  // nil: none
	Threshold   string           // the score it maximises; "": the threshold is ½

	AdjustPlace strictyaml.Place // position of the section with Calibration and Threshold
	TuneText    string
	Costs       *Costs           // of decisions; nil: none are given
	Coverage    *record.Number   // coverage of conformal sets; nil: there are no sets
	SetsPlace   strictyaml.Place // position of the section with Coverage

	Illustrations []Illustration // instead of Data
	illustrates   bool

	Program *Program // instead of Data and Models; nil: none
}

// FolderVariable is the variable of a program's environment that has the folder of its point.
const FolderVariable = "GPC_TUNE_FOLDER"

// Program is an objective that a command computes, or for Go programs a function, in place of data
// and models.
type Program struct {
	record.Program
	Timeout time.Duration      // longest time of a trial; 0: no limit
	Bounds  []schedule.Require // bounds that values must stay within
	Early   schedule.EarlyStop // ends trials early; nil: they run to their end
	Grace   time.Duration      // time to end by itself after SIGTERM
	Files   []string           // files whose content decides the values
	Space   search.Space
	Ways    []Tune // ways of searching the space
	// Value computes the objective for a Go program; nil: Command does.
	Value                    func(ctx context.Context, x []float64) (float64, error)
	CommandPlace, FilesPlace strictyaml.Place // positions in the file
}

// Arguments is the command with the texts of hyperparameters in place of their names.
func (p *Program) Arguments(x []float64) (args []string) {
	texts := map[string]string{}
	for i, s := range p.Space {
		texts[s.Name] = s.Text(x[i])
	}
	for _, arg := range p.Command {
		args = append(args, fill(arg, func(name string) string {
			if text, has := texts[name]; has {
				return text
			}
			return "{" + name + "}"
		}))
	}
	return args
}

// Told selects the objective from the values that a program has told, and the values that are kept
// by name: several objectives, and values with required bounds. The name of a single value may be
// empty.
func (p *Program) Told(values map[string]float64) (value float64, kept map[string]float64, err error) {
	kept = map[string]float64{}
	names := slices.Clone(p.Objectives)
	for _, r := range p.Bounds {
		names = append(names, r.Name)
	}
	for _, name := range names {
		v, has := values[name]
		if !has {
			return 0, nil, fmt.Errorf("%w: no value %q is told; write %s=VALUE", ErrInvalid, name, name)
		}
		kept[name] = v
	}
	value, has := values[p.Field]
	if !has {
		if value, has = values[""]; !has || len(p.Objectives) > 0 {
			return 0, nil, fmt.Errorf("%w: no value of the objective %s is told", ErrInvalid, p.Field)
		}
	}
	return value, kept, nil
}

// JSON is an object with the hyperparameters, with the types of the file. A name such as model.lr
// is the member lr of the object model.
func (p *Program) JSON(x []float64) string {
	var names, values []string
	for i, s := range p.Space {
		names, values = append(names, s.Name), append(values, s.JSON(x[i]))
	}
	return object(names, values)
}

// object writes members as JSON. Groups stand where their first member does.
func object(names, values []string) string {
	var parts, done []string
	for i, name := range names {
		group, _, nested := strings.Cut(name, ".")
		if !nested {
			parts = append(parts, fmt.Sprintf("%q: %s", name, values[i]))
			continue
		}
		if slices.Contains(done, group) {
			continue
		}
		done = append(done, group)
		var in, of []string
		for k, other := range names {
			if rest, is := strings.CutPrefix(other, group+"."); is {
				in, of = append(in, rest), append(of, values[k])
			}
		}
		parts = append(parts, fmt.Sprintf("%q: %s", group, object(in, of)))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// Paths are the files by which the values are decided, given the folder of the experiment file.
func (p *Program) Paths(folder string) (paths []string) {
	for _, name := range p.Files {
		if !filepath.IsAbs(name) {
			name = filepath.Join(folder, name)
		}
		paths = append(paths, name)
	}
	return paths
}

// DataSpec is one data section with its position in the file, for mistakes found when the data are
// read.
type DataSpec struct {
	data.Spec
	Place  strictyaml.Place
	places map[string]strictyaml.Place // places of the values of its keys
	Whole  bool                        // no mistakes are known before the data are read
}

// Faults reports the mistakes of a data set at the positions of their keys.
func (s DataSpec) Faults(found *strictyaml.Findings, err error) {
	for _, e := range declared.Unjoin(err) {
		problems, ok := e.(data.Problems)
		if !ok {
			found.AtPlace(s.Place, "%v", e)
		}
		for _, p := range problems {
			at, known := s.places[p.Key]
			if !known {
				at = s.Place
			}
			found.AtPlace(at, "%s", p.Message)
		}
	}
}

// Model is one combination of kernel, mean, likelihood and inference, with its way of tuning.
type Model struct {
	declared.Model
	Tune    Tune
	Tuning  approx.Approximation // method whose criterion is maximised; nil: Inference
	Start   approx.Approximation // method whose optimum is the start of the local optimiser; nil: none
	Starts  declared.Part        // Start as the file declares it
	Whole   bool                 // no mistakes are known before the data are read
	Repeats int                  // further declarations with the same texts
}

// Tuned is the model whose criterion is maximised.
func (m Model) Tuned(classes int) objective.Model {
	if m.Tuning == nil {
		return m.On(classes)
	}
	return m.On(classes).TunedBy(m.Tuning, classes)
}

// Starting is the model whose optimum is the start of the local optimiser; without inference if
// there is none.
func (m Model) Starting(classes int) objective.Model {
	if m.Start == nil && m.Tune.StartCases > 0 {
		return m.Tuned(classes)
	}
	if m.Start == nil {
		model := m.On(classes)
		model.Inference = nil
		return model
	}
	return m.On(classes).TunedBy(m.Start, classes)
}

// Tune describes how hyperparameters are chosen on each training set.
type Tune struct {
	Method    string           // a strategy's name, or "none"
	Strategy  search.Strategy  // nil for "none"
	Criterion string           // the objective: "log_evidence"
	Cross     *CrossValidation // a score of held-out cases is maximised; nil: Criterion is
	// StandardErrors requests standard errors of the hyperparameters tuned on all of the training
	// data; each takes two gradients.
	StandardErrors bool
	Objective      string // YAML flow text
	Stop           schedule.Stop
	// StartCases is the number of training cases that a first search uses, to find the start of the
	// local optimiser. The cases are drawn from all; 0: all.
	StartCases int
	// StartFrom is the folder of a run at whose hyperparameters searches start; "": the initial
	// values of the model.
	StartFrom  string
	StartPlace strictyaml.Place
	Place      strictyaml.Place
}

// Climbs reports whether a local optimiser follows gradients.
func (t Tune) Climbs() bool { return t.Strategy != nil && t.Strategy.Optimizer() != "" }

// Ascent has the options of the local optimiser; the zero value if there is none.
func (t Tune) Ascent() search.Ascent {
	if a, ok := t.Strategy.(interface{ Ascends() search.Ascent }); ok {
		return a.Ascends()
	}
	return search.Ascent{}
}

// Gradients returns the way in which gradients are computed.
func (t Tune) Gradients() objective.Gradients { return t.Ascent().Gradient }

// NeedsGradient names the part that needs an exact gradient; "": none.
func (t Tune) NeedsGradient() string {
	switch {
	case t.Climbs() && t.Gradients() == objective.Exact:
		return "method: " + t.Method
	case t.StandardErrors:
		return "standard_errors: true"
	}
	return ""
}

// Maximised is the criterion that is maximised; nil for cross-validation.
func (t Tune) Maximised() (objective.Criterion, error) {
	if t.Cross != nil {
		return nil, nil
	}
	e, err := objective.Criteria.Lookup("objective", t.Criterion)
	if err != nil {
		return nil, err
	}
	return e.New(nil)
}

// CrossValidation is a tuning objective: a score of predictions for cases held out from the
// training set, combined over the folds of a splitter, with the sign for which more is better.
type CrossValidation struct {
	Score    cv.Score
	Splitter split.Splitter
	Name     string // name of the splitter
	Place    strictyaml.Place
}

// String names it in the manifest.
func (c CrossValidation) String() string { return "cv_" + c.Score.Name }

// Evaluation is one way of holding out cases.
type Evaluation struct {
	Name     string         // "test", "training", "nested" or a splitter's name
	Splitter split.Splitter // nil for "test", "training" and "nested"
	Nested   *Nested
	Place    strictyaml.Place
}

// Nested is nested cross-validation: in every training set of the outer splitter all configurations
// compete, by a score of the predictions on the folds of the inner splitter or by log evidence. The
// winner predicts the cases that the outer splitter holds out.
type Nested struct {
	Outer, Inner NamedSplitter // inner is not used with log evidence
	Score        string
	Place        strictyaml.Place
}

type NamedSplitter struct {
	split.Splitter
	Name string
}

// LogEvidence is the criterion that needs no inner folds.
const LogEvidence = "log_evidence"

// Race is the rule that eliminates configurations which are unlikely to win.
type Race struct {
	cv.Race
	Name, Score string
	Place       strictyaml.Place
}

// Report configures reports.
type Report struct {
	Formats []string `yaml:"formats"`
	Curves  []string `yaml:"curves"`  // error_reject | information_reject | calibration
	Figures []string `yaml:"figures"` // figures that svg, png and pdf contain, by name or kind; empty: all
	Figure  Printing `yaml:"figure"`
}

// Illustration is an illustration with its position in the file.
type Illustration struct {
	illustrate.Illustration
	Kind, Text string // YAML flow text
	Place      strictyaml.Place
	places     map[string]strictyaml.Place // places of its options
}

// String is a short description of the experiment's size.
func (s *Spec) String() string {
	if s.illustrates {
		return fmt.Sprintf("%s: %d illustration(s) × %d model(s)", s.Name, len(s.Illustrations), len(s.Models))
	}
	var methods []string
	add := func(method string) {
		if !slices.Contains(methods, method) {
			methods = append(methods, method)
		}
	}
	if p := s.Program; p != nil {
		for _, t := range p.Ways {
			add(t.Method)
		}
		return fmt.Sprintf("%s: %d hyperparameters of a program, searched by %s", s.Name, len(p.Space),
			strings.Join(methods, ", "))
	}
	for _, m := range s.Models {
		add(m.Tune.Method)
	}
	return fmt.Sprintf("%s: data sets %d, models %d, tuned by %s", s.Name, len(s.Data), len(s.Models),
		strings.Join(methods, ", "))
}

// needs reports whether the models must have this part.
func (s *Spec) needs(part string) bool {
	return !s.illustrates || slices.ContainsFunc(s.Illustrations,
		func(i Illustration) bool { return slices.Contains(i.Needs(), part) })
}

// ErrInvalid marks data, or another input, that cannot be used.
var ErrInvalid = errors.New("invalid data")

// Problems lists all mistakes of a configuration in the order of the file. At most twenty of a kind
// are listed; the others are counted. A nil Problems is no error.
type Problems = strictyaml.Problems

// ErrMistakes matches all Problems in errors.Is.
var ErrMistakes = strictyaml.ErrMistakes

// Costs are the costs of decisions in a file, before the classes are known.
type Costs struct {
	loss                          lossMap
	listed                        bool // the costs are a list, which is a mistake
	reject                        *float64
	place, lossPlace, rejectPlace strictyaml.Place
}

// lossMap is {truth: {decision: cost, …}, …}; nil: not given.
type lossMap map[string]map[string]*float64
