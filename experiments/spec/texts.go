package spec

import (
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/model"
	"github.com/gpc-tune/gpc-tune/internal/random"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
)

// Texts are the parts of a model, each a name or YAML flow text.
type Texts struct{ Kernel, Mean, Likelihood, Inference, Classes string }

// ReadModel reads the parts of a model, with or without the inference. Mistakes are reported at
// prefix followed by the name of the part.
func ReadModel(found *strictyaml.Findings, t Texts, prefix string, inference bool) (m model.Model) {
	d := &decoder{found, &settings{}}
	nodes := modelNodes{prefix: prefix, Classes: t.Classes}
	choose(d.as(prefix+"classes"), nil, "classes", &nodes.Classes, classModes)
	ok := true
	var method *strictyaml.Node
	if inference && strings.TrimSpace(t.Inference) != "" {
		method = newDecoder("").parse([]byte(t.Inference))
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
		if part.node == &nodes.Inference && !inference || part.text == model.NoPart && d.needless(part.name, method) {
			continue
		}
		where := prefix + part.name
		d, n := d.as(where), &strictyaml.Node{Kind: strictyaml.ScalarNode, Tag: "!!null"}
		if strings.TrimSpace(part.text) != "" {
			n = d.parse([]byte(part.text))
		}
		if n != nil && strictyaml.IsNull(n) {
			d.at(nil, "is empty; give a name or YAML flow text, as in %s %s", where, part.instance)
			n = nil
		}
		*part.node = n
		ok = ok && n != nil
	}
	if ok {
		m = d.model(nodes, objective.Averaged{})
	}
	return m
}

// ReadAverage reads the averaging over latent values, a name or YAML flow text.
func ReadAverage(found *strictyaml.Findings, text string, from uint64) objective.Average {
	d := &decoder{found, &settings{}}
	n := d.parse([]byte(text))
	if n == nil {
		return nil
	}
	average, _, _ := component(d, n, "average", objective.Averages)
	return seeded(average, from)
}

// seeded adds the seed to an averaging that uses random numbers.
func seeded(a objective.Average, from uint64) objective.Average {
	if r, ok := a.(objective.Random); ok {
		return r.Seeded(random.Derive(from, "predict"))
	}
	return a
}
