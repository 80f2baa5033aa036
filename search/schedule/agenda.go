package schedule

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// ErrMemory is the error of a study whose jobs do not fit into Options.MemoryLimit.
var ErrMemory = machine.ErrMemory

// Summary counts jobs: trials and assessments. The assessment of a study with a Value computes
// nothing, and is not counted.
type Summary struct {
	Trials  bool // trials alone are counted, because all studies have a Value
	Done    int  // run in this call, or copied from another study's job with the same result
	Skipped int  // number on record before this call
	Failed  int  // failures among Done and Skipped
	// Total is the number of jobs known so far. It is an upper bound if a strategy may converge
	// before it has used its budget, and it grows when a Stage lets more studies run.
	Total int
}

// Unit returns the singular and plural of what Summary counts: jobs or trials.
func (s Summary) Unit() (one, many string) {
	if s.Trials {
		return "trial", "trials"
	}
	return "job", "jobs"
}

// Best is the best value of the tuning objective so far, with the configuration that has it: the
// largest, or the least of an objective that is minimised. Values of configurations with other
// objectives or data are not comparable.
type Best struct {
	Configuration int
	Value         float64 // has the sign of the objective
}

// Check returns an error if two studies have the same key, or if a study cannot run within
// memoryLimit bytes; 0: no limit.
func Check(studies []Study, memoryLimit int64) error {
	var errs []error
	first := map[string]int{}
	larger, largest := 0, Study{} // larger: number of studies over the limit; largest: the one that needs most
	for i, s := range studies {
		if j, twice := first[s.Key]; twice {
			errs = append(errs, fmt.Errorf("study %d of configuration %d is the same as study %d of configuration %d; "+
				"keep one", s.Index, s.Configuration, studies[j].Index, studies[j].Configuration))
			continue
		}
		first[s.Key] = i
		if err := s.Stop.Check(s.Strategy); err != nil {
			errs = append(errs, fmt.Errorf("study %d of configuration %d: %w", s.Index, s.Configuration, err))
		}
		_, partial := s.Strategy.(search.Partial)
		shares := search.FidelityOf(s.Strategy).Shares(s.Space)
		if partial && len(s.Space) > 0 && shares != (s.Value == nil) {
			errs = append(errs, fmt.Errorf("study %d of configuration %d: the budget must be a hyperparameter of "+
				"Study.Value, or for Study.Trial one of %v", s.Index, s.Configuration, search.Shares))
		}
		if s.Preliminary && s.Stop != (Stop{}) {
			errs = append(errs, fmt.Errorf("study %d of configuration %d: its preliminary trials maximise another "+
				"objective than its Stop is about; leave out one of the two", s.Index, s.Configuration))
		}
		if s.Value != nil && search.Moves(s.Strategy) {
			errs = append(errs, fmt.Errorf("study %d of configuration %d: its strategy climbs or samples from the "+
				"points that it proposes, which needs Study.Trial; Study.Value is for a strategy like grid or bayes",
				s.Index, s.Configuration))
		}
		if memoryLimit > 0 && s.Memory > memoryLimit {
			larger++
			if s.Memory > largest.Memory {
				largest = s
			}
		}
	}
	if larger > 0 {
		less := ""
		if largest.Less != "" {
			less = ", or " + largest.Less
		}
		errs = append(errs, fmt.Errorf("%w: one job of configuration %d needs %s, the limit is %s "+
			"(%d of %d studies need more); use a subsample of the data or a larger --memory%s",
			ErrMemory, largest.Configuration, humanize.IBytes(uint64(largest.Memory)),
			humanize.IBytes(uint64(memoryLimit)), larger, len(studies), less))
	}
	return errors.Join(errs...)
}

// Recorded counts the jobs of the studies that need not run, because their result is on record, or
// the result of the same job of another plan. Nothing is written to the folder. j must not be used
// afterwards.
func Recorded(studies []Study, j Journal) (int, error) {
	j.Detach()
	a, err := newAgenda(studies, j, nil)
	return a.summary.Done + a.summary.Skipped, err
}

// Missing lists the jobs of a study that are not on record.
type Missing struct {
	Study  int   // index into the list of studies
	First  []int // indices of the missing trials of the first batch
	Later  bool  // the first batch is complete, and later jobs are missing
	Closed bool  // nothing can run yet, because the study waits at a Stage
}

