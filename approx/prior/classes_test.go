package prior

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

const testClasses = 3

// jointPrior is a Classes of 3 classes, one covariance for all or one each, with K and W formed by their definitions.
type jointPrior struct {
	of        []structure
	classes   Classes
	k, w      *mat.Dense
	pi        []float64
	residuals [][]float64 // D of every class
	total     []float64   // S of every case
}

func newJoint(t *testing.T, name string, shared, probabilities bool) *jointPrior {
	t.Helper()
	const n = testCases
	j := &jointPrior{k: mat.NewDense(testClasses*n, testClasses*n, nil), w: mat.NewDense(testClasses*n, testClasses*n, nil)}
	var cov []Cov
	for c := range testClasses {
		seed := uint64(c + 1)
		if shared {
			seed = 1
		}
		for _, s := range structures(seed) {
			if s.name == name {
				j.of = append(j.of, s)
			}
		}
		if own := &j.of[c].cov; own.Neighbours != nil { // the classes have the same neighbours
			own.Neighbours = j.of[0].cov.Neighbours
			own.Blocks = own.triangles(own.K.At)
		}
		own, residual := j.of[c].matrix(t, j.of[c].cov)
		j.residuals = append(j.residuals, residual)
		j.k.Slice(c*n, (c+1)*n, c*n, (c+1)*n).(*mat.Dense).Copy(own)
		if c == 0 || !shared {
			cov = append(cov, j.of[c].cov)
		}
	}
	j.pi = make([]float64, testClasses*n)
	for i := range n {
		a, b := math.Exp(math.Sin(float64(i))), math.Exp(float64(i-n/2)) // up to one nearly certain case
		j.total = append(j.total, [...]float64{1, 2.5, 1, 0.4}[i%4])
		if probabilities {
			j.total[i] = 1
		}
		for c, v := range []float64{1, a, b} {
			j.pi[c*n+i] = j.total[i] * v / (1 + a + b)
		}
		for c := range testClasses {
			for d := range testClasses {
				v := -j.pi[c*n+i] * j.pi[d*n+i] / j.total[i]
				if c == d {
					v += j.pi[c*n+i]
				}
				j.w.Set(c*n+i, d*n+i, v)
			}
		}
	}
	var err error
	if j.classes, err = NewClasses(nil, cov, n, testClasses, j.of[0].power, nil); err != nil {
		t.Fatal(err)
	}
	if err := j.classes.Factorise(j.pi); err != nil {
		t.Fatal(err)
	}
	return j
}

// joint runs a check for every structure of several processes, with probabilities and with other numbers for π.
func joint(t *testing.T, check func(t *testing.T, j *jointPrior, shared bool)) {
	for _, name := range []string{"dense", "fitc", "half", "vfe", "all neighbours", "neighbours"} {
		for _, shared := range []bool{true, false} {
			for _, probabilities := range []bool{true, false} {
				if !probabilities && (name == "half" || name == "vfe") { // others have a penalty
					continue
				}
				t.Run(fmt.Sprint(name, " ", shared, " ", probabilities), func(t *testing.T) {
					check(t, newJoint(t, name, shared, probabilities), shared)
				})
			}
		}
	}
}

// TestClasses compares what the priors of several processes, coupled by their sites, compute with dense matrices.
func TestClasses(t *testing.T) {
	joint(t, func(t *testing.T, j *jointPrior, _ bool) {
		sigma, shrunk, logDet := posterior(t, j.k, j.w)
		near(t, "½ log|I + W K|", j.classes.LogDet(), logDet, 1e-10)
		size := testClasses * testCases
		x, kx, dst := wave(size, 1), make([]float64, size), make([]float64, size)
		var wantKx, want mat.VecDense
		want.MulVec(shrunk, mat.NewVecDense(size, x))
		wantKx.MulVec(j.k, mat.NewVecDense(size, x))
		j.classes.Multiply(kx, x)
		j.classes.Shrink(dst, x, kx)
		for i, v := range dst {
			near(t, "K x", kx[i], wantKx.AtVec(i), 1e-10)
			near(t, "(I + W K)⁻¹ x", v, want.AtVec(i), 1e-10)
		}
		j.checkMarginals(t, sigma)
		if j.of[0].cov.Neighbours == nil { // else TestPredictionsOfClassesByNeighbours has them
			j.checkPredictions(t, shrunk)
		}
	})
}

