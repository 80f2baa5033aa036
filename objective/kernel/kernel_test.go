package kernel_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/kernel/kerneltest"
)

// variants returns every kernel of the table that is not made of others, without ARD and, where it has the option, with
// ARD.
func variants(t testing.TB) map[string]kernel.Kernel {
	all := map[string]kernel.Kernel{}
	for _, e := range kernel.Table {
		for _, name := range []string{e.Name, e.Name + " ard"} {
			if e.NeedsOptions {
				continue
			}
			hasARD := false
			k, err := e.New(func(options any) error {
				if f := reflect.ValueOf(options).Elem().FieldByName("ARD"); f.IsValid() {
					f.SetBool(name != e.Name)
					hasARD = true
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if name == e.Name || hasARD {
				all[name] = k
			}
		}
	}
	return all
}

var (
	without  = false
	se       = kernel.Named{Kind: "se", Kernel: kernel.SE{}}
	constant = kernel.Named{Kind: "constant", Kernel: kernel.Constant{}}
	noise    = kernel.Named{Kind: "noise", Kernel: kernel.Noise{}}
	dot      = kernel.Named{Kind: "linear", Kernel: kernel.Linear{Bias: &without}} // zero at the origin
	// combinations need three input columns.
	combinations = map[string]kernel.Kernel{
		"signal and noise": kernel.Sum{se, noise},
		"noise first":      kernel.Sum{noise, se, noise},
		"noise alone":      kernel.Sum{noise},
		"three terms":      kernel.Sum{dot, constant, named("matern32", kernel.Matern32{ARD: true})},
		"zero factors":     kernel.Product{dot, dot, se},
		"noisy factor":     kernel.Product{se, noise},
		"columns":          kernel.Active{Dims: []int{3, 1}, Named: named("se", kernel.SE{ARD: true})},
		"nested": kernel.Sum{
			{Kernel: kernel.Product{se, {Kind: "periodic", Kernel: kernel.Periodic{}}}},
			{Kernel: kernel.Active{Dims: []int{2}, Named: kernel.Named{Kernel: kernel.Sum{dot, noise}}}},
			{Kernel: kernel.Active{Dims: []int{1, 2}, Named: named("matern52", kernel.Matern52{})}},
		},
		"choices": kernel.Sum{{Kernel: kernel.Choice{named("choice", kernel.Choice{se, constant}), noise}},
			{Kernel: kernel.Product{dot, {Kernel: kernel.Active{Dims: []int{2}, Named: kernel.Named{Kernel: kernel.Choice{dot, se}}}}}}},
		"choice":             kernel.Choice{named("matern32", kernel.Matern32{ARD: true}), se, named("sum", kernel.Sum{dot, noise})},
		"tied choice":        kernel.Tie(kernel.Choice{named("se", kernel.SE{ARD: true}), se}, []int{1, 0, 1}),
		"additive":           kernel.Sum{dot, {Kernel: kernel.Additive{Named: se}}},
		"tied additive":      kernel.Tie(kernel.Additive{Named: named("matern32", kernel.Matern32{ARD: true})}, []int{1, 0, 1}),
		"scaled":             kernel.Sum{dot, {Kernel: kernel.Scaled{Factor: 1.7, Named: named("se", kernel.SE{ARD: true})}}},
		"tied":               kernel.Tie(kernel.SE{ARD: true}, []int{1, 0, 1}),
		"tied sum":           kernel.Tie(kernel.Sum{dot, named("matern32", kernel.Matern32{ARD: true})}, []int{5, 5, 2}),
		"mixed":              mixed(kernel.Product{named("se", kernel.SE{ARD: true}), named("hamming", kernel.Hamming{ARD: true})}),
		"mixed sum":          mixed(kernel.Sum{named("se", kernel.SE{}), named("hamming", kernel.Hamming{}), constant}),
		"cubic without bias": kernel.Product{dot, {Kind: "polynomial", Kernel: kernel.Polynomial{}}},
	}
)

func named(kind string, k kernel.Kernel) kernel.Named { return kernel.Named{Kind: kind, Kernel: k} }

func TestConformance(t *testing.T) {
	all := variants(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, dim := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s d=%d", name, dim), func(t *testing.T) { kerneltest.Check(t, all[name], dim) })
		}
	}
	for _, name := range slices.Sorted(maps.Keys(combinations)) {
		t.Run(name, func(t *testing.T) { kerneltest.Check(t, combinations[name], 3) })
	}
	t.Run("quintic", func(t *testing.T) { kerneltest.Check(t, kernel.Polynomial{Degree: 5}, 3) })
}

func TestWrongShapesPanic(t *testing.T) {
	all := variants(t)
	maps.Copy(all, combinations)
	x := normals(3, 3, 3)
	for of, k := range all {
		p := len(k.Params(3))
		g, gx, gd := mat.NewSymDense(3, nil), mat.NewDense(3, 3, nil), make([]float64, 3)
		for _, bad := range []int{p - 1, p + 1} {
			wrong, right := make([]float64, bad), make([]float64, p)
			for name, f := range map[string]func(){
				"Gram":                 func() { kernel.Gram(k, g, wrong, x) },
				"Cross":                func() { kernel.Cross(k, gx, wrong, x, x) },
				"Diag":                 func() { kernel.Diag(k, gd, wrong, x) },
				"Pullback, theta":      func() { kernel.Pullback(k, right, wrong, x, nil, g) },
				"Pullback, grad":       func() { kernel.Pullback(k, wrong, right, x, nil, g) },
				"Pullback, both":       func() { kernel.Pullback(k, wrong, wrong, x, nil, g) },
				"PullbackDiag, both":   func() { kernel.PullbackDiag(k, wrong, wrong, x, gd) },
				"PullbackCross, both":  func() { kernel.PullbackCross(k, wrong, wrong, x, x, gx) },
				"PullbackCross, theta": func() { kernel.PullbackCross(k, right, wrong, x, x, gx) },
				"PullbackDiag, theta":  func() { kernel.PullbackDiag(k, right, wrong, x, gd) },
				"PullbackDiag, grad":   func() { kernel.PullbackDiag(k, wrong, right, x, gd) },
				"Gram, dst":            func() { kernel.Gram(k, mat.NewSymDense(4, nil), right, x) },
				"Cross, dst":           func() { kernel.Cross(k, mat.NewDense(3, 4, nil), right, x, x) },
				"Diag, dst":            func() { kernel.Diag(k, make([]float64, 4), right, x) },
				"Pullback, g":          func() { kernel.Pullback(k, right, right, x, nil, mat.NewSymDense(4, nil)) },
				"PullbackCross, g":     func() { kernel.PullbackCross(k, right, right, x, x, mat.NewDense(3, 4, nil)) },
				"PullbackDiag, g":      func() { kernel.PullbackDiag(k, right, right, x, make([]float64, 4)) },
			} {
				if !panics(f) {
					t.Errorf("%s: %s of the wrong length or shape does not panic", of, name)
				}
			}
		}
	}
}

func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}

func TestNames(t *testing.T) {
	var got []string
	for _, p := range combinations["nested"].Params(3) {
		got = append(got, p.ThetaName())
	}
	want := []string{
		"1.1.se.log_amplitude", "1.1.se.log_length_scale",
		"1.2.periodic.log_amplitude", "1.2.periodic.log_length_scale", "1.2.periodic.log_period",
		"2.1.linear.log_amplitude", "2.2.noise.log_amplitude",
		"3.matern52.log_amplitude", "3.matern52.log_length_scale",
	}
	if !slices.Equal(got, want) {
		t.Errorf("nested names %q, want %q", got, want)
	}
	got = nil
	for _, p := range combinations["columns"].Params(3) {
		got = append(got, p.ThetaName())
	}
	if want := []string{"log_amplitude", "log_length_scale[1]", "log_length_scale[2]"}; !slices.Equal(got, want) {
		t.Errorf("names of a kernel on two columns %q, want %q", got, want)
	}
	var of []int
	ard := kernel.Named{Kind: "se", Kernel: kernel.SE{ARD: true}}
	some := named("active", kernel.Active{Dims: []int{3, 1}, Named: ard})
	for _, p := range (kernel.Sum{ard, some}).Params(4) {
		of = append(of, p.Column)
	}
	if want := []int{0, 1, 2, 3, 4, 0, 3, 1}; !slices.Equal(of, want) {
		t.Errorf("the hyperparameters are of columns %v, want %v", of, want)
	}
}

func TestSettings(t *testing.T) {
	for name, k := range variants(t) {
		c, ok := k.(kernel.Configurable)
		if !ok {
			t.Errorf("%s does not list its settings", name)
			continue
		}
		if err := kernel.Check(k); err != nil {
			t.Errorf("%s as it comes: %v", name, err)
		}
		params := k.Params(1)
		for i, s := range c.Settings() {
			if !strings.HasPrefix(params[i].Name, s.Name) || params[i].Map != param.Log {
				t.Errorf("%s: setting %q, hyperparameter %q", name, s.Name, params[i].Name)
			}
		}
	}

	three, minus := 3.0, -1.0
	k := kernel.RationalQuadratic{LengthScale: param.Setting{Fixed: &three}}
	k.Shape.Alpha = param.Setting{Init: &minus}
	if p := k.Params(2)[1]; p.Init != 3 || !p.Fixed || p.FromData {
		t.Errorf("a length scale fixed at 3 is %+v", p)
	}
	for _, c := range []struct {
		k    kernel.Kernel
		want []string
	}{
		{k, []string{"alpha"}},
		{
			kernel.SE{Amplitude: param.Setting{Bare: &minus}, LengthScale: param.Setting{Init: &three, Fixed: &three}},
			[]string{"amplitude", "length_scale"},
		},
		{kernel.Linear{LengthScale: param.Setting{Bare: &three}}, []string{"ard: true"}},
		{kernel.Linear{ARD: true, LengthScale: param.Setting{Bare: &three}}, nil},
	} {
		err := kernel.Check(c.k)
		if (err == nil) != (c.want == nil) {
			t.Errorf("Check of %v is %v, want %q", c.k, err, c.want)
		}
		for _, w := range c.want {
			if err != nil && !strings.Contains(err.Error(), w) {
				t.Errorf("Check of %v says %q, want %q", c.k, err, w)
			}
		}
	}
}

func TestCheckDim(t *testing.T) {
	active := func(dims ...int) kernel.Kernel { return kernel.Active{Dims: dims, Named: se} }
	for _, c := range []struct {
		k    kernel.Kernel
		want []string
	}{
		{kernel.SE{}, nil},
		{combinations["nested"], nil},
		{active(1, 3), nil},
		{active(0, 4), []string{"column 0", "column 4", "1 to 3"}},
		{active(2, 2), []string{"column 2 twice"}},
		{active(), []string{"no columns"}},
		{kernel.Sum{}, []string{"sum", "no kernels"}},
		{kernel.Product{}, []string{"product", "no kernels"}},
		{
			kernel.Sum{se, {Kernel: kernel.Product{{Kernel: active(7)}}}},
			[]string{"sum, kernel 2", "product, kernel 1", "column 7"},
		},
		{kernel.Active{Dims: []int{1, 2}, Named: kernel.Named{Kernel: active(3)}}, []string{"column 3", "1 to 2"}},
	} {
		err := kernel.CheckDim(c.k, 3)
		if (err == nil) != (c.want == nil) {
			t.Errorf("CheckDim of %v is %v, want %q", c.k, err, c.want)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("CheckDim of %v says %q, want %q", c.k, err, w)
			}
		}
	}
}

