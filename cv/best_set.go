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

// BestSet has the models that may be the best, at 95 %, and the most that each can cost.
type BestSet struct {
	Units int // held-out cases, or groups of them; 0: there are no bounds
	// Differences has, for every model, its score minus the score of the best. A worse model has a
	// negative value. Lo and Hi are 95 % bounds of the true difference, one-sided each.
	Differences []Estimate
	// P is, for every model, the p value of the hypothesis that no other is better.
	P []float64
	// In is true for every model that may be the best: P is above 0.05, or its score is within
	// Score.Negligible of the best.
	In []bool
	// AtMost is, for every model, the most by which its true score may be below the largest one;
	// NaN: not known.
	AtMost []float64
	// None is true for every model in the set whose difference counts as none: the two cases, or
	// groups, with the largest differences contribute more than the sum over all, or the difference
	// is below Score.Negligible.
	None []bool
}

// Set compares every model with all others. best has the largest score. Models contribute S_ic in n
// units, with mean S_c. Every draw has random signs e_i, one for each unit, and
//
//	Z_c = (1/n) Σ_i e_i (S_ic - S_c) √(n/(n-1)),   se_jc² = variance_i(S_ij - S_ic) / n.
//
// That no other model is better than c is tested with
//
//	T_c = max_j (S_j - S_c) / (r t se_jc),
//
// whose p value is the share of 999 draws with max_j (Z_j - Z_c) / se_jc ≥ T_c. So the truly best
// is in the set in 95 % of samples, whichever it is: the set inverts the tests (Hsu 1984, Annals of
// Statistics 12:1136, with unequal variances). Random signs keep the dependence between models
// (Chernozhukov, Chetverikov & Kato 2013, Annals of Statistics 41:2786). With the 95 % quantile q_c
// of the draws,
//
//	AtMost_c = max(0, max_{k ≠ c in the set} (S_k - S_c + q_k r t se_kc)),
//	Hi_c = S_c - S_b + q_c r t se_cb,
//	Lo_c = S_c - S_b - q_b r t se_cb,
//
// where b is the best. So AtMost_b is the largest Hi_c of the set, or 0. A model whose Hi_c is
// above 0 is not in the set if another model than b is shown to be better.
//
// The variance is r² = 1 + Ratio times the variance of independent cases: models differ with their
// training parts, and these overlap (Nadeau & Bengio 2003, Machine Learning 52:239). The factor t
// is for few cases. It is the ratio of the 99.95 % quantiles of Student's t with n-1 degrees of
// freedom and of the normal distribution.
//
// There are no bounds with fewer than two units, or if the score is not defined without some of
// them. Then all models are in the set. A pair with the same difference in all units does not
// count in T_c; its Lo is the difference, and its Hi 0.
func (c Contenders) Set(s Score, best int) BestSet {
	m, nan := len(c.Parts), math.NaN()
	out := BestSet{Differences: make([]Estimate, m), P: make([]float64, m), In: make([]bool, m), None: make([]bool, m),
		AtMost: slices.Repeat([]float64{nan}, m)}
	sign := map[bool]float64{true: 1, false: -1}[s.Greater]
	top, _, _ := s.Of(Pool(c.Parts[best]...))
	for k := range m {
		of, _, _ := s.Of(Pool(c.Parts[k]...))
		out.Differences[k], out.P[k], out.In[k] = withoutInterval(sign*(of.Value-top.Value)), nan, true
	}
	table, _, ok := c.contributions(s)
	if !ok || table.RawMatrix().Rows < 2 {
		return out
	}
	out.Units = len(c.units().fold)
	z := against(table, c.Seed)
	scale := math.Sqrt(1+c.Ratio) * wider(table.RawMatrix().Rows)
	better := func(j, k int) float64 { return out.Differences[j].Value - out.Differences[k].Value }
	half := make([]float64, m) // q_k r t
	for k := range m {
		slices.Sort(z.maxima[k])
		half[k] = scale * z.maxima[k][multipliers-int(level*(multipliers+1))]
		t := 0.0
		for j := range m {
			if se := z.se.At(j, k); se > 0 {
				t = max(t, better(j, k)/(scale*se))
			}
		}
		below, _ := slices.BinarySearch(z.maxima[k], t*(1-1e-12))
		out.P[k] = float64(1+multipliers-below) / (multipliers + 1)
		out.In[k] = k == best || out.P[k] > level || -out.Differences[k].Value < s.Negligible
		out.None[k] = k != best && out.In[k] &&
			(-out.Differences[k].Value < s.Negligible || s.Each != nil && fewDecide(table, k, best))
	}
	for k := range m {
		d, se := &out.Differences[k], z.se.At(best, k)
		if d.Lo, d.Hi = d.Value-half[best]*se, d.Value+half[k]*se; se == 0 {
			d.Hi = 0
		}
		out.AtMost[k] = 0
		for j := range m {
			if j != k && out.In[j] {
				out.AtMost[k] = max(out.AtMost[k], better(j, k)+half[j]*z.se.At(j, k))
			}
		}
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

// draws are the random draws of a comparison of models.
type draws struct {
	maxima [][]float64 // maxima[k] has max_j (Z_j - Z_k) / se_jk of every draw
	// standard errors of the differences of all pairs; 0 if a difference is the same in all units
	se *mat.SymDense
}

// against compares every model with all others in random draws.
func against(table *mat.Dense, seed uint64) draws {
	n, m := table.Dims()
	centred := mat.DenseCopyOf(table)
	centre(centred, make([]int, n), nil)
	var gram mat.SymDense
	gram.SymOuterK(1/float64(n*(n-1)), centred.T())
	z := draws{make([][]float64, m), mat.NewSymDense(m, nil)}
	inverse := mat.NewSymDense(m, nil)
	for j := range m {
		for k := range j {
			v := gram.At(j, j) + gram.At(k, k) - 2*gram.At(j, k)
			if v > 1e-12*max(gram.At(j, j), gram.At(k, k)) { // above rounding
				z.se.SetSym(j, k, math.Sqrt(v))
				inverse.SetSym(j, k, 1/math.Sqrt(v))
			}
		}
	}
	rng := rand.New(rand.NewPCG(seed, forSet))
	floats.Scale(1/math.Sqrt(float64(n*(n-1))), centred.RawMatrix().Data)
	most := make([]float64, m)
	drawn(multipliers, centred, func(w []float64) { signs(rng, w) }, func(_, of []float64) {
		clear(most)
		for j, a := range of {
			for k, b := range of[:j] {
				d := (a - b) * inverse.At(k, j)
				most[k], most[j] = max(most[k], d), max(most[j], -d)
			}
		}
		for k, v := range most {
			z.maxima[k] = append(z.maxima[k], v)
		}
	})
	return z
}
