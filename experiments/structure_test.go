package experiments

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/query"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// TestAutomaticStructure: the plan of a file with structure: auto is the plan of the same file with
// the chosen structure, and says in one note what was chosen. Every method of a model has the same
// structure, also within one_vs_rest.
func TestAutomaticStructure(t *testing.T) {
	names, err := query.Waves(4100, 2, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	large := fmt.Sprintf("{train: %q, label: label}", names[0])
	for _, test := range []struct{ data, model, hand, chosen string }{
		{large, "likelihood: logit, inference: {laplace: {max_iterations: 50, structure: auto}}}\ntune: {restarts: 1",
			"likelihood: logit, inference: {laplace: {max_iterations: 50, inducing: 200}}}\ntune: {restarts: 1",
			"inducing: 200 for 4100 cases, by a pilot with 4000"},
		{"{dataset: crabs}", "likelihood: probit, inference: {ep: {structure: auto}}}\ntune: {restarts: 1, inference: laplace",
			"likelihood: probit, inference: ep}\ntune: {restarts: 1, inference: laplace", "the matrix"},
		{"{dataset: iris}", "likelihood: probit, inference: {laplace: {structure: auto}}, classes: one_vs_rest}\ntune: {restarts: 1",
			"likelihood: probit, inference: laplace, classes: one_vs_rest}\ntune: {restarts: 1", "the matrix"},
	} {
		of := func(model string) *plan.Plan {
			return plantest.Planned(t, fmt.Sprintf("data: %s\nmodel: {kernel: se, %s, method: bfgs}\nevaluate: {kfold: {k: 2}}\n",
				test.data, model))
		}
		auto, hand := of(test.model), of(test.hand)
		notes := auto.Manifest.Warnings
		if len(notes) != len(hand.Manifest.Warnings)+1 || notes[0].Kind != cause.Structure ||
			!strings.HasPrefix(notes[0].Text, "structure: auto takes "+test.chosen) {
			t.Errorf("%s: notes %v", test.data, notes)
		}
		if auto.Manifest.Key != hand.Manifest.Key ||
			!reflect.DeepEqual(auto.Manifest.Configurations, hand.Manifest.Configurations) {
			t.Errorf("%s: %+v, by hand %+v", test.data, auto.Manifest.Configurations, hand.Manifest.Configurations)
		}
		if got, want := auto.Models[0], hand.Models[0]; got.Written.Method != want.Written.Method ||
			!reflect.DeepEqual(got.Model, want.Model) {
			t.Errorf("%s: %+v, by hand %+v", test.data, got, want)
		}
	}
}
