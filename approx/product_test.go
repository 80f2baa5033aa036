package approx_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// choice is an entry of a table with its name, and its default or other options.
type choice[T any] struct {
	name, options string
	value         T
}

func (c choice[T]) String() string { return strings.TrimSpace(c.name + " " + c.options) }

func allMethods(t *testing.T) (list []choice[approx.Approximation]) {
	options := map[string]map[string]approx.Approximation{
		"laplace": {"points": approx.Laplace{Points: 512}},
		"ep": {
			"parallel": approx.EP{Iteration: approx.Iteration{Schedule: approx.Parallel}}, "mixed": approx.EP{Iteration: approx.Iteration{Schedule: approx.Mixed}}, "damped": approx.EP{Iteration: approx.Iteration{Damping: 0.5}},
			"keep":        approx.EP{NegativeSites: approx.KeepNegative},
			"of order 10": approx.EP{Quadrature: approx.Quadrature{Order: 10}}, "parallel of order 12": approx.EP{Iteration: approx.Iteration{Schedule: approx.Parallel}, Quadrature: approx.Quadrature{Order: 12}},
			"posterior": approx.EP{Evidence: approx.PosteriorForm}, "of power a half": approx.EP{Alpha: 0.5}, "of power 0.2, keep": approx.EP{Alpha: 0.2, NegativeSites: approx.KeepNegative},
			"posterior of order 20": approx.EP{Evidence: approx.PosteriorForm, Quadrature: approx.Quadrature{Order: 20}},
		},
		"pl": {
			"parallel": approx.PL{Iteration: approx.Iteration{Schedule: approx.Parallel}}, "mixed": approx.PL{Iteration: approx.Iteration{Schedule: approx.Mixed}}, "damped": approx.PL{Iteration: approx.Iteration{Damping: 0.5}},
			"of order 10": approx.PL{Quadrature: approx.Quadrature{Order: 10}}, "posterior of order 12": approx.PL{Evidence: approx.PosteriorForm, Quadrature: approx.Quadrature{Order: 12}},
			"posterior": approx.PL{Evidence: approx.PosteriorForm}, "parallel posterior": approx.PL{Iteration: approx.Iteration{Schedule: approx.Parallel}, Evidence: approx.PosteriorForm},
		},
		"online":   {"in order": approx.Online{OrderSeed: approx.OrderSeed{Unchanged: true}}, "twice": approx.Online{Sweeps: 2}},
		"sampling": {"short": approx.Sampling{Chains: 8, Temperatures: 250, Samples: 4}},
	}
	for _, e := range approx.Table {
		method, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		if e.Name != "sampling" { // its defaults take long
			list = append(list, choice[approx.Approximation]{e.Name, "", method})
		}
		for name, m := range options[e.Name] {
			list = append(list, choice[approx.Approximation]{e.Name, name, m})
		}
	}
	slices.SortFunc(list, func(a, b choice[approx.Approximation]) int { return strings.Compare(a.String(), b.String()) })
	return list
}

func allLikelihoods(t *testing.T) (list []choice[likelihood.Likelihood]) {
	for _, e := range likelihood.Table {
		lik, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, choice[likelihood.Likelihood]{e.Name, "", lik})
	}
	epsilon, noise := 0.05, 0.6
	threshold := likelihood.NoisyThreshold{Epsilon: param.Setting{Init: &epsilon}}
	return append(list,
		choice[likelihood.Likelihood]{"noisy_threshold", "free", threshold},
		choice[likelihood.Likelihood]{"choice", "of one that is free", likelihood.Choice{{Kind: "logit", Likelihood: likelihood.Logit{}}, {Kind: "noisy_threshold", Likelihood: threshold}}},
		choice[likelihood.Likelihood]{"gaussian", "free", likelihood.Gaussian{Noise: param.Setting{Init: &noise}}})
}