// checkMarginals compares the marginals and variances with Σ, and the penalty with its definition.
func (j *jointPrior) checkMarginals(t *testing.T, sigma *mat.Dense) {
	t.Helper()
	const n = testCases
	var variances []float64
	dst := j.of[0].emptyAdjoint()
	j.classes.Pull(&dst, 0, func(v []float64) Adjoint {
		variances = v
		return Adjoint{C: 1}
	})
	alpha := j.of[0].power
	j.classes.Marginals(func(i int, own, left []float64, got *mat.SymDense) {
		site, spread := mat.NewDense(testClasses, testClasses, nil), mat.NewDense(testClasses, testClasses, nil)
		for c := range testClasses {
			for d := range testClasses {
				site.Set(c, d, j.w.At(c*n+i, d*n+i))
			}
			spread.Set(c, c, j.residuals[c][i])
		}
		var scaled mat.Dense
		scaled.Scale(alpha, site)
		beside, _, logDet := posterior(t, spread, &scaled)
		if want := logDet * 2 * (1 - alpha) / (2 * alpha); alpha > 0 {
			near(t, "the penalty", j.classes.Penalty(i), want, 1e-10)
		} else {
			var product mat.Dense
			product.Mul(site, spread)
			near(t, "the penalty", j.classes.Penalty(i), mat.Trace(&product)/2, 1e-10)
		}
		// A term common to all latent values cancels in their differences.
		between := func(at func(c, d int) float64, c, d int) float64 { return at(c, c) - at(c, d) - at(d, c) + at(d, d) }
		want := func(c, d int) float64 { return sigma.At(c*n+i, d*n+i) }
		centred := func(c int) (v float64) {
			weight := func(d int) float64 {
				if d == c {
					return 1 - j.pi[d*n+i]
				}
				return -j.pi[d*n+i]
			}
			for d := range testClasses {
				for e := range testClasses {
					v += weight(d) * weight(e) * (want(d, e) + (1-alpha)*beside.At(d, e))
				}
			}
			return v
		}
		for c := range testClasses {
			pi := j.pi[c*n+i]
			if floats.Max(j.total) == 1 { // only then they are used
				near(t, "the variance of f - Σπf", variances[c*n+i], pi*centred(c), 1e-10)
			}
			near(t, "1 - πq", left[c], 1-pi*own[c], 1e-10)
			for d := range c {
				near(t, "the variance of a difference", between(got.At, c, d), between(want, c, d), 1e-9)
			}
		}
	})
}

// checkPredictions: means, variances and covariances of the classes at inputs among the cases or inducing inputs.
func (j *jointPrior) checkPredictions(t *testing.T, shrunk *mat.Dense) {
	t.Helper()
	const n = testCases
	b := wave(testClasses*n, 4)
	p := j.classes.Posterior(b)
	whole := make([]*mat.Dense, testClasses) // Cn×new, the covariances with the cases of every class
	var cross []*mat.Dense
	var diag [][]float64
	for c, s := range j.of {
		known, _ := s.cov.K.Dims()
		x, d := mat.NewDense(known, testNew, nil), make([]float64, testNew)
		for a := range testNew {
			d[a] = s.cov.K.At(a, a) + 0.5
			for i := range known {
				x.Set(i, a, s.cov.K.At(i, a))
			}
		}
		own := x
		if s.cov.Cross != nil {
			var solved mat.Dense
			if err := solved.Solve(s.cov.K, s.cov.Cross); err != nil {
				t.Fatal(err)
			}
			own = new(mat.Dense)
			own.Mul(solved.T(), x)
		}
		whole[c] = mat.NewDense(testClasses*n, testNew, nil)
		whole[c].Slice(c*n, (c+1)*n, 0, testNew).(*mat.Dense).Copy(own)
		cross, diag = append(cross, x), append(diag, d)
	}
	var r mat.Dense
	r.Mul(shrunk, j.w)
	covariance := func(c, d, a int) float64 {
		var rk mat.VecDense
		rk.MulVec(&r, whole[d].ColView(a))
		v := -mat.Dot(whole[c].ColView(a), &rk)
		if c == d {
			v += diag[c][a]
		}
		return v
	}
	for c := range testClasses {
		mean, variance := make([]float64, testNew), make([]float64, testNew)
		p.Latent(mean, variance, c, cross[c], diag[c])
		for a := range testNew {
			near(t, "a latent mean", mean[a], mat.Dot(whole[c].ColView(a), mat.NewVecDense(testClasses*n, b)), 1e-9)
			near(t, "a latent variance", variance[a], covariance(c, c, a), 1e-9)
		}
	}
	p.Covariances(cross, diag, false, func(a int, s *mat.SymDense) {
		for c := range testClasses {
			for d := range testClasses {
				near(t, "a latent covariance", s.At(c, d), covariance(c, d, a), 1e-9)
			}
		}
	})
}

