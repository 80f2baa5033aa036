package objective

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// spread is the likelihood Φ(yf/√(1+s)), with s as a parameter or s = 0.
type spread struct {
	likelihood.Probit
	free bool
	s    float64
}

func (l spread) Params() []param.Spec {
	if !l.free {
		return nil
	}
	return []param.Spec{{Name: "s", Init: 0.5, Lo: math.Exp(-10), Hi: math.Exp(10), Map: param.Log}}
}

func (l spread) At(theta []float64) likelihood.Bound {
	if l.free {
		l.s = math.Exp(theta[0])
	}
	return averaged{l}
}

// averaged is spread with only Gaussian averages and its noise variance, and without derivatives by s.
type averaged struct{ of spread }

func (m averaged) Likelihood() likelihood.Likelihood { return m.of }
func (m averaged) NoiseVariance() float64            { return 1 + m.of.s }
func (m averaged) LogProb(y, f float64) float64 {
	logp, _ := m.Moments(y, f, 0)
	return logp
}
func (m averaged) Moments(y, mean, variance float64) (logZ float64, d [4]float64) {
	c := 1 / math.Sqrt(1+m.of.s)
	logZ, d = likelihood.Probit{}.Moments(y, c*mean, c*c*variance)
	return logZ, [4]float64{c * d[0], c * c * d[1], c * c * c * d[2], c * c * c * c * d[3]}
}

// variance is a numeric likelihood with one parameter that exact inference does not know.
type variance struct{ likelihood.Gaussian }

func (v variance) At(theta []float64) likelihood.Bound {
	return otherGaussian{v.Gaussian.At([]float64{theta[0] / 2}).(likelihood.GaussianNoise), v}
}

type otherGaussian struct {
	likelihood.GaussianNoise
	of variance
}

func (o otherGaussian) Likelihood() likelihood.Likelihood { return o.of }

// logits is softmax with a parameter, for which it has no derivatives.
type logits struct{ likelihood.Softmax }

func (logits) Params() []param.Spec {
	return []param.Spec{{Name: "s", Init: 0.5, Lo: math.Exp(-10), Hi: math.Exp(10), Map: param.Log}}
}
func (l logits) At([]float64) likelihood.Bound { return l.Softmax.At(nil) }

// TestGradientsArePromisedAndDelivered checks that Gradient succeeds where HasGradient is true, and
// compares the gradient with central differences, for every inference method and criterion, with
// every likelihood and free and fixed parameters.
func TestGradientsArePromisedAndDelivered(t *testing.T) {
	const h = 1e-3
	free, half := param.Setting{}, 0.5
	free.Init = &half
	tenth := 0.1
	likelihoods := map[string]likelihood.Likelihood{
		"noisy_threshold free": likelihood.NoisyThreshold{Epsilon: param.Setting{Init: &tenth}}, "gaussian free": likelihood.Gaussian{Noise: free},
		"without slopes": spread{}, "without slopes free": spread{free: true}, "other noise free": variance{likelihood.Gaussian{Noise: free}}, "softmax free": logits{},
	}
	for _, e := range likelihood.Table {
		l, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		likelihoods[e.Name] = l
	}
	methods := map[string]approx.Approximation{
		"ep keep": approx.EP{NegativeSites: approx.KeepNegative}, "ep posterior": approx.EP{Evidence: approx.PosteriorForm},
		"ep quadrature": approx.EP{Quadrature: approx.Quadrature{Order: 10}}, "pl posterior": approx.PL{Evidence: approx.PosteriorForm}, "pl quadrature": approx.PL{Quadrature: approx.Quadrature{Order: 10}},
		"ep accept": approx.EP{Iteration: approx.Iteration{Unconverged: approx.AcceptUnconverged}}, "online twice": approx.Online{Sweeps: 2}, "ep parallel": approx.EP{Iteration: approx.Iteration{Schedule: approx.Parallel}},
	}
	for _, e := range approx.Table {
		m, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := m.(approx.Sampling); ok {
			m = approx.Sampling{Temperatures: 50}
		}
		methods[e.Name] = m
		methods["one_vs_rest "+e.Name] = approx.OneVsRest{Binary: m}
	}
	two, three := ring(14, 3), rings(14, 3)
	numbers := Data{X: two.X, Scaled: true}
	for i := range 14 {
		numbers.Y.Value = append(numbers.Y.Value, two.X.X.At(i, 0)+0.3*two.Y.Value[i])
	}
	pairs, promised := 0, 0
	for i, d := range []Data{numbers, two, three} {
		for j, name := range slices.Sorted(maps.Keys(methods)) {
			for k, likName := range slices.Sorted(maps.Keys(likelihoods)) {
				m, lik := methods[name], likelihoods[likName]
				for n, c := range []Criterion{LogEvidence{}, LeaveOneOut{}} {
					if !exhaustive.Tries(3, i, j, k, n) {
						continue
					}
					noise := 0.5
					model := Model{Kernels: []kernel.Kernel{kernel.Sum{{Kind: "se", Kernel: kernel.SE{}}, {Kind: "noise", Kernel: kernel.Noise{Amplitude: param.Setting{Fixed: &noise}}}}}, Mean: Constant{}, Likelihood: lik, Inference: m}
					o, err := New(model, c, d)
					if err != nil {
						continue // not a supported pair
					}
					pairs++
					t.Run(fmt.Sprintf("%d/%s/%s/%T", d.Y.Classes, name, likName, c), func(t *testing.T) {
						at := o.Layout.Pick(o.Layout.Start())
						at[0] += 0.3
						p, err := o.At(t.Context(), at)
						if err != nil && name == "ep refuse" {
							return
						}
						if err != nil {
							t.Fatal(err)
						}
						got := make([]float64, len(at))
						err = p.Gradient(got)
						if o.HasGradient() != (err == nil) || err != nil && !errors.Is(err, approx.ErrNoGradient) {
							t.Fatalf("HasGradient is %v, Gradient says %v", o.HasGradient(), err)
						}
						if err != nil {
							return
						}
						promised++
						if err := p.Converged(); err != nil {
							t.Fatal(err)
						}
						for i := range at {
							value := func(steps float64) float64 {
								x := slices.Clone(at)
								x[i] += steps * h
								p, err := o.At(t.Context(), x)
								if err != nil {
									t.Fatal(err)
								}
								return p.Value()
							}
							want := (8*(value(1)-value(-1)) - (value(2) - value(-2))) / (12 * h)
							if !(math.Abs(got[i]-want) <= 1e-6*max(1, math.Abs(want), math.Abs(p.Value()))) {
								t.Errorf("the derivative by %s is %.10g, differences say %.10g", o.Layout.FreeSpecs()[i].ThetaName(), got[i], want)
							}
						}
					})
				}
			}
		}
	}
	t.Logf("%d pairs, %d with a gradient", pairs, promised)
	if pairs < 100 || promised < 60 {
		t.Errorf("only %d pairs, %d with a gradient", pairs, promised)
	}
}
