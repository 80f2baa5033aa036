package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/build"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/panicked"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// Load reads a configuration file, or a bundled one, and its data, and makes the plan. The error is
// Problems: all mistakes found in the file and with the data, each with its position.
func Load(ctx context.Context, path string, settings []string) (*Plan, error) {
	text, err := spec.Read(path)
	if err != nil {
		return nil, err
	}
	return Parse(ctx, path, text, settings)
}

// Parse is Load for text already read; file names it in messages, and relative paths start in its
// folder. A panic of a component of another program is an error.
func Parse(ctx context.Context, file string, text []byte, settings []string) (p *Plan, err error) {
	return new(Reader).Parse(ctx, file, text, settings)
}

// Parse is the function Parse.
func (r *Reader) Parse(ctx context.Context, file string, text []byte, settings []string) (p *Plan, err error) {
	thrown := panicked.Try(func() {
		s, found := spec.Decode(file, text, settings)
		if err = found.Err(); s != nil {
			p, err = plan(ctx, r, found, s)
		}
	})
	if thrown != nil {
		return nil, fmt.Errorf("%s: a component cannot be used: %w", file, thrown)
	}
	return p, err
}

// New reads the data of a spec, checks the rest of the spec against them, and makes the studies.
func New(ctx context.Context, s *spec.Spec) (*Plan, error) {
	return plan(ctx, new(Reader), strictyaml.NewFindings(s.File), s)
}

