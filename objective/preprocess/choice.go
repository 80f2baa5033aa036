package preprocess

import (
	"cmp"
	"errors"

	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Choice is a value of the key preprocess: a method of Table, fitted on the training part of every
// split, or as {whiten: all} on all training cases before they are split. The latter uses the
// inputs of cases that folds hold out, but not their labels. The values that replace missing ones
// come from the same cases. The zero Choice is the default.
type Choice struct {
	How         string `yaml:"-"` // the method's name, if no cases are given
	Standardize *Cases `yaml:"standardize"`
	Whiten      *Cases `yaml:"whiten"`
}

// Cases names the cases on which a map is fitted.
type Cases int

const (
	ofTraining Cases = iota // the training part of a split
	ofAll                   // all training cases, before they are split
)

// Names are the texts that UnmarshalText reads.
func (Cases) Names() []string { return []string{"training", "all"} }

// UnmarshalText reads a name of cases.
func (c *Cases) UnmarshalText(text []byte) error {
	return registry.Choose(c, "cases", text)
}

// UnmarshalText reads the name of a method.
func (c *Choice) UnmarshalText(text []byte) error {
	*c = Choice{How: string(text)}
	return nil
}

// Check returns an error if two methods are given, or an unknown one.
func (c Choice) Check() error {
	if c.Standardize != nil && c.Whiten != nil {
		return errors.New("standardize and whiten are both given; keep one")
	}
	return registry.Known("value", c.Method(), Table.Names())
}

// Method is the name of the method in Table.
func (c Choice) Method() string {
	switch {
	case c.Standardize != nil:
		return "standardize"
	case c.Whiten != nil:
		return "whiten"
	}
	return cmp.Or(c.How, Table[0].Name)
}

// All reports whether the map is fitted on all training cases, before they are split.
func (c Choice) All() bool { return is(c.Standardize) || is(c.Whiten) }

func is(c *Cases) bool { return c != nil && *c == ofAll }

// String is the choice as written in tables: whiten, or whiten(all).
func (c Choice) String() string {
	if c.All() {
		return c.Method() + "(all)"
	}
	return c.Method()
}
