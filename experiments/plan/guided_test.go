package plan_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/search"
)

// Where the objective has a gradient, auto climbs: for two hyperparameters a climb is expected to take 20 evaluations,
// for seven 65. Where it has none, and where the trials are too few for a climb from each choice, it evaluates points.
// These are trials of their own.
func TestAutoTakesTheGradient(t *testing.T) {
	const head = "data: {dataset: crabs, subsample: 40}\nmodel: {likelihood: probit, inference: laplace, kernel: "
	climbs := func(restarts int) search.Strategy {
		return search.BFGS{Ascent: search.Ascent{MultiStart: search.MultiStart{Restarts: restarts}}}
	}
	keys := map[string]string{}
	for _, c := range []struct {
		kernel, tune string
		want         search.Strategy
	}{
		{"se", "auto", climbs(7)},
		{"se", "{method: auto, trials: 400}", climbs(27)},
		{"se", "{method: auto, trials: 10}", climbs(1)},
		{"se", "{method: auto, trials: 7}", search.Auto{Trials: 7}},
		{"se", "{method: auto, inference: ep}", climbs(7)},
		{"se", "{method: auto, inference: sampling}", search.Auto{}},
		{"se", "{method: auto, objective: loo_log_probability}", climbs(7)},
		{"se", "{method: auto, objective: {cv: {score: log_loss}}}", search.Auto{}},
		{"{se: {ard: true}}", "auto", climbs(3)},
		{"{choice: [se, matern32, matern52, linear]}", "auto", climbs(4)},
		{"{choice: [se, matern32, matern52, linear]}", "{method: auto, trials: 160}", search.Auto{Trials: 160}},
		{"{choice: [se, matern32, matern52, linear]}", "{method: auto, trials: 320}", climbs(6)},
	} {
		p := plantest.Planned(t, head+c.kernel+"}\ntune: "+c.tune+"\n")
		s := p.Studies[0]
		if !reflect.DeepEqual(s.Strategy, c.want) || p.Manifest.Configurations[0].Tune != "auto" {
			t.Errorf("%s, %s: %+v by %s, want %+v", c.kernel, c.tune, s.Strategy, p.Manifest.Configurations[0].Tune, c.want)
		}
		keys[c.kernel+c.tune] = s.Key
	}
	if climbed := keys["seauto"]; climbed == keys["se{method: auto, trials: 7}"] || climbed != keys["se{method: auto, trials: 400}"] {
		t.Error("the trials of a climb are those of points, or are not those of more climbs")
	}
}

// none is guided, and has no other strategy.
type none struct{ search.Auto }

func (none) WithGradient(search.Space) search.Strategy { return nil }

// A strategy that has no other for a gradient stays itself.
func TestNoOtherStrategy(t *testing.T) {
	s, err := spec.Parse("t.yaml", []byte("data: {dataset: crabs, subsample: 40}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\ntune: auto\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Models[0].Tune.Strategy = none{}
	p, err := plan.New(t.Context(), s)
	if err != nil || p.Studies[0].Strategy != (none{}) {
		t.Errorf("%+v, %v", p, err)
	}
}

// Two models that are tuned by the same method share trials only if the method has the same
// inducing inputs for both, which it takes over from each model.
func TestTuningIsSharedForTheSameStructure(t *testing.T) {
	const text = "data: {dataset: crabs, subsample: 60}\nmodel: {kernel: se, likelihood: probit, inference: [%s]}\ntune: {method: bfgs, inference: laplace}\n"
	for inference, want := range map[string]bool{
		"ep, {ep: {inducing: 20}}": false, "{ep: {inducing: 9}}, {ep: {inducing: 20}}": false,
		"ep, pl": true, "{ep: {inducing: 20}}, {pl: {inducing: 20}}": true,
	} {
		p := plantest.Planned(t, fmt.Sprintf(text, inference))
		one, two := p.Studies[0], p.Studies[1]
		if shared := one.Shared.Tuning == two.Shared.Tuning && one.Shared.Tuning != ""; shared != want || one.Key == two.Key {
			t.Errorf("%s: shared %v, want %v; keys %s and %s", inference, shared, want, one.Key, two.Key)
		}
	}
}
