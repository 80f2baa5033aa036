package illustrate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/record"
)

func modelOf(t *testing.T, kernel, likelihood, inference string) declared.Model {
	t.Helper()
	found := strictyaml.NewFindings("")
	m := declared.ReadModel(found, declared.Texts{Kernel: kernel, Mean: "zero", Likelihood: likelihood, Inference: inference,
		Classes: "joint"}, "", inference != "")
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return m
}

// Every limit of an option is allowed, and a value beyond it is a mistake in that option.
func TestLimitsOfIllustrations(t *testing.T) {
	se := func(likelihood string) declared.Model { return modelOf(t, "se", likelihood, "") }
	fit := func(likelihood, inference string) declared.Model { return modelOf(t, "se", likelihood, inference) }
	five := places{0, 1, 5}
	square := func(a, b, c float64) [][]float64 { return [][]float64{{a, b}, {b, c}} }
	two := []float64{1, -1}
	deviations := func(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }
	for _, c := range []struct {
		of   Illustration
		m    declared.Model
		want string // the option; "": none
	}{
		{priorIllustration{five, 1, nil}, se("probit"), ""}, {priorIllustration{five, 100, nil}, se("probit"), ""},
		{priorIllustration{five, 0, nil}, se("probit"), "draws"}, {priorIllustration{five, 101, nil}, se("probit"), "draws"},
		{priorIllustration{places{0, 1, 2000}, 1, nil}, se("probit"), ""},
		{priorIllustration{places{0, 1, 2001}, 1, nil}, se("probit"), "inputs"},
		{priorIllustration{places{0, 1, 2}, 1, nil}, se("probit"), ""},
		{priorIllustration{places{0, 1, 1}, 1, nil}, se("probit"), "inputs"},
		{priorIllustration{places{1, 1, 5}, 1, nil}, se("probit"), "inputs"},
		{priorIllustration{places{-5e299, 5e299, 5}, 1, nil}, se("probit"), ""},
		{priorIllustration{places{-6e299, 5e299, 5}, 1, nil}, se("probit"), "inputs"},
		{priorIllustration{five, 1, nil}, se("softmax"), "classes"},
		{priorIllustration{five, 1, []string{"a"}}, se("softmax"), "classes"},
		{priorIllustration{five, 1, []string{"a", "b"}}, se("softmax"), ""},
		{priorIllustration{five, 1, []string{"a", "b"}}, se("probit"), "classes"},
		{priorIllustration{five, 1, []string{"a", "b", "c"}}, se("ordinal"), ""},
		{priorIllustration{five, 1, slices.Repeat([]string{"a"}, 100)}, se("softmax"), ""},
		{priorIllustration{five, 1, slices.Repeat([]string{"a"}, 101)}, se("softmax"), "classes"},
		{priorIllustration{five, 1, nil}, modelOf(t, "{per_class: se}", "probit", ""), "kernel"},
		{priorIllustration{five, 1, nil}, modelOf(t, "{active: {dims: [2], kernel: se}}", "probit", ""), "kernel"},
		{surfaceIllustration{places{0, 1, 41}, 1}, se("probit"), ""},
		{surfaceIllustration{places{0, 1, 42}, 1}, se("probit"), "inputs"},
		{surfaceIllustration{five, 0}, se("probit"), "draws"}, {surfaceIllustration{five, 1}, se("softmax"), "likelihood"},
		{surfaceIllustration{five, 1}, modelOf(t, "{active: {dims: [2], kernel: se}}", "gaussian", ""), ""},
		{surfaceIllustration{five, 1}, modelOf(t, "{active: {dims: [3], kernel: se}}", "gaussian", ""), "kernel"},
		{targetsIllustration{five}, se("logit"), ""}, {targetsIllustration{five}, se("gaussian"), "likelihood"},
		{targetsIllustration{five}, se("softmax"), "likelihood"}, {targetsIllustration{places{1, 0, 5}}, se("logit"), "inputs"},
		{likelihoodIllustration{five, 1}, se("probit"), ""}, {likelihoodIllustration{five, -1}, se("probit"), ""},
		{likelihoodIllustration{five, 0}, se("probit"), "label"}, {likelihoodIllustration{five, 0.3}, se("gaussian"), ""},
		{likelihoodIllustration{five, 1}, se("softmax"), "likelihood"}, {likelihoodIllustration{five, 1}, se("ordinal"), "likelihood"},
		{likelihoodIllustration{places{0, 1, 2001}, 1}, se("probit"), "latent"},
		{softmaxIllustration{five, deviations(3, 0)}, se("softmax"), ""}, {softmaxIllustration{five, deviations(10, 1000)}, se("softmax"), ""},
		{softmaxIllustration{five, deviations(2, 1)}, se("softmax"), "deviations"},
		{softmaxIllustration{five, deviations(11, 1)}, se("softmax"), "deviations"},
		{softmaxIllustration{five, []float64{1, 1, -1}}, se("softmax"), "deviations"},
		{softmaxIllustration{five, []float64{1, 1001, 1}}, se("softmax"), "deviations"},
		{softmaxIllustration{five, deviations(3, 1)}, se("probit"), "likelihood"},
		{softmaxIllustration{five, deviations(3, 1)}, se("ordinal"), "likelihood"},
		{softmaxIllustration{five, deviations(3, 1)}, se("multinomial_probit"), "likelihood"},
		{softmaxIllustration{places{0, 1, 1}, deviations(3, 1)}, se("softmax"), "latent"},
		{cavityIllustration{square(1, 0.5, 1), two, five}, fit("probit", "ep"), ""},
		{cavityIllustration{square(1, 0.5, 1), two, five}, fit("probit", "laplace"), "inference"},
		{cavityIllustration{square(1, 0.5, 1), two, places{-1, 1, 5}}, fit("probit", "ep"), "precision"},
		{cavityIllustration{square(1, 0.5, 1), two, places{0, 1, 2001}}, fit("probit", "ep"), "precision"},
		{cavityIllustration{square(1, 2, 1), two, five}, fit("probit", "ep"), "covariance"},
		{posteriorIllustration{Labels: []float64{1}}, fit("probit", "ep"), ""},
		{posteriorIllustration{}, fit("probit", "ep"), "labels"},
		{posteriorIllustration{Labels: []float64{1, 1, 1}}, fit("probit", "ep"), "labels"},
		{posteriorIllustration{Labels: []float64{2}}, fit("probit", "ep"), "labels"},
		{posteriorIllustration{Labels: []float64{2}}, fit("gaussian", "exact"), ""},
		{posteriorIllustration{Labels: two}, fit("softmax", "laplace"), "likelihood"},
		{posteriorIllustration{Labels: two, Mean: []float64{1e6, -1e6}}, fit("probit", "ep"), ""},
		{posteriorIllustration{Labels: two, Mean: []float64{0, -1.1e6}}, fit("probit", "ep"), "mean"},
		{posteriorIllustration{Labels: two, Mean: []float64{0}}, fit("probit", "ep"), "mean"},
		{posteriorIllustration{Labels: two, Covariance: square(1e12, 0, 1e-12)}, fit("probit", "ep"), ""},
		{posteriorIllustration{Labels: two, Covariance: square(1e-12, 0, 1)}, fit("probit", "ep"), ""},
		{posteriorIllustration{Labels: two, Covariance: square(1.1e12, 0, 1)}, fit("probit", "ep"), "covariance"},
		{posteriorIllustration{Labels: two, Covariance: square(0.9e-12, 0, 1)}, fit("probit", "ep"), "covariance"},
		{posteriorIllustration{Labels: two, Covariance: square(1, 0, 0.9e-12)}, fit("probit", "ep"), "covariance"},
		{posteriorIllustration{Labels: two, Covariance: square(1, 1, 1)}, fit("probit", "ep"), "covariance"},
		{posteriorIllustration{Labels: two, Covariance: square(1, -0.999, 1)}, fit("probit", "ep"), ""},
		{posteriorIllustration{Labels: two, Covariance: [][]float64{{1, 0.5}, {0.4, 1}}}, fit("probit", "ep"), "covariance"},
		{posteriorIllustration{Labels: two, Covariance: [][]float64{{1, 0.5}, {0.5}}}, fit("probit", "ep"), "covariance"},
		{posteriorIllustration{Labels: two, Covariance: [][]float64{{1}}}, fit("probit", "ep"), "covariance"},
		{posteriorIllustration{Labels: two, Latent: places{0, 0, 201}}, fit("probit", "ep"), ""},
		{posteriorIllustration{Labels: two, Latent: places{0, 0, 202}}, fit("probit", "ep"), "latent"},
		{posteriorIllustration{Labels: two[:1], Latent: places{0, 0, 2000}}, fit("probit", "ep"), ""},
		{posteriorIllustration{Labels: two[:1], Latent: places{0, 0, 2001}}, fit("probit", "ep"), "latent"},
		{posteriorIllustration{Labels: two[:1], Latent: places{0, -1, 5}}, fit("probit", "ep"), "latent"},
		{posteriorIllustration{Labels: []float64{2}}, fit("gaussian", "variational"), ""},
		{posteriorIllustration{Labels: two}, modelOf(t, "se", "gaussian", "exact"), ""},
	} {
		var put []string
		c.of.Check(c.m, func(at string, err error) {
			if err == nil || err.Error() == "" {
				t.Errorf("%+v: %s without an error", c.of, at)
			}
			put = append(put, at)
		})
		if text := fmt.Sprintf("%+v", c.of); len(text) < 400 && strings.Join(put, ",") != c.want || len(put) > 0 != (c.want != "") {
			t.Errorf("%s with %s: %v, want %q", text[:min(len(text), 200)], c.m.Written.Likelihood, put, c.want)
		}
	}
}

