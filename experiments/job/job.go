// Package job computes one job on one training set: a trial of a study, or its assessment. It does
// not know files, keys and folders.
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
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/record"
)

// Job computes the trials and the assessment of one study.
type Job struct {
	Comparator comparator.Comparator // used instead of the model; nil: none
	Model      objective.Model       // the model that predicts
	Tuned      objective.Model       // the model that is tuned: the same, possibly with another inference method
	Hybrid     bool
	// Starting is the model whose optimum is the start of the local optimiser; without inference if
	// there is none.
	Starting   objective.Model
	StartCases int                 // number of training cases for this optimum; 0: all
	Criterion  objective.Criterion // criterion of Tuned
	Curvature  bool                // compute standard errors
	Whole      bool                // the training set is all of the training data
	Optimizer  string              // the local optimiser; "" evaluates points without optimising
	Gradients  objective.Gradients // gradients that the local optimiser uses
	// Climbs compares the end of the search with climbs of bfgs.
	Climbs bool
	// Evaluations is the largest number of evaluations by the local optimiser; 0: its default.
	Evaluations int
	TraceScores bool             // score the held-out cases at every iteration of the optimiser
	Chain       *objective.Chain // the Markov chain that starts at a point instead; nil: none
	Average     objective.Average
	Adjust      *Adjust           // calibration or threshold learnt from predictions; nil: neither
	Keeps       bool              // the caller uses the fit afterwards
	kept        comparator.Fitted // the fitted comparator
	keptModel   *ModelFit         // the fitted model
	// SameTraining is the job on the same training cases with other held-out cases; nil: none. Its
	// results for the same points are computed here too and kept for it.
	SameTraining *Job
	trials       sharedResults[record.Trial]
	fits         sharedResults[record.Fit]
	Set          *Set
	// choices has an *objective.Choices for each *Set that models are fitted to, and each fewer.
	choices sync.Map
	// Score is the score that is tuned over folds, with the sign for which greater is better; nil:
	// Criterion is tuned.
	Score *cv.Score
	Folds []*Set
}

// Where describes a fit in failures.
func (j *Job) Where() string {
	if slices.Contains([]string{"train", "training", "test"}, j.Set.Evaluation) {
		return "all training data"
	}
	return fmt.Sprintf("%s repeat %d fold %d", j.Set.Evaluation, j.Set.Repeat, j.Set.Fold)
}

// Objective is the objective of a model on the job's training set, with selected inducing inputs.
func (j *Job) Objective(ctx context.Context, m objective.Model, c objective.Criterion) (*objective.Objective,
	*Prepared, error) {
	p, err := j.Set.Prepare()
	if err != nil {
		return nil, nil, err
	}
	o, err := j.newObjective(ctx, m, c, j.Set, p)
	return o, p, err
}

// starting returns the objective of the model that finds the start of the local optimiser. It has
// StartCases training cases, with the preprocessing of all training cases.
func (j *Job) starting(ctx context.Context) (*objective.Objective, error) {
	if j.StartCases == 0 {
		o, _, err := j.Objective(ctx, j.Starting, j.Criterion)
		return o, err
	}
	p, err := j.Set.Prepare()
	if err != nil {
		return nil, err
	}
	return j.newObjective(ctx, j.Starting, j.Criterion, fewer{j.Set, j.StartCases}, p.some(j.Set.some(j.StartCases)))
}

// sharing returns the objective of a trial on a set, with the trial's fraction of the budget.
func (j *Job) sharing(ctx context.Context, c objective.Criterion, set *Set, p *Prepared, share record.Share) (
	*objective.Objective, error) {
	m, key := j.Tuned, any(set)
	switch share.Of {
	case "cases":
		n := min(len(set.Train), max(2, share.Some(len(set.Train))))
		p, key = p.some(set.some(n)), fewer{set, n}
	case "inducing":
		i := objective.InducingOf(m.Inference)
		i.Points = share.Some(i.Points)
		m.Inference, _ = approx.With(m.Inference, i)
		key = fewer{set, -i.Points}
	}
	return j.newObjective(ctx, m, c, key, p)
}

