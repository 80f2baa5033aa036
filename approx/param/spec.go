package param

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// Spec is one hyperparameter of a model. Init, Lo and Hi are in natural units.
type Spec struct {
	Name   string // natural name with its path: "1.se.length_scale[2]"
	Map    Transform
	Init   float64 // initial value; NaN means that FromData sets it
	Lo, Hi float64 // bounds
	Given  bool    // the bounds are the user's, not the default ones
	Fixed  bool    // held at Init
	// FromData marks a length scale or period whose default start depends on the inputs: sqrt(d) on
	// standardised or whitened inputs, else the median distance. It is meaningful only while Init
	// is NaN.
	FromData bool
	Prior    Prior // nil: none
	// Choices are the values of a Choice, by number.
	Choices []string `json:",omitempty"`
	// Literals are Choices in JSON, if some are no texts.
	Literals []string `json:",omitempty"`
	// Step is the distance between neighbouring values of a Stepped or of a Whole, where 0 means 1.
	Step float64 `json:",omitempty"`
	// Log marks a Whole whose values a search takes evenly in the logarithm.
	Log bool `json:",omitempty"`
	// When is the condition under which this hyperparameter matters; nil: always.
	When *Condition `json:",omitempty"`
	// Where are constraints on this hyperparameter together with others.
	Where []*Constraint `json:",omitempty"`
	// Column is the column of the inputs to which the hyperparameter belongs, counted from 1; 0: to
	// no single column. No result depends on it.
	Column int `json:"-"`
	// Term marks the amplitude of a term of a sum of kernels: near 0 the term adds nothing. No
	// result depends on it.
	Term bool `json:"-"`
}

// Within returns the hyperparameter with a prefix before its name, and before the names in its
// condition.
func (s Spec) Within(prefix string) Spec {
	s.Name, s.When = prefix+s.Name, s.When.within(prefix)
	return s
}

// InForce reports, for every hyperparameter, whether it matters at theta: whether its condition
// holds. A condition names hyperparameters that come earlier in specs.
func InForce(specs []Spec, theta []float64) []bool {
	in := make([]bool, len(specs))
	for j, s := range specs {
		in[j] = s.When == nil || s.When.Holds(func(name string) (v float64, matters bool) {
			i := slices.IndexFunc(specs, func(o Spec) bool { return o.Name == name })
			return specs[i].Map.Natural(theta[i]), in[i]
		})
	}
	return in
}

// Violated returns the first constraint that does not hold at theta; nil: all hold.
func Violated(specs []Spec, theta []float64) *Constraint {
	var matters []bool
	for _, s := range specs {
		for _, c := range s.Where {
			if matters == nil {
				matters = InForce(specs, theta)
			}
			values := make([]float64, len(c.Names))
			idle := false
			for k, name := range c.Names {
				i := slices.IndexFunc(specs, func(o Spec) bool { return o.Name == name })
				values[k], idle = specs[i].Map.Natural(theta[i]), idle || !matters[i]
			}
			if !idle && !c.Holds(values) {
				return c
			}
		}
	}
	return nil
}

// Component is the last component of the name's path, "length_scale[2]" of "1.se.length_scale[2]".
// Dots inside brackets (class names) do not count.
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

// ThetaName is the hyperparameter's name on the theta scale: the transform's prefix set before the
// last component of the path, so "1.se.length_scale[2]" becomes "1.se.log_length_scale[2]".
func (s Spec) ThetaName() string {
	last := s.Component()
	return strings.TrimSuffix(s.Name, last) + s.Map.Prefix() + last
}

