// Package submit hands the blocks of a run to what has machines for them: one file an engine, and
// its line in Table.
//
// An engine starts `gpc-tune worker RUN --block i/m` for every block that has something missing,
// wave after wave, and then `gpc-tune worker RUN --block rest`, which does what is left and writes
// the results. What it says of them is never believed: what is done is what is in the journal, so
// that a block may be started twice, killed, or lost.
package submit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Engine has machines. A new one is a pointer to its options, at their defaults.
type Engine interface {
	// Flags adds the options to those of the command line.
	Flags(f *pflag.FlagSet)
	// Check finds what is wrong with the options, before anything is read or written.
	Check() error
	// Submit has what is missing of the run done, or with DryRun says how. Unless it waits for the
	// end, done is false.
	Submit(ctx context.Context, r *Run) (done bool, err error)
}

// Run is a run to be submitted.
type Run struct {
	*experiments.LaidOut
	Workload experiments.Workload // what is missing
	Program  string               // this one
	Jobs     int                  // that a worker does at a time
	Timeout  time.Duration        // of a job, as search.Options.TrialTimeout; 0: none
	DryRun   bool
	Drain    <-chan struct{} // once closed, what was started here is to end
	Out, Log io.Writer
}

// Table lists the engines.
var Table = registry.Table[Engine]{
	of[Local]("local", "processes on this machine"),
	of[Slurm]("slurm", "job arrays of a Slurm cluster"),
	of[Kubernetes]("kubernetes", "indexed Jobs of a Kubernetes cluster"),
}

// of makes the entry of an engine.
func of[T any, P interface {
	*T
	Engine
}](name, doc string) registry.Entry[Engine] {
	return registry.Entry[Engine]{Name: name, Doc: doc,
		New: func(registry.Decode) (Engine, error) { return P(new(T)), nil }}
}

var (
	// ErrOptions marks options of an engine that cannot be.
	ErrOptions = errors.New("options")
	// ErrEngine marks what an engine refuses, or that it does not answer. What it had taken before,
	// it has.
	ErrEngine = errors.New("engine")
)

// Status adds to the progress of a run what the engine that it was submitted to has of it, and how
// to go on.
func Status(ctx context.Context, dir string, p *reports.Progress) error {
	l, err := experiments.ReadLayout(dir)
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
	p.Next = reports.CommandLine(args...)
	entry, err := Table.Lookup("engine", l.Engine)
	if err != nil {
		return err
	}
	engine, err := entry.New(nil)
	if err != nil {
		return err
	}
	options := pflag.NewFlagSet("", pflag.ContinueOnError)
	options.ParseErrorsAllowlist.UnknownFlags = true // some are of submit itself
	if engine.Flags(options); options.Parse(l.Options) != nil {
		return nil // those of another version
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

// rest names the end of a run where a block is asked for: what no block has done, and the results.
const rest = "rest"

// worker is the command line of a worker whose jobs have so much memory, in bytes; 0: what is free.
func (r *Run) worker(memory int64, block ...string) []string {
	args := append([]string{r.Program, "worker", r.Dir}, block...)
	args = append(args, "-j", strconv.Itoa(r.Jobs))
	if memory > 0 {
		args = append(args, "--memory", strconv.FormatInt(memory, 10))
	}
	if r.Timeout > 0 {
		args = append(args, "--trial-timeout", r.Timeout.String())
	}
	return args
}

// memory is what the jobs that a worker does at a time take, in bytes, and what to ask a cluster
// for, in MiB: a quarter more, and 512 MiB, or 256 MiB and four times the journal, which takes that
// where the results are written, and less where it is read.
func (r *Run) memory() (jobs, asked int64) {
	jobs = r.Workload.Memory * int64(r.Jobs)
	return jobs, (jobs+jobs/4)>>20 + max(512, 256+4*r.Workload.Journal>>20)
}

// lasting says if this program is gone when the blocks start.
func (r *Run) lasting() error {
	if dir := filepath.Dir(r.Program); strings.HasPrefix(dir, os.TempDir()) && strings.Contains(dir, "go-build") {
		return fmt.Errorf("%w: %s is gone when the jobs start; build the program where it stays and all nodes find "+
			"it (CGO_ENABLED=0 go build -o gpc-tune ./cmd/gpc-tune), and submit with that", ErrOptions, r.Program)
	}
	return nil
}
