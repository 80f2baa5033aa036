// Package plan derives a plan from the declarations of a file and its data: training sets, studies
// with their keys and jobs, contests, and the expected times.
package plan

import (
	"slices"

	"fmt"

	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// Plan is a checked experiment with its data, ready to run. Only a Plan can run.
type Plan struct {
	Manifest   record.Manifest
	Spec       *spec.Spec
	Studies    []Study
	Models     []declared.Model // model of each configuration
	Configured []Configured
}

// Study is a study with the job that makes its trials.
type Study struct {
	schedule.Study
	Job          *job.Job
	First        int                        // number of trials if all are in the first batch; else 0
	RunsTrialsOf int                        // index of the study that runs its trials: itself or another
	Times        func(*Rates) (Times, bool) // expected times at these rates; false if a rate is missing
}

// Configured is a model of the plan with all of its training data.
type Configured struct {
	Model declared.Model
	Set   *job.Set
}

// Search returns the studies in the scheduler's form.
func (p *Plan) Search() []schedule.Study {
	all := make([]schedule.Study, len(p.Studies))
	for i, s := range p.Studies {
		all[i] = s.Study
	}
	return all
}

// Waits reports whether searches of a program wait for each trial before the next, so that one
// worker is busy, although their strategies could have several trials under way.
func (p *Plan) Waits() bool {
	waits := func(s Study) bool { return search.Waits(s.Strategy) }
	return p.Spec.Program != nil && slices.ContainsFunc(p.Studies, waits)
}

// Name is the experiment's name.
func (p *Plan) Name() string { return p.Manifest.Experiment }

// Fits reports whether the plan fits models to data: it does not illustrate models or search the
// hyperparameters of a program. If it does not, the error is spec.ErrInvalid.
func (p *Plan) Fits() error {
	switch {
	case p.Spec.Program != nil:
		return fmt.Errorf("%w: the objective of the file is a program; there is no model to fit", spec.ErrInvalid)
	case len(p.Manifest.Configurations) == 0:
		return fmt.Errorf("%w: the file illustrates models without data; there is nothing to fit", spec.ErrInvalid)
	}
	return nil
}
