package param

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// density is a prior with its log density in natural units, from gonum.
type density struct {
	prior Prior
	logp  func(v float64) float64
}

// halved folds a symmetric density at 0.
func halved(logp func(v float64) float64) func(v float64) float64 {
	return func(v float64) float64 { return math.Ln2 + logp(v) }
}

var densities = []density{
	{LogNormal{Normal{0.7, 0.4}}, distuv.LogNormal{Mu: 0.7, Sigma: 0.4}.LogProb},
	{LogNormal{Normal{-2, 3}}, distuv.LogNormal{Mu: -2, Sigma: 3}.LogProb},
	{HalfNormal{2.5}, halved(distuv.Normal{Sigma: 2.5}.LogProb)},
	{HalfT{0.8, 1}, halved(distuv.StudentsT{Sigma: 0.8, Nu: 1}.LogProb)},
	{HalfT{3, 4.5}, halved(distuv.StudentsT{Sigma: 3, Nu: 4.5}.LogProb)},
	{Gamma{0.6, 2}, distuv.Gamma{Alpha: 0.6, Beta: 2}.LogProb},
	{Gamma{5, 0.1}, distuv.Gamma{Alpha: 5, Beta: 0.1}.LogProb},
	{InverseGamma{0.9, 3}, distuv.InverseGamma{Alpha: 0.9, Beta: 3}.LogProb},
	{InverseGamma{6, 0.2}, distuv.InverseGamma{Alpha: 6, Beta: 0.2}.LogProb},
	{Normal{-1, 2}, distuv.Normal{Mu: -1, Sigma: 2}.LogProb},
	{Beta{1.5, 30}, distuv.Beta{Alpha: 1.5, Beta: 30}.LogProb},
	{Beta{0.7, 0.4}, distuv.Beta{Alpha: 0.7, Beta: 0.4}.LogProb},
}

func TestEveryPriorIsTested(t *testing.T) {
	for _, e := range Priors {
		p, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, d := range densities {
			found = found || reflect.TypeOf(d.prior) == reflect.TypeOf(p)
		}
		if !found {
			t.Errorf("no density to hold %s to", e.Name)
		}
	}
}

// The density over theta is the density in natural units times the derivative of the transform.
func TestPriorDensityCarriesTheJacobian(t *testing.T) {
	const h = 1e-5
	for _, d := range densities {
		m := d.prior.Transform()
		for theta := -6.0; theta <= 6; theta += 0.5 {
			jacobian := (m.Natural(theta+h) - m.Natural(theta-h)) / (2 * h)
			want := d.logp(m.Natural(theta)) + math.Log(jacobian)
			if got, _ := d.prior.LogDensity(theta); !(math.Abs(got-want) <= 1e-8*max(1, math.Abs(want))) {
				t.Errorf("%#v at theta %v: log density %.12g, want %.12g", d.prior, theta, got, want)
			}
		}
	}
}

func TestPriorSlopes(t *testing.T) {
	const h = 1e-4
	for _, d := range densities {
		for theta := -12.0; theta <= 12; theta += 0.75 {
			up, _ := d.prior.LogDensity(theta + h)
			down, _ := d.prior.LogDensity(theta - h)
			value, got := d.prior.LogDensity(theta)
			if want := (up - down) / (2 * h); !(math.Abs(got-want) <= 1e-6*max(1, math.Abs(got), math.Abs(value))) {
				t.Errorf("%#v at theta %v: slope %v, differences give %v", d.prior, theta, got, want)
			}
		}
	}
}

func TestPriorsIntegrateToOneOverTheta(t *testing.T) {
	for _, d := range densities {
		total := 0.0
		for a := -60.0; a < 60; a++ {
			total += quad.Fixed(func(theta float64) float64 {
				value, _ := d.prior.LogDensity(theta)
				return math.Exp(value)
			}, a, a+1, 20, nil, 0)
		}
		if math.Abs(total-1) > 1e-9 {
			t.Errorf("%#v: the density integrates to %.12g", d.prior, total)
		}
	}
}

