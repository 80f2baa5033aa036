package experiments

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// drawnLabels writes a table of n cases whose latent values are a draw of a Gaussian process with this covariance, and
// whose labels follow by the probit likelihood.
func drawnLabels(t *testing.T, n int, seed uint64, k func(x, z [2]float64) float64) (name string) {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([][2]float64, n)
	for i := range x {
		x[i] = [2]float64{r.NormFloat64(), r.NormFloat64()}
	}
	cov := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			cov.SetSym(i, j, k(x[i], x[j]))
		}
		cov.SetSym(i, i, cov.At(i, i)*(1+1e-9))
	}
	var factor mat.Cholesky
	if !factor.Factorize(cov) {
		t.Fatal("not positive definite")
	}
	white, f := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		white.SetVec(i, r.NormFloat64())
	}
	var lower mat.TriDense
	factor.LTo(&lower)
	f.MulVec(&lower, white)
	text := "a,b,label\n"
	for i, c := range x {
		label := "no"
		if r.Float64() < distuv.UnitNormal.CDF(f.AtVec(i)) {
			label = "yes"
		}
		text += fmt.Sprintf("%v,%v,%s\n", c[0], c[1], label)
	}
	name = filepath.Join(t.TempDir(), "drawn.csv")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Of two kernels a search chooses the one that the data are drawn from. It is the one with the larger log evidence where
// each is tuned alone, and the search comes above the maximum of the other and not above its own.
func TestChoiceFindsTheKernelOfTheData(t *testing.T) {
	const bounds = "init: 1, bounds: [0.1, 30]"
	const kernels = "{linear: {amplitude: {" + bounds + "}}}, {se: {amplitude: {" + bounds + "}, length_scale: {" + bounds + "}}}"
	for _, c := range []struct {
		name string
		k    func(x, z [2]float64) float64
	}{
		{"1.linear", func(x, z [2]float64) float64 { return 2 * (1 + x[0]*z[0] + x[1]*z[1]) }},
		{"2.se", func(x, z [2]float64) float64 {
			return 25 * math.Exp(-(math.Pow(x[0]-z[0], 2)+math.Pow(x[1]-z[1], 2))/2)
		}},
	} {
		file := fmt.Sprintf("data: {train: %q}\nmodel: {kernel: KERNEL, likelihood: probit, inference: laplace}\n", drawnLabels(t, 90, 3, c.k))
		alone := runs(t, strings.Replace(file, "KERNEL", "["+kernels+"]", 1)+"tune: {method: bfgs, restarts: 3}\n").Configurations
		own, other := float64(alone[0].LogEvidence), float64(alone[1].LogEvidence)
		if c.name == "2.se" {
			own, other = other, own
		}
		if own <= other {
			t.Fatalf("%s: %v alone, and the other %v", c.name, own, other)
		}
		for _, method := range []string{"{method: bfgs, restarts: 4}", "{method: bayes, trials: 30}", "{method: auto, trials: 60}", "{method: cmaes, trials: 80}", "{method: random, trials: 80}"}[:exhaustive.Of(2, 5)] {
			chosen := runs(t, strings.Replace(file, "KERNEL", "{choice: ["+kernels+"]}", 1)+"tune: "+method+"\n").Configurations[0]
			if got := chosen.Hyperparameters[0]; got.Name != "choice" || got.Text != c.name {
				t.Errorf("%s: %s of %s is %s", method, got.Name, c.name, got.Text)
			}
			if got := float64(chosen.LogEvidence); !(got > other && got < own+1e-5) {
				t.Errorf("%s by %s: %v, alone %v, the other %v", c.name, method, got, own, other)
			}
		}
	}
}

// Without bounds too, whatever the data: each kernel is first tried at its initial values.
func TestChoiceWithoutBounds(t *testing.T) {
	for seed := range uint64(exhaustive.Of(1, 4)) {
		file := fmt.Sprintf("data: {train: %q}\nmodel: {kernel: {choice: [linear, se]}, likelihood: probit, inference: laplace}\n",
			drawnLabels(t, 90, seed, func(x, z [2]float64) float64 {
				return 25 * math.Exp(-(math.Pow(x[0]-z[0], 2)+math.Pow(x[1]-z[1], 2))/2)
			}))
		climbed := runs(t, file+"tune: {method: bfgs, restarts: 4}\n").Configurations[0]
		got := runs(t, file+"tune: {method: bayes, trials: 30}\n").Configurations[0]
		if got.Hyperparameters[0].Text != climbed.Hyperparameters[0].Text || got.LogEvidence < climbed.LogEvidence-1 {
			t.Errorf("%d: %v at %v, by bfgs %v at %v", seed, got.LogEvidence, got.Hyperparameters, climbed.LogEvidence, climbed.Hyperparameters)
		}
	}
}