// TestClassesPull compares the derivative of Σ_c Σ G_c K_c, and of minus the penalty, along a change of the numbers
// that a covariance is made of with differences.
func TestClassesPull(t *testing.T) {
	const n, h = testCases, 1e-5
	joint(t, func(t *testing.T, j *jointPrior, shared bool) {
		_, shrunk, _ := posterior(t, j.k, j.w)
		var r, g, weights, onto mat.Dense
		r.Mul(shrunk, j.w)
		p, q := [][]float64{wave(testClasses*n, 1)}, [][]float64{wave(testClasses*n, 2)}
		adjoint := Adjoint{P: p, Q: q, C: 0.7}
		if j.of[0].power == 1 {
			adjoint.Gamma = wave(testClasses*n, 3)
			contrasts := j.contrasts()
			weights.Mul(contrasts.T(), diagonal(adjoint.Gamma))
			onto.Mul(&weights, contrasts)
			weights.Mul(shrunk, &onto)
			g.Mul(&weights, shrunk.T())
		} else {
			g.CloneFrom(mat.NewDense(testClasses*n, testClasses*n, nil))
		}
		for which := range j.of {
			if shared && which > 0 {
				break
			}
			dst := j.of[which].emptyAdjoint()
			j.classes.Pull(&dst, which, adjoint.Constant)
			value := func(h float64) (v float64) {
				cov := make([]Cov, len(j.of))
				for c, s := range j.of {
					if cov[c] = s.cov; c == which || shared {
						cov[c] = s.moved(h)
					}
					k, _ := s.matrix(t, cov[c])
					for a := range n {
						for b := range n {
							i, l := c*n+a, c*n+b
							v += ((p[0][i]*q[0][l]+q[0][i]*p[0][l])/2 - adjoint.C*r.At(i, l)/2 + g.At(i, l)) * k.At(a, b)
						}
					}
				}
				if shared {
					cov = cov[:1]
				}
				moved, err := NewClasses(nil, cov, n, testClasses, j.of[0].power, nil)
				if err == nil {
					err = moved.Factorise(j.pi)
				}
				if err != nil {
					t.Fatal(err)
				}
				for i := range n {
					v -= moved.Penalty(i)
				}
				return v
			}
			near(t, "the derivative", j.of[which].along(dst), (value(h)-value(-h))/(2*h), 1e-6)
		}
	})
}

// contrasts are the values f_c - Σ_d π_d/S f_d as a matrix.
func (j *jointPrior) contrasts() *mat.Dense {
	const n = testCases
	m := mat.NewDense(testClasses*n, testClasses*n, nil)
	for i := range n {
		for c := range testClasses {
			for d := range testClasses {
				m.Set(c*n+i, d*n+i, -j.pi[d*n+i]/j.total[i])
			}
			m.Set(c*n+i, c*n+i, 1-j.pi[c*n+i]/j.total[i])
		}
	}
	return m
}

// TestClassesSquares compares the products with dense matrices.
func TestClassesSquares(t *testing.T) {
	const n = testCases
	joint(t, func(t *testing.T, j *jointPrior, _ bool) {
		sigma, _, _ := posterior(t, j.k, j.w)
		var left, spread mat.Dense
		left.Mul(j.contrasts(), sigma)
		spread.Mul(&left, j.contrasts().T())
		x, dst := wave(testClasses*n, 4), make([]float64, testClasses*n)
		j.classes.Squares()(dst, x)
		for a := range dst {
			want := 0.0
			for b, v := range x {
				if a%n != b%n {
					want += spread.At(a, b) * spread.At(a, b) * v
				}
			}
			near(t, "a product", dst[a], want, 1e-9)
		}
	})
}

// TestPreconditioners: K̃ (I + W K̃)⁻¹ is symmetric, with variances of at least 0.
func TestPreconditioners(t *testing.T) {
	joint(t, func(t *testing.T, j *jointPrior, _ bool) {
		if floats.Max(j.total) > 1 { // the check is for probabilities only
			return
		}
		size := testClasses * testCases
		near := j.classes.Preconditioner()
		if !near.Factorise(j.pi) {
			t.Fatal("not factored")
		}
		s := mat.NewDense(size, size, nil)
		for i := range size {
			x, dst := make([]float64, size), make([]float64, size)
			x[i] = 1
			near.Covariance(dst, x)
			s.SetCol(i, dst)
		}
		for i := range size {
			if s.At(i, i) < 0 {
				t.Errorf("variance %d is %v", i, s.At(i, i))
			}
			for l := range i {
				if !(math.Abs(s.At(i, l)-s.At(l, i)) <= 1e-10) {
					t.Fatalf("entries %d, %d are %v and %v", i, l, s.At(i, l), s.At(l, i))
				}
			}
		}
	})
}
