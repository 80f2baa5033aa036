// Package reports describes the results of a run. Build turns the manifest and the journal of a run
// into a Report, plain data: the scores of every configuration with their standard errors,
// comparisons, the hyperparameters, warnings and failures, and the conclusions. Progress, Timings
// and Comparison are made in the same way. Run of package experiments returns a Report.
//
// Scores have the units of package cv; hyperparameters are in natural units; times are in seconds.
// A number that is not known is NaN, and null in JSON, never 0.
//
// The package reads records only: it uses no data, kernels or models, fits nothing, and can be run
// again at any time. The same records in any order give the same bytes. Packages table, picture and
// page show a Report as tables, figures and documents.
package reports

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// Schema is the version of results.json.
const Schema = "gpc-tune/results/1"

// Report has the results of a run, without times except for a figure of them. Log evidence is in
// nats, hyperparameters are in natural units, scores have the units of cv.Scores; folds, repeats
// and trials are numbered from 0.
type Report struct {
	Schema     string `json:"schema"`     // version of this format
	Experiment string `json:"experiment"` // its name in the file
	// the best configuration for the first data set; null: none is scored on all folds, or some are
	// not yet
	Answer *Answer `json:"answer"`
	// answers for each data set, if there are several
	Answers []Answer `json:"answers,omitempty"`
	// results so far of an unfinished run, for each data set that has some but no answer yet
	SoFar   []SoFar `json:"so_far,omitempty"`
	Missing int     `json:"missing"` // jobs not on record, of all configurations
	// configurations in the order of the file; other fields refer to them by index, from 0
	Configurations []Configuration `json:"configurations"`
	Nested         []Nested        `json:"nested,omitempty"` // results of nested cross-validation
	Races          []Race          `json:"races,omitempty"`  // results of races
	Warnings       []Notice        `json:"warnings"`         // warnings of the plan
	// results of a run without data; it has no configurations
	Illustrations []record.Illustration `json:"illustrations,omitempty"`
	Manifest      record.Manifest       `json:"-"` // of the run
	Times         *Timings              `json:"-"` // times of the jobs, only for their figure
}

// Decided returns the answers, in the order of the data sets.
func (r *Report) Decided() []Answer {
	if len(r.Answers) == 0 && r.Answer != nil {
		return []Answer{*r.Answer}
	}
	return r.Answers
}

// Writes reports whether the experiment requests a format.
func (r *Report) Writes(format string) bool { return slices.Contains(r.Manifest.Formats, format) }

// Warn adds a warning of the whole run.
func (r *Report) Warn(n cause.Notice) {
	r.Warnings = append(r.Warnings, Notice{-1, "", n.Kind, n.String(), 1})
}
