package approx_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// jointMethods have a Gaussian site for every class of a case.
var jointMethods = []struct {
	name   string
	method approx.Approximation
}{
	{"ep", approx.EP{}}, {"power", approx.EP{Alpha: 0.5}}, {"variational", approx.Variational{}}, {"pl", approx.PL{}},
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
	for i, m := range jointMethods {
		for j, lik := range []likelihood.RandomUtility{likelihood.Softmax{}, likelihood.MultinomialProbit{}} {
			for k, shared := range []bool{true, false} {
				if !exhaustive.Tries(2, i, j, k) {
					continue
				}
				t.Run(fmt.Sprintf("%s %T %v", m.name, lik, shared), func(t *testing.T) { check(t, m.method, lik, shared) })
			}
		}
	}
}

// TestJointGradient compares the adjoints with differences, at ordinary and extreme hyperparameters.
func TestJointGradient(t *testing.T) {
	x, y := planeClasses(10, 3)
	cell := 0
	eachJoint(t, func(t *testing.T, m approx.Approximation, lik likelihood.RandomUtility, shared bool) {
		cell++
		places := [][2]float64{{0, 0}, {-1, 2.5}, {1.5, 4}, {0.5, -3}}
		if _, bound := m.(approx.Variational); bound {
			places = append(places, [2]float64{0.2, 6}, [2]float64{-1, 7})
		}
		for i, at := range places {
			if !exhaustive.Tries(3, cell, i) {
				continue
			}
			value := func(dl, da float64) float64 {
				cov, _ := priors(x, at[0]+dl, at[1]+da, 3, shared)
				return fitJoint(t, m, cov, y, 3, lik).Evidence().Value()
			}
			cov, by := priors(x, at[0], at[1], 3, shared)
			post := fitJoint(t, m, cov, y, 3, lik)
			adjoints := adjointsOf(t, post, len(cov), len(x))
			// the derivative in a direction between the axes
			const dl, da = 0.6, -0.8
			got := 0.0
			for j, a := range adjoints {
				got += dl*weigh(a.K, by[j][0]) + da*weigh(a.K, by[j][1])
			}
			const h = 1e-3
			want := (8*(value(dl*h, da*h)-value(-dl*h, -da*h)) -
				(value(2*dl*h, 2*da*h) - value(-2*dl*h, -2*da*h))) / (12 * h)
			if math.Abs(got-want) > 1e-6*math.Abs(want)+1e-7 {
				t.Errorf("at %v, the derivative is %.10g, want %.10g", at, got, want)
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
		if _, is := lik.(likelihood.Softmax); is && variational {
			return // TestSoftmaxBound compares it, because its sites do not belong to factors
		}
		_, linearised := m.(approx.PL)
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
			if linearised {
				checkRegression(t, lik, y[j%n] == j/n, mean, v, tau, nu)
				continue
			}
			if first/sum > 1e-7 || math.Abs(second/sum-1) > 1e-7 {
				t.Errorf("site %d changes its marginal by %.3g and %.3g", j, first/sum, second/sum-1)
			}
		}
		if got := post.Evidence().Value(); math.Abs(got-want) > 1e-8*math.Abs(want) {
			t.Errorf("log evidence %.12g, want %.12g", got, want)
		}
	})
}

// checkRegression compares a site with the statistical linear regression, on N(mean, v), of x plus noise, for the class
// of the label, and else of the event that noise is below x; by sums over a grid.
func checkRegression(t *testing.T, lik likelihood.RandomUtility, own bool, mean, v, tau, nu float64) {
	t.Helper()
	const step = 4e-3
	var mass, first, second, cross float64
	for z := -60.0; z < 60; z += step {
		if own { // the density of the noise
			w := step * math.Exp(logFactor(lik, true, z))
			mass, first, second = mass+w, first+w*z, second+w*z*z
			continue
		}
		w := step * math.Exp(-z*z/2+logFactor(lik, false, mean+z*math.Sqrt(v))) / math.Sqrt(2*math.Pi)
		mass, cross = mass+w, cross+w*z*math.Sqrt(v)
	}
	wantTau, wantNu := 1/(second-first*first), first/(second-first*first)
	if !own {
		slope := cross / v
		omega := mass*(1-mass) - slope*slope*v
		wantTau, wantNu = slope*slope/omega, slope*(1-mass+slope*mean)/omega
	}
	if math.Abs(tau-wantTau) > 1e-7*(1+wantTau) || math.Abs(nu-wantNu) > 1e-7*(1+math.Abs(wantNu)) {
		t.Errorf("a site has %.10g and %.10g, want %.10g and %.10g", tau, nu, wantTau, wantNu)
	}
}

// latentOracle is the Gaussian posterior of f under the sites of x_c = g - f_c of all cases but left (none if it is
// -1): a case whose sites have the precisions τ and the linear terms ν adds diag(τ) - τ τᵀ/Στ to the precision of its
// f and τ Σν/Στ - ν to the linear term.
func latentOracle(t *testing.T, cov []approx.Cov, state approx.State, n, classes, left int) (mean *mat.VecDense, sigma *mat.SymDense) {
	t.Helper()
	size := classes * n
	k, prior := mat.NewSymDense(size, nil), mat.NewVecDense(size, nil)
	for c := range classes {
		own := classOf(cov, c)
		for i := range n {
			prior.SetVec(c*n+i, own.Mean[i])
			for j := i; j < n; j++ {
				k.SetSym(c*n+i, c*n+j, own.K.At(i, j))
			}
		}
	}
	precision, linear := mat.NewSymDense(size, nil), mat.NewVecDense(size, nil)
	inverse := inverseOf(t, k)
	precision.CopySym(inverse)
	linear.MulVec(inverse, prior)
	for i := range n {
		if i == left {
			continue
		}
		tau, nu := 0.0, 0.0
		for c := range classes {
			tau, nu = tau+state[c*n+i], nu+state[size+c*n+i]
		}
		for c := range classes {
			p := c*n + i
			linear.SetVec(p, linear.AtVec(p)+state[p]*nu/tau-state[size+p])
			precision.SetSym(p, p, precision.At(p, p)+state[p])
			for d := range c + 1 {
				q := d*n + i
				precision.SetSym(p, q, precision.At(p, q)-state[p]*state[q]/tau)
			}
		}
	}
	sigma = inverseOf(t, precision)
	mean = new(mat.VecDense)
	mean.MulVec(sigma, linear)
	return mean, sigma
}

func inverseOf(t *testing.T, a *mat.SymDense) *mat.SymDense {
	t.Helper()
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		t.Fatal("not positive definite")
	}
	inverse := new(mat.SymDense)
	if err := chol.InverseTo(inverse); err != nil {
		t.Fatal(err)
	}
	return inverse
}

