package search

import (
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/samplemv"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
)

// LatinHypercube divides the range of every hyperparameter in the box into as many equal parts as
// there are trials and draws one value from each part; the values are paired at random across
// hyperparameters (McKay, Beckman & Conover 1979).
type LatinHypercube struct {
	Design `yaml:",inline"`
}

// Ask implements Strategy.
func (l LatinHypercube) Ask(s Space, done []record.Trial, seed uint64) []Proposal {
	return l.ask(s, done, func(u *mat.Dense) {
		samplemv.LatinHypercube{Q: distmv.NewUnitUniform(len(s), nil), Src: param.Source(seed, 0)}.Sample(u)
	})
}
