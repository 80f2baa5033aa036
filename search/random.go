package search

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
)

// Random draws points uniformly on the theta scale. More trials extend the same list.
type Random struct {
	Design `yaml:",inline"`
}

// Ask implements Strategy.
func (r Random) Ask(s Space, done []record.Trial, seed uint64) []Proposal {
	return r.ask(s, done, func(u *mat.Dense) {
		rng := rand.New(param.Source(seed, 0))
		for i, raw := 0, u.RawMatrix().Data; i < len(raw); i++ {
			raw[i] = rng.Float64()
		}
	})
}