// classProbabilities are the averages of p(c|f) over f ~ N(mean, cov) of three classes, by sums
// over a grid. For multinomial probit, p(c|f) = ∫ N(u) Π_d Φ(u + f_c - f_d) du is a sum over u too.
func classProbabilities(t *testing.T, lik likelihood.RandomUtility, mean []float64, cov *mat.SymDense) (p [3]float64) {
	t.Helper()
	var chol mat.Cholesky
	if !chol.Factorize(cov) {
		t.Fatal("not positive definite")
	}
	var l mat.TriDense
	chol.LTo(&l)
	const step, far = 0.5, 6.0
	_, gumbel := lik.(likelihood.Softmax)
	given := func(f [3]float64) (p [3]float64) {
		if gumbel {
			for c := range p {
				for d := range f {
					p[c] += math.Exp(f[d] - f[c])
				}
				p[c] = 1 / p[c]
			}
			return p
		}
		for c := range p {
			for u := -far; u < far+step/2; u += step {
				w := step * math.Exp(-u*u/2) / math.Sqrt(2*math.Pi)
				for d := range f {
					if d != c {
						w *= math.Erfc(-(u+f[c]-f[d])/math.Sqrt2) / 2
					}
				}
				p[c] += w
			}
		}
		return p
	}
	for a := -far; a < far+step/2; a += step {
		for b := -far; b < far+step/2; b += step {
			for c := -far; c < far+step/2; c += step {
				if a*a+b*b+c*c > far*far { // a corner, with less than 1e-7
					continue
				}
				f := [3]float64{
					mean[0] + l.At(0, 0)*a,
					mean[1] + l.At(1, 0)*a + l.At(1, 1)*b,
					mean[2] + l.At(2, 0)*a + l.At(2, 1)*b + l.At(2, 2)*c,
				}
				w := step * step * step * math.Exp(-(a*a+b*b+c*c)/2) / math.Pow(2*math.Pi, 1.5)
				for class, q := range given(f) {
					p[class] += w * q
				}
			}
		}
	}
	return p
}

