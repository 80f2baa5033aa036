package submit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
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
	*run.LaidOut
	Workload run.Workload  // what is missing
	Program  string        // this one
	Jobs     int           // that a worker does at a time
	Timeout  time.Duration // of a job, as search.Options.TrialTimeout; 0: none
	DryRun   bool
	Drain    <-chan struct{} // once closed, what was started here is to end
	Out, Log io.Writer
}

var (
	// ErrOptions marks options of an engine that cannot be.
	ErrOptions = errors.New("options")
	// ErrEngine marks what an engine refuses, or that it does not answer. What it had taken before,
	// it has.
	ErrEngine = errors.New("engine")
)

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

// keep writes files into a folder of the run's, which is made if need be.
func (r *Run) keep(folder string, files map[string]string) error {
	folder = filepath.Join(r.Dir, folder)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for name, text := range files {
		err := atomicfile.Write(filepath.Join(folder, name), func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// command runs a command of a cluster in a folder, and returns what it prints.
func command(ctx context.Context, dir, name string, args ...string) (out string, err error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	var said strings.Builder
	c.Stderr = &said
	text, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s: %w: %s", ErrEngine, name, err, strings.TrimSpace(said.String()))
	}
	return string(text), nil
}