// TestEveryPair: every likelihood with every method and its options, on numbers and on two or three classes, jointly
// and one against the rest, with one kernel or one per class. Each is either refused with a suggestion that works, or
// it fits and has the capabilities that it declares.
func TestEveryPair(t *testing.T) {
	methods, likelihoods := allMethods(t), allLikelihoods(t)
	fitted, refused, gradients := 0, 0, 0
	for i, m := range methods {
		for k, l := range likelihoods {
			for _, classes := range []int{0, 2, 3} {
				for _, rest := range []bool{false, true} {
					if !exhaustive.Tries(7, i, k, classes, map[bool]int{true: 1}[rest]) {
						continue
					}
					method := m.value
					where := fmt.Sprintf("%s with %s on %d classes", m, l, classes)
					if rest {
						method, where = approx.OneVsRest{Binary: m.value}, where+", one against the rest"
					}
					lik := likelihood.On(l.value, classes)
					caps, err := approx.Uses(method, lik, classes)
					if err != nil {
						refused++
						if !(situation{m, l, classes, rest}).leads(err, methods, likelihoods, 2) {
							t.Errorf("%s: no way out in %q", where, err)
						}
						continue
					}
					for _, shared := range []bool{true, false} {
						if !shared && (classes != 3 || lik.Domain() == likelihood.Ordered) {
							continue
						}
						t.Run(where+fmt.Sprintf(", shared %v", shared), func(t *testing.T) {
							fitted++
							if caps.Gradient {
								gradients++
							}
							every(t, method, lik, caps, classes, shared, []float64{-0.2, 0.4, 0.3})
							if !rest && fitted%2 == 0 {
								every(t, method, lik, caps, classes, shared, []float64{0.8, 2.2, -0.3})
							}
						})
					}
				}
			}
		}
	}
	t.Logf("%d combinations fit, %d of them with a gradient; %d are refused", fitted, gradients, refused)
}

// situation is a combination that a user may ask for.
type situation struct {
	method  choice[approx.Approximation]
	lik     choice[likelihood.Likelihood]
	classes int
	rest    bool // each class against the rest
}

func (s situation) uses() error {
	method := s.method.value
	if s.rest {
		method = approx.OneVsRest{Binary: method}
	}
	_, err := approx.Uses(method, s.lik.value, s.classes)
	return err
}

func (s situation) String() string { return fmt.Sprint(s.method, s.lik, s.classes, s.rest) }

