package approx_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// threeClasses labels points of the plane by their sector.
func threeClasses(n int) (x [][]float64, y approx.Targets) {
	x, _ = twoClasses(n, 5)
	y = approx.Targets{Classes: 3, Index: make([]int, n)}
	for i, p := range x {
		y.Index[i] = int(3 * (math.Atan2(p[1], p[0]) + math.Pi) / (2 * math.Pi) * 0.999)
	}
	return x, y
}

func gram(x [][]float64, length float64) *mat.SymDense {
	k := mat.NewSymDense(len(x), nil)
	for i := range x {
		for j := i; j < len(x); j++ {
			d := floats.Distance(x[i], x[j], 2)
			k.SetSym(i, j, 4*math.Exp(-d*d/(2*length*length)))
		}
	}
	return k
}

func against(y approx.Targets, class int) approx.Targets {
	binary := approx.Targets{Classes: 2}
	for _, c := range y.Index {
		v := -1.0
		if c == class {
			v = 1
		}
		binary.Value = append(binary.Value, v)
	}
	return binary
}

func TestOneVsRestIsTheBinaryProblemsSideBySide(t *testing.T) {
	x, y := threeClasses(30)
	n := len(x)
	for _, shared := range []bool{true, false} {
		var cov []approx.Cov
		for c := range 3 {
			if c == 0 || !shared {
				cov = append(cov, approx.Cov{K: gram(x, 1+float64(c)/2), Mean: slices.Repeat([]float64{0.1}, n)})
			}
		}
		lik := likelihood.Probit{}.At(nil)
		method := approx.OneVsRest{Binary: approx.EP{}}
		post, err := method.Fit(t.Context(), cov, y, lik, nil)
		if err != nil {
			t.Fatal(err)
		}
		// The adjoint of a shared covariance is the sum over the classes; with one covariance per class, each class
		// has its own.
		value := 0.0
		want := make([]*mat.SymDense, len(cov))
		wantMean := make([][]float64, len(cov))
		for k := range cov {
			want[k], wantMean[k] = mat.NewSymDense(n, nil), make([]float64, n)
		}
		for c := range 3 {
			k := min(c, len(cov)-1)
			one, err := approx.EP{}.Fit(t.Context(), cov[k:k+1], against(y, c), lik, nil)
			if err != nil {
				t.Fatal(err)
			}
			value += one.Evidence().Value()
			g := approx.Cov{K: mat.NewSymDense(n, nil), Mean: make([]float64, n)}
			if err := one.Evidence().Adjoint(&g, 0); err != nil {
				t.Fatal(err)
			}
			want[k].AddSym(want[k], g.K)
			floats.Add(wantMean[k], g.Mean)
		}
		if got := post.Evidence().Value(); math.Abs(got-value) > 1e-12*math.Abs(value) {
			t.Errorf("shared %v: evidence %v, want %v", shared, got, value)
		}
		for k := range cov {
			g := approx.Cov{K: mat.NewSymDense(n, nil), Mean: make([]float64, n)}
			if err := post.Evidence().Adjoint(&g, k); err != nil {
				t.Fatal(err)
			}
			if !mat.EqualApprox(g.K, want[k], 1e-12) || !floats.EqualApprox(g.Mean, wantMean[k], 1e-12) {
				t.Errorf("shared %v: the adjoint of covariance %d is not the sum of its classes'", shared, k)
			}
		}
		again, err := method.Restore(cov, y, lik, post.State())
		if err != nil {
			t.Fatal(err)
		}
		if again.Evidence().Value() != post.Evidence().Value() {
			t.Errorf("shared %v: restored evidence %v, want %v", shared, again.Evidence().Value(), post.Evidence().Value())
		}
		var cross []*mat.Dense
		var diag [][]float64
		for _, c := range cov {
			var k mat.Dense
			k.CloneFrom(c.K)
			cross, diag = append(cross, &k), append(diag, slices.Repeat([]float64{4}, n))
		}
		proba := mat.NewDense(n, 3, nil)
		post.PredictProba(proba, cross, diag, nil)
		right := 0
		for i := range n {
			row := proba.RawRowView(i)
			if math.Abs(floats.Sum(row)-1) > 1e-14 {
				t.Errorf("probabilities %v do not sum to 1", row)
			}
			if floats.MaxIdx(row) == y.Index[i] {
				right++
			}
		}
		if right < n*4/5 {
			t.Errorf("shared %v: only %d of %d training cases are recognised", shared, right, n)
		}
	}
}

func TestOneVsRestRefusesTwoClasses(t *testing.T) {
	method := approx.OneVsRest{Binary: approx.Laplace{}}
	if _, err := method.Uses(likelihood.Logit{}, 2); err == nil {
		t.Error("two classes were accepted")
	}
	if _, err := method.Uses(likelihood.Logit{}, 3); err != nil {
		t.Error(err)
	}
}

// A state that is too short, too long or holds an invalid length is an error.
func TestOneVsRestRefusesStates(t *testing.T) {
	k := mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
	method, cov, y, lik := approx.OneVsRest{Binary: approx.Laplace{}}, []approx.Cov{{K: k}}, approx.Targets{Classes: 3, Index: []int{0, 1, 2}}, likelihood.Logit{}.At(nil)
	post, err := method.Fit(t.Context(), cov, y, lik, nil)
	if err != nil {
		t.Fatal(err)
	}
	good := post.State()
	if _, err := method.Restore(cov, y, lik, good); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []approx.State{{}, good[:1], good[:len(good)-1], good[:7], append(slices.Clone(good), 0), slices.Concat(approx.State{math.NaN()}, good[1:]), slices.Concat(approx.State{-1}, good[1:]), slices.Concat(approx.State{1e300}, good[1:])} {
		if _, err := method.Restore(cov, y, lik, bad); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}
