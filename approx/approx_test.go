package approx_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

type pair struct {
	name   string
	method approx.Approximation
	lik    likelihood.Bound
}

// prior is the covariance that the pair is tried with: a likelihood without noise of its own needs it in the kernel.
func (p pair) prior(k *mat.SymDense) *mat.SymDense {
	if _, smooth := p.lik.(likelihood.Differentiable); smooth {
		return k
	}
	noisy := mat.NewSymDense(k.SymmetricDim(), nil)
	noisy.CopySym(k)
	for i := range k.SymmetricDim() {
		noisy.SetSym(i, i, k.At(i, i)+1)
	}
	return noisy
}

// fickle says that the method need not have a fixed point: EP, unless the likelihood is log-concave.
func (p pair) fickle() bool {
	_, ep := p.method.(approx.EP)
	_, noisy := p.lik.Likelihood().(likelihood.NoisyThreshold)
	return ep && noisy
}

// pairs lists every method that has a gradient with every likelihood it takes; a refusal must say why. (The results of
// the others are random, and have tests of their own.)
func pairs(t testing.TB) []pair {
	var list []pair
	for _, m := range approx.Table {
		method, err := m.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range likelihood.Table {
			lik, err := l.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			caps, err := method.Uses(lik, 2)
			if err != nil && len(err.Error()) < 20 {
				t.Errorf("%s refuses %s without a reason: %v", m.Name, l.Name, err)
			}
			if err != nil || !caps.Gradient {
				continue
			}
			theta := make([]float64, len(lik.Params()))
			for i, s := range lik.Params() {
				theta[i] = s.Map.Theta(s.Init)
			}
			list = append(list, pair{m.Name + "/" + l.Name, method, lik.At(theta)})
		}
	}
	return list
}

// twoClasses draws two overlapping classes in the plane.
func twoClasses(n int, seed uint64) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range n {
		p := []float64{rng.NormFloat64(), rng.NormFloat64()}
		x = append(x, p)
		y = append(y, math.Copysign(1, p[0]+p[1]*p[1]/2+0.7*rng.NormFloat64()-0.3))
	}
	return x, y
}

// seGram returns the squared-exponential Gram matrix and its derivatives with respect to log length scale and log
// amplitude.
func seGram(x [][]float64, logLength, logAmp float64) (k, byLength, byAmp *mat.SymDense) {
	n := len(x)
	k, byLength, byAmp = mat.NewSymDense(n, nil), mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for i := range x {
		for j := i; j < n; j++ {
			v := squaredExponential(x[i], x[j], logLength, logAmp)
			k.SetSym(i, j, v)
			byAmp.SetSym(i, j, 2*v)
			d := 0.0
			for c := range x[i] {
				d += (x[i][c] - x[j][c]) * (x[i][c] - x[j][c])
			}
			byLength.SetSym(i, j, v*d*math.Exp(-2*logLength))
		}
	}
	return k, byLength, byAmp
}

// along returns tr(G E).
func along(g, e *mat.SymDense) float64 {
	sum := 0.0
	for i := range g.SymmetricDim() {
		for j := range g.SymmetricDim() {
			sum += g.At(i, j) * e.At(i, j)
		}
	}
	return sum
}

// near reports |got - want| ≤ tol max(1, |want|).
func near(got, want, tol float64) bool { return math.Abs(got-want) <= tol*max(1, math.Abs(want)) }

func TestExtrapolate(t *testing.T) {
	a, b := approx.State{1, 2, -1, 3, 0, 5, -2}, approx.State{2, 1, -4, -1, 7, 0, -200}
	weights := []float64{1.5, -0.5}
	for _, c := range []struct {
		method approx.Approximation
		want   approx.State
	}{
		{approx.EP{}, approx.State{2 * math.Sqrt2, math.Sqrt(0.5), -8, -3, 7, 0, -800}},
		{approx.OneVsRest{Binary: approx.EP{}}, approx.State{2 * math.Sqrt2, math.Sqrt(0.5), -8, -3, 7, 0, -800}},
		{approx.Laplace{}, approx.State{2.5, 0.5, -5.5, -3, 7, 0, -299}},
	} {
		if got := approx.Extrapolate(c.method, []approx.State{b, a}, weights); !floats.EqualApprox(got, c.want, 1e-12) {
			t.Errorf("%T: got %v, want %v", c.method, got, c.want)
		}
		if got := approx.Extrapolate(c.method, []approx.State{b, a}, []float64{1, 0}); !slices.Equal(got, b) {
			t.Errorf("%T at the first: %v, want %v", c.method, got, b)
		}
	}
	// three points of σ², of which the logarithm is linear, and of a parabola
	at := func(x float64) approx.State { return approx.State{math.Exp(2 * x), 1 + x*x} }
	for i, m := range []approx.Approximation{approx.EP{}, approx.Laplace{}} {
		got := approx.Extrapolate(m, []approx.State{at(0.2), at(0.1), at(0)}, []float64{3, -3, 1})
		if want := at(0.3); math.Abs(got[i]-want[i]) > 1e-14 {
			t.Errorf("%T: got %v, want %v", m, got, want)
		}
	}
}
