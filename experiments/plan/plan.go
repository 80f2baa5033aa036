// Package plan makes of what a file declares, and of its data, what will run: training sets,
// studies with their keys and jobs, contests, and what all that is expected to take.
package plan

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/model"
	"github.com/gpc-tune/gpc-tune/internal/rates"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// Plan is a checked experiment with its data: what will run, resolved. Only a Plan can run.
type Plan struct {
	Manifest   record.Manifest
	Spec       *spec.Spec
	Studies    []Study
	Models     []model.Model // of each configuration
	Configured []Configured
}

// Study is a study with the job that makes its trials.
type Study struct {
	search.Study
	Job   *job.Job
	First int                              // trials that it asks for at once, if those are all; else 0
	Lead  int                              // place of the study that does its trials: its own, or another's
	Costs func(*rates.Rates) (Costs, bool) // how long it takes at these rates, if they have what it needs
}

// Configured is a model of the plan and all of its training data.
type Configured struct {
	Model model.Model
	Set   *job.Set
}

// Search lists the studies for the scheduler.
func (p *Plan) Search() []search.Study {
	all := make([]search.Study, len(p.Studies))
	for i, s := range p.Studies {
		all[i] = s.Study
	}
	return all
}

// Name is the experiment's name.
func (p *Plan) Name() string { return p.Manifest.Experiment }

// errNoFits: the plan has illustrations in place of configurations.
var ErrNoFits = fmt.Errorf("%w: the file illustrates models without data; there is nothing to fit", spec.ErrInvalid)