func TestPriorSpreads(t *testing.T) {
	for _, d := range densities {
		var moments [3]float64
		for a := -80.0; a < 80; a++ {
			for k := range moments {
				moments[k] += quad.Fixed(func(theta float64) float64 {
					value, _ := d.prior.LogDensity(theta)
					return math.Pow(theta, float64(k)) * math.Exp(value)
				}, a, a+1, 20, nil, 0)
			}
		}
		want := math.Sqrt(moments[2] - moments[1]*moments[1])
		if got := d.prior.Spread(); !(math.Abs(got-want) <= 1e-9*want) {
			t.Errorf("%#v: spread %.12g, want %.12g", d.prior, got, want)
		}
	}
}

func TestProper(t *testing.T) {
	given := Setting{Prior: Gamma{2, 1}}.Spec("given", Log, 1)
	err := Proper([]Spec{given, Setting{}.Spec("1.se.amplitude", Log, 3), Setting{}.Spec("rate", Logit, 0.1), Setting{}.Spec("constant", Identity, 0)})
	for i, want := range []string{
		"1.se.amplitude has no prior, and a flat one over 1.se.log_amplitude is improper; add for example {prior: {log_normal: ",
		"or hold it with {fixed: 3}", "logit_rate is improper; add for example {prior: {beta: ", "constant is improper; add for example {prior: {normal: ",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: error %v, want %q", i, err, want)
		}
	}
	if err := Proper([]Spec{given}); err != nil {
		t.Error(err)
	}
}

func TestPriorsFarOutAreNoNaN(t *testing.T) {
	for _, d := range densities {
		for _, theta := range []float64{-700, -40, 40, 700} {
			if value, slope := d.prior.LogDensity(theta); math.IsNaN(value) || math.IsNaN(slope) || value > 0 {
				t.Errorf("%#v at theta %v: log density %v, slope %v", d.prior, theta, value, slope)
			}
		}
	}
}

func TestSettingChecksItsPrior(t *testing.T) {
	v := 0.5
	for _, c := range []struct {
		setting Setting
		m       Transform
		says    string // "": valid
	}{
		{Setting{Prior: LogNormal{Normal{SD: 1}}}, Log, ""},
		{Setting{Prior: Beta{1, 9}, Init: &v}, Logit, ""},
		{Setting{Prior: Normal{SD: 1}}, Identity, ""},
		{Setting{Prior: LogNormal{Normal{Mean: 1}}}, Log, "sd = 0 must be greater than 0"},
		{Setting{Prior: HalfT{Scale: 1, DegreesOfFreedom: math.NaN()}}, Log, "degrees_of_freedom = NaN"},
		{Setting{Prior: InverseGamma{Shape: -1}}, Log, "shape = -1 must be greater than 0; scale = 0"},
		{Setting{Prior: HalfNormal{1}}, Identity, "finite: normal"},
		{Setting{Prior: Normal{SD: 1}}, Log, "greater than 0: log_normal, half_normal, half_t, gamma, inverse_gamma"},
		{Setting{Prior: Gamma{1, 1}}, Logit, "between 0 and 1: beta"},
		{Setting{Prior: Gamma{1, 1}, Fixed: &v}, Log, "a prior and fixed"},
	} {
		err := c.setting.Check("amplitude", c.m)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%#v: error %v, want %q", c.setting.Prior, err, c.says)
		}
	}
}

func TestAPriorFreesAHeldParameter(t *testing.T) {
	if s := (Setting{Prior: Beta{1, 9}}).HeldSpec("epsilon", Logit, 0.01); s.Fixed || s.Prior != (Beta{1, 9}) || s.Init != 0.01 {
		t.Errorf("%+v", s)
	}
}

type mine struct{ LogNormal }

// A prior of another program is found by its name.
func TestRegister(t *testing.T) {
	before := Priors
	t.Cleanup(func() { Priors = before })
	Register("mine", "the log-normal one, once more", 1, mine{LogNormal{Normal{Mean: 2, SD: 3}}})
	if p, is := Priors.Default("mine").(mine); !is || p.Mean != 2 || p.SD != 3 {
		t.Errorf("%+v", p)
	}
}
