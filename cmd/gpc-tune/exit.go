package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/experiments/submit"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// Exit codes.
const (
	exitDone       = 0
	exitUnexpected = 1
	exitUsage      = 2
	exitInvalid    = 3
	exitFailures   = 4
	exitStopped    = 5
	exitForeign    = 6
)

// exitCodes are the exit codes with their meanings, their errors, and what to do. An error ends the
// program with the code of the first row that matches. docs/troubleshooting.md has this table.
var exitCodes = []struct {
	code    int
	meaning string
	remedy  string
	errors  []error
}{
	{exitDone, "done", "", nil},
	{exitUnexpected, "an unexpected error: a fault of gpc-tune, or standard output that cannot be written (disk " +
		"full, or closed by its reader)",
		"read the message; finished jobs are safe in the run folder", []error{errOutput}},
	{exitUsage, "a mistake on the command line", "correct the command; no job has run",
		[]error{errUsage, submit.ErrOptions, experiments.ErrUnfinished, schedule.ErrUnasked}},
	{exitInvalid, "an invalid configuration, data or environment: a mistake in a file, too little memory, a file or " +
		"folder that cannot be read or written",
		"correct the mistakes, which are listed with their places; the same command would fail again",
		[]error{experiments.ErrInvalid, experiments.ErrMistakes, experiments.ErrEnvironment, schedule.ErrMemory,
			experiments.ErrFolder, journal.ErrUnwritable, reports.ErrNothingInCommon, fs.ErrPermission, syscall.EROFS}},
	{exitFailures, "finished, but some trials, fits or checks failed",
		"the report lists them with their reasons; single points that a search of a model went past do not count",
		[]error{experiments.ErrNoFit}},
	{exitStopped, "stopped before the end: by a limit, a full disk, too many open files, or a scheduler that does " +
		"not answer", "remove the cause; the same command with --resume continues",
		[]error{schedule.ErrStopped, schedule.ErrFailures, journal.ErrJournal, experiments.ErrUnreported,
			submit.ErrEngine}},
	{exitForeign, "the run folder belongs to another configuration",
		"name another folder with -o; if the file adds jobs to those of the folder, add --extend",
		[]error{experiments.ErrOtherConfiguration}},
	{128 + int(syscall.SIGHUP), "interrupted by SIGHUP, when its terminal was closed",
		"as 130; nohup or tmux keeps a command going", nil},
	{128 + int(syscall.SIGINT), "interrupted by SIGINT (Ctrl-C)",
		"repeat the command, run and fit -o with --resume, to continue", nil},
	{128 + int(syscall.SIGABRT), "crashed (SIGABRT): out of memory, or a fault of gpc-tune",
		"finished jobs are safe, and --resume continues; if memory ran out, with fewer jobs at a time (-j)", nil},
	{128 + int(syscall.SIGTERM), "interrupted by SIGTERM", "as 130", nil},
}

var (
	errUsage  = errors.New("usage")
	errOutput = errors.New("standard output cannot be written")
)

// usageError is a mistake on the command line.
type usageError struct{ error }

func (usageError) Is(target error) bool { return target == errUsage }
func (e usageError) Unwrap() error      { return e.error }

// usage is the error of a mistake on the command line.
func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// misused marks err, unless nil, as a mistake on the command line.
func misused(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// exitCode is an error whose message has been printed, or that needs none.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// code returns the exit code for an error.
func code(err error) int {
	if exit := exitCode(0); errors.As(err, &exit) {
		return int(exit)
	}
	for _, row := range exitCodes {
		for _, of := range row.errors {
			if errors.Is(err, of) {
				return row.code
			}
		}
	}
	if path, link := (*fs.PathError)(nil), (*os.LinkError)(nil); errors.As(err, &path) || errors.As(err, &link) {
		return exitInvalid
	}
	return exitUnexpected
}