// The points of an axis are as declared, or between the numbers that fit the density.
func TestAxisOfAPosterior(t *testing.T) {
	one, two := posteriorIllustration{Labels: []float64{1}}, posteriorIllustration{Labels: []float64{1, 1}}
	for _, c := range []struct {
		p      posteriorIllustration
		latent places
		want   places
	}{
		{one, places{}, places{-3, 4, 201}}, {two, places{}, places{-3, 4, 61}}, {one, places{Points: 7}, places{-3, 4, 7}},
		{two, places{0, 2, 0}, places{0, 2, 61}}, {two, places{-2, 0, 9}, places{-2, 0, 9}},
	} {
		c.p.Latent = c.latent
		at, err := c.p.on(-3, 4)
		if err != nil || len(at) != c.want.Points || at[0] != c.want.From || math.Abs(at[len(at)-1]-c.want.To) > 1e-12 {
			t.Errorf("%+v: %d points, %v", c.p, len(at), err)
		}
	}
}

// The bulk of a density has all of it above e^-60 of the maximum, and little more, however far from
// the prior mean that is: as far as the mean or a label.
func TestBulk(t *testing.T) {
	for _, c := range []struct{ mean, prior, label, centre, sd float64 }{
		{0, 1, 1, 0, 1}, {0, 1, 1, 3, 0.01}, {100, 4, 1, 250, 1}, {-5, 100, 1, 0, 1e-3}, {0, 1, 1, 30, 0.5},
		{1e6, 1, 1, 0, 1e-4}, {0, 100, 1, 3500, 2}, {0, 0.01, 1, -0.35, 1e-3}, {0, 0.01, 50, 50, 1e-3},
	} {
		p := latentPosterior{mean: []float64{c.mean, c.mean}, labels: []float64{c.label, -1},
			covariance: [][]float64{{c.prior * c.prior, 0}, {0, c.prior * c.prior}}}
		lo, hi := p.bulk(func(f float64) float64 { return -(f - c.centre) * (f - c.centre) / (2 * c.sd * c.sd) })
		reach := math.Sqrt(2*60) * c.sd
		if !(lo <= c.centre-reach && hi >= c.centre+reach && hi-lo <= 12*reach) {
			t.Errorf("%+v: from %v to %v, want about %v to %v", c, lo, hi, c.centre-reach, c.centre+reach)
		}
	}
}

