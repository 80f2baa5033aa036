// Package query evaluates one model at one point: its log evidence with its gradient, or draws from
// its prior.
package query

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
)

// Query is one evaluation of one model at one point. Kernel, Mean, Likelihood and Inference are
// names or YAML flow text; Theta sets hyperparameters by their theta names, the others keep their
// initial values.
type Query struct {
	Data, Test, Label, Positive, Preprocess string
	Kernel, Mean, Likelihood, Inference     string
	Classes                                 string // joint (default), or one_vs_rest
	Theta                                   map[string]string
	LeaveOneOut                             bool // compute leave-one-out
	Corrected                               bool // correct the log evidence
}

// load reads the data of the flags and checks that they fit the model.
func (q Query) load(
	found *strictyaml.Findings, from data.Spec, m declared.Model, test bool,
) (*data.Data, *job.Prepared, error) {
	from.Regression = m.Numeric()
	from.Label, from.Positive, from.Preprocess.How = cells.Name(q.Label), cells.Name(q.Positive), q.Preprocess
	for _, p := range from.Check() {
		found.As("--"+p.Key).At(nil, "%s", p.Message)
	}
	if err := found.Err(); err != nil {
		return nil, nil, err
	}
	ds, err := data.Load(from, ".", 0)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	}
	set := job.WholeSet(ds, from)
	if ds.Test != nil && test {
		set.Evaluation = "test"
	}
	p, err := set.Prepare()
	if err == nil && m.Ordered() {
		err = ds.CheckOrder()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s: %w", spec.ErrInvalid, ds.Name, err)
	}
	return ds, p, nil
}

// place returns the initial hyperparameters on the theta scale, with the values of the flag.
func (q Query) place(found *strictyaml.Findings, l objective.Layout) []float64 {
	return Points(found.As("--theta"), []objective.Layout{l}, q.Theta)[0]
}

// Points returns the initial point of every layout, with the given hyperparameters set by theta
// name in the layouts that have them.
func Points(found *strictyaml.Findings, layouts []objective.Layout, given map[string]string) [][]float64 {
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
		default: // numbers out of range become infinities
			err = nil
			for i, l := range layouts {
				if slices.ContainsFunc(l.Specs, func(s param.Spec) bool { return s.ThetaName() == name }) {
					err = cmp.Or(err, l.Set(points[i], name, v))
				}
			}
		}
		if err != nil {
			found.At(nil, "%s=%s: %v", name, given[name], err)
		}
	}
	return points
}

// noTest, as Query.Test, ignores a bundled test set.
const noTest = "none"

// parts returns the texts of the parts of the model.
func (q Query) parts() declared.Texts {
	return declared.Texts{Kernel: q.Kernel, Mean: q.Mean, Likelihood: q.Likelihood, Inference: q.Inference,
		Classes: q.Classes}
}
