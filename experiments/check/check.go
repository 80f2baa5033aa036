// Package check compares the gradients of a plan's models with differences, and their log evidences
// with sampled ones.
package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sourcegraph/conc/iter"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/query"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// CheckOptions are options of Check.
type CheckOptions struct {
	// hyperparameters by their theta names, free or fixed; the others keep their initial values
	Theta      map[string]string
	NoSampling bool // no Monte Carlo
	Workers    int  // concurrent evaluations; 0 is one per processor
}

const (
	// checkStep is the step h, on the theta scale, of the differences
	//
	//	d = (8(L₁ - L₋₁) - (L₂ - L₋₂))/12h
	//
	// with L_k the log evidence kh away. Their truncation error is h⁴/30 = 3e-14 times the fifth
	// derivative. An error ε of every L_k changes them by at most 3ε/2h = 1500 ε.
	checkStep = 1e-3
	// gradientTolerance is the largest error of a gradient, relative to max(1, |g|∞, |L|).
	gradientTolerance = 1e-6
	// boundTolerance is the number of standard errors by which a lower bound may exceed a sampled
	// log evidence; boundRounding, relative to max(1, |L|), allows for rounding.
	boundTolerance, boundRounding = 2, 1e-9
)

// stencil lists the multiples of the step and the weights of their log evidences in 12h d.
var stencil = [...]struct{ at, weight float64 }{{-2, 1}, {-1, -8}, {1, 8}, {2, -1}}

// group identifies the models that have the same exact log evidence: one sampled log evidence is
// computed for all of them.
type group struct {
	set                               *job.Set
	kernel, mean, likelihood, classes string
}

// subject is an inference method to be checked.
type subject struct {
	objective *objective.Objective
	sampled   bool
	reference *subject // nil: there is none, or this is it
	row       reports.CheckRow
	at        evaluated
	around    [][len(stencil)]evaluated // along every free hyperparameter
}

// evaluated is the log evidence at a point.
type evaluated struct {
	value       float64
	gradient    []float64
	noGradient  error
	diagnostics approx.Diagnostics
	unconverged error
	err         error
}

