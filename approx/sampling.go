package approx

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
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/random"
)

var (
	_ Approximation = Sampling{}
	_ Sampled       = (*samples)(nil)
)

// Sampling is the reference for two classes: log evidence and predictions by Monte Carlo, with
// standard errors; the only approximation is the finite number of samples. It is annealed
// importance sampling (Neal 2001; Kuss and Rasmussen 2005) that starts at a Gaussian approximation
// of the posterior instead of the prior. With any sites τ ≥ 0 and any b, and
//
//	q = N(μ, Σ),  μ = m + K b,  Σ = (K⁻¹ + S)⁻¹,
//	w(f) = Π_i p(y_i|f_i) exp(½τ_i d_i² - b_i d_i),  d = f - μ
//
// the log evidence in nats is, exactly,
//
//	L = -½ log|B| - ½ bᵀ(μ - m) + log E_q[w(f)],   B = I + S^½ K S^½
//
// where τ and b come from EP or, if EP fails and the likelihood has derivatives, from Laplace's
// method. Each of several independent chains starts with a draw from q and ends at the posterior.
// On the way β rises from 0 to 1 in equal steps. At each β the chain makes elliptical slice moves
// (Murray, Adams and MacKay 2010) for the density q w^β, and it collects log w^Δβ. The mean of the
// chains' weights estimates E_q[w] without bias. The relative standard error of this mean is
// Diagnostics.StandardError, the standard error of log E_q[w] to first order. The fit has converged
// if the weights' relative variance is at most 1; otherwise the standard error is unreliable. Then
// every chain continues at the posterior. Predictions are averages of the exact Gaussian p(f*|f)
// over its samples.
//
// A likelihood that can be 0 would stop most chains at the first β. During annealing it is replaced
// by its average over N(f_i, v_i), with √v_i = (1 - β)/β posterior standard deviations of f_i under
// q, which is the likelihood itself at β = 1.
//
// The result depends on the options and on internal/linalg's instruction set only. K is factorised,
// so a K without full rank receives the jitter of linalg.CholeskyJitter, Diagnostics.Jitter; it is
// then part of the model. Time is of order n² per chain and temperature, memory n (3n + 4 chains +
// chains·samples). A State has the log evidence, its standard error, and the samples as Uᵀ⁻¹(f - m)
// with K = UᵀU.
type Sampling struct {
	// Chains is the number of independent chains, at least 2. Default 32.
	Chains int `yaml:"chains" within:"[2,10000]"`
	// Temperatures is the number of steps of β. The standard error is proportional to
	// 1/√(Chains·Temperatures). Default 4000.
	Temperatures int `yaml:"temperatures" within:"[1,10000000]"`
	// Moves is the number of elliptical slice transitions at each β. Default 1.
	Moves int `yaml:"moves" within:"[1,10000]"`
	// Burn is the number of transitions at the posterior before a chain's first sample. Default 20.
	Burn int `yaml:"burn" within:"[1,10000000]"`
	// Samples is the number of samples that a chain keeps, one after each transition. Default 20.
	Samples int `yaml:"samples" within:"[1,100000]"`
	// Seed selects the random numbers.
	Seed uint64 `yaml:"seed" within:"[0,inf]"`
}

// Shortened is a method so slow that its time is estimated from a shorter fit and a factor.
type Shortened interface {
	Shortened() (quick Approximation, times float64)
}

// Sampled posteriors estimate class probabilities from samples.
type Sampled interface {
	Posterior
	// ProbaStandardError sets dst[j] to the standard error of the probability of y = +1 that
	// PredictProba computes for case j, from the variation between chains.
	ProbaStandardError(dst []float64, cross []*mat.Dense, diag, mean [][]float64)
}

// Uses implements Approximation: any binary likelihood with Gaussian averages. There is no
// gradient.
func (a Sampling) Uses(lik likelihood.Likelihood, classes int) (Caps, error) {
	for _, o := range []struct {
		name         string
		value, least int
	}{
		{"chains", a.Chains, 2}, {"temperatures", a.Temperatures, 1}, {"moves", a.Moves, 1},
		{"burn", a.Burn, 1}, {"samples", a.Samples, 1},
	} {
		if o.value != 0 && o.value < o.least {
			return Caps{}, fmt.Errorf("sampling: %s = %d must be at least %d (0 means the default)",
				o.name, o.value, o.least)
		}
	}
	return Caps{Sampled: true}, usesBinary("sampling", lik, classes, nil)
}

