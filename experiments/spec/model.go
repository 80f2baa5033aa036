package spec

import (
	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

func (d *decoder) models(root, n *strictyaml.Node, s *Spec) {
	if n == nil {
		d.At(root, "no model; add model: {kernel: se, likelihood: probit, inference: laplace}")
		return
	}
	start := d.Found.Found()
	for _, v := range d.expanded(n, modelLists) {
		before := d.Found.Found()
		if before-start > maxMistakes {
			break
		}
		var nodes declared.Nodes
		d.Into(v, &nodes)
		choose(d, v, "classes", &nodes.Classes, declared.ClassModes)
		for _, part := range []struct {
			node          *strictyaml.Node
			key, instance string
		}{{nodes.Kernel, "kernel", "se"}, {nodes.Likelihood, "likelihood", "probit"},
			{nodes.Inference, "inference", "laplace"}} {
			if (part.node == nil || strictyaml.IsNull(part.node)) && s.needs(part.key) &&
				!declared.Needless(part.key, nodes.Inference) {
				d.At(v, "model has no %s; add for example %s: %s", part.key, part.key, part.instance)
			}
		}
		m := Model{Model: d.Model(nodes, s.Average)}
		m.Whole = d.Found.Found() == before
		s.Models = append(s.Models, m)
	}
	s.Models = distinct(s.Models)
}

// several is a number of classes that likelihoods with a latent function for each class take.
const several = 3

// inherit gives a method, and its text, the structure of the covariance of another method, unless
// it has one of its own or works with matrices only: hyperparameters of a model with inducing
// inputs are not tuned with the whole matrix.
func inherit(
	a approx.Approximation, as declared.Part, from approx.Approximation,
) (approx.Approximation, declared.Part) {
	if of := approx.StructureOf(from); of != nil && approx.StructureOf(a) == nil {
		if with, ok := approx.With(a, of); ok {
			a, as.Component = with, declared.Method(with)
		}
	}
	return a, as
}

// tuneWith forms the cross product of models and inference methods for tuning. A method inherits
// the structure of the model's.
func (d *decoder) tuneWith(n *strictyaml.Node, models []Model) (out []Model) {
	methods := d.expanded(n, modelLists)
	if len(models)*len(methods) > strictyaml.MaxAlternatives {
		strictyaml.TooMany(n, d.Found)
		return nil
	}
	for _, m := range models {
		if m.Comparator != nil {
			out = append(out, m)
			continue
		}
		for _, v := range methods {
			a, as, ok := d.Inference(v, m.Classes)
			if !ok {
				continue
			}
			a, as = inherit(a, as, m.Inference)
			if m.Likelihood != nil {
				if err := declared.Usable(a, m.TunedBy(a, several).Likelihood); err != nil {
					d.At(v, "%v", err)
					continue
				}
			}
			if m.Tuning, m.Written.Tuning = a, as; as.Text == m.Written.Inference.Text {
				m.Tuning = nil
			}
			out = append(out, m)
		}
	}
	return out
}

// startWith adds the inference method whose optimum is the start of the local optimiser, to models
// that are tuned with another method. It inherits the structure of the tuned method.
func (d *decoder) startWith(n *strictyaml.Node, models []Model) (out []Model) {
	for _, m := range models {
		if m.Comparator == nil && m.Inference != nil && m.Likelihood != nil {
			a, as, ok := d.Inference(n, m.Classes)
			if !ok {
				return models
			}
			tuned := m.Inference
			if m.Tuning != nil {
				tuned = m.Tuning
			}
			a, as = inherit(a, as, tuned)
			if err := declared.Usable(a, m.TunedBy(a, several).Likelihood); err != nil {
				d.At(n, "%v", err)
				return models
			}
			if as.Text != m.Written.Tuning.Text {
				m.Start, m.Starts = a, as
			}
		}
		out = append(out, m)
	}
	return out
}

// distinct removes models with the same texts as an earlier model, which counts them. Comparators
// give equal models for lists of parts that they do not use.
func distinct(models []Model) (out []Model) {
	first := map[[4]string]int{}
	for _, m := range models {
		w := m.Written
		key := [4]string{w.Kernel.Text, w.Mean.Text, w.Likelihood.Text, w.Inference.Text}
		switch at, met := first[key]; {
		case !met:
			first[key], out = len(out), append(out, m)
		case m.Comparator == nil:
			out[at].Repeats++
		}
	}
	return out
}

// In a list under one of these keys all elements belong to one model. Elements may be lists of
// alternatives themselves.
var (
	modelLists = []string{"sum", "product", "choice", "dims", "bounds", "costs", "length_scales"}
	dataLists  = []string{"columns", "ordered", "parts", "drop", "id", "classes", "order", "categories",
		"missing_values"}
)

// maxMistakes ends the reading of a list, and of the models of a cross product: many more mistakes
// than are printed.
const maxMistakes = 1000
