package likelihood

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// Choice is one of several likelihoods, and which one is a hyperparameter too, the first: a
// param.Choice with the name "choice" and a value for every likelihood, its position and kind
// ("2.logit"). After it come the likelihoods' own ("1.noisy_threshold.epsilon"), each under the
// condition that its likelihood is chosen. Every theta binds the nearest, so that the derivative by
// the choice is 0. Their probabilities are of the same targets, so that evidences compare.
type Choice []Named

// Named is a likelihood of a Choice, with its name in Table, which becomes part of the names of its
// parameters.
type Named struct {
	Kind       string
	Likelihood Likelihood
}

// maxChoices limits the likelihoods of a choice.
const maxChoices = 100

func (c Choice) checkOptions() error {
	if n := len(c); n < 2 || n > maxChoices {
		return fmt.Errorf("choice needs a list of 2 to %d likelihoods, as in {choice: [probit, logit]}; found %d",
			maxChoices, n)
	}
	for i, n := range c {
		if n.Likelihood.Domain() != c.Domain() {
			return fmt.Errorf("choice: likelihood %d, %s, is of other targets than the first, %s; all are of two "+
				"classes, of several, of classes in order, or of numbers", i+1, n.Kind, c[0].Kind)
		}
	}
	return nil
}

// Domain implements Likelihood. All likelihoods of a Choice have the same domain.
func (c Choice) Domain() Domain {
	for _, n := range c {
		if n.Likelihood != nil {
			return n.Likelihood.Domain()
		}
	}
	return Binary
}

// On implements Sized.
func (c Choice) On(classes int) Likelihood {
	out := make(Choice, len(c))
	for i, n := range c {
		out[i] = Named{n.Kind, On(n.Likelihood, classes)}
	}
	return out
}

// Params implements Likelihood.
func (c Choice) Params() []param.Spec {
	var kinds []string
	for _, n := range c {
		kinds = append(kinds, n.Kind)
	}
	return param.OneOf(kinds, func(i int, value string) (own []param.Spec) {
		for _, s := range c[i].Likelihood.Params() {
			own = append(own, s.Within(value+"."))
		}
		return own
	})
}

// At implements Likelihood: it binds the one that is chosen.
func (c Choice) At(theta []float64) Bound {
	l, from := c.chosen(theta)
	return l.At(theta[from:][:len(l.Params())])
}

// chosen is the likelihood that theta chooses, and where its part of theta begins.
func (c Choice) chosen(theta []float64) (l Likelihood, from int) {
	i, from := param.Chosen(theta, len(c), func(i int) int { return len(c[i].Likelihood.Params()) })
	return c[i].Likelihood, from
}

// Own is the part of v, ordered like theta, that belongs to the likelihood that theta binds. If l
// is not a Choice, that is all of v.
func Own(l Likelihood, theta, v []float64) []float64 {
	c, is := l.(Choice)
	if !is {
		return v
	}
	l, from := c.chosen(theta)
	return Own(l, theta[from:], v[from:][:len(l.Params())])
}

// Alternatives are the likelihoods that l can bind. If l is not a Choice, that is l alone.
func Alternatives(l Likelihood) (all []Likelihood) {
	c, is := l.(Choice)
	if !is {
		return []Likelihood{l}
	}
	for _, n := range c {
		all = append(all, Alternatives(n.Likelihood)...)
	}
	return all
}
