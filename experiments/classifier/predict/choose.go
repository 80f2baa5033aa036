package predict

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

const (
	logEvidence = spec.LogEvidence // log evidence of the fits to all of the training data
	meanLoss    = "mean_loss"      // mean cost of the decisions, for experiments with costs
)

// candidates returns the studies on all of the training data with their jobs: of one configuration,
// or of all.
func candidates(p *plan.Plan, configuration *int) (studies []schedule.Study, jobs []*job.Job, err error) {
	if err := p.Fits(); err != nil {
		return nil, nil, err
	}
	if n := len(p.Manifest.Configurations); configuration != nil && (*configuration < 0 || *configuration >= n) {
		return nil, nil, fmt.Errorf("%w: --configuration %d: the file declares %d, counted from 0", spec.ErrInvalid,
			*configuration, n)
	}
	for _, s := range p.Studies {
		j := s.Job
		if s.Index != 0 || configuration != nil && s.Configuration != *configuration {
			continue
		}
		if len(jobs) > 0 && (!reflect.DeepEqual(jobs[0].Set.Targets(), j.Set.Targets()) ||
			!slices.Equal(jobs[0].Set.Source.Classes, j.Set.Source.Classes)) {
			a, b := studies[0].Configuration, s.Configuration
			return nil, nil, fmt.Errorf("%w: configurations %d (%s) and %d (%s) have different labels, so they "+
				"cannot be compared; choose one with --configuration N",
				spec.ErrInvalid, a, configurationName(p, a), b, configurationName(p, b))
		}
		s.Stage = nil // it may name studies that are not in this list
		studies, jobs = append(studies, s.Study), append(jobs, j)
	}
	return studies, jobs, nil
}

// apart returns the reason why the tuning objective cannot compare the configurations; empty: it
// can.
func apart(p *plan.Plan, by string) string {
	all := p.Manifest.Configurations
	for i, c := range all {
		switch {
		case p.Models[i].Comparator != nil:
			return fmt.Sprintf("configuration %d (%s) is a comparator, which has no objective in common with the "+
				"others", i,
				configurationName(p, i))
		case by == "" && c.Objective != all[0].Objective:
			return fmt.Sprintf("configurations 0 (%s) and %d (%s) maximise %s and %s", configurationName(p, 0), i,
				configurationName(p, i), all[0].Objective, c.Objective)
		}
	}
	return ""
}

// byObjective reports whether configurations are compared by the tuning objective rather than by
// predictions of held-out cases. by is the user's choice.
func byObjective(p *plan.Plan, by string, studied bool) (bool, error) {
	all := p.Manifest.Configurations
	scored := slices.ContainsFunc(all[0].Studies,
		func(s record.Study) bool { return s.Test > 0 && s.Evaluation != "training" })
	why := apart(p, by)
	switch {
	case by == "" && studied && scored:
		return false, nil
	case by == "" && why == "":
		return true, nil
	case by == "" && scored:
		return false, nil
	case by == "":
		return false, fmt.Errorf("%w: %s, and no cases are held out, so they cannot be compared; add evaluate: "+
			"{kfold: {k: 10}} to the file, or choose one with --configuration N", spec.ErrInvalid, why)
	case by == logEvidence || !slices.ContainsFunc(all, func(c record.Configuration) bool { return c.Objective != by }):
		if why != "" {
			return false, fmt.Errorf("%w: --by %s: %s; name a score of held-out cases (gpc-tune list scores)",
				spec.ErrInvalid, by, why)
		}
		return true, nil
	}
	if by != meanLoss {
		if _, err := cv.ScoreNamed(by); err != nil {
			return false, fmt.Errorf("%w: --by: %w", spec.ErrInvalid, err)
		}
	}
	if !scored {
		return false, fmt.Errorf("%w: --by %s needs held-out cases; add evaluate: {kfold: {k: 10}} to the "+
			"file", spec.ErrInvalid, by)
	}
	return false, nil
}

// study runs all missing jobs of the file, like a run, and returns the best configuration by the
// evaluation.
func study(ctx context.Context, p *plan.Plan, j *journal.Journal, by string, o run.Options) (int, schedule.Summary,
	error) {
	summary, err := schedule.Run(ctx, p.Search(), j, o.Options)
	if err != nil {
		return 0, summary, err
	}
	r, err := reports.Build(p.Manifest, j.Lines())
	if err != nil {
		return 0, summary, err
	}
	best, why, err := studied(r, by)
	if err != nil {
		return 0, summary, err
	}
	if len(r.Configurations) > 1 {
		o.Warn("configuration %d (%s) is selected: %s", best, configurationName(p, best), why)
	}
	return best, summary, nil
}

