package search

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/sourcegraph/conc"

	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/journal"
	"github.com/gpc-tune/gpc-tune/internal/panicked"
	"github.com/gpc-tune/gpc-tune/internal/record"
)

var (
	// ErrStopped marks a run that ended early because it was asked to: Options.Drain, Options.Timeout, or its context.
	// The next run goes on where it ended.
	ErrStopped = errors.New("stopped")
	// ErrFailures marks a run that ended early at Options.MaxFailures.
	ErrFailures = errors.New("too many failures")
	// ErrMemory marks a study of which no job fits into Options.MemoryLimit.
	ErrMemory = errors.New("not enough memory")
)

// Options of Run. The zero value runs everything on all cores, whatever fails.
type Options struct {
	Workers     int   // jobs at a time; 0 means GOMAXPROCS
	MaxFailures int   // start no further job once so many have failed, those on record included; 0: never (1: fail fast)
	MemoryLimit int64 // bytes that the running jobs may need together, by Study.Memory; 0: no limit
	// Timeout cancels the run after this time; 0: never.
	Timeout time.Duration
	// TrialTimeout cancels a job after this time and records that as its failure; 0: never. It is the one thing by which
	// results depend on the clock.
	TrialTimeout time.Duration
	// Own, if set, leaves jobs to other processes: it says of a study, by its place in the list, and of the index of a trial
	// among those that it asks for first, if this process is to run it; with index Later, if it is to run what comes after
	// them, the assessment included. The run ends when nothing is left that it may run now, be that because other jobs must be
	// done before, by others; see Missing.
	Own func(study, trial int) bool
	// Drain, once closed, lets the running jobs finish and starts no other. (Cancelling the context cancels them.)
	Drain <-chan struct{}
	// Progress, if set, hears how far the run is: when it starts and after every job. Calls come one at a time, and the
	// next job waits for them.
	Progress func(Event)
	// Threads, if set, is told into how many threads each running job may divide its work, whenever that changes: one as
	// long as there are jobs for all workers, and then the workers that are left without.
	Threads func(int)
}

// Later, as the index of a trial in Options.Own, stands for all that follows those that a study asks for first.
const Later = -1

// Summary counts jobs: trials and assessments.
type Summary struct {
	Done    int // run now
	Skipped int // on record before
	Failed  int // of both
	Total   int // of all known so far; at most, as long as a strategy may finish before it has used up its budget. Stages let more through
}

// Event is a report of progress.
type Event struct {
	Summary
	Rate float64 // jobs run per second, so far
}