// Memory implements Approximation: the factor of K and the samples; first the memory of EP, then
// its factor, H and V.
func (a Sampling) Memory(s Size) Memory {
	a = a.filled()
	n2, samples := s.Cases*s.Cases, a.Chains*a.Samples
	return Memory{Fit: words(n2+samples*s.Cases, 3*n2+4*a.Chains*s.Cases+(s.Cases+samples)*s.New)}
}

// Shortened is the method with fewer temperatures.
func (a Sampling) Shortened() (Approximation, float64) {
	const temperatures = 20
	a = a.filled()
	moves := float64(a.Moves*a.Temperatures + a.Burn + a.Samples)
	a.Temperatures = temperatures
	return a, moves / float64(a.Moves*a.Temperatures+a.Burn+a.Samples)
}

// filled is a with its defaults filled in.
func (a Sampling) filled() Sampling {
	a.Chains, a.Temperatures, a.Moves = cmp.Or(a.Chains, 32), cmp.Or(a.Temperatures, 4000), cmp.Or(a.Moves, 1)
	a.Burn, a.Samples = cmp.Or(a.Burn, 20), cmp.Or(a.Samples, 20)
	return a
}

// Fit implements Approximation. A start is checked but not used.
func (a Sampling) Fit(
	ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State,
) (Posterior, error) {
	return interrupt.Do(ctx, func() (Posterior, error) {
		p, err := a.begin(cov, y, lik)
		if err != nil {
			return nil, err
		}
		if start != nil {
			if err := checkState("sampling", start, len(p.state)); err != nil {
				return nil, err
			}
		}
		tau, b, err := gaussianNear(ctx, cov, y, lik)
		if err != nil {
			return nil, fmt.Errorf("sampling starts from a Gaussian posterior: %w", err)
		}
		w, err := p.anneal(tau, b)
		if err != nil {
			return nil, err
		}
		if err := w.run(ctx); err != nil {
			return nil, err
		}
		a := p.options
		p.diagnostics.Iterations = a.Temperatures*a.Moves + a.Burn + a.Samples
		p.conclude()
		return p, nil
	})
}

// run moves the chains to the posterior, and records their samples and the log evidence.
func (w *annealing) run(ctx context.Context) (err error) {
	each := func(times int, step func(i int)) {
		for i := 0; i < times && err == nil; i++ {
			if err = ctx.Err(); err == nil {
				step(i)
			}
		}
	}
	p, a := w.p, w.p.options
	each(a.Temperatures, func(i int) {
		x := float64(i+1) / float64(a.Temperatures)
		w.warm(x * x * (3 - 2*x))
		for range a.Moves {
			w.move()
		}
	})
	if err == nil {
		p.state[0], p.state[1], err = w.logMeanWeight()
		p.state[0] += w.constant
	}
	each(a.Burn, func(int) { w.move() })
	each(a.Samples, func(i int) {
		w.move()
		w.collect(i)
	})
	return err
}

// Restore implements Approximation.
func (a Sampling) Restore(cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error) {
	p, err := a.begin(cov, y, lik)
	if err != nil {
		return nil, err
	}
	if err := checkState("sampling", s, len(p.state)); err != nil {
		return nil, err
	}
	copy(p.state, s)
	p.conclude()
	return p, nil
}

func (a Sampling) begin(cov []Cov, y Targets, lik likelihood.Bound) (*samples, error) {
	if err := y.takesNone("sampling"); err != nil {
		return nil, err
	}
	c, err := newCases(cov, y, lik)
	if err != nil {
		return nil, err
	}
	a = a.filled()
	n, rows := len(c.y), a.Chains*a.Samples
	if err := cov[0].Check(n); err != nil {
		return nil, err
	}
	c.state = make(State, 2+rows*n)
	p := &samples{cases: c, options: a, white: blas64.General{Rows: rows, Cols: n, Stride: n, Data: c.state[2:]}}
	var ok bool
	if p.u, p.diagnostics.Jitter, ok = linalg.CholeskyJitter(cov[0].K.RawSymmetric()); !ok {
		return nil, fmt.Errorf("%w: K has a negative eigenvalue beyond rounding error", ErrNotPositiveDefinite)
	}
	return p, nil
}