// TestJointPredictions compares the latent values and the class probabilities of new cases, and the
// probabilities of left-out cases, with dense matrices and sums over a grid.
func TestJointPredictions(t *testing.T) {
	const n, classes = 5, 3
	x, y := planeClasses(n+1, 3)
	eachJoint(t, func(t *testing.T, m approx.Approximation, lik likelihood.RandomUtility, shared bool) {
		all, _ := priors(x, 0.2, 0.6, classes, shared)
		var cov []approx.Cov
		var cross []*mat.Dense
		var diag, means [][]float64
		for c, whole := range all {
			own := approx.Cov{K: mat.NewSymDense(n, nil)}
			own.K.CopySym(whole.K.SliceSym(0, n).(*mat.SymDense))
			at := mat.NewDense(n, 1, nil)
			for i := range n {
				at.Set(i, 0, whole.K.At(i, n))
				own.Mean = append(own.Mean, math.Cos(float64(2*c+i)))
			}
			cov, cross = append(cov, own), append(cross, at)
			diag, means = append(diag, []float64{whole.K.At(n, n)}), append(means, []float64{0.3 * float64(c)})
		}
		post := fitJoint(t, m, cov, y[:n], classes, lik)
		state := post.State()

		mean, sigma := latentOracle(t, cov, state, n, classes, -1)
		// The weights of the latent values of class c at the new case are K_c⁻¹ k_c.
		at, spread := make([]float64, classes), mat.NewSymDense(classes, nil)
		weights := make([]*mat.VecDense, classes)
		for c := range classes {
			own, known := classOf(cov, c), cross[min(c, len(cross)-1)].ColView(0)
			weights[c] = new(mat.VecDense)
			weights[c].MulVec(inverseOf(t, own.K), known)
			at[c] = means[min(c, len(means)-1)][0]
			for i := range n {
				at[c] += weights[c].AtVec(i) * (mean.AtVec(c*n+i) - own.Mean[i])
			}
			spread.SetSym(c, c, diag[min(c, len(diag)-1)][0]-mat.Dot(weights[c], known))
		}
		for c := range classes {
			for d := range c + 1 {
				v := 0.0
				for i := range n {
					for j := range n {
						v += weights[c].AtVec(i) * sigma.At(c*n+i, d*n+j) * weights[d].AtVec(j)
					}
				}
				spread.SetSym(c, d, spread.At(c, d)+v)
			}
		}
		for c := range classes {
			gotMean, gotVariance := []float64{0}, []float64{0}
			post.Latent(gotMean, gotVariance, cross[min(c, len(cross)-1)], diag[min(c, len(diag)-1)], c)
			gotMean[0] += means[min(c, len(means)-1)][0]
			if math.Abs(gotMean[0]-at[c]) > 1e-9 || math.Abs(gotVariance[0]-spread.At(c, c)) > 1e-9 {
				t.Errorf("class %d has N(%.12g, %.12g), want N(%.12g, %.12g)",
					c, gotMean[0], gotVariance[0], at[c], spread.At(c, c))
			}
		}
		// Averages over lattice points have errors near 1e-5.
		probabilities := mat.NewDense(1, classes, nil)
		post.PredictProba(probabilities, cross, diag, means)
		for c, want := range classProbabilities(t, lik, at, spread) {
			if got := probabilities.At(0, c); math.Abs(got-want) > 3e-5 {
				t.Errorf("class %d has probability %.8f, want %.8f", c, got, want)
			}
		}

		want := 0.0
		for i := range n {
			mean, sigma := latentOracle(t, cov, state, n, classes, i)
			for c := range classes {
				at[c] = mean.AtVec(c*n + i)
				for d := range classes {
					spread.SetSym(c, d, sigma.At(c*n+i, d*n+i))
				}
			}
			want += math.Log(classProbabilities(t, lik, at, spread)[y[i]])
		}
		left, err := post.(approx.LeaveOneOut).LeaveOneOut()
		if err != nil {
			t.Fatal(err)
		}
		if got := left.Value(); math.Abs(got-want) > 3e-4 {
			t.Errorf("leave-one-out %.8f, want %.8f", got, want)
		}
	})
}

