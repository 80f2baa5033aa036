package cv

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Contenders are the held-out predictions of several models for the same folds, for judging the
// choice of the best model. All results depend on the fields only.
type Contenders struct {
	// Parts[c][k] are the predictions of model c in fold k. All models have the same cases in the
	// same order. There is at least one model and one fold.
	Parts [][]Predictions
	// Groups has the group of every case, by the number of the case. Groups are independent of each
	// other, and cases of one group are not. nil: every case is independent.
	Groups []int
	// Ratio is the number of held-out cases, of all folds of a repeat, divided by the number of
	// cases that a fold trains on: k/(k-1) for k folds.
	Ratio float64
	Seed  uint64 // seed of the random draws
}

// Every procedure has its own stream of random numbers.
const (
	forSkill uint64 = iota + 1
	forSet
	forCorrected
	forBlocks
	forSlices
)

// level is the error probability of every statement on contenders.
const level = 0.05

// units has the independent units: cases, or groups of them.
type units struct {
	of   []int // the unit of every row, over all folds
	fold []int // the first fold that holds out the unit, for every unit
	rows int   // most rows of a case
}

func (c Contenders) units() (u units) {
	place, times := map[int]int{}, map[int]int{}
	for k, part := range c.Parts[0] {
		for _, i := range part.Cases {
			times[i]++
			u.rows = max(u.rows, times[i])
			if c.Groups != nil {
				i = c.Groups[i]
			}
			at, met := place[i]
			if !met {
				at = len(u.fold)
				place[i] = at
				u.fold = append(u.fold, k)
			}
			u.of = append(u.of, at)
		}
	}
	return u
}

// strata returns the units of each fold. If a fold has a single unit, it returns all units as one
// stratum.
func (u units) strata() (out [][]int) {
	for i, k := range u.fold {
		for k >= len(out) {
			out = append(out, nil)
		}
		out[k] = append(out[k], i)
	}
	out = slices.DeleteFunc(out, func(s []int) bool { return len(s) == 0 })
	if slices.ContainsFunc(out, func(s []int) bool { return len(s) == 1 }) {
		return [][]int{slices.Concat(out...)}
	}
	return out
}

// mostBlocks is the number of blocks of units for scores that are no means.
const mostBlocks = 50

// contributions has a column for every model. Its n entries have the score of the model as their
// mean, with the sign for which greater is better, and are nearly independent. For a score that is
// the mean of values per row, each of the n units has the entry
//
//	mean + (n/m) Σ_{i in unit} w_i (v_i - mean)
//
// with m the sum of the weights w_i. If all units have equally many rows, this is the mean of v
// over the rows of the unit. Infinite values are replaced by a finite one, so that the mean is the
// score. Another score T has jackknife pseudo-values n T - (n - 1) T₋ᵢ of up to 50 blocks of units
// (Efron & Tibshirani 1993, An Introduction to the Bootstrap, 11.5). strata lists the entries of
// every stratum. ok is false if the score is not defined.
func (c Contenders) contributions(s Score) (table *mat.Dense, strata [][]int, ok bool) {
	u := c.units()
	n, of := len(u.fold), u.of
	strata = u.strata()
	blocks := s.Each == nil
	if blocks {
		of, n = c.blocks(u)
		strata = [][]int{make([]int, n)}
		for i := range n {
			strata[0][i] = i
		}
	}
	table = mat.NewDense(n, len(c.Parts), nil)
	for k, parts := range c.Parts {
		p := Pool(parts...)
		column, ok := s.spread(p, of, n)
		if blocks {
			column, ok = s.pseudo(p, of, n)
		}
		if !ok {
			return nil, nil, false
		}
		if !s.Greater {
			floats.Scale(-1, column)
		}
		table.SetCol(k, column)
	}
	return table, strata, true
}

