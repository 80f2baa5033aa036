package predict

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// Bounds on the work of a run for what drives its answer.
const (
	// The predictions of a run may take driversPermitted multiplications, and driversPerCube n³
	// more for a fold with n training cases. Its tuning takes more than that.
	driversPermitted, driversPerCube = 2e9, 3
	leastDriven                      = 50 // The intervals of fewer cases say little.
)

// Run is run.Run, which also measures what drives the predictions of each answer. No
// hyperparameters are tuned for it: the folds of the answer are fitted again at their recorded
// hyperparameters, one fit each.
func Run(ctx context.Context, p *plan.Plan, dir string, o run.Options) (*reports.Report, schedule.Summary, error) {
	o.Drivers = func(ctx context.Context, lines []record.Line, r *reports.Report,
		a reports.Answer) (*record.Drivers, error) {
		d, err := interrupt.Do(ctx, func() (*record.Drivers, error) {
			return driversOf(ctx, p, lines, r, a)
		})
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w: %w", schedule.ErrStopped, context.Cause(ctx))
		}
		return d, err
	}
	return run.Run(ctx, p, dir, o)
}

// driversOf measures what drives the predictions of an answer.
func driversOf(ctx context.Context, p *plan.Plan, lines []record.Line, r *reports.Report,
	a reports.Answer) (*record.Drivers, error) {
	h, err := heldOut(ctx, a, p, lines)
	permitted := float64(driversPermitted)
	for _, s := range a.Scored() {
		permitted += driversPerCube * math.Pow(float64(s.Train), 3)
	}
	if err == nil {
		if n := h.models[0].affordable(cardRepeats, permitted); n >= min(leastDriven, len(h.at)) {
			return h.drivers(ctx, r.Manifest.Seed, n)
		}
		err = errors.New("that takes long; gpc-tune card DIR does it")
	}
	return &record.Drivers{Missing: fmt.Sprintf("The importance of inputs was not measured: %v.", err)}, ctx.Err()
}
