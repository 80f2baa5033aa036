package plan

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/random"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// searched is the name of the evaluation in the studies of a program.
const searched = "search"

// program makes a configuration with one study for every way of searching the hyperparameters of a
// program.
func (p *planner) program() {
	of := p.Spec.Program
	f := schedule.Function{Space: of.Space, Minimize: of.Minimize, Value: of.Value, Early: of.Early,
		Objectives: of.Objectives, Require: of.Bounds, Noise: of.Noise,
		Seed: random.Derive(p.Spec.Seed, "study", searched)}
	if f.Told = f.Value == nil && len(of.Command) == 0; f.Told {
		f.Value = func(context.Context, []float64) (float64, error) {
			return math.NaN(), errors.New("it has no command")
		}
	}
	if f.Value == nil {
		command := job.Command{Program: of, Dir: p.Spec.Dir}
		if err := command.Check(); err != nil {
			p.AtPlace(of.CommandPlace, "the command cannot be run: %v", err)
		}
		f.Value, f.Ends = command.Value, true
	}
	content := sha256.New()
	for _, name := range of.Paths(p.Spec.Dir) {
		if err := hashFile(content, name); err != nil {
			p.AtPlace(of.FilesPlace, "%v", err)
		}
	}
	of.Ranges = rangeTexts(of.Space, of.Where)
	for _, t := range of.Ways {
		f.Strategy, f.Stop, f.Space = t.Strategy, t.Stop, of.Space
		c := record.Configuration{Dataset: p.Spec.Name, DataHash: fmt.Sprintf("%x", content.Sum(nil)),
			Classes: []string{}, Tune: t.Method, Objective: "value", Program: &of.Program}
		c.Hyperparameters = recorded(of.Space)
		if t.StartFrom != "" {
			var err error
			if f.Space, err = p.startedFrom(t.StartFrom, c, of.Space); err != nil {
				p.AtPlace(t.StartPlace, "%v", err)
				continue
			}
			first := func(s search.Space) []search.Proposal { return f.Strategy.Ask(s, nil, f.Seed) }
			if f.Strategy.Budget(f.Space).AtOnce == 0 && reflect.DeepEqual(first(f.Space), first(of.Space)) {
				p.warn(cause.NoEffect.New("start_from has no effect: the points of %s are the same wherever a search "+
					"starts", t.Method).In(c.String()))
			}
		}
		for i, h := range f.Space {
			of := &c.Hyperparameters[i]
			of.Init, of.Budget = record.Number(h.Init), h.Name == search.FidelityOf(t.Strategy).Of
		}
		search.Record(c.Hyperparameters, t.Strategy, f.Space)
		used := versions{}
		used.of(t.Strategy)
		if len(used) > 0 {
			c.Versions = used
		}
		identity := identityOf(c, f.Space, t, "")
		if p.known(&candidate{Configuration: c}, identity) {
			continue
		}
		trials, first, budget := batches(f.Study(""))
		s := Study{Study: f.Study(hashed(identity, mustMarshal(f.Seed))), First: first,
			RunsTrialsOf: len(p.Studies), Job: &job.Job{Set: &job.Set{Evaluation: searched}},
			Times: func(r *Rates) (Times, bool) {
				if r != Nominal { // nobody knows how long the program takes
					return Times{}, false
				}
				return relative(trials), true
			}}
		s.Configuration = len(p.Manifest.Configurations)
		c.Studies = []record.Study{{Key: s.Key, Evaluation: searched, Jobs: budget.Trials + 1, AtMost: budget.AtMost}}
		if !p.grow(t.Place, 1, budget.Trials+1, 0) {
			return
		}
		p.Studies = append(p.Studies, s)
		p.Manifest.Configurations = append(p.Manifest.Configurations, c)
		p.Models = append(p.Models, declared.Model{})
	}
}

// rangeTexts returns the ranges of all hyperparameters, and their constraints.
func rangeTexts(space search.Space, where []string) (all []string) {
	for _, h := range space {
		all = append(all, rangeText(h, space))
	}
	for _, text := range where {
		all = append(all, "where "+text)
	}
	return all
}

// rangeText returns the range of a hyperparameter, in words.
func rangeText(h param.Spec, all search.Space) string {
	text := fmt.Sprintf("from %v to %v", h.Lo, h.Hi)
	if h.Map == param.Whole {
		text = "whole " + text
	}
	if h.Step > 1 || h.Map == param.Stepped {
		text += fmt.Sprintf(" in steps of %v", h.Step)
	}
	if h.Log {
		text += ", evenly in the logarithm"
	}
	if h.Map == param.Choice {
		var choices []string
		for i := range h.Choices {
			choices = append(choices, h.Quoted(float64(i)))
		}
		text = "one of " + strings.Join(choices, ", ")
	}
	text = fmt.Sprintf("%s %s, first %s", h.ThetaName(), text, h.Quoted(h.Init))
	if h.When != nil {
		text += ", when " + h.When.Text(func(name string) string { return name }, func(name string, v float64) string {
			return all[slices.IndexFunc(all, func(p param.Spec) bool { return p.Name == name })].Quoted(v)
		})
	}
	return text
}

// relative returns the times of trials in units of one evaluation.
func relative(trials []batch) (t Times) {
	for _, b := range trials {
		t.Trials += float64(b.trials * b.points)
		t.Path += float64(b.rounds * b.points)
		t.Longest = max(t.Longest, float64(b.points))
	}
	t.Evaluation, t.Evaluations, t.All = 1, t.Longest, t.Trials
	return t
}

// hashFile adds the length and the content of a file.
func hashFile(to io.Writer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	fmt.Fprintln(to, info.Size())
	_, err = io.Copy(to, f)
	return err
}
