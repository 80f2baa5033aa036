// Package schedule runs searches: the trials that strategies propose, and the jobs that follow.
//
// Run takes studies, each a space, a strategy and the functions that evaluate a point, and runs
// their jobs in parallel. Every finished job is recorded in a journal, from which an interrupted
// run continues. The results are the same for any number of workers, except for an asynchronous
// search. Its journal has the order in which its trials ended.
//
// An agenda has the jobs that are on record and the jobs that can run, a tuning is one study in
// progress, and a scheduler gives jobs to workers.
package schedule

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

var (
	// ErrStopped marks a run that ended early on request: by Options.Drain, Options.Timeout, or its
	// context. The next run continues from there.
	ErrStopped = errors.New("stopped")
	// ErrFailures marks a run that ended early at Options.MaxFailures.
	ErrFailures = errors.New("too many failures")
)

// Options of Run. The zero value runs everything on all cores and tolerates failures.
type Options struct {
	Workers     int   // maximum number of concurrent jobs; 0 means GOMAXPROCS
	MaxFailures int   // start no further job after this many failures, including those on record; 0: no limit
	MemoryLimit int64 // bytes that the running jobs may need together, by Study.Memory; 0: no limit
	// Timeout cancels the run after this time; 0: never.
	Timeout time.Duration
	// TrialTimeout cancels a job after this time and records a failure; 0: never. It is the only
	// option that makes results depend on time.
	TrialTimeout time.Duration
	// Folder is the run folder, for the files of trials; "": the run has none.
	Folder string
	// Ours, if set, reports which jobs this process runs; it leaves the others to other processes.
	// study is an index into the list of studies. trial is an index into the study's first batch,
	// or Later for all jobs after that batch. The run ends when none of this process's jobs can
	// run, even if some wait for jobs of other processes; see Missing.
	Ours func(study, trial int) bool
	// Drain, once closed, stops the start of further jobs; the running jobs finish. (Cancelling the
	// context cancels them.)
	Drain <-chan struct{}
	// Progress, if set, is called at the start and after every job, one call at a time; the next
	// job waits until it returns.
	Progress func(Event)
	// Threads, if set, is called with the number of threads that each running job may use, whenever
	// it changes: one while there are jobs for all workers, later also a fraction of the idle
	// workers.
	Threads func(int)
}

// Event is a report of progress.
type Event struct {
	Summary
	Rate float64 // jobs run per second, so far
	Best *Best   // among the trials on all of the training data; nil: none yet
}

// Run runs every study including its assessment, and records each finished job in the journal. Jobs
// on record are not run again: their trials are the history for the strategies. A job that another
// plan finished in this folder is recorded again with its position in this plan.
//
// The jobs of all studies share one pool of workers. They start in the order of the studies, or of
// their Turn, and within a study in the order of their index. Studies behind a Stage start once it
// opens. Results do not depend on when and where a job runs: the journal holds the same lines, up
// to Line.Seconds, for any number of workers, interruptions and processes. An Asynchronous search
// depends on the order in which its trials end. The journal has this order, and a resumed search
// follows it.
//
// Other processes may run the same studies on the same folder. Their results are read before every
// job, and a job that another process has reserved is left to it (Journal.Claim). At the end each
// process waits for the others' jobs. Jobs of a process that has died are run again.
//
// A trial that fails or panics is recorded with its Failure and the run continues; if no trial is
// usable, the study's Fit is a failure. Run returns early, after the running jobs have returned,
// with ErrStopped, ErrFailures or record.ErrJournal. It returns ErrMemory, or an error for two
// studies with the same key, before anything runs.
func Run(ctx context.Context, studies []Study, j Journal, o Options) (Summary, error) {
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
	a, err := newAgenda(studies, j, o.Ours)
	if err != nil {
		return a.summary, err
	}
	if a.left() {
		if err := j.Begin(); err != nil {
			return a.summary, err
		}
	}
	s := scheduler{Options: o, studies: studies, journal: j, agenda: a, ctx: ctx, began: time.Now(), threads: 1,
		overtook: map[string]bool{}, live: map[string]job{}}
	a.workers, a.runs = true, s.runs
	defer j.ReleaseAll()
	for again := true; again && err == nil; again, err = s.settle() {
		s.run()
		a = s.agenda
		if len(a.active) > 0 && s.stop != nil {
			return a.summary, s.stop
		}
		if slices.ContainsFunc(a.active, func(s *tuning) bool { return s.Told && len(s.pending) > 0 }) {
			return a.summary, fmt.Errorf("%w: the program has no command; gpc-tune ask gives its next point, and tell "+
				"records the value", ErrStopped)
		}
		if paused := a.control.Paused; len(paused) > 0 && a.left() {
			what := "run"
			if slices.ContainsFunc(studies, func(s Study) bool { return s.Value != nil }) {
				what = "search"
			}
			return a.summary, fmt.Errorf("%w: configuration %s of the %s is paused; gpc-tune resume lets it go on",
				ErrStopped, strings.Trim(strings.ReplaceAll(fmt.Sprint(paused), " ", ", "), "[]"), what)
		}
		if len(a.active) == 0 && a.closed > 0 {
			panic(fmt.Sprintf("schedule: %d stages wait for studies that wait for them", a.closed))
		}
	}
	return s.agenda.summary, err
}

