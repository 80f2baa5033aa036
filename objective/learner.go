package objective

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Learner makes a classifier from a training set. Its random numbers depend on seed alone.
type Learner interface {
	Fit(ctx context.Context, d Data, seed uint64) (Fitted, error)
}

// Fitted is a classifier. PredictProba sets row i of dst, m×C, to the class probabilities of the
// i-th case of z; rows sum to 1, and for two classes column 1 is y = +1.
type Fitted interface {
	PredictProba(dst *mat.Dense, z *kernel.Inputs)
}

// Classifier is the Gaussian-process classifier as a Learner: it tunes the free hyperparameters and
// keeps the model fitted at the best values.
type Classifier struct {
	Model     Model
	Criterion Criterion // nil is LogEvidence
	Restarts  int       // 0 is 1
	Settings  Settings
	Average   Average // nil is Averaged
}

// Tuned is a fitted Classifier.
type Tuned struct {
	Point   *Point
	Tuning  Tuning
	average Average
}

// Fit tunes and fits; the result is a *Tuned. Restarts run one after another, because callers run
// several fits at once.
func (c Classifier) Fit(ctx context.Context, d Data, seed uint64) (Fitted, error) {
	if c.Criterion == nil {
		c.Criterion = LogEvidence{}
	}
	if c.Average == nil {
		c.Average = Averaged{}
	}
	if r, ok := c.Average.(Random); ok {
		c.Average = r.Seeded(seed)
	}
	if err := c.Average.Uses(c.Model.Likelihood); err != nil {
		return nil, err
	}
	o, err := New(c.Model, c.Criterion, d)
	if err != nil {
		return nil, err
	}
	tuning, err := Maximize(ctx, o, Restarts{Count: c.Restarts, Seed: seed, Workers: 1}, c.Settings)
	if err != nil {
		return nil, err
	}
	point, err := o.At(ctx, tuning.Theta)
	if err != nil {
		return nil, err
	}
	return &Tuned{Point: point, Tuning: tuning, average: c.Average}, nil
}

// PredictProba predicts with the classifier's Average.
func (t *Tuned) PredictProba(dst *mat.Dense, z *kernel.Inputs) {
	t.Point.PredictProba(dst, z, t.average)
}
