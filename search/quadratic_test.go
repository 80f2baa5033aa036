package search

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
)

// around makes n trials of f: the first in the middle of a space, the others near it.
func around(s Space, n int, f func(theta []float64) float64) []record.Trial {
	rng := rand.New(rand.NewPCG(1, 1))
	var trials []record.Trial
	for i := range n {
		u := make([]float64, len(s))
		for j := range u {
			u[j] = 0.5
			if i > 0 {
				u[j] += 0.15 * rng.NormFloat64()
			}
		}
		trials = append(trials, spaces.Evaluated(i, [][]float64{s.place(u)}, f))
	}
	return trials
}

func numbers(d int) (s Space) {
	for range d {
		s = append(s, spaces.Bounded("x", param.Identity, 0, -1, 1))
	}
	return s
}

// Of a quadratic function, and points enough, the proposal is the top, and the expected gain the rise to it. Failures,
// and points with another choice, change nothing.
func TestQuadraticFindsTheTop(t *testing.T) {
	for _, d := range []int{1, 2, 4, crossed + 1} {
		s := append(numbers(d), param.Among("kind", "a", "b"))
		at := func(j int) float64 { return 0.05 * math.Cos(float64(j)) }
		f := func(theta []float64) (sum float64) {
			if theta[d] == 1 {
				return 10
			}
			for j, v := range theta[:d] {
				sum -= (1 + float64(j)) * (v - at(j)) * (v - at(j))
				if d <= crossed && j > 0 {
					sum += 0.8 * (v - at(j)) * (theta[j-1] - at(j-1))
				}
			}
			return sum
		}
		trials := around(s, 40+d*(d+3)/2, func(theta []float64) float64 {
			theta[d] = 0
			return f(theta)
		})
		for i := range trials {
			trials[i].Points[0].Theta[d] = 0
		}
		failed := trials[3]
		failed.Points = nil
		failed.Asked = [][]record.Number{trials[3].Points[0].Theta}
		trials[3] = failed
		met, best := s.met(trials)
		q := s.quadratic(trials, false)
		if q == nil {
			t.Fatalf("no quadratic of %d hyperparameters", d)
		}
		u, gain := q.improve(met)
		theta := s.place(u)
		near := 1e-6
		if d > crossed {
			near = 3e-4 // in this many dimensions |z|³ is some hundreds, and ρ at least 1e-4
		}
		for j, v := range theta[:d] {
			if math.Abs(v-at(j)) > near {
				t.Errorf("hyperparameter %d of %d: proposed %v, the top is at %v", j, d, v, at(j))
			}
		}
		if rise := -trials[best].Value(); math.Abs(gain-rise) > near*rise || theta[d] != 0 {
			t.Errorf("%d hyperparameters: expected gain %v, the rise is %v; %v", d, gain, rise, theta)
		}
	}
}

