package spec

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// evaluate reads the evaluate section: a name, or a mapping of names to options.
func (d *decoder) evaluate(n *strictyaml.Node, s *Spec) {
	if n == nil || strictyaml.IsNull(n) {
		return
	}
	one := func(name string, at, options *strictyaml.Node) {
		if name == "test" || name == "training" {
			if options != nil && !strictyaml.IsNull(options) &&
				!(options.Kind == strictyaml.MappingNode && len(options.Content) == 0) {
				d.At(options, "%s takes no options; a test file is named in data", name)
			}
			s.Evaluate = append(s.Evaluate, Evaluation{Name: name, Place: d.Found.Place(at)})
			return
		}
		if name == "nested" {
			before := d.Found.Found()
			e := Evaluation{Name: name, Nested: d.nested(at, options), Place: d.Found.Place(at)}
			if d.Found.Found() == before {
				s.Evaluate = append(s.Evaluate, e)
			}
			return
		}
		e, err := split.Table.Lookup("evaluation", name)
		if err != nil {
			d.At(at, "unknown evaluation %q%s", name,
				registry.Suggest(name, append([]string{"test", "training", "nested"}, split.Table.Names()...)))
			return
		}
		splitter, err := e.New(d.Reading(options))
		if err != nil {
			if err != declared.ErrReported {
				d.At(at, "%v", err)
			}
			return
		}
		s.Evaluate = append(s.Evaluate, Evaluation{Name: name, Splitter: splitter, Place: d.Found.Place(at)})
	}
	switch n.Kind {
	case strictyaml.ScalarNode:
		one(n.Value, n, nil)
	default:
		d.Mapping(n, func(key, value *strictyaml.Node) { one(key.Value, key, value) })
	}
}

// nested reads {outer: kfold, inner: {kfold: {k: 5}}, score: information_bits}, which
// are the defaults.
func (d *decoder) nested(at, n *strictyaml.Node) *Nested {
	e := &Nested{NamedSplitter{split.KFold{}, "kfold"}, NamedSplitter{split.KFold{K: 5}, "kfold"}, cv.Scores[0].Name,
		d.Found.Place(at)}
	var options nesting
	if n != nil && !strictyaml.IsNull(n) {
		d.Into(n, &options)
	}
	for _, part := range []struct {
		node *strictyaml.Node
		to   *NamedSplitter
	}{{options.Outer, &e.Outer}, {options.Inner, &e.Inner}} {
		if part.node != nil {
			if s, name, ok := component(d, part.node, "splitter", split.Table); ok {
				*part.to = NamedSplitter{s, name}
			}
		}
	}
	if s := options.Score; s != nil {
		e.Score = s.Value
		names := append(names(cv.Scores, func(s cv.Score) string { return s.Name }), LogEvidence)
		if !slices.Contains(names, e.Score) {
			d.At(s, "unknown score %q%s", e.Score, registry.Suggest(e.Score, names))
		}
	}
	if e.Score == LogEvidence && options.Inner != nil {
		d.At(options.Inner, "score: log_evidence needs no inner folds; leave inner out, or choose another score")
	}
	return e
}

// nesting is nested cross-validation as written in a file.
type nesting struct {
	Outer *strictyaml.Node `yaml:"outer"`
	Inner *strictyaml.Node `yaml:"inner"`
	Score *strictyaml.Node `yaml:"score"`
}

// race reads a rule: its name, or {RULE: {options}, score: NAME}.
func (d *decoder) race(n *strictyaml.Node, s *Spec) {
	if n == nil || strictyaml.IsNull(n) {
		return
	}
	r := &Race{Score: cv.Scores[0].Name, Place: d.Found.Place(n)}
	rule := n
	if n.Kind == strictyaml.MappingNode {
		rule = strictyaml.Emptied(n)
		d.Mapping(n, func(key, value *strictyaml.Node) {
			if key.Value == "score" {
				r.Score = value.Value
			} else {
				rule.Content = append(rule.Content, key, value)
			}
		})
	}
	if _, err := cv.ScoreNamed(r.Score); err != nil {
		d.At(strictyaml.Find(n, "score"), "%v", err)
		return
	}
	var ok bool
	if r.Race, r.Name, ok = component(d, rule, "race", cv.Races); !ok {
		return
	}
	if err := r.Check(); err != nil {
		d.At(n, "%v", err)
		return
	}
	raced := slices.ContainsFunc(s.Evaluate, func(e Evaluation) bool {
		return e.Splitter != nil || e.Nested != nil && e.Nested.Score != LogEvidence
	})
	if !raced {
		d.At(n, "a race needs folds; add evaluate: {kfold: {k: 10}}, or nested with a score over inner folds")
		return
	}
	s.Race = r
}
