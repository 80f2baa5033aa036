package declared

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/record/parsed"
)

// Nodes are the parts of one model as YAML nodes; nil or null: absent.
type Nodes struct {
	Kernel     *strictyaml.Node `yaml:"kernel"`
	Mean       *strictyaml.Node `yaml:"mean"`
	Likelihood *strictyaml.Node `yaml:"likelihood"`
	Inference  *strictyaml.Node `yaml:"inference"`
	Classes    string           `yaml:"classes"`

	prefix string // prefix of the names of the parts, if each part is a separate text
}

// ClassModes are the ways to model more than two classes; the first is the default.
var ClassModes = []string{"joint", "one_vs_rest"}

func given(n *strictyaml.Node) bool { return n != nil && !strictyaml.IsNull(n) }

// Model reads the parts of one model and checks that they are compatible.
func (d *Decoder) Model(nodes Nodes, average objective.Average) Model {
	in := func(part string) *Decoder {
		if nodes.prefix != "" {
			return d.As(nodes.prefix + part)
		}
		return d
	}
	written := func(name string, n *strictyaml.Node) Part {
		return Part{Component: parsed.Component(n), Place: in(name).Found.Place(n)}
	}
	m := Model{Classes: nodes.Classes}
	m.Written.Kernel, m.Written.Mean = written("kernel", nodes.Kernel), written("mean", nodes.Mean)
	m.Written.Likelihood, m.Written.Inference = written("likelihood", nodes.Likelihood),
		written("inference", nodes.Inference)
	m.Written.Method = m.Written.Inference.Text
	if !given(nodes.Inference) {
		m.Written.Inference.Component = record.Component{}
	}
	if given(nodes.Kernel) {
		if k, _, ok := in("kernel").kernel(nodes.Kernel); ok {
			if each, is := k.(kernel.PerClass); is {
				m.PerClass, k = true, each.Kernel
			}
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
		if m.Likelihood, _, likOK = d.likelihood(nodes.Likelihood); likOK {
			if err := average.Uses(m.Likelihood); err != nil {
				d.At(nodes.Likelihood, "%v", err)
			}
		}
	}
	if _, compares := comparing(nodes.Inference); compares {
		return in("inference").compareWith(m, nodes.Inference)
	}
	if given(nodes.Inference) {
		m.Inference, m.Written.Inference, infOK = in("inference").Inference(nodes.Inference, nodes.Classes)
		m.Written.Tuning = m.Written.Inference
	}
	if likOK && infOK {
		if err := Usable(m.Inference, m.Likelihood); err != nil {
			in("inference").At(nodes.Inference, "%v", err)
		}
	}
	return m
}

// Inference reads an inference method, for one of ClassModes.
func (d *Decoder) Inference(n *strictyaml.Node, classes string) (a approx.Approximation, as Part, ok bool) {
	as = Part{Component: parsed.Component(n), Place: d.Found.Place(n)}
	switch name, compares := comparing(n); {
	case compares:
		d.At(n, "%s is a comparator, which tunes only itself; name it in model: {inference: …}", name)
		return nil, as, false
	case name != "" && !slices.Contains(approx.Table.Names(), name):
		d.At(n, "unknown inference %q%s", name,
			registry.Suggest(name, append(approx.Table.Names(), comparator.Table.Names()...)))
		return nil, as, false
	}
	a, _, ok = Component(d, n, "inference", approx.Table)
	if ok {
		a, as.Component = OfClasses(a, as.Component, classes)
	}
	return a, as, ok
}

// Usable returns an error if inference and likelihood are incompatible for every number of classes.
// The number is known only with the data.
func Usable(a approx.Approximation, lik likelihood.Likelihood) error {
	counts := []int{2, 3, 0}
	if _, ok := a.(approx.OneVsRest); ok {
		counts = []int{3} // two classes give an error about one_vs_rest itself
	}
	var refusal error
	for _, classes := range counts {
		_, err := approx.Uses(a, lik, classes)
		if err == nil {
			return nil
		}
		if refusal == nil {
			refusal = err
		}
	}
	return refusal
}

// mean reads zero, constant or {constant: setting}.
func (d *Decoder) mean(n *strictyaml.Node) objective.Mean {
	m, _, ok := Component(d, n, "mean", objective.Means)
	if c, is := m.(objective.Constant); ok && is {
		if err := c.Check("constant", c.Params(1)[0].Map); err != nil {
			d.At(n, "%v", err)
		}
	}
	return m
}

// comparing returns the name of the inference, and whether it is a comparator.
func comparing(n *strictyaml.Node) (name string, ok bool) {
	if n == nil || strictyaml.IsNull(n) || n.Kind == strictyaml.SequenceNode {
		return "", false
	}
	name, _, ok = NewDecoder(strictyaml.NewFindings("")).Named(n, "inference")
	return name, ok && slices.Contains(comparator.Table.Names(), name)
}

// Needless reports whether a model does not need a part, kernel or likelihood, because its
// inference is a comparator that does not use it.
func Needless(part string, inference *strictyaml.Node) bool {
	name, ok := comparing(inference)
	if !ok {
		return false
	}
	_, usesKernel := comparator.Table.Default(name).(comparator.KernelUser)
	return part != "inference" && !(part == "kernel" && usesKernel)
}

// compareWith makes a model with a comparator from one that is complete except for its inference.
// Parts that the comparator does not use are removed, so that models that differ only in such parts
// become equal.
func (d *Decoder) compareWith(m Model, n *strictyaml.Node) Model {
	before, mark, none := d.Found.Found(), len(d.settings.settings), record.Plain(noPart)
	c, name, ok := Component(d, n, "inference", comparator.Table)
	m.Written.Tuning = m.Written.Inference
	if m.Numeric() {
		d.At(n, "%s is for classes, and likelihood %s is for numeric labels", name, m.Written.Likelihood)
	}
	if user, uses := c.(comparator.KernelUser); uses {
		switch {
		case m.PerClass:
			d.At(n, "%s has one kernel for all classes; write kernel: %s without per_class", name, m.Written.Kernel)
		case len(m.Kernels) == 1:
			c = user.With(m.Kernels[0])
		}
	} else {
		m.Written.Kernel.Component, m.Kernels, m.PerClass = none, nil, false
	}
	m.Written.Mean.Component, m.Written.Likelihood.Component, m.Mean, m.Likelihood = none, none, nil, nil
	if ok && d.Found.Found() == before {
		for _, e := range Unjoin(c.Check()) {
			d.At(n, "%v", e)
		}
	}
	d.settings.settings = d.settings.settings[:mark] // Check has checked them
	m.Comparator = c
	return m
}

// Unjoin lists the errors of an errors.Join, including nested ones.
func Unjoin(err error) []error {
	if err == nil {
		return nil
	}
	many, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range many.Unwrap() {
		all = append(all, Unjoin(e)...)
	}
	return all
}
