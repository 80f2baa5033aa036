package run

import (
	"errors"

	"github.com/gpc-tune/gpc-tune/search"
)

// Options of Plan.Run. A MemoryLimit of 0 is what is free, where the system tells. Threads is set by Run.
type Options struct {
	Resume bool                             // go on with an unfinished run
	Extend bool                             // go on with a run of which this plan is an extension
	Retry  bool                             // run the failed jobs on record again
	Warn   func(format string, args ...any) // hears what the user should know and results do not say
	search.Options
}

// Errors of run folders.
var (
	// ErrOtherConfiguration: the run folder holds another experiment.
	ErrOtherConfiguration = errors.New("the folder belongs to another configuration")
	// ErrUnfinished: the run folder holds a part of this run, and nobody said to go on with it.
	ErrUnfinished = errors.New("the folder holds an unfinished run of this configuration; add --resume to go on with it")
	// ErrUnreported: all jobs are on record, but the results could not be written.
	ErrUnreported = errors.New("every job is done and on record, but the results could not be written")
)

// ErrFolder marks a folder that is no run, or cannot be read as one.
var ErrFolder = errors.New("not the folder of a run, or damaged")
