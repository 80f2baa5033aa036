// Package experiments runs what a YAML file declares: models of Gaussian-process classification,
// how their hyperparameters are tuned, and how they are evaluated. It is the door for other Go
// programs; the command gpc-tune uses the packages behind it, which have more.
//
//	spec   the file: text → declared values, each with its place
//	plan   what will run: training sets, studies, keys, contests
//	job    one trial, or one assessment
//	run    the folder of a run: jobs → journal → results
//
// Package data reads data sets, and takes readers of other programs. The other packages in this
// folder serve the command alone.
package experiments

import (
	"context"

	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/build"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/search"
)

// Plan is a checked experiment with its data: what will run. It comes from Load or Parse.
type Plan struct{ of *plan.Plan }

// Name is the experiment's name.
func (p *Plan) Name() string { return p.of.Name() }

// Manifest is what the folder of a run of the plan begins with: its configurations and studies, and
// the key of all that determines the results.
func (p *Plan) Manifest() reports.Manifest { return p.of.Manifest }

// Jobs is how many jobs a run has, trials and assessments; atMost says that it may end with fewer.
func (p *Plan) Jobs() (n int, atMost bool) { return p.of.Jobs() }

// Options of Run.
type Options = run.Options

// Memory is how many bytes the largest of the jobs takes.
func (p *Plan) Memory() (most int64) {
	for _, c := range p.of.Overview(nil) {
		most = max(most, c.Memory)
	}
	return most
}

// Problems are all the mistakes of a file, each with its place.
type Problems = spec.Problems

// Problem is one mistake in a file: where it stands, what was expected, and what to do.
type Problem = strictyaml.Problem

// What went wrong, for errors.Is.
var (
	ErrMistakes           = spec.ErrMistakes          // all Problems
	ErrInvalid            = spec.ErrInvalid           // data, or another input, that cannot be used
	ErrNoFit              = job.ErrNoFit              // no configuration could be fitted
	ErrFolder             = run.ErrFolder             // a folder that is no run, or is damaged
	ErrOtherConfiguration = run.ErrOtherConfiguration // a run folder of another experiment
	ErrUnfinished         = run.ErrUnfinished         // a run folder that only Options.Resume goes on with
	ErrUnreported         = run.ErrUnreported         // all jobs are done, and the results could not be written
	ErrEnvironment        = build.ErrEnvironment      // a variable of the environment that cannot be
)

// Load reads a configuration file, or a bundled one as gallery:NAME, and its data, and makes the
// plan; settings are assignments path=value, which change the file first. The error is Problems, or
// that of ctx.
func Load(ctx context.Context, path string, settings ...string) (*Plan, error) {
	return planned(plan.Load(ctx, path, settings))
}

// Parse is Load on text; file names it in messages, and its folder is where relative paths start.
func Parse(ctx context.Context, file string, text []byte, settings ...string) (*Plan, error) {
	return planned(plan.Parse(ctx, file, text, settings))
}

func planned(p *plan.Plan, err error) (*Plan, error) {
	if err != nil {
		return nil, err
	}
	return &Plan{p}, nil
}

// Run does what is missing of a plan in the run folder dir, and writes the results there. The
// report covers what is done, even where the run ended early with an error.
func Run(ctx context.Context, p *Plan, dir string, o Options) (*reports.Report, search.Summary, error) {
	return run.Run(ctx, p.of, dir, o)
}

// Report is the report of what a run folder has on record, whether the run has ended or goes on.
func Report(dir string) (*reports.Report, error) {
	f, err := run.ReadFolder(dir)
	if err != nil {
		return nil, err
	}
	return f.Report()
}
