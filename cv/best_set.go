package cv

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// multipliers is the number of random draws for simultaneous intervals.
const multipliers = 999

// Negligible is a difference of scores that no table shows.
const Negligible = 1e-6

// BestSet says which models may be the best, at 95 %.
type BestSet struct {
	Cases int // that are held out; 0: there are no intervals
	// of every model: the difference of its score from that of the best, negative if it is worse,
	// with its interval. All intervals together contain the true differences in 95 % of samples.
	Differences []Estimate
	// of every model: the smallest level at which it is not in the set; 1 for the best
	P []float64
	// of every model: it may be the best, because its interval contains 0, which is when P is above
	// 0.05
	In []bool
	// of every model: it is in the set, and the difference counts as none. The two cases, or
	// groups, with the largest differences contribute more than the sum over all, or it is below
	// Negligible.
	None []bool
	// of a score for which the base rate has the value 0: that of the best with its interval among
	// the intervals of all models; else NaN
	Gain Estimate
}

// Set compares all models with one of them, the best by the score. With contributions S_ic of n
// units, their mean S_c, and random signs e_i, one for each unit and draw,
//
//	Z_c = (1/n) Σ_i e_i (S_ic - S_c) √(n/(n-1)),   se_jc² = variance_i(S_ij - S_ic) / n,
//
// and q is the 95 % quantile, over 999 draws, of the largest |Z_j - Z_c| / se_jc of all pairs.
// With w the best, the interval of the difference D_c is D_c ± q r t se_wc. All pairs count: any of
// them may be compared once the best has been chosen. Random signs keep the dependence between
// models (Chernozhukov, Chetverikov & Kato 2013, Annals of Statistics 41:2786). The variance is r²
// = 1 + Ratio times that of independent cases, because models differ with their training parts,
// which overlap (Nadeau & Bengio 2003, Machine Learning 52:239). The factor t, the ratio of the
// 99.95 % quantiles of Student's t with n-1 degrees of freedom and of the normal distribution, is
// for few cases. A se below the median of all pairs is raised to it; otherwise models that hardly
// differ would decide q.
//
// Without at least two units, or if the score is not defined without some of them, there are no
// intervals, and all models are in the set. So is a model whose difference is the same for all
// units.
func (c Contenders) Set(s Score, best int) BestSet {
	m, nan := len(c.Parts), math.NaN()
	out := BestSet{Differences: make([]Estimate, m), P: make([]float64, m), In: make([]bool, m),
		None: make([]bool, m), Gain: withoutInterval(nan)}
	sign := map[bool]float64{true: 1, false: -1}[s.Greater]
	top, _, _ := s.Of(Pool(c.Parts[best]...))
	for k := range m {
		of, _, _ := s.Of(Pool(c.Parts[k]...))
		out.Differences[k], out.P[k], out.In[k] = withoutInterval(sign*(of.Value-top.Value)), nan, true
	}
	if s.Base {
		out.Gain.Value = sign * top.Value
	}
	table, _, ok := c.contributions(s)
	if !ok || table.RawMatrix().Rows < 2 {
		return out
	}
	for _, p := range c.Parts[0] {
		out.Cases += len(p.Cases)
	}
	out.Cases /= c.units().rows
	z, pairs, alone := multiplied(table, c.Seed)
	scale := math.Sqrt(1+c.Ratio) * wider(table.RawMatrix().Rows)
	slices.Sort(z.pairs)
	slices.Sort(z.alone)
	for k, d := range out.Differences {
		if k == best {
			out.Differences[k], out.P[k] = Estimate{}, 1
			continue
		}
		out.Differences[k], out.P[k] = widened(d.Value, scale*pairs.At(best, k), z.pairs)
		out.In[k] = !(out.P[k] <= level)
		out.None[k] = out.In[k] && (math.Abs(out.Differences[k].Value) < Negligible ||
			s.Each != nil && fewDecide(table, k, best))
	}
	if s.Base && alone[best] > 0 {
		out.Gain, _ = widened(out.Gain.Value, scale*alone[best], z.alone)
	}
	return out
}

