package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/internal/build"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// open opens the journal of the run folder, and creates the folder if it is new. begun is the
// folder's manifest.
func open(p *plan.Plan, dir string, o Options) (j *journal.Journal, begun record.Manifest, err error) {
	begun, err = owned(p, dir)
	var extends *extension
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, journal.ErrDamaged) && (o.Resume || o.Extend):
		begun, err = mend(p, dir, err, o)
	case errors.As(err, &extends) && o.Extend:
		m, replaces := p.Manifest, begun.Key
		m.Build = begun.Build
		begun, err = m, journal.WriteManifest(dir, m, replaces)
	}
	if errors.Is(err, fs.ErrExist) { // another process created it
		begun, err = owned(p, dir)
	}
	if err != nil {
		return nil, begun, err
	}
	j, err = journal.Open(dir, journalOptions(begun, p.Manifest))
	return j, begun, err
}

// journalOptions returns the options of a plan's journal in a folder with the manifest begun.
func journalOptions(begun, plan record.Manifest) journal.Options {
	o := journal.Options{Plan: plan.Key, StartedBy: begun.Build.String(), Build: build.This().String(),
		Check: reports.Checker(plan)}
	for _, c := range plan.Configurations {
		o.Configurations = append(o.Configurations, c.Studies[0].Key)
	}
	return o
}

// mend writes the plan's manifest into a folder whose manifest is missing or damaged. An existing
// journal is continued, unless it belongs to another plan.
func mend(p *plan.Plan, dir string, found error, o Options) (record.Manifest, error) {
	m, replaces := p.Manifest, ""
	if errors.Is(found, journal.ErrDamaged) {
		j, err := journal.Open(dir, journalOptions(m, m))
		if err != nil {
			return m, err
		}
		if len(j.Lines()) == 0 && j.Others() > 0 {
			return m, fmt.Errorf("%w; the journal does not match this file either: resume with the file and the "+
				"--set options that the run was started with", found)
		}
		o.Warn("%v; it was written again from the file, and the damaged manifest was kept as manifest-%s.json", found,
			journal.Unreadable)
		replaces = journal.Unreadable
	}
	return m, journal.WriteManifest(dir, m, replaces)
}

// owned reads the manifest of a run folder, which must belong to this plan. For a new folder the
// error is fs.ErrNotExist.
func owned(p *plan.Plan, dir string) (record.Manifest, error) {
	found, err := journal.ReadManifest(dir)
	var unreadable *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found, err
	case errors.As(err, &unreadable):
		return found, fmt.Errorf("%w: %w; choose another folder with -o", ErrFolder, err)
	case errors.Is(err, journal.ErrDamaged):
		return found, fmt.Errorf("%w: %w; %s", ErrFolder, err, remedy)
	case err != nil:
		return found, fmt.Errorf("%w: %w; or choose another folder with -o", ErrOtherConfiguration, err)
	case found.Key == p.Manifest.Key:
		return found, nil
	case found.KeyForm != plan.KeyForm:
		return found, fmt.Errorf("%s: %w: its job keys have format %d, and this version of gpc-tune uses format "+
			"%d; continue with the version that started it (%v), or choose another folder with -o",
			dir, ErrOtherConfiguration, found.KeyForm, plan.KeyForm, found.Build)
	}
	if changed := changed(p, found); len(changed) > 0 {
		return found, fmt.Errorf("%s: %w (experiment %q): %s; choose another folder with -o", dir,
			ErrOtherConfiguration, found.Experiment, strings.Join(changed, "; "))
	}
	if had, have := fewer(p, found); had > have {
		again := "a larger number in the file"
		if len(found.Settings) > 0 {
			again = fmt.Sprintf("the options of the folder, --set %s", strings.Join(found.Settings, " --set "))
		}
		return found, &shorter{fmt.Sprintf("%s: the folder has %d trials, and the file asks for %d; continue with "+
			"%s, or choose another folder with -o", dir, had, have, again)}
	}
	return found, &extension{dir}
}

// shorter is the error that the folder has more trials than the plan, with this text.
type shorter struct{ text string }

func (e *shorter) Error() string { return e.text }

func (e *shorter) Unwrap() error { return ErrOtherConfiguration }

// fewer returns the numbers of trials of the first study that has fewer of them in the plan than in
// the manifest; both are 0 if there is none.
func fewer(p *plan.Plan, old record.Manifest) (had, have int) {
	jobs := map[string]int{}
	for _, c := range p.Manifest.Configurations {
		for _, s := range c.Studies {
			jobs[s.Key] = s.Jobs
		}
	}
	for _, c := range old.Configurations {
		for _, s := range c.Studies {
			if jobs[s.Key] < s.Jobs {
				return s.Jobs - 1, jobs[s.Key] - 1 // one of the jobs is the fit
			}
		}
	}
	return 0, 0
}

