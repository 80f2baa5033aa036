package spec

import (
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/search"
)

const (
	head  = "data: {dataset: crabs}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\n"
	shell = "program: {command: [sh, a.sh, '{x}'], hyperparameters: {x: {linear: {from: 0, to: 1}}}}\n"
)

// mistakes are the messages of the problems of a file, without their places.
func mistakes(t *testing.T, text string) (all []string) {
	t.Helper()
	_, err := Parse("f.yaml", []byte(text), nil)
	if err == nil {
		return nil
	}
	problems, is := err.(Problems)
	if !is {
		t.Fatalf("%s: %v", text, err)
	}
	for _, p := range problems {
		all = append(all, p.Message)
	}
	return all
}

// Each of these files has one mistake, which is reported once.
func TestOneMistakeEach(t *testing.T) {
	for text, want := range map[string]string{
		head + "tune: {method: none, restarts: 3}\n":                                                       `method none takes no "restarts"`,
		head + "tune: {method: none, stop: {patience: 3}}\n":                                               `method none takes no "stop"`,
		head + "tune: {method: none, inference: ep}\n":                                                     `method none takes no "inference"`,
		head + "tune: []\n":                                                                                "an empty list; give one way of tuning or more",
		head + "tune: {method: hyperband}\n":                                                               "budget: expected one of cases, folds, inducing",
		head + "tune: {method: multi_fidelity, budget: length_scale}\n":                                    "budget: expected one of cases, folds, inducing",
		head + "tune: {method: multi_fidelity, budget: folds}\n":                                           "a budget of folds needs folds",
		head + "tune: {method: bfg}\n":                                                                     `unknown method "bfg"; did you mean "bfgs"?`,
		head + "tune: {method: bfgs, objective: auc}\n":                                                    `objective "auc" is a score of held-out cases`,
		head + "tune: {method: bfgs, objective: accuracy}\n":                                               "score: error_rate, kfold: {k: 5}",
		head + "tune: {method: bfgs, objective: log_evidenc}\n":                                            `unknown objective "log_evidenc"; did you mean "log_evidence"?`,
		head + "tune: {method: nelder_mead, objective: {cv: {}}}\n":                                        "cv needs a score, as in",
		head + "tune: {method: nelder_mead, objective: {cw: {score: auc}}}\n":                              `unknown objective "cw" with options`,
		head + "tune: {method: nelder_mead, objective: {cv: {score: auk}}}\n":                              `unknown score "auk"`,
		head + "tune: {method: nelder_mead, objective: {cv: {score: auc, kfold: {k: 3}, hold_out: {}}}}\n": "both kfold and hold_out; keep one splitter",
		head + "tune: {method: nelder_mead, objective: {cv: {score: auc, kfolds: {k: 3}}}}\n":              `unknown key "kfolds"; did you mean "kfold"?`,
		head + "tune: {method: bfgs, objective: {cv: {score: auc}}}\n":                                     "method: bfgs needs a gradient, which a score of held-out cases does not have",
		head + "tune: {method: mcmc}\n":                                                                    "method mcmc samples the posterior density",
		head + "tune: {method: cmaes, start_inference: ep}\n":                                              "start_inference is for methods that follow gradients",
		head + "tune: {method: bfgs, start_inference: ep, stop: {target: 3}}\n":                            "start_inference cannot be combined with stop",
		head + "tune: {method: auto, start_cases: 50}\n":                                                   "start_cases is for methods that follow gradients",
		head + "tune: {method: bfgs, start_cases: 50, stop: {target: 3}}\n":                                "start_cases cannot be combined with stop",
		head + "tune: {method: bfgs, start_cases: 1}\n":                                                    "start_cases = 1 must be",
		head + "tune: {method: none, start_cases: 9}\n":                                                    `method none takes no "start_cases"`,
		head + "tune: {method: bfgs, stop: {improvement: 0.1}}\n":                                          "stop: improvement needs method: bayes",
		head + "tune: {method: mcmc, objective: log_posterior, stop: {target: 0}}\n":                       "stop: Markov chains do not search for a maximum",
		head + "tune: {method: bfgs, start_inference: exact}\n":                                            "exact",
		head + "tune: {method: bfgs, restarts: -1}\n":                                                      "restarts = -1 must be",
		head + "evaluate: {kfold: {k: 1.5}}\n":                                                             "expected a whole number",
		head + "predict: {threshold: {maximise: f11}}\n":                                                   `unknown maximise "f11"; did you mean "f1"?`,
		head + "report: {figure: {font: 2pt}}\n":                                                           "2pt is not from 6.75pt to 24pt",
		head + "evaluate: {kfolds: {}}\n":                                                                  `unknown evaluation "kfolds"; did you mean "kfold"?`,
		head + "evaluate: {training: {k: 2}}\n":                                                            "training takes no options",
		head + "evaluate: {kfold: {k: 1}}\n":                                                               "k = 1 must be at least 2",
		head + "evaluate: {nested: {score: auk}}\n":                                                        `unknown score "auk"`,
		head + "evaluate: {nested: {score: log_evidence, inner: {kfold: {k: 3}}}}\n":                       "score: log_evidence needs no inner folds",
		head + "evaluate: {nested: {outer: {kfoldd: {}}}}\n":                                               `unknown splitter "kfoldd"`,
		head + "race: paired_t\n":                                                                          "a race needs folds; add evaluate",
		head + "evaluate: training\nrace: paired_t\n":                                                      "a race needs folds; add evaluate",
		head + "evaluate: {nested: {score: log_evidence}}\nrace: paired_t\n":                               "a race needs folds; add evaluate",
		head + "evaluate: kfold\nrace: {paired_t: {}, score: auk}\n":                                       `unknown score "auk"`,
		head + "evaluate: kfold\nrace: paired\n":                                                           `unknown race "paired"; did you mean "paired_t"?`,
		head + "predict: {threshold: f1}\n":                                                                `expected {maximise: f1}, or another of`,
		head + "predict: {calibrate: plat}\n":                                                              `unknown calibrate "plat"; did you mean "platt"?`,
		head + "illustrate: prior\n":                                                                       "illustrate shows models without data, and cannot be combined with data; leave out one of the two",
		"illustrate: []\nmodel: {kernel: se}\n":                                                            "an empty list; illustrate for example prior",
		"data: {dataset: crabs}\n":                                                                         "no model; add model:",
		"data: {dataset: crabs}\nmodel: {kernel: se, likelihood: probit}\n":                                "model has no inference; add for example inference: laplace",
		"data: {dataset: crabs}\nmodel: {likelihood: probit, inference: ep}\n":                             "model has no kernel; add for example kernel: se",
		strings.Replace(shell, "'{x}'", "x", 1):                                                            "no argument of the command has {x}; add it there, or write input: json",
		strings.NewReplacer("x: {", "1x: {", "'{x}'", "a").Replace(shell):                                  `"1x" names no hyperparameter`,
		strings.Replace(shell, "to: 1", "to: 0", 1):                                                        "from",
		strings.Replace(shell, "linear", "linar", 1):                                                       `unknown range "linar"; did you mean "linear"?`,
		strings.Replace(shell, "{", "{where: {x: 1}, ", 1):                                                 `where is a condition such as "lr * batch < 10", or a list of several; found a mapping`,
		strings.Replace(shell, "{", "{where: ['x < 0.6', ''], ", 1):                                        `where is a condition such as "lr * batch < 10", or a list of several; found `,
		"program: {command: [sh, a.sh]}\n":                                                                 "no hyperparameters; add for example",
		shell + "tune: none\n":                                                                             "method none searches nothing; take for example bayes",
		shell + "tune: bfgs\n":                                                                             "method bfgs follows gradients, which a program does not give",
		shell + "tune: {method: bayes, inference: ep}\n":                                                   `a program takes no "inference"`,
		shell + "data: {dataset: crabs}\n":                                                                 "cannot be combined with data",
	} {
		got := mistakes(t, text)
		if n := len(got); n == 0 || !strings.Contains(got[0], want) ||
			n > 1 && !strings.Contains(text, "1x") && !strings.Contains(text, "linear: {from: 0, to: 0}") {
			t.Errorf("%s%q\nwant one with %q", text, got, want)
		}
	}
}

