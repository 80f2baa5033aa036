package objective

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/random"
)

// Chain is the length of a Markov chain over the free hyperparameters, and its random numbers. The
// zero value is useful.
type Chain struct {
	// Burn is the number of moves of the burn-in, in which the base adapts, before the moves of the
	// first sample; 0 is 100 for each free hyperparameter.
	Burn    int
	Samples int // number of samples kept; 0 is DefaultSamples
	Thin    int // moves for each sample; 0 is DefaultThin
	Seed    uint64
}

// Defaults of a Chain.
const (
	DefaultSamples = 100
	DefaultThin    = 2
)

// Samples are the samples of a Chain.
type Samples struct {
	Theta       [][]float64 // the free hyperparameters
	Values      []float64   // log posterior density there, up to a constant, in nats
	Evaluations int
	Fails       []error          // errors of failed evaluations, in order; density 0 there
	Warnings    []approx.Warning // what a user should know
}

// tails is the number of degrees of freedom of the base distribution.
const tails = 4

// Sample runs a Markov chain from start. Its stationary density over theta is exp(o) within the
// bounds and 0 outside. o must be a log posterior density, LogPosterior, with a prior on every free
// hyperparameter. A start outside the bounds is moved to the nearest one.
//
// The moves are generalised elliptical slice sampling (Nishihara, Murray and Adams 2014). The base
// t_ν(μ, Σ) is a Student t distribution of ν = 4 degrees of freedom and D dimensions. A move draws
// s from its conditional distribution given theta, (ν + (θ-μ)ᵀΣ⁻¹(θ-μ))/χ²_{ν+D}, and then makes an
// elliptical slice move under N(μ, sΣ) with the residual density exp(o)/t_ν. That leaves the
// density invariant for any base, has no step size, and needs no gradient. At first μ is the start,
// and Σ has the priors' variances, at most the squared widths of the bounds. After 8, 16, 32, …
// moves of the burn-in, and at its end, μ and Σ become the mean and covariance of the later half of
// the states so far; the previous Σ counts in the new one as D+1 states. After the burn-in the base
// is fixed.
//
// An evaluation that fails, or does not converge, has density 0. The chain depends on o, start and
// c alone. It is an error if the start cannot be evaluated, the objective is no log posterior
// density, or ctx ends.
func (o *Objective) Sample(ctx context.Context, start []float64, c Chain) (*Samples, error) {
	specs := o.Layout.FreeSpecs()
	c.Burn, c.Samples = cmp.Or(c.Burn, 100*len(specs)), cmp.Or(c.Samples, DefaultSamples)
	c.Thin = cmp.Or(c.Thin, DefaultThin)
	if o.criterion == nil || !o.criterion.AddsPrior() {
		return nil, errors.New("objective: a chain needs a log posterior density; make the objective with LogPosterior")
	}
	if len(specs) == 0 {
		return nil, errors.New("objective: a chain needs a free hyperparameter")
	}
	if err := param.Proper(specs); err != nil {
		return nil, fmt.Errorf("objective: %w", err)
	}
	w := newWalk(NewRun(ctx, o), specs, start, c.Seed)
	if w.value = w.logDensity(w.at(w.d)); math.IsInf(w.value, -1) {
		return nil, fmt.Errorf("start point: %w", cmp.Or(ctx.Err(), w.err))
	}
	var out Samples
	var history [][]float64
	for step := 1; step <= c.Burn+c.Samples*c.Thin; step++ {
		w.move()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		theta := w.at(w.d)
		switch {
		case step <= c.Burn:
			history = append(history, theta)
			if step >= 8 && step&(step-1) == 0 || step == c.Burn { // a power of 2, or the end
				w.adapt(history[step/2:])
			}
		case (step-c.Burn)%c.Thin == 0:
			out.Theta, out.Values = append(out.Theta, theta), append(out.Values, w.value)
		}
	}
	out.Evaluations, out.Fails = w.run.Evaluations, w.run.Fails
	out.Warnings = w.run.failed("failed, and count as of density 0")
	return &out, nil
}

// walk is the state of a chain.
type walk struct {
	run    *Run
	rng    *rand.Rand
	lo, hi []float64
	err    error // error of the last evaluation; nil: it succeeded

	mu    []float64         // mean of the base
	u     blas64.Triangular // factor of the base's Σ = UᵀU
	d, z  []float64         // θ = μ + d, d = Uᵀz
	value float64           // o at θ

	zeta, nu, nextZ, nextD []float64 // vectors of a move
}