// Check returns an error if a search cannot move the hyperparameter, because of its transform, its
// bounds or its start.
func (s Spec) Check() error {
	if s.Map < Log || s.Map > Stepped {
		return fmt.Errorf("%s has the transform %d, which does not exist", s.Name, s.Map)
	}
	lo, hi := s.ThetaBounds()
	switch {
	case s.Fixed:
		return fmt.Errorf("%s is fixed, and so nothing to search for; leave it out", s.Name)
	case s.Map.whole() && (s.Init != math.Round(s.Init) || s.Lo != math.Round(s.Lo) || s.Hi != math.Round(s.Hi)):
		return fmt.Errorf("%s starts at %v within [%v, %v], which must be whole numbers", s.Name, s.Init, s.Lo, s.Hi)
	case s.Step != 0 && !s.Map.Discrete() || s.Log && s.Map != Whole || s.Step != 0 && s.Map == Choice:
		return fmt.Errorf("%s has a step or a logarithm, which %s numbers do not have", s.Name, domain[s.Map])
	case s.Map == Stepped && !(s.Step > 0 && s.steps() < 1<<53):
		return fmt.Errorf("%s has the step %v within [%v, %v], which must be above 0 and not too small", s.Name,
			s.Step, s.Lo, s.Hi)
	case s.Map == Whole && (s.Step != math.Round(s.Step) || s.Step < 0),
		s.stepped() && s.Hi >= s.Lo && (s.Nearest(s.Hi) != s.Hi || s.Nearest(s.Init) != s.Init):
		return fmt.Errorf("%s starts at %v within [%v, %v], which must be a whole number of steps of %v apart",
			s.Name, s.Init, s.Lo, s.Hi, s.Step)
	case s.Log && !(s.Lo > s.step()/2):
		return fmt.Errorf("%s begins at %v, which must be above half a step, %v, for a logarithm", s.Name, s.Lo,
			s.step()/2)
	case s.Map == Choice && (len(s.Choices) == 0 || s.Lo != 0 || s.Hi != float64(len(s.Choices)-1)):
		return fmt.Errorf("%s has the bounds [%v, %v], which must be 0 and one less than its %d choices",
			s.Name, s.Lo, s.Hi, len(s.Choices))
	case s.Map == Choice && len(slices.Compact(slices.Sorted(slices.Values(s.Choices)))) < len(s.Choices):
		return fmt.Errorf("%s has one of its choices %q twice", s.Name, s.Choices)
	case !(hi >= lo) || math.IsInf(hi-lo, 0) || hi == lo && !s.Map.Discrete():
		return fmt.Errorf("%s has the bounds [%v, %v], which must be two numbers %s, the smaller first",
			s.Name, s.Lo, s.Hi, domain[s.Map])
	case !(s.Init >= s.Lo && s.Init <= s.Hi):
		return fmt.Errorf("%s starts at %v, outside its bounds [%v, %v]; give it an init inside them",
			s.Name, s.Init, s.Lo, s.Hi)
	}
	return nil
}

// Admits returns an error if a value, in natural units, is none that the hyperparameter can have.
func (s Spec) Admits(v float64) error {
	switch {
	case s.Map.whole() && v != math.Round(v):
		return fmt.Errorf("%s = %v must be a whole number", s.Name, v)
	case !(v >= s.Lo && v <= s.Hi):
		return fmt.Errorf("%s = %v is outside its bounds [%.6g, %.6g]", s.Name, v, s.Lo, s.Hi)
	case s.stepped() && !(math.Abs(s.Nearest(v)-v) <= 1e-9*s.Step):
		return fmt.Errorf("%s = %v must be a whole number of steps of %v above %v; the nearest is %v", s.Name, v,
			s.Step, s.Lo, s.Nearest(v))
	}
	return nil
}

// Default bounds in natural units for hyperparameters on the log scale: e^-10 and e^15.
var (
	DefaultLo = math.Exp(-10)
	DefaultHi = math.Exp(15)
)

// SearchBox is the largest distance, on the theta scale, of a random start from the initial value:
// a factor e^2 for a hyperparameter on the log scale.
const SearchBox = 2.0

// ThetaBounds returns Lo and Hi on the theta scale.
func (s Spec) ThetaBounds() (lo, hi float64) { return s.Map.Theta(s.Lo), s.Map.Theta(s.Hi) }

// Ended warns that a search ended at the lower or the upper bound.
func (s Spec) Ended(upper bool) cause.Notice {
	side, bound := "lower", s.Lo
	if upper {
		side, bound = "upper", s.Hi
	}
	at := fmt.Sprintf("%s ended at its %s bound %.6g", s.Name, side, bound)
	switch {
	case upper && s.Column > 0: // only length scales are of a column
		return cause.NoInfluence.New("%s, where its input has no influence", at)
	case !upper && s.Term && s.Lo <= DefaultLo*(1+1e-9):
		return cause.SwitchedOff.New("%s, where its part of the kernel adds nothing", at)
	}
	return cause.AtBound.New("%s", at)
}

