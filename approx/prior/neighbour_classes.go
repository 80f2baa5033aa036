package prior

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/sparse"
)

// neighbourClasses are priors K̂_c whose inverses are sparse, see neighbours. So is the precision
// of the posterior of all Cn latent values,
//
//	A = K̂⁻¹ + W,   W_i = Σ_{c<d} π_c π_d/S (e_c - e_d)(e_c - e_d)ᵀ
//
// in which the C values of a case are joined. With the innovations D of neighbours,
//
//	(I + W K̂)⁻¹ = I - W A⁻¹,   ½ log|I + W K̂| = ½ log|A| + ½ Σ_c Σ_i log D_i^c,   Σ = A⁻¹
//
// A factor has up to C² times the numbers of the factor for one class.
type neighbourClasses struct {
	n, classes int
	weight     []float64     // nil: 1 each
	of         []*neighbours // one shared, or one per class
	pi, total  []float64     // π, and S of every case
	joins      []float64     // weights of the rows of A: 1 for neighbours, π_c π_d/S for a pair of classes
	factor     *sparse.Cholesky
	inverse    *sparse.Entries // of A⁻¹; nil: not known
}

// withNeighbourClasses are the priors of several classes of Covs with neighbours.
func withNeighbourClasses(
	_ *Work, cov []Cov, n, classes int, _ float64, weight []float64,
) (Classes, error) {
	if cov[0].Neighbours == nil {
		return nil, nil
	}
	p := &neighbourClasses{n: n, classes: classes, weight: weight, pi: make([]float64, classes*n),
		total: make([]float64, n)}
	for j, own := range cov {
		if own.Neighbours != cov[0].Neighbours {
			panic("prior: the classes have different neighbours")
		}
		k, err := withNeighbours(nil, own, n, 1, false, nil)
		if err != nil {
			return nil, ofClass(err, j, cov)
		}
		p.of = append(p.of, k.(*neighbours))
	}
	var rows [][]float64
	for c := range classes {
		rows = append(rows, share(p.of, c).rows...)
	}
	p.joins = slices.Repeat([]float64{1}, len(rows))
	eachPair(classes, func(int, int) { rows = append(rows, slices.Repeat([][]float64{{1, -1}}, n)...) })
	p.joins = append(p.joins, make([]float64, len(rows)-len(p.joins))...)
	p.factor = cov[0].Neighbours.classes(classes).Cholesky(rows)
	p.factor.Weigh(p.joins)
	return p, nil
}

// pair is the row of A for a pair of classes of case i; number counts the pairs of eachPair.
func (p *neighbourClasses) pair(number, i int) int { return (p.classes+number)*p.n + i }

// These implement Classes.
func (p *neighbourClasses) LargestVariance(c int) float64 { return share(p.of, c).LargestVariance() }
func (p *neighbourClasses) Penalty(int) float64           { return 0 }

func (p *neighbourClasses) Describe() (jitter, unexplained float64) {
	for _, of := range p.of {
		jitter = max(jitter, of.jitter)
	}
	return jitter, 0
}

func (p *neighbourClasses) Multiply(dst, x []float64) {
	for c := range p.classes {
		share(p.of, c).Multiply(dst[c*p.n:(c+1)*p.n], x[c*p.n:(c+1)*p.n])
	}
}

func (p *neighbourClasses) Factorise(pi []float64) error {
	copy(p.pi, pi)
	p.inverse = nil
	clear(p.total)
	for j, v := range pi {
		p.total[j%p.n] += v
	}
	number := 0
	eachPair(p.classes, func(c, d int) {
		for i, s := range p.total {
			p.joins[p.pair(number, i)] = pi[c*p.n+i] * (pi[d*p.n+i] / s)
		}
		number++
	})
	if !p.factor.Factor(make([]float64, len(pi))) {
		return fmt.Errorf("%w: the precision of the posterior; standardise the inputs or lower the amplitude",
			ErrNotPositiveDefinite)
	}
	return nil
}

func (p *neighbourClasses) LogDet() float64 {
	sum := p.factor.LogDet()
	for c := range p.classes {
		for _, d := range share(p.of, c).innovate {
			sum += math.Log(d) / 2
		}
	}
	for i, s := range p.total {
		if p.weight != nil {
			s /= p.weight[i]
		}
		sum += math.Log(s) / 2
	}
	return sum
}

func (p *neighbourClasses) Shrink(dst, x, _ []float64) {
	y := slices.Clone(x)
	p.factor.Solve(y)
	for i, s := range p.total {
		sum := 0.0
		for j := i; j < len(y); j += p.n {
			sum += p.pi[j] * y[j]
		}
		for j := i; j < len(y); j += p.n {
			dst[j] = x[j] - p.pi[j]*(y[j]-sum/s)
		}
	}
}

