package query

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Answer is the result of a Query. The gradient is with respect to the free hyperparameters, by
// theta name; it is absent if the fit has none.
type Answer struct {
	// nats; null if the fit failed or has not converged
	LogEvidence   reports.Number           `json:"log_evidence"`
	StandardError record.Number            `json:"standard_error,omitempty"` // nats, if sampled
	Gradient      map[string]record.Number `json:"gradient"`
	Converged     bool                     `json:"converged"`
	Iterations    int                      `json:"iterations"`
	Warnings      []string                 `json:"warnings"`
	LeaveOneOut   *reports.LeaveOneOut     `json:"leave_one_out,omitempty"`
	Corrected     *CorrectedAnswer         `json:"corrected,omitempty"`
	Test          *TestAnswer              `json:"test,omitempty"`
}

// CorrectedAnswer is approx.Corrected.
type CorrectedAnswer struct {
	LogEvidence record.Number `json:"log_evidence"` // nats
	Next        record.Number `json:"next_term"`    // first omitted term of the correction, nats
}

// TestAnswer has the scores of the predictions for the test cases: for classes, or for numeric
// targets.
type TestAnswer struct {
	N               int            `json:"n"`
	Errors          *int           `json:"errors,omitempty"`
	ErrorRate       *record.Number `json:"error_rate,omitempty"`
	InformationBits *record.Number `json:"information_bits,omitempty"` // baseline: training frequencies
	LogLoss         *record.Number `json:"log_loss,omitempty"`         // nats per case
	RMSE            *record.Number `json:"rmse,omitempty"`
	// nats per case; baseline: training mean and variance
	StandardizedLogLoss *record.Number `json:"standardized_log_loss,omitempty"`
}

// Evaluate evaluates the query. Mistakes in the query are Problems that name the flag. A fit that
// fails, or has not converged and must, is ErrNoFit; its Answer then has the reason only.
func (q Query) Evaluate(ctx context.Context) (*Answer, error) {
	found := strictyaml.NewFindings("--data")
	from, err := Source(q.Data)
	if err != nil {
		found.At(nil, "%v", err)
		return nil, found.Err()
	}
	if q.Test != noTest {
		from.Test = q.Test
	}
	m := declared.ReadModel(found, q.parts(), "--", true)
	if m.Comparator != nil {
		found.As("--inference").At(nil, "%s is a comparator, which has no hyperparameters to set and no "+
			"posterior; gpc-tune run evaluates it", m.Written.Inference)
	}
	ds, p, err := q.load(found, from, m, q.Test != noTest)
	if err != nil {
		return nil, err
	}
	o, err := objective.New(m.On(len(ds.Classes)), objective.LogEvidence{}, p.Data)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", spec.ErrInvalid, ds.Name, err)
	}
	theta := q.place(found, o.Layout)
	if err := found.Err(); err != nil {
		return nil, err
	}
	held := 0
	if p.Held != nil {
		held = p.Held.N()
	}
	size := approx.Size{Cases: p.Data.X.N(), Distinct: p.Data.X.N(), New: held, Classes: len(ds.Classes)}
	memory := m.On(size.Classes).Memory(size, p.Data.X.Dim(), objective.LogEvidence{}, true)
	if q.Corrected {
		memory += approx.CorrectionMemory(size)
	}
	if err := admit(ds.Name, memory); err != nil {
		return nil, err
	}
	linalg.SetThreads(runtime.GOMAXPROCS(0)) // there is only one job
	defer linalg.SetThreads(1)
	return interrupt.Do(ctx, func() (*Answer, error) { return q.at(ctx, o, theta, ds, p) })
}

// admit returns machine.ErrMemory if these bytes do not fit into memory.
func admit(data string, bytes int64) error {
	err := machine.Admit(machine.Footprint(bytes, machine.Percent()), 0)
	if err != nil {
		err = fmt.Errorf("%s: %w; give fewer cases", data, err)
	}
	return err
}

// at fits the model and fills the answer.
func (q Query) at(ctx context.Context, o *objective.Objective, theta []float64, ds *data.Data,
	p *job.Prepared) (*Answer, error) {
	warnings := cause.Texts(append(ds.Warnings, p.Warnings...))
	err := objective.Choose(ctx, o, nil)
	var fit *objective.Point
	if err == nil {
		fit, err = o.Fit(ctx, theta, nil)
	}
	var stopped approx.Diagnostics
	if err == nil {
		stopped, err = fit.Diagnostics(), fit.Converged()
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		warnings = append(append(warnings, cause.Texts(stopped.Warnings)...), err.Error())
		return &Answer{LogEvidence: reports.Number(math.NaN()), Iterations: stopped.Iterations, Warnings: warnings},
			fmt.Errorf("%w: %s: %w", job.ErrNoFit, ds.Name, err)
	}
	return q.answer(o, fit, p, warnings)
}

func (q Query) answer(
	o *objective.Objective, fit *objective.Point, p *job.Prepared, warnings []string,
) (*Answer, error) {
	diagnostics := fit.Diagnostics()
	a := &Answer{
		LogEvidence: reports.Number(fit.Value()), StandardError: record.Number(diagnostics.StandardError),
		Converged: diagnostics.Converged, Iterations: diagnostics.Iterations,
		Warnings: append(warnings, cause.Texts(diagnostics.Warnings)...),
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
	if q.Corrected {
		c, err := corrected(fit.Posterior)
		if a.Corrected = c; err != nil {
			a.Warnings = append(a.Warnings, "no corrected log evidence: "+err.Error())
		}
	}
	if p.Held == nil {
		return a, nil
	}
	predictions, err := p.Predict(fit, objective.Averaged{})
	if err != nil {
		return nil, err
	}
	results, floored, err := cv.Evaluate(predictions)
	if err != nil {
		return nil, err
	}
	a.Warnings = append(a.Warnings, cause.Texts(floored)...)
	a.Test = &TestAnswer{N: len(p.Rows)}
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

// corrected returns the corrected log evidence of a posterior.
func corrected(p approx.Posterior) (*CorrectedAnswer, error) {
	of, ok := p.(approx.Corrector)
	if !ok {
		return nil, errors.New("the inference has none; use ep")
	}
	c, err := of.Corrected()
	if err != nil {
		return nil, err
	}
	return &CorrectedAnswer{record.Number(c.LogEvidence), record.Number(c.Next)}, nil
}
