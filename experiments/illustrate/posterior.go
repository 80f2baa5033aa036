package illustrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// posteriorIllustration shows the posterior of one latent value or of two, p(f|y) = N(f; mean,
// covariance) Π p(y_i|f_i)/Z, exactly and by the inference methods, as in GPML Figure 3.4: columns
// f, prior, likelihood and exact for one, densities and p(y|f), and for two f1, f2 and exact over a
// lattice, f1 changing fastest. Failures of methods are shown as well.
type posteriorIllustration struct {
	Mean       []float64   `yaml:"mean"`       // default 0
	Covariance [][]float64 `yaml:"covariance"` // default: the identity
	Labels     []float64   `yaml:"labels"`     // -1 or +1 for two classes
	// Latent has the points along every axis. If from and to are both 0, they cover the range of
	// the density.
	Latent places `yaml:"latent"`
}

func (posteriorIllustration) Needs() []string { return []string{"likelihood", "inference"} }

// filled fills in the defaults that depend on the number of labels.
func (p posteriorIllustration) filled() posteriorIllustration {
	n := len(p.Labels)
	if p.Mean == nil {
		p.Mean = make([]float64, n)
	}
	if p.Covariance == nil {
		for i := range n {
			p.Covariance = append(p.Covariance, make([]float64, n))
			p.Covariance[i][i] = 1
		}
	}
	return p
}

func (p posteriorIllustration) Check(m declared.Model, put func(at string, err error)) {
	p = p.filled()
	n, c := len(p.Labels), p.Covariance
	if n < 1 || n > 2 {
		put("labels", fmt.Errorf("%d labels; the posterior of one or two latent values is shown", n))
		return
	}
	if len(p.Mean) != n || slices.ContainsFunc(p.Mean, func(v float64) bool { return math.Abs(v) > 1e6 }) {
		put("mean", fmt.Errorf("mean %v; it must be %d numbers, one for each label, between -1e6 and 1e6", p.Mean, n))
	}
	square := len(c) == n && !slices.ContainsFunc(c, func(row []float64) bool { return len(row) != n })
	if !square || slices.ContainsFunc(c, func(row []float64) bool { return slices.Max(row) > 1e12 }) ||
		!(c[0][0] >= 1e-12 && c[n-1][n-1] >= 1e-12) ||
		n == 2 && !(c[0][1] == c[1][0] && c[0][1]*c[1][0] < (1-1e-12)*c[0][0]*c[1][1]) {
		put("covariance", fmt.Errorf("covariance %v; it must be %d×%d, symmetric and positive definite, with "+
			"variances between 1e-12 and 1e12", c, n, n))
	}
	if _, err := p.on(0, 1); err != nil {
		put("latent", err)
	}
	checkLabels(m, p.Labels, func(err error) { put("labels", err) }, put)
	if m.Likelihood.Domain() != likelihood.Categorical {
		if _, err := approx.Uses(m.Inference, m.Likelihood, targetsOf(m, nil).Classes); err != nil {
			put("inference", err)
		}
	}
}

// on returns the points along an axis, by default between these numbers.
func (p posteriorIllustration) on(from, to float64) ([]float64, error) {
	at, points, most := p.Latent, 201, maxPlaces
	if len(p.Labels) == 2 { // squared
		points, most = 61, 201
	}
	if at.From == 0 && at.To == 0 {
		at.From, at.To = from, to
	}
	at.Points = cmp.Or(at.Points, points)
	return at.on(most)
}

