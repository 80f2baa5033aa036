package experiments

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/gallery"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
)

const valid = `version: 1
name: t
seed: 1
data: {dataset: crabs, preprocess: standardize}
model:
  kernel: se
  likelihood: probit
  inference: laplace
`

func parse(t *testing.T, text string, settings ...string) (*spec.Spec, spec.Problems) {
	t.Helper()
	s, err := spec.Parse("t.yaml", []byte(text), settings)
	if err == nil {
		return s, nil
	}
	p, ok := err.(spec.Problems)
	if !ok || len(p) == 0 {
		t.Fatalf("Parse gave %T %v, want Problems", err, err)
	}
	return nil, p
}

func TestFiveMistakesGiveFiveProblemsWithPlaces(t *testing.T) {
	_, got := parse(t, `version: 1
sede: 1
data: {dataset: crab, preprocess: standardize}
model:
  kernel: {se: {amplitude: {init: -1}, lenght_scale: 2}}
  likelihood: [probit, logti]
  inference: laplace
tune: {method: bfgs, restarts: many}
`)
	want := []struct {
		place, says string
	}{
		{"t.yaml:2:1", `unknown key "sede"; did you mean "seed"?`},
		{"t.yaml:3:17", `did you mean "crabs"?`},
		{"t.yaml:5:40", `did you mean "length_scale"?`},
		{"t.yaml:6:24", `did you mean "logit"?`},
		{"t.yaml:8:32", `expected a whole number, found "many"`},
	}
	if len(got) != len(want) {
		t.Fatalf("got %d problems, want %d:\n%v", len(got), len(want), got)
	}
	for i, w := range want {
		if text := got[i].Error(); !strings.HasPrefix(text, w.place+": ") || !strings.Contains(text, w.says) {
			t.Errorf("problem %d: %s\nwant %s … %s", i+1, text, w.place, w.says)
		}
	}
}

