package ledger

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// The configurations of the claims of GPML 3.7.3.
var (
	laplace = Of{Inference: "laplace"}
	ep      = Of{Inference: "ep"}
	linear  = Of{Kernel: "linear", Likelihood: "probit", Inference: "laplace"}
	p1nn    = Of{Inference: "p1nn"}
	mlr     = Of{Inference: "logistic_regression"}
)

// check makes a Check of find, which compares one configuration of an experiment and its fit.
func check(name string, of Of, find func(c *reports.Configuration, f *record.Fit) Found) func(Runs) (Found, error) {
	return func(r Runs) (Found, error) {
		c, f, err := r.fit(name, of)
		if err != nil {
			return Found{}, err
		}
		return find(c, f), nil
	}
}

// fit returns the fit of the one matching configuration to all its training data.
func (r Runs) fit(name string, of Of) (*reports.Configuration, *record.Fit, error) {
	c, err := r.One(name, of)
	if err != nil {
		return nil, nil, err
	}
	if len(c.Studies) == 0 || c.Studies[0].Fit == nil || !c.Studies[0].Fit.Failure.IsZero() {
		return nil, nil, fmt.Errorf("gallery:%s has no fit of %+v", name, of)
	}
	return c, c.Studies[0].Fit, nil
}

// fits returns the fits of all matching configurations to all their training data.
func (r Runs) fits(name string, of Of) (fits []*record.Fit, err error) {
	all, err := r.All(name, of)
	for k, c := range all {
		if len(c.Studies) == 0 || c.Studies[0].Fit == nil || !c.Studies[0].Fit.Failure.IsZero() {
			return nil, fmt.Errorf("gallery:%s has no fit of configuration %d", name, k)
		}
		fits = append(fits, c.Studies[0].Fit)
	}
	return fits, err
}

// score is a score of the first evaluation.
func score(c *reports.Configuration, name string) (value, lo, hi float64) {
	e, ok := c.Scores.Value(name)
	if !ok {
		nan := math.NaN()
		return nan, nan, nan
	}
	return e.Value, e.Lo, e.Hi
}

// valueOf is a named number.
func valueOf(values reports.Values, name string) float64 {
	for _, v := range values {
		if v.Name == name {
			return float64(v.Value)
		}
	}
	return math.NaN()
}

// entropy is the mean information, in bits, of a held-out label under the class frequencies of the
// training cases, GPML (3.76).
func entropy(f *record.Fit) float64 {
	total, bits := 0, 0.0
	for _, n := range f.TrainCounts {
		total += n
	}
	for _, y := range f.Labels {
		bits -= math.Log2(float64(f.TrainCounts[y]) / float64(total))
	}
	return bits / float64(len(f.Labels))
}

// entropyOf compares the entropy with the published one.
func entropyOf(published, uncertainty float64) func(*reports.Configuration, *record.Fit) Found {
	return func(_ *reports.Configuration, f *record.Fit) Found {
		h := entropy(f)
		return Found{Here: shown(h, uncertainty) + " bits", Agrees: within(h, published, uncertainty)}
	}
}

// halfWidth compares half the width of the 95 % interval of the test information.
func halfWidth(published, uncertainty float64) func(*reports.Configuration, *record.Fit) Found {
	return func(c *reports.Configuration, _ *record.Fit) Found {
		_, lo, hi := score(c, "information_bits")
		half := (hi - lo) / 2
		return Found{Here: shown(half, uncertainty) + " bits", Agrees: within(half, published, uncertainty)}
	}
}

// trainErrors are the training cases whose latent mean has the sign of the other class.
func trainErrors(f *record.Fit) (errors int) {
	for i, m := range f.TrainLatentMean[0] {
		if (m > 0) != (f.TrainLabels[i] == 1) {
			errors++
		}
	}
	return errors
}

func trainErrorsAre(want int) func(*reports.Configuration, *record.Fit) Found {
	return func(_ *reports.Configuration, f *record.Fit) Found {
		n := trainErrors(f)
		return Found{Here: fmt.Sprintf("%d errors", n), Agrees: n == want}
	}
}

// unlike counts the held-out cases that averaged and MAP predictions decide differently.
func unlike(f *record.Fit) (n int) {
	for i, p := range f.MAP {
		if (p > 0.5) != (f.Proba[i][1] > f.Proba[i][0]) {
			n++
		}
	}
	return n
}

