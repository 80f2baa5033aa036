package search

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
)

// CMAES is the evolution strategy with covariance matrix adaptation of Hansen, "The CMA Evolution
// Strategy: A Tutorial" (arXiv:1604.00772), with negative weights of the worse half. It starts at
// the initial values with a standard deviation of two thirds of param.Spec.Scale. A batch is a
// generation; each of its members is a trial. It ends when Trials allow no further whole
// generation, or when the standard deviations are 1e-5 of Scale or at their margin. A point outside
// the bounds is evaluated at the nearest point within them (see frame). Failed trials rank last; a
// generation of failures changes nothing. A discrete hyperparameter is evaluated at the nearest
// value. Its standard deviation is kept so large that a draw changes the value with a probability
// of at least 1/(dλ), with λ the population. This is the margin of Hamano, Saito, Nomura &
// Shirakawa 2022, applied to the standard deviation.
//
// An asynchronous search learns from every Population trials that have ended, in the order in which
// they ended, whatever distribution each was drawn from. A parallel search does so in the order in
// which they were proposed.
//
// (gonum's CmaEsChol draws its samples without the step size σ that it adapts: on a bowl in five
// dimensions with axes 1 to 6.4 it was still 0.3 to 1.3 below the optimum after 1000 evaluations.)
type CMAES struct {
	Population int `yaml:"population" within:"[4,100000]"` // members of a generation; 0 means 4 + ⌊3 ln d⌋
	Trials     int `yaml:"trials" within:"[4,1000000]"`    // maximum number; 0 means 300
	Overlap    `yaml:",inline"`
	Window     `yaml:",inline"`
}

// Check implements Strategy.
func (c CMAES) Check(s Space) error {
	err := checkSearch(s,
		count{"population", c.Population, 4, maxTrials}, count{"trials", c.Trials, 1, maxTrials},
		count{"asynchronous", c.Asynchronous, 2, 1000}, count{"parallel", c.Parallel, 1, 1000})
	err = cmp.Or(err, overlaps(c.Overlap, c.Window, 1))
	if c = c.on(s); err == nil && c.Trials < c.Population {
		err = fmt.Errorf("trials = %d are less than one generation of %d", c.Trials, c.Population)
	}
	return errors.Join(err, s.checkOrdered())
}

// on returns c with the defaults filled in.
func (c CMAES) on(s Space) CMAES {
	c.Population = cmp.Or(c.Population, 4+int(3*math.Log(float64(max(1, len(s))))))
	c.Trials = cmp.Or(c.Trials, max(300, c.Population))
	return c
}

// Optimizer implements Strategy.
func (CMAES) Optimizer() string { return "" }

// Budget implements Strategy: whole generations; fewer if it converges.
func (c CMAES) Budget(s Space) Budget {
	c = c.on(s)
	return s.budget(Budget{Trials: c.Trials / c.Population * c.Population, AtMost: true,
		AtOnce: cmp.Or(c.Asynchronous, c.Parallel, c.Population)})
}

// Ask implements Strategy: the next generation, found by replaying the history.
func (c CMAES) Ask(s Space, done []record.Trial, seed uint64) []Proposal {
	if len(s) == 0 {
		return askOnce(done)
	}
	c = c.on(s)
	f, e := s.frame(s.Start()), newEvolution(len(s), c.Population)
	e.keep(f.margins(c.Population))
	if max(c.Asynchronous, c.Parallel) > 0 {
		return c.askOne(f, e, done, seed)
	}
	for g := range c.Trials / c.Population {
		generation := e.sample(rand.New(param.Source(seed, uint64(g))))
		if len(done) == 0 {
			batch := make([]Proposal, len(generation))
			for i, z := range generation {
				batch[i] = f.propose(z)
			}
			return batch
		}
		if f.learn(e, generation, done); e.converged() {
			break
		}
		done = done[len(generation):]
	}
	return nil
}

// learn adapts e to the trials of a generation.
func (f frame) learn(e *evolution, generation [][]float64, trials []record.Trial) {
	values := make([]float64, len(generation))
	for i := range values {
		values[i] = trials[i].Value() - f.outside(generation[i])
	}
	e.learn(generation, values)
}

