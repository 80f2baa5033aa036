package approx

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// softmaxOnLine is a model of cases along a curve in the plane; each class is a stretch of it, with some labels
// changed.
func softmaxOnLine(n, classes int, logAmp float64, shared bool) (cov []Cov, y Targets) {
	y = Targets{Classes: classes, Index: make([]int, n)}
	point := func(i int) (a, b float64) {
		t := float64(i) / float64(n)
		return 6 * t, math.Sin(9*t) + 0.3*math.Cos(17*float64(i))
	}
	for i := range n {
		if y.Index[i] = i * classes / n; i%5 == 0 {
			y.Index[i] = (i + i/5) % classes
		}
	}
	for c := range classes {
		if shared && c > 0 {
			break
		}
		length := 1 + 0.3*float64(c)
		k := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				a, b := point(i)
				x, z := point(j)
				k.SetSym(i, j, math.Exp(2*logAmp-((a-x)*(a-x)+(b-z)*(b-z))/(2*length*length)))
			}
		}
		cov = append(cov, Cov{K: k})
	}
	return cov, y
}

// TestStepThatIsShortEnough: a step of length 1 changes ½ log|I + W K|, to first order, by at most the bound from
// precision. Let s be the gradient of ½ log|I + W K|, here from differences over every latent value; then the step
// with the largest change is Σs/√(sᵀΣs), and the change is √(sᵀΣs).
func TestStepThatIsShortEnough(t *testing.T) {
	const n, classes, h = 24, 4, 1e-5
	for _, shared := range []bool{true, false} {
		for _, logAmp := range []float64{-1, 1, 3, 5} {
			cov, y := softmaxOnLine(n, classes, logAmp, shared)
			post, err := Laplace{}.Fit(context.Background(), cov, y, likelihood.Softmax{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			p := post.(*categories)
			at := *p.at
			half := func(j int, h float64) float64 { // ½ log|I + W K| with f_j moved by h
				moved := p.newPoint()
				copy(moved.f, at.f)
				moved.f[j] += h
				p.differentiate(moved)
				if err := p.factorise(moved.w); err != nil {
					t.Fatal(err)
				}
				return p.prior.LogDet()
			}
			s, ks, delta := make([]float64, n*classes), make([]float64, n*classes), make([]float64, n*classes)
			for j := range s {
				s[j] = (half(j, h) - half(j, -h)) / (2 * h)
			}
			if err := p.factorise(at.w); err != nil {
				t.Fatal(err)
			}
			p.prior.Multiply(ks, s)
			p.prior.Shrink(delta, s, ks)
			target, _ := p.precision(&at)
			most, bound := math.Sqrt(dot(ks, delta)), p.tolerance/target
			if !(most <= bound) {
				t.Errorf("shared=%v, log σ = %v: a step of length 1 changes ½ log|I + W K| by %.4g, the bound is %.4g",
					shared, logAmp, most, bound)
			}
			t.Logf("shared=%v, log σ = %v: %.4g of at most %.4g", shared, logAmp, most, bound)
		}
	}
}

// TestToleranceBeyondRounding: a tolerance below the rounding error takes no more products than one at the rounding
// error, and gives the evidence of a moderate tolerance. A step of the length that precision gives for rounding
// changes the evidence by at most rounding/target times the tolerance.
func TestToleranceBeyondRounding(t *testing.T) {
	const n, classes = 60, 4
	for _, logAmp := range []float64{1, 3, 5} {
		cov, y := softmaxOnLine(n, classes, logAmp, true)
		fit := func(tolerance float64) *categories {
			p, err := Laplace{Tolerance: tolerance}.Fit(context.Background(), cov, y, likelihood.Softmax{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !p.Diagnostics().Converged {
				t.Fatalf("log σ = %v, tolerance %v: %v", logAmp, tolerance, p.Diagnostics().Failure)
			}
			return p.(*categories)
		}
		moderate, small, smallest := fit(1e-9), fit(1e-16), fit(1e-30)
		if a, b := small.diagnostics.Products, smallest.diagnostics.Products; a != b {
			t.Errorf("log σ = %v: %d products at a tolerance of 1e-16, %d at 1e-30", logAmp, a, b)
		}
		target, rounding := small.precision(small.at)
		bound := 1e-9 + 1e-16*rounding/target
		if a, b := moderate.evidence.value, small.evidence.value; !(math.Abs(a-b) <= 2*bound) {
			t.Errorf("log σ = %v: log evidence %.15g at a tolerance of 1e-9, %.15g at 1e-16, want within %.2g", logAmp, a, b, 2*bound)
		}
	}
}

// TestCategoriesRefuse: two classes, covariances that are neither one nor one of each class, and targets without
// labels panic with the numbers that were given.
func TestCategoriesRefuse(t *testing.T) {
	cov, y := softmaxOnLine(6, 3, 0, false)
	for want, c := range map[string]struct {
		cov []Cov
		y   Targets
	}{
		"1 covariances, 2 classes, 6 labels": {cov[:1], Targets{Classes: 2, Index: y.Index}},
		"2 covariances, 3 classes, 6 labels": {cov[:2], y},
		"3 covariances, 3 classes, 0 labels": {cov, Targets{Classes: 3, Value: make([]float64, 6)}},
		"0 covariances, 3 classes, 6 labels": {nil, y},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			}()
			_, _ = newCategories(nil, 1, 1, 1, c.cov, c.y, likelihood.Softmax{})
		}()
	}
}

// TestThreadsOfSeveralClasses: fit, adjoint, predictions and leave-one-out are the same bits for any number of
// threads.
func TestThreadsOfSeveralClasses(t *testing.T) {
	const n, classes = 300, 4
	cov, y := softmaxOnLine(n, classes, 1, true)
	cross, diag := mat.NewDense(n, n, full(cov[0].K.RawSymmetric()).Data), make([]float64, n)
	for i := range diag {
		diag[i] = cov[0].K.At(i, i)
	}
	defer linalg.SetThreads(1)
	var want string
	for _, threads := range []int{1, 2, 3, 16} {
		linalg.SetThreads(threads)
		p, err := Laplace{Points: 64}.Fit(context.Background(), cov, y, likelihood.Softmax{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		adjoint := Cov{K: mat.NewSymDense(n, nil), Mean: make([]float64, n)}
		if err := p.Evidence().Adjoint(&adjoint, 0); err != nil {
			t.Fatal(err)
		}
		proba, mean, variance := mat.NewDense(n, classes, nil), make([]float64, n), make([]float64, n)
		p.PredictProba(proba, []*mat.Dense{cross}, [][]float64{diag}, nil)
		p.Latent(mean, variance, cross, diag, 2)
		loo, err := p.(LeaveOneOut).LeaveOneOut()
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(p.Evidence().Value(), p.State(), adjoint.K.RawSymmetric().Data, adjoint.Mean,
			proba.RawMatrix().Data, mean, variance, loo.Value(), p.(Averager).AverageError())
		bound, err := Variational{MaxIterations: 3}.Fit(context.Background(), cov, y, likelihood.Softmax{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got += fmt.Sprint(bound.Evidence().Value(), bound.State())
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%d threads: other bits than of one", threads)
		}
	}
}
