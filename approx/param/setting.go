package param

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Setting is a user's setting of one hyperparameter: a bare number, {init: v} or {fixed: v}, with
// optional bounds and a prior. With the zero value, the default of the component holds.
type Setting struct {
	Init   *float64    `yaml:"init"`
	Fixed  *float64    `yaml:"fixed"`
	Bounds *[2]float64 `yaml:"bounds"`
	Prior  Prior       `yaml:"prior"` // one of Priors; it does not change the start
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
	p := Spec{
		Name: name, Map: m, Init: initial, Lo: DefaultLo, Hi: DefaultHi, FromData: math.IsNaN(initial), Prior: s.Prior,
	}
	switch m {
	case Logit:
		p.Lo, p.Hi = Logit.Natural(-15), Logit.Natural(15)
	case Identity:
		p.Lo, p.Hi = -DefaultHi, DefaultHi
	}
	for _, v := range s.values() {
		p.Init, p.FromData = v, false
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

// Check returns an error if the setting is not valid under transform m: two values at once, a value
// outside the transform's domain, empty bounds, a value outside them, or a prior that does not
// suit. name is used in the messages.
func (s Setting) Check(name string, m Transform) error {
	if s.Init != nil && s.Fixed != nil {
		return fmt.Errorf("%s has both init and fixed; keep one", name)
	}
	if s.Prior != nil && s.Fixed != nil {
		return fmt.Errorf("%s has both a prior and fixed; a prior is for a hyperparameter that is free", name)
	}
	inside := func(v float64) bool { u := m.Theta(v); return !math.IsNaN(u) && !math.IsInf(u, 0) }
	b := s.Bounds
	if b != nil && (!inside(b[0]) || !inside(b[1]) || b[0] >= b[1]) {
		return fmt.Errorf("bounds of %s, [%v, %v], must be two numbers %s, the smaller first",
			name, b[0], b[1], domain[m])
	}
	for _, v := range s.values() {
		switch {
		case !inside(v):
			return fmt.Errorf("%s = %v must be %s", name, v, domain[m])
		case b != nil && (v < b[0] || v > b[1]):
			return fmt.Errorf("%s = %v is outside its bounds [%v, %v]", name, v, b[0], b[1])
		}
	}
	if s.Prior != nil {
		return checkPrior(s.Prior, name, m)
	}
	return nil
}

// values returns the values that the user wrote.
func (s Setting) values() (values []float64) {
	for _, v := range []*float64{s.Bare, s.Init, s.Fixed} {
		if v != nil {
			values = append(values, *v)
		}
	}
	return values
}

// Word is the bare number, if the user wrote one.
func (s Setting) Word() string {
	if s.Bare == nil {
		return ""
	}
	return strconv.FormatFloat(*s.Bare, 'g', -1, 64)
}