// askOne proposes the next point of an asynchronous search, found by replaying the history: the
// i-th point was drawn when all but Asynchronous - 1 of the points before it had ended, or of a
// parallel search all but the last Parallel - 1.
func (c CMAES) askOne(f frame, e *evolution, history []record.Trial, seed uint64) []Proposal {
	n := c.Population
	if len(history) >= c.Trials/n*n {
		return nil
	}
	var drawn [][]float64 // the drawn points of all trials, by index
	learned := 0
	for i := range len(history) + 1 {
		for ; learned+n <= i-max(c.Asynchronous, c.Parallel)+1; learned += n {
			var generation [][]float64
			for _, t := range history[learned : learned+n] {
				generation = append(generation, drawn[t.Index])
			}
			if f.learn(e, generation, history[learned:]); e.converged() {
				return nil
			}
		}
		drawn = append(drawn, e.draw(rand.New(param.Source(seed, uint64(i)))))
	}
	return []Proposal{f.propose(drawn[len(history)])}
}

// evolution is the distribution N(m, σ²C) of a generation, named as in the tutorial.
type evolution struct {
	population int
	// Weights of the members, best first. The first half belong to the parents and sum to 1.
	weights                []float64
	mueff, cs, ds, cc      float64
	c1, cmu, chi           float64 // chi: E‖N(0, I)‖
	generation             float64
	mean, pathSigma, pathC []float64
	sigma                  float64
	c                      *mat.SymDense
	vectors                mat.Dense // C = B D² Bᵀ
	scales                 []float64 // the diagonal of D
	margin                 []float64 // least standard deviations; 0 or nil: no limit
}

// newEvolution starts at N(0, I) with the tutorial's default parameters (its table 1).
func newEvolution(dim, population int) *evolution {
	e := &evolution{
		population: population, weights: make([]float64, population), sigma: 2.0 / 3, c: mat.NewSymDense(dim, nil),
		mean: make([]float64, dim), pathSigma: make([]float64, dim), pathC: make([]float64, dim),
	}
	for i := range e.weights {
		e.weights[i] = math.Log(float64(population+1)/2) - math.Log(float64(i+1))
	}
	parents, others := e.weights[:population/2], e.weights[population/2:]
	floats.Scale(1/floats.Sum(parents), parents)
	n := float64(dim)
	e.mueff = 1 / floats.Dot(parents, parents)
	e.cs = (e.mueff + 2) / (n + e.mueff + 5)
	e.ds = 1 + 2*max(0, math.Sqrt((e.mueff-1)/(n+1))-1) + e.cs
	e.cc = (4 + e.mueff/n) / (n + 4 + 2*e.mueff/n)
	e.c1 = 2 / ((n+1.3)*(n+1.3) + e.mueff)
	e.cmu = min(1-e.c1, 2*(0.25+e.mueff+1/e.mueff-2)/((n+2)*(n+2)+e.mueff))
	// (50)-(53): the sum of the negative weights is the least of three bounds that keep C positive
	// definite
	sum := floats.Sum(others)
	against := sum * sum / floats.Dot(others, others) // μeff⁻
	least := min(1+e.c1/e.cmu, 1+2*against/(e.mueff+2), (1-e.c1-e.cmu)/(n*e.cmu))
	floats.Scale(-least/sum, others)
	e.chi = math.Sqrt(n) * (1 - 1/(4*n) + 1/(21*n*n))
	for j := range dim {
		e.c.SetSym(j, j, 1)
	}
	e.decompose()
	return e
}

// decompose computes the eigendecomposition of C. Eigenvalues that rounding makes negative become
// 0.
func (e *evolution) decompose() {
	var eigen mat.EigenSym
	if !eigen.Factorize(e.c, true) {
		panic("search: the eigenvalues of a finite symmetric matrix did not converge")
	}
	eigen.VectorsTo(&e.vectors)
	e.scales = eigen.Values(nil)
	for k, v := range e.scales {
		e.scales[k] = math.Sqrt(max(v, 0))
	}
}

// sample draws a generation: m + σBD N(0, I).
func (e *evolution) sample(rng *rand.Rand) [][]float64 {
	generation := make([][]float64, e.population)
	for i := range generation {
		generation[i] = e.draw(rng)
	}
	return generation
}

// draw draws one member of a generation.
func (e *evolution) draw(rng *rand.Rand) []float64 {
	z := mat.NewVecDense(len(e.mean), nil)
	for k, d := range e.scales {
		z.SetVec(k, e.sigma*d*rng.NormFloat64())
	}
	x := mat.NewVecDense(len(e.mean), slices.Clone(e.mean))
	var step mat.VecDense
	step.MulVec(&e.vectors, z)
	x.AddVec(x, &step)
	return x.RawVector().Data
}

