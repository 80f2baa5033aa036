package experiments

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/param"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Query asks for one evaluation of one model at one point. Kernel, Mean, Likelihood and Inference are names or YAML
// flow text; Theta gives hyperparameters by their theta names, the others stay where they start.
type Query struct {
	Data, Test, Label, Positive, Preprocess string
	Kernel, Mean, Likelihood, Inference     string
	Classes                                 string // joint, the default, or one_vs_rest
	Theta                                   map[string]string
	LeaveOneOut                             bool // asks for it
}

// Answer is what a Query gets. The gradient is with respect to the free hyperparameters, by theta name; it is absent
// where the fit has none.
type Answer struct {
	LogEvidence   reports.Number           `json:"log_evidence"`             // nats; null where the fit failed or has not converged
	StandardError record.Number            `json:"standard_error,omitempty"` // of a sampled log evidence, nats
	Gradient      map[string]record.Number `json:"gradient"`
	Converged     bool                     `json:"converged"`
	Iterations    int                      `json:"iterations"`
	Warnings      []string                 `json:"warnings"`
	LeaveOneOut   *reports.LeaveOneOut     `json:"leave_one_out,omitempty"`
	Test          *TestAnswer              `json:"test,omitempty"`
}

// TestAnswer scores the predictions of the test cases: those of classes, or of numeric targets.
type TestAnswer struct {
	N                   int            `json:"n"`
	Errors              *int           `json:"errors,omitempty"`
	ErrorRate           *record.Number `json:"error_rate,omitempty"`
	InformationBits     *record.Number `json:"information_bits,omitempty"` // base line: training frequencies
	LogLoss             *record.Number `json:"log_loss,omitempty"`         // nats per case
	RMSE                *record.Number `json:"rmse,omitempty"`
	StandardizedLogLoss *record.Number `json:"standardized_log_loss,omitempty"` // nats per case; base line: training mean and variance
}

// Evaluate does it. Mistakes in the query are Problems, with the flag they stand in. A fit that fails, or has not converged
// where its inference takes no such fit as it is, is ErrNoFit, and its Answer says no more than why.
func (q Query) Evaluate(ctx context.Context) (*Answer, error) {
	d := newDecoder("--data")
	spec, err := source(q.Data)
	if err != nil {
		d.at(nil, "%v", err)
		return nil, d.err()
	}
	if q.Test != noTest {
		spec.Test = q.Test
	}
	m := q.model(d, "--", true)
	if m.Comparator != nil {
		d.as("--inference").at(nil, "%s is a comparator, which has no hyperparameters to be given and no posterior; gpc-tune run evaluates it", m.Label.Inference)
	}
	ds, p, err := q.load(d, spec, m, q.Test != noTest)
	if err != nil {
		return nil, err
	}
	o, err := objective.New(m.on(len(ds.Classes)), objective.LogEvidence{}, p.data)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInvalid, ds.Name, err)
	}
	theta := q.place(d, o.Layout)
	if err := d.err(); err != nil {
		return nil, err
	}
	linalg.SetThreads(runtime.GOMAXPROCS(0)) // the one job there is
	defer linalg.SetThreads(1)
	return interrupt.Do(ctx, func() (*Answer, error) { return q.at(ctx, o, theta, ds, p) })
}

// at fits and answers.
func (q Query) at(ctx context.Context, o *objective.Objective, theta []float64, ds *data.Data, p *prepared) (*Answer, error) {
	warnings := append(ds.Warnings, p.warnings...)
	fit, err := o.Fit(ctx, theta, nil)
	var stopped approx.Diagnostics
	if err == nil {
		stopped, err = fit.Diagnostics(), fit.Converged()
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		warnings = append(append(warnings, stopped.Warnings...), err.Error())
		return &Answer{LogEvidence: reports.Number(math.NaN()), Iterations: stopped.Iterations, Warnings: warnings}, fmt.Errorf("%w: %s: %w", ErrNoFit, ds.Name, err)
	}
	return q.answer(o, fit, p, warnings)
}

// load reads the data that the flags name and checks that the model can have them.
func (q Query) load(d *decoder, spec data.Spec, m Model, test bool) (*data.Data, *prepared, error) {
	spec.Regression = m.numeric()
	spec.Label, spec.Positive, spec.Preprocess = data.Name(q.Label), data.Name(q.Positive), q.Preprocess
	for _, p := range spec.Check() {
		d.as("--"+p.Key).at(nil, "%s", p.Message)
	}
	if err := d.err(); err != nil {
		return nil, nil, err
	}
	ds, err := data.Load(spec, ".", 0)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	set := wholeSet(ds, spec)
	if ds.Test != nil && test {
		set.evaluation = "test"
	}
	p, err := set.prepare()
	if err == nil {
		err = kernel.CheckDim(m.Kernels[0], len(ds.ColumnNames))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s: %w", ErrInvalid, ds.Name, err)
	}
	return ds, p, nil
}

// place is theta with what the flag says of it.
func (q Query) place(d *decoder, l objective.Layout) []float64 {
	return d.as("--theta").points([]objective.Layout{l}, q.Theta)[0]
}

