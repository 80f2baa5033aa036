package approx_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// jointMethods have a Gaussian site for every class of a case.
var jointMethods = []struct {
	name   string
	method approx.Approximation
}{
	{"ep", approx.EP{}}, {"power", approx.EP{Alpha: 0.5}}, {"variational", approx.Variational{}},
}

func fitJoint(t testing.TB, m approx.Approximation, cov []approx.Cov, y []int, classes int, lik likelihood.Bound) approx.Posterior {
	t.Helper()
	post, err := m.Fit(context.Background(), cov, approx.Targets{Classes: classes, Index: y}, lik, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !post.Diagnostics().Converged {
		t.Fatalf("not converged: %+v", post.Diagnostics())
	}
	return post
}

// eachJoint runs a check for every method, likelihood, and covariances shared or not.
func eachJoint(t *testing.T, check func(t *testing.T, m approx.Approximation, lik likelihood.RandomUtility, shared bool)) {
	for _, m := range jointMethods {
		for _, lik := range []likelihood.RandomUtility{likelihood.Softmax{}, likelihood.MultinomialProbit{}} {
			for _, shared := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s %T %v", m.name, lik, shared), func(t *testing.T) { check(t, m.method, lik, shared) })
			}
		}
	}
}

// TestJointGradient compares the adjoints with differences, at ordinary and extreme hyperparameters.
func TestJointGradient(t *testing.T) {
	x, y := planeClasses(14, 3)
	eachJoint(t, func(t *testing.T, m approx.Approximation, lik likelihood.RandomUtility, shared bool) {
		for _, at := range [][2]float64{{0, 0}, {-1, 2.5}, {1.5, 4}, {0.5, -3}} {
			value := func(dl, da float64) float64 {
				cov, _ := priors(x, at[0]+dl, at[1]+da, 3, shared)
				return fitJoint(t, m, cov, y, 3, lik).Evidence().Value()
			}
			cov, by := priors(x, at[0], at[1], 3, shared)
			post := fitJoint(t, m, cov, y, 3, lik)
			adjoints := adjointsOf(t, post, len(cov), len(x))
			for p := range 2 {
				got := 0.0
				for j, a := range adjoints {
					got += weigh(a.K, by[j][p])
				}
				const h = 1e-3
				step := [2]float64{}
				step[p] = h
				want := (8*(value(step[0], step[1])-value(-step[0], -step[1])) -
					(value(2*step[0], 2*step[1]) - value(-2*step[0], -2*step[1]))) / (12 * h)
				if math.Abs(got-want) > 1e-6*math.Abs(want)+1e-7 {
					t.Errorf("at %v, derivative %d is %.10g, want %.10g", at, p, got, want)
				}
			}
		}
	})
}

// weigh is Σ_ij a_ij b_ij.
func weigh(a, b *mat.SymDense) (sum float64) {
	n := a.SymmetricDim()
	for i := range n {
		for j := range n {
			sum += a.At(i, j) * b.At(i, j)
		}
	}
	return sum
}

// raceOracle is the posterior of f and g for given sites, by dense matrices of all of them.
type raceOracle struct {
	mean       *mat.VecDense // of x
	covariance *mat.SymDense // of x
	integral   float64       // log ∫ N(f; m, K) Π_j exp(ν_j x_j - τ_j x_j²/2) df dg
}

