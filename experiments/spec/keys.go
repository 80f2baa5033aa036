package spec

import (
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/jsonschema"
)

// Key is a key of the file: what it says, what holds without it, and how it is written.
type Key struct{ Name, Doc, Default, Example string }

// Section is a part of the file and its keys.
type Section struct {
	Name  string // where it stands, "data"
	Doc   string
	types []string // Go types that are read there; none: any
	Keys  []Key
}

// Sections explains every key of the file: the schema, gpc-tune explain and docs/file.md are made
// of it. What a component is, its table says (Kinds).
var Sections = []Section{
	{"file", "the top of the file", []string{"document"}, []Key{
		{"version", "of the form of the file", "1", "version: 1"},
		{"name", "names the run, whose folder is runs/NAME", "that of the file", "name: crabs"},
		{"seed", "of everything that is drawn: folds, starts, subsamples, chains", "0", "seed: 1"},
		{"data", "the cases; a list is one data set after another", "", "data: {dataset: crabs}"},
		{"model", "kernel, mean, likelihood and inference; any value may be a list, and every combination is a " +
			"configuration", "", "model: {kernel: [se, matern52], likelihood: probit, inference: ep}"},
		{"tune", "how hyperparameters are chosen, on the training cases of every split alone; a list is several ways",
			"bfgs on the log evidence", "tune: {method: bfgs, restarts: 5}"},
		{"evaluate", "which cases are held out, and predicted for the scores", "the test file, where there is one",
			"evaluate: {kfold: {k: 10}}"},
		{"race", "cuts configurations between folds that will not win", "none is cut", "race: paired_t"},
		{"predict", "how class probabilities and decisions are made", "", "predict: {average: averaged}"},
		{"report", "what is written beside results.json", "", "report: {formats: [text, html]}"},
		{"published", "figures that others have published, set beside those found here", "none", ""},
		{"illustrate", "pictures of models without data", "none", "illustrate: prior"},
	}},
	{"data", "where the cases are, and what their columns are", []string{"Spec"}, []Key{
		{"dataset", "a bundled set (gpc-tune list datasets)", "", "data: {dataset: crabs}"},
		{"train", "file of training cases, CSV or svmlight, plain or compressed; relative to the experiment's file", "",
			"data: {train: patients.csv}"},
		{"test", "file of test cases with the same columns", "none", "data: {train: a.csv, test: b.csv}"},
		{"label", "column of the class or the number to be predicted: its name, or its number from 1", "the last",
			"data: {train: patients.csv, label: state}"},
		{"columns", "the inputs, in this order", "all columns that nothing else names", "columns: [age, weight]"},
		{"drop", "columns that are left out", "none", "drop: [comment]"},
		{"id", "columns that are carried through to the predictions and are no inputs", "none", "id: patient_id"},
		{"group", "column of which equal values never stand on both sides of a split, as visits of one patient", "none",
			"group: patient"},
		{"classes", "keep only cases with these labels", "all", `classes: ["3", "5"]`},
		{"positive", "of two classes the one that is coded +1: sensitivity, F1 and average precision are of it",
			"the last in natural order", "positive: ill"},
		{"above", "makes two classes of a numeric label, above this number and not", "none", "above: 25"},
		{"missing", "what becomes of empty cells, NA, NaN and ?: error, drop the case, or the mean or median of the " +
			"training cases", "error", "missing: median"},
		{"missing_values", "further texts that stand for a missing value, as they are written", "none",
			"missing_values: [-999, unknown]"},
		{"missing_indicators", "whether each input with missing values gets another one beside it, 1 where the value " +
			"is missing and else 0; with missing: mean or median", "false", "missing_indicators: true"},
		{"unlabelled", "what becomes of cases without a label: error, or drop the case", "error", "unlabelled: drop"},
		{"decimal", "how numbers are written: with a point, 1,234.5, or with a comma, 1.234,5; the sign of a " +
			"currency may stand beside them", "point", "decimal: comma"},
		{"categories", "inputs whose values are names even where they are numbers", "none", "categories: [ward]"},
		{"categorical", "what becomes of columns with text: error; one_hot, a column of 0 and 1 for each level; " +
			"or kernel, one column for the kernel hamming", "error", "categorical: one_hot"},
		{"subsample", "how many training cases are kept, drawn by the seed, as many of each class as before", "all",
			"subsample: 2000"},
		{"preprocess", "none, standardize (mean 0, variance 1) or whiten (identity covariance), fitted on the " +
			"training cases of every split", "none", "preprocess: standardize"},
	}},
	{"preprocess", "on which cases preprocessing is fitted", []string{"Choice"}, []Key{
		{"standardize", "every column to mean 0 and variance 1, by the training cases or all cases", "training",
			"preprocess: {standardize: all}"},
		{"whiten", "the columns to an identity covariance, by the training cases or all cases", "training",
			"preprocess: {whiten: all}"},
	}},
	{"model", "the model", []string{"modelNodes"}, []Key{
		{"kernel", "covariance of the latent function (gpc-tune list kernels), in sums and products too", "",
			"kernel: {sum: [{se: {ard: true}}, noise]}"},
		{"mean", "mean of the latent function (gpc-tune list means)", "zero", "mean: constant"},
		{"likelihood", "of a label given the latent function (gpc-tune list likelihoods)", "", "likelihood: probit"},
		{"inference", "how the posterior is approximated, or a comparator (gpc-tune list inference)", "",
			"inference: [laplace, ep]"},
		{"classes", "more than two classes together, or one machine for each against the rest", "joint",
			"classes: one_vs_rest"},
		{"per_class", "outermost in kernel: every class has hyperparameters of its own", "", "kernel: {per_class: se}"},
	}},
	{"hyperparameter", "a hyperparameter: a number, from which it starts, or a mapping", []string{"Setting"}, []Key{
		{"init", "where it starts, and is tuned from", "the component's", "length_scale: {init: 2}"},
		{"fixed", "holds it there", "it is tuned", "amplitude: {fixed: 1}"},
		{"bounds", "least and largest value, natural units", "e^-10 to e^15", "length_scale: {bounds: [0.1, 100]}"},
		{"prior", "its density (gpc-tune list priors), for objective: log_posterior and for chains", "none",
			"length_scale: {prior: {log_normal: {mean: 0, sd: 1}}}"},
	}},
	{"kernels", "options of kernels", nil, []Key{
		{"amplitude", "standard deviation of the function, the square root of a variance", "1", "se: {amplitude: 2}"},
		{"length_scale", "distance over which the function changes, in the units of the preprocessed inputs",
			"the root of the number of inputs, or the median distance", "se: {length_scale: {init: 3}}"},
		{"ard", "a length scale for every input, which tells how relevant it is", "false", "se: {ard: true}"},
		{"alpha", "mixture of length scales: large is near se", "1", "rational_quadratic: {alpha: 2}"},
		{"bias", "whether there is a constant beside the inputs", "true", "linear: {bias: false}"},
		{"bias_amplitude", "standard deviation of the constant", "1", "neural_network: {bias_amplitude: 2}"},
		{"degree", "of the polynomial, a whole number", "2", "polynomial: {degree: 3}"},
		{"period", "of the function, in the units of the preprocessed inputs", "from the data",
			"periodic: {period: 7}"},
		{"dims", "columns that the kernel sees, numbered from 1", "", "active: {dims: [1, 3], kernel: se}"},
	}},
	{"likelihoods", "options of likelihoods", nil, []Key{
		{"epsilon", "probability of a wrong label, from 0 to 1/2", "held at 0.01", "noisy_threshold: {epsilon: 0.02}"},
		{"noise", "standard deviation of the noise on numbers", "1", "gaussian: {noise: 0.1}"},
		{"constant", "value of the prior mean", "0, and tuned", "mean: {constant: {init: 0.5}}"},
	}},
	{"inference", "options of inference methods", nil, []Key{
		{"tolerance", "of the log evidence and of every site, at which a fit has converged", "1e-10",
			"laplace: {tolerance: 1e-8}"},
		{"max_iterations", "after which a fit has failed", "1000", "ep: {max_iterations: 200}"},
		{"schedule", "order of the updates of the sites", "sequential", "ep: {schedule: parallel}"},
		{"damping", "share of the new value that is taken; 1 is none", "1", "ep: {damping: 0.8}"},
		{"unconverged", "what becomes of a fit that has not converged: error, or accept or trust it as it is", "error",
			"pl: {unconverged: trust}"},
		{"negative_sites", "what becomes of a negative precision of a site", "floor", "ep: {negative_sites: error}"},
		{"evidence", "the form of the log evidence, cavity or posterior", "cavity", "ep: {evidence: posterior}"},
		{"quadrature", "averages by Gauss-Hermite quadrature in place of exact ones", "exact",
			"ep: {quadrature: {order: 10}}"},
		{"order", "nodes of the quadrature", "exact averages", "quadrature: {order: 20}"},
		{"inducing", "a covariance of lower rank, told by so many inputs, for thousands of cases", "none",
			"laplace: {inducing: 200}"},
		{"rechoose", "whether as many inducing inputs are chosen again at the tuned hyperparameters", "false",
			"inducing: {points: 200, rechoose: true}"},
		{"tune_inputs", "whether inducing inputs are tuned together with the hyperparameters", "false",
			"inducing: {points: 20, tune_inputs: true}"},
		{"points", "how many: of inducing inputs, of a grid axis, of a lattice, of places", "", "points: 11"},
		{"select", "how inducing inputs are chosen", "greedy", "inducing: {points: 200, select: kmeans}"},
		{"correction", "what becomes of the variance that the lower rank lacks", "the method's own", ""},
		{"power", "between VFE, 0, and FITC, 1", "", "correction: {power: 0.5}"},
		{"order_seed", "shuffles the cases: a number, or none for the file's order", "0", "online: {order_seed: none}"},
		{"sweeps", "how often the cases are gone through", "1", "online: {sweeps: 2}"},
		{"seen", "how many cases are taken in, for learning curves", "all", "online: {seen: [10, 20, 40]}"},
		{"chains", "independent chains", "32", "sampling: {chains: 64}"},
		{"temperatures", "steps from the prior to the posterior", "4000", "sampling: {temperatures: 1000}"},
		{"moves", "slice moves at each step", "1", "sampling: {moves: 2}"},
		{"burn", "moves that are thrown away before the first sample", "the method's own", "burn: 100"},
		{"samples", "how many are kept or drawn", "the method's own", "samples: 1000"},
		{"seed", "of the method's own random numbers", "that of the file", "seed: 2"},
	}},
	{"comparators", "options of comparators", []string{"SVM", "LeastSquares", "LogisticRegression"}, []Key{
		{"costs", "the C to try", "0.1, 1, 10, 100", "svm: {costs: [1, 10]}"},
		{"length_scales", "those to try", "1/8 to 4 times where the kernel starts", "svm: {length_scales: [1, 2]}"},
		{"folds", "of the cross-validation that chooses among them", "5", "svm: {folds: 10}"},
		{"restarts", "of its own optimiser", "1", "least_squares: {restarts: 5}"},
		{"amplitude", "prior standard deviation of the weights: the regularisation", "tuned from 1",
			"logistic_regression: {amplitude: {fixed: 1}}"},
		{"bias", "whether there is a constant beside the inputs", "true", "logistic_regression: {bias: false}"},
	}},
	{"priors", "options of prior densities of hyperparameters", []string{"Normal", "LogNormal", "HalfNormal",
		"HalfT", "Gamma", "InverseGamma", "Beta"}, []Key{
		{"mean", "of the normal density, of log_normal that of the natural logarithm", "0",
			"log_normal: {mean: 0, sd: 1}"},
		{"sd", "its standard deviation", "", "normal: {mean: 0, sd: 2}"},
		{"scale", "of the density", "", "half_normal: {scale: 2}"},
		{"degrees_of_freedom", "of Student's t; 1 is the half-Cauchy", "", "half_t: {scale: 1, degrees_of_freedom: 4}"},
		{"shape", "of the density", "", "gamma: {shape: 2, rate: 1}"},
		{"rate", "inverse scale of the density", "", "gamma: {shape: 2, rate: 1}"},
		{"a", "first parameter; the mean is a/(a+b)", "", "beta: {a: 2, b: 5}"},
		{"b", "second parameter; the mean is a/(a+b)", "", "beta: {a: 2, b: 5}"},
	}},
	{"tune", "how hyperparameters are chosen", []string{"tuning"}, []Key{
		{"method", "a strategy (gpc-tune list strategies), or none", "bfgs", "tune: {method: bayes, trials: 40}"},
		{"objective", "what is maximised: a criterion of the training cases, or a score of cases held out from them",
			"log_evidence", "tune: {method: bayes, objective: {cv: {score: log_loss}}}"},
		{"inference", "tunes with another inference than the one that predicts", "the model's",
			"tune: {inference: laplace}"},
		{"standard_errors", "of the hyperparameters, from the curvature of the objective", "false",
			"tune: {standard_errors: true}"},
		{"cv", "a score under a splitter of the training cases, as objective", "", "objective: {cv: {score: brier}}"},
	}},
	{"strategies", "options of the methods of tuning", nil, []Key{
		{"restarts", "starts, the first from init, the others drawn from the search box; of mcmc the chains",
			"1, of mcmc 4", "tune: {method: bfgs, restarts: 5}"},
		{"gradient", "exact, or differences of values where there is no exact one", "exact",
			"tune: {gradient: differences}"},
		{"evaluations", "most fits of a restart, a simplex or a run of cmaes", "500, 200 and 300",
			"tune: {evaluations: 100}"},
		{"trace_scores", "scores of held-out cases after every iteration", "false", "tune: {trace_scores: true}"},
		{"trials", "points that are evaluated", "64, of bayes 40", "tune: {method: random, trials: 100}"},
		{"initial", "points of the Sobol sequence before the first that is learnt", "2 (d + 1)",
			"tune: {method: bayes, initial: 10}"},
		{"batch", "points that are asked for at once", "1", "tune: {method: bayes, batch: 4}"},
		{"population", "members of a generation", "4 + 3 ln d", "tune: {method: cmaes, population: 20}"},
		{"thin", "moves for each sample", "2", "tune: {method: mcmc, thin: 5}"},
		{"grid", "the axes, a hyperparameter each", "", "grid: {length_scale: {log: [-1, 4], points: 11}}"},
		{"apart", "every point is a job of its own, for points that take minutes", "false",
			"tune: {method: grid, apart: true}"},
		{"log", "first and last value of an axis as natural logarithms: -1 is 0.368, 4 is 54.6", "",
			"length_scale: {log: [-1, 4], points: 11}"},
		{"linear", "first and last value of an axis in natural units", "", "length_scale: {linear: [1, 9], points: 9}"},
		{"values", "the values of an axis in natural units", "", "length_scale: {values: [1, 2, 5]}"},
	}},
	{"evaluate", "options of the ways of holding out", []string{"KFold", "RepeatedKFold", "GroupKFold", "HoldOut",
		"nesting"}, []Key{
		{"k", "number of parts, each held out once", "10", "evaluate: {kfold: {k: 5}}"},
		{"repeats", "how often, shuffled anew", "10", "evaluate: {repeated_kfold: {repeats: 5}}"},
		{"stratified", "every part has the share of each class that all cases have", "true, of group_kfold false",
			"evaluate: {kfold: {stratified: false}}"},
		{"test_size", "share of the cases that is held out, between 0 and 1", "0.2",
			"evaluate: {hold_out: {test_size: 0.3}}"},
		{"outer", "the folds that score", "kfold", "evaluate: {nested: {outer: {kfold: {k: 10}}}}"},
		{"inner", "the folds in which configurations compete", "kfold", "evaluate: {nested: {inner: {kfold: {k: 5}}}}"},
		{"score", "by which they compete", "information_bits", "evaluate: {nested: {score: log_loss}}"},
	}},
	{"race", "options of the rules that cut configurations", []string{"PairedT", "SuccessiveHalving"}, []Key{
		{"alpha", "probability to cut the best by chance, of the whole race", "0.05",
			"race: {paired_t: {alpha: 0.01}}"},
		{"eta", "one of so many is kept at each step", "2", "race: {successive_halving: {eta: 3}}"},
		{"score", "by which they compete", "information_bits", "race: {paired_t: {}, score: brier}"},
	}},
	{"predict", "how class probabilities and decisions are made", []string{"predicting", "thresholding"}, []Key{
		{"average", "averaged over the posterior of the latent function, or at one point (gpc-tune list averages)",
			"averaged", "predict: {average: map}"},
		{"reject", "by what the least sure cases are told for the reject curves", "max_probability",
			"predict: {reject: gap}"},
		{"loss", "costs, {truth: {decision: cost}}; decisions are those of least expected cost", "1 for an error",
			"predict: {loss: {ill: {well: 5}}}"},
		{"reject_cost", "what it costs to decide for no class", "one is always decided for",
			"predict: {reject_cost: 0.2}"},
		{"calibrate", "corrects the probabilities by what folds of the training cases show: none, platt or isotonic",
			"none", "predict: {calibrate: isotonic}"},
		{"threshold", "probability of the second of two classes from which it is decided for, chosen on folds of the " +
			"training cases", "1/2", "predict: {threshold: {maximise: f1}}"},
		{"maximise", "what the threshold is chosen for: f1, balanced_accuracy, matthews, or utility, minus the mean " +
			"cost by loss", "", "threshold: {maximise: utility}"},
	}},
	{"report", "what is written beside results.json", []string{"Report"}, []Key{
		{"formats", "gpc-tune list formats", "text", "report: {formats: [text, html, svg]}"},
		{"curves", "gpc-tune list curves", "none", "report: {curves: [calibration]}"},
		{"figures", "those that svg and png draw, by name or kind (gpc-tune list figures)", "all",
			"report: {figures: [roc]}"},
	}},
	{"published", "figures that others have published", []string{"publishing", "uncertain"}, []Key{
		{"source", "who published them, and where", "", `source: "GPML, Figure 3.7"`},
		{"figures", "each with what the configuration must have, and its numbers", "",
			"figures: [{kernel: se, errors: 14}]"},
		{"evaluation", "that the scores belong to", "the first", "evaluation: test"},
		{"note", "what is to be known of them", "none", ""},
		{"value", "the number", "", "errors: {value: 14, uncertainty: 1}"},
		{"uncertainty", "of the number", "none", "errors: {value: 14, uncertainty: 1}"},
		{"tune_inference", "the inference that is tuned with", "any", ""},
	}},
	{"illustrate", "options of pictures of models without data", []string{"cavityIllustration",
		"posteriorIllustration", "priorIllustration", "softmaxIllustration", "targetsIllustration",
		"surfaceIllustration", "likelihoodIllustration", "places"}, []Key{
		{"inputs", "places of the input: from, to, points", "", "inputs: {from: -5, to: 5, points: 101}"},
		{"latent", "places of the latent value", "where the density is", "latent: {from: -3, to: 3, points: 61}"},
		{"from", "first place", "", "from: -5"},
		{"to", "last place", "", "to: 5"},
		{"points", "number of places", "", "points: 101"},
		{"draws", "functions that are drawn", "3, of surface 1", "draws: 5"},
		{"classes", "for softmax, which has a latent function for each", "", "classes: [a, b, c]"},
		{"mean", "of the latent values", "0", "mean: [0, 1]"},
		{"covariance", "of the latent values", "the identity", "covariance: [[1, 0.5], [0.5, 1]]"},
		{"labels", "of the cases, of two classes -1 or +1", "", "labels: [1, -1]"},
		{"precision", "places of the precision of the first site", "", "precision: {from: -1, to: 1, points: 51}"},
		{"deviations", "standard deviations of the latent values, one for each class", "", "deviations: [1, 1, 1]"},
	}},
}

// describe explains a key of a type, or where none is known under it a key of any.
func describe(of, name string) string {
	of, _, _ = strings.Cut(of, "[") // of a generic type
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

// String is the sentence of the schema.
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

// describeAll gives a description to every property of a schema that has none.
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
