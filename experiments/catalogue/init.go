package catalogue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/columns"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/query"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/pattern"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// notInNames matches characters that the name of a run must not contain.
var notInNames = pattern.Of(`[^A-Za-z0-9._-]+`)

// Starter writes the text of a configuration file to start with, for a path: with a bundled data
// set, or with a file of cases, for which it describes the kind of each column. given has
// the known facts about its columns. Without a label there the file determines it; if the file does
// not, the error is a columns.UnclearLabel. Of several studies it takes the largest with an
// expected time of at most limit on this machine. Without a limit the time is two minutes at
// nominal rates, so that the same file is written on every machine.
func Starter(ctx context.Context, path, name string, given columns.Given, limit time.Duration) (Started, error) {
	from, err := query.Source(name)
	if err != nil {
		return Started{}, fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	}
	w := &starter{path: path}
	w.line("# An experiment: gpc-tune validate checks it, gpc-tune plan shows what it would run, gpc-tune run runs it.")
	w.line("version: 1")
	w.line("name: %s", scalar(cmp.Or(strings.Trim(notInNames().ReplaceAllString(strings.TrimSuffix(filepath.Base(path),
		filepath.Ext(path)), "-"), ".-_"), "experiment")))
	w.line("seed: 1")
	w.line("")
	w.line("data:")
	var t *columns.Table
	var size problem
	if from.Dataset == "" {
		t, err = columns.ReadGiven(from.Train, given)
	}
	switch {
	case from.Dataset == "" && err == nil:
		if err := t.Clear(); err != nil {
			return Started{}, fmt.Errorf("%w: %s: %w", spec.ErrInvalid, from.Train, err)
		}
		if size, err = sizeOf(t); err != nil {
			return Started{}, fmt.Errorf("%w: %s: %w", spec.ErrInvalid, from.Train, err)
		}
		w.writeTable(t)
	case from.Dataset == "" && !errors.Is(err, tables.ErrSparse):
		return Started{}, fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	default:
		from.Label = cells.Name(given.Label)
		d, err := query.ReadAny(&from)
		if err != nil {
			return Started{}, fmt.Errorf("%w: %w", spec.ErrInvalid, err)
		}
		s := data.Describe(d)
		size = problem{cases: s.Cases, inputs: len(s.Inputs), classes: s.Classes, test: s.Test}
		w.writeSet(from, s)
	}
	out, err := w.choose(ctx, size, limit)
	if t != nil {
		out.About += "; the label " + t.Reason()
		out.Notes = t.Notes
	}
	return out, err
}

// ParseGiven reads facts about the columns of a table that are written as YAML. Of texts that are
// categories too, the values decide what they are.
func ParseGiven(text string) (given columns.Given, err error) {
	found := strictyaml.NewFindings("--given")
	if root := strictyaml.Parse([]byte(text), found); root != nil {
		declared.NewDecoder(found).Into(root, &given)
	}
	given.Categories = slices.DeleteFunc(given.Categories, func(name cells.Name) bool {
		return slices.Contains(given.Texts, name)
	})
	return given, found.Err()
}

// sizeOf is the size of the problem for a table.
func sizeOf(t *columns.Table) (problem, error) {
	size := problem{cases: t.Rows - t.Unlabelled, classes: t.Classes, target: t.Target,
		grouped: t.Spec.Group != "" || t.Spec.Duplicates != "", ordered: len(t.Spec.Order) > 2,
		skewed: t.Skewed}
	if !t.Numeric && len(t.Classes) < 2 {
		return size, errors.New("the label has fewer than two classes of enough cases; name another column with " +
			"--label")
	}
	for _, c := range t.Rare {
		size.cases -= c.N
	}
	size.inputs = t.Inputs()
	if size.inputs == 0 {
		return size, fmt.Errorf("no column can be an input; gpc-tune data FILE says what each was taken for")
	}
	return size, nil
}
