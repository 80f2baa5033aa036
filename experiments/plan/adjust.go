package plan

import (
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/record"
)

// adjust returns the adjustment of a configuration's predictions. It is nil if there is none, or
// after reporting a mistake.
func (p *planner) adjust(ds *data.Data) *job.Adjust {
	thresholds := p.Spec.Threshold != ""
	switch {
	case p.Spec.Calibration == nil && !thresholds:
		return nil
	case len(ds.Classes) == 0:
		p.AtPlace(p.Spec.AdjustPlace, "%s has numeric labels; calibrate and threshold are for classes", ds.Name)
		return nil
	case thresholds && len(ds.Classes) != 2:
		p.AtPlace(p.Spec.AdjustPlace, "%s has %d classes; a threshold is for two, and loss names costs of decisions "+
			"on more", ds.Name, len(ds.Classes))
		return nil
	}
	a := &job.Adjust{Calibration: p.Spec.Calibration, Threshold: p.Spec.Threshold, Seed: p.Spec.Seed}
	if costs := p.utility(ds); costs != nil {
		a.Costs = &cv.Costs{}
		for _, row := range costs.Loss {
			a.Costs.Loss = append(a.Costs.Loss, record.Floats(row))
		}
	}
	return a
}

// coverage returns the coverage of a configuration's conformal sets. It is nil if there are none,
// or after reporting a mistake.
func (p *planner) coverage(c record.Configuration) *record.Number {
	switch {
	case p.Spec.Coverage == nil:
	case len(c.Classes) == 0:
		p.AtPlace(p.Spec.SetsPlace, "%s has numeric labels; sets are for classes", c.Dataset)
	case c.Calibrating() == nil && p.Found() > 0: // folds may have failed
	case c.Calibrating() == nil:
		p.AtPlace(p.Spec.SetsPlace, "%s: sets compare with cases that folds hold out, and there are none; add "+
			"evaluate: {kfold: {k: 10}}", c.Dataset)
	default:
		return p.Spec.Coverage
	}
	return nil
}

// utility returns the costs for choosing a threshold; nil: the file has none, or the threshold does
// not use them.
func (p *planner) utility(ds *data.Data) *record.Costs {
	if p.Spec.Threshold != cv.Utility {
		return nil
	}
	return p.Spec.Costs.On(strictyaml.NewFindings(""), ds) // finish reports mistakes in them
}

// predicting is the part of keys for how a configuration predicts: the average only, unless
// something is learnt from the predictions.
func (p *planner) predicting(ds *data.Data, average string) string {
	calibrate := "none"
	if c := p.Spec.Calibration; c != nil {
		calibrate = c.Name
	} else if p.Spec.Threshold == "" {
		return average
	}
	return string(mustMarshal([]any{average, calibrate, p.Spec.Threshold, p.Spec.Seed, p.utility(ds)}))
}
