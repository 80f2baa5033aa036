//go:build unix

package submit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// A dry run on this machine prints the command of every missing block, wave after wave, and of the
// rest, and starts none. Without --parallel there are as many processes as processors and memory
// allow.
func TestLocalDryRun(t *testing.T) {
	for _, c := range []struct{ jobs, memory, parallel int }{
		{1, 1, runtime.GOMAXPROCS(0)}, {runtime.GOMAXPROCS(0), 1, 1}, {runtime.GOMAXPROCS(0) + 1, 0, 1}, {1, 1 << 60, 1},
	} {
		r := twoWaves(t)
		var out strings.Builder
		r.DryRun, r.Out, r.Jobs, r.Workload.Memory = true, &out, c.jobs, int64(c.memory)
		e := &local{}
		if done, err := e.Submit(t.Context(), r); done || err != nil {
			t.Fatal(done, err)
		}
		if e.parallel != c.parallel {
			t.Errorf("%+v: %d processes at a time", c, e.parallel)
		}
		var want []string
		for _, b := range []string{"0/6", "1/6", "2/6", "3/6", "4/6", "5/6", "0/6", "2/6", "3/6", "5/6", rest} {
			want = append(want, terminal.CommandLine(r.worker(e.memory, "--block", b)...))
		}
		if got := strings.Split(strings.TrimSpace(out.String()), "\n"); !slices.Equal(got, want) {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
}

// The command line of a worker has its memory and the time limit of its jobs, if there are any.
func TestWorkerCommand(t *testing.T) {
	r := &Run{LaidOut: &run.LaidOut{Dir: "/data/run"}, Program: "/opt/gpc-tune", Jobs: 3}
	if got, want := strings.Join(r.worker(0), " "), "/opt/gpc-tune worker /data/run -j 3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	r.Timeout = 90 * time.Second
	want := "/opt/gpc-tune worker /data/run --block 0/2 -j 3 --memory 1 --trial-timeout 1m30s"
	if got := strings.Join(r.worker(1, "--block", "0/2"), " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// How a worker ended decides whether its block is started again: not after success or invalid
// input, otherwise up to --retries times. Failed jobs end the rest, whose results have them.
func TestLocalStartsAgain(t *testing.T) {
	waves := []run.Wave{{Blocks: []int{1, 4}}}
	for _, c := range []struct {
		name, program string
		waves         []run.Wave
		started       int
		done          bool
		is            error
		said          string
	}{
		{"invalid input", "exit 3", waves, 2, false, spec.ErrInvalid, "block 4/6 ended with exit status 3"},
		{"failures in a block", "exit 4", waves, 6, false, schedule.ErrStopped, "block 1/6 was started 3 times"},
		{"failures in the rest", "exit 4", nil, 1, true, nil, ""},
		{"a killed rest", "kill -9 $$", nil, 3, false, schedule.ErrStopped, "ended with signal: killed"},
		{"a rest that succeeds", "exit 0", nil, 1, true, nil, ""},
	} {
		dir := standIns(t, map[string]string{"gpc-tune": `echo "$@" >> "$FAKE/started"; ` + c.program})
		r := twoWaves(t)
		r.Program, r.Workload.Waves = filepath.Join(dir, "gpc-tune"), c.waves
		done, err := (&local{parallel: 1, retries: 2}).Submit(t.Context(), r)
		if done != c.done || !errors.Is(err, c.is) || err != nil && !strings.Contains(err.Error(), c.said) {
			t.Errorf("%s: done is %v, error %v", c.name, done, err)
		}
		if got := sent(t, dir, "started"); len(got) != c.started {
			t.Errorf("%s: started %d times, want %d: %q", c.name, len(got), c.started, got)
		}
	}
	r := twoWaves(t)
	r.Program, r.Workload.Waves = filepath.Join(t.TempDir(), "none"), nil
	if done, err := (&local{parallel: 1}).Submit(t.Context(), r); done || !errors.Is(err, os.ErrNotExist) ||
		!strings.HasPrefix(err.Error(), "block rest: ") {
		t.Errorf("no program: done is %v, error %v", done, err)
	}
	drained := make(chan struct{})
	close(drained)
	r.Drain = drained
	if done, err := (&local{parallel: 1}).Submit(t.Context(), r); done || !errors.Is(err, schedule.ErrStopped) {
		t.Errorf("after a signal: done is %v, error %v", done, err)
	}
}

// A program that go run builds is gone when a cluster starts the blocks.
func TestProgramMustLast(t *testing.T) {
	for program, lasts := range map[string]bool{
		filepath.Join(os.TempDir(), "go-build7", "exe", "gpc-tune"): false,
		filepath.Join(os.TempDir(), "mine", "gpc-tune"):             true,
		"/home/go-build/gpc-tune":                                   true,
	} {
		r := &Run{LaidOut: &run.LaidOut{Dir: "/data/run"}, Program: program}
		if err := r.lasting(); (err == nil) != lasts || err != nil && !errors.Is(err, ErrOptions) {
			t.Errorf("%s: error %v", program, err)
		}
		for _, e := range []Engine{&slurm{}, &kubernetes{mount: "/data"}} {
			if lasts {
				break
			}
			if _, err := e.Submit(t.Context(), r); !errors.Is(err, ErrOptions) {
				t.Errorf("%T, %s: error %v", e, program, err)
			}
		}
	}
}

// The Jobs of a run are replaced by Jobs for its missing part, in its namespace. A dry run only
// prints them after the Dockerfile.
func TestKubernetesSubmits(t *testing.T) {
	dir := standIns(t, map[string]string{"kubectl": `echo "$@" >> "$FAKE/calls"; echo "$1 done"
if [ -f "$FAKE/$1" ]; then cat "$FAKE/$1" >&2; exit 1; fi`})
	r := twoWaves(t)
	e := &kubernetes{image: "example.org/gpc-tune:1", claim: "study", mount: filepath.Dir(r.Dir), namespace: "lab"}
	var dry bytes.Buffer
	r.DryRun, r.Out = true, &dry
	if done, err := e.Submit(t.Context(), r); done || err != nil {
		t.Fatal(done, err)
	}
	folder := filepath.Join(r.Dir, "kubernetes")
	if _, err := os.Stat(folder); !os.IsNotExist(err) || len(sent(t, dir, "calls")[0]) > 0 {
		t.Errorf("a dry run wrote or asked: %v, %q", err, sent(t, dir, "calls"))
	}
	var log strings.Builder
	r.DryRun, r.Log = false, &log
	if done, err := e.Submit(t.Context(), r); done || err != nil {
		t.Fatal(done, err)
	}
	jobs, err := os.ReadFile(filepath.Join(folder, "jobs.yaml"))
	if err != nil || !bytes.HasSuffix(dry.Bytes(), jobs) || !bytes.HasPrefix(dry.Bytes(), []byte("# # docker build ")) {
		t.Errorf("error %v; sent\n%s\nand a dry run prints\n%s", err, jobs, &dry)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "Dockerfile")); err != nil || string(text) != e.dockerfile(r) {
		t.Errorf("Dockerfile: error %v, %s", err, text)
	}
	want := []string{
		"delete jobs --ignore-not-found --cascade=foreground --timeout=90s --selector=app.kubernetes.io/instance=gpc-tune-" +
			r.ID + " --namespace=lab",
		"apply --filename=" + filepath.Join(folder, "jobs.yaml"),
	}
	if got := sent(t, dir, "calls"); !slices.Equal(got, want) {
		t.Errorf("kubectl gets %q, want %q", got, want)
	}
	if said := log.String(); !strings.HasPrefix(said, "delete done\napply done\njob.batch/gpc-tune-"+r.ID+
		"-w1 is suspended ") || strings.Count(said, "\n") != 3 {
		t.Errorf("it says\n%s", said)
	}
	for _, c := range []struct{ call, message, said string }{
		{"apply", "no cluster", "where kubectl has a cluster"}, {"delete", "no cluster", "where kubectl has a cluster"},
		{"delete", "error: timed out waiting for the condition", "some pods of the run do not end"},
		{"apply", "error: timed out waiting for the condition", "where kubectl has a cluster"},
	} {
		keep(t, dir, c.call, c.message)
		_, err := e.Submit(t.Context(), r)
		if !errors.Is(err, ErrEngine) || !strings.Contains(err.Error(), c.message+"\n"+c.said) {
			t.Errorf("%s fails: error %v", c.call, err)
		}
		if err := os.Remove(filepath.Join(dir, c.call)); err != nil {
			t.Fatal(err)
		}
	}
	e.mount = filepath.Join(filepath.Dir(r.Dir), "other")
	if _, err := e.Submit(t.Context(), r); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), "is not below it") {
		t.Errorf("another mount: error %v", err)
	}
}
