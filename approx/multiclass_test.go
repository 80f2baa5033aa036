package approx_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// classData reads a bundled data set, standardised, with classes numbered by first appearance.
func classData(t testing.TB, name string) (x [][]float64, y []int, classes int) {
	t.Helper()
	if filepath.Ext(name) == "" {
		name = filepath.Join("..", "experiments", "data", "sets", name+".csv")
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, row := range rows[1:] {
		last := len(row) - 1
		v := make([]float64, last)
		for j := range v {
			if v[j], err = strconv.ParseFloat(row[j], 64); err != nil {
				t.Fatal(err)
			}
		}
		c := slices.Index(labels, row[last])
		if c < 0 {
			c, labels = len(labels), append(labels, row[last])
		}
		x, y = append(x, v), append(y, c)
	}
	for j := range x[0] {
		column := make([]float64, len(x))
		for i := range x {
			column[i] = x[i][j]
		}
		mean, sd := stat.PopMeanStdDev(column, nil)
		for i := range x {
			x[i][j] = (x[i][j] - mean) / sd
		}
	}
	return x, y, len(labels)
}

// planeClasses draws three overlapping classes in the plane.
func planeClasses(n int, seed uint64) (x [][]float64, y []int) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range n {
		p := []float64{rng.NormFloat64(), rng.NormFloat64()}
		c := 0
		if s := p[0] + 0.5*rng.NormFloat64(); s > 0.4 {
			c = 1
		} else if p[1]+0.5*rng.NormFloat64() > 0.3 {
			c = 2
		}
		x, y = append(x, p), append(y, c)
	}
	return x, y
}

// priors returns one squared-exponential prior for all classes, or one per class with slightly different
// hyperparameters. by[c] holds the derivatives with respect to log length scale and log amplitude.
func priors(x [][]float64, logLength, logAmp float64, classes int, shared bool) (cov []approx.Cov, by [][]*mat.SymDense) {
	for c := range classes {
		if shared && c > 0 {
			break
		}
		k, byLength, byAmp := seGram(x, logLength-0.2*float64(c), logAmp+0.3*float64(c))
		cov, by = append(cov, approx.Cov{K: k}), append(by, []*mat.SymDense{byLength, byAmp})
	}
	return cov, by
}

func fitClasses(t testing.TB, cov []approx.Cov, y []int, classes int, start approx.State) approx.Posterior {
	t.Helper()
	post, err := approx.Laplace{}.Fit(context.Background(), cov, approx.Targets{Classes: classes, Index: y}, likelihood.Softmax{}, start)
	if err != nil {
		t.Fatal(err)
	}
	if !post.Diagnostics().Converged {
		t.Fatalf("not converged: %+v", post.Diagnostics())
	}
	return post
}

func adjointsOf(t testing.TB, post approx.Posterior, covariances, n int) []approx.Cov {
	t.Helper()
	var all []approx.Cov
	for j := range covariances {
		dst := approx.Cov{K: mat.NewSymDense(n, nil), Mean: make([]float64, n)}
		if err := post.Evidence().Adjoint(&dst, j); err != nil {
			t.Fatal(err)
		}
		all = append(all, dst)
	}
	return all
}

func classOf[T any](list []T, c int) T { return list[min(c, len(list)-1)] }

// denseClasses is Laplace's method for several classes by LU factorisation of the Cn×Cn matrices of all classes,
// following GPML (3.35)-(3.44). Newton's step is halved until Ψ does not fall.
type denseClasses struct {
	value      float64
	a, u       []float64  // K⁻¹(f̂ - m), and the derivative by f of the evidence without its Ψ
	f          *mat.Dense // F = (K + W⁻¹)⁻¹ = (I + W K)⁻¹ W
	covariance *mat.Dense // posterior covariance of the training inputs
}

