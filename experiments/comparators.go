package experiments

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/param"
	"github.com/gpc-tune/gpc-tune/search"
)

// noPart is what a configuration says of a part that its comparator does not use.
const noPart = "none"

// comparing is the name and the entry of a comparator that stands where an inference method does.
func (d *decoder) comparing(n *strictyaml.Node) (name string, ok bool) {
	if n == nil || strictyaml.IsNull(n) || n.Kind == strictyaml.SequenceNode {
		return "", false
	}
	silent := newDecoder("")
	name, _, ok = silent.named(n, "inference")
	return name, ok && slices.Contains(comparator.Table.Names(), name)
}

// needless says whether a model needs no kernel, or no likelihood, because its inference is a comparator without one.
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

// compareWith makes a model with a comparator of one that is read but for its inference. What the comparator does not use is
// forgotten, so that models that differ in nothing else are one.
func (d *decoder) compareWith(m Model, n *strictyaml.Node) Model {
	before, mark := d.found.Found(), len(d.settings.settings)
	c, name, ok := component(d, n, "inference", comparator.Table)
	m.Label.Inference, m.Label.TuneInference, m.tuningNode = strictyaml.Component(n), strictyaml.Component(n), n
	if m.numeric() {
		d.at(n, "%s is for classes, and likelihood %s explains numbers", name, m.Label.Likelihood)
	}
	if user, ok := c.(comparator.KernelUser); ok {
		switch {
		case m.perClass:
			d.at(n, "%s has one kernel for all classes; write kernel: %s without per_class", name, m.Label.Kernel)
		case len(m.Kernels) == 1:
			c = user.With(m.Kernels[0])
		}
	} else {
		m.Label.Kernel, m.Kernels, m.perClass = record.Plain(noPart), nil, false
	}
	m.Label.Mean, m.Label.Likelihood, m.Mean, m.Likelihood = record.Plain(noPart), record.Plain(noPart), nil, nil
	if ok && d.found.Found() == before {
		if err := c.Check(); err != nil {
			for _, e := range unjoin(err) {
				d.at(n, "%v", e)
			}
		}
	}
	d.settings.settings = d.settings.settings[:mark] // Check has checked them
	m.Comparator = c
	return m
}

// distinct leaves out models with comparators that are the same but for parts that they do not use.
func distinct(models []Model) (out []Model) {
	for _, m := range models {
		same := func(o Model) bool {
			return o.Comparator != nil && o.Label.Inference.Text == m.Label.Inference.Text && o.Label.Kernel.Text == m.Label.Kernel.Text
		}
		if m.Comparator == nil || !slices.ContainsFunc(out, same) {
			out = append(out, m)
		}
	}
	return out
}

