package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

func featureKernels(dim int) map[string]Kernel {
	named := func(kind string, k Kernel) Named { return Named{Kind: kind, Kernel: k} }
	group := make([]int, dim)
	for j := range group {
		group[j] = j / 2
	}
	return map[string]Kernel{
		"se": SE{}, "se ard": SE{ARD: true}, "matern12": Matern12{}, "matern32 ard": Matern32{ARD: true},
		"matern52": Matern52{}, "rational_quadratic": RationalQuadratic{}, "rational_quadratic ard": RationalQuadratic{ARD: true},
		"linear": Linear{}, "linear ard": Linear{ARD: true}, "constant": Constant{},
		"sum": Sum{named("se", SE{}), named("linear", Linear{}), named("noise", Noise{}), named("matern12", Matern12{ARD: true})},
		"product": Product{named("", Sum{named("se", SE{}), named("noise", Noise{})}), named("rational_quadratic", RationalQuadratic{}),
			named("constant", Constant{})},
		"active":   Active{Dims: []int{dim}, Named: named("matern32", Matern32{})},
		"additive": Additive{named("se", SE{})},
		"tied":     Tie(SE{ARD: true}, group),
		"scaled":   Scaled{1.7, named("", Product{named("linear", Linear{}), named("constant", Constant{})})},
	}
}

func normalInputs(seed uint64, n, dim int) *Inputs {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := mat.NewDense(n, dim, nil)
	for i := range n {
		for j := range dim {
			x.Set(i, j, 5+rng.NormFloat64())
		}
	}
	return &Inputs{X: x}
}

func featuresOf(t *testing.T, k Kernel, m int, theta []float64, x *Inputs) (*Features, *mat.Dense) {
	t.Helper()
	f, err := NewFeatures(k, m, x)
	if err != nil {
		t.Fatal(err)
	}
	if f.Rows() > m {
		t.Fatalf("%d features, at most %d were asked for", f.Rows(), m)
	}
	phi := mat.NewDense(f.Rows(), x.N(), nil)
	f.Fill(phi, theta, x)
	return f, phi
}

// TestFeaturesApproximateTheKernel: the root mean square error of ΦᵀΦ, relative to the largest variance, is at most
// 1/√(2M), the error of M independent frequencies, for M frequencies of each stationary term; the variances are exact,
// and so is all of a linear or a constant kernel.
func TestFeaturesApproximateTheKernel(t *testing.T) {
	for _, dim := range []int{1, 2, 5, 12} {
		for name, k := range featureKernels(dim) {
			theta := make([]float64, count(k, dim))
			for i := range theta {
				theta[i] = 0.4 * math.Cos(float64(i))
			}
			if name == "additive" && dim > 5 {
				continue
			}
			x := normalInputs(1, 80, dim)
			want, smooth := mat.NewDense(80, 80, nil), make([]float64, 80)
			Cross(k, want, theta, x, x.Fresh())
			SmoothDiag(k, smooth, theta, x)
			for _, m := range []int{200, 3200} {
				f, phi := featuresOf(t, k, m, theta, x)
				var got mat.Dense
				got.Mul(phi.T(), phi)
				stationary, square := 0, 0.0
				for _, of := range f.terms {
					if of.waves != nil {
						stationary++
					}
				}
				for i := range 80 {
					if !(math.Abs(got.At(i, i)-smooth[i]) <= 1e-12*smooth[i]) {
						t.Fatalf("%s, %d inputs: the variance is %v, want %v", name, dim, got.At(i, i), smooth[i])
					}
					for j := range 80 {
						square += math.Pow(got.At(i, j)-want.At(i, j), 2)
					}
				}
				bound := 1e-12
				if stationary > 0 {
					bound = 1.1 * math.Sqrt(float64(stationary)/float64(m)) // 1.1: of one draw
				}
				if rms := math.Sqrt(square) / 80 / floats.Max(smooth); !(rms <= bound) {
					t.Errorf("%s, %d inputs, %d features: error %.4g, want at most %.4g", name, dim, m, rms, bound)
				}
			}
		}
	}
}

// TestFeaturesAreBetterThanRandomOnes: 250 independent frequencies have an error of about .04 in every dimension. The
// points of Hammersley, computed with scipy for the same kernels and inputs of the same distribution, have .006, .0031
// and .022; orthogonal ones .0216.
func TestFeaturesAreBetterThanRandomOnes(t *testing.T) {
	for _, of := range []struct {
		dim   int
		ratio float64 // of the length scale to √d
		most  float64
	}{{1, 0.5, 0.004}, {2, 0.5, 0.012}, {5, 1, 0.016}, {57, 1, 0.026}} {
		theta := []float64{0, math.Log(of.ratio * math.Sqrt(float64(of.dim)))}
		x := normalInputs(2, 200, of.dim)
		_, phi := featuresOf(t, SE{}, 500, theta, x)
		var got mat.Dense
		got.Mul(phi.T(), phi)
		want, square := mat.NewDense(200, 200, nil), 0.0
		Cross(SE{}, want, theta, x, x.Fresh())
		for i := range 200 {
			for j := range i {
				square += math.Pow(got.At(i, j)-want.At(i, j), 2)
			}
		}
		if rms := math.Sqrt(square / (200 * 199 / 2)); !(rms <= of.most) {
			t.Errorf("%d inputs: error %.4g, want at most %.4g", of.dim, rms, of.most)
		}
	}
}

