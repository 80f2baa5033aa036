package experiments

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/search"
)

// nested is nested cross-validation: in every training set of the outer splitter all configurations compete, by a score of the
// predictions over the folds of the inner one or by log evidence, and the winner predicts what the outer one holds out.
type nested struct {
	outer, inner namedSplitter // inner is not used for log evidence
	score        string
	node         *strictyaml.Node
}

type namedSplitter struct {
	cv.Splitter
	name string
}

// logEvidence is the score of configurations that needs no inner folds.
const logEvidence = "log_evidence"

// nested reads {outer: {kfold: {k: 10}}, inner: {kfold: {k: 5}}, score: information_bits}, the defaults.
func (d *decoder) nested(at, n *strictyaml.Node) *nested {
	e := &nested{namedSplitter{cv.KFold{}, "kfold"}, namedSplitter{cv.KFold{K: 5}, "kfold"}, cv.Scores[0].Name, at}
	var options nesting
	if n != nil && !strictyaml.IsNull(n) {
		d.into(n, &options)
	}
	for _, part := range []struct {
		node *strictyaml.Node
		to   *namedSplitter
	}{{options.Outer, &e.outer}, {options.Inner, &e.inner}} {
		if part.node != nil {
			if s, name, ok := component(d, part.node, "splitter", cv.Table); ok {
				*part.to = namedSplitter{s, name}
			}
		}
	}
	if s := options.Score; s != nil {
		e.score = s.Value
		names := append(names(cv.Scores, func(s cv.Score) string { return s.Name }), logEvidence)
		if !slices.Contains(names, e.score) {
			d.at(s, "unknown score %q%s", e.score, registry.Suggest(e.score, names))
		}
	}
	if e.score == logEvidence && options.Inner != nil {
		d.at(options.Inner, "score: log_evidence needs no inner folds; leave inner out, or choose another score")
	}
	return e
}

// nesting is nested cross-validation as it stands in a file.
type nesting struct {
	Outer *strictyaml.Node `yaml:"outer"`
	Inner *strictyaml.Node `yaml:"inner"`
	Score *strictyaml.Node `yaml:"score"`
}

// race is how configurations that will not win are cut.
type race struct {
	cv.Race
	name, score string
	node        *strictyaml.Node
}

// race reads a rule: its name, or {RULE: {options}, score: NAME}.
func (d *decoder) race(n *strictyaml.Node, s *Spec) {
	if n == nil || strictyaml.IsNull(n) {
		return
	}
	r := &race{score: cv.Scores[0].Name, node: n}
	rule := n
	if n.Kind == strictyaml.MappingNode {
		rule = strictyaml.Emptied(n)
		d.mapping(n, func(key, value *strictyaml.Node) {
			if key.Value == "score" {
				r.score = value.Value
			} else {
				rule.Content = append(rule.Content, key, value)
			}
		})
	}
	if _, err := cv.ScoreNamed(r.score); err != nil {
		d.at(strictyaml.Find(n, "score"), "%v", err)
		return
	}
	var ok bool
	if r.Race, r.name, ok = component(d, rule, "race", cv.Races); !ok {
		return
	}
	if err := r.Check(); err != nil {
		d.at(n, "%v", err)
		return
	}
	raced := slices.ContainsFunc(s.Evaluate, func(e Evaluation) bool {
		return e.Splitter != nil || e.Nested != nil && e.Nested.score != logEvidence
	})
	if !raced {
		d.at(n, "a race needs folds; add evaluate: {kfold: {k: 10}}, or nested with a score over inner folds")
		return
	}
	s.Race = r
}

// nestedSets are the training sets of nested cross-validation: each outer one, then those within it.
func (d *decoder) nestedSets(s *Spec, e Evaluation, whole *trainingSet) (sets []*trainingSet) {
	ds := whole.source
	outer, err := whole.split(e.Nested.outer, derive(s.Seed, "split", e.Nested.outer.name))
	if err != nil {
		d.at(e.node, "%s: outer: %v", ds.Name, err)
		return nil
	}
	cases := 0
	for _, o := range outer {
		o.evaluation = e.Name
		sets = append(sets, o)
		if cases > cv.MaxFolded {
			d.at(e.node, "%s: the parts of all inner folds together have more than %d cases; take fewer folds, or data: {subsample: …}", ds.Name, cv.MaxFolded)
			return nil
		}
		if e.Nested.score == logEvidence {
			continue
		}
		within := fmt.Sprintf("%s fold %d", e.Name, o.fold)
		if o.repeat > 0 {
			within = fmt.Sprintf("%s repeat %d fold %d", e.Name, o.repeat, o.fold)
		}
		inner, err := o.split(e.Nested.inner, derive(s.Seed, "split", within, e.Nested.inner.name))
		if err != nil {
			d.at(e.node, "%s: inner, in outer fold %d: %v", ds.Name, o.fold, err)
			return nil
		}
		cases += folded(inner)
		for _, i := range inner {
			i.evaluation, i.outer = within, o
			sets = append(sets, i)
		}
	}
	return sets
}

