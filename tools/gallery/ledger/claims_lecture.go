package ledger

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/record"
)

// lecture are the claims of the rows of the lecture on Gaussian processes. The lecture has pictures
// only. Pictures of draws are checked by the distribution of the draws.
var lecture = []Claim{
	lecturePrior("Covariance function | theta (1,4,0,0) | prior samples", 0, fourTerms(1, 4, 0, 0)),
	lecturePrior("Covariance function | theta (1,64,0,0) | prior samples", 1, fourTerms(1, 64, 0, 0)),
	lecturePrior("Covariance function | theta (1,0.25,0,0) | prior samples", 2, fourTerms(1, 0.25, 0, 0)),
	lecturePrior("Covariance function | theta (1,4,10,0) | prior samples", 3, fourTerms(1, 4, 10, 0)),
	lecturePrior("Covariance function | theta (1,4,0,5) | prior samples", 4, fourTerms(1, 4, 0, 5)),
	lecturePrior("Samples from GPs | exponential kernel | OU samples", 5,
		func(x, z []float64) float64 { return math.Exp(-4 * math.Abs(x[0]-z[0])) }),
	{Row: "Visualizing draws | 2-D, 6-D, 25-D Gaussians | draws", From: "lecture_draws", Check: lectureDraws},
	{Row: "ARD | eta = (1,1) and (1, 0.01), two inputs | samples of a surface", From: "lecture_surfaces",
		Check: lectureSurfaces},
	{Row: "ARD | 100 cases | order of relevance eta1 > eta2 > eta3", From: "lecture_ard", Check: lectureARD,
		Cause: otherCases, Why: "the cases are not printed, and of ours the order is another"},
	{Row: "Prediction | sinusoid | mean +- 2 sd", From: "lecture_sinusoid", Check: lectureSinusoid},
	{Row: "Classification | squashed sample | -", From: "lecture_squashed", Check: lectureSquashed},
	{Row: "Classification results | boundary against the optimal one | -", From: "lecture_boundary",
		Check: lectureBoundary},
	{Row: "Illustration | sampling of targets t_n | -", From: "lecture_targets", Check: lectureTargets},
}

// illustration returns an illustration of an experiment, by its index.
func illustration(r Runs, name string, at int) (i record.Illustration, err error) {
	all := r[name].Manifest.Illustrations
	if at >= len(all) {
		return i, fmt.Errorf("gallery:%s has %d illustrations", name, len(all))
	}
	return all[at], nil
}

// fourTerms is the kernel of Bishop (2006), equation 6.63.
func fourTerms(theta0, theta1, theta2, theta3 float64) func(x, z []float64) float64 {
	return func(x, z []float64) float64 {
		d := x[0] - z[0]
		return theta0*math.Exp(-theta1/2*d*d) + theta2 + theta3*x[0]*z[0]
	}
}

// whitened returns L⁻¹f for the draws f of an illustration at some of its places, with K = L Lᵀ.
// These numbers are standard normal if k is the covariance of the draws.
func whitened(i record.Illustration, inputs int, places []int, k func(x, z []float64) float64) ([]float64, error) {
	at := func(place int) (x []float64) {
		for _, c := range i.Columns[:inputs] {
			x = append(x, float64(c.Values[place]))
		}
		return x
	}
	cov := mat.NewSymDense(len(places), nil)
	for a, p := range places {
		for b, q := range places[:a+1] {
			cov.SetSym(a, b, k(at(p), at(q)))
		}
	}
	var cholesky mat.Cholesky
	if !cholesky.Factorize(cov) {
		return nil, errors.New("the covariance is not positive definite")
	}
	var l mat.TriDense
	cholesky.LTo(&l)
	var out []float64
	for _, c := range i.Columns[inputs:] {
		if !strings.HasPrefix(c.Name, "f") {
			continue
		}
		f := mat.NewVecDense(len(places), nil)
		for a, p := range places {
			f.SetVec(a, float64(c.Values[p]))
		}
		var z mat.VecDense
		if err := z.SolveVec(&l, f); err != nil {
			return nil, err
		}
		out = append(out, z.RawVector().Data...)
	}
	return out, nil
}

