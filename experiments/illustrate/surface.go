package illustrate

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
)

// surfaceIllustration shows draws from a model's prior over a lattice of two inputs, at the initial
// hyperparameters: x1, x2, with x1 changing fastest, f1, f2, …, and p1, p2, …. Models that differ
// only in their kernels use the same random numbers.
type surfaceIllustration struct {
	Inputs places `yaml:"inputs"` // points along each axis
	Draws  int    `yaml:"draws"`
}

// maxEdge limits the points along an axis.
const maxEdge = 41

func (surfaceIllustration) Needs() []string { return []string{"kernel"} }

// on returns the model and the cases to draw at.
func (s surfaceIllustration) on(m declared.Model) (declared.Model, objective.Data, error) {
	m = drawn(m)
	at, err := s.Inputs.on(maxEdge)
	if err != nil {
		return m, objective.Data{}, err
	}
	n := len(at)
	x := mat.NewDense(n*n, 2, nil)
	for row := range n * n {
		x.SetRow(row, []float64{at[row%n], at[row/n]})
	}
	return m, objective.Data{X: &kernel.Inputs{X: x}}, nil
}

func (s surfaceIllustration) Check(m declared.Model, put func(at string, err error)) {
	checkDraws(s.Draws, put)
	m, cases, err := s.on(m)
	if err != nil {
		put("inputs", err)
		return
	}
	if m.Likelihood.Domain() == likelihood.Categorical {
		put("likelihood", fmt.Errorf("%s has a latent function for each class, and the surface of one is shown; use "+
			"probit or logit", m.Written.Likelihood))
		return
	}
	Drawable(m, cases, nil, "", put)
}

func (s surfaceIllustration) Fill(ctx context.Context, i *record.Illustration, models []declared.Model,
	seed uint64) error {
	m, cases, err := s.on(models[0])
	if err != nil {
		return err
	}
	return Draw(ctx, m, i, cases, []string{"x1", "x2"}, m.On(0).LayoutOn(cases).Start(), s.Draws, seed)
}