// Check fits every inference method of the plan, including those for tuning only, to all of the
// training data, at the initial hyperparameters or at o.Theta. It compares the gradient of the log
// evidence with differences, and the log evidence with an estimate by annealed importance sampling
// (approx.Sampling). All methods with the same data, kernel, mean, likelihood and classes share one
// estimate. It has the options of the plan's first sampling entry among them, or else the defaults.
// Failures are: a fit with an error or without convergence, a gradient that is off by more than
// 1e-6 max(1, |g|∞, |L|), a lower bound more than two standard errors above the sampled value. The
// result does not depend on o.Workers. Mistakes in o.Theta are Problems.
func Check(ctx context.Context, p *plan.Plan, o CheckOptions) (*reports.Check, error) {
	if err := p.Fits(); err != nil {
		return nil, err
	}
	subjects, notes := subjects(ctx, p, o.NoSampling)
	for i, c := range p.Manifest.Configurations {
		if p.Models[i].Comparator != nil {
			notes = append(notes, fmt.Sprintf("%s: not checked: a comparator has no gradient with respect to "+
				"hyperparameters of the file", c.String()))
		}
	}
	layouts := make([]objective.Layout, len(subjects))
	for i, s := range subjects {
		layouts[i] = s.objective.Layout
	}
	found := strictyaml.NewFindings("--theta")
	points := query.Points(found, layouts, o.Theta)
	if err := found.Err(); err != nil {
		return nil, err
	}
	type job struct {
		of    *subject
		theta []float64
		to    *evaluated
	}
	var first, jobs []job // the longest first
	for i, s := range subjects {
		for j, h := range s.objective.Layout.Specs {
			s.row.Theta = append(s.row.Theta, record.Named{Name: h.ThetaName(), Value: reports.Number(points[i][j])})
		}
		if s.sampled {
			first = append(first, job{s, points[i], &s.at})
			continue
		}
		jobs = append(jobs, job{s, points[i], &s.at})
		if !s.objective.HasGradient() {
			continue
		}
		s.around = make([][len(stencil)]evaluated, len(s.objective.Layout.Free))
		for a, j := range s.objective.Layout.Free {
			for k, node := range stencil {
				theta := slices.Clone(points[i])
				theta[j] += node.at * checkStep
				jobs = append(jobs, job{s, theta, &s.around[a][k]})
			}
		}
	}
	(iter.Iterator[job]{MaxGoroutines: o.Workers}).ForEach(append(first, jobs...), func(j *job) {
		if e, err := interrupt.Do(ctx, func() (evaluated, error) {
			return j.of.evaluate(ctx, j.theta, j.to == &j.of.at),
				nil
		}); err == nil {
			*j.to = e
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := &reports.Check{Schema: reports.CheckSchema, Experiment: p.Name(), Passed: true, Step: checkStep,
		Rows: []reports.CheckRow{}, Notes: append(append([]string{}, notes...), cause.Texts(p.Manifest.Warnings)...)}
	for _, s := range subjects {
		s.conclude()
		c.Passed = c.Passed && len(s.row.Failures) == 0
		c.Rows = append(c.Rows, s.row)
	}
	return c, nil
}

// subjects lists the methods to be checked. Methods with the same sampled log evidence follow the
// subject that samples it. notes list the methods that are not checked.
func subjects(ctx context.Context, p *plan.Plan, noSampling bool) (all []*subject, notes []string) {
	var groups [][]plan.Configured
	index := map[group]int{}
	for _, c := range p.Configured {
		g := group{c.Set, c.Model.Written.Kernel.Text, c.Model.Written.Mean.Text, c.Model.Written.Likelihood.Text,
			c.Model.Classes}
		i, found := index[g]
		if !found {
			i = len(groups)
			index[g], groups = i, append(groups, nil)
		}
		known := func(o plan.Configured) bool {
			return o.Model.Written.Inference.Text == c.Model.Written.Inference.Text
		}
		if !slices.ContainsFunc(groups[i], known) {
			groups[i] = append(groups[i], c)
		}
	}
	for _, g := range groups {
		var reference *subject
		var others []*subject
		add := func(c plan.Configured) {
			s, err := newSubject(ctx, c)
			switch {
			case err != nil:
				notes = append(notes, fmt.Sprintf("%s, %s, %s: %s is not checked: %v", c.Set.Source.Name,
					c.Model.Written.Kernel, c.Model.Written.Likelihood, c.Model.Written.Inference, err))
			case s.sampled && noSampling:
			case s.sampled && reference == nil:
				reference = s
			default:
				others = append(others, s)
			}
		}
		for _, c := range g {
			add(c)
		}
		if reference == nil && !noSampling {
			c := g[0]
			sampling := approx.Table.Default("sampling")
			c.Model.Inference, c.Model.Written.Inference.Component = declared.OfClasses(
				sampling, record.Plain("sampling"),
				c.Model.Classes)
			add(c)
		}
		if reference != nil {
			reference.row.Reference = true
			all = append(all, reference)
		}
		for _, s := range others {
			s.reference = reference
			all = append(all, s)
		}
	}
	return all, notes
}

// newSubject makes the objective of a model. The error is the reason why its log evidence cannot be
// checked.
func newSubject(ctx context.Context, c plan.Configured) (*subject, error) {
	classes := len(c.Set.Source.Classes)
	model := c.Model.On(classes)
	caps, err := model.Check(classes)
	if err != nil {
		return nil, err
	}
	p, err := c.Set.Prepare()
	if err != nil {
		return nil, err
	}
	o, err := objective.New(model, objective.LogEvidence{}, p.Data)
	if err == nil {
		err = objective.Choose(ctx, o, nil)
	}
	if err != nil {
		return nil, err
	}
	none, w := reports.Number(math.NaN()), c.Model.Written
	return &subject{objective: o, sampled: caps.Sampled, row: reports.CheckRow{
		Dataset: c.Set.Source.Name, Preprocess: c.Set.How.String(), Kernel: w.Kernel.Component, Mean: w.Mean.Component,
		Likelihood: w.Likelihood.Component, Inference: w.Inference.Component,
		LowerBound: caps.LowerBound, LogEvidence: none, StandardError: none, GradientError: none, Difference: none,
		InStandardErrors: none, Failures: []string{}, Notes: []string{},
	}}, nil
}

// failure is the reason why the value is unreliable, if it is.
func (e evaluated) failure() error {
	return cmp.Or(e.err, e.unconverged)
}

// evaluate fits at theta from a cold start.
func (s *subject) evaluate(ctx context.Context, theta []float64, gradient bool) (e evaluated) {
	fit, err := s.objective.Fit(ctx, theta, nil)
	if err != nil {
		e.err = err
		return e
	}
	e.value, e.diagnostics, e.unconverged = fit.Value(), fit.Diagnostics(), fit.Converged()
	if gradient {
		e.gradient = make([]float64, len(s.objective.Layout.Free))
		e.noGradient = fit.Gradient(e.gradient)
	}
	return e
}

// conclude fills the row.
func (s *subject) conclude() {
	r := &s.row
	r.Notes = append(r.Notes, cause.Texts(s.at.diagnostics.Warnings)...)
	if err := s.at.failure(); err != nil {
		r.Failures = append(r.Failures, err.Error())
		return
	}
	l := s.at.value
	r.LogEvidence, r.Converged = reports.Number(l), s.at.diagnostics.Converged
	if s.sampled {
		r.StandardError = reports.Number(s.at.diagnostics.StandardError)
	}
	s.differences()
	if s.reference == nil || s.reference.at.failure() != nil {
		return
	}
	difference := l - s.reference.at.value
	standardError := math.Hypot(s.at.diagnostics.StandardError, s.reference.at.diagnostics.StandardError)
	r.Difference = reports.Number(difference)
	if standardError > 0 {
		r.InStandardErrors = reports.Number(difference / standardError)
	}
	if rounding := boundRounding * max(1, math.Abs(l)); r.LowerBound && difference > boundTolerance*standardError+
		rounding {
		r.Failures = append(r.Failures, fmt.Sprintf("a lower bound, and %.3g above the sampled log evidence, whose "+
			"standard error is %.2g", difference, standardError))
	}
}

// differences compares the gradient with differences.
func (s *subject) differences() {
	r := &s.row
	free := s.objective.Layout.FreeSpecs()
	switch {
	case s.sampled:
		return
	case len(free) == 0:
		r.Notes = append(r.Notes, "no hyperparameter is free")
		return
	case errors.Is(s.at.noGradient, approx.ErrNoGradient):
		r.Notes = append(r.Notes, s.at.noGradient.Error())
		return
	case s.at.noGradient != nil:
		r.Failures = append(r.Failures, s.at.noGradient.Error())
		return
	}
	largest, worst := 0.0, ""
	for i, g := range s.at.gradient {
		d := 0.0
		for k, e := range s.around[i] {
			if err := e.failure(); err != nil {
				r.Failures = append(r.Failures, fmt.Sprintf("no difference by %s: %v", free[i].ThetaName(), err))
				return
			}
			d += stencil[k].weight * e.value / (12 * checkStep)
		}
		if off := math.Abs(g - d); off >= largest {
			largest, worst = off, fmt.Sprintf("the derivative with respect to %s is %.10g, and finite "+
				"differences give %.10g",
				free[i].ThetaName(), g, d)
		}
	}
	r.GradientError = reports.Number(largest / max(1, floats.Norm(s.at.gradient, math.Inf(1)), math.Abs(s.at.value)))
	if r.GradientError > gradientTolerance {
		r.Failures = append(r.Failures, worst)
	}
}