// Drawn latent values and probabilities are named after the draw and, where there are several, the
// class; hyperparameters of a likelihood that is not shown are left out.
func TestNamesOfDraws(t *testing.T) {
	for _, c := range []struct {
		likelihood string
		classes    []string
		columns    string
	}{
		{"probit", nil, "x f1 f2 p1 p2"}, {"gaussian", nil, "x f1 f2"},
		{"softmax", []string{"a", "b"}, "x f1[a] f1[b] f2[a] f2[b] p1[a] p1[b] p2[a] p2[b]"},
		{"ordinal", []string{"a", "b", "c"}, "x f1 f2 p1[a] p1[b] p1[c] p2[a] p2[b] p2[c]"},
	} {
		m := modelOf(t, "se", c.likelihood, "")
		p := priorIllustration{places{0, 1, 4}, 2, c.classes}
		for _, shown := range []bool{true, false} {
			var i record.Illustration
			if shown {
				i = Of(p, m)
			}
			if err := p.Fill(t.Context(), &i, []declared.Model{m}, 3); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, column := range i.Columns {
				if names = append(names, column.Name); len(column.Values) != 4 {
					t.Errorf("%s: %d values", column.Name, len(column.Values))
				}
			}
			if got := strings.Join(names, " "); got != c.columns {
				t.Errorf("%s: %s, want %s", c.likelihood, got, c.columns)
			}
			for _, h := range i.Hyperparameters {
				if strings.HasPrefix(h.Name, "likelihood.") && !shown {
					t.Errorf("%s: %s", c.likelihood, h.Name)
				}
			}
			if n := len(i.Hyperparameters); n < 2 || c.likelihood == "gaussian" && (n == 3) != shown {
				t.Errorf("%s, shown %v: %+v", c.likelihood, shown, i.Hyperparameters)
			}
		}
	}
}