// The expected improvement equals the one under the Gaussian process of the comment on quadratic,
// here with a dense covariance matrix. ρ has the largest marginal likelihood of all values that are
// tried.
func TestQuadraticIsAGaussianProcess(t *testing.T) {
	s := numbers(2)
	f := func(theta []float64) float64 {
		return math.Sin(3*theta[0]) + math.Cos(2*theta[1]-0.5) + theta[0]*theta[1]
	}
	trials := around(s, 12, f)
	met, best := s.met(trials)
	q := s.quadratic(trials, false)
	var z [][]float64
	var y []float64
	for i, u := range met {
		if i != best {
			z, y = append(z, q.from(u)), append(y, trials[i].Value()-trials[best].Value())
		}
	}
	covariance := func(a, b []float64) float64 {
		slope, bend := widest/q.radius, 0.0 // slope: ratio of two prior variances
		for i := range a {
			for j := i; j < len(a); j++ {
				half := 1.0
				if i == j {
					half = 0.25
				}
				bend += half * a[i] * a[j] * b[i] * b[j]
			}
		}
		return slope*floats.Dot(a, b) + bend
	}
	noise := func(a []float64, rest float64) float64 {
		return math.Pow(rest*math.Pow(floats.Norm(a, 2), 3)+1e-9, 2)
	}
	likeliest := math.Inf(-1)
	var rest, sd float64
	var k mat.Cholesky
	for _, r := range []float64{3, 1, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4} {
		c := mat.NewSymDense(len(z), nil)
		for i := range z {
			for j := i; j < len(z); j++ {
				c.SetSym(i, j, covariance(z[i], z[j]))
			}
			c.SetSym(i, i, c.At(i, i)+noise(z[i], r))
		}
		var chol mat.Cholesky
		if !chol.Factorize(c) {
			t.Fatal("not positive definite")
		}
		var alpha mat.VecDense
		v := mat.NewVecDense(len(y), y)
		if err := chol.SolveVecTo(&alpha, v); err != nil {
			t.Fatal(err)
		}
		variance := mat.Dot(v, &alpha) / float64(len(y))
		if l := -float64(len(y))/2*math.Log(variance) - chol.LogDet()/2; l > likeliest {
			likeliest, rest, sd, k = l, r, math.Sqrt(variance), chol
		}
	}
	if q.rest != rest || math.Abs(q.sd-sd) > 1e-6*sd {
		t.Fatalf("ρ = %v, σ = %v, want %v, %v", q.rest, q.sd, rest, sd)
	}
	for _, at := range [][]float64{{0.3, -0.2}, {-1, 1}, {0.01, 0.9}} {
		cross := mat.NewVecDense(len(z), nil)
		for i := range z {
			cross.SetVec(i, covariance(at, z[i]))
		}
		var w mat.VecDense
		if err := k.SolveVecTo(&w, cross); err != nil {
			t.Fatal(err)
		}
		mean := mat.Dot(&w, mat.NewVecDense(len(y), y))
		far := math.Pow(floats.Norm(at, 2), 3)
		variance := covariance(at, at) - mat.Dot(&w, cross) + rest*rest*far*far
		want := math.Exp(logExpectedImprovement(mean, sd*math.Sqrt(variance)))
		if got := q.gain(at); math.Abs(got-want) > 1e-5*want+1e-12 {
			t.Errorf("expected improvement %v, want %v", got, want)
		}
	}
}

// A quadratic function has no rest: of all ρ the least is the likeliest. So it is with a point next
// to the best one, whose value has the error of rounding only.
func TestQuadraticOfNeighbours(t *testing.T) {
	s := numbers(2)
	f := func(theta []float64) float64 { return -math.Pow(theta[0]-0.1, 2) - 2*theta[1]*theta[1] }
	trials := around(s, 12, f)
	met, best := s.met(trials)
	near := []float64{met[best][0] + 1e-3, met[best][1]}
	for _, done := range [][]record.Trial{trials, append(trials, spaces.Evaluated(12, [][]float64{s.place(near)}, f))} {
		if q := s.quadratic(done, false); q.rest != 1e-4 {
			t.Errorf("ρ = %v of %d points", q.rest, len(done))
		}
	}
}

// The radius is at most doubled, after a step of its length that finds a better point, and shrinks
// after one that does not. It is reset where a better point is far away. A worse point far away
// does not change it, and neither does a failure before the first value.
func TestRadius(t *testing.T) {
	s := numbers(1)
	for _, c := range []struct {
		u, values []float64
		want      float64
	}{
		{[]float64{0.5}, []float64{1}, widest},
		{[]float64{0.9, 0.5}, []float64{math.Inf(-1), 1}, widest},
		{[]float64{0.5, 0.6}, []float64{1, 0}, 0.14},
		{[]float64{0.5, 0.6, 0.55}, []float64{1, 0, math.Inf(-1)}, 0.098},
		{[]float64{0.5, 0.6, 0.9}, []float64{1, 0, 0}, 0.14},
		{[]float64{0.5, 0.6, 0.55, 0.52}, []float64{1, 0, 0, 2}, 0.098},
		{[]float64{0.5, 0.6, 0.55, 0.57}, []float64{1, 0, 0, 2}, 0.14},
		{[]float64{0.5, 0.6, 0.55, 0.9}, []float64{1, 0, 0, 2}, widest},
	} {
		var done []record.Trial
		for i, u := range c.u {
			done = append(done, spaces.Evaluated(i, [][]float64{s.place([]float64{u})},
				func([]float64) float64 { return c.values[i] }))
		}
		met, _ := s.met(done)
		if got := s.radius(met, done); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v with values %v: radius %v, want %v", c.u, c.values, got, c.want)
		}
	}
}

