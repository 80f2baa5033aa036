package submit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// local runs every block as a process of this program on this machine. It restarts killed
// processes, like an engine with many machines.
type local struct {
	parallel, retries int
	memory            int64 // bytes of each process; 0: the system does not report free memory
}

func (e *local) Flags(f *pflag.FlagSet) {
	f.IntVar(&e.parallel, "parallel", 0, "number of blocks that run at the same time (default: as processors and "+
		"memory allow)")
	f.IntVar(&e.retries, "retries", 5, "how often a block is restarted after it was killed or ended early")
}

func (e *local) Check() error {
	if e.retries < 0 || e.parallel < 0 {
		return fmt.Errorf("%w: --retries and --parallel must not be negative", ErrOptions)
	}
	return nil
}

// Submit runs the waves, and then the rest.
func (e *local) Submit(ctx context.Context, r *Run) (done bool, err error) {
	free, _ := machine.Available()
	if e.parallel == 0 {
		e.parallel = max(1, runtime.GOMAXPROCS(0)/r.Jobs)
		if free > 0 && r.Workload.Memory > 0 {
			e.parallel = max(1, min(e.parallel, int(free/r.Workload.Memory)))
		}
	}
	e.memory = free / int64(e.parallel)
	for w := r.Workload; len(w.Waves) > 0; {
		var blocks []string
		for _, b := range w.Waves[0].Blocks {
			blocks = append(blocks, run.Block{Index: b, Of: r.Blocks}.String())
		}
		if err := e.runBlocks(ctx, r, blocks); err != nil {
			return false, err
		}
		if r.DryRun {
			w.Waves = w.Waves[1:]
		} else if w, err = r.Missing(); err != nil {
			return false, err
		}
	}
	if err := e.runBlocks(ctx, r, []string{rest}); err != nil {
		return false, err
	}
	return !r.DryRun, nil
}

// runBlocks runs a process for each of the blocks, and waits for all.
func (e *local) runBlocks(ctx context.Context, r *Run, blocks []string) error {
	errs := make([]error, len(blocks))
	log := &lines{to: r.Log}
	var processes sync.WaitGroup
	turns := make(chan struct{}, e.parallel)
	for i, block := range blocks {
		if r.DryRun {
			fmt.Fprintln(r.Out, terminal.CommandLine(r.worker(e.memory, "--block", block)...))
			continue
		}
		processes.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			errs[i] = e.persist(ctx, r, block, log)
		})
	}
	processes.Wait()
	return errors.Join(errs...)
}

// persist runs the process of a block until it has succeeded or must not be started again.
func (e *local) persist(ctx context.Context, r *Run, block string, log *lines) error {
	for attempt := 0; ; attempt++ {
		if stopped(ctx, r) {
			return fmt.Errorf("%w: block %s was to go on", schedule.ErrStopped, block)
		}
		code, how, err := process(ctx, r, r.worker(e.memory, "--block", block), log)
		switch {
		case err != nil:
			return fmt.Errorf("block %s: %w", block, err)
		case code == 0, code == 4 && block == rest: // some jobs have failed, which is on record
			return nil
		case stopped(ctx, r):
			return fmt.Errorf("%w: block %s ended with %s", schedule.ErrStopped, block, how)
		case code == 3:
			return fmt.Errorf("%w: block %s ended with %s", spec.ErrInvalid, block, how)
		case attempt == e.retries:
			return fmt.Errorf("%w: block %s was started %d times, and ended with %s", schedule.ErrStopped, block,
				attempt+1, how)
		}
		log.printf("block %s ended with %s; restarting it", block, how)
	}
}

func stopped(ctx context.Context, r *Run) bool {
	select {
	case <-r.Drain:
		return true
	default:
		return ctx.Err() != nil
	}
}

// process runs a worker until it ends. The first and the second signal to this process are passed
// on.
func process(ctx context.Context, r *Run, args []string, log *lines) (code int, how string, err error) {
	c := exec.Command(args[0], args[1:]...)
	machine.Apart(c)
	c.Stderr = &line{of: log}
	if err := c.Start(); err != nil {
		return 0, "", err
	}
	ended := make(chan struct{})
	var passing sync.WaitGroup
	passing.Go(func() {
		for _, signal := range []<-chan struct{}{r.Drain, ctx.Done()} {
			select {
			case <-ended:
				return
			case <-signal:
				_ = c.Process.Signal(syscall.SIGTERM) // it may just have ended
			}
		}
	})
	err = c.Wait()
	close(ended)
	passing.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode(), exit.Error(), nil
	}
	return 0, "", err
}

// lines merges the output of many processes, line by line.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

func (l *lines) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.to, format+"\n", args...)
}

// line is an incomplete line of a process.
type line struct {
	of   *lines
	text string
}

func (l *line) Write(text []byte) (int, error) {
	l.text += string(text)
	for {
		first, after, whole := strings.Cut(l.text, "\n")
		if !whole {
			return len(text), nil
		}
		l.text = after
		l.of.printf("%s", first)
	}
}