func (p posteriorIllustration) Fill(
	ctx context.Context, i *record.Illustration, models []declared.Model, _ uint64,
) error {
	p = p.filled()
	lik := bound(models[0], i)
	e := latentPosterior{p.Mean, p.Covariance, p.Labels, lik.(likelihood.MomentMatcher)}
	exact := e.moments()
	i.Labels, i.Prior, i.Exact = record.Numbers(p.Labels), recordedGaussian(p.Mean, p.Covariance),
		recordedGaussian(exact.mean, exact.covariance)
	i.Exact.LogEvidence = evidenceOf(exact.logZ)
	var axes [][]float64
	for k := range p.Labels {
		at, s, prior := exact.mean[k], 4*math.Sqrt(exact.covariance[k][k]), 2.5*math.Sqrt(p.Covariance[k][k])
		axis, err := p.on(min(at-s, p.Mean[k]-prior), max(at+s, p.Mean[k]+prior))
		if err != nil {
			return err
		}
		axes = append(axes, axis)
	}
	if i.Columns = e.column(axes[0], exact.logZ); len(axes) == 2 {
		i.Columns = e.lattice(axes, exact.logZ)
	}
	for _, m := range models {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !slices.ContainsFunc(i.Approximations,
			func(a record.Approximated) bool { return a.Inference.Text == m.Written.Inference.Text }) {
			i.Approximations = append(i.Approximations, p.approximate(ctx, m, lik))
		}
	}
	return nil
}

// mostIterates is the maximum number of iterates shown per fit.
const mostIterates = 15

// approximate fits the posterior with the inference of a model. If the method has a maximum number
// of iterations, it is also run with 1, 2, … iterations, which gives its iterates.
func (p posteriorIllustration) approximate(ctx context.Context, m declared.Model,
	lik likelihood.Bound) record.Approximated {
	out := record.Approximated{Inference: m.Written.Inference.Component}
	n := len(p.Labels)
	k := mat.NewSymDense(n, nil)
	for i, row := range p.Covariance {
		for j, v := range row {
			k.SetSym(i, j, v)
		}
	}
	fit := func(a approx.Approximation) (approx.Diagnostics, *record.Gaussian, error) {
		post, err := a.Fit(ctx, []approx.Cov{{K: k, Mean: p.Mean}}, targetsOf(m, p.Labels), lik, nil)
		if err != nil {
			return approx.Diagnostics{}, nil, err
		}
		// The values and their sum; the variance of the sum gives the covariance.
		cross, diag := mat.NewDense(n, n, nil), make([]float64, n)
		cross.Copy(k)
		for i := range diag {
			diag[i] = k.At(i, i)
		}
		if n == 2 {
			cross = mat.NewDense(2, 3, []float64{k.At(0, 0), k.At(0, 1), k.At(0, 0) + k.At(0, 1), k.At(1, 0),
				k.At(1, 1), k.At(1, 0) + k.At(1, 1)})
			diag = append(diag, k.At(0, 0)+2*k.At(0, 1)+k.At(1, 1))
		}
		mean, v := make([]float64, len(diag)), make([]float64, len(diag))
		post.Latent(mean, v, cross, diag, 0)
		covariance := [][]float64{{v[0]}}
		if n == 2 {
			c := (v[2] - v[0] - v[1]) / 2
			covariance = [][]float64{{v[0], c}, {c, v[1]}}
		}
		for i, m := range p.Mean {
			mean[i] += m
		}
		g := recordedGaussian(mean[:n], covariance)
		g.LogEvidence = evidenceOf(post.Evidence().Value())
		return post.Diagnostics(), g, nil
	}
	d, g, err := fit(m.Inference)
	if err != nil {
		out.Failure = cause.Failed(err)
		if c := (*approx.NegativeCavity)(nil); errors.As(err, &c) {
			out.Cavity = &record.Cavity{Case: c.Case, Variance: record.Number(c.Variance), Iteration: c.Iteration}
		}
	}
	out.Gaussian, out.Converged, out.Iterations, out.Warnings = g, d.Converged, d.Iterations, d.Warnings
	limited := reflect.New(reflect.TypeOf(m.Inference)).Elem()
	limited.Set(reflect.ValueOf(m.Inference))
	limit := limited.FieldByName("MaxIterations")
	if !limit.IsValid() {
		return out
	}
	most := mostIterates
	if err == nil {
		most = min(most, d.Iterations)
	}
	for count := 1; count <= most; count++ {
		limit.SetInt(int64(count))
		_, g, err := fit(limited.Interface().(approx.Approximation))
		if err != nil {
			break
		}
		out.Iterates = append(out.Iterates, *g)
	}
	return out
}