// Without options axes have a point at 0, where figures are symmetric, and there is one surface.
func TestIllustrationsWithoutOptions(t *testing.T) {
	for _, e := range Illustrations {
		of, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		axis := places{-1, 1, 3}
		switch of := of.(type) {
		case priorIllustration:
			axis = of.Inputs
		case surfaceIllustration:
			if axis = of.Inputs; of.Draws != 1 {
				t.Errorf("%d surfaces", of.Draws)
			}
		case targetsIllustration:
			axis = of.Inputs
		case likelihoodIllustration:
			axis = of.Latent
		case softmaxIllustration:
			axis = of.Latent
		}
		at, err := axis.on(maxPlaces)
		if err != nil || math.Abs(at[len(at)/2]) > 1e-12 || math.Abs(at[0]+at[len(at)-1]) > 1e-12 {
			t.Errorf("%s: %v, %v", e.Name, at, err)
		}
	}
}

// filled is the illustration of a model.
func filled(t *testing.T, of Illustration, m declared.Model) record.Illustration {
	t.Helper()
	var i record.Illustration
	if err := of.Fill(t.Context(), &i, []declared.Model{m}, 1); err != nil {
		t.Fatal(err)
	}
	return i
}

// A likelihood without derivatives is shown by its logarithm: right with probability 0.9, or never
// wrong.
func TestLikelihoodsWithoutDerivatives(t *testing.T) {
	for likelihood, want := range map[string][]float64{
		"{noisy_threshold: {epsilon: 0.1}}": {math.Log(0.1), math.Log(0.5), math.Log(0.9)},
		"step":                              {-math.MaxFloat64, math.Log(0.5), 0},
	} {
		i := filled(t, likelihoodIllustration{places{-1, 1, 3}, 1}, modelOf(t, "se", likelihood, ""))
		if got := i.Column("log_likelihood"); len(i.Columns) != 2 || !floats.EqualApprox(got, want, 1e-15) {
			t.Errorf("%s: %v in %d columns, want %v", likelihood, got, len(i.Columns), want)
		}
	}
}

// The prior of a posterior is standard normal unless it is given: with a label of noise variance
// 1/4, the posterior variance is 1/(1 + 4).
func TestPosteriorOfAStandardNormalPrior(t *testing.T) {
	i := filled(t, posteriorIllustration{Labels: []float64{1}}, modelOf(t, "se", "{gaussian: {noise: 0.5}}", "exact"))
	for what, c := range map[string][2]float64{
		"prior mean": {float64(i.Prior.Mean[0]), 0}, "prior variance": {float64(i.Prior.Covariance[0][0]), 1},
		"mean": {float64(i.Exact.Mean[0]), 0.8}, "variance": {float64(i.Exact.Covariance[0][0]), 0.2},
	} {
		if !(math.Abs(c[0]-c[1]) <= 1e-14) {
			t.Errorf("%s %v, want %v", what, c[0], c[1])
		}
	}
}

// If EP fails at a cavity, the record has that cavity. For the pair of García-Fernández et al. it
// is the cavity of the first value, -117.9, after the second update.
func TestFailedCavityIsRecorded(t *testing.T) {
	i := filled(t, posteriorIllustration{Labels: []float64{1, 1}, Mean: []float64{-0.5, -3},
		Covariance: [][]float64{{1, 0.8}, {0.8, 1}}}, modelOf(t, "se", "noisy_threshold", "{ep: {negative_sites: keep}}"))
	of := i.Approximations[0]
	if of.Cavity == nil || of.Gaussian != nil {
		t.Fatalf("%+v", of)
	}
	if c := *of.Cavity; c.Case != 0 || c.Iteration != 2 || math.Abs(float64(c.Variance)+117.9) > 0.05 {
		t.Errorf("%+v", c)
	}
}
