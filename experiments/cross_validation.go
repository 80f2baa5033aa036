package experiments

import (
	"context"
	"fmt"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
)

// crossValidation is a tuning objective: a score of the predictions for cases held out from the training set, combined
// over the folds of a splitter, with its sign such that more is better.
type crossValidation struct {
	score    cv.Score
	splitter cv.Splitter
	name     string // of the splitter
	node     *strictyaml.Node
}

// String names it in the manifest.
func (c crossValidation) String() string { return "cv_" + c.score.Name }

// crossValidation reads {cv: {score: NAME, SPLITTER: {options}}}; without a splitter it is kfold.
func (d *decoder) crossValidation(n *strictyaml.Node) *crossValidation {
	name, options, ok := d.named(n, "objective")
	if !ok {
		return nil
	}
	if name != "cv" {
		have := append(objective.Criteria.Names(), "cv")
		d.at(n, "unknown objective %q with options%s", name, registry.Suggest(name, have))
		return nil
	}
	if options == nil || options.Kind != strictyaml.MappingNode || strictyaml.Find(options, "score") == nil {
		d.at(n, "cv needs a score, as in {cv: {score: information_bits, kfold: {k: 5}}}")
		return nil
	}
	c := &crossValidation{splitter: cv.KFold{}, name: "kfold", node: n}
	given := ""
	d.mapping(options, func(key, value *strictyaml.Node) {
		if key.Value == "score" {
			var err error
			if c.score, err = cv.ScoreNamed(value.Value); err != nil {
				d.at(value, "%v", err)
			}
			return
		}
		e, err := cv.Table.Lookup("splitter", key.Value)
		switch {
		case err != nil:
			d.at(key, "unknown key %q%s", key.Value, registry.Suggest(key.Value, append([]string{"score"}, cv.Table.Names()...)))
			return
		case given != "":
			d.at(key, "both %s and %s; keep one splitter", given, key.Value)
			return
		}
		given = key.Value
		splitter, err := e.New(d.reading(value))
		if err != nil && err != errReported {
			d.at(value, "%v", err)
		}
		if err == nil {
			c.splitter, c.name = splitter, key.Value
		}
	})
	return c
}

// folds splits a training set again. What the set holds out takes no part.
func (c *crossValidation) folds(t *trainingSet) ([]*trainingSet, error) {
	sets, err := t.split(c.splitter, derive(t.seed, "cv", c.name))
	for _, set := range sets {
		set.evaluation = "cv " + c.name
	}
	return sets, err
}

// split divides a training set.
func (t *trainingSet) split(s cv.Splitter, seed uint64) ([]*trainingSet, error) {
	folds, err := s.Split(len(t.train), subset(t.source.Labels, t.train), subset(t.source.Groups, t.train), seed)
	if err != nil {
		return nil, lostClass(err, t.source.Classes)
	}
	sets := make([]*trainingSet, len(folds))
	for i, f := range folds {
		sets[i] = &trainingSet{repeat: f.Repeat, fold: f.Fold, source: t.source, how: t.how, missing: t.missing, train: subset(t.train, f.Train), test: subset(t.train, f.Test)}
	}
	return sets, nil
}

// subset picks entries, of none none.
func subset[T any](all []T, at []int) []T {
	if all == nil {
		return nil
	}
	some := make([]T, len(at))
	for i, k := range at {
		some[i] = all[k]
	}
	return some
}

// crossValidate evaluates the objective at every point of a row, or says why it cannot. A fold's fits are warm-started
// along the row; nothing of a fold outlives it, so that a job needs no more memory than one fit on the training set.
func (j *job) crossValidate(ctx context.Context, row [][]float64) (values []float64, failures []error, evaluations int, err error) {
	values, failures = make([]float64, len(row)), make([]error, len(row))
	cases := 0
	for _, set := range j.folds {
		cases += len(set.test)
	}
	for _, set := range j.folds {
		var p prepared
		if err := set.fill(&p); err != nil {
			return nil, nil, evaluations, err
		}
		o, err := objective.New(j.tuned, nil, p.data)
		if err != nil {
			return nil, nil, evaluations, err
		}
		run := objective.NewRun(ctx, o)
		for i, free := range row {
			if failures[i] != nil {
				continue
			}
			value, err := j.cross.on(run, free, &p, j.average)
			if ctx.Err() != nil {
				return nil, nil, evaluations, ctx.Err()
			}
			if err != nil {
				failures[i] = fmt.Errorf("%s repeat %d fold %d: %w", set.evaluation, set.repeat, set.fold, err)
				continue
			}
			if !j.cross.score.Count {
				value *= float64(len(set.test)) / float64(cases)
			}
			values[i] += value
		}
		evaluations += run.Evaluations
	}
	return values, failures, evaluations, nil
}

// on is the objective on one fold.
func (c *crossValidation) on(run *objective.Run, free []float64, p *prepared, average objective.Average) (float64, error) {
	fit, err := run.Converged(free)
	if err != nil {
		return 0, err
	}
	predictions, err := p.predict(fit, average)
	if err != nil {
		return 0, err
	}
	e, ok := c.score.Func(predictions)
	switch {
	case !ok:
		return 0, fmt.Errorf("%s is not defined for the held-out cases", c.score.Name)
	case c.score.Greater:
		return e.Value, nil
	}
	return -e.Value, nil
}