// scheduler starts the jobs of an agenda on workers.
type scheduler struct {
	Options
	studies []Study
	journal Journal // used by workers too; only the scheduler uses the agenda
	agenda  *agenda
	live    map[string]job // the jobs that run, by key
	ctx     context.Context
	cancel  func() // ends the running jobs
	began   time.Time

	running  int             // jobs that have not returned a result
	memory   int64           // sum over the running jobs
	short    string          // key of the job that waits for memory
	reserved int64           // memory that this job needs
	beside   int64           // memory of the running jobs that have overtaken this job
	overtook map[string]bool // keys of these jobs
	threads  int             // threads per running job
	stop     error           // the reason why no further job starts
}

// result is the outcome of a job. A cancelled job is not recorded and has no error.
type result struct {
	job
	recorded bool
	line     *record.Line      // line of a trial whose place in the order is still to be recorded
	next     []search.Proposal // answer of the strategy to a job that asks it
	err      error
}

// work does a job and records it.
func (s *scheduler) work(ctx context.Context, j job) (r result) {
	r.job = j
	if j.think {
		r.next, r.err = j.of.ask(j.told)
		return r
	}
	line, ok := j.do(ctx, s.TrialTimeout)
	switch line = j.timed(line, s.journal); {
	case !ok:
	case j.inOrder() || j.proposal.Enqueued > 0:
		r.recorded, r.line = true, &line
	default:
		r.recorded, r.err = true, s.journal.Append(line)
	}
	return r
}

// run returns when no job is running and none can start.
func (s *scheduler) run() {
	s.report()
	jobs, cancel := context.WithCancel(s.ctx)
	s.cancel = cancel
	start := make(chan job)
	results := make(chan result, s.Workers) // buffered, so that no worker blocks forever if a strategy panics
	var workers conc.WaitGroup
	defer workers.Wait()
	defer close(start)
	defer cancel()
	defer s.share(1)
	for slot := range s.Workers {
		workers.Go(func() {
			seated := context.WithValue(jobs, seatKey{}, seat{slot, s.Folder})
			for j := range start {
				results <- s.work(seated, j)
			}
		})
	}
	for {
		next, waits := s.next()
		drain, done := s.Drain, s.ctx.Done()
		if s.stop != nil {
			drain, done = nil, nil // handled once
		}
		var free chan<- job        // nil: no job can start now
		var again <-chan time.Time // nil: no other process has jobs that this one waits for
		var head job
		switch {
		case next != nil:
			free, head = start, next.pending[0]
			s.share(1)
		case waits:
			again = time.After(pollInterval)
		case s.running == 0:
			return
		default:
			s.share((s.Workers + s.running - 1) / s.running) // rounded up, so that no worker stays idle
		}
		select {
		case free <- head:
			s.begins(head)
			next.pending[0] = job{} // releases the memory of its points
			next.pending = next.pending[1:]
		case <-again:
		case r := <-results:
			if next != nil { // the job that has ended may change the next one
				s.agenda.returned(head)
			}
			s.finished(r)
		case <-drain:
		case <-done:
		}
	}
}

