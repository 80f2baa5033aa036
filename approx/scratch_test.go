package approx

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

func TestScratch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	n, C := 60, 3
	x := make([][2]float64, n)
	y := make([]int, n)
	for i := range x {
		x[i] = [2]float64{rng.NormFloat64(), rng.NormFloat64()}
		s := x[i][0] + 0.4*rng.NormFloat64()
		y[i] = 0
		if s > -0.4 {
			y[i] = 1
		}
		if s > 0.5 {
			y[i] = 2
		}
	}
	for _, ll := range []float64{-3, 0, 2, 5, 10, 15} {
		for _, ls := range []float64{-10, 0, 2, 4, 6, 8, 10, 12, 15} {
			k := mat.NewSymDense(n, nil)
			for i := range n {
				for j := i; j < n; j++ {
					d := math.Pow(x[i][0]-x[j][0], 2) + math.Pow(x[i][1]-x[j][1], 2)
					k.SetSym(i, j, math.Exp(2*ls-d/2*math.Exp(-2*ll)))
				}
			}
			p, err := newMulticlass(Laplace{}, []Cov{{K: k}}, Targets{Classes: C, Index: y}, likelihood.Softmax{})
			if err != nil {
				t.Fatal(err)
			}
			at, length, it, err := seek(context.Background(), p, nil, 1000)
			if err != nil {
				fmt.Println(ll, ls, err)
				continue
			}
			v := at.psi - linalg.LogDet(p.m)
			for _, u := range p.u {
				v -= linalg.LogDet(u)
			}
			tg, rd := p.precision(at)
			fmt.Printf("%v %v: %.12g len %.3g target %.3g rounding %.3g it %d\n", ll, ls, v, length, tg, rd, it)
		}
	}
}
