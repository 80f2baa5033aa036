// Package experiments runs the experiment that a YAML file declares: models of Gaussian-process
// classification, how their hyperparameters are tuned, and how they are evaluated. It is the entry
// point for other Go programs; the command gpc-tune uses the packages below it directly.
//
//	spec   the file: text → declared values, each with its place
//	plan   what will run: training sets, studies, keys, contests
//	job    one trial, or one assessment
//	run    the folder of a run: jobs → journal → results
//
// Package data reads data sets; other programs can register readers. Package classifier goes from
// arrays to probabilities without a file. The other packages in this folder are for the command
// only. Package record, outside of it, has the plain data of a run folder.
//
// A program that registers components runs its experiments with Run. It calls Fit, Predict and
// Serve instead of gpc-tune fit, predict and serve-model, because the command does not have the
// components.
package experiments

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"math"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/live"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/build"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// Plan is a checked experiment with its data, ready to run, made by Load or Parse.
type Plan struct{ of *plan.Plan }

// Name is the experiment's name.
func (p *Plan) Name() string { return p.of.Name() }

// Manifest is the first record of a run folder: configurations and studies, and the key of
// everything that determines the results.
func (p *Plan) Manifest() record.Manifest { return p.of.Manifest }

// Jobs is the number of jobs of a run, trials and assessments; atMost: the run may have fewer.
func (p *Plan) Jobs() (n int, atMost bool) { return p.of.Jobs() }

// Options of Run.
type Options = run.Options

// Memory is the number of bytes that the largest job needs.
func (p *Plan) Memory() (most int64) {
	for _, c := range p.of.Overview(nil) {
		most = max(most, c.Memory)
	}
	return most
}

// Problems lists all mistakes of a file, each with its position.
type Problems = spec.Problems

// Problem is one mistake in a file: its position, what was expected, and how to correct it.
type Problem = strictyaml.Problem

// Errors, for errors.Is.
var (
	ErrMistakes           = spec.ErrMistakes          // matches all Problems
	ErrInvalid            = spec.ErrInvalid           // data, or another input, that cannot be used
	ErrNoFit              = job.ErrNoFit              // no configuration could be fitted
	ErrFolder             = run.ErrFolder             // the folder is not a run folder, or is damaged
	ErrOtherConfiguration = run.ErrOtherConfiguration // a run folder of another experiment
	// the run folder has a part of this run, and Options.Resume is not set
	ErrUnfinished  = run.ErrUnfinished
	ErrUnreported  = run.ErrUnreported    // all jobs are on record, but the results could not be written
	ErrEnvironment = build.ErrEnvironment // an environment variable has an invalid value
)

// Load reads a configuration file, or a bundled one as gallery:NAME, and its data, and makes the
// plan. settings are assignments path=value applied to the file first. The error is Problems, or
// the error of ctx.
func Load(ctx context.Context, path string, settings ...string) (*Plan, error) {
	return planned(plan.Load(ctx, path, settings))
}

// Parse is Load for text; file names it in messages, and relative paths start in its folder.
func Parse(ctx context.Context, file string, text []byte, settings ...string) (*Plan, error) {
	return planned(plan.Parse(ctx, file, text, settings))
}

func planned(p *plan.Plan, err error) (*Plan, error) {
	if err != nil {
		return nil, err
	}
	return &Plan{p}, nil
}

// Run runs the missing jobs of a plan in the run folder dir, and writes the results there. The
// report covers what is done even if the run ended early with an error.
func Run(ctx context.Context, p *Plan, dir string, o Options) (*reports.Report, schedule.Summary, error) {
	return predict.Run(ctx, p.of, dir, o)
}

// Search searches the function in the run folder dir, and continues the search recorded there. x is
// its best point, in natural units, and value its value there. If the search ended early with an
// error, they are the best so far. gpc-tune report prints all findings from the folder.
func Search(ctx context.Context, dir string, f schedule.Function, o Options) (x []float64, value float64, err error) {
	p, err := plan.Searching(ctx, f)
	if err != nil {
		return nil, math.NaN(), err
	}
	o.Resume, o.Extend = true, true
	report, _, err := run.Run(ctx, p, dir, o)
	if report == nil || len(report.Configurations[0].Best) == 0 {
		return nil, math.NaN(), cmp.Or(err, fmt.Errorf("%w: no point has a value; gpc-tune report %s says why",
			ErrNoFit, terminal.CommandLine(dir)))
	}
	c := report.Configurations[0]
	best := c.Best[0]
	for _, h := range f.Space {
		v, matters := c.Grid[best.Point].Point.Get(h.Name)
		if !matters { // then it has its start
			v = h.Init
		}
		x = append(x, v)
	}
	return x, float64(best.Value), err
}

// Report builds the report of a run folder, after or during a run.
func Report(dir string) (*reports.Report, error) {
	f, err := run.ReadFolder(dir)
	if err != nil {
		return nil, err
	}
	return f.Report()
}

// FitOptions of Fit. With Dir, finished jobs are taken from and kept in a run folder.
type FitOptions = predict.FitOptions

// Fit tunes on all of the training data, as Run does, and writes a configuration to a model file:
// FitOptions.Configuration if it is set, else the best one. logEvidence is its log marginal
// likelihood in nats, NaN where it has none. If it is stopped early, or fails, it writes no model.
func Fit(
	ctx context.Context, p *Plan, model string, o FitOptions,
) (logEvidence float64, s schedule.Summary, err error) {
	f, s, err := predict.Fit(ctx, p.of, model, o)
	if err != nil {
		return math.NaN(), s, err
	}
	return float64(f.LogEvidence), s, nil
}

// Types of Predict and Serve.
type (
	// Deciding has costs or a threshold for decisions, which replace the ones of the model file.
	Deciding = spec.Deciding
	// Predicted is a table of predictions with a row per case. Its JSON is the output of gpc-tune
	// predict.
	Predicted = predict.Predicted
	// PredictedScore is a score of labelled cases, with its 95 % interval.
	PredictedScore = predict.Score
)

// Predict predicts the cases of a file, or of a bundled or registered data set, with a model file
// of Fit, of gpc-tune fit or of package classifier. Columns are found by name. Labels may be
// missing; where they are present, the predictions are scored. What is wrong with either file is
// ErrInvalid, or Problems.
func Predict(ctx context.Context, model, data string, o Deciding) (*Predicted, error) {
	return interrupt.Do(ctx, func() (*Predicted, error) {
		c, err := predict.LoadClassifier(model)
		if err != nil {
			return nil, err
		}
		return c.Predict(data, o)
	})
}

// Serve serves the predictions of a model file as JSON to programs on this machine until ctx ends,
// with the requests of gpc-tune serve-model. address is a loopback address and a port, such as
// 127.0.0.1:8080; ready, unless it is nil, is called with the address in use: for port 0 it has the
// port that the system has chosen. Requests need the token, as "Authorization: Bearer TOKEN"; an
// empty token answers every user of the machine. Errors of requests go to the log; nil is the
// standard log.
func Serve(
	ctx context.Context, model, address, token string, o Deciding, l *log.Logger, ready func(address string),
) error {
	c, err := predict.LoadClassifier(model)
	if err != nil {
		return err
	}
	if c, err = c.Deciding(o); err != nil {
		return err
	}
	listener, err := live.Listen(address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	l = cmp.Or(l, log.Default())
	if ready != nil {
		ready(listener.Addr().String())
	}
	return live.Serve(ctx, listener, live.NewModel(c, token, l), l, nil)
}