// Run brings every study to its assessment, and records each finished job in the journal. Jobs on record are not run
// again: their trials are the history from which the strategies go on.
//
// The jobs of all studies share one pool of workers. They start in the order of the studies and of their index within
// a study, those behind a Stage once it opens, but nothing that a job computes depends on when or where it runs: the journal holds the same lines, up to
// Line.Seconds, for any number of workers, interruptions and processes.
//
// Other processes may run the same studies on the same folder. What they finish is read before every job and not run again.
// Once they have been heard of, the order is drawn at random, so that two of them seldom run the same job at the same time;
// where they do, the results are the same. Towards the end each runs what nobody has finished, rather than wait.
//
// A job that another plan finished in this folder is not run either: its line is written again with its place in this plan.
//
// A trial that fails or panics is recorded with its Failure and the run goes on; where no trial is usable, the study's
// Fit is a failure. Run returns early, after the running jobs have returned, with ErrStopped, ErrFailures or journal.ErrJournal.
// ErrMemory, or two studies of one key, is found before anything runs.
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

	r := run{Options: o, journal: j}
	if err := r.begin(studies); err != nil {
		return r.summary, err
	}
	if slices.ContainsFunc(r.active, func(s *study) bool { return len(s.pending) > 0 }) {
		if err := j.Begin(); err != nil {
			return r.summary, err
		}
	}

	started := time.Now()
	report := func() {
		if o.Progress != nil {
			o.Progress(Event{r.summary, float64(r.summary.Done) / max(time.Since(started).Seconds(), 1e-9)})
		}
	}
	report()

	jobs, cancel := context.WithCancel(ctx)
	start := make(chan job)
	results := make(chan result, o.Workers) // so that no worker is left behind should a strategy panic
	var workers conc.WaitGroup
	defer workers.Wait()
	defer close(start)
	defer cancel()
	for range o.Workers {
		workers.Go(func() {
			for j := range start {
				results <- r.finish(jobs, j)
			}
		})
	}

	threads := 1
	share := func(n int) {
		if n != threads && o.Threads != nil {
			o.Threads(n)
		}
		threads = n
	}
	defer share(1)
	var stop error     // why no further job starts
	var memory int64   // of the running jobs
	running := 0       // jobs whose result has not been heard
	drain := o.Drain   // nil once heard
	done := ctx.Done() // nil once heard
	for {
		if stop == nil {
			select {
			case <-ctx.Done():
				stop = fmt.Errorf("%w: %w", ErrStopped, context.Cause(ctx))
			case <-o.Drain:
				stop = fmt.Errorf("%w: no further job was to be started", ErrStopped)
			default:
				if o.MaxFailures > 0 && r.summary.Failed >= o.MaxFailures {
					stop = fmt.Errorf("%w: %d of %d jobs failed", ErrFailures, r.summary.Failed, r.summary.Done+r.summary.Skipped)
				}
			}
		}
		// The next job in order waits for its turn: letting smaller ones pass would starve it.
		var next *study
		if stop == nil && running < o.Workers {
			var err error
			if next, err = r.next(); err != nil {
				stop = err
				cancel()
			}
		}
		if stop != nil {
			drain, done = nil, nil
		}
		var free chan<- job
		var head job
		if next != nil && stop == nil && (o.MemoryLimit <= 0 || memory+next.Memory <= o.MemoryLimit) {
			free, head = start, next.pending[0]
		}
		if running == 0 && free == nil {
			break
		}
		if free == nil {
			share(max(1, o.Workers/running))
		} else {
			share(1)
		}
		select {
		case free <- head:
			running++
			memory += next.Memory
			next.pending[0] = job{} // its points are the job's now
			next.pending = next.pending[1:]
		case f := <-results:
			running--
			memory -= f.of.Memory
			err := f.err
			if err == nil && f.recorded {
				r.summary.Done++
				err = r.accept(f.job)
			}
			if err != nil {
				stop = err
				cancel()
			}
			report()
		case <-drain:
		case <-done:
		}
	}
	if len(r.active) > 0 && stop != nil {
		return r.summary, stop
	}
	if len(r.active) == 0 && r.closed > 0 {
		panic(fmt.Sprintf("search: %d stages wait for studies that wait for them", r.closed))
	}
	if err := r.clear(); err != nil {
		return r.summary, err
	}
	_, err := j.Refresh() // is the folder still there?
	return r.summary, err
}

// clear withdraws what is on record of finished studies and none of their jobs: a process that had not heard yet of jobs that are
// run again has written what followed from their failures.
func (r *run) clear() error {
	if !r.journal.Retried() {
		return nil
	}
	type place struct{ configuration, study int }
	known := map[place]map[string]bool{}
	for _, s := range r.studies {
		if s.finished() {
			known[place{s.Configuration, s.Index}] = s.keys
		}
	}
	var stray []string
	for _, line := range r.journal.Lines() {
		p := place{}
		if line.Trial != nil {
			p = place{line.Trial.Configuration, line.Trial.Study}
		} else {
			p = place{line.Fit.Configuration, line.Fit.Study}
		}
		if keys := known[p]; keys != nil && !keys[line.Key] {
			stray = append(stray, line.Key)
		}
	}
	if len(stray) == 0 {
		return nil
	}
	return r.journal.Withdraw(stray...)
}