// Each case has one mistake in an otherwise valid file, and the place and a part of the message
// expected.
func TestOneMistakeOneProblem(t *testing.T) {
	for name, c := range map[string]struct{ from, to, place, says string }{
		"empty file":            {valid, "", "1:1", "empty"},
		"syntax":                {"seed: 1", "seed: [1", "", ""},
		"second document":       {"inference: laplace\n", "inference: laplace\n---\na: 1\n", "", "one file declares one experiment"},
		"version":               {"version: 1", "version: 2", "1:10", "version 2 is not known"},
		"name":                  {"name: t", "name: a/b", "2:7", "name"},
		"duplicate key":         {"seed: 1", "seed: 1\nseed: 2", "4:1", "first given at line 3"},
		"negative seed":         {"seed: 1", "seed: -1", "3:7", "whole number, 0 or more"},
		"seed with a fraction":  {"seed: 1", "seed: 1.5", "3:7", "whole number, 0 or more, found \"1.5\""},
		"huge count":            {valid, valid + "evaluate: {kfold: {k: -1e300}}\n", "9:23", "whole number"},
		"data is a list":        {"data: {dataset: crabs, preprocess: standardize}", "data: []", "4:7", "empty list"},
		"no data":               {"data: {dataset: crabs, preprocess: standardize}\n", "", "1:1", "no data"},
		"kernel missing":        {"  kernel: se\n", "", "6:3", "no kernel"},
		"kernel is empty":       {"kernel: se", "kernel:", "6:3", "no kernel"},
		"kernel with two names": {"kernel: se", "kernel: {se: {}, noise: {}}", "6:11", "expected a kernel"},
		"sum of nothing":        {"kernel: se", "kernel: {sum: []}", "6:11", "needs a list"},
		"sum of unknown":        {"kernel: se", "kernel: {sum: [se, nose]}", "6:22", `did you mean "noise"?`},
		"fixed and init":        {"kernel: se", "kernel: {se: {amplitude: {init: 1, fixed: 1}}}", "6:28", "keep one"},
		"amplitude of zero":     {"kernel: se", "kernel: {se: {amplitude: 0}}", "6:28", "greater than 0"},
		"bounds the wrong way":  {"kernel: se", "kernel: {se: {amplitude: {bounds: [2, 1]}}}", "6:28", "smaller first"},
		"one bound":             {"kernel: se", "kernel: {se: {amplitude: {bounds: [2]}}}", "6:37", "list of 2"},
		"start outside":         {"kernel: se", "kernel: {se: {amplitude: 1e-8}}", "6:11", "amplitude starts at 1e-08, outside its bounds [4.53999e-05, 3.26902e+06]"},
		"infinite":              {"kernel: se", "kernel: {se: {amplitude: {init: .inf}}}", "6:35", "a number"},
		"active without dims":   {"kernel: se", "kernel: {active: {kernel: se}}", "6:11", "needs dims"},
		"active from zero":      {"kernel: se", "kernel: {active: {dims: [0], kernel: se}}", "6:28", "at least 1"},
		"option of wrong type":  {"kernel: se", "kernel: {se: {ard: maybe}}", "6:22", "true or false"},
		"unknown option":        {"inference: laplace", "inference: {laplace: {tolerence: 1}}", "8:25", `did you mean "tolerance"?`},
		"empty choice":          {"likelihood: probit", "likelihood: []", "7:15", "empty list"},
		"alias to itself":       {"likelihood: probit", "likelihood: &a [*a]", "", "contains itself"},
		"merge key":             {"kernel: se", "kernel: {se: {<<: {ard: true}}}", "6:17", "merge keys"},
		"key that is a list":    {"seed: 1", "[a]: 1", "3:1", "plain text"},
		"three classes":         {"dataset: crabs", "dataset: iris", "8:14", "one_vs_rest"},
		"one against one":       {"inference: laplace", "inference: laplace\n  classes: one_vs_rest", "8:14", "classes: joint"},
		"one against rest of":   {"inference: laplace", "inference: {ep: {tolerance: -1}}\n  classes: one_vs_rest", "8:31", "tolerance = -1"},
		"per class inside":      {"kernel: se", "kernel: {sum: [{per_class: se}]}", "6:18", "outermost"},
		"per class of two":      {"kernel: se", "kernel: {per_class: se}", "", "one shared kernel"},
		"column that is not":    {"kernel: se", "kernel: {active: {dims: [7], kernel: se}}", "6:11", "7"},
		"unknown evaluation":    {valid, valid + "evaluate: {kfolds: {k: 3}}\n", "9:12", `did you mean "kfold"?`},
		"unknown method":        {valid, valid + "tune: {method: bgfs}\n", "9:16", `did you mean "bfgs"?`},
		"tuned in no way":       {valid, valid + "tune: []\n", "9:7", "empty list"},
		"ways within a way":     {valid, valid + "tune: [bfgs, [cg]]\n", "9:14", "expected a mapping"},
		"second way unknown":    {valid, valid + "tune: [bfgs, {method: gird}]\n", "9:23", `did you mean "grid"?`},
		"none with restarts":    {valid, valid + "tune: {method: none, restarts: 2}\n", "9:22", "nothing is tuned"},
		"none with inference":   {valid, valid + "tune: {method: none, inference: ep}\n", "9:33", "nothing is tuned"},
		"none with errors":      {valid, valid + "tune: {method: none, standard_errors: true}\n", "9:39", "nothing is tuned"},
		"none that stops":       {valid, valid + "tune: {method: none, stop: {patience: 2}}\n", "9:28", "nothing is tuned"},
		"stop without end":      {valid, valid + "tune: {method: sobol, stop: {improvement: 1}}\n", "9:29", "improvement needs method: bayes"},
		"stop of chains": {valid, strings.Replace(valid, "kernel: se",
			"kernel: {se: {amplitude: {prior: {half_normal: {scale: 2}}}, length_scale: {prior: {half_normal: {scale: 2}}}}}", 1) +
			"tune: {method: mcmc, objective: log_posterior, stop: {patience: 1}}\n", "9:54", "bound them with samples"},
		"stop at no time":        {valid, valid + "tune: {method: bayes, stop: {time: soon}}\n", "9:36", "write 90s, 10m or 1h30m"},
		"unknown stop":           {valid, valid + "tune: {method: bayes, stop: {patient: 3}}\n", "9:30", `did you mean "patience"?`},
		"unknown tune inference": {valid, valid + "tune: {inference: [ep, eq]}\n", "9:24", `did you mean "ep"?`},
		"unknown tune key":       {valid, valid + "tune: {inferense: ep}\n", "9:8", `did you mean "inference"?`},
		"score of cases, bfgs":   {valid, valid + "tune: {objective: {cv: {score: auc}}}\n", "9:19", "method: bfgs needs a gradient"},
		"score of no name":       {valid, valid + "tune: {method: bayes, objective: cv}\n", "9:34", "cv needs a score"},
		"score of unknown name":  {valid, valid + "tune: {method: bayes, objective: {cv: {score: auk}}}\n", "9:47", `did you mean "auc"?`},
		"score of another kind":  {valid, valid + "tune: {method: bayes, objective: {cv: {score: rmse}}}\n", "9:34", "likelihood probit has no rmse"},
		"score by unknown folds": {valid, valid + "tune: {method: bayes, objective: {cv: {score: auc, kfolds: {k: 3}}}}\n", "9:52", `did you mean "kfold"?`},
		"score by two splitters": {valid, valid + "tune: {method: bayes, objective: {cv: {score: auc, kfold: {}, hold_out: {}}}}\n", "9:63", "keep one splitter"},
		"score by too many":      {valid, valid + "tune: {method: bayes, objective: {cv: {score: auc, kfold: {k: 999}}}}\n", "9:34", "999 folds of 200 cases"},
		"objective of no name":   {valid, valid + "tune: {method: bayes, objective: {vc: {score: auc}}}\n", "9:34", `have log_evidence, log_posterior, loo_log_probability, cv`},
		"no leave-one-out":       {valid, valid + "tune: {inference: sampling, objective: loo_log_probability}\n", "9:19", "maximise log_evidence"},
		"numbers as classes":     {"dataset: crabs", "dataset: housing", "", "numeric label"},
		"classes as numbers":     {"likelihood: probit\n  inference: laplace", "likelihood: gaussian\n  inference: exact", "4:7", "number"},
		"threshold of numbers":   {"crabs, preprocess: standardize}\nmodel:\n  kernel: se\n  likelihood: probit", "housing, above: 25}\nmodel:\n  kernel: se\n  likelihood: gaussian", "4:33", "numeric labels"},
		"per class of numbers":   {"crabs, preprocess: standardize}\nmodel:\n  kernel: se\n  likelihood: probit", "housing}\nmodel:\n  kernel: {per_class: se}\n  likelihood: gaussian", "8:14", "one shared kernel"},
		"exact with probit":      {"inference: laplace", "inference: exact", "8:14", "likelihood: gaussian"},
		"map of numbers":         {valid, strings.Replace(valid, "probit", "gaussian", 1) + "predict: {average: map}\n", "7:15", "is for numeric labels"},
		"groups of numbers":      {valid, strings.NewReplacer("probit", "gaussian", "crabs", "housing").Replace(valid) + "evaluate: group_kfold\n", "9:11", "no groups"},
		"no gradient of pl":      {valid, strings.NewReplacer("probit", "noisy_threshold", "laplace", "{pl: {evidence: posterior}}").Replace(valid), "8:14", "needs the gradient"},
		"epsilon of 0.7":         {"probit\n  inference: laplace", "{noisy_threshold: {epsilon: 0.7}}\n  inference: ep", "7:15", "must be less than 0.5"},
		"epsilon below 0":        {"probit\n  inference: laplace", "{noisy_threshold: {epsilon: -0.1}}\n  inference: ep", "7:43", "between 0 and 1"},
		"epsilon held at 0":      {"probit\n  inference: laplace", "{noisy_threshold: {epsilon: {fixed: 0}}}\n  inference: pl", "7:43", "between 0 and 1"},
		"epsilon to 0.6":         {"probit\n  inference: laplace", "{noisy_threshold: {epsilon: {init: 0.1, bounds: [0.01, 0.6]}}}\n  inference: ep", "7:15", "must not pass 0.5"},
		"epsilon backwards":      {"probit\n  inference: laplace", "{noisy_threshold: {epsilon: {init: 0.1, bounds: [0.2, 0.05]}}}\n  inference: ep", "7:43", "smaller first"},
		"epsilon outside":        {"probit\n  inference: laplace", "{noisy_threshold: {epsilon: {init: 0.1, bounds: [0.2, 0.3]}}}\n  inference: ep", "7:43", "outside its bounds"},
		"epsilon twice":          {"probit\n  inference: laplace", "{noisy_threshold: {epsilon: {init: 0.1, fixed: 0.1}}}\n  inference: ep", "7:43", "keep one"},
		"prior of epsilon":       {"probit\n  inference: laplace", "{noisy_threshold: {epsilon: {prior: {log_normal: {}}}}}\n  inference: ep", "7:43", "beta"},
		"tiny epsilon":           {"probit\n  inference: laplace", "{noisy_threshold: {epsilon: {init: 1e-20}}}\n  inference: ep", "7:15", "outside its bounds"},
		"option of none":         {"probit\n  inference: laplace", "{probit: {epsilon: 0.1}}\n  inference: ep", "7:25", "there are none"},
		"negative noise":         {"crabs, preprocess: standardize}\nmodel:\n  kernel: se\n  likelihood: probit\n  inference: laplace", "housing}\nmodel:\n  kernel: se\n  likelihood: {gaussian: {noise: -1}}\n  inference: exact", "7:34", "greater than 0"},
		"no noise":               {"crabs, preprocess: standardize}\nmodel:\n  kernel: se\n  likelihood: probit\n  inference: laplace", "housing}\nmodel:\n  kernel: se\n  likelihood: {gaussian: {noise: {init: 0}}}\n  inference: exact", "7:34", "greater than 0"},
		"noise backwards":        {"crabs, preprocess: standardize}\nmodel:\n  kernel: se\n  likelihood: probit\n  inference: laplace", "housing}\nmodel:\n  kernel: se\n  likelihood: {gaussian: {noise: {bounds: [3, 2]}}}\n  inference: exact", "7:34", "smaller first"},
		"noise outside":          {"crabs, preprocess: standardize}\nmodel:\n  kernel: se\n  likelihood: probit\n  inference: laplace", "housing}\nmodel:\n  kernel: se\n  likelihood: {gaussian: {noise: {init: 1, bounds: [2, 3]}}}\n  inference: exact", "7:34", "outside its bounds"},
		"noise twice":            {"crabs, preprocess: standardize}\nmodel:\n  kernel: se\n  likelihood: probit\n  inference: laplace", "housing}\nmodel:\n  kernel: se\n  likelihood: {gaussian: {noise: {init: 1, fixed: 1}}}\n  inference: exact", "7:34", "keep one"},
		"unknown format":         {valid, valid + "report: {formats: [txt]}\n", "9:20", `did you mean "text"?`},
		"cost of a stranger":     {valid, valid + "predict: {loss: {W: {F: 5}}}\n", "9:17", "unknown class"},
		"costs in a list":        {valid, valid + "predict: {loss: [[0, 5], [1, 0]]}\n", "9:17", "as in {ill: {well: 5}, well: {ill: 1}}, found a list"},
		"models as classes":      {"dataset: crabs", "dataset: crabs, classes: one_vs_rest", "4:33", "model: {classes: one_vs_rest}"},
		"infinite cost":          {valid, valid + "predict: {loss: {M: {F: .inf}}}\n", "9:25", "a number"},
		"cost of no rejection":   {valid, valid + "predict: {reject_cost: .nan}\n", "9:24", "a number"},
		"costs of numbers":       {valid, strings.NewReplacer("probit", "gaussian", "laplace", "exact", "crabs", "housing").Replace(valid) + "predict: {reject_cost: 1}\n", "9:10", "numeric labels"},
		"unknown average":        {valid, valid + "predict: {average: mean}\n", "9:20", "averaged"},
		"grid over an unknown":   {valid, valid + "tune: {method: grid, grid: {length: {values: [1]}}}\n", "", ""},
		"grid axis of two forms": {valid, valid + "tune: {method: grid, grid: {amplitude: {log: [0, 1], values: [1], points: 2}}}\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(valid, c.from, c.to, 1)
			s, err := spec.Parse("t.yaml", []byte(text), nil)
			if err == nil {
				_, err = plan.New(t.Context(), s) // some mistakes show only with the space or the data
			}
			p, ok := err.(spec.Problems)
			if !ok || len(p) != 1 {
				t.Fatalf("got %T, want one problem:\n%v\nin:\n%s", err, err, text)
			}
			if got := p[0].Error(); !strings.HasPrefix(got, "t.yaml:"+c.place) || !strings.Contains(got, c.says) {
				t.Errorf("got  %s\nwant t.yaml:%s … %s", got, c.place, c.says)
			}
		})
	}
}