// Place maps u in [0, 1] to where a search without start points looks, on the theta scale. Between
// bounds that were given it is linear. Else, with θ₀ the initial value, it is
//
//	θ = θ₀ + sinh((1-u) asinh(lo-θ₀) + u asinh(hi-θ₀))
//
// which looks most densely within 1 of θ₀, and reaches the default bounds. Discrete values have
// equal parts of [0, 1], or with Log the parts that the logarithms of v ± ½ Step give.
func (s Spec) Place(u float64) (theta float64) {
	lo, hi, center := s.warp()
	if s.Map.Discrete() {
		half := s.step() / 2
		if s.Log {
			return s.Nearest(math.Exp((1-u)*math.Log(lo-half) + u*math.Log(hi+half)))
		}
		return s.value(math.Floor(u * (s.steps() + 1)))
	}
	if theta = (1-u)*lo + u*hi; !s.Given {
		theta = center + math.Sinh(theta)
	}
	lo, hi = s.ThetaBounds()
	return min(max(theta, lo), hi)
}

// Unit is the inverse of Place, for a discrete value the middle of its part.
func (s Spec) Unit(theta float64) (u float64) {
	lo, hi, center := s.warp()
	if s.Map.Discrete() {
		half := s.step() / 2
		if s.Log {
			first := math.Log(lo - half)
			return ((math.Log(theta-half)+math.Log(theta+half))/2 - first) / (math.Log(hi+half) - first)
		}
		return ((theta-lo)/s.step() + 0.5) / (s.steps() + 1)
	}
	if !s.Given {
		theta = math.Asinh(theta - center)
	}
	return (theta - lo) / (hi - lo)
}

// step is Step, or the 1 that it means.
func (s Spec) step() float64 { return cmp.Or(s.Step, 1) }

// steps is the number of steps between the bounds.
func (s Spec) steps() float64 { return math.Round((s.Hi - s.Lo) / s.step()) }

// Count returns the number of values of a discrete hyperparameter, at most 2⁵³.
func (s Spec) Count() int { return int(min(s.steps(), 1<<53-1)) + 1 }

// stepped reports whether the values are more than a step of 1 apart, or no whole numbers.
func (s Spec) stepped() bool { return s.Map == Stepped || s.Step > 1 }

// Nearest returns the value of a discrete hyperparameter that is nearest to theta.
func (s Spec) Nearest(theta float64) float64 {
	if !s.stepped() {
		return min(max(math.Round(theta), s.Lo), s.Hi)
	}
	return s.value(math.Round((theta - s.Lo) / s.step()))
}

// value is the k-th value of a discrete hyperparameter, with k moved into the bounds. A decimal
// fraction is the number nearest to its decimals: 0.1 + 2·0.1 is 0.3.
func (s Spec) value(k float64) float64 {
	v := s.Lo + s.step()*min(max(k, 0), s.steps())
	for unit := 1.0; s.Map == Stepped && unit <= 1e12; unit *= 10 {
		if decimal(s.Lo, unit) && decimal(s.Step, unit) {
			return math.Round(v*unit) / unit
		}
	}
	return v
}

// decimal reports whether v is the number nearest to k/unit for a whole k.
func decimal(v, unit float64) bool { return math.Round(v*unit)/unit == v }

// apart returns the mean distance of two neighbouring values of a discrete hyperparameter, on the
// scale of Coordinate; 1 if it has one value.
func (s Spec) apart() float64 {
	if s.steps() == 0 {
		return 1
	}
	of, _ := s.Coordinate()
	return (of(s.Hi) - of(s.Lo)) / s.steps()
}

// warp returns the ends between which Place is linear, and θ₀.
func (s Spec) warp() (lo, hi, center float64) {
	lo, hi = s.ThetaBounds()
	if s.Given || s.Map.Discrete() {
		return lo, hi, 0
	}
	center = min(max(s.Map.Theta(s.Init), lo), hi)
	return math.Asinh(lo - center), math.Asinh(hi - center), center
}

// Coordinate returns the map of theta to the scale on which searches that start at Init take their
// steps, and its inverse. The scale is theta, or its logarithm if Log.
func (s Spec) Coordinate() (of, inverse func(float64) float64) {
	if s.Log {
		return math.Log, math.Exp
	}
	same := func(v float64) float64 { return v }
	return same, same
}

