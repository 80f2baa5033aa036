package experiments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// ErrNoFit: no configuration could be fitted.
var ErrNoFit = errors.New("nothing could be fitted")

// FitOptions of Plan.Fit. Threads is set by Fit.
type FitOptions struct {
	Configuration int                              // its number in the plan, from 0; negative: the one with the best tuning objective
	Warn          func(format string, args ...any) // hears what the user should know and the model file does not say
	search.Options
}

// Fit tunes on all of the training data, with the trials that Run makes there, and writes the classifier to the model file
// name. It predicts nothing. Stopped early, it writes nothing.
func (p *Plan) Fit(ctx context.Context, name string, o FitOptions) (*ModelFile, search.Summary, error) {
	probe, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*") // what cannot be written is said before hours of work
	if err != nil {
		return nil, search.Summary{}, fmt.Errorf("%w: the model file cannot be written: %w", ErrInvalid, err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return nil, search.Summary{}, err
	}
	if n := len(p.Manifest.Configurations); o.Configuration >= n {
		return nil, search.Summary{}, fmt.Errorf("%w: --configuration %d: the file declares %d, counted from 0", ErrInvalid, o.Configuration, n)
	}
	var studies []search.Study
	var first *job
	fits := make([]*kept, len(p.Manifest.Configurations))
	for i, s := range p.studies {
		j := p.jobs[i]
		if s.Index != 0 || o.Configuration >= 0 && s.Configuration != o.Configuration {
			continue
		}
		if j.chain != nil {
			return nil, search.Summary{}, fmt.Errorf("%w: method %s has samples in place of a winner, and a model file keeps one fit; tune with another method, or use gpc-tune run, whose predictions average over the samples",
				ErrInvalid, p.spec.Tune.Method)
		}
		s.Stage = nil // for studies that are not here
		if first == nil {
			first = j
		} else if !reflect.DeepEqual(first.set.targets(), j.set.targets()) || !slices.Equal(first.set.source.Classes, j.set.source.Classes) {
			a, b := studies[0].Configuration, s.Configuration
			return nil, search.Summary{}, fmt.Errorf("%w: configurations %d (%s) and %d (%s) explain different targets, so that nothing says which is better; choose with --configuration N",
				ErrInvalid, a, p.configuration(a), b, p.configuration(b))
		}
		s.Assess = func(ctx context.Context, chosen int, free []float64, trials []record.Trial) (record.Fit, error) {
			k, err := p.keep(ctx, j, s.Configuration, free, trials)
			if err != nil {
				return record.Fit{}, fmt.Errorf("%s: %w", j.where(), err)
			}
			if chosen >= 0 {
				k.warnings = append(k.warnings, trials[chosen].Warnings...)
			}
			fits[s.Configuration] = k
			return record.Fit{LogEvidence: k.file.LogEvidence}, nil
		}
		studies = append(studies, s)
	}
	journal, err := search.OpenJournal("")
	if err != nil {
		return nil, search.Summary{}, err
	}
	defer p.govern(&o.Options)()
	summary, err := search.Run(ctx, studies, journal, o.Options)
	if err != nil {
		return nil, summary, err
	}
	for _, line := range journal.Lines() {
		if line.Fit != nil && line.Fit.Failure != "" {
			o.Warn("configuration %d (%s): %s", line.Fit.Configuration, p.configuration(line.Fit.Configuration), line.Fit.Failure)
		}
	}
	best := -1
	for c, k := range fits {
		switch {
		case k == nil:
		case len(studies) > 1 && math.IsNaN(float64(k.file.Tuned.Value)):
			return nil, summary, fmt.Errorf("%w: configuration %d (%s) has no log evidence, so that nothing says which is better; choose with --configuration N", ErrInvalid, c, p.configuration(c))
		case best < 0 || k.file.Tuned.Value > fits[best].file.Tuned.Value:
			best = c
		}
	}
	if best < 0 {
		return nil, summary, ErrNoFit
	}
	kept := fits[best]
	if len(studies) > 1 {
		o.Warn("configuration %d (%s) is kept: its %s of %.6g is the largest of %d", best, p.configuration(best), kept.file.Tuned.Objective, float64(kept.file.Tuned.Value), len(studies))
	}
	for _, w := range kept.warnings {
		o.Warn("%s", w)
	}
	return kept.file, summary, kept.file.Save(name)
}

// configuration names one.
func (p *Plan) configuration(i int) Overview {
	return Overview{Configuration: p.Manifest.Configurations[i]}
}

// kept is a fit of one configuration.
type kept struct {
	file     *ModelFile
	warnings []string
}

// keep fits the model at the chosen hyperparameters, cold, as an assessment does.
func (p *Plan) keep(ctx context.Context, j *job, configuration int, free []float64, trials []record.Trial) (*kept, error) {
	defer j.set.use()()
	o, prepared, err := j.objective(j.model, nil)
	if err != nil {
		return nil, err
	}
	theta, warnings := o.Layout.Start(), slices.Clone(prepared.warnings)
	if free != nil {
		theta = o.Layout.Fill(free)
		if j.optimizer == "" { // local optimisers say so themselves
			warnings = append(warnings, search.Space(o.Layout.FreeSpecs()).Edges(free)...)
		}
	}
	fit, err := o.Fit(ctx, theta, nil)
	if err != nil {
		return nil, err
	}
	d := fit.Diagnostics()
	if warnings = append(warnings, d.Warnings...); !d.Converged {
		warnings = append(warnings, fmt.Sprintf("the fit has not converged after %d iterations", d.Iterations))
	}
	c, m := p.Manifest.Configurations[configuration], j.declared
	f := &ModelFile{
		Schema: modelSchema, Experiment: p.Manifest.Experiment, Seed: p.Manifest.Seed, Build: p.Manifest.Build, Dataset: c.Dataset, DataHash: c.DataHash,
		Tuned:       Tuned{Method: c.Tune, Objective: c.Objective, Inference: c.TuneInference, Value: record.Number(fit.Posterior.Evidence().Value())},
		LogEvidence: record.Number(fit.Posterior.Evidence().Value()),
		Model: Declared{
			Kernel: m.KernelText, Mean: m.MeanText, Likelihood: m.LikelihoodText, Inference: flow(m.inferenceNode), Classes: m.classes, Average: cmp.Or(p.spec.averageText, "averaged"),
		},
		Theta: map[string]float64{}, Columns: j.set.source.Schema, Preprocess: prepared.preprocessor,
		Targets: prepared.data.Y.Value, State: append(approx.State{}, fit.Posterior.State()...),
	}
	if free != nil {
		_, best, err := search.Winner(trials)
		if err != nil {
			return nil, err
		}
		f.Tuned.Value = best.Value
	}
	for i, s := range o.Layout.Specs {
		f.Theta[s.ThetaName()] = theta[i]
	}
	if j.set.source.Targets == nil {
		f.Targets, f.Labels = nil, subset(j.set.source.Labels, j.set.train)
	}
	for i := range prepared.data.X.N() {
		f.Inputs = append(f.Inputs, prepared.data.X.X.RawRowView(i))
	}
	return &kept{f, warnings}, nil
}
