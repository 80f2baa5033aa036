package schedule

import (
	"context"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// Function is an objective in Go code, not from a model, with its space and the strategy that
// searches it.
type Function struct {
	// Name identifies the function. Results under another name are not reused, so change the name
	// when the function changes.
	Name     string
	Space    search.Space
	Strategy search.Strategy // one that evaluates points as they are, such as Bayes
	Seed     uint64
	Stop     Stop // ends the search before the strategy does
	Minimize bool // the smallest value is the best
	// Objectives are the names of several values of Evaluation.Set, all minimised; nil: Value is
	// the objective. Value is then the first of them.
	Objectives []string
	Require    []Require // bounds for values of Evaluation.Set
	Early      EarlyStop // ends trials early; nil: they run to their end
	// Noise means that Value would be another one at the same x. The best is then the point with
	// the best expected value, by a regression of all values.
	Noise bool
	Ends  bool // Value returns soon after its context has ended, and the run waits for that
	Told  bool // the values are told (Ask and Tell), and Value is not called
	// Value is the objective at x, in the order of Space and in natural units. An error, or a value
	// that is not finite, is the failure of that point. Workers call it at the same time.
	Value func(ctx context.Context, x []float64) (float64, error)
}

// Study is the search as a Study. The key must identify everything on which the values depend.
func (f Function) Study(key string) Study {
	s := Study{Key: key, Space: f.Space, Strategy: f.Strategy, Stop: f.Stop, Seed: f.Seed, Minimize: f.Minimize,
		Told: f.Told, Ends: f.Ends, Early: f.Early, Noise: f.Noise,
		Objectives: f.Objectives, Require: f.Require}
	if s.Stop.Target != nil && f.Minimize { // the maximised value has the other sign
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
