//go:build linux

package main

import (
	"cmp"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/preprocess"
)

// set is a two-class problem that all contenders know. theta is a point of interest: ln amplitude,
// ln length scale.
type set struct {
	name   string
	x, z   *mat.Dense
	y      approx.Targets
	labels []int // labels of z
	theta  [2]float64
}

// newSet codes the labels of two classes. Without test cases the training cases serve as test cases
// too.
func newSet(name string, d *data.Data, theta [2]float64) set {
	test := cmp.Or(d.Test, d)
	s := set{name: name, x: d.X, z: test.X, y: approx.Targets{Classes: 2}, labels: test.Labels, theta: theta}
	for _, l := range d.Labels {
		s.y.Value = append(s.y.Value, float64(2*l-1))
	}
	return s
}

// standardized reads data and standardises the inputs.
func standardized(spec data.Spec) *data.Data {
	d := got(data.Load(spec, ".", 1))
	pre, _, err := preprocess.Fit(d.X, "standardize", "error")
	must(err)
	d.X = pre.Apply(d.X)
	return d
}

// every is n of the cases, evenly spaced.
func every(d *data.Data, n int) *data.Data {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i * (len(d.Labels) / n)
	}
	return &data.Data{X: data.PickRows(d.X, rows), Labels: data.Pick(d.Labels, rows)}
}

func model(ard bool, l likelihood.Likelihood, inference approx.Approximation) objective.Model {
	return objective.Model{Kernels: []kernel.Kernel{kernel.SE{ARD: ard}}, Likelihood: l, Inference: inference}
}

// objective is the log evidence of a model on the set, with an empty cache.
func (s set) objective(m objective.Model) *objective.Objective {
	return got(objective.New(m, objective.LogEvidence{}, objective.Data{X: &kernel.Inputs{X: s.x}, Y: s.y}))
}

// laplace is the model of scikit-learn's classifier.
func (s set) laplace(ard bool) *objective.Objective {
	return s.objective(model(ard, likelihood.Logit{}, approx.Laplace{}))
}