// Correct but unusual files are read.
func TestUnusualFiles(t *testing.T) {
	for _, text := range []string{
		head, head + "tune:\n", head + "tune: none\n", head + "tune: {method: none, objective: log_evidence}\n", head + "evaluate:\n",
		head + "evaluate: {training: {}, test: }\n", head + "evaluate: {nested: }\nrace: paired_t\n", head + "predict: {threshold: }\n",
		head + "tune: {method: nelder_mead, objective: {cv: {score: auc, hold_out: }}}\n", head + "tune: {method: bfgs, start_inference: ep}\n",
		head + "evaluate: {nested: {score: log_evidence}}\n", shell, shell + "tune: grid\n", strings.Replace(shell, "'{x}'", "'--x={x}'", 1),
		strings.Replace(shell, "'{x}']", "b], input: json", 1), "illustrate: prior\nmodel: {kernel: se}\n",
	} {
		if got := mistakes(t, text); got != nil && !strings.Contains(text, "tune: grid") {
			t.Errorf("%s%q", text, got)
		}
	}
}

// A setting of the command line replaces a value, and creates missing mappings.
func TestSettings(t *testing.T) {
	for _, c := range []struct{ setting, want string }{
		{"model.likelihood=logit", ""}, {"tune.restarts=3", ""}, {"evaluate.kfold.k=3", ""}, {"name=ab", ""}, {"seed=", ""},
		{"model", "expected path=value"}, {"=3", "expected path=value"}, {"name.a=3", "name is not a mapping in the file"},
		{"model.kernel={", "--set"}, {strings.Repeat("a.", 100) + "a=1", "101 keys within each other, more than 100"},
		{strings.Repeat("a.", 99) + "a=1", `unknown key "a"`},
		{strings.Repeat("a", 200), "--set " + strings.Repeat("a", 200) + ": expected"},
		{strings.Repeat("a", 201), "--set " + strings.Repeat("a", 200) + "…: expected"},
		{"tune.restart=3", `unknown key "restart"`},
	} {
		s, err := Parse("f.yaml", []byte("name: n\n"+head), []string{c.setting})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%.40s: %v, want %q", c.setting, err, c.want)
		}
		if c.want != "" {
			continue
		}
		switch path, value, _ := strings.Cut(c.setting, "="); path {
		case "model.likelihood":
			if s.Models[0].Written.Likelihood.Text != value {
				t.Errorf("%+v", s.Models[0].Written)
			}
		case "tune.restarts":
			if b, is := s.Models[0].Tune.Strategy.(search.BFGS); !is || b.Restarts != 3 {
				t.Errorf("%+v", s.Models[0].Tune)
			}
		case "evaluate.kfold.k":
			if len(s.Evaluate) != 1 || s.Evaluate[0].Name != "kfold" {
				t.Errorf("%+v", s.Evaluate)
			}
		case "name":
			if s.Name != value {
				t.Errorf("%q", s.Name)
			}
		}
	}
}