func solveDense(t testing.TB, cov []approx.Cov, y []int, classes int) denseClasses {
	n := len(y)
	size := n * classes
	k, mean := mat.NewDense(size, size, nil), make([]float64, size)
	for c := range classes {
		prior := classOf(cov, c)
		k.Slice(c*n, (c+1)*n, c*n, (c+1)*n).(*mat.Dense).Copy(prior.K)
		if prior.Mean != nil {
			copy(mean[c*n:], prior.Mean)
		}
	}
	a, f, g := make([]float64, size), make([]float64, size), make([]float64, size)
	pi := mat.NewDense(n, classes, nil)
	evaluate := func(a []float64) (psi float64) {
		copy(f, mean)
		ka := product(k, a)
		floats.Add(f, ka)
		for i := range n {
			row := pi.RawRowView(i)
			for c := range row {
				row[c] = f[c*n+i]
			}
			sum := floats.LogSumExp(row)
			psi += row[y[i]] - sum
			for c := range row {
				row[c] = math.Exp(row[c] - sum)
				g[c*n+i] = -row[c]
			}
			g[y[i]*n+i]++
		}
		return psi - floats.Dot(a, ka)/2
	}
	w := func() *mat.Dense {
		w := mat.NewDense(size, size, nil)
		for i := range n {
			for c := range classes {
				for d := range classes {
					w.Set(c*n+i, d*n+i, -pi.At(i, c)*pi.At(i, d))
				}
				w.Set(c*n+i, c*n+i, pi.At(i, c)*(1-pi.At(i, c)))
			}
		}
		return w
	}
	system := func() *mat.LU { // I + W K
		b := mat.NewDense(size, size, nil)
		for i := range n { // the blocks of W are diagonal
			for c := range classes {
				for d := range classes {
					v := -pi.At(i, c) * pi.At(i, d)
					if c == d {
						v += pi.At(i, c)
					}
					floats.AddScaled(b.RawRowView(c*n + i)[d*n:(d+1)*n], v, k.RawRowView(d*n + i)[d*n:(d+1)*n])
				}
			}
		}
		for j := range size {
			b.Set(j, j, b.At(j, j)+1)
		}
		var lu mat.LU
		lu.Factorize(b)
		return &lu
	}
	psi := evaluate(a)
	for range 100 {
		delta := make([]float64, size)
		floats.SubTo(delta, g, a)
		if err := system().SolveVecTo(mat.NewVecDense(size, delta), false, mat.NewVecDense(size, slices.Clone(delta))); err != nil {
			t.Fatal(err)
		}
		if floats.Norm(delta, 2) < 1e-13*(1+floats.Norm(a, 2)) {
			break
		}
		for s := 1.0; s > 1e-10; s /= 2 {
			next := slices.Clone(a)
			floats.AddScaled(next, s, delta)
			if now := evaluate(next); now >= psi-1e-12*math.Abs(psi) {
				a, psi = next, now
				break
			}
		}
	}
	psi = evaluate(a)
	lu := system()
	logDet, _ := lu.LogDet()
	d := denseClasses{value: psi - logDet/2, a: a, f: new(mat.Dense), covariance: new(mat.Dense)}
	if err := lu.SolveTo(d.f, false, w()); err != nil {
		t.Fatal(err)
	}
	var kf, kfk mat.Dense
	kf.Mul(k, d.f)
	kfk.Mul(&kf, k)
	d.covariance.Sub(k, &kfk)
	s := make([]float64, size)
	for i := range n { // s = -½ tr(Σ_i ∂W_i/∂f_i^c)
		p := pi.RawRowView(i)
		for c := range classes {
			for q := range classes {
				for r := range classes {
					dq, dr := -p[q]*p[c], -p[r]*p[c]
					if q == c {
						dq += p[q]
					}
					if r == c {
						dr += p[r]
					}
					dw := -dq*p[r] - p[q]*dr
					if q == r {
						dw += dq
					}
					s[c*n+i] -= d.covariance.At(q*n+i, r*n+i) * dw / 2
				}
			}
		}
	}
	d.u = s
	if err := lu.SolveVecTo(mat.NewVecDense(size, d.u), false, mat.NewVecDense(size, slices.Clone(s))); err != nil {
		t.Fatal(err)
	}
	return d
}

// adjoint is G_c = ½ a aᵀ - ½ F_cc + ½ (u aᵀ + a uᵀ).
func (d denseClasses) adjoint(c, n int) *mat.SymDense {
	g := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			p, q := c*n+i, c*n+j
			g.SetSym(i, j, (d.a[p]*d.a[q]-d.f.At(p, q)+d.u[p]*d.a[q]+d.a[p]*d.u[q])/2)
		}
	}
	return g
}

func TestMulticlassAgainstDenseMatrices(t *testing.T) {
	for i, c := range []struct {
		data   string
		shared bool
		theta  [2]float64
	}{
		{"iris", true, [2]float64{0.7, 1.5}}, {"iris", false, [2]float64{0.7, 1.5}}, {"iris", false, [2]float64{0, -1}},
		{"thyroid", true, [2]float64{0.8, 1}}, {"thyroid", false, [2]float64{1.5, 2}},
	} {
		if !exhaustive.Tries(2, i) {
			continue
		}
		t.Run(fmt.Sprintf("%s/shared=%v/%v", c.data, c.shared, c.theta), func(t *testing.T) {
			x, y, classes := classData(t, c.data)
			for i := 1; i < len(x); i++ { // every second case
				x, y = slices.Delete(x, i, i+1), slices.Delete(y, i, i+1)
			}
			n := len(y)
			cov, by := priors(x, c.theta[0], c.theta[1], classes, c.shared)
			for j := range cov {
				cov[j].Mean = make([]float64, n)
				for i := range n {
					cov[j].Mean[i] = 0.3*float64(j) - 0.2*x[i][0]
				}
			}
			post := fitClasses(t, cov, y, classes, nil)
			want := solveDense(t, cov, y, classes)
			if got := post.Evidence().Value(); !near(got, want.value, 1e-8) {
				t.Errorf("log evidence %.13g, want %.13g", got, want.value)
			}
			got := adjointsOf(t, post, len(cov), n)
			sum, sumMean := make([]*mat.SymDense, len(cov)), make([][]float64, len(cov))
			for c := range classes {
				j := min(c, len(cov)-1)
				if sum[j] == nil {
					sum[j], sumMean[j] = mat.NewSymDense(n, nil), make([]float64, n)
				}
				sum[j].AddSym(sum[j], want.adjoint(c, n))
				floats.Add(sumMean[j], want.a[c*n:(c+1)*n])
				floats.Add(sumMean[j], want.u[c*n:(c+1)*n])
			}
			for j := range cov {
				for i := range n {
					if !near(got[j].Mean[i], sumMean[j][i], 1e-8) {
						t.Errorf("covariance %d: mean adjoint[%d] = %.12g, want %.12g", j, i, got[j].Mean[i], sumMean[j][i])
					}
					for l := range n {
						if !near(got[j].K.At(i, l), sum[j].At(i, l), 1e-8) {
							t.Fatalf("covariance %d: adjoint[%d,%d] = %.12g, want %.12g", j, i, l, got[j].K.At(i, l), sum[j].At(i, l))
						}
					}
				}
				for i, e := range by[j] {
					if g, w := along(got[j].K, e), along(sum[j], e); !near(g, w, 1e-8) {
						t.Errorf("covariance %d: gradient[%d] = %.12g, want %.12g", j, i, g, w)
					}
				}
			}
		})
	}
}

