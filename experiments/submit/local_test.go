package submit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// If started as a worker, the test binary stands in for gpc-tune.
func TestMain(m *testing.M) {
	if len(os.Args) > 4 && os.Args[1] == "worker" {
		os.Exit(standIn(os.Args[2], os.Args[4]))
	}
	os.Exit(m.Run())
}

// Environment variables of workers.
const (
	noted   = "GPC_TUNE_TEST_NOTED"   // folder where they note that they have been started
	signals = "GPC_TUNE_TEST_SIGNALS" // number of signals until they end; 0: they do not wait for any
)

// standIn fails early the first time it is started for a block and does the block the next time,
// unless it has to wait for signals.
func standIn(dir, block string) (code int) {
	waits, _ := strconv.Atoi(os.Getenv(signals))
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGTERM)
	fmt.Fprint(os.Stderr, "worker of ", block)
	time.Sleep(time.Millisecond) // others write meanwhile
	fmt.Fprintln(os.Stderr, " begins")
	for range waits {
		<-heard
		fmt.Fprintf(os.Stderr, "worker of %s has a signal\n", block)
	}
	if waits > 0 {
		return 5
	}
	name := filepath.Join(os.Getenv(noted), strings.ReplaceAll(block, "/", "-"))
	note, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		note.Close()
		return 1
	}
	if err := work(dir, block); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	return 0
}

func work(dir, block string) error {
	laid, err := run.OpenLaidOut(context.Background(), dir)
	if err != nil {
		return err
	}
	options := run.Options{Resume: true, Options: schedule.Options{Workers: 2}}
	if block == rest {
		_, _, err = run.Run(context.Background(), laid.Plan, dir, options)
		return err
	}
	b, err := run.ParseBlock(block)
	if err == nil {
		_, _, err = laid.Work(context.Background(), b, options)
	}
	return err
}

// blocks is the number of blocks of the runs here, all in one wave.
const blocks = 6

// laidOut is a run in which nothing has been done.
func laidOut(t *testing.T, log io.Writer) *Run {
	t.Helper()
	p := plantest.Planned(t, `{data: {dataset: crabs, preprocess: standardize, subsample: 20}, tune: none,
model: {kernel: [se, linear, matern32], likelihood: probit, inference: laplace}, evaluate: {kfold: {k: 4}}}`)
	laid, err := run.LayOut(p, filepath.Join(t.TempDir(), "run"), run.LayOutOptions{Blocks: blocks})
	if err != nil {
		t.Fatal(err)
	}
	r := &Run{LaidOut: laid, Jobs: 1, Out: io.Discard, Log: log}
	if r.Workload, err = r.Missing(); err != nil {
		t.Fatal(err)
	}
	if r.Program, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	return r
}

// Blocks run in parallel, and each fails once. They complete the run, and the lines of their output
// are not mixed.
func TestLocalRunsBlocksInParallel(t *testing.T) {
	t.Setenv(noted, t.TempDir())
	t.Setenv(signals, "0")
	var log strings.Builder
	r := laidOut(t, &log)
	done, err := (&local{parallel: 3, retries: 1}).Submit(t.Context(), r)
	if err != nil || !done {
		t.Fatalf("done is %v, error %v\n%s", done, err, &log)
	}
	names := []string{rest}
	for i := range blocks {
		names = append(names, run.Block{Index: i, Of: blocks}.String())
	}
	said := "\n" + log.String()
	for _, name := range names {
		if n := strings.Count(said, "\nworker of "+name+" begins\n"); n != 2 {
			t.Errorf("the worker of block %s says %d times that it begins, want 2", name, n)
		}
		if n := strings.Count(said, "\nblock "+name+" ended with exit status 1; restarting it\n"); n != 1 {
			t.Errorf("the worker of block %s is started again %d times, want 1", name, n)
		}
	}
	if t.Failed() {
		t.Log(said)
	}
	if w, err := r.Missing(); err != nil || len(w.Waves) > 0 || w.Rest != 0 {
		t.Errorf("missing is %+v, error %v", w, err)
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "results.json")); err != nil {
		t.Error(err)
	}
}

// writerFunc gets every line of a log.
type writerFunc func(line string)

func (f writerFunc) Write(line []byte) (int, error) {
	f(string(line))
	return len(line), nil
}

// The first and the second signal are passed on to all workers, and no block starts after them.
func TestLocalPassesSignalsOn(t *testing.T) {
	needs.That(t, runtime.GOOS != "windows", "SIGTERM, which Windows does not have: run it on another system")
	const parallel = 3
	for n := 1; n <= 2; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Setenv(signals, strconv.Itoa(n))
			drain := make(chan struct{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			begun, told := 0, 0
			r := laidOut(t, writerFunc(func(line string) {
				switch {
				case strings.HasSuffix(line, " begins\n"):
					if begun++; begun == parallel {
						close(drain)
					}
				case strings.HasSuffix(line, " has a signal\n"):
					if told++; told == parallel {
						cancel()
					}
				}
			}))
			r.Drain = drain
			done, err := (&local{parallel: parallel, retries: 5}).Submit(ctx, r)
			if done || !errors.Is(err, schedule.ErrStopped) {
				t.Errorf("done is %v, error %v", done, err)
			}
			if begun != parallel || told != n*parallel {
				t.Errorf("%d blocks were begun, want %d; workers heard %d signals, want %d", begun, parallel, told,
					n*parallel)
			}
		})
	}
}
