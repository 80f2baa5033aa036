package sets

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// Constants of generated sets.
const (
	drawn            = "none needed: drawn by gpc-tune"
	gpmlCitation     = "C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning, 2006, chapter 3"
	sinusoidCitation = "C. M. Bishop, Pattern Recognition and Machine Learning, 2006, section 6.4, which has " +
		"examples of this kind"
)

// file is the training or the test file in the format of a user's file: inputs and labels with 4
// decimals, which are the same on every machine, and the truth with 6 digits.
func (t *toy) file(test bool) string {
	cases, tests := t.draw(rand.New(rand.NewPCG(1, 0)))
	if test {
		cases = tests
	}
	names := cells.Positional(len(cases[0].x))
	var b strings.Builder
	b.WriteString(strings.Join(slices.Concat(names, t.truth, []string{"label"}), ",") + "\n")
	decimals := func(v float64) string { return strconv.FormatFloat(math.Round(v*1e4)/1e4, 'f', -1, 64) }
	for _, c := range cases {
		for _, v := range c.x {
			b.WriteString(decimals(v) + ",")
		}
		for _, v := range c.truth {
			b.WriteString(strconv.FormatFloat(v, 'g', 6, 64) + ",")
		}
		b.WriteString(decimals(c.label) + "\n")
	}
	return b.String()
}

// onSquare generates n cases of each of two classes over [lo, hi]²; the test cases are a lattice
// there. at is the probability of class 1.
func onSquare(lo, hi float64, n int, at func(x []float64) []float64) *toy {
	return &toy{[]string{"true_p"}, at, func(r *rand.Rand) (train, test []toyExample) {
		train = balanced(n, func() toyExample {
			return twoClass(r, at, (hi-lo)*r.Float64()+lo, (hi-lo)*r.Float64()+lo)
		})
		square(lo, hi, 21, func(x1, x2 float64) { test = append(test, twoClass(r, at, x1, x2)) })
		return train, test
	}}
}

// twoClass is a case of class 1 with the probability at(x), else of class -1.
func twoClass(r *rand.Rand, at func(x []float64) []float64, x ...float64) toyExample {
	c := toyExample{x, at(x), -1}
	if r.Float64() < c.truth[0] {
		c.label = 1
	}
	return c
}

// sine is the mean of the noisy cases, sin 2πx1.
func sine(x []float64) []float64 { return []float64{math.Sin(2 * math.Pi * x[0])} }

// noisy is a case whose label is sine with noise of standard deviation 0.1.
func noisy(r *rand.Rand, x ...float64) toyExample {
	mean := sine(x)
	return toyExample{x, mean, mean[0] + 0.1*r.NormFloat64()}
}

// square visits a lattice of points × points over [lo, hi]².
func square(lo, hi float64, points int, visit func(x1, x2 float64)) {
	at := func(i int) float64 { return lo + (hi-lo)*float64(i)/float64(points-1) }
	for i := range points {
		for j := range points {
			visit(at(i), at(j))
		}
	}
}

func logistic(f float64) float64 { return 1 / (1 + math.Exp(-f)) }

// balanced returns the first n cases of class -1 and the first n of class 1.
func balanced(n int, next func() toyExample) (cases []toyExample) {
	left := map[float64]int{-1: n, 1: n}
	for len(cases) < 2*n {
		if c := next(); left[c.label] > 0 {
			left[c.label]--
			cases = append(cases, c)
		}
	}
	return cases
}
