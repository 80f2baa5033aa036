// Package submit runs the blocks of a run on other machines through engines: one file and one row
// of Table per engine.
//
// An engine starts `gpc-tune worker RUN --block i/m` for every unfinished block, wave after wave,
// and then `gpc-tune worker RUN --block rest`, which runs the remaining jobs and writes the
// results. Whether a job is finished is decided by the journal, never by the engine's report, so a
// block may be started twice, killed, or lost.
package submit

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/pflag"

	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Table lists the engines.
var Table = registry.Table[Engine]{
	entry[local]("local", "processes on this machine"),
	entry[slurm]("slurm", "job arrays of a Slurm cluster"),
	entry[kubernetes]("kubernetes", "indexed Jobs of a Kubernetes cluster"),
}

// entry makes the row of an engine.
func entry[T any, P interface {
	*T
	Engine
}](name, doc string) registry.Entry[Engine] {
	return registry.Entry[Engine]{Name: name, Doc: doc,
		New: func(registry.Decode) (Engine, error) { return P(new(T)), nil }}
}

// Status adds to the progress of a run the queue of the engine to which it was submitted, and the
// command to continue.
func Status(ctx context.Context, dir string, p *reports.Progress) error {
	l, err := run.ReadLayout(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (p.Finished || l.Engine == "") {
		return nil
	}
	if err != nil {
		return err
	}
	args := append([]string{"gpc-tune", "submit", l.Engine, l.File, "-o", dir}, l.Options...)
	for _, s := range l.Settings {
		args = append(args, "--set", s)
	}
	p.Next = terminal.CommandLine(args...)
	row, err := Table.Lookup("engine", l.Engine)
	if err != nil {
		return err
	}
	engine, err := row.New(nil)
	if err != nil {
		return err
	}
	options := pflag.NewFlagSet("", pflag.ContinueOnError)
	options.ParseErrorsAllowlist.UnknownFlags = true // some are options of submit itself
	if engine.Flags(options); options.Parse(l.Options) != nil {
		return nil // not options of this engine
	}
	if e, ok := engine.(interface {
		Queue(ctx context.Context, id string) (reports.Queue, error)
	}); ok {
		queue, err := e.Queue(ctx, l.ID)
		if queue.Engine = l.Engine; err != nil {
			queue.Failure = err.Error()
		}
		p.Queue = &queue
	}
	return nil
}
