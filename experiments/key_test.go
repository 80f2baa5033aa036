package experiments

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/experiments/illustrate"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/search"
)

// pins has experiments of all kinds, with the key of the plan and the key of its last study or
// first illustration. They were computed by the version before keys had a type of their own, so
// that its run folders can be resumed. A changed key makes every existing folder useless: see
// keyForm. The keys belong to the first version of every component.
var pins = map[string]struct{ text, plan, study string }{
	"restarts": {`{name: a, seed: 1, data: {dataset: crabs, preprocess: standardize}, model: {kernel: se, likelihood: probit, inference: laplace}, tune: {method: bfgs, restarts: 2}, evaluate: {kfold: {k: 3}}}`,
		"58515c50cd185ddfd73f2c6797f1c097", "44967cf2df03c9f531f97a53758683e2"},
	"parts": {`{name: b, seed: 2, data: {dataset: iris, preprocess: whiten, subsample: 30}, model: {kernel: {sum: [{se: {ard: true, length_scale: {prior: {gamma: {shape: 2, rate: 1}}}}}, {noise: {amplitude: {fixed: 0.1}}}]}, ` +
		`likelihood: softmax, inference: {laplace: {max_iterations: 50}}}, tune: {method: bfgs, objective: log_posterior, standard_errors: true}, predict: {average: map}}`,
		"6560a4ca387aee270a71fb4ef01cd6df", "9fdf2afbbb955e4b4c9d3ee3ca0c3001"},
	"samples": {`{name: c, seed: 3, data: {dataset: crabs, subsample: 20, preprocess: standardize}, model: {kernel: {se: {amplitude: {bounds: [0.1, 10], prior: {log_normal: {mean: 0, sd: 1}}}, length_scale: {prior: {half_t: {scale: 1, degrees_of_freedom: 4}}}}}, ` +
		`mean: zero, likelihood: logit, inference: ep}, tune: {method: mcmc, samples: 5, burn: 2, objective: log_posterior}}`,
		"7a07ca0585e0629ad4eba7b56f78b02c", "a61beb94fb5c8bff9de0c3b996d470af"},
	"race": {`{name: d, seed: 4, data: {dataset: crabs, subsample: 40, preprocess: standardize}, model: {kernel: [se, linear], likelihood: probit, inference: laplace}, tune: {method: cmaes, objective: {cv: {score: log_loss, kfold: {k: 2}}}}, ` +
		`evaluate: {kfold: {k: 4}}, race: {successive_halving: {eta: 2}}}`,
		"d69ddbdcd1657ad90d0ba821ef364cc3", "8daf0bbe36b3b22b8edc07edfa2984de"},
	"comparator": {`{name: e, seed: 5, data: {dataset: crabs, subsample: 30}, model: {kernel: se, likelihood: probit, inference: svm}, tune: none, evaluate: {kfold: {k: 3}}}`,
		"683777da7e96764c157a5afd568c63ba", "c282569fabe066b6d3fd0d832ec9fe08"},
	"illustration": {`{name: f, seed: 6, model: {kernel: se, likelihood: probit, inference: [laplace, ep]}, illustrate: [prior, {posterior: {}}]}`,
		"8363b9bc5233514a597cf97db05f5c5d", "9ed7292726767859af024d0479536ab2"},
}

// first gives all components of a table their first version for a test, so that raising a version
// changes no pin.
func first[I any](t *testing.T, table registry.Table[I]) {
	before := slices.Clone(table)
	for i, e := range table {
		table[i] = e.At(1)
	}
	t.Cleanup(func() { copy(table, before) })
}

// firstVersions does so for all tables that enter keys.
func firstVersions(t *testing.T) {
	first(t, kernel.Table)
	first(t, objective.Means)
	first(t, objective.Criteria)
	first(t, objective.Optimizers)
	first(t, objective.Averages)
	first(t, likelihood.Table)
	first(t, approx.Table)
	first(t, comparator.Table)
	first(t, param.Priors)
	first(t, search.Table)
	first(t, split.Table)
	first(t, cv.Races)
	first(t, illustrate.Illustrations)
	before := slices.Clone(cv.Scores)
	for i := range cv.Scores {
		cv.Scores[i].Version = 1
	}
	t.Cleanup(func() { copy(cv.Scores, before) })
}

func TestKeys(t *testing.T) {
	firstVersions(t)
	for name, pin := range pins {
		p := plantest.Planned(t, pin.text)
		study := ""
		if n := len(p.Studies); n > 0 {
			study = p.Studies[n-1].Key
		} else {
			study = p.Manifest.Illustrations[0].Key
		}
		if p.Manifest.Key != pin.plan || study != pin.study {
			t.Errorf("%s: the plan's key is %s, want %s; %s, want %s", name, p.Manifest.Key, pin.plan, study, pin.study)
		}
	}
}

