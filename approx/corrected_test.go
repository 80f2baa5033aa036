package approx_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

func corrected(t *testing.T, p approx.Posterior) approx.Corrected {
	t.Helper()
	c, err := p.(approx.Corrector).Corrected()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCorrectedOfOneCase: the corrected log evidence of one case of several classes, or of several independent cases,
// is the logarithm of the average of its likelihood over the prior, exactly.
func TestCorrectedOfOneCase(t *testing.T) {
	for _, lik := range []likelihood.RandomUtility{likelihood.Softmax{}, likelihood.MultinomialProbit{}} {
		for _, variances := range [][]float64{{1e-6, 1e-6, 1e-6, 1e-6}, {0.3, 1, 2, 0.7}, {30, 4, 9, 20}} {
			const classes = 4
			y := []int{1, 3, 0, 1, 2}
			var cov []approx.Cov
			spread := mat.NewSymDense(classes, nil)
			for c, v := range variances {
				k := mat.NewSymDense(len(y), nil)
				for i := range y {
					k.SetSym(i, i, v)
				}
				cov = append(cov, approx.Cov{K: k})
				spread.SetSym(c, c, v)
			}
			want, pi := 0.0, make([]float64, classes)
			lik.Average(pi, make([]float64, classes), spread, 0)
			for _, label := range y {
				want += math.Log(pi[label])
			}
			post := fitJoint(t, approx.EP{}, cov, y, classes, lik)
			got := corrected(t, post)
			if math.Abs(got.LogEvidence-want) > 1e-4 || got.Next != 0 {
				t.Errorf("%T, variances %v: %+v, want %v; without correction %v", lik, variances, got, want,
					post.Evidence().Value())
			}
		}
	}
}

// TestCorrectedOfTwoCases: for two cases and two classes the evidence is an orthant probability.
// The exact log evidence is nearer to the corrected one than to EP's.
func TestCorrectedOfTwoCases(t *testing.T) {
	for _, variance := range []float64{0.5, 2, 8} {
		for _, rho := range []float64{-0.9, -0.5, 0.3, 0.8} {
			k := mat.NewSymDense(2, []float64{variance, rho * variance, rho * variance, variance})
			exact := math.Log(0.25 + math.Asin(rho*variance/(1+variance))/(2*math.Pi))
			post := fitOnce(t, approx.EP{}, k, []float64{1, 1}, likelihood.Probit{})
			ep, c := post.Evidence().Value(), corrected(t, post)
			if off := math.Abs(c.LogEvidence - exact); !(off < math.Abs(ep-exact)/2) {
				t.Errorf("variance %v, correlation %v: exact %v, EP %v, corrected %+v", variance, rho, exact, ep, c)
			}
		}
	}
}

// TestCorrectedOfWeights: a case of weight 3 counts as three equal cases.
func TestCorrectedOfWeights(t *testing.T) {
	x := [][]float64{{-1}, {0.5}, {2}}
	k, _, _ := seGram(x, 0, 1.5)
	weighted, err := approx.EP{}.Fit(t.Context(), []approx.Cov{{K: k}},
		approx.Targets{Value: []float64{1, -1, 1}, Weight: []float64{1, 3, 1}}, likelihood.Probit{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, _, _ := seGram([][]float64{x[0], x[1], x[1], x[1], x[2]}, 0, 1.5)
	want := corrected(t, fitOnce(t, approx.EP{}, all, []float64{1, -1, -1, -1, 1}, likelihood.Probit{}))
	got := corrected(t, weighted)
	if math.Abs(got.LogEvidence-want.LogEvidence) > 1e-9 || math.Abs(got.Next-want.Next) > 1e-9 {
		t.Errorf("%+v, with repeated cases %+v", got, want)
	}
}

// TestCorrectedOfWeightsWithNoise: copies with noise of their own are correlated by less than 1.
func TestCorrectedOfWeightsWithNoise(t *testing.T) {
	const noise = 0.8
	x := [][]float64{{-1}, {0.5}, {2}}
	k, _, _ := seGram(x, 0, 1.5)
	weighted, err := approx.EP{}.Fit(t.Context(), []approx.Cov{{K: k, Noise: []float64{noise, noise, noise}}},
		approx.Targets{Value: []float64{1, -1, 1}, Weight: []float64{1, 3, 2}}, likelihood.Probit{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, _, _ := seGram([][]float64{x[0], x[1], x[1], x[1], x[2], x[2]}, 0, 1.5)
	for i := range all.SymmetricDim() {
		all.SetSym(i, i, all.At(i, i)+noise)
	}
	want := corrected(t, fitOnce(t, approx.EP{}, all, []float64{1, -1, -1, -1, 1, 1}, likelihood.Probit{}))
	got := corrected(t, weighted)
	if math.Abs(got.LogEvidence-want.LogEvidence) > 1e-9 || math.Abs(got.Next-want.Next) > 1e-9 {
		t.Errorf("%+v, with repeated cases %+v", got, want)
	}
}

// TestCorrectedOfFlooredSites: where EP has raised a site precision to 0 there is no correction.
func TestCorrectedOfFlooredSites(t *testing.T) {
	k, _, _ := seGram([][]float64{{0}, {0.1}, {0.2}, {0.3}, {0.15}}, 0, 1)
	y := []float64{1, 1, 1, 1, -1}
	floored := fitOnce(t, approx.EP{}, k, y, noisyThreshold)
	if floored.Diagnostics().Floors == 0 {
		t.Fatal("no site is floored")
	}
	if c, err := floored.(approx.Corrector).Corrected(); err == nil || !strings.Contains(err.Error(), "negative_sites: keep") {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestCorrectedOneVsRest: it is the sum over the classes.
func TestCorrectedOneVsRest(t *testing.T) {
	x, y := planeClasses(15, 3)
	cov, _ := priors(x, 0, 1, 3, true)
	want := 0.0
	for class := range 3 {
		labels := make([]float64, len(y))
		for i, c := range y {
			labels[i] = -1
			if c == class {
				labels[i] = 1
			}
		}
		want += corrected(t, fitOnce(t, approx.EP{}, cov[0].K, labels, likelihood.Probit{})).LogEvidence
	}
	got := corrected(t, fitJoint(t, approx.OneVsRest{Binary: approx.EP{}}, cov, y, 3, likelihood.Probit{})).LogEvidence
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%v, the sum of three is %v", got, want)
	}
	if _, err := fitJoint(t, approx.OneVsRest{Binary: approx.Laplace{}}, cov, y, 3,
		likelihood.Probit{}).(approx.Corrector).Corrected(); err == nil {
		t.Error("one against the rest by Laplace's method is corrected")
	}
}

// TestCorrectedInAnyOrder: the order of cases and classes does not matter, and other methods have no correction.
func TestCorrectedInAnyOrder(t *testing.T) {
	x, y := planeClasses(12, 3)
	cov, _ := priors(x, 0, 1.5, 3, false)
	whole := corrected(t, fitJoint(t, approx.EP{}, cov, y, 3, likelihood.Softmax{}))
	rng := rand.New(rand.NewPCG(3, 4))
	order, names := rng.Perm(len(y)), []int{2, 0, 1}
	again := make([]approx.Cov, 3)
	labels := make([]int, len(y))
	for c := range again {
		k := mat.NewSymDense(len(y), nil)
		for i, from := range order {
			labels[i] = names[y[from]]
			for j, other := range order[:i+1] {
				k.SetSym(i, j, cov[c].K.At(from, other))
			}
		}
		again[names[c]] = approx.Cov{K: k}
	}
	other := corrected(t, fitJoint(t, approx.EP{}, again, labels, 3, likelihood.Softmax{}))
	if math.Abs(whole.LogEvidence-other.LogEvidence) > 1e-5 || math.Abs(whole.Next-other.Next) > 1e-8 {
		t.Errorf("%+v, in another order %+v", whole, other)
	}
	for _, m := range []approx.Approximation{approx.PL{}, approx.Variational{}, approx.EP{Alpha: 0.5}} {
		if c, err := fitJoint(t, m, cov, y, 3, likelihood.Softmax{}).(approx.Corrector).Corrected(); err == nil {
			t.Errorf("%T has the correction %+v", m, c)
		}
	}
}