// Scale is the first step of searches that start at Init, on the scale of Coordinate: a quarter of
// the bounds where they were given, else of Init ± SearchBox. With discrete values it is at least
// the mean distance between two of them.
func (s Spec) Scale() float64 {
	switch lo, hi := s.ThetaBounds(); {
	case s.Map.Discrete():
		of, _ := s.Coordinate()
		return max((of(hi)-of(lo))/4, s.apart())
	case s.Given:
		return (hi - lo) / 4
	}
	return SearchBox / 2
}

// Start returns the i-th start point of a multi-start search, on the theta scale. Start 0 is Init;
// every other start is uniform on Init ± SearchBox, as far as that lies within the bounds,
// independently in each coordinate. The combinations of discrete hyperparameters take turns, and
// the first start of each combination has the other hyperparameters at Init. Hyperparameters that
// do not matter are always at Init. It depends on specs, seed and i alone, so that whoever
// searches, in whatever order, starts at the same points.
func Start(specs []Spec, seed uint64, i int) []float64 {
	rng := rand.New(Source(seed, uint64(i)))
	theta, turn := make([]float64, len(specs)), i
	for j, s := range specs {
		lo, hi := s.ThetaBounds()
		theta[j] = min(max(s.Map.Theta(s.Init), lo), hi)
		if s.Map.Discrete() && InForce(specs[:j+1], theta)[j] {
			n := s.Count()
			at := int(math.Round((s.Nearest(theta[j]) - lo) / s.step()))
			theta[j] = s.value(float64((at + turn%n) % n))
			turn /= n
		}
	}
	for j, matters := range InForce(specs, theta) {
		if s := specs[j]; turn > 0 && matters && !s.Map.Discrete() {
			lo, hi := s.ThetaBounds()
			lo, hi = max(lo, theta[j]-SearchBox), min(hi, theta[j]+SearchBox)
			theta[j] = min(lo+(hi-lo)*rng.Float64(), hi)
		}
	}
	return theta
}

// Turns returns the number of starts until each value of each discrete hyperparameter has been in a
// start where it matters. It is 1 without discrete hyperparameters, and 0 if that takes more than
// 10 000 starts.
func Turns(specs []Spec) int {
	type value struct {
		of int
		is float64
	}
	met, all := map[value]bool{}, 0
	for _, s := range specs {
		if s.Map.Discrete() {
			all += s.Count()
		}
	}
	for i := range 10_000 {
		theta := Start(specs, 0, i)
		for j, matters := range InForce(specs, theta) {
			if matters && specs[j].Map.Discrete() {
				met[value{j, theta[j]}] = true
			}
		}
		if len(met) == all {
			return i + 1
		}
	}
	return 0
}

// CheckStarts returns an error if there are too few starts to try every choice (see Turns).
func CheckStarts(specs []Spec, starts int) error {
	switch needed := Turns(specs); {
	case needed == 0:
		return errors.New("there are too many choices for a start with each; take a method without gradients")
	case starts < needed:
		return fmt.Errorf("%d starts do not try every choice, and a climb stays with its own; write restarts: %d, or "+
			"more", starts, needed)
	}
	return nil
}

// Source is a source of random numbers: each stream of a seed has its own.
func Source(seed, stream uint64) *rand.ChaCha8 {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], stream)
	return rand.NewChaCha8(key)
}

// Proper returns an error that names the free hyperparameters without a prior. A flat prior over
// theta has no finite integral, and neither has its posterior, as a rule. The priors in Priors have
// finite integrals.
func Proper(free []Spec) error {
	example := [...]string{
		Log: "{log_normal: {mean: 0, sd: 2}}", Logit: "{beta: {a: 1, b: 9}}", Identity: "{normal: {mean: 0, sd: 1}}",
	}
	var errs []error
	for _, s := range free {
		if s.Prior == nil && !s.Map.Discrete() {
			errs = append(errs, fmt.Errorf("%s has no prior, and a flat one over %s is improper; "+
				"add for example {prior: %s}, or hold it with {fixed: %.6g}",
				s.Name, s.ThetaName(), example[s.Map], s.Init))
		}
	}
	return errors.Join(errs...)
}