// fewDecide reports whether the two largest differences of units exceed the sum of all.
func fewDecide(table *mat.Dense, k, best int) bool {
	d := mat.Col(nil, k, table)
	floats.Sub(d, mat.Col(nil, best, table))
	sum := math.Abs(floats.Sum(d))
	for i, v := range d {
		d[i] = math.Abs(v)
	}
	slices.Sort(d)
	return d[len(d)-1]+d[len(d)-2] > sum
}

// wider is the factor on standard errors of n units.
func wider(n int) float64 {
	const far = 0.9995
	return distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile(far) / distuv.UnitNormal.Quantile(far)
}

// widened is an estimate with its simultaneous interval, and its p value, from the sorted maxima
// that occur without differences. The interval contains 0 if and only if p is above the level.
func widened(value, se float64, maxima []float64) (Estimate, float64) {
	n := len(maxima)
	q := maxima[n-int(level*float64(n+1))]
	t := math.Abs(value) / se
	if se == 0 {
		if value != 0 {
			return withoutInterval(value), math.NaN() // the same for all cases
		}
		t = 0
	}
	below, _ := slices.BinarySearch(maxima, t*(1-1e-12))
	return Estimate{value, value - q*se, value + q*se}, float64(1+n-below) / float64(n+1)
}

// maxima are those of all pairs, and of all models alone, of each draw.
type maxima struct{ pairs, alone []float64 }

// multiplied draws the maxima, and returns the standard errors that they are in units of: of the
// differences of all pairs, and of the models alone.
func multiplied(table *mat.Dense, seed uint64) (z maxima, pairs *mat.SymDense, alone []float64) {
	n, m := table.Dims()
	centred := mat.DenseCopyOf(table)
	centre(centred, make([]int, n), nil)
	var gram mat.SymDense
	gram.SymOuterK(1/float64(n*(n-1)), centred.T())
	pairs, alone = mat.NewSymDense(m, nil), make([]float64, m)
	var all []float64
	for j := range m {
		alone[j] = math.Sqrt(gram.At(j, j))
		for k := range j {
			v := gram.At(j, j) + gram.At(k, k) - 2*gram.At(j, k)
			if v < 1e-12*max(gram.At(j, j), gram.At(k, k)) {
				v = 0 // rounding
			}
			pairs.SetSym(j, k, math.Sqrt(v))
			all = append(all, math.Sqrt(v))
		}
	}
	raise := func(all []float64) func(float64) float64 {
		slices.Sort(all)
		least := 0.0
		if n := len(all); n > 0 {
			least = (all[(n-1)/2] + all[n/2]) / 2
		}
		return func(se float64) float64 { return max(se, least) }
	}
	pair, one := raise(all), raise(slices.Clone(alone))
	inverse := mat.NewDense(m, m, nil)
	for j := range m {
		alone[j] = one(alone[j])
		for k := range j {
			se := pair(pairs.At(j, k))
			pairs.SetSym(j, k, se)
			if se > 0 {
				inverse.Set(j, k, 1/se)
			}
		}
	}
	rng := rand.New(rand.NewPCG(seed, forSet))
	floats.Scale(1/math.Sqrt(float64(n*(n-1))), centred.RawMatrix().Data)
	drawn(multipliers, centred, func(w []float64) { signs(rng, w) }, func(_, of []float64) {
		most, single := 0.0, 0.0
		for j, a := range of {
			if alone[j] > 0 {
				single = max(single, math.Abs(a)/alone[j])
			}
			row := inverse.RawRowView(j)[:j]
			for k, b := range of[:j] {
				if d := math.Abs(a-b) * row[k]; d > most {
					most = d
				}
			}
		}
		z.pairs, z.alone = append(z.pairs, most), append(z.alone, single)
	})
	return z, pairs, alone
}