// TestJointStates: a fit from the sites of other hyperparameters has the same value, and one restored from its own
// sites has the same bits. Sites that no fit can have are an error that names the case.
func TestJointStates(t *testing.T) {
	const n, classes = 20, 3
	x, y := planeClasses(n, 9)
	targets := approx.Targets{Classes: classes, Index: y}
	eachJoint(t, func(t *testing.T, m approx.Approximation, lik likelihood.RandomUtility, shared bool) {
		cov, _ := priors(x, 0.2, 1, classes, shared)
		other, _ := priors(x, -1, 2.5, classes, shared)
		want := fitJoint(t, m, cov, y, classes, lik)
		warm, err := m.Fit(context.Background(), cov, targets, lik, fitJoint(t, m, other, y, classes, lik).State())
		if err != nil || !warm.Diagnostics().Converged {
			t.Fatal(err, warm.Diagnostics().Failure)
		}
		if a, b := warm.Evidence().Value(), want.Evidence().Value(); math.Abs(a-b) > 1e-8*math.Abs(b) {
			t.Errorf("from other sites %.12g, want %.12g", a, b)
		}
		restored, err := m.Restore(cov, targets, lik, want.State())
		if err != nil {
			t.Fatal(err)
		}
		of := func(post approx.Posterior) []float64 {
			var diag [][]float64
			var cross []*mat.Dense
			for _, c := range cov {
				cross, diag = append(cross, mat.DenseCopyOf(c.K)), append(diag, make([]float64, n))
				for i := range n {
					diag[len(diag)-1][i] = c.K.At(i, i)
				}
			}
			dst := mat.NewDense(n, classes, nil)
			post.PredictProba(dst, cross, diag, nil)
			return dst.RawMatrix().Data
		}
		if a, b := of(restored), of(want); !slices.Equal(a, b) {
			t.Errorf("restored %v, want %v", a, b)
		}
		for name, damaged := range map[string]approx.State{
			"case 0": make(approx.State, 2*n*classes), "want 120": make(approx.State, 7),
		} {
			if _, err := m.Restore(cov, targets, lik, damaged); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("damaged sites: %v, want %q in it", err, name)
			}
		}
	})
}

// TestJointOrder: the order of cases and of classes changes nothing.
func TestJointOrder(t *testing.T) {
	const n, classes = 12, 4
	x, _ := planeClasses(n, 5)
	eachJoint(t, func(t *testing.T, m approx.Approximation, lik likelihood.RandomUtility, shared bool) {
		cov, _ := priors(x, -0.3, 1.2, classes, shared)
		y, moved, of := make([]int, n), make([]int, n), [classes]int{2, 0, 3, 1}
		for i := range y {
			y[i] = i * 7 % classes
			moved[n-1-i] = of[y[i]]
		}
		reordered := make([]approx.Cov, len(cov))
		for c, own := range cov {
			k := mat.NewSymDense(n, nil)
			for i := range n {
				for j := i; j < n; j++ {
					k.SetSym(n-1-i, n-1-j, own.K.At(i, j))
				}
			}
			reordered[of[c]%len(cov)] = approx.Cov{K: k}
		}
		post, other := fitJoint(t, m, cov, y, classes, lik), fitJoint(t, m, reordered, moved, classes, lik)
		if a, b := post.Evidence().Value(), other.Evidence().Value(); math.Abs(a-b) > 1e-9*math.Abs(a) {
			t.Errorf("log evidence %.12g, in another order %.12g", a, b)
		}
		g, h := adjointsOf(t, post, len(cov), n), adjointsOf(t, other, len(cov), n)
		for c := range cov {
			for i := range n {
				for j := range n {
					a, b := g[c].K.At(i, j), h[of[c]%len(cov)].K.At(n-1-i, n-1-j)
					if math.Abs(a-b) > 1e-7*(1+math.Abs(a)) {
						t.Fatalf("the adjoint of class %d at %d, %d is %.10g, in another order %.10g", c, i, j, a, b)
					}
				}
			}
		}
	})
}

