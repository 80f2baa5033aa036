package ledger

import (
	"fmt"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Claim describes how the value of a row is found. It has a Figure, a Check, or a sentence in None.
type Claim struct {
	Row  string // Row.Key
	From string // the experiments of the gallery that it reads, with spaces between them

	// Figure names a number of the one configuration of the first of them that Of selects, as in
	// results: log_evidence, a score, best_ and a score, a hyperparameter, min_probability or
	// max_probability.
	Figure string
	Of     Of
	As     func(float64) float64 // turns the number into the unit of the source; nil: same unit
	Within float64               // uncertainty of the published number; 0: half a unit of its last digit

	// Check compares anything other than one number, using the runs of From.
	Check func(Runs) (Found, error)

	None string // the sentence that says why there is nothing to compare

	// Cause and Why give the reason for a difference, in a few words and in a sentence. If Found
	// has a Cause or Why, it is used instead.
	Cause Cause
	Why   string
}

// experiments are the names in From.
func (c Claim) experiments() []string { return strings.Fields(c.From) }

// Of selects a configuration by what it has; what is empty is not asked for. A component is given
// by its name, or with all its options, as in results.
type Of struct {
	Dataset, Preprocess, Kernel, Mean, Likelihood, Inference, TuneInference string

	Evaluation string // the scores are of this evaluation; empty: the first
}

// Found is the result of a Check.
type Found struct {
	Here   string // the value here, in the form that the source prints
	Agrees bool
	Cause  Cause  // cause of a difference; empty: Claim.Cause
	Why    string // reason of a difference; empty: Claim.Why
}

// Cause is a kind of reason for a difference.
type Cause string

// The causes of differences.
const (
	otherCases   Cause = "other cases"       // the source's own are not printed, or were rebuilt
	otherFolds   Cause = "other folds"       // the folds of cross-validation are not printed
	otherMethod  Cause = "another procedure" // the source used one, named in Why
	otherOptimum Cause = "another optimum"   // one that is flat, or one of several
	otherMachine Cause = "another machine"   // times
	misprint     Cause = "a misprint"        // the source has it
	unexplained  Cause = "not explained"
)

// Run holds the results of an experiment.
type Run struct {
	*run.Folder // manifest (with illustrations) and journal (with fits and predictions)
	Report      *reports.Report
	Times       *reports.Timings
}

// Runs are the runs of experiments, by their names.
type Runs map[string]*Run

// One returns the configuration of an experiment that match of; several or none are an error. Its
// Studies have the fits (record.Fit) and the predictions of held-out cases, its Grid the points of
// a lattice with their scores.
func (r Runs) One(name string, of Of) (*reports.Configuration, error) {
	all, err := r.All(name, of)
	if err == nil && len(all) != 1 {
		err = fmt.Errorf("gallery:%s has %d configurations with %+v, and must have one", name, len(all), of)
	}
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// All returns the configurations of an experiment that match of.
func (r Runs) All(name string, of Of) (all []*reports.Configuration, err error) {
	e, ok := r[name]
	if !ok {
		return nil, fmt.Errorf("gallery:%s is not in From", name)
	}
	for i := range e.Report.Configurations {
		if c := &e.Report.Configurations[i]; of.matches(c.Record) {
			all = append(all, c)
		}
	}
	return all, nil
}

// matches says if a configuration has what is asked for.
func (o Of) matches(c record.Configuration) bool {
	has := func(want string, c record.Component) bool { return want == "" || want == c.Text || want == c.Name() }
	tuned := c.TuneInference
	if tuned.IsZero() {
		tuned = c.Inference
	}
	return has(o.Dataset, record.Plain(c.Dataset)) && has(o.Preprocess, record.Plain(c.Preprocess)) &&
		has(o.Kernel, c.Kernel) && has(o.Mean, c.Mean) && has(o.Likelihood, c.Likelihood) &&
		has(o.Inference, c.Inference) && has(o.TuneInference, tuned)
}
