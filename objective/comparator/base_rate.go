package comparator

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// BaseRate predicts the class frequencies of the training set for every case. Its test information
// is 0 by definition, GPML (3.76).
type BaseRate struct{ optionless }

// Params lists nothing.
func (BaseRate) Params(int, []string) []param.Spec { return nil }

// Fit computes the class frequencies.
func (BaseRate) Fit(ctx context.Context, d objective.Data, _ uint64) (objective.Fitted, error) {
	return learn(ctx, "base_rate", d, func(_ []int, counts []float64) (Fitted, error) {
		f := make(frequencies, len(counts))
		for c, count := range counts {
			f[c] = count / floats.Sum(counts)
		}
		return f, nil
	})
}

// Restore computes the frequencies again: the state is empty.
func (b BaseRate) Restore(d objective.Data, s approx.State) (Fitted, error) {
	if _, err := cut(s); err != nil {
		return nil, err
	}
	f, err := b.Fit(context.Background(), d, 0)
	if err != nil {
		return nil, err
	}
	return f.(Fitted), nil
}

// frequencies is a fitted BaseRate.
type frequencies []float64

// Condense are the frequencies.
func (f frequencies) Condense() approx.State { return approx.State(f) }

// Expand takes the frequencies from the state.
func (BaseRate) Expand(_, classes int, s approx.State) (Fitted, error) {
	parts, err := cut(s, classes)
	if err != nil {
		return nil, err
	}
	if f := parts[0]; slices.Min(f) < 0 || math.Abs(floats.Sum(f)-1) > 1e-9 {
		return nil, fmt.Errorf("state %v, want frequencies, whose sum is 1", f)
	}
	return frequencies(parts[0]), nil
}

// PredictProba gives every case the frequencies.
func (f frequencies) PredictProba(dst *mat.Dense, z *kernel.Inputs) {
	checkShape(dst, z, len(f))
	for i := range z.N() {
		dst.SetRow(i, f)
	}
}

// State is empty.
func (frequencies) State() approx.State { return nil }

// Summary has no hyperparameters and no log evidence.
func (frequencies) Summary() Summary { return Summary{LogEvidence: math.NaN(), Converged: true} }
