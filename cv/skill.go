package cv

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

const (
	permutations = 1999
	// For several folds z must exceed offset + slope times a maximum under permutations, because
	// the training parts overlap. If predictions f = A y are linear in the labels y, a pair of
	// cases of different folds occurs twice in y'A y. Its variance is then up to twice the variance
	// under permutations of y. So z of a single model needs 1.645 √2 = 0.35 + 1.2 · 1.645 instead
	// of 1.645. Larger maxima, of many models, need less than √2 times as much: the models are
	// alike.
	offset, slope = 0.35, 1.2
	// decimals of predictions beyond which they are tied
	tied = 1e9
)

// Knows reports whether the predictions of model best know anything about the targets, at 5 %. The
// null hypothesis is that no model does. The test allows for the choice of the best model: it takes
// the largest statistic over all models (Westfall & Young 1993, Resampling-Based Multiple Testing,
// 2.2.3).
//
// For two classes, x_i are the log odds of the second class minus the log odds of its training
// frequency in the fold. a_i is the average rank of x_i over all cases, minus the mean rank of the
// fold. With y_i the label minus its mean in the fold,
//
//	z = Σ_i y_i a_i / √v,   v = Σ_folds Σ_i a_i² Σ_i y_i² / (n_k - 1),
//
// where v is the variance if labels are permuted within folds (Hoeffding 1951, Annals of
// Mathematical Statistics 22:558), and z = 0 if v = 0. It is shown if at most 5 % of 1999
// permutations, the one that occurred included, have 0.35 + 1.2 max_c z*_c ≥ z_best. For a single
// fold, such as a test set, these constants are 0 and 1, and the test is exact. For more classes a
// and y have a column for each class, and for numeric targets they are ranks of predicted means and
// of targets.
//
// Cases with several rows (repeats) have the mean of a and are permuted over all folds, and so are
// cases of folds that hold out one alone. With groups, the sum Σ w_i y_i a_i of each group gets a
// random sign instead (Winkler et al. 2014, NeuroImage 92:381), which allows for groups of
// different size and variance. Only there do weights w_i count: in sums, means and ranks.
//
// The constants are calibrated at 5 % only (docs/evidence.md), so there is no p value.
func (c Contenders) Knows(best int) bool { return c.shared(best) <= level }

// shared is the share of permutations.
func (c Contenders) shared(best int) float64 {
	u := c.units()
	if len(u.fold) < 2 {
		return 1
	}
	fold := []int{}
	for k, p := range c.Parts[0] {
		fold = append(fold, slices.Repeat([]int{k}, len(p.Cases))...)
	}
	strata := u.strata()
	switch alone := len(strata) == 1 && u.rows == 1; {
	case len(c.Parts[0]) == 1:
	case alone:
		clear(fold) // no mean of a fold can be subtracted
	case u.rows > 1:
		strata = [][]int{slices.Concat(strata...)}
	}
	pooled := Pool(c.Parts[0]...)
	weight := pooled.Weight
	if c.Groups == nil {
		weight = nil
	}
	y := targets(pooled, weight)
	centre(y, fold, weight)
	n, q := len(u.fold), y.RawMatrix().Cols
	width := q
	if c.Groups != nil {
		width = 1
	}
	a := mat.NewDense(n*width, len(c.Parts), nil)
	for k, parts := range c.Parts {
		ranks := associated(parts, fold, weight)
		centre(ranks, fold, weight)
		for i, unit := range u.of {
			if c.Groups != nil {
				a.Set(unit, k, a.At(unit, k)+weighed(weight, i)*floats.Dot(y.RawRowView(i), ranks.RawRowView(i)))
				continue
			}
			for j, v := range ranks.RawRowView(i) {
				a.Set(unit*q+j, k, a.At(unit*q+j, k)+v)
			}
		}
	}
	if c.Groups != nil {
		return c.flipped(best, a, u.strata())
	}
	return c.permuted(best, a, y, u, strata)
}

