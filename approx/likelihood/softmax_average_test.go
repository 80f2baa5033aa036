package likelihood_test

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/utility"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

var softmaxCases = flag.Int("softmax-cases", 0, "cases of TestSoftmaxAverageCoverage, 0 for few")

// latentCase is f ~ N(mean, covariance) with the averages computed by an oracle.
type latentCase struct {
	name       string
	mean       []float64
	covariance *mat.SymDense
	want       []float64
}

// tensorCase averages over mean + L z by the trapezoidal rule over each of the two or three z; the last latent value
// is 0.
func tensorCase(rng *rand.Rand, classes int) latentCase {
	d := classes - 1
	scale := math.Exp(math.Log(1e-3) + rng.Float64()*math.Log(map[int]float64{2: 3e4, 3: 3e3}[d])) // up to 30 or 3
	l, mean := mat.NewDense(classes, d, nil), make([]float64, classes)
	for i := range d {
		mean[i] = 10 * rng.Float64() * rng.NormFloat64()
		for j := range i {
			l.Set(i, j, scale*rng.NormFloat64())
		}
		l.Set(i, i, scale*math.Pow(10, -4*rng.Float64()*rng.Float64())) // some covariances are nearly singular
	}
	want, f, pi, g := make([]float64, classes), make([]float64, classes), make([]float64, classes), make([]float64, classes)
	// As a function of z_j, log softmax is analytic within π/|column j| of the real axis: the error is about exp(-2π
	// distance/step).
	step := make([]float64, d)
	for j := range step {
		step[j] = min(0.5, 2*math.Pi*math.Pi/(16*floats.Norm(mat.Col(nil, j, l), 1)))
	}
	var sum func(j int, weight float64, z []float64)
	sum = func(j int, weight float64, z []float64) {
		if j == d {
			for i := range f {
				f[i] = mean[i] + floats.Dot(l.RawRowView(i), z)
			}
			likelihood.Softmax{}.Probabilities(pi, g, f, 0)
			floats.AddScaled(want, weight, pi)
			return
		}
		for k := -math.Ceil(6 / step[j]); k*step[j] <= 6; k++ {
			z[j] = k * step[j]
			sum(j+1, weight*step[j]*math.Exp(-z[j]*z[j]/2)/math.Sqrt(2*math.Pi), z)
		}
	}
	sum(0, 1, make([]float64, d))
	covariance := mat.NewSymDense(classes, nil)
	covariance.SymOuterK(1, l)
	return latentCase{fmt.Sprintf("%d classes, scale %.2g", classes, scale), mean, covariance, want}
}

// factorCase is f = mean + b x + e with a common factor x; given x the f_c are independent.
func factorCase(rng *rand.Rand, classes int) latentCase {
	scale := math.Exp(math.Log(1e-3) + rng.Float64()*math.Log(1e6))
	factor := math.Exp(math.Log(0.1) + rng.Float64()*math.Log(50)) // unit: standard deviations
	mean, sd, b := make([]float64, classes), make([]float64, classes), make([]float64, classes)
	spread := rng.Float64() * min(10, 3*max(scale, 1))
	least := math.Inf(1)
	for c := range mean {
		mean[c], sd[c], b[c] = spread*rng.NormFloat64(), scale*math.Exp(0.5*rng.NormFloat64()), factor*scale*rng.NormFloat64()
		least = min(least, math.Hypot(sd[c], 1.28))
	}
	covariance := mat.NewSymDense(classes, nil)
	for c := range mean {
		for d := c; d < classes; d++ {
			covariance.SetSym(c, d, b[c]*b[d])
		}
		covariance.SetSym(c, c, b[c]*b[c]+sd[c]*sd[c])
	}
	want, moved := make([]float64, classes), make([]float64, classes)
	step := min(0.5, 0.8*least/floats.Norm(b, math.Inf(1)))
	for k := -math.Ceil(6 / step); k*step <= 6; k++ {
		x := k * step
		floats.AddScaledTo(moved, mean, x, b)
		floats.AddScaled(want, step*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi), independent(moved, sd))
	}
	return latentCase{fmt.Sprintf("%d classes, scale %.2g, factor %.2g", classes, scale, factor), mean, covariance, want}
}

