package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/jsonschema"
	"github.com/gpc-tune/gpc-tune/objective"
)

// Key documents a key of the file: its meaning, its default in words, and an example.
type Key struct{ Name, Doc, Default, Example string }

// Section documents a part of the file with its keys.
type Section struct {
	Name  string // the key of the section, "data"
	Doc   string
	types []string // Go types that it is decoded into; none: any
	Keys  []Key
}

// Sections documents every key of the file. The schema, gpc-tune explain and docs/file.md are
// generated from it. Components, such as kernels, are documented in their own tables (Kinds).
var Sections = []Section{
	{"file", "the top of the file", []string{"document"}, []Key{
		{"version", "version of the format of this file", "1", "version: 1"},
		{"name", "name of the experiment; its run folder is runs/NAME", "name of the file", "name: crabs"},
		{"seed", "seed of all random numbers: folds, starting points, subsamples, chains", "0", "seed: 1"},
		{"data", "the cases; a list gives several data sets, which are studied one after another",
			"", "data: {dataset: crabs}"},
		{"model", "kernel, mean, likelihood and inference; any value may be a list, and every " +
			"combination is one configuration",
			"", "model: {kernel: [se, matern52], likelihood: probit, inference: ep}"},
		{"tune", "how hyperparameters are chosen, from the training cases of each split only; a list " +
			"gives several ways", "bfgs on the log evidence", "tune: {method: bfgs, restarts: 5}"},
		{"evaluate", "which cases are held out and predicted, to compute the scores",
			"the test file, where there is one", "evaluate: {kfold: {k: 10}}"},
		{"race", "stops configurations between folds that are unlikely to win",
			"all are kept", "race: paired_t"},
		{"predict", "how class probabilities and decisions are computed", "", "predict: {average: averaged}"},
		{"report", "which report files are written in addition to results.json",
			"", "report: {formats: [text, html]}"},
		{"illustrate", "pictures of models, without data", "none", "illustrate: prior"},
		{"program", "a command whose output is the objective, in place of data and a model", "none", ""},
	}},
	{"data", "where the cases are, and what their columns are", []string{"Spec"}, []Key{
		{"dataset", "name of a bundled data set (gpc-tune list datasets)", "", "data: {dataset: crabs}"},
		{"train", "file of training cases, or folder of its parts: CSV, svmlight, JSON lines, Parquet or xlsx, plain " +
			"or compressed; the path is relative to this file", "", "data: {train: patients.csv}"},
		{"test", "file of test cases, with the same columns", "none", "data: {train: a.csv, test: b.csv}"},
		{"label", "column that is predicted, a class or a number: its name, or its number from 1",
			"the last column", "data: {train: patients.csv, label: state}"},
		{"columns", "columns used as inputs, in this order; or as a mapping, what the values of some inputs mean, " +
			"which leaves no other out",
			"all columns that no other key names", "columns: [age, weight]"},
		{"drop", "columns that are ignored", "none", "drop: [comment]"},
		{"id", "columns that are copied to the predictions and are not inputs", "none", "id: patient_id"},
		{"group", "column that identifies related cases, such as the visits of one patient; no split " +
			"separates them", "none", "group: patient"},
		{"weights", "column that says how many cases each case counts as, 0 or more: of every method, score and " +
			"comparator; cases of weight 0 are left out", "1 each", "weights: weight"},
		{"counts", "makes the label, success or failure, of rows that stand for several trials; the rows are groups",
			"none", "counts: {successes: germinated, trials: seeds}"},
		{"classes", "labels to keep, texts as in the data (007 is not 7); cases with other labels are left out", "all",
			`classes: ["3", "5"]`},
		{"positive", "the class coded +1, of two: sensitivity, F1 and average precision refer to it",
			"the last in natural order", "positive: ill"},
		{"order", "all classes, the lowest first: likelihood ordinal needs their order, and tables have it",
			"natural order: by number, else by text", "order: [low, medium, high]"},
		{"above", "threshold that turns a numeric label into two classes: above it, or not",
			"none", "above: 25"},
		{"missing", "treatment of empty cells, NA, NaN and ?: error, drop the case, or use the mean or " +
			"median of the training cases", "error", "missing: median"},
		{"missing_values", "further texts that mean a missing value",
			"none", "missing_values: [-999, unknown]"},
		{"missing_indicators", "adds, for each input with missing values, an input that is 1 where the " +
			"value is missing and 0 elsewhere; needs missing: mean or median",
			"false", "missing_indicators: true"},
		{"unlabelled", "treatment of cases without a label: error, or drop the case",
			"error", "unlabelled: drop"},
		{"ignore_case", "columns in which texts that differ in letter case alone are one, spelt as in most cases; " +
			"true: the label and every category", "none", "ignore_case: [colour]"},
		{"duplicates", "cases of equal inputs: independent; or together, a group each, so that no split " +
			"(group_kfold) separates them", "independent", "duplicates: together"},
		{"decimal", "decimal separator: point (1,234.5) or comma (1.234,5); the sign or code of a currency " +
			"beside the number is allowed", "point", "decimal: comma"},
		{"encoding", "encoding of the files: utf-8, utf-16le, utf-16be, windows-1252 (Western), -1250, -1251, " +
			"-1253, -1254, -1257, latin-1, latin-2, latin-9, koi8-r, macintosh, cp437, cp850; byte-order marks " +
			"override it", "utf-8", "encoding: windows-1252"},
		{"categories", "inputs that are categories although their values are numbers",
			"none", "categories: [ward]"},
		{"categorical", "treatment of text columns: error; one_hot, one 0/1 input for each level; " +
			"kernel, one input for the kernel hamming", "error", "categorical: one_hot"},
		{"subsample", "number of training cases to keep: a random subset with the same proportions of " +
			"classes", "all", "subsample: 2000"},
		{"preprocess", "none, standardize (mean 0, variance 1), power (logarithms or powers of skewed inputs, then " +
			"standardize) or whiten (identity covariance), fitted " +
			"on the training cases of each split", "none", "preprocess: standardize"},
	}},
	{"counts", "the columns of rows that stand for several trials with the same inputs", []string{"Counts"}, []Key{
		{"successes", "column of the number of successes, from 0 to the trials; or of probabilities, where trials is " +
			"left out", "", "counts: {successes: opinion}"},
		{"trials", "column of the number of trials", "1 each", "counts: {successes: germinated, trials: seeds}"},
	}},
	{"meaning", "what the values of an input mean, under its name in columns", []string{"Meaning"}, []Key{
		{"ordered", "all values of the input, the lowest first; the input is their rank, 1, 2, 3, …, and of cases to " +
			"predict other values are missing", "", "columns: {pain: {ordered: [none, mild, severe]}}"},
		{"date", "the values are dates or times, and their parts the inputs", "",
			"columns: {visit: {date: {form: dmy, parts: [year, month]}}}"},
		{"unit", "unit that may stand behind the numbers (70.1 kg, 172cm); other lengths, weights, volumes and " +
			"sizes of files are converted, any other unit is an error", "none", "columns: {weight: {unit: kg}}"},
		{"limits", "true reads limits of detection, <0.5 and ≥100, as the number, and adds an input that is -1 " +
			"below a limit, 1 above one and else 0", "false", "columns: {crp: {unit: mg/l, limits: true}}"},
		{"duration", "the values are durations (1:30:00, 2h 15m, 3 days, P3DT4H), and the input their number of " +
			"seconds, minutes, hours or days; 1:30 is hours and minutes for hours or days, and else minutes", "none",
			"columns: {stay: {duration: hours}}"},
	}},
	{"date", "how texts are read as dates or times, and what they become", []string{"Date"}, []Key{
		{"form", "order of day, month and year: ymd (2024-12-31), dmy (31.12.2024), mdy (12/31/2024), or time, of " +
			"the day, without a date (14:30); with or without names of months, and times behind dates", "",
			"date: {form: dmy, parts: [month, hour]}"},
		{"parts", "inputs that are made of a date: year and days (since 1970, with a fraction for the time) are " +
			"numbers; month, day, weekday and hour (of the day) are sine and cosine of a cycle, whose ends meet",
			"none",
			"parts: [year, month, weekday, hour]"},
		{"since", "another date of columns; the days from it to this one are an input", "none",
			"discharge: {date: {form: ymd, since: admission}}"},
		{"zone", "clock to which times with a zone are converted: utc, by how much it is ahead of that, or a name as " +
			"Europe/Berlin", "the clock of each", "date: {form: ymd, parts: [hour], zone: +01:00}"},
	}},
	{"preprocess", "which cases the preprocessing is fitted on", []string{"Choice"}, []Key{
		{"standardize", "scales each input to mean 0 and variance 1, computed from the training cases " +
			"or from all cases", "training", "preprocess: {standardize: all}"},
		{"whiten", "transforms the inputs to identity covariance, computed from the training cases or " +
			"from all cases", "training", "preprocess: {whiten: all}"},
	}},
	{"model", "the model", []string{"modelNodes"}, []Key{
		{"kernel", "covariance function of the latent function (gpc-tune list kernels); may be a sum " +
			"or a product", "", "kernel: {sum: [{se: {ard: true}}, noise]}"},
		{"mean", "prior mean of the latent function (gpc-tune list means)", "zero", "mean: constant"},
		{"likelihood", "probability of a label given the latent function (gpc-tune list likelihoods)",
			"", "likelihood: probit"},
		{"inference", "method that approximates the posterior, or a comparator, which is not a " +
			"Gaussian process (gpc-tune list inference)", "", "inference: [ep, logistic_regression]"},
		{"classes", "with more than two classes: joint, one model of all classes, or one_vs_rest, one " +
			"binary classifier for each class", "joint", "classes: one_vs_rest"},
		{"per_class", "outermost in kernel: each class has its own hyperparameters",
			"", "kernel: {per_class: se}"},
	}},
	{"hyperparameter", "a hyperparameter: a number, the starting value, or a mapping", []string{"Setting"}, []Key{
		{"init", "starting value; the hyperparameter is tuned",
			"the default of the component", "length_scale: {init: 2}"},
		{"fixed", "fixed value; the hyperparameter is not tuned", "not fixed", "amplitude: {fixed: 1}"},
		{"bounds", "smallest and largest value, in natural units",
			"e^-10 to e^15", "length_scale: {bounds: [0.1, 100]}"},
		{"prior", "prior density (gpc-tune list priors), used by objective: log_posterior and by " +
			"Markov chains", "none", "length_scale: {prior: {log_normal: {mean: 0, sd: 1}}}"},
	}},
	{"kernels", "options of kernels", nil, []Key{
		{"amplitude", "standard deviation of the latent function, that is, the square root of its variance",
			"1", "se: {amplitude: 2}"},
		{"length_scale", "distance over which the function changes, in units of the preprocessed inputs",
			"square root of the number of inputs, or the median distance of two cases, by their weights",
			"se: {length_scale: {init: 3}}"},
		{"ard", "one length scale for each input (automatic relevance determination); short ones mark " +
			"relevant inputs", "false", "se: {ard: true}"},
		{"alpha", "weights the mixture of length scales; for large values the kernel approaches se",
			"1", "rational_quadratic: {alpha: 2}"},
		{"bias", "whether a constant is added to the inputs", "true", "linear: {bias: false}"},
		{"bias_amplitude", "prior standard deviation of the weight of the constant input",
			"1", "neural_network: {bias_amplitude: 2}"},
		{"degree", "degree of the polynomial, a whole number", "2", "polynomial: {degree: 3}"},
		{"period", "period of the function, in units of the preprocessed inputs",
			"from the data", "periodic: {period: 7}"},
		{"dims", "inputs that this kernel uses, numbered from 1", "", "active: {dims: [1, 3], kernel: se}"},
	}},
	{"likelihoods", "options of likelihoods and means", nil, []Key{
		{"epsilon", "probability that a label is wrong, from 0 to 1/2",
			"0.01, not tuned", "noisy_threshold: {epsilon: 0.02}"},
		{"noise", "standard deviation of the Gaussian noise on a numeric label", "1", "gaussian: {noise: 0.1}"},
		{"link", "distribution of the noise of classes in order: probit, normal, or logit, logistic", "probit",
			"ordinal: {link: logit}"},
		{"cut", "first cut point between classes in order", "where the classes are equally probable, tuned",
			"ordinal: {cut: {fixed: 0}}"},
		{"gap", "distance of every cut point to the next", "where the classes are equally probable, tuned",
			"ordinal: {gap: {init: 0.5}}"},
		{"constant", "value of the prior mean", "0, tuned", "mean: {constant: {init: 0.5}}"},
	}},
	{"inference", "options of inference methods", nil, slices.Concat([]Key{
		{"tolerance", "a fit has converged when changes of the log evidence and of all sites are below " +
			"this, of svm violations of optimality", "1e-10; of ep where another method tunes 1e-6",
			"laplace: {tolerance: 1e-8}"},
		{"max_iterations", "most iterations of a fit; a fit that needs more has not converged",
			"1000", "ep: {max_iterations: 200}"},
		{"schedule", "order in which the sites are updated", "sequential", "ep: {schedule: parallel}"},
		{"damping", "share of the new value in each update; 1 means no damping", "1", "ep: {damping: 0.8}"},
		{"unconverged", "treatment of a fit that has not converged: error; accept, use it with a " +
			"warning; trust, use it even where updates diverge", "error", "pl: {unconverged: trust}"},
		{"alpha", "power of power EP, from 0.001, nearly variational, to 1, EP", "1", "ep: {alpha: 0.5}"},
		{"negative_sites", "treatment of a site with negative precision: floor, keep or narrow",
			"floor", "ep: {negative_sites: keep}"},
		{"evidence", "formula of the log evidence: cavity or posterior", "cavity", "ep: {evidence: posterior}"},
		{"quadrature", "computes averages by Gauss-Hermite quadrature, as some papers do, instead of " +
			"exactly", "exact", "ep: {quadrature: {order: 10}}"},
		{"order", "number of quadrature nodes", "exact averages", "quadrature: {order: 20}"},
	}, structures(), []Key{
		{"count", "how many: neighbours of a case, or features", "", "neighbours: {count: 20}"},
		{"rechoose", "selects the inducing inputs again at the tuned hyperparameters, and fits once more",
			"false", "inducing: {points: 200, rechoose: true}"},
		{"tune_inputs", "optimises the inducing inputs together with the hyperparameters",
			"false", "inducing: {points: 20, tune_inputs: true}"},
		{"points", "how many: inducing inputs, values on a grid axis, or positions along an input",
			"", "points: 11"},
		{"select", "how inducing inputs are selected", "greedy", "inducing: {points: 200, select: kmeans}"},
		{"correction", "treatment of the variance that the lower-rank covariance leaves out",
			"the method's own", ""},
		{"power", "between VFE (0) and FITC (1)", "", "correction: {power: 0.5}"},
		{"order_seed", "seed that shuffles the cases, or none for the order of the file",
			"0", "online: {order_seed: none}"},
		{"sweeps", "number of passes through the cases", "1", "online: {sweeps: 2}"},
		{"seen", "number of cases that are learnt from, for learning curves",
			"all", "online: {seen: [10, 20, 40]}"},
		{"chains", "number of independent chains", "32", "sampling: {chains: 64}"},
		{"temperatures", "number of annealing steps from the prior to the posterior",
			"4000", "sampling: {temperatures: 1000}"},
		{"moves", "slice-sampling moves at each annealing step", "1", "sampling: {moves: 2}"},
		{"burn", "moves discarded before the first sample", "the method's own", "burn: 100"},
		{"samples", "number of samples", "the method's own", "samples: 1000"},
		{"seed", "seed of the random numbers of this method", "the seed of the file", "seed: 2"},
	})},
	{"comparators", "options of comparators", []string{"SVM", "LeastSquares", "LogisticRegression"}, []Key{
		{"costs", "values of the cost parameter C to try", "0.1, 1, 10, 100", "svm: {costs: [1, 10]}"},
		{"length_scales", "length scales to try",
			"1/8 to 4 times the starting value of the kernel", "svm: {length_scales: [1, 2]}"},
		{"folds", "number of folds of the cross-validation that chooses among them", "5", "svm: {folds: 10}"},
		{"restarts", "number of starts of the optimiser of the comparator",
			"1", "least_squares: {restarts: 5}"},
		{"amplitude", "prior standard deviation of the weights, which sets the regularisation",
			"tuned from 1", "logistic_regression: {amplitude: {fixed: 1}}"},
		{"bias", "whether a constant is added to the inputs", "true", "logistic_regression: {bias: false}"},
		{"average", "probabilities averaged over the weights (averaged), at their mode (map), or as held-out cases " +
			"of five folds within the training set prefer (chosen)", "chosen", "logistic_regression: {average: map}"},
		{"class_weight", "none, or balanced: cases of rare classes count more, so that all classes count alike",
			"none", "logistic_regression: {class_weight: balanced}"},
	}},
	{"priors", "options of prior densities of hyperparameters", []string{"Normal", "LogNormal", "HalfNormal",
		"HalfT", "Gamma", "InverseGamma", "Beta"}, []Key{
		{"mean", "mean of the normal density; for log_normal, mean of the natural logarithm",
			"0", "log_normal: {mean: 0, sd: 1}"},
		{"sd", "standard deviation of the normal density; for log_normal, of the natural logarithm",
			"", "normal: {mean: 0, sd: 2}"},
		{"scale", "scale of the density", "", "half_normal: {scale: 2}"},
		{"degrees_of_freedom", "degrees of freedom of Student's t; 1 gives the half-Cauchy density",
			"", "half_t: {scale: 1, degrees_of_freedom: 4}"},
		{"shape", "shape of the density", "", "gamma: {shape: 2, rate: 1}"},
		{"rate", "rate (inverse scale) of the density", "", "gamma: {shape: 2, rate: 1}"},
		{"a", "first parameter; the mean is a/(a+b)", "", "beta: {a: 2, b: 5}"},
		{"b", "second parameter; the mean is a/(a+b)", "", "beta: {a: 2, b: 5}"},
	}},
	{"tune", "how hyperparameters are chosen", []string{"tuning"}, []Key{
		{"method", "search strategy (gpc-tune list strategies), or none",
			"bfgs", "tune: {method: bayes, trials: 40}"},
		{"objective", "what is maximised: a criterion of the training cases, or a cross-validated " +
			"score within them",
			"log_evidence", "tune: {method: auto, objective: {cv: {score: log_loss}}}"},
		{"inference", "inference method used while tuning, if another one predicts; it takes over inducing inputs, " +
			"features or neighbours; for multinomial_probit, laplace tunes softmax with amplitudes π/√6 times as large",
			"that of the model", "tune: {inference: laplace}"},
		{"start_inference", "inference method that is tuned first, from all starts; the one that tunes then starts " +
			"once, at the best optimum (bfgs, lbfgs, cg, gradient_descent)",
			"none", "tune: {method: bfgs, restarts: 3, start_inference: laplace}"},
		{"start_cases", "number of training cases, drawn at random, that are tuned first, from all starts; the " +
			"search with all of them then starts once, at the best optimum (bfgs, lbfgs, cg, gradient_descent)",
			"all", "tune: {method: bfgs, restarts: 3, start_cases: 500}"},
		{"start_from", "run folder with the same model; searches start at its best hyperparameters, in a fold at " +
			"those of that fold; the path is relative to this file", "the values of the model",
			"tune: {method: bfgs, start_from: runs/crabs}"},
		{"standard_errors", "computes standard errors of the hyperparameters, from the curvature of " +
			"the objective", "false", "tune: {standard_errors: true}"},
		{"stop", "criteria that end a search before its budget is used; the report says which one did",
			"none", "tune: {method: bayes, trials: 200, stop: {patience: 30}}"},
		{"cv", "objective that is a score under cross-validation of the training cases",
			"", "objective: {cv: {score: brier}}"},
	}},
	{"stop", "when a search ends before its budget is used", []string{"Stop"}, []Key{
		{"improvement", "least improvement worth a trial, in units of the objective: bayes ends when it expects less",
			"0", "stop: {improvement: 0.01}"},
		{"regret", "how far below its maximum the objective may remain: bayes ends when it has bounded this",
			"0", "stop: {regret: 0.1}"},
		{"patience", "number of trials in a row that may pass without an improvement by more than 1e-6",
			"no limit", "stop: {patience: 20}"},
		{"target", "value of the objective that is good enough", "none", "stop: {target: -100}"},
		{"time", "computing times of all trials of one search, summed", "no limit", "stop: {time: 10m}"},
	}},
	{"strategies", "options of the search strategies", nil, []Key{
		{"restarts", "number of starts: the first at init, the others drawn within a factor e² of it; for " +
			"mcmc, number of chains", "1; for mcmc 4", "tune: {method: bfgs, restarts: 5}"},
		{"gradient", "exact, or differences of values where there is no exact gradient",
			"exact", "tune: {gradient: differences}"},
		{"evaluations", "most fits in one local search", "500", "tune: {method: bfgs, evaluations: 100}"},
		{"trace_scores", "records the scores of held-out cases after every iteration",
			"false", "tune: {trace_scores: true}"},
		{"trials", "number of points that are evaluated, of cmaes and nelder_mead at most",
			"64; bayes 40, auto 100 or three climbs with a gradient, cmaes 300, nelder_mead 200 for each of " +
				"its restarts, multi_fidelity 40 at the first level",
			"tune: {method: random, trials: 100}"},
		{"initial", "number of Sobol points evaluated before the surrogate model is used",
			"d + 2 for d free hyperparameters, at most 6", "tune: {method: bayes, initial: 10}"},
		{"batch", "number of points proposed at once", "1", "tune: {method: bayes, batch: 4}"},
		{"parallel", "trials that can be under way at once: each is proposed without the results of the others, the " +
			"same ones for any number of workers (auto, bayes, cmaes)", "1",
			"tune: {method: auto, parallel: 16}"},
		{"asynchronous", "trials that are always under way; the next is proposed as soon as one ends (auto, bayes, " +
			"cmaes)", "batches", "tune: {method: auto, asynchronous: 8}"},
		{"population", "number of points in a generation",
			"4 + 3 ln d for d free hyperparameters", "tune: {method: cmaes, population: 20}"},
		{"budget", "what most trials have a part of: cases, folds or inducing of a model, or the hyperparameter " +
			"that makes trials of a program longer and better",
			"", "tune: {method: hyperband, budget: epochs}"},
		{"brackets", "searches that begin at different budgets, at most",
			"5; 3 for a model", "tune: {method: hyperband, budget: epochs, brackets: 2}"},
		{"levels", "budgets, each so many times the one before as eta says; the last is the whole",
			"2", "tune: {method: multi_fidelity, budget: cases, levels: 3}"},
		{"eta", "ratio of two budgets; hyperband has one in so many points go on",
			"3", "tune: {method: hyperband, budget: epochs, eta: 2}"},
		{"thin", "number of moves between samples that are kept", "2", "tune: {method: mcmc, thin: 5}"},
		{"grid", "the axes of the grid, one for each hyperparameter",
			"", "grid: {length_scale: {log: [-1, 4], points: 11}}"},
		{"apart", "makes each point of the grid a job of its own; for points that take minutes",
			"false", "tune: {method: grid, apart: true}"},
		{"log", "natural logarithms of the first and last value of an axis; -1 means 0.368, 4 means 54.6. " +
			"Of a program: the values themselves, as in its ranges",
			"", "length_scale: {log: [-1, 4], points: 11}"},
		{"linear", "first and last value of an axis, in natural units",
			"", "length_scale: {linear: [1, 9], points: 9}"},
		{"values", "all values of an axis, in natural units", "", "length_scale: {values: [1, 2, 5]}"},
	}},
	{"evaluate", "options of the evaluations", []string{"KFold", "RepeatedKFold", "GroupKFold", "HoldOut",
		"nesting"}, []Key{
		{"k", "number of folds; each is held out once", "10, from 500 cases or groups on 5",
			"evaluate: {kfold: {k: 5}}"},
		{"repeats", "number of repetitions, each with newly shuffled folds",
			"10", "evaluate: {repeated_kfold: {repeats: 5}}"},
		{"stratified", "whether each fold has the same proportions of classes as all cases",
			"true; for group_kfold false", "evaluate: {kfold: {stratified: false}}"},
		{"test_size", "fraction of the cases that is held out, between 0 and 1",
			"0.2", "evaluate: {hold_out: {test_size: 0.3}}"},
		{"outer", "folds that are held out to compute the score",
			"kfold", "evaluate: {nested: {outer: {kfold: {k: 10}}}}"},
		{"inner", "folds within the training cases, on which configurations are compared and one is " +
			"selected", "kfold", "evaluate: {nested: {inner: {kfold: {k: 5}}}}"},
		{"score", "score by which the configuration is selected",
			"information_bits", "evaluate: {nested: {score: log_loss}}"},
	}},
	{"race", "options of the rules that stop configurations early", []string{"PairedT", "SuccessiveHalving"}, []Key{
		{"alpha", "probability that the best configuration is dropped by chance, over the whole race",
			"0.05", "race: {paired_t: {alpha: 0.01}}"},
		{"eta", "keeps one in this many configurations at each step",
			"2", "race: {successive_halving: {eta: 3}}"},
		{"score", "score by which configurations are compared",
			"information_bits", "race: {paired_t: {}, score: brier}"},
	}},
	{"predict", "how class probabilities and decisions are computed", []string{"predicting", "thresholding",
		"setting"}, []Key{
		{"average", "whether probabilities are averaged over the posterior of the latent function, or " +
			"taken at one point (gpc-tune list averages)", "averaged", "predict: {average: map}"},
		{"reject", "measure of certainty by which the reject curves leave out cases, the least certain " +
			"first", "max_probability", "predict: {reject: gap}"},
		{"loss", "costs of decisions, {truth: {decision: cost}}; each decision has the least expected cost",
			"1 for an error", "predict: {loss: {ill: {well: 5}}}"},
		{"reject_cost", "cost of rejecting a case, that is, of deciding for no class",
			"no case is rejected", "predict: {reject_cost: 0.2}"},
		{"calibrate", "recalibrates the probabilities with cross-validation of the training cases: " +
			"none, platt, isotonic or temperature", "none", "predict: {calibrate: isotonic}"},
		{"threshold", "probability from which the second of two classes is decided; chosen with " +
			"cross-validation of the training cases", "1/2", "predict: {threshold: {maximise: f1}}"},
		{"maximise", "criterion for the threshold: f1, balanced_accuracy, matthews, or utility (minus " +
			"the mean cost by loss)", "", "threshold: {maximise: utility}"},
		{"sets", "adds to each prediction the set of classes that contains the true class with the coverage; from " +
			"the held-out cases of evaluate, without further fits", "none", "predict: {sets: {coverage: 0.9}}"},
		{"coverage", "probability with which a set contains the true class, for each class", "",
			"sets: {coverage: 0.95}"},
	}},
	{"report", "which report files are written in addition to results.json", []string{"Report"}, []Key{
		{"formats", "formats of the report (gpc-tune list formats)",
			"text", "report: {formats: [text, html, svg]}"},
		{"curves", "curves in the report (gpc-tune list curves)", "none", "report: {curves: [calibration]}"},
		{"figures", "figures written by svg, pdf and png, by name or kind (gpc-tune list figures)",
			"all", "report: {figures: [roc]}"},
		{"figure", "size and font of the figures in files", "as on a screen",
			"figure: {width: 84mm, font: 8pt, title: none}"},
	}},
	{"figure", "size and font of the figures in files", []string{"Printing"}, []Key{
		{"width", "width of a figure, in mm, cm, in or pt (1/72 inch), from 50mm to 1000mm; panels that do not " +
			"fit side by side are placed below each other", "by the number of panels, 460pt to 860pt", "width: 84mm"},
		{"font", "size of the labels, in the same units, from 6.75pt to 24pt; lines and symbols grow with it, and " +
			"no text is smaller than 6pt", "9pt", "font: 8pt"},
		{"lines", "how many lines share a panel of curves, from 2 to 12; of more there are rows, each with the best",
			"4", "lines: 9"},
		{"title", "none leaves out the title and the notes below it, for the caption of a paper", "shown",
			"title: none"},
	}},
	{"program", "a command whose output is the objective, and its hyperparameters", []string{"programming",
		"requiring"}, []Key{
		{"command", "the program with its arguments, in which {NAME} stands for the value of a hyperparameter; it " +
			"runs in the folder of the file", "", `command: [python3, train.py, "--rate={rate}"]`},
		{"hyperparameters", "each with the range of its values (gpc-tune list ranges)",
			"", "hyperparameters: {rate: {log: {from: 0.001, to: 1}}}"},
		{"where", "a condition that every point meets, or a list: an expression of hyperparameters with + - * / % ** " +
			"== != < <= > >= in and or not, abs ceil floor max min round", "none", "where: rate * batch < 10"},
		{"input", "how the program gets the hyperparameters: in its arguments, or as one line of json on standard " +
			"input", "arguments", "input: json"},
		{"field", "the last line of standard output is a JSON object, and this field of it is the value",
			"the line is the value", "field: loss"},
		{"minimize", "whether the smallest value is the best; or the name of the value that is minimised, or " +
			"several names", "false", "minimize: [loss, seconds]"},
		{"require", "bounds that named values must stay within; a trial outside cannot be the best", "none",
			"require: {memory: {at_most: 8e9}}"},
		{"noise", "whether the program would give another value for the same hyperparameters; the best point is then " +
			"the one with the best expected value", "false", "noise: true"},
		{"at_most", "the largest value", "none", "require: {memory: {at_most: 8e9}}"},
		{"at_least", "the smallest value", "none", "require: {accuracy: {at_least: 0.9}}"},
		{"timeout", "ends the program after this time; the trial has failed", "none", "timeout: 10m"},
		{"grace", "time that the program has to end by itself after SIGTERM, before it is killed", "10s", "grace: 1m"},
		{"stop_early", "rule that ends trials early, by the values on the way: lines gpc-tune: STEP VALUE of the " +
			"program's output", "none", "stop_early: median"},
		{"files", "files whose content decides the values; if one changes, nothing of an earlier run is used",
			"none", "files: [train.py, data.csv]"},
	}},
	{"stop_early", "options of the rules that end trials early", []string{"Median", "AsynchronousHalving"}, []Key{
		{"trials", "number of earlier trials that the rule needs before it ends one", "5",
			"stop_early: {median: {trials: 10}}"},
		{"from", "first step at which a trial may end", "0; for successive_halving 1",
			"stop_early: {median: {from: 10}}"},
		{"eta", "ratio of two steps at which trials end, and one in this many goes on", "3",
			"stop_early: {successive_halving: {eta: 4}}"},
	}},
	{"ranges", "options of ranges", []string{"LogRange", "LinearRange", "WholeRange", "ChoiceRange", "Bounds"}, []Key{
		{"from", "the smallest value", "", "rate: {log: {from: 0.001, to: 1}}"},
		{"to", "the largest value", "", "dropout: {linear: {from: 0, to: 0.9}}"},
		{"values", "the values of a choice; one value is the same in all trials", "",
			"kind: {choice: {values: [linear, poly]}}"},
		{"init", "where searches start", "the middle; the first value of a choice",
			"rate: {log: {from: 0.001, to: 1, init: 0.01}}"},
		{"step", "distance between two neighbouring values, the first of which is from", "1; of linear none",
			"batch: {whole: {from: 16, to: 256, step: 16}}"},
		{"log", "whether whole numbers are taken evenly in the logarithm", "false",
			"units: {whole: {from: 8, to: 1024, log: true}}"},
		{"when", "other hyperparameters, and for which of their values this one matters: a value, a list of values, " +
			"or bounds of a number; all have to hold, else it stays at init", "all",
			"degree: {whole: {from: 2, to: 5, when: {kind: poly, rate: {below: 0.1}}}}"},
		{"above", "the number has to be larger", "none", "when: {rate: {above: 0.01}}"},
		{"below", "the number has to be smaller", "none", "when: {rate: {below: 0.1}}"},
		{"at_least", "the number has to be this or larger", "none", "when: {layers: {at_least: 3}}"},
		{"at_most", "the number has to be this or smaller", "none", "when: {layers: {at_most: 2}}"},
	}},
	{"illustrate", "options of pictures of models, without data", []string{"cavityIllustration",
		"posteriorIllustration", "priorIllustration", "softmaxIllustration", "targetsIllustration",
		"surfaceIllustration", "likelihoodIllustration", "places"}, []Key{
		{"inputs", "positions along the input: from, to, points", "", "inputs: {from: -5, to: 5, points: 101}"},
		{"latent", "values of the latent function: from, to, points",
			"where the density is not negligible", "latent: {from: -3, to: 3, points: 61}"},
		{"from", "first position", "", "from: -5"},
		{"to", "last position", "", "to: 5"},
		{"points", "number of positions", "", "points: 101"},
		{"draws", "number of functions to draw", "3; for surface 1", "draws: 5"},
		{"classes", "names of the classes of softmax, each with its own latent function",
			"", "classes: [a, b, c]"},
		{"mean", "mean of the latent values", "0", "mean: [0, 1]"},
		{"covariance", "covariance matrix of the latent values",
			"the identity matrix", "covariance: [[1, 0.5], [0.5, 1]]"},
		{"labels", "labels of the cases: -1 or +1", "", "labels: [1, -1]"},
		{"precision", "precisions of the first site: from, to, points",
			"", "precision: {from: -1, to: 1, points: 51}"},
		{"deviations", "standard deviations of the latent values, one for each class",
			"", "deviations: [1, 1, 1]"},
	}},
}