// fewer is a key of selected inducing inputs: n cases of a set or, if n is negative, -n inducing
// inputs for all cases.
type fewer struct {
	*Set
	n int
}

// newObjective is the objective of a model on prepared cases of a set. It reuses inducing inputs
// selected before for the set.
func (j *Job) newObjective(ctx context.Context, m objective.Model, c objective.Criterion, set any, p *Prepared) (
	*objective.Objective, error) {
	o, err := objective.New(m, c, p.Data)
	if err == nil {
		kept, _ := j.choices.LoadOrStore(set, new(objective.Choices))
		err = objective.Choose(ctx, o, kept.(*objective.Choices))
	}
	return o, err
}

// nan stands for a missing number.
var nan = record.Number(math.NaN())

// ErrNoFit: no configuration could be fitted.
var ErrNoFit = errors.New("nothing could be fitted")

// Memory is the number of bytes that the larger job of a study needs: a trial or the assessment.
func (j *Job) Memory(s approx.Size) int64 {
	_, dim := j.Set.Source.X.Dims()
	silent, shown := s, s // silent has no predictions, shown the predictions of figures
	silent.New = 0
	if j.Whole {
		shown.New = max(s.New, j.Set.lattice().size())
	}
	if j.Comparator != nil {
		fits := int64(1)
		if j.Adjust != nil {
			fits = 2
		}
		inputs := 2 * 8 * int64(s.Cases+shown.New) * int64(dim)
		return machine.Footprint(fits*(inputs+j.Comparator.Memory(shown, dim)), machine.Slack)
	}
	if j.Whole {
		shown.New = max(shown.New, s.Cases)
	}
	assess := j.Model.Memory(shown, dim, nil, false)
	if j.Whole {
		assess = max(assess, j.Model.Memory(silent, dim, objective.LeaveOneOut{}, false))
	}
	if j.Curvature || j.Climbs {
		assess += j.Tuned.Memory(silent, dim, j.Criterion, true)
	}
	if j.Adjust != nil { // one more fit at a time, on an inner fold
		assess *= 2
	}
	trial := j.Tuned.Memory(silent, dim, j.Criterion, j.Gradients == objective.Exact)
	switch {
	case j.Optimizer == "":
		trial = j.Tuned.Memory(s, dim, j.Criterion, false)
		if j.Hybrid {
			trial += j.Model.Memory(s, dim, nil, false)
		}
	case j.TraceScores: // after the optimiser has finished
		trial = max(trial, j.Model.Memory(s, dim, nil, false))
	}
	if j.Starting.Inference != nil {
		trial = max(trial, j.Starting.Memory(silent, dim, j.Criterion, j.Gradients == objective.Exact))
	}
	inputs := 2 * 8 * int64(s.Cases+shown.New) * int64(dim) // inputs, preprocessed and raw
	return machine.Footprint(inputs+max(trial, assess), machine.Slack)
}

// MemoryWith is Memory for other models.
func (j *Job) MemoryWith(s approx.Size, model, tuned objective.Model) int64 {
	other := Job{Model: model, Tuned: tuned, Hybrid: j.Hybrid, Criterion: j.Criterion, Curvature: j.Curvature,
		Whole: j.Whole, Optimizer: j.Optimizer, Gradients: j.Gradients, TraceScores: j.TraceScores, Chain: j.Chain,
		Climbs: j.Climbs, Set: j.Set}
	return other.Memory(s)
}

// ModelFit has the parts of a fitted model that are kept: its log evidence, in nats, and its state.
type ModelFit struct {
	LogEvidence float64
	State       approx.State
	// Z has the inducing inputs for which the state is condensed. It is nil if the state is for all
	// cases, and has no rows for a condensed comparator.
	Z *mat.Dense
}
