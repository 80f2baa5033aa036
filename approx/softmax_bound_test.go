package approx_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// softmaxOracle is a Gaussian q of the latent values of all classes, by dense matrices. The precision of
// a case's site may be any C×C matrix. Averages over a case are sums over nodes in C-1 dimensions: a grid
// for three classes, and else Halton's points.
type softmaxOracle struct {
	n, classes int
	k          *mat.Dense // of all classes
	y          []int
	a          []float64     // K⁻¹(μ - m)
	w          *mat.SymDense // W
	nodes      [][]float64
	weights    []float64

	bound     float64       // E log p(y|f) - KL(q, prior)
	pi        []float64     // E π
	curvature *mat.SymDense // E[diag π - ππᵀ] of every case
}

func newSoftmaxOracle(k *mat.SymDense, y []int, classes int) *softmaxOracle {
	n := len(y)
	size := n * classes
	q := &softmaxOracle{n: n, classes: classes, y: y, k: mat.NewDense(size, size, nil), a: make([]float64, size),
		w: mat.NewSymDense(size, nil)}
	for c := range classes {
		q.k.Slice(c*n, (c+1)*n, c*n, (c+1)*n).(*mat.Dense).Copy(k)
		for i, label := range y {
			for d := range c + 1 {
				q.w.SetSym(c*n+i, d*n+i, -1/float64(classes*classes))
			}
			q.w.SetSym(c*n+i, c*n+i, 1/float64(classes)-1/float64(classes*classes))
			if q.a[c*n+i] = -1 / float64(classes); c == label {
				q.a[c*n+i]++
			}
		}
	}
	if classes == 3 {
		for x := -7.0; x <= 7; x += 0.2 {
			for y := -7.0; y <= 7; y += 0.2 {
				if square := x*x + y*y; square < 36 { // outside is e⁻¹⁸ of the mass
					q.nodes, q.weights = append(q.nodes, []float64{x, y}), append(q.weights, math.Exp(-square/2))
				}
			}
		}
	} else {
		for k := 1; k <= 2000; k++ {
			z := make([]float64, classes-1)
			for j := range z {
				base, f, r := [...]int{2, 3, 5, 7, 11, 13}[j], 1.0, 0.0
				for i := k; i > 0; i /= base {
					f /= float64(base)
					r += f * float64(i%base)
				}
				z[j] = math.Sqrt2 * math.Erfinv(2*r-1)
			}
			q.nodes, q.weights = append(q.nodes, z), append(q.weights, 1)
		}
	}
	floats.Scale(1/floats.Sum(q.weights), q.weights)
	q.evaluate()
	return q
}

func (q *softmaxOracle) evaluate() {
	n, classes, size := q.n, q.classes, q.n*q.classes
	var mu mat.VecDense
	mu.MulVec(q.k, mat.NewVecDense(size, q.a))
	var kw, sigma mat.Dense
	kw.Mul(q.k, q.w)
	for i := range size {
		kw.Set(i, i, kw.At(i, i)+1)
	}
	var lu mat.LU
	lu.Factorize(&kw)
	logDet, _ := lu.LogDet()
	if err := lu.SolveTo(&sigma, false, q.k); err != nil {
		panic(err)
	}
	q.bound, q.pi, q.curvature = -logDet/2, make([]float64, size), mat.NewSymDense(size, nil)
	for i, label := range q.y {
		d := classes - 1
		differences, mean := mat.NewSymDense(d, nil), make([]float64, d)
		at := func(c, e int) float64 { return sigma.At(c*n+i, e*n+i) }
		for c := range classes {
			for e := range classes {
				q.bound += q.w.At(c*n+i, e*n+i) * at(c, e) / 2
				if c < d && e < d {
					differences.SetSym(c, e, at(c, e)-at(c, d)-at(d, e)+at(d, d))
				}
			}
			q.bound -= q.a[c*n+i] * mu.AtVec(c*n+i) / 2
			if c < d {
				mean[c] = mu.AtVec(c*n+i) - mu.AtVec(d*n+i)
			}
		}
		var chol mat.Cholesky
		if !chol.Factorize(differences) {
			panic("not positive definite")
		}
		var lower mat.TriDense
		chol.LTo(&lower)
		f, pi := make([]float64, classes), make([]float64, classes)
		for k, z := range q.nodes {
			for c := range d {
				f[c] = mean[c]
				for e := range c + 1 {
					f[c] += lower.At(c, e) * z[e]
				}
			}
			sum, most := 0.0, floats.Max(f)
			for c := range pi {
				pi[c] = math.Exp(f[c] - most)
				sum += pi[c]
			}
			q.bound += q.weights[k] * (f[label] - most - math.Log(sum))
			floats.Scale(1/sum, pi)
			for c := range pi {
				q.pi[c*n+i] += q.weights[k] * pi[c]
				for e := range c + 1 {
					v := -pi[c] * pi[e]
					if c == e {
						v += pi[c]
					}
					q.curvature.SetSym(c*n+i, e*n+i, q.curvature.At(c*n+i, e*n+i)+q.weights[k]*v)
				}
			}
		}
	}
}

