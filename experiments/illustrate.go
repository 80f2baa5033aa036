package experiments

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// Illustrations lists what can be shown of models without data, one file each.
var Illustrations = registry.Table[illustration]{
	registry.Of[priorIllustration, illustration]("prior", "draws of the latent function over one input and, where the likelihood is of classes, what it makes of them", priorIllustration{Inputs: places{-5, 5, 201}, Draws: 3}),
	registry.Of[likelihoodIllustration, illustration]("likelihood", "log p(y|f) over f and its derivatives, as in GPML Figure 3.3", likelihoodIllustration{Latent: places{-3, 3, 201}, Label: 1}),
	registry.Of[posteriorIllustration, illustration]("posterior", "the posterior of one or two latent values, exact and of every inference method, with its iterates, as in GPML Figure 3.4", posteriorIllustration{Labels: []float64{1}}),
}

// illustration shows something of models without data. Its options are its exported fields.
type illustration interface {
	// needs lists what a model must have: of kernel, likelihood and inference.
	needs() []string
	// check hands every mistake in the options, and what of a model it cannot show, to put, with the key or the part of the
	// model that is at fault.
	check(m Model, put func(at string, err error))
	// of is the illustration of a model, without numbers yet. Models of which it is the same are shown in one.
	of(m Model) record.Illustration
	// fill computes the numbers. Random ones depend on seed alone.
	fill(ctx context.Context, i *record.Illustration, models []Model, seed uint64) error
}

// shown is an illustration with its place in the file.
type shown struct {
	illustration
	kind string
	node *strictyaml.Node
}

// dataSections are the sections of experiments with data only.
var dataSections = []string{"data", "tune", "evaluate", "race", "predict", "published"}

// maxIllustrations bounds what one manifest holds.
const maxIllustrations = 200

// illustrations reads the illustrate section: an illustration, or a list of them. The sections of experiments with data must
// not be there.
func (d *decoder) illustrations(root, n *strictyaml.Node, s *Spec) {
	d.mapping(root, func(key, _ *strictyaml.Node) {
		if slices.Contains(dataSections, key.Value) {
			d.at(key, "illustrate shows models without data, and takes no %s; leave out one of the two", key.Value)
		}
	})
	entries := []*strictyaml.Node{n}
	if n.Kind == strictyaml.SequenceNode {
		if entries = n.Content; len(entries) == 0 {
			d.at(n, "an empty list; illustrate for example prior")
		}
	}
	if len(entries) > maxIllustrations {
		d.at(n, "%d illustrations, more than %d; split the experiment", len(entries), maxIllustrations)
		return
	}
	for _, e := range entries {
		if v, kind, ok := component(d, e, "illustration", Illustrations); ok {
			s.Illustrations = append(s.Illustrations, shown{v, kind, e})
		}
	}
}

// needs says whether the models must have a part.
func (s *Spec) needs(part string) bool {
	return !s.illustrates || slices.ContainsFunc(s.Illustrations, func(i shown) bool { return slices.Contains(i.needs(), part) })
}

// checkIllustrations checks every illustration with every model.
func (d *decoder) checkIllustrations(s *Spec) {
	for _, i := range s.Illustrations {
		for _, m := range s.Models {
			if m.Comparator != nil {
				d.at(m.inferenceNode, "%s is a comparator, of which there is nothing to illustrate without data", m.Label.Inference)
				continue
			}
			if slices.ContainsFunc(i.needs(), func(part string) bool { return m.node(part) == nil }) || m.unread() {
				continue // told
			}
			i.check(m, func(at string, err error) {
				n := m.node(at)
				if n == nil {
					n = i.node
					for _, options := range i.node.Content { // the key, and what it has
						if v := strictyaml.Find(options, at); v != nil {
							n = v
						}
					}
				}
				d.at(n, "%v", err)
			})
		}
	}
}

// node is where a part of the model is in the file.
func (m Model) node(part string) *strictyaml.Node {
	return map[string]*strictyaml.Node{"kernel": m.kernelNode, "mean": m.meanNode, "likelihood": m.likelihoodNode, "inference": m.inferenceNode}[part]
}

// unread says that a part which is in the file could not be read.
func (m Model) unread() bool {
	return m.kernelNode != nil && m.Kernels == nil || m.likelihoodNode != nil && m.Likelihood == nil || m.inferenceNode != nil && m.Inference == nil
}

// illustrate computes the illustrations: every one of every model, once where they are the same.
func (p *Plan) illustrate(ctx context.Context, d *decoder, s *Spec) error {
	for entry, i := range s.Illustrations {
		var all []record.Illustration
		var models [][]Model
		for _, m := range s.Models {
			of := i.of(m)
			at := slices.IndexFunc(all, func(o record.Illustration) bool {
				return o.Kernel.Text == of.Kernel.Text && o.Mean.Text == of.Mean.Text && o.Likelihood.Text == of.Likelihood.Text
			})
			if at < 0 {
				at, all, models = len(all), append(all, of), append(models, nil)
			}
			models[at] = append(models[at], m)
		}
		if len(p.Manifest.Illustrations)+len(all) > maxIllustrations {
			d.at(i.node, "more than %d illustrations; split the experiment", maxIllustrations)
			return nil
		}
		seed := derive(s.Seed, "illustrate", strconv.Itoa(entry))
		for k, of := range all {
			of.Kind, of.Entry = i.kind, entry
			if err := i.fill(ctx, &of, models[k], seed); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				d.at(i.node, "%v", err)
				continue
			}
			of.Key = illustrationKey(of, strictyaml.Flow(i.node), seed, models[k])
			p.Manifest.Illustrations = append(p.Manifest.Illustrations, of)
		}
	}
	return nil
}

// places are equally spaced places on a line.
type places struct {
	From   float64 `yaml:"from"`
	To     float64 `yaml:"to"`
	Points int     `yaml:"points"`
}

// maxPlaces bounds their number: a covariance has as many numbers squared, and a manifest keeps every column.
const maxPlaces = 2000

// on gives the places, at most so many.
func (p places) on(most int) ([]float64, error) {
	if !(p.From < p.To && p.To-p.From <= 1e300 && p.Points >= 2 && p.Points <= most) {
		return nil, fmt.Errorf("from %v to %v with %d points; from must be less than to, with 2 to %d points", p.From, p.To, p.Points, most)
	}
	return floats.Span(make([]float64, p.Points), p.From, p.To), nil
}

// recorded is a column of numbers.
func recorded(name string, values []float64) record.Column {
	return record.Column{Name: name, Values: record.Numbers(values)}
}
