package likelihood_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

func TestSoftmaxDerivatives(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	for _, classes := range []int{2, 3, 7} {
		for range 20 {
			f := make([]float64, classes)
			for c := range f {
				f[c] = 3 * rng.NormFloat64()
			}
			y := rng.IntN(classes)
			pi, g, scratch := make([]float64, classes), make([]float64, classes), make([]float64, classes)
			logp := likelihood.Softmax{}.Probabilities(pi, g, f, y)
			if math.Abs(floats.Sum(pi)-1) > 1e-15 || math.Abs(floats.Sum(g)) > 1e-15 || math.Abs(math.Exp(logp)-pi[y]) > 1e-15 {
				t.Errorf("f = %v: probabilities %v, derivatives %v, log p %v", f, pi, g, logp)
			}
			for d := range f {
				moved := slices.Clone(f)
				at := func(x float64) (logp float64, g []float64) {
					moved[d] = x
					g = make([]float64, classes)
					return likelihood.Softmax{}.Probabilities(scratch, g, moved, y), g
				}
				if want := slope(func(x float64) float64 { logp, _ := at(x); return logp }, f[d], 1e-3); math.Abs(g[d]-want) > 1e-10 {
					t.Errorf("f = %v: derivative %v by f_%d, want %v", f, g[d], d, want)
				}
				for c := range f { // ∂²log p/∂f∂f = ππᵀ - diag π
					want := slope(func(x float64) float64 { _, g := at(x); return g[c] }, f[d], 1e-3)
					got := pi[c] * pi[d]
					if c == d {
						got -= pi[c]
					}
					if math.Abs(got-want) > 1e-10 {
						t.Errorf("f = %v: second derivative %v by f_%d and f_%d, want %v", f, got, c, d, want)
					}
				}
			}
		}
	}
}

// TestSoftmaxTails: values close to 0 are right to their last digits, and everything is finite for finite f.
func TestSoftmaxTails(t *testing.T) {
	pi, g := make([]float64, 3), make([]float64, 3)
	for _, z := range []float64{40, 300, 700} {
		f := []float64{z, 0, math.Log(3)}
		logp := likelihood.Softmax{}.Probabilities(pi, g, f, 0)
		small := 4 * math.Exp(-z)
		for name, v := range map[string][2]float64{"log p": {logp, -small}, "1 - π": {g[0], small}, "π_1": {pi[1], small / 4}, "π_2": {-g[2], small * 3 / 4}} {
			if !(math.Abs(v[0]/v[1]-1) <= (z+10)*epsilon+2*small) {
				t.Errorf("z = %v: %s = %v, want %v", z, name, v[0], v[1])
			}
		}
		if logp = (likelihood.Softmax{}).Probabilities(pi, g, f, 1); !(math.Abs(logp+z) <= 1e-13*z) || g[1] != 1-pi[1] {
			t.Errorf("z = %v: log p = %v and derivative %v of the unlikely class", z, logp, g[1])
		}
	}
	for _, f := range [][]float64{{math.MaxFloat64, -math.MaxFloat64, 0}, {-1e300, -1e300, -1e300}, {1e308, 1e308, -1e308}} {
		for y := range f {
			logp := likelihood.Softmax{}.Probabilities(pi, g, f, y)
			for _, v := range append(append([]float64{logp}, pi...), g...) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("f = %v, y = %v: log p %v, probabilities %v, derivatives %v", f, y, logp, pi, g)
				}
			}
		}
	}
}

// TestSoftmaxAverageOfNaNIsNaN: one value that is not finite, of the means or the covariance, makes every
// probability NaN.
func TestSoftmaxAverageOfNaNIsNaN(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		for place := range 4 {
			mean, covariance := make([]float64, 3), mat.NewSymDense(3, []float64{2, 0.1, 0.2, 0.1, 1, 0.3, 0.2, 0.3, 3})
			if place < 3 {
				mean[place] = bad
			} else {
				covariance.SetSym(1, 1, bad)
			}
			for c, p := range average(mean, covariance) {
				if !math.IsNaN(p) {
					t.Errorf("%v at %d: probability %d is %v, want NaN", bad, place, c, p)
				}
			}
		}
	}
}