// decideAlike counts these cases for all configurations of experiments.
func decideAlike(names ...string) func(Runs) (Found, error) {
	return func(r Runs) (Found, error) {
		cases, others := 0, 0
		for _, name := range names {
			fits, err := r.fits(name, Of{})
			if err != nil {
				return Found{}, err
			}
			for _, f := range fits {
				cases, others = cases+len(f.MAP), others+unlike(f)
			}
		}
		return Found{Here: fmt.Sprintf("%d of %d predictions decided otherwise", others, cases),
			Agrees: others == 0 && cases > 0}, nil
	}
}

// weights computes the weights of a latent mean linear in two inputs from the ends of the lattice.
func weights(_ *reports.Configuration, f *record.Fit) Found {
	s := f.Surface
	m, n := s.LatentMean[0], len(s.Axes[0])
	across := func(axis int) float64 { return float64(s.Axes[axis][len(s.Axes[axis])-1] - s.Axes[axis][0]) }
	w1, w2 := float64(m[n-1]-m[0])/across(0), float64(m[len(m)-n]-m[0])/across(1)
	angle := math.Atan2(w2, w1) * 180 / math.Pi
	return Found{Here: fmt.Sprintf("(%.2f, %.2f), %.0f° from (1,1)", w1, w2, math.Abs(angle-45)),
		Agrees: math.Abs(angle-45) < 5}
}

// squashed compares the drawn probabilities with the logistic function of the drawn latent values.
func squashed(r Runs) (Found, error) {
	i := r["gpml_fig32"].Report.Illustrations[0]
	f, p, worst := i.Column("f1"), i.Column("p1"), 0.0
	for k, v := range f {
		worst = max(worst, math.Abs(p[k]-1/(1+math.Exp(-v))))
	}
	return Found{Here: fmt.Sprintf("p = λ(f) at %d places", len(f)), Agrees: len(f) > 0 && worst < 1e-12}, nil
}

// concave looks at the second derivatives of the log likelihoods.
func concave(r Runs) (Found, error) {
	least, most, n := 0.0, math.Inf(-1), 0
	for _, i := range r["gpml_fig33"].Report.Illustrations {
		d2 := i.Column("second_derivative")
		n += len(d2)
		least, most = min(least, slices.Min(d2)), max(most, slices.Max(d2))
	}
	return Found{Here: fmt.Sprintf("second derivatives from %.2f to %.2g", least, most), Agrees: n > 0 && most < 0}, nil
}

// matched are the moments of the posterior of one latent value, exact and by EP.
func matched(r Runs) (Found, error) {
	i := r["gpml_fig34"].Report.Illustrations[0]
	text := func(g *record.Gaussian) string {
		return fmt.Sprintf("Z %.5f mean %.5f var %.5f", math.Exp(float64(*g.LogEvidence)), g.Mean[0],
			g.Covariance[0][0])
	}
	exact, ep := text(i.Exact), text(i.Approximations[0].Gaussian)
	return Found{Here: ep, Agrees: ep == exact && ep == "Z 0.62409 mean 2.73059 var 4.44753"}, nil
}

// extreme is the largest probability of all configurations of an experiment, or the smallest.
func extreme(name, figure string, published float64) func(Runs) (Found, error) {
	return func(r Runs) (Found, error) {
		all, err := r.All(name, Of{})
		if err != nil {
			return Found{}, err
		}
		var found []float64
		for _, c := range all {
			v, _ := c.Figure("", figure)
			found = append(found, float64(v))
		}
		here := slices.Max(found)
		if figure == "min_probability" {
			here = slices.Min(found)
		}
		return Found{Here: shown(here, 0.005), Agrees: within(here, published, 0.005)}, nil
	}
}

// groups counts the cases of Figure 3.6 near the three means.
func groups(_ *reports.Configuration, f *record.Fit) Found {
	counts := [3]int{}
	for _, x := range record.Floats(f.Surface.Inputs[0]) {
		switch {
		case x < -3:
			counts[0]++
		case x < 1:
			counts[1]++
		default:
			counts[2]++
		}
	}
	return Found{Here: fmt.Sprintf("%d cases, %d near -6, %d near 0, %d near 2; %d of class 1", len(f.TrainLabels),
		counts[0], counts[1], counts[2], f.TrainCounts[1]), Agrees: len(f.TrainLabels) == 60 && counts[0] == 20 &&
		f.TrainCounts[1] == 30}
}

