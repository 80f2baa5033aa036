// Package spec reads configuration files: text becomes declared values, each with its place in the
// file, and every mistake is told with its own. It knows everything that a file can name and the
// schema of the file, which mirrors the decoder. It reads no data.
package spec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/illustrate"
	"github.com/gpc-tune/gpc-tune/internal/model"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/search"
)

// Spec is a configuration file, decoded and checked as far as it can be without reading data. Its
// lists of alternatives are expanded: the experiment is the cross product of Data and Models.
type Spec struct {
	Name     string
	Seed     uint64
	Dir      string // what relative paths in the file are relative to
	Data     []DataSpec
	Models   []Model
	Evaluate []Evaluation
	Race     *Race             // nil: nobody is cut
	Average  objective.Average // how class probabilities are formed
	Reject   string            // the measure of confidence by which cases are rejected
	Report   Report
	File     string
	Text     string // as it was read
	Settings []string

	Averaging record.Component // Average as the file declares it
	Calibrate string           // a way of calibration, or none
	Threshold string           // what it maximises; "": it is ½

	AdjustPlace strictyaml.Place // of the section that has the two
	TuneText    string
	Costs       *Costs // of decisions; nil: none are named
	Published   []*Published

	Illustrations []Illustration // in place of Data
	illustrates   bool
}

// DataSpec is one data section with its place in the file, for mistakes that only reading the data
// shows.
type DataSpec struct {
	data.Spec
	Place  strictyaml.Place
	places map[string]strictyaml.Place // of the values of its keys
	Whole  bool                        // nothing is wrong with it as far as can be told without the data
}