// Preconditioner implements Classes, with diag π in place of W: the factors of the classes one by
// one take a fraction of the operations of the joint factor.
func (p *neighbourClasses) Preconditioner() Preconditioner {
	s := apart{n: p.n}
	for c := range p.classes {
		of := share(p.of, c)
		s.factors = append(s.factors, of.near.sites().Cholesky(of.rows))
	}
	return s
}

// apart has the factors of K̂_c⁻¹ + diag π_c.
type apart struct {
	n       int
	factors []*sparse.Cholesky
}

func (p apart) Factorise(pi []float64) bool {
	ok := make([]bool, len(p.factors))
	linalg.Parallel(len(ok), func(c int) { ok[c] = p.factors[c].Factor(pi[c*p.n : (c+1)*p.n]) })
	return !slices.Contains(ok, false)
}

func (p apart) Covariance(dst, x []float64) {
	linalg.Parallel(len(p.factors), func(c int) { p.factors[c].Solve(x[c*p.n : (c+1)*p.n]) })
	copy(dst, x)
}

// entries are entries of A⁻¹, kept until the next factor, and of A⁻¹ΓA⁻¹ for the matrix Γ that the
// weights gamma on the variances of contrasts give.
func (p *neighbourClasses) entries(gamma []float64) (inverse, product sparse.Entries) {
	if p.inverse == nil || gamma != nil {
		inverse, product = p.factor.InverseByRows(p.onPairs(gamma))
		p.inverse = &inverse
	}
	return *p.inverse, product
}

// onPairs are the weights on the rows of A of the matrix Σ_a γ_a (e_a - p)(e_a - p)ᵀ of every case,
// p = π/S. Its rows have the sum 0, so that it is
//
//	Σ_{c<d} g_cd (e_c - e_d)(e_c - e_d)ᵀ,   g_cd = γ_c p_d + γ_d p_c - p_c p_d Σ_a γ_a
func (p *neighbourClasses) onPairs(gamma []float64) (rows []float64) {
	if gamma == nil {
		return nil
	}
	rows = make([]float64, len(p.joins))
	for i, s := range p.total {
		sum := 0.0
		for j := i; j < len(gamma); j += p.n {
			sum += gamma[j]
		}
		number := 0
		eachPair(p.classes, func(c, d int) {
			a, b := c*p.n+i, d*p.n+i
			pc, pd := p.pi[a]/s, p.pi[b]/s
			rows[p.pair(number, i)] = gamma[a]*pd + gamma[b]*pc - pc*pd*sum
			number++
		})
	}
	return rows
}

// contrasts returns the matrix of a case, C×C, of the covariances that e has of the values
// f_c - Σ_d p_d f_d, given any p of sum 1. With v_cd the variance of f_c - f_d,
//
//	variance  Σ_d p_d v_cd - Σ_{d<e} p_d p_e v_de
func (p *neighbourClasses) contrasts(e sparse.Entries, i int, share func(c int) float64) *mat.SymDense {
	between, all := mat.NewSymDense(p.classes, nil), 0.0
	number := 0
	eachPair(p.classes, func(c, d int) {
		ends := e.Products[p.pair(number, i)]
		between.SetSym(c, d, ends[0]-ends[1])
		all += share(c) * share(d) * between.At(c, d)
		number++
	})
	variance := make([]float64, p.classes)
	for c := range variance {
		for d := range variance {
			variance[c] += share(d) * between.At(c, d)
		}
		variance[c] -= all
	}
	s := mat.NewSymDense(p.classes, nil)
	for c, v := range variance {
		for d, w := range variance[:c+1] {
			s.SetSym(d, c, (v+w-between.At(c, d))/2)
		}
	}
	return s
}

// site is p of a case.
func (p *neighbourClasses) site(i int) func(c int) float64 {
	return func(c int) float64 { return p.pi[c*p.n+i] / p.total[i] }
}

// Marginals implements Classes. No part of a variance is specific to its class.
func (p *neighbourClasses) Marginals(visit func(i int, own, cavityShare []float64, sigma *mat.SymDense)) {
	inverse, _ := p.entries(nil)
	even := func(int) float64 { return 1 / float64(p.classes) }
	eachRow(p.n, func(i int) {
		visit(i, make([]float64, p.classes), slices.Repeat([]float64{1}, p.classes), p.contrasts(inverse, i, even))
	})
}

