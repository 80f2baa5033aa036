package param

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"gonum.org/v1/gonum/mathext"

	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Prior is a prior distribution of one hyperparameter. p(v) is the density of the value v in
// natural units. The density of theta is p(v) |dv/dθ|, and a mode is the maximum of this density.
// Its parameters are its fields, and each but a mean must be greater than 0.
type Prior interface {
	// Transform is the transform of the hyperparameters that the prior is for: Log for numbers
	// greater than 0, Logit for numbers between 0 and 1, Identity for any number.
	Transform() Transform
	// LogDensity returns log p(v(θ)) + log |dv/dθ| and its derivative with respect to θ.
	LogDensity(theta float64) (value, slope float64)
	// Spread returns the standard deviation of θ.
	Spread() float64
}

// Table is an ordered list of components of one kind, with their names in a YAML file. gpc-tune
// list prints it. Components of other programs come in by Register of their package.
type Table[C any] = registry.Table[C]

// Entry is a component of a Table, and Decode is the function that fills its options.
type (
	Entry[C any] = registry.Entry[C]
	Decode       = registry.Decode
)

// Priors lists the priors.
var Priors = registry.Table[Prior]{
	registry.Of[LogNormal, Prior]("log_normal",
		"{mean: 0, sd: 1}: ln v is normal with this mean and standard deviation"),
	registry.Of[HalfNormal, Prior]("half_normal", "{scale: 1}: p(v) ∝ exp(-½ v²/scale²), v > 0"),
	registry.Of[HalfT, Prior]("half_t", "{scale: 1, degrees_of_freedom: 4}: "+
		"p(v) ∝ (1 + (v/scale)²/ν)^-(ν+1)/2, v > 0; ν = 1 is the half-Cauchy"),
	registry.Of[Gamma, Prior]("gamma", "{shape: 2, rate: 1}: p(v) ∝ v^(shape-1) exp(-rate v), v > 0"),
	registry.Of[InverseGamma, Prior]("inverse_gamma", "{shape: 2, scale: 1}: p(v) ∝ v^-(shape+1) exp(-scale/v), v > 0"),
	registry.Of[Normal, Prior]("normal", "{mean: 0, sd: 1}: for a constant mean"),
	registry.Of[Beta, Prior]("beta", "{a: 1, b: 9}: p(v) ∝ v^(a-1) (1-v)^(b-1), 0 < v < 1"),
}

// trigamma is the variance of ln v for v ~ Gamma{Shape: x}.
func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// logGamma is log Γ(x), x > 0.
func logGamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// Normal is N(v; Mean, SD²).
type Normal struct {
	Mean float64 `yaml:"mean"`
	SD   float64 `yaml:"sd"`
}

// Transform is Identity.
func (Normal) Transform() Transform { return Identity }

// LogDensity implements Prior.
func (p Normal) LogDensity(theta float64) (value, slope float64) {
	z := (theta - p.Mean) / p.SD
	return -z*z/2 - math.Log(2*math.Pi)/2 - math.Log(p.SD), -z / p.SD
}

// Spread implements Prior.
func (p Normal) Spread() float64 { return p.SD }

// LogNormal is the distribution of v for which ln v is normal with mean Mean and standard deviation
// SD. Over theta = ln v the mode is Mean.
type LogNormal struct {
	Normal `yaml:",inline"`
}

// Transform is Log.
func (LogNormal) Transform() Transform { return Log }

// HalfNormal is the normal density of standard deviation Scale around 0, for v > 0: 2 N(v; 0,
// Scale²).
type HalfNormal struct {
	Scale float64 `yaml:"scale"`
}

// Transform is Log.
func (HalfNormal) Transform() Transform { return Log }

// LogDensity implements Prior.
func (p HalfNormal) LogDensity(theta float64) (value, slope float64) {
	z := Log.Natural(theta) / p.Scale
	return -z*z/2 + math.Log(2/math.Pi)/2 - math.Log(p.Scale) + theta, 1 - z*z
}

// Spread implements Prior.
func (HalfNormal) Spread() float64 { return math.Sqrt(trigamma(0.5)) / 2 }

// HalfT is Student's t density around 0, for v > 0. Its tail is heavy: DegreesOfFreedom = 1 is the
// half-Cauchy.
type HalfT struct {
	Scale            float64 `yaml:"scale"`
	DegreesOfFreedom float64 `yaml:"degrees_of_freedom"`
}

// Transform is Log.
func (HalfT) Transform() Transform { return Log }