func recordedGaussian(mean []float64, covariance [][]float64) *record.Gaussian {
	g := &record.Gaussian{Mean: record.Numbers(mean)}
	for _, row := range covariance {
		g.Covariance = append(g.Covariance, record.Numbers(row))
	}
	return g
}

// evidenceOf returns nil for NaN.
func evidenceOf(v float64) *record.Number {
	if math.IsNaN(v) {
		return nil
	}
	n := record.Number(v)
	return &n
}

// latentPosterior is the posterior of one or two latent values.
type latentPosterior struct {
	mean       []float64
	covariance [][]float64
	labels     []float64
	likelihood likelihood.MomentMatcher
}

// latentMoments has the logarithm of the mass of a latentPosterior, and its first two moments.
type latentMoments struct {
	logZ       float64
	mean       []float64
	covariance [][]float64
}

// tilted returns moments of p(y_i|f) N(f; mean, variance): the logarithm of its mass, its mean and
// its variance.
func (p latentPosterior) tilted(i int, mean, variance float64) (logZ, m, v float64) {
	logZ, d := p.likelihood.Moments(p.labels[i], mean, variance)
	return logZ, mean + variance*d[0], variance * (1 + variance*d[1])
}

// log returns log p(y_i|f).
func (p latentPosterior) log(i int, f float64) float64 {
	v, _ := p.likelihood.Moments(p.labels[i], f, 0)
	return v
}

// logNormal returns log N(f; mean, variance).
func logNormal(f, mean, variance float64) float64 {
	return -((f-mean)*(f-mean)/variance + math.Log(2*math.Pi*variance)) / 2
}

// second returns mean and variance of the second value given the first, in the prior.
func (p latentPosterior) second(f float64) (mean, variance float64) {
	c := p.covariance
	slope := c[0][1] / c[0][0]
	return p.mean[1] + slope*(f-p.mean[0]), c[1][1] - slope*c[0][1]
}

// moments returns the exact moments. For one latent value they are the moments that the likelihood
// computes, in closed form or by quadrature. For two, the likelihood computes the moments of the
// second value given the first. The integral over the first uses Gauss-Legendre rules on small
// pieces. A piece ends at 0, where p(y|f) may jump.
func (p latentPosterior) moments() latentMoments {
	if len(p.labels) == 1 {
		logZ, m, v := p.tilted(0, p.mean[0], p.covariance[0][0])
		return latentMoments{logZ, []float64{m}, [][]float64{{v}}}
	}
	log := func(f float64) float64 {
		mean, variance := p.second(f)
		logZ, _, _ := p.tilted(1, mean, variance)
		return p.log(0, f) + logNormal(f, p.mean[0], p.covariance[0][0]) + logZ
	}
	lo, hi := p.bulk(log)
	var fs, logs, weights []float64
	ends := []float64{lo, hi}
	if lo < 0 && hi > 0 {
		ends = []float64{lo, 0, hi}
	}
	const pieces, nodes = 64, 16
	x, w := make([]float64, nodes), make([]float64, nodes)
	for k := range ends[1:] {
		width := (ends[k+1] - ends[k]) / pieces
		for j := range pieces {
			quad.Legendre{}.FixedLocations(x, w, ends[k]+float64(j)*width, ends[k]+float64(j+1)*width)
			fs, weights = append(fs, x...), append(weights, w...)
		}
	}
	top := math.Inf(-1)
	for _, f := range fs {
		logs = append(logs, log(f))
		top = max(top, logs[len(logs)-1])
	}
	z := 0.0
	for k, l := range logs {
		weights[k] *= math.Exp(l - top)
		z += weights[k]
	}
	out := latentMoments{logZ: top + math.Log(z), mean: make([]float64, 2), covariance: [][]float64{{0, 0}, {0, 0}}}
	seconds, variances := make([]float64, len(fs)), make([]float64, len(fs))
	for k, f := range fs {
		mean, variance := p.second(f)
		_, seconds[k], variances[k] = p.tilted(1, mean, variance)
		weights[k] /= z
		out.mean[0] += weights[k] * f
		out.mean[1] += weights[k] * seconds[k]
	}
	for k, f := range fs {
		a, b := f-out.mean[0], seconds[k]-out.mean[1]
		out.covariance[0][0] += weights[k] * a * a
		out.covariance[0][1] += weights[k] * a * b
		out.covariance[1][1] += weights[k] * (b*b + variances[k])
	}
	out.covariance[1][0] = out.covariance[0][1]
	return out
}

