// Package kerneltest holds the checks that every covariance function must pass: symmetry and
// positive definiteness, agreement of matrix, rows and diagonal, gradients against differences,
// memory, and the same bits for any number of threads. A test of a kernel of your own is
//
//	func TestMine(t *testing.T) { kerneltest.Check(t, Mine{}, 3) } // on 3 input columns
//
// With the environment variable GPC_TUNE_TEST_ALL=1 it tries more numbers of threads.
//
// It tests the promises of package kernel and knows no kernel's formula: a kernel's own tests
// compare it with an independent formula.
package kerneltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/testing/allocated"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Check runs all checks of k on inputs with dim columns: one case, few and many of them, some
// twice; ordinary and extreme theta.
func Check(t *testing.T, k kernel.Kernel, dim int) {
	t.Helper()
	c := check{k: k, dim: dim, params: k.Params(dim)}
	t.Run("names are unique and starts inside bounds", c.names)
	for _, n := range []int{1, 2, dim + 9} {
		for _, theta := range c.thetas() {
			t.Run(fmt.Sprintf("n=%d theta=%.2g", n, theta), func(t *testing.T) {
				c := c
				c.rng = rand.New(rand.NewPCG(uint64(n), uint64(dim)))
				c.x, c.z = c.cases(n), c.cases(max(1, n-1))
				c.values(t, theta)
				c.permutation(t, theta)
				c.gradients(t, theta)
				c.byInputs(t, theta)
			})
		}
	}
	t.Run("finite in the corners of the bounds", c.corners)
	t.Run("threads", c.threads)
	t.Run("memory", c.memory)
}

type check struct {
	k      kernel.Kernel
	dim    int
	params []param.Spec
	rng    *rand.Rand
	x, z   *kernel.Inputs
}

// thetas are the points at which values and gradients are checked, ordinary and extreme.
func (c *check) thetas() [][]float64 {
	var all [][]float64
	rng := rand.New(rand.NewPCG(1, uint64(len(c.params))))
	add := func(draw func() float64) {
		theta := make([]float64, len(c.params))
		for j := range theta {
			theta[j] = draw()
		}
		all = append(all, c.settle(theta, len(all)))
	}
	for range 3 {
		add(func() float64 { return rng.Float64()*2 - 1 })
		add(func() float64 { return float64(rng.IntN(2)*10 - 5) })
	}
	add(func() float64 { return -5 })
	add(func() float64 { return 5 })
	return all
}

// settle sets every hyperparameter with discrete values to its i-th value, cyclically.
func (c *check) settle(theta []float64, i int) []float64 {
	for j, p := range c.params {
		if p.Map.Discrete() {
			theta[j] = p.Lo + float64(i%int(p.Hi-p.Lo+1))
		}
	}
	return theta
}

// cases is n random cases, the last of them equal to the first and, if there are more than two, the
// second all zero, as a view into a wider matrix.
func (c *check) cases(n int) *kernel.Inputs {
	wide := mat.NewDense(n, c.dim+1, nil)
	for i := range n {
		for j := range c.dim {
			wide.Set(i, j, c.rng.NormFloat64())
		}
	}
	if n > 2 {
		wide.SetRow(1, make([]float64, c.dim+1))
	}
	wide.SetRow(n-1, append([]float64(nil), wide.RawRowView(0)...))
	return &kernel.Inputs{X: wide.Slice(0, n, 0, c.dim).(*mat.Dense)}
}

func (c *check) names(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range c.params {
		if p.Name == "" || seen[p.Name] || seen[p.ThetaName()] {
			t.Errorf("hyperparameter name %q is empty or not unique", p.Name)
		}
		seen[p.Name], seen[p.ThetaName()] = true, true
		if math.IsNaN(p.Init) != p.FromData || p.Init < p.Lo || p.Init > p.Hi {
			t.Errorf("%s starts at %v in [%v, %v], from the data: %v", p.Name, p.Init, p.Lo, p.Hi, p.FromData)
		}
	}
}

