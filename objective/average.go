package objective

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Average computes the class probabilities of a new case from the posterior of its latent values,
// GPML 3.4.2. With one_vs_rest each class has a probability from its own process, and the
// probabilities are divided by their sum.
type Average interface {
	// Uses returns an error if the average is not defined for the likelihood. The error names an
	// average that is.
	Uses(likelihood.Likelihood) error
	// Predict sets row i of dst, m×C, to the class probabilities of the i-th case of z. They do not
	// depend on the other cases of z.
	Predict(dst *mat.Dense, p *Point, z *kernel.Inputs)
}

// PredictProba sets row i of dst, m×C, to the class probabilities of the i-th case of z. Rows sum
// to 1. For two classes column 0 is y = -1 and column 1 is y = +1. a.Uses must accept the
// likelihood.
func (p *Point) PredictProba(dst *mat.Dense, z *kernel.Inputs, a Average) {
	if r, c := dst.Dims(); r != z.N() || c != p.objective.data.Y.Classes {
		panic(fmt.Sprintf("objective: dst is %d×%d, want %d×%d", r, c, z.N(), p.objective.data.Y.Classes))
	}
	batches(z, func(first int, z *kernel.Inputs) {
		a.Predict(dst.Slice(first, first+z.N(), 0, p.objective.data.Y.Classes).(*mat.Dense), p, z)
	})
}

// Averaged is E[p(y|f)] under the posterior of f, GPML (3.25) and 3.5.2, without random numbers.
type Averaged struct{}

// Uses accepts every likelihood.
func (Averaged) Uses(likelihood.Likelihood) error { return nil }

func (Averaged) Predict(dst *mat.Dense, p *Point, z *kernel.Inputs) {
	cross, diag, mean := p.priors(z)
	p.Posterior.PredictProba(dst, cross, diag, mean)
}

// MAP is p(y|E[f]), GPML 3.4.2. For two classes it makes the same decisions as the average, with
// another confidence. For more classes the decisions can differ too.
type MAP struct{}

// Uses accepts likelihoods of classes.
func (MAP) Uses(lik likelihood.Likelihood) error { return ofClasses("map", lik) }

func (MAP) Predict(dst *mat.Dense, p *Point, z *kernel.Inputs) {
	p.plugIn(dst, z, func(float64) float64 { return 1 })
}

// ofClasses returns an error if the likelihood is one for numeric labels, for which an average of
// class probabilities is not defined.
func ofClasses(name string, lik likelihood.Likelihood) error {
	if lik.Domain() == likelihood.Numeric {
		return fmt.Errorf("%s is an average of class probabilities, and %s is for numeric labels; use "+
			"averaged", name, nameOf(lik))
	}
	return nil
}

// nameOf is the name of a likelihood in its table, or else its type.
func nameOf(l likelihood.Likelihood) string {
	return cmp.Or(likelihood.Table.NameOf(l), fmt.Sprintf("%T", l))
}

// MacKay is p(y|κE[f]) with κ = (1 + πv/8)^-½ and v the variance of f (MacKay 1992): the average of
// the logistic function, approximately. Probit needs no approximation, because its average has a
// closed form. For softmax every class has the κ of its own variance. The error of this
// approximation has no bound: correlations are ignored, and unlike the average it changes if the
// same number is added to all f.
type MacKay struct{}

// Uses accepts logit and softmax.
func (MacKay) Uses(lik likelihood.Likelihood) error {
	for _, l := range likelihood.Alternatives(lik) {
		switch l.(type) {
		case likelihood.Logit, likelihood.Softmax:
		default:
			return fmt.Errorf("%s has no MacKay form, which approximates the average of the logistic function; "+
				"use averaged", nameOf(l))
		}
	}
	return nil
}

func (MacKay) Predict(dst *mat.Dense, p *Point, z *kernel.Inputs) {
	p.plugIn(dst, z, func(v float64) float64 { return 1 / math.Sqrt(1+math.Pi/8*v) })
}

// plugIn predicts p(y|κ(v)·m) for latent means m and variances v.
func (p *Point) plugIn(dst *mat.Dense, z *kernel.Inputs, kappa func(v float64) float64) {
	means, variances := p.Latents(z)
	f, squash := make([]float64, len(means)), squash(p.lik, p.objective.data.Y.Classes)
	dst.Zero()
	for i := range z.N() {
		for c := range f {
			f[c] = kappa(variances[c][i]) * means[c][i]
		}
		squash(dst.RawRowView(i), f)
	}
	normalise(dst)
}

// squash returns a function that adds the class probabilities p(y|f) to sum: the softmax of all
// latent values, or each class against the rest.
func squash(bound likelihood.Bound, classes int) func(sum, f []float64) {
	if lik, ok := bound.(likelihood.Multinomial); ok {
		pi, g := make([]float64, classes), make([]float64, classes)
		return func(sum, f []float64) {
			lik.Probabilities(pi, g, f, 0)
			floats.Add(sum, pi)
		}
	}
	if lik, ok := bound.(likelihood.Polytomous); ok {
		pi, certain := make([]float64, classes), mat.NewSymDense(classes, nil)
		return func(sum, f []float64) {
			lik.Average(pi, f, certain, 0)
			floats.Add(sum, pi)
		}
	}
	lik := bound.(likelihood.MomentMatcher)
	add := func(sum *float64, y, f float64) {
		logp, _ := lik.Moments(y, f, 0)
		*sum += math.Exp(logp)
	}
	return func(sum, f []float64) {
		if len(f) == 1 {
			for c, y := range likelihood.Labels(classes) {
				add(&sum[c], y, f[0])
			}
			return
		}
		for c, v := range f {
			add(&sum[c], 1, v)
		}
	}
}

// normalise divides every row by its sum.
func normalise(dst *mat.Dense) {
	rows, classes := dst.Dims()
	for i := range rows {
		row := dst.RawRowView(i)
		sum := linalg.Sum(row)
		for c := range row {
			if row[c] /= sum; sum == 0 { // all probabilities underflow to 0: take equal ones
				row[c] = 1 / float64(classes)
			}
		}
	}
}