// permuted compares the statistics with the statistics of permuted targets.
func (c Contenders) permuted(best int, a, y *mat.Dense, u units, strata [][]int) float64 {
	n, q := len(u.fold), y.RawMatrix().Cols
	of, where := mat.NewDense(n, q, nil), make([]int, n)
	for i, unit := range u.of {
		of.SetRow(unit, y.RawRowView(i))
	}
	for k, stratum := range strata {
		for _, i := range stratum {
			where[i] = k
		}
	}
	centre(of, where, nil)
	variance := make([]float64, len(c.Parts))
	for _, stratum := range strata {
		for k := range variance {
			variance[k] += exchanged(a, of, stratum, k) / float64(len(stratum)-1)
		}
	}
	rng := rand.New(rand.NewPCG(c.Seed, forSkill))
	return c.exceeding(best, a, of.RawMatrix().Data, variance, func(w []float64) {
		for _, stratum := range strata {
			for i, from := range rng.Perm(len(stratum)) {
				copy(w[stratum[i]*q:][:q], of.RawRowView(stratum[from]))
			}
		}
	})
}

// exchanged is Σ_ij (a_i·y_j)² over the units of a stratum, as the product of the Gram matrices.
func exchanged(a, y *mat.Dense, stratum []int, model int) (sum float64) {
	_, q := y.Dims()
	for j := range q {
		for l := range q {
			aa, yy := 0.0, 0.0
			for _, i := range stratum {
				aa += a.At(i*q+j, model) * a.At(i*q+l, model)
				yy += y.At(i, j) * y.At(i, l)
			}
			sum += aa * yy
		}
	}
	return sum
}

// flipped compares the observed sums over groups with sums with random signs. The sums with random
// signs are larger by the root of G/(G-1) for G groups in a fold, because the mean of the fold was
// subtracted from the observed sums.
func (c Contenders) flipped(best int, a *mat.Dense, strata [][]int) float64 {
	n, m := a.Dims()
	observed, variance := make([]float64, n), make([]float64, m)
	for _, stratum := range strata {
		g := float64(len(stratum))
		for _, i := range stratum {
			observed[i] = math.Sqrt((g - 1) / g)
			floats.Scale(1/observed[i], a.RawRowView(i))
			for k, v := range a.RawRowView(i) {
				variance[k] += v * v
			}
		}
	}
	rng := rand.New(rand.NewPCG(c.Seed, forSkill))
	return c.exceeding(best, a, observed, variance, func(w []float64) { signs(rng, w) })
}

// signs are random, each 1 or -1.
func signs(rng *rand.Rand, w []float64) {
	for i := range w {
		w[i] = float64(1 - 2*int(rng.Uint64()>>63))
	}
}

// exceeding returns the fraction of weight vectors for which the largest statistic of all models is
// at least t. The vectors are random except for one, the observed one. t is the observed statistic
// of model best, for several folds minus offset and divided by slope.
func (c Contenders) exceeding(best int, a *mat.Dense, observed, variance []float64, fill func([]float64)) float64 {
	largest := slices.Max(variance)
	z := func(k int, t float64) float64 {
		if variance[k] <= 1e-18*largest { // rounding errors
			return 0
		}
		return t / math.Sqrt(variance[k])
	}
	t := z(best, floats.Dot(observed, mat.Col(nil, best, a)))
	if len(c.Parts[0]) > 1 {
		t = (t - offset) / slope
	}
	count := 1
	drawn(permutations, a, fill, func(_, product []float64) {
		most := math.Inf(-1)
		for k, v := range product {
			most = max(most, z(k, v))
		}
		if most >= t-1e-9 {
			count++
		}
	})
	return float64(count) / (permutations + 1)
}

