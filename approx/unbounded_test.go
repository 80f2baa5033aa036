package approx_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// TestSitesWithoutBound: the cases have contradictory labels, a covariance of rank 2 or 3 and a
// likelihood that jumps. The message of a fit that does not converge has the cause. The noise that
// it suggests is enough for every amplitude.
func TestSitesWithoutBound(t *testing.T) {
	failed, told := 0, 0
	for seed := range uint64(3) {
		for rank, n := range map[int]int{2: 12, 3: 60} {
			rng := rand.New(rand.NewPCG(seed, 1))
			x, y, largest := make([]float64, n), make([]float64, n), 0.0
			for i := range x {
				x[i], y[i] = 6*rng.Float64()-3, -1
				if rank == 2 && x[i] > 0 || rank == 3 && x[i]*x[i] > 2 != (rng.Float64() < 0.15) {
					y[i] = 1
				}
				if rank == 2 && i%5 == 0 {
					y[i] = -y[i]
				}
				largest = max(largest, math.Pow(1+x[i]*x[i], float64(rank-1)))
			}
			for _, lik := range []likelihood.Bound{likelihood.Step{}.At(nil), likelihood.NoisyThreshold{}.At([]float64{math.Log(0.001)})} {
				for _, m := range []approx.Approximation{approx.EP{}, approx.PL{}, approx.EP{Iteration: approx.Iteration{Schedule: approx.Parallel}}} {
					for _, noise := range []float64{0, 1e-6 * largest} {
						k := mat.NewSymDense(n, nil)
						for i := range n {
							for j := i; j < n; j++ {
								k.SetSym(i, j, 100*math.Pow(1+x[i]*x[j], float64(rank-1)))
							}
							k.SetSym(i, i, k.At(i, i)+100*noise)
						}
						post, err := m.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, lik, nil)
						if err == nil {
							err = post.Diagnostics().Failure
						}
						switch {
						case noise > 0 && err != nil:
							t.Errorf("seed %d, rank %d, %T, %T with noise: %v", seed, rank, lik, m, err)
						case err != nil:
							failed++
							if errors.Is(err, approx.ErrNotConverged) && strings.Contains(err.Error(), "has rank "+string(rune('0'+rank))) && strings.Contains(err.Error(), "noise kernel") {
								told++
							} else {
								t.Errorf("seed %d, rank %d, %T, %T: %v", seed, rank, lik, m, err)
							}
						}
					}
				}
			}
		}
	}
	if t.Logf("%d of 36 fits did not converge", failed); failed < 12 || told != failed {
		t.Errorf("%d of 36 fits did not converge and %d say why", failed, told)
	}
}

// TestSmoothLikelihoodsAreNotBlamed: a fit with a smooth likelihood that reaches the limit of iterations reports
// that, whatever the rank of K.
func TestSmoothLikelihoodsAreNotBlamed(t *testing.T) {
	x, y := twoClasses(20, 2)
	k := mat.NewSymDense(20, nil)
	for i := range x {
		for j := i; j < 20; j++ {
			k.SetSym(i, j, 1+x[i][0]*x[j][0])
		}
	}
	post, err := approx.EP{Iteration: approx.Iteration{MaxIterations: 1}}.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, likelihood.Probit{}.At(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := post.Diagnostics(); d.Converged || d.Failure == nil || !strings.Contains(d.Failure.Error(), "raise max_iterations") || strings.Contains(d.Failure.Error(), "rank") {
		t.Errorf("%+v", d)
	}
}
