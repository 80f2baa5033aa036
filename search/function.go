package search

import (
	"context"

	"github.com/gpc-tune/gpc-tune/record"
)

// Function is an objective that is no model's, with its space and the strategy that searches it.
type Function struct {
	// Name says which function it is. Results under another name are not used, so change it with
	// the function.
	Name     string
	Space    Space
	Strategy Strategy // one that evaluates points as they are, such as Bayes
	Seed     uint64
	Stop     Stop // ends the search before the strategy does
	Minimize bool // the smallest value is the best
	// Value is the objective at x, in the order of Space and in natural units. An error, or a value
	// that is not finite, is the failure of that point. Workers call it at the same time.
	Value func(ctx context.Context, x []float64) (float64, error)
}

// Study is the search, under a key that stands for all that the values depend on.
func (f Function) Study(key string) Study {
	s := Study{Key: key, Space: f.Space, Strategy: f.Strategy, Stop: f.Stop, Seed: f.Seed, Minimize: f.Minimize}
	if s.Stop.Target != nil && f.Minimize { // what is maximised has the other sign
		target := -*s.Stop.Target
		s.Stop.Target = &target
	}
	s.Value = func(ctx context.Context, theta []float64) (float64, error) {
		value, err := f.Value(ctx, record.Floats(s.natural(theta)))
		if f.Minimize {
			value = -value
		}
		return value, err
	}
	return s
}