// values checks that Gram, Cross and Diag agree, and that Gram is a covariance matrix.
func (c *check) values(t *testing.T, theta []float64) {
	n, m := c.x.N(), c.z.N()
	k, raw := c.gram(theta, c.x), 0.0
	for i := range n {
		for j := range n {
			if raw = k.RawSymmetric().Data[i*n+j]; j < i != math.IsNaN(raw) || math.IsInf(raw, 0) {
				t.Fatalf("Gram makes K[%d, %d] %v; below the diagonal it writes nothing", i, j, raw)
			}
		}
	}
	diag, cross := c.diag(theta, c.x), c.cross(theta, c.x, c.x)
	if last := n - 1; last > 0 && !near(cross.At(0, 0), k.At(0, last), 1e-11*diag[0]) {
		t.Errorf("Cross of a case with itself is %v, of two equal cases in Gram %v", cross.At(0, 0), k.At(0, last))
	}
	for i, v := range diag {
		if v != k.At(i, i) {
			t.Errorf("Diag[%d] = %v, Gram's diagonal %v", i, v, k.At(i, i))
		}
		cross.Set(i, i, v) // off the diagonal of Gram the two may round differently
	}
	same(t, "Cross and Gram", cross, k, diag, diag)

	var both mat.Dense
	both.Stack(c.x.X, c.z.X)
	joint := mat.DenseCopyOf(c.gram(theta, &kernel.Inputs{X: &both}))
	same(t, "Cross and the Gram matrix of both sets together",
		c.cross(theta, c.x, c.z), joint.Slice(0, n, n, n+m), diag, c.diag(theta, c.z))

	rows, columns, places := c.pairs()
	pairs := make([]float64, rows.N())
	kernel.Pairs(c.k, pairs, theta, rows, columns)
	across, others := c.cross(theta, c.x, c.z), c.diag(theta, c.z)
	for p, v := range pairs {
		i, j := places[p][0], places[p][1]
		if !near(v, across.At(i, j), 1e-11*math.Sqrt(diag[i]*others[j])) {
			t.Errorf("Pairs of cases %d and %d: %v, in Cross %v", i, j, v, across.At(i, j))
		}
	}

	// With relative errors u in the entries of K, the eigenvalues have errors of at most n·u·max K.
	var eigen mat.EigenSym
	full := mat.NewSymDense(n, nil)
	full.CopySym(k)
	if !eigen.Factorize(full, false) {
		t.Fatal("no eigenvalues")
	}
	if low := floats.Min(eigen.Values(nil)); low < -1e-12*float64(n)*floats.Max(diag) {
		t.Errorf("least eigenvalue %v, largest variance %v", low, floats.Max(diag))
	}
}

// pairs is some pairs of a case of x and one of z, and their places.
func (c *check) pairs() (x, z *kernel.Inputs, places [][2]int) {
	n, m := c.x.N(), c.z.N()
	rows, columns := mat.NewDense(n+m, c.dim, nil), mat.NewDense(n+m, c.dim, nil)
	for p := range n + m {
		i, j := p%n, (3*p+1)%m
		rows.SetRow(p, c.x.X.RawRowView(i))
		columns.SetRow(p, c.z.X.RawRowView(j))
		places = append(places, [2]int{i, j})
	}
	return &kernel.Inputs{X: rows}, &kernel.Inputs{X: columns}, places
}

// same compares covariances of cases that have the given variances.
func same(t *testing.T, what string, a, b mat.Matrix, rows, cols []float64) {
	t.Helper()
	for i, v := range rows {
		for j, w := range cols {
			if !near(a.At(i, j), b.At(i, j), 1e-11*math.Sqrt(v*w)) {
				t.Errorf("%s of cases %d and %d: %v and %v", what, i, j, a.At(i, j), b.At(i, j))
			}
		}
	}
}

// permutation checks that the order of the cases does not matter.
func (c *check) permutation(t *testing.T, theta []float64) {
	n := c.x.N()
	shuffled, want := mat.NewDense(n, c.dim, nil), mat.NewDense(n, n, nil)
	order, k := c.rng.Perm(n), c.gram(theta, c.x)
	for i, from := range order {
		shuffled.SetRow(i, c.x.X.RawRowView(from))
		for j, to := range order {
			want.Set(i, j, k.At(from, to))
		}
	}
	x := &kernel.Inputs{X: shuffled}
	variances := c.diag(theta, x)
	same(t, "K, and K in another order,", c.gram(theta, x), want, variances, variances)
}

