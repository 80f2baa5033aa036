package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
)

// Thresholds for differences between configurations, and for doubts.
const (
	alpha        = 0.05 // level of tests between configurations
	calibrated   = 0.01 // level of the test of calibration, one of several checks of a result
	rounding     = 1e-9 // bits or nats per case: far below what a case contributes
	bareMention  = 1.0  // nats: less is "not worth more than a bare mention" (Kass & Raftery 1995, JASA 90:773)
	logEvidence  = "log_evidence"
	baseRateName = "base_rate"
)

// competitor is a configuration with the folds that it competes on.
type competitor struct {
	index int
	score cv.Estimate
	folds []*Study // none if the log evidence decides
	base  bool     // it predicts the base rate
}

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

// contested is the criterion by which configurations with the same data compete.
type contested struct {
	by         string
	score      *cv.Score // nil: the log evidence
	evaluation string
	nested     *Nested // nil: none
	race       *Race   // nil: none
}

// contest determines the criterion: nested cross-validation, a race, the score that is tuned, or
// else the first score for which the base rate is 0; without held-out cases the log evidence.
func (r *Report) contest(group []int) (c contested) {
	first := r.Configurations[group[0]]
	for i := range r.Nested {
		if n := &r.Nested[i]; slices.Contains(group, n.Configurations[0]) {
			c.nested, c.by, c.evaluation = n, n.Score, n.Outer
		}
	}
	for i := range r.Races {
		if n := &r.Races[i]; c.nested == nil && slices.Contains(group, n.Standings[0].Configuration) {
			c.race, c.by, c.evaluation = n, n.Score, n.Evaluation
		}
	}
	if c.by == "" {
		i := slices.IndexFunc(group, func(k int) bool { return len(r.Configurations[k].Evaluations) > 0 })
		if i < 0 {
			c.by = logEvidence
			return c
		}
		c.evaluation = r.Configurations[group[i]].Evaluations[0].Name
		c.by = r.tunedBy(group)
	}
	if s, err := cv.ScoreNamed(c.by); err == nil {
		c.score = &s
	} else if c.by != logEvidence {
		s := baseScore(first)
		c.by, c.score = s.Name, &s
	}
	return c
}

// tunedBy is the score that all configurations tune, if there is one.
func (r *Report) tunedBy(group []int) string {
	by := ""
	for _, k := range group {
		name, cross := strings.CutPrefix(r.Configurations[k].Objective, "cv_")
		if !cross || by != "" && by != name {
			return ""
		}
		by = name
	}
	return by
}

// baseScore is the first score for which the base rate has the value 0.
func baseScore(c Configuration) cv.Score {
	return cv.Scores[slices.IndexFunc(cv.Scores, func(s cv.Score) bool {
		return s.Base && s.Numeric == (len(c.Classes) == 0)
	})]
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
		Margin: Number(math.NaN()), P: Number(math.NaN()), Indistinguishable: []int{}, Rivals: []Rival{},
		Keep: r.keep(best.index)}
	for _, s := range best.folds {
		a.Cases += s.Test
	}
	a.Absent = map[Status]int{}
	for _, k := range group {
		if !slices.ContainsFunc(all, func(c competitor) bool { return c.index == k }) {
			a.Absent[r.Configurations[k].worst()]++
		}
	}
	a.compare(of, all)
	folds := best.folds
	if n := of.nested; n != nil && a.nested(n) {
		folds = nil
		for i := range n.studies {
			folds = append(folds, &n.studies[i])
		}
	} else if n != nil {
		a.Evaluation = ""
	}
	a.Skill = skill(c, folds)
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

// competitors are the configurations scored on all folds, best first.
func (r *Report) competitors(group []int, of contested) (out []competitor) {
	var folds []*Study // of the first
	for _, k := range group {
		c := &r.Configurations[k]
		if of.score == nil {
			if v := float64(c.LogEvidence); !math.IsNaN(v) && !math.IsInf(v, 0) && c.Inference.Name() != "one_vs_rest" {
				out = append(out, competitor{k, cv.Estimate{Value: v, Lo: math.NaN(), Hi: math.NaN()}, nil, false})
			}
			continue
		}
		mine := c.competes(of)
		whole := len(mine) > 0 && !slices.ContainsFunc(mine, func(s *Study) bool { return s.Predictions == nil })
		alike := func(a, b *Study) bool { return sameFold(*a, *b) }
		if !whole || folds != nil && !slices.EqualFunc(folds, mine, alike) {
			continue
		}
		if e, ok, _ := of.score.Of(pool(mine)); ok {
			folds = mine
			out = append(out, competitor{k, e, mine, c.Inference.Name() == baseRateName})
		}
	}
	slices.SortStableFunc(out, func(a, b competitor) int {
		return cmp.Compare(of.better(b.score.Value), of.better(a.score.Value))
	})
	if of.race != nil && of.race.Winner != nil {
		if i := slices.IndexFunc(out, func(c competitor) bool { return c.index == *of.race.Winner }); i > 0 {
			won := out[i]
			out = slices.Insert(slices.Delete(out, i, i+1), 0, won)
		}
	}
	return out
}