// optimum compares the two tuned hyperparameters of a squared exponential.
func optimum(l, amplitude float64) func(*reports.Configuration, *record.Fit) Found {
	return func(c *reports.Configuration, _ *record.Fit) Found {
		at, height := valueOf(c.Hyperparameters, "length_scale"), valueOf(c.Hyperparameters, "amplitude")
		return Found{Here: fmt.Sprintf("%.2f, %.2f", at, height),
			Agrees: within(at, l, 0.05) && within(height, amplitude, 0.05)}
	}
}

// chosen compares the cost and the length scale l of a support vector machine, with the covariance
// exp(-r²/l²).
func chosen(cost, l float64) func(*reports.Configuration, *record.Fit) Found {
	return func(c *reports.Configuration, _ *record.Fit) Found {
		at, price := math.Sqrt2*valueOf(c.Hyperparameters, "length_scale"), valueOf(c.Hyperparameters, "cost")
		return Found{Here: fmt.Sprintf("%.3g, %.3g", price, at),
			Agrees: math.Abs(price-cost) < 1e-6*cost && math.Abs(at-l) < 1e-6*l}
	}
}

// region is the 95 % interval of the latent value at an input.
func region(at float64) func(*reports.Configuration, *record.Fit) Found {
	return func(_ *reports.Configuration, f *record.Fit) Found {
		s := f.Surface
		k := nearest(record.Floats(s.Axes[0]), at)
		mean, deviation := float64(s.LatentMean[0][k]), math.Sqrt(float64(s.LatentVariance[0][k]))
		return Found{Here: fmt.Sprintf("yes: %.2f to %.2f", mean-2*deviation, mean+2*deviation),
			Agrees: mean > 0 && mean-2*deviation < 0}
	}
}

func nearest(x []float64, at float64) (k int) {
	for i, v := range x {
		if math.Abs(v-at) < math.Abs(x[k]-at) {
			k = i
		}
	}
	return k
}

// falls finds where the predictive probability is largest, and checks that it falls from there to x
// = 4 while the latent mean rises.
func falls(_ *reports.Configuration, f *record.Fit) Found {
	s := f.Surface
	x, m, p := record.Floats(s.Axes[0]), record.Floats(s.LatentMean[0]), record.Floats(s.Proba[0])
	top, end := nearest(x, 2), nearest(x, 4)
	for k := top; k <= end; k++ {
		if p[k] > p[top] {
			top = k
		}
	}
	return Found{Here: fmt.Sprintf("from x = %.1f to 4 the mean rises from %.2f to %.2f, the probability falls from "+
		"%.3f to %.3f", x[top], m[top], m[end], p[top], p[end]),
		Agrees: top < end && m[end] > m[top] && p[end] < p[top]}
}

// counts compares the numbers of digits.
func counts(r Runs) (Found, error) {
	all, ten, err := r.fit("usps_comparators", Of{Inference: "p1nn"})
	if err != nil {
		return Found{}, err
	}
	two, f, err := r.fit("usps_3v5_averaged", Of{Inference: "laplace"})
	if err != nil {
		return Found{}, err
	}
	tests := [2]int{}
	for _, y := range f.Labels {
		tests[y]++
	}
	here := fmt.Sprintf("%d + %d = %d; %d = %d + %d; %d = %d + %d", all.Cases, len(ten.Labels),
		all.Cases+len(ten.Labels), two.Cases, f.TrainCounts[0], f.TrainCounts[1], len(f.Labels), tests[0], tests[1])
	return Found{Here: here, Agrees: here == "4649 + 4649 = 9298; 767 = 406 + 361; 773 = 418 + 355"}, nil
}

// lattice counts the values of the two hyperparameters on the lattice.
func lattice(c *reports.Configuration, _ *record.Fit) Found {
	values := [2]map[float64]bool{{}, {}}
	for _, p := range c.Grid {
		values[0][valueOf(p.Point, "length_scale")], values[1][valueOf(p.Point, "amplitude")] = true, true
	}
	here := fmt.Sprintf("%d x %d", len(values[0]), len(values[1]))
	return Found{Here: here, Agrees: here == "17 x 23" && len(c.Grid) == 17*23}
}