// remedy is the advice for a damaged manifest.
const remedy = "a run of the file with --resume writes it again, and continues with the " +
	"journal"

// extension is the error that the folder belongs to a plan that this one includes whole.
type extension struct{ dir string }

func (e *extension) Error() string {
	return fmt.Sprintf("%s: %v, which this file extends: add --extend to continue it and reuse finished jobs",
		e.dir, ErrOtherConfiguration)
}

func (e *extension) Unwrap() error { return ErrOtherConfiguration }

// changed lists the parts of another plan that are missing in this one. The list is empty if this
// plan extends it with more configurations, more training sets, or other trials of the same kind.
func changed(p *plan.Plan, old record.Manifest) (changed []string) {
	note := func(name, was, is string) bool {
		if was == is {
			return false
		}
		if text := fmt.Sprintf("%s: %s in the folder, %s here", name, cmp.Or(was, "none"),
			cmp.Or(is, "none")); !slices.Contains(changed, text) {
			changed = append(changed, text)
		}
		return true
	}
	if note("seed", fmt.Sprint(old.Seed), fmt.Sprint(p.Manifest.Seed)) {
		return changed
	}
	have := map[string]bool{}
	for _, s := range p.Studies {
		have[s.Key] = true
	}
	for _, i := range p.Manifest.Illustrations {
		have[i.Key] = true
	}
	for _, was := range old.Illustrations {
		if !have[was.Key] {
			note("illustrate", strings.Join(slices.DeleteFunc([]string{was.Kind, was.Kernel.Text, was.Likelihood.Text},
				func(s string) bool { return s == "" }), ", "), "others")
		}
	}
	for _, was := range old.Configurations {
		lost := slices.IndexFunc(was.Studies, func(s record.Study) bool { return !have[s.Key] })
		if lost < 0 {
			continue
		}
		is := mostLike(p.Manifest.Configurations, was)
		told := false
		for k, part := range parts(was) {
			told = note(part.name, part.text, parts(is)[k].text) || told
		}
		told = note("predict.average", cmp.Or(old.Average.Text, "averaged"),
			cmp.Or(p.Manifest.Average.Text, "averaged")) || told
		s := was.Studies[lost]
		switch {
		case told:
		case note("versions of the code of components", versionsText(was.Versions), versionsText(is.Versions)):
		case old.Tune != p.Manifest.Tune: // such as the objective
			note("tune", old.Tune, p.Manifest.Tune)
		case slices.ContainsFunc(is.Studies, func(t record.Study) bool { return t.Evaluation == s.Evaluation }):
			note("evaluate."+s.Evaluation, fmt.Sprintf("%d cases held out in repeat %d fold %d", s.Test, s.Repeat,
				s.Fold), "other cases")
		case s.Evaluation == "train":
			note("evaluate", "without test", "with test")
		default:
			note("evaluate", s.Evaluation, others(is))
		}
	}
	return changed
}