// gaussianNear fits the Gaussian from which the chains start, and returns its sites' precisions and
// b. It takes the first method that converges, or else the first method that does not fail.
func gaussianNear(ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound) (tau, b []float64, err error) {
	ep, err := EP{}.Fit(ctx, cov, y, lik, nil)
	if err == nil {
		p := ep.(*siteState)
		if tau, b = p.tau, p.b; p.diagnostics.Converged {
			return tau, b, nil
		}
	}
	if _, ok := lik.(likelihood.Differentiable); ok {
		laplace, lerr := Laplace{}.Fit(ctx, cov, y, lik, nil)
		if lerr == nil {
			if p := laplace.(*laplacePosterior); b == nil || p.diagnostics.Converged {
				return p.mode.w, p.b, nil
			}
		}
		err = errors.Join(err, lerr)
	}
	if b != nil {
		return tau, b, nil
	}
	return nil, nil, err
}

// samples is the posterior of Sampling; b is not used.
type samples struct {
	*cases
	options Sampling          // defaults are filled in
	u       blas64.Triangular // factor of K, jitter included
	// white is a view of the state: the samples of chain c are the rows from c·Samples on, x with f
	// = m + Uᵀx.
	white blas64.General
}

// conclude sets the evidence and the diagnostics from the state.
func (p *samples) conclude() {
	d := &p.diagnostics
	d.StandardError = p.state[1]
	d.Converged = d.StandardError*d.StandardError*float64(p.options.Chains) <= 1
	if !d.Converged {
		const why = "a few chains have most of the weight, so the standard error of the log evidence is " +
			"unreliable; raise temperatures or chains"
		d.Warnings = []Warning{cause.FewChains.New(why)}
		d.Failure = fmt.Errorf("%w: sampling, %s", ErrNotConverged, why)
	}
	p.evidence = functional{value: p.state[0], err: fmt.Errorf("%w: sampling", ErrNoGradient)}
}

// annealing is the state of the chains between q and the posterior.
type annealing struct {
	p        *samples
	mu       []float64         // mean of q
	tau, b   []float64         // its sites
	h        blas64.General    // Σ = HᵀH, H = V⁻ᵀU
	v        blas64.Triangular // VᵀV = I + U S Uᵀ, so that x - U b has covariance (VᵀV)⁻¹
	white    []float64         // U b, the x of μ
	constant float64           // log evidence minus log E_q[w]

	beta   float64
	blur   []float64 // v_i
	unit   []float64 // v_i at (1-β)/β = 1; nil if the likelihood cannot be 0
	weight []float64 // per chain, log of the product of w^Δβ
	logW   []float64 // per chain, log w at the current blur

	// One row per chain: z with d = Hᵀz, and the draw of a transition.
	z, d, zeta, nu blas64.General
	trial          []float64
	rng            []*rand.Rand
}

// anneal draws the chains' starts from q, the Gaussian with these sites under the prior of p.
func (p *samples) anneal(tau, b []float64) (*annealing, error) {
	n, chains := len(p.y), p.options.Chains
	v := func() []float64 { return make([]float64, n) }
	perChain := func() blas64.General { return linalg.NewGeneral(chains, n) }
	w := &annealing{
		p: p, mu: v(), tau: tau, b: b, white: v(), h: linalg.NewGeneral(n, n), blur: v(), trial: v(),
		weight: make([]float64, chains), logW: make([]float64, chains),
		z: perChain(), d: perChain(), zeta: perChain(), nu: perChain(),
	}
	// the memory of p.u; entries below the diagonal are 0
	u := blas64.General{Rows: n, Cols: n, Stride: p.u.Stride, Data: p.u.Data}
	linalg.Gemv(blas.NoTrans, 1, u, w.b, 0, w.white)
	copy(w.mu, p.mean)
	linalg.Gemv(blas.Trans, 1, u, w.white, 1, w.mu)
	m := linalg.NewSym(n)
	linalg.SyrkDiag(blas.NoTrans, 1, u, w.tau, 0, m)
	for i := range n {
		m.Data[i*n+i]++
		copy(w.h.Data[i*n+i:(i+1)*n], u.Data[i*u.Stride+i:i*u.Stride+n])
	}
	var ok bool
	if w.v, ok = linalg.Cholesky(m); !ok {
		return nil, fmt.Errorf("%w: sampling, I + U S Uᵀ; the prior variances overflow", ErrNotPositiveDefinite)
	}
	w.constant = -linalg.LogDet(w.v) - dot(w.white, w.white)/2
	linalg.SolveTri(blas.Trans, w.v, w.h)
	if logp, _ := p.lik.Moments(1, -1, 0); logp <= -math.MaxFloat64 {
		w.unit = v()
		linalg.AddSquares(1, w.h, w.unit)
	}
	for c := range chains {
		w.rng = append(w.rng, rand.New(rand.NewPCG(p.options.Seed, uint64(c))))
	}
	w.draw(w.z, w.d)
	return w, nil
}