// leads reports whether following the suggestions of at most refusals refusals in turn, the given one first, leads to
// a supported combination.
func (s situation) leads(refusal error, methods []choice[approx.Approximation], likelihoods []choice[likelihood.Likelihood], refusals int) bool {
	if refusal == nil || refusals == 0 {
		return refusal == nil
	}
	_, advice, _ := strings.Cut(refusal.Error(), "; ")
	words := strings.FieldsFunc(advice, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') })
	named := func(name string) bool { return slices.Contains(words, name) }
	for _, method := range methods {
		for _, lik := range likelihoods {
			for _, rest := range []bool{s.rest && !named("joint"), s.rest || named("one_vs_rest")} {
				for _, classes := range []int{s.classes, 2} {
					next := situation{method, lik, classes, rest}
					if (method.String() == s.method.String() || named(method.name)) && (lik.String() == s.lik.String() || named(lik.name)) &&
						(classes == s.classes || named("above")) && next.String() != s.String() && next.leads(next.uses(), methods, likelihoods, refusals-1) {
						return true
					}
				}
			}
		}
	}
	return false
}

// negative reports whether the error is the one that negative_sites: keep can cause.
func negative(err error) bool {
	return err != nil && strings.Contains(err.Error(), "use negative_sites: floor")
}

// every fits a small problem at log l, log sf and the slope of the mean, and compares the fit with its declared
// capabilities.
func every(t *testing.T, method approx.Approximation, lik likelihood.Likelihood, caps approx.Caps, classes int, shared bool, theta []float64) {
	const n, h = 8, 2e-5
	x, labels := twoClasses(n, 11)
	y := approx.Targets{Classes: classes, Value: labels}
	if classes == 3 {
		_, index := planeClasses(n, 11)
		y = approx.Targets{Classes: 3, Index: index}
	}
	for i := range n {
		if classes == 0 {
			labels[i] += math.Sin(2 * x[i][0])
		}
	}
	theta = slices.Clone(theta)
	for _, s := range lik.Params() {
		theta = append(theta, s.Map.Theta(s.Init))
	}
	if c, is := lik.(likelihood.Choice); is {
		theta[3] = float64(len(c) - 1)
	}
	_, smooth := lik.At(theta[3:]).(likelihood.Differentiable)
	prior := func(theta []float64) (cov []approx.Cov, by [][]approx.Cov) {
		for c := range max(1, classes) {
			if c > 0 && (shared || classes < 3) {
				break
			}
			k, byLength, byAmp := seGram(x, theta[0]-0.2*float64(c), theta[1]+0.3*float64(c))
			mean, slope := make([]float64, n), make([]float64, n)
			for i := range n {
				slope[i] = x[i][0] * (1 - float64(c)/2)
				mean[i] = theta[2] * slope[i]
				if !smooth && classes != 3 || !smooth && lik.Domain() == likelihood.Binary {
					k.SetSym(i, i, k.At(i, i)+1)
				}
			}
			zero := mat.NewSymDense(n, nil)
			cov = append(cov, approx.Cov{K: k, Mean: mean})
			by = append(by, []approx.Cov{{K: byLength, Mean: make([]float64, n)}, {K: byAmp, Mean: make([]float64, n)}, {K: zero, Mean: slope}})
		}
		return cov, by
	}
	fit := func(theta []float64) approx.Posterior {
		cov, _ := prior(theta)
		post, err := method.Fit(context.Background(), cov, y, lik.At(theta[3:]), nil)
		if err != nil {
			t.Fatal(err)
		}
		if !post.Diagnostics().Converged {
			t.Fatalf("%+v", post.Diagnostics())
		}
		return post
	}
	cov, by := prior(theta)
	post, err := method.Fit(context.Background(), cov, y, lik.At(theta[3:]), nil)
	if negative(err) {
		return
	}
	if err != nil || !post.Diagnostics().Converged {
		t.Fatal(err, post)
	}
	again, err := method.Restore(cov, y, lik.At(theta[3:]), post.State())
	if err != nil || !slices.Equal(again.State(), post.State()) || again.Evidence().Value() != post.Evidence().Value() && !caps.NoEvidence {
		t.Errorf("restored: error %v", err)
	}

	var cross []*mat.Dense
	var diag, means [][]float64
	for _, c := range cov {
		cross, diag, means = append(cross, mat.DenseCopyOf(c.K)), append(diag, diagonal(c.K)), append(means, c.Mean)
	}
	latent, variance := make([]float64, n), make([]float64, n)
	post.Latent(latent, variance, cross[0], diag[0], 0)
	if !(slices.Min(variance) >= 0) || math.IsNaN(floats.Sum(latent)) {
		t.Errorf("latent N(%v, %v)", latent, variance)
	}
	if classes > 0 {
		proba := mat.NewDense(n, classes, nil)
		post.PredictProba(proba, cross, diag, means)
		for i := range n {
			if row := proba.RawRowView(i); !(slices.Min(row) >= 0 && math.Abs(floats.Sum(row)-1) <= 1e-14) {
				t.Errorf("probabilities %v", row)
			}
		}
	}

	leaveOneOut := func(p approx.Posterior) approx.Functional {
		f, err := p.(approx.LeaveOneOut).LeaveOneOut()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	evidence := approx.Posterior.Evidence
	for name, f := range map[string]struct {
		of              func(approx.Posterior) approx.Functional
		there, gradient bool
	}{"evidence": {evidence, !caps.NoEvidence, caps.Gradient}, "leave-one-out": {leaveOneOut, caps.LeaveOneOut, caps.LeaveOneOutGradient}} {
		if !f.there {
			continue
		}
		value := f.of(post).Value()
		if math.IsNaN(value) || math.IsInf(value, 0) {
			t.Errorf("%s: %v", name, value)
		}
		got := make([]float64, len(theta))
		g := approx.Cov{K: mat.NewSymDense(n, nil), Mean: make([]float64, n)}
		if !f.gradient {
			if err := f.of(post).Adjoint(&g, 0); err == nil && f.of(post).Likelihood(likelihood.Own(lik, theta[3:], make([]float64, len(theta)-3))) == nil {
				t.Errorf("%s has a gradient that nobody spoke of", name)
			} else if err != nil && !errors.Is(err, approx.ErrNoGradient) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		for j := range cov {
			err := f.of(post).Adjoint(&g, j)
			if negative(err) {
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i, d := range by[j] {
				got[i] += along(g.K, d.K) + dot(g.Mean, d.Mean)
			}
		}
		if err := f.of(post).Likelihood(likelihood.Own(lik, theta[3:], got[3:])); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := make([]float64, len(theta))
		scale := max(1, math.Abs(value))
		for i := range theta {
			at := func(h float64) float64 {
				moved := slices.Clone(theta)
				moved[i] += h
				return f.of(fit(moved)).Value()
			}
			want[i] = (at(h) - at(-h)) / (2 * h)
			scale = max(scale, math.Abs(want[i]))
		}
		if !floats.EqualApprox(got, want, 1e-6*scale) {
			t.Errorf("%s: gradient %.9g, differences give %.9g", name, got, want)
		}
	}
}
