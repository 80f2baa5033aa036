package plan_test

import (
	"context"
	"errors"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// custom is a strategy of another program, which checks nothing of the space.
type custom struct {
	search.Random `yaml:",inline"`
	Share         float64 `yaml:"share" within:"(0,1)"`
	panics        string
}

func (c custom) Check(search.Space) error {
	if c.panics == "check" {
		panic("a bug")
	}
	return nil
}

func (c custom) Ask(s search.Space, done []record.Trial, seed uint64) []search.Proposal {
	if c.panics == "ask" {
		panic("a bug")
	}
	return c.Random.Ask(s, done, seed)
}

// counted is a strategy with a version of its code.
type counted struct {
	search.Random `yaml:",inline"`
}

// The version of a strategy's code is on record, if it is not the first version of this module.
func TestVersionsOfStrategies(t *testing.T) {
	search.Register("counted", "random points", 7, counted{search.Random{Design: search.Design{Trials: 2}}})
	for method, want := range map[string]map[string]int{"random": nil, "counted": {"method counted": 7}} {
		p := plantest.Planned(t, "program: {command: [sh, a.sh, '{x}'], hyperparameters: {x: {linear: {from: 0, to: 1}}}}\n"+
			"tune: {method: "+method+", trials: 6}\n")
		if got := p.Manifest.Configurations[0].Versions; !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", method, got, want)
		}
	}
}

// Mistakes of a function that a program gives are errors before it is called, whatever its strategy checks itself.
func TestMistakesInFunctions(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	good := schedule.Function{Name: "f", Space: search.Space{param.Between("x", param.Identity, 0, 1), param.Between("n", param.Whole, 3, 3), param.Among("kind", "a")},
		Strategy: custom{}, Value: func(context.Context, []float64) (float64, error) { panic("called") }}
	random := func(trials int) search.Random { return search.Random{Design: search.Design{Trials: trials}} }
	between := func(m param.Transform, lo, hi float64) func(f *schedule.Function) {
		return func(f *schedule.Function) { f.Space = search.Space{{Name: "x", Map: m, Init: lo, Lo: lo, Hi: hi}} }
	}
	for _, c := range []struct {
		want   string // "": none
		change func(f *schedule.Function)
	}{
		{"", func(*schedule.Function) {}}, {"", func(f *schedule.Function) { f.Strategy = &custom{} }},
		{"[1, 1], which must be two numbers", between(param.Identity, 1, 1)}, {"[0, NaN]", between(param.Identity, 0, nan)},
		{"[0, +Inf]", between(param.Identity, 0, inf)}, {"greater than 0", between(param.Log, 0, 1)},
		{"the transform 9", between(9, 0, 1)}, {`two hyperparameters are named "x"`, func(f *schedule.Function) { f.Space = append(f.Space, f.Space[0]) }},
		{"x is fixed", func(f *schedule.Function) {
			f.Space = search.Space{{Name: "x", Hi: 1, Map: param.Identity, Fixed: true}}
		}},
		{"share = 1.5 must be greater than 0 and less than 1", func(f *schedule.Function) { f.Strategy = custom{Share: 1.5} }},
		{"share = NaN must be", func(f *schedule.Function) { f.Strategy = &custom{Share: nan} }},
		{"trials = -3 must be from 1 to 1000000", func(f *schedule.Function) { f.Strategy = custom{Random: random(-3)} }},
		{"stop: patience = -3 must be from 1 to 1000000", func(f *schedule.Function) { f.Stop.Patience = -3 }},
		{"stop: improvement = NaN must be at least 0", func(f *schedule.Function) { f.Strategy, f.Stop.Improvement = search.Bayes{}, nan }},
		{"stop: regret = +Inf must be at least 0", func(f *schedule.Function) { f.Strategy, f.Stop.Regret = search.Bayes{}, inf }},
		{`stop: time: "soon"`, func(f *schedule.Function) { f.Stop.Time = "soon" }},
		{"the strategy plan_test.custom cannot be used: panic: a bug", func(f *schedule.Function) { f.Strategy = custom{panics: "check"} }},
		{"the strategy plan_test.custom cannot be used: panic: a bug", func(f *schedule.Function) { f.Strategy = custom{panics: "ask"} }},
	} {
		f := good
		c.change(&f)
		p, err := plan.Searching(t.Context(), f)
		if (err == nil) != (c.want == "") || err != nil && (p != nil || !errors.Is(err, spec.ErrInvalid) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
