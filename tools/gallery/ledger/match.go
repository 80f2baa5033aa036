package ledger

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/experiments/gallery"
)

// Claims maps the name of a source to its claims.
type Claims map[string][]Claim

// match finds the claim of every row. These are errors: a row without a claim, a row with two
// claims, a claim without a row, and a claim that check rejects.
func (c Claims) match(rows []Row) (of map[string]Claim, err error) {
	fault := func(format string, a ...any) { err = errors.Join(err, fmt.Errorf(format, a...)) }
	known := map[string]bool{}
	for _, row := range rows {
		if known[row.String()] {
			fault("%v: twice in the ledger", row)
		}
		known[row.String()] = true
	}
	of = map[string]Claim{}
	for source, claims := range c {
		for _, claim := range claims {
			name := source + ": " + claim.Row
			if !known[name] {
				fault("%s: a claim of a row that is not in the ledger", name)
			}
			if _, twice := of[name]; twice {
				fault("%s: two claims", name)
			}
			if wrong := claim.check(); wrong != nil {
				fault("%s: %w", name, wrong)
			}
			of[name] = claim
		}
	}
	for _, row := range rows {
		if _, ok := of[row.String()]; !ok {
			fault("%v: no claim", row)
		}
	}
	return of, err
}

// check returns the error in a claim, if it has one.
func (c Claim) check() error {
	ways := 0
	for _, is := range []bool{c.Figure != "", c.Check != nil, c.None != ""} {
		if is {
			ways++
		}
	}
	if ways != 1 {
		return fmt.Errorf("the claim has %d of Figure, Check and None, and must have one", ways)
	}
	if c.None == "" && len(c.experiments()) == 0 {
		return errors.New("the claim does not say From which experiment")
	}
	if (c.Why == "") != (c.Cause == "") {
		return errors.New("the claim has one of Cause and Why, and must have both or none")
	}
	for _, name := range c.experiments() {
		if !slices.Contains(gallery.Names(), name) {
			return fmt.Errorf("there is no gallery:%s", name)
		}
	}
	return nil
}