// The method that finds the start uses the inducing inputs of the method that is tuned, unless it
// has its own, and so does the method that tunes another one; a target of a score that is minimised is one of the score with the other sign.
func TestWaysOfTuning(t *testing.T) {
	const ep = "data: {dataset: crabs}\nmodel: {kernel: se, likelihood: probit, inference: {ep: {inducing: {points: 20}}}}\n"
	for start, want := range map[string]string{
		"laplace": "{laplace: {inducing: {points: 20}}}", "{laplace: {inducing: {points: 9}}}": "{laplace: {inducing: {points: 9}}}",
	} {
		s, err := Parse("f.yaml", []byte(ep+"tune: {method: bfgs, start_inference: "+start+"}\n"), nil)
		if err != nil || s.Models[0].Starts.Text != want {
			t.Errorf("%s: %v, %v, want %s", start, s, err, want)
		}
	}
	for tune, want := range map[string]string{ // the method that tunes does too, and its text says so
		"laplace": "{laplace: {inducing: {points: 20}}}", "{laplace: {inducing: {points: 9}}}": "{laplace: {inducing: {points: 9}}}",
		"naive_mean_field": "naive_mean_field",
	} {
		s, err := Parse("f.yaml", []byte(ep+"tune: {method: bfgs, inference: "+tune+"}\n"), nil)
		if err != nil || s.Models[0].Written.Tuning.Text != want {
			t.Errorf("%s: %v, %v, want %s", tune, s, err, want)
		}
	}
	same, err := Parse("f.yaml", []byte(strings.Replace(ep, "ep:", "laplace:", 1)+"tune: {method: bfgs, inference: laplace}\n"), nil)
	if err != nil || same.Models[0].Tuning != nil {
		t.Errorf("laplace tunes itself with %v, %v", same.Models[0].Tuning, err)
	}
	for score, want := range map[string]float64{"log_loss": -0.25, "auc": 0.25} {
		s, err := Parse("f.yaml", []byte(head+"tune: {method: auto, objective: {cv: {score: "+score+"}}, stop: {target: 0.25}}\n"), nil)
		if err != nil || *s.Models[0].Tune.Stop.Target != want {
			t.Errorf("%s: %v, %v, want the target %v", score, s, err, want)
		}
	}
}

