package main

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	runs "github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// The flags of a run set its options, and are refused beyond their limits.
func TestFlagsOfRuns(t *testing.T) {
	for _, c := range []struct {
		args string
		want runs.Options // only the fields below are compared
		bad  string
	}{
		{"", runs.Options{}, ""}, {"--resume", runs.Options{Resume: true}, ""}, {"--extend", runs.Options{Extend: true}, ""},
		{"--retry-failed", runs.Options{Resume: true, Retry: true}, ""}, {"--fail-fast", runs.Options{Options: schedule.Options{MaxFailures: 1}}, ""},
		{"--keep-going", runs.Options{}, ""}, {"--max-failures 3", runs.Options{Options: schedule.Options{MaxFailures: 3}}, ""},
		{"--max-failures 0", runs.Options{}, ""}, {"--max-failures -1", runs.Options{}, "--max-failures must not be negative"},
		{"-j 1", runs.Options{Options: schedule.Options{Workers: 1}}, ""}, {"-j 0", runs.Options{}, "-j 0: at least one job"},
		{"--timeout 2h30m", runs.Options{Options: schedule.Options{Timeout: 150 * time.Minute}}, ""}, {"--timeout -1s", runs.Options{}, "must not be negative"},
		{"--trial-timeout 5s", runs.Options{Options: schedule.Options{TrialTimeout: 5 * time.Second}}, ""}, {"--trial-timeout -1s", runs.Options{}, "must not be negative"},
		{"--memory 8GiB", runs.Options{Options: schedule.Options{MemoryLimit: 8 << 30}}, ""}, {"--memory 1", runs.Options{Options: schedule.Options{MemoryLimit: 1}}, ""},
		{"--memory 0", runs.Options{}, `--memory "0" is not a size`}, {"--memory much", runs.Options{}, `--memory "much" is not a size`},
		{"--memory 9223372036854775807", runs.Options{Options: schedule.Options{MemoryLimit: math.MaxInt64}}, ""},
		{"--memory 9223372036854775808", runs.Options{}, "is not a size"},
	} {
		var o runs.Options
		command := &cobra.Command{}
		check := runFlags(command, &o)
		if err := command.ParseFlags(strings.Fields(c.args)); err != nil {
			t.Fatal(err)
		}
		err := check()
		if c.bad != "" {
			if err == nil || !strings.Contains(err.Error(), c.bad) || code(err) != exitUsage {
				t.Errorf("%s: %v, want %s", c.args, err, c.bad)
			}
			continue
		}
		workers := o.Workers
		if c.want.Workers == 0 && workers < 1 || c.want.Workers > 0 && workers != c.want.Workers {
			t.Errorf("%s: %d workers", c.args, workers)
		}
		if err != nil || o.Resume != c.want.Resume || o.Retry != c.want.Retry || o.Extend != c.want.Extend || o.MaxFailures != c.want.MaxFailures ||
			o.Timeout != c.want.Timeout || o.TrialTimeout != c.want.TrialTimeout || o.MemoryLimit != c.want.MemoryLimit {
			t.Errorf("%s: %+v, %v", c.args, o, err)
		}
	}
}

// The requested output goes to a file, or to standard output.
func TestOutputFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out")
	for _, args := range [][]string{nil, {"-o", name}} {
		var out strings.Builder
		command := &cobra.Command{}
		command.SetOut(&out)
		write := fileFlag(command)
		if err := command.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		if err := write(func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err }); err != nil {
			t.Fatal(err)
		}
		written, _ := os.ReadFile(name)
		if file := len(args) > 0; file != (string(written) == "text") || file != (out.String() == "") {
			t.Errorf("%q: file %q, output %q", args, written, out.String())
		}
	}
}

// A run that was stopped prints its progress and the command to continue; failed jobs are counted.
func TestEndsOfRuns(t *testing.T) {
	stopped, other := schedule.ErrStopped, errors.New("else")
	for _, c := range []struct {
		again   string
		s       schedule.Summary
		err     error
		message string // message of the error
		shown   string
	}{
		{"", schedule.Summary{Total: 5, Done: 5}, nil, "", "results: d\n"},
		{"", schedule.Summary{Total: 5, Done: 4, Failed: 1}, nil, "exit", "results: d\ngpc-tune: 1 of 5 jobs failed; the report lists them, and --retry-failed runs failed jobs again\n"},
		{"again", schedule.Summary{Total: 5, Done: 1, Skipped: 2}, stopped, "\n3 of 5 jobs are done; go on with: again", ""},
		{"", schedule.Summary{Total: 5, Done: 1, Skipped: 2}, stopped, "\n3 of 5 jobs are done", ""},
		{"again", schedule.Summary{}, stopped, stopped.Error(), ""}, {"again", schedule.Summary{Total: 5}, other, "else", ""},
	} {
		var shown strings.Builder
		command := &cobra.Command{}
		command.SetErr(&shown)
		command.SetContext(context.Background())
		err := finished(command, "d", c.again, c.s, c.err)
		if shown.String() != c.shown || (err == nil) != (c.message == "") || err != nil && !strings.HasSuffix(err.Error(), c.message) && c.message != "exit" {
			t.Errorf("%+v: %v, shown %q", c, err, shown.String())
		}
		if c.message == "exit" && code(err) != exitFailures {
			t.Errorf("%+v: exit code %d", c, code(err))
		}
	}
}

// The time that a study may take is a duration of a second or more, or a night.
func TestTimeOfStudies(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "overnight": 8 * time.Hour, "30m": 30 * time.Minute, "1s": time.Second, "1h30m": 90 * time.Minute,
		"0.9s": -1, "-1m": -1, "long": -1, "30": -1} {
		limit, err := timeOf(text)
		if want < 0 && code(err) != exitUsage || want >= 0 && (err != nil || limit != want) {
			t.Errorf("%q: %v, %v", text, limit, err)
		}
	}
}