// contests lays out the competitions of configurations that have the same data, and the stages at which their studies wait.
func (p *Plan) contests(d *decoder) error {
	base := make([]int, len(p.Manifest.Configurations)) // of each configuration's studies among all
	for i, s := range p.studies {
		if s.Index == 0 {
			base[s.Configuration] = i
		}
	}
	grouped := map[int]bool{}
	for i, a := range p.Manifest.Configurations {
		if grouped[i] {
			continue
		}
		var group []int
		for k, b := range p.Manifest.Configurations {
			if a.DataHash == b.DataHash && a.Cases == b.Cases && slices.Equal(a.Classes, b.Classes) {
				group, grouped[k] = append(group, k), true
			}
		}
		for _, c := range p.within(p.jobs[base[i]:][:len(a.Studies)]) {
			c.Configurations = group
			if err := p.stages(d, c, base); err != nil {
				return err
			}
			p.Manifest.Contests = append(p.Manifest.Contests, c)
		}
	}
	return nil
}

// within lists the contests over the studies of one configuration: the race, then one for every outer training set.
func (p *Plan) within(jobs []*job) (contests []record.Contest) {
	nested := map[*trainingSet]int{} // by outer set
	race := record.Contest{}
	if r := p.spec.Race; r != nil {
		race.Race, race.Score = r.name, r.score
		race.Options, _ = json.Marshal(r.Race) // plain options
	}
	for _, e := range p.spec.Evaluate {
		if e.Splitter != nil {
			race.Evaluation = e.Name
			break
		}
	}
	for i, j := range jobs {
		outer := j.set.outer
		switch {
		case j.set.evaluation == "nested":
			n := p.spec.nested()
			c := record.Contest{Evaluation: n.outer.name, Score: n.score, Folds: []int{}, Next: []int{i}, WinnerOnly: true}
			if n.score != logEvidence {
				c.Race, c.Options = race.Race, race.Options
			}
			nested[j.set] = len(contests)
			contests = append(contests, c)
		case outer != nil:
			c := &contests[nested[outer]]
			c.Folds = append(c.Folds, i)
		case j.set.evaluation == race.Evaluation:
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

// nested is the one that the file asks for, or nil.
func (s *Spec) nested() *nested {
	for _, e := range s.Evaluate {
		if e.Nested != nil {
			return e.Nested
		}
	}
	return nil
}

// at is where the file asks for a contest.
func (s *Spec) at(r record.Contest) *strictyaml.Node {
	if r.WinnerOnly {
		return s.nested().node
	}
	return s.Race.node
}

// stages has the studies of a contest wait for what decides whether they run. base has the first study of each configuration.
func (p *Plan) stages(d *decoder, r record.Contest, base []int) error {
	classes := len(p.Manifest.Configurations[r.Configurations[0]].Classes)
	node := p.spec.at(r)
	if r.Score == logEvidence {
		rest := func(k int) bool { return p.Manifest.Configurations[k].Inference.Name() == "one_vs_rest" }
		for _, k := range r.Configurations {
			if rest(k) != rest(r.Configurations[0]) {
				name := func(k int) Overview { return Overview{Configuration: p.Manifest.Configurations[k]} }
				d.at(node, "%v and %v: the log evidence of one_vs_rest is of each class against the rest, and cannot be compared with that of the labels; choose another score", name(r.Configurations[0]), name(k))
				break
			}
		}
		return nil
	}
	c, err := cv.NewContest(r)
	if err != nil {
		return err
	}
	if c.Score.Numeric != (classes == 0) {
		d.at(node, "%s: the predictions have no %s; choose another score", p.Manifest.Configurations[r.Configurations[0]].Dataset, r.Score)
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
		stage := &search.Stage{After: after, Open: func(fits []*record.Fit) []int {
			on := goOn(c, r, classes, fits)
			for _, i := range waiting {
				if !slices.Contains(on, p.studies[i].Configuration) {
					p.jobs[i].set.release()
				}
			}
			return on
		}}
		for _, i := range waiting {
			p.studies[i].Stage = stage
		}
	}
	return nil
}

// goOn names the configurations that go on after the first folds, whose fits are listed by configuration.
func goOn(c cv.Contest, r record.Contest, classes int, fits []*record.Fit) (on []int) {
	done := len(fits) / len(r.Configurations)
	attempts := make([][]cv.Attempt, len(r.Configurations))
	for k := range attempts {
		attempts[k] = make([]cv.Attempt, c.Folds)
		for f := range done {
			attempts[k][f] = cv.Attempted(classes, fits[k*done+f])
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
