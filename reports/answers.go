package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
)

const calibrated = 0.01 // level of the test of calibration, one of several checks of a result

// decide makes the answer for every data set, in the order of the configurations.
func (r *Report) decide() (out []Answer) {
	out = []Answer{}
	done := make([]bool, len(r.Configurations))
	for i, first := range r.Configurations {
		if done[i] {
			continue
		}
		var group []int
		for k := i; k < len(r.Configurations); k++ {
			if !done[k] && sameData(first, r.Configurations[k]) {
				done[k] = true
				group = append(group, k)
			}
		}
		if a, ok := r.answer(group); ok {
			out = append(out, a)
		}
	}
	return out
}

// AnswerOf returns the answer for the data of a configuration, nil if there is none.
func (r *Report) AnswerOf(configuration int) *Answer {
	for _, a := range r.Decided() {
		if sameData(r.Configurations[configuration], r.Configurations[a.Configuration]) {
			return &a
		}
	}
	return nil
}

// answer finds the best of configurations with the same data; false: none is scored on all folds.
func (r *Report) answer(group []int) (a Answer, ok bool) {
	of := r.contest(group)
	all := r.competitors(group, of)
	if len(all) == 0 {
		return a, false
	}
	best := all[0]
	c := r.Configurations[best.index]
	a = Answer{Dataset: c.Dataset, Configuration: best.index, By: of.by, Evaluation: of.evaluation,
		Score: Number(best.score.Value), Low: Number(best.score.Lo), High: Number(best.score.Hi), Competed: len(all),
		Rivals: []Rival{}, Keep: r.keep(best.index)}
	for _, s := range best.folds {
		a.Cases += s.Test
	}
	a.Absent = map[Status]int{}
	for _, k := range group {
		if !slices.ContainsFunc(all, func(c competitor) bool { return c.index == k }) {
			a.Absent[r.Configurations[k].worst()]++
		}
	}
	set := r.compare(&a, of, all)
	folds := best.folds
	if n := of.nested; n != nil && a.nested(n) {
		folds = nil
		for i := range n.studies {
			folds = append(folds, &n.studies[i])
		}
	} else if n != nil {
		a.Evaluation = ""
	}
	a.Skill = r.skill(of, all, folds, set)
	a.Trust = r.trust(of, a, folds)
	return a, true
}

// nested sets the score of the selection procedure on the outer folds; false: there is none yet.
func (a *Answer) nested(n *Nested) bool {
	a.Nested = &Choice{Folds: len(n.OuterFolds), By: n.Score, Score: a.Score}
	for _, f := range n.OuterFolds {
		if f.Winner != nil && *f.Winner == a.Configuration {
			a.Nested.Wins++
		}
	}
	score, found := n.Scores.Value(a.By)
	for _, s := range n.Scores.Results {
		if !found && s.Base {
			a.By, score, found = s.Name, s.Estimate, true
		}
	}
	if !found {
		return false
	}
	a.Score, a.Low, a.High, a.Cases = Number(score.Value), Number(score.Lo), Number(score.Hi), n.Scores.N
	if n.Scores.Partial != nil {
		a.Low, a.High = Number(math.NaN()), Number(math.NaN())
	}
	return true
}

// worst is the worst status of the fit to all training data and of the evaluations.
func (c *Configuration) worst() Status {
	status := c.Status
	for _, e := range c.Evaluations {
		status = worse(status, e.Status)
	}
	return status
}

// keep is the command that writes a configuration to a model file. The components of a program
// other than gpc-tune may be its own: then it is a call from there.
func (r *Report) keep(configuration int) string {
	if r.Manifest.Build.Program != "" {
		of := ""
		if len(r.Configurations) > 1 {
			of = fmt.Sprintf("Configuration: new(%d)", configuration)
		}
		return fmt.Sprintf(`experiments.Fit(ctx, plan, "model.json", experiments.FitOptions{%s}) in %s`, of,
			r.Manifest.Build.Program)
	}
	args := []string{"gpc-tune", "fit", cmp.Or(r.Manifest.Source, "FILE.yaml")}
	if len(r.Configurations) > 1 {
		args = append(args, "--configuration", strconv.Itoa(configuration))
	}
	for _, s := range r.Manifest.Settings {
		args = append(args, "--set", s)
	}
	return terminal.CommandLine(append(args, "-m", "model.json")...)
}

