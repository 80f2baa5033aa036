package comparator

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// P1NN is the probabilistic one-nearest-neighbour classifier of GPML 3.7: with c the class of the
// nearest training case,
//
//	p(y = c) = π,  p(y = d) = (1 - π)/(C - 1) for d ≠ c
//
// π maximises the leave-one-out likelihood of the training set: the share of training cases whose
// nearest neighbour among the others, where there are groups among those of other groups, is of
// their own class. Distances are Euclidean, on the preprocessed inputs; of neighbours equally near,
// the first counts. As the largest probability is the same for nearly all cases, it is sure of
// those whose neighbour is near.
type P1NN struct{ kernelFree }

// Check finds nothing.
func (P1NN) Check() error { return nil }

// With is the same: it uses no kernel.
func (p P1NN) With(kernel.Kernel) Comparator { return p }

// Params lists π.
func (P1NN) Params(int, []string) []param.Spec {
	return []param.Spec{{Name: "pi", Map: param.Logit, Hi: 1}}
}

// Memory is next to nothing: distances are not kept.
func (P1NN) Memory(approx.Size, int) int64 { return 0 }

// Fit finds π. A training set of one case, or group, is an error.
func (P1NN) Fit(ctx context.Context, d objective.Data, _ uint64) (objective.Fitted, error) {
	return interrupt.Do(ctx, func() (objective.Fitted, error) {
		index, _, err := counted(d)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		n, right := d.X.N(), 0
		for i := range n {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			apart := func(j int) bool { return j == i || d.Groups != nil && d.Groups[j] == d.Groups[i] }
			switch j, _ := nearest(d.X.X, d.X.X.RawRowView(i), apart); {
			case j < 0:
				return nil, errors.New("p1nn: a training set of one case, or one group, has no neighbours")
			case index[j] == index[i]:
				right++
			}
		}
		return &neighbours{x: d.X.X, index: index, classes: d.Y.Classes, pi: float64(right) / float64(n)}, nil
	})
}

// Restore takes π from the state.
func (P1NN) Restore(d objective.Data, s approx.State) (Fitted, error) {
	index, _, err := counted(d)
	if err != nil {
		return nil, err
	}
	if _, err := cut(s, 1); err != nil {
		return nil, err
	}
	if pi := s[0]; !(pi >= 0 && pi <= 1) {
		return nil, fmt.Errorf("pi = %v, want 0 to 1", pi)
	}
	return &neighbours{x: d.X.X, index: index, classes: d.Y.Classes, pi: s[0]}, nil
}

// nearest is the row of x nearest to z, those apart left out, and its squared distance; -1 if there
// is none.
func nearest(x *mat.Dense, z []float64, apart func(row int) bool) (row int, squared float64) {
	row, squared = -1, math.Inf(1)
	n, _ := x.Dims()
	for i := range n {
		if apart(i) {
			continue
		}
		if s := within(x.RawRowView(i), z, squared); s < squared || row < 0 {
			row, squared = i, s
		}
	}
	return row, squared
}

// within is the squared distance of x and z, or any number not below the limit once it is known to
// reach that.
func within(x, z []float64, limit float64) (sum float64) {
	const step = 8
	for len(x) > step && sum < limit {
		for k, v := range x[:step] {
			sum += (v - z[k]) * (v - z[k])
		}
		x, z = x[step:], z[step:]
	}
	for k, v := range x[:min(step, len(x))] {
		sum += (v - z[k]) * (v - z[k])
	}
	return sum
}

func nobody(int) bool { return false }

// neighbours is a fitted P1NN.
type neighbours struct {
	x       *mat.Dense
	index   []int
	classes int
	pi      float64
}

// PredictProba finds the nearest neighbour of every case.
func (f *neighbours) PredictProba(dst *mat.Dense, z *kernel.Inputs) {
	checkShape(dst, z, f.classes)
	checkNew(z, f.x.RawMatrix().Cols)
	for i := range z.N() {
		row := dst.RawRowView(i)
		for c := range row {
			row[c] = (1 - f.pi) / float64(f.classes-1)
		}
		j, _ := nearest(f.x, z.X.RawRowView(i), nobody)
		row[f.index[j]] = f.pi
	}
}

// Confidence is minus the distance to the nearest training case.
func (f *neighbours) Confidence(dst []float64, z *kernel.Inputs) {
	for i := range dst {
		_, squared := nearest(f.x, z.X.RawRowView(i), nobody)
		dst[i] = -math.Sqrt(squared)
	}
}

// State is π.
func (f *neighbours) State() approx.State { return approx.State{f.pi} }

// Summary has π.
func (f *neighbours) Summary() Summary {
	s := Summary{Natural: []float64{f.pi}, LogEvidence: math.NaN(), Converged: true}
	if f.pi == 1 {
		s.Warnings = append(s.Warnings, "every training case is of the class of its nearest neighbour: the fitted pi is 1, and whatever is not of its neighbour's class will have had probability 0")
	}
	return s
}
