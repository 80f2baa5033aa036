// Package param describes hyperparameters: their names, bounds, starting values, and the transform
// between natural units (what a user writes: an amplitude of 3.2) and theta (the unconstrained
// number that optimisers move: log_amplitude = 1.163). It is the only place that takes the
// exponential or logarithm of theta.
//
// It knows no kernel and no likelihood, and never holds the current value of a hyperparameter:
// theta is always an argument.
package param

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Transform maps a hyperparameter between natural units and theta.
type Transform int

const (
	Log      Transform = iota // theta = ln v, v > 0
	Logit                     // theta = ln(v/(1-v)), 0 < v < 1
	Identity                  // theta = v
)

// Prefix is what a theta name carries before the natural name: "log_", "logit_" or nothing.
func (t Transform) Prefix() string {
	return [...]string{"log_", "logit_", ""}[t]
}

// Natural maps theta u to natural units.
func (t Transform) Natural(u float64) float64 {
	switch t {
	case Log:
		return math.Exp(u)
	case Logit:
		if u < 0 {
			e := math.Exp(u)
			return e / (1 + e)
		}
		return 1 / (1 + math.Exp(-u))
	}
	return u
}

// Theta maps a value in natural units to the unconstrained scale. A value outside the transform's
// domain gives NaN or an infinity; Setting.Check refuses it where the user wrote it.
func (t Transform) Theta(v float64) float64 {
	switch t {
	case Log:
		return math.Log(v)
	case Logit:
		return math.Log(v) - math.Log1p(-v)
	}
	return v
}

// Spec is one hyperparameter of a model. Init, Lo and Hi are in natural units.
type Spec struct {
	Name   string // natural name with its path: "1.se.length_scale[2]"
	Map    Transform
	Init   float64 // NaN: to be set from the data (see FromData)
	Lo, Hi float64 // bounds
	Given  bool    // the bounds are the user's, not the default ones
	Fixed  bool    // held at Init
	// FromData marks a length scale or period whose default start depends on the inputs: sqrt(d) on
	// standardised or whitened inputs, else the median distance. It is meaningful only while Init
	// is NaN.
	FromData bool
	Prior    Prior // nil: none
	Column   int   `json:"-"` // the input column that it is of, counted from 1; 0: of none alone. No result depends on it
}

// Component is the last component of the name's path, "length_scale[2]" of "1.se.length_scale[2]". Dots
// inside brackets (class names) do not count.
func (s Spec) Component() string {
	depth := 0
	for i := len(s.Name) - 1; i >= 0; i-- {
		switch c := s.Name[i]; {
		case c == ']':
			depth++
		case c == '[':
			depth--
		case c == '.' && depth == 0:
			return s.Name[i+1:]
		}
	}
	return s.Name
}

// ThetaName is the hyperparameter's name on the theta scale: the transform's prefix set before the last
// component of the path, so "1.se.length_scale[2]" becomes "1.se.log_length_scale[2]".
func (s Spec) ThetaName() string {
	last := s.Component()
	return strings.TrimSuffix(s.Name, last) + s.Map.Prefix() + last
}

// Default bounds in natural units for hyperparameters on the log scale: e^-10 and e^15.
var (
	DefaultLo = math.Exp(-10)
	DefaultHi = math.Exp(15)
)

// SearchBox is how far, on the theta scale, random starts are drawn and a Spec.Box reaches to
// either side of the initial value: a factor e^2 for a hyperparameter on the log scale.
const SearchBox = 2.0

// Setting is what a user says of one hyperparameter: a bare number, {init: v} or {fixed: v}, with
// optional bounds and a prior. The zero value says nothing, and the component's own default holds.
type Setting struct {
	Init   *float64    `yaml:"init"`
	Fixed  *float64    `yaml:"fixed"`
	Bounds *[2]float64 `yaml:"bounds"`
	Prior  Prior       `yaml:"prior"` // one of Priors; it does not set where the hyperparameter starts
	// Bare is set when the user wrote just a number. A kernel hyperparameter then starts there and
	// is free; a likelihood or mean parameter is held there (see Spec and HeldSpec).
	Bare *float64 `yaml:"-"`
}

// UnmarshalText reads the bare-number form.
func (s *Setting) UnmarshalText(text []byte) error {
	v, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	if err != nil {
		return fmt.Errorf("%q is not a number; write a number, {init: v} or {fixed: v}", text)
	}
	s.Bare = &v
	return nil
}

// Spec makes the Spec of a kernel hyperparameter: free unless {fixed: v} was written. initial is
// the default start in natural units; NaN means that it comes from the data.
func (s Setting) Spec(name string, m Transform, initial float64) Spec {
	p := Spec{Name: name, Map: m, Init: initial, Lo: DefaultLo, Hi: DefaultHi, FromData: math.IsNaN(initial), Prior: s.Prior}
	switch m {
	case Logit:
		p.Lo, p.Hi = Logit.Natural(-15), Logit.Natural(15)
	case Identity:
		p.Lo, p.Hi = -DefaultHi, DefaultHi
	}
	for _, v := range []*float64{s.Bare, s.Init, s.Fixed} {
		if v != nil {
			p.Init, p.FromData = *v, false
		}
	}
	p.Fixed = s.Fixed != nil
	if s.Bounds != nil {
		p.Lo, p.Hi, p.Given = s.Bounds[0], s.Bounds[1], true
	}
	return p
}

// HeldSpec makes the Spec of a likelihood or mean parameter: held at its value unless {init: v} or
// a prior was written.
func (s Setting) HeldSpec(name string, m Transform, initial float64) Spec {
	p := s.Spec(name, m, initial)
	p.Fixed = s.Init == nil && s.Prior == nil
	return p
}

// domain is what the values in natural units must be.
var domain = [...]string{Log: "greater than 0", Logit: "between 0 and 1", Identity: "finite"}

// Check says what is wrong with the setting of a hyperparameter under transform m: two values at
// once, a value outside the transform's domain, empty bounds, a value outside them, or a prior that
// does not suit. name is used in the messages.
func (s Setting) Check(name string, m Transform) error {
	if s.Init != nil && s.Fixed != nil {
		return fmt.Errorf("%s has both init and fixed; keep one", name)
	}
	if s.Prior != nil && s.Fixed != nil {
		return fmt.Errorf("%s has both a prior and fixed; a prior is for a hyperparameter that is free", name)
	}
	inside := func(v float64) bool { u := m.Theta(v); return !math.IsNaN(u) && !math.IsInf(u, 0) }
	for _, v := range []*float64{s.Bare, s.Init, s.Fixed} {
		if v != nil && !inside(*v) {
			return fmt.Errorf("%s = %v must be %s", name, *v, domain[m])
		}
	}
	if b := s.Bounds; b != nil {
		if !inside(b[0]) || !inside(b[1]) || b[0] >= b[1] {
			return fmt.Errorf("bounds of %s, [%v, %v], must be two numbers %s, the smaller first", name, b[0], b[1], domain[m])
		}
		for _, v := range []*float64{s.Bare, s.Init, s.Fixed} {
			if v != nil && (*v < b[0] || *v > b[1]) {
				return fmt.Errorf("%s = %v is outside its bounds [%v, %v]", name, *v, b[0], b[1])
			}
		}
		if v := s.Fixed; v != nil && (*v < b[0] || *v > b[1]) {
			return fmt.Errorf("%s is fixed at %v, outside its bounds [%v, %v]; leave the bounds out", name, *v, b[0], b[1])
		}
	}
	if s.Prior != nil {
		return checkPrior(s.Prior, name, m)
	}
	return nil
}
