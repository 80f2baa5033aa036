package kernel_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// The formulas of every kernel for one pair of cases, from the book: sums and differences in 200-bit arithmetic, so
// that only the last function call rounds. Each function returns k and the tolerance of a computed k.

const u = 0x1p-53

// wide returns v in 200-bit arithmetic; zero starts sums.
func wide(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }

func narrow(v *big.Float) float64 { f, _ := v.Float64(); return f }

func product(a, b *big.Float) *big.Float { return wide(0).Mul(a, b) }
func ratio(a, b *big.Float) *big.Float   { return wide(0).Quo(a, b) }
func plus(a, b *big.Float) *big.Float    { return wide(0).Add(a, b) }
func minus(a, b *big.Float) *big.Float   { return wide(0).Sub(a, b) }

// pair is two cases and the hyperparameters in natural units.
type pair struct {
	x, z     []float64
	shift    []float64 // the column means of the set that x belongs to
	sigma    float64
	lengths  []float64    // l_k of every column, 1 for kernels without
	weights  []*big.Float // 1/l_k²
	last     float64      // alpha, period, bias_amplitude
	sameCase bool
}

// distance returns Σ (x_k - z_k)²/l_k² and a bound on its relative error, from the comment on closeness plus 4u for
// the rounding of 1/l².
func (p pair) distance() (s, relative float64) {
	sum := wide(0)
	for k, w := range p.weights {
		d := minus(wide(p.x[k]), wide(p.z[k]))
		sum = plus(sum, product(w, product(d, d)))
	}
	return narrow(sum), (2*float64(len(p.x))+7)*64*u + 6*8*u + 4*u
}

// stationary returns the value σ²κ and its tolerance, given ln κ = log. For all kernels here log changes by at most
// twice its own size times the relative change of s. The worst-case bound exceeds 1e-10 far out in the tail; the
// tolerance is at most 1e-10, which every entry satisfies.
func (p pair) stationary(log, relative float64, exact float64) (k, tol float64) {
	k = p.sigma * p.sigma * exact
	return k, k * math.Min(1e-10, 2*relative*math.Abs(log)+16*u)
}

// inner returns b + Σ x_k z_k/l_k² and its tolerance.
func (p pair) inner(b float64) (sum *big.Float, tol float64) {
	sum = wide(b)
	size := b
	for k, w := range p.weights {
		term := product(w, product(wide(p.x[k]), wide(p.z[k])))
		sum = plus(sum, term)
		size += math.Abs(narrow(term))
	}
	return sum, float64(len(p.x)+8) * u * size
}

var references = map[string]func(p pair) (k, tol float64){
	"se": func(p pair) (float64, float64) { // GPML (4.9)
		s, relative := p.distance()
		return p.stationary(s/2, relative, math.Exp(-s/2))
	},
	"matern12": func(p pair) (float64, float64) { // GPML (4.14) at ν = 1/2
		s, relative := p.distance()
		r := math.Sqrt(s)
		return p.stationary(r, relative, math.Exp(-r))
	},
	"matern32": func(p pair) (float64, float64) { // GPML (4.17)
		s, relative := p.distance()
		a := math.Sqrt(3 * s)
		return p.stationary(a, relative, (1+a)*math.Exp(-a))
	},
	"matern52": func(p pair) (float64, float64) { // GPML (4.17)
		s, relative := p.distance()
		a := math.Sqrt(5 * s)
		return p.stationary(a, relative, (1+a+5*s/3)*math.Exp(-a))
	},
	"rational_quadratic": func(p pair) (float64, float64) { // GPML (4.19)
		s, relative := p.distance()
		log := -p.last * math.Log1p(s/(2*p.last))
		return p.stationary(log, relative, math.Exp(log))
	},
	"linear": func(p pair) (float64, float64) {
		k, tol := p.inner(1)
		return p.sigma * p.sigma * narrow(k), p.sigma * p.sigma * tol
	},
	"polynomial": func(p pair) (float64, float64) {
		d := float64(len(p.x))
		t, tol := p.inner(d)
		t, tol = ratio(t, wide(d)), tol/d
		v := narrow(t)
		return p.sigma * p.sigma * v * v, 2 * p.sigma * p.sigma * (math.Abs(v)*tol + 8*u*v*v)
	},
	"constant": func(p pair) (float64, float64) { return p.sigma * p.sigma, 4 * u * p.sigma * p.sigma },
	"noise": func(p pair) (float64, float64) {
		if p.sameCase {
			return p.sigma * p.sigma, 4 * u * p.sigma * p.sigma
		}
		return 0, 0
	},
	"periodic": func(p pair) (float64, float64) { // GPML (4.31)
		sum, tol := 0.0, 0.0
		for k, l := range p.lengths {
			cycles := ratio(minus(wide(p.x[k]), wide(p.z[k])), wide(p.last))
			whole, _ := cycles.Int(nil)
			phase := math.Pi * narrow(minus(cycles, wide(0).SetInt(whole)))
			sum += 2 * math.Pow(math.Sin(phase)/l, 2)
			// x/p has an error of 2u|x/p|, and each coordinate of a point on the circle another 2u.
			off := 4*math.Pi*u*(math.Abs(p.x[k]-p.shift[k])+math.Abs(p.z[k]-p.shift[k]))/p.last + 8*u
			tol += (math.Abs(math.Sin(2*phase)) + off) * off / (l * l)
		}
		_, relative := p.distance()
		k := p.sigma * p.sigma * math.Exp(-sum)
		return k, k * (tol + (2*relative)*sum + 16*u)
	},
	"hamming": func(p pair) (float64, float64) { // Ru et al. 2020, of a product over columns
		sum := wide(0)
		for k, w := range p.weights {
			if p.x[k] != p.z[k] {
				sum = plus(sum, w)
			}
		}
		s := narrow(sum) / 2
		return p.stationary(s, (float64(len(p.x))+4)*u, math.Exp(-s))
	},
	"neural_network": func(p pair) (float64, float64) { // GPML (4.29)
		bias := product(wide(p.last), wide(p.last))
		form := func(x, z []float64) *big.Float { // 2 x̃ᵀΣz̃
			q := p
			q.x, q.z = x, z
			sum, _ := q.inner(0)
			return product(wide(2), plus(bias, sum))
		}
		n, one := form(p.x, p.z), wide(1)
		h := product(plus(one, form(p.x, p.x)), plus(one, form(p.z, p.z)))
		r := wide(0).Sqrt(minus(h, product(n, n)))
		k := p.sigma * p.sigma * 2 / math.Pi * math.Atan2(narrow(n), narrow(r))
		return k, 1e-12 * p.sigma * p.sigma
	},
}

