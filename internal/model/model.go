// Package model is a model as a file declares it: its components beside the text that declares
// them.
package model

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Model is a model beside the text that declares it.
type Model struct {
	objective.Model
	Comparator comparator.Comparator // in place of that; nil: none
	Written    Declaration
	PerClass   bool   // every class has the kernel with hyperparameters of its own
	Classes    string // joint or one_vs_rest
}

// Declaration is a model as the file has it.
type Declaration struct {
	Kernel, Mean, Likelihood, Inference, Tuning Part
	Method                                      string // the text of Inference without one_vs_rest
}

// Part is a part of a model as the file has it; zero if it does not.
type Part struct {
	record.Component
	Place strictyaml.Place
}

// Part is a part of the model by its name.
func (d Declaration) Part(name string) Part {
	return map[string]Part{
		"kernel": d.Kernel, "mean": d.Mean, "likelihood": d.Likelihood, "inference": d.Inference,
	}[name]
}

// Label is what a configuration of the model is called, on inputs to which preprocess was done.
func (d Declaration) Label(preprocess string) record.Label {
	return record.Label{
		Preprocess: preprocess, Kernel: d.Kernel.Component, Mean: d.Mean.Component, Likelihood: d.Likelihood.Component,
		Inference: d.Inference.Component, TuneInference: d.Tuning.Component,
	}
}

// OnColumns is the model for inputs some of whose columns hold the numbers of categories, which
// hamming sees, and some of which have one source, whose length scales are one.
func (m Model) OnColumns(source []int, categories []bool) (Model, error) {
	kernels := make([]kernel.Kernel, len(m.Kernels))
	for i, k := range m.Kernels {
		mixed, err := kernel.Mixed(k, categories)
		if err != nil {
			return m, err
		}
		kernels[i] = kernel.Tie(mixed, source)
	}
	m.Kernels = kernels
	return m, nil
}

// NoPart is what a configuration says of a part that its comparator does not use.
const NoPart = "none"

// Numeric says that the labels are numbers.
func (m Model) Numeric() bool {
	return m.Likelihood != nil && m.Likelihood.Domain() == likelihood.Numeric
}

// On is the model for data of so many classes.
func (m Model) On(classes int) objective.Model {
	model := m.Model
	if m.PerClass {
		// two that one process has no use for are refused with a reason
		model.Kernels = slices.Repeat(model.Kernels, max(classes, 2))
	}
	return model
}

// OfClasses is a method, and what it is called, for joint classes or one_vs_rest.
func OfClasses(
	a approx.Approximation, written record.Component, classes string,
) (approx.Approximation, record.Component) {
	if classes == "one_vs_rest" {
		return approx.OneVsRest{Binary: a}, written.Within("one_vs_rest")
	}
	return a, written
}
