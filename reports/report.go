// Package reports says what a run found. Build turns the manifest and the journal of a run into a
// Report, plain data: the scores of every configuration with their standard errors, comparisons,
// the hyperparameters, warnings and failures, and the answer that follows. Progress, Timings and
// Comparison are made in the same way. Experiments of package experiments return a Report when they
// end.
//
// Scores have the units of package cv; hyperparameters are in natural units; times are in seconds.
// A number that is not known is NaN, and null in JSON, never 0.
//
// The package reads records only: it sees no data, kernels or models, fits nothing, and can be run
// again at any time. The same records in any order give the same bytes. Packages table, picture and
// page show a Report as tables, figures and documents.
package reports

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/record"
)

// Schema names the form of results.json.
const Schema = "gpc-tune/results/1"

// Report is what a run found. It holds no times but for a figure of them. Log evidence is in nats,
// hyperparameters are in natural units, scores have the units of cv.Scores; folds, repeats and
// trials are numbered from 0.
type Report struct {
	Schema     string `json:"schema"`     // of this form
	Experiment string `json:"experiment"` // its name in the file
	// which configuration is best, of the first data set; null: none is scored on all folds
	Answer *Answer `json:"answer"`
	// one for each data set, where there are several
	Answers []Answer `json:"answers,omitempty"`
	Missing int      `json:"missing"` // jobs not on record, of all configurations
	// in the order of the file; wherever else one is named, it is by its index here, from 0
	Configurations []Configuration `json:"configurations"`
	Nested         []Nested        `json:"nested,omitempty"` // what came of nested cross-validation
	Races          []Race          `json:"races,omitempty"`  // what came of races
	Warnings       []string        `json:"warnings"`         // of the plan
	// what a run without data shows of models; it has no configurations
	Illustrations []record.Illustration `json:"illustrations,omitempty"`
	Manifest      record.Manifest       `json:"-"` // of the run
	Times         *Timings              `json:"-"` // for a figure of them alone
}

// Decided are all answers, in the order of the data sets.
func (r *Report) Decided() []Answer {
	if len(r.Answers) == 0 && r.Answer != nil {
		return []Answer{*r.Answer}
	}
	return r.Answers
}

// Writes says if the experiment asks for a format.
func (r *Report) Writes(format string) bool { return slices.Contains(r.Manifest.Formats, format) }