// studied returns the best configuration by a score of the first evaluation. If by is empty, the
// score is the one of the race or of nested cross-validation. Without either it is the first score
// of the table whose value is 0 for the base rate.
func studied(r *reports.Report, by string) (best int, why string, err error) {
	if by == "" {
		if best, why, found := contested(r); found {
			return best, why, nil
		}
	}
	score := cv.Score{Name: by} // mean_loss: smaller is better
	if by != meanLoss {
		numeric := len(r.Configurations[0].Classes) == 0
		i := slices.IndexFunc(cv.Scores, func(s cv.Score) bool {
			return s.Name == by || by == "" && s.Numeric == numeric && (s.Greater || s.Name == "standardized_log_loss")
		})
		score = cv.Scores[i]
	}
	best = -1
	var value float64
	whole, equals, evaluation := 0, 0, ""
	for i, c := range r.Configurations {
		v, partial := c.Figure("", score.Name)
		if math.IsNaN(float64(v)) || partial != nil {
			continue
		}
		whole++
		order := cmp.Compare(float64(v), value)
		if !score.Greater {
			order = -order
		}
		switch {
		case best < 0 || order > 0:
			best, value, equals, evaluation = i, float64(v), 1, c.Evaluations[0].Name
		case order == 0:
			equals++
		}
	}
	if best < 0 {
		return 0, "", fmt.Errorf("%w: no configuration has %s for all its held-out cases; choose another score "+
			"with --by, or a configuration with --configuration N", spec.ErrInvalid, score.Name)
	}
	text := among(score.Name, fmt.Sprintf("%.6g (%s)", value, evaluation), score.Greater, whole, len(r.Configurations),
		equals)
	return best, "its " + text, nil
}

// contested returns the winner of a race, or the configuration that won the most outer folds of
// nested cross-validation. If several did, it is the first.
func contested(r *reports.Report) (best int, why string, found bool) {
	for _, race := range r.Races {
		if race.Winner != nil {
			return *race.Winner, fmt.Sprintf("it won the race over %s by %s", race.Evaluation, race.Score), true
		}
	}
	for _, n := range r.Nested {
		wins, most := make([]int, len(r.Configurations)), 0
		for _, f := range n.OuterFolds {
			if f.Winner != nil {
				wins[*f.Winner]++
				most = max(most, wins[*f.Winner])
			}
		}
		if most > 0 {
			return slices.Index(wins, most), fmt.Sprintf("it won %d of %d outer folds of nested cross-validation by %s",
				most, len(n.OuterFolds), n.Score), true
		}
	}
	return 0, "", false
}

// among describes the rank of a value: the best of fitted configurations, out of all that were
// tried. equals is the number of configurations with this value.
func among(what, value string, greater bool, fitted, all, equals int) string {
	best := "largest"
	if !greater {
		best = "smallest"
	}
	text := fmt.Sprintf("%s of %s is the %s of %d", what, value, best, fitted)
	if fitted < all {
		text += fmt.Sprintf(", without the %d that have failed", all-fitted)
	}
	if equals > 1 {
		text += fmt.Sprintf("; %d are equal, and this is the first of them in the file", equals)
	}
	return text
}

// unfinished reports whether fits of the studies are missing in the run folder or, with all, any
// job of the plan. Continuing then needs --resume.
func unfinished(p *plan.Plan, dir string, studies []schedule.Study, all bool, lines []record.Line) error {
	missing := false
	if all {
		r, err := reports.Build(p.Manifest, lines)
		if err != nil {
			return err
		}
		missing = r.Missing > 0
	}
	for _, s := range studies {
		missing = missing || !all && !slices.ContainsFunc(lines, func(l record.Line) bool {
			return l.Fit != nil && l.Fit.Configuration == s.Configuration && l.Fit.Study == s.Index
		})
	}
	if missing {
		return fmt.Errorf("%s: %w", dir, run.ErrUnfinished)
	}
	return nil
}

// Finished reports whether a folder has a complete run of this plan.
func Finished(p *plan.Plan, dir string) bool {
	if dir == "" {
		return false
	}
	if n, extends, err := run.Done(p, dir); n == 0 || extends || err != nil {
		return false
	}
	folder, err := run.ReadFolder(dir)
	if err != nil {
		return false
	}
	r, err := folder.Report()
	return err == nil && r.Missing == 0
}

// configurationName returns the name of configuration i.
func configurationName(p *plan.Plan, i int) string { return p.Manifest.Configurations[i].String() }
