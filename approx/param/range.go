package param

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Range declares the values of a hyperparameter of another program, among which a search looks
// evenly.
type Range interface {
	// Spec is the hyperparameter with this name, which stands after others. What is wrong with the
	// range is an error.
	Spec(name string, before []Spec) (Spec, error)
}

// Ranges lists the kinds of ranges.
var Ranges = registry.Table[Range]{
	registry.Composed[LogRange, Range]("log",
		"log: {from: 0.001, to: 1}; numbers above 0 from one to another, evenly in the logarithm",
		LogRange{ends(1e-3, 1)}),
	registry.Composed[LinearRange, Range]("linear",
		"linear: {from: 0, to: 1}; numbers from one to another, evenly, also in steps (step: 0.05)",
		LinearRange{Ends: ends(0, 1)}),
	registry.Composed[WholeRange, Range]("whole",
		"whole: {from: 1, to: 4}; whole numbers from one to another, in steps (step: 16), evenly or in the logarithm "+
			"(log: true)", WholeRange{Ends: ends(1, 4)}),
	registry.Composed[ChoiceRange, Range]("choice",
		"choice: {values: [adam, sgd]}; one of several texts, numbers, true, false or null, without an order",
		ChoiceRange{Values: []Literal{{"adam", `"adam"`}, {"sgd", `"sgd"`}}}),
}

// Conditional has the conditions under which a hyperparameter matters. All have to hold.
type Conditional struct {
	// by the names of other hyperparameters; none: it always matters
	When map[string]Holding `yaml:"when"`
}

// Holding is for which values of another hyperparameter a condition holds: a list of values of a
// choice or of whole numbers, or bounds of a number. Without any of them it is null, if that is a
// value of the choice.
type Holding struct {
	Values []Literal
	Bounds
}

// List implements declared.ListOrMap.
func (h *Holding) List() any { return &h.Values }

// Map implements declared.ListOrMap.
func (h *Holding) Map() any { return &h.Bounds }

// Literal is a value as a file gives it: a text, a number, true, false or null.
type Literal struct {
	Text string // as written
	JSON string // the same in JSON, which has its type
}

// String is the text.
func (l Literal) String() string { return l.Text }

// equals reports whether two literals are the same value, or are written alike.
func (l Literal) equals(other Literal) bool {
	if l.JSON == other.JSON || l.Text == other.Text {
		return true
	}
	a, err := strconv.ParseFloat(l.JSON, 64)
	b, wrong := strconv.ParseFloat(other.JSON, 64)
	return err == nil && wrong == nil && a == b
}

// condition returns s with its conditions, or an error if one is not valid.
func (c Conditional) condition(s Spec, before []Spec) (Spec, error) {
	for _, name := range slices.Sorted(maps.Keys(c.When)) {
		if i := slices.IndexFunc(before, func(b Spec) bool { return b.Name == name }); i < 0 {
			return s, fmt.Errorf("%s: when names %q, which is no other hyperparameter", s.Name, name)
		}
	}
	at := &s.When
	for _, of := range before {
		holding, named := c.When[of.Name]
		if !named {
			continue
		}
		next, err := holding.of(of)
		if err != nil {
			return s, fmt.Errorf("%s: when: %w", s.Name, err)
		}
		*at, at = next, &next.And
	}
	return s, nil
}

// of is the condition on a hyperparameter, or an error if the condition is not valid.
func (h Holding) of(s Spec) (*Condition, error) {
	c := &Condition{Name: s.Name, Bounds: h.Bounds}
	bounded := h.Bounds != (Bounds{})
	null := Literal{"null", "null"}
	if _, err := s.Value(null); !bounded && len(h.Values) == 0 && s.Map == Choice && err == nil {
		h.Values = []Literal{null}
	}
	switch {
	case bounded && s.Map == Choice:
		return nil, fmt.Errorf("%s is a choice, and its values have no order; write one of them, or a list of several",
			s.Name)
	case !bounded && len(h.Values) == 0:
		return nil, fmt.Errorf("%s has no value; write one, a list of several, or bounds such as {above: 3}", s.Name)
	case !bounded && !s.Map.Discrete():
		return nil, fmt.Errorf("%s takes any number in its range; write bounds such as {above: 3}, with above, below, "+
			"at_least or at_most", s.Name)
	case bounded && (c.Side(s.Lo) > 0 || c.Side(s.Hi) < 0):
		return nil, fmt.Errorf("%s never has such a value: it is from %v to %v", s.Name, s.Lo, s.Hi)
	}
	for _, l := range h.Values {
		v, err := s.Value(l)
		if err != nil {
			return nil, err
		}
		c.Values = append(c.Values, v)
	}
	return c, nil
}