// describe documents a key of the Go type of, or of any type if that type has no such key.
func describe(of, name string) string {
	of, _, _ = strings.Cut(of, "[") // remove the parameters of a generic type
	found := ""
	for _, s := range Sections {
		i := slices.IndexFunc(s.Keys, func(k Key) bool { return k.Name == name })
		switch {
		case i < 0:
		case slices.Contains(s.types, of):
			return s.Keys[i].String()
		case found == "" || s.types == nil:
			found = s.Keys[i].String()
		}
	}
	return found
}

// String is the description in the schema.
func (k Key) String() string {
	text := k.Doc
	if k.Default != "" {
		text += ". Default: " + k.Default
	}
	if k.Example != "" {
		text += ". Example: " + k.Example
	}
	return text
}

// describeAll adds a description to every property of a schema that has none.
func describeAll(s any) {
	switch s := s.(type) {
	case jsonschema.Schema:
		if properties, is := s["properties"].(jsonschema.Schema); is {
			for name, p := range properties {
				if of, is := p.(jsonschema.Schema); is && of["description"] == nil {
					if text := describe("", name); text != "" {
						with := jsonschema.Schema{"description": text}
						for k, v := range of {
							with[k] = v
						}
						properties[name] = with
					}
				}
			}
		}
		for _, v := range s {
			describeAll(v)
		}
	case []jsonschema.Schema:
		for _, v := range s {
			describeAll(v)
		}
	}
}

// structures documents the options of methods that represent the prior covariance.
func structures() (keys []Key) {
	for _, e := range objective.Structures {
		example := "50"
		if of, err := e.New(nil); err == nil {
			if names, is := of.(interface{ Names() []string }); is {
				example = names.Names()[len(names.Names())-1]
			}
		}
		keys = append(keys, Key{e.Name, e.Doc, "none", fmt.Sprintf("laplace: {%s: %s}", e.Name, example)})
	}
	return keys
}