func normals(n, dim int, seed uint64) *kernel.Inputs {
	rng := rand.New(rand.NewPCG(seed, 0))
	x := mat.NewDense(n, dim, nil)
	for i := range n {
		for j := range dim {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	return &kernel.Inputs{X: x}
}

func gram(k kernel.Kernel, theta []float64, x *kernel.Inputs) *mat.SymDense {
	dst := mat.NewSymDense(x.N(), nil)
	kernel.Gram(k, dst, theta, x)
	return dst
}

func TestRationalQuadraticBecomesSquaredExponential(t *testing.T) {
	x := normals(20, 3, 1)
	for _, logAlpha := range []float64{5, 10, 15, 40} {
		rq := gram(kernel.RationalQuadratic{}, []float64{0.3, -0.5, logAlpha}, x)
		limit := gram(kernel.SE{}, []float64{0.3, -0.5}, x)
		for i := range 20 {
			for j := range 20 {
				// s/2 - s²/(8α) ≤ α ln(1 + s/(2α)) ≤ s/2
				half := math.Log(limit.At(0, 0) / limit.At(i, j))
				above := math.Log(rq.At(i, j) / limit.At(i, j))
				if above < -1e-13 || above > half*half/(2*math.Exp(logAlpha))+1e-13 {
					t.Errorf("at ln α = %v, rational quadratic %v, squared exponential %v",
						logAlpha, rq.At(i, j), limit.At(i, j))
				}
			}
		}
	}
}

// TestMatern12IsMarkov: the Ornstein-Uhlenbeck process is Markov, so the inverse covariance of ordered points is
// tridiagonal.
func TestMatern12IsMarkov(t *testing.T) {
	points := []float64{-2, -1.4, -0.3, 0.1, 0.9, 2.5}
	k := gram(kernel.Matern12{}, []float64{0.2, 0.4}, &kernel.Inputs{X: mat.NewDense(6, 1, points)})
	var inverse mat.Dense
	if err := inverse.Inverse(k); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		for j := range 6 {
			if off := max(i-j, j-i) > 1; off != (math.Abs(inverse.At(i, j)) < 1e-12) {
				t.Errorf("inverse covariance of points %d and %d: %v", i, j, inverse.At(i, j))
			}
		}
	}
}

// Pairs of equivalent kernels have equal Gram matrices.
func TestEquivalentKernels(t *testing.T) {
	linear := named("linear", kernel.Linear{ARD: true})
	column := func(c int, k kernel.Kernel) kernel.Named {
		return kernel.Named{Kernel: kernel.Active{Dims: []int{c}, Named: named("", k)}}
	}
	const half = 0.3465735902799726 // ln √2
	for _, c := range []struct {
		what           string
		a, b           kernel.Kernel
		thetaA, thetaB []float64
	}{
		{"a constant factor is an amplitude",
			kernel.Product{se, named("constant", kernel.Constant{})}, kernel.SE{},
			[]float64{0.4, 0.1, -0.7}, []float64{-0.3, 0.1}},
		{"a squared exponential is the product over columns",
			kernel.Product{column(1, kernel.SE{}), column(2, kernel.SE{})}, kernel.SE{ARD: true},
			[]float64{0.5, 0.1, 0.2, -0.4}, []float64{0.7, 0.1, -0.4}},
		{"a periodic kernel is the product over columns",
			kernel.Product{column(1, kernel.Periodic{}), column(2, kernel.Periodic{})}, kernel.Periodic{},
			[]float64{0.5, 0.1, 0.3, 0.2, 0.1, 0.3}, []float64{0.7, 0.1, 0.3}},
		{"the square of a linear kernel is of degree 2",
			kernel.Product{linear, linear}, kernel.Polynomial{},
			[]float64{0.5, half, half, 0.2, half, half}, []float64{0.7}},
		{"degree 1 is linear",
			kernel.Polynomial{Degree: 1}, kernel.Linear{ARD: true}, []float64{0.7}, []float64{0.7, half, half}},
		{"the bias is a constant",
			kernel.Sum{dot, named("constant", kernel.Constant{})}, kernel.Linear{},
			[]float64{0.7, 0.7}, []float64{0.7}},
	} {
		x := normals(12, 2, 2)
		a, b := gram(c.a, c.thetaA, x), gram(c.b, c.thetaB, x)
		if !mat.EqualApprox(a, b, 1e-12) {
			t.Errorf("%s: %v\n%v", c.what, mat.Formatted(a), mat.Formatted(b))
		}
	}
}

// TestARDWithEqualLengthScales: with the same length scale for all columns, ARD gives the kernel without ARD, and the
// gradients by the length scales sum to its gradient.
func TestARDWithEqualLengthScales(t *testing.T) {
	const dim = 4
	all, x := variants(t), normals(15, dim, 3)
	g := gram(kernel.Matern32{}, []float64{0, 0}, x)
	for name, ard := range all {
		plain, ok := all[strings.TrimSuffix(name, " ard")]
		params := plain.Params(dim)
		if !strings.HasSuffix(name, " ard") || !ok || len(params) < 2 { // linear has no length scale without ARD
			continue
		}
		theta := make([]float64, len(params))
		for i := range theta {
			theta[i] = 0.3 * float64(i+1)
		}
		spread := slices.Concat(theta[:2], slices.Repeat(theta[1:2], dim-1), theta[2:])
		if !mat.EqualApprox(gram(plain, theta, x), gram(ard, spread, x), 1e-12) {
			t.Errorf("%s differs from one length scale", name)
		}
		one, many := make([]float64, len(theta)), make([]float64, len(spread))
		kernel.Pullback(plain, one, theta, x, nil, g)
		kernel.Pullback(ard, many, spread, x, nil, g)
		many = slices.Concat(many[:1], []float64{floats.Sum(many[1 : 1+dim])}, many[1+dim:])
		if !floats.EqualApprox(one, many, 1e-10) {
			t.Errorf("%s: gradient %v, without %v", name, many, one)
		}
	}
}

// TestPeriodicRepeats: moving any case by whole periods changes nothing.
func TestPeriodicRepeats(t *testing.T) {
	x := normals(10, 2, 4)
	moved := mat.DenseCopyOf(x.X)
	const period = 1.5
	for i := range 10 {
		moved.Set(i, i%2, moved.At(i, i%2)+period*float64(i-4))
	}
	theta := []float64{0.1, -0.2, math.Log(period)}
	k := gram(kernel.Periodic{}, theta, x)
	if !mat.EqualApprox(k, gram(kernel.Periodic{}, theta, &kernel.Inputs{X: moved}), 1e-12) {
		t.Error("cases whole periods away are not the same")
	}
}

// TestNeuralNetworkFarAway: far from the origin the units saturate, so k(x, x) → σ² and k(x, -x) → -σ².
func TestNeuralNetworkFarAway(t *testing.T) {
	x := &kernel.Inputs{X: mat.NewDense(2, 2, []float64{3e7, 4e7, -3e7, -4e7})}
	k := gram(kernel.NeuralNetwork{}, []float64{1, 0, 0}, x)
	v := math.Exp(2)
	if math.Abs(k.At(0, 0)-v) > 1e-6*v || math.Abs(k.At(0, 1)+v) > 1e-6*v {
		t.Errorf("k(x, x) = %v, k(x, -x) = %v, want ±%v", k.At(0, 0), k.At(0, 1), v)
	}
}

func TestNoiseIsOfTheCase(t *testing.T) {
	x := &kernel.Inputs{X: mat.NewDense(3, 1, []float64{1, 1, 2})}
	v := math.Exp(0.4)
	want := mat.NewDiagDense(3, []float64{v, v, v})
	if !mat.EqualApprox(gram(kernel.Noise{}, []float64{0.2}, x), want, 1e-15) {
		t.Error("equal cases share their noise")
	}
}

// TestSlopesOfNearlyEqualCases: near distance 0, where the slope of the exponential kernel is steep, the gradient
// over several length scales still equals the sum over pairs.
func TestSlopesOfNearlyEqualCases(t *testing.T) {
	const n, dim = 12, 3
	x, z := normals(n, dim, 5), normals(n, dim, 5)
	for i := range n {
		for k := range dim {
			v := 100 + x.X.At(i/2, k) + float64(i%2)*1e-11*x.X.At(i, k)
			x.X.Set(i, k, v)
			z.X.Set(i, k, v*(1+1e-13))
		}
	}
	theta := []float64{0.2, -0.5, 0.1, 0.8}
	g := mat.DenseCopyOf(gram(kernel.SE{}, []float64{0, 1}, normals(n, dim, 6)))
	sum := func(z *kernel.Inputs) []float64 {
		grad := make([]float64, 4)
		for i := range n {
			for j := range n {
				s := 0.0
				var squares [dim]float64
				for k := range dim {
					squares[k] = math.Pow((x.X.At(i, k)-z.X.At(j, k))/math.Exp(theta[1+k]), 2)
					s += squares[k]
				}
				m := g.At(i, j) * math.Exp(2*theta[0]-math.Sqrt(s))
				grad[0] += 2 * m
				for k, v := range squares {
					if s > 0 {
						grad[1+k] += m * v / math.Sqrt(s)
					}
				}
			}
		}
		return grad
	}
	within, across := make([]float64, 4), make([]float64, 4)
	symmetric := mat.NewSymDense(n, slices.Clone(g.RawMatrix().Data))
	k := kernel.Matern12{ARD: true}
	kernel.Pullback(k, within, theta, x, nil, symmetric)
	kernel.PullbackCross(k, across, theta, x, z, g)
	if want := sum(x); !floats.EqualApprox(within, want, 1e-12*want[0]) {
		t.Errorf("gradient %v, pair by pair %v", within, want)
	}
	if want := sum(z); !floats.EqualApprox(across, want, 1e-12*want[0]) {
		t.Errorf("gradient of Cross %v, pair by pair %v", across, want)
	}
}

// TestIsolatedCases: with length scales far below all distances, K is diagonal and its derivatives by them are 0.
func TestIsolatedCases(t *testing.T) {
	x := normals(10, 3, 14)
	x.X.Apply(func(_, _ int, v float64) float64 { return 10 * v }, x.X)
	g := gram(kernel.SE{}, []float64{0, 3}, x)
	for name, k := range variants(t) {
		if !strings.HasSuffix(name, " ard") || gram(k, corner(k, 0, -10), x).At(0, 1) != 0 {
			continue
		}
		grad := make([]float64, len(k.Params(3)))
		kernel.Pullback(k, grad, corner(k, 0, -10), x, nil, g)
		for i, v := range grad[1:4] {
			if v != 0 {
				t.Errorf("%s: gradient %v over length scale %d of isolated cases", name, v, i+1)
			}
		}
	}
}

// TestDistanceFromItself: the distance of a case to itself is 0 for all length scales, so the diagonal of the
// adjoint, however large, does not change their gradient.
func TestDistanceFromItself(t *testing.T) {
	x := normals(10, 3, 16)
	theta := []float64{0, 0.5, 0.1, 1, 0}
	for name, k := range variants(t) {
		if kind := strings.TrimSuffix(name, " ard"); kind == name || kind == "linear" || kind == "neural_network" {
			continue
		}
		theta := theta[:len(k.Params(3))]
		g := gram(kernel.SE{}, []float64{0, 1}, x)
		small, large := make([]float64, len(theta)), make([]float64, len(theta))
		kernel.Pullback(k, small, theta, x, nil, g)
		for i := range 10 {
			g.SetSym(i, i, 1e15)
		}
		kernel.Pullback(k, large, theta, x, nil, g)
		if !slices.Equal(small[1:], large[1:]) {
			t.Errorf("%s: gradient over length scales %v, with another diagonal of the adjoint %v",
				name, small[1:], large[1:])
		}
	}
}

// corner returns theta for three columns: amplitude for the first hyperparameter, rest for the others.
func corner(k kernel.Kernel, amplitude, rest float64) []float64 {
	theta := make([]float64, len(k.Params(3)))
	floats.AddConst(rest, theta)
	theta[0] = amplitude
	return theta
}

// TestFarOutside: no theta gives a NaN, however extreme.
func TestFarOutside(t *testing.T) {
	x := normals(6, 3, 15)
	x.X.SetRow(1, x.X.RawRowView(0))
	g := gram(kernel.SE{}, []float64{0, 3}, x)
	for name, k := range variants(t) {
		for _, amplitude := range []float64{-1e5, -100, 100, 1e5} {
			for _, rest := range []float64{-1e5, -100, 100, 1e5} {
				theta := corner(k, amplitude, rest)
				grad := make([]float64, len(theta))
				dst := gram(k, theta, x)
				kernel.Pullback(k, grad, theta, x, dst, g)
				if floats.HasNaN(dst.RawSymmetric().Data) || floats.HasNaN(grad) {
					t.Errorf("%s at θ = %v: %v, gradient %v", name, theta, mat.Formatted(dst), grad)
				}
			}
		}
	}
}

// The median over all pairs is found by brute force, with every row repeated by its weight; for
// many rows the median over the sample is near it. The order of the rows does not change the
// result, to the last bit.
func TestMedianDistance(t *testing.T) {
	brute := func(x mat.Matrix, times []float64) float64 {
		n, d := x.Dims()
		var all []float64
		for i := range n {
			for j := range i {
				s := 0.0
				for k := range d {
					between := x.At(i, k) - x.At(j, k)
					s += between * between
				}
				for range int(times[i] * times[j]) {
					if s > 0 {
						all = append(all, math.Sqrt(s))
					}
				}
			}
		}
		slices.Sort(all)
		return (all[len(all)/2] + all[(len(all)-1)/2]) / 2
	}
	rng := rand.New(rand.NewPCG(3, 3))
	ones := func(n int) []float64 { return slices.Repeat([]float64{1}, n) }
	small, more, large := normals(30, 3, 7), normals(1000, 2, 8), normals(1500, 2, 8)
	for i := range 10 {
		small.X.SetRow(i, small.X.RawRowView(29)) // pairs at distance 0
	}
	few := mat.NewDense(1500, 1, nil) // 1500 rows, 50 of them different
	for i := range 1500 {
		few.Set(i, 0, math.Round(50*large.X.At(i, 0)/4))
	}
	times := make([]float64, 30)
	for i := range times {
		times[i] = float64(1 + rng.IntN(4))
	}
	for _, c := range []struct {
		x      *kernel.Inputs
		weight []float64
		want   float64
	}{
		{small, nil, brute(small.X, ones(30))},
		{small, ones(30), brute(small.X, ones(30))},
		{small, times, brute(small.X, times)},
		{more, nil, brute(more.X, ones(1000))},
		{&kernel.Inputs{X: few}, nil, brute(few, ones(1500))},
		{normals(1, 2, 9), nil, 1},
		{&kernel.Inputs{X: mat.NewDense(3, 1, []float64{4, 4, 4})}, nil, 1},
		{&kernel.Inputs{X: mat.NewDense(3, 1, []float64{4, 4, 7})}, nil, 3},
		{&kernel.Inputs{X: mat.NewDense(3, 1, []float64{0, 1, 5})}, []float64{2, 2, 1}, 2.5},
		{&kernel.Inputs{X: mat.NewDense(3, 1, []float64{0, 1, 5})}, []float64{0.3, 0.1, 0.3}, 5},
		{&kernel.Inputs{X: mat.NewDense(2, 1, []float64{0, math.Copysign(0, -1)})}, nil, 1},
	} {
		got := c.x.MedianDistance(c.weight)
		if math.Abs(got-c.want) > 1e-12*c.want {
			t.Errorf("median distance of %d cases is %v, want %v", c.x.N(), got, c.want)
		}
		n, d := c.x.X.Dims()
		permuted, weight := mat.NewDense(n, d, nil), slices.Clone(c.weight)
		for to, from := range rng.Perm(n) {
			permuted.SetRow(to, c.x.X.RawRowView(from))
			if weight != nil {
				weight[to] = c.weight[from]
			}
		}
		if again := (&kernel.Inputs{X: permuted}).MedianDistance(weight); again != got {
			t.Errorf("median distance of %d cases in another order is %v, not %v", n, again, got)
		}
	}
	// The standard error of the median of a sample of 1000 rows is about 2 %.
	if got, want := large.MedianDistance(nil), brute(large.X, ones(1500)); math.Abs(got-want) > 0.06*want {
		t.Errorf("median distance of a sample is %v, of all cases %v", got, want)
	}
}

// TestConcurrentUse: several goroutines can use the same Inputs with different kernels and other
// sets of cases.
func TestConcurrentUse(t *testing.T) {
	all := variants(t)
	all["nested"] = combinations["nested"]
	x, z := normals(20, 3, 10), []*kernel.Inputs{normals(5, 3, 11), normals(6, 3, 12)}
	evaluate := func(k kernel.Kernel, x, z *kernel.Inputs) []float64 {
		theta := make([]float64, len(k.Params(3)))
		cross := mat.NewDense(x.N(), z.N(), nil)
		kernel.Cross(k, cross, theta, x, z)
		return slices.Concat(gram(k, theta, x).RawSymmetric().Data, cross.RawMatrix().Data)
	}
	var wait sync.WaitGroup
	for name, k := range all {
		for _, z := range z {
			wait.Go(func() {
				got := evaluate(k, x, z)
				if want := evaluate(k, &kernel.Inputs{X: x.X}, &kernel.Inputs{X: z.X}); !slices.Equal(got, want) {
					t.Errorf("%s: shared inputs give %v, fresh ones %v", name, got, want)
				}
			})
		}
	}
	wait.Wait()
}

// TestMemory: no kernel allocates memory of n² times the number of columns or hyperparameters.
func TestMemory(t *testing.T) {
	const n, dim = 80, 100
	x := normals(n, dim, 13)
	for name, k := range variants(t) {
		theta := make([]float64, len(k.Params(dim)))
		dst := gram(k, theta, x) // fills the distances that Inputs keep
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		kernel.Gram(k, dst, theta, x)
		kernel.Pullback(k, make([]float64, len(theta)), theta, x, nil, dst)
		runtime.ReadMemStats(&after)
		numbers := int(after.TotalAlloc-before.TotalAlloc) / 8
		if limit := 8*n*n + 20*n*dim; numbers > limit {
			t.Errorf("%s: a value and a gradient take %d numbers, want %d or fewer", name, numbers, limit)
		}
	}
}

// Every kernel of the table has derivatives by its inputs; a kernel without them returns an error.
func TestInputDerivatives(t *testing.T) {
	x := &kernel.Inputs{X: mat.NewDense(2, 2, []float64{1, 2, 3, 4})}
	g, dst := mat.NewDense(2, 2, []float64{1, 1, 1, 1}), mat.NewDense(2, 2, nil)
	for _, e := range kernel.Table {
		k, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, outermost := k.(kernel.PerClass); outermost {
			continue // declares the kernels of a model, which have them
		}
		if err := kernel.PullbackInputs(k, dst, make([]float64, len(k.Params(2))), x, x.Fresh(), g); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
	sum := kernel.Sum{{Kind: "se", Kernel: kernel.SE{}}, {Kind: "angular", Kernel: angular{}}}
	err := kernel.PullbackInputs(sum, dst, make([]float64, len(sum.Params(2))), x, x.Fresh(), g)
	if err == nil || !strings.Contains(err.Error(), "angular has no derivative by its inputs") {
		t.Errorf("%v", err)
	}
}