// Squares implements Classes: the diagonal of A⁻¹ΓA⁻¹ for contrasts, without the terms of the case
// itself.
func (p *neighbourClasses) Squares() func(dst, x []float64) {
	return func(dst, x []float64) {
		inverse, product := p.entries(x)
		eachRow(p.n, func(i int) {
			own, all := p.contrasts(inverse, i, p.site(i)), p.contrasts(product, i, p.site(i))
			for a := range p.classes {
				dst[a*p.n+i] = all.At(a, a)
				for b := range p.classes {
					dst[a*p.n+i] -= own.At(a, b) * own.At(a, b) * x[b*p.n+i]
				}
			}
		})
	}
}

// Pull implements Classes, as neighbours.Pull. The derivatives by K̂⁻¹ of the classes that share a
// covariance are added.
func (p *neighbourClasses) Pull(dst *Cov, j int, adjoint func(variances []float64) Adjoint) {
	inverse, _ := p.entries(nil)
	variances := make([]float64, len(p.pi))
	eachRow(p.n, func(i int) {
		s := p.contrasts(inverse, i, p.site(i))
		for c := range p.classes {
			variances[c*p.n+i] = p.pi[c*p.n+i] * s.At(c, c)
		}
	})
	g := adjoint(variances)
	inverse, middle := p.entries(g.Gamma)
	k := p.of[j]
	first, end := j, j+1
	if len(p.of) == 1 {
		end = p.classes
	}
	var kp, kq [][][]float64 // by class
	for c := first; c < end; c++ {
		own := g.ofClass(c, p.n)
		kp, kq = append(kp, k.products(own.P)), append(kq, k.products(own.Q))
	}
	k.pullRows(dst, g.C*float64(end-first), func(h, b []float64, i int, members []int, root float64) {
		for c := first; c < end; c++ {
			floats.AddScaled(h, -g.C/2*root, inverse.Products[c*p.n+i])
			if g.Gamma != nil {
				floats.AddScaled(h, -root, middle.Products[c*p.n+i])
			}
			addVectors(h, b, members, kp[c-first], kq[c-first])
		}
	})
}

// Posterior implements Classes.
func (p *neighbourClasses) Posterior(b []float64) ClassesPosterior {
	f := make([]float64, len(b))
	p.Multiply(f, b)
	return ClassesPosterior{neighbourPosterior{p, f}, p.classes}
}

// neighbourPosterior predicts from the neighbours of new inputs, as neighbours.Latent. f is the
// posterior mean of the cases, without their prior mean.
type neighbourPosterior struct {
	*neighbourClasses
	f []float64
}

// Condensed implements predictor: predictions need the cases.
func (neighbourPosterior) Condensed() ([]float64, bool) { return nil, false }

func (p neighbourPosterior) Mean(mean []float64, c int, cross *mat.Dense) {
	of := share(p.of, c)
	near := of.crossNeighbours(cross)
	eachRow(len(mean), func(j int) {
		members, w, _ := of.dependence(cross, j, near, of.LargestVariance())
		for a, x := range w {
			mean[j] += x * p.f[c*p.n+members[a]]
		}
	})
}

// inputsOfFactor is the number of new inputs that go through a factor together.
const inputsOfFactor = 8

// covariances implements eachInput. Between classes c and d they are δ_cd D_c + w_cᵀ Σ_cd w_d.
func (p neighbourPosterior) covariances(
	classes []int, cross []*mat.Dense, diag [][]float64, differences bool, visit func(j int, sigma *mat.SymDense),
) {
	count := len(diag[0])
	linalg.Parallel((count+inputsOfFactor-1)/inputsOfFactor, func(part int) {
		var variables [][]int
		var weights [][]float64
		var own []float64
		first := part * inputsOfFactor
		for j := first; j < min(count, first+inputsOfFactor); j++ {
			for a, c := range classes {
				of, x := share(p.of, c), share(cross, a)
				members, w, d := of.dependence(x, j, of.crossNeighbours(x), share(diag, a)[j])
				for k := range members {
					members[k] += c * p.n
				}
				variables, weights, own = append(variables, members), append(weights, w), append(own, d)
			}
		}
		// Equal numbers of columns give an input the same bits whatever the others are.
		rest := inputsOfFactor*len(classes) - len(own)
		variables, weights = append(variables, make([][]int, rest)...), append(weights, make([][]float64, rest)...)
		for k, sum := range p.factor.Grams(len(classes), variables, weights, differences)[:len(own)/len(classes)] {
			s := new(mat.SymDense)
			s.SetRawSymmetric(sum)
			for a := range classes {
				s.SetSym(a, a, s.At(a, a)+own[k*len(classes)+a])
			}
			visit(first+k, s)
		}
	})
}
