package experiments

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// followed is an experiment that shows a cause, and the same experiment with a remedy that the
// program prints for it. Both files are relative to a folder with files.
type followed struct {
	kind          cause.Kind
	remedy        string
	before, after string
	options, then Options
	files         map[string]string // written after the first run
	data, test    string            // content of t.csv and of new.csv, from the start
	// the experiment need not be without the cause: the file is accepted, and what it does helps
	// in other cases
	accepted bool
	// the cause is no reason to doubt the answer any more, but others of its trials have it
	elsewhere bool
	slow      bool // takes seconds
}

const (
	fewCrabs = "data: {dataset: crabs, subsample: 40, preprocess: standardize}\n"
	byProbit = "model: {kernel: se, likelihood: probit, inference: laplace}\n"
	twoFolds = "evaluate: {kfold: {k: 2}}\n"
	irises   = "data: {dataset: iris, subsample: 60, preprocess: standardize}\n"
	// the best rate is 4
	atFour     = "echo $(( 0 - ({rate} - 4) * ({rate} - 4) ))"
	withPriors = "model: {kernel: {se: {amplitude: {prior: {log_normal: {mean: 0, sd: 2}}}, length_scale: {prior: {log_normal: {mean: 0, sd: 2}}}}}, likelihood: probit, inference: laplace}\n"
	// the Gaussian from which chains start is far from the posterior
	someCrabs    = "data: {dataset: crabs, subsample: 12, preprocess: standardize}\n"
	allCrabs     = "data: {dataset: crabs, preprocess: standardize}\n"
	twice        = "data: {train: t.csv}\n"
	files        = "data: {train: t.csv}\n"
	numbers      = "data: {train: t.csv}\n"
	twins        = "x,c\n0,a\n0,b\n1,a\n1,b\n2,a\n2,b\n3,a\n3,b\n4,b\n"
	line         = "x,y\n0,1\n1,2.5\n2,2\n3,4\n4,4.5\n5,7\n6,6\n7,8.5\n"
	steep        = "{sum: [{se: {amplitude: 400, length_scale: 1}}, {noise: {amplitude: {fixed: 0.3}}}]}"
	flipped      = "{se: {amplitude: 10, length_scale: 3}}"
	overshooting = "schedule: parallel, max_iterations: 9, unconverged: accept, quadrature: {order: 5}"
	raced        = "data: {dataset: crabs, subsample: 100, preprocess: standardize}\nmodel: {kernel: [linear, {se: {length_scale: {fixed: 0.01}}}], likelihood: probit, inference: laplace}\n"
	byEP         = "model: {kernel: {se: {amplitude: {fixed: 1}}}, likelihood: probit, inference: ep}\n"
	unsure       = "data: {dataset: crabs, preprocess: standardize, subsample: "
	parted       = "data: {train: t.csv, group: g}\n"
	tested       = "data: {train: t.csv, test: new.csv}\n"
	byNeighbour  = "model: {kernel: se, likelihood: probit, inference: p1nn}\n"
	gaps         = "x,y,c\n1,1,a\n2,,a\n3,1,a\n4,5,b\n5,5,b\n,6,b\n"
	farChains    = "model: {kernel: {se: {amplitude: 100}}, likelihood: logit, inference: {sampling: {chains: 10, temperatures: 1, burn: 1, samples: 1}}}\n"
)

// withKernel is a model with a kernel, a likelihood and an inference method.
func withKernel(kernel, likelihood, inference string) string {
	return "model: {kernel: " + kernel + ", likelihood: " + likelihood + ", inference: " + inference + "}\n"
}

// model is a model of two classes with an inference method.
func model(inference string) string {
	return "model: {kernel: se, likelihood: probit, inference: " + inference + "}\n"
}

// printing is a search of a program that prints the value of an expression of the shell.
func printing(program, keys string) string {
	return "program:\n  command: [sh, -c, \"" + program + "\"]\n  hyperparameters: {rate: {linear: {from: 1, to: 3}}}\n" + keys + "tune: {method: grid, grid: {rate: {linear: [1, 3], points: 3}}}\n"
}