// Raising the version of a component changes the keys of everything that uses it, and no others; a
// folder is then refused for that reason.
func TestVersionsAreInKeys(t *testing.T) {
	firstVersions(t)
	keys := func() map[string]string {
		all := map[string]string{}
		for name, pin := range pins {
			all[name] = plantest.Planned(t, pin.text).Manifest.Key
		}
		return all
	}
	want := keys()
	dir := t.TempDir()
	if err := journal.WriteManifest(dir, plantest.Planned(t, pins["restarts"].text).Manifest, ""); err != nil {
		t.Fatal(err)
	}
	se, linear, gamma := slices.Index(kernel.Table.Names(), "se"), slices.Index(kernel.Table.Names(), "linear"), slices.Index(param.Priors.Names(), "gamma")
	laplace, bfgs, logLoss := slices.Index(approx.Table.Names(), "laplace"), slices.Index(objective.Optimizers.Names(), "bfgs"), slices.IndexFunc(cv.Scores, func(s cv.Score) bool { return s.Name == "log_loss" })
	halving, averaged, cmaes := slices.Index(cv.Races.Names(), "successive_halving"), slices.Index(objective.Averages.Names(), "averaged"), slices.Index(search.Table.Names(), "cmaes")
	for _, c := range []struct {
		what         string
		raise, lower func()
		other        []string
	}{
		{"kernel se", func() { kernel.Table[se] = kernel.Table[se].At(2) }, func() { kernel.Table[se] = kernel.Table[se].At(1) }, []string{"comparator", "illustration", "parts", "race", "restarts", "samples"}},
		{"kernel linear", func() { kernel.Table[linear] = kernel.Table[linear].At(2) }, func() { kernel.Table[linear] = kernel.Table[linear].At(1) }, []string{"race"}},
		{"prior gamma", func() { param.Priors[gamma] = param.Priors[gamma].At(2) }, func() { param.Priors[gamma] = param.Priors[gamma].At(1) }, []string{"parts"}},
		{"inference laplace", func() { approx.Table[laplace] = approx.Table[laplace].At(3) }, func() { approx.Table[laplace] = approx.Table[laplace].At(1) }, []string{"illustration", "parts", "race", "restarts"}},
		{"optimizer bfgs", func() { objective.Optimizers[bfgs] = objective.Optimizers[bfgs].At(2) }, func() { objective.Optimizers[bfgs] = objective.Optimizers[bfgs].At(1) }, []string{"parts", "restarts"}},
		{"score log_loss", func() { cv.Scores[logLoss].Version = 2 }, func() { cv.Scores[logLoss].Version = 0 }, []string{"race"}},
		{"race successive_halving", func() { cv.Races[halving] = cv.Races[halving].At(2) }, func() { cv.Races[halving] = cv.Races[halving].At(1) }, []string{"race"}},
		{"average averaged", func() { objective.Averages[averaged] = objective.Averages[averaged].At(2) }, func() { objective.Averages[averaged] = objective.Averages[averaged].At(1) }, []string{"race", "restarts", "samples"}},
		{"method cmaes", func() { search.Table[cmaes] = search.Table[cmaes].At(2) }, func() { search.Table[cmaes] = search.Table[cmaes].At(1) }, []string{"race"}},
	} {
		c.raise()
		var other []string
		for name, key := range keys() {
			if key != want[name] {
				other = append(other, name)
			}
		}
		_, _, err := run.Done(plantest.Planned(t, pins["restarts"].text), dir)
		c.lower()
		slices.Sort(other)
		if !slices.Equal(other, c.other) {
			t.Errorf("%s: other keys for %v, want %v", c.what, other, c.other)
		}
		if why := "versions of the code of components: 2 of shared code in the folder, "; slices.Contains(c.other, "restarts") && (err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), " of "+c.what+", 2 of shared code here")) {
			t.Errorf("%s: the folder is refused with %v", c.what, err)
		}
	}
}

// The method of imputation is part of the key if there are missing values.
func TestImputationIsInTheKey(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "gaps.csv")
	if err := os.WriteFile(name, []byte("x,y,label\n1,2,a\n,3,b\n7,5,a\n2,9,b\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	key := func(missing string) string {
		return plantest.Planned(t, fmt.Sprintf("data: {train: %s, missing: %s, preprocess: standardize}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\n", name, missing)).Manifest.Key
	}
	if mean, median := key("mean"), key("median"); mean == median {
		t.Errorf("the key is %s with either", mean)
	}
}

// A folder with keys of another form is refused for that reason.
func TestAnotherFormOfKeys(t *testing.T) {
	dir := t.TempDir()
	p := plantest.Planned(t, pins["restarts"].text)
	m := p.Manifest
	m.Key, m.KeyForm = "another", plan.KeyForm+1
	if err := journal.WriteManifest(dir, m, ""); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run.Done(p, dir); err == nil || !strings.Contains(err.Error(), "its job keys have format 2, and this version of gpc-tune uses format 1; continue with the version that started it") {
		t.Errorf("the error is %v", err)
	}
}
