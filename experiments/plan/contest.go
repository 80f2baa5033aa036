package plan

import (
	"encoding/json"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// contests makes the contests of configurations with the same data, and the stages at which their
// studies wait.
func (p *planner) contests() error {
	base, groups := p.groupByData()
	for _, group := range groups {
		first := p.Manifest.Configurations[group[0]]
		for _, c := range contestsWithin(p.Plan, p.Studies[base[group[0]]:][:len(first.Studies)]) {
			c.Configurations = group
			if err := p.stages(c, base); err != nil {
				return err
			}
			p.Manifest.Contests = append(p.Manifest.Contests, c)
		}
	}
	return nil
}

// groupByData returns the index of each configuration's first study in the list of all, and groups
// of configurations with the same data.
func (p *Plan) groupByData() (base []int, groups [][]int) {
	base = make([]int, len(p.Manifest.Configurations))
	for i, s := range p.Studies {
		if s.Index == 0 {
			base[s.Configuration] = i
		}
	}
	for k, c := range p.Manifest.Configurations {
		at := slices.IndexFunc(groups, func(group []int) bool {
			of := p.Manifest.Configurations[group[0]]
			return of.DataHash == c.DataHash && of.Cases == c.Cases && slices.Equal(of.Classes, c.Classes)
		})
		if at < 0 {
			groups = append(groups, []int{k})
		} else {
			groups[at] = append(groups[at], k)
		}
	}
	return base, groups
}

// contestsWithin lists the contests over the studies of one configuration: the race, then one for
// every outer training set.
func contestsWithin(p *Plan, studies []Study) (contests []record.Contest) {
	nested := map[*job.Set]int{} // index of the contest of an outer training set
	race := record.Contest{}
	if r := p.Spec.Race; r != nil {
		race.Race, race.Score = r.Name, r.Score
		race.Options, _ = json.Marshal(r.Race) // no error: the options are plain values
	}
	for _, e := range p.Spec.Evaluate {
		if e.Splitter != nil {
			race.Evaluation = e.Name
			break
		}
	}
	for i, s := range studies {
		set := s.Job.Set
		switch {
		case set.Evaluation == "nested":
			n := nestedOf(p.Spec)
			c := record.Contest{Evaluation: n.Outer.Name, Score: n.Score, Folds: []int{}, Next: []int{i},
				WinnerOnly: true}
			if n.Score != spec.LogEvidence {
				c.Race, c.Options = race.Race, race.Options
			}
			nested[set] = len(contests)
			contests = append(contests, c)
		case set.Outer != nil:
			c := &contests[nested[set.Outer]]
			c.Folds = append(c.Folds, i)
		case set.Evaluation == race.Evaluation:
			race.Folds = append(race.Folds, i)
		default:
			race.Next = append(race.Next, i)
		}
	}
	if race.Race != "" && len(race.Folds) > 0 {
		contests = append([]record.Contest{race}, contests...)
	}
	return contests
}

// nestedOf returns the nested cross-validation of the file, or nil.
func nestedOf(s *spec.Spec) *spec.Nested {
	for _, e := range s.Evaluate {
		if e.Nested != nil {
			return e.Nested
		}
	}
	return nil
}

// contestPlace is the position in the file that declares a contest.
func contestPlace(s *spec.Spec, r record.Contest) strictyaml.Place {
	if r.WinnerOnly {
		return nestedOf(s).Place
	}
	return s.Race.Place
}

// stages makes the studies of a contest wait for the results that decide whether they run. base has
// the index of the first study of each configuration.
func (p *planner) stages(r record.Contest, base []int) error {
	classes := len(p.Manifest.Configurations[r.Configurations[0]].Classes)
	place := contestPlace(p.Spec, r)
	if r.Score == spec.LogEvidence {
		rest := func(k int) bool { return p.Manifest.Configurations[k].Inference.Name() == "one_vs_rest" }
		for _, k := range r.Configurations {
			if rest(k) != rest(r.Configurations[0]) {
				p.AtPlace(place, "%v and %v: the log evidence of one_vs_rest, of each class against the rest, "+
					"cannot be compared with that of all classes; choose another score",
					p.Manifest.Configurations[r.Configurations[0]], p.Manifest.Configurations[k])
				break
			}
		}
		return nil
	}
	c, err := r.Rule()
	if err != nil {
		return err
	}
	if c.Score.Numeric != (classes == 0) {
		p.AtPlace(place, "%s: the predictions have no %s; choose another score",
			p.Manifest.Configurations[r.Configurations[0]].Dataset, r.Score)
		return nil
	}
	ends := c.Rounds(len(r.Configurations))
	for round, end := range ends {
		var after, waiting []int
		next := r.Next
		if round+1 < len(ends) {
			next = r.Folds[end:ends[round+1]]
		}
		for _, k := range r.Configurations {
			for _, f := range r.Folds[:end] {
				after = append(after, base[k]+f)
			}
			for _, f := range next {
				waiting = append(waiting, base[k]+f)
			}
		}
		stage := &schedule.Stage{After: after, Open: func(fits []*record.Fit) []int {
			on := goOn(c, r, classes, fits)
			for _, i := range waiting {
				if !slices.Contains(on, p.Studies[i].Configuration) {
					p.Studies[i].Job.Set.Release()
				}
			}
			return on
		}}
		for _, i := range waiting {
			p.Studies[i].Stage = stage
		}
	}
	return nil
}

// goOn returns the configurations that continue after the first folds. fits are listed by
// configuration.
func goOn(c cv.Contest, r record.Contest, classes int, fits []*record.Fit) (on []int) {
	done := len(fits) / len(r.Configurations)
	attempts := make([][]cv.Attempt, len(r.Configurations))
	for k := range attempts {
		attempts[k] = make([]cv.Attempt, c.Folds)
		for f := range done {
			attempts[k][f] = fits[k*done+f].Attempt(classes)
		}
	}
	s := c.Judge(attempts)
	in := s.In
	if s.Ended && r.WinnerOnly {
		in = nil
		if s.Winner >= 0 {
			in = []int{s.Winner}
		}
	}
	for _, k := range in {
		on = append(on, r.Configurations[k])
	}
	return on
}
