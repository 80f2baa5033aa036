package reports

import (
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// compete adds the results of the contests. The error is the first error of a score.
func (r *Report) compete(contests []contest, b builder) error {
	for _, c := range contests {
		first := &r.Configurations[c.Configurations[0]]
		if !c.WinnerOnly {
			r.Races = append(r.Races, c.race(r.Configurations))
			continue
		}
		i := slices.IndexFunc(r.Nested, func(n Nested) bool { return slices.Equal(n.Configurations, c.Configurations) })
		if i < 0 {
			i = len(r.Nested)
			r.Nested = append(r.Nested, Nested{Dataset: first.Dataset, Configurations: c.Configurations,
				Outer: c.Evaluation, Score: c.Score, Race: c.Race, record: first.Record})
		}
		n := &r.Nested[i]
		fold, scored := c.outerFold(r.Configurations, b)
		n.inner = append(n.inner, c.Folds...)
		n.OuterFolds, n.studies = append(n.OuterFolds, fold), append(n.studies, scored)
		for _, k := range c.Configurations {
			for _, f := range c.Folds {
				n.Fits++
				if r.Configurations[k].Studies[f].cut {
					n.FitsSaved++
				}
			}
		}
	}
	for i := range r.Nested {
		n := &r.Nested[i]
		var parts []*Study
		for k := range n.studies {
			parts = append(parts, &n.studies[k])
		}
		n.Evaluation = b.pool("nested", parts)
	}
	r.Warnings = append(r.Warnings, b.warnings.list()...)
	return b.fault
}

// configuration is the index of a contestant's configuration, nil if k is -1.
func (c contest) configuration(k int) *int {
	if k < 0 {
		return nil
	}
	return &c.Configurations[k]
}

func (c contest) standings() []Standing {
	out := []Standing{}
	for k, e := range c.now.Scores {
		s := Standing{Configuration: c.Configurations[k], Folds: c.scored(k), Value: Number(e.Value),
			CI95: interval(e.Lo, e.Hi), Planned: len(c.Folds)}
		if !math.IsNaN(e.Value) {
			s.Partial = partial(s.Folds, 0, len(c.Folds))
		}
		out = append(out, s)
	}
	return out
}

func (c contest) cuts() []CutOff {
	out := []CutOff{}
	for _, cut := range c.now.Cuts {
		out = append(out, CutOff{c.Configurations[cut.Contestant], cut.Folds, c.configuration(cut.Better),
			Number(cut.P), cut.Reason, cut.Kind})
	}
	return out
}

// outerFold is the contest of an outer training set, with the study of its winner on the outer
// fold.
func (c contest) outerFold(all []Configuration, b builder) (OuterFold, Study) {
	scored := all[c.Configurations[0]].Studies[c.Next[0]]
	if winner := c.configuration(c.now.Winner); winner != nil {
		scored = all[*winner].Studies[c.Next[0]]
		b.record = all[*winner].Record
	} else if c.now.Ended {
		scored = Study{Study: scored.Study, Fit: &record.Fit{Failure: cause.Failure.New("all configurations failed")}}
	} else {
		scored = Study{Study: scored.Study} // no configuration known yet
	}
	f := b.fold(&scored)
	return OuterFold{f.Repeat, f.Fold, f.Train, f.Test, f.Status, c.configuration(c.now.Winner), f.Hyperparameters,
		f.LogEvidence, f.Threshold, f.Scores, c.standings(), c.cuts()}, scored
}

func (c contest) race(all []Configuration) Race {
	first := all[c.Configurations[0]]
	r := Race{Dataset: first.Dataset, Evaluation: c.Evaluation, Score: c.Score, Rule: c.Race, Options: c.Options,
		Folds: len(c.Folds), Done: c.now.Folds, Status: Missing,
		Winner: c.configuration(c.now.Winner), Standings: c.standings(), Cuts: c.cuts()}
	if c.now.Ended {
		r.Status = Done
		if c.now.Winner < 0 {
			r.Status = Failed
		}
	}
	for _, k := range c.Configurations {
		for _, i := range slices.Concat(c.Folds, c.Next) {
			r.Fits++
			if s := all[k].Studies[i]; s.cut {
				r.FitsSaved++
				r.JobsSaved += s.Jobs
			}
		}
	}
	return r
}
