package inducing

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Centres move to the means of their cases, in length scales about the mean of all; one without
// cases stays.
func TestCentresMove(t *testing.T) {
	x := &kernel.Inputs{X: mat.NewDense(4, 2, []float64{0, 0, 2, 4, 10, 8, 12, 4})} // mean 6, 4
	c := newClusters(x, []float64{2, 4})
	want := []float64{-3, -1, -2, 0, 2, 1, 3, 0}
	if !slices.Equal(c.x.Data, want) || !slices.Equal(c.of, []int{-1, -1, -1, -1}) {
		t.Fatalf("%v, %v", c.x.Data, c.of)
	}
	c.seed(3, rand.New(rand.NewPCG(1, 2)))
	if c.centres.Rows != 3 || c.centres.Cols != 2 {
		t.Fatalf("%+v", c.centres)
	}
	unmoved := slices.Clone(row(c.centres, 1))
	copy(row(c.centres, 2), []float64{7, 7})
	copy(c.of, []int{0, 0, 2, 0})
	c.move()
	for k, want := range [][]float64{{-2. / 3, -1. / 3}, unmoved, {2, 1}} {
		for j, v := range row(c.centres, k) {
			if math.Abs(v-want[j]) > 1e-15 {
				t.Errorf("centre %d: %v, want %v", k, row(c.centres, k), want)
			}
		}
	}
}

// The centres that are drawn are different cases, and a far case is drawn more often than a near
// one, by its squared distance.
func TestSeedsAreFarApart(t *testing.T) {
	x := &kernel.Inputs{X: mat.NewDense(3, 1, []float64{0, 1, 3})}
	counts := map[[2]float64]int{}
	const draws = 9000
	for seed := range uint64(draws) {
		c := newClusters(x, []float64{1})
		c.seed(2, rand.New(rand.NewPCG(seed, 3)))
		a, b := c.centres.Data[0]+c.mean[0], c.centres.Data[1]+c.mean[0]
		counts[[2]float64{math.Round(a), math.Round(b)}]++
	}
	// the first uniformly; then from 0: 1 and 9, from 1: 1 and 4, from 3: 9 and 4
	for pair, p := range map[[2]float64]float64{{0, 1}: 1. / 30, {0, 3}: 9. / 30, {1, 0}: 1. / 15, {1, 3}: 4. / 15, {3, 0}: 9. / 39, {3, 1}: 4. / 39} {
		if got := float64(counts[pair]) / draws; math.Abs(got-p) > 4*math.Sqrt(p*(1-p)/draws) {
			t.Errorf("%v: %v, want %v", pair, got, p)
		}
	}
	c := newClusters(&kernel.Inputs{X: mat.NewDense(3, 1, []float64{2, 2, 5})}, []float64{1})
	if c.seed(3, rand.New(rand.NewPCG(1, 1))); c.centres.Rows != 2 {
		t.Errorf("%d centres of two different cases", c.centres.Rows)
	}
}

// Cases 0 and 1 are nearest to the first centre, 2 to the second. Once each has its centre, none
// changes.
func TestCasesFindTheirCentres(t *testing.T) {
	c := newClusters(&kernel.Inputs{X: mat.NewDense(3, 1, []float64{-3, -2, 5})}, []float64{1})
	c.centres = blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{-2, 4}}
	if !c.assign() || !slices.Equal(c.of, []int{0, 0, 1}) {
		t.Errorf("%v", c.of)
	}
	if c.assign() {
		t.Error("a second time some have changed")
	}
}

// The nearest centre is the first of equals.
func TestLeast(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		want int
	}{{[]float64{1, 2, 3}, []float64{0, 0, 0}, 0}, {[]float64{1, 2, 3}, []float64{0, 2, 2}, 1}, {[]float64{1, 2, 3}, []float64{0, 1, 3}, 2}, {[]float64{1, 1}, []float64{0, 0}, 0}} {
		if got := least(c.a, c.b); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