// pollInterval is the interval at which a process looks for results of other processes while it
// waits for them.
const pollInterval = 100 * time.Millisecond

// runs reports whether a job runs here.
func (s *scheduler) runs(key string) bool {
	_, is := s.live[key]
	return is
}

// begins counts a job that starts.
func (s *scheduler) begins(j job) {
	s.running++
	if !j.think {
		s.live[j.key] = j
	}
	s.memory += j.memory()
	switch s.short {
	case "":
	case j.key:
		s.short, s.reserved, s.beside = "", 0, 0
		clear(s.overtook)
	default:
		s.beside += j.memory()
		s.overtook[j.key] = true
	}
}

// next returns the study whose first pending job is to start now; nil if there is none. If memory
// is short, the first job in order waits. Later jobs start only if all jobs that have overtaken it
// leave enough memory for it, so that they never delay it. waits reports that this process waits
// for jobs of other processes.
func (s *scheduler) next() (next *tuning, waits bool) {
	if s.stop == nil {
		s.stop = s.stopReason()
	}
	if s.stop != nil || s.running >= s.Workers {
		return nil, false
	}
	short := ""
	if err := s.readCommands(); err != nil {
		s.abort(err)
		return nil, false
	}
	next, waits, err := s.agenda.next(func(j job) bool {
		need := s.memory + j.memory()
		switch {
		case s.MemoryLimit == 0:
			return true
		case short != "":
			return need <= s.MemoryLimit && s.beside+j.memory()+s.reserved <= s.MemoryLimit
		case need <= s.MemoryLimit:
			return true
		}
		if short = j.key; short != s.short {
			s.short, s.reserved, s.beside = short, j.memory(), 0
			clear(s.overtook)
		}
		return false
	})
	if err != nil {
		s.abort(err)
	}
	return next, waits
}

// readCommands reads the user's commands. It makes the agenda again from the journal, as when the
// run is resumed, if configurations were dropped or points enqueued or withdrawn, or if the agenda
// is outdated.
func (s *scheduler) readCommands() error {
	if err := s.agenda.refresh(); err != nil {
		return err
	}
	now, before := s.journal.Control(), s.agenda.control
	if slices.Equal(now.Dropped, before.Dropped) && now.SamePoints(before) && !s.agenda.outdated() {
		s.agenda.control = now
		if !slices.Equal(now.First, before.First) {
			s.agenda.order = nil
		}
		return nil
	}
	return s.remake()
}

// settle is called at the end. It makes the agenda again if it is outdated, or if there are
// orphans, which it withdraws. Orphans are lines of finished studies that belong to none of their
// jobs. They follow from results that no longer count: a line was damaged, for example, or another
// process did not yet know that failed jobs run again. again: jobs are left.
func (s *scheduler) settle() (again bool, err error) {
	if _, err := s.journal.Refresh(); err != nil { // or the folder has been removed
		return false, err
	}
	if !s.agenda.outdated() && len(s.agenda.orphanKeys()) == 0 {
		return false, nil
	}
	if err := s.remake(); err != nil || len(s.agenda.active) > 0 {
		return err == nil && s.agenda.left(), err
	}
	return false, s.journal.Withdraw(s.agenda.orphanKeys()...)
}

