package experiments

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/search"
)

// followed is an experiment that shows a cause, and the same experiment with a remedy that the
// program prints for it. Both files are relative to a folder with files.
type followed struct {
	kind          cause.Kind
	remedy        string
	before, after string
	options, then Options
	files         map[string]string
	// the experiment need not be without the cause: the file is accepted, and what it does helps
	// in other cases
	accepted bool
}

const (
	fewCrabs = "data: {dataset: crabs, subsample: 40, preprocess: standardize}\n"
	byProbit = "model: {kernel: se, likelihood: probit, inference: laplace}\n"
	twoFolds = "evaluate: {kfold: {k: 2}}\n"
	irises   = "data: {dataset: iris, subsample: 90, preprocess: standardize}\n"
	// the best rate is 4
	atFour     = "echo $(( 0 - ({rate} - 4) * ({rate} - 4) ))"
	withPriors = "model: {kernel: {se: {amplitude: {prior: {log_normal: {mean: 0, sd: 2}}}, length_scale: {prior: {log_normal: {mean: 0, sd: 2}}}}}, likelihood: probit, inference: laplace}\n"
	// the Gaussian from which chains start is far from the posterior
	farChains = "model: {kernel: {se: {amplitude: 100}}, likelihood: logit, inference: {sampling: {chains: 10, temperatures: 1, burn: 1, samples: 1}}}\n"
)

// model is a model of two classes with an inference method.
func model(inference string) string {
	return "model: {kernel: se, likelihood: probit, inference: " + inference + "}\n"
}

// printing is a search of a program that prints the value of an expression of the shell.
func printing(program, keys string) string {
	return "program:\n  command: [sh, -c, \"" + program + "\"]\n  hyperparameters: {rate: {linear: {from: 1, to: 3}}}\n" + keys + "tune: {method: grid, grid: {rate: {linear: [1, 3], points: 3}}}\n"
}

var follow = []followed{
	{kind: cause.TimedOut, remedy: "run with --retry-failed and a longer --trial-timeout", before: fewCrabs + byProbit + "tune: none\n",
		options: Options{Options: search.Options{TrialTimeout: 1}}, then: Options{Resume: true, Retry: true, Options: search.Options{TrialTimeout: time.Hour}}},
	{kind: cause.TimedOut, remedy: "a longer timeout of the program, or a longer --trial-timeout",
		before: printing("sleep 0.2; echo {rate}", "  timeout: 1ms\n"), after: printing("sleep 0.2; echo {rate}", "  timeout: 1m\n")},
	{kind: cause.NotConverged, remedy: "raise max_iterations", before: fewCrabs + model("{laplace: {max_iterations: 1}}") + "tune: none\n",
		after: fewCrabs + model("{laplace: {max_iterations: 1000}}") + "tune: none\n"},
	{kind: cause.NotConverged, remedy: "raise max_iterations", before: fewCrabs + model("{ep: {max_iterations: 1}}") + "tune: none\n",
		after: fewCrabs + model("{ep: {max_iterations: 1000}}") + "tune: none\n"},
	{kind: cause.NotConverged, remedy: "raise max_iterations", before: fewCrabs + model("{pl: {max_iterations: 1}}") + "tune: none\n",
		after: fewCrabs + model("{pl: {max_iterations: 1000}}") + "tune: none\n"},
	{kind: cause.NotConverged, remedy: "raise max_iterations", before: fewCrabs + model("{variational: {max_iterations: 1}}") + "tune: none\n",
		after: fewCrabs + model("{variational: {max_iterations: 1000}}") + "tune: none\n"},
	{kind: cause.NotConverged, remedy: "raise max_iterations", before: fewCrabs + model("{ensemble_mean_field: {max_iterations: 1}}") + "tune: none\n",
		after: fewCrabs + model("{ensemble_mean_field: {max_iterations: 1000}}") + "tune: none\n"},
	{kind: cause.NotConverged, remedy: "raise max_iterations", before: fewCrabs + model("{naive_mean_field: {max_iterations: 1}}") + "tune: none\n",
		after: fewCrabs + model("{naive_mean_field: {max_iterations: 1000}}") + "tune: none\n"},
	{kind: cause.NotConverged, remedy: "raise temperatures or chains", before: fewCrabs + farChains + "tune: none\n",
		after: fewCrabs + strings.Replace(farChains, "temperatures: 1,", "temperatures: 400,", 1) + "tune: none\n"},
	{kind: cause.NotFinite, remedy: "have the program print a finite number", before: printing("true {rate}; echo nan", ""), after: printing("echo {rate}", "")},
	{kind: cause.Program, remedy: "correct the program; --retry-failed then repeats the failed trials", before: printing("test -e fixed && echo {rate}", ""),
		files: map[string]string{"fixed": ""}, then: Options{Resume: true, Retry: true}},
	{kind: cause.AtBound, remedy: "a wider range", before: printing(atFour, ""), after: strings.NewReplacer("to: 3", "to: 5", "[1, 3], points: 3", "[1, 5], points: 5").Replace(printing(atFour, ""))},
	{kind: cause.AtBound, remedy: "wider bounds, or hold it there with fixed",
		before: fewCrabs + "model: {kernel: {se: {length_scale: {init: 1, bounds: [0.9, 1.1]}}}, likelihood: probit, inference: laplace}\n",
		after:  fewCrabs + "model: {kernel: {se: {length_scale: {init: 1, bounds: [0.001, 1000]}}}, likelihood: probit, inference: laplace}\n"},
	{kind: cause.AtBound, remedy: "wider bounds of its amplitude",
		before: fewCrabs + model("{logistic_regression: {amplitude: {init: 1, bounds: [0.9, 1.1]}}}"), after: fewCrabs + model("{logistic_regression: {amplitude: {init: 1, bounds: [0.001, 1000]}}}")},
	{kind: cause.GridEnd, remedy: "wider costs or length_scales", before: fewCrabs + model("{svm: {costs: [0.001, 0.002, 0.003], length_scales: [1]}}"),
		after: fewCrabs + model("{svm: {costs: [0.01, 0.1, 1, 10, 100, 1000], length_scales: [0.1, 1, 3, 10, 100]}}"), accepted: true},
	{kind: cause.BelowClimb, remedy: "tune: {method: bfgs}, or more trials", before: fewCrabs + byProbit + "tune: {method: random, trials: 2}\n",
		after: fewCrabs + byProbit + "tune: {method: bfgs}\n"},
	{kind: cause.BelowClimb, remedy: "tune: {method: bfgs}", before: fewCrabs + byProbit + "tune: {method: grid, grid: {length_scale: {log: [3, 4], points: 2}, amplitude: {log: [-2, -1], points: 2}}}\n",
		after: fewCrabs + byProbit + "tune: {method: bfgs}\n"},
	{kind: cause.LaplaceAverages, remedy: "inference: ep, with tune: {inference: laplace}", before: irises + "model: {kernel: se, likelihood: softmax, inference: laplace}\n" + twoFolds,
		after: irises + "model: {kernel: se, likelihood: softmax, inference: ep}\ntune: {inference: laplace}\n" + twoFolds},
	{kind: cause.LaplaceAverages, remedy: "inference: ep, with tune: {inference: laplace}",
		before: irises + "model: {kernel: se, likelihood: softmax, inference: laplace}\npredict: {average: map}\n" + twoFolds,
		after:  irises + "model: {kernel: se, likelihood: softmax, inference: ep}\ntune: {inference: laplace}\n" + twoFolds},
	{kind: cause.EvaluationLimit, remedy: "raise evaluations", before: fewCrabs + byProbit + "tune: {method: bfgs, evaluations: 3}\n", after: fewCrabs + byProbit + "tune: {method: bfgs, evaluations: 1000}\n"},
	{kind: cause.ChainsApart, remedy: "raise burn and samples", before: fewCrabs + withPriors + "tune: {method: mcmc, objective: log_posterior, restarts: 2, burn: 1, samples: 4, thin: 1}\n",
		after: fewCrabs + withPriors + "tune: {method: mcmc, objective: log_posterior, restarts: 2, burn: 300, samples: 600, thin: 2}\n", accepted: true},
	{kind: cause.FewSamples, remedy: "raise samples or thin", before: fewCrabs + withPriors + "tune: {method: mcmc, objective: log_posterior, restarts: 2, burn: 100, samples: 30, thin: 1}\n",
		after: fewCrabs + withPriors + "tune: {method: mcmc, objective: log_posterior, restarts: 2, burn: 100, samples: 100, thin: 5}\n", accepted: true},
}