// spread has the contributions of units to a mean of values per row.
func (s Score) spread(p Predictions, of []int, n int) ([]float64, bool) {
	e, ok, err := s.Of(p)
	v := s.each(p)
	if !ok || err != nil || v == nil {
		return nil, false
	}
	m, bounded, sum := 0.0, 0.0, 0.0
	for i, x := range v {
		switch w := p.weight(i); {
		case math.IsInf(x, 0):
			bounded += w
			m += w
		case !math.IsNaN(x):
			sum += w * x
			m += w
		}
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = e.Value
	}
	for i, x := range v {
		switch {
		case math.IsNaN(x):
			continue
		case math.IsInf(x, 0):
			x = (m*e.Value - sum) / bounded
		}
		out[of[i]] += float64(n) / m * p.weight(i) * (x - e.Value)
	}
	return out, true
}

// blocks divides the units of every fold among blocks, at random; of has the block of every row.
func (c Contenders) blocks(u units) (of []int, n int) {
	rng := rand.New(rand.NewPCG(c.Seed, forBlocks))
	n = min(mostBlocks, len(u.fold))
	block, next := make([]int, len(u.fold)), 0
	for _, stratum := range u.strata() {
		for _, i := range rng.Perm(len(stratum)) {
			block[stratum[i]] = next % n
			next++
		}
	}
	for _, unit := range u.of {
		of = append(of, block[unit])
	}
	return of, n
}

// pseudo has the pseudo-values of blocks.
func (s Score) pseudo(p Predictions, of []int, n int) ([]float64, bool) {
	all, ok, err := s.Of(p)
	if !ok || err != nil || n < 2 {
		return nil, false
	}
	out := make([]float64, n)
	for b := range out {
		var rest []int
		for i := range of {
			if of[i] != b {
				rest = append(rest, i)
			}
		}
		e, ok, err := s.Of(p.rows(rest))
		if !ok || err != nil {
			return nil, false
		}
		out[b] = float64(n)*all.Value - float64(n-1)*e.Value
	}
	floats.AddConst(all.Value-stat.Mean(out, nil), out) // without the bias of the jackknife
	return out, true
}

// rows are some of the rows.
func (p Predictions) rows(of []int) (out Predictions) {
	pick := func(v []float64) (out []float64) {
		if v != nil {
			for _, i := range of {
				out = append(out, v[i])
			}
		}
		return out
	}
	out = Predictions{Ordered: p.Ordered, Weight: pick(p.Weight), Base: pick(p.Base), Confidence: pick(p.Confidence),
		Threshold: pick(p.Threshold), Targets: pick(p.Targets), Mean: pick(p.Mean), Variance: pick(p.Variance)}
	if !p.Numeric() {
		out.Proba = mat.NewDense(len(of), p.Proba.RawMatrix().Cols, nil)
	}
	for row, i := range of {
		out.Cases = append(out.Cases, p.Cases[i])
		if p.Groups != nil {
			out.Groups = append(out.Groups, p.Groups[i])
		}
		if p.Sets != nil {
			out.Sets = append(out.Sets, p.Sets[i])
		}
		if !p.Numeric() {
			out.Labels = append(out.Labels, p.Labels[i])
			out.Proba.SetRow(row, p.Proba.RawRowView(i))
		}
	}
	return out
}

// drawn multiplies random rows with a matrix: use gets w'a for every row w that fill writes, one
// after the other. Up to 64 rows, with up to 4 million entries, are multiplied at a time.
func drawn(draws int, a *mat.Dense, fill func(w []float64), use func(w, product []float64)) {
	n, m := a.Dims()
	together := max(1, min(64, 4_000_000/n))
	w, product := mat.NewDense(together, n, nil), mat.NewDense(together, m, nil)
	for done := 0; done < draws; done += together {
		for b := range together {
			fill(w.RawRowView(b))
		}
		product.Mul(w, a)
		for b := range min(together, draws-done) {
			use(w.RawRowView(b), product.RawRowView(b))
		}
	}
}
