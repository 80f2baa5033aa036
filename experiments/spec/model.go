package spec

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/model"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// modelNodes is one cell of the cross product of a model section.
type modelNodes struct {
	Kernel     *strictyaml.Node `yaml:"kernel"`
	Mean       *strictyaml.Node `yaml:"mean"`
	Likelihood *strictyaml.Node `yaml:"likelihood"`
	Inference  *strictyaml.Node `yaml:"inference"`
	Classes    string           `yaml:"classes"`

	prefix string // prefix of the names of the parts, if each is a text of its own
}

func (d *decoder) models(root, n *strictyaml.Node, s *Spec) {
	if n == nil {
		d.at(root, "no model; add model: {kernel: se, likelihood: probit, inference: laplace}")
		return
	}
	start := d.found.Found()
	for _, v := range d.expanded(n, modelLists) {
		before := d.found.Found()
		if before-start > maxMistakes {
			break
		}
		var nodes modelNodes
		d.into(v, &nodes)
		choose(d, v, "classes", &nodes.Classes, classModes)
		for _, part := range []struct {
			node          *strictyaml.Node
			key, instance string
		}{{nodes.Kernel, "kernel", "se"}, {nodes.Likelihood, "likelihood", "probit"},
			{nodes.Inference, "inference", "laplace"}} {
			if (part.node == nil || strictyaml.IsNull(part.node)) && s.needs(part.key) &&
				!d.needless(part.key, nodes.Inference) {
				d.at(v, "model has no %s; add for example %s: %s", part.key, part.key, part.instance)
			}
		}
		m := Model{Model: d.model(nodes, s.Average)}
		m.Whole = d.found.Found() == before
		s.Models = append(s.Models, m)
	}
	s.Models = distinct(s.Models)
}

// model reads the parts of one model and checks that they are compatible.
func (d *decoder) model(nodes modelNodes, average objective.Average) model.Model {
	in := func(part string) *decoder {
		if nodes.prefix != "" {
			return d.as(nodes.prefix + part)
		}
		return d
	}
	written := func(name string, n *strictyaml.Node) model.Part {
		return model.Part{Component: strictyaml.Component(n), Place: in(name).found.Place(n)}
	}
	given := func(n *strictyaml.Node) bool { return n != nil && !strictyaml.IsNull(n) }
	m := model.Model{Classes: nodes.Classes}
	m.Written.Kernel, m.Written.Mean = written("kernel", nodes.Kernel), written("mean", nodes.Mean)
	m.Written.Likelihood, m.Written.Inference = written("likelihood", nodes.Likelihood),
		written("inference", nodes.Inference)
	m.Written.Method = m.Written.Inference.Text
	if !given(nodes.Inference) {
		m.Written.Inference.Component = record.Component{}
	}
	if given(nodes.Kernel) {
		d, n := in("kernel"), nodes.Kernel
		if inner := strictyaml.Find(n, "per_class"); inner != nil && len(n.Content) == 2 {
			m.PerClass, n = true, inner
		}
		if k, _, ok := d.kernel(n); ok {
			m.Kernels = []kernel.Kernel{k}
		}
	}
	if given(nodes.Mean) {
		m.Mean = in("mean").mean(nodes.Mean)
	} else {
		m.Written.Mean.Component = record.Plain("zero")
	}
	likOK, infOK := false, false
	if given(nodes.Likelihood) {
		d := in("likelihood")
		mark, before := len(d.settings.settings), d.found.Found()
		if m.Likelihood, _, likOK = component(d, nodes.Likelihood, "likelihood", likelihood.Table); likOK {
			d.checkSettings(mark, m.Likelihood.Params())
			if err := likelihood.Check(m.Likelihood); err != nil && d.found.Found() == before {
				d.at(nodes.Likelihood, "%v", err)
			}
			if err := average.Uses(m.Likelihood); err != nil {
				d.at(nodes.Likelihood, "%v", err)
			}
		}
	}
	if _, compares := d.comparing(nodes.Inference); compares {
		return in("inference").compareWith(m, nodes.Inference)
	}
	if given(nodes.Inference) {
		m.Inference, m.Written.Inference, infOK = in("inference").inference(nodes.Inference, nodes.Classes)
		m.Written.Tuning = m.Written.Inference
	}
	if likOK && infOK {
		if err := usable(m.Inference, m.Likelihood); err != nil {
			in("inference").at(nodes.Inference, "%v", err)
		}
	}
	return m
}

