package objective

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// formula is a kernel whose only entry K(x, x) is a given function of theta, and entry an approximation whose
// evidence is that entry. Together they make an Objective of a given function.
type formula struct {
	specs []param.Spec
	f     func(theta []float64) float64
	df    func(grad, theta []float64)
}

func (k formula) Params(int) []param.Spec  { return k.specs }
func (formula) Memory(int, int, int) int64 { return 0 }
func (k formula) Fill(dst kernel.Block, theta []float64) {
	dst.Row(0)[0] = k.f(slices.Clone(theta))
}
func (k formula) Pull(grad, theta []float64, _, g kernel.Block) {
	d := make([]float64, len(grad))
	k.df(d, slices.Clone(theta))
	for i := range d {
		grad[i] += g.Row(0)[0] * d[i]
	}
}

type entry struct {
	fail       func(value float64) error // may make a fit fail
	noGradient bool
}

func (e entry) Uses(likelihood.Likelihood, int) (approx.Caps, error) {
	return approx.Caps{Gradient: !e.noGradient}, nil
}
func (entry) Memory(approx.Size) approx.Memory { return approx.Memory{} }
func (e entry) Fit(ctx context.Context, cov []approx.Cov, y approx.Targets, lik likelihood.Bound, _ approx.State) (approx.Posterior, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return e.Restore(cov, y, lik, nil)
}
func (e entry) Restore(cov []approx.Cov, _ approx.Targets, _ likelihood.Bound, _ approx.State) (approx.Posterior, error) {
	v := cov[0].K.At(0, 0)
	if e.fail != nil {
		if err := e.fail(v); err != nil {
			return nil, err
		}
	}
	return entryPosterior(v), nil
}

type entryPosterior float64

func (p entryPosterior) Evidence() approx.Functional                                   { return p }
func (p entryPosterior) Value() float64                                                { return float64(p) }
func (entryPosterior) Adjoint(dst *approx.Cov, _ int) error                            { dst.K.SetSym(0, 0, 1); return nil }
func (entryPosterior) Likelihood([]float64) error                                      { panic("no parameters") }
func (entryPosterior) Latent([]float64, []float64, *mat.Dense, []float64, int)         {}
func (entryPosterior) PredictProba(*mat.Dense, []*mat.Dense, [][]float64, [][]float64) {}
func (entryPosterior) State() approx.State                                             { return approx.State{} }
func (entryPosterior) Diagnostics() approx.Diagnostics                                 { return approx.Diagnostics{Converged: true} }