// bulk returns an interval outside which the density of the first value is below e^-60 of its
// maximum. log is the logarithm of the density. The search covers a number of prior standard
// deviations, on successively finer grids.
func (p latentPosterior) bulk(log func(float64) float64) (lo, hi float64) {
	const points, below = 512, 60
	m, s := p.mean[0], math.Sqrt(p.covariance[0][0])
	reach := 40*s + 2*math.Abs(m) + 2*s/math.Sqrt(p.covariance[1][1])*math.Abs(p.mean[1])
	for i, y := range p.labels {
		reach += 2 * math.Abs(y) * s / math.Sqrt(p.covariance[i][i])
	}
	lo, hi = m-reach, m+reach
	for range 100 {
		step := (hi - lo) / points
		at := []float64{math.Nextafter(lo, hi), m, math.Nextafter(0, -1), math.Nextafter(0, 1)}
		for k := range points + 1 {
			at = append(at, lo+float64(k)*step)
		}
		top := math.Inf(-1)
		logs := make([]float64, len(at))
		for k, f := range at {
			logs[k] = log(f)
			if f >= lo && f <= hi {
				top = max(top, logs[k])
			}
		}
		from, to := math.Inf(1), math.Inf(-1)
		for k, f := range at {
			if f >= lo && f <= hi && logs[k] >= top-below {
				from, to = min(from, f), max(to, f)
			}
		}
		from, to = max(lo, from-step), min(hi, to+step)
		if to-from > (hi-lo)/4 {
			return from, to
		}
		lo, hi = from, to
	}
	return lo, hi
}

// column returns columns for one value: f, the densities of prior and posterior, and p(y|f).
func (p latentPosterior) column(f []float64, logZ float64) []record.Column {
	prior, lik, exact := make([]float64, len(f)), make([]float64, len(f)), make([]float64, len(f))
	for k, f := range f {
		a, b := logNormal(f, p.mean[0], p.covariance[0][0]), p.log(0, f)
		prior[k], lik[k], exact[k] = math.Exp(a), math.Exp(b), math.Exp(a+b-logZ)
	}
	return []record.Column{recorded("f", f), recorded("prior", prior), recorded("likelihood", lik),
		recorded("exact", exact)}
}

// lattice returns the density of the posterior of two values.
func (p latentPosterior) lattice(axes [][]float64, logZ float64) []record.Column {
	var first, second, density []float64
	for _, g := range axes[1] {
		for _, f := range axes[0] {
			mean, variance := p.second(f)
			first, second = append(first, f), append(second, g)
			density = append(density, math.Exp(p.log(0, f)+p.log(1, g)+logNormal(f, p.mean[0], p.covariance[0][0])+
				logNormal(g, mean, variance)-logZ))
		}
	}
	return []record.Column{recorded("f1", first), recorded("f2", second), recorded("exact", density)}
}