// Left lists the studies that are not finished. Nothing is written to the folder. j must not be
// used afterwards.
func Left(studies []Study, j Journal) (left []Missing, err error) {
	j.Detach()
	a, err := newAgenda(studies, j, nil)
	if err != nil {
		return nil, err
	}
	for _, s := range a.active {
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
	for _, s := range a.studies {
		if s.closed && !a.dropped(s) {
			left = append(left, Missing{Study: s.place, Closed: true})
		}
	}
	return left, nil
}

// agenda tracks, for all studies, the jobs that are on record and the jobs that can run now. It
// must be used by one goroutine only.
type agenda struct {
	journal Journal
	own     func(study, trial int) bool // Options.Ours
	summary Summary
	studies []*tuning
	active  []*tuning // started and not finished, in the order of the plan
	ladders ladders
	order   []*tuning             // active in the order of turns; nil: not computed
	gates   [][]*gate             // gates[i] has the closed stages that wait for study i
	jobs    map[string]*sharedJob // jobs pending, running or on record, by key and by job.shared
	closed  int                   // stages that have not opened
	workers bool                  // workers ask the strategies
	runs    func(key string) bool // whether a job runs here; nil: none does
	revised int                   // Journal.Revised when this agenda was made
	control record.Control        // the user's commands
	best    *Best                 // nil: none yet
	maximum float64               // value of the function that is maximised, at best
	// stale: another process has evaluated an enqueued point, and a strategy has here proposed
	// trials without knowing it, which come later in the recorded order
	stale bool

	refreshed time.Time     // when the journal was last read
	took      time.Duration // lower bound of the time of reading it
}

// sharedJob is a job and the jobs that wait for its result.
type sharedJob struct {
	job
	followers []job
}

// gate is a Stage that has not opened.
type gate struct {
	*Stage
	left    int // studies of After that have not ended
	waiting []*tuning
}

// newAgenda starts the studies that do not wait for others. It makes the agenda again if the
// journal was revised meanwhile: failures of another plan, which were read as failures, then run
// again.
func newAgenda(studies []Study, j Journal, own func(study, trial int) bool) (a *agenda, err error) {
	for again := true; again && err == nil; again = a.revised != j.Revised() {
		a, err = makeAgenda(studies, j, own)
	}
	return a, err
}

func makeAgenda(studies []Study, j Journal, own func(study, trial int) bool) (*agenda, error) {
	a := &agenda{journal: j, own: own, gates: make([][]*gate, len(studies)), jobs: map[string]*sharedJob{},
		ladders: ladders{}, control: j.Control(), revised: j.Revised()}
	a.summary.Trials = len(studies) > 0 && !slices.ContainsFunc(studies, func(s Study) bool { return s.Value == nil })
	gates := map[*Stage]*gate{}
	twins := map[string]bool{}
	for _, s := range studies {
		twins[s.SameAs] = true
	}
	for i := range studies {
		s := &tuning{Study: &studies[i], place: i, asked: map[string]int{}, keys: map[string]bool{},
			enqueuedAt: map[string][]string{}, repeats: map[string]*repeat{},
			paired: studies[i].SameAs != "" || twins[studies[i].Key]}
		a.studies = append(a.studies, s)
		a.ladders.enter(s)
		if s.closed = s.Stage != nil; !s.closed {
			continue
		}
		g := gates[s.Stage]
		if g == nil {
			g = &gate{Stage: s.Stage, left: len(s.Stage.After)}
			gates[s.Stage] = g
			for _, before := range g.After {
				a.gates[before] = append(a.gates[before], g)
			}
		}
		g.waiting = append(g.waiting, s)
	}
	a.closed = len(gates)
	for _, s := range a.studies {
		if s.Stage == nil {
			if err := a.begin(s); err != nil {
				return a, err
			}
		}
	}
	return a, nil
}

// dropped reports whether the user has dropped the configuration of a study.
func (a *agenda) dropped(s *tuning) bool { return slices.Contains(a.control.Dropped, s.Configuration) }

// begin starts a study that need not wait, or ends it if it was dropped.
func (a *agenda) begin(s *tuning) error {
	if a.dropped(s) {
		return a.end(s)
	}
	return a.start(s)
}

// start adds the jobs of a study's first batch to the pending jobs.
func (a *agenda) start(s *tuning) error {
	a.summary.Total += job{of: s, assess: true}.counts()
	if err := a.enqueue(s); err != nil {
		return err
	}
	if err := a.advance(s); err != nil {
		return err
	}
	if s.finished() {
		return a.end(s)
	}
	at, _ := slices.BinarySearchFunc(a.active, s.place, func(s *tuning, place int) int { return s.place - place })
	a.active, a.order = slices.Insert(a.active, at, s), nil
	return nil
}

// enqueue starts the trials of enqueued points, before all other trials.
func (a *agenda) enqueue(s *tuning) error {
	_, samples := s.Strategy.(search.Sampler)
	if s.Strategy == nil || samples {
		return nil
	}
	for _, of := range a.control.Enqueued {
		if of.Configuration != s.Configuration {
			continue
		}
		s.enqueued = append(s.enqueued, record.Begun(nil))
		j := s.enqueuedJob(of.Number, of.Point)
		if _, found := a.lookUp(j); !found && of.Withdrawn {
			s.enqueuedKeys = append(s.enqueuedKeys, "") // it keeps its number
			continue
		}
		s.enter(j)
		s.unrecorded++
		a.summary.Total++
		recorded, err := a.dispatch(s, []job{j})
		if err != nil {
			return err
		}
		for _, j := range recorded {
			if err := a.apply(j); err != nil {
				return err
			}
		}
	}
	return nil
}

// end opens the stages for which the study, finished or dropped, was the last to wait for.
func (a *agenda) end(s *tuning) error {
	for _, g := range a.gates[s.place] {
		if g.left--; g.left > 0 {
			continue
		}
		a.closed--
		fits := make([]*record.Fit, len(g.After))
		for i, before := range g.After {
			if fits[i] = a.studies[before].fit; a.dropped(a.studies[before]) {
				fits[i] = &record.Fit{Failure: cause.ByHand.New("dropped by hand")}
			}
		}
		goOn := g.Open(fits)
		for _, s := range g.waiting {
			s.closed = false
			next := a.end
			if slices.Contains(goOn, s.Configuration) {
				next = a.begin
			}
			if err := next(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// advance asks the strategy for trials until a trial's result is not on record, or the study is
// finished. After that, failures that the study has copied from another plan run again.
func (a *agenda) advance(s *tuning) error {
	if err := a.propose(s); err != nil || len(s.again) == 0 || s.proposing {
		return err
	}
	again := s.again
	s.again = nil
	return retry(a.journal, len(s.trials), again)
}

// propose is advance without running failures again.
func (a *agenda) propose(s *tuning) error {
	for !s.finished() {
		switch landed, err := a.recordEarliestFinished(s); {
		case err != nil:
			return err
		case landed:
			continue
		case s.assessing || !s.asks():
			return nil
		}
		next, later, err := s.propose(a.workers)
		if err != nil || later || len(next) == 0 && s.waiting == 0 && s.unrecorded > 0 {
			return err
		}
		batch := s.jobs(next)
		recorded, err := a.dispatch(s, batch)
		if err != nil {
			return err
		}
		expected := len(s.trials)
		if !s.assessing && !s.waitsForResult {
			expected = max(expected, s.Budget().Trials)
		}
		a.summary.Total += expected - s.expected
		s.expected = expected
		for _, j := range recorded {
			if err := a.apply(j); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordEarliestFinished enters the next trial, in the order of ending, of an asynchronous search.
// It does so once all trials are known that can be under way. ok is false if none has ended.
func (a *agenda) recordEarliestFinished(s *tuning) (ok bool, err error) {
	if len(s.running) == 0 || s.proposing || s.asks() {
		return false, nil
	}
	at, rank, copied := -1, 0, false // trials on record first, then trials with a result to copy
	for i, j := range s.running {
		line, done := a.journal.Done(j.key)
		ended := 0
		switch r := s.repeats[j.key]; {
		case r != nil: // it had failed before it runs again
			done, ended = true, r.Ended
		case done:
			ended = line.Trial.Ended
		case a.runs != nil && a.runs(j.key):
			continue // it runs here: wait for its result
		default:
			var found bool
			if line, found = a.copied(j); !found {
				continue
			}
			ended = line.Trial.Ended
		}
		if at < 0 || copied && done || copied == !done && ended < rank {
			at, rank, copied = i, ended, !done
		}
	}
	if at < 0 {
		return false, nil
	}
	j := s.running[at]
	if copied {
		line, _ := a.copied(j)
		s.rank++
		rank, line.Trial.Ended = s.rank, s.rank
		if err := a.adopt(j, line); err != nil {
			return false, err
		}
	}
	if a.jobs[j.key] == nil { // else it is in the table, perhaps with followers
		a.share(j)
	}
	s.running = slices.Delete(s.running, at, at+1)
	s.ended, s.rank, s.waitsForResult = append(s.ended, j.index), max(s.rank, rank), false
	if r := s.repeats[j.key]; r != nil {
		r.since = len(s.trials)
		if _, done := a.journal.Done(j.key); !done {
			s.postpone(r)
			return true, nil
		}
	}
	return true, a.apply(j)
}

// adopt records a line that was copied for a job from another plan or study. A failure of another
// plan may have to run again. It does so once the search has entered everything that followed from
// the failure, and then the assessment runs again too.
func (a *agenda) adopt(j job, line record.Line) error {
	_, again, found := a.journal.Earlier(j.key)
	if found && again && !line.Failure().IsZero() || j.assess && len(j.of.again) > 0 {
		j.of.again = append(j.of.again, line)
	}
	return a.journal.Append(line)
}

// copied returns a line for j from a job of another plan or study with the same result, if there is
// one.
func (a *agenda) copied(j job) (line record.Line, found bool) {
	if take, found := a.lookUp(j); found && len(take) > 0 {
		return take[0], true
	}
	return a.result(j)
}

// dispatch distributes the jobs of a batch: some are pending, some wait for a job with the same
// result, and some are left to other processes. It returns the jobs that are on record.
func (a *agenda) dispatch(s *tuning, batch []job) (recorded []job, err error) {
	for _, j := range batch {
		r := a.repeated(j)
		// lines copied from another plan or another study are on record before the next job, which
		// may have the same result
		line, found := a.lookUp(j)
		shared, equal := a.result(j)
		switch {
		case found:
			a.summary.Skipped += j.counts()
		case equal && j.proposal.Enqueued == 0: // results of enqueued points are copied in claim
			line = []record.Line{shared}
			a.summary.Done += j.counts()
		case a.own != nil && !a.own(s.place, j.place):
			s.elsewhere = append(s.elsewhere, j)
			continue
		case a.follow(j):
			continue
		default:
			s.pending = append(s.pending, j)
			a.share(j)
			continue
		}
		if j.inOrder() && r == nil {
			continue // recordEarliestFinished enters it in its turn
		}
		for _, line := range line {
			if r != nil && line.Trial != nil {
				line.Trial.Ended = r.Ended
			}
			if err := a.adopt(j, line); err != nil {
				return nil, err
			}
		}
		if j.inOrder() && !r.missing {
			continue
		}
		recorded = append(recorded, j)
		a.share(j)
	}
	return recorded, nil
}

// repeated records that a job is a failed trial that runs again; nil: it does not.
func (a *agenda) repeated(j job) *repeat {
	s := j.of
	retry, found := a.journal.Retried(j.key)
	if !found || j.assess || s.repeats[j.key] != nil {
		return s.repeats[j.key]
	}
	r := &repeat{Retry: retry, failure: j.failedBefore(retry), since: len(s.trials)}
	s.repeats[j.key] = r
	if _, done := a.journal.Done(j.key); !done && !j.inOrder() {
		s.postpone(r)
	}
	return r
}

// lookUp reports whether a job need not run. take has the lines to write if the result comes from
// another plan.
func (a *agenda) lookUp(j job) (take []record.Line, found bool) {
	if _, found := a.journal.Done(j.key); found {
		return nil, true
	}
	if line, _, found := a.journal.Earlier(j.key); found {
		if line = j.stamp(line); a.journal.Usable(line) {
			return []record.Line{line}, true
		}
	}
	return nil, false
}

// result returns a line for j if a job with the same result is on record, of any study.
func (a *agenda) result(j job) (line record.Line, found bool) {
	for _, key := range j.tried {
		if line, found := a.journal.Done(key); found && line.Failure().IsZero() {
			return j.takeOver(line), true
		}
	}
	l := a.jobs[j.shared]
	if !l.serves(j) {
		return line, false
	}
	line, found = a.journal.Done(l.key)
	if !found || !line.Failure().IsZero() && l.of != j.of { // the text of a failure names its study
		return line, false
	}
	return j.takeOver(line), true
}

// share makes later jobs with the same result wait for this one or copy its line.
func (a *agenda) share(j job) {
	l := &sharedJob{job: j}
	a.jobs[j.key] = l
	if before := a.jobs[j.shared]; j.shared != "" && !(before.serves(j) && a.good(before)) {
		a.jobs[j.shared] = l
	}
}

// good reports whether the job is not known to have failed.
func (a *agenda) good(l *sharedJob) bool {
	line, found := a.journal.Done(l.key)
	return !found || line.Failure().IsZero()
}

// follow makes j wait for a pending or running job with the same result, and reports whether there
// is one.
func (a *agenda) follow(j job) bool {
	for _, id := range append([]string{j.shared, j.after}, j.tried...) {
		if l := a.jobs[id]; l.serves(j) {
			if _, done := a.journal.Done(l.key); !done {
				l.followers = append(l.followers, j)
				return true
			}
		}
	}
	return false
}

// serves reports whether j can use the result of l; l may be nil.
func (l *sharedJob) serves(j job) bool {
	return l != nil && l.key != j.key && (l.of.Paths || !j.of.Paths)
}

// release continues the followers of a job that is now on record. They copy its result, or become
// pending if they cannot.
func (a *agenda) release(j job) error {
	l := a.jobs[j.key]
	if l == nil {
		return nil
	}
	followers := l.followers
	l.followers = nil
	for _, f := range followers {
		recorded, err := a.dispatch(f.of, []job{f})
		if err != nil {
			return err
		}
		for _, f := range recorded {
			if err := a.complete(f); err != nil {
				return err
			}
		}
		if f.inOrder() {
			if err := a.proceed(f.of); err != nil {
				return err
			}
		}
	}
	return nil
}

// apply reads a job's line from the journal.
func (a *agenda) apply(j job) error {
	line, _ := a.journal.Done(j.key)
	// The line was recorded with a history that no longer counts.
	if line.Trial != nil && line.Trial.Index != j.index {
		line = j.stamp(line)
		if err := errors.Join(a.journal.Withdraw(j.key), a.journal.Append(line)); err != nil {
			return err
		}
	}
	r := j.of.repeats[j.key]
	switch {
	case j.proposal.Enqueued > 0 && line.Trial != nil:
		j.of.enqueued[j.proposal.Enqueued-1] = *line.Trial
		j.of.unrecorded--
		j.of.waiting++ // an enqueued point is not in the batch
		a.stale = a.stale || r == nil && j.of.missed(*line.Trial)
	case !j.assess && line.Trial != nil:
		j.of.trials[j.index], j.of.seconds[j.index] = *line.Trial, line.Seconds
	case j.assess && line.Fit != nil:
		j.of.fit = line.Fit
		a.ladders.assessed(j.of)
	default:
		return fmt.Errorf("%w: job %s has a line of another kind", record.ErrJournal, j.key)
	}
	if !line.Failure().IsZero() && !a.control.Withdrawn(j.of.Configuration, j.proposal.Enqueued) {
		a.summary.Failed += j.counts()
	}
	if r != nil && r.missing {
		j.of.arrived(r)
	}
	j.of.waiting--
	a.order = nil
	if !j.assess && j.of.Index == 0 {
		a.compare(j.of, *line.Trial)
	}
	return nil
}

// compare updates the best value so far with a trial.
func (a *agenda) compare(s *tuning, t record.Trial) {
	_, p, err := search.Winner([]record.Trial{t})
	if err != nil || a.best != nil && !(float64(p.Value) > a.maximum) {
		return
	}
	a.maximum = float64(p.Value)
	a.best = &Best{s.Configuration, a.maximum}
	if s.Minimize {
		a.best.Value = -a.maximum
	}
}

// complete applies a job that has just been recorded, and advances the study if its batch is
// complete.
func (a *agenda) complete(j job) error {
	if r := j.of.repeats[j.key]; j.inOrder() && (r == nil || !r.missing) {
		// the followers come first, so that recordEarliestFinished knows their results
		return errors.Join(a.release(j), a.proceed(j.of))
	}
	if err := a.apply(j); err != nil {
		return err
	}
	return errors.Join(a.proceed(j.of), a.release(j))
}

// proceed advances a study, and ends it if it is finished.
func (a *agenda) proceed(s *tuning) error {
	if err := a.advance(s); err != nil {
		return err
	}
	if i := slices.Index(a.active, s); s.finished() && i >= 0 {
		a.active, a.order = slices.Delete(a.active, i, i+1), nil
		return a.end(s)
	}
	return nil
}

// answered enters the next proposals of a study's strategy.
func (a *agenda) answered(s *tuning, next []search.Proposal) error {
	s.proposing, s.hasProposed, s.proposed = false, true, next
	return a.proceed(s)
}

// record writes the line of a finished trial with its place in the order of trials. In an
// asynchronous search this is Trial.Ended. For an enqueued point it is Trial.After: the strategy
// knows the point from its next proposals on. A trial that ran again keeps the place of its
// failure.
func (a *agenda) record(j job, line record.Line) error {
	if r := j.of.repeats[j.key]; r != nil {
		line.Trial.Ended, line.Trial.After = r.Ended, r.After
		return a.journal.Append(line)
	}
	if j.proposal.Enqueued > 0 {
		line.Trial.After = len(j.of.trials)
		if j.of.proposing { // the proposals under way do not know the point
			line.Trial.After++
		}
		return a.journal.Append(line)
	}
	j.of.rank++
	line.Trial.Ended = j.of.rank
	return a.journal.Append(line)
}

// skip completes a job that another process has recorded.
func (a *agenda) skip(j job) error {
	a.summary.Skipped += j.counts()
	return a.complete(j)
}

// next enters jobs that other processes have finished. Then it returns the first study in turn with
// a job that fits, moved to be its first pending job. waits reports that this process waits for
// jobs of other processes.
func (a *agenda) next(fits func(job) bool) (next *tuning, waits bool, err error) {
	all := a.turns()
	for i := 0; i < len(all); i++ {
		s := all[i]
		for k := 0; k < len(s.pending); k++ {
			if a.outdated() {
				return nil, true, nil
			}
			j := s.pending[k]
			// A job with the result that this one copies may be running, so this one waits.
			if a.paused(j) || a.runs != nil && slices.ContainsFunc(j.tried, a.runs) {
				continue
			}
			if !j.think && !fits(j) {
				break
			}
			ours, done, err := a.claim(j)
			switch {
			case err != nil:
				return nil, false, err
			case done:
				s.pending = slices.Delete(s.pending, k, k+1)
				if err := a.skip(j); err != nil {
					return nil, false, err
				}
				all = a.turns() // stages may have opened
				i, k = -1, len(s.pending)
			case ours:
				s.pending[0], s.pending[k] = j, s.pending[0]
				return s, false, nil
			default:
				waits = true
			}
		}
	}
	return nil, waits, nil
}

// outdated reports whether the history that the strategies have been given differs from the record.
func (a *agenda) outdated() bool { return a.stale || a.revised != a.journal.Revised() }

// turns returns the active studies in the order in which their jobs start.
func (a *agenda) turns() []*tuning {
	first := a.control.First
	switch {
	case a.order != nil:
	case len(a.ladders)+len(first) == 0:
		return a.active
	default:
		a.order = a.ladders.order(a.active, func(s *tuning) []job {
			if len(s.pending) == 0 || s.pending[0].think {
				return nil
			}
			return a.jobs[s.pending[0].key].followers
		})
		place := func(s *tuning) int {
			if k := slices.Index(first, s.Configuration); k >= 0 {
				return k
			}
			return len(first)
		}
		slices.SortStableFunc(a.order, func(s, t *tuning) int { return place(s) - place(t) })
	}
	return a.order
}

// paused reports whether a job is left to Ask, or the user has paused it. It starts even so if a
// job of a study that is not paused waits for its result.
func (a *agenda) paused(j job) bool {
	waits := func(of *tuning) bool { return slices.Contains(a.control.Paused, of.Configuration) }
	if j.of.Told && !j.assess && !j.think {
		return true
	}
	if !waits(j.of) {
		return false
	}
	if l := a.jobs[j.key]; !j.think && l != nil {
		return !slices.ContainsFunc(l.followers, func(f job) bool { return !waits(f.of) })
	}
	return true
}

// left reports whether jobs of this process are pending.
func (a *agenda) left() bool {
	return slices.ContainsFunc(a.active, func(s *tuning) bool { return len(s.pending) > 0 })
}

// claim reserves a job for this process, unless it is done or another process has it.
func (a *agenda) claim(j job) (ours, done bool, err error) {
	if _, done := a.journal.Done(j.key); done && !j.think {
		return false, true, nil
	}
	if j.think && !j.of.whole() {
		return true, false, nil
	}
	ours, err = a.journal.Claim(j.lease())
	if ours && j.of.whole() && j.of.triedByOthers(a.journal, j.key) {
		// The point on record may be none of the jobs pending here, or paused. It has to be entered
		// first.
		a.stale = true
		return false, false, err
	}
	// A process that did not know the enqueued points may have reserved this job alone.
	if err == nil && ours && !j.think && len(j.of.enqueued) > 0 {
		ours, err = a.journal.Claim(j.key)
	}
	if err != nil || !ours || j.think {
		return ours, false, err
	}
	// The last holder of the job may have recorded it meanwhile.
	if _, done = a.journal.Done(j.key); !done && !j.inOrder() {
		if line, copied := a.copied(j); copied {
			done, err = true, a.journal.Append(line)
			a.summary.Done, a.summary.Skipped = a.summary.Done+j.counts(), a.summary.Skipped-j.counts()
		}
	}
	if done {
		a.returned(j)
	}
	if err != nil {
		return false, false, err
	}
	// the next proposals may depend on new enqueued points, or on lines that were withdrawn
	if !done && (!a.journal.Control().SamePoints(a.control) || a.outdated()) {
		a.returned(j)
		return false, false, nil
	}
	return !done, done, nil
}

// returned ends the reservation of a job that has ended. The reservation of an asynchronous search
// ends with the search.
func (a *agenda) returned(j job) {
	a.journal.Release(j.key)
	if !j.of.whole() || j.of.finished() {
		a.journal.Release(j.lease())
	}
}

// refresh reads the results of other processes, unless the last refresh was so recent that
// refreshing would dominate the running time.
func (a *agenda) refresh() error {
	started := time.Now()
	if started.Sub(a.refreshed) < 20*a.took {
		return nil
	}
	first := a.refreshed.IsZero()
	news, err := a.journal.Refresh()
	a.refreshed = time.Now()
	if took := a.refreshed.Sub(started); first || took < a.took {
		a.took = took
	}
	switch {
	case err == nil && news && a.own != nil:
		return a.enterOthers()
	}
	return err
}

// enterOthers enters jobs that were left to other processes and are now on record.
func (a *agenda) enterOthers() error {
	for _, s := range slices.Clone(a.active) {
		away := s.elsewhere
		s.elsewhere = nil
		for _, j := range away {
			if _, found := a.journal.Done(j.key); !found {
				s.elsewhere = append(s.elsewhere, j)
			} else if err := a.skip(j); err != nil {
				return err
			}
		}
	}
	return nil
}

// orphanKeys are the keys of orphans: lines of finished studies that belong to none of their jobs.
func (a *agenda) orphanKeys() (stray []string) {
	known := map[studyID]map[string]bool{}
	for _, s := range a.studies {
		if s.finished() {
			known[studyID{s.Configuration, s.Index}] = s.keys
		}
	}
	for _, line := range a.journal.Lines() {
		of, _ := originOf(line)
		if keys := known[of]; keys != nil && !keys[line.Key] {
			stray = append(stray, line.Key)
		}
	}
	return stray
}
