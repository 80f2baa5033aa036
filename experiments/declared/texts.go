package declared

import (
	"strings"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/random"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/record/parsed"
)

// Texts are the parts of a model, each a name or YAML flow text.
type Texts struct {
	Kernel     string `json:"kernel"`
	Mean       string `json:"mean"`
	Likelihood string `json:"likelihood"`
	Inference  string `json:"inference"`
	Classes    string `json:"classes"` // joint | one_vs_rest
	Average    string `json:"average"` // how class probabilities are averaged over latent values
}

// TextsOf returns the texts of a model, from which ReadModel makes it again. A component whose type
// is not in its table is an error that says how to register it.
func TextsOf(m objective.Model, average objective.Average) (t Texts, err error) {
	k, method := m.Kernels[0], m.Inference
	if len(m.Kernels) > 1 {
		k = kernel.PerClass{Kernel: k}
	}
	if t.Kernel, err = text(k, "kernel", kernel.Table); err != nil {
		return t, err
	}
	t.Mean = "zero"
	if m.Mean != nil {
		if t.Mean, err = text(m.Mean, "prior mean", objective.Means); err != nil {
			return t, err
		}
	}
	if t.Likelihood, err = text(m.Likelihood, "likelihood", likelihood.Table); err != nil {
		return t, err
	}
	t.Classes = "joint"
	if each, is := method.(approx.OneVsRest); is {
		method, t.Classes = each.Binary, "one_vs_rest"
	}
	if t.Inference, err = text(method, "inference", approx.Table); err != nil {
		return t, err
	}
	t.Average, err = text(average, "average", objective.Averages)
	return t, err
}

// Method returns the text of an inference method of the table.
func Method(a approx.Approximation) record.Component {
	method, classes := a, "joint"
	if each, is := a.(approx.OneVsRest); is {
		method, classes = each.Binary, "one_vs_rest"
	}
	of, err := text(method, "inference", approx.Table)
	if err != nil {
		panic(err)
	}
	_, as := OfClasses(method, parsed.Component(strictyaml.Parse([]byte(of), strictyaml.NewFindings(""))), classes)
	return as
}

// Restructured returns a method, and its text, with another structure of the covariance in place of
// objective.Auto. option is the structure as a file writes it; nil, with "", is the matrix.
func Restructured(
	a approx.Approximation, as record.Component, s approx.Structure, option string,
) (approx.Approximation, record.Component) {
	a, _ = approx.With(a, s)
	if s == nil {
		return a, Method(a)
	}
	return a, parsed.ComponentOf(strings.Replace(as.Text, "structure: auto", option, 1))
}

// ReadModel reads the parts of a model, with or without the inference. Mistakes are reported at
// prefix followed by the name of the part.
func ReadModel(found *strictyaml.Findings, t Texts, prefix string, inference bool) (m Model) {
	d := NewDecoder(found)
	nodes := Nodes{prefix: prefix, Classes: t.Classes}
	Choose(d.As(prefix+"classes"), nil, "classes", &nodes.Classes, ClassModes)
	ok := true
	var method *strictyaml.Node
	if inference && strings.TrimSpace(t.Inference) != "" {
		method = strictyaml.Parse([]byte(t.Inference), strictyaml.NewFindings(""))
	}
	for _, part := range []struct {
		name, text, instance string
		node                 **strictyaml.Node
	}{
		{"kernel", t.Kernel, "se", &nodes.Kernel},
		{"mean", t.Mean, "zero", &nodes.Mean},
		{"likelihood", t.Likelihood, "probit", &nodes.Likelihood},
		{"inference", t.Inference, "laplace", &nodes.Inference},
	} {
		if part.node == &nodes.Inference && !inference || part.text == noPart && Needless(part.name, method) {
			continue
		}
		where := prefix + part.name
		d, n := d.As(where), &strictyaml.Node{Kind: strictyaml.ScalarNode, Tag: "!!null"}
		if strings.TrimSpace(part.text) != "" {
			n = strictyaml.Parse([]byte(part.text), d.Found)
		}
		if n != nil && strictyaml.IsNull(n) {
			d.At(nil, "is empty; give a name or YAML flow text, as in %s %s", where, part.instance)
			n = nil
		}
		*part.node = n
		ok = ok && n != nil
	}
	if ok {
		m = d.Model(nodes, objective.Averaged{})
	}
	return m
}

// ReadBack reads the texts of a program's model. The user has not seen these texts, so problems
// have no positions in them; they have the name of the part after prefix.
func ReadBack(t Texts, prefix string) (m Model, err error) {
	found := strictyaml.NewFindings("")
	m = ReadModel(found, t, prefix, true)
	ReadAverage(found.As(prefix+"average"), t.Average, 0)
	err = found.Err()
	if problems, is := err.(strictyaml.Problems); is {
		for i := range problems {
			problems[i].Line = 0
		}
	}
	return m, err
}

// ReadAverage reads the averaging over latent values, a name or YAML flow text.
func ReadAverage(found *strictyaml.Findings, text string, from uint64) objective.Average {
	d := NewDecoder(found)
	n := strictyaml.Parse([]byte(text), d.Found)
	if n == nil {
		return nil
	}
	average, _, _ := Component(d, n, "average", objective.Averages)
	return Seeded(average, from)
}

// Seeded adds the seed to an averaging that uses random numbers.
func Seeded(a objective.Average, from uint64) objective.Average {
	if r, ok := a.(objective.Random); ok {
		return r.Seeded(random.Derive(from, "predict"))
	}
	return a
}
