package approx

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// TestBlockCavities compares the cavities of multi-class Laplace, in the differences between classes, and its
// leave-one-out sum with dense predictions of every case from the sites of all others. With f_-i ~ N(m, K) and their
// W and g = ∇log p, the prediction has
//
//	mean m_i + K_i,-i (I + W K)⁻¹(W(f̂ - m) + g),   covariance K_ii - K_i,-i (I + W K)⁻¹ W K_-i,i
func TestBlockCavities(t *testing.T) {
	const n, classes = 12, 3
	rng := rand.New(rand.NewPCG(5, 0))
	x, y := make([][2]float64, n), Targets{Classes: classes, Index: make([]int, n)}
	prior := make([]float64, n)
	for i := range x {
		x[i] = [2]float64{rng.NormFloat64(), rng.NormFloat64()}
		y.Index[i] = (i + int(math.Abs(3*x[i][0]))) % classes
		prior[i] = 0.3 * x[i][1]
	}
	for _, shared := range []bool{true, false} {
		for _, at := range []struct{ logAmp, tolerance float64 }{{-6, 1e-10}, {0, 1e-9}, {2, 1e-8}, {4, 1e-6}} {
			t.Run(fmt.Sprint(shared, at.logAmp), func(t *testing.T) {
				var cov []Cov
				for class := range classes {
					if shared && class > 0 {
						break
					}
					k := mat.NewSymDense(n, nil)
					for i := range n {
						for j := i; j < n; j++ {
							d := math.Hypot(x[i][0]-x[j][0], x[i][1]-x[j][1])
							k.SetSym(i, j, math.Exp(2*at.logAmp-d*d/2/(1+float64(class))))
						}
					}
					cov = append(cov, Cov{K: k, Mean: prior})
				}
				lik := likelihood.Softmax{}
				post, err := Laplace{}.Fit(t.Context(), cov, y, lik, nil)
				if err != nil {
					t.Fatal(err)
				}
				p := post.(*categories)
				sum := 0.0
				classSites{d: p.at.w, f: p.at.f, b: p.b}.cavities(p.prior, p.n, func(i int, mean []float64, covariance *mat.SymDense) {
					m, v := leftOut(t, p, cov, prior, i)
					for c := 1; c < classes; c++ {
						if got, want := mean[c]-mean[0], m[c]-m[0]; !(math.Abs(got-want) <= at.tolerance*max(1, math.Abs(want))) {
							t.Errorf("case %d: difference %d has mean %.12g, want %.12g", i, c, got, want)
						}
						for d := 1; d <= c; d++ {
							got, want := difference(covariance, c, d), difference(v, c, d)
							if !(math.Abs(got-want) <= at.tolerance*difference(v, c, c)) {
								t.Errorf("case %d: covariance of differences %d and %d %.12g, want %.12g", i, c, d, got, want)
							}
						}
					}
					sum += math.Log(averageByTrapezoid(m, v)[y.Index[i]])
				})
				f, err := p.LeaveOneOut()
				if err != nil {
					t.Fatal(err)
				}
				if got := f.Value(); !(math.Abs(got-sum) <= n*1e-4) { // probabilities ≥ 0.1, right to 1e-5
					t.Errorf("leave-one-out %.12g, want %.12g", got, sum)
				}
			})
		}
	}
}

// difference is the covariance of f_c - f_0 and f_d - f_0.
func difference(v *mat.SymDense, c, d int) float64 {
	return v.At(c, d) - v.At(c, 0) - v.At(d, 0) + v.At(0, 0)
}

// averageByTrapezoid is E[softmax(f)] of three classes, integrated over the two differences of f.
func averageByTrapezoid(m []float64, v *mat.SymDense) [3]float64 {
	const steps, reach = 120, 9.0
	l11 := math.Sqrt(difference(v, 1, 1))
	l21 := difference(v, 2, 1) / l11
	l22 := math.Sqrt(max(0, difference(v, 2, 2)-l21*l21))
	var sum [3]float64
	total := 0.0
	for a := -steps; a <= steps; a++ {
		for b := -steps; b <= steps; b++ {
			z1, z2 := reach*float64(a)/steps, reach*float64(b)/steps
			f := [3]float64{0, m[1] - m[0] + l11*z1, m[2] - m[0] + l21*z1 + l22*z2}
			top := max(f[0], f[1], f[2])
			e := [3]float64{math.Exp(f[0] - top), math.Exp(f[1] - top), math.Exp(f[2] - top)}
			w := math.Exp(-(z1*z1 + z2*z2) / 2)
			total += w
			for c := range e {
				sum[c] += w * e[c] / (e[0] + e[1] + e[2])
			}
		}
	}
	for c := range sum {
		sum[c] /= total
	}
	return sum
}

// leftOut is the dense prediction of case i.
func leftOut(t *testing.T, p *categories, cov []Cov, mean []float64, i int) ([]float64, *mat.SymDense) {
	t.Helper()
	n, classes := p.n, p.classes
	size := classes * (n - 1)
	k, w := mat.NewDense(size, size, nil), mat.NewDense(size, size, nil)
	cross := mat.NewDense(classes, size, nil)
	r := mat.NewVecDense(size, nil) // W(f - m) + g
	rest := func(a int) int {
		if a >= i {
			a++
		}
		return a
	}
	for c := range classes {
		gram := share(cov, c).K
		for a := range n - 1 {
			ja := c*n + rest(a)
			row := c*(n-1) + a
			cross.Set(c, row, gram.At(i, rest(a)))
			r.SetVec(row, p.at.g[ja])
			for b := range n - 1 {
				k.Set(row, c*(n-1)+b, gram.At(rest(a), rest(b)))
			}
			for d := range classes {
				jd := d*n + rest(a)
				v := -p.at.w[ja] * p.at.w[jd]
				if c == d {
					v += p.at.w[ja]
				}
				w.Set(row, d*(n-1)+a, v)
				r.SetVec(row, r.AtVec(row)+v*(p.at.f[jd]-mean[rest(a)]))
			}
		}
	}
	var b, solved, gain mat.Dense
	b.Mul(w, k)
	for j := range size {
		b.Set(j, j, b.At(j, j)+1)
	}
	var shift, latent mat.VecDense
	var wk mat.Dense
	wk.Mul(w, cross.T())
	if err := shift.SolveVec(&b, r); err != nil {
		t.Fatal(err)
	}
	if err := solved.Solve(&b, &wk); err != nil {
		t.Fatal(err)
	}
	latent.MulVec(cross, &shift)
	gain.Mul(cross, &solved)
	m, v := make([]float64, classes), mat.NewSymDense(classes, nil)
	for c := range classes {
		m[c] = mean[i] + latent.AtVec(c)
		for d := c; d < classes; d++ {
			v.SetSym(c, d, -(gain.At(c, d)+gain.At(d, c))/2)
		}
		v.SetSym(c, c, v.At(c, c)+share(cov, c).K.At(i, i))
	}
	return m, v
}
