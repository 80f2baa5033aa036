package job

import (
	"context"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/record"
)

// clearlyHigher is the least difference, in nats, between the ends of a climb and of a search that
// is reported. A smaller difference is "not worth more than a bare mention" (Kass & Raftery 1995).
const clearlyHigher = 1

// compareWithClimbs climbs with bfgs from the initial hyperparameters and from the end of a search.
// Together the climbs take at most as many evaluations as the search. It warns if a climb ends
// clearly higher than the search, and if the second climb shows that the data do not determine an
// amplitude.
func (j *Job) compareWithClimbs(ctx context.Context, chosen int, free []float64, trials []record.Trial,
	f *record.Fit) error {
	if !j.Climbs || free == nil {
		return nil
	}
	o, _, err := j.Objective(ctx, j.Tuned, j.Criterion)
	if err != nil {
		return err
	}
	end, left := math.Inf(-1), 0
	for _, t := range trials {
		left += t.Evaluations
		for _, p := range t.Points {
			if t.Index == chosen && p.Usable() {
				end = max(end, float64(p.Value))
			}
		}
	}
	highest, from := end, ""
	for _, start := range []struct {
		from string
		free []float64
	}{{"the initial values", o.Layout.Pick(o.Layout.Start())}, {"the end of the search", free}} {
		if left <= 0 {
			break
		}
		// A climb that fails has ended no higher.
		top, _ := objective.Optimize(ctx, o, start.free, objective.Settings{Evaluations: left})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		left -= top.Evaluations
		if slices.Equal(start.free, free) {
			f.Warnings = append(f.Warnings, ofKind(cause.Undetermined, top.Warnings)...)
		}
		if f.Climbed += top.Evaluations; top.Value > highest {
			highest, from = top.Value, start.from
		}
	}
	if highest-end > clearlyHigher {
		f.Warnings = append(f.Warnings, cause.BelowClimb.New("the search ended at %.6g, and a climb of bfgs from %s "+
			"at %.6g (evaluations: %d)", end, from, highest, f.Climbed))
	}
	return nil
}

// ofKind are the notices of a kind.
func ofKind(k cause.Kind, all []cause.Notice) (of []cause.Notice) {
	for _, n := range all {
		if n.Kind == k {
			of = append(of, n)
		}
	}
	return of
}
