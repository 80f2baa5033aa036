package catalogue

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// explained are whole explanations: a component with hyperparameters and options, a component with
// options of options, and a composed one; a way of calibration; hyperparameters by their names in
// reports; a key of the file and a field of the results with the same name; a field of several parts
// of the results; a column of tables.
var explained = map[string]string{
	"matern12": `matern12 (gpc-tune list kernels)
Matérn of order 1/2 (exponential, Ornstein-Uhlenbeck): σ² exp(-r/l); ard

hyperparameters: each is a number, {init: v} or {fixed: v}, optionally with bounds: [lo, hi] and prior:
  name          starts at      bounds               on the theta scale
  amplitude     1              4.54e-05 … 3.27e+06  log_amplitude
  length_scale  from the data  4.54e-05 … 3.27e+06  log_length_scale

options:
  ard  true or false, by default false: one length scale for each input (automatic relevance determination); short ones mark relevant inputs

in a file:
  model: {kernel: matern12}
  model: {kernel: {matern12: {amplitude: …, length_scale: …, ard: …}}}
`,
	"polynomial": `polynomial (gpc-tune list kernels)
σ² (1 + x·x'/d)^degree for d input columns, degree 2 by default

hyperparameters: each is a number, {init: v} or {fixed: v}, optionally with bounds: [lo, hi] and prior:
  name       starts at  bounds               on the theta scale
  amplitude  1          4.54e-05 … 3.27e+06  log_amplitude

options:
  degree  a whole number, from 1 to 1000: degree of the polynomial, a whole number (default 2)

in a file:
  model: {kernel: polynomial}
  model: {kernel: {polynomial: {amplitude: …, degree: …}}}
`,
	"mcmc": `mcmc (gpc-tune list strategies)
samples of the log posterior by ` + "`restarts`" + ` Markov chains; predictions are averages over them

options:
  restarts  a whole number, from 1 to 100000, by default 4: number of starts: the first at init, the others drawn within a factor e² of it; for mcmc, number of chains
  burn      a whole number, from 1 to 1000000
  samples   a whole number, from 4 to 100000, by default 100
  thin      a whole number, from 1 to 10000, by default 2: number of moves between samples that are kept

in a file:
  tune: {method: mcmc}
  tune: {method: mcmc, restarts: …, burn: …, samples: …, thin: …}
`,
	"so_far": `so_far (a word of the glossary)
of an unfinished run: the best of the finished jobs, without a verdict

so_far (a field of results.json)
results so far of an unfinished run, for each data set that has some but no answer yet
`,
	"sum": `sum (gpc-tune list kernels)
sum: [kernel, …]; k = Σ k_j

in a file:
  model: {kernel: {sum: [kernel, …]}}
`,
	"score": `score (a word of the glossary)
a number that rates predictions of held-out cases; ` + "`gpc-tune list scores`" + ` lists them

score (a key of the file: evaluate)
score by which the configuration is selected
  default: information_bits
  example: evaluate: {nested: {score: log_loss}}

score (a key of the file: race)
score by which configurations are compared
  default: information_bits
  example: race: {paired_t: {}, score: brier}

score (a column of tables)
name of the score

score (a field of several parts of results.json)
- score of the best, or of the nested selection procedure
- its score
- of the best
- the criterion of selection, on the predictions of all inner folds; or log_evidence
- the score that compares configurations
- the score that decides
- score of the best so far, over all its folds
`,
	"platt": `platt (a way of calibration)
1/(1 + exp(-a ln(p/(1-p)) - b)), a ≥ 0 and b by maximum likelihood (Platt 1999)
  example: predict: {calibrate: platt}
`,
	"2.se.length_scale": `2.se.length_scale (a hyperparameter)
  of  in gpc-tune list  starts at      bounds               on the theta scale
  se  kernels           from the data  4.54e-05 … 3.27e+06  log_length_scale

in a file: a number, {init: v} or {fixed: v}; {init: 1} tunes one that is held
`,
	"likelihood.epsilon": `likelihood.epsilon (a hyperparameter)
  of               in gpc-tune list  starts at         bounds          on the theta scale
  noisy_threshold  likelihoods       0.01, held there  3.06e-07 … 0.5  logit_epsilon

in a file: a number, {init: v} or {fixed: v}; {init: 1} tunes one that is held
`,
	"inducing": `inducing (a key of the file: inference)
number of inducing inputs: approximates the covariance by one of lower rank, for thousands of cases
  default: none
  example: laplace: {inducing: 50}

inducing (a field of results.json)
inducing inputs of the fit to all of the training data
`,
	"bits": `bits (a word of the glossary)
units of log probability, natural and to base 2: one nat is 1.44 bits

bits (a column of tables)
the score information_bits: test information, the mean of log2 p(y) minus that of the training frequencies [GPML 3.76]: 0 is guessing (bits per case)

bits (a field of results.json)
mean loss with shuffled values, bits per case
`,
}

// An example of a strategy without options is one that the program accepts.
func TestExamplesOfStrategies(t *testing.T) {
	for name, bare := range map[string]bool{"bfgs": true, "auto": true, "mcmc": true, "grid": false, "hyperband": false, "multi_fidelity": false} {
		var out bytes.Buffer
		err := Explain(&out, name)
		example := fmt.Sprintf("  tune: {method: %s", name)
		if text := out.String(); err != nil || strings.Contains(text, example+"}\n") != bare || !strings.Contains(text, example+", ") {
			t.Errorf("explain %s: %v\n%s", name, err, text)
		}
	}
}

func TestWholeExplanations(t *testing.T) {
	for name, want := range explained {
		var out bytes.Buffer
		if err := Explain(&out, name); err != nil || out.String() != want {
			t.Errorf("explain %s: %v\n%s\nwant\n%s", name, err, out.String(), want)
		}
	}
	var out bytes.Buffer
	if err := Explain(&out, "ep"); err != nil || !strings.Contains(out.String(), "\n  inducing        a number | auto | {points: a whole number, "+
		"from 1 to 1000000, select: greedy | kmeans | random, correction: default | fitc | vfe | {power: a number, greater than 0 and less than 1}") ||
		!strings.Contains(out.String(), "\n  damping         a number, greater than 0 and at most 1, by default 1: share of the new value in each "+
			"update; 1 means no damping\n") ||
		!strings.Contains(out.String(), "\n  quadrature      {order: a whole number, from 1 to 100}: computes averages by Gauss-Hermite "+
			"quadrature, as some papers do, instead of exactly (default exact)\n") {
		t.Errorf("explain ep: %v\n%s", err, out.String())
	}
	out.Reset()
	want := "\n  inputs  {from: a number, to: a number, points: a whole number}, by default {from: -1, to: 1, " +
		"points: 31}\n  draws   a whole number, by default 1\n"
	if err := Explain(&out, "surface"); err != nil || !strings.Contains(out.String(), want) {
		t.Errorf("explain surface: %v\n%s", err, out.String())
	}
	out.Reset()
	if err := Explain(&out, "gallery:crabs"); err != nil || !strings.Contains(out.String(), "\nversion: 1\nname: crabs\n") {
		t.Errorf("explain gallery:crabs: %v\n%s", err, out.String())
	}
}
