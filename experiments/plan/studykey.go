package plan

import (
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/search"
)

// studyKey identifies a study by everything that determines its results.
func studyKey(t *job.Set, identity []byte) string {
	return hashed(identity, mustMarshal([]any{t.Evaluation, t.Seed, t.Train, t.Test}))
}

// tuneIdentity is all of the section that the result of a given trial, or of a fit at given hyperparameters, depends on. How
// many trials there are and where is not in it: an experiment that asks for more of them keeps those that it has.
func tuneIdentity(t spec.Tune) any {
	var length [3]int
	if s, ok := t.Strategy.(search.Sampler); ok {
		length[0], length[1], length[2] = s.Length()
	}
	parts := []any{t.Method, t.Objective, t.StandardErrors, length}
	if g := t.Gradients(); g != objective.Exact {
		parts = append(parts, g)
	}
	return parts
}