// draw fills every row of z with independent standard normal numbers, and d with z H.
func (w *annealing) draw(z, d blas64.General) {
	for c, rng := range w.rng {
		row := w.row(z, c)
		for i := range row {
			row[i] = rng.NormFloat64()
		}
	}
	linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, z, w.h, 0, d)
}

func (w *annealing) row(a blas64.General, c int) []float64 {
	return a.Data[c*a.Stride : c*a.Stride+a.Cols]
}

// logWeight is log w(μ + d) with the likelihood at the current blur; -Inf if it is 0.
func (w *annealing) logWeight(d []float64) float64 {
	p, sum := w.p, 0.0
	for i, di := range d {
		logp := 0.0
		if w.unit == nil {
			logp = p.lik.LogProb(p.y[i], w.mu[i]+di)
		} else {
			logp, _ = p.lik.Moments(p.y[i], w.mu[i]+di, w.blur[i])
		}
		if logp <= -math.MaxFloat64 {
			return math.Inf(-1)
		}
		sum += logp + di*(di*w.tau[i]/2-w.b[i])
	}
	return sum
}

// warm raises β and updates every chain's weight accordingly.
func (w *annealing) warm(beta float64) {
	first := w.beta == 0
	for i, v := range w.unit {
		ratio := (1 - beta) / beta
		w.blur[i] = ratio * ratio * v
	}
	for c, before := range w.logW {
		if first || w.unit != nil {
			w.logW[c] = w.logWeight(w.row(w.d, c))
		}
		w.weight[c] += beta*w.logW[c] - w.beta*before
	}
	w.beta = beta
}

// move makes one elliptical slice transition of every chain under q w^β.
func (w *annealing) move() {
	w.draw(w.zeta, w.nu)
	for c, rng := range w.rng {
		z, d, zeta, nu := w.row(w.z, c), w.row(w.d, c), w.row(w.zeta, c), w.row(w.nu, c)
		level := w.beta*w.logW[c] + math.Log(rng.Float64())
		random.EllipticalSlice(rng, func(sin, cos float64) bool {
			for i, di := range d {
				w.trial[i] = di*cos + nu[i]*sin
			}
			logW := w.logWeight(w.trial) // the trial is d itself for angle 0
			if !(w.beta*logW >= level) {
				return false
			}
			copy(d, w.trial)
			for i, zi := range z {
				z[i] = zi*cos + zeta[i]*sin
			}
			w.logW[c] = logW
			return true
		})
	}
}

// logMeanWeight returns the logarithm of the mean of the chains' weights and its standard error by
// the delta method, the relative standard error of the mean. A chain that ended where the
// likelihood is 0 has weight 0; it continues from the position of the next chain that did not.
func (w *annealing) logMeanWeight() (value, standardError float64, err error) {
	largest := slices.Max(w.weight)
	if !finite(largest) {
		return 0, 0, fmt.Errorf("%w: sampling, the largest log weight of a chain is %v; raise temperatures or chains",
			ErrNotConverged, largest)
	}
	chains := float64(len(w.weight))
	mean, square := 0.0, 0.0
	for _, x := range w.weight {
		mean += math.Exp(x-largest) / chains
	}
	for c, x := range w.weight {
		deviation := math.Exp(x-largest)/mean - 1
		square += deviation * deviation / (chains - 1)
		for next := c; math.IsInf(w.logW[c], -1); {
			next = (next + 1) % len(w.weight)
			copy(w.row(w.z, c), w.row(w.z, next))
			copy(w.row(w.d, c), w.row(w.d, next))
			w.logW[c] = w.logW[next]
		}
	}
	return largest + math.Log(mean), math.Sqrt(square / chains), nil
}

// collect stores the current f of every chain as its s-th sample, x = U b + V⁻¹z.
func (w *annealing) collect(s int) {
	for c := range w.rng {
		x := w.row(w.p.white, c*w.p.options.Samples+s)
		copy(x, w.row(w.z, c))
		linalg.SolveTriVec(blas.NoTrans, w.v, x)
		floats.Add(x, w.white)
	}
}