// corner is the range of the probabilities of class 3, which is the book's +1.
func corner(_ *reports.Configuration, f *record.Fit) Found {
	lo, hi := 1.0, 0.0
	for _, p := range f.Proba {
		lo, hi = min(lo, float64(p[0])), max(hi, float64(p[0]))
	}
	return Found{Here: fmt.Sprintf("[%.3f, %.3f]", lo, hi),
		Agrees: len(f.Proba) == 773 && within(lo, 0.48, 0.005) && within(hi, 0.53, 0.005)}
}

// atEdge checks that the largest evidence is at the largest amplitude of the lattice.
func atEdge(c *reports.Configuration, _ *record.Fit) Found {
	most := 0.0
	for _, p := range c.Grid {
		most = max(most, valueOf(p.Point, "amplitude"))
	}
	at := valueOf(c.Hyperparameters, "amplitude")
	return Found{Here: fmt.Sprintf("%.1f of at most %.1f", math.Log(at), math.Log(most)),
		Agrees: math.Abs(at-most) < 1e-9*most}
}

// lead is the log evidence of one configuration minus the log evidence of another.
func lead(name string, of Of, below string, than Of, published float64) func(Runs) (Found, error) {
	return func(r Runs) (Found, error) {
		a, err := r.One(name, of)
		if err != nil {
			return Found{}, err
		}
		b, err := r.One(below, than)
		if err != nil {
			return Found{}, err
		}
		d := float64(a.LogEvidence - b.LogEvidence)
		return Found{Here: shown(d, 0.5), Agrees: within(d, published, 0.5)}, nil
	}
}

// exponential is the factor between the evidences of EP and Laplace's method, from the printed
// difference of their logarithms.
func exponential(r Runs) (Found, error) {
	f, err := lead("usps_3v5_averaged", ep, "usps_3v5_averaged", laplace, 9)(r)
	return Found{Here: fmt.Sprintf("%.0f = exp(9); %s here", math.Exp(9), f.Here),
		Agrees: f.Agrees && within(math.Exp(9), 8000, 500)}, err
}

// excess counts the latent means of training cases beyond ±50, and finds the largest.
func excess(_ *reports.Configuration, f *record.Fit) Found {
	most, beyond := 0.0, 0
	for _, m := range record.Floats(f.TrainLatentMean[0]) {
		most = max(most, math.Abs(m))
		if math.Abs(m) > 50 {
			beyond++
		}
	}
	return Found{Here: fmt.Sprintf("yes: %d of %d beyond 50, up to %.0f", beyond, len(f.TrainLabels), most),
		Agrees: most > 55}
}

// bestInformation compares, case by case, EP and Laplace's method where each has the largest test
// information of the lattice.
func bestInformation(r Runs) (Found, error) {
	var fits [2]*record.Fit
	for k, method := range []string{"laplace", "ep"} {
		c, err := r.One("usps_3v5_grid", Of{Inference: method})
		if err != nil {
			return Found{}, err
		}
		best := slices.MaxFunc(c.Grid, func(a, b reports.GridPoint) int {
			return int(math.Copysign(1, valueOf(a.Scores, "information_bits")-valueOf(b.Scores, "information_bits")))
		})
		points, err := r.All("usps_3v5_points", Of{Inference: method})
		if err != nil {
			return Found{}, err
		}
		for _, p := range points {
			bits, _, _ := score(p, "information_bits")
			if math.Abs(bits-valueOf(best.Scores, "information_bits")) < 1e-6 {
				fits[k] = p.Studies[0].Fit
			}
		}
		if fits[k] == nil {
			return Found{}, fmt.Errorf("gallery:usps_3v5_points lacks the best point of %s, %v", method, best.Point)
		}
	}
	var gain []float64
	for i, y := range fits[0].Labels {
		gain = append(gain, math.Log2(float64(fits[1].Proba[i][y]))-math.Log2(float64(fits[0].Proba[i][y])))
	}
	mean, deviation := stat.MeanStdDev(gain, nil)
	half := 1.96 * deviation / math.Sqrt(float64(len(gain)))
	return Found{Here: fmt.Sprintf("yes: %.3f ± %.3f bits more", mean, half), Agrees: mean > half}, nil
}