// functionOf is the objective of a function of theta on the identity scale, with bounds, starting at 0 or the nearest
// bound.
func functionOf(t *testing.T, bounds [][2]float64, f func([]float64) float64, df func(g, u []float64), e entry) *Objective {
	t.Helper()
	k := formula{f: f, df: df}
	for i, b := range bounds {
		k.specs = append(k.specs, param.Spec{
			Name: string(rune('a' + i)), Map: param.Identity, Init: min(max(0, b[0]), b[1]), Lo: b[0], Hi: b[1],
		})
	}
	one := Data{X: &kernel.Inputs{X: mat.NewDense(1, 1, nil)}, Y: approx.Targets{Value: []float64{0}}}
	o, err := New(Model{Kernels: []kernel.Kernel{k}, Likelihood: gaussian{}, Inference: e}, LogEvidence{}, one)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// wide returns bounds that no test reaches.
func wide(n int) [][2]float64 { return slices.Repeat([][2]float64{{-1e3, 1e3}}, n) }

// squaredExponential is a simple implementation of σ² exp(-r²/2l²).
type squaredExponential struct{ amplitude, lengthScale param.Setting }

func (k squaredExponential) Params(int) []param.Spec {
	return []param.Spec{k.amplitude.Spec("amplitude", param.Log, 1), k.lengthScale.Spec("length_scale", param.Log, math.NaN())}
}
func (squaredExponential) Memory(int, int, int) int64 { return 0 }
func (squaredExponential) value(theta []float64, b kernel.Block, i, j int) (k, r2 float64) {
	x, z := b.X.X.RawRowView(i), b.Z.X.RawRowView(b.First(i)+j)
	for c := range x {
		r2 += (x[c] - z[c]) * (x[c] - z[c])
	}
	r2 *= math.Exp(-2 * theta[1])
	return math.Exp(2*theta[0] - r2/2), r2
}
func (s squaredExponential) Fill(dst kernel.Block, theta []float64) {
	for i := range dst.Rows() {
		row := dst.Row(i)
		for j := range row {
			row[j], _ = s.value(theta, dst, i, j)
		}
	}
}
func (s squaredExponential) Pull(grad, theta []float64, _, g kernel.Block) {
	for i := range g.Rows() {
		for j, v := range g.Row(i) {
			k, r2 := s.value(theta, g, i, j)
			grad[0] += g.Weight(j) * v * 2 * k
			grad[1] += g.Weight(j) * v * k * r2
		}
	}
}

// gaussian is N(y; f, noise²), and exact its exact inference, GPML Alg. 2.1 and (5.9), with all derivatives: by K, by
// the mean and by the noise. It stands for all approximations in tests of the code around them.
type gaussian struct{ noise param.Setting }

func (l gaussian) Domain() likelihood.Domain { return likelihood.Numeric }
func (l gaussian) Params() []param.Spec {
	if l == (gaussian{}) {
		return nil
	}
	return []param.Spec{l.noise.HeldSpec("noise", param.Log, 0.1)}
}
func (l gaussian) At(theta []float64) likelihood.Bound {
	if l == (gaussian{}) {
		return gaussianAt{l, 0}
	}
	return gaussianAt{l, math.Exp(2 * theta[0])}
}

type gaussianAt struct {
	lik      gaussian
	variance float64
}

func (l gaussianAt) Likelihood() likelihood.Likelihood { return l.lik }

type exact struct{}

type exactPosterior struct {
	inverse  mat.SymDense // (K + σ²I)⁻¹
	alpha    mat.VecDense // (K + σ²I)⁻¹(y - m)
	residual *mat.VecDense
	logDet   float64
	variance float64
}

func (exact) Memory(approx.Size) approx.Memory { return approx.Memory{} }
func (exact) Uses(likelihood.Likelihood, int) (approx.Caps, error) {
	return approx.Caps{Gradient: true}, nil
}
func (e exact) Fit(ctx context.Context, cov []approx.Cov, y approx.Targets, lik likelihood.Bound, s approx.State) (approx.Posterior, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return e.Restore(cov, y, lik, s)
}
func (exact) Restore(cov []approx.Cov, y approx.Targets, lik likelihood.Bound, _ approx.State) (approx.Posterior, error) {
	n := y.Len()
	p := &exactPosterior{variance: lik.(gaussianAt).variance, residual: mat.NewVecDense(n, slices.Clone(y.Value))}
	c := mat.NewSymDense(n, nil)
	c.CopySym(cov[0].K)
	for i := range n {
		c.SetSym(i, i, c.At(i, i)+p.variance)
		if cov[0].Mean != nil {
			p.residual.SetVec(i, p.residual.AtVec(i)-cov[0].Mean[i])
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(c) {
		return nil, approx.ErrNotPositiveDefinite
	}
	p.logDet = chol.LogDet()
	if err := chol.InverseTo(&p.inverse); err != nil {
		return nil, err
	}
	return p, chol.SolveVecTo(&p.alpha, p.residual)
}
func (p *exactPosterior) State() approx.State             { return approx.State{} }
func (p *exactPosterior) Diagnostics() approx.Diagnostics { return approx.Diagnostics{Converged: true} }
func (p *exactPosterior) Evidence() approx.Functional     { return p }
func (p *exactPosterior) Value() float64 {
	return -0.5*mat.Dot(&p.alpha, p.residual) - 0.5*p.logDet - 0.5*float64(p.alpha.Len())*math.Log(2*math.Pi)
}
func (p *exactPosterior) Adjoint(dst *approx.Cov, _ int) error {
	dst.K.SymOuterK(0.5, &p.alpha)
	for i := range p.alpha.Len() {
		for j := i; j < p.alpha.Len(); j++ {
			dst.K.SetSym(i, j, dst.K.At(i, j)-0.5*p.inverse.At(i, j))
		}
	}
	if dst.Mean != nil {
		copy(dst.Mean, p.alpha.RawVector().Data)
	}
	return nil
}
func (p *exactPosterior) Likelihood(grad []float64) error {
	grad[0] += p.variance * (mat.Dot(&p.alpha, &p.alpha) - mat.Trace(&p.inverse)) // d/d log σ = 2σ² d/dσ²
	return nil
}
func (p *exactPosterior) Latent(mean, variance []float64, cross *mat.Dense, diag []float64, _ int) {
	var solved mat.Dense
	solved.Mul(&p.inverse, cross)
	for j := range mean {
		mean[j] = mat.Dot(cross.ColView(j), &p.alpha)
		variance[j] = diag[j] - mat.Dot(cross.ColView(j), solved.ColView(j))
	}
}
func (p *exactPosterior) PredictProba(*mat.Dense, []*mat.Dense, [][]float64, [][]float64) {
	panic("targets are numbers")
}

// regression is a small one-dimensional problem for exact.
func regression(t *testing.T, m Model) *Objective {
	t.Helper()
	n := 12
	x, y := mat.NewDense(n, 1, nil), make([]float64, n)
	for i := range n {
		v := 0.7*float64(i) + 0.1*float64(i*i%5)
		x.Set(i, 0, v)
		y[i] = math.Sin(v) + 0.4 + 0.2*math.Cos(7*v)
	}
	o, err := New(m, LogEvidence{}, Data{X: &kernel.Inputs{X: x}, Y: approx.Targets{Value: y}})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func ptr(v float64) *float64 { return &v }