// drawn checks that the mean square of numbers is 1, as of standard normal numbers, within four of
// its standard deviations. Whitening enlarges rounding errors, so that the second decimal depends
// on the machine.
func drawn(z []float64) (here string, agrees bool) {
	square, n := 0.0, float64(len(z))
	for _, v := range z {
		square += v * v / n
	}
	sd := math.Sqrt(2 / n)
	return fmt.Sprintf("%.1f for 1 ± %.1f", square, sd), math.Abs(square-1) < 4*sd
}

// drawnFrom is the finding on whitened draws z (see whitened and drawn).
func drawnFrom(z []float64) Found {
	here, agrees := drawn(z)
	return Found{Here: fmt.Sprintf("%d values, whitened by the kernel: mean square %s", len(z), here), Agrees: agrees,
		Cause: unexplained, Why: "the draws are not of this covariance"}
}

// lecturePrior is the claim of draws over one input. They are checked at five places from one end
// to the other.
func lecturePrior(row string, at int, k func(x, z []float64) float64) Claim {
	return Claim{Row: row, From: "lecture_prior", Check: func(r Runs) (f Found, err error) {
		i, err := illustration(r, "lecture_prior", at)
		if err != nil {
			return f, err
		}
		z, err := whitened(i, 1, []int{0, 75, 150, 225, 300}, k)
		return drawnFrom(z), err
	}}
}

// lectureDraws checks draws of Gaussians in 2, 6 and 25 dimensions, whose covariance is a kernel of
// the indices.
func lectureDraws(r Runs) (f Found, err error) {
	var parts []string
	f.Agrees = true
	for at, dimensions := range []int{2, 6, 25} {
		i, err := illustration(r, "lecture_draws", at)
		if err != nil {
			return f, err
		}
		var places []int
		for place := 0; place < len(i.Columns[0].Values); place++ {
			places = append(places, place)
		}
		if len(places) != dimensions {
			return f, fmt.Errorf("%d dimensions, not %d", len(places), dimensions)
		}
		z, err := whitened(i, 1, places, fourTerms(1, 0.25, 0, 0)) // length scale 2
		if err != nil {
			return f, err
		}
		here, agrees := drawn(z)
		parts = append(parts, fmt.Sprintf("%d-D %s", dimensions, here))
		f.Agrees = f.Agrees && agrees
	}
	f.Here = "whitened mean squares: " + strings.Join(parts, ", ")
	f.Cause, f.Why = unexplained, "the draws are not of this covariance"
	return f, nil
}

// lectureSurfaces checks draws for both η, at nine places of the lattice.
func lectureSurfaces(r Runs) (f Found, err error) {
	var parts []string
	f.Agrees = true
	for at, eta2 := range []float64{1, 0.01} {
		i, err := illustration(r, "lecture_surfaces", at)
		if err != nil {
			return f, err
		}
		edge := int(math.Sqrt(float64(len(i.Columns[0].Values))))
		var places []int
		for _, row := range []int{0, edge / 2, edge - 1} {
			for _, column := range []int{0, edge / 2, edge - 1} {
				places = append(places, row*edge+column)
			}
		}
		z, err := whitened(i, 2, places, func(x, z []float64) float64 {
			return math.Exp(-((x[0]-z[0])*(x[0]-z[0]) + eta2*(x[1]-z[1])*(x[1]-z[1])) / 2)
		})
		if err != nil {
			return f, err
		}
		here, agrees := drawn(z)
		parts = append(parts, fmt.Sprintf("(1, %g) %s", eta2, here))
		f.Agrees = f.Agrees && agrees
	}
	f.Here = "whitened mean squares: " + strings.Join(parts, ", ")
	f.Cause, f.Why = unexplained, "the draws are not of this covariance"
	return f, nil
}

