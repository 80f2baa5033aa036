//go:build linux

package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Every function of BBOB is 0 at its best point, and larger at random points of the box. Rosenbrock's rotated function
// and Griewank's have z = 1 there, R wide x + ½ = 1; the best points of the peaks are unknown here.
func TestBBOB(t *testing.T) {
	for _, d := range []int{2, 5} {
		for k, f := range bbobFunctions {
			rng := rand.New(rand.NewPCG(3, uint64(k)))
			b := &bbobInstance{Rand: rng, d: d, best: make([]float64, d), q: rotation(rng, d), r: rotation(rng, d)}
			for i := range b.best {
				b.best[i] = -4 + 8*rng.Float64()
			}
			value := f.of(b)
			best, known := b.best, true
			switch k + 1 {
			case 9, 19:
				half := mat.NewVecDense(d, nil)
				for i := range d {
					half.SetVec(i, 0.5/b.wide())
				}
				half.MulVec(b.r.T(), half)
				best = half.RawVector().Data
			case 21, 22:
				known = false
			}
			if got := value(best); known && !(math.Abs(got) < 1e-9) {
				t.Errorf("f%d %s in %d dimensions is %v at its best point", k+1, f.name, d, got)
			}
			for range 20 {
				x := make([]float64, d)
				for i := range x {
					x[i] = -5 + 10*rng.Float64()
				}
				if got := value(x); !(got > 0) || math.IsInf(got, 0) {
					t.Errorf("f%d %s is %v at %v", k+1, f.name, got, x)
				}
			}
		}
	}
}
