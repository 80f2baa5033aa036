package objective

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

func line(x ...float64) Data { return Data{X: &kernel.Inputs{X: mat.NewDense(len(x), 1, x)}} }

// N draws have a sample mean of standard error √(K_ii/N), and sample covariances (around the known mean) of standard error
// √((K_ii K_jj + K_ij²)/N).
func TestDrawsHaveThePriorsMoments(t *testing.T) {
	const count, constant = 20000, 1.5
	noise := kernel.Sum{{Kind: "se", Kernel: kernel.SE{}}, {Kind: "noise", Kernel: kernel.Noise{}}}
	m := Model{Kernels: []kernel.Kernel{noise}, Mean: Constant{param.Setting{Bare: ptr(constant)}}, Likelihood: likelihood.Probit{}}
	d := line(-2, 0, 0.5, 3)
	theta := []float64{math.Log(2), math.Log(0.8), math.Log(0.3), constant}
	draws, jitter, err := m.Draw(t.Context(), theta, d, count, 1)
	if err != nil || jitter != 0 || len(draws) != count {
		t.Fatal(len(draws), jitter, err)
	}
	k := func(i, j int) float64 {
		r := (d.X.X.At(i, 0) - d.X.X.At(j, 0)) / 0.8
		v := 4 * math.Exp(-r*r/2)
		if i == j {
			v += 0.09
		}
		return v
	}
	for i := range 4 {
		for j := range i + 1 {
			mean, product := 0.0, 0.0
			for _, draw := range draws {
				f := draw.Latent[0]
				mean += f[i] / count
				product += (f[i] - constant) * (f[j] - constant) / count
			}
			if se := math.Sqrt(k(i, i) / count); math.Abs(mean-constant) > 5*se {
				t.Errorf("mean of f(%d) = %v ± %v, want %v", i, mean, se, constant)
			}
			if se := math.Sqrt((k(i, i)*k(j, j) + k(i, j)*k(i, j)) / count); math.Abs(product-k(i, j)) > 5*se {
				t.Errorf("covariance of f(%d) and f(%d) = %v ± %v, want %v", i, j, product, se, k(i, j))
			}
		}
	}
	for _, draw := range draws[:100] {
		if len(draw.Latent) != 1 || len(draw.Proba) != 1 {
			t.Fatalf("%d functions, probabilities of %d classes", len(draw.Latent), len(draw.Proba))
		}
		for i, f := range draw.Latent[0] {
			if p, want := draw.Proba[0][i], distuv.UnitNormal.CDF(f); math.Abs(p-want) > 1e-14 {
				t.Errorf("p(y = 1|f = %v) = %v, want %v", f, p, want)
			}
		}
	}
}

// Softmax has independent processes, one per class, each with the covariance of its kernel.
func TestDrawsOfManyClasses(t *testing.T) {
	const count = 20000
	m := Model{Kernels: []kernel.Kernel{kernel.SE{}, kernel.SE{}, kernel.SE{}}, Likelihood: likelihood.Softmax{}}
	d := line(0, 1)
	d.Classes = []string{"a", "b", "c"}
	sd := []float64{0.5, 1, 3}
	draws, _, err := m.Draw(t.Context(), []float64{math.Log(sd[0]), 0, 0, 0, math.Log(3), 0}, d, count, 3)
	if err != nil {
		t.Fatal(err)
	}
	for a := range 3 {
		for b := range a + 1 {
			product := 0.0
			for _, draw := range draws {
				product += draw.Latent[a][0] * draw.Latent[b][0] / count
			}
			want, se := 0.0, sd[a]*sd[b]/math.Sqrt(count)
			if a == b {
				want, se = sd[a]*sd[a], math.Sqrt2*se
			}
			if math.Abs(product-want) > 5*se {
				t.Errorf("covariance of f_%d and f_%d = %v ± %v, want %v", a, b, product, se, want)
			}
		}
	}
	f, p := draws[7].Latent, draws[7].Proba
	for i := range 2 {
		sum := math.Exp(f[0][i]) + math.Exp(f[1][i]) + math.Exp(f[2][i])
		for c := range 3 {
			if want := math.Exp(f[c][i]) / sum; math.Abs(p[c][i]-want) > 1e-14 {
				t.Errorf("p(y = %d|f) = %v, want %v", c, p[c][i], want)
			}
		}
	}
}

func TestDrawsRepeat(t *testing.T) {
	m := Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Gaussian{}}
	theta := []float64{0, 0, 0}
	draw := func(count int, seed uint64) []Draw {
		draws, jitter, err := m.Draw(t.Context(), theta, line(0, 1, 1), count, seed)
		if err != nil || !(jitter > 0 && jitter < 1e-12) || draws[0].Proba != nil {
			t.Fatalf("jitter %v for two equal cases, error %v, probabilities %v", jitter, err, draws[0].Proba)
		}
		if f := draws[0].Latent[0]; math.Abs(f[1]-f[2]) > 1e-6 {
			t.Errorf("equal cases have f = %v and %v", f[1], f[2])
		}
		return draws
	}
	few, many := draw(2, 5), draw(4, 5)
	if !reflect.DeepEqual(few, many[:2]) || reflect.DeepEqual(many[0], many[1]) {
		t.Error("more draws do not extend the list")
	}
	if reflect.DeepEqual(few, draw(2, 6)) {
		t.Error("the seed changes nothing")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := m.Draw(ctx, theta, line(0, 1), 2, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	endless := Model{Kernels: []kernel.Kernel{kernel.Linear{}}, Likelihood: likelihood.Probit{}}
	if _, _, err := endless.Draw(t.Context(), []float64{400}, line(1e200, -1e200), 1, 1); err == nil || !strings.Contains(err.Error(), "K at log_amplitude=400 overflows") {
		t.Errorf("error %v", err)
	}
}