// targets has a column for every class, of two for the second only; for numeric targets their
// ranks.
func targets(p Predictions, weight []float64) *mat.Dense {
	if p.Numeric() {
		return mat.NewDense(len(p.Targets), 1, ranks(p.Targets, weight))
	}
	m, classes := p.Proba.Dims()
	if classes == 2 {
		classes = 1
	}
	y := mat.NewDense(m, classes, nil)
	for i, label := range p.Labels {
		if classes > 1 {
			y.Set(i, label, 1)
		} else {
			y.Set(i, 0, float64(label))
		}
	}
	return y
}

// associated returns the ranks of the predictions, in the form of targets. If all rows are of one
// fold, the training frequencies are not subtracted: they are the same, or if each case is held out
// alone, they depend on its label.
func associated(parts []Predictions, fold []int, weight []float64) *mat.Dense {
	p := Pool(parts...)
	same := fold[0] == fold[len(fold)-1]
	if p.Numeric() {
		v := slices.Clone(p.Mean)
		if out := mat.NewDense(len(v), 1, v); !same {
			centre(out, fold, weight)
		}
		if scale := stat.StdDev(v, nil); scale > 0 {
			floats.Scale(1/scale, v)
		}
		return mat.NewDense(len(v), 1, ranks(v, weight))
	}
	m, classes := p.Proba.Dims()
	first := 0
	if classes == 2 {
		first = 1
	}
	out := mat.NewDense(m, classes-first, nil)
	for j := first; j < classes; j++ {
		v := make([]float64, m)
		for i := range v {
			v[i] = odds(p.Proba.At(i, j))
		}
		if !same {
			i := 0
			for _, part := range parts {
				base := odds(frequency(part, p, j))
				for range part.Cases {
					v[i] -= base
					i++
				}
			}
		}
		out.SetCol(j-first, ranks(v, weight))
	}
	return out
}

// odds is ln(p/(1-p)) of probabilities that are above the smallest normal double.
func odds(p float64) float64 { return math.Log(max(p, floor)) - math.Log(max(1-p, floor)) }

// frequency returns the training frequency of a class in a fold. A row of that class has it, and of
// two classes also a row of the other class. If no row of the fold has it, it is taken from another
// fold: the cases of the fold then do not count for this class.
func frequency(part, all Predictions, class int) float64 {
	for _, p := range []Predictions{part, all} {
		for i, label := range p.Labels {
			switch f := math.Exp(p.Base[i]); {
			case label == class:
				return f
			case p.Proba.RawMatrix().Cols == 2:
				return 1 - f
			}
		}
	}
	return 1
}

// ranks are average ranks from ½, of values that occur as often as their weights say (nil: once);
// differences below 1e-9 are ties.
func ranks(v, weight []float64) []float64 {
	order, rounded, out := make([]int, len(v)), make([]float64, len(v)), make([]float64, len(v))
	for i, x := range v {
		order[i], rounded[i] = i, math.Round(x*tied)
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(rounded[i], rounded[j]) })
	below := 0.0
	for i := 0; i < len(order); {
		end, equal := i, 0.0
		for end < len(order) && rounded[order[end]] == rounded[order[i]] {
			equal += weighed(weight, order[end])
			end++
		}
		for k := i; k < end; k++ {
			out[order[k]] = below + equal/2
		}
		i, below = end, below+equal
	}
	return out
}

// centre subtracts from every column its mean over the rows of each place, by their weights (nil: 1
// each).
func centre(x *mat.Dense, place []int, weight []float64) {
	_, q := x.Dims()
	sums, counts := mat.NewDense(slices.Max(place)+1, q, nil), make([]float64, slices.Max(place)+1)
	for i, k := range place {
		w := weighed(weight, i)
		floats.AddScaled(sums.RawRowView(k), w, x.RawRowView(i))
		counts[k] += w
	}
	for i, k := range place {
		floats.AddScaled(x.RawRowView(i), -1/counts[k], sums.RawRowView(k))
	}
}