// Where a file declares several labels or files, a mistake with one of them names it.
func TestMistakesNameTheLabelAndTheFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"two.csv": "x,b,c\n1,m,r\n2,n,s\n3,m,t\n4,n,r\n5,m,s\n6,n,t\n", "three.csv": "x,b\n1,m\n2,n\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for section, want := range map[string]string{
		"{train: two.csv, label: [b, c], categorical: one_hot}":                          `two, label "c": laplace with a likelihood of two classes cannot model 3 classes`,
		"{train: two.csv, label: c, categorical: one_hot}":                               "two: laplace with a likelihood of two classes cannot model 3 classes",
		"{train: [two.csv, three.csv], label: c, categorical: one_hot, classes: [r, s]}": `three.csv: no column "c"`,
	} {
		section = strings.NewReplacer("two.csv", filepath.Join(dir, "two.csv"), "three.csv", filepath.Join(dir, "three.csv")).Replace(section)
		want = strings.Replace(want, "three.csv", filepath.Join(dir, "three.csv"), 1)
		s, err := spec.Parse("t.yaml", []byte(strings.Replace(valid, "{dataset: crabs, preprocess: standardize}", section, 1)), nil)
		if err == nil {
			_, err = plan.New(t.Context(), s)
		}
		if err == nil || !strings.Contains(err.Error(), " "+want) {
			t.Errorf("%s: %v, want %q", section, err, want)
		}
	}
	_, err := plan.Parse(t.Context(), "t.yaml", []byte(valid+"predict: {loss: [[0, 5], [1, 0]]}\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "9:17: expected the costs") || !strings.Contains(err.Error(), "{F: {M: 5}, M: {F: 1}}") {
		t.Errorf("costs in a list: %v", err)
	}
}

