package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// earlier is a finished run at whose hyperparameters this one starts.
type earlier struct {
	name string // folder as written in the file
	record.Manifest
	fits map[studyAt]*record.Fit
}

// studyAt is the position of a study in a manifest.
type studyAt struct{ configuration, study int }

// readEarlier reads the run in a folder whose name is relative to the folder of the file.
func (p *planner) readEarlier(name string) (*earlier, error) {
	dir := name
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.Spec.Dir, dir)
	}
	m, err := journal.ReadManifest(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		command := "run"
		if p.Spec.Program != nil {
			command = "search"
		}
		return nil, fmt.Errorf("start_from: %s is no run folder; give one that gpc-tune %s wrote, relative to the "+
			"folder of this file", name, command)
	case err != nil:
		return nil, fmt.Errorf("start_from: %s cannot be read: %w", name, err)
	}
	j, err := journal.Open(dir, journal.Options{Plan: m.Key, StartedBy: m.Build.String()})
	if err != nil {
		return nil, fmt.Errorf("start_from: %s cannot be read: %w", name, err)
	}
	e := &earlier{name, m, map[studyAt]*record.Fit{}}
	for _, line := range j.Lines() {
		if line.Fit != nil {
			e.fits[studyAt{line.Fit.Configuration, line.Fit.Study}] = line.Fit
		}
	}
	return e, nil
}

// alike returns the number of the configuration with the same kernel, mean, likelihood and
// hyperparameters. If there are several, it is one that is tuned with the same inference, or else
// the first.
func (e *earlier) alike(c record.Configuration) (k int, err error) {
	k = -1
	for i, of := range e.Configurations {
		same := of.Kernel.Name() == c.Kernel.Name() && of.Mean.Name() == c.Mean.Name() &&
			of.Likelihood.Name() == c.Likelihood.Name() && (of.Program == nil) == (c.Program == nil) &&
			slices.EqualFunc(of.Hyperparameters, c.Hyperparameters, func(a, b record.Hyperparameter) bool {
				return a.Name == b.Name && a.Column == b.Column && (a.Choices == nil) == (b.Choices == nil)
			})
		if same && (k < 0 || of.TuneInference.Text == c.TuneInference.Text) {
			if k = i; of.TuneInference.Text == c.TuneInference.Text {
				break
			}
		}
	}
	if k < 0 {
		return k, fmt.Errorf("start_from: %s has no configuration with the kernel, the mean, the likelihood and the "+
			"hyperparameters of %s; give a run that has, or leave start_from out", e.name, c)
	}
	return k, nil
}

// fit returns the fit of configuration k that a training set starts from. A fold of the same data
// takes the fit to the same training cases, so that its start does not depend on held-out cases. A
// fold of other data takes the fit to all training data of the earlier run.
func (e *earlier) fit(k int, dataHash string, set *job.Set) (*record.Fit, error) {
	of, i := e.Configurations[k], 0
	where := "all of its training data"
	part := set.Source != nil && len(set.Train) < len(set.Source.Rows) && of.DataHash == dataHash
	if part {
		where = fmt.Sprintf("%s repeat %d fold %d", set.Evaluation, set.Repeat, set.Fold)
		i = slices.IndexFunc(of.Studies, func(s record.Study) bool {
			return s.Evaluation == set.Evaluation && s.Repeat == set.Repeat && s.Fold == set.Fold
		})
	}
	f := e.fits[studyAt{k, i}]
	switch {
	case f == nil:
		return nil, fmt.Errorf("start_from: #%d of %s has no result for %s; evaluate as there, or finish that run",
			k, e.name, where)
	case !f.Failure.IsZero():
		return nil, fmt.Errorf("start_from: #%d of %s failed for %s: %s", k, e.name, where, f.Failure)
	case part && !slices.Equal(f.Rows, data.Pick(set.Source.Rows, set.Test)):
		return nil, fmt.Errorf("start_from: #%d of %s holds out other cases in %s, so its hyperparameters know some "+
			"that are held out here; evaluate with the folds and the seed of that run", k, e.name, where)
	}
	return f, nil
}

// startedFrom returns the space of a program, with the best point of a run as its start.
func (p *planner) startedFrom(name string, c record.Configuration, space search.Space) (search.Space, error) {
	e, err := p.readEarlier(name)
	if err != nil {
		return nil, err
	}
	k, err := e.alike(c)
	if err != nil {
		return nil, err
	}
	f, err := e.fit(k, c.DataHash, &job.Set{})
	if err != nil {
		return nil, err
	}
	begun, err := e.begun(k, space, f)
	if err != nil {
		return nil, err
	}
	_, start := search.Space(begun).Allowed(nil) // the end of the earlier search may be forbidden here
	for i, v := range start {
		begun[i].Init = v
	}
	return begun, nil
}

// begun returns hyperparameters whose initial values are the ones at which a fit of configuration k
// ended. Choices are compared by name. Fixed hyperparameters stay as they are.
func (e *earlier) begun(k int, specs []param.Spec, f *record.Fit) ([]param.Spec, error) {
	specs = slices.Clone(specs)
	for i := range specs {
		s, of := &specs[i], e.Configurations[k].Hyperparameters[i]
		if s.Fixed {
			continue
		}
		s.Init = float64(f.Natural[i])
		if s.Map == param.Choice {
			l := of.Literal(int(s.Init))
			var err error
			if s.Init, err = s.Value(param.Literal(l)); err != nil {
				return nil, fmt.Errorf("start_from: the best of %s is %s=%s, which is no choice here; add it", e.name,
					s.Name, l)
			}
		}
		if err := s.Admits(s.Init); err != nil {
			return nil, fmt.Errorf("start_from: %w: it is the best of %s; widen what %s can be", err, e.name, s.Name)
		}
	}
	return specs, nil
}
