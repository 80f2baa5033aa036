package likelihood_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
)

var threshold = likelihood.NoisyThreshold{Epsilon: param.Setting{Init: &[]float64{0.1}[0]}}

func among(all ...likelihood.Likelihood) (c likelihood.Choice) {
	for _, l := range all {
		c = append(c, likelihood.Named{Kind: likelihood.Table.NameOf(l), Likelihood: l})
	}
	return c
}

// The choice stands first, and each likelihood's parameters are conditional on it, also inside another choice.
func TestNamesOfAChoice(t *testing.T) {
	var got []string
	for _, p := range among(likelihood.Probit{}, threshold, among(threshold, likelihood.Logit{})).Params() {
		text := p.ThetaName()
		if p.Choices != nil {
			text += " of " + strings.Join(p.Choices, " ")
		}
		if p.When != nil {
			text += fmt.Sprintf(" when %s is %v", p.When.Name, p.When.Values)
		}
		got = append(got, text)
	}
	want := []string{
		"choice of 1.probit 2.noisy_threshold 3.choice",
		"2.noisy_threshold.logit_epsilon when choice is [1]",
		"3.choice.choice of 1.noisy_threshold 2.logit when choice is [2]",
		"3.choice.1.noisy_threshold.logit_epsilon when 3.choice.choice is [0]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A choice binds the chosen likelihood with its part of theta, and Own finds that part.
func TestChoiceIsTheChosenLikelihood(t *testing.T) {
	c := among(threshold, likelihood.Probit{}, among(likelihood.Logit{}, threshold))
	for _, of := range []struct {
		theta []float64
		want  likelihood.Bound
		own   []float64
	}{
		{[]float64{0, -3, 0, -1}, threshold.At([]float64{-3}), []float64{11}},
		{[]float64{1, -3, 0, -1}, likelihood.Probit{}.At(nil), []float64{}},
		{[]float64{2, -3, 0, -1}, likelihood.Logit{}.At(nil), []float64{}},
		{[]float64{2, -3, 1, -1}, threshold.At([]float64{-1}), []float64{13}},
		{[]float64{9, -3, 1.4, -1}, threshold.At([]float64{-1}), []float64{13}}, // the nearest
	} {
		got := c.At(of.theta)
		if got.Likelihood() != of.want.Likelihood() {
			t.Errorf("%v binds %T, want %T", of.theta, got.Likelihood(), of.want.Likelihood())
		}
		for _, f := range []float64{-2, 0.3} {
			a, b := got.(likelihood.MomentMatcher).LogProb(1, f), of.want.(likelihood.MomentMatcher).LogProb(1, f)
			if a != b {
				t.Errorf("%v: log p(1|%v) = %v, want %v", of.theta, f, a, b)
			}
		}
		if own := likelihood.Own(c, of.theta, []float64{10, 11, 12, 13}); !slices.Equal(own, of.own) {
			t.Errorf("%v: own part %v, want %v", of.theta, own, of.own)
		}
	}
	if n := len(likelihood.Alternatives(c)); n != 4 {
		t.Errorf("%d alternatives, want 4", n)
	}
}

// On sizes the likelihoods of a choice.
func TestChoiceOfClassesInOrder(t *testing.T) {
	logit := likelihood.Ordinal{Link: likelihood.LogitLink}
	on := likelihood.On(among(likelihood.Ordinal{}, logit), 5)
	want := 1 + len(likelihood.On(likelihood.Ordinal{}, 5).Params()) + len(likelihood.On(logit, 5).Params())
	if got := len(on.Params()); got != want || on.Domain() != likelihood.Ordered {
		t.Errorf("%d parameters, want %d", got, want)
	}
}

// A choice of one likelihood, and of likelihoods of different targets, are refused.
func TestChoiceRefuses(t *testing.T) {
	for _, c := range []struct {
		l    likelihood.Likelihood
		want string
	}{
		{among(likelihood.Probit{}), "2 to 100 likelihoods"}, {likelihood.Choice{}, "found 0"},
		{among(likelihood.Probit{}, likelihood.Logit{}, likelihood.Gaussian{}), "likelihood 3, gaussian, is of other targets"},
	} {
		if err := likelihood.Check(c.l); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Error(err)
		}
	}
	if err := likelihood.Check(among(likelihood.Probit{}, threshold)); err != nil {
		t.Error(err)
	}
}
