// Package objective evaluates Gaussian-process classifiers as functions of their hyperparameters,
// and maximises them.
//
// # What is computed
//
// A Model has kernels k(x, x'; θ), a prior mean m(x), a likelihood p(y|f) and a method of
// approximate inference. For n cases
//
//	f ~ N(m, K),  K_ij = k(x_i, x_j; θ),  y_i ~ p(y|f_i)
//	L(θ) = log p(y|X, θ) = log ∫ p(y|f) N(f; m, K) df
//
// with one f for two classes, and one for each class if there are more. An Objective is L, or
// another Criterion of the posterior such as the leave-one-out predictive probability, with its
// gradient ∂L/∂θ. L is the approximation of Model.Inference, and exact if the likelihood is
// Gaussian; the gradient is the exact one of that approximation. Values are in nats and are
// maximised.
//
// Objective.At is one evaluation: a Point, with value, gradient, posterior and predictions.
// Optimize climbs from one start, Maximize from several. A Run is a sequence of evaluations, each
// begun where the last ended; Run.Problem hands it to gonum's minimisers. Objective.Sample draws θ
// from its posterior by a Markov chain. Classifier does all of it behind the Learner interface.
//
// # Hyperparameters
//
// θ is one vector of real numbers without bounds, mostly logarithms: the kernels' in order, then
// the mean's, then the likelihood's (see package param). Layout alone knows that order. The free
// hyperparameters are the entries of θ that are not fixed. The package keeps no current θ: it is
// always an argument.
//
// # Errors
//
// Failures that data or hyperparameters cause are errors with the θ at which they occur. Arguments
// of the wrong shape panic. Every call with a context returns soon after the context ends. Its
// computation goes on in the background until it next checks the context. The package reads no
// files, makes no splits and changes no global state of the process.
//
// The book is Rasmussen & Williams, Gaussian Processes for Machine Learning (2006), called GPML.
package objective
