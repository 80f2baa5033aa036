package plan

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/random"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// trainingSets splits a data set as the evaluate section declares. The first set is all of the
// training data.
func (p *planner) trainingSets(section spec.DataSpec, ds *data.Data) []*job.Set {
	first := job.WholeSet(ds, section.Spec)
	sets := []*job.Set{first}
	withTest, training := len(p.Spec.Evaluate) == 0 && ds.Test != nil, false
	for _, e := range p.Spec.Evaluate {
		if job.Folded(sets) > split.MaxFolded {
			p.AtPlace(e.Place, "%s: the parts of all folds together have more than %d cases; take fewer folds, or "+
				"data: {subsample: …}", ds.Name, split.MaxFolded)
			return sets[:1]
		}
		switch {
		case e.Nested != nil:
			sets = append(sets, p.nestedSets(e, first)...)
		case e.Name == "training":
			training = true
		case e.Splitter == nil:
			if ds.Test == nil {
				p.AtPlace(e.Place, "%s has no test data; add data: {test: FILE}, or evaluate with kfold", ds.Name)
			}
			withTest = true
		default:
			// Folds depend only on the experiment's seed and the kind of split, so that all models
			// use the same folds.
			folds, err := first.Split(e.Splitter, random.Derive(p.Spec.Seed, "split", e.Name), e.Name)
			if err != nil {
				p.AtPlace(e.Place, "%s: %v", ds.Name, err)
			}
			sets = append(sets, folds...)
		}
	}
	if withTest && ds.Test != nil {
		first.Evaluation = "test"
	}
	for _, set := range sets {
		set.Seed = random.Derive(p.Spec.Seed, "study", set.Evaluation, fmt.Sprint(set.Repeat), fmt.Sprint(set.Fold))
	}
	if training { // last: its scores are least informative; first has the same fit
		set := job.WholeSet(ds, section.Spec)
		set.Evaluation, set.Test, set.Seed = "training", set.Train, first.Seed
		sets = append(sets, set)
	}
	return sets
}

// nestedSets returns the training sets of nested cross-validation: each outer set, followed by its
// inner sets.
func (p *planner) nestedSets(e spec.Evaluation, whole *job.Set) (sets []*job.Set) {
	ds := whole.Source
	outer, err := whole.Split(e.Nested.Outer.Splitter, random.Derive(p.Spec.Seed, "split", e.Nested.Outer.Name), e.Name)
	if err != nil {
		p.AtPlace(e.Place, "%s: outer: %v", ds.Name, err)
		return nil
	}
	cases := 0
	for _, o := range outer {
		sets = append(sets, o)
		if cases > split.MaxFolded {
			p.AtPlace(e.Place, "%s: the parts of all inner folds together have more than %d cases; take fewer "+
				"folds, or data: {subsample: …}", ds.Name, split.MaxFolded)
			return nil
		}
		if e.Nested.Score == spec.LogEvidence {
			continue
		}
		within := fmt.Sprintf("%s fold %d", e.Name, o.Fold)
		if o.Repeat > 0 {
			within = fmt.Sprintf("%s repeat %d fold %d", e.Name, o.Repeat, o.Fold)
		}
		inner, err := o.Split(e.Nested.Inner.Splitter, random.Derive(p.Spec.Seed, "split", within, e.Nested.Inner.Name),
			within)
		if err != nil {
			p.AtPlace(e.Place, "%s: inner, in outer fold %d: %v", ds.Name, o.Fold, err)
			return nil
		}
		cases += job.Folded(inner)
		for _, i := range inner {
			i.Outer = o
			sets = append(sets, i)
		}
	}
	return sets
}

// loaded is a data set with its training sets.
type loaded struct {
	*data.Data
	place strictyaml.Place
	sets  []*job.Set // the first set has all training data
}
