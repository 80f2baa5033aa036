package param

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Condition holds if the hyperparameter of this Name matters and has one of Values, or without them
// a value within the bounds, and if the condition And holds too. Values and bounds are in natural
// units.
type Condition struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values,omitempty"` // none: the bounds decide
	Bounds
	And *Condition `json:"and,omitempty"` // nil: none
}

// Bounds are bounds of a number; nil: no bound.
type Bounds struct {
	Above   *float64 `json:"above,omitempty" yaml:"above"`
	Below   *float64 `json:"below,omitempty" yaml:"below"`
	AtLeast *float64 `json:"at_least,omitempty" yaml:"at_least"`
	AtMost  *float64 `json:"at_most,omitempty" yaml:"at_most"`
}

// Side is 0 for a number within the bounds, -1 for one below and 1 for one above them. A number
// that differs from a bound by no more than rounding is at the bound.
func (b Bounds) Side(v float64) int {
	above := func(v, bound float64) bool { return v-bound > 1e-12*math.Abs(bound) }
	switch {
	case b.Above != nil && !above(v, *b.Above), b.AtLeast != nil && above(*b.AtLeast, v):
		return -1
	case b.Below != nil && !above(*b.Below, v), b.AtMost != nil && above(v, *b.AtMost):
		return 1
	}
	return 0
}

// Admits reports whether the hyperparameter of the condition may have this value, without And.
func (c *Condition) Admits(v float64) bool {
	if c.Values != nil {
		return slices.Contains(c.Values, v)
	}
	return c.Side(v) == 0
}

// Holds reports whether a condition holds, given the value of each hyperparameter and whether it
// matters. No condition, nil, always holds.
func (c *Condition) Holds(of func(name string) (v float64, matters bool)) bool {
	for ; c != nil; c = c.And {
		if v, matters := of(c.Name); !matters || !c.Admits(v) {
			return false
		}
	}
	return true
}

// Text is the condition in words: "kind is poly or rbf and rate is above 3". spelled writes a name,
// and value a value of a hyperparameter.
func (c *Condition) Text(spelled func(name string) string,
	value func(name string, v float64) string) string {
	var parts []string
	for ; c != nil; c = c.And {
		var values, bounds []string
		for _, v := range c.Values {
			values = append(values, value(c.Name, v))
		}
		for _, of := range []struct {
			text string
			v    *float64
		}{{"above", c.Above}, {"below", c.Below}, {"at least", c.AtLeast}, {"at most", c.AtMost}} {
			if of.v != nil {
				bounds = append(bounds, of.text+" "+value(c.Name, *of.v))
			}
		}
		text := cmp.Or(strings.Join(values, " or "), strings.Join(bounds, " and "))
		parts = append(parts, spelled(c.Name)+" is "+text)
	}
	return strings.Join(parts, " and ")
}

// within returns the condition with a prefix before its names.
func (c *Condition) within(prefix string) *Condition {
	if c == nil {
		return nil
	}
	of := *c
	of.Name, of.And = prefix+c.Name, c.And.within(prefix)
	return &of
}

// Constraint is a condition on several hyperparameters together. No search proposes a point where
// it does not hold. It holds where one of its hyperparameters does not matter.
type Constraint struct {
	Text  string   // how the user has written it
	Names []string // names of hyperparameters of a space
	// Holds is given their values in the order of Names, in natural units.
	Holds func(values []float64) bool `json:"-"`
}