// TestMulticlassAdjointOfEntries compares the adjoint with central differences along random directions of every
// covariance and every mean.
func TestMulticlassAdjointOfEntries(t *testing.T) {
	const n, h = 14, 2e-5
	x, y := planeClasses(n, 3)
	rng := rand.New(rand.NewPCG(3, 0))
	for _, shared := range []bool{true, false} {
		for _, logAmp := range []float64{-3, 0, 1.5} {
			t.Run(fmt.Sprintf("shared=%v/%v", shared, logAmp), func(t *testing.T) {
				cov, _ := priors(x, 0, logAmp, 3, shared)
				scale := math.Exp(2 * logAmp)
				for j := range cov {
					cov[j].Mean = make([]float64, n)
					for i := range n {
						cov[j].K.SetSym(i, i, cov[j].K.At(i, i)+scale) // keeps K + hE positive definite
						cov[j].Mean[i] = rng.NormFloat64()
					}
				}
				adjoints := adjointsOf(t, fitClasses(t, cov, y, 3, nil), len(cov), n)
				for j, g := range adjoints {
					for range 4 {
						e, em := mat.NewSymDense(n, nil), make([]float64, n)
						want := 0.0
						for i := range n {
							em[i] = rng.NormFloat64()
							want += g.Mean[i] * em[i]
							for l := i; l < n; l++ {
								e.SetSym(i, l, scale*rng.NormFloat64())
							}
						}
						want += along(g.K, e)
						value := func(h float64) float64 {
							moved := slices.Clone(cov)
							moved[j] = approx.Cov{K: mat.NewSymDense(n, nil), Mean: slices.Clone(cov[j].Mean)}
							floats.AddScaled(moved[j].Mean, h, em)
							moved[j].K.ScaleSym(h, e)
							moved[j].K.AddSym(moved[j].K, cov[j].K)
							return fitClasses(t, moved, y, 3, nil).Evidence().Value()
						}
						if got := (value(h) - value(-h)) / (2 * h); !near(got, want, 1e-6) {
							t.Errorf("covariance %d: differences give %.10g, the adjoint %.10g", j, got, want)
						}
					}
				}
			})
		}
	}
}

// TestMulticlassAdjointThroughKernel compares the adjoint with central differences over hyperparameters, from where
// the prior has hardly any effect to where it dominates. (For larger amplitudes see TestMulticlassExtendedPrecision.)
func TestMulticlassAdjointThroughKernel(t *testing.T) {
	const h = 2e-5
	x, y := planeClasses(25, 2)
	grid := []float64{-5, -2.5, 0, 2.5, 5}
	for _, shared := range []bool{true, false} {
		for _, logLength := range grid {
			for _, logAmp := range grid {
				value := func(dl, da float64) float64 {
					cov, _ := priors(x, logLength+dl, logAmp+da, 3, shared)
					return fitClasses(t, cov, y, 3, nil).Evidence().Value()
				}
				cov, by := priors(x, logLength, logAmp, 3, shared)
				post := fitClasses(t, cov, y, 3, nil)
				got := make([]float64, 2)
				for j, g := range adjointsOf(t, post, len(cov), len(y)) {
					for i, e := range by[j] {
						got[i] += along(g.K, e)
					}
				}
				want := []float64{(value(h, 0) - value(-h, 0)) / (2 * h), (value(0, h) - value(0, -h)) / (2 * h)}
				scale := max(1, math.Abs(want[0]), math.Abs(want[1]), math.Abs(post.Evidence().Value()))
				for i := range got {
					if !(math.Abs(got[i]-want[i]) <= 1e-6*scale) {
						t.Errorf("shared=%v, log l = %v, log sf = %v: gradient[%d] = %.10g, differences give %.10g", shared, logLength, logAmp, i, got[i], want[i])
					}
				}
			}
		}
	}
}

