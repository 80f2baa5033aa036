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

// TestPredictionsOfClassesByNeighbours: at a new input, the values of the classes have the means w_cᵀ(f_N - m_N) and the
// covariances δ_cd D_c + w_cᵀ Σ_cd w_d of dense matrices.
func TestPredictionsOfClassesByNeighbours(t *testing.T) {
	const n, diag = testCases, 2.5
	rng := rand.New(rand.NewPCG(6, 1))
	joint(t, func(t *testing.T, j *jointPrior, _ bool) {
		if j.of[0].cov.Neighbours == nil {
			return
		}
		sigma, _, _ := posterior(t, j.k, j.w)
		of := rng.Perm(n)[:3]
		whole, innovation := mat.NewDense(testClasses*n, testClasses, nil), make([]float64, testClasses)
		var cross []*mat.Dense
		var diags [][]float64
		for c, s := range j.of {
			own, to := mat.NewSymDense(3, nil), mat.NewVecDense(3, nil)
			column := []float64{float64(of[0]), float64(of[1]), float64(of[2])}
			for a, i := range of {
				for e, l := range of[a:] {
					column = append(column, s.cov.K.At(i, l))
					own.SetSym(a, a+e, s.cov.K.At(i, l))
				}
				own.SetSym(a, a, own.At(a, a)+s.cov.Noise[i])
				to.SetVec(a, 0.9*s.cov.K.At(i, 3))
				column = append(column, to.AtVec(a))
			}
			var w mat.VecDense
			if err := w.SolveVec(own, to); err != nil {
				t.Fatal(err)
			}
			for a, i := range of {
				whole.Set(c*n+i, c, w.AtVec(a))
			}
			innovation[c] = diag - mat.Dot(&w, to)
			cross, diags = append(cross, mat.NewDense(s.cov.Neighbours.CrossRows(3), 1, column)), append(diags, []float64{diag})
		}
		b := wave(testClasses*n, 4)
		var kb, means mat.VecDense
		kb.MulVec(j.k, mat.NewVecDense(testClasses*n, b))
		means.MulVec(whole.T(), &kb)
		var want mat.Dense
		want.Product(whole.T(), sigma, whole)
		p := j.classes.Posterior(b)
		for c, d := range innovation {
			want.Set(c, c, want.At(c, c)+d)
			mean, variance := make([]float64, 1), make([]float64, 1)
			p.Latent(mean, variance, c, cross[c], diags[c])
			near(t, "a latent mean", mean[0], means.AtVec(c), 1e-9)
			near(t, "a latent variance", variance[0], want.At(c, c), 1e-9)
		}
		p.Covariances(cross, diags, false, func(_ int, got *mat.SymDense) {
			for c := range testClasses {
				for d := range testClasses {
					near(t, "a latent covariance", got.At(c, d), want.At(c, d), 1e-9)
				}
			}
		})
	})
}
