package illustrate

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/record"
)

// targetsIllustration shows how a classifier generates targets. Column x has the points of one
// input, f1 a draw of the latent function, and p1 the probability of class +1 by the likelihood.
// Column t1 has targets, which are +1 with probability p1 and else -1.
type targetsIllustration struct {
	Inputs places `yaml:"inputs"` // inputs of the latent function
}

func (targetsIllustration) Needs() []string { return []string{"kernel", "likelihood"} }

// prior returns the illustration of the latent function.
func (t targetsIllustration) prior() priorIllustration {
	return priorIllustration{Inputs: t.Inputs, Draws: 1}
}

func (t targetsIllustration) Check(m declared.Model, put func(at string, err error)) {
	if m.Likelihood.Domain() != likelihood.Binary {
		put("likelihood", fmt.Errorf("%s is not of two classes, whose targets are drawn; use probit or logit",
			m.Written.Likelihood))
		return
	}
	t.prior().Check(m, put)
}

func (t targetsIllustration) Fill(ctx context.Context, i *record.Illustration, models []declared.Model,
	seed uint64) error {
	if err := t.prior().Fill(ctx, i, models, seed); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(seed, 1))
	targets := record.Column{Name: "t1"}
	for _, p := range i.Column("p1") {
		target := record.Number(-1)
		if r.Float64() < p {
			target = 1
		}
		targets.Values = append(targets.Values, target)
	}
	i.Columns = append(i.Columns, targets)
	return nil
}
