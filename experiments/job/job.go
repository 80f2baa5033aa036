package job

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
)

// Job makes the trials and the assessment of one study.
type Job struct {
	Comparator comparator.Comparator // what there is instead of the model; nil: none
	Model      objective.Model       // what predicts
	Tuned      objective.Model       // the same with another inference method, if hybrid
	Hybrid     bool
	Criterion  objective.Criterion // of tuned
	Curvature  bool                // standard errors are asked for
	Whole      bool                // the training set is all of the training data
	Optimizer  string              // the local optimiser, "" for plain points
	Gradients  objective.Gradients // of the local optimiser
	Chain      *objective.Chain    // what starts at a point instead; nil: none
	Average    objective.Average
	Keeps      bool              // whoever runs the job wants the comparator
	kept       comparator.Fitted // which it was
	Set        *Set
	Score      *cv.Score // what is tuned over folds, with its sign such that more is better; nil: the criterion
	Folds      []*Set
}

// Where names a fit in failures.
func (j *Job) Where() string {
	if slices.Contains([]string{"train", "training", "test"}, j.Set.Evaluation) {
		return "all training data"
	}
	return fmt.Sprintf("%s repeat %d fold %d", j.Set.Evaluation, j.Set.Repeat, j.Set.Fold)
}

func (j *Job) Objective(m objective.Model, c objective.Criterion) (*objective.Objective, *Prepared, error) {
	p, err := j.Set.Prepare()
	if err != nil {
		return nil, nil, err
	}
	o, err := objective.New(m, c, p.Data)
	return o, p, err
}

// nan stands where there is no number.
var nan = record.Number(math.NaN())

// ErrNoFit: no configuration could be fitted.
var ErrNoFit = errors.New("nothing could be fitted")
