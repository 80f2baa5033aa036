package experiments

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/gallery"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/reports/picture"
	"github.com/gpc-tune/gpc-tune/search"
)

// Spec is a configuration file, decoded and checked as far as it can be without reading data. Its lists of
// alternatives are expanded: the experiment is the cross product of Data and Models.
type Spec struct {
	Name     string
	Seed     uint64
	Dir      string // what relative paths in the file are relative to
	Data     []DataSpec
	Models   []Model
	Evaluate []Evaluation
	Race     *race             // nil: nobody is cut
	Average  objective.Average // how class probabilities are formed
	Reject   string            // the measure of confidence by which cases are rejected
	Report   Report
	file     string
	text     string // as it was read
	settings []string

	averaging record.Component // Average as the file declares it
	costs     *costs           // of decisions; nil: none are named
	tuneNode  *strictyaml.Node
	published []*published

	Illustrations []shown // in place of Data
	illustrates   bool
}

// DataSpec is one data section with its place in the file, for mistakes that only reading the data shows.
type DataSpec struct {
	data.Spec
	node  *strictyaml.Node
	whole bool // nothing is wrong with it as far as can be told without the data
}

// Model is one combination of kernel, mean, likelihood and inference, and of how it is tuned.
type Model struct {
	objective.Model
	Tune                                                            Tune
	Tuning                                                          approx.Approximation  // whose criterion is maximised; nil: Inference
	Comparator                                                      comparator.Comparator // in place of all of that; nil: none
	Label                                                           record.Label          // what the file declares
	whole                                                           bool                  // nothing is wrong with it, as far as can be told without the data
	perClass                                                        bool                  // every class has the kernel with hyperparameters of its own
	classes                                                         string                // one of classModes
	kernelNode, meanNode, likelihoodNode, inferenceNode, tuningNode *strictyaml.Node
}

// Tune says how hyperparameters are chosen on each training set.
type Tune struct {
	Method    string           // a strategy's name, or "none"
	Strategy  search.Strategy  // nil for "none"
	Criterion string           // what is maximised: "log_evidence"
	Cross     *crossValidation // that, if it is a score of held-out cases; nil: it is one of objective.Criteria
	// StandardErrors asks for those of the hyperparameters tuned on all of the training data; two gradients for each.
	StandardErrors bool
	node           *strictyaml.Node
}

// Evaluation is one way of holding out cases.
type Evaluation struct {
	Name     string      // "test", "training", "nested" or a splitter's name
	Splitter cv.Splitter // nil for "test", "training" and "nested"
	Nested   *nested
	node     *strictyaml.Node
}

// Report says what is reported.
type Report struct {
	Formats []string `yaml:"formats"`
	Curves  []string `yaml:"curves"`  // error_reject | information_reject | calibration
	Figures []string `yaml:"figures"` // that svg and png draw, by name or kind; empty: all
}

// document is the top level of a configuration file.
type document struct {
	Version    int              `yaml:"version"`
	Name       string           `yaml:"name"`
	Seed       uint64           `yaml:"seed"`
	Data       *strictyaml.Node `yaml:"data"`
	Model      *strictyaml.Node `yaml:"model"`
	Tune       *strictyaml.Node `yaml:"tune"`
	Evaluate   *strictyaml.Node `yaml:"evaluate"`
	Race       *strictyaml.Node `yaml:"race"`
	Predict    predicting       `yaml:"predict"`
	Report     Report           `yaml:"report"`
	Published  *strictyaml.Node `yaml:"published"`
	Illustrate *strictyaml.Node `yaml:"illustrate"`
}

// predicting is the predict section.
type predicting struct {
	Average    *strictyaml.Node `yaml:"average"`
	Reject     string           `yaml:"reject"`
	Loss       *strictyaml.Node `yaml:"loss"`
	RejectCost *float64         `yaml:"reject_cost"`
}

// Lists by nature, whose elements may be alternatives but which are not alternatives themselves.
var (
	modelLists = []string{"sum", "product", "dims", "bounds", "costs", "length_scales"}
	dataLists  = []string{"columns", "drop", "id", "classes"}
)