// TestMulticlassInvariance: the order of the cases and of the classes does not matter, and a mean common to all
// classes cancels.
func TestMulticlassInvariance(t *testing.T) {
	const n = 60
	x, y := planeClasses(n, 4)
	rng := rand.New(rand.NewPCG(4, 0))
	order, rename := rng.Perm(n), []int{2, 0, 1}
	px, py := make([][]float64, n), make([]int, n)
	for i, j := range order {
		px[i], py[i] = x[j], rename[y[j]]
	}
	for _, shared := range []bool{true, false} {
		cov, _ := priors(x, 0.3, 1.5, 3, shared)
		permuted, _ := priors(px, 0.3, 1.5, 3, shared)
		if !shared {
			permuted[2], permuted[0], permuted[1] = permuted[0], permuted[1], permuted[2]
		}
		post, other := fitClasses(t, cov, y, 3, nil), fitClasses(t, permuted, py, 3, nil)
		if got, want := other.Evidence().Value(), post.Evidence().Value(); !near(got, want, 1e-10) {
			t.Errorf("shared=%v: permuted %.14g, want %.14g", shared, got, want)
		}
		p, q := predictClasses(post, cov, nil), predictClasses(other, permuted, nil)
		for i, j := range order {
			for c := range 3 {
				if got, want := q.At(i, rename[c]), p.At(j, c); math.Abs(got-want) > 2e-5 { // the error of two averages
					t.Errorf("shared=%v: probability %v of class %d at case %d, permuted %v", shared, want, c, j, got)
				}
			}
		}
		shifted := slices.Clone(cov)
		for j := range shifted {
			shifted[j].Mean = make([]float64, n)
			for i := range n {
				shifted[j].Mean[i] = 3 * x[i][0]
			}
		}
		post = fitClasses(t, shifted, y, 3, nil)
		if got, want := post.Evidence().Value(), other.Evidence().Value(); !near(got, want, 1e-10) {
			t.Errorf("shared=%v: with a mean for all classes %.14g, want %.14g", shared, got, want)
		}
		if shared {
			for i, v := range adjointsOf(t, post, 1, n)[0].Mean {
				if math.Abs(v) > 1e-10 {
					t.Errorf("derivative %v by the mean of all classes at case %d", v, i)
				}
			}
		}
	}
}

