package objective

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Surrogate is exact Gaussian-process regression (GPML 2.2) of a scalar function on the unit cube,
// given some of its values. Bayesian optimisation searches on it in place of the function. Values
// are standardised; the kernel is Matérn-5/2 with a length scale for every column, the mean
// constant. Hyperparameters maximise the posterior density. Their priors expect a function that
// varies over about half of the cube, with noise of a thousandth of its standard deviation.
type Surrogate struct {
	point *Point
	x     *mat.Dense
	y     []float64 // standardised
	mean  float64   // mean of the values
	sd    float64
}

// surrogatePrior has the priors that depend on whether the values have noise.
type surrogatePrior struct {
	noise       float64    // median of the noise of standardised values
	noiseLog    float64    // standard deviation of its logarithm
	bounds      [2]float64 // least and largest noise
	lengthScale float64    // standard deviation of the logarithm of a length scale
}

// surrogateModel is the model in d dimensions. Length scales grow with √d, as distances in the cube
// do.
func surrogateModel(d int, of surrogatePrior) Model {
	half := 0.5 * math.Sqrt(float64(d))
	prior := func(median, sd float64, bounds *[2]float64) param.Setting {
		normal := param.Normal{Mean: math.Log(median), SD: sd}
		return param.Setting{Init: &median, Bounds: bounds, Prior: param.LogNormal{Normal: normal}}
	}
	return Model{
		Kernels: []kernel.Kernel{kernel.Matern52{
			ARD: true, Amplitude: prior(1, 1, &[2]float64{1e-2, 1e2}),
			LengthScale: prior(half, of.lengthScale, &[2]float64{1e-2 * half, 1e2 * half}),
		}},
		Mean:       Constant{Setting: param.Setting{Prior: param.Normal{SD: 1}}},
		Likelihood: likelihood.Gaussian{Noise: prior(of.noise, of.noiseLog, &of.bounds)},
		Inference:  approx.Exact{},
	}
}

// NewSurrogate fits the values y at the rows of x, none of them NaN or infinite. seed decides the
// starts of its hyperparameters.
func NewSurrogate(x *mat.Dense, y []float64, seed uint64) (*Surrogate, error) {
	return newSurrogate(x, y, seed, surrogatePrior{1e-3, 1, [2]float64{1e-5, 1}, 1})
}

// NewNoisySurrogate is NewSurrogate for values with noise. The noise has a log-normal prior with a
// median of half the standard deviation of the values, and is at least a hundredth of it. Without
// such a prior, values far apart look like a function of short length scales without noise.
func NewNoisySurrogate(x *mat.Dense, y []float64, seed uint64) (*Surrogate, error) {
	return newSurrogate(x, y, seed, surrogatePrior{0.5, 0.7, [2]float64{1e-2, 2}, 0.6})
}

func newSurrogate(x *mat.Dense, y []float64, seed uint64, prior surrogatePrior) (*Surrogate, error) {
	s := &Surrogate{x: x, y: make([]float64, len(y))}
	var variance float64
	s.mean, variance = stat.PopMeanVariance(y, nil)
	if s.sd = math.Sqrt(variance); s.sd == 0 {
		s.sd = 1 // all values are equal
	}
	for i, v := range y {
		s.y[i] = (v - s.mean) / s.sd
	}
	_, d := x.Dims()
	fitted, err := Classifier{Model: surrogateModel(d, prior), Criterion: LogPosterior{}, Restarts: 2}.
		Fit(context.Background(), s.data(), seed)
	if err != nil {
		return nil, err
	}
	s.point = fitted.(*Tuned).Point
	return s, nil
}

func (s *Surrogate) data() Data {
	return Data{X: &kernel.Inputs{X: s.x}, Y: approx.Targets{Value: s.y}}
}

// With returns the surrogate with the additional value y at x and the same hyperparameters.
func (s *Surrogate) With(x []float64, y float64) (*Surrogate, error) {
	t := *s
	n, d := s.x.Dims()
	t.x = mat.NewDense(n+1, d, append(mat.DenseCopyOf(s.x).RawMatrix().Data, x...))
	t.y = append(t.y[:n:n], (y-s.mean)/s.sd)
	o, err := New(s.point.objective.model, nil, t.data())
	if err == nil {
		t.point, err = o.Fit(context.Background(), s.point.Theta, nil)
	}
	if err != nil {
		return nil, err
	}
	return &t, nil
}

// Best returns the row of x with the largest value, the first of equals.
func (s *Surrogate) Best() []float64 { return mat.Row(nil, floats.MaxIdx(s.y), s.x) }

// Predict sets mean[i] and sd[i] of the function, without noise, at row i of z.
func (s *Surrogate) Predict(mean, sd []float64, z *mat.Dense) {
	s.point.Latent(mean, sd, &kernel.Inputs{X: z}, 0)
	for i := range mean {
		mean[i], sd[i] = s.mean+s.sd*mean[i], s.sd*math.Sqrt(max(sd[i], 0))
	}
}