// Recorded counts the jobs of the studies that need not run, for they are on record, or another plan's are. Nothing is
// written to the folder, and the journal is of no use afterwards.
func Recorded(studies []Study, j *journal.Journal) (int, error) {
	j.Detach()
	r := run{journal: j}
	err := r.begin(studies)
	return r.summary.Skipped, err
}

// Missing is what a study has that is not on record.
type Missing struct {
	Study  int   // its place in the list
	First  []int // trials, by index, of those that it asks for first
	Later  bool  // those are done, and something that follows them is to run
	Closed bool  // nothing can run yet: it waits at a Stage
}

// Left lists the studies that are not finished. Nothing is written to the folder, and the journal is of no use afterwards.
func Left(studies []Study, j *journal.Journal) (left []Missing, err error) {
	j.Detach()
	r := run{journal: j}
	if err := r.begin(studies); err != nil {
		return nil, err
	}
	for _, s := range r.active {
		m := Missing{Study: s.place}
		for _, j := range s.pending {
			if j.place == Later {
				m.Later = true
			} else {
				m.First = append(m.First, j.index)
			}
		}
		left = append(left, m)
	}
	for _, s := range r.studies {
		if s.closed {
			left = append(left, Missing{Study: s.place, Closed: true})
		}
	}
	return left, nil
}

// Check finds what makes it impossible to run the studies within so many bytes; 0: no limit.
func Check(studies []Study, memoryLimit int64) error {
	var errs []error
	first := map[string]int{}
	larger, largest := 0, Study{} // than the limit
	for i, s := range studies {
		if j, twice := first[s.Key]; twice {
			errs = append(errs, fmt.Errorf("study %d of configuration %d is the same as study %d of configuration %d; keep one", s.Index, s.Configuration, studies[j].Index, studies[j].Configuration))
			continue
		}
		first[s.Key] = i
		if memoryLimit > 0 && s.Memory > memoryLimit {
			larger++
			if s.Memory > largest.Memory {
				largest = s
			}
		}
	}
	if larger > 0 {
		errs = append(errs, fmt.Errorf("%w: one job of configuration %d needs %s, the limit is %s (%d of %d studies need more); use a subsample of the data or a larger --memory", ErrMemory,
			largest.Configuration, humanize.IBytes(uint64(largest.Memory)), humanize.IBytes(uint64(memoryLimit)), larger, len(studies)))
	}
	return errors.Join(errs...)
}

// run is the state of Run. Only its goroutine touches it; workers use the journal and the options.
type run struct {
	Options
	journal *journal.Journal
	summary Summary
	studies []*study
	active  []*study  // begun and not finished, in order
	gates   [][]*gate // of each study, the stages that wait for it
	closed  int       // stages that have not opened

	shared    bool          // other processes write to the journal's folder
	refreshed time.Time     // when the journal was last read
	took      time.Duration // how long that takes at least
}

// gate is a Stage under way.
type gate struct {
	*Stage
	left    int // of After, those that have not ended
	waiting []*study
}

// study is a Study under way: batches of trials until its strategy has enough, then the assessment.
type study struct {
	*Study
	place     int             // in the list of studies
	fit       *record.Fit     // the assessment, once it is on record
	trials    []record.Trial  // all that were asked for, by index
	closed    bool            // it waits at its Stage
	pending   []job           // of the current batch, not yet started
	away      []job           // of the current batch, left to other processes
	expected  int             // trials in all, as counted in the summary
	waiting   int             // jobs of the current batch that are not on record
	assessing bool            // the current batch is the assessment
	asked     map[string]int  // trials by the key of their points
	keys      map[string]bool // of all its jobs
}

func (s *study) finished() bool { return s.assessing && s.waiting == 0 }

