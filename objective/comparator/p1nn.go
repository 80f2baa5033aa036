package comparator

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// P1NN is the probabilistic one-nearest-neighbour classifier of GPML 3.7: with c the class of the
// nearest training case,
//
//	p(y = c) = π,  p(y = d) = (1 - π)/(C - 1) for d ≠ c
//
// Equally near cases vote together, by their weights: with s_c the fraction of class c in the vote,
// p(y = c) = π s_c + (1 - π)(1 - s_c)/(C - 1). Distances are Euclidean, on the preprocessed inputs;
// a difference of at most 1e-12 of the lengths of both inputs counts as rounding error.
//
// π maximises the leave-one-out likelihood of the training set: every case is predicted from the
// others, or with groups from the other groups. Without ties π is the fraction of training cases
// whose nearest neighbour is of their own class. A weight of 2 or more stands for several equal
// cases: when one is left out, the others are its neighbours. The largest probability is the same
// for nearly all cases, so cases are ranked by the distance to their neighbour.
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
		f := newNeighbours(d, index, len(counts))
		own := make([]float64, d.X.N()) // fraction of the neighbours in the case's class
		for i := range own {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			left := func(j int) float64 {
				switch {
				case d.Groups != nil && d.Groups[j] == d.Groups[i]:
					return 0
				case j != i || d.Groups != nil:
					return f.weight[j]
				case f.weight[j] >= 2:
					return f.weight[j] - 1
				}
				return 0
			}
			share, _ := f.vote(d.X.X.RawRowView(i), left)
			if share == nil {
				return nil, errors.New("a training set of one case, or one group, has no neighbours")
			}
			own[i] = share[index[i]]
		}
		f.pi = likeliestPi(own, f.weight, float64(f.classes-1))
		return f, nil
	})
}

// likeliestPi maximises Σ_i w_i ln(π s_i + (1-π)(1-s_i)/others) over π in [0, 1], with s_i the
// fraction of case i's class in its vote. This is a concave function of π. If the vote has equal
// fractions for all classes in every case, every π is equally likely, and the mean fraction is
// returned.
func likeliestPi(own, weight []float64, others float64) float64 {
	const equal = 1e-12 // a vote with equal fractions has no information on π
	right, total, divided, informed := 0.0, 0.0, false, false
	for i, s := range own {
		total += weight[i]
		right += weight[i] * s
		divided = divided || s != 0 && s != 1
		informed = informed || math.Abs(s-(1-s)/others) > equal
	}
	if !divided || !informed {
		return right / total
	}
	slope := func(pi float64) (sum float64) {
		for i, s := range own {
			if wrong := (1 - s) / others; math.Abs(s-wrong) > equal {
				sum += weight[i] * (s - wrong) / (pi*s + (1-pi)*wrong)
			}
		}
		return sum
	}
	lo, hi := 0.0, 1.0
	switch {
	case slope(lo) <= 0:
		return 0
	case slope(hi) >= 0:
		return 1
	}
	for {
		mid := (lo + hi) / 2
		if !(lo < mid && mid < hi) {
			return mid
		}
		if slope(mid) > 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
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
	f := newNeighbours(d, index, len(counts))
	f.pi = s[0]
	return f, nil
}

// within is the squared distance of x and z if this is below the limit, else any number of at least
// the limit.
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
	length  []float64 // the length of every row of x
	index   []int
	weight  []float64
	classes int
	pi      float64
}

func newNeighbours(d objective.Data, index []int, classes int) *neighbours {
	f := &neighbours{x: d.X.X, index: index, classes: classes}
	for i := range index {
		f.weight = append(f.weight, weightOf(d, i))
		f.length = append(f.length, floats.Norm(f.x.RawRowView(i), 2))
	}
	return f
}

// vote returns the fraction of every class in the weight of the cases nearest to z, and the
// distance of these cases. left is the weight of a row; 0 leaves it out. Without cases there are no
// fractions.
func (f *neighbours) vote(z []float64, left func(row int) float64) (share []float64, distance float64) {
	const rounding = 1e-12
	length := floats.Norm(z, 2)
	nearest, squared := -1, math.Inf(1)
	for i := range f.index {
		if left(i) == 0 {
			continue
		}
		if s := within(f.x.RawRowView(i), z, squared); s < squared || nearest < 0 {
			nearest, squared = i, s
		}
	}
	if nearest < 0 {
		return nil, 0
	}
	share, distance = make([]float64, f.classes), math.Sqrt(squared)
	total := 0.0
	for i, class := range f.index {
		w := left(i)
		if w == 0 {
			continue
		}
		limit := distance + rounding*(length+f.length[i])
		if beyond := math.Nextafter(limit*limit, math.Inf(1)); within(f.x.RawRowView(i), z, beyond) < beyond {
			share[class] += w
			total += w
		}
	}
	for c := range share {
		share[c] /= total
	}
	return share, distance
}

// all is a left for vote that leaves no case out.
func (f *neighbours) all(row int) float64 { return f.weight[row] }

// PredictProba finds the nearest neighbours of every case.
func (f *neighbours) PredictProba(dst *mat.Dense, z *kernel.Inputs) {
	checkNew(dst, z, f.x.RawMatrix().Cols, f.classes)
	for i := range z.N() {
		row := dst.RawRowView(i)
		share, _ := f.vote(z.X.RawRowView(i), f.all)
		for c, s := range share {
			row[c] = f.pi*s + (1-f.pi)*(1-s)/float64(f.classes-1)
		}
	}
}

// Confidence is minus the distance to the nearest training case.
func (f *neighbours) Confidence(dst []float64, z *kernel.Inputs) {
	for i := range dst {
		_, distance := f.vote(z.X.RawRowView(i), f.all)
		dst[i] = 0 - distance
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
