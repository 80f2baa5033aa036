package search

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/record"
)

// Sensitivity is a global sensitivity analysis: it divides the variance of an objective f over the
// space of a search among the hyperparameters. f is a Gaussian-process regression of the values of
// trials, as in Bayes (objective.Surrogate), but without squashing. The distribution of the
// hyperparameters is uniform in the unit cube that param.Spec.Place maps to the space.
type Sensitivity struct {
	Indices []SobolIndices
	// R2 is the fraction of the variance of the values v_i that the regression predicts when a
	// value is left out: with the prediction p_i from all others, 1 - Σ(v_i - p_i)²/Σ(v_i - v̄)².
	R2       float64
	Fitted   int // number of values of the regression
	Measured int // number of values on record
}

// SobolIndices are fractions of the variance of f due to a hyperparameter x (Sobol' 1993; Saltelli
// et al. 2010). If x matters only under a condition, the variance is over the part of the space
// where x matters.
type SobolIndices struct {
	Name  string  // name of x
	First float64 // Var E[f|x] / Var f: due to x alone
	Total float64 // 1 - Var E[f|all but x] / Var f: due to x and its interactions
	// root mean squared differences of the indices of functions drawn from the posterior
	FirstError, TotalError float64
}

const (
	sensitivityPairs  = 1024 // pairs of points of a Sobol sequence, fewer of more than 8 hyperparameters
	sensitivityDraws  = 16   // functions from the posterior
	sensitivityValues = 256  // most values of the regression, evenly spaced
)

// NewSensitivity analyses the trials of a search over these hyperparameters. The error is the
// reason why the trials allow no analysis.
func NewSensitivity(all []record.Hyperparameter, trials []*record.Trial) (*Sensitivity, error) {
	s, of := recordedSpace(all)
	if len(of) < 2 {
		return nil, errors.New("the run has no bounds of two hyperparameters or more on record")
	}
	if 2*len(s) > sobolDimensions {
		return nil, fmt.Errorf("the search has %d hyperparameters; at most %d can be compared", len(s),
			sobolDimensions/2)
	}
	rows, values, failed := s.measured(trials, of)
	out := &Sensitivity{Measured: len(values)}
	columns := len(s.features(s.unit(s.Start())))
	switch least := 2 * (len(s) + 1); {
	case len(values) == 0:
		return nil, fmt.Errorf("none of %d points has a value", failed)
	case len(values) < least:
		return nil, fmt.Errorf("%d points have a value; a regression over %d hyperparameters needs %d or more",
			len(values), len(s), least)
	case floats.Max(values)-floats.Min(values) <= 1e-12*max(floats.Max(values), -floats.Min(values)):
		return nil, fmt.Errorf("all %d values are equal", len(values))
	}
	x, y := fewer(mat.NewDense(len(values), columns, rows), values)
	model, err := objective.NewSurrogate(x, y, 0)
	if err != nil {
		return nil, fmt.Errorf("the regression of the values failed: %w", err)
	}
	predicted, err := model.LeftOut()
	if err != nil {
		return nil, err
	}
	out.Fitted = len(y)
	out.R2 = 1 - math.Pow(floats.Distance(predicted, y, 2), 2)/(stat.PopVariance(y, nil)*float64(len(y)))
	if !(out.R2 > 0) {
		return nil, fmt.Errorf("the regression of %d values predicts those left out no better than their mean", len(y))
	}
	draws, err := model.Draw(sensitivityDraws, 0)
	if err != nil {
		return nil, err
	}
	out.Indices = make([]SobolIndices, len(s))
	first := 0.0 // sum of the first-order indices over the whole space
	for j := range s {
		if out.Indices[j].Name != "" {
			continue
		}
		var alike []int // hyperparameters with the same condition as j
		for k := range s {
			if reflect.DeepEqual(s[k].When, s[j].When) {
				alike = append(alike, k)
			}
		}
		for i, indices := range s.sobolIndices(alike, draws, model.Noise()) {
			out.Indices[alike[i]] = indices
			if s[j].When == nil {
				first += indices.First
			}
		}
	}
	for j := range out.Indices {
		if s[j].When == nil {
			out.Indices[j].First /= max(1, first) // it is above 1 by the sampling error only
		}
	}
	return out, nil
}

// measured returns the features of the points that have a value, one after another, their values,
// and the number of other points. of has the place of every hyperparameter in the points of trials.
func (s Space) measured(trials []*record.Trial, of []int) (rows, values []float64, failed int) {
	for _, t := range trials {
		for _, p := range t.Points {
			v := float64(p.Value)
			if !p.Failure.IsZero() || t.Share != (record.Share{}) || !(math.Abs(v) < 1e150) {
				failed++
				continue
			}
			theta := make([]float64, len(of))
			for k, j := range of {
				theta[k] = float64(p.Theta[j])
			}
			rows, values = append(rows, s.features(s.unit(theta))...), append(values, v)
		}
		failed += len(t.Asked)
	}
	return rows, values, failed
}

// fewer returns at most sensitivityValues of the points and values, evenly spaced among all.
func fewer(points *mat.Dense, values []float64) (x *mat.Dense, y []float64) {
	n, columns := points.Dims()
	if n <= sensitivityValues {
		return points, values
	}
	x = mat.NewDense(sensitivityValues, columns, nil)
	for i := range sensitivityValues {
		x.SetRow(i, points.RawRowView(i*n/sensitivityValues))
		y = append(y, values[i*n/sensitivityValues])
	}
	return x, y
}