func TestListsInTheModelAreACrossProduct(t *testing.T) {
	s, p := parse(t, `
data: {dataset: [crabs, sonar], preprocess: standardize}
model:
  kernel:
    - se
    - sum: [{se: {ard: [true, false]}}, noise]
  likelihood: [probit, logit]
  inference: [laplace, {ep: {tolerance: [1e-8, 1e-10]}}]
`)
	if p != nil {
		t.Fatal(p)
	}
	if len(s.Data) != 2 || len(s.Models) != 3*2*3 {
		t.Fatalf("%d data sets × %d models, want 2 × 18", len(s.Data), len(s.Models))
	}
	var kernels []string
	for _, m := range s.Models {
		if !slices.Contains(kernels, m.Written.Kernel.Text) {
			kernels = append(kernels, m.Written.Kernel.Text)
		}
	}
	want := []string{"se", "{sum: [{se: {ard: true}}, noise]}", "{sum: [{se: {ard: false}}, noise]}"}
	if !slices.Equal(kernels, want) {
		t.Errorf("kernels %q, want %q", kernels, want)
	}
}

func TestTooManyConfigurationsAreRefused(t *testing.T) {
	twenty := "[" + strings.Repeat("1, ", 19) + "1]"
	_, p := parse(t, strings.Replace(valid, "kernel: se", "kernel: {sum: ["+strings.Repeat("{se: {amplitude: "+twenty+", length_scale: "+twenty+"}}, ", 4)+"]}", 1))
	if len(p) == 0 || !strings.Contains(p.Error(), "split the experiment") {
		t.Errorf("got %v, want a refusal", p)
	}
}