// There is no quadratic without a value, without a hyperparameter that is not discrete, or without
// a second point. There is none with fewer points than terms, except if few is true. On a constant
// its expected improvement is 0.
func TestQuadraticOfLittle(t *testing.T) {
	constant := func([]float64) float64 { return 1 }
	kinds := Space{param.Among("kind", "a", "b")}
	for _, q := range []*quadratic{
		numbers(2).quadratic(nil, true), numbers(2).quadratic(around(numbers(2), 1, constant), true),
		numbers(2).quadratic(around(numbers(2), 5, constant), false), kinds.quadratic(around(kinds, 3, constant), true),
	} {
		if q != nil {
			t.Errorf("a quadratic of too little: %+v", q)
		}
	}
	trials := around(numbers(2), 6, constant)
	met, _ := numbers(2).met(trials)
	if u, gain := numbers(2).quadratic(trials, false).improve(met); u != nil || gain != 0 {
		t.Errorf("of a constant it expects %v at %v", gain, u)
	}
	if q := numbers(2).quadratic(around(numbers(2), 3, spaces.Surfaces["bowl"].At), true); q == nil {
		t.Error("no quadratic of few points")
	}
}

// The regression of near points proposes a better point in the neighbourhood, with the same choice.
// Its region maps the middle of its cube to the best point. Its edges are the edges of the unit
// cube where these are nearer.
func TestNear(t *testing.T) {
	s := append(numbers(3), param.Among("kind", "a", "b"))
	f := func(theta []float64) (sum float64) {
		for j, v := range theta[:3] {
			sum -= (1 + 10*float64(j)) * (v - 0.1) * (v - 0.1)
		}
		return sum
	}
	trials := around(s, 30, f)
	for i := range trials {
		trials[i].Points[0].Theta[3] = 1
	}
	met, best := s.met(trials)
	next := s.near(trials, 1)
	if len(next) != 1 || f(next[0].Points[0]) <= trials[best].Value() || *next[0].Gain <= 0 || next[0].Points[0][3] != 1 {
		t.Fatalf("%+v: no better than %v", next, trials[best].Value())
	}
	q := s.quadratic(trials, true)
	for _, z := range q.from(s.unit(next[0].Points[0])) {
		if math.Abs(z) > 1+1e-9 {
			t.Errorf("a step of %v beyond the radius", z)
		}
	}
	region := q.around()
	if u := region.point([]float64{0.5, 0.5, 0.5}); !floats.EqualApprox(u, met[best], 1e-12) {
		t.Errorf("the middle is %v, the best point %v", u, met[best])
	}
	q.at[1] = 1
	u := region.point([]float64{1, 1, 0})
	for i, at := range q.at[:3] {
		want := at + q.radius*(q.basis.At(i, 0)+q.basis.At(i, 1)-q.basis.At(i, 2))
		if math.Abs(u[i]-min(max(want, 0), 1)) > 1e-12 {
			t.Errorf("a corner is %v, the best point %v", u, q.at)
		}
	}
	if next := s.near(trials[:4], 1); next != nil {
		t.Errorf("a regression of 4 points of 3 numbers: %v", next)
	}
}

// In the basis the objective bends alike along all directions, wherever its valleys lie, up to the uncertainty of the
// curvature, which is added.
func TestBasis(t *testing.T) {
	for _, c := range []struct{ angle, bend float64 }{{0, 25}, {0.5, 25}, {1.2, 1e4}} {
		sin, cos := math.Sincos(c.angle)
		q := numbers(2).quadratic(around(numbers(2), 60, func(theta []float64) float64 {
			along, across := cos*theta[0]+sin*theta[1], cos*theta[1]-sin*theta[0]
			return -along*along - c.bend*across*across
		}), false)
		root := mat.NewDense(2, 2, []float64{cos, sin, -math.Sqrt(c.bend) * sin, math.Sqrt(c.bend) * cos})
		root.Mul(root, q.basis)
		if got := mat.Cond(root, 2); !(got*got < 1.1) {
			t.Errorf("%+v: along a direction it bends %v times as much as along another", c, got*got)
		}
	}
}
