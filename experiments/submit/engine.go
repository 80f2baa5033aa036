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

// Engine runs blocks on machines. A new one is a pointer to its options, set to their defaults.
type Engine interface {
	// Flags adds the options to the command line.
	Flags(f *pflag.FlagSet)
	// Check validates the options, before anything is read or written.
	Check() error
	// Submit starts the missing part of the run; with DryRun it prints the commands. done is false
	// if it does not wait for the end.
	Submit(ctx context.Context, r *Run) (done bool, err error)
}

// Run is a run to be submitted.
type Run struct {
	*run.LaidOut
	Workload run.Workload  // the missing part
	Program  string        // path of this program
	Jobs     int           // concurrent jobs of a worker
	Timeout  time.Duration // longest time of a job, search.Options.TrialTimeout; 0: none
	DryRun   bool
	Drain    <-chan struct{} // once closed, processes started here must end
	Out, Log io.Writer
}

var (
	// ErrOptions marks invalid options of an engine.
	ErrOptions = errors.New("options")
	// ErrEngine marks a request that the engine refused or did not answer. Earlier requests of the
	// same submission may have been accepted.
	ErrEngine = errors.New("engine")
)

// rest replaces a block for the end of a run: the jobs that no block has done, and the results.
const rest = "rest"

// worker returns the command line of a worker. memory is the number of bytes for its jobs; 0: the
// free memory.
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

// memory returns the bytes that the concurrent jobs of a worker need, and the MiB to request from a
// cluster: a quarter more, plus the larger of 512 MiB and 256 MiB with four times the size of the
// journal. The journal takes that much when the results are written, and less when it is only read.
func (r *Run) memory() (jobs, asked int64) {
	jobs = r.Workload.Memory * int64(r.Jobs)
	return jobs, (jobs+jobs/4)>>20 + max(512, 256+4*r.Workload.Journal>>20)
}

// lasting returns an error if this program may no longer exist when the blocks start.
func (r *Run) lasting() error {
	if dir := filepath.Dir(r.Program); strings.HasPrefix(dir, os.TempDir()) && strings.Contains(dir, "go-build") {
		return fmt.Errorf("%w: %s is gone when the jobs start; build the program where it stays and all nodes find "+
			"it (CGO_ENABLED=0 go build -o gpc-tune ./cmd/gpc-tune), and submit with that", ErrOptions, r.Program)
	}
	return nil
}

// keep writes files into a subfolder of the run folder.
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

// command runs a command of a cluster in a folder, and returns its output.
func command(ctx context.Context, dir, name string, args ...string) (out string, err error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	var stderr strings.Builder
	c.Stderr = &stderr
	text, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s: %w: %s", ErrEngine, name, err, strings.TrimSpace(stderr.String()))
	}
	return string(text), nil
}
