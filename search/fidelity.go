package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
)

// Fidelity is the option of a strategy that gives most trials a fraction of a budget, such as a
// number of cases or of epochs. These trials are preliminary: only a trial with the whole budget
// can win.
type Fidelity struct {
	// name of the hyperparameter that is the budget, or a name in Shares
	Of  string `yaml:"budget"`
	Eta int    `yaml:"eta" within:"[2,100]"` // ratio of two budgets; 0 means 3
}

// Shares are the names of the budgets of a model. A trial can have a fraction of such a budget.
var Shares = []string{"cases", "folds", "inducing"}

// Partial is a Strategy with a Fidelity.
type Partial interface {
	Strategy
	fidelity() Fidelity
}

func (f Fidelity) fidelity() Fidelity { return f }

// FidelityOf is the Fidelity of a strategy; zero if it has none.
func FidelityOf(s Strategy) Fidelity {
	if p, is := s.(Partial); is {
		return p.fidelity()
	}
	return Fidelity{}
}

func (f Fidelity) eta() float64 { return float64(cmp.Or(f.Eta, 3)) }

// check returns an error if the space has no such budget.
func (f Fidelity) check(s Space, method string) error {
	i := s.Index(f.Of)
	switch {
	case f.Of == "":
		return fmt.Errorf("%s needs budget: NAME: of a model %s, of a program the hyperparameter that makes a trial "+
			"longer and better", method, strings.Join(Shares, ", "))
	case i < 0 && !f.Shares(s):
		return fmt.Errorf("budget: there is no hyperparameter %q", f.Of)
	case i >= 0 && (s[i].Map == param.Choice || s[i].When != nil || !(s[i].Lo > 0)):
		return fmt.Errorf("budget: %s must be a number above 0 that matters always", f.Of)
	}
	for _, p := range s {
		for _, c := range p.Where {
			if slices.Contains(c.Names, f.Of) {
				return fmt.Errorf("where: %q names the budget %s, which the search decides", c.Text, f.Of)
			}
		}
	}
	return nil
}

// Shares reports whether the budget is one of Shares, and no hyperparameter.
func (f Fidelity) Shares(s Space) bool { return slices.Contains(Shares, f.Of) && s.Index(f.Of) < 0 }

// propose makes trials of points with a fraction of the budget.
func (f Fidelity) propose(s Space, points [][]float64, part float64) (next []Proposal) {
	for _, theta := range points {
		p := Proposal{}
		if i := s.Index(f.Of); i >= 0 {
			theta = slices.Clone(theta)
			theta[i] = f.at(s, part)
			theta = s.roundToGrid(theta)
			p.Preliminary = theta[i] < s[i].Map.Theta(s[i].Hi)
		} else if part < 1 {
			p.Preliminary, p.Share = true, record.Share{Of: f.Of, Part: part}
		}
		p.Points = [][]float64{theta}
		next = append(next, p)
	}
	return next
}

// at is the value, on the theta scale, of the budget hyperparameter at this fraction of the whole
// budget.
func (f Fidelity) at(s Space, part float64) float64 {
	of := s[s.Index(f.Of)]
	return of.Map.Theta(max(of.Hi*part, of.Lo))
}