// similar compares the errors of EP and Laplace's method over the lattice.
func similar(r Runs) (Found, error) {
	a, err := r.One("usps_3v5_grid", Of{Inference: "laplace"})
	if err != nil {
		return Found{}, err
	}
	b, err := r.One("usps_3v5_grid", Of{Inference: "ep"})
	if err != nil {
		return Found{}, err
	}
	var apart []float64
	for k := range a.Grid {
		apart = append(apart, math.Abs(valueOf(a.Grid[k].Scores, "errors")-valueOf(b.Grid[k].Scores, "errors")))
	}
	mean, most := stat.Mean(apart, nil), slices.Max(apart)
	return Found{Here: fmt.Sprintf("%.1f errors apart on average, at most %.0f", mean, most), Agrees: mean < 2}, nil
}

// sure counts the errors whose probability of either class is above 0.9.
func sure(c *reports.Configuration, f *record.Fit) Found {
	n := 0
	for i, p := range f.Proba {
		if wrong := 1 - f.Labels[i]; p[wrong] > 0.9 {
			n++
		}
	}
	return Found{Here: fmt.Sprint(n), Agrees: n == 4}
}

// rejectArea is the mean error rate over the rejections, in per cent.
func rejectArea(c *reports.Configuration) float64 {
	for _, curve := range c.Curves {
		if curve.Name == "error_reject" {
			return 100 * stat.Mean(curve.Series.Y, nil)
		}
	}
	return math.NaN()
}

// rejecting is the error rate at a share of rejections, in per cent.
func rejecting(c *reports.Configuration, share float64) float64 {
	for _, curve := range c.Curves {
		if curve.Name == "error_reject" {
			return 100 * curve.Series.Y[nearest(curve.Series.X, share)]
		}
	}
	return math.NaN()
}

// order has the classifiers of Figure 3.10 by the area under their curves of errors against
// rejections.
func order(r Runs) (Found, error) {
	areas := map[string]float64{}
	for _, name := range []string{"least_squares", "ep", "svm", "laplace", "p1nn"} {
		of := Of{Kernel: "se", Inference: name}
		switch name {
		case "p1nn":
			of = Of{Inference: name}
		case "svm":
			of.Inference = "{svm: {costs: [1], length_scales: [7.0710678118654755]}}"
		}
		c, err := r.One("usps_3v5_comparators", of)
		if err != nil {
			return Found{}, err
		}
		areas[name] = rejectArea(c)
	}
	lsc, ep, svm, laplace, p1nn := areas["least_squares"], areas["ep"], areas["svm"], areas["laplace"], areas["p1nn"]
	return Found{Here: fmt.Sprintf("mean error over all rejections: LSC %.2f %%, EP %.2f %%, SVM %.2f %%, "+
		"Laplace %.2f %%, P1NN %.2f %%", lsc, ep, svm, laplace, p1nn), Agrees: lsc < min(ep, svm) &&
		max(ep, svm) < laplace && laplace < p1nn/2 && math.Abs(ep-svm) < laplace-lsc}, nil
}

// flat compares the errors of P1NN, without rejections and with a tenth rejected, with EP's.
func flat(r Runs) (Found, error) {
	p1nn, err := r.One("usps_3v5_comparators", Of{Inference: "p1nn"})
	if err != nil {
		return Found{}, err
	}
	ep, err := r.One("usps_3v5_comparators", Of{Kernel: "se", Inference: "ep"})
	if err != nil {
		return Found{}, err
	}
	a, b, c, d := rejecting(p1nn, 0), rejecting(ep, 0), rejecting(p1nn, 0.1), rejecting(ep, 0.1)
	return Found{Here: fmt.Sprintf("P1NN %.1f %%, EP %.1f %%; with a tenth rejected %.1f %% and %.1f %%", a, b, c, d),
		Agrees: math.Abs(a-b) < 0.5 && c > 0.7*a && d < 0.5*b}, nil
}

// weightsOf is the shape of the weights: classes × (inputs + bias).
func weightsOf(c *reports.Configuration, _ *record.Fit) Found {
	here := fmt.Sprintf("%d x %d", len(c.Classes), c.Inputs+1)
	return Found{Here: here, Agrees: here == "10 x 257"}
}

// sampledEvidence compares EP and Laplace's method with annealed importance sampling, point by
// point.
func sampledEvidence(r Runs) (Found, error) {
	var grids [3][]reports.GridPoint
	for k, name := range []string{"sampling", "ep", "laplace"} {
		c, err := r.One("usps_3v5_sampled", Of{Inference: name})
		if err != nil {
			return Found{}, err
		}
		grids[k] = c.Grid
	}
	ep, laplace := 0.0, 0.0
	for k, p := range grids[0] {
		ep = max(ep, math.Abs(grids[1][k].Objective()-p.Objective()))
		laplace = max(laplace, math.Abs(grids[2][k].Objective()-p.Objective()))
	}
	return Found{Here: fmt.Sprintf("at %d points EP is at most %.1f nats off, Laplace's method up to %.0f",
		len(grids[0]), ep, laplace), Agrees: ep < 2 && laplace > 10}, nil
}