// Faults puts what is wrong with a data set where its keys are.
func (s DataSpec) Faults(found *strictyaml.Findings, err error) {
	for _, e := range Unjoin(err) {
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

// Model is one combination of kernel, mean, likelihood and inference, and of how it is tuned.
type Model struct {
	model.Model
	Tune   Tune
	Tuning approx.Approximation // whose criterion is maximised; nil: Inference
	Whole  bool                 // nothing is wrong with it, as far as can be told without the data
}

// Tuned is the model whose criterion is maximised.
func (m Model) Tuned(classes int) objective.Model {
	model := m.On(classes)
	if m.Tuning != nil {
		model.Inference = m.Tuning
	}
	return model
}

// Tune says how hyperparameters are chosen on each training set.
type Tune struct {
	Method    string           // a strategy's name, or "none"
	Strategy  search.Strategy  // nil for "none"
	Criterion string           // what is maximised: "log_evidence"
	Cross     *CrossValidation // that, if it is a score of held-out cases; nil: it is one of objective.Criteria
	// StandardErrors asks for those of the hyperparameters tuned on all of the training data; two
	// gradients for each.
	StandardErrors bool
	Objective      string // as YAML flow text
	Place          strictyaml.Place
}

// Climbs says whether a local optimiser follows gradients.
func (t Tune) Climbs() bool { return t.Strategy != nil && t.Strategy.Optimizer() != "" }

// Ascent is how it goes; the zero value where it does not.
func (t Tune) Ascent() search.Ascent {
	if a, ok := t.Strategy.(interface{ Ascends() search.Ascent }); ok {
		return a.Ascends()
	}
	return search.Ascent{}
}

// Gradients is where it has them from.
func (t Tune) Gradients() objective.Gradients { return t.Ascent().Gradient }

// NeedsGradient names what needs an exact gradient, if anything does.
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

// CrossValidation is a tuning objective: a score of the predictions for cases held out from the
// training set, combined over the folds of a splitter, with its sign such that more is better.
type CrossValidation struct {
	Score    cv.Score
	Splitter cv.Splitter
	Name     string // of the splitter
	Place    strictyaml.Place
}

// String names it in the manifest.
func (c CrossValidation) String() string { return "cv_" + c.Score.Name }

// Evaluation is one way of holding out cases.
type Evaluation struct {
	Name     string      // "test", "training", "nested" or a splitter's name
	Splitter cv.Splitter // nil for "test", "training" and "nested"
	Nested   *Nested
	Place    strictyaml.Place
}

// Nested is nested cross-validation: in every training set of the outer splitter all configurations
// compete, by a score of the predictions over the folds of the inner one or by log evidence, and
// the winner predicts what the outer one holds out.
type Nested struct {
	Outer, Inner NamedSplitter // inner is not used for log evidence
	Score        string
	Place        strictyaml.Place
}

type NamedSplitter struct {
	cv.Splitter
	Name string
}

// LogEvidence is the score of configurations that needs no inner folds.
const LogEvidence = "log_evidence"

// Race is how configurations that will not win are cut.
type Race struct {
	cv.Race
	Name, Score string
	Place       strictyaml.Place
}

// Report says what is reported.
type Report struct {
	Formats []string `yaml:"formats"`
	Curves  []string `yaml:"curves"`  // error_reject | information_reject | calibration
	Figures []string `yaml:"figures"` // that svg, png and pdf draw, by name or kind; empty: all
	Figure  Printing `yaml:"figure"`
}

// Illustration is an illustration with its place in the file.
type Illustration struct {
	illustrate.Illustration
	Kind, Text string // as YAML flow text
	Place      strictyaml.Place
	places     map[string]strictyaml.Place // of its options
}

// String is a short description of the experiment's size.
func (s *Spec) String() string {
	if s.illustrates {
		return fmt.Sprintf("%s: %d illustration(s) × %d model(s)", s.Name, len(s.Illustrations), len(s.Models))
	}
	var methods []string
	for _, m := range s.Models {
		if !slices.Contains(methods, m.Tune.Method) {
			methods = append(methods, m.Tune.Method)
		}
	}
	return fmt.Sprintf("%s: data sets %d, models %d, tuned by %s", s.Name, len(s.Data), len(s.Models),
		strings.Join(methods, ", "))
}

// needs says whether the models must have a part.
func (s *Spec) needs(part string) bool {
	return !s.illustrates || slices.ContainsFunc(s.Illustrations,
		func(i Illustration) bool { return slices.Contains(i.Needs(), part) })
}

// Unjoin lists the errors of an errors.Join, and of those within it.
func Unjoin(err error) []error {
	if err == nil {
		return nil
	}
	many, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range many.Unwrap() {
		all = append(all, Unjoin(e)...)
	}
	return all
}

// ErrInvalid marks data, or another input, that cannot be used.
var ErrInvalid = errors.New("invalid data")

// Problems are all the mistakes of a configuration, in the order of the file, at most twenty of a
// kind with a count of the others. A nil Problems is no error.
type Problems = strictyaml.Problems

// ErrMistakes is what all Problems are, for errors.Is.
var ErrMistakes = strictyaml.ErrMistakes

// Published are figures that somebody else found for the configurations that have what it says.
type Published struct {
	record.Published
	of    []condition
	Names []FigureName // of the figures
	Place strictyaml.Place
}

// FigureName is the name of a figure in the file.
type FigureName struct {
	Name  string
	Place strictyaml.Place
}

// condition is a field of configurations with the text it must have.
type condition struct {
	field func(record.Configuration) record.Component
	text  string
}

// Matches says if a configuration has what the figures are for: a component is given by its name,
// or with all its options.
func (p *Published) Matches(c record.Configuration) bool {
	return !slices.ContainsFunc(p.of, func(of condition) bool {
		has := of.field(c)
		return of.text != has.Text && of.text != has.Name()
	})
}

// Costs are those that an experiment names, before the classes are known.
type Costs struct {
	loss                          lossMap
	reject                        *float64
	place, lossPlace, rejectPlace strictyaml.Place
}

// lossMap is {truth: {decision: cost, …}, …}; nil: not said.
type lossMap map[string]map[string]*float64
