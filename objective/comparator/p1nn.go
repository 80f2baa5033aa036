package comparator

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/cause"
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
// their own class. A weight of 2 or more stands for several equal cases: when one is left out, the
// others are its neighbours. Distances are Euclidean, on the preprocessed inputs; of neighbours
// equally near, the first counts. As the largest probability is the same for nearly all cases, it
// is sure of those whose neighbour is near.
type P1NN struct{ optionless }

// Seconds implements Comparator.
func (P1NN) Seconds(s approx.Size, _ int) float64 { return 2e-8 * float64(s.Cases) * float64(s.Cases) }

// Params lists π.
func (P1NN) Params(int, []string) []param.Spec {
	return []param.Spec{{Name: "pi", Map: param.Logit, Hi: 1}}
}

// Fit finds π. A training set of one case, or group, is an error.
func (P1NN) Fit(ctx context.Context, d objective.Data, _ uint64) (objective.Fitted, error) {
	d = d.Present()
	return learn(ctx, "p1nn", d, func(index []int, counts []float64) (Fitted, error) {
		n, right := d.X.N(), 0.0
		for i := range n {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			apart := func(j int) bool {
				if d.Groups != nil {
					return d.Groups[j] == d.Groups[i]
				}
				return j == i && weightOf(d, i) < 2
			}
			switch j, _ := nearest(d.X.X, d.X.X.RawRowView(i), apart); {
			case j < 0:
				return nil, errors.New("a training set of one case, or one group, has no neighbours")
			case index[j] == index[i]:
				right += weightOf(d, i)
			}
		}
		return &neighbours{d.X.X, index, len(counts), right / floats.Sum(counts)}, nil
	})
}

// Restore takes π from the state.
func (P1NN) Restore(d objective.Data, s approx.State) (Fitted, error) {
	d = d.Present()
	index, counts, err := counted(d)
	if err != nil {
		return nil, err
	}
	if _, err := cut(s, 1); err != nil {
		return nil, err
	}
	if pi := s[0]; !(pi >= 0 && pi <= 1) {
		return nil, fmt.Errorf("pi = %v, want 0 to 1", pi)
	}
	return &neighbours{d.X.X, index, len(counts), s[0]}, nil
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

// neighbours is a fitted P1NN.
type neighbours struct {
	x       *mat.Dense
	index   []int
	classes int
	pi      float64
}

func (f *neighbours) nearest(z []float64) (row int, squared float64) {
	return nearest(f.x, z, func(int) bool { return false })
}

// PredictProba finds the nearest neighbour of every case.
func (f *neighbours) PredictProba(dst *mat.Dense, z *kernel.Inputs) {
	checkNew(dst, z, f.x.RawMatrix().Cols, f.classes)
	for i := range z.N() {
		row := dst.RawRowView(i)
		for c := range row {
			row[c] = (1 - f.pi) / float64(f.classes-1)
		}
		j, _ := f.nearest(z.X.RawRowView(i))
		row[f.index[j]] = f.pi
	}
}

// Confidence is minus the distance to the nearest training case.
func (f *neighbours) Confidence(dst []float64, z *kernel.Inputs) {
	for i := range dst {
		_, squared := f.nearest(z.X.RawRowView(i))
		dst[i] = -math.Sqrt(squared)
	}
}

// State is π.
func (f *neighbours) State() approx.State { return approx.State{f.pi} }

// Summary has π.
func (f *neighbours) Summary() Summary {
	s := Summary{Natural: []float64{f.pi}, LogEvidence: math.NaN(), Converged: true}
	if f.pi == 1 {
		s.Warnings = []approx.Warning{cause.Neighbours.New("every training case is of the class of its nearest " +
			"neighbour: the fitted pi is 1, and a case of another class than its neighbour gets probability 0")}
	}
	return s
}
