package schedule

import (
	"time"

	"github.com/gpc-tune/gpc-tune/record"
)

// Journal has the finished jobs of a run by key. Its lines are shared and must not be modified.
// Errors of reading or writing are record.ErrJournal. Package experiments/journal keeps one in a
// folder or in memory.
type Journal interface {
	// Begin fails if the journal cannot be written to, before there are results.
	Begin() error
	// Append records finished jobs. When it returns, they survive the end of this process.
	Append(lines ...record.Line) error
	// Done looks up a finished job.
	Done(key string) (line record.Line, done bool)
	// Earlier looks up a job that another plan has finished and this plan has not. again: it is a
	// failure that runs again. A timeout always does, and after RetryEarlier every failure.
	Earlier(key string) (line record.Line, again, found bool)
	// RetryEarlier makes failed jobs of other plans run again.
	RetryEarlier()
	// Usable reports whether a report could use the line as one of the plan.
	Usable(line record.Line) bool
	// Lines lists the finished jobs by configuration, study, kind (trials first) and index.
	Lines() []record.Line
	// Withdraw removes jobs from the record, so that they run again.
	Withdraw(keys ...string) error
	// Retry withdraws failed trials of a search, so that they run again. proposed is the number of
	// trials that the search has proposed.
	Retry(proposed int, failed ...record.Line) error
	// Retried looks up a failed trial that runs again, or has run again, of any plan.
	Retried(key string) (r record.Retry, found bool)
	// Revised is the number of times that lines were removed or replaced.
	Revised() int
	// Control is the result of all commands that have been read.
	Control() record.Control
	// Refresh reads lines of other processes and commands, and reports whether there were any.
	Refresh() (news bool, err error)
	// Claim reserves the key of a job, or any other key, for this process until Release. It is
	// false if another process has reserved it.
	Claim(key string) (ours bool, err error)
	// Holds reports whether this process still has a reservation.
	Holds(key string) bool
	// Release ends a reservation.
	Release(key string)
	// ReleaseAll ends all reservations of this process.
	ReleaseAll()
	// Reserve reserves a key until Told, beyond the end of this process. It is false if the key is
	// reserved.
	Reserve(key string) (ours bool, err error)
	// Asked reports whether a key has a reservation of Reserve, and since when.
	Asked(key string) (since time.Time, asked bool)
	// Told ends a reservation of Reserve.
	Told(key string)
	// Elsewhere counts the reservations of other processes.
	Elsewhere() int
	// Detach keeps later lines in memory.
	Detach()
}
