// Package objective evaluates Gaussian-process classifiers as functions of their hyperparameters,
// and maximises them.
//
// A Model (kernels, prior mean, likelihood, approximate inference) and Data make an Objective: the
// log evidence, or another Criterion of the posterior, as a function of theta, with its gradient. A
// covariance goes down to the approximation and its adjoint comes back to the kernels; neither
// knows the other. Optimize climbs from one start, Maximize from several, and Classifier does all
// of it behind the Learner interface.
//
// Theta is the unconstrained vector [kernel_1 … kernel_J | mean | likelihood] of package param;
// Layout is the one place that knows its order, and "free" is the part of it that is not held
// fixed. Values are in nats and are maximised; the sign changes only inside Run.Problem, for
// gonum's minimisers.
//
// The package reads no files, makes no splits and keeps no current hyperparameters: theta is always
// an argument. The book is Rasmussen & Williams, Gaussian Processes for Machine Learning (2006),
// called GPML.
package objective
