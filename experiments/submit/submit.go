// Package submit hands the blocks of a run to what has machines for them: one file an engine, and its line in Table.
//
// An engine starts `gpc-tune worker RUN --block i/m` for every block that has something missing, wave after wave, and then
// `gpc-tune worker RUN --block rest`, which does what is left and writes the results. What it says of them is never believed: what is done is
// what is in the journal, so that a block may be started twice, killed, or lost.
package submit

import (
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Engine has machines. A new one is a pointer to its options, at their defaults.
type Engine interface {
	// Flags adds the options to those of the command line.
	Flags(f *pflag.FlagSet)
	// Check finds what is wrong with the options, before anything is read or written.
	Check() error
	// Submit has what is missing of the run done, or with DryRun says how. Unless it waits for the end, done is false.
	Submit(ctx context.Context, r *Run) (done bool, err error)
}

// Run is a run to be submitted.
type Run struct {
	*experiments.LaidOut
	Workload experiments.Workload // what is missing
	Program  string               // this one
	Jobs     int                  // that a worker does at a time
	DryRun   bool
	Drain    <-chan struct{} // once closed, what was started here is to end
	Out, Log io.Writer
}

// Table lists the engines.
var Table = registry.Table[Engine]{
	of[Local]("local", "processes on this machine"),
}

// of makes the entry of an engine.
func of[T any, P interface {
	*T
	Engine
}](name, doc string) registry.Entry[Engine] {
	return registry.Entry[Engine]{Name: name, Doc: doc, New: func(registry.Decode) (Engine, error) { return P(new(T)), nil }}
}

// ErrOptions marks options of an engine that cannot be.
var ErrOptions = errors.New("options")

// rest names the end of a run where a block is asked for: what no block has done, and the results.
const rest = "rest"

// worker is the command line of a worker; of a block, or of the rest.
func (r *Run) worker(block string) []string {
	return []string{r.Program, "worker", r.Dir, "--block", block, "-j", strconv.Itoa(r.Jobs)}
}
