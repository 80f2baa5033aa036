package objective

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Layout describes theta = [kernel_1 … kernel_J | mean | likelihood]: the order of its entries, and
// the positions of the free ones. The free entries, in this order, are the vector that optimisers
// move.
type Layout struct {
	Specs []param.Spec // all hyperparameters, in the order of theta
	Free  []int        // positions in theta of the free hyperparameters
	cut   []int        // kernel j has theta[cut[j]:cut[j+1]]; the mean and the likelihood follow
}

// kernel is the part of v, ordered like theta, that belongs to kernel j.
func (l Layout) kernel(v []float64, j int) []float64 { return v[l.cut[j]:l.cut[j+1]] }

// mean is the part of v that belongs to the prior mean.
func (l Layout) mean(v []float64) []float64 { return v[l.cut[len(l.cut)-3]:l.cut[len(l.cut)-2]] }

// likelihood is the part of v that belongs to the likelihood.
func (l Layout) likelihood(v []float64) []float64 { return v[l.cut[len(l.cut)-2]:] }

// FreeSpecs lists the free hyperparameters: the space that a search strategy works in.
func (l Layout) FreeSpecs() []param.Spec {
	specs := make([]param.Spec, len(l.Free))
	for i, j := range l.Free {
		specs[i] = l.Specs[j]
	}
	return specs
}

// Start is theta with every hyperparameter at its Init.
func (l Layout) Start() []float64 {
	return l.each(func(_ int, s param.Spec) float64 { return s.Map.Theta(s.Init) })
}

// choices returns Start and, for every value of every discrete hyperparameter, Start with that
// value. Other discrete hyperparameters are then set so that this one matters.
func (l Layout) choices() [][]float64 {
	all := [][]float64{l.Start()}
	for j, s := range l.Specs {
		for v := s.Lo; s.Map.Discrete() && v <= s.Hi; v++ {
			theta := l.Start()
			theta[j] = v
			for c := s.When; c != nil; {
				i := slices.IndexFunc(l.Specs, func(o param.Spec) bool { return o.Name == c.Name })
				theta[i], c = c.Values[0], l.Specs[i].When
			}
			all = append(all, theta)
		}
	}
	return all
}

// Natural converts theta to natural units.
func (l Layout) Natural(theta []float64) []float64 {
	return l.each(func(j int, s param.Spec) float64 { return s.Map.Natural(theta[j]) })
}

// Theta converts natural units to theta.
func (l Layout) Theta(natural []float64) []float64 {
	return l.each(func(j int, s param.Spec) float64 { return s.Map.Theta(natural[j]) })
}

func (l Layout) each(f func(j int, s param.Spec) float64) []float64 {
	v := make([]float64, len(l.Specs))
	for j, s := range l.Specs {
		v[j] = f(j, s)
	}
	return v
}

// Fill returns theta with the free entries given and the fixed ones at their Init.
func (l Layout) Fill(free []float64) []float64 {
	if len(free) != len(l.Free) {
		panic(fmt.Sprintf("objective: len(free) = %d, want %d", len(free), len(l.Free)))
	}
	theta := l.Start()
	for i, j := range l.Free {
		theta[j] = free[i]
	}
	return theta
}

// Pick returns the free entries of theta.
func (l Layout) Pick(theta []float64) []float64 {
	free := make([]float64, len(l.Free))
	for i, j := range l.Free {
		free[i] = theta[j]
	}
	return free
}

// LogPrior returns the sum of the log prior densities, over theta, of the free hyperparameters that
// have a prior, and adds its derivatives to grad, ordered like theta; grad may be nil.
func (l Layout) LogPrior(grad, theta []float64) float64 {
	sum := 0.0
	for _, j := range l.Free {
		if p := l.Specs[j].Prior; p != nil {
			value, slope := p.LogDensity(theta[j])
			sum += value
			if grad != nil {
				grad[j] += slope
			}
		}
	}
	return sum
}

// checkPriors returns an error if a hyperparameter that matters for some choices only has a prior:
// densities of different hyperparameters have no common scale on which choices could be compared.
func (l Layout) checkPriors() error {
	for _, s := range l.FreeSpecs() {
		if s.When != nil && s.Prior != nil {
			return fmt.Errorf("%s has a prior and matters for one %s only; the densities of two choices do not "+
				"compare: take the log evidence, or leave out the priors of what is chosen among", s.Name, s.When.Name)
		}
	}
	return nil
}

// Set sets the entry of theta, fixed or free, that has this theta name ("log_amplitude").
func (l Layout) Set(theta []float64, name string, value float64) error {
	names := make([]string, len(l.Specs))
	for j, s := range l.Specs {
		names[j] = s.ThetaName()
	}
	j := slices.Index(names, name)
	if j < 0 {
		return fmt.Errorf("unknown hyperparameter %q%s", name, registry.Suggest(name, names))
	}
	if !finite(value) {
		return fmt.Errorf("%s = %v must be finite", name, value)
	}
	if s := l.Specs[j]; s.Map.Discrete() {
		if err := s.Admits(value); err != nil {
			return err
		}
	}
	theta[j] = value
	return nil
}

// checkFinite returns an error that names an entry of theta that is not finite.
func (l Layout) checkFinite(theta []float64) error {
	for j, v := range theta {
		if !finite(v) {
			return fmt.Errorf("%s = %v must be finite", l.Specs[j].ThetaName(), v)
		}
	}
	return nil
}

// describe writes, for an error message, the free entries of theta that matter:
// "log_amplitude=1.15, log_length_scale=0".
func (l Layout) describe(theta []float64) string {
	if len(l.Free) == 0 {
		return "the fixed hyperparameters"
	}
	var parts []string
	matters := param.InForce(l.Specs, theta)
	for _, j := range l.Free {
		if matters[j] {
			parts = append(parts, fmt.Sprintf("%s=%.6g", l.Specs[j].ThetaName(), theta[j]))
		}
	}
	return strings.Join(parts, ", ")
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
