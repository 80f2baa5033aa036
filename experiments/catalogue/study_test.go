package catalogue

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/columns"
	"github.com/gpc-tune/gpc-tune/experiments/data"
)

func counts(n ...int) (all []data.Count) {
	for i, n := range n {
		all = append(all, data.Count{Class: string(rune('a' + i)), N: n})
	}
	return all
}

// Facts about columns are read from YAML, and a key that is none is a mistake.
func TestParseGiven(t *testing.T) {
	given, err := ParseGiven("{texts: [a], categories: [b], columns: {c: {ordered: [x, y]}}, weights: w, positive: p, order: [p, q]}")
	if err != nil || fmt.Sprintf("%v %v %v %s %s %v", given.Texts, given.Categories, given.Columns["c"].Ordered, given.Weights, given.Positive, given.Order) != "[a] [b] [x y] w p [p q]" {
		t.Errorf("%v: %+v", err, given)
	}
	if _, err := ParseGiven("{text: [a]}"); err == nil || !strings.Contains(err.Error(), `unknown key "text"`) {
		t.Error(err)
	}
}

// The evaluation depends on the number of cases and on the size of the smallest class.
func TestEvaluationOfStudies(t *testing.T) {
	folds, part := study{folds: 10}, study{}
	for _, c := range []struct {
		s    study
		p    problem
		want string
	}{
		{folds, problem{cases: 200, classes: counts(100, 100)}, "{kfold: {k: 10}}"},
		{folds, problem{cases: 200, classes: counts(193, 7)}, "{kfold: {k: 7}}"},
		{folds, problem{cases: 200, classes: counts(199, 1)}, "{kfold: {k: 2}}"},
		{folds, problem{cases: 24, classes: counts(12, 12)}, "{kfold: {k: 6}}"}, {folds, problem{cases: 200}, "{kfold: {k: 10}}"},
		{folds, problem{cases: 499, classes: counts(249, 250)}, "{kfold: {k: 10}}"},
		{folds, problem{cases: 500, classes: counts(250, 250)}, "{kfold: {k: 5}}"}, {folds, problem{cases: 2000}, "{kfold: {k: 5}}"},
		{study{folds: 10, subsample: 499}, problem{cases: 2000}, "{kfold: {k: 10}}"},
		{part, problem{cases: 200, classes: counts(100, 100)}, "{hold_out: {test_size: 0.2}}"},
		{part, problem{cases: 200, classes: counts(101, 99)}, "{kfold: {k: 5}}"}, {part, problem{cases: 99}, "{kfold: {k: 5}}"},
		{study{subsample: 100}, problem{cases: 1000, classes: counts(400, 600)}, "{kfold: {k: 5}}"},
		{study{subsample: 500}, problem{cases: 1000, classes: counts(200, 800)}, "{hold_out: {test_size: 0.2}}"},
		{study{subsample: 500}, problem{cases: 1000, classes: counts(198, 802)}, "{kfold: {k: 5}}"},
		{folds, problem{cases: 200, grouped: true}, "{group_kfold: {k: 5}}"},
		{folds, problem{cases: 200, grouped: true, classes: counts(100, 100)}, "{group_kfold: {k: 5, stratified: true}}"},
		{part, problem{cases: 200, grouped: true}, "{group_kfold: {k: 2}}"}, {study{folds: 3}, problem{cases: 200, grouped: true}, "{group_kfold: {k: 3}}"},
		{folds, problem{cases: 200, grouped: true, test: &data.Summary{}}, "test"},
	} {
		if got := c.s.evaluation(c.p); got != c.want {
			t.Errorf("%+v, %+v: %s, want %s", c.s, c.p, got, c.want)
		}
	}
}