// TestSoftmaxAverageCoverage: the error estimate is at least the actual largest error in 95 of 100 cases. With
// -softmax-cases it also logs the errors of more cases.
func TestSoftmaxAverageCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 0))
	classes := []int{3, 4, 6, 10, 3, 4, 6, 3, 4, 6, 10, 3, 20}
	var errors []float64
	covered, within := 0, 0
	for i := range cmp.Or(*softmaxCases, exhaustive.Of(26, 104)) {
		k := classes[i%len(classes)]
		var c latentCase
		if k < 5 {
			c = tensorCase(rng, k)
		} else {
			c = factorCase(rng, k)
		}
		if d := math.Abs(floats.Sum(c.want) - 1); !(d < 1e-6) {
			t.Fatalf("%s: the oracle's probabilities sum to 1 but for %.1e", c.name, d)
		}
		p := make([]float64, k)
		deviation := likelihood.Softmax{}.Average(p, c.mean, c.covariance, 0)
		d := difference(p, c.want)
		if floats.Min(p) < 0 || !(math.Abs(floats.Sum(p)-1) < 1e-14) {
			t.Errorf("%s: probabilities %v", c.name, p)
		}
		if errors = append(errors, d); d <= 1e-5 {
			within++
		}
		if d <= deviation {
			covered++
		} else {
			t.Logf("%s: off by %.1e, estimated %.1e", c.name, d, deviation)
		}
	}
	slices.Sort(errors)
	n := len(errors)
	t.Logf("%d cases: %d covered, %d within 1e-5; errors: median %.1e, of 90 in 100 %.1e, of 99 %.1e, largest %.1e", n, covered, within, errors[n/2], errors[n*9/10], errors[n*99/100], errors[n-1])
	// If each of n cases is covered with probability 0.95, fewer than this are covered with probability below 0.001.
	if covered < binomialQuantile(n, 0.95, 1e-3) {
		t.Errorf("%d of %d errors are within the estimate", covered, n)
	}
}

// binomialQuantile is the least k with P(K ≤ k) ≥ probability, for n trials.
func binomialQuantile(n int, p, probability float64) int {
	b := distuv.Binomial{N: float64(n), P: p}
	k := 0
	for b.CDF(float64(k)) < probability {
		k++
	}
	return k
}

// TestSoftmaxAverageOfManyAxes: of 20 classes with a dozen directions of falling size, the grid that refines the
// largest difference reaches 1e-5, where a lattice of the default number of points does not; both agree.
func TestSoftmaxAverageOfManyAxes(t *testing.T) {
	const classes = 20
	rng := rand.New(rand.NewPCG(4, 0))
	covariance, mean, direction := mat.NewSymDense(classes, nil), make([]float64, classes), mat.NewVecDense(classes, nil)
	for size := 2.0; size > 0.1; size *= 0.8 {
		for c := range classes {
			direction.SetVec(c, size*rng.NormFloat64()/math.Sqrt(classes))
		}
		covariance.SymRankOne(covariance, 1, direction)
	}
	for c := range classes {
		mean[c] = rng.NormFloat64()
		covariance.SetSym(c, c, covariance.At(c, c)+1)
	}
	p, q := make([]float64, classes), make([]float64, classes)
	grid := likelihood.Softmax{}.Average(p, mean, covariance, 0)
	lattice := likelihood.Softmax{}.Average(q, mean, covariance, utility.DefaultPoints)
	if d := difference(p, q); !(grid <= 1e-5 && lattice > 1e-5 && d <= grid+lattice) {
		t.Errorf("estimates %.1e of the grid and %.1e of the lattice, which differ by %.1e", grid, lattice, d)
	}
}

// TestSoftmaxAveragePoints: more points lower the error estimate in a case where the default is not exact, and the
// same arguments give the same bytes. The estimate is no more than 30 times the error: of t with 7 degrees of freedom,
// 94 of 100 values are above a 30th of its 95 % quantile.
func TestSoftmaxAveragePoints(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	c := factorCase(rng, 6)
	last := math.Inf(1)
	for _, points := range []int{1 << 10, 1 << 14, 1 << 18} {
		p, q := make([]float64, 6), make([]float64, 6)
		deviation := likelihood.Softmax{}.Average(p, c.mean, c.covariance, points)
		likelihood.Softmax{}.Average(q, c.mean, c.covariance, points)
		if d := difference(p, c.want); !(d <= deviation && deviation <= 30*d && deviation < last) || !slices.Equal(p, q) {
			t.Errorf("%s, %d points: off by %.1e, estimated %.1e after %.1e", c.name, points, d, deviation, last)
		}
		last = deviation
	}
}
