package lowrank

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

const testCases, testPoints = 13, 4

// problem is a low-rank prior, and K̂ computed from its definition.
func problem(t *testing.T, seed uint64, power float64) (*Prior, *mat.Dense) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, testCases+testPoints)
	for i := range x {
		x[i] = 3 * rng.NormFloat64()
	}
	k := func(i, j int) float64 { return 2 * math.Exp(-(x[i]-x[j])*(x[i]-x[j])/2) }
	cov := Cov{K: mat.NewSymDense(testPoints, nil), Cross: mat.NewDense(testPoints, testCases, nil)}
	for i := range testPoints {
		for j := i; j < testPoints; j++ {
			cov.K.SetSym(i, j, k(i, j))
		}
		for j := range testCases {
			cov.Cross.Set(i, j, k(i, testPoints+j))
		}
	}
	for range testCases {
		cov.Diag, cov.Noise = append(cov.Diag, 2), append(cov.Noise, rng.Float64())
	}
	p, err := New(cov, power, linalg.NewGeneral)
	if err != nil {
		t.Fatal(err)
	}
	var solved, dense mat.Dense
	if err := solved.Solve(cov.K, cov.Cross); err != nil {
		t.Fatal(err)
	}
	dense.Mul(cov.Cross.T(), &solved)
	for i := range testCases {
		q := dense.At(i, i)
		dense.Set(i, i, q+power*(2-q)+cov.Noise[i])
	}
	return p, &dense
}

// posterior returns Σ = (I + K W)⁻¹ K, (I + K W)⁻¹ and ½ log|I + K W|.
func posterior(t *testing.T, k, w *mat.Dense) (sigma, inverse *mat.Dense, logDet float64) {
	t.Helper()
	n, _ := k.Dims()
	var b mat.Dense
	b.Mul(w, k)
	for i := range n {
		b.Set(i, i, b.At(i, i)+1)
	}
	inverse, sigma = new(mat.Dense), new(mat.Dense)
	if err := inverse.Inverse(&b); err != nil {
		t.Fatal(err)
	}
	sigma.Mul(k, inverse)
	logDet, _ = mat.LogDet(&b)
	return sigma, inverse, logDet / 2
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-10*max(1, math.Abs(want))) {
		t.Errorf("%s is %.14g, from dense matrices %.14g", what, got, want)
	}
}

// TestSites compares the posterior of one process with dense matrices, with one site of negative precision.
func TestSites(t *testing.T) {
	for _, power := range []float64{0, 0.5, 1} {
		prior, k := problem(t, 1, power)
		p, w, tau := NewSites(prior), mat.NewDense(testCases, testCases, nil), make([]float64, testCases)
		for i := range tau {
			tau[i] = 0.3 + float64(i%4)
			w.Set(i, i, tau[i])
		}
		tau[2] = -0.1
		w.Set(2, 2, tau[2])
		if err := p.Factorise(tau); err != nil {
			t.Fatal(err)
		}
		sigma, inverse, logDet := posterior(t, k, w)
		near(t, "½ log|I + S K|", p.LogDet(), logDet)
		variances, x, kx := make([]float64, testCases), make([]float64, testCases), make([]float64, testCases)
		for i := range x {
			x[i] = math.Sin(float64(i))
		}
		p.Variances(variances)
		p.Multiply(kx, x)
		var wantKx, shrunk, r mat.VecDense
		wantKx.MulVec(k, mat.NewVecDense(testCases, x))
		shrunk.MulVec(inverse, mat.NewVecDense(testCases, x))
		r.MulVec(inverse, mat.NewVecDense(testCases, tau))
		p.Shrink(x, x)
		for i, v := range variances {
			near(t, "Σ_ii", v, sigma.At(i, i))
			near(t, "R_ii", p.Information(i), inverse.At(i, i)*tau[i])
			near(t, "1 - τΣ_ii", p.Remains(i), 1-tau[i]*sigma.At(i, i))
			near(t, "K x", kx[i], wantKx.AtVec(i))
			near(t, "(I + S K)⁻¹ x", x[i], shrunk.AtVec(i))
		}
	}
}