// Every remedy that the program can print is followed: the experiment that shows the cause has the
// remedy in its report, and no longer the cause, or at least it is accepted, when it is followed.
func TestRemediesAreFollowed(t *testing.T) {
	for _, f := range follow {
		t.Run(string(f.kind)+"/"+f.remedy, func(t *testing.T) {
			dir, folder := t.TempDir(), filepath.Join(t.TempDir(), "run")
			t.Chdir(dir)
			r := f.run(t, f.before, folder, f.options)
			if got := f.found(r); !slices.ContainsFunc(got, func(remedy string) bool { return strings.Contains(remedy, f.remedy) }) {
				t.Fatalf("the cause has the remedies %q\n%s", got, causesIn(r))
			}
			for name, text := range f.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			after := f.after
			if after == "" {
				after = f.before
			} else {
				folder = filepath.Join(t.TempDir(), "run")
			}
			if f.accepted {
				if _, err := Parse(t.Context(), dir, []byte("name: followed\n"+after)); err != nil {
					t.Error(err)
				}
				return
			}
			r = f.run(t, after, folder, f.then)
			if got := f.found(r); len(got) > 0 {
				t.Errorf("the cause is still there\n%s", causesIn(r))
			}
		})
	}
}

// run runs a file; that jobs fail is no error.
func (f followed) run(t *testing.T, file, folder string, o Options) *reports.Report {
	t.Helper()
	p, err := Parse(t.Context(), ".", []byte("name: followed\n"+file))
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := Run(t.Context(), p, folder, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// found are the remedies of all causes of the kind in a report, also if they are empty.
func (f followed) found(r *reports.Report) (remedies []string) {
	what, _, _ := f.kind.Explanation()
	for _, c := range slices.Concat(r.WarningCauses(), r.FailureCauses()) {
		if c.Cause == what {
			remedies = append(remedies, c.Remedy)
		}
	}
	for _, a := range r.Decided() {
		for _, reason := range a.Trust {
			if reason.Kind == f.kind {
				remedies = append(remedies, reason.Remedy)
			}
		}
	}
	return remedies
}

// causesIn lists the causes of a report, with their first notices.
func causesIn(r *reports.Report) (text string) {
	for _, c := range slices.Concat(r.WarningCauses(), r.FailureCauses()) {
		text += fmt.Sprintf("%s (%s): %v\n", c.Cause, c.Remedy, c.Notices[0])
	}
	for _, a := range r.Decided() {
		text += fmt.Sprintf("%+v\n", a.Trust)
	}
	return text
}