// sampledRange is the range of the hyperparameters of the lattice with sampled posteriors.
func sampledRange(r Runs) (Found, error) {
	c, err := r.One("usps_3v5_sampled", Of{Inference: "sampling"})
	if err != nil {
		return Found{}, err
	}
	var ends [4]float64
	for k, name := range []string{"length_scale", "amplitude"} {
		var all []float64
		for _, p := range c.Grid {
			all = append(all, math.Log(valueOf(p.Point, name)))
		}
		ends[2*k], ends[2*k+1] = slices.Min(all), slices.Max(all)
	}
	return Found{Here: fmt.Sprintf("log l %.1f-%.1f, log sf %.1f-%.1f", ends[0], ends[1], ends[2], ends[3]),
		Agrees: ends[0] < 1.65 && ends[3] > 5.55}, nil
}

// boundary looks on which side of e^z2 + e^z3 = 2 class 1 has a probability above a third.
func boundary(r Runs) (Found, error) {
	fits, err := r.fits("gpml_fig313", Of{Kernel: "linear"})
	if err != nil || len(fits) != 1 {
		return Found{}, fmt.Errorf("%d fits: %w", len(fits), err)
	}
	s := fits[0].Surface
	wrong, n := 0, 0
	for j, z3 := range s.Axes[1] {
		for i, z2 := range s.Axes[0] {
			p := s.Truth[0][j*len(s.Axes[0])+i]
			if e := math.Exp(float64(z2)) + math.Exp(float64(z3)); math.Abs(e-2) > 1e-9 {
				n++
				if (p > 1./3) != (e < 2) {
					wrong++
				}
			}
		}
	}
	return Found{Here: fmt.Sprintf("at %d of %d places p(C1) > 1/3 where e^z2 + e^z3 < 2, and only there", n-wrong, n),
		Agrees: wrong == 0 && n > 0}, nil
}

// probitIsStep compares the probit likelihood with the step likelihood of a noisy latent value.
func probitIsStep(r Runs) (Found, error) {
	probit, a, err := r.fit("gpml_probit_step", Of{Likelihood: "probit"})
	if err != nil {
		return Found{}, err
	}
	step, b, err := r.fit("gpml_probit_step", Of{Likelihood: "step"})
	if err != nil {
		return Found{}, err
	}
	apart := 0.0
	for i, p := range a.Proba {
		apart = max(apart, math.Abs(float64(p[1]-b.Proba[i][1])))
	}
	difference := math.Abs(float64(probit.LogEvidence - step.LogEvidence))
	return Found{Here: fmt.Sprintf("%.6f and %.6f; probabilities equal to %.0g", probit.LogEvidence, step.LogEvidence,
		apart), Agrees: difference < 1e-8 && apart < 1e-8}, nil
}

// semidefinite looks at the eigenvalues of W = diag π - ππᵀ, GPML (3.38), of three classes.
func semidefinite(r Runs) (Found, error) {
	zero, next, n := 0.0, math.Inf(1), 0
	for _, i := range r["gpml_softmax"].Report.Illustrations {
		least := i.Column("eigenvalue1")
		zero, next = max(zero, slices.Max(least), -slices.Min(least)), min(next, slices.Min(i.Column("eigenvalue2")))
		n += len(least)
	}
	return Found{Here: fmt.Sprintf("of %d W the least eigenvalue is 0 to %.0g, the next at least %.2g", n, zero, next),
		Agrees: n > 0 && zero < 1e-15 && next > 0}, nil
}

// anyClass finds the most probable class where all latent means are 0.
func anyClass(r Runs) (Found, error) {
	here, is := "", true
	for k, i := range r["gpml_softmax"].Report.Illustrations {
		at, best, p := nearest(i.Column("f1"), 0), 0, [3]float64{}
		for c := range p {
			p[c] = i.Column(fmt.Sprintf("averaged%d", c+1))[at]
			if p[c] > p[best] {
				best = c
			}
		}
		here += fmt.Sprintf("; class %d with (%.3f, %.3f, %.3f)", best+1, p[0], p[1], p[2])
		is = is && best == k && p[best] > 1./3+0.01
	}
	return Found{Here: strings.TrimPrefix(here, "; "), Agrees: is && here != ""}, nil
}

