// Package declared has models together with the texts that declare them.
package declared

import (
	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
)

// Model is a model together with the text that declares it.
type Model struct {
	objective.Model
	Comparator comparator.Comparator // comparator in place of Model; nil: none
	Written    Declaration
	PerClass   bool   // every class has the kernel with its own hyperparameters
	Classes    string // joint or one_vs_rest
}

// Declaration is a model as written in a file.
type Declaration struct {
	Kernel, Mean, Likelihood, Inference, Tuning Part
	Method                                      string // text of Inference without one_vs_rest
}

// Part is a part of a model as written in a file; zero if absent.
type Part struct {
	record.Component
	Place strictyaml.Place
}

// Part returns a part of the model by its name.
func (d Declaration) Part(name string) Part {
	return map[string]Part{
		"kernel": d.Kernel, "mean": d.Mean, "likelihood": d.Likelihood, "inference": d.Inference,
	}[name]
}

// Label identifies a configuration of the model, for inputs preprocessed in this way.
func (d Declaration) Label(preprocess string) record.Label {
	return record.Label{
		Preprocess: preprocess, Kernel: d.Kernel.Component, Mean: d.Mean.Component, Likelihood: d.Likelihood.Component,
		Inference: d.Inference.Component, TuneInference: d.Tuning.Component,
	}
}

// OnColumns returns the model for inputs with categories and sources. Columns with equal source
// share a length scale. categories marks columns with indices of categories, for hamming.
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

// noPart stands for a part that a comparator does not use.
const noPart = "none"

// Numeric reports whether the labels are numbers.
func (m Model) Numeric() bool {
	return m.Likelihood != nil && m.Likelihood.Domain() == likelihood.Numeric
}

// Ordered reports whether the classes must have an order.
func (m Model) Ordered() bool {
	return m.Likelihood != nil && m.Likelihood.Domain() == likelihood.Ordered
}

// On returns the model for data with this number of classes.
func (m Model) On(classes int) objective.Model {
	if m.PerClass {
		m.Kernels = []kernel.Kernel{kernel.PerClass{Kernel: m.Kernels[0]}}
	}
	return m.Model.On(classes)
}

// OfClasses returns a method and its text for joint classes or one_vs_rest.
func OfClasses(
	a approx.Approximation, written record.Component, classes string,
) (approx.Approximation, record.Component) {
	if classes == "one_vs_rest" {
		return approx.OneVsRest{Binary: a}, written.Within("one_vs_rest")
	}
	return a, written
}
