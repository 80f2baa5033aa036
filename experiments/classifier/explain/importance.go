// Package explain describes how a fitted classifier uses its inputs: how much each input is
// worth (permutation importance), how predictions change with it (partial dependence and
// accumulated local effects), and what moved the prediction of one case (Shapley values). It fits
// nothing, reads no files, and knows models only by their predictions.
package explain

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gpc-tune/gpc-tune/internal/random"
	"github.com/gpc-tune/gpc-tune/record"
)

// Input is a column of the user's file, with its columns of the input matrix. A number has one
// column, a category one for each level, a date one for each part.
type Input struct {
	Name    string
	Columns []int
}

// Inputs groups the columns of the input matrix by their column of the file, given for each.
func Inputs(from []string) (all []Input) {
	at := map[string]int{}
	for j, name := range from {
		k, is := at[name]
		if !is {
			k = len(all)
			at[name], all = k, append(all, Input{Name: name})
		}
		all[k].Columns = append(all[k].Columns, j)
	}
	return all
}

// Importance is the permutation importance of an input.
type Importance = record.Importance

// LeastRepeats is the least number of permutations for Importances.
const LeastRepeats = 2

// Importances returns the importance of each input, for n ≥ 3 cases with inputs x, n×d. bits
// returns log₂ p(y_i|x_i) of the n cases for other inputs of them. The inputs are permuted the
// given number of times, each time along one random cycle of all cases, so that no case keeps its
// own values. Intervals count the cases of a unit once. units has the unit of every case; nil: each
// case is one.
func Importances(x *mat.Dense, units []int, inputs []Input, bits func(x *mat.Dense) ([]float64, error), repeats int,
	seed uint64) ([]Importance, error) {
	n, _ := x.Dims()
	if n < 3 || repeats < LeastRepeats {
		panic(fmt.Sprintf("explain: importance from %d cases and %d permutations", n, repeats))
	}
	own, err := bits(x)
	if err != nil {
		return nil, err
	}
	var out []Importance
	for _, input := range inputs {
		p := &permuted{own: own, units: units}
		for r := range repeats {
			donor := cycle(n, random.Derive(seed, "importance", input.Name, fmt.Sprint(r)))
			swapped := mat.DenseCopyOf(x)
			for i, from := range donor {
				for _, j := range input.Columns {
					swapped.Set(i, j, x.At(from, j))
				}
			}
			lent, err := bits(swapped)
			if err != nil {
				return nil, err
			}
			p.donors, p.lent = append(p.donors, donor), append(p.lent, lent)
		}
		out = append(out, p.importance(input.Name))
	}
	return out, nil
}

// cycle is a random permutation of 0 … n-1 that consists of one cycle (Sattolo 1986).
func cycle(n int, seed uint64) []int {
	rng := rand.New(rand.NewPCG(seed, 0))
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j := rng.IntN(i)
		p[i], p[j] = p[j], p[i]
	}
	return p
}

// permuted has the scores of n cases in R permutations of an input, in bits.
type permuted struct {
	units  []int       // units[i] is the independent unit of case i; nil: every case is one
	own    []float64   // own[i] is the score of case i with its own values
	donors [][]int     // donors[r][i] is the case whose values case i has in permutation r
	lent   [][]float64 // lent[r][i] is the score of case i with these values
}

// importance estimates a U-statistic of pairs of cases, mean h(i, j) with h(i, j) = ℓ_i(x_i) -
// ℓ_i(x_j), from R of the n - 1 donors j of each case i. Its variance comes from the projections on
// single cases (Hoeffding 1948, Ann. Math. Statist. 19, 293): u_i = ℓ_i(x_i) - mean_j ℓ_i(x_j) -
// mean_j [ℓ_j(x_i) - mean_k ℓ_j(x_k)]. With R donors both means are noisy. Let W be the variance of
// ℓ_i(x_j) over donors, and V the variance of the donors' mean effects. The noise adds W/R + (W -
// V)/R to the variance of u. The choice of permutations adds (W - V)/(nR) to the variance of the
// estimate. So the variance of the estimate is (Var u - W/R)/n. If cases of the same unit depend on
// each other, Var u / n is replaced by G/(G-1) Σ_g (Σ_{i in g} (u_i - mean u))² / n² for G units.
func (p *permuted) importance(name string) Importance {
	n, repeats := len(p.own), float64(len(p.lent))
	row, within := make([]float64, n), 0.0
	scores := make([]float64, len(p.lent))
	for i := range n {
		for r, lent := range p.lent {
			scores[r] = lent[i] - p.own[i] // exactly 0 for an input that the model ignores
		}
		mean, variance := stat.MeanVariance(scores, nil)
		row[i] = mean
		within += variance / float64(n)
	}
	column := make([]float64, n)
	for r, donor := range p.donors {
		for i, from := range donor {
			column[from] += (p.lent[r][i] - p.own[i] - row[i]) / repeats
		}
	}
	u := make([]float64, n)
	for i := range u {
		u[i] = -row[i] - column[i]
	}
	bits, variance := stat.MeanVariance(u, nil)
	independent := n
	if p.units != nil {
		sums := map[int]float64{}
		for i, g := range p.units {
			sums[g] += u[i] - bits
		}
		independent, variance = len(sums), 0
		for _, g := range slices.Sorted(maps.Keys(sums)) { // a fixed order makes sums the same each time
			variance += sums[g] * sums[g]
		}
		variance *= float64(independent) / float64(independent-1) / float64(n)
	}
	error2 := max(0, variance-within/repeats) / float64(n)
	between := max(0, (stat.Variance(column, nil)-within/repeats)/(1-1/repeats))
	planted := max(0, within-between) / float64(n) * (1 + 1/repeats)
	half := distuv.StudentsT{Sigma: 1, Nu: float64(independent - 1)}.Quantile(0.975) * math.Sqrt(error2)
	return Importance{Input: name, Bits: record.Number(bits), Lo: record.Number(bits - half),
		Hi: record.Number(bits + half), Noise: record.Number(distuv.UnitNormal.Quantile(0.95) * math.Sqrt(planted))}
}