// TestReference compares every entry of Gram and Cross with the pairwise formulas, at ordinary theta, everywhere in
// [-5, 5] and in the corners of the bounds, with duplicates, cases 1e-9 apart and inputs far from the origin.
func TestReference(t *testing.T) {
	for name, k := range variants(t) {
		kind, ard := strings.CutSuffix(name, " ard")
		reference, ok := references[kind]
		if !ok {
			t.Errorf("%s has no pairwise formula in references; write one from the literature", kind)
			continue
		}
		for _, dim := range []int{1, 4, 40} {
			t.Run(fmt.Sprintf("%s d=%d", name, dim), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(7, uint64(dim)))
				for trial := range 16 {
					x, z := scattered(rng, 6, dim, trial%3 == 2), scattered(rng, 5, dim, trial%3 == 2)
					z.X.SetRow(0, x.X.RawRowView(3))
					theta := make([]float64, len(k.Params(dim)))
					for j := range theta {
						switch trial % 4 {
						case 0:
							theta[j] = 2*rng.Float64() - 1
						case 3:
							theta[j] = []float64{-10, 15}[rng.IntN(2)]
						default:
							theta[j] = 10*rng.Float64() - 5
						}
					}
					compare(t, k, reference, ard, theta, x, z)
				}
			})
		}
	}
}

// scattered draws cases on scales between 0.1 and 10, some of them equal or nearly equal, and far from the origin if
// far is set.
func scattered(rng *rand.Rand, n, dim int, far bool) *kernel.Inputs {
	x := mat.NewDense(n, dim, nil)
	scale := math.Pow(10, 2*rng.Float64()-1)
	for i := range n {
		for k := range dim {
			v := scale * rng.NormFloat64()
			if far {
				v += 100
			}
			switch i {
			case 1:
				v = x.At(0, k)
			case 2:
				v = x.At(0, k) + 1e-9*v
			}
			x.Set(i, k, v)
		}
	}
	return &kernel.Inputs{X: x}
}

func compare(t *testing.T, k kernel.Kernel, reference func(pair) (float64, float64), ard bool,
	theta []float64, x, z *kernel.Inputs) {
	t.Helper()
	n, m, dim := x.N(), z.N(), x.Dim()
	gram, cross := mat.NewSymDense(n, nil), mat.NewDense(n, m, nil)
	kernel.Gram(k, gram, theta, x)
	kernel.Cross(k, cross, theta, x, z)

	p := pair{
		sigma: math.Exp(theta[0]), last: math.Exp(theta[len(theta)-1]),
		lengths: make([]float64, dim), weights: make([]*big.Float, dim), shift: make([]float64, dim),
	}
	for c := range dim {
		p.lengths[c] = 1
		switch {
		case ard:
			p.lengths[c] = math.Exp(theta[1+c])
		case len(theta) > 1:
			p.lengths[c] = math.Exp(theta[1])
		}
		l := wide(p.lengths[c])
		p.weights[c] = ratio(wide(1), product(l, l))
		for i := range n {
			p.shift[c] += x.X.At(i, c) / float64(n)
		}
	}
	at := func(what string, got float64, i, j int) {
		want, tol := reference(p)
		if !(math.Abs(got-want) <= tol+math.SmallestNonzeroFloat64) {
			t.Errorf("%s at θ = %v, cases %d, %d: %v, want %v ± %v", what, theta, i, j, got, want, tol)
		}
	}
	for i := range n {
		p.x = x.X.RawRowView(i)
		for j := i; j < n; j++ {
			p.z, p.sameCase = x.X.RawRowView(j), i == j
			at("Gram", gram.At(i, j), i, j)
		}
		p.sameCase = false
		for j := range m {
			p.z = z.X.RawRowView(j)
			at("Cross", cross.At(i, j), i, j)
		}
	}
}