// points returns the start of every layout, with the hyperparameters given by their theta names set in those that have
// them.
func (d *decoder) points(layouts []objective.Layout, given map[string]string) [][]float64 {
	points := make([][]float64, len(layouts))
	var names []string
	for i, l := range layouts {
		points[i] = l.Start()
		for _, s := range l.Specs {
			if !slices.Contains(names, s.ThetaName()) {
				names = append(names, s.ThetaName())
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		v, err := strconv.ParseFloat(given[name], 64)
		switch {
		case errors.Is(err, strconv.ErrSyntax):
			err = fmt.Errorf("%q is not a number", given[name])
		case !slices.Contains(names, name):
			err = fmt.Errorf("unknown hyperparameter %q%s", name, registry.Suggest(name, names))
		default: // a number out of range is an infinity
			err = nil
			for i, l := range layouts {
				if slices.ContainsFunc(l.Specs, func(s param.Spec) bool { return s.ThetaName() == name }) {
					err = cmp.Or(err, l.Set(points[i], name, v))
				}
			}
		}
		if err != nil {
			d.at(nil, "%s=%s: %v", name, given[name], err)
		}
	}
	return points
}

// noTest as Query.Test leaves out a bundled test set.
const noTest = "none"

// source takes a name for a bundled data set if there is one, else for a file.
func source(name string) (data.Spec, error) {
	_, unknown := data.Lookup(name)
	if unknown == nil {
		return data.Spec{Dataset: name}, nil
	}
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return data.Spec{}, fmt.Errorf("%w, and there is no file of that name", unknown)
	}
	return data.Spec{Train: name}, nil
}

// Describe summarises a bundled data set or a file of cases whose labels are classes or, where they cannot be, numbers.
// Missing values are counted.
func Describe(name string) (data.Summary, error) {
	spec, err := source(name)
	if err != nil {
		return data.Summary{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	d, err := readAny(&spec)
	if err != nil {
		return data.Summary{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return data.Describe(d), nil
}

// readAny reads data whose labels are classes or, where they cannot be, numbers, and sets what spec says of that. The error is that of
// classes.
func readAny(spec *data.Spec) (*data.Data, error) {
	spec.Missing = "mean"
	d, err := data.Load(*spec, ".", 0)
	if err != nil {
		spec.Regression = true
		var asNumbers error
		if d, asNumbers = data.Load(*spec, ".", 0); asNumbers != nil {
			spec.Regression = false
			return nil, err
		}
	}
	return d, nil
}

// RepartitionUSPS writes the files of data.RepartitionUSPS to dir under gzip, and names them.
func RepartitionUSPS(train, test, dir string) (names []string, err error) {
	files, err := data.RepartitionUSPS(train, test)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	for _, f := range files {
		name := filepath.Join(dir, f.Name+".gz")
		err := atomicfile.Write(name, func(w io.Writer) error {
			z := gzip.NewWriter(w)
			_, err := z.Write(f.Text)
			return errors.Join(err, z.Close())
		})
		if err != nil {
			return names, err
		}
		names = append(names, name)
	}
	return names, nil
}

// model reads the parts of the model, with or without the inference. Mistakes are told where prefix and the name of the part
// say.
func (q Query) model(d *decoder, prefix string, inference bool) (m Model) {
	nodes := modelNodes{prefix: prefix, Classes: q.Classes}
	choose(d.as(prefix+"classes"), nil, "classes", &nodes.Classes, classModes)
	ok := true
	var method *strictyaml.Node
	if inference && strings.TrimSpace(q.Inference) != "" {
		method = newDecoder("").parse([]byte(q.Inference))
	}
	for _, part := range []struct {
		name, text, instance string
		node                 **strictyaml.Node
	}{{"kernel", q.Kernel, "se", &nodes.Kernel}, {"mean", q.Mean, "zero", &nodes.Mean}, {"likelihood", q.Likelihood, "probit", &nodes.Likelihood}, {"inference", q.Inference, "laplace", &nodes.Inference}} {
		if part.node == &nodes.Inference && !inference || part.text == noPart && d.needless(part.name, method) {
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

func (q Query) answer(o *objective.Objective, fit *objective.Point, p *prepared, warnings []string) (*Answer, error) {
	diagnostics := fit.Diagnostics()
	a := &Answer{
		LogEvidence: reports.Number(fit.Value()), StandardError: record.Number(diagnostics.StandardError), Converged: diagnostics.Converged, Iterations: diagnostics.Iterations,
		Warnings: append([]string{}, append(warnings, diagnostics.Warnings...)...),
	}
	gradient := make([]float64, len(o.Layout.Free))
	if err := fit.Gradient(gradient); err != nil {
		a.Warnings = append(a.Warnings, "no gradient: "+err.Error())
	} else {
		a.Gradient = map[string]record.Number{}
		for i, s := range o.Layout.FreeSpecs() {
			a.Gradient[s.ThetaName()] = record.Number(gradient[i])
		}
	}
	if q.LeaveOneOut {
		switch loo, err := fit.LeaveOneOut(); {
		case err != nil:
			a.Warnings = append(a.Warnings, "no leave-one-out log probability: "+err.Error())
		case math.IsNaN(loo):
			a.Warnings = append(a.Warnings, "no leave-one-out log probability: the inference has none")
		default:
			a.LeaveOneOut = &reports.LeaveOneOut{LogProbability: reports.Number(loo)}
		}
	}
	if p.held == nil {
		return a, nil
	}
	predictions, err := p.predict(fit, objective.Averaged{})
	if err != nil {
		return nil, err
	}
	results, floored := cv.Evaluate(predictions)
	a.Warnings = append(a.Warnings, floored...)
	a.Test = &TestAnswer{N: len(p.rows)}
	for _, r := range results {
		switch v := record.Number(r.Value); r.Name {
		case "errors":
			count := int(r.Value)
			a.Test.Errors = &count
		case "error_rate":
			a.Test.ErrorRate = &v
		case "information_bits":
			a.Test.InformationBits = &v
		case "log_loss":
			a.Test.LogLoss = &v
		case "rmse":
			a.Test.RMSE = &v
		case "standardized_log_loss":
			a.Test.StandardizedLogLoss = &v
		}
	}
	return a, nil
}
