// Package job is what one job does on one training set: a trial of a study, or its assessment. It
// knows nothing of files, keys and folders.
package job

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
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
	// Evaluations is the most that it makes, 0: its own limit.
	Evaluations int
	TraceScores bool             // the held-out cases are scored where each of its iterations ends
	Chain       *objective.Chain // what starts at a point instead; nil: none
	Average     objective.Average
	Adjust      *Adjust           // what is learnt of the predictions; nil: nothing
	Keeps       bool              // whoever runs the job wants the fit
	kept        comparator.Fitted // the comparator's
	keptModel   *ModelFit         // the model's
	// Twin is the job on the same cases that differs in what is held out alone; nil: none. What it
	// comes to at the same points is left there for it.
	Twin *Job
	left left
	Set  *Set
	// choices has an *objective.Choices for each *Set that models are fitted to.
	choices sync.Map
	Score   *cv.Score // what is tuned over folds, with its sign such that more is better; nil: the criterion
	Folds   []*Set
}

// Where names a fit in failures.
func (j *Job) Where() string {
	if slices.Contains([]string{"train", "training", "test"}, j.Set.Evaluation) {
		return "all training data"
	}
	return fmt.Sprintf("%s repeat %d fold %d", j.Set.Evaluation, j.Set.Repeat, j.Set.Fold)
}

// Objective is that of a model on the job's training set, with its inducing inputs chosen.
func (j *Job) Objective(ctx context.Context, m objective.Model, c objective.Criterion) (*objective.Objective,
	*Prepared, error) {
	p, err := j.Set.Prepare()
	if err != nil {
		return nil, nil, err
	}
	o, err := j.newObjective(ctx, m, c, j.Set, p)
	return o, p, err
}

// newObjective is that of a model on a set, which has the inducing inputs of those before.
func (j *Job) newObjective(ctx context.Context, m objective.Model, c objective.Criterion, set *Set, p *Prepared) (
	*objective.Objective, error) {
	o, err := objective.New(m, c, p.Data)
	if err == nil {
		kept, _ := j.choices.LoadOrStore(set, new(objective.Choices))
		err = objective.Choose(ctx, o, kept.(*objective.Choices))
	}
	return o, err
}

// nan stands where there is no number.
var nan = record.Number(math.NaN())

// ErrNoFit: no configuration could be fitted.
var ErrNoFit = errors.New("nothing could be fitted")

// Memory is how many bytes the larger of a study's jobs takes: a trial or the assessment.
func (j *Job) Memory(s approx.Size) int64 {
	_, dim := j.Set.Source.X.Dims()
	silent, shown := s, s // nothing is predicted, and what figures show too
	silent.New = 0
	if j.Whole {
		shown.New = max(s.New, j.Set.lattice().size())
	}
	if j.Comparator != nil {
		fits := int64(1)
		if j.Adjust != nil {
			fits = 2
		}
		return Footprint(fits * (2*8*int64(s.Cases+shown.New)*int64(dim) + j.Comparator.Memory(shown, dim)))
	}
	if j.Whole {
		shown.New = max(shown.New, s.Cases)
	}
	assess := j.Model.Memory(shown, dim, nil, false)
	if j.Whole {
		assess = max(assess, j.Model.Memory(silent, dim, objective.LeaveOneOut{}, false))
	}
	if j.Curvature {
		assess += j.Tuned.Memory(silent, dim, j.Criterion, true)
	}
	if j.Adjust != nil { // a fit to an inner fold beside the one to all
		assess *= 2
	}
	trial := j.Tuned.Memory(silent, dim, j.Criterion, j.Gradients == objective.Exact)
	switch {
	case j.Optimizer == "":
		trial = j.Tuned.Memory(s, dim, j.Criterion, false)
		if j.Hybrid {
			trial += j.Model.Memory(s, dim, nil, false)
		}
	case j.TraceScores: // once the optimiser is done
		trial = max(trial, j.Model.Memory(s, dim, nil, false))
	}
	inputs := 2 * 8 * int64(s.Cases+shown.New) * int64(dim) // and as they came
	return Footprint(inputs + max(trial, assess))
}

// MemoryWith is that with other models.
func (j *Job) MemoryWith(s approx.Size, model, tuned objective.Model) int64 {
	other := Job{Model: model, Tuned: tuned, Hybrid: j.Hybrid, Criterion: j.Criterion, Curvature: j.Curvature,
		Whole: j.Whole, Optimizer: j.Optimizer, Gradients: j.Gradients, TraceScores: j.TraceScores, Chain: j.Chain,
		Set: j.Set}
	return other.Memory(s)
}

const (
	// Slack is the share of what is in use, in percent, that the garbage collector leaves lying
	// about. A quarter costs next to nothing where memory is in matrices, which hold no pointers.
	Slack = 25
	// jobOverhead is what a job takes however small it is: buffers of products, and the collector's
	// first stretch.
	jobOverhead = 8 << 20
)

// Footprint is what a job takes that needs so many bytes.
func Footprint(bytes int64) int64 { return jobOverhead + bytes*(100+Slack)/100 }

// ModelFit is what there is to keep of a model that is fitted: its log evidence, in nats, and its
// state.
type ModelFit struct {
	LogEvidence float64
	State       approx.State
	Z           *mat.Dense // inducing inputs, for which the state is condensed; nil: it is of the cases
}
