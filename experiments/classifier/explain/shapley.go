package explain

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/internal/random"
)

// MostExact is the largest number of inputs whose Shapley values are exact.
const MostExact = 10

// Walks is the number of orders of the inputs for each background case in which Shapley values are
// sampled: random ones and their reverses.
const Walks = 8

// Attribution divides the difference between the prediction of a case, Value, and the mean over the
// background cases, Base, among the inputs: the Shapley values, one for each, sum to it. Error has
// their standard errors if they are sampled.
type Attribution struct {
	Base, Value float64
	Shapley     []float64
	Error       []float64
}

// Shapley computes the interventional Shapley values of a case (Štrumbelj & Kononenko 2014, Knowl.
// Inf. Syst. 41, Eq. 3; Janzing, Minorics & Blöbaum 2020, AISTATS): with v(S) the mean prediction
// over the background cases with the inputs S of the case,
//
//	φ_i = Σ_{S ∌ i} |S|! (g - |S| - 1)!/g! (v(S ∪ i) - v(S))   of g inputs.
//
// Up to MostExact inputs all 2^g means are computed. Beyond that the mean is over random orders of
// the inputs and their reverses, as often for each background case. In both cases the values sum to
// Value - Base, up to rounding. predict returns a number for each row.
func Shapley(row []float64, background *mat.Dense, inputs []Input, predict func(*mat.Dense) ([]float64, error),
	seed uint64) (Attribution, error) {
	n, d := background.Dims()
	if len(row) != d || len(inputs) == 0 {
		panic(fmt.Sprintf("explain: a case of %d inputs in %d groups, background of %d", len(row), len(inputs), d))
	}
	p := &coalitions{row: row, background: background, inputs: inputs, predict: predict}
	if g := len(inputs); g <= MostExact {
		return p.exact(1 << g)
	}
	return p.sampled(n, seed)
}

// coalitions predicts mixtures of a case and of background cases.
type coalitions struct {
	row        []float64
	background *mat.Dense
	inputs     []Input
	predict    func(*mat.Dense) ([]float64, error)
}

// take sets the columns of an input in dst to their values in the case.
func (p *coalitions) take(dst []float64, input int) {
	for _, j := range p.inputs[input].Columns {
		dst[j] = p.row[j]
	}
}

// part is the number of rows that are predicted at a time.
const part = 8192

func (p *coalitions) exact(subsets int) (a Attribution, err error) {
	n, d := p.background.Dims()
	g := len(p.inputs)
	value := make([]float64, subsets)
	perPart := max(1, part/n)
	for first := 0; first < subsets; first += perPart {
		last := min(first+perPart, subsets)
		x := mat.NewDense((last-first)*n, d, nil)
		for s := first; s < last; s++ {
			for b := range n {
				at := x.RawRowView((s-first)*n + b)
				copy(at, p.background.RawRowView(b))
				for i := range g {
					if s>>i&1 == 1 {
						p.take(at, i)
					}
				}
			}
		}
		v, err := p.predict(x)
		if err != nil {
			return a, err
		}
		for s := first; s < last; s++ {
			value[s] = stat.Mean(v[(s-first)*n:(s-first+1)*n], nil)
		}
	}
	a = Attribution{Base: value[0], Value: value[subsets-1], Shapley: make([]float64, g)}
	weight := make([]float64, g) // |S|! (g - |S| - 1)!/g! = 1/(g C(g-1, |S|))
	choose := 1.0
	for size := range g {
		weight[size] = 1 / (float64(g) * choose)
		choose *= float64(g-1-size) / float64(size+1)
	}
	for s := range subsets {
		for i := range g {
			if s>>i&1 == 0 {
				a.Shapley[i] += weight[bits.OnesCount(uint(s))] * (value[s|1<<i] - value[s])
			}
		}
	}
	return a, nil
}

func (p *coalitions) sampled(n int, seed uint64) (a Attribution, err error) {
	_, d := p.background.Dims()
	g := len(p.inputs)
	squared := make([]float64, g) // squared errors of the sums over the background cases
	rng := rand.New(rand.NewPCG(random.Derive(seed, "shapley"), 0))
	a = Attribution{Shapley: make([]float64, g)}
	for b := range n {
		x := mat.NewDense(Walks*(g+1), d, nil)
		orders := make([][]int, 0, Walks)
		for range Walks / 2 {
			forwards := rng.Perm(g)
			backwards := slices.Clone(forwards)
			slices.Reverse(backwards)
			orders = append(orders, forwards, backwards)
		}
		for w, order := range orders {
			for step := range g + 1 {
				at := x.RawRowView(w*(g+1) + step)
				copy(at, p.background.RawRowView(b))
				for _, i := range order[:step] {
					p.take(at, i)
				}
			}
		}
		v, err := p.predict(x)
		if err != nil {
			return a, err
		}
		a.Base += v[0] / float64(n)
		a.Value = v[g]
		pairs := make([][]float64, g) // pairs[i] has the means of a walk and its reverse
		for w := 0; w < len(orders); w += 2 {
			moved := make([]float64, g)
			for side, order := range orders[w : w+2] {
				from := (w + side) * (g + 1)
				for step, i := range order {
					moved[i] += (v[from+step+1] - v[from+step]) / 2
				}
			}
			for i, m := range moved {
				pairs[i] = append(pairs[i], m)
				a.Shapley[i] += m / float64(n*Walks/2)
			}
		}
		for i, moved := range pairs {
			squared[i] += stat.Variance(moved, nil) / (Walks / 2)
		}
	}
	for _, v := range squared {
		a.Error = append(a.Error, math.Sqrt(v)/float64(n))
	}
	return a, nil
}