// pool concatenates the predictions of all folds, which each must have.
func pool(folds []*Study) cv.Predictions {
	var parts []cv.Predictions
	for _, s := range folds {
		parts = append(parts, *s.Predictions)
	}
	return cv.Pool(parts...)
}

// worst is the worst status of the fit to all training data and of the evaluations.
func (c *Configuration) worst() Status {
	status := c.Status
	for _, e := range c.Evaluations {
		status = worse(status, e.Status)
	}
	return status
}

// competes returns the folds on which a configuration competes.
func (c *Configuration) competes(of contested) (out []*Study) {
	for i := range c.Studies {
		s := &c.Studies[i]
		if of.nested != nil && slices.Contains(of.nested.inner, i) ||
			of.nested == nil && s.Evaluation == of.evaluation && !s.Nested {
			out = append(out, s)
		}
	}
	return out
}

// better is a score or a difference, with its sign changed if less is better.
func (of contested) better(v float64) float64 {
	if of.score != nil && !of.score.Greater {
		return -v
	}
	return v
}

// compare compares all others with the best.
func (a *Answer) compare(of contested, all []competitor) {
	nan := Number(math.NaN())
	var p []float64
	for _, other := range all[1:] {
		d := of.better(other.score.Value - all[0].score.Value)
		rival := Rival{Configuration: other.index, Score: Number(other.score.Value), Difference: Number(d), Low: nan,
			High: nan, P: nan, Holm: nan, Told: of.score == nil && -d > bareMention,
			Unskilled: of.score != nil && of.score.Base && of.better(other.score.Value) < -rounding}
		if of.score != nil {
			if t, ok := test(*of.score, other, all[0]); ok {
				rival.Difference, rival.P = Number(of.better(t.Value)), Number(t.P)
				ends := []float64{of.better(t.Lo), of.better(t.Hi)}
				rival.Low, rival.High = Number(min(ends[0], ends[1])), Number(max(ends[0], ends[1]))
			}
		}
		p = append(p, float64(rival.P))
		a.Rivals = append(a.Rivals, rival)
	}
	for i, holm := range cv.Holm(p) {
		rival := &a.Rivals[i]
		rival.Holm = Number(holm)
		if rival.Told = rival.Told || holm <= alpha; !rival.Told {
			a.Indistinguishable = append(a.Indistinguishable, rival.Configuration)
		}
	}
	if len(all) > 1 {
		a.Next, a.P = &all[1].index, a.Rivals[0].Holm
		a.Margin = Number(of.better(all[0].score.Value - all[1].score.Value))
	}
}

// test tests the difference of a score, first minus second, over folds. For a single fold it does
// so over cases, and for the base rate too, as skill does.
func test(score cv.Score, first, second competitor) (t cv.TTest, ok bool) {
	single := len(first.folds) == 1
	if single && score.Each == nil {
		return t, false
	}
	if single || first.base && score.Each != nil {
		return score.OverCases(pool(first.folds), pool(second.folds))
	}
	var a, b []cv.Predictions
	train, held := 0, 0
	for i, s := range first.folds {
		a, b = append(a, *s.Predictions), append(b, *second.folds[i].Predictions)
		train, held = train+s.Train, held+s.Test
	}
	t, folds := score.OverFolds(a, b, float64(held)/float64(train))
	return t, folds == len(a)
}

// skill compares predictions with the base rate by a test over the held-out cases of all folds, as
// the interval of the score is over cases; or without predictions the log evidence with the log
// likelihood of the class frequencies. nil: not known.
func skill(c Configuration, folds []*Study) *Skill {
	nan := math.NaN()
	done := slices.DeleteFunc(slices.Clone(folds), func(s *Study) bool { return s.Predictions == nil })
	if len(done) == 0 {
		fit := c.Studies[0].Fit
		if fit == nil || len(fit.TrainCounts) == 0 || c.LogEvidence.None() {
			return nil
		}
		base, n := 0.0, 0
		for _, k := range fit.TrainCounts {
			n += k
		}
		for _, k := range fit.TrainCounts {
			if k > 0 {
				base += float64(k) * math.Log(float64(k)/float64(n))
			}
		}
		d := float64(c.LogEvidence) - base
		return &Skill{baseRateName, logEvidence, Number(d), Number(nan), d > bareMention}
	}
	score := baseScore(c)
	t, ok := score.OverCases(pool(done))
	if !ok {
		return nil
	}
	d := t.Value
	if !score.Greater {
		d = -d
	}
	return &Skill{baseRateName, score.Name, Number(d), Number(t.P), d > 0 && t.P <= alpha}
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
	if chosen := a.Competed + a.Absent[Cut]; of.nested == nil && of.score != nil && chosen > 1 {
		add(chosen, "nested cross-validation, evaluate: nested, in another folder",
			"the score is optimistic: the best was selected on the same held-out cases",
			"the score is optimistic, because the best of %d was selected on the same held-out cases", chosen)
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