// remake makes the agenda again from the journal, and keeps the jobs that run.
func (s *scheduler) remake() error {
	old := s.agenda
	a, err := newAgenda(s.studies, old.journal, s.Ours)
	if err != nil {
		return err
	}
	done := min(old.summary.Done, a.summary.Skipped)
	a.summary.Done, a.summary.Skipped = a.summary.Done+done, a.summary.Skipped-done
	a.workers, a.runs, a.refreshed, a.took = true, s.runs, old.refreshed, old.took
	for key, j := range s.live {
		// A job of a dropped study is recorded in the order of the last agenda that had it.
		if j.of == nil || !a.dropped(j.of) {
			s.live[key] = job{}
		}
	}
	for _, study := range a.active {
		study.pending = slices.DeleteFunc(study.pending, func(j job) bool {
			if _, runs := s.live[j.key]; !runs {
				return false
			}
			s.live[j.key] = j
			return true
		})
	}
	s.agenda = a
	return nil
}

// stopReason returns the reason why no further job is to start.
func (s *scheduler) stopReason() error {
	select {
	case <-s.ctx.Done():
		return fmt.Errorf("%w: %w", ErrStopped, context.Cause(s.ctx))
	case <-s.Drain:
		return fmt.Errorf("%w: no further jobs are started", ErrStopped)
	default:
	}
	if sum := s.agenda.summary; s.MaxFailures > 0 && sum.Failed >= s.MaxFailures {
		_, many := sum.Unit()
		return fmt.Errorf("%w: %d of %d %s failed", ErrFailures, sum.Failed, sum.Done+sum.Skipped, many)
	}
	return nil
}

// finished enters the outcome of a job.
func (s *scheduler) finished(r result) {
	s.running--
	s.memory -= r.memory()
	if s.overtook[r.key] {
		s.beside -= r.memory()
		delete(s.overtook, r.key)
	}
	now := r.job // the job in the present agenda, which may be a new one
	if !r.think {
		now = s.live[r.key]
		delete(s.live, r.key)
	}
	if now.of == nil || s.agenda.studies[now.of.place] != now.of { // the agenda knows its line, or does not need it
		if now.of != nil && r.err == nil && r.line != nil && s.agenda.dropped(r.of) && s.journal.Holds(now.lease()) {
			r.err = s.agenda.record(now, *r.line)
		}
		s.journal.Release(r.key)
		if of := s.agenda.studies[r.of.place]; r.err == nil && !r.think && slices.Contains(s.agenda.active, of) {
			r.err = s.agenda.proceed(of) // the study may have waited for this job
		}
		if r.err != nil {
			s.abort(r.err)
		}
		s.report()
		return
	}
	r.job = now
	err := r.err
	if err == nil && r.line != nil {
		err = s.record(r.job, *r.line)
	}
	switch {
	case err != nil:
	case r.think:
		err = s.agenda.answered(r.of, r.next)
	case r.recorded && r.line == nil && !s.onRecord(r.key): // another process has withdrawn it
		s.agenda.stale = true
	case r.recorded:
		s.agenda.summary.Done += r.counts()
		err = s.agenda.complete(r.job)
	}
	s.agenda.returned(r.job)
	if err != nil {
		s.abort(err)
	}
	s.report()
}

// record records a trial whose place in the order counts, unless another process has taken it over.
func (s *scheduler) record(j job, line record.Line) error {
	if !s.journal.Holds(j.lease()) {
		return fmt.Errorf("%w: another process has taken over a search of configuration %d, because this one was "+
			"suspended; run it again when that one has ended", ErrStopped, j.of.Configuration)
	}
	return s.agenda.record(j, line)
}

func (s *scheduler) onRecord(key string) bool {
	_, done := s.journal.Done(key)
	return done
}

// abort stops the run with an error.
func (s *scheduler) abort(why error) {
	s.stop = why
	s.cancel()
}

// share sets the number of threads of a running job, by Options.Threads.
func (s *scheduler) share(threads int) {
	if threads != s.threads && s.Threads != nil {
		s.Threads(threads)
	}
	s.threads = threads
}

// report calls Options.Progress.
func (s *scheduler) report() {
	if s.Progress != nil {
		sum := s.agenda.summary
		s.Progress(Event{sum, float64(sum.Done) / max(time.Since(s.began).Seconds(), 1e-9), s.agenda.best})
	}
}