// LogDensity implements Prior.
func (p HalfT) LogDensity(theta float64) (value, slope float64) {
	nu, z := p.DegreesOfFreedom, Log.Natural(theta)/p.Scale
	value = math.Ln2 + logGamma((nu+1)/2) - logGamma(nu/2) - math.Log(nu*math.Pi)/2 - math.Log(p.Scale) + theta
	return value - (nu+1)/2*math.Log1p(z*z/nu), 1 - (nu+1)/(1+nu/(z*z))
}

// Spread implements Prior.
func (p HalfT) Spread() float64 { return math.Sqrt(trigamma(0.5)+trigamma(p.DegreesOfFreedom/2)) / 2 }

// Gamma is Rate^Shape/Γ(Shape) · v^(Shape-1) exp(-Rate v), of mean Shape/Rate.
type Gamma struct {
	Shape float64 `yaml:"shape"`
	Rate  float64 `yaml:"rate"`
}

// Transform is Log.
func (Gamma) Transform() Transform { return Log }

// LogDensity implements Prior.
func (p Gamma) LogDensity(theta float64) (value, slope float64) {
	x := p.Rate * Log.Natural(theta)
	return p.Shape*(math.Log(p.Rate)+theta) - x - logGamma(p.Shape), p.Shape - x
}

// Spread implements Prior.
func (p Gamma) Spread() float64 { return math.Sqrt(trigamma(p.Shape)) }

// InverseGamma is Scale^Shape/Γ(Shape) · v^-(Shape+1) exp(-Scale/v): 1/v has the density
// Gamma{Shape, Rate: Scale}.
type InverseGamma struct {
	Shape float64 `yaml:"shape"`
	Scale float64 `yaml:"scale"`
}

// Transform is Log.
func (InverseGamma) Transform() Transform { return Log }

// LogDensity implements Prior.
func (p InverseGamma) LogDensity(theta float64) (value, slope float64) {
	value, slope = Gamma{p.Shape, p.Scale}.LogDensity(-theta)
	return value, -slope
}

// Spread implements Prior.
func (p InverseGamma) Spread() float64 { return math.Sqrt(trigamma(p.Shape)) }

// Beta is Γ(A+B)/(Γ(A) Γ(B)) · v^(A-1) (1-v)^(B-1), of mean A/(A+B).
type Beta struct {
	A float64 `yaml:"a"`
	B float64 `yaml:"b"`
}

// Transform is Logit.
func (Beta) Transform() Transform { return Logit }

// LogDensity implements Prior.
func (p Beta) LogDensity(theta float64) (value, slope float64) {
	v, rest := Logit.Natural(theta), Logit.Natural(-theta)
	tail := math.Log1p(math.Exp(-math.Abs(theta)))
	logV, logRest := min(theta, 0)-tail, min(-theta, 0)-tail
	return logGamma(p.A+p.B) - logGamma(p.A) - logGamma(p.B) + p.A*logV + p.B*logRest, p.A*rest - p.B*v
}

// Spread implements Prior.
func (p Beta) Spread() float64 { return math.Sqrt(trigamma(p.A) + trigamma(p.B)) }

// checkPrior returns an error if p is no valid prior of a hyperparameter under transform m.
func checkPrior(p Prior, name string, m Transform) error {
	if p.Transform() != m {
		var suitable []string
		for _, e := range Priors {
			if q, err := e.New(nil); err == nil && q.Transform() == m {
				suitable = append(suitable, e.Name)
			}
		}
		return fmt.Errorf("the prior of %s must be one for numbers that are %s: %s",
			name, domain[m], strings.Join(suitable, ", "))
	}
	var wrong []string // every parameter but a mean is greater than 0
	v := reflect.ValueOf(p)
	for _, f := range reflect.VisibleFields(v.Type()) {
		x := v.FieldByIndex(f.Index)
		if parameter := f.Tag.Get("yaml"); parameter != "mean" && x.Kind() == reflect.Float64 && !(x.Float() > 0) {
			wrong = append(wrong, fmt.Sprintf("%s = %v must be greater than 0", parameter, x.Float()))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the prior of %s: %s", name, strings.Join(wrong, "; "))
	}
	return nil
}

// Register adds a prior of another program to Priors, as kernel.Register does a kernel.
func Register[P Prior](name, doc string, version int, defaults ...P) {
	registry.Register[P, Prior](&Priors, "prior", name, doc, version, defaults...)
}