// TestClasses compares the posterior of several processes, coupled by their sites, with dense matrices.
func TestClasses(t *testing.T) {
	const classes, n = 3, testCases
	for _, power := range []float64{0, 0.5, 1} {
		for _, shared := range []bool{true, false} {
			var priors []*Prior
			k, w := mat.NewDense(classes*n, classes*n, nil), mat.NewDense(classes*n, classes*n, nil)
			for c := range classes {
				prior, own := problem(t, uint64(c+1), power)
				if shared {
					prior, own = problem(t, 1, power)
				}
				if c == 0 || !shared {
					priors = append(priors, prior)
				}
				k.Slice(c*n, (c+1)*n, c*n, (c+1)*n).(*mat.Dense).Copy(own)
			}
			pi := make([]float64, classes*n)
			for i := range n {
				a, b := math.Exp(math.Sin(float64(i))), math.Exp(float64(i-n/2)) // up to one nearly certain case
				for c, v := range []float64{1, a, b} {
					pi[c*n+i] = v / (1 + a + b)
				}
				for c := range classes {
					for d := range classes {
						v := -pi[c*n+i] * pi[d*n+i]
						if c == d {
							v += pi[c*n+i]
						}
						w.Set(c*n+i, d*n+i, v)
					}
				}
			}
			p := NewClasses(priors, classes)
			if err := p.Factorise(pi); err != nil {
				t.Fatal(err)
			}
			sigma, inverse, logDet := posterior(t, k, w)
			near(t, "½ log|I + W K|", p.LogDet(), logDet)
			x := make([]float64, classes*n)
			for j := range x {
				x[j] = math.Cos(float64(j))
			}
			var shrunk mat.VecDense
			shrunk.MulVec(inverse, mat.NewVecDense(len(x), x))
			p.Shrink(x, x)
			for j, v := range x {
				near(t, "(I + W K)⁻¹ x", v, shrunk.AtVec(j))
			}
			checkMarginals(t, p, priors, pi, sigma, inverse, w)
		}
	}
}

// checkMarginals compares the marginals that a Classes returns with Σ, and its penalty with the definition.
func checkMarginals(t *testing.T, p *Classes, priors []*Prior, pi []float64, sigma, inverse, w *mat.Dense) {
	t.Helper()
	const n = testCases
	alpha := priors[0].power
	q, r := make([]float64, p.classes*n), make([]float64, p.classes*n)
	p.Variances(q, r)
	var information mat.Dense // R = (I + W K)⁻¹ W
	information.Mul(inverse, w)
	p.Covariances(func(i int, own, left []float64, got *mat.SymDense) {
		site, spread := mat.NewDense(p.classes, p.classes, nil), mat.NewDense(p.classes, p.classes, nil)
		for c := range p.classes {
			for d := range p.classes {
				site.Set(c, d, w.At(c*n+i, d*n+i))
			}
			spread.Set(c, c, p.prior(c).spare[i])
		}
		var scaled mat.Dense
		scaled.Scale(alpha, site)
		beside, _, logDet := posterior(t, spread, &scaled)
		if want := logDet * 2 * (1 - alpha) / (2 * alpha); alpha > 0 {
			near(t, "the penalty", p.Penalty(i), want)
		} else {
			var product mat.Dense
			product.Mul(site, spread)
			near(t, "the penalty", p.Penalty(i), mat.Trace(&product)/2)
		}
		// A term common to all latent values cancels in their differences.
		between := func(at func(c, d int) float64, c, d int) float64 { return at(c, c) - at(c, d) - at(d, c) + at(d, d) }
		want := func(c, d int) float64 { return sigma.At(c*n+i, d*n+i) }
		centred := func(c int) (v float64) {
			for d := range p.classes {
				for e := range p.classes {
					weight := func(d int) float64 {
						if d == c {
							return 1 - pi[d*n+i]
						}
						return -pi[d*n+i]
					}
					v += weight(d) * weight(e) * (want(d, e) + (1-alpha)*beside.At(d, e))
				}
			}
			return v
		}
		for c := range p.classes {
			near(t, "the variance of f - Σπf", q[c*n+i], centred(c))
			near(t, "R_cc", r[c*n+i], information.At(c*n+i, c*n+i))
			near(t, "1 - πq", left[c], 1-pi[c*n+i]*own[c])
			for d := range c {
				near(t, "the variance of a difference", between(got.At, c, d), between(want, c, d))
			}
		}
	})
}