// inference reads an inference method, for one of classModes.
func (d *decoder) inference(n *strictyaml.Node, classes string) (a approx.Approximation, as model.Part, ok bool) {
	as = model.Part{Component: strictyaml.Component(n), Place: d.found.Place(n)}
	switch name, compares := d.comparing(n); {
	case compares:
		d.at(n, "%s is a comparator, which tunes only itself; name it in model: {inference: …}", name)
		return nil, as, false
	case name != "" && !slices.Contains(approx.Table.Names(), name):
		d.at(n, "unknown inference %q%s", name,
			registry.Suggest(name, append(approx.Table.Names(), comparator.Table.Names()...)))
		return nil, as, false
	}
	a, _, ok = component(d, n, "inference", approx.Table)
	if ok {
		a, as.Component = model.OfClasses(a, as.Component, classes)
	}
	return a, as, ok
}

// tuneWith forms the cross product of models and inference methods for tuning.
func (d *decoder) tuneWith(n *strictyaml.Node, models []Model) (out []Model) {
	methods := d.expanded(n, modelLists)
	if len(models)*len(methods) > strictyaml.MaxAlternatives {
		strictyaml.TooMany(n, d.found)
		return nil
	}
	for _, m := range models {
		if m.Comparator != nil {
			out = append(out, m)
			continue
		}
		for _, v := range methods {
			a, as, ok := d.inference(v, m.Classes)
			if !ok {
				continue
			}
			if m.Likelihood != nil {
				if err := usable(a, m.Likelihood); err != nil {
					d.at(v, "%v", err)
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

// usable returns an error if inference and likelihood are incompatible for every number of classes.
// The number is known only with the data.
func usable(a approx.Approximation, lik likelihood.Likelihood) error {
	counts := []int{2, 3, 0}
	if _, ok := a.(approx.OneVsRest); ok {
		counts = []int{3} // with 2 the error would be about one_vs_rest, not about the method that it applies
	}
	var refusal error
	for _, classes := range counts {
		_, err := a.Uses(lik, classes)
		if err == nil {
			return nil
		}
		if refusal == nil {
			refusal = err
		}
	}
	return refusal
}

// kernel reads a kernel with its sums, products and column choices.
func (d *decoder) kernel(n *strictyaml.Node) (k kernel.Kernel, kind string, ok bool) {
	name, options, ok := d.named(n, "kernel")
	if !ok {
		return nil, "", false
	}
	switch name {
	case "sum", "product":
		parts, ok := d.kernels(n, name, options)
		if name == "sum" {
			return kernel.Sum(parts), name, ok
		}
		return kernel.Product(parts), name, ok
	case "active":
		k, ok := d.active(n, options)
		return k, name, ok
	case "per_class":
		d.at(n, "per_class must stand outermost, as in {per_class: {sum: [se, noise]}}")
		return nil, name, false
	}
	e, err := kernel.Table.Lookup("kernel", name)
	if err != nil {
		have := append(kernel.Table.Names(), "sum", "product", "active", "per_class")
		d.at(n, "unknown kernel %q%s", name, registry.Suggest(name, have))
		return nil, name, false
	}
	mark, before := len(d.settings.settings), d.found.Found()
	k, err = e.New(d.reading(options))
	if err == nil {
		d.checkSettings(mark, k.Params(1))
	}
	if err == nil && d.found.Found() == before { // finds errors that depend on more than the settings
		err = kernel.Check(k)
	}
	if err != nil && err != errReported {
		d.at(n, "%v", err)
	}
	return k, name, d.found.Found() == before
}

// kernels reads the parts of a sum or a product.
func (d *decoder) kernels(n *strictyaml.Node, name string, options *strictyaml.Node) (parts []kernel.Named, ok bool) {
	if options == nil || options.Kind != strictyaml.SequenceNode || len(options.Content) == 0 {
		d.at(n, "%s needs a list of kernels, as in {%s: [se, noise]}", name, name)
		return nil, false
	}
	if len(options.Content) > maxParts {
		d.at(options, "a %s of %d kernels; at most %d", name, len(options.Content), maxParts)
		return nil, false
	}
	ok = true
	for _, c := range options.Content {
		part, kind, good := d.kernel(c)
		ok = ok && good
		parts = append(parts, kernel.Named{Kind: kind, Kernel: part})
	}
	return parts, ok
}

// active reads a kernel on some of the columns.
func (d *decoder) active(n, options *strictyaml.Node) (k kernel.Active, ok bool) {
	before := d.found.Found()
	var a active
	if options != nil && !strictyaml.IsNull(options) {
		d.into(options, &a)
	}
	for _, dim := range a.Dims {
		if dim < 1 {
			d.at(options, "dims are column numbers from 1, found %d", dim)
		}
	}
	if a.Kernel == nil || len(a.Dims) == 0 {
		if options == nil || strictyaml.IsNull(options) {
			options = n
		}
		d.at(options, "active needs dims and a kernel, as in {active: {dims: [1, 2], kernel: se}}")
		return k, false
	}
	inner, kind, good := d.kernel(a.Kernel)
	return kernel.Active{Dims: a.Dims, Named: kernel.Named{Kind: kind, Kernel: inner}}, good &&
		d.found.Found() == before
}

// active is a kernel on some of the columns, as written in the file.
type active struct {
	Dims   []int            `yaml:"dims"`
	Kernel *strictyaml.Node `yaml:"kernel"`
}

// mean reads zero, constant or {constant: setting}.
func (d *decoder) mean(n *strictyaml.Node) objective.Mean {
	m, _, ok := component(d, n, "mean", objective.Means)
	if c, is := m.(objective.Constant); ok && is {
		if err := c.Check("constant", c.Params(1)[0].Map); err != nil {
			d.at(n, "%v", err)
		}
	}
	return m
}

// comparing returns the name and the entry of a comparator given in place of an inference method.
func (d *decoder) comparing(n *strictyaml.Node) (name string, ok bool) {
	if n == nil || strictyaml.IsNull(n) || n.Kind == strictyaml.SequenceNode {
		return "", false
	}
	silent := newDecoder("")
	name, _, ok = silent.named(n, "inference")
	return name, ok && slices.Contains(comparator.Table.Names(), name)
}

// needless reports whether a model needs no kernel or no likelihood, because its inference is a
// comparator without it.
func (d *decoder) needless(part string, inference *strictyaml.Node) bool {
	name, ok := d.comparing(inference)
	if !ok {
		return false
	}
	e, err := comparator.Table.Lookup("inference", name)
	if err != nil {
		return false
	}
	c, err := e.New(nil)
	_, usesKernel := c.(comparator.KernelUser)
	return err == nil && part != "inference" && !(part == "kernel" && usesKernel)
}

// compareWith makes a model with a comparator from one that is complete except for its inference.
// Parts that the comparator does not use are removed, so that models that differ in these only
// become equal.
func (d *decoder) compareWith(m model.Model, n *strictyaml.Node) model.Model {
	before, mark, none := d.found.Found(), len(d.settings.settings), record.Plain(model.NoPart)
	c, name, ok := component(d, n, "inference", comparator.Table)
	m.Written.Tuning = m.Written.Inference
	if m.Numeric() {
		d.at(n, "%s is for classes, and likelihood %s is for numeric labels", name, m.Written.Likelihood)
	}
	if user, uses := c.(comparator.KernelUser); uses {
		switch {
		case m.PerClass:
			d.at(n, "%s has one kernel for all classes; write kernel: %s without per_class", name, m.Written.Kernel)
		case len(m.Kernels) == 1:
			c = user.With(m.Kernels[0])
		}
	} else {
		m.Written.Kernel.Component, m.Kernels, m.PerClass = none, nil, false
	}
	m.Written.Mean.Component, m.Written.Likelihood.Component, m.Mean, m.Likelihood = none, none, nil, nil
	if ok && d.found.Found() == before {
		for _, e := range Unjoin(c.Check()) {
			d.at(n, "%v", e)
		}
	}
	d.settings.settings = d.settings.settings[:mark] // Check has checked them
	m.Comparator = c
	return m
}

// distinct removes duplicates of models with comparators.
func distinct(models []Model) (out []Model) {
	for _, m := range models {
		same := func(o Model) bool {
			return o.Comparator != nil && o.Written.Inference.Text == m.Written.Inference.Text &&
				o.Written.Kernel.Text == m.Written.Kernel.Text
		}
		if m.Comparator == nil || !slices.ContainsFunc(out, same) {
			out = append(out, m)
		}
	}
	return out
}

// Lists whose elements may be alternatives but which are not lists of alternatives themselves.
var (
	modelLists = []string{"sum", "product", "dims", "bounds", "costs", "length_scales"}
	dataLists  = []string{"columns", "drop", "id", "classes", "categories", "missing_values"}
)

// maxMistakes ends the reading of a list, and of the models of a cross product: many more mistakes
// than are printed.
const maxMistakes = 1000

// maxParts limits the parts of a sum or a product of kernels.
const maxParts = 1000

// classModes are the ways to model more than two classes; the first is the default.
var classModes = []string{"joint", "one_vs_rest"}