// adjoints is random numbers for K(X, X), with NaN below the diagonal, which must not be read, for
// K(X, Z) and for the diagonal of K(Z, Z).
func (c *check) adjoints() (within *mat.SymDense, across *mat.Dense, each []float64) {
	n, m := c.x.N(), c.z.N()
	within, across, each = mat.NewSymDense(n, nans(n*n)), mat.NewDense(n, m, nil), make([]float64, m)
	for i := range n {
		for j := i; j < n; j++ {
			within.SetSym(i, j, c.rng.NormFloat64())
		}
	}
	for j := range m {
		each[j] = c.rng.NormFloat64()
		for i := range n {
			across.Set(i, j, c.rng.NormFloat64())
		}
	}
	return within, across, each
}

// gradients compares the pullbacks with differences of Σ G∘K.
func (c *check) gradients(t *testing.T, theta []float64) {
	g, gx, gd := c.adjoints()
	c.gradient(t, "Pullback", theta, func(theta []float64) float64 {
		k, sum := c.gram(theta, c.x), 0.0
		for i := range c.x.N() {
			for j := range c.x.N() {
				sum += g.At(i, j) * k.At(i, j)
			}
		}
		return sum
	}, func(grad []float64) { kernel.Pullback(c.k, grad, theta, c.x, nil, g) },
		func(grad []float64) { kernel.Pullback(c.k, grad, theta, c.x, c.gram(theta, c.x), g) })

	c.gradient(t, "PullbackCross", theta, func(theta []float64) float64 {
		k := c.cross(theta, c.x, c.z)
		k.MulElem(k, gx)
		return mat.Sum(k)
	}, func(grad []float64) { kernel.PullbackCross(c.k, grad, theta, c.x, c.z, gx) })

	rows, columns, _ := c.pairs()
	gp := make([]float64, rows.N())
	for p := range gp {
		gp[p] = c.rng.NormFloat64()
	}
	c.gradient(t, "PullbackPairs", theta, func(theta []float64) float64 {
		k := make([]float64, len(gp))
		kernel.Pairs(c.k, k, theta, rows, columns)
		return floats.Dot(k, gp)
	}, func(grad []float64) { kernel.PullbackPairs(c.k, grad, theta, rows, columns, nil, gp) },
		func(grad []float64) {
			own := make([]float64, len(gp))
			kernel.Pairs(c.k, own, theta, rows, columns)
			kernel.PullbackPairs(c.k, grad, theta, rows, columns, own, gp)
		})

	c.gradient(t, "PullbackDiag", theta, func(theta []float64) float64 {
		return floats.Dot(c.diag(theta, c.z), gd)
	}, func(grad []float64) { kernel.PullbackDiag(c.k, grad, theta, c.z, gd) })

	c.gradient(t, "PullbackSmoothDiag", theta, func(theta []float64) float64 {
		return floats.Dot(c.smoothDiag(t, theta), gd)
	}, func(grad []float64) { kernel.PullbackSmoothDiag(c.k, grad, theta, c.z, gd) })
}

// byInputs compares the derivative by the inputs with differences of Σ G∘K(X, Z), for a case with
// the inputs of another case, a case at zero, and other cases.
func (c *check) byInputs(t *testing.T, theta []float64) {
	_, g, _ := c.adjoints()
	n := c.x.N()
	got := mat.NewDense(n, c.dim, nil)
	x := mat.DenseCopyOf(c.x.X)
	value := func() float64 {
		k := c.cross(theta, &kernel.Inputs{X: mat.DenseCopyOf(x)}, c.z)
		k.MulElem(k, g)
		return mat.Sum(k)
	}
	if err := kernel.PullbackInputs(c.k, got, theta, c.x, c.z, g); err != nil {
		return // kernels of other packages need no such derivative
	}
	scale := math.Max(1, math.Max(math.Abs(value()), mat.Norm(got, math.Inf(1))))
	for i := range min(n, 3) {
		for j := range c.dim {
			at := x.At(i, j)
			want, uncertain := derivative(func(v float64) float64 {
				x.Set(i, j, v)
				return value()
			}, at)
			x.Set(i, j, at)
			if tol := 1e-6 * scale; !near(got.At(i, j), want, tol) || !(uncertain < tol) {
				t.Errorf("derivative by input %d of case %d: %v, differences %v ± %v", j, i, got.At(i, j), want,
					uncertain)
			}
		}
	}
}