func newRaceOracle(t *testing.T, cov []approx.Cov, state approx.State, n, classes int) raceOracle {
	t.Helper()
	size := classes * n
	k, a, m := mat.NewSymDense(size, nil), mat.NewDense(size, size+n, nil), mat.NewVecDense(size, nil)
	for c := range classes {
		own := classOf(cov, c)
		for i := range n {
			for j := i; j < n; j++ {
				k.SetSym(c*n+i, c*n+j, own.K.At(i, j))
			}
			a.Set(c*n+i, c*n+i, -1)
			a.Set(c*n+i, size+i, 1)
			if own.Mean != nil {
				m.SetVec(c*n+i, own.Mean[i])
			}
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		t.Fatal("K is not positive definite")
	}
	var inverse mat.SymDense
	if err := chol.InverseTo(&inverse); err != nil {
		t.Fatal(err)
	}
	precision := mat.NewSymDense(size+n, nil)
	var weighted, product mat.Dense
	weighted.Mul(mat.NewDiagDense(size, state[:size]), a)
	product.Mul(a.T(), &weighted)
	for i := range size + n {
		for j := i; j < size+n; j++ {
			v := product.At(i, j)
			if j < size {
				v += inverse.At(i, j)
			}
			precision.SetSym(i, j, v)
		}
	}
	var h, km, mean mat.VecDense
	h.MulVec(a.T(), mat.NewVecDense(size, state[size:]))
	km.MulVec(&inverse, m)
	for i := range size {
		h.SetVec(i, h.AtVec(i)+km.AtVec(i))
	}
	var whole mat.Cholesky
	if !whole.Factorize(precision) {
		t.Fatal("the precision is not positive definite")
	}
	if err := whole.SolveVecTo(&mean, &h); err != nil {
		t.Fatal(err)
	}
	var sigma mat.SymDense
	if err := whole.InverseTo(&sigma); err != nil {
		t.Fatal(err)
	}
	o := raceOracle{mean: new(mat.VecDense), covariance: mat.NewSymDense(size, nil)}
	o.mean.MulVec(a, &mean)
	var as, asa mat.Dense
	as.Mul(a, &sigma)
	asa.Mul(&as, a.T())
	for i := range size {
		for j := i; j < size; j++ {
			o.covariance.SetSym(i, j, asa.At(i, j))
		}
	}
	o.integral = mat.Dot(&h, &mean)/2 - mat.Dot(m, &km)/2 - chol.LogDet()/2 - whole.LogDet()/2 +
		float64(n)/2*math.Log(2*math.Pi)
	return o
}

// logFactor is the logarithm of a factor of the likelihood of a case: of its own class or of another.
func logFactor(lik likelihood.RandomUtility, own bool, x float64) float64 {
	_, gumbel := lik.(likelihood.Softmax)
	switch {
	case gumbel && own:
		return -x - math.Exp(-x)
	case gumbel:
		return -math.Exp(-x)
	case own:
		return -x*x/2 - math.Log(2*math.Pi)/2
	}
	return math.Log(math.Erfc(-x/math.Sqrt2) / 2)
}

// TestJointOracle compares sites and evidence with dense matrices and sums over a grid.
func TestJointOracle(t *testing.T) {
	const n, classes = 12, 4
	x, _ := planeClasses(n, 5)
	y := make([]int, n)
	for i := range y {
		y[i] = i * 7 % classes
	}
	eachJoint(t, func(t *testing.T, m approx.Approximation, lik likelihood.RandomUtility, shared bool) {
		cov, _ := priors(x, -0.3, 0.7, classes, shared)
		for c := range cov {
			for i := range n {
				cov[c].K.SetSym(i, i, cov[c].K.At(i, i)+0.05)
				cov[c].Mean = append(cov[c].Mean, math.Sin(float64(3*c+i)))
			}
		}
		post := fitJoint(t, m, cov, y, classes, lik)
		state := post.State()
		o := newRaceOracle(t, cov, state, n, classes)
		want := o.integral
		alpha := 1.0
		if ep, ok := m.(approx.EP); ok && ep.Alpha > 0 {
			alpha = ep.Alpha
		}
		_, variational := m.(approx.Variational)
		for j := range classes * n {
			tau, nu := state[j], state[classes*n+j]
			mean, v := o.mean.AtVec(j), o.covariance.At(j, j)
			var sum, first, second, average float64
			const step = 4e-3
			for z := -60.0; z < 60; z += step { // over the marginal
				f := mean + z*math.Sqrt(v)
				logp := logFactor(lik, y[j%n] == j/n, f)
				ratio := logp - nu*f + tau*f*f/2
				w := step * math.Exp(-z*z/2+alpha*ratio) / math.Sqrt(2*math.Pi)
				sum, first, second = sum+w, first+w*z, second+w*z*z
				average += step * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * ratio
			}
			if variational {
				want += average
				continue
			}
			want += math.Log(sum) / alpha
			if first/sum > 1e-7 || math.Abs(second/sum-1) > 1e-7 {
				t.Errorf("site %d changes its marginal by %.3g and %.3g", j, first/sum, second/sum-1)
			}
		}
		if got := post.Evidence().Value(); math.Abs(got-want) > 1e-8*math.Abs(want) {
			t.Errorf("log evidence %.12g, want %.12g", got, want)
		}
	})
}
