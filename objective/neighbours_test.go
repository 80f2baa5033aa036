package objective

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// rowsOf are some rows of z, in this order.
func rowsOf(z *kernel.Inputs, rows []int) *kernel.Inputs {
	x := mat.NewDense(len(rows), z.Dim(), nil)
	for i, r := range rows {
		x.SetRow(i, z.X.RawRowView(r))
	}
	return &kernel.Inputs{X: x}
}

// everything has for every case of z all that a fit predicts of it.
func everything(p *Point, z *kernel.Inputs) (rows [][]float64) {
	rows = make([][]float64, z.N())
	means, variances := p.Latents(z)
	alone := p.LatentMeans(z)
	for i := range rows {
		for c := range means {
			rows[i] = append(rows[i], means[c][i], variances[c][i], alone[c][i])
		}
	}
	classes := p.objective.data.Y.Classes
	if classes == 0 {
		mean, variance := make([]float64, z.N()), make([]float64, z.N())
		p.PredictMoments(mean, variance, z)
		for i := range rows {
			rows[i] = append(rows[i], mean[i], variance[i])
		}
		return rows
	}
	for _, e := range Averages {
		a, err := e.New(nil)
		if err != nil || a.Uses(p.objective.model.Likelihood) != nil {
			continue
		}
		if m, is := a.(MonteCarlo); is {
			m.Samples = 20
			a = m
		}
		dst := mat.NewDense(z.N(), classes, nil)
		p.PredictProba(dst, z, a)
		for i := range rows {
			rows[i] = append(rows[i], dst.RawRowView(i)...)
		}
	}
	return rows
}

// checkNeighbours compares the predictions of z in batches of other sizes and in another order, bit by bit.
func checkNeighbours(t *testing.T, name string, p *Point, z *kernel.Inputs, sizes []int) {
	t.Helper()
	want := everything(p, z)
	order := rand.New(rand.NewPCG(5, 0)).Perm(z.N())
	for _, size := range sizes {
		for from := 0; from < z.N(); from += size {
			rows := order[from:min(from+size, z.N())]
			got := everything(p, rowsOf(z, rows))
			for i, r := range rows {
				for k, v := range got[i] {
					if math.Float64bits(v) != math.Float64bits(want[r][k]) {
						t.Errorf("%s: case %d, value %d in a batch of %d: %v, want %v", name, r, k, len(rows), v, want[r][k])
						return
					}
				}
			}
		}
	}
}

