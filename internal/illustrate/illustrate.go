// Package illustrate shows models without data: draws of the prior, likelihoods, posteriors of one
// or two latent values, and what exercises ask of them. An illustration is one file and one line of
// the table.
package illustrate

import (
	"context"

	"github.com/gpc-tune/gpc-tune/internal/model"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Illustrations lists what can be shown of models without data, one file each.
var Illustrations = registry.Table[Illustration]{
	registry.Of[priorIllustration, Illustration]("prior",
		"draws of the latent function over one input and, where the likelihood is of classes, what it makes of them",
		priorIllustration{Inputs: places{-5, 5, 201}, Draws: 3}),
	registry.Of[surfaceIllustration, Illustration]("surface", "draws of the latent function over two inputs",
		surfaceIllustration{Inputs: places{-1, 1, 31}, Draws: 1}),
	registry.Of[targetsIllustration, Illustration]("targets",
		"a draw of the latent function over one input, its probability of class +1, and targets drawn with it",
		targetsIllustration{Inputs: places{-5, 5, 81}}),
	registry.Of[likelihoodIllustration, Illustration]("likelihood",
		"log p(y|f) over f and its derivatives, as in GPML Figure 3.3",
		likelihoodIllustration{Latent: places{-3, 3, 201}, Label: 1}),
	registry.Of[posteriorIllustration, Illustration]("posterior",
		"the posterior of one or two latent values, exact and of every inference method, with its iterates, as in "+
			"GPML Figure 3.4", posteriorIllustration{Labels: []float64{1}}),
	registry.Of[softmaxIllustration, Illustration]("softmax",
		"class probabilities over one latent value, averaged ones, and the eigenvalues of W, as in GPML exercises "+
			"3.10.2 and 3.10.3", softmaxIllustration{Latent: places{-5, 5, 201}, Deviations: []float64{1, 1, 1}}),
	registry.Of[cavityIllustration, Illustration]("cavity",
		"the marginal and the cavity of EP over the precision of a site, as in GPML exercise 3.10.5",
		cavityIllustration{Labels: []float64{1, 1}, Precision: places{0, 2, 201}}),
}

// Illustration shows something of models without data. Its options are its exported fields.
type Illustration interface {
	// needs lists what a model must have: of kernel, likelihood and inference.
	Needs() []string
	// check hands every mistake in the options, and what of a model it cannot show, to put, with
	// the key or the part of the model that is at fault.
	Check(m model.Model, put func(at string, err error))
	// of is the illustration of a model, without numbers yet. Models of which it is the same are
	// shown in one.
	Of(m model.Model) record.Illustration
	// fill computes the numbers. Random ones depend on seed alone.
	Fill(ctx context.Context, i *record.Illustration, models []model.Model, seed uint64) error
}

// MaxIllustrations bounds what one manifest holds.
const MaxIllustrations = 200
