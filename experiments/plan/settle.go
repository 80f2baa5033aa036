package plan

import (
	"context"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/record"
)

// isAuto reports whether the structure of the covariance of a method is objective.Auto.
func isAuto(a approx.Approximation) bool {
	return a != nil && approx.StructureOf(a) == objective.Auto
}

// settled returns a model that has another structure of the covariance in place of objective.Auto:
// the one that the training cases of a set choose for the last of some forms of the model that has
// objective.Auto. again is false if no form has it. A note with the name of the configuration says
// what was chosen.
func (p *planner) settled(ctx context.Context, set *job.Set, name string, m spec.Model, c objective.Criterion,
	forms ...objective.Model) (_ spec.Model, again bool, err error) {
	var open objective.Model
	for _, form := range forms {
		if isAuto(form.Inference) {
			open = form
		}
	}
	if open.Inference == nil {
		return m, false, nil
	}
	if p.Found() > 0 { // the file cannot run, so that a pilot would be in vain
		return m, false, errTold
	}
	structure, option, why, err := set.Settle(ctx, open, c)
	if err != nil {
		return m, false, err
	}
	if isAuto(m.Inference) {
		binary := m.Inference
		if each, is := binary.(approx.OneVsRest); is {
			binary = each.Binary
		}
		_, of := declared.Restructured(binary, record.Component{Text: m.Written.Method}, structure, option)
		m.Written.Method = of.Text
	}
	for _, of := range []struct {
		method *approx.Approximation
		as     *declared.Part
	}{{&m.Inference, &m.Written.Inference}, {&m.Tuning, &m.Written.Tuning}, {&m.Start, &m.Starts}} {
		if isAuto(*of.method) {
			*of.method, of.as.Component = declared.Restructured(*of.method, of.as.Component, structure, option)
		}
	}
	if m.Tuning == nil {
		m.Written.Tuning.Component = m.Written.Inference.Component
	}
	p.warn(cause.Structure.New("%s", why).In(name))
	return m, true, nil
}
