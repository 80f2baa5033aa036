package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// tutorial is the algorithm of Hansen's tutorial (arXiv:1604.00772, figure 6 and table 1). It uses
// whole matrices and no eigenvectors, unlike evolution.
type tutorial struct {
	n, mueff, cs, ds, cc, c1, cmu, chi, sigma, g float64
	w                                            []float64
	m, ps, pc                                    *mat.VecDense
	c                                            *mat.Dense
}

func newTutorial(n, population int) *tutorial {
	t := &tutorial{n: float64(n), sigma: 2. / 3, m: mat.NewVecDense(n, nil), ps: mat.NewVecDense(n, nil), pc: mat.NewVecDense(n, nil)}
	lambda := float64(population)
	var plus, minus, plusSquares, minusSquares float64
	for i := 1; i <= population; i++ {
		w := math.Log((lambda+1)/2) - math.Log(float64(i))
		t.w = append(t.w, w)
		if i <= population/2 {
			plus, plusSquares = plus+w, plusSquares+w*w
		} else {
			minus, minusSquares = minus-w, minusSquares+w*w
		}
	}
	t.mueff = plus * plus / plusSquares
	t.cs = (t.mueff + 2) / (t.n + t.mueff + 5)
	t.ds = 1 + t.cs
	if excess := math.Sqrt((t.mueff-1)/(t.n+1)) - 1; excess > 0 {
		t.ds += 2 * excess
	}
	t.cc = (4 + t.mueff/t.n) / (t.n + 4 + 2*t.mueff/t.n)
	t.c1 = 2 / (math.Pow(t.n+1.3, 2) + t.mueff)
	t.cmu = math.Min(1-t.c1, 2*(1.0/4+t.mueff+1/t.mueff-2)/(math.Pow(t.n+2, 2)+2*t.mueff/2))
	// (49)-(53)
	alpha := math.Min(1+t.c1/t.cmu, math.Min(1+2*(minus*minus/minusSquares)/(t.mueff+2), (1-t.c1-t.cmu)/(t.n*t.cmu)))
	for i, w := range t.w {
		if w >= 0 {
			t.w[i] = w / plus
		} else {
			t.w[i] = alpha * w / minus
		}
	}
	t.chi = math.Sqrt(t.n) * (1 - 1/(4*t.n) + 1/(21*t.n*t.n))
	t.c = mat.NewDense(n, n, nil)
	for j := range n {
		t.c.Set(j, j, 1)
	}
	return t
}

// learn updates the distribution from a generation, which is sorted from best to worst.
func (t *tutorial) learn(generation [][]float64) {
	n := int(t.n)
	var precision mat.Dense
	if precision.Inverse(t.c) != nil {
		panic("singular")
	}
	all := 0.0
	y := mat.NewVecDense(n, nil)
	rankMu := mat.NewDense(n, n, nil)
	for i, x := range generation {
		var yi mat.VecDense
		yi.SubVec(mat.NewVecDense(n, slices.Clone(x)), t.m)
		yi.ScaleVec(1/t.sigma, &yi)
		w := t.w[i]
		all += w
		if w >= 0 {
			y.AddScaledVec(y, w, &yi)
		} else { // (46)
			w *= t.n / mat.Inner(&yi, &precision, &yi)
		}
		var outer mat.Dense
		outer.Outer(w, &yi, &yi)
		rankMu.Add(rankMu, &outer)
	}
	t.m.AddScaledVec(t.m, t.sigma, y)
	// C^(-1/2) by the iteration of Denman and Beavers, a Newton iteration for the square root of a
	// matrix and its inverse.
	root, inverse := mat.DenseCopyOf(t.c), mat.NewDense(n, n, nil)
	for j := range n {
		inverse.Set(j, j, 1)
	}
	for range 30 {
		var a, b mat.Dense
		if a.Inverse(inverse) != nil || b.Inverse(root) != nil {
			panic("singular")
		}
		root.Add(root, &a)
		root.Scale(0.5, root)
		inverse.Add(inverse, &b)
		inverse.Scale(0.5, inverse)
	}
	var white mat.VecDense
	white.MulVec(inverse, y)
	t.ps.ScaleVec(1-t.cs, t.ps)
	t.ps.AddScaledVec(t.ps, math.Sqrt(t.cs*(2-t.cs)*t.mueff), &white)
	t.g++
	h := 0.0
	if mat.Norm(t.ps, 2)/math.Sqrt(1-math.Pow(1-t.cs, 2*t.g)) < (1.4+2/(t.n+1))*t.chi {
		h = 1
	}
	t.pc.ScaleVec(1-t.cc, t.pc)
	t.pc.AddScaledVec(t.pc, h*math.Sqrt(t.cc*(2-t.cc)*t.mueff), y)
	var rankOne mat.Dense
	rankOne.Outer(t.c1, t.pc, t.pc)
	rankMu.Scale(t.cmu, rankMu)
	t.c.Scale(1+t.c1*(1-h)*t.cc*(2-t.cc)-t.c1-t.cmu*all, t.c)
	t.c.Add(t.c, &rankOne)
	t.c.Add(t.c, rankMu)
	t.sigma *= math.Exp(t.cs / t.ds * (mat.Norm(t.ps, 2)/t.chi - 1))
}

