package predict

import (
	"math"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/modelfile"
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
