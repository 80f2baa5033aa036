package classifier

import (
	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Option says what Train does otherwise than by default.
type Option func(*options)

type options struct {
	objective.Classifier
	seed       uint64
	memory     int64
	preprocess string
	columns    []string
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

// Inference is the approximation; by default approx.EP{} for two classes and approx.Laplace{} for
// more. A method of two classes serves more as approx.OneVsRest{Binary: method}.
func Inference(a approx.Approximation) Option { return func(o *options) { o.Model.Inference = a } }

// Criterion is what is maximised over the hyperparameters; by default objective.LogEvidence{}.
func Criterion(c objective.Criterion) Option { return func(o *options) { o.Criterion = c } }

// Average is how probabilities are formed; by default objective.Averaged{}.
func Average(a objective.Average) Option { return func(o *options) { o.Average = a } }

// Settings are those of the local optimiser.
func Settings(s objective.Settings) Option { return func(o *options) { o.Settings = s } }

// Restarts is how many times the hyperparameters are optimised, from as many starts; by default 3.
func Restarts(n int) Option { return func(o *options) { o.Restarts = n } }

// Seed is that of all random numbers: where restarts begin, and averages over draws; by default 0.
func Seed(s uint64) Option { return func(o *options) { o.seed = s } }

// Preprocess is what is done to inputs, fitted on those of the training cases: "standardize", by
// default, "whiten" or "none".
func Preprocess(how string) Option { return func(o *options) { o.preprocess = how } }

// Columns are the names of the inputs, by which gpc-tune predict finds them in a file; by default
// x1, x2, and so on.
func Columns(names ...string) Option { return func(o *options) { o.columns = names } }

// Memory is how many bytes Train may take, with what the garbage collector leaves uncollected; by
// default as many as are free. Fewer restarts than there are processors run at once where that
// suffices, with the same result.
func Memory(bytes int64) Option { return func(o *options) { o.memory = bytes } }