// compare lays out the configuration of a comparator: a study for every training set, each an assessment alone.
func (p *Plan) compare(d *decoder, ds *data.Data, sets []*trainingSet, m Model, seen map[string]bool) error {
	c := record.Configuration{
		Dataset: ds.Name, DataHash: ds.Hash, Cases: len(ds.Rows), Inputs: len(ds.ColumnNames),
		Label: m.labelOn(sets[0]), Classes: ds.Classes, Tune: "none",
	}
	for _, k := range m.Kernels {
		if err := kernel.CheckDim(k, c.Inputs); err != nil {
			d.at(m.kernelNode, "%s: %v", ds.Name, err)
			return nil
		}
	}
	specs := m.Comparator.Params(c.Inputs, ds.Classes)
	if slices.ContainsFunc(specs, func(s param.Spec) bool { return s.Prior != nil }) {
		p.Manifest.Warnings = append(p.Manifest.Warnings, fmt.Sprintf("%s: the priors have no effect", Overview{Configuration: c}))
	}
	for _, h := range specs {
		c.Hyperparameters = append(c.Hyperparameters, record.Hyperparameter{Name: h.Name, Theta: h.ThetaName(), Fixed: h.Fixed})
	}
	c.Missing, c.Versions = sets[0].imputes(), versionsOf(m, nil, sets[0].how, false)
	identity := mustMarshal(configurationKeyOf(c))
	if seen[string(identity)] {
		p.Manifest.Warnings = append(p.Manifest.Warnings, fmt.Sprintf("%s is declared twice and runs once", Overview{Configuration: c}))
		return nil
	}
	seen[string(identity)] = true
	if !p.grow(d, m.inferenceNode, len(sets), 1, 0) {
		return nil
	}
	c.Costs = d.costsOf(p.spec.costs, ds)
	c.Published = d.publishedOf(c, p.spec.published)
	for i, set := range sets {
		set.studies++
		j := &job{declared: m, whole: i == 0, set: set}
		study := search.Study{
			Key: set.key(identity), Configuration: len(p.Manifest.Configurations), Index: i, Seed: set.seed,
			Memory: j.memory(set.size(false)), Assess: j.assess,
		}
		c.Studies = append(c.Studies, record.Study{Key: study.Key, Evaluation: set.evaluation, Repeat: set.repeat, Fold: set.fold, Train: len(set.train), Test: set.held(), Jobs: 1})
		p.studies, p.jobs = append(p.studies, study), append(p.jobs, j)
		p.first = append(p.first, 0)
		p.costs = append(p.costs, func(r *Rates) (Costs, bool) {
			return Costs{All: nominalMethod.Fit.of(methodTerms(len(set.train)))}, r == nominal
		})
	}
	p.Manifest.Configurations = append(p.Manifest.Configurations, c)
	return nil
}

// fitComparator fits the comparator, once where it is to be kept.
func (j *job) fitComparator(ctx context.Context, p *prepared) (comparator.Fitted, error) {
	if j.kept != nil {
		return j.kept, nil
	}
	learnt, err := j.declared.Comparator.Fit(ctx, p.data, derive(j.set.seed, "comparator"))
	if err != nil {
		return nil, err
	}
	f := learnt.(comparator.Fitted)
	if j.keeps {
		j.kept = f
	}
	return f, nil
}

// compared is what a comparator says of cases.
func compared(learnt comparator.Fitted, z *kernel.Inputs, classes int) (o outcome) {
	o.Proba = mat.NewDense(z.N(), classes, nil)
	learnt.PredictProba(o.Proba, z)
	o.averageError = averageError(learnt)
	if c, ok := learnt.(comparator.Confident); ok {
		o.Confidence = make([]float64, z.N())
		c.Confidence(o.Confidence, z)
	}
	return o
}

// learn fits the comparator and predicts the held-out cases.
func (j *job) learn(ctx context.Context, f *record.Fit) error {
	p, err := j.set.prepare()
	if err != nil {
		return err
	}
	learnt, err := j.fitComparator(ctx, p)
	if err != nil {
		return err
	}
	s := learnt.Summary()
	f.Natural, f.TrainCounts, f.LogEvidence = record.Numbers(s.Natural), p.counts, record.Number(s.LogEvidence)
	f.Converged, f.Iterations, f.Warnings = s.Converged, s.Iterations, append(slices.Clip(p.warnings), s.Warnings...)
	if j.whole {
		f.TrainLabels = j.set.labels()
		f.Surface = j.set.surface(p.preprocessor, func(z *kernel.Inputs) outcome { return compared(learnt, z, len(p.counts)) })
	}
	if p.held == nil {
		return nil
	}
	held := compared(learnt, p.held, len(p.counts))
	f.Warnings = append(f.Warnings, averageWarnings(held.averageError)...)
	f.Rows, f.Labels = p.rows, p.labels
	for i := range p.labels {
		f.Proba = append(f.Proba, record.Numbers(held.Proba.RawRowView(i)))
	}
	if held.Confidence != nil {
		f.Confidence = record.Numbers(held.Confidence)
	}
	return nil
}

// learning is the memory of that.
func (j *job) learning(s approx.Size, dim int) int64 { return j.declared.Comparator.Memory(s, dim) }
