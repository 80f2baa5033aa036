package approxtest

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// weights: a case of weight w, a whole number, has the effect of w equal cases on every result of a
// posterior. For other weights, the gradients of the evidence and of leave-one-out are checked.
func (c check) weights(t *testing.T) {
	if !c.caps.Weights {
		x, y := c.cases(3, 20)
		k, _, _ := SquaredExponential(x, 0, 0)
		targets := c.targets(y)
		targets.Weight = []float64{1, 2, 1}
		if _, err := c.method.Fit(context.Background(), c.prior(k, nil), targets, c.lik, nil); err == nil {
			t.Error("weights are ignored")
		}
		return
	}
	c.method = with(c.method, "tolerance", 1e-13)
	c.repeated(t)
	c.anyWeight(t)
	x, y := c.cases(3, 20)
	k, _, _ := SquaredExponential(x, 0, 0)
	for _, wrong := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		targets := c.targets(y)
		targets.Weight = []float64{1, wrong, 1}
		if _, err := c.method.Fit(context.Background(), c.prior(k, nil), targets, c.lik, nil); err == nil {
			t.Errorf("the weight %v is accepted", wrong)
		}
	}
}

// repeated compares weights with repeated cases.
func (c check) repeated(t *testing.T) {
	const n = 14
	x, y := c.cases(n, 21)
	weighted := c.targets(y)
	var of []int // the case of every repeated one
	mean := make([]float64, n)
	for i := range n {
		w := 1 + (i*i+i/2)%3
		weighted.Weight = append(weighted.Weight, float64(w))
		of = append(of, slices.Repeat([]int{i}, w)...)
		mean[i] = x[i][0] / 3
	}
	repeated := approx.Targets{Classes: c.classes}
	means := make([]float64, len(of))
	for a, i := range of {
		if weighted.Index != nil {
			repeated.Index = append(repeated.Index, weighted.Index[i])
		} else {
			repeated.Value = append(repeated.Value, weighted.Value[i])
		}
		means[a] = mean[i]
	}
	for i, theta := range [][2]float64{{0, 0}, {0.5, 1.5}, {-1, 2}, {1, -2}} {
		if !exhaustive.Tries(2, c.cell, i) {
			continue
		}
		k, _, _ := SquaredExponential(x, theta[0], theta[1])
		k = Prior(c.lik, k)
		all := mat.NewSymDense(len(of), nil)
		for a, i := range of {
			for b := a; b < len(of); b++ {
				all.SetSym(a, b, k.At(i, of[b]))
			}
		}
		want := c.fitTargets(t, approx.Cov{K: all, Mean: means}, repeated)
		got := c.fitTargets(t, approx.Cov{K: k, Mean: mean}, weighted)
		c.sameFunctional(t, theta, "evidence", got.Evidence(), want.Evidence(), of)
		if _, ok := got.(approx.LeaveOneOut); ok && c.caps.LeaveOneOut {
			f, err := got.(approx.LeaveOneOut).LeaveOneOut()
			g, wrong := want.(approx.LeaveOneOut).LeaveOneOut()
			if err != nil || wrong != nil {
				t.Fatal(err, wrong)
			}
			c.sameFunctional(t, theta, "leave-one-out", f, g, of)
		}
		cross := mat.NewDense(len(of), n, nil)
		for a, i := range of {
			cross.SetRow(a, mat.Row(nil, i, k))
		}
		p, q := c.predictFrom(got, mat.DenseCopyOf(k), k), c.predictFrom(want, cross, k)
		if !mat.EqualApprox(p, q, 1e-9) {
			t.Errorf("%v: predictions %v, of repeated cases %v", theta, mat.Formatted(p), mat.Formatted(q))
		}
	}
}

func (c check) fitTargets(t *testing.T, cov approx.Cov, y approx.Targets) approx.Posterior {
	t.Helper()
	post, err := c.method.Fit(context.Background(), []approx.Cov{cov}, y, c.lik, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !post.Diagnostics().Converged {
		t.Fatalf("not converged: %+v", post.Diagnostics())
	}
	return post
}

// sameFunctional compares the values and derivatives of weighted cases and of repeated cases.
func (c check) sameFunctional(t *testing.T, theta [2]float64, name string, got, want approx.Functional, of []int) {
	t.Helper()
	if !near(got.Value(), want.Value(), 1e-9) {
		t.Errorf("%v: %s %.14g, of repeated cases %.14g", theta, name, got.Value(), want.Value())
	}
	if !c.caps.Gradient || name != "evidence" && !c.caps.LeaveOneOutGradient {
		return
	}
	n := 1 + slices.Max(of)
	g, all := adjoint(t, got, n), adjoint(t, want, len(of))
	sum := mat.NewDense(n, n, nil)
	means := make([]float64, n)
	for a, i := range of {
		means[i] += all.Mean[a]
		for b, j := range of {
			sum.Set(i, j, sum.At(i, j)+all.K.At(a, b))
		}
	}
	scale := max(1, mat.Max(sum), -mat.Min(sum), floats.Norm(means, math.Inf(1)))
	if !mat.EqualApprox(g.K, sum, 1e-9*scale) || !floats.EqualApprox(g.Mean, means, 1e-9*scale) {
		t.Errorf("%v: the adjoint of %s is not that of repeated cases", theta, name)
	}
	p := make([]float64, len(c.lik.Likelihood().Params()))
	q := make([]float64, len(p))
	if err := got.Likelihood(p); err != nil {
		t.Fatal(err)
	}
	if err := want.Likelihood(q); err != nil {
		t.Fatal(err)
	}
	if !floats.EqualApprox(p, q, 1e-9*max(1, floats.Norm(q, math.Inf(1)))) {
		t.Errorf("%v: the derivatives of %s by the likelihood's parameters are %v, of repeated cases %v",
			theta, name, p, q)
	}
}

// anyWeight compares gradients with differences, for weights on both sides of 1.
func (c check) anyWeight(t *testing.T) {
	if !c.caps.Gradient {
		return
	}
	const n, h = 16, 2e-5
	x, y := c.cases(n, 22)
	targets := c.targets(y)
	for i := range n {
		targets.Weight = append(targets.Weight, 0.2+0.45*float64(i%7))
	}
	for _, theta := range [][2]float64{{0, 0}, {0.5, 1.5}} {
		at := func(dl, da float64) []approx.Functional {
			k, _, _ := SquaredExponential(x, theta[0]+dl, theta[1]+da)
			post := c.fitTargets(t, approx.Cov{K: Prior(c.lik, k)}, targets)
			all := []approx.Functional{post.Evidence()}
			if c.caps.LeaveOneOutGradient {
				f, err := post.(approx.LeaveOneOut).LeaveOneOut()
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, f)
			}
			return all
		}
		_, byLength, byAmp := SquaredExponential(x, theta[0], theta[1])
		here, longer, shorter, up, down := at(0, 0), at(h, 0), at(-h, 0), at(0, h), at(0, -h)
		for j, f := range here {
			g := adjoint(t, f, n)
			for _, d := range [][2]float64{
				{along(g.K, byLength), (longer[j].Value() - shorter[j].Value()) / (2 * h)},
				{along(g.K, byAmp), (up[j].Value() - down[j].Value()) / (2 * h)},
			} {
				if !(math.Abs(d[0]-d[1]) <= 1e-6*max(1, math.Abs(d[1]), math.Abs(f.Value()))) {
					t.Errorf("%v: the gradient of functional %d is %.10g, differences give %.10g", theta, j, d[0], d[1])
				}
			}
		}
	}
}