// conditional returns, for every sample (rows) and new case (columns), the mean of p(f*|f) minus
// the prior mean, and its variance, which is the same for all samples.
func (p *samples) conditional(cross *mat.Dense, diag []float64) (means blas64.General, variance []float64) {
	n, m := cross.Dims()
	if n != len(p.y) || len(diag) != m {
		panic(fmt.Sprintf("approx: cross is %d×%d and diag has %d entries, want %d×m and m", n, m, len(diag), len(p.y)))
	}
	v := mat.DenseCopyOf(cross).RawMatrix() // U⁻ᵀ k*
	linalg.SolveTri(blas.Trans, p.u, v)
	variance = slices.Clone(diag)
	linalg.AddSquares(-1, v, variance)
	for j, x := range variance {
		variance[j] = max(x, 0)
	}
	means = linalg.NewGeneral(p.white.Rows, m)
	linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, p.white, v, 0, means)
	return means, variance
}

// Latent implements Posterior with the mean and the variance of the mixture of the p(f*|f).
func (p *samples) Latent(mean, variance []float64, cross *mat.Dense, diag []float64, class int) {
	means, within := p.conditional(cross, diag)
	if variance == nil {
		variance = make([]float64, means.Cols)
	}
	prior.CheckLatent(mean, variance, means.Cols)
	for j, v := range within {
		mean[j], variance[j] = 0, 0
		for s := range means.Rows {
			mean[j] += means.Data[s*means.Stride+j]
		}
		mean[j] /= float64(means.Rows)
		for s := range means.Rows {
			d := means.Data[s*means.Stride+j] - mean[j]
			variance[j] += d * d
		}
		variance[j] = v + variance[j]/float64(means.Rows)
	}
}

// chainProba returns every chain's average of p(y) for each of the labels, chains×m.
func (p *samples) chainProba(labels []float64, cross []*mat.Dense, diag, mean [][]float64) (proba []*mat.Dense) {
	means, variance := p.conditional(cross[0], diag[0])
	chains, samples := p.options.Chains, p.options.Samples
	for range labels {
		proba = append(proba, mat.NewDense(chains, means.Cols, nil))
	}
	for s := range means.Rows {
		c := s / samples
		for j, v := range variance {
			f := means.Data[s*means.Stride+j]
			if mean != nil {
				f += mean[0][j]
			}
			for k, y := range labels {
				logp, _ := p.lik.Moments(y, f, v)
				proba[k].Set(c, j, proba[k].At(c, j)+math.Exp(logp)/float64(samples))
			}
		}
	}
	return proba
}

// PredictProba implements Posterior: p(y*|y) is the average of ∫ p(y*|f*) p(f*|f) df* over the
// samples f.
func (p *samples) PredictProba(dst *mat.Dense, cross []*mat.Dense, diag, mean [][]float64) {
	m := len(diag[0])
	_, classes := dst.Dims()
	checkProbabilities(dst, m, classes)
	proba := p.chainProba(likelihood.Labels(classes), cross, diag, mean)
	for j := range m {
		row, sum := dst.RawRowView(j), 0.0
		for k := range row {
			row[k] = total(proba[k].ColView(j))
			sum += row[k]
		}
		for k := range row { // the sum is the number of chains up to rounding
			row[k] /= sum
		}
	}
}

// total is the sum of v in order, at whatever stride.
func total(v mat.Vector) (sum float64) {
	for i := range v.Len() {
		sum += v.AtVec(i)
	}
	return sum
}

// ProbaStandardError implements Sampled.
func (p *samples) ProbaStandardError(dst []float64, cross []*mat.Dense, diag, mean [][]float64) {
	plus := p.chainProba([]float64{1}, cross, diag, mean)[0]
	if len(dst) != plus.RawMatrix().Cols {
		panic(fmt.Sprintf("approx: %d standard errors, want %d", len(dst), plus.RawMatrix().Cols))
	}
	chains := float64(p.options.Chains)
	for j := range dst {
		column := plus.ColView(j)
		average, square := total(column)/chains, 0.0
		for c := range p.options.Chains {
			square += (column.AtVec(c) - average) * (column.AtVec(c) - average)
		}
		dst[j] = math.Sqrt(square / (chains * (chains - 1)))
	}
}
