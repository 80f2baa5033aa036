//go:build linux

package main

import (
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// set is a two-class problem that all contenders know. theta is a point of interest: ln amplitude,
// ln length scale.
type set struct {
	name   string
	x, z   *mat.Dense
	y      approx.Targets
	labels []int // of z
	theta  [2]float64
}

// newSet codes the labels of two classes.
func newSet(name string, d *data.Data, theta [2]float64) set {
	s := set{name: name, x: d.X, z: d.Test.X, y: approx.Targets{Classes: 2}, labels: d.Test.Labels, theta: theta}
	for _, l := range d.Labels {
		s.y.Value = append(s.y.Value, float64(2*l-1))
	}
	return s
}

func model(ard bool, l likelihood.Likelihood, inference approx.Approximation) objective.Model {
	return objective.Model{Kernels: []kernel.Kernel{kernel.SE{ARD: ard}}, Likelihood: l, Inference: inference}
}

// objective is the log evidence of a model on the set, with nothing remembered yet.
func (s set) objective(m objective.Model) *objective.Objective {
	return got(objective.New(m, objective.LogEvidence{}, objective.Data{X: &kernel.Inputs{X: s.x}, Y: s.y}))
}

// laplace is the model of scikit-learn's classifier.
func (s set) laplace(ard bool) *objective.Objective {
	return s.objective(model(ard, likelihood.Logit{}, approx.Laplace{}))
}
