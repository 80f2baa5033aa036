package search_test

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/objective/param"
	"github.com/gpc-tune/gpc-tune/search"
)

// The caller evaluates the points that the strategy proposes and reports the results, until the
// strategy proposes no more.
func ExampleStrategy() {
	space := search.Space{param.Setting{}.Spec("length_scale", param.Log, 1)}
	var s search.Strategy = search.NelderMead{Evaluations: 20}
	var done []search.Trial
	best := search.Point{Value: -1e9}
	for batch := s.Ask(space, done, 1); len(batch) > 0; batch = s.Ask(space, done, 1) {
		for _, p := range batch {
			theta := p.Points[0]
			at := search.Point{Theta: theta, Value: -(theta[0] - 1) * (theta[0] - 1)}
			if done = append(done, search.Trial{Points: []search.Point{at}}); at.Value > best.Value {
				best = at
			}
		}
	}
	fmt.Printf("%d trials, best near 1: %t\n", len(done), best.Value > -1e-3)
	// Output:
	// 20 trials, best near 1: true
}