// TestTwoOfThreeClasses: with two classes f_0 - f_1 is a process of twice the covariance under the logistic
// likelihood. A third class whose mean is far below has no effect.
func TestTwoOfThreeClasses(t *testing.T) {
	const n = 40
	x, labels := twoClasses(n, 7)
	k, _, _ := seGram(x, 0.2, 1)
	twice := mat.NewSymDense(n, nil)
	twice.ScaleSym(2, k)
	binary, err := approx.Laplace{}.Fit(context.Background(), []approx.Cov{{K: twice}}, approx.Targets{Classes: 2, Value: labels}, likelihood.Logit{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	y, far := make([]int, n), make([]float64, n)
	for i := range y {
		if y[i] = 1; labels[i] > 0 {
			y[i] = 0
		}
		far[i] = -60
	}
	cov := []approx.Cov{{K: k}, {K: k}, {K: k, Mean: far}}
	post := fitClasses(t, cov, y, 3, nil)
	if got, want := post.Evidence().Value(), binary.Evidence().Value(); !near(got, want, 1e-9) {
		t.Errorf("log evidence %.13g, want %.13g", got, want)
	}
	got := mat.NewDense(n, 3, nil)
	means := [][]float64{make([]float64, n), make([]float64, n), far}
	post.PredictProba(got, []*mat.Dense{mat.DenseCopyOf(k)}, [][]float64{diagonal(k)}, means)
	want := predict(binary, twice, nil)
	for i := range n {
		if math.Abs(got.At(i, 0)-want.At(i, 1)) > 1e-5 {
			t.Errorf("case %d: probability %v, want %v", i, got.At(i, 0), want.At(i, 1))
		}
	}
}

func diagonal(k *mat.SymDense) []float64 {
	d := make([]float64, k.SymmetricDim())
	for i := range d {
		d[i] = k.At(i, i)
	}
	return d
}

// predictClasses returns the class probabilities at the training inputs.
func predictClasses(post approx.Posterior, cov []approx.Cov, means [][]float64) *mat.Dense {
	var cross []*mat.Dense
	var diag [][]float64
	for _, c := range cov {
		cross, diag = append(cross, mat.DenseCopyOf(c.K)), append(diag, diagonal(c.K))
	}
	dst := mat.NewDense(cov[0].K.SymmetricDim(), 3, nil)
	post.PredictProba(dst, cross, diag, means)
	return dst
}

// TestMulticlassLatent compares the latent means, variances and covariances at new inputs with
// results from dense matrices, and the probabilities with an integral of the softmax over the plane
// of differences.
func TestMulticlassLatent(t *testing.T) {
	const n, m, classes = 30, 100, 3 // more new inputs than one block
	x, y := planeClasses(n+m, 9)
	y = y[:n]
	for _, shared := range []bool{true, false} {
		joint, _ := priors(x, -0.3, 1.2, classes, shared)
		var cov []approx.Cov
		var cross []*mat.Dense
		var diag, means [][]float64
		for j := range joint {
			all := joint[j].K
			k := mat.NewSymDense(n, nil)
			k.CopySym(all.SliceSym(0, n).(*mat.SymDense))
			mean := make([]float64, n+m)
			for i := range mean {
				mean[i] = 0.5*float64(j) - 0.4*x[i][0]
			}
			cov = append(cov, approx.Cov{K: k, Mean: mean[:n]})
			cross = append(cross, mat.DenseCopyOf(all).Slice(0, n, n, n+m).(*mat.Dense))
			diag, means = append(diag, diagonal(all)[n:]), append(means, mean[n:])
		}
		post := fitClasses(t, cov, y, classes, nil)
		want := solveDense(t, cov, y, classes)
		covariances := make([]*mat.SymDense, m)
		for j := range covariances {
			covariances[j] = mat.NewSymDense(classes, nil)
		}
		post.(approx.JointLatent).LatentCovariance(covariances, cross, diag)
		proba := mat.NewDense(m, classes, nil)
		post.PredictProba(proba, cross, diag, means)
		latent, variance := mat.NewDense(classes, m, nil), make([]float64, m)
		for c := range classes {
			post.Latent(latent.RawRowView(c), variance, classOf(cross, c), classOf(diag, c), c)
			for j := range m {
				kc := mat.Col(nil, j, classOf(cross, c))
				if got, want := latent.At(c, j), floats.Dot(kc, want.a[c*n:(c+1)*n]); !near(got, want, 1e-9) {
					t.Errorf("latent mean of class %d at %d: %.12g, want %.12g", c, j, got, want)
				}
				for d := range classes {
					kd := mat.Col(nil, j, classOf(cross, d))
					v := -mat.Inner(mat.NewVecDense(n, kc), want.f.Slice(c*n, (c+1)*n, d*n, (d+1)*n), mat.NewVecDense(n, kd))
					if c == d {
						v += classOf(diag, c)[j]
						if !near(variance[j], v, 1e-9) {
							t.Errorf("latent variance of class %d at %d: %.12g, want %.12g", c, j, variance[j], v)
						}
					}
					if got := covariances[j].At(c, d); !near(got, v, 1e-9) {
						t.Errorf("latent covariance of classes %d and %d at %d: %.12g, want %.12g", c, d, j, got, v)
					}
				}
			}
		}
		for j := range m {
			if sum := floats.Sum(proba.RawRowView(j)); math.Abs(sum-1) > 1e-14 {
				t.Errorf("probabilities of case %d sum to %v", j, sum)
			}
			if j%10 > 0 {
				continue
			}
			mean := mat.Col(nil, j, latent)
			for c := range mean {
				mean[c] += classOf(means, c)[j]
			}
			for c, p := range softmaxIntegral(mean, covariances[j]) {
				if math.Abs(proba.At(j, c)-p) > 1e-5 {
					t.Errorf("shared=%v, case %d: probability %v of class %d, want %v", shared, j, proba.At(j, c), c, p)
				}
			}
		}
	}
}

// softmaxIntegral is E[softmax(f)] of three classes, f ~ N(mean, covariance), by the trapezoidal rule over f_0 - f_2 and
// f_1 - f_2.
func softmaxIntegral(mean []float64, covariance *mat.SymDense) []float64 {
	t := func(i, j int) float64 {
		return covariance.At(i, j) - covariance.At(i, 2) - covariance.At(j, 2) + covariance.At(2, 2)
	}
	l00 := math.Sqrt(t(0, 0))
	l10 := t(0, 1) / l00
	l11 := math.Sqrt(t(1, 1) - l10*l10)
	p := make([]float64, 3)
	step := min(0.1, 0.3/max(l00, l11, 1))
	limit := int(8/step) + 1
	for i := -limit; i <= limit; i++ {
		for j := -limit; j <= limit; j++ {
			u, v := float64(i)*step, float64(j)*step
			weight := step * step * math.Exp(-(u*u+v*v)/2) / (2 * math.Pi)
			f := []float64{mean[0] + l00*u, mean[1] + l10*u + l11*v, mean[2]}
			sum := floats.LogSumExp(f)
			for c := range p {
				p[c] += weight * math.Exp(f[c]-sum)
			}
		}
	}
	return p
}

// TestCovarianceDecidesTheClass: with fixed latent means, the covariance of the latent values alone can change which
// class is the most probable (GPML exercise 3.10.3). With two classes it cannot.
func TestCovarianceDecidesTheClass(t *testing.T) {
	x, y := planeClasses(10, 1)
	cov, _ := priors(x, 0, 0, 3, true)
	post := fitClasses(t, cov, y, 3, nil)
	nowhere := []*mat.Dense{mat.NewDense(len(y), 2, nil)} // independent of the data: the prior is the posterior
	means := [][]float64{{0.5, 0.5}, {0, 0}, {-0.5, -0.5}}
	proba := mat.NewDense(2, 3, nil)
	post.PredictProba(proba, nowhere, [][]float64{{1e-4, 1e-4}, {1e-4, 25}, {1e-4, 1e-4}}, means)
	if p := proba.RawRowView(0); !(p[0] > p[1] && p[1] > p[2]) {
		t.Errorf("probabilities %v of nearly certain latent values 0.5, 0, -0.5", p)
	}
	if p := proba.RawRowView(1); !(p[1] > p[0] && p[0] > p[2]) {
		t.Errorf("probabilities %v where the second is 0 ± 5", p)
	}
}

// TestMulticlassWarmStart: a neighbour's state saves iterations and does not change the result; the fit's own state
// restores it bit for bit.
func TestMulticlassWarmStart(t *testing.T) {
	x, y := planeClasses(80, 5)
	var cold, warm int
	for _, shared := range []bool{true, false} {
		for _, theta := range [][2]float64{{0, 0}, {0.5, 2}, {1, 3}, {-1, 4}} {
			neighbour, _ := priors(x, theta[0]+0.05, theta[1]-0.05, 3, shared)
			cov, by := priors(x, theta[0], theta[1], 3, shared)
			start := fitClasses(t, neighbour, y, 3, nil).State()
			kept := slices.Clone(start)
			a, b := fitClasses(t, cov, y, 3, nil), fitClasses(t, cov, y, 3, start)
			if !slices.Equal(start, kept) {
				t.Error("Fit wrote to its start")
			}
			cold, warm = cold+a.Diagnostics().Iterations, warm+b.Diagnostics().Iterations
			if f := a.Diagnostics().Factorizations + b.Diagnostics().Factorizations; f != 2 {
				t.Errorf("%v: %d factorisations, want one cold and one warm", theta, f)
			}
			if got, want := b.Evidence().Value(), a.Evidence().Value(); !near(got, want, 1e-9) {
				t.Errorf("%v: warm %.13g, cold %.13g", theta, got, want)
			}
			ga, gb := adjointsOf(t, a, len(cov), len(y)), adjointsOf(t, b, len(cov), len(y))
			r, err := approx.Laplace{}.Restore(cov, approx.Targets{Classes: 3, Index: y}, likelihood.Softmax{}, a.State())
			if err != nil {
				t.Fatal(err)
			}
			if r.Evidence().Value() != a.Evidence().Value() || !slices.Equal(r.State(), a.State()) || !r.Diagnostics().Converged {
				t.Errorf("%v: restored %v %+v, fitted %v", theta, r.Evidence().Value(), r.Diagnostics(), a.Evidence().Value())
			}
			gr := adjointsOf(t, r, len(cov), len(y))
			for j := range cov {
				for _, e := range by[j] {
					if got, want := along(gb[j].K, e), along(ga[j].K, e); !near(got, want, 1e-8) {
						t.Errorf("%v: warm gradient %.13g, cold %.13g", theta, got, want)
					}
				}
				if !mat.Equal(gr[j].K, ga[j].K) || !slices.Equal(gr[j].Mean, ga[j].Mean) {
					t.Errorf("%v: restored adjoint differs", theta)
				}
			}
			if !mat.Equal(predictClasses(r, cov, nil), predictClasses(a, cov, nil)) {
				t.Errorf("%v: restored predictions differ", theta)
			}
		}
	}
	if warm >= cold {
		t.Errorf("%d iterations from a neighbour's state, %d without", warm, cold)
	}
	// The first step from a state that strongly favours the wrong classes is worse than a cold start.
	cov, _ := priors(x, 0, 3, 3, true)
	far := make(approx.State, 6*len(y))
	for i, c := range y {
		far[3*len(y)+(c+1)%3*len(y)+i] = 1000
	}
	a, b := fitClasses(t, cov, y, 3, nil), fitClasses(t, cov, y, 3, far)
	if a.Evidence().Value() != b.Evidence().Value() || !slices.Equal(a.State(), b.State()) {
		t.Errorf("log evidence %v from a state far away, %v without", b.Evidence().Value(), a.Evidence().Value())
	}
}

// TestMulticlassAlwaysAnswers: the evidence is finite over the whole range of hyperparameters, also with classes
// without cases, with repeated and contradictory cases, and with kernels of very different amplitudes.
func TestMulticlassAlwaysAnswers(t *testing.T) {
	x, y := planeClasses(18, 6)
	x = append(x, x[0], x[0], x[1]) // the same cases again, with the same label and others
	y = append(y, y[0], (y[0]+1)%3, (y[1]+2)%3)
	one := make([]int, len(y))
	steps := []float64{-10, -4, 0, 4, 7, 10}
	for name, c := range map[string]struct {
		x      [][]float64
		y      []int
		spread float64 // range of the log amplitudes
	}{
		"all": {x, y, 0}, "one class": {x, one, 0}, "two of three classes": {x[:12], slices.Repeat([]int{0, 2}, 6), 0}, "one case": {x[:1], y[:1], 0},
		"three cases": {x[:3], []int{2, 0, 1}, 0}, "contradiction": {[][]float64{x[0], x[0], x[0]}, []int{0, 1, 2}, 0}, "amplitudes": {x, y, 7},
	} {
		for i, logLength := range steps {
			for j, logAmp := range steps {
				if !exhaustive.Tries(3, len(c.x), i, j) {
					continue
				}
				cov, _ := priors(c.x, logLength, logAmp, 3, c.spread == 0)
				for j := range cov {
					if c.spread > 0 {
						cov[j].K, _, _ = seGram(c.x, logLength, logAmp+c.spread*float64(j-1))
					}
				}
				post, err := approx.Laplace{Points: 512}.Fit(context.Background(), cov, approx.Targets{Classes: 3, Index: c.y}, likelihood.Softmax{}, nil)
				where := fmt.Sprintf("%s: log l = %v, log sf = %v", name, logLength, logAmp)
				if err != nil {
					if c.spread == 0 || logAmp < 7 {
						t.Errorf("%s: %v", where, err)
					}
					continue
				}
				if v := post.Evidence().Value(); !(v < 0) || math.IsInf(v, 0) {
					t.Errorf("%s: log evidence %v", where, v)
				}
				if !post.Diagnostics().Converged {
					if c.spread == 0 || logAmp < 7 {
						t.Errorf("%s: %+v", where, post.Diagnostics())
					}
					continue
				}
				for _, g := range adjointsOf(t, post, len(cov), len(c.y)) {
					for _, v := range append(slices.Clone(g.K.RawSymmetric().Data), g.Mean...) {
						if math.IsNaN(v) || math.IsInf(v, 0) {
							t.Fatalf("%s: adjoint holds %v", where, v)
						}
					}
				}
				if f, err := post.(approx.LeaveOneOut).LeaveOneOut(); err != nil || !(f.Value() <= 0) || math.IsInf(f.Value(), 0) {
					t.Errorf("%s: leave-one-out %v, error %v", where, f, err)
				}
				prob := predictClasses(post, cov, nil)
				for i := range c.y {
					row := prob.RawRowView(i)
					if !(slices.Min(row) >= 0 && math.Abs(floats.Sum(row)-1) <= 1e-14) {
						t.Errorf("%s: probabilities %v", where, row)
					}
				}
			}
		}
	}
}

// TestMulticlassLeaveOneOutAgainstRefits: the cavities of one fit are close to fits without each case.
func TestMulticlassLeaveOneOutAgainstRefits(t *testing.T) {
	const n = 40
	x, y := planeClasses(n, 8)
	without := func(i int) (x2 [][]float64, y2 []int) {
		return slices.Delete(slices.Clone(x), i, i+1), slices.Delete(slices.Clone(y), i, i+1)
	}
	fit := func(x [][]float64, y []int) approx.Posterior {
		k, _, _ := seGram(x, 0, 1)
		post, err := approx.Laplace{}.Fit(t.Context(), []approx.Cov{{K: k}}, approx.Targets{Classes: 3, Index: y}, likelihood.Softmax{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return post
	}
	f, err := fit(x, y).(approx.LeaveOneOut).LeaveOneOut()
	if err != nil {
		t.Fatal(err)
	}
	all, _, _ := seGram(x, 0, 1)
	refits := 0.0
	for i := range n {
		cross, prob := mat.NewDense(n-1, 1, nil), mat.NewDense(1, 3, nil)
		for j := range n - 1 {
			cross.Set(j, 0, all.At(i, (i+1+j)%n))
		}
		x2, y2 := without(i)
		x2, y2 = append(slices.Clone(x2[i:]), x2[:i]...), append(slices.Clone(y2[i:]), y2[:i]...)
		fit(x2, y2).PredictProba(prob, []*mat.Dense{cross}, [][]float64{{all.At(i, i)}}, nil)
		refits += math.Log(prob.At(0, y[i]))
	}
	if got, want := f.Value()/n, refits/n; !(math.Abs(got-want) <= 0.02) {
		t.Errorf("mean leave-one-out %.5f nat, refits %.5f", got, want)
	} else {
		t.Logf("mean leave-one-out %.5f nat, refits %.5f", got, want)
	}
}

// TestMulticlassBadCovariance: an invalid K gives an error, and the fit never hangs.
func TestMulticlassBadCovariance(t *testing.T) {
	x, y := planeClasses(6, 7)
	fit := func(cov []approx.Cov) error {
		post, err := approx.Laplace{}.Fit(context.Background(), cov, approx.Targets{Classes: 3, Index: y}, likelihood.Softmax{}, nil)
		if err == nil && (math.IsNaN(post.Evidence().Value()) || math.IsInf(post.Evidence().Value(), 0)) {
			t.Errorf("log evidence %v without an error", post.Evidence().Value())
		}
		return err
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1e6} {
		cov, _ := priors(x, 0, 0, 3, false)
		cov[1].K.SetSym(2, 2, bad)
		if err := fit(cov); !errors.Is(err, approx.ErrNotPositiveDefinite) {
			t.Errorf("K[2,2] = %v: error %v", bad, err)
		}
	}
	cov, _ := priors(x, 0, 0, 3, true)
	cov[0].K.SetSym(1, 3, 1e4)
	if err := fit(cov); !errors.Is(err, approx.ErrNotPositiveDefinite) {
		t.Errorf("indefinite K: error %v", err)
	}
	for _, logAmp := range []float64{18, 40, 150, 354} { // up to overflow: a finite number or an error
		cov, _ := priors(x, 0, logAmp, 3, true)
		_ = fit(cov)
	}
	cov, _ = priors(x, 0, 0, 3, true)
	cov[0].Mean = []float64{0, math.NaN(), 0, 0, 0, 0}
	if fit(cov) == nil {
		t.Error("a NaN in the mean is no error")
	}
}

// TestMulticlassStops: cancellation, too few iterations and bad states are reported.
func TestMulticlassStops(t *testing.T) {
	x, y := planeClasses(40, 8)
	cov, _ := priors(x, 0, 3, 3, true)
	targets := approx.Targets{Classes: 3, Index: y}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (approx.Laplace{}).Fit(cancelled, cov, targets, likelihood.Softmax{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled fit: error %v", err)
	}
	good := fitClasses(t, cov, y, 3, nil).State()
	for _, bad := range []approx.State{good[1:], append(slices.Clone(good[1:]), math.NaN())} {
		if _, err := (approx.Laplace{}).Restore(cov, targets, likelihood.Softmax{}, bad); err == nil {
			t.Errorf("restored a state of %d numbers ending in %v", len(bad), bad[len(bad)-1])
		}
		if _, err := (approx.Laplace{}).Fit(context.Background(), cov, targets, likelihood.Softmax{}, bad); err == nil {
			t.Errorf("started from a state of %d numbers ending in %v", len(bad), bad[len(bad)-1])
		}
	}
	post, err := approx.Laplace{MaxIterations: 2}.Fit(context.Background(), cov, targets, likelihood.Softmax{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := post.Diagnostics(); d.Converged || d.Iterations != 2 || math.IsNaN(post.Evidence().Value()) {
		t.Errorf("%+v after 2 iterations", d)
	}
	if err := post.Evidence().Adjoint(&approx.Cov{K: mat.NewSymDense(40, nil)}, 0); !errors.Is(err, approx.ErrNotConverged) {
		t.Errorf("adjoint of an unfinished fit: error %v", err)
	}
	for _, bad := range []struct {
		l       approx.Laplace
		lik     likelihood.Likelihood
		classes int
	}{
		{approx.Laplace{}, likelihood.Softmax{}, 0}, {approx.Laplace{}, likelihood.Softmax{}, 2}, {approx.Laplace{}, likelihood.Logit{}, 3},
		{approx.Laplace{Points: -1}, likelihood.Softmax{}, 3},
	} {
		if _, err := bad.l.Uses(bad.lik, bad.classes); err == nil {
			t.Errorf("%+v takes %T on %d classes", bad.l, bad.lik, bad.classes)
		}
	}
	if caps, err := (approx.Laplace{}).Uses(likelihood.Softmax{}, 3); err != nil || !caps.Gradient {
		t.Errorf("softmax on three classes: %+v, %v", caps, err)
	}
}

// TestMulticlassMemory: iterations allocate nothing.
func TestMulticlassMemory(t *testing.T) {
	x, y := planeClasses(60, 8)
	cov, _ := priors(x, 0, 4, 3, true)
	allocations := func(iterations int) float64 {
		return testing.AllocsPerRun(5, func() {
			l := approx.Laplace{MaxIterations: iterations}
			if _, err := l.Fit(context.Background(), cov, approx.Targets{Classes: 3, Index: y}, likelihood.Softmax{}, nil); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocations(3), allocations(9); many-few >= 6 { // garbage collection empties pools
		t.Errorf("%v allocations in 3 iterations, %v in 9", few, many)
	}
}

// BenchmarkMulticlass fits a softmax model of classes in the plane at length scale 1 and amplitude 3; "+adjoint" also
// computes the adjoint, "+predict" also predicts as many cases as there are training cases.
func BenchmarkMulticlass(b *testing.B) {
	for _, classes := range []int{3, 10} {
		for _, n := range []int{200, 767} {
			x, _ := planeClasses(n, 1)
			y := make([]int, n)
			rng := rand.New(rand.NewPCG(1, 1))
			for i, p := range x {
				angle := math.Atan2(p[1], p[0]) + 0.2*rng.NormFloat64() + 3*math.Pi
				y[i] = int(angle/(2*math.Pi)*float64(classes)) % classes
			}
			cov, _ := priors(x, 0, 1.1, classes, true)
			post := fitClasses(b, cov, y, classes, nil)
			name := fmt.Sprintf("C=%d/n=%d", classes, n)
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					fitClasses(b, cov, y, classes, nil)
				}
				b.ReportMetric(float64(post.Diagnostics().Iterations), "iterations")
			})
			b.Run(name+"+adjoint", func(b *testing.B) {
				for b.Loop() {
					adjointsOf(b, fitClasses(b, cov, y, classes, nil), 1, n)
				}
			})
			b.Run(name+"+predict", func(b *testing.B) {
				dst := mat.NewDense(n, classes, nil)
				for b.Loop() {
					post.PredictProba(dst, []*mat.Dense{mat.DenseCopyOf(cov[0].K)}, [][]float64{diagonal(cov[0].K)}, nil)
				}
			})
		}
	}
}