// The likelihood suits the label, comparators are for classes only, and Laplace's method tunes with
// the inducing inputs with which EP predicts.
func TestModelsOfStudies(t *testing.T) {
	const compared = ", base_rate, logistic_regression"
	for _, c := range []struct {
		s                            study
		p                            problem
		likelihood, inference, tunes string
	}{
		{study{}, problem{classes: counts(5, 5)}, "probit", "ep" + compared, "laplace"},
		{study{}, problem{classes: counts(5, 5, 5)}, "softmax", "ep" + compared, "laplace"},
		{study{}, problem{classes: counts(5, 5, 5), ordered: true}, "[softmax, ordinal]", "ep" + compared, "laplace"},
		{study{}, problem{}, "{gaussian: {noise: {init: 1}}}", "exact", ""},
		{study{}, problem{target: columns.Spread{SD: 30}}, "{gaussian: {noise: {init: 15}}}", "exact", ""},
		{study{mode: true}, problem{classes: counts(5, 5)}, "probit", "laplace" + compared, ""},
		{study{inducing: 50}, problem{classes: counts(5, 5)}, "probit", "{ep: {inducing: 50}}" + compared, "{laplace: {inducing: 50}}"},
		{study{mode: true, inducing: 50}, problem{classes: counts(5, 5)}, "probit", "{laplace: {inducing: 50}}" + compared, ""},
		{study{inducing: 50}, problem{}, "{gaussian: {noise: {init: 1}}}", "{exact: {inducing: 50}}", ""},
	} {
		likelihood, inference, tunes := c.s.model(c.p)
		if got := strings.Join(inference, ", "); likelihood != c.likelihood || got != c.inference || tunes != c.tunes {
			t.Errorf("%+v, %+v: %s, %s, tuned with %q", c.s, c.p, likelihood, got, tunes)
		}
	}
}

// lacks lists everything that a smaller study leaves out: kernels, methods, restarts, folds,
// inducing inputs and cases.
func TestWhatStudiesLack(t *testing.T) {
	p := problem{cases: 400, classes: counts(200, 200)}
	large := study{kernels: []string{same, trend}, restarts: 2, folds: 10}
	for _, c := range []struct {
		s, than study
		want    string
	}{
		{large, large, ""},
		{study{kernels: []string{trend}, mode: true, restarts: 1, folds: 5}, large,
			"kernel " + same + "; inference ep; restarts: 2 rather than 1; evaluate: {kfold: {k: 10}} rather than {kfold: {k: 5}}"},
		{study{inducing: 50}, study{inducing: 100}, "100 inducing inputs rather than 50"},
		{study{inducing: 50, subsample: 200}, study{inducing: 50}, "all 400 cases rather than 200"},
		{study{subsample: 200}, study{subsample: 300}, "300 cases rather than 200"}, {study{subsample: 300}, study{subsample: 200}, ""},
		{study{inducing: 50}, study{inducing: 50}, ""}, {study{restarts: 2}, study{restarts: 1}, ""}, {study{}, study{inducing: 50}, ""},
	} {
		if got := strings.Join(c.s.lacks(c.than, p), "; "); got != c.want {
			t.Errorf("%+v beside %+v: %s, want %s", c.s, c.than, got, c.want)
		}
	}
}

