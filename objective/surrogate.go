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

// surrogateModel is the model in d dimensions. Length scales grow with √d, as distances in the cube
// do. noise and factor are the median of the noise, and the standard deviation of its logarithm.
func surrogateModel(d int, noise, factor float64) Model {
	half := 0.5 * math.Sqrt(float64(d))
	prior := func(median, sd float64, bounds *[2]float64) param.Setting {
		normal := param.Normal{Mean: math.Log(median), SD: sd}
		return param.Setting{Init: &median, Bounds: bounds, Prior: param.LogNormal{Normal: normal}}
	}
	return Model{
		Kernels: []kernel.Kernel{kernel.Matern52{
			ARD: true, Amplitude: prior(1, 1, &[2]float64{1e-2, 1e2}),
			LengthScale: prior(half, 1, &[2]float64{1e-2 * half, 1e2 * half}),
		}},
		Mean:       Constant{Setting: param.Setting{Prior: param.Normal{SD: 1}}},
		Likelihood: likelihood.Gaussian{Noise: prior(noise, factor, &[2]float64{1e-5, 1})},
		Inference:  approx.Exact{},
	}
}

// NewSurrogate fits the values y at the rows of x, none of them NaN or infinite. seed decides the
// starts of its hyperparameters.
func NewSurrogate(x *mat.Dense, y []float64, seed uint64) (*Surrogate, error) {
	return newSurrogate(x, y, seed, 1e-3, 1)
}

// NewNoisySurrogate is NewSurrogate for values with noise: the prior of its logarithm has a
// standard deviation of 2, about 0.03 times the standard deviation of the values.
func NewNoisySurrogate(x *mat.Dense, y []float64, seed uint64) (*Surrogate, error) {
	return newSurrogate(x, y, seed, 0.03, 2)
}

func newSurrogate(x *mat.Dense, y []float64, seed uint64, noise, factor float64) (*Surrogate, error) {
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
	fitted, err := Classifier{Model: surrogateModel(d, noise, factor), Criterion: LogPosterior{}, Restarts: 2}.
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