// lectureARD is the order of η = 1/length scale² of the standardised inputs on the way of the
// restart that begins with equal ones. At its end the last two are 0 within rounding errors.
func lectureARD(r Runs) (f Found, err error) {
	c, err := r.One("lecture_ard", Of{Kernel: "{se: {ard: true}}"})
	if err != nil {
		return f, err
	}
	var way []record.Step
	for _, t := range c.Studies[0].Trials {
		if t.Index == 0 {
			way = t.Path
		}
	}
	ordered := 0
	eta := func(s record.Step, input int) float64 { // after the amplitude
		return math.Exp(-2 * float64(s.Theta[input]))
	}
	for _, s := range way {
		if len(s.Theta) != 5 {
			return f, fmt.Errorf("%d hyperparameters, not amplitude, three length scales and noise", len(s.Theta))
		}
		if eta(s, 1) > eta(s, 2) && eta(s, 2) > eta(s, 3) {
			ordered++
		}
	}
	if len(way) < 11 {
		return f, errors.New("the way has fewer than ten steps")
	}
	f.Here = fmt.Sprintf("eta1 > eta2 > eta3 at %d of %d steps from equal ones; after ten %.2g, %.1g, %.1g", ordered,
		len(way)-1, eta(way[10], 1), eta(way[10], 2), eta(way[10], 3))
	f.Agrees = ordered >= 9*(len(way)-1)/10
	return f, nil
}

// lectureSinusoid counts the held-out targets within two standard deviations of the mean.
func lectureSinusoid(r Runs) (f Found, err error) {
	c, err := r.One("lecture_sinusoid", Of{})
	if err != nil {
		return f, err
	}
	fit := c.Studies[0].Fit
	inside, n := 0, len(fit.Targets)
	for k, t := range fit.Targets {
		if math.Abs(float64(t-fit.Mean[k])) <= 2*math.Sqrt(float64(fit.Variance[k])) {
			inside++
		}
	}
	f.Here = fmt.Sprintf("%d of %d held-out targets within 2 sd of the mean", inside, n)
	f.Agrees = n > 0 && float64(inside) >= 0.9*float64(n)
	f.Cause, f.Why = otherCases, "the cases are not printed"
	return f, nil
}

// lectureSquashed checks that the probabilities of each sample are the logistic function of it.
func lectureSquashed(r Runs) (f Found, err error) {
	far, count := 0.0, 0
	for _, i := range r["lecture_squashed"].Manifest.Illustrations {
		for k := 1; i.Column(fmt.Sprintf("f%d", k)) != nil; k++ {
			p := i.Column(fmt.Sprintf("p%d", k))
			for place, latent := range i.Column(fmt.Sprintf("f%d", k)) {
				far, count = max(far, math.Abs(p[place]-1/(1+math.Exp(-latent)))), count+1
			}
		}
	}
	f.Here = fmt.Sprintf("p = 1/(1 + exp(-a)) within %.0e at %d places", far, count)
	f.Agrees = count > 0 && far < 1e-12
	f.Cause, f.Why = unexplained, "the probabilities are not those of the logistic function"
	return f, nil
}

// lectureBoundary counts the places of the lattice over the inputs at which the classifier decides
// as the best possible one does.
func lectureBoundary(r Runs) (f Found, err error) {
	c, err := r.One("lecture_boundary", Of{})
	if err != nil {
		return f, err
	}
	s := c.Studies[0].Fit.Surface
	if s == nil || len(s.Truth) == 0 || len(s.Proba) == 0 {
		return f, errors.New("there is no lattice with the truth on record")
	}
	same, n := 0, len(s.Proba[0])
	for k, p := range s.Proba[0] {
		if (p > 0.5) == (s.Truth[len(s.Truth)-1][k] > 0.5) {
			same++
		}
	}
	rate, _ := c.Figure("test", "error_rate")
	f.Here = fmt.Sprintf("the same side at %d of %d places of the plane; error rate %.3f", same, n, float64(rate))
	f.Agrees = float64(same) >= 0.9*float64(n)
	f.Cause, f.Why = otherCases, "the cases are not printed"
	return f, nil
}

// lectureTargets checks that the number of targets +1 is within three standard deviations of the
// sum of their probabilities.
func lectureTargets(r Runs) (f Found, err error) {
	i, err := illustration(r, "lecture_targets", 0)
	if err != nil {
		return f, err
	}
	positive, mean, variance := 0.0, 0.0, 0.0
	targets := i.Column("t1")
	for k, p := range i.Column("p1") {
		positive, mean, variance = positive+(targets[k]+1)/2, mean+p, variance+p*(1-p)
	}
	f.Here = fmt.Sprintf("%.0f of %d targets are +1; the probabilities say %.1f ± %.1f", positive, len(targets), mean,
		math.Sqrt(variance))
	f.Agrees = math.Abs(positive-mean) <= 3*math.Sqrt(variance)
	f.Cause, f.Why = unexplained, "the targets are not drawn with the probabilities"
	return f, nil
}
