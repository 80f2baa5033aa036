package main

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// rival is Gaussian process regression of standardised targets: numbers, or labels 0 and 1. The log
// odds are the log odds of the training frequency plus 2 scale times the regression of the label.
type rival struct {
	inputs       []int
	length       float64 // length scale divided by √(number of inputs); 0: the covariance is linear
	alpha        float64 // exponent of a rational quadratic covariance; 0: it is squared exponential
	noise, scale float64 // noise is a variance relative to the amplitude
	tuned        bool    // length and noise maximise the log evidence on a grid
}

func (r rival) covariance(a, b []float64) (k float64) {
	d := float64(len(r.inputs))
	for _, i := range r.inputs {
		if r.length == 0 {
			k += a[i] * b[i] / d
		} else {
			k += (a[i] - b[i]) * (a[i] - b[i]) / (2 * d * r.length * r.length)
		}
	}
	switch {
	case r.length == 0:
		return k
	case r.alpha > 0:
		return math.Pow(1+k/r.alpha, -r.alpha)
	}
	return math.Exp(-k)
}

// regression is a rival fitted to training cases.
type regression struct {
	rival
	x               [][]float64
	weights         *mat.VecDense // (K + noise I)⁻¹ (y - mean)/deviation
	cholesky        mat.Cholesky  // factor of K + noise I
	evidence        float64       // log evidence, without a constant
	mean, deviation float64       // mean and standard deviation of the training targets
	amplitude       float64       // variance of the process; it maximises the log evidence
}

// fit fits the rival to targets y at inputs x.
func (r rival) fit(x [][]float64, y []float64) (best regression) {
	best.evidence = math.Inf(-1)
	lengths, noises := []float64{r.length}, []float64{r.noise}
	if r.tuned {
		if noises = []float64{0.1, 0.3, 1, 3}; r.length > 0 {
			lengths = []float64{0.4, 0.8, 1.6, 3.2}
		}
	}
	for _, r.length = range lengths {
		k := mat.NewSymDense(len(x), nil)
		for i := range x {
			for j := range i + 1 {
				k.SetSym(i, j, r.covariance(x[i], x[j]))
			}
		}
		for _, r.noise = range noises {
			if f := r.at(k, x, y); f.evidence > best.evidence {
				best = f
			}
		}
	}
	return best
}

// at fits the rival with covariance K of the inputs.
func (r rival) at(covariance mat.Symmetric, x [][]float64, y []float64) (f regression) {
	n := len(x)
	f.rival, f.x = r, x
	f.mean, f.deviation = stat.PopMeanStdDev(y, nil)
	k, v := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	k.CopySym(covariance)
	for i := range n {
		k.SetSym(i, i, k.At(i, i)+r.noise)
		v.SetVec(i, (y[i]-f.mean)/f.deviation)
	}
	f.weights = mat.NewVecDense(n, nil)
	if !f.cholesky.Factorize(k) || f.cholesky.SolveVecTo(f.weights, v) != nil {
		panic("the covariance is singular")
	}
	f.amplitude = mat.Dot(v, f.weights) / float64(n)
	f.evidence = -0.5 * (float64(n)*math.Log(f.amplitude) + f.cholesky.LogDet())
	return f
}

// predict returns the mean of the standardised target at inputs z, and its variance with noise,
// which is 0 unless it is asked for.
func (f *regression) predict(z []float64, variance bool) (mean, of float64) {
	row := mat.NewVecDense(len(f.x), nil)
	for i, x := range f.x {
		row.SetVec(i, f.covariance(z, x))
	}
	if variance {
		solved := mat.NewVecDense(len(f.x), nil)
		if f.cholesky.SolveVecTo(solved, row) != nil {
			panic("the covariance is singular")
		}
		of = f.amplitude * (f.covariance(z, z) + f.noise - mat.Dot(row, solved))
	}
	return mat.Dot(row, f.weights), of
}