// job is one line of the journal to be.
type job struct {
	of       *study
	key      string
	index    int // of the trial; of the winner for an assessment
	place    int // index, if the study asks for it first; else Later
	proposal Proposal
	fit      bool
	theta    []float64 // the winner
	failure  string    // why there is no winner
}

// result is what became of a job. A job that was cancelled is not recorded and has no error.
type result struct {
	job
	recorded bool
	err      error
}

// next is the first study with a job to start, once those that another process has finished are entered. Every study before
// it has a running job, so the search is short.
func (r *run) next() (*study, error) {
	if err := r.refresh(); err != nil {
		return nil, err
	}
	for i := 0; i < len(r.active); {
		s := r.active[i]
		for len(s.pending) > 0 {
			j := s.pending[0]
			if _, found := r.journal.Done(j.key); !found {
				return s, nil
			}
			s.pending = s.pending[1:]
			r.summary.Skipped++
			if err := r.accept(j); err != nil {
				return nil, err
			}
		}
		if i < len(r.active) && r.active[i] == s {
			i++
		} else {
			i = 0 // stages may have opened
		}
	}
	return nil, nil
}

// refresh reads what other processes have finished, unless it was read so recently that reading would be most of the work.
func (r *run) refresh() error {
	started := time.Now()
	if started.Sub(r.refreshed) < 20*r.took {
		return nil
	}
	first := r.refreshed.IsZero()
	news, err := r.journal.Refresh()
	r.refreshed = time.Now()
	if took := r.refreshed.Sub(started); first || took < r.took {
		r.took = took
	}
	switch {
	case err != nil || !news:
	case r.Own != nil:
		return r.hear()
	case !r.shared:
		r.shared = true
		shuffle(r.active)
		for _, s := range r.active {
			shuffle(s.pending)
		}
	}
	return err
}

// hear enters what was left to other processes and is now on record.
func (r *run) hear() error {
	for _, s := range slices.Clone(r.active) {
		var done []job
		s.away = slices.DeleteFunc(s.away, func(j job) bool {
			_, found := r.journal.Done(j.key)
			if found {
				done = append(done, j)
			}
			return found
		})
		for _, j := range done {
			r.summary.Skipped++
			if err := r.accept(j); err != nil {
				return err
			}
		}
	}
	return nil
}

func shuffle[T any](x []T) {
	rand.Shuffle(len(x), func(i, k int) { x[i], x[k] = x[k], x[i] })
}

