package search

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/gpc-tune/gpc-tune/internal/journal"
)

var (
	// ErrStopped marks a run that ended early because it was asked to: Options.Drain,
	// Options.Timeout, or its context. The next run goes on where it ended.
	ErrStopped = errors.New("stopped")
	// ErrFailures marks a run that ended early at Options.MaxFailures.
	ErrFailures = errors.New("too many failures")
)

// Options of Run. The zero value runs everything on all cores, whatever fails.
type Options struct {
	Workers     int   // jobs at a time; 0 means GOMAXPROCS
	MaxFailures int   // start no further job once so many have failed, those on record included; 0: never
	MemoryLimit int64 // bytes that the running jobs may need together, by Study.Memory; 0: no limit
	// Timeout cancels the run after this time; 0: never.
	Timeout time.Duration
	// TrialTimeout cancels a job after this time and records that as its failure; 0: never. It is
	// the one thing by which results depend on the clock.
	TrialTimeout time.Duration
	// Own, if set, says which jobs are this process's, and leaves the others to other processes: of
	// a study, by its place in the list, the trial of this index among those that it asks for
	// first, or with index Later all that comes after them. The run ends when nothing of its own
	// can run now, even if that is because others' jobs must be done before; see Missing.
	Own func(study, trial int) bool
	// Drain, once closed, lets the running jobs finish and starts no other. (Cancelling the context
	// cancels them.)
	Drain <-chan struct{}
	// Progress, if set, is called at the start and after every job, one call at a time; the next
	// job waits for it.
	Progress func(Event)
	// Threads, if set, is told into how many threads each running job may divide its work, whenever
	// that changes: one while there are jobs for all workers, then its share of the idle workers
	// too.
	Threads func(int)
}

// Event is a report of progress.
type Event struct {
	Summary
	Rate float64 // jobs run per second, so far
	Best *Best   // among the trials on all of the training data; nil: none yet
}

// Run brings every study to its assessment, and records each finished job in the journal. Jobs on
// record are not run again: their trials are the history from which the strategies go on. A job
// that another plan finished in this folder is recorded again with its place in this plan.
//
// The jobs of all studies share one pool of workers. They start in the order of the studies and of
// their index within a study, those behind a Stage once it opens. When and where a job runs changes
// nothing that it computes: the journal holds the same lines, up to Line.Seconds, for any number of
// workers, interruptions and processes.
//
// Other processes may run the same studies on the same folder. What they finish is read before
// every job. Once there is news of them, the order is drawn at random, so that two seldom run the
// same job at the same time; where they do, the results agree. At the end each runs what nobody has
// finished, rather than wait.
//
// A trial that fails or panics is recorded with its Failure and the run goes on; where no trial is
// usable, the study's Fit is a failure. Run returns early, after the running jobs have returned,
// with ErrStopped, ErrFailures or journal.ErrJournal. It returns ErrMemory, or an error for two
// studies of one key, before anything runs.
func Run(ctx context.Context, studies []Study, j *journal.Journal, o Options) (Summary, error) {
	if err := Check(studies, o.MemoryLimit); err != nil {
		return Summary{}, err
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("the timeout of %v has passed", o.Timeout))
		defer cancel()
	}
	a, err := newAgenda(studies, j, o.Own)
	if err != nil {
		return a.summary, err
	}
	if slices.ContainsFunc(a.active, func(s *tuning) bool { return len(s.pending) > 0 }) {
		if err := j.Begin(); err != nil {
			return a.summary, err
		}
	}
	s := scheduler{Options: o, agenda: a, ctx: ctx, began: time.Now(), threads: 1}
	s.run()
	if len(a.active) > 0 && s.stop != nil {
		return a.summary, s.stop
	}
	if len(a.active) == 0 && a.closed > 0 {
		panic(fmt.Sprintf("search: %d stages wait for studies that wait for them", a.closed))
	}
	if err := a.clear(); err != nil {
		return a.summary, err
	}
	_, err = j.Refresh() // is the folder still there?
	return a.summary, err
}