// TestEvolutionIsTheTutorials: over twenty generations mean, covariance and step size follow the
// tutorial's formulas. The objective first grows outwards, so that the path gets long and p_c is
// held back, and is a bowl afterwards.
func TestEvolutionIsTheTutorials(t *testing.T) {
	for _, c := range []struct{ n, population int }{{1, 4}, {2, 6}, {3, 7}, {5, 30}} {
		e, want := newEvolution(c.n, c.population), newTutorial(c.n, c.population)
		rng := rand.New(rand.NewPCG(uint64(c.n), 1))
		held := 0
		for g := range 20 {
			generation := e.sample(rng)
			if len(generation) != c.population {
				t.Fatalf("%d members, want %d", len(generation), c.population)
			}
			values := make([]float64, c.population)
			for i, x := range generation {
				for j, v := range x {
					if g < 8 {
						values[i] += v * float64(j+1)
					} else {
						values[i] -= float64(j+1) * (v - 1) * (v - 1)
					}
				}
			}
			order := make([]int, c.population)
			for i := range order {
				order[i] = i
			}
			slices.SortFunc(order, func(a, b int) int {
				if values[a] > values[b] {
					return -1
				}
				return 1
			})
			sorted := make([][]float64, len(want.w))
			for i := range sorted {
				sorted[i] = slices.Clone(generation[order[i]])
			}
			before := mat.VecDenseCopyOf(want.pc)
			e.learn(generation, values)
			want.learn(sorted)
			before.ScaleVec(1-want.cc, before)
			if mat.EqualApprox(before, want.pc, 1e-12) {
				held++
			}
			near := func(what string, got, want []float64) {
				for i := range got {
					if !(math.Abs(got[i]-want[i]) <= 1e-9*math.Max(1, math.Abs(want[i]))) {
						t.Fatalf("%d hyperparameters, generation %d: %s %v, want %v", c.n, g, what, got, want)
					}
				}
			}
			near("mean", e.mean, want.m.RawVector().Data)
			near("step size", []float64{e.sigma}, []float64{want.sigma})
			near("covariance", mat.DenseCopyOf(e.c).RawMatrix().Data, want.c.RawMatrix().Data)
		}
		if c.n == 5 && (held == 0 || held == 20) {
			t.Errorf("p_c was held back in %d of 20 generations; some should be and some not", held)
		}
	}
}

// TestEvolutionSamples: the sample of a generation has the mean m and the covariance σ²C of the
// distribution. With 20 000 draws the mean of a coordinate has standard error sd/141, and an entry
// of the covariance at most √2 sd sd'/141.
func TestEvolutionSamples(t *testing.T) {
	e := newEvolution(2, 20000)
	e.mean, e.sigma = []float64{3, -2}, 0.5
	e.c = mat.NewSymDense(2, []float64{4, 1.5, 1.5, 1})
	e.decompose()
	draws := e.sample(rand.New(rand.NewPCG(5, 5)))
	var mean [2]float64
	var cov [2][2]float64
	for _, x := range draws {
		for j := range 2 {
			mean[j] += x[j] / float64(len(draws))
			for k := range 2 {
				cov[j][k] += (x[j] - e.mean[j]) * (x[k] - e.mean[k]) / float64(len(draws))
			}
		}
	}
	for j := range 2 {
		sd := e.sigma * math.Sqrt(e.c.At(j, j))
		if math.Abs(mean[j]-e.mean[j]) > 5*sd/141 {
			t.Errorf("coordinate %d has mean %v, want %v", j, mean[j], e.mean[j])
		}
		for k := range 2 {
			want := e.sigma * e.sigma * e.c.At(j, k)
			if math.Abs(cov[j][k]-want) > 5*math.Sqrt2*sd*e.sigma*math.Sqrt(e.c.At(k, k))/141 {
				t.Errorf("covariance of %d and %d: %v, want %v", j, k, cov[j][k], want)
			}
		}
	}
}
