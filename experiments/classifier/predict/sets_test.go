package predict

import (
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/modelfile"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
)

// The sets of a model file have a coverage, and ascending probabilities and weights for every class.
func TestSetsOfAModelFile(t *testing.T) {
	good := [][]float64{{0, 0.5, 0.5, 1}, {}}
	for i, c := range []struct {
		of      modelfile.Sets
		classes int
		wrong   string // the part; "": none
	}{
		{modelfile.Sets{Coverage: 0.9, Proba: good}, 2, ""},
		{modelfile.Sets{Coverage: 0.9, Proba: good, Weights: [][]float64{{1, 0.5, 2, 1}, {}}}, 2, ""},
		{modelfile.Sets{Coverage: 1, Proba: good}, 2, "sets.coverage"}, {modelfile.Sets{Proba: good}, 2, "sets.coverage"},
		{modelfile.Sets{Coverage: math.NaN(), Proba: good}, 2, "sets.coverage"},
		{modelfile.Sets{Coverage: 0.9, Proba: good}, 3, "sets"}, {modelfile.Sets{Coverage: 0.9}, 0, "sets"},
		{modelfile.Sets{Coverage: 0.9, Proba: good, Weights: [][]float64{{1, 0.5, 2, 1}}}, 2, "sets"},
		{modelfile.Sets{Coverage: 0.9, Proba: [][]float64{{0.5, 0.4}, {}}}, 2, "sets.proba"},
		{modelfile.Sets{Coverage: 0.9, Proba: [][]float64{{-0.1}, {}}}, 2, "sets.proba"},
		{modelfile.Sets{Coverage: 0.9, Proba: [][]float64{{0.1, math.NaN()}, {}}}, 2, "sets.proba"},
		{modelfile.Sets{Coverage: 0.9, Proba: good, Weights: [][]float64{{1, 0.5, 2}, {}}}, 2, "sets.weights"},
		{modelfile.Sets{Coverage: 0.9, Proba: good, Weights: [][]float64{{1, 0, 2, 1}, {}}}, 2, "sets.weights"},
		{modelfile.Sets{Coverage: 0.9, Proba: good, Weights: [][]float64{{1, math.Inf(1), 2, 1}, {}}}, 2, "sets.weights"},
	} {
		f := &ModelFile{Columns: &data.Schema{Classes: []string{"a", "b", "c"}[:c.classes]}, Sets: &c.of}
		err := (&Classifier{file: f}).readSets()
		if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.HasPrefix(err.Error(), c.wrong+": ")) {
			t.Errorf("%d: %+v: %v, want %q", i, c.of, err, c.wrong)
		}
	}
}

// The sets of a classifier that a race has cut are compared with the held-out cases of all folds,
// as without the race.
func TestSetsAfterARace(t *testing.T) {
	const file = "data: {dataset: crabs, subsample: 40, preprocess: standardize}\n" +
		"model: {kernel: linear, likelihood: probit, inference: [base_rate, laplace]}\n" +
		"tune: none\nevaluate: {kfold: {k: 4}}\npredict: {sets: {coverage: 0.5}}\n"
	dir, o := t.TempDir(), run.Options{}
	raced := plantest.Planned(t, file+"race: {successive_halving: {eta: 2}}\n")
	if _, _, err := run.Run(t.Context(), raced, dir, o); err != nil {
		t.Fatal(err)
	}
	o.Resume = true
	cut := FitOptions{Configuration: new(0), Dir: dir, Options: o}
	got, _, err := Fit(t.Context(), raced, filepath.Join(t.TempDir(), "m.json"), cut)
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := Fit(t.Context(), plantest.Planned(t, file), filepath.Join(t.TempDir(), "m.json"), FitOptions{Configuration: new(0)})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(slices.Concat(got.Sets.Proba...)); n != 40 || !reflect.DeepEqual(got.Sets, want.Sets) {
		t.Errorf("%d cases, %+v, want %+v", n, got.Sets, want.Sets)
	}
}
