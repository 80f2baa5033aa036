package classifier

import (
	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Option changes a default of Train.
type Option func(*options)

type options struct {
	objective.Classifier
	tunes      approx.Approximation // approximation whose criterion is maximised
	seed       uint64
	memory     int64
	preprocess string
	columns    []string
	weights    []float64
}

// Kernel is the covariance function; by default kernel.SE{}, with one length scale for all inputs.
func Kernel(k kernel.Kernel) Option {
	return func(o *options) { o.Model.Kernels = []kernel.Kernel{k} }
}

// Mean is the prior mean; by default it is zero.
func Mean(m objective.Mean) Option { return func(o *options) { o.Model.Mean = m } }

// Likelihood is the observation model; by default likelihood.Probit{} for two classes and
// likelihood.Softmax{} for more.
func Likelihood(l likelihood.Likelihood) Option { return func(o *options) { o.Model.Likelihood = l } }

// Inference is the approximation that predicts, and that tunes unless TuneInference is given. By
// default approx.EP{} predicts with the hyperparameters that approx.Laplace{} has tuned. If
// Laplace's method does not support the likelihood or the criterion, EP tunes them itself.
// approx.OneVsRest{Binary: method} applies a method of two classes to more classes.
func Inference(a approx.Approximation) Option { return func(o *options) { o.Model.Inference = a } }

// TuneInference is the approximation whose criterion the hyperparameters maximise. Without a
// structure of its own, such as inducing inputs, it takes over the structure of Inference.
func TuneInference(a approx.Approximation) Option { return func(o *options) { o.tunes = a } }

// Criterion is maximised over the hyperparameters; the default is objective.LogEvidence{}.
func Criterion(c objective.Criterion) Option { return func(o *options) { o.Criterion = c } }

// Average forms class probabilities from latent values; the default is objective.Averaged{}.
func Average(a objective.Average) Option { return func(o *options) { o.Average = a } }

// Settings configure the local optimiser.
func Settings(s objective.Settings) Option { return func(o *options) { o.Settings = s } }

// Restarts is the number of optimisations, each from another start; the default is 3.
func Restarts(n int) Option { return func(o *options) { o.Restarts = n } }

// Seed seeds all random numbers, which are the starts of restarts and the draws of averages; the
// default is 0.
func Seed(s uint64) Option { return func(o *options) { o.seed = s } }

// Preprocess transforms the inputs: "standardize" (the default), "power", "whiten" or "none". It is
// fitted to the training inputs.
func Preprocess(how string) Option { return func(o *options) { o.preprocess = how } }

// Weights sets the number of cases that each row counts as, 0 or more; by default 1. Rows of weight
// 0 are left out.
func Weights(w []float64) Option { return func(o *options) { o.weights = w } }

// Columns names the inputs. gpc-tune predict finds the columns of a file by these names. The
// default is x1, x2, and so on.
func Columns(names ...string) Option { return func(o *options) { o.columns = names } }

// Memory limits the bytes that Train may take, uncollected garbage included; the default is the
// free memory. If it is too small for a restart on every processor, fewer restarts run at once,
// with the same result.
func Memory(bytes int64) Option { return func(o *options) { o.memory = bytes } }