func TestSetChangesTheFile(t *testing.T) {
	s, p := parse(t, valid, "model.likelihood=[probit, logit]", "tune.restarts=3", "name=u")
	if p != nil {
		t.Fatal(p)
	}
	if len(s.Models) != 2 || s.Name != "u" {
		t.Errorf("%d models, name %q", len(s.Models), s.Name)
	}
	for _, bad := range []string{"model", "=1", "name.x=1", "model.likelihood=[", "model.likelihood=cauchy"} {
		if _, p := parse(t, valid, bad); len(p) != 1 {
			t.Errorf("--set %s: %d problems, want 1: %v", bad, len(p), p)
		}
	}
}

func TestGalleryIsValid(t *testing.T) {
	digits := t.TempDir() // replaces sets that may not be distributed
	for name, text := range map[string]string{"usps_3v5": "x,y,label\n1,2,3\n2,1,5\n0,1,3\n", "usps_resampled": "x,y,label\n1,2,3\n2,1,5\n0,1,7\n"} {
		for _, part := range []string{"_train", "_test"} {
			if err := os.WriteFile(filepath.Join(digits, name+part+".csv.gz"), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range gallery.Names() {
		t.Run(name, func(t *testing.T) {
			s, err := spec.Load("gallery:"+name, nil)
			if err != nil {
				t.Fatal(err)
			}
			if s.Name != name {
				t.Errorf("the name is %q", s.Name)
			}
			s.Dir = digits
			if _, err := plan.New(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		})
	}
	if _, err := spec.Load("gallery:crab", nil); err == nil {
		t.Error("an unknown experiment was found")
	}
}

func TestTheFileInTheReadmeIsValid(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(readme), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	plantest.Planned(t, text)
}

func TestLoadNamesAMissingFile(t *testing.T) {
	_, err := spec.Load(filepath.Join(t.TempDir(), "none.yaml"), nil)
	if p, ok := err.(spec.Problems); !ok || !strings.Contains(p.Error(), "none.yaml") {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(valid))
	for _, name := range gallery.Names() {
		text, err := gallery.Read(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("model: {kernel: {sum: [{product: [se, {active: {dims: [1], kernel: noise}}]}]}}"))
	f.Add([]byte("model: {kernel: {se: {amplitude: {prior: [{log_normal: {sd: 1}}, half_t]}}}, mean: {constant: {prior: {normal: {mean: x}}}}}"))
	f.Add([]byte("model: {kernel: [se, {per_class: se}], inference: [{svm: {costs: [-1, 1], length_scales: 3}}, {least_squares: {noise: {fixed: 0}}}, p1nn, {x: y}]}\ntune: {inference: svm}"))
	f.Add([]byte("evaluate: {nested: {outer: {kfold: {k: 3}}, inner: leave_one_out, score: brier}}\nrace: {score: brier, paired_t: {alpha: 0.1}}"))
	f.Add([]byte("a: &a [*a]\n<<: *a\n? [x]\n: y"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := spec.Parse("f.yaml", text, nil)
		for _, p := range problemsOf(t, err) {
			if p.File != "f.yaml" {
				t.Fatalf("a problem of another file: %+v", p)
			}
		}
	})
}

// FuzzSet tries arbitrary texts of --set.
func FuzzSet(f *testing.F) {
	for _, setting := range []string{"model.likelihood=logit", "tune.restarts=3", "model.kernel={sum: [se, noise]}", "evaluate.kfold.k=3", "name=x", "=", "a.b", "data..x=1", "model.kernel.0.se=1", "seed=[", "tune=~"} {
		f.Add(setting)
	}
	f.Fuzz(func(t *testing.T, setting string) {
		_, err := spec.Parse("f.yaml", []byte(valid), []string{setting})
		problemsOf(t, err)
	})
}

// problemsOf returns the problems in an error of Parse and checks that each has a message.
func problemsOf(t *testing.T, err error) spec.Problems {
	if err == nil {
		return nil
	}
	problems, ok := err.(spec.Problems)
	if !ok || len(problems) == 0 {
		t.Fatalf("got %T %v, want Problems", err, err)
	}
	for _, p := range problems {
		if p.Message == "" || p.File == "" {
			t.Fatalf("a problem says nothing: %+v", p)
		}
	}
	return problems
}