// The size of an experiment in one line.
func TestSizes(t *testing.T) {
	for text, want := range map[string]string{
		"name: a\n" + head + "tune: [{method: bfgs}, {method: cmaes}, {method: bfgs, restarts: 2}]\n": "a: data sets 1, models 3, tuned by bfgs, cmaes",
		"name: a\n" + shell + "tune: [bayes, random]\n":                                               "a: 1 hyperparameters of a program, searched by bayes, random",
		"name: a\nillustrate: [prior, surface]\nmodel: {kernel: [se, linear, matern32]}\n":            "a: 2 illustration(s) × 3 model(s)",
	} {
		s, err := Parse("f.yaml", []byte(text), nil)
		if err != nil || s.String() != want {
			t.Errorf("%s%v, %v", text, s, err)
		}
	}
}

// A command that is written as a text has the arguments that a POSIX shell would give it. What the
// shell would expand, or redirect, is an error.
func TestCommandsWrittenAsText(t *testing.T) {
	for text, want := range map[string][]string{
		"python3 x.py {x}":         {"python3", "x.py", "{x}"},
		" a\t b  ":                 {"a", "b"},
		`a "b c" 'd e'f`:           {"a", "b c", "d ef"},
		`a\ b "c\"d\q" 'e\f' ""`:   {"a b", `c"d\q`, `e\f`, ""},
		`a~b c#d "~" '|' "#" é\$ä`: {"a~b", "c#d", "~", "|", "#", "é$ä"},
		`"\$a\\b" 'it'"'"'s'`:      {`$a\b`, "it's"},
		`end\`:                     {`end\`},
		"":                         nil,
	} {
		if got, err := words(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"a | b", "a > b", `"$a"`, "`a`", "a *", "~/a", "a #b", `"a`, "'a", "a;b", `"\"`} {
		if got, err := words(text); err == nil {
			t.Errorf("%s: %q, want an error", text, got)
		}
	}
}

// The arguments of a program have the texts of its hyperparameters, and its files are found from the
// folder of the experiment.
func TestArgumentsOfPrograms(t *testing.T) {
	text := "program: {command: [run, '{a}-{b}', '{a}', '{{c}}'], input: arguments, files: [f.sh, /g.sh], hyperparameters: {a: {linear: {from: 0, to: 1}}, b: {choice: {values: [red, green]}}}}\n"
	s, err := Parse("f.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Program.Arguments([]float64{0.25, 1}); !slices.Equal(got, []string{"run", "0.25-green", "0.25", "{c}"}) {
		t.Errorf("%q", got)
	}
	if got := s.Program.Paths("dir"); !slices.Equal(got, []string{"dir/f.sh", "/g.sh"}) {
		t.Errorf("%q", got)
	}
}