// scheduler hands the jobs of an agenda to workers.
type scheduler struct {
	Options
	agenda *agenda
	ctx    context.Context
	cancel func() // ends the running jobs
	began  time.Time

	running int   // jobs whose result has not been heard
	memory  int64 // of these
	threads int   // of each of these
	stop    error // why no further job starts
}

// result is what became of a job. A job that was cancelled is not recorded and has no error.
type result struct {
	job
	recorded bool
	err      error
}

// run returns when no job is running and none is left to start.
func (s *scheduler) run() {
	s.report()
	jobs, cancel := context.WithCancel(s.ctx)
	s.cancel = cancel
	start := make(chan job)
	results := make(chan result, s.Workers) // so that no worker is left behind should a strategy panic
	var workers conc.WaitGroup
	defer workers.Wait()
	defer close(start)
	defer cancel()
	defer s.share(1)
	for range s.Workers {
		workers.Go(func() {
			for j := range start {
				r := result{job: j}
				line, ok := j.do(jobs, s.TrialTimeout)
				if ok {
					r.recorded, r.err = true, s.agenda.journal.Append(line)
				}
				results <- r
			}
		})
	}
	for {
		next := s.next()
		drain, done := s.Drain, s.ctx.Done()
		if s.stop != nil {
			drain, done = nil, nil // heard
		}
		var free chan<- job // nil: nothing starts now
		var head job
		switch {
		case next != nil:
			free, head = start, next.pending[0]
			s.share(1)
		case s.running == 0:
			return
		default:
			s.share((s.Workers + s.running - 1) / s.running) // rounded up: no worker is left idle
		}
		select {
		case free <- head:
			s.running++
			s.memory += next.Memory
			next.pending[0] = job{} // its points are the job's now
			next.pending = next.pending[1:]
		case r := <-results:
			s.finished(r)
		case <-drain:
		case <-done:
		}
	}
}

// next is the study whose first pending job is to start now; nil if there is none. Where the memory
// is short, the next job in order waits for its turn: letting smaller ones pass would starve it.
func (s *scheduler) next() *tuning {
	if s.stop == nil {
		s.stop = s.told()
	}
	if s.stop != nil || s.running >= s.Workers {
		return nil
	}
	next, err := s.agenda.next()
	if err != nil {
		s.abort(err)
	}
	if err != nil || next == nil || s.MemoryLimit > 0 && s.memory+next.Memory > s.MemoryLimit {
		return nil
	}
	return next
}

// told says why no further job is to start.
func (s *scheduler) told() error {
	select {
	case <-s.ctx.Done():
		return fmt.Errorf("%w: %w", ErrStopped, context.Cause(s.ctx))
	case <-s.Drain:
		return fmt.Errorf("%w: no further jobs are started", ErrStopped)
	default:
	}
	if sum := s.agenda.summary; s.MaxFailures > 0 && sum.Failed >= s.MaxFailures {
		return fmt.Errorf("%w: %d of %d jobs failed", ErrFailures, sum.Failed, sum.Done+sum.Skipped)
	}
	return nil
}

// finished enters what became of a job.
func (s *scheduler) finished(r result) {
	s.running--
	s.memory -= r.of.Memory
	err := r.err
	if err == nil && r.recorded {
		s.agenda.summary.Done++
		err = s.agenda.accept(r.job)
	}
	if err != nil {
		s.abort(err)
	}
	s.report()
}

// abort ends the run.
func (s *scheduler) abort(why error) {
	s.stop = why
	s.cancel()
}

// share tells into how many threads a job may divide its work.
func (s *scheduler) share(threads int) {
	if threads != s.threads && s.Threads != nil {
		s.Threads(threads)
	}
	s.threads = threads
}

// report tells how far the run is.
func (s *scheduler) report() {
	if s.Progress != nil {
		sum := s.agenda.summary
		s.Progress(Event{sum, float64(sum.Done) / max(time.Since(s.began).Seconds(), 1e-9), s.agenda.best})
	}
}
