package catalogue

import (
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// Expectation propagation alone takes 15 times the time of Laplace's method for ten classes and 50
// inducing inputs, so that Laplace's method finds hyperparameters for it where the likelihood has
// derivatives.
func TestModelsOfClientsAreTunedByTheQuickestMethod(t *testing.T) {
	read := func(text string) map[string]any {
		findings := strictyaml.NewFindings("")
		root := strictyaml.Parse([]byte(text), findings)
		if err := findings.Err(); err != nil {
			t.Fatal(err)
		}
		model, _ := plainValue(root).(map[string]any)
		return model
	}
	for text, want := range map[string]any{
		`{classes: joint}`:                                      "laplace",
		`{inference: ep}`:                                       "laplace",
		`{inference: {ep: }}`:                                   "laplace",
		`{inference: {ep: {inducing: 50}}}`:                     "laplace",
		`{inference: "{ep: {inducing: 50}}"}`:                   "laplace",
		`{inference: [ep, base_rate]}`:                          "laplace",
		`{inference: [{ep: {damping: .5}}, laplace]}`:           "laplace",
		`{inference: sampling}`:                                 "laplace",
		`{inference: {pl: {inducing: 50}}}`:                     nil,
		`{inference: {}}`:                                       nil,
		`{inference: [ep, pl]}`:                                 nil,
		`{inference: [base_rate]}`:                              nil,
		`{inference: laplace}`:                                  nil,
		`{likelihood: ordinal}`:                                 "laplace",
		`{likelihood: {probit: }, inference: sampling}`:         "laplace",
		`{likelihood: [probit, logit]}`:                         "laplace",
		`{likelihood: noisy_threshold}`:                         nil,
		`{likelihood: "{step: }"}`:                              nil,
		`{likelihood: multinomial_probit}`:                      nil,
		`{likelihood: noisy_threshold, inference: sampling}`:    "ep",
		`{likelihood: multinomial_probit, inference: sampling}`: "ep",
	} {
		if _, tune := completed(read(text), 10); tune["inference"] != want {
			t.Errorf("%s is tuned by %v, expected %v", text, tune["inference"], want)
		}
	}
	prior := `{se: {length_scale: {prior: {normal: {mean: 0, sd: 1}}}}}`
	for kernel, want := range map[string]any{prior: "log_posterior", "[" + prior + "]": "log_posterior",
		"[se, " + prior + "]": nil, "'" + prior + "'": "log_posterior"} {
		if _, tune := completed(read("{kernel: "+kernel+"}"), 2); tune["objective"] != want {
			t.Errorf("%s is tuned by %v, expected %v", kernel, tune["objective"], want)
		}
	}
	for text, want := range map[string]string{`{mean: zero}`: "softmax", `{classes: one_vs_rest}`: "probit"} {
		if model, _ := completed(read(text), 3); model["likelihood"] != want {
			t.Errorf("the likelihood of %s is %v, expected %s", text, model["likelihood"], want)
		}
	}
}

// Texts of YAML stand as they are in a study of a client; names of columns do not.
func TestStudiesOfClientsAreComplete(t *testing.T) {
	table := map[string]any{"train": "train.parquet", "label": "y", "columns": map[string]any{"[a]": "ordered"}}
	for study, want := range map[string][]string{
		`{"kernel": "{sum: [se, noise]}", "name": "mine"}`: {`"kernel": {sum: [se, noise]}`, `"k": 7`, `"[a]": `,
			`"coverage": 0.9`, `"method": "bfgs"`, `"name": "mine"`, `"preprocess": "standardize"`},
		`{"kernel": "se", "data": {"group": "g"}}`: {`"group_kfold"`, `"stratified": true`},
		`{"kernel": "se", "evaluate": "loo"}`:      {`"evaluate": "loo"`},
	} {
		made, err := ForTable([]byte(study), "", table, []string{"[a]", "g"})
		if err == nil {
			err = made.Complete(2, 7)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(made.Study, part) {
				t.Errorf("%s has no %s:\n%s", study, part, made.Study)
			}
		}
		if strings.Contains(study, "loo") == strings.Contains(made.Study, "coverage") {
			t.Errorf("sets of %s:\n%s", study, made.Study)
		}
		findings := strictyaml.NewFindings("")
		if strictyaml.Parse([]byte(made.Study), findings); findings.Err() != nil {
			t.Error(findings.Err())
		}
	}
}

func TestNamesOfClassesAreClear(t *testing.T) {
	for text, clear := range map[string]bool{"ill": true, "0": true, "-12": true, "00": false, "1.5": false, "3 ": false,
		"=' '": false, "a;b": false, "10 %": false, "1e5": false, "-Inf": false, "a1": true, "5 µg": true, "²": true,
		"1234567890123456": false, "١٢": false} {
		want := []string{text, "other"}
		if !clear {
			want = []string{"class 0", "class 1"}
		}
		if got := ClassNames([]string{text, "other"}); !slices.Equal(got, want) {
			t.Errorf("%q has the names %q, expected %q", text, got, want)
		}
	}
	if got := ClassNames([]string{"1", "1"}); !slices.Equal(got, []string{"class 0", "class 1"}) {
		t.Errorf("equal texts have the names %q", got)
	}
}
