package prior

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestPredictionsAtFullScale: a new input is one more case of the residual's prior. With the weights w of its
// neighbours, the covariance of its latent value with the cases is v*ᵀV + wᵀC, and its variance |v*|² + D + wᵀC w. Two
// of them have a sum.
func TestPredictionsAtFullScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for _, s := range structures(5) {
		if s.cov.Neighbours == nil || s.cov.Cross == nil {
			continue
		}
		tau := precisions()["positive"]
		p := s.prior(t)
		if err := p.Factorise(tau); err != nil {
			t.Fatal(err)
		}
		khat, _ := s.matrix(t, s.cov)
		_, shrunk, _ := posterior(t, khat, diagonal(tau))
		var r, solved, q, c mat.Dense
		r.Mul(shrunk, diagonal(tau))
		if err := solved.Solve(s.cov.K, s.cov.Cross); err != nil {
			t.Fatal(err)
		}
		q.Mul(s.cov.Cross.T(), &solved)
		c.Sub(khat, &q)
		whole := mat.NewSymDense(testCases, nil) // any covariances of the neighbours
		for i := range testCases {
			for j := range i + 1 {
				whole.SetSym(i, j, q.At(i, j)+0.1)
			}
			whole.SetSym(i, i, q.At(i, i)+0.7)
		}
		for _, m := range []int{testCases, 3} {
			const diag, news = 3.5, 2
			rows := testPoints + s.cov.Neighbours.CrossRows(m)
			cross := mat.NewDense(rows, news, nil)
			covariance, prior := mat.NewDense(testCases, news, nil), mat.NewSymDense(news, nil)
			var weights, directs [news]mat.VecDense
			var lefts [news]float64
			for col := range news {
				of := rng.Perm(testCases)[:m]
				z := mat.NewVecDense(testPoints, nil)
				for i := range testPoints {
					z.SetVec(i, 0.8*s.cov.Cross.At(i, 2+col))
					cross.Set(i, col, z.AtVec(i))
				}
				direct := &directs[col] // K_zz⁻¹ K(Z, new)
				if err := direct.SolveVec(s.cov.K, z); err != nil {
					t.Fatal(err)
				}
				at := testPoints
				put := func(v float64) {
					cross.Set(at, col, v)
					at++
				}
				for _, j := range of {
					put(float64(j))
				}
				own, to := mat.NewSymDense(m, nil), mat.NewVecDense(m, nil)
				for a, j := range of {
					for e, l := range of[a:] {
						put(whole.At(j, l))
						own.SetSym(a, a+e, whole.At(j, l)-q.At(j, l))
					}
					own.SetSym(a, a, own.At(a, a)+s.cov.Noise[j]+nugget*whole.At(j, j))
					explained := mat.Dot(s.cov.Cross.ColView(j), direct)
					put(explained + 0.3)
					to.SetVec(a, 0.3)
				}
				var w mat.VecDense
				if err := w.SolveVec(own, to); err != nil {
					t.Fatal(err)
				}
				weights[col].ReuseAsVec(testCases)
				for a, j := range of {
					weights[col].SetVec(j, w.AtVec(a))
				}
				lefts[col] = diag*(1+nugget) - mat.Dot(z, direct) - mat.Dot(&w, to)
				var low, rest mat.VecDense
				low.MulVec(s.cov.Cross.T(), direct)
				rest.MulVec(&c, &weights[col])
				low.AddVec(&low, &rest)
				covariance.SetCol(col, low.RawVector().Data)
			}
			for a := range news {
				for e := a; e < news; e++ {
					var kd, cw mat.VecDense
					kd.MulVec(s.cov.K, &directs[e])
					cw.MulVec(&c, &weights[e])
					v := mat.Dot(&directs[a], &kd) + mat.Dot(&weights[a], &cw)
					if a == e {
						v += lefts[a]
					}
					prior.SetSym(a, e, v)
				}
			}
			b := wave(testCases, 4)
			var means, rk, sigma mat.Dense
			means.Mul(covariance.T(), mat.NewDense(testCases, 1, b))
			rk.Mul(&r, covariance)
			sigma.Mul(covariance.T(), &rk)
			sigma.Sub(prior, &sigma)
			mean, variance := make([]float64, news), make([]float64, news)
			p.Latent(b, mean, variance, cross, []float64{diag, diag})
			for j := range news {
				near(t, "a latent mean", mean[j], means.At(j, 0), 1e-8)
				near(t, "a latent variance", variance[j], sigma.At(j, j), 1e-8)
			}
			sum := mat.NewDense(news, 1, []float64{1, -2})
			if !Sums(p, b, mean[:1], variance[:1], cross, []float64{diag, diag}, sum) {
				t.Fatal("no sums")
			}
			near(t, "the mean of a sum", mean[0], means.At(0, 0)-2*means.At(1, 0), 1e-8)
			near(t, "the variance of a sum", variance[0], sigma.At(0, 0)-4*sigma.At(0, 1)+4*sigma.At(1, 1), 1e-8)
		}
	}
}
