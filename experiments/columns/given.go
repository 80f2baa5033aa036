package columns

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Given has facts about the columns of a table that its owner knows, such as their types in Python.
// They take the place of what Read finds. A column that Read leaves out stays left out, unless it
// is among Inputs.
type Given struct {
	Label string `yaml:"-"` // name or number of the column; empty: the file decides
	// Texts lists columns whose few different texts are names: they have no order and are no
	// numbers. Dates, durations and numbers with a unit stay what they are.
	Texts      []cells.Name            `yaml:"texts"`
	Categories []cells.Name            `yaml:"categories"` // columns whose values are names, whatever they look like
	Columns    map[string]data.Meaning `yaml:"columns"`    // meanings of inputs
	Inputs     []cells.Name            `yaml:"inputs"`     // columns that are inputs, whatever their values look like
	Weights    cells.Name              `yaml:"weights"`    // column of case weights
	Group      cells.Name              `yaml:"group"`      // column of the groups; no other column has groups then
	ID         []cells.Name            `yaml:"id"`         // columns that identify cases
	Drop       []cells.Name            `yaml:"drop"`       // columns to leave out
	Positive   cells.Name              `yaml:"positive"`   // of two classes the one coded +1
	Order      []cells.Name            `yaml:"order"`      // all classes, the lowest first
}

// MakeInputs adds columns to Inputs.
func (g *Given) MakeInputs(names []string) {
	for _, name := range names {
		g.Inputs = append(g.Inputs, cells.Name(name))
	}
}

// asGiven is the reason of a use that the owner of the table knows.
const asGiven = "as given"

// check is an error if a given column is not in the table.
func (t *Table) check(given Given) error {
	names := slices.Concat(given.Texts, given.Categories, given.Inputs, given.ID, given.Drop,
		[]cells.Name{given.Weights, given.Group})
	for _, name := range slices.Sorted(maps.Keys(given.Columns)) {
		names = append(names, cells.Name(name))
	}
	var known []string
	for j := range t.Names {
		known = append(known, t.Naming(j))
	}
	for _, name := range names {
		if name != "" && !slices.Contains(known, string(name)) {
			return fmt.Errorf("no column %q%s (the file's columns are %s)", name, registry.Nearest(string(name), known),
				cells.List(known))
		}
	}
	return nil
}

// apply sets kind, use and meaning of the given columns. It is an error if a given input has too
// many different texts.
func (t *Table) apply(given Given, profiles []*profile) error {
	for j := range t.Columns {
		c, p, name := &t.Columns[j], profiles[j], cells.Name(t.Naming(j))
		meaning, described := given.Columns[string(name)]
		n := len(p.levels)
		_, isNumber := number.is(p)
		few := n > 0 && n <= mostCategories
		switch {
		case name == given.Weights && name != "":
			*c = Column{Name: p.name, Kind: weight.Name, Use: weights, Found: "how many cases each row counts as"}
		case name == given.Group && name != "":
			*c = Column{Name: p.name, Kind: group.Name, Use: Group, Found: asGiven}
		case slices.Contains(given.ID, name):
			*c = Column{Name: p.name, Kind: identifier.Name, Use: ID, Found: asGiven}
		case slices.Contains(given.Drop, name):
			*c = Column{Name: p.name, Kind: c.Kind, Use: Left, Found: asGiven}
		case c.Use == Group && given.Group != "":
			c.Use, c.Found = Left, "another column has the groups"
		case c.Use == Label && given.Order != nil:
			t.Spec.Order = given.Order
		case c.Use == Label && slices.Contains(given.Texts, name):
			t.Spec.Order = nil
		case c.Use != Input && (c.Use == Label || !slices.Contains(given.Inputs, name)):
		case described:
			*c = Column{Name: p.name, Kind: "given", Use: Input, Missing: p.missing, Date: meaning.Date,
				Unit: string(meaning.Unit), Limits: meaning.Limits, Duration: meaning.Duration, odd: c.odd,
				Found: asGiven}
			for _, text := range meaning.Ordered {
				c.Order = append(c.Order, string(text))
			}
			if c.Order != nil {
				c.Found = "values with an order, as given: " + strings.Join(c.Order, " < ")
			}
		case slices.Contains(given.Categories, name), c.Use != Input && !isNumber && few,
			slices.Contains(given.Texts, name) && few && (c.number || c.names || c.Order != nil):
			*c = Column{Name: p.name, Kind: category.Name, Use: Input, Missing: p.missing, Levels: n, names: true,
				Found: fmt.Sprintf("%d categories, as given: %s", n, p.some())}
		case c.Use != Input && !isNumber:
			return fmt.Errorf("column %q cannot be an input: %s", name, c.Found)
		case c.Use != Input:
			*c = Column{Name: p.name, Kind: number.Name, Use: Input, Missing: p.missing, number: true,
				Found: asGiven}
		}
	}
	t.Spec.Positive = given.Positive
	return nil
}