// smoothDiag returns the variances without noise, and checks that they equal the diagonal of Cross,
// which has no noise.
func (c *check) smoothDiag(t *testing.T, theta []float64) []float64 {
	d := nans(c.z.N())
	kernel.SmoothDiag(c.k, d, theta, c.z)
	k := c.cross(theta, c.z, &kernel.Inputs{X: c.z.X})
	for i, v := range d {
		if !near(v, k.At(i, i), 1e-12*math.Max(1, math.Abs(v))) {
			t.Errorf("SmoothDiag of case %d is %v, Cross gives %v", i, v, k.At(i, i))
		}
	}
	return d
}

// gradient compares every way of adding a gradient with differences of l, and the ways with each
// other.
func (c *check) gradient(t *testing.T, what string, theta []float64,
	l func([]float64) float64, ways ...func(grad []float64)) {
	const before = 0.25 // pullbacks add
	grads := make([][]float64, len(ways))
	scale := math.Max(1, math.Abs(l(theta)))
	for i, add := range ways {
		grads[i] = make([]float64, len(theta))
		add(grads[i])
		scale = math.Max(scale, floats.Norm(grads[i], math.Inf(1)))
		again := make([]float64, len(theta))
		floats.AddConst(before, again)
		add(again)
		for p, v := range again {
			if !near(v, before+grads[i][p], 1e-14*scale) {
				t.Errorf("%s makes %v of %v and a gradient of %v", what, v, before, grads[i][p])
			}
		}
	}
	at := append([]float64(nil), theta...)
	for p := range theta {
		for _, g := range grads[1:] {
			if !near(g[p], grads[0][p], 1e-11*scale) {
				t.Errorf("%s, %s: %v given K, %v without", what, c.params[p].ThetaName(), g[p], grads[0][p])
			}
		}
		want, uncertain := derivative(func(v float64) float64 {
			at[p] = v
			return l(at)
		}, theta[p])
		at[p] = theta[p]
		if tol := 1e-6 * scale; !near(grads[0][p], want, tol) || !(uncertain < tol) {
			t.Errorf("%s, %s: %v, differences %v ± %v", what, c.params[p].ThetaName(), grads[0][p], want, uncertain)
		}
	}
}

// corners checks that values and gradients are finite in the corners of the default bounds.
func (c *check) corners(t *testing.T) {
	c.rng = rand.New(rand.NewPCG(2, 2))
	c.x, c.z = c.cases(6), c.cases(5)
	g, gx, gd := c.adjoints()
	for i := range 64 {
		theta, grad := make([]float64, len(c.params)), make([]float64, len(c.params))
		for j := range theta {
			theta[j] = []float64{-10, 15}[c.rng.IntN(2)]
		}
		c.settle(theta, i)
		c.values(t, theta)
		kernel.Pullback(c.k, grad, theta, c.x, nil, g)
		kernel.Pullback(c.k, grad, theta, c.x, c.gram(theta, c.x), g)
		kernel.PullbackCross(c.k, grad, theta, c.x, c.z, gx)
		kernel.PullbackDiag(c.k, grad, theta, c.z, gd)
		if s := floats.Sum(grad); math.IsNaN(s) || math.IsInf(s, 0) {
			t.Errorf("gradient at %v: %v", theta, grad)
		}
	}
}

// gram is K(X, X) in a matrix that held NaN.
func (c *check) gram(theta []float64, x *kernel.Inputs) *mat.SymDense {
	n := x.N()
	k := mat.NewSymDense(n, nans(n*n))
	kernel.Gram(c.k, k, theta, x)
	return k
}

// cross is K(X, Z) in a matrix that held NaN.
func (c *check) cross(theta []float64, x, z *kernel.Inputs) *mat.Dense {
	k := mat.NewDense(x.N(), z.N(), nans(x.N()*z.N()))
	kernel.Cross(c.k, k, theta, x, z)
	return k
}

// diag is the variances of the cases, in a slice that held NaN.
func (c *check) diag(theta []float64, x *kernel.Inputs) []float64 {
	v := nans(x.N())
	kernel.Diag(c.k, v, theta, x)
	return v
}

func nans(n int) []float64 {
	v := make([]float64, n)
	floats.AddConst(math.NaN(), v)
	return v
}

func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol }

// derivative is f'(x) by Ridders' extrapolation of central differences to step 0, and an estimate
// of its error: steps are halved from 1e-2 down to 1e-9, and the order of the extrapolation is the
// one at which two neighbours agree best. It ends at an error of a thousandth of what checks allow.
func derivative(f func(float64) float64, x float64) (d, uncertain float64) {
	uncertain = math.Inf(1)
	var last []float64
	for h := 1e-2; h > 1e-9 && uncertain > 1e-9*math.Max(1, math.Abs(d)); h /= 2 {
		row := []float64{(f(x+h) - f(x-h)) / (2 * h)}
		for j, power := 0, 4.0; j < len(last); j, power = j+1, power*4 {
			row = append(row, (power*row[j]-last[j])/(power-1))
			if e := math.Max(math.Abs(row[j+1]-row[j]), math.Abs(row[j+1]-last[j])); e < uncertain {
				d, uncertain = row[j+1], e
			}
		}
		last = row
	}
	return d, uncertain
}

// threads checks that covariances and derivatives of many cases have the same bits on any number of
// threads.
func (c *check) threads(t *testing.T) {
	defer linalg.SetThreads(1)
	const n = 420 // enough cases that linalg uses several threads
	c.rng = rand.New(rand.NewPCG(6, uint64(c.dim)))
	x, z, theta := c.cases(n), c.cases(n+3), make([]float64, len(c.params))
	g, across := mat.NewSymDense(n, nil), mat.NewDense(n, n+3, nil)
	for i := range n {
		for j := range n + 3 {
			across.Set(i, j, c.rng.NormFloat64())
			if j < n {
				g.SetSym(i, j, across.At(i, j))
			}
		}
	}
	var first []float64
	for _, threads := range []int{1, 3, 2, 16}[:exhaustive.Of(2, 4)] {
		linalg.SetThreads(threads)
		x, z := x.Fresh(), z.Fresh()
		own, grad := c.gram(theta, x), make([]float64, len(theta))
		kernel.Pullback(c.k, grad, theta, x, own, g)
		kernel.PullbackCross(c.k, grad, theta, x, z, across)
		bits := slices.Concat(grad, own.RawSymmetric().Data, c.cross(theta, x, z).RawMatrix().Data)
		if first == nil {
			first = bits
		}
		equal := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
		if !slices.EqualFunc(bits, first, equal) {
			t.Errorf("other bits on %d threads", threads)
		}
	}
}

// memory checks that Kernel.Memory agrees with the allocated memory, up to half a matrix and a
// factor of 1.2. It does so on more columns than a kernel is likely to name, on as few as possible,
// where only n² matters, and for many more new cases than training cases. The leaves of a
// combination use some memory one after the other, which the sum of allocations does not show;
// there the factor is 1.5. In a choice the kernel with the most memory counts.
func (c *check) memory(t *testing.T) {
	factor := 1.2
	if len(kernel.Leaves(c.k, c.dim)) > 1 {
		factor = 1.5
	}
	for _, shape := range [][3]int{{120, 60, 80}, {300, 20, c.dim}, {120, 960, c.dim}} {
		n, m, dim := shape[0], shape[1], shape[2]
		wide := check{dim: dim, rng: rand.New(rand.NewPCG(9, 0))}
		x, z := wide.cases(n), wide.cases(m)
		wide.params = c.k.Params(dim)
		p := len(wide.params)
		theta, grad := make([]float64, p), make([]float64, p)
		k, g, cross := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil), mat.NewDense(n, m, nil)
		matrix, got := float64(8*n*n), 0.0
		for i := range choices(wide.params) {
			wide.settle(theta, i)
			kept, passing := allocated.Large(func() any {
				x, z := x.Fresh(), z.Fresh()
				kernel.Gram(c.k, k, theta, x)
				kernel.Pullback(c.k, grad, theta, x, k, g)
				kernel.Cross(c.k, cross, theta, x, z)
				return []*kernel.Inputs{x, z}
			})
			got = max(got, float64(kept+passing)/matrix)
		}
		runtime.KeepAlive([]any{x, z, k, g, cross})
		stated := float64(c.k.Memory(n, m, dim)) / matrix
		if math.Abs(got-stated) > 0.5 && !(got < factor*stated && stated < factor*got) {
			t.Errorf("%d cases, %d to predict, %d columns: %.2f matrices, stated %.2f", n, m, dim, got, stated)
		}
	}
}

// choices is the largest number of values of a discrete hyperparameter, or 1.
func choices(params []param.Spec) int {
	most := 1
	for _, p := range params {
		if p.Map.Discrete() {
			most = max(most, int(p.Hi-p.Lo)+1)
		}
	}
	return most
}
