package cv

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Slice compares the cases with one value of a categorical input, its level, with all other cases
// that have a level of the input.
type Slice struct {
	Input, Level int
	Units        int     // number of independent cases of the slice, or of groups
	Mean, Rest   float64 // mean of v in the slice, and over all other cases
	// Difference is Mean - Rest. All its intervals together contain all true differences with 95 %.
	Difference Estimate
}

// LeastSliced is the least number of independent cases of a slice, and of the rest. Means of fewer
// are left out.
const LeastSliced = 10

// slicePermutations is the number of permutations behind the intervals of Slices.
const slicePermutations = 999

// Slices compares the mean of v, a loss of every row for example, between the slices of categorical
// inputs. levels[k][i] is the level of row i of input k; -1: none. Rows with the same unit are not
// independent. weight is the weight of each row; nil: 1 each.
//
// The intervals are difference ± c s. Here s² is the sum of the variances of both means over units,
//
//	G/(G-1) Σ_g (Σ_{i in g} w_i (v_i - mean))² / (Σ w_i)²,
//
// and c is the 95 % quantile, over permutations of the units, of the largest |difference|/s of all
// slices (Westfall & Young 1993, Resampling-Based Multiple Testing, 2.6). If no input has to do
// with v, an interval excludes 0 in 5 % of samples, whatever the distribution of v.
func Slices(v []float64, units []int, weight []float64, levels [][]int, seed uint64) (out []Slice) {
	var all []sliced
	for k, of := range levels {
		s := newSliced(v, units, weight, of)
		sides := s.sides(s.level)
		for level, one := range sides {
			rest := s.all.less(one)
			if one.n < LeastSliced || rest.n < LeastSliced {
				continue
			}
			s.tested = append(s.tested, level)
			e := Slice{Input: k, Level: level, Units: int(one.n), Mean: one.mean(), Rest: rest.mean()}
			e.Difference = Estimate{Value: e.Mean - e.Rest, Lo: math.Sqrt(one.variance() + rest.variance())}
			out = append(out, e)
		}
		all = append(all, s)
	}
	largest := make([]float64, slicePermutations)
	for b := range largest {
		for _, s := range all {
			// The same cases change places for every input.
			rng := rand.New(rand.NewPCG(seed, forSlices+uint64(b)<<8))
			moved := slices.Clone(s.level)
			rng.Shuffle(len(moved), func(i, j int) { moved[i], moved[j] = moved[j], moved[i] })
			sides := s.sides(moved)
			for _, l := range s.tested {
				rest := s.all.less(sides[l])
				if err := math.Sqrt(sides[l].variance() + rest.variance()); err > 0 {
					largest[b] = max(largest[b], math.Abs(sides[l].mean()-rest.mean())/err)
				}
			}
		}
	}
	slices.Sort(largest)
	c := largest[int(math.Ceil((1-level)*(slicePermutations+1)))-1]
	for i := range out {
		d := &out[i].Difference
		half := c * d.Lo
		d.Lo, d.Hi = d.Value-half, d.Value+half
	}
	return out
}

// sliced has the rows of an input, summed over rows with the same unit and level.
type sliced struct {
	sum, weight []float64 // Σ w v and Σ w
	level       []int
	levels      int // number of levels
	all         side
	tested      []int // the levels that are compared
}

func newSliced(v []float64, units []int, weight []float64, levels []int) (s sliced) {
	at := map[[2]int]int{}
	for i, l := range levels {
		if l < 0 {
			continue
		}
		k, met := at[[2]int{units[i], l}]
		if !met {
			k = len(s.level)
			at[[2]int{units[i], l}] = k
			s.sum, s.weight, s.level = append(s.sum, 0), append(s.weight, 0), append(s.level, l)
			s.levels = max(s.levels, l+1)
		}
		w := weighed(weight, i)
		s.sum[k] += w * v[i]
		s.weight[k] += w
	}
	for _, of := range s.sides(s.level) {
		s.all = s.all.less(of.times(-1))
	}
	return s
}

// sides sums the units of each level.
func (s sliced) sides(level []int) []side {
	out := make([]side, s.levels)
	for i, v := range s.sum {
		w, of := s.weight[i], &out[level[i]]
		of.n++
		of.sum += v
		of.weight += w
		of.vv += v * v
		of.vw += v * w
		of.ww += w * w
	}
	return out
}

// side has the moments of the sums S and the weights W of n units.
type side struct{ n, sum, weight, vv, vw, ww float64 }

func (s side) times(f float64) side {
	return side{f * s.n, f * s.sum, f * s.weight, f * s.vv, f * s.vw, f * s.ww}
}

func (s side) less(o side) side {
	return side{s.n - o.n, s.sum - o.sum, s.weight - o.weight, s.vv - o.vv, s.vw - o.vw, s.ww - o.ww}
}

func (s side) mean() float64 { return s.sum / s.weight }

// variance is the variance of the mean, n/(n-1) Σ (S - W mean)²/(Σ W)².
func (s side) variance() float64 {
	m := s.mean()
	return s.n / (s.n - 1) * max(0, s.vv-2*m*s.vw+m*m*s.ww) / (s.weight * s.weight)
}