func newWalk(run *Run, specs []param.Spec, start []float64, seed uint64) *walk {
	n := len(specs)
	zeros := func() []float64 { return make([]float64, n) }
	w := &walk{
		run: run, rng: rand.New(rand.NewPCG(seed, 0)), mu: zeros(), d: zeros(), z: zeros(),
		u:    blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: n, Stride: n, Data: make([]float64, n*n)},
		zeta: zeros(), nu: zeros(), nextZ: zeros(), nextD: zeros(),
	}
	for i, s := range specs {
		lo, hi := s.ThetaBounds()
		w.lo, w.hi = append(w.lo, lo), append(w.hi, hi)
		w.mu[i] = min(max(start[i], lo), hi)
		w.u.Data[i*n+i] = min(s.Prior.Spread(), hi-lo)
	}
	return w
}

// at is θ = μ + d.
func (w *walk) at(d []float64) []float64 { return floats.AddTo(make([]float64, len(d)), w.mu, d) }

// logDensity is the log density to be sampled, -Inf for a density of 0.
func (w *walk) logDensity(theta []float64) float64 {
	for i, u := range theta {
		if !(u >= w.lo[i] && u <= w.hi[i]) {
			return math.Inf(-1)
		}
	}
	p, err := w.run.Converged(theta)
	if w.err = err; err != nil {
		return math.Inf(-1)
	}
	return p.Value()
}

// residual is the log of the residual density, up to a constant, at a point where o has this value.
func (w *walk) residual(value float64, z []float64) float64 {
	return value + float64(tails+len(z))/2*math.Log1p(floats.Dot(z, z)/tails)
}

// move makes one move.
func (w *walk) move() {
	chi2 := 0.0
	for range tails + len(w.z) {
		x := w.rng.NormFloat64()
		chi2 += x * x
	}
	root := math.Sqrt((tails + floats.Dot(w.z, w.z)) / chi2)
	for i := range w.zeta {
		w.zeta[i] = root * w.rng.NormFloat64()
	}
	w.multiply(w.nu, w.zeta)
	level := w.residual(w.value, w.z) - w.rng.ExpFloat64()
	random.EllipticalSlice(w.rng, func(sin, cos float64) bool {
		for i := range w.d {
			w.nextD[i] = w.d[i]*cos + w.nu[i]*sin
			w.nextZ[i] = w.z[i]*cos + w.zeta[i]*sin
		}
		if w.run.ctx.Err() != nil {
			return true
		}
		value := w.value
		// At the angle 0 the density is known. A fit from another warm start could be below the
		// level by rounding.
		if !slices.Equal(w.nextD, w.d) {
			value = w.logDensity(w.at(w.nextD))
			if !(w.residual(value, w.nextZ) >= level) {
				return false
			}
		}
		w.value, w.d, w.nextD, w.z, w.nextZ = value, w.nextD, w.d, w.nextZ, w.z
		return true
	})
}

// multiply sets dst to Uᵀz.
func (w *walk) multiply(dst, z []float64) {
	n := len(z)
	for j := range dst {
		dst[j] = 0
		for i := range j + 1 {
			dst[j] += w.u.Data[i*n+j] * z[i]
		}
	}
}

// adapt sets the base to the mean and covariance of these states. The previous covariance counts as
// D+1 states.
func (w *walk) adapt(history [][]float64) {
	n := len(w.mu)
	mu := make([]float64, n)
	for _, h := range history {
		floats.AddScaled(mu, 1/float64(len(history)), h)
	}
	sigma := linalg.NewSym(n)
	linalg.Syrk(blas.Trans, float64(n+1), blas64.General{Rows: n, Cols: n, Stride: n, Data: w.u.Data}, 0, sigma)
	for _, h := range history {
		for i := range n {
			for j := i; j < n; j++ {
				sigma.Data[i*n+j] += (h[i] - mu[i]) * (h[j] - mu[j])
			}
		}
	}
	floats.Scale(1/float64(len(history)+n+1), sigma.Data)
	u, ok := linalg.Cholesky(sigma)
	if !ok {
		return // Σ is too close to singular: the base stays
	}
	floats.SubTo(w.d, w.at(w.d), mu)
	w.mu, w.u = mu, u
	copy(w.z, w.d)
	linalg.SolveTriVec(blas.Trans, u, w.z)
}