var runName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$`)

// maxMistakes ends the reading of a list, and of the models of a cross product: many times what is told.
const maxMistakes = 1000

// Limits on lists of which every element takes time, whether it is right or not.
const (
	maxWays = 1000 // of tuning
	maxSets = 1000 // of data
)

// maxParts bounds a sum or a product of kernels.
const maxParts = 1000

// bundled is before the names of the experiments that come along.
const bundled = "gallery:"

// Load reads and checks a configuration file, or a bundled one if path is gallery:NAME; settings are `path=value` assignments applied to it first. The error is
// Problems: every mistake found, with its place.
func Load(path string, settings []string) (*Spec, error) {
	text, err := read(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text, settings)
}

// read reads a configuration file, or a bundled one, up to the size that is parsed.
func read(path string) ([]byte, error) {
	if name, ok := strings.CutPrefix(path, bundled); ok {
		text, err := gallery.Read(name)
		if err != nil {
			return nil, Problems{{File: path, Message: "cannot be read: " + err.Error()}}
		}
		return text, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, Problems{{File: path, Message: "cannot be read: " + err.Error()}}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, strictyaml.MaxBytes+1)) // one more is refused
	if err != nil {
		return nil, Problems{{File: path, Message: "cannot be read: " + err.Error()}}
	}
	return text, nil
}

// Parse is Load on text already read; file names it in messages, and its folder is where relative paths start.
func Parse(file string, text []byte, settings []string) (*Spec, error) {
	d := newDecoder(file)
	s := d.spec(file, text, settings)
	if err := d.err(); err != nil {
		return nil, err
	}
	return s, nil
}

// spec reads a configuration file. Where there are mistakes it holds the parts that are whole, so that these can be checked
// against the data as well; it is nil if the text is not YAML.
func (d *decoder) spec(file string, text []byte, settings []string) *Spec {
	root := d.parse(text)
	if root == nil {
		return nil
	}
	for _, s := range settings {
		d.set(root, s)
	}
	base := filepath.Base(file)
	doc := document{Version: 1, Name: strings.TrimSuffix(base, filepath.Ext(base))}
	d.into(root, &doc)
	if doc.Version != 1 {
		d.at(strictyaml.Find(root, "version"), "version %d is not known; this gpc-tune reads version 1", doc.Version)
	}
	if !runName.MatchString(doc.Name) {
		d.at(strictyaml.Find(root, "name"), "name %q must be at most 200 letters, digits, '.', '_' or '-', for it names the run's folder", doc.Name)
	}
	s := &Spec{Name: doc.Name, Seed: doc.Seed, Dir: filepath.Dir(file), Average: objective.Averaged{}, Reject: doc.Predict.Reject, Report: doc.Report, file: file, text: string(text), settings: settings}
	if a := doc.Predict.Average; a != nil && !strictyaml.IsNull(a) {
		if average, _, ok := component(d, a, "average", objective.Averages); ok {
			s.Average, s.averaging = average, strictyaml.Component(a)
		}
	}
	if r, ok := s.Average.(objective.Random); ok {
		s.Average = r.Seeded(derive(s.Seed, "predict"))
	}
	if p := doc.Predict; p.Loss != nil || p.RejectCost != nil {
		s.costs = &costs{p.Loss, p.RejectCost, strictyaml.Find(root, "predict")}
		if p.Loss != nil {
			d.lossNode(p.Loss, func(string, string, float64) {}) // the classes are known with the data
		}
	}
	if s.illustrates = doc.Illustrate != nil; s.illustrates {
		d.illustrations(root, doc.Illustrate, s)
		d.models(root, doc.Model, s)
		d.checkIllustrations(s)
	} else {
		d.models(root, doc.Model, s)
		d.data(root, doc.Data, s)
		d.tune(doc.Tune, s)
		d.evaluate(doc.Evaluate, s)
		d.race(doc.Race, s)
		d.published(doc.Published, s)
	}
	choose(d, strictyaml.Find(root, "predict"), "reject", &s.Reject, rejects)
	for i := range s.Report.Formats {
		choose(d, strictyaml.Find(root, "report"), "formats", &s.Report.Formats[i], formats)
	}
	if len(s.Report.Formats) == 0 {
		s.Report.Formats = []string{"text"}
	}
	for key, list := range map[string][]string{"formats": s.Report.Formats, "curves": s.Report.Curves, "figures": s.Report.Figures} {
		seen := map[string]bool{}
		for _, name := range list {
			if n := strictyaml.Find(strictyaml.Find(root, "report"), key); seen[name] && n != nil {
				d.at(n, "%q occurs twice; remove one", name)
			}
			seen[name] = true
		}
	}
	for i := range s.Report.Curves {
		choose(d, strictyaml.Find(root, "report"), "curves", &s.Report.Curves[i], curves)
	}
	for _, name := range s.Report.Figures {
		if err := picture.Check(name); err != nil {
			d.at(element(strictyaml.Find(strictyaml.Find(root, "report"), "figures"), name), "%v", err)
		}
	}
	return s
}

var (
	// classModes are how more than two classes are modelled; the first is the default.
	classModes = []string{"joint", "one_vs_rest"}

	rejects = names(cv.Confidences, func(c cv.Confidence) string { return c.Name })
	formats = names(page.Formats, func(f page.Format) string { return f.Name })
	curves  = names(cv.Curves, func(c cv.Curve) string { return c.Name })
)

func names[T any](table []T, name func(T) string) []string {
	var all []string
	for _, row := range table {
		all = append(all, name(row))
	}
	return all
}

// choose checks a value that must be one of have; an empty one becomes the first.
func choose(d *decoder, parent *strictyaml.Node, key string, value *string, have []string) {
	if *value == "" {
		*value = have[0]
	}
	if !slices.Contains(have, *value) {
		n := parent
		if v := strictyaml.Find(parent, key); v != nil {
			n = element(v, *value)
		}
		d.at(n, "unknown %s %q%s", strings.TrimSuffix(key, "s"), *value, registry.Suggest(*value, have))
	}
}

// element is the element of a list that has a value, or else the node itself.
func element(n *strictyaml.Node, value string) *strictyaml.Node {
	for _, c := range n.Content {
		if c.Value == value {
			n = c
		}
	}
	return n
}

func (d *decoder) data(root, n *strictyaml.Node, s *Spec) {
	if n == nil {
		d.at(root, "no data; add data: {dataset: crabs}, or data: {train: FILE}, or illustrate models without data")
		return
	}
	sections := d.expanded(n, dataLists)
	if len(sections) > maxSets {
		d.at(n, "%d data sets, more than %d; split the experiment", len(sections), maxSets)
		return
	}
	for _, v := range sections {
		before := d.found.Found()
		spec := data.Spec{Regression: slices.ContainsFunc(s.Models, Model.numeric)}
		d.into(v, &spec)
		d.faults(v, spec.Check())
		s.Data = append(s.Data, DataSpec{spec, v, d.found.Found() == before})
	}
}

// faults puts what is wrong with a data set where its keys are.
func (d *decoder) faults(n *strictyaml.Node, err error) {
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			d.faults(n, one)
		}
	case data.Problems:
		for _, p := range e {
			at := n
			if k := strictyaml.Find(n, p.Key); k != nil {
				at = k
			}
			d.at(at, "%s", p.Message)
		}
	default:
		d.at(n, "%v", err)
	}
}

// modelNodes is one cell of the cross product of a model section.
type modelNodes struct {
	Kernel     *strictyaml.Node `yaml:"kernel"`
	Mean       *strictyaml.Node `yaml:"mean"`
	Likelihood *strictyaml.Node `yaml:"likelihood"`
	Inference  *strictyaml.Node `yaml:"inference"`
	Classes    string           `yaml:"classes"`

	prefix string // before the names of the parts, where each stands in a text of its own
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
		}{{nodes.Kernel, "kernel", "se"}, {nodes.Likelihood, "likelihood", "probit"}, {nodes.Inference, "inference", "laplace"}} {
			if (part.node == nil || strictyaml.IsNull(part.node)) && s.needs(part.key) && !d.needless(part.key, nodes.Inference) {
				d.at(v, "model has no %s; add for example %s: %s", part.key, part.key, part.instance)
			}
		}
		m := d.model(nodes, s.Average)
		m.whole = d.found.Found() == before
		s.Models = append(s.Models, m)
	}
	s.Models = distinct(s.Models)
}

// model reads the parts of one model and checks that they go together.
func (d *decoder) model(nodes modelNodes, average objective.Average) Model {
	label := record.Label{Kernel: strictyaml.Component(nodes.Kernel), Mean: record.Plain("zero"), Likelihood: strictyaml.Component(nodes.Likelihood)}
	m := Model{Label: label, classes: nodes.Classes, kernelNode: nodes.Kernel, meanNode: nodes.Mean, likelihoodNode: nodes.Likelihood, inferenceNode: nodes.Inference}
	in := func(part string) *decoder {
		if nodes.prefix != "" {
			return d.as(nodes.prefix + part)
		}
		return d
	}
	given := func(n *strictyaml.Node) bool { return n != nil && !strictyaml.IsNull(n) }
	if given(nodes.Kernel) {
		d, n := in("kernel"), nodes.Kernel
		if inner := strictyaml.Find(n, "per_class"); inner != nil && len(n.Content) == 2 {
			m.perClass, n = true, inner
		}
		if k, _, ok := d.kernel(n); ok {
			m.Kernels = []kernel.Kernel{k}
		}
	}
	if given(nodes.Mean) {
		m.Label.Mean = strictyaml.Component(nodes.Mean)
		m.Mean = in("mean").mean(nodes.Mean)
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
		m.Inference, m.Label.Inference, infOK = in("inference").inference(nodes.Inference, nodes.Classes)
		m.Label.TuneInference, m.tuningNode = m.Label.Inference, nodes.Inference
	}
	if likOK && infOK {
		if err := usable(m.Inference, m.Likelihood); err != nil {
			in("inference").at(nodes.Inference, "%v", err)
		}
	}
	return m
}

// inference reads an inference method, for one of classModes.
func (d *decoder) inference(n *strictyaml.Node, classes string) (a approx.Approximation, declared record.Component, ok bool) {
	switch name, compares := d.comparing(n); {
	case compares:
		d.at(n, "%s is a comparator, which tunes itself and nothing else; name it in model: {inference: …}", name)
		return nil, declared, false
	case name != "" && !slices.Contains(approx.Table.Names(), name):
		d.at(n, "unknown inference %q%s", name, registry.Suggest(name, append(approx.Table.Names(), comparator.Table.Names()...)))
		return nil, declared, false
	}
	a, _, ok = component(d, n, "inference", approx.Table)
	declared = strictyaml.Component(n)
	if ok && classes == "one_vs_rest" {
		a, declared = approx.OneVsRest{Binary: a}, declared.Within("one_vs_rest")
	}
	return a, declared, ok
}

// tuneWith multiplies the models by the inference methods that tune them.
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
			a, declared, ok := d.inference(v, m.classes)
			if !ok {
				continue
			}
			if m.Likelihood != nil {
				if err := usable(a, m.Likelihood); err != nil {
					d.at(v, "%v", err)
				}
			}
			if m.Likelihood != nil && usable(a, m.Likelihood) != nil { // told
				continue
			}
			if m.Tuning, m.Label.TuneInference, m.tuningNode = a, declared, v; declared.Text == m.Label.Inference.Text {
				m.Tuning = nil
			}
			out = append(out, m)
		}
	}
	return out
}

// numeric says that the labels are numbers.
func (m Model) numeric() bool {
	return m.Likelihood != nil && m.Likelihood.Domain() == likelihood.Numeric
}

// on is the model for data of so many classes.
func (m Model) on(classes int) objective.Model {
	model := m.Model
	if m.perClass {
		model.Kernels = slices.Repeat(model.Kernels, max(classes, 2)) // two that one process has no use for are refused with a reason
	}
	return model
}

// tuned is the model whose criterion is maximised.
func (m Model) tuned(classes int) objective.Model {
	model := m.on(classes)
	if m.Tuning != nil {
		model.Inference = m.Tuning
	}
	return model
}

// usable says why inference and likelihood work for no number of classes. How many there are is known with the data.
func usable(a approx.Approximation, lik likelihood.Likelihood) error {
	counts := []int{2, 3, 0}
	if _, ok := a.(approx.OneVsRest); ok {
		counts = []int{3} // at 2 it would tell of itself, not of the method that it applies
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
		if options == nil || options.Kind != strictyaml.SequenceNode || len(options.Content) == 0 {
			d.at(n, "%s needs a list of kernels, as in {%s: [se, noise]}", name, name)
			return nil, name, false
		}
		if len(options.Content) > maxParts {
			d.at(options, "a %s of %d kernels; at most %d", name, len(options.Content), maxParts)
			return nil, name, false
		}
		var parts []kernel.Named
		for _, c := range options.Content {
			part, kind, good := d.kernel(c)
			ok = ok && good
			parts = append(parts, kernel.Named{Kind: kind, Kernel: part})
		}
		if name == "sum" {
			return kernel.Sum(parts), name, ok
		}
		return kernel.Product(parts), name, ok
	case "active":
		var a active
		if options == nil || strictyaml.IsNull(options) {
			d.at(n, "active needs dims and a kernel, as in {active: {dims: [1, 2], kernel: se}}")
			return nil, name, false
		}
		before := d.found.Found()
		d.into(options, &a)
		for _, dim := range a.Dims {
			if dim < 1 {
				d.at(options, "dims are column numbers from 1, found %d", dim)
			}
		}
		if a.Kernel == nil || len(a.Dims) == 0 {
			d.at(options, "active needs dims and a kernel, as in {active: {dims: [1, 2], kernel: se}}")
			return nil, name, false
		}
		inner, kind, good := d.kernel(a.Kernel)
		return kernel.Active{Dims: a.Dims, Named: kernel.Named{Kind: kind, Kernel: inner}}, name, good && d.found.Found() == before
	}
	if name == "per_class" {
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
	if err == nil && d.found.Found() == before { // what the settings alone do not show
		err = kernel.Check(k)
	}
	if err != nil && err != errReported {
		d.at(n, "%v", err)
	}
	return k, name, d.found.Found() == before
}

// active is a kernel on some of the columns.
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

// tuning is what all methods of the tune section share.
type tuning struct {
	Method         string           `yaml:"method"`
	Objective      *strictyaml.Node `yaml:"objective"`
	Inference      *strictyaml.Node `yaml:"inference"`
	StandardErrors bool             `yaml:"standard_errors"`
}

// tuneKeys are its keys.
var tuneKeys = keysOf(reflect.ValueOf(tuning{}))

// tune reads the tune section: a way of tuning all models, or a list of ways.
func (d *decoder) tune(n *strictyaml.Node, s *Spec) {
	s.tuneNode = n
	ways := []*strictyaml.Node{n}
	if n != nil && n.Kind == strictyaml.SequenceNode {
		if ways = n.Content; len(ways) == 0 {
			d.at(n, "an empty list; give one way of tuning or more, such as {method: bfgs, restarts: 5}")
		}
		if len(ways) > maxWays {
			d.at(n, "%d ways of tuning, more than %d; split the experiment", len(ways), maxWays)
			ways = ways[:maxWays]
		}
	}
	models := s.Models
	s.Models = nil
	start := d.found.Found()
	for i, way := range ways {
		before := d.found.Found()
		if before-start > maxMistakes {
			break
		}
		t, inference := d.way(way)
		_, grid := t.Strategy.(search.Grid) // which has no defaults
		if _, unknown := t.criterion(); d.found.Found() > before && (grid || t.Strategy == nil || unknown != nil || t.Cross != nil) {
			// The models can still be checked.
			t, inference = Tune{Method: "none", Criterion: objective.Criteria.Names()[0], node: way}, nil
		}
		tuned := models
		if inference != nil {
			tuned = d.tuneWith(inference, models)
		}
		if len(s.Models)+len(tuned) > strictyaml.MaxAlternatives {
			strictyaml.TooMany(n, d.found)
			return
		}
		for _, m := range tuned {
			if m.Tune = t; m.Comparator == nil || i == 0 { // comparators tune themselves, once
				s.Models = append(s.Models, m)
			}
		}
	}
}

// way reads one way of tuning, and the inference that is tuned if it names one: what all methods share is taken out, the rest
// belongs to the strategy.
func (d *decoder) way(n *strictyaml.Node) (t Tune, inference *strictyaml.Node) {
	t = Tune{Method: "bfgs", node: n}
	options := n
	shared := tuning{Method: "bfgs"}
	switch {
	case n == nil || strictyaml.IsNull(n):
		options = nil
	case n.Kind == strictyaml.ScalarNode:
		shared.Method, options = n.Value, nil
	case n.Kind == strictyaml.MappingNode:
		common := strictyaml.Emptied(n)
		options = strictyaml.Emptied(n)
		for i := 0; i < len(n.Content); i += 2 {
			to := options
			if slices.Contains(tuneKeys, n.Content[i].Value) {
				to = common
			}
			to.Content = append(to.Content, n.Content[i], n.Content[i+1])
		}
		d.into(common, &shared)
	default:
		d.at(n, "expected a mapping such as {method: bfgs, restarts: 5}, found %s", strictyaml.Describe(n))
		return
	}
	t.Method, t.StandardErrors = shared.Method, shared.StandardErrors
	if o := shared.Objective; o != nil && (o.Kind != strictyaml.ScalarNode || o.Value == "cv") {
		if t.Cross = d.crossValidation(o); t.Cross != nil {
			t.Criterion = t.Cross.String()
		}
	} else {
		if o != nil {
			t.Criterion = o.Value
		}
		choose(d, n, "objective", &t.Criterion, objective.Criteria.Names())
	}
	inference = shared.Inference
	if shared.Method == "none" {
		for _, key := range []string{"inference", "standard_errors"} {
			if v := strictyaml.Find(n, key); v != nil {
				d.at(v, "method none takes no %q; nothing is tuned", key)
			}
		}
		if options != nil && len(options.Content) > 0 {
			d.at(options.Content[0], "method none takes no %q; nothing is tuned", options.Content[0].Value)
		}
		return
	}
	e, err := search.Table.Lookup("method", shared.Method)
	if err != nil {
		at := n
		if m := strictyaml.Find(n, "method"); m != nil {
			at = m
		}
		d.at(at, "unknown method %q%s", shared.Method, registry.Suggest(shared.Method, append(search.Table.Names(), "none")))
		return
	}
	t.Strategy, err = e.New(d.reading(options, tuneKeys...))
	if err != nil && err != errReported {
		d.at(n, "%v", err)
	}
	needs := t.needsGradient()
	if t.climbs() {
		needs = "method: " + t.Method
	}
	if err == nil && needs != "" && t.Cross != nil {
		d.at(t.Cross.node, "%s needs a gradient, which a score of held-out cases does not have; tune with method: bayes, nelder_mead or cmaes", needs)
	}
	if _, samples := t.Strategy.(search.Sampler); !samples {
		return
	}
	if criterion, err := t.criterion(); err == nil && (criterion == nil || !criterion.AddsPrior()) {
		at := n
		if o := strictyaml.Find(n, "objective"); o != nil {
			at = o
		}
		d.at(at, "method %s samples the posterior density of the hyperparameters; write objective: log_posterior, and give each of them a prior", shared.Method)
	}
	return
}

// evaluate reads the evaluate section: a name, or a mapping of names to options.
func (d *decoder) evaluate(n *strictyaml.Node, s *Spec) {
	if n == nil || strictyaml.IsNull(n) {
		return
	}
	one := func(name string, at, options *strictyaml.Node) {
		if name == "test" || name == "training" {
			if options != nil && !strictyaml.IsNull(options) && !(options.Kind == strictyaml.MappingNode && len(options.Content) == 0) {
				d.at(options, "%s takes no options; a test file is named in data", name)
			}
			s.Evaluate = append(s.Evaluate, Evaluation{Name: name, node: at})
			return
		}
		if name == "nested" {
			before := d.found.Found()
			e := Evaluation{Name: name, Nested: d.nested(at, options), node: at}
			if d.found.Found() == before {
				s.Evaluate = append(s.Evaluate, e)
			}
			return
		}
		e, err := cv.Table.Lookup("evaluation", name)
		if err != nil {
			d.at(at, "unknown evaluation %q%s", name, registry.Suggest(name, append([]string{"test", "training", "nested"}, cv.Table.Names()...)))
			return
		}
		splitter, err := e.New(d.reading(options))
		if err != nil {
			if err != errReported {
				d.at(at, "%v", err)
			}
			return
		}
		s.Evaluate = append(s.Evaluate, Evaluation{Name: name, Splitter: splitter, node: at})
	}
	switch n.Kind {
	case strictyaml.ScalarNode:
		one(n.Value, n, nil)
	default:
		d.mapping(n, func(key, value *strictyaml.Node) { one(key.Value, key, value) })
	}
}

// String is a short description of the experiment's size.
func (s *Spec) String() string {
	if s.illustrates {
		return fmt.Sprintf("%s: %d illustration(s) × %d model(s)", s.Name, len(s.Illustrations), len(s.Models))
	}
	var methods []string
	for _, m := range s.Models {
		if !slices.Contains(methods, m.Tune.Method) {
			methods = append(methods, m.Tune.Method)
		}
	}
	return fmt.Sprintf("%s: %d data set(s) × %d model(s), tuned by %s", s.Name, len(s.Data), len(s.Models), strings.Join(methods, ", "))
}
