package spec

import (
	"reflect"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// tuning has the keys that all methods of the tune section share.
type tuning struct {
	Method         string           `yaml:"method"`
	Objective      *strictyaml.Node `yaml:"objective"`
	Inference      *strictyaml.Node `yaml:"inference"`
	StartInference *strictyaml.Node `yaml:"start_inference"`
	StartCases     int              `yaml:"start_cases" within:"[2,1000000000]"`
	StartFrom      string           `yaml:"start_from"`
	StandardErrors bool             `yaml:"standard_errors"`
	Stop           schedule.Stop    `yaml:"stop"`
}

// tuneKeys are its keys.
var tuneKeys = keysOf(reflect.ValueOf(tuning{}))

// tune reads the tune section: a way of tuning all models, or a list of ways.
func (d *decoder) tune(n *strictyaml.Node, s *Spec) {
	s.TuneText = strictyaml.Flow(n)
	models := s.Models
	s.Models = nil
	start := d.Found.Found()
	for i, way := range d.ways(n) {
		before := d.Found.Found()
		if before-start > maxMistakes {
			break
		}
		t, shared := d.way(way, "bfgs")
		_, grid := t.Strategy.(search.Grid) // a grid has no defaults
		if _, unknown := t.Maximised(); d.Found.Found() > before &&
			(grid || t.Strategy == nil || unknown != nil || t.Cross != nil) {
			// The models can still be checked.
			t, shared = Tune{Method: "none", Criterion: objective.Criteria.Names()[0], Place: d.Found.Place(way)},
				tuning{}
		}
		if p, is := t.Strategy.(search.Partial); is && d.Found.Found() == before {
			d.budget(way, search.FidelityOf(p).Of, t.Cross)
		}
		tuned := models
		if shared.Inference != nil {
			tuned = d.tuneWith(shared.Inference, models)
		}
		if shared.StartInference != nil {
			tuned = d.startWith(shared.StartInference, tuned)
		}
		if len(s.Models)+len(tuned) > strictyaml.MaxAlternatives {
			strictyaml.TooMany(n, d.Found)
			return
		}
		for _, m := range tuned {
			if m.Tune = t; m.Comparator == nil || i == 0 { // comparators tune themselves
				s.Models = append(s.Models, m)
			}
		}
	}
}

// budget checks that a budget is one that models have.
func (d *decoder) budget(way *strictyaml.Node, of string, cross *CrossValidation) {
	at := valueOr(way, "budget")
	switch {
	case !slices.Contains(search.Shares, of):
		d.At(at, "budget: expected one of %s; a hyperparameter is the budget of programs (gpc-tune search)",
			strings.Join(search.Shares, ", "))
	case of == "folds" && cross == nil:
		d.At(at, "a budget of folds needs folds, as with objective: {cv: {score: log_loss, kfold: {k: 9}}}")
	}
}

// ways are the ways of tuning: one, or a list.
func (d *decoder) ways(n *strictyaml.Node) []*strictyaml.Node {
	if n == nil || n.Kind != strictyaml.SequenceNode {
		return []*strictyaml.Node{n}
	}
	ways := n.Content
	if len(ways) == 0 {
		d.At(n, "an empty list; give one way of tuning or more, such as {method: bfgs, restarts: 5}")
	}
	if len(ways) > maxWays {
		d.At(n, "%d ways of tuning, more than %d; split the experiment", len(ways), maxWays)
		ways = ways[:maxWays]
	}
	return ways
}

// way reads one way of tuning, with its shared keys. method is the default.
func (d *decoder) way(n *strictyaml.Node, method string) (t Tune, shared tuning) {
	shared, options, ok := d.shared(n, method)
	t = Tune{
		Method: shared.Method, StandardErrors: shared.StandardErrors,
		Objective: strictyaml.Flow(strictyaml.Find(n, "objective")), Stop: shared.Stop, Place: d.Found.Place(n),
		StartCases: shared.StartCases, StartFrom: shared.StartFrom,
		StartPlace: d.Found.Place(strictyaml.Find(n, "start_from")),
	}
	if !ok {
		return t, tuning{}
	}
	if o := shared.Objective; o != nil && (o.Kind != strictyaml.ScalarNode || o.Value == "cv") {
		if t.Cross = d.crossValidation(o); t.Cross != nil {
			t.Criterion = t.Cross.String()
		}
	} else {
		if o != nil && !d.scored(o) {
			t.Criterion = o.Value
		}
		choose(d, n, "objective", &t.Criterion, objective.Criteria.Names())
	}
	if t.Cross != nil && !t.Cross.Score.Greater && t.Stop.Target != nil {
		// The objective is minus such a score.
		target := -*t.Stop.Target
		t.Stop.Target = &target
	}
	if shared.Method == "none" {
		d.untuned(n, options)
		return t, shared
	}
	e, err := search.Table.Lookup("method", shared.Method)
	if err != nil {
		have := append(search.Table.Names(), "none")
		d.At(valueOr(n, "method"), "unknown method %q%s", shared.Method, registry.Suggest(shared.Method, have))
		return t, shared
	}
	t.Strategy, err = e.New(d.Reading(options, tuneKeys...))
	if err != nil && err != declared.ErrReported {
		d.At(n, "%v", err)
	}
	if err == nil {
		if err := t.Stop.Check(t.Strategy); err != nil {
			d.At(valueOr(n, "stop"), "%v", err)
		}
	}
	d.checkObjective(n, t, err == nil)
	for _, key := range []string{"start_inference", "start_cases"} {
		switch start := strictyaml.Find(n, key); {
		case start == nil || err != nil:
		case !t.Climbs():
			d.At(start, "%s is for methods that follow gradients, such as bfgs; leave it out for %s", key, t.Method)
		case t.Stop != (schedule.Stop{}):
			d.At(start, "%s cannot be combined with stop, whose criteria are about one objective; leave out one of "+
				"the two", key)
		}
	}
	return t, shared
}

// scored reports whether the objective is the name of a score, here or in another tool, and then
// adds a message how to write it.
func (d *decoder) scored(n *strictyaml.Node) bool {
	name := n.Value
	if meant, _ := registry.Elsewhere(name, names(cv.Scores, func(s cv.Score) string { return s.Name })); meant != "" {
		name = meant
	}
	if _, err := cv.ScoreNamed(name); err != nil || slices.Contains(objective.Criteria.Names(), n.Value) {
		return false
	}
	d.At(n, "objective %q is a score of held-out cases, which has no gradient; write {method: auto, objective: "+
		"{cv: {score: %s, kfold: {k: 5}}}}", n.Value, name)
	return true
}

// shared separates the keys that all methods share; the rest are the options of the strategy.
func (d *decoder) shared(n *strictyaml.Node, method string) (shared tuning, options *strictyaml.Node, ok bool) {
	shared = tuning{Method: method}
	switch {
	case n == nil || strictyaml.IsNull(n):
	case n.Kind == strictyaml.ScalarNode:
		shared.Method = n.Value
	case n.Kind == strictyaml.MappingNode:
		common := strictyaml.Emptied(n)
		options = strictyaml.Emptied(n)
		for i := 0; i < len(n.Content); i += 2 {
			to := options
			if slices.Contains(tuneKeys, n.Content[i].Value) {
				to = common
			}
			to.Content = append(to.Content, n.Content[i], n.Content[i+1])
		}
		d.Into(common, &shared)
	default:
		d.At(n, "expected a mapping such as {method: bfgs, restarts: 5}, found %s", strictyaml.Describe(n))
		return shared, nil, false
	}
	return shared, options, true
}

// untuned checks that method none has no options.
func (d *decoder) untuned(n, options *strictyaml.Node) {
	for _, key := range []string{"inference", "start_inference", "start_cases", "start_from", "standard_errors",
		"stop"} {
		if v := strictyaml.Find(n, key); v != nil {
			d.At(v, "method none takes no %q; nothing is tuned", key)
		}
	}
	if options != nil && len(options.Content) > 0 {
		d.At(options.Content[0], "method none takes no %q; nothing is tuned", options.Content[0].Value)
	}
}

// checkObjective checks that the strategy can maximise the objective; whole: it has been read
// without mistakes.
func (d *decoder) checkObjective(n *strictyaml.Node, t Tune, whole bool) {
	needs := t.NeedsGradient()
	if t.Climbs() {
		needs = "method: " + t.Method
	}
	if whole && needs != "" && t.Cross != nil {
		d.Found.AtPlace(t.Cross.Place, "%s needs a gradient, which a score of held-out cases does not have; tune "+
			"with method: auto, nelder_mead or cmaes", needs)
	}
	if _, samples := t.Strategy.(search.Sampler); !samples {
		return
	}
	if criterion, err := t.Maximised(); err == nil && (criterion == nil || !criterion.AddsPrior()) {
		d.At(valueOr(n, "objective"), "method %s samples the posterior density of the hyperparameters; write "+
			"objective: log_posterior, and give each of them a prior", t.Method)
	}
}

// crossValidation reads {cv: {score: NAME, SPLITTER: {options}}}; the default splitter is kfold.
func (d *decoder) crossValidation(n *strictyaml.Node) *CrossValidation {
	name, options, ok := d.Named(n, "objective")
	if !ok {
		return nil
	}
	if name != "cv" {
		have := append(objective.Criteria.Names(), "cv")
		d.At(n, "unknown objective %q with options%s", name, registry.Suggest(name, have))
		return nil
	}
	if options == nil || options.Kind != strictyaml.MappingNode || strictyaml.Find(options, "score") == nil {
		d.At(n, "cv needs a score, as in {cv: {score: information_bits, kfold: {k: 5}}}")
		return nil
	}
	c := &CrossValidation{Splitter: split.KFold{}, Name: "kfold", Place: d.Found.Place(n)}
	given := ""
	d.Mapping(options, func(key, value *strictyaml.Node) {
		if key.Value == "score" {
			var err error
			if c.Score, err = cv.ScoreNamed(value.Value); err != nil {
				d.At(value, "%v", err)
			}
			return
		}
		e, err := split.Table.Lookup("splitter", key.Value)
		switch {
		case err != nil:
			d.At(key, "unknown key %q%s", key.Value,
				registry.Suggest(key.Value, append([]string{"score"}, split.Table.Names()...)))
			return
		case given != "":
			d.At(key, "both %s and %s; keep one splitter", given, key.Value)
			return
		}
		given = key.Value
		splitter, err := e.New(d.Reading(value))
		if err != nil && err != declared.ErrReported {
			d.At(value, "%v", err)
		}
		if err == nil {
			c.Splitter, c.Name = splitter, key.Value
		}
	})
	return c
}

// Limits on lists, because every element takes time, correct or not.
const (
	maxWays = 1000 // ways of tuning
	maxSets = 1000 // of data
)