// plan checks the correct parts of a section against the data.
func plan(ctx context.Context, r *Reader, found *strictyaml.Findings, s *spec.Spec) (*Plan, error) {
	p := &planner{Reader: r, Findings: found, declared: map[string]int{}}
	p.Plan = &Plan{Spec: s, Manifest: record.Manifest{
		Schema:     journal.ManifestSchema,
		Experiment: s.Name,
		Source:     s.File,
		Settings:   s.Settings,
		Seed:       s.Seed,
		Build:      build.This(),
		Tune:       s.TuneText,
		Average:    s.Averaging,
		Reject:     s.Reject,
		Curves:     s.Report.Curves,
		Formats:    s.Report.Formats,
		Figures:    s.Report.Figures,
		Print:      s.Report.Figure.Print(),
	}}
	if s.Program != nil && found.Found() == 0 {
		p.program()
	}
	for _, section := range s.Data {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if section.Whole {
			p.addAll(ctx, section)
		}
		if p.tooMany {
			return nil, p.Err()
		}
	}
	if p.Found() == 0 {
		if err := p.illustrate(ctx); err != nil {
			return nil, err
		}
	}
	if err := p.contests(); err != nil {
		return nil, errors.Join(err, p.Err())
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	p.lead()
	p.ladders()
	p.Manifest.Key, p.Manifest.KeyForm = planKey(p.Manifest), KeyForm
	return p.Plan, nil
}

// Searching makes the plan that searches a function. A panic of its strategy is an error.
func Searching(ctx context.Context, f schedule.Function) (p *Plan, err error) {
	if thrown := panicked.Try(func() { p, err = searching(ctx, f) }); thrown != nil {
		return nil, fmt.Errorf("%w: the strategy %T cannot be used: %w", spec.ErrInvalid, f.Strategy, thrown)
	}
	return p, err
}

func searching(ctx context.Context, f schedule.Function) (*Plan, error) {
	if f.Strategy == nil || f.Value == nil {
		return nil, fmt.Errorf("%w: a function needs a strategy, and a value", spec.ErrInvalid)
	}
	if f.Strategy.Optimizer() != "" {
		return nil, fmt.Errorf("%w: %T follows gradients, which the function does not give; take for example "+
			"search.Bayes", spec.ErrInvalid, f.Strategy)
	}
	err := cmp.Or(f.Space.Check(), declared.CheckOptions("", f.Strategy), declared.CheckOptions("stop: ", f.Stop))
	if err == nil {
		err = cmp.Or(f.Strategy.Check(f.Space), f.Stop.Check(f.Strategy))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	}
	method := cmp.Or(search.Table.NameOf(f.Strategy), fmt.Sprintf("%T", f.Strategy))
	return New(ctx, &spec.Spec{Name: f.Name, File: f.Name, Seed: f.Seed, Average: objective.Averaged{},
		TuneText: fmt.Sprintf("%s %+v", method, f.Strategy), Report: spec.Report{Formats: []string{"text"}},
		Program: &spec.Program{Program: record.Program{Command: []string{f.Name}, Minimize: f.Minimize},
			Space: f.Space, Value: f.Value, Ways: []spec.Tune{{Method: method, Strategy: f.Strategy, Stop: f.Stop}}}})
}

// addAll makes the configurations on one data set.
func (p *planner) addAll(ctx context.Context, section spec.DataSpec) {
	forms := map[bool]*loaded{} // key: the labels are numbers; nil: unreadable
	load := func(numeric bool) *loaded {
		if _, met := forms[numeric]; !met {
			forms[numeric] = p.load(section, numeric)
		}
		return forms[numeric]
	}
	// report mistakes in the data too
	if !slices.ContainsFunc(p.Spec.Models, func(m spec.Model) bool { return m.Whole }) {
		load(slices.ContainsFunc(p.Spec.Models, func(m spec.Model) bool { return m.Numeric() }))
	}
	for _, m := range p.Spec.Models {
		if !m.Whole {
			continue
		}
		src := load(m.Numeric())
		if src == nil {
			continue
		}
		if err := p.add(ctx, src, m); err != nil && err != errTold {
			p.AtPlace(section.Place, "%v", err)
		}
		if p.tooMany {
			return
		}
	}
}

// load reads a data set, with labels as classes or as numbers. It returns nil after reporting a
// mistake.
func (p *planner) load(section spec.DataSpec, numeric bool) *loaded {
	section.Regression = numeric
	of := p.Reader.load(section.Spec, p.Spec.Dir, p.Spec.Seed)
	ds, err := of.ds, of.err
	if err != nil {
		section.Faults(p.Findings, p.inFile(section, err))
		if strings.HasPrefix(p.Spec.File, spec.Bundled) && section.Train != "" {
			p.AtPlace(section.Place, "gpc-tune explain %s says where these files come from", p.Spec.File)
		}
		return nil
	}
	for _, w := range ds.Warnings {
		if w = w.In(ds.Name); !slices.Contains(p.Manifest.Warnings, w) {
			p.warn(w)
		}
	}
	described := record.Described{DataHash: ds.Hash, About: ds.About,
		Label: record.PredictedLabel{Name: ds.Schema.Label.Name, Classes: ds.Classes, Guessed: ds.Guessed}}
	if ds.Classes != nil {
		described.Label.Counts = ds.Counts()
	}
	for _, c := range ds.LeftOut {
		described.LeftOut = append(described.LeftOut, record.ColumnReason(c))
	}
	for _, c := range ds.OtherClasses {
		described.OtherClasses = append(described.OtherClasses, record.ClassCount{Class: c.Class, Cases: c.N})
	}
	for _, l := range of.leaks {
		alone := fmt.Sprintf("alone predicts the class, with a held-out error of %.2g %%", 100*l.Error)
		if l.Rare {
			alone += " (classes of fewer than 5 cases not counted)"
		}
		described.Suspects = append(described.Suspects, record.ColumnReason{Column: l.Input, Reason: alone})
		w := cause.Leak.New("input %q %s: was it known before the outcome?", l.Input, alone).In(ds.Name)
		if !slices.Contains(p.Manifest.Warnings, w) {
			p.warn(w)
		}
	}
	if n := of.repeated; n > 0 {
		w := cause.Repeated.Of(n, "rows repeat an earlier one, the label included: scores are too good if they are "+
			"no cases of their own; data: {duplicates: together} with evaluate: group_kfold keeps them together")
		w = w.In(ds.Name)
		if !slices.Contains(p.Manifest.Warnings, w) {
			p.warn(w)
		}
	}
	if w := rareClasses(ds); !w.IsZero() && !slices.Contains(p.Manifest.Warnings, w) {
		p.warn(w)
	}
	if !slices.ContainsFunc(p.Manifest.Data, func(d record.Described) bool {
		return d.DataHash == described.DataHash && d.About == described.About
	}) {
		p.Manifest.Data = append(p.Manifest.Data, described)
	}
	p.identify(ds, ds.Hash, false)
	p.group(ds, ds.Hash, false)
	if ds.Test != nil {
		p.identify(ds.Test, ds.Hash, true)
		p.group(ds.Test, ds.Hash, true)
	}
	p.aboutClass(section, ds)
	sets := p.trainingSets(section, ds)
	if len(sets) > 1 && section.Preprocess.All() {
		p.warn(cause.HeldOut.New("preprocess %v uses the inputs of all %d cases, held-out ones included; scores may "+
			"be optimistically biased", section.Preprocess, len(ds.Rows)).In(ds.Name))
	}
	return &loaded{ds, section.Place, sets}
}

// inFile names the file of a data section in the mistakes of its keys, if other sections have other
// files.
func (p *planner) inFile(section spec.DataSpec, err error) error {
	several := slices.ContainsFunc(p.Spec.Data, func(of spec.DataSpec) bool { return of.Train != section.Train })
	problems, ok := err.(data.Problems)
	if !several || !ok {
		return err
	}
	problems = slices.Clone(problems)
	for i := range problems {
		problems[i].Message = section.Train + ": " + problems[i].Message
	}
	return problems
}

// aboutClass warns of a threshold for the score of one class, where no class was declared positive
// and the score is about the class of most cases.
func (p *planner) aboutClass(section spec.DataSpec, ds *data.Data) {
	s, err := cv.ScoreNamed(p.Spec.Threshold)
	if err != nil || !s.OfSecond || len(ds.Classes) != 2 || section.Positive != "" {
		return
	}
	if counts := ds.Counts(); counts[1] > counts[0] {
		p.warn(cause.PositiveClass.New("threshold: %s is about class %q, of %d cases; declare data: {positive: %s} if "+
			"it is to be about the %d cases of %q", s.Name, ds.Classes[1], counts[1], ds.Classes[0], counts[0],
			ds.Classes[0]).In(ds.Name))
	}
}

// fewCases is the number of cases of a class below which its probabilities cannot be checked.
const fewCases = 5

// rareClasses warns of the classes of fewer than fewCases cases. A row of counts is many cases.
func rareClasses(ds *data.Data) (w cause.Notice) {
	var rare []string
	for k, n := range ds.Counts() {
		if n < fewCases && !ds.Schema.Counts {
			rare = append(rare, fmt.Sprintf("%q (%d)", ds.Classes[k], n))
		}
	}
	if len(rare) == 0 {
		return w
	}
	const text = "classes with too few cases to check their probabilities: %s"
	return cause.Rare.New(text, strings.Join(rare, ", ")).In(ds.Name)
}

// group adds the groups of a file to the manifest, once.
func (p *planner) group(ds *data.Data, hash string, test bool) {
	known := func(g record.Groups) bool { return g.DataHash == hash && g.Test == test }
	if ds.Groups == nil || slices.ContainsFunc(p.Manifest.Groups, known) {
		return
	}
	g := record.Groups{DataHash: hash, Test: test, Of: slices.Repeat([]int{-1}, slices.Max(ds.Rows)+1)}
	number := map[string]int{}
	for i, name := range ds.Groups {
		if _, met := number[name]; !met {
			number[name] = len(number)
		}
		g.Of[ds.Rows[i]] = number[name]
	}
	p.Manifest.Groups = append(p.Manifest.Groups, g)
}

// identify adds the id columns of a file to the manifest, once.
func (p *planner) identify(ds *data.Data, hash string, test bool) {
	known := func(of record.IDs) bool { return of.DataHash == hash && of.Test == test }
	if len(ds.IDs) == 0 || slices.ContainsFunc(p.Manifest.IDs, known) {
		return
	}
	of := record.IDs{DataHash: hash, Test: test, Rows: ds.Rows}
	for _, c := range ds.IDs {
		of.Columns = append(of.Columns, record.IDColumn(c))
	}
	p.Manifest.IDs = append(p.Manifest.IDs, of)
}
