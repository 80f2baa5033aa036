package objective

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Under Gaussian noise the mean and variance of a weighted sum are wᵀμ and wᵀΣw with the joint
// posterior of GPML (2.23) and (2.24), here by dense algebra.
func TestFunctionalsOfTheExactPosterior(t *testing.T) {
	d := ring(30, 1)
	d.Y = approx.Targets{Value: d.Y.Value}
	o, err := New(Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Gaussian{}, Inference: approx.Exact{}},
		LogEvidence{}, d)
	if err != nil {
		t.Fatal(err)
	}
	theta := o.Layout.Start()
	p, err := o.Fit(context.Background(), theta, nil)
	if err != nil {
		t.Fatal(err)
	}
	z, n, m := ring(7, 4).X, 30, 7
	w := mat.NewDense(m, 3, nil)
	for i := range m {
		w.SetRow(i, []float64{1 / 7., float64(i%2) - 0.5, math.Sin(float64(i))})
	}
	mean, variance := p.Functionals(z, w, 0)
	noise := p.lik.(likelihood.GaussianNoise).NoiseVariance()
	k := func(a, b []float64) float64 {
		var out mat.Dense
		out.ReuseAs(1, 1)
		kernel.Cross(kernel.SE{}, &out, o.Layout.kernel(theta, 0), &kernel.Inputs{X: mat.NewDense(1, len(a), a)},
			&kernel.Inputs{X: mat.NewDense(1, len(b), b)})
		return out.At(0, 0)
	}
	gram, cross, prior := mat.NewDense(n, n, nil), mat.NewDense(n, m, nil), mat.NewDense(m, m, nil)
	for i := range n {
		for j := range n {
			gram.Set(i, j, k(d.X.X.RawRowView(i), d.X.X.RawRowView(j)))
		}
		gram.Set(i, i, gram.At(i, i)+noise)
		for j := range m {
			cross.Set(i, j, k(d.X.X.RawRowView(i), z.X.RawRowView(j)))
		}
	}
	for i := range m {
		for j := range m {
			prior.Set(i, j, k(z.X.RawRowView(i), z.X.RawRowView(j)))
		}
	}
	var solved, sigma, mu, sums, spread mat.Dense
	if err := solved.Solve(gram, cross); err != nil {
		t.Fatal(err)
	}
	sigma.Mul(cross.T(), &solved)
	sigma.Sub(prior, &sigma)
	mu.Mul(solved.T(), mat.NewDense(n, 1, d.Y.Value))
	sums.Mul(w.T(), &mu)
	spread.Product(w.T(), &sigma, w)
	for c := range mean {
		if math.Abs(mean[c]-sums.At(c, 0)) > 1e-9 || math.Abs(variance[c]-spread.At(c, c)) > 1e-9 {
			t.Errorf("sum %d has %v and %v, want %v and %v", c, mean[c], variance[c], sums.At(c, 0), spread.At(c, c))
		}
	}
}

// With one case and weight 1 a sum is a latent value, with inducing inputs too. The variance of a
// sum of two equal cases is four times as large.
func TestFunctionalsOfOneCaseAreLatentValues(t *testing.T) {
	for name, a := range map[string]approx.Approximation{"dense": approx.EP{}, "laplace": approx.Laplace{},
		"inducing": approx.EP{Structure: Inducing{Points: 8}}} {
		o, err := New(Model{Kernels: []kernel.Kernel{kernel.SE{}}, Mean: Constant{}, Likelihood: likelihood.Probit{},
			Inference: a}, nil, ring(40, 1))
		if err != nil {
			t.Fatal(err)
		}
		p, err := o.At(context.Background(), []float64{1.5, 0.2, 0.4})
		if err != nil {
			t.Fatal(err)
		}
		z := ring(5, 9).X
		wantMean, wantVariance := p.Latents(z)
		eye := mat.NewDense(5, 5, nil)
		for i := range 5 {
			eye.Set(i, i, 1)
		}
		mean, variance := p.Functionals(z, eye, 0)
		twice := mat.NewDense(2, z.Dim(), nil)
		twice.SetRow(0, z.X.RawRowView(0))
		twice.SetRow(1, z.X.RawRowView(0))
		_, both := p.Functionals(&kernel.Inputs{X: twice}, mat.NewDense(2, 1, []float64{1, 1}), 0)
		for i := range 5 {
			if math.Abs(mean[i]-wantMean[0][i]) > 1e-9 || math.Abs(variance[i]-wantVariance[0][i]) > 1e-9 {
				t.Errorf("%s: case %d has %v and %v, want %v and %v", name, i, mean[i], variance[i], wantMean[0][i],
					wantVariance[0][i])
			}
		}
		if math.Abs(both[0]-4*wantVariance[0][0]) > 1e-8 {
			t.Errorf("%s: the variance of twice a value is %v, want 4 times %v", name, both[0], wantVariance[0][0])
		}
		// The slopes are the derivatives of the probabilities with respect to the means.
		const h = 1e-5
		proba, slope, ok := p.Slopes(wantMean[0], wantVariance[0])
		up, down := append([]float64{}, wantMean[0]...), append([]float64{}, wantMean[0]...)
		for i := range up {
			up[i], down[i] = up[i]+h, down[i]-h
		}
		above, _, _ := p.Slopes(up, wantVariance[0])
		below, _, _ := p.Slopes(down, wantVariance[0])
		averaged := predict(p, z, Averaged{})
		for i := range slope {
			if want := (above[i] - below[i]) / (2 * h); !ok || math.Abs(slope[i]-want) > 1e-8 ||
				math.Abs(proba[i]-averaged.At(i, 1)) > 1e-12 {
				t.Errorf("%s: slope %v, want %v; probability %v, want %v", name, slope[i], want, proba[i], averaged.At(i, 1))
			}
		}
	}
}