// begin starts the studies that wait for nothing.
func (r *run) begin(studies []Study) error {
	r.gates = make([][]*gate, len(studies))
	stages := map[*Stage]*gate{}
	var gates []*gate // in order
	for i := range studies {
		s := &study{Study: &studies[i], place: i, keys: map[string]bool{}}
		r.studies = append(r.studies, s)
		if s.Stage == nil {
			continue
		}
		if stages[s.Stage] == nil {
			g := &gate{Stage: s.Stage, left: len(s.Stage.After)}
			stages[s.Stage], gates = g, append(gates, g)
			for _, before := range g.After {
				r.gates[before] = append(r.gates[before], g)
			}
		}
		s.closed = true
		stages[s.Stage].waiting = append(stages[s.Stage].waiting, s)
	}
	r.closed = len(gates)
	for _, s := range r.studies {
		if s.Stage == nil {
			if err := r.start(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// start makes a study's jobs wait for their turn.
func (r *run) start(s *study) error {
	r.summary.Total++
	if err := r.advance(s); err != nil {
		return err
	}
	if s.finished() {
		return r.end(s)
	}
	at, _ := slices.BinarySearchFunc(r.active, s.place, func(s *study, place int) int { return s.place - place })
	r.active = slices.Insert(r.active, at, s)
	return nil
}

// end opens the stages that a study, finished or dropped, is the last to be waited for.
func (r *run) end(s *study) error {
	for _, g := range r.gates[s.place] {
		if g.left--; g.left > 0 {
			continue
		}
		r.closed--
		fits := make([]*record.Fit, len(g.After))
		for i, before := range g.After {
			fits[i] = r.studies[before].fit
		}
		goOn := g.Open(fits)
		for _, s := range g.waiting {
			s.closed = false
			next := r.end
			if slices.Contains(goOn, s.Configuration) {
				next = r.start
			}
			if err := next(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// advance asks for batches until one has a job that is not on record, or the study is finished.
func (r *run) advance(s *study) error {
	for s.waiting == 0 && !s.assessing {
		first := len(s.trials) == 0
		batch := s.ask()
		expected := len(s.trials)
		if s.Strategy != nil && !s.assessing {
			expected = max(expected, s.Strategy.Budget(s.Space).Trials)
		}
		r.summary.Total += expected - s.expected
		s.expected = expected
		s.waiting = len(batch)
		var recorded []job
		var taken []record.Line // over from another plan
		for _, j := range batch {
			s.keys[j.key] = true
			if j.place = Later; first && !s.assessing {
				j.place = j.index
			}
			_, found := r.journal.Done(j.key)
			if line, before := r.journal.Earlier(j.key); before && !found && r.journal.Usable(j.stamp(line)) {
				taken, found = append(taken, j.stamp(line)), true
			}
			switch {
			case found:
				recorded = append(recorded, j)
			case r.Own != nil && !r.Own(s.place, j.place):
				s.away = append(s.away, j)
			default:
				s.pending = append(s.pending, j)
			}
		}
		if err := r.journal.Append(taken...); err != nil {
			return err
		}
		if r.shared {
			shuffle(s.pending)
		}
		for _, j := range recorded {
			r.summary.Skipped++
			if err := r.enter(j); err != nil {
				return err
			}
		}
	}
	return nil
}

// accept enters a job that has just been recorded, and asks for more where its batch is complete.
func (r *run) accept(j job) error {
	if err := r.enter(j); err != nil {
		return err
	}
	if err := r.advance(j.of); err != nil {
		return err
	}
	if i := slices.Index(r.active, j.of); j.of.finished() && i >= 0 {
		r.active = slices.Delete(r.active, i, i+1)
		return r.end(j.of)
	}
	return nil
}

// enter takes a job's line from the journal.
func (r *run) enter(j job) error {
	line, _ := r.journal.Done(j.key)
	var failure string
	switch {
	case !j.fit && line.Trial != nil:
		j.of.trials[j.index] = *line.Trial
		failure = line.Trial.Failure
	case j.fit && line.Fit != nil:
		j.of.fit = line.Fit
		failure = line.Fit.Failure
	default:
		return fmt.Errorf("%w: job %s has a line of another kind", journal.ErrJournal, j.key)
	}
	if failure != "" {
		r.summary.Failed++
	}
	j.of.waiting--
	return nil
}

// ask makes the jobs of the next batch.
func (s *study) ask() []job {
	if s.Strategy != nil {
		var batch []job
		for _, p := range s.Strategy.Ask(s.Space, s.trials, s.Seed) {
			index := len(s.trials) + len(batch)
			batch = append(batch, job{of: s, key: s.trialKey(index, p.Points), index: index, proposal: p})
		}
		if len(batch) > 0 {
			s.trials = append(s.trials, make([]record.Trial, len(batch))...)
			return batch
		}
	}
	s.assessing = true
	j := job{of: s, fit: true, index: -1}
	if s.Strategy != nil {
		chosen, best, err := Winner(s.trials)
		if err != nil {
			j.failure = err.Error()
		}
		j.index, j.theta = chosen, record.Floats(best.Theta)
	}
	j.key = jobKey(s.Key, "fit "+j.failure, s.averaged(), [][]float64{j.theta})
	return []job{j}
}

// trialKey is that of the next trial. Its index is no part of it, so that a trial that another plan asked for in another
// order is known again; but the seed of a chain depends on it.
func (s *study) trialKey(index int, points [][]float64) string {
	if _, ok := s.Strategy.(Sampler); ok {
		return jobKey(s.Key, "chain", index, points)
	}
	key := jobKey(s.Key, "trial", 0, points)
	if s.asked == nil {
		s.asked = map[string]int{}
	}
	again := s.asked[key]
	s.asked[key]++
	if again > 0 {
		key = jobKey(s.Key, "trial", again, points)
	}
	return key
}

// averaged is the number of trials that the assessment averages over; 0 if it takes the winner.
func (s *study) averaged() int {
	if _, ok := s.Strategy.(Sampler); ok {
		return len(s.trials)
	}
	return 0
}

// jobKey is the hash of all that determines a job's result.
func jobKey(study, kind string, index int, points [][]float64) string {
	b := fmt.Appendf(nil, "%q %q %d %d", study, kind, index, len(points))
	for _, theta := range points {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(theta)))
		for _, u := range theta {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(u))
		}
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// finish runs a job and records it.
func (r *run) finish(ctx context.Context, j job) result {
	started := time.Now()
	line, ok := r.do(ctx, j)
	if !ok {
		return result{job: j}
	}
	line.Seconds = time.Since(started).Seconds()
	return result{job: j, recorded: true, err: r.journal.Append(line)}
}

// do runs a job. It reports false if the run was cancelled, whatever the job returned: it may have been cut short.
func (r *run) do(ctx context.Context, j job) (line record.Line, ok bool) {
	within, cancel := ctx, context.CancelFunc(func() {})
	if r.TrialTimeout > 0 {
		within, cancel = context.WithTimeout(ctx, r.TrialTimeout)
	}
	defer cancel()

	type done struct {
		trial record.Trial
		fit   record.Fit
	}
	var of done
	var err error
	var panicking error
	if j.failure == "" {
		within, wait := interrupt.Counted(within)
		panicking = panicked.Try(func() {
			of, err = interrupt.Do(ctx, func() (of done, err error) {
				defer wait() // the memory of a job that took too long is free once it has ended
				if j.fit {
					of.fit, err = j.of.Assess(within, j.index, j.theta, j.of.trials)
				} else {
					of.trial, err = j.of.Trial(within, j.index, j.proposal)
				}
				return of, err
			})
		})
	}
	trial, fit, failure := of.trial, of.fit, j.failure
	late := within.Err() != nil // read before ctx, whose end is its end too
	switch {
	case ctx.Err() != nil:
		return line, false
	case late:
		failure = fmt.Sprintf("%s after %v", record.TimedOut, r.TrialTimeout)
	case panicking != nil:
		failure = panicking.Error()
	case err != nil:
		failure = err.Error()
	}
	if failure != "" {
		trial = record.Trial{Points: []record.Point{}, Status: "failed", Failure: failure}
		fit = record.Fit{Natural: []record.Number{}, LogEvidence: record.Number(math.NaN()), TrainCounts: []int{}, Failure: failure}
	}
	line.Key = j.key
	if j.fit {
		line.Fit = &fit
	} else {
		if trial.Failure != "" && len(trial.Points) == 0 {
			for _, theta := range j.proposal.Points {
				trial.Asked = append(trial.Asked, record.Numbers(theta))
			}
		}
		line.Trial = &trial
	}
	return j.stamp(line), true
}

// stamp gives a line the job's place in the plan.
func (j job) stamp(line record.Line) record.Line {
	if line.Fit != nil {
		fit := *line.Fit
		fit.Configuration, fit.Study, fit.Chosen = j.of.Configuration, j.of.Index, j.index
		line.Fit = &fit
	} else {
		trial := *line.Trial
		trial.Configuration, trial.Study, trial.Index = j.of.Configuration, j.of.Index, j.index
		line.Trial = &trial
	}
	return line
}