// climb takes steps of the natural gradient, halved where the bound falls, until it rises no more.
func (q *softmaxOracle) climb() {
	for length := 1.0; length > 1e-3; {
		next := *q
		var difference mat.Dense
		difference.Sub(q.curvature, q.w)
		next.w = mat.NewSymDense(q.n*q.classes, nil)
		r := make([]float64, len(q.a))
		for i := range r {
			for j := range i + 1 {
				next.w.SetSym(i, j, q.w.At(i, j)+length*difference.At(i, j))
			}
			r[i] = -q.pi[i] - q.a[i]
			if q.y[i%q.n] == i/q.n {
				r[i]++
			}
		}
		var wk mat.Dense
		wk.Mul(next.w, q.k)
		for i := range r {
			wk.Set(i, i, wk.At(i, i)+1)
		}
		var change mat.VecDense
		if err := change.SolveVec(&wk, mat.NewVecDense(len(r), r)); err != nil {
			panic(err)
		}
		next.a = floats.AddScaledTo(make([]float64, len(r)), q.a, length, change.RawVector().Data)
		if next.evaluate(); next.bound < q.bound+1e-7 {
			length /= 2
			continue
		}
		*q = next
	}
}

// TestSoftmaxBound: the bound is the maximum over all Gaussians, which may have any precision matrix for
// every case: to rounding for three classes, and within 0.3 nats for six, where the sites have six
// numbers in the place of fifteen and the nodes of the comparison an error of about 0.1 nats.
func TestSoftmaxBound(t *testing.T) {
	for _, set := range []struct {
		name string
		n    int
	}{{"iris", 20}, {"wine", 20}, {"glass", 20}} {
		x, y, classes := classData(t, set.name)
		rng := rand.New(rand.NewPCG(1, 2))
		rng.Shuffle(len(x), func(i, j int) { x[i], x[j], y[i], y[j] = x[j], x[i], y[j], y[i] })
		y = y[:set.n]
		root := math.Log(math.Sqrt(float64(len(x[0]))))
		for i, at := range [][2]float64{{root + 0.7, 1.5}, {root, 0.5}} {
			if classes > 3 && i > 0 {
				break
			}
			k, _, _ := seGram(x[:set.n], at[0], at[1])
			for i := range set.n {
				k.SetSym(i, i, k.At(i, i)+1e-4*math.Exp(2*at[1]))
			}
			got := fitJoint(t, approx.Variational{}, []approx.Cov{{K: k}}, y, classes, likelihood.Softmax{}).Evidence().Value()
			q := newSoftmaxOracle(k, y, classes)
			q.climb()
			tolerance := 1e-5
			if classes > 3 {
				tolerance = 0.3
			}
			if math.Abs(got-q.bound) > tolerance {
				t.Errorf("%s at %v: bound %.7g, the largest is %.7g", set.name, at, got, q.bound)
			}
		}
	}
}