// ownSite compares how far the marginal and the cavity move while the site's precision changes.
func ownSite(r Runs) (Found, error) {
	i := r["gpml_cavity"].Report.Illustrations[0]
	move := func(names ...string) (most float64) {
		for _, name := range names {
			v := i.Column(name)
			most = max(most, slices.Max(v)-slices.Min(v))
		}
		return most
	}
	marginal, cavity := move("mean", "variance"), move("cavity_mean", "cavity_variance")
	return Found{Here: fmt.Sprintf("the marginal moves by %.1f, the cavity by %.0g", marginal, cavity),
		Agrees: marginal > 1 && cavity < 1e-11}, nil
}

func eigenvalues(s *mat.SymDense) []float64 {
	var e mat.EigenSym
	e.Factorize(s, false)
	return e.Values(nil)
}

// wellExplained compares the posterior mean of a latent value alone with its posterior mean when
// there is a second case. The label of the second case is well explained in one comparison, and not
// in the other.
func wellExplained(r Runs) (Found, error) {
	i := r["gpml_well_explained"].Report.Illustrations
	if len(i) != 3 {
		return Found{}, fmt.Errorf("%d illustrations, want 3", len(i))
	}
	var mean [3]float64
	for k := range i {
		mean[k] = float64(i[k].Approximations[0].Gaussian.Mean[0])
	}
	return Found{Here: fmt.Sprintf("f1 = %.6f alone, %.6f beside a well-explained case, %.2f beside another",
		mean[0], mean[1], mean[2]), Agrees: math.Abs(mean[1]-mean[0]) < 1e-9 && math.Abs(mean[2]-mean[0]) > 0.1}, nil
}

// latentGrowth is the largest latent mean at the corners of the lattice.
func latentGrowth(r Runs) (Found, error) {
	all, err := r.All("usps_3v5_points", Of{Inference: "laplace"})
	if err != nil {
		return Found{}, err
	}
	here := "largest |f|:"
	for _, c := range all {
		l, a := math.Log(valueOf(c.Hyperparameters, "length_scale")), math.Log(valueOf(c.Hyperparameters, "amplitude"))
		most := 0.0
		for _, m := range record.Floats(c.Studies[0].Fit.TrainLatentMean[0]) {
			most = max(most, math.Abs(m))
		}
		here += fmt.Sprintf(" %.2g at (%.1f, %.1f)", most, l, a)
	}
	return Found{Here: here, Agrees: true}, nil
}

// bounded finds the eigenvalues of B = I + W^½ K W^½, GPML (3.26), for the cases of Figure 3.5.
func bounded(r Runs) (Found, error) {
	all, err := r.All("gpml_fig35", Of{})
	if err != nil {
		return Found{}, err
	}
	least, most, inside := math.Inf(1), 0.0, len(all) > 0
	for _, c := range all {
		f := c.Studies[0].Fit
		l, variance := valueOf(c.Hyperparameters, "length_scale"), math.Pow(valueOf(c.Hyperparameters, "amplitude"), 2)
		x, y := record.Floats(f.Surface.Inputs[0]), record.Floats(f.Surface.Inputs[1])
		root := func(i int) float64 { // √W_ii, GPML (3.15)
			p := 1 / (1 + math.Exp(-float64(f.TrainLatentMean[0][i])))
			return math.Sqrt(p * (1 - p))
		}
		b := mat.NewSymDense(len(x), nil)
		for i := range x {
			for j := range x[:i+1] {
				d2 := (x[i]-x[j])*(x[i]-x[j]) + (y[i]-y[j])*(y[i]-y[j])
				b.SetSym(i, j, root(i)*root(j)*variance*math.Exp(-d2/(2*l*l)))
			}
			b.SetSym(i, i, 1+b.At(i, i))
		}
		values := eigenvalues(b)
		least, most = min(least, values[0]), max(most, values[len(values)-1])
		inside = inside && values[0] > 1-1e-12 && values[len(values)-1] < 1+float64(len(x))*variance/4
	}
	return Found{Here: fmt.Sprintf("from %.4f to %.2f; bounds 1 and %.0f", least, most, 1+20*9./4), Agrees: inside}, nil
}