// Many inputs share a length scale, and functions of one input each need several and not too many.
// The median of the prior is twice the root of their number. For a numeric label there are no priors.
func TestKernelsOfStudies(t *testing.T) {
	s := study{kernels: []string{same, each, trend, apart}}
	for _, c := range []struct {
		cases, inputs int
		mean          string // of the logarithm of a length scale
		want          []string
	}{
		{50, 1, "0.7", []string{same, each, trend}}, {50, 2, "1.0", s.kernels}, {50, 20, "2.2", s.kernels},
		{50, 21, "2.2", []string{same, each, trend}}, {50, 100, "3.0", []string{same, each, trend}},
		{50, 101, "3.0", []string{same, strings.ReplaceAll(trend, "true", "false")}}, {101, 101, "3.0", []string{same, each, trend}},
		{500, 501, "3.8", []string{same, strings.ReplaceAll(trend, "true", "false")}},
	} {
		p := problem{cases: c.cases, inputs: c.inputs, classes: counts(c.cases/2, c.cases-c.cases/2)}
		want := strings.Split(strings.ReplaceAll(strings.Join(c.want, "|"), "MEAN", c.mean), "|")
		if got := s.of(p).kernels; !slices.Equal(got, want) {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
		if wide := c.inputs > max(c.cases, 100); p.wide() != wide {
			t.Errorf("%+v: wide %v", c, p.wide())
		}
	}
	plain := []string{"{se: {ard: false}}", "{se: {ard: true}}", "{sum: [linear, {se: {ard: true}}]}", "{additive: {kernel: {se: {ard: true}}}}"}
	if got := s.of(problem{cases: 50, inputs: 3}).kernels; !slices.Equal(got, plain) {
		t.Errorf("of a numeric label: %q, want %q", got, plain)
	}
}

// Targets far from mean 0 and standard deviation 1 get starting values, and bounds where those are
// far too.
func TestUnitsOfTargets(t *testing.T) {
	for _, c := range []struct {
		mean, sd float64
		scaled   bool
	}{{0, 1, false}, {0, 5, false}, {0, 5.1, true}, {0, 0.2, false}, {0, 0.19, true}, {5, 1, false}, {5.1, 1, true}, {-5.1, 1, true},
		{0, 0, false}, {0, 1e-201, false}, {0, 1e-200, false}, {0, 1e-199, true}, {0, 1e201, false}, {0, 1e199, true}} {
		if got := (problem{target: columns.Spread{Mean: c.mean, SD: c.sd}}).scaled(); got != c.scaled {
			t.Errorf("%+v: %v", c, got)
		}
	}
	for _, c := range []struct {
		sd, value float64
		want      string
	}{{30, 15, "{init: 15}"}, {0.1, 0.05, "{init: 0.05}"}, {1e4, 1e4, "{init: 10000}"}, {0.05, 0.05, "{init: 0.05, bounds: [5e-06, 500]}"},
		{2e4, 12345, "{init: 12000, bounds: [1.2, 1.2e+08]}"}} {
		if got := (problem{target: columns.Spread{SD: c.sd}}).start(c.value); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	for _, c := range []struct {
		mean, sd float64
		want     string
	}{{123.456, 9, "123.5"}, {123.456, 10, "123"}, {123.456, 99, "123"}, {123.456, 100, "120"}, {-0.012345, 0.001, "-0.0123"}, {5e12, 1e6, "5e+12"}} {
		if got := (problem{target: columns.Spread{Mean: c.mean, SD: c.sd}}).mean(); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	for v, want := range map[float64]string{0: "0", 1: "1", 0.0123: "0.012", 12345: "12000", 1.25e-7: "1.2e-07", 99.9: "100"} {
		if got := twoDigits(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	if n := (problem{cases: 9, classes: counts(4, 2, 3)}).smallest(); n != 2 {
		t.Errorf("%d cases in the smallest class", n)
	}
	if n := (problem{cases: 9}).smallest(); n != 9 {
		t.Errorf("%d cases without classes", n)
	}
}

// The text of a study has the parts left out, the limits of the study, and settings that its data
// need.
func TestWrittenStudies(t *testing.T) {
	s := study{kernels: []string{trend, rough}, restarts: 3, folds: 5}
	p := problem{cases: 200, inputs: 3, classes: counts(100, 100)}
	has := func(text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains("\n"+text, "\n"+w) {
				t.Errorf("%s\nlacks %q", text, w)
			}
		}
	}
	text := s.write(p, []string{"kernel a", "restarts"}, 2*time.Minute, 200)
	has(text, "  preprocess: standardize #", "model: #", "    - "+trend+"\n    - "+rough+"\n", "  likelihood: probit\n",
		"  inference: [ep, base_rate, logistic_regression] #", "tune: {method: bfgs, restarts: 3, objective: log_posterior, inference: laplace} #",
		"evaluate: {kfold: {k: 5}} # gpc-tune list splitters\n", "# left out to take at most about 2m0s:\n#   kernel a\n#   restarts\n# the next larger study takes about 3m20s: ")
	for _, no := range []string{"predict:", "subsample", "  mean:", "skewed", "inducing", "one length scale for all", "evaluations:"} {
		if strings.Contains(text, no) {
			t.Errorf("%s\nhas %q", text, no)
		}
	}
	if text := s.write(p, nil, time.Minute, 0); strings.Contains(text, "left out") {
		t.Errorf("nothing is left out:\n%s", text)
	}
	has(study{restarts: 1, steps: 1}.write(p, nil, time.Minute, 0), "tune: {method: bfgs, restarts: 1, objective: log_posterior, evaluations: 1, inference: laplace} #")
	text = study{mode: true, restarts: 1, inducing: 50}.write(p, nil, time.Minute, 0)
	has(text, "  inference: [{laplace: {inducing: 50}}, base_rate, logistic_regression] #", "tune: {method: bfgs, restarts: 1, objective: log_posterior} #",
		"predict: {average: map} # EP would take too long")
	s = study{kernels: []string{"{sum: [linear, {se: {ard: true}}]}", "{matern32: {ard: true}}", "{se: {ard: false}}"}, restarts: 1,
		inducing: 50, steps: 30, subsample: 2000}
	p = problem{cases: 9000, inputs: 9001, target: columns.Spread{Mean: 1000, SD: 50, Skewed: true}, test: &data.Summary{Cases: 70}}
	has(s.write(p, nil, time.Minute, 0), "  subsample: 2000 #", "    - {sum: [{linear: {amplitude: {init: 50}}}, {se: {amplitude: {init: 50}, ard: true}}]}\n",
		"    - {matern32: {amplitude: {init: 50}, ard: true}}\n", "    - {se: {amplitude: {init: 50}, ard: false}}\n",
		"  # 9001 inputs for 9000 cases: one length scale for all.", "  mean: {constant: {fixed: 1000}} # the label has mean 1000 and standard deviation 50\n",
		"  likelihood: {gaussian: {noise: {init: 25}}}\n  # the label is skewed", "  inference: [{exact: {inducing: 50}}] #", "  # inducing inputs: a covariance of lower rank",
		"tune: {method: bfgs, restarts: 1, evaluations: 30} #", "evaluate: test # the 70 cases of the test set; or kfold")
}

// Studies are ordered from the largest to the smallest, and studies with the full covariance come
// first. No study asks for more of anything than the previous one, and its numbers are round.
func TestOrderOfStudies(t *testing.T) {
	all := ordered()
	if len(all) != len(longer)+len(studies) {
		t.Fatalf("%d studies", len(all))
	}
	// Without a number of inducing inputs, evaluations or cases, there is no limit to them.
	unlimited := func(n int) int {
		if n == 0 {
			return math.MaxInt
		}
		return n
	}
	for _, of := range [][]study{all, studies} {
		for k, s := range of {
			if s.steps%10 != 0 || s.inducing%50 != 0 || s.subsample%1000 != 0 || s.folds%5 != 0 {
				t.Errorf("%+v: a number is not round", s)
			}
			if k == 0 {
				continue
			}
			before := of[k-1]
			if s.inducing == 0 && before.inducing > 0 {
				t.Errorf("%+v has the whole covariance, and comes after %+v", s, before)
			}
			if unlimited(s.subsample) > unlimited(before.subsample) {
				t.Errorf("%+v has more cases than %+v", s, before)
			}
			if s.subsample == before.subsample && (unlimited(s.inducing) > unlimited(before.inducing) ||
				unlimited(s.steps) > unlimited(before.steps)) {
				t.Errorf("%+v of as many cases is larger than %+v", s, before)
			}
			if (s.inducing > 0) == (before.inducing > 0) && (s.restarts > before.restarts || s.folds > before.folds ||
				len(s.kernels) > len(before.kernels) || before.mode && !s.mode && s.subsample == before.subsample) {
				t.Errorf("%+v is larger than %+v", s, before)
			}
		}
	}
}

// A problem counts only the cases of the table whose label is of a class that is kept.
func TestSizeOfTables(t *testing.T) {
	table := tabled()
	table.Unlabelled, table.Rare = 5, counts(1, 2)
	if p, err := sizeOf(table); err != nil || p.cases != 42 || p.inputs != 2 {
		t.Errorf("%v: %d cases of %d inputs", err, p.cases, p.inputs)
	}
}

// Numbers that are names, such as codes of places, are written as categories with their kind. The
// summary names the label and the inputs.
func TestStarterOfCodes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	text := "zip,x,y\n"
	for i := range 21 {
		text += fmt.Sprintf("%d,%d.5,%c\n", i%3+1, i*i%11, 'p'+i%2)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := Starter(t.Context(), path+".yaml", path, columns.Given{Label: "y"}, 0)
	want := "\n  categories:\n    - zip # 3 categories, by its name, although they are numbers: 1 (7), 2 (7), 3 (7)\n" +
		"  categorical: one_hot #"
	if err != nil || !strings.Contains(s.Text, want) {
		t.Errorf("%v\n%s\nlacks %q", err, s.Text, want)
	}
	if want := "y: p (11), q (10); from 2 inputs, coded in 4 columns"; !strings.HasPrefix(s.About, want) {
		t.Errorf("about %q, want %q", s.About, want)
	}
}
