// Package illustrate computes illustrations of models without data: draws from priors, likelihoods,
// posteriors of one or two latent values, and figures of exercises. An illustration is one file and
// one row of the table.
package illustrate

import (
	"context"
	"slices"

	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/record"
)

// Illustrations lists the kinds of illustrations, one file each.
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

// Illustration is a kind of illustration. Its options are its exported fields.
type Illustration interface {
	// Needs lists the parts that a model must have: of kernel, likelihood and inference.
	Needs() []string
	// Check calls put for every mistake in the options, and for every part of the model that cannot
	// be shown. at is the key or the part of the model.
	Check(m declared.Model, put func(at string, err error))
	// Fill computes the numbers. Random ones depend on seed only.
	Fill(ctx context.Context, i *record.Illustration, models []declared.Model, seed uint64) error
}

// Of returns the illustration of a model without numbers: its likelihood and, if it needs a kernel,
// its prior. Models with equal illustrations share one.
func Of(i Illustration, m declared.Model) record.Illustration {
	of := record.Illustration{Likelihood: m.Written.Likelihood.Component}
	if slices.Contains(i.Needs(), "kernel") {
		of.Kernel, of.Mean = m.Written.Kernel.Component, m.Written.Mean.Component
	}
	return of
}

// MaxIllustrations is the largest number of illustrations in one manifest.
const MaxIllustrations = 200
