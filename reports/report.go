// Package reports turns the manifest and the journal of a run into plain data, a Report, its
// Progress, Timings or a Comparison, and writes these for people and programs, one file per format.
//
// It reads records only: it never sees data, kernels or models, fits nothing, and can be run again
// at any time. The same records in any order give the same bytes. Check is the one table that has
// no run behind it.
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