// learn adapts the distribution to the values of a generation, (36)-(47) of the tutorial.
func (e *evolution) learn(generation [][]float64, values []float64) {
	if floats.Max(values) == math.Inf(-1) {
		return
	}
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	n := len(e.mean)
	step := mat.NewVecDense(n, nil) // ⟨y⟩_w
	members := make([]*mat.VecDense, len(e.weights))
	for i, w := range e.weights {
		y := mat.NewVecDense(n, nil)
		floats.SubTo(y.RawVector().Data, generation[order[i]], e.mean)
		y.ScaleVec(1/e.sigma, y)
		if w > 0 {
			step.AddScaledVec(step, w, y)
		}
		members[i] = y
	}
	floats.AddScaled(e.mean, e.sigma, step.RawVector().Data)
	white := e.white(step)
	floats.Scale(1-e.cs, e.pathSigma)
	floats.AddScaled(e.pathSigma, math.Sqrt(e.cs*(2-e.cs)*e.mueff), white.RawVector().Data)
	length := floats.Norm(e.pathSigma, 2)
	e.generation++
	moving := length/math.Sqrt(1-math.Pow(1-e.cs, 2*e.generation)) < (1.4+2/(float64(n)+1))*e.chi
	floats.Scale(1-e.cc, e.pathC)
	lost := e.cc * (2 - e.cc) // replaces the variance that p_c lacks if the rank-one step is skipped
	if moving {
		floats.AddScaled(e.pathC, math.Sqrt(e.cc*(2-e.cc)*e.mueff), step.RawVector().Data)
		lost = 0
	}
	e.c.ScaleSym(1-e.c1-e.cmu*floats.Sum(e.weights)+e.c1*lost, e.c)
	e.c.SymRankOne(e.c, e.c1, mat.NewVecDense(n, e.pathC))
	for i, w := range e.weights {
		if w < 0 { // (46): rescaled to the mean length of a draw
			length := mat.Norm(e.white(members[i]), 2)
			w *= float64(n) / max(length*length, 1e-300)
		}
		e.c.SymRankOne(e.c, e.cmu*w, members[i])
	}
	e.sigma *= math.Exp(e.cs / e.ds * (length/e.chi - 1))
	e.keep(e.margin)
}

// keep raises the standard deviations to margin.
func (e *evolution) keep(margin []float64) {
	e.margin = margin
	for j, least := range margin {
		if least > e.sd(j) {
			e.c.SetSym(j, j, least/e.sigma*(least/e.sigma))
		}
	}
	e.decompose()
}

// margins are the least standard deviations of a search with this population.
func (f frame) margins(population int) []float64 {
	margin := make([]float64, len(f.s))
	for j, p := range f.s {
		if p.Map.Discrete() {
			of, _ := p.Coordinate()
			leaves := 1 / float64(len(f.s)*population)
			apart := (of(p.Hi) - of(p.Lo)) / max(1, float64(p.Count()-1)) // mean distance of two values
			margin[j] = 0.5 * apart / f.unit[j] / distuv.UnitNormal.Quantile(1-leaves/2)
		}
	}
	return margin
}

// white is C^(-1/2) y.
func (e *evolution) white(y *mat.VecDense) *mat.VecDense {
	var white mat.VecDense
	white.MulVec(e.vectors.T(), y)
	for k, d := range e.scales {
		if d > 0 {
			white.SetVec(k, white.AtVec(k)/d)
		}
	}
	white.MulVec(&e.vectors, &white)
	return &white
}

// sd is the standard deviation of a coordinate.
func (e *evolution) sd(j int) float64 { return e.sigma * math.Sqrt(e.c.At(j, j)) }

// converged reports whether all standard deviations are below 1e-5, in any direction, or where some
// have a margin, along the axes and up to the margin.
func (e *evolution) converged() bool {
	if floats.Norm(e.margin, 1) == 0 {
		return e.sigma*e.scales[len(e.scales)-1] < 1e-5
	}
	for j, least := range e.margin {
		if e.sd(j) > max(1e-5, least*(1+1e-9)) {
			return false
		}
	}
	return true
}