// Text is a value in natural units for people and programs: the choice, or the shortest decimal
// that parses to the same bits, without an exponent if it is whole.
func (s Spec) Text(v float64) string {
	switch {
	case s.Map == Choice:
		return s.Choices[int(v)]
	case v == float64(int64(v)):
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// JSON is a value in natural units in JSON: a choice with the type that the file gives it, or a
// number.
func (s Spec) JSON(v float64) string {
	if s.Map == Choice {
		return s.literal(int(v)).JSON
	}
	return s.Text(v)
}

// Quoted is Text, in quotes if a text looks like a number, true, false or null.
func (s Spec) Quoted(v float64) string {
	text, json := s.Text(v), s.JSON(v)
	if s.Map != Choice || json[0] != '"' || !other.MatchString(text) {
		return text
	}
	return json
}

// other matches texts that look like numbers, true, false or null.
var other = regexp.MustCompile(`^([-+.0-9].*|(?i:true|false|null|~))$`)

// literal is a choice by its number.
func (s Spec) literal(i int) Literal {
	if s.Literals != nil {
		return Literal{s.Choices[i], s.Literals[i]}
	}
	quoted, err := json.Marshal(s.Choices[i])
	if err != nil {
		panic(err) // cannot fail for a text
	}
	return Literal{s.Choices[i], string(quoted)}
}

// Value is the inverse of JSON for a discrete hyperparameter: the number of a choice, or one of the
// numbers that it can be.
func (s Spec) Value(l Literal) (float64, error) {
	v, err := strconv.ParseFloat(l.Text, 64)
	if s.Map == Choice {
		v, err = -1, nil
		for i := range s.Choices {
			if v < 0 && s.literal(i).equals(l) {
				v = float64(i)
			}
		}
	}
	if err != nil || s.Admits(v) != nil {
		return 0, fmt.Errorf("%q is no value of %s", l.Text, s.Name)
	}
	return v, nil
}

// Ends are the ends of a range, and where a search starts.
type Ends struct {
	From        *float64 `yaml:"from"`
	To          *float64 `yaml:"to"`
	Init        *float64 `yaml:"init"` // nil: the middle
	Conditional `yaml:",inline"`
}

func ends(from, to float64) Ends { return Ends{From: &from, To: &to} }

// spec is the hyperparameter with these ends.
func (e Ends) spec(name string, m Transform, before []Spec) (Spec, error) {
	if e.From == nil || e.To == nil {
		return Spec{}, fmt.Errorf("%s: write from and to, such as {from: 1, to: 4}", name)
	}
	if span := m.Theta(*e.To) - m.Theta(*e.From); !(span > 0) || math.IsInf(span, 0) {
		return Spec{}, fmt.Errorf("%s: from = %v and to = %v must be %s, the smaller first", name, *e.From,
			*e.To, domain[m])
	}
	s := Between(name, m, *e.From, *e.To)
	if e.Init != nil {
		s.Init = *e.Init
	}
	if !(s.Init >= s.Lo && s.Init <= s.Hi) {
		return s, fmt.Errorf("%s: init = %v must be from %v to %v", name, s.Init, s.Lo, s.Hi)
	}
	if m == Whole && (s.Lo != math.Round(s.Lo) || s.Hi != math.Round(s.Hi) || s.Init != math.Round(s.Init)) {
		return s, fmt.Errorf("%s: from = %v, to = %v and init = %v must be whole numbers", name, s.Lo, s.Hi, s.Init)
	}
	return e.condition(s, before)
}

// LogRange is a range of positive numbers, evenly in the logarithm.
type LogRange struct {
	Ends `yaml:",inline"`
}

// Spec implements Range.
func (r LogRange) Spec(name string, before []Spec) (Spec, error) { return r.spec(name, Log, before) }

// LinearRange is a range of numbers.
type LinearRange struct {
	Ends `yaml:",inline"`
	// distance between neighbouring values, from the smallest on; 0: any number is a value
	Step float64 `yaml:"step" within:"(0,inf)"`
}

// Spec implements Range.
func (r LinearRange) Spec(name string, before []Spec) (Spec, error) {
	s, err := r.spec(name, Identity, before)
	if err != nil || r.Step == 0 {
		return s, err
	}
	s.Map, s.Step = Stepped, r.Step
	return s.inSteps(r.Init == nil)
}

// WholeRange is a range of whole numbers.
type WholeRange struct {
	Ends `yaml:",inline"`
	Step int  `yaml:"step" within:"[1,1000000000]"` // distance between neighbours, from the smallest on; 0: 1
	Log  bool `yaml:"log"`                          // a search takes them evenly in the logarithm
}

// Spec implements Range.
func (r WholeRange) Spec(name string, before []Spec) (Spec, error) {
	s, err := r.spec(name, Whole, before)
	if err != nil {
		return s, err
	}
	if r.Step < 0 {
		return s, fmt.Errorf("%s: step = %d must be 1 or more", name, r.Step)
	}
	if max(-s.Lo, s.Hi) > 1<<53 {
		return s, fmt.Errorf("%s: whole numbers beyond 2^53 = %d are not exact: take a linear or log range", name,
			int64(1<<53))
	}
	s.Step, s.Log = float64(r.Step), r.Log
	if s, err = s.inSteps(r.Init == nil && (r.Log || r.Step > 1)); err != nil {
		return s, err
	}
	if s.Log && !(s.Lo > s.step()/2) {
		return s, fmt.Errorf("%s: log: true needs from above half a step, %v", name, s.step()/2)
	}
	return s, nil
}

// inSteps returns s if its bounds and its start are among its values. With middle it starts at the
// value that is nearest to the middle.
func (s Spec) inSteps(middle bool) (Spec, error) {
	if last := s.Nearest(s.Hi); !(math.Abs(last-s.Hi) <= 1e-9*s.step()) {
		return s, fmt.Errorf("%s: to = %v is no whole number of steps of %v above from = %v; write for example to: %v",
			s.Name, s.Hi, s.step(), s.Lo, max(last, s.Lo+s.step()))
	}
	s.Hi = s.Nearest(s.Hi)
	if middle {
		of, inverse := s.Coordinate()
		s.Init = s.Nearest(inverse((of(s.Lo) + of(s.Hi)) / 2))
	}
	if err := s.Admits(s.Init); err != nil {
		return s, fmt.Errorf("%s: init: %w", s.Name, err)
	}
	s.Init = s.Nearest(s.Init)
	return s, nil
}

// ChoiceRange has values without an order.
type ChoiceRange struct {
	Values      []Literal `yaml:"values"`
	Init        Literal   `yaml:"init"` // zero: the first
	Conditional `yaml:",inline"`
}

// Spec implements Range.
func (r ChoiceRange) Spec(name string, before []Spec) (Spec, error) {
	var texts, literals []string
	once, plain := true, true
	for i, l := range r.Values {
		once = once && !slices.ContainsFunc(r.Values[:i], l.equals)
		plain = plain && l.JSON[0] == '"'
		texts, literals = append(texts, l.Text), append(literals, l.JSON)
	}
	if !once || len(texts) == 0 {
		return Spec{}, fmt.Errorf("%s: values must have a text or more, each once", name)
	}
	s := Among(name, texts...)
	if !plain {
		s.Literals = literals
	}
	if r.Init != (Literal{}) {
		var err error
		if s.Init, err = s.Value(r.Init); err != nil {
			return s, fmt.Errorf("%s: init: %w", name, err)
		}
	}
	return r.condition(s, before)
}

// Between is a hyperparameter between two bounds in natural units. Searches look evenly on the
// scale of the transform, and start in the middle.
func Between(name string, m Transform, lo, hi float64) Spec {
	middle := (m.Theta(lo) + m.Theta(hi)) / 2
	if m.Discrete() {
		middle = math.Floor(middle)
	}
	return Spec{Name: name, Map: m, Lo: lo, Hi: hi, Given: true, Init: m.Natural(middle)}
}

// Among is a choice among values without an order. Searches start at the first.
func Among(name string, values ...string) Spec {
	return Spec{Name: name, Map: Choice, Hi: float64(len(values) - 1), Given: true, Choices: values}
}
