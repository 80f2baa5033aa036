package columns

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// Given has facts about the columns of a table that its owner knows, such as their types in Python.
// They take the place of what Read finds. A column that Read leaves out stays left out.
type Given struct {
	Label string `yaml:"-"` // name or number of the column; empty: the file decides
	// Texts lists columns whose few different texts are names: they have no order and are no
	// numbers. Dates, durations and numbers with a unit stay what they are.
	Texts      []cells.Name            `yaml:"texts"`
	Categories []cells.Name            `yaml:"categories"` // columns whose values are names, whatever they look like
	Columns    map[string]data.Meaning `yaml:"columns"`    // meanings of inputs
	Weights    cells.Name              `yaml:"weights"`    // column of case weights
	Group      cells.Name              `yaml:"group"`      // column of the groups; no other column has groups then
	ID         []cells.Name            `yaml:"id"`         // columns that identify cases
	Drop       []cells.Name            `yaml:"drop"`       // columns to leave out
	Positive   cells.Name              `yaml:"positive"`   // of two classes the one coded +1
	Order      []cells.Name            `yaml:"order"`      // all classes, the lowest first
}

// apply sets kind, use and meaning of the given columns.
func (t *Table) apply(given Given, profiles []*profile) {
	for j := range t.Columns {
		c, p, name := &t.Columns[j], profiles[j], cells.Name(t.Naming(j))
		meaning, described := given.Columns[string(name)]
		n := len(p.levels)
		switch {
		case name == given.Weights && name != "":
			*c = Column{Name: p.name, Kind: weight.Name, Use: weights, Found: "how many cases each row counts as"}
		case name == given.Group && name != "":
			*c = Column{Name: p.name, Kind: group.Name, Use: Group, Found: "as given"}
		case slices.Contains(given.ID, name):
			*c = Column{Name: p.name, Kind: identifier.Name, Use: ID, Found: "as given"}
		case slices.Contains(given.Drop, name):
			*c = Column{Name: p.name, Kind: c.Kind, Use: Left, Found: "as given"}
		case c.Use == Group && given.Group != "":
			c.Use, c.Found = Left, "another column has the groups"
		case c.Use == Label && given.Order != nil:
			t.Spec.Order = given.Order
		case c.Use == Label && slices.Contains(given.Texts, name):
			t.Spec.Order = nil
		case c.Use != Input:
		case described:
			*c = Column{Name: p.name, Kind: "given", Use: Input, Missing: p.missing, Date: meaning.Date,
				Unit: string(meaning.Unit), Limits: meaning.Limits, Duration: meaning.Duration, odd: c.odd,
				Found: "as given"}
			for _, text := range meaning.Ordered {
				c.Order = append(c.Order, string(text))
			}
			if c.Order != nil {
				c.Found = "values with an order, as given: " + strings.Join(c.Order, " < ")
			}
		case slices.Contains(given.Categories, name), slices.Contains(given.Texts, name) && n > 0 &&
			n <= mostCategories && (c.number || c.names || c.Order != nil):
			*c = Column{Name: p.name, Kind: category.Name, Use: Input, Missing: p.missing, Levels: n, names: true,
				Found: fmt.Sprintf("%d categories, as given: %s", n, p.some())}
		}
	}
	t.Spec.Positive = given.Positive
}
