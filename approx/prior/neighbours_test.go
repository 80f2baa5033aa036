package prior

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestPredictionsByNeighbours: a new input whose neighbours are all cases has the mean and variance of
// dense matrices, and one with some neighbours has wᵀ(f_N - m_N) and D + wᵀΣ_NN w.
func TestPredictionsByNeighbours(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, s := range structures(4) {
		if s.cov.Neighbours == nil || s.cov.Cross != nil {
			continue
		}
		tau := precisions()["positive"]
		p := s.prior(t)
		if err := p.Factorise(tau); err != nil {
			t.Fatal(err)
		}
		khat, _ := s.matrix(t, s.cov)
		sigma, _, _ := posterior(t, khat, diagonal(tau))
		for _, m := range []int{testCases, 3} {
			of := rng.Perm(testCases)[:m]
			const diag = 2.5
			own, to := mat.NewSymDense(m, nil), mat.NewVecDense(m, nil)
			var column []float64
			for _, j := range of {
				column = append(column, float64(j))
			}
			for a, j := range of {
				for e, l := range of[a:] {
					column = append(column, s.cov.K.At(j, l))
					own.SetSym(a, a+e, s.cov.K.At(j, l))
				}
				own.SetSym(a, a, own.At(a, a)+s.cov.Noise[j])
				c := 0.9 * s.cov.K.At(j, 3)
				column = append(column, c)
				to.SetVec(a, c)
			}
			var w, kb mat.VecDense
			if err := w.SolveVec(own, to); err != nil {
				t.Fatal(err)
			}
			b, mean, variance := wave(testCases, 4), make([]float64, 1), make([]float64, 1)
			kb.MulVec(khat, mat.NewVecDense(testCases, b))
			wantMean, wantVariance := 0.0, diag-mat.Dot(&w, to)
			for a, j := range of {
				wantMean += w.AtVec(a) * kb.AtVec(j)
				for e, l := range of {
					wantVariance += w.AtVec(a) * w.AtVec(e) * sigma.At(j, l)
				}
			}
			p.Latent(b, mean, variance, mat.NewDense(s.cov.Neighbours.CrossRows(m), 1, column), []float64{diag})
			near(t, "a latent mean", mean[0], wantMean, 1e-9)
			near(t, "a latent variance", variance[0], wantVariance, 1e-9)
		}
	}
}