// TestFeatureGradients compares the derivatives of Σ W∘ΦᵀΦ with central differences, for ordinary, large and small
// hyperparameters.
func TestFeatureGradients(t *testing.T) {
	const n, dim = 7, 3
	rng := rand.New(rand.NewPCG(3, 1))
	w := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			w.SetSym(i, j, rng.NormFloat64())
		}
	}
	x := normalInputs(4, n, dim)
	for name, k := range featureKernels(dim) {
		for _, shift := range []float64{0, 3, -2} {
			t.Run(fmt.Sprintf("%s %v", name, shift), func(t *testing.T) {
				theta := make([]float64, count(k, dim))
				for i := range theta {
					theta[i] = 0.3*math.Cos(float64(i)) + shift*math.Cos(2*float64(i))
				}
				f, phi := featuresOf(t, k, 60, theta, x)
				value := func(theta []float64) float64 {
					var whole mat.Dense
					f.Fill(phi, theta, x)
					whole.Mul(phi.T(), phi)
					whole.MulElem(&whole, w)
					return mat.Sum(&whole)
				}
				var g mat.Dense
				g.Mul(phi, w)
				g.Scale(2, &g)
				grad := make([]float64, len(theta))
				f.Pull(grad, theta, x, &g)
				scale := floats.Norm(grad, 2)
				for i := range theta {
					const h = 3e-5 // the largest phases are some thousand
					at := func(step float64) float64 {
						moved := append([]float64{}, theta...)
						moved[i] += step
						return value(moved)
					}
					// the difference formula of order 6
					want := (45*(at(h)-at(-h)) - 9*(at(2*h)-at(-2*h)) + at(3*h) - at(-3*h)) / (60 * h)
					if !(math.Abs(grad[i]-want) <= 1e-6*max(scale, math.Abs(value(theta)))) {
						t.Errorf("derivative %d is %.12g, differences give %.12g", i, grad[i], want)
					}
				}
			})
		}
	}
}

// TestGammaQuantile: values of scipy.special.gammaincinv, with its derivatives from differences of order 6.
func TestGammaQuantile(t *testing.T) {
	for _, of := range []struct{ a, u, x, slope float64 }{
		{0.05, 0.002, 6.128540904101201e-55, 124.3313784},
		{0.05, 0.5, 5.573878440746256e-07, 13.90216742},
		{0.05, 0.998, 2.20540757244061, 0.3662130234},
		{0.5, 0.002, 3.141599233343978e-06, 12.70729656},
		{0.5, 0.5, 0.227468211559786, 1.886785496},
		{0.5, 0.998, 4.774767853041618, 0.3549130269},
		{1.5, 0.002, 0.01934046289176253, 4.687999336},
		{1.5, 0.5, 1.182986942187669, 1.251738562},
		{1.5, 0.998, 7.397758527276194, 0.4510821533},
		{28.5, 0.002, 15.53157964839619, 1.341758629},
		{28.5, 0.5, 28.16736866206609, 1.011783863},
		{28.5, 0.998, 46.30263465639948, 0.7814288959},
		{1000, 0.002, 911.4089154181022, 1.04727328},
		{1000, 0.5, 999.6666864269652, 1.000333405},
		{1000, 0.998, 1093.446349110249, 0.9561570249},
		{100000, 0.002, 99092.27295370247, 1.004567963},
		{100000, 0.5, 99999.6666668642, 1.000003333},
		{100000, 0.998, 100912.582916842, 0.9954663161},
	} {
		x, slope := gammaQuantile(of.a, of.u)
		if !(math.Abs(x-of.x) <= 2e-10*of.x) || !(math.Abs(slope-of.slope) <= 1e-7*max(1, math.Abs(of.slope))) {
			t.Errorf("shape %v, u %v: quantile %.15g with slope %.12g, want %.15g and %.12g", of.a, of.u, x, slope, of.x, of.slope)
		}
	}
}

// TestKernelsWithoutFeatures: the error names the kernels that have features, and a way out.
func TestKernelsWithoutFeatures(t *testing.T) {
	linear := Named{Kind: "linear", Kernel: Linear{}}
	for name, k := range map[string]Kernel{
		"periodic": Periodic{}, "polynomial": Polynomial{}, "neural_network": NeuralNetwork{}, "hamming": Hamming{},
		"choice":  Choice{{"se", SE{}}, {"matern32", Matern32{}}},
		"product": Product{linear, {"se", SE{}}}, "square": Product{linear, linear},
		"within": Sum{{"se", SE{}}, {"", Active{Dims: []int{7}, Named: Named{"periodic", Periodic{}}}}},
	} {
		err := CheckFeatures(k, 50, 0)
		if err == nil || !strings.Contains(err.Error(), "rational_quadratic, linear, constant") || !strings.Contains(err.Error(), "inducing inputs") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, k := range featureKernels(3) {
		if err := CheckFeatures(k, 50, 0); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	x := normalInputs(5, 9, 3)
	sum := Sum{linear, {"se", SE{}}, {"matern12", Matern12{}}}
	if _, err := NewFeatures(sum, 7, x); err == nil || !strings.Contains(err.Error(), "at least 8") {
		t.Errorf("too few: %v", err)
	}
	if f, err := NewFeatures(sum, 8, x); err != nil || f.Rows() != 8 {
		t.Errorf("just enough: %v", err)
	}
	if _, err := NewFeatures(Noise{}, 8, x); err == nil || !strings.Contains(err.Error(), "noise alone") {
		t.Errorf("noise: %v", err)
	}
}