// TestJointWide: fits converge where the prior is much wider than the posterior.
func TestJointWide(t *testing.T) {
	x, y := planeClasses(16, 3)
	cell := 0
	eachJoint(t, func(t *testing.T, m approx.Approximation, lik likelihood.RandomUtility, shared bool) {
		cell++
		for i, amplitude := range []float64{3, 4, 5} {
			if !exhaustive.Tries(3, cell, i) {
				continue
			}
			cov, _ := priors(x, 0, amplitude, 3, shared)
			fitJoint(t, m, cov, y, 3, lik)
		}
	})
}

// TestWideBound: with a prior much wider than the posterior, the bound of softmax does not depend on
// the start of the fit, and the offsets of the sites are the probabilities averaged over the marginals
// of dense matrices. With four classes the average is over independent latent values, which is why the
// probabilities may differ in the second decimal.
func TestWideBound(t *testing.T) {
	const n, classes = 22, 4
	x, _ := planeClasses(n, 5)
	y := make([]int, n)
	for i := range y {
		y[i] = i * 7 % classes
		if x[i][0] > 0 {
			y[i] = 2
		}
	}
	for _, shared := range []bool{true, false} {
		var start approx.State
		for _, amplitude := range []float64{0, 3, 6} {
			cov, _ := priors(x, -0.3, amplitude, classes, shared)
			for c := range cov {
				for i := range n {
					cov[c].K.SetSym(i, i, cov[c].K.At(i, i)+0.05*math.Exp(2*amplitude))
					cov[c].Mean = append(cov[c].Mean, math.Sin(float64(3*c+i)))
				}
			}
			post := fitJoint(t, approx.Variational{}, cov, y, classes, likelihood.Softmax{})
			if d := post.Diagnostics(); d.Iterations > 250 {
				t.Errorf("shared %v, amplitude %v: %d iterations", shared, amplitude, d.Iterations)
			}
			state := post.State()
			o := newRaceOracle(t, cov, state, n, classes)
			for i := range n {
				mean, covariance, pi := make([]float64, classes), mat.NewSymDense(classes, nil), make([]float64, classes)
				for c := range classes {
					mean[c] = -o.mean.AtVec(c*n + i)
					for d := range classes {
						covariance.SetSym(c, d, o.covariance.At(c*n+i, d*n+i))
					}
				}
				likelihood.Softmax{}.Average(pi, mean, covariance, 0)
				pi[y[i]]--
				for c, want := range pi {
					j := c*n + i
					if got := state[classes*n+j] - state[j]*o.mean.AtVec(j); math.Abs(got-want) > 0.03 {
						t.Errorf("shared %v, amplitude %v: the offset of site %d is %v, want %v", shared, amplitude, j, got, want)
					}
				}
			}
			if start != nil {
				again, err := approx.Variational{}.Fit(context.Background(), cov, approx.Targets{Classes: classes, Index: y}, likelihood.Softmax{}, start)
				if err != nil {
					t.Fatal(err)
				}
				if a, b := again.Evidence().Value(), post.Evidence().Value(); math.Abs(a-b) > 1e-9*math.Abs(b) {
					t.Errorf("shared %v, amplitude %v: from elsewhere %.12g, else %.12g", shared, amplitude, a, b)
				}
			}
			start = state
		}
	}
}

// TestJointExtremes: covariances of every size have a finite evidence or an error, and no fit takes long.
func TestJointExtremes(t *testing.T) {
	eachJoint(t, func(t *testing.T, m approx.Approximation, lik likelihood.RandomUtility, shared bool) {
		if !shared {
			return // there is one covariance
		}
		for _, variance := range []float64{0, 1e-30, 1e8, 1e14, 1e60, 1e200} {
			for _, y := range [][]int{{1, 1, 0}, {2, 2, 2}} {
				k := mat.NewSymDense(3, []float64{1, .5, 1, .5, 1, .5, 1, .5, 1}) // two equal cases
				k.ScaleSym(variance, k)
				post, err := m.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 4, Index: y}, lik, nil)
				if err != nil {
					continue
				}
				value := post.Evidence().Value()
				if d := post.Diagnostics(); d.Converged && !(value < 0 && value > -1e6) || !d.Converged && d.Failure == nil {
					t.Errorf("variance %g has evidence %v and failure %v", variance, value, d.Failure)
				}
			}
		}
	})
}