// sobolIndices computes the indices of hyperparameters with the same condition. Points a and b are
// uniform in the part of the cube where it holds. For hyperparameter j, a' is a with the coordinate
// j of b, and b' is b with the coordinate j of a. With the estimators of Jansen (1999),
//
//	Var f     = ½E(f(a) - f(b))²
//	1 - First = ½E(f(a) - f(b'))² / Var f
//	Total     = ½E(f(a) - f(a'))² / Var f
//
// both of the latter also with a and b exchanged. A hyperparameter without influence has indices of
// exactly 0. All have indices of 0 if the standard deviation of f is at most noise.
func (s Space) sobolIndices(all []int, draws *objective.Draws, noise float64) []SobolIndices {
	d, n := len(s), sensitivityPairs
	for n*d > 8*sensitivityPairs && n > sensitivityPairs/8 {
		n /= 2
	}
	pairs := mat.NewDense(n, 2*d, nil)
	sobol(pairs, 0)
	when := s[all[0]].When
	var rows []float64
	add := func(of, with []float64, j int) {
		u := slices.Clone(of)
		u[j] = with[j]
		s.enforce(u, when)
		rows = append(rows, s.features(s.settled(u))...)
	}
	for k := range n {
		a, b := pairs.RawRowView(k)[:d], pairs.RawRowView(k)[d:]
		add(a, a, 0)
		add(b, b, 0)
		for _, j := range all {
			add(a, b, j)
			add(b, a, j)
		}
	}
	each := 2 + 2*len(all) // points of a pair
	f := draws.At(mat.NewDense(each*n, len(rows)/(each*n), rows))
	out := make([]SobolIndices, len(all))
	for i, j := range all {
		out[i].Name = s[j].Name
	}
	for r := range 1 + sensitivityDraws {
		square := func(p, q int) (sum float64) { // sum of squared differences of two points of a pair
			for k := range n {
				sum += math.Pow(f.At(each*k+p, r)-f.At(each*k+q, r), 2)
			}
			return sum
		}
		variance := square(0, 1)
		if r == 0 && variance/2/float64(n) <= noise*noise {
			return out
		}
		for i := range all {
			a, b := 2+2*i, 3+2*i
			total := (square(0, a) + square(1, b)) / 2 / variance
			first := min(max(1-(square(0, b)+square(1, a))/2/variance, 0), total)
			if r == 0 {
				out[i].First, out[i].Total = first, total
				continue
			}
			out[i].FirstError += math.Pow(first-out[i].First, 2) / sensitivityDraws
			out[i].TotalError += math.Pow(total-out[i].Total, 2) / sensitivityDraws
		}
	}
	for i := range out {
		out[i].FirstError, out[i].TotalError = math.Sqrt(out[i].FirstError), math.Sqrt(out[i].TotalError)
	}
	return out
}

// enforce moves u to where a condition holds, and the conditions of the hyperparameters that it
// names. The coordinate of each, uniform in [0, 1], chooses one of the values for which its
// conditions hold, or a point of the interval where they do.
func (s Space) enforce(u []float64, when *param.Condition) {
	conditions := map[int][]*param.Condition{} // the key is the index of the hyperparameter
	var collect func(c *param.Condition)
	collect = func(c *param.Condition) {
		for ; c != nil; c = c.And {
			i := s.Index(c.Name)
			conditions[i] = append(conditions[i], c)
			collect(s[i].When)
		}
	}
	collect(when)
	for i, all := range conditions {
		at := func(u float64) float64 { return s[i].Map.Natural(s[i].Place(u)) }
		if values := admitted(all); values != nil {
			u[i] = s[i].Unit(s[i].Map.Theta(values[min(int(u[i]*float64(len(values))), len(values)-1)]))
			continue
		}
		side := func(u float64, of int) bool {
			return slices.ContainsFunc(all, func(c *param.Condition) bool { return c.Side(at(u)) == of })
		}
		lo := firstWhere(func(u float64) bool { return !side(u, -1) })
		hi := firstWhere(func(u float64) bool { return side(u, 1) })
		u[i] = lo + u[i]*max(0, hi-lo)
	}
}

// admitted are the values for which all conditions on a hyperparameter hold; nil: they are bounds.
func admitted(all []*param.Condition) []float64 {
	k := slices.IndexFunc(all, func(c *param.Condition) bool { return c.Values != nil })
	if k < 0 {
		return nil
	}
	values := slices.DeleteFunc(slices.Clone(all[k].Values), func(v float64) bool {
		return slices.ContainsFunc(all, func(c *param.Condition) bool { return !c.Admits(v) })
	})
	if len(values) == 0 { // no point has them all
		return all[k].Values
	}
	return values
}

// firstWhere is the least u in [0, 1] from which a condition holds, by bisection; 1 if it never
// does.
func firstWhere(holds func(u float64) bool) float64 {
	if holds(0) {
		return 0
	}
	lo, hi := 0.0, 1.0
	for range 50 {
		if middle := (lo + hi) / 2; holds(middle) {
			hi = middle
		} else {
			lo = middle
		}
	}
	return hi
}