// trust lists reasons to doubt an answer.
func (r *Report) trust(of contested, a Answer, folds []*Study) []Trust {
	out := []Trust{}
	add := func(count int, remedy, cause, text string, args ...any) {
		if count > 0 {
			out = append(out, Trust{cause, count, remedy, fmt.Sprintf(text, args...)})
		}
	}
	c := r.Configurations[a.Configuration]
	add(r.Missing, "resume the run", "the run is not complete: jobs are missing",
		"the run is not complete; missing jobs: at least %d", r.Missing)
	add(a.Absent[Failed], "see the failures", "configurations failed and did not compete",
		"configurations that failed and did not compete: %d", a.Absent[Failed])
	add(len(c.Failures), "see the failures", "failures while it was tuned or scored",
		"failures while it was tuned or scored: %d", len(c.Failures))
	for _, cause := range causes(c.ended()) {
		if !cause.Note {
			add(cause.Count, cause.Remedy, cause.Cause, "%s: %d", cause.Cause, cause.Count)
		}
	}
	if o := c.Optima(); len(c.Posterior) == 0 && o.AtBest == 1 {
		add(o.Restarts-1, "raise restarts", "restarts ended elsewhere: one alone found the best optimum",
			"only 1 of %d restarts found the best optimum", o.Restarts)
	}
	surplus, cases := []float64{}, []int{}
	for _, s := range folds {
		if s.Predictions != nil {
			surplus, cases = append(surplus, s.Predictions.Surplus()...), append(cases, s.Predictions.Cases...)
		}
	}
	if len(surplus) > 0 {
		if t := cv.CaseT(surplus, cases); t.P <= calibrated {
			cause := miscalibration(c, t.Value)
			remedy := "see the calibration curve"
			if len(c.Classes) > 0 {
				remedy = "predict: {calibrate: platt}"
			}
			add(len(surplus), remedy, cause, "%s", cause)
		}
	}
	if n := a.Nested; n != nil && 2*n.Wins < n.Folds {
		add(n.Folds-n.Wins, "judge by the score, which is that of choosing",
			"the choice is unstable: other configurations were chosen in most outer folds",
			"the choice is unstable: other configurations were chosen in %d of %d outer folds", n.Folds-n.Wins, n.Folds)
	}
	if cut := a.Absent[Cut]; of.nested == nil {
		add(cut, "nested cross-validation, evaluate: nested, in another folder",
			"the score is optimistic: a race on the same held-out cases cut others, which no correction counts",
			"the score is optimistic: a race on the same held-out cases cut %d others, which no correction counts", cut)
	}
	return out
}

// miscalibration describes how the predictions are miscalibrated.
func miscalibration(c Configuration, surplus float64) string {
	switch {
	case len(c.Classes) == 0 && surplus > 0:
		return "predicted variances are too small"
	case len(c.Classes) == 0:
		return "predicted variances are too large"
	case surplus > 0:
		return fmt.Sprintf("its probabilities are overconfident, by %.2g on average", surplus)
	}
	return fmt.Sprintf("its probabilities are underconfident, by %.2g on average", -surplus)
}

// ended returns the warnings of the fits that matter: of the chosen trials, and of the final fits.
func (c Configuration) ended() (out []Notice) {
	for i := range c.Studies {
		s := &c.Studies[i]
		if s.Fit == nil {
			continue
		}
		for _, t := range s.Trials {
			if t.Index == s.Fit.Chosen {
				out = append(out, noticed(t.Warnings...)...)
			}
		}
		out = append(out, noticed(s.Fit.Warnings...)...)
		if s.Fit.Failure.IsZero() && !s.Fit.Converged && s.Fit.LogEvidence.Finite() {
			out = append(out, noticed(cause.Unconverged.New("not converged"))...)
		}
	}
	return out
}

func noticed(warnings ...cause.Notice) (out []Notice) {
	for _, w := range warnings {
		out = append(out, Notice{Kind: w.Kind, Text: w.String(), Count: 1})
	}
	return out
}