// TestBadPriors: invalid numbers in a covariance give an error, whatever their place.
func TestBadPriors(t *testing.T) {
	for name, spoil := range map[string]func(c *Cov){
		"K_zz":     func(c *Cov) { c.K.SetSym(0, 1, math.NaN()) },
		"K_zx":     func(c *Cov) { c.Cross.Set(1, 2, math.Inf(1)) },
		"variance": func(c *Cov) { c.Diag[1] = -1 },
		"noise":    func(c *Cov) { c.Noise[0] = math.NaN() },
		"negative": func(c *Cov) { c.K.SetSym(0, 0, -1) },
	} {
		c := Cov{K: mat.NewSymDense(2, []float64{1, 0, 0, 1}), Cross: mat.NewDense(2, 3, nil),
			Diag: []float64{1, 1, 1}, Noise: []float64{0, 0, 0}}
		spoil(&c)
		if _, err := New(c, 1, linalg.NewGeneral); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestBadCross: the error for a number in K_zx that is not finite names its place, with a copy and with the
// covariance's own memory as scratch.
func TestBadCross(t *testing.T) {
	const m, n, point, at = 30, 700, 17, 641
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, scratch := range []bool{false, true} {
			c := Cov{K: mat.NewSymDense(m, nil), Cross: mat.NewDense(m, n, nil), Diag: make([]float64, n), Scratch: scratch}
			for k := range m {
				c.K.SetSym(k, k, 2)
				for l := range k {
					c.K.SetSym(l, k, 0.5)
				}
				for i := range n {
					c.Cross.Set(k, i, math.Sin(float64(k+i)))
				}
			}
			c.Cross.Set(point, at, bad)
			c.Cross.Set(point+5, at-1, bad)
			_, err := New(c, 1, linalg.NewGeneral)
			if want := fmt.Sprintf("inducing input %d and case %d is %v;", point, at, bad); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
}

// TestPartsOfAnAdjoint: an adjoint passed column block by column block equals the whole one bit for bit, also if the
// memory of the covariance is used as scratch.
func TestPartsOfAnAdjoint(t *testing.T) {
	const n = 2*PartSize + 5
	rng := rand.New(rand.NewPCG(9, 9))
	cov := Cov{K: mat.NewSymDense(2, []float64{1, 0.3, 0.3, 1}), Cross: mat.NewDense(2, n, nil), Diag: make([]float64, n)}
	tau, b := make([]float64, n), make([]float64, n)
	for i := range n {
		cov.Cross.Set(0, i, 0.5*rng.Float64())
		cov.Cross.Set(1, i, 0.5*rng.Float64())
		cov.Diag[i], tau[i], b[i] = 1, rng.Float64(), rng.NormFloat64()
	}
	adjoint := func(cov Cov, dst *Cov) {
		p, err := New(cov, 0.5, linalg.NewGeneral)
		if err != nil {
			t.Fatal(err)
		}
		s := NewSites(p)
		if err := s.Factorise(tau); err != nil {
			t.Fatal(err)
		}
		s.Variances(make([]float64, n))
		dst.K, dst.Diag, dst.Noise = mat.NewSymDense(2, nil), make([]float64, n), make([]float64, n)
		s.Pull(dst, Adjoint{P: [][]float64{b}, Q: [][]float64{b}, C: 1})
	}
	whole, got := Cov{Cross: mat.NewDense(2, n, nil)}, mat.NewDense(2, n, nil)
	adjoint(cov, &whole)
	cov.Scratch = true
	parts := Cov{Part: func(part *mat.Dense, from int) {
		_, columns := part.Dims()
		got.Slice(0, 2, from, from+columns).(*mat.Dense).Copy(part)
	}}
	linalg.SetThreads(3)
	defer linalg.SetThreads(1)
	adjoint(cov, &parts)
	if !mat.Equal(got, whole.Cross) || !mat.Equal(parts.K, whole.K) {
		t.Error("an adjoint by parts differs from the whole")
	}
}
