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

// priorIllustration shows draws from a model's prior at the initial hyperparameters: x, f1, f2, …,
// and p1, p2, …, as gpc-tune sample does.
type priorIllustration struct {
	Inputs  places   `yaml:"inputs"` // inputs of the latent function
	Draws   int      `yaml:"draws"`
	Classes []string `yaml:"classes"` // only for softmax: one latent function for each class
}

// maxDraws limits the columns of one illustration.
const maxDraws = 100

func (priorIllustration) Needs() []string { return []string{"kernel"} }

// drawn returns the model to draw from. A model without a likelihood has only its latent function.
func drawn(m declared.Model) declared.Model {
	if m.Likelihood == nil {
		m.Likelihood = likelihood.Gaussian{}
	}
	return m
}

// checkDraws reports an invalid number of draws.
func checkDraws(n int, put func(at string, err error)) {
	if n < 1 || n > maxDraws {
		put("draws", fmt.Errorf("%d draws; ask for 1 to %d", n, maxDraws))
	}
}

// on returns the model and the cases to draw at.
func (p priorIllustration) on(m declared.Model) (declared.Model, objective.Data, error) {
	m = drawn(m)
	x, err := p.Inputs.on(maxPlaces)
	if err != nil {
		return m, objective.Data{}, err
	}
	return m, objective.Data{X: &kernel.Inputs{X: mat.NewDense(len(x), 1, x)}, Classes: p.Classes}, nil
}

func (p priorIllustration) Check(m declared.Model, put func(at string, err error)) {
	checkDraws(p.Draws, put)
	if n := len(p.Classes); n > maxDraws {
		put("classes", fmt.Errorf("%d classes; at most %d", n, maxDraws))
		return
	}
	m, cases, err := p.on(m)
	if err != nil {
		put("inputs", err)
		return
	}
	Drawable(m, cases, p.Classes, "classes: [a, b, c]", put)
}

func (p priorIllustration) Fill(
	ctx context.Context, i *record.Illustration, models []declared.Model, seed uint64,
) error {
	m, cases, err := p.on(models[0])
	if err != nil {
		return err
	}
	layout := m.On(len(cases.Classes)).LayoutOn(cases)
	return Draw(ctx, m, i, cases, []string{"x"}, layout.Start(), p.Draws, seed)
}