// A case is predicted the same, bit by bit, whatever other cases are predicted with it: with every
// method, likelihood and structure, and every kernel.
func TestPredictionsKnowNoNeighbours(t *testing.T) {
	tenth := 0.1
	z := ring(29, 77).X
	two, three := ring(37, 3), rings(37, 3)
	numbers := Data{X: two.X, Scaled: true}
	for i := range two.X.N() {
		numbers.Y.Value = append(numbers.Y.Value, two.X.X.At(i, 0)+0.3*two.Y.Value[i])
	}
	ordered := rings(37, 3)
	noisy := kernel.Sum{{Kind: "se", Kernel: kernel.SE{}}, {Kind: "noise", Kernel: kernel.Noise{Amplitude: param.Setting{Fixed: &tenth}}}}
	fits := 0
	try := func(name string, m Model, d Data) {
		o, err := New(m, nil, d)
		if err != nil {
			return
		}
		p, err := o.Fit(context.Background(), o.Layout.Start(), nil)
		if err != nil || p.Converged() != nil {
			return
		}
		fits++
		checkNeighbours(t, name, p, z, []int{1, 7})
	}
	for a, d := range []Data{numbers, two, three, ordered} {
		for b, e := range approx.Table {
			m := e.New
			method, err := m(nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, is := method.(approx.Sampling); is {
				method = approx.Sampling{Temperatures: 20, Samples: 20, Burn: 5, Chains: 4}
			}
			methods := map[string]approx.Approximation{e.Name: method, "one_vs_rest " + e.Name: approx.OneVsRest{Binary: method}}
			for name, method := range methods {
				for i, inducing := range []int{0, 9} {
					if inducing > 0 {
						with, ok := Induced(method, inducing)
						if !ok {
							continue
						}
						method = with
					}
					for j, l := range likelihood.Table {
						if !exhaustive.Tries(2, a, b, i, j) {
							continue
						}
						lik, err := l.New(nil)
						if err != nil {
							t.Fatal(err)
						}
						try(fmt.Sprintf("%s, %s, %d inducing inputs, %d classes", name, l.Name, inducing, d.Y.Classes),
							Model{Kernels: []kernel.Kernel{noisy}, Mean: Constant{}, Likelihood: lik, Inference: method}, d)
					}
				}
			}
		}
	}
	before := fits
	for _, e := range kernel.Table {
		k, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, inducing := range []int{0, 9} {
			var method approx.Approximation = approx.EP{}
			if inducing > 0 {
				method, _ = Induced(method, inducing)
			}
			try(fmt.Sprintf("%s, %d inducing inputs", e.Name, inducing),
				Model{Kernels: []kernel.Kernel{k}, Likelihood: likelihood.Probit{}, Inference: method}, two)
		}
	}
	t.Logf("%d methods and %d kernels", before, fits-before)
	if before < exhaustive.Of(60, 120) || fits-before < 20 {
		t.Errorf("only %d methods and %d kernels were fitted", before, fits-before)
	}
}

// Predictions do not depend on the other new cases either if sums have several blocks that threads
// share, or if rows of five probabilities are not aligned in memory, with every instruction set.
func TestPredictionsKnowNoNeighboursOfLargeSets(t *testing.T) {
	linalg.SetThreads(2)
	defer linalg.SetThreads(1)
	large, five := ring(400, 4), rings(150, 4)
	five.Classes, five.Y.Classes = []string{"a", "b", "c", "d", "e"}, 5
	for i := range five.Y.Index {
		five.Y.Index[i] = (five.Y.Index[i] + i/50) % 5
	}
	many := ring(14, 78).X
	for _, c := range []struct {
		m Model
		d Data
	}{
		{Model{Likelihood: likelihood.Logit{}, Inference: approx.Laplace{}}, large},
		{Model{Likelihood: likelihood.Probit{}, Inference: approx.EP{Structure: Inducing{Points: 40}}}, large},
		{Model{Likelihood: likelihood.Softmax{}, Inference: approx.Laplace{}}, five},
		{Model{Likelihood: likelihood.Softmax{}, Inference: approx.Laplace{Structure: Inducing{Points: 40}}}, five},
		{Model{Likelihood: likelihood.Probit{}, Inference: approx.OneVsRest{Binary: approx.EP{}}}, five},
	} {
		c.m.Kernels = []kernel.Kernel{kernel.SE{ARD: true}}
		o, err := New(c.m, nil, c.d)
		if err != nil {
			t.Fatal(err)
		}
		p, err := o.Fit(context.Background(), o.Layout.Start(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range linalg.Paths() {
			linalg.With(path, func() {
				checkNeighbours(t, fmt.Sprintf("%s, %T of %d", path, c.m.Inference, c.d.X.N()), p, many, []int{1, 5})
			})
		}
	}
}

// Correlations are covariances over the standard deviations, for a kernel of the variance σ² + x²,
// and without the noise.
func TestCorrelations(t *testing.T) {
	k := kernel.Sum{{Kernel: kernel.SE{}}, {Kernel: kernel.Linear{}}, {Kernel: kernel.Noise{}}}
	x := &kernel.Inputs{X: mat.NewDense(3, 1, []float64{-2, 0.5, 3})}
	z := &kernel.Inputs{X: mat.NewDense(2, 1, []float64{1, 4})}
	theta := make([]float64, len(k.Params(1)))
	for j := range theta {
		theta[j] = 0.3 + 0.2*float64(j)
	}
	covariance, own, others := mat.NewDense(3, 2, nil), mat.NewDense(3, 3, nil), mat.NewDense(2, 2, nil)
	kernel.Cross(k, covariance, theta, x, z)
	smooth := k[:2]
	kernel.Cross(smooth, own, theta[:len(smooth.Params(1))], x, x)
	kernel.Cross(smooth, others, theta[:len(smooth.Params(1))], z, z)
	got := correlations(k, theta, x, z)
	for i := range 3 {
		for j := range 2 {
			want := covariance.At(i, j) / math.Sqrt(own.At(i, i)*others.At(j, j))
			if math.Abs(got.At(i, j)-want) > 1e-14 {
				t.Errorf("%d, %d: %v, want %v", i, j, got.At(i, j), want)
			}
		}
	}
}