var (
	// one case lies among the cases of the other class
	mislabelled = rows("x,c", 24, func(i int) string { return fmt.Sprintf("%d,%s", i+i/12*1000, class(i > 11 || i == 4)) })
	paid        = rows("x,paid,c", 80, func(i int) string { return fmt.Sprintf("%d,%d,%s", i*i%17, i%2, class(i%2 == 1)) })
	// almost equal cases in groups
	grouped = rows("x,y,g,c", 96, func(i int) string {
		return fmt.Sprintf("%d,%d.%04d,%d,%s", 5*(i/4*7%24)-60, 5*(i/4*11%24)-60, i%4, i/4, class(i/4%2 == 1))
	})
	inside = rows("x,c", 60, func(i int) string { return fmt.Sprintf("%.2f,%s", float64(i-30)/30, class(i*7%30+i > 45)) })
	// the noise multiplies the label, by a factor that ranges as widely for all x
	multiplied = rows("x,y", 120, func(i int) string {
		return fmt.Sprintf("%.3f,%.6f", float64(i*37%120)/30, math.Exp(float64(i*37%120)/30+0.4*math.Sin(float64(7*i*i))))
	})
	logarithms = rows("x,y", 120, func(i int) string {
		return fmt.Sprintf("%.3f,%.6f", float64(i*37%120)/30, float64(i*37%120)/30+0.4*math.Sin(float64(7*i*i)))
	})
	sine = rows("x,y", 60, func(i int) string { return fmt.Sprintf("%.1f,%.6f", float64(i)/10, math.Sin(float64(i)/10)) })
	// inputs of very different size
	uneven  = "x,y,c\n-1.17884e+09,-1.14816e-09,a\n6.69469e+08,-2.29391e-09,b\n-1.43384e+08,-2.25608e-09,a\n1.10097e+09,2.02898e-10,b\n1.35632e+09,-5.04183e-10,a\n3.98195e+08,-2.85877e-10,b\n-7.38327e+08,1.45324e-10,a\n-1.25721e+09,-3.54662e-10,b\n6.96596e+08,5.7529e-11,a\n-4.10288e+08,2.18947e-09,b\n"
	outside = rows("x,c", 4, func(i int) string { return fmt.Sprintf("%d,%s", 1000*(2*i-3), class(i > 1)) })
)

// rows is a table of n cases.
func rows(header string, n int, of func(i int) string) string {
	b := header + "\n"
	for i := range n {
		b += of(i) + "\n"
	}
	return b
}

// class names one of two classes.
func class(second bool) string {
	if second {
		return "b"
	}
	return "a"
}