// others lists the evaluations of a configuration.
func others(c record.Configuration) string {
	var names []string
	for _, s := range c.Studies {
		if name, _, _ := strings.Cut(s.Evaluation, " "); name != "train" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// mostLike returns the configuration that has the most parts in common with other.
func mostLike(all []record.Configuration, other record.Configuration) (best record.Configuration) {
	most := -1
	for _, c := range all {
		alike := 0
		for k, part := range parts(c) {
			if part.text == parts(other)[k].text {
				alike++
			}
		}
		if alike > most {
			best, most = c, alike
		}
	}
	return best
}

// parts returns the texts of the file that distinguish configurations.
func parts(c record.Configuration) []struct{ name, text string } {
	content := "data: hash of cases, inputs and labels"
	if c.Program != nil {
		content = "program: hash of its files"
	}
	return []struct{ name, text string }{
		{"program", programText(c.Program)}, {"program.hyperparameters", rangesText(c.Program)},
		{"data", c.Dataset}, {content, fmt.Sprintf("%.12s", c.DataHash)},
		{"data.preprocess", c.Preprocess}, {"data.missing", c.Missing},
		{"model.kernel", c.Kernel.Text}, {"model.mean", c.Mean.Text}, {"model.likelihood", c.Likelihood.Text},
		{"model.inference", c.Inference.Text}, {"tune.inference", c.TuneInference.Text}, {"tune.method", c.Tune},
		{"tune.start_inference and start_cases", c.Start()}, {"tune.objective", c.Objective},
	}
}

// programText returns the settings that determine the values of a program, without its files and
// hyperparameters.
func programText(p *record.Program) string {
	if p == nil {
		return ""
	}
	text := terminal.CommandLine(p.Command...)
	for _, of := range []struct {
		given bool
		text  string
	}{{p.Input == "json", "input: json"}, {p.Field != "", "field: " + p.Field},
		{p.Minimize && len(p.Objectives) == 0, "minimize: true"},
		{len(p.Objectives) > 0, "minimize: [" + strings.Join(p.Objectives, ", ") + "]"},
		{p.Require != "", "require: " + p.Require}, {p.Noise, "noise: true"},
		{p.StopEarly != "", "stop_early: " + p.StopEarly}} {
		if of.given {
			text += ", " + of.text
		}
	}
	return text
}

// rangesText returns the ranges of a program's hyperparameters.
func rangesText(p *record.Program) string {
	if p == nil {
		return ""
	}
	return strings.Join(p.Ranges, "; ")
}

// Done counts the recorded jobs of a plan in dir. extends reports whether the plan extends the plan
// of the folder. Nothing is written.
func Done(p *plan.Plan, dir string) (n int, extends bool, err error) { return done(p, dir, false) }

// DoneForRetry is Done without the failed jobs and the fits that depend on them, which a retry runs
// again.
func DoneForRetry(p *plan.Plan, dir string) (n int, extends bool, err error) {
	return done(p, dir, true)
}

func done(p *plan.Plan, dir string, retry bool) (n int, extends bool, err error) {
	var of *extension
	found, err := owned(p, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, false, nil
	case errors.As(err, &of):
		extends = true
	case err != nil:
		return 0, false, err
	}
	j, err := journal.Open(dir, journalOptions(found, p.Manifest))
	if err != nil {
		return n, extends, err
	}
	if retry {
		err = dryRetry(p.Search(), j)
	}
	if err == nil {
		n, err = schedule.Recorded(p.Search(), j)
	}
	return n, extends, err
}

// dryRetry makes failed jobs missing in memory only. Nothing more is written to the journal.
func dryRetry(studies []schedule.Study, j *journal.Journal) error {
	j.Detach()
	_, err := schedule.Retry(studies, j)
	return err
}

// notes lists problems of the records of a run folder that do not prevent continuing. Damaged lines
// stay in the journal; they are a problem until their jobs are on record again.
func notes(j *journal.Journal, m record.Manifest) (notes []string) {
	damaged := j.Damaged()
	if len(damaged) == 0 {
		return nil
	}
	if p, err := reports.BuildProgress(m, j.Lines()); err == nil && p.Finished {
		return nil
	}
	return []string{fmt.Sprintf("%d line(s) of the journal are incomplete or damaged, the first at %s; "+
		"a %s with --resume repeats these jobs", len(damaged), damaged[0], m.Command())}
}

// versionsText formats versions for people.
func versionsText(v map[string]int) string {
	if len(v) == 0 {
		return "1 of all"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		parts = append(parts, fmt.Sprintf("%d of %s", v[name], name))
	}
	return strings.Join(parts, ", ")
}

// Options of Run. A MemoryLimit of 0 means the free memory, on systems that report it. Run sets
// Threads.
type Options struct {
	Resume bool // continue an unfinished run
	Extend bool // continue a run whose plan this one extends
	Retry  bool // run recorded failed jobs again, and keep all others
	// receives warnings for the user that are not part of the results; nil: they are dropped
	Warn func(format string, args ...any)
	// Drivers measures what drives the predictions of an answer of the finished run, whose records
	// are lines; nil: it is not measured.
	Drivers func(ctx context.Context, lines []record.Line, r *reports.Report, a reports.Answer) (*record.Drivers, error)
	// Process means that the process exists for this run only: during the run, its garbage
	// collector and memory limit are adjusted. Otherwise they are not changed.
	Process bool
	schedule.Options
}

// Errors of run folders.
var (
	// ErrOtherConfiguration: the run folder holds another experiment.
	ErrOtherConfiguration = errors.New("the folder belongs to another configuration")
	// ErrUnfinished: the run folder has a part of this run, and Resume is not set.
	ErrUnfinished = errors.New("the folder holds this configuration, unfinished; add --resume to continue it")
	// ErrUnreported: all jobs are on record, but the results could not be written.
	ErrUnreported = errors.New("all jobs are done and recorded, but the results could not be written")
)

// ErrFolder marks a folder that is not a run folder, or is damaged.
var ErrFolder = errors.New("not a run folder, or damaged")