func average(mean []float64, covariance *mat.SymDense) []float64 {
	pi := make([]float64, len(mean))
	likelihood.Softmax{}.Average(pi, mean, covariance, 0)
	return pi
}

func difference(p, q []float64) float64 { return floats.Distance(p, q, math.Inf(1)) }

// TestSoftmaxAverageOfTwoClasses: both probabilities are averages of the logistic function. Here they are computed by
// the trapezoidal rule over the normal variate if that is narrow, else over the logistic one.
func TestSoftmaxAverageOfTwoClasses(t *testing.T) {
	for _, mean := range []float64{0, 0.3, -2, 7, 30, -400, 1e4} {
		for _, sd := range []float64{0, 1e-6, 1e-3, 0.5, 1.7, 4, 30, 1e3, 1e4} {
			covariance := mat.NewSymDense(2, []float64{sd * sd * 1.5, sd * sd / 2, sd * sd / 2, sd * sd / 2}) // f_0 - f_1 has variance sd²
			want := 0.0
			const step = 1.0 / 64
			for x := -40.0; x <= 40; x += step {
				if sd < 1 {
					want += step * math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) / (1 + math.Exp(-mean-sd*x))
				} else {
					want += step / (2 + 2*math.Cosh(x)) * math.Erfc((x-mean)/sd/math.Sqrt2) / 2
				}
			}
			pi := make([]float64, 2)
			deviation := likelihood.Softmax{}.Average(pi, []float64{mean + 5, 5}, covariance, 0)
			if d := difference(pi, []float64{want, 1 - want}); !(d <= 1e-10) || deviation != 0 {
				t.Errorf("mean %v, standard deviation %v: probabilities %v, off by %.1e", mean, sd, pi, d)
			}
		}
	}
}

// independent is E[softmax(f)] of independent f_c ~ N(mean_c, sd_c²): the probability that f_c plus a standard Gumbel
// variate is the largest such sum, by the trapezoidal rule. The density and distribution function of each sum are
// averages over the narrower of the two variates.
func independent(mean, sd []float64) []float64 {
	const normalStep, gumbelStep = 0.4, 0.5
	var normal, gumbel []float64 // weights
	for u := -8.0; u < 8; u += normalStep {
		normal = append(normal, normalStep*math.Exp(-u*u/2)/math.Sqrt(2*math.Pi))
	}
	for g := -3.5; g < 26; g += gumbelStep {
		gumbel = append(gumbel, gumbelStep*math.Exp(-g-math.Exp(-g)))
	}
	lo, hi, step := math.Inf(-1), math.Inf(-1), math.Inf(1) // below lo a product of probabilities is < 1e-15
	for c := range mean {
		lo, hi, step = max(lo, mean[c]-8*sd[c]-3.5), max(hi, mean[c]+8*sd[c]+26), min(step, 0.35*max(1, sd[c]))
	}
	p, density, below := make([]float64, len(mean)), make([]float64, len(mean)), make([]float64, len(mean))
	for x := lo; x < hi; x += step {
		for c, m := range mean {
			density[c], below[c] = 0, 0
			switch {
			case x > m+8*sd[c]+26:
				below[c] = 1
			case sd[c] < 1.5:
				for k, w := range normal {
					e := math.Exp(m + sd[c]*(-8+normalStep*float64(k)) - x)
					w *= math.Exp(-e)
					density[c] += w * e
					below[c] += w
				}
			default:
				for k, w := range gumbel {
					u := (x - (-3.5 + gumbelStep*float64(k)) - m) / sd[c]
					density[c] += w * math.Exp(-u*u/2) / math.Sqrt(2*math.Pi) / sd[c]
					below[c] += w * math.Erfc(-u/math.Sqrt2) / 2
				}
			}
		}
		for c := range p {
			product := step * density[c]
			for d := range p {
				if d != c {
					product *= below[d]
				}
			}
			p[c] += product
		}
	}
	return p
}

func TestSoftmaxAverageOfIndependentValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	for _, c := range []struct {
		classes   int
		sd        float64
		tolerance float64
	}{{2, 1, 1e-6}, {3, 1e-3, 1e-6}, {3, 0.5, 1e-6}, {3, 8, 1e-6}, {5, 1, 1e-6}, {5, 8, 1e-6}, {10, 1, 1e-6}, {10, 6, 1e-6}, {20, 100, 1e-6}, {7, 1e4, 1e-6}} {
		mean, sd, covariance := make([]float64, c.classes), make([]float64, c.classes), mat.NewSymDense(c.classes, nil)
		for i := range mean {
			mean[i], sd[i] = rng.NormFloat64(), c.sd*(0.5+rng.Float64())
			covariance.SetSym(i, i, sd[i]*sd[i])
		}
		p := average(mean, covariance)
		if d := difference(p, independent(mean, sd)); !(d <= c.tolerance) {
			t.Errorf("%+v: probabilities %v, off by %.1e", c, p, d)
		}
		// A constant added to all values and the order of the classes do not matter.
		shifted, moved := mat.NewSymDense(c.classes, nil), slices.Clone(mean)
		for i := range mean {
			moved[i] += 100
			for j := i; j < len(mean); j++ {
				shifted.SetSym(i, j, covariance.At(i, j)+1e4)
			}
		}
		if d := difference(p, average(moved, shifted)); !(d <= 1e-7+1e-16*c.sd*c.sd) {
			t.Errorf("%+v: a common term changes the probabilities by %.1e", c, d)
		}
		slices.Reverse(moved)
		for i := range mean {
			shifted.SetSym(i, i, covariance.At(len(mean)-1-i, len(mean)-1-i))
			for j := i + 1; j < len(mean); j++ {
				shifted.SetSym(i, j, 0)
			}
		}
		q := average(moved, shifted)
		slices.Reverse(q)
		if d := difference(p, q); !(d <= 2*c.tolerance) {
			t.Errorf("%+v: the order changes the probabilities by %.1e", c, d)
		}
	}
}

// TestSoftmaxAverageOfDegenerateValues: values that are certain, certain given others, or of extreme variance.
func TestSoftmaxAverageOfDegenerateValues(t *testing.T) {
	mean := []float64{0.4, -1, 0.1}
	pi, g := make([]float64, 3), make([]float64, 3)
	likelihood.Softmax{}.Probabilities(pi, g, mean, 0)
	if d := difference(average(mean, mat.NewSymDense(3, nil)), pi); !(d <= 2e-6) {
		t.Errorf("certain values: off by %.1e", d)
	}
	for _, direction := range [][]float64{{1, -2, 0.5}, {3, 0, 0}, {0, 2, 2}} { // f = mean + x·direction
		covariance := mat.NewSymDense(3, nil)
		covariance.SymRankOne(covariance, 1, mat.NewVecDense(3, direction))
		want := make([]float64, 3)
		for x := -9.0; x < 9; x += 0.01 {
			f := slices.Clone(mean)
			floats.AddScaled(f, x, direction)
			likelihood.Softmax{}.Probabilities(pi, g, f, 0)
			floats.AddScaled(want, 0.01*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi), pi)
		}
		if p := average(mean, covariance); !(difference(p, want) <= 1e-5) {
			t.Errorf("direction %v: probabilities %v, want %v", direction, p, want)
		}
	}
	for _, variance := range []float64{1e4, 1e9, 1e15, 1e300} { // the first of three has probability 0 or 1
		t.Run(fmt.Sprint(variance), func(t *testing.T) {
			p := average([]float64{0, 0.3, 0.3}, mat.NewSymDense(3, []float64{variance, 0, 0, 0, 1, 0, 0, 0, 1}))
			if d := difference(p, []float64{0.5, 0.25, 0.25}); !(d <= 1e-5+1/math.Sqrt(variance)) {
				t.Errorf("probabilities %v", p)
			}
		})
	}
}