var follow = []followed{
	{kind: cause.TimedOut, remedy: "run with --retry-failed and a longer --trial-timeout", before: fewCrabs + byProbit + "tune: none\n",
		options: Options{Options: schedule.Options{TrialTimeout: 1}}, then: Options{Resume: true, Retry: true, Options: schedule.Options{TrialTimeout: time.Hour}}},
	{kind: cause.TimedOut, remedy: "a longer timeout of the program, or a longer --trial-timeout",
		before: printing("sleep 0.05; echo {rate}", "  timeout: 1ms\n"), after: printing("sleep 0.05; echo {rate}", "  timeout: 1m\n")},
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
	{kind: cause.Imprecise, remedy: "bounds that keep amplitudes smaller, such as amplitude: {bounds: [0.01, 10]}", before: fewCrabs + withKernel("{se: {amplitude: {fixed: 1e10}}}", "logit", "laplace"),
		after: fewCrabs + withKernel("{se: {amplitude: {init: 1, bounds: [0.01, 1000]}}}", "logit", "laplace")},
	{kind: cause.Imprecise, remedy: "bounds that keep amplitudes smaller, such as amplitude: {bounds: [0.01, 10]}", before: fewCrabs + withKernel("{se: {amplitude: {fixed: 1e10}}}", "probit", "variational"),
		after: fewCrabs + withKernel("{se: {amplitude: {init: 1, bounds: [0.01, 1000]}}}", "probit", "variational")},
	{kind: cause.Contradictory, remedy: "a noise kernel in a sum with the others, or likelihood: probit", data: twins, before: twice + withKernel("linear", "step", "ep"),
		after: twice + withKernel("{sum: [linear, noise]}", "step", "ep")},
	{kind: cause.Contradictory, remedy: "a noise kernel in a sum with the others, or likelihood: probit", data: twins, before: twice + withKernel("linear", "step", "pl"),
		after: twice + withKernel("linear", "probit", "pl")},
	{kind: cause.Diverged, remedy: "lower damping", before: fewCrabs + withKernel(steep, "logit", "{ep: {"+overshooting+"}}") + "tune: none\n",
		after: fewCrabs + withKernel(steep, "logit", "{ep: {damping: 0.2, "+overshooting+"}}") + "tune: none\n"},
	{kind: cause.NegativeCavity, remedy: "negative_sites: floor", before: fewCrabs + withKernel(flipped, "{noisy_threshold: {epsilon: 0.2}}", "{ep: {negative_sites: keep}}") + "tune: none\n",
		after: fewCrabs + withKernel(flipped, "{noisy_threshold: {epsilon: 0.2}}", "{ep: {negative_sites: floor}}") + "tune: none\n"},
	{kind: cause.NotPositiveDefinite, remedy: "bounds that keep amplitudes smaller, such as amplitude: {bounds: [0.01, 10]}, or a noise kernel", before: fewCrabs + withKernel("{linear: {amplitude: {fixed: 1e100}}}", "probit", "laplace"),
		after: fewCrabs + withKernel("{linear: {amplitude: {init: 1, bounds: [0.01, 1000]}}}", "probit", "laplace")},
	{kind: cause.NotPositiveDefinite, remedy: "bounds that keep amplitudes smaller, such as amplitude: {bounds: [0.01, 10]}, or a noise kernel", data: twins, before: twice + withKernel("{linear: {bias: false}}", "step", "naive_mean_field"),
		after: twice + withKernel("{sum: [{linear: {bias: false}}, noise]}", "step", "naive_mean_field")},
	{kind: cause.NotFinite, remedy: "tighter bounds", before: fewCrabs + withKernel("{se: {length_scale: {init: 1e200, bounds: [1, 1e300], prior: {half_normal: {scale: 1}}}}}", "probit", "laplace") + "tune: {method: bfgs, objective: log_posterior}\n",
		after: fewCrabs + withKernel("{se: {length_scale: {init: 10, bounds: [1, 100], prior: {half_normal: {scale: 1}}}}}", "probit", "laplace") + "tune: {method: bfgs, objective: log_posterior}\n"},
	{kind: cause.Undefined, remedy: "fewer folds, or another score", before: someCrabs + byProbit + "tune: {method: random, trials: 2, objective: {cv: {score: auc, leave_one_out: {}}}}\n",
		after: someCrabs + byProbit + "tune: {method: random, trials: 2, objective: {cv: {score: auc, kfold: {k: 2}}}}\n"},
	{kind: cause.Undefined, remedy: "fewer folds, or another score", before: someCrabs + byProbit + "tune: {method: random, trials: 2, objective: {cv: {score: auc, leave_one_out: {}}}}\n",
		after: someCrabs + byProbit + "tune: {method: random, trials: 2, objective: {cv: {score: log_loss, leave_one_out: {}}}}\n"},
	{kind: cause.Unconverged, remedy: "raise max_iterations", before: fewCrabs + model("{ep: {max_iterations: 1, unconverged: accept}}") + "tune: none\n",
		after: fewCrabs + model("{ep: {max_iterations: 1000, unconverged: accept}}") + "tune: none\n"},
	{kind: cause.Unconverged, remedy: "raise max_iterations", before: fewCrabs + model("{pl: {max_iterations: 1, unconverged: accept}}") + "tune: none\n",
		after: fewCrabs + model("{pl: {max_iterations: 1000, unconverged: accept}}") + "tune: none\n"},
	{kind: cause.Rounding, remedy: "bounds that keep amplitudes smaller, such as amplitude: {bounds: [0.01, 10]}", before: fewCrabs + withKernel("{se: {amplitude: {fixed: 3e6}, length_scale: {fixed: 1000}}}", "logit", "ep"),
		after: fewCrabs + withKernel("{se: {amplitude: {init: 1, bounds: [0.01, 1000]}}}", "logit", "ep")},
	{kind: cause.Averages, remedy: "raise points", before: irises + withKernel("{se: {amplitude: {fixed: 10}}}", "softmax", "{laplace: {points: 256}}") + twoFolds,
		after: irises + withKernel("{se: {amplitude: {fixed: 10}}}", "softmax", "{laplace: {points: 16384}}") + twoFolds},
	{kind: cause.MostInducing, remedy: "raise points of inducing", before: allCrabs + model("{laplace: {inducing: {points: 100, tolerance: 0.000001}}}") + "tune: none\n",
		after: allCrabs + model("{laplace: {inducing: {points: 200, tolerance: 0.000001}}}") + "tune: none\n"},
	{kind: cause.Rechosen, remedy: "raise points of inducing", before: fewCrabs + model("{laplace: {inducing: {points: 5, rechoose: true}}}"),
		after: fewCrabs + model("{laplace: {inducing: {points: 35, rechoose: true}}}")},
	{kind: cause.StartsAtBound, remedy: "preprocess: standardize, or an init and bounds", before: fewCrabs + withKernel("{se: {length_scale: {init: 1, bounds: [1, 10]}}}", "probit", "laplace"),
		after: fewCrabs + withKernel("{se: {length_scale: {init: 1, bounds: [0.1, 10]}}}", "probit", "laplace")},
	{kind: cause.Stalled, remedy: "a smaller tolerance, or raise restarts", before: fewCrabs + model("{ep: {tolerance: 0.1}}"), after: fewCrabs + model("ep")},
	{kind: cause.Plateau, remedy: "start length scales elsewhere, or raise restarts", before: fewCrabs + withKernel("{se: {length_scale: 0.001}}", "probit", "laplace"),
		after: fewCrabs + withKernel("{se: {length_scale: 3}}", "probit", "laplace")},
	{kind: cause.Plateau, remedy: "start length scales elsewhere, or raise restarts", before: fewCrabs + withKernel("{se: {length_scale: 0.02}}", "probit", "laplace"),
		after: fewCrabs + withKernel("{se: {length_scale: 0.02}}", "probit", "laplace") + "tune: {method: bfgs, restarts: 10}\n", elsewhere: true},
	{kind: cause.Plateau, remedy: "start length scales elsewhere", before: fewCrabs + withKernel("{se: {length_scale: {init: 0.001, bounds: [0.0001, 0.01]}}}", "probit", "laplace") + "tune: {method: auto}\n",
		after: fewCrabs + withKernel("{se: {length_scale: 3}}", "probit", "laplace") + "tune: {method: auto}\n"},
	{kind: cause.Incomplete, remedy: "run with --resume", before: fewCrabs + byProbit + twoFolds, options: Options{Options: schedule.Options{Ours: func(study, _ int) bool { return study > 0 }}},
		then: Options{Resume: true}},
	{kind: cause.LoneOptimum, remedy: "raise restarts", before: fewCrabs + byProbit + "tune: {method: bfgs, restarts: 2}\n" + twoFolds, after: fewCrabs + byProbit + "tune: {method: bfgs, restarts: 20}\n" + twoFolds},
	{kind: cause.HeldNoise, remedy: "likelihood: {gaussian: {noise: {init: 1}}} tunes it", data: line, before: numbers + withKernel("se", "gaussian", "exact") + twoFolds,
		after: numbers + withKernel("se", "{gaussian: {noise: {init: 1}}}", "exact") + twoFolds},
	{kind: cause.UnequalNoise, remedy: "a transformation of the label, such as its logarithm; gaussian assumes equal noise", data: multiplied,
		before: numbers + withKernel("se", "{gaussian: {noise: {init: 1}}}", "exact") + twoFolds, files: map[string]string{"t.csv": logarithms},
		after: numbers + withKernel("se", "{gaussian: {noise: {init: 1}}}", "exact") + twoFolds},
	{kind: cause.Recalibrable, remedy: "predict: {calibrate: platt}", before: unsure + "100}\n" + byEP + twoFolds, after: unsure + "100}\n" + byEP + "predict: {calibrate: platt}\n" + twoFolds},
	{kind: cause.Recalibrable, remedy: "predict: {calibrate: temperature}", before: unsure + "200}\n" + byEP + twoFolds, after: unsure + "200}\n" + byEP + "predict: {calibrate: temperature}\n" + twoFolds},
	{kind: cause.FewHeldOut, remedy: "a smaller coverage, or more cases of the class", before: fewCrabs + byProbit + "tune: none\npredict: {sets: {coverage: 0.99}}\n" + twoFolds,
		after: fewCrabs + byProbit + "tune: none\npredict: {sets: {coverage: 0.8}}\n" + twoFolds},
	{kind: cause.ExtrapolatedOutputs, remedy: "larger length scales, or logistic_regression in its place", data: grouped, before: parted + model("{svm: {costs: [10], length_scales: [0.05]}}"),
		after: parted + model("{svm: {costs: [10], length_scales: [50]}}")},
	{kind: cause.ExtrapolatedOutputs, remedy: "larger length scales, or logistic_regression in its place", data: grouped, before: parted + model("{svm: {costs: [10], length_scales: [0.05]}}"),
		after: parted + model("logistic_regression")},
	{kind: cause.Extrapolated, remedy: "leave out calibrate and threshold", data: inside, test: outside, before: tested + withKernel("linear", "probit", "laplace") + "predict: {average: map, calibrate: platt}\n",
		after: tested + withKernel("linear", "probit", "laplace") + "predict: {average: map}\n"},
	{kind: cause.Stalled, remedy: "bounds that keep the noise larger", data: sine, before: numbers + withKernel("{se: {length_scale: 1}}", "{gaussian: {noise: {init: 1e-4, bounds: [1e-9, 1]}}}", "exact"),
		after: numbers + withKernel("{se: {length_scale: 1}}", "{gaussian: {noise: {init: 0.1, bounds: [0.01, 1]}}}", "exact")},
	{kind: cause.NotPositiveDefinite, remedy: "bounds that keep amplitudes smaller, such as amplitude: {bounds: [0.01, 10]}, or a noise kernel", data: sine, before: numbers + withKernel("{se: {length_scale: 20}}", "{gaussian: {noise: {fixed: 1e-8}}}", "exact"),
		after: numbers + withKernel("{sum: [{se: {length_scale: 20}}, {noise: {amplitude: {init: 0.1, bounds: [0.001, 1]}}}]}", "{gaussian: {noise: {fixed: 1e-8}}}", "exact")},
	{kind: cause.Unconverged, remedy: "preprocess: standardize", slow: true, data: uneven, before: files + withKernel("linear", "probit", "{svm: {costs: [1], folds: 2}}"),
		after: strings.Replace(files, "}", ", preprocess: standardize}", 1) + withKernel("linear", "probit", "{svm: {costs: [1], folds: 2}}")},
	{kind: cause.RacedScore, remedy: "evaluate: nested, in another folder", before: raced + "evaluate: {kfold: {k: 10}}\nrace: paired_t\n", after: raced + "evaluate: {nested: {outer: {kfold: {k: 3}}, inner: {kfold: {k: 3}}}}\n"},
	{kind: cause.OwnClass, remedy: "predict: {calibrate: platt}", data: mislabelled, before: files + byNeighbour + twoFolds, after: files + byNeighbour + "predict: {calibrate: platt}\n" + twoFolds},
	{kind: cause.Dropped, remedy: "missing: mean or median", data: gaps, before: strings.Replace(files, "}", ", missing: drop}", 1) + byNeighbour + twoFolds,
		after: strings.Replace(files, "}", ", missing: mean}", 1) + byNeighbour + twoFolds},
	{kind: cause.Comments, remedy: "put their first field in quotes", data: "n,x,c\n1,1,a\n#2,2,b\n3,1,a\n4,2,b\n", before: files + byNeighbour,
		files: map[string]string{"t.csv": "n,x,c\n1,1,a\n\"#2\",2,b\n3,1,a\n4,2,b\n"}, after: strings.Replace(files, "}", ", drop: [n]}", 1) + byNeighbour},
	{kind: cause.Percent, remedy: "write all alike", data: "x,y,c\n1%,1,a\n2,2,b\n3%,1,a\n4%,2,b\n", before: files + byNeighbour,
		files: map[string]string{"t.csv": "x,y,c\n1%,1,a\n200%,2,b\n3%,1,a\n4%,2,b\n"}, after: files + byNeighbour},
	{kind: cause.Leak, remedy: "drop what was not known before the outcome", data: paid, before: files + byNeighbour + twoFolds, after: strings.Replace(files, "}", ", drop: [paid]}", 1) + byNeighbour + twoFolds},
	{kind: cause.Rare, remedy: "more cases of the class, or leave it out by classes", data: "x,c\n1,a\n2,b\n1,a\n2,b\n1,a\n2,b\n1,a\n2,b\n1,a\n2,b\n3,c\n3,c\n", before: files + byNeighbour,
		after: strings.Replace(files, "}", ", classes: [a, b]}", 1) + byNeighbour},
	{kind: cause.Labels, remedy: "write each class in one way", data: "x,c\n1,a\n2,b\n3,A\n4,b\n5,A\n", before: files + byNeighbour,
		files: map[string]string{"t.csv": "x,c\n1,a\n2,b\n3,a\n4,b\n5,a\n"}, after: files + byNeighbour},
	{kind: cause.Coding, remedy: "name its encoding in the file, or save it as UTF-8", data: "x,c\n1,a\n2,bé\n3,a\n4,bé\n", before: strings.Replace(files, "}", ", encoding: windows-1252}", 1) + byNeighbour,
		after: strings.Replace(files, "}", ", encoding: utf-8}", 1) + byNeighbour},
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
		if f.slow && !exhaustive.All() {
			continue
		}
		t.Run(string(f.kind)+"/"+f.remedy, func(t *testing.T) {
			dir, folder := t.TempDir(), filepath.Join(t.TempDir(), "run")
			t.Chdir(dir)
			for name, text := range map[string]string{"t.csv": f.data, "new.csv": f.test} {
				if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			r := f.run(t, f.before, folder, f.options)
			if got := f.found(r, false); !slices.ContainsFunc(got, func(remedy string) bool { return strings.Contains(remedy, f.remedy) }) {
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
			if got := f.found(r, f.elsewhere); len(got) > 0 {
				t.Errorf("the cause is still there\n%s", causesIn(r))
			}
		})
	}
}

// unfollowed are the remedies that no experiment can follow, and why.
var unfollowed = map[cause.Kind]string{
	cause.Panic:          "there is no panic that an input is known to cause",
	cause.UnstableChoice: "it says which of two numbers to trust, and changes no file",
	cause.Builds:         "a test has one build; reports has a test of the cause",
}

// Every remedy of the table is in the list of followed remedies, or has a reason why it is not. The
// list has no other remedies.
func TestRemediesAreComplete(t *testing.T) {
	listed := map[cause.Kind][]string{}
	for _, f := range follow {
		listed[f.kind] = append(listed[f.kind], f.remedy)
	}
	for _, kind := range cause.Kind("").JSONSchema()["enum"].([]cause.Kind) {
		texts := kind.Remedies()
		for _, remedy := range texts {
			if slices.Contains(listed[kind], remedy) == (unfollowed[kind] != "") {
				t.Errorf("%s: %q is not followed, or followed although it cannot be", kind, remedy)
			}
		}
		for _, remedy := range listed[kind] {
			if !slices.Contains(texts, remedy) {
				t.Errorf("%s: %q is followed, and no remedy", kind, remedy)
			}
		}
		if unfollowed[kind] != "" && len(texts) == 0 {
			t.Errorf("%s has no remedy", kind)
		}
	}
}

// A remedy names an option of a search or of an inference method only where that has the option.
func TestRemediesNameOptions(t *testing.T) {
	unknown := func(file, option string) bool {
		_, err := Parse(t.Context(), ".", []byte("name: named\n"+fewCrabs+file))
		return err != nil && strings.Contains(err.Error(), fmt.Sprintf("unknown key %q", option))
	}
	for _, strategy := range search.Table.Names() {
		for kind, option := range map[cause.Kind]string{cause.LoneOptimum: "restarts", cause.Plateau: "restarts", cause.EvaluationLimit: "evaluations", cause.BelowClimb: "trials"} {
			remedy := cause.Remedy(kind, cause.Setting{Method: "laplace", Strategy: strategy})
			has := !unknown(byProbit+fmt.Sprintf("tune: {method: %s, %s: 7}\n", strategy, option), option)
			if named := strings.Contains(remedy, option); named && !has || has && !named && option != "trials" {
				t.Errorf("%s: remedy %q, and it has %s: %v", strategy, remedy, option, has)
			}
		}
	}
	for _, method := range approx.Table.Names() {
		for kind, option := range map[cause.Kind]string{cause.NotConverged: "max_iterations", cause.Unconverged: "max_iterations", cause.Stalled: "tolerance", cause.Diverged: "damping",
			cause.NegativeCavity: "negative_sites", cause.Averages: "points"} {
			remedy := cause.Remedy(kind, cause.Setting{Method: method, Strategy: "bfgs"})
			if strings.Contains(remedy, option) && unknown(model("{"+method+": {"+option+": 7}}"), option) {
				t.Errorf("%s: remedy %q, and it has no %s", method, remedy, option)
			}
		}
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

// found returns the remedies, also empty ones, of all causes of the kind in a report. With doubts
// it returns only remedies of causes that are reasons to doubt the answer.
func (f followed) found(r *reports.Report, doubts bool) (remedies []string) {
	what, _, _ := f.kind.Explanation()
	for _, c := range slices.Concat(r.WarningCauses(), r.FailureCauses()) {
		if c.Cause == what && !doubts {
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
