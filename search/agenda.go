package search

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gpc-tune/gpc-tune/internal/journal"
	"github.com/gpc-tune/gpc-tune/internal/record"
)

// ErrMemory marks a study of which no job fits into Options.MemoryLimit.
var ErrMemory = errors.New("not enough memory")

// Summary counts jobs: trials and assessments.
type Summary struct {
	Done    int // run now, or taken over from another study's of the same result
	Skipped int // on record before
	Failed  int // of both
	// Total is of all known so far; at most, as long as a strategy may finish before it has used up
	// its budget. Stages let more through.
	Total int
}

// Best is the largest value of the tuning objective so far, and whose it is. Values of
// configurations with other objectives or data do not compare.
type Best struct {
	Configuration int
	Value         float64
}

// Check finds what makes it impossible to run the studies within so many bytes; 0: no limit.
func Check(studies []Study, memoryLimit int64) error {
	var errs []error
	first := map[string]int{}
	larger, largest := 0, Study{} // than the limit
	for i, s := range studies {
		if j, twice := first[s.Key]; twice {
			errs = append(errs, fmt.Errorf("study %d of configuration %d is the same as study %d of configuration %d; "+
				"keep one", s.Index, s.Configuration, studies[j].Index, studies[j].Configuration))
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

// Recorded counts the jobs of the studies that need not run, for they are on record, or another
// plan's are. Nothing is written to the folder, and the journal is of no use afterwards.
func Recorded(studies []Study, j *journal.Journal) (int, error) {
	j.Detach()
	a, err := newAgenda(studies, j, nil)
	return a.summary.Done + a.summary.Skipped, err
}

// Missing is what a study has that is not on record.
type Missing struct {
	Study  int   // its place in the list
	First  []int // trials, by index, of those that it asks for first
	Later  bool  // those are done, and something that follows them is to run
	Closed bool  // nothing can run yet: it waits at a Stage
}

// Left lists the studies that are not finished. Nothing is written to the folder, and the journal
// is of no use afterwards.
func Left(studies []Study, j *journal.Journal) (left []Missing, err error) {
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
		if s.closed {
			left = append(left, Missing{Study: s.place, Closed: true})
		}
	}
	return left, nil
}

// agenda knows of all studies what is on record and what is to run now. One goroutine uses it.
type agenda struct {
	journal *journal.Journal
	own     func(study, trial int) bool // Options.Own
	summary Summary
	studies []*tuning
	active  []*tuning        // begun and not finished, in order
	gates   [][]*gate        // of each study, the stages that wait for it
	leads   map[string]*lead // jobs to run, running or on record, by key and by what they share
	closed  int              // stages that have not opened
	best    *Best            // nil: none yet

	shared    bool          // other processes write to the journal's folder
	refreshed time.Time     // when the journal was last read
	took      time.Duration // how long that takes at least
}

// lead is a job and those that wait for its result.
type lead struct {
	job
	followers []job
}

// gate is a Stage under way.
type gate struct {
	*Stage
	left    int // of After, those that have not ended
	waiting []*tuning
}

// newAgenda starts the studies that wait for nothing.
func newAgenda(studies []Study, j *journal.Journal, own func(study, trial int) bool) (*agenda, error) {
	a := &agenda{journal: j, own: own, gates: make([][]*gate, len(studies)), leads: map[string]*lead{}}
	gates := map[*Stage]*gate{}
	for i := range studies {
		s := &tuning{Study: &studies[i], place: i, asked: map[string]int{}, keys: map[string]bool{}}
		a.studies = append(a.studies, s)
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
			if err := a.start(s); err != nil {
				return a, err
			}
		}
	}
	return a, nil
}

// start makes a study's jobs wait for their turn.
func (a *agenda) start(s *tuning) error {
	a.summary.Total++
	if err := a.advance(s); err != nil {
		return err
	}
	if s.finished() {
		return a.end(s)
	}
	at, _ := slices.BinarySearchFunc(a.active, s.place, func(s *tuning, place int) int { return s.place - place })
	a.active = slices.Insert(a.active, at, s)
	return nil
}

// end opens the stages that a study, finished or dropped, is the last to be waited for.
func (a *agenda) end(s *tuning) error {
	for _, g := range a.gates[s.place] {
		if g.left--; g.left > 0 {
			continue
		}
		a.closed--
		fits := make([]*record.Fit, len(g.After))
		for i, before := range g.After {
			fits[i] = a.studies[before].fit
		}
		goOn := g.Open(fits)
		for _, s := range g.waiting {
			s.closed = false
			next := a.end
			if slices.Contains(goOn, s.Configuration) {
				next = a.start
			}
			if err := next(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// advance asks for batches until one has a job that is not on record, or the study is finished.
func (a *agenda) advance(s *tuning) error {
	for s.waiting == 0 && !s.assessing {
		recorded, err := a.enlist(s, s.ask())
		if err != nil {
			return err
		}
		expected := len(s.trials)
		if s.Strategy != nil && !s.assessing {
			expected = max(expected, s.Strategy.Budget(s.Space).Trials)
		}
		a.summary.Total += expected - s.expected
		s.expected = expected
		for _, j := range recorded {
			if err := a.enter(j); err != nil {
				return err
			}
		}
	}
	return nil
}

// enlist makes the jobs of a batch wait for their turn, for jobs of the same result, or for other
// processes, and returns those that need not run, for they are on record now.
func (a *agenda) enlist(s *tuning, batch []job) (recorded []job, err error) {
	var taken []record.Line // over from another plan, or another study
	have := func(j job, line []record.Line, count *int) {
		recorded, taken = append(recorded, j), append(taken, line...)
		a.lead(j)
		*count++
	}
	for _, j := range batch {
		line, found := a.lookUp(j)
		shared, equal := a.result(j)
		switch {
		case found:
			have(j, line, &a.summary.Skipped)
		case equal:
			have(j, []record.Line{shared}, &a.summary.Done)
		case a.own != nil && !a.own(s.place, j.place):
			s.away = append(s.away, j)
		case a.follow(j):
		default:
			s.pending = append(s.pending, j)
			a.lead(j)
		}
	}
	if a.shared {
		shuffle(s.pending)
	}
	return recorded, a.journal.Append(taken...)
}

// lookUp says whether a job need not run, and the line to write where that is because another plan
// has run it.
func (a *agenda) lookUp(j job) (take []record.Line, found bool) {
	if _, found := a.journal.Done(j.key); found {
		return nil, true
	}
	if line, found := a.journal.Earlier(j.key); found {
		if line = j.stamp(line); a.journal.Usable(line) {
			return []record.Line{line}, true
		}
	}
	return nil, false
}

// result is the line of a job, where a job of another study with the same result is on record.
func (a *agenda) result(j job) (line record.Line, found bool) {
	l := a.leads[j.shared]
	if !l.serves(j) {
		return line, false
	}
	line, found = a.journal.Done(l.key)
	if !found || line.Failure() != "" {
		return line, false
	}
	return j.takeOver(line), true
}

// lead has the jobs of the same result wait for this one, or take it from the journal.
func (a *agenda) lead(j job) {
	l := &lead{job: j}
	a.leads[j.key] = l
	if before := a.leads[j.shared]; j.shared != "" && !(before.serves(j) && a.good(before)) {
		a.leads[j.shared] = l
	}
}

// good says that a job has not failed, as far as is known.
func (a *agenda) good(l *lead) bool {
	line, found := a.journal.Done(l.key)
	return !found || line.Failure() == ""
}

// follow has a job wait for another that is to run and of which it has the result, if there is one.
func (a *agenda) follow(j job) bool {
	for _, id := range []string{j.shared, j.after} {
		if l := a.leads[id]; l.serves(j) {
			if _, done := a.journal.Done(l.key); !done {
				l.followers = append(l.followers, j)
				return true
			}
		}
	}
	return false
}

// serves says that a job can have the result of this one. There may be none: l may be nil.
func (l *lead) serves(j job) bool { return l != nil && l.key != j.key && (l.of.Paths || !j.of.Paths) }

// release has the followers of a job that is on record go on: with its result, or on their own.
func (a *agenda) release(j job) error {
	l := a.leads[j.key]
	if l == nil {
		return nil
	}
	followers := l.followers
	l.followers = nil
	for _, f := range followers {
		recorded, err := a.enlist(f.of, []job{f})
		if err != nil {
			return err
		}
		for _, f := range recorded {
			if err := a.accept(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// enter takes a job's line from the journal.
func (a *agenda) enter(j job) error {
	line, _ := a.journal.Done(j.key)
	switch {
	case !j.assess && line.Trial != nil:
		j.of.trials[j.index] = *line.Trial
	case j.assess && line.Fit != nil:
		j.of.fit = line.Fit
	default:
		return fmt.Errorf("%w: job %s has a line of another kind", journal.ErrJournal, j.key)
	}
	if line.Failure() != "" {
		a.summary.Failed++
	}
	j.of.waiting--
	if !j.assess && j.of.Index == 0 {
		a.compare(j.of.Configuration, *line.Trial)
	}
	return nil
}

// compare takes the best point of a trial for the best so far, if it is.
func (a *agenda) compare(configuration int, t record.Trial) {
	_, p, err := Winner([]record.Trial{t})
	if err == nil && (a.best == nil || float64(p.Value) > a.best.Value) {
		a.best = &Best{configuration, float64(p.Value)}
	}
}

// accept enters a job that has just been recorded, and asks for more where its batch is complete.
func (a *agenda) accept(j job) error {
	if err := a.enter(j); err != nil {
		return err
	}
	if err := a.advance(j.of); err != nil {
		return err
	}
	if i := slices.Index(a.active, j.of); j.of.finished() && i >= 0 {
		a.active = slices.Delete(a.active, i, i+1)
		if err := a.end(j.of); err != nil {
			return err
		}
	}
	return a.release(j)
}

// skip accepts a job that another process has recorded.
func (a *agenda) skip(j job) error {
	a.summary.Skipped++
	return a.accept(j)
}

// next is the first study with a job to start, once those that another process has finished are
// entered. Every study before it has a running job, so the search is short.
func (a *agenda) next() (*tuning, error) {
	if err := a.refresh(); err != nil {
		return nil, err
	}
	for i := 0; i < len(a.active); {
		s := a.active[i]
		if len(s.pending) == 0 {
			i++
			continue
		}
		j := s.pending[0]
		if _, found := a.journal.Done(j.key); !found {
			return s, nil
		}
		s.pending = s.pending[1:]
		if err := a.skip(j); err != nil {
			return nil, err
		}
		i = 0 // stages may have opened
	}
	return nil, nil
}

// refresh reads what other processes have finished, unless it was read so recently that reading
// would be most of the work.
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
	case err != nil || !news:
	case a.own != nil:
		return a.enterOthers()
	case !a.shared:
		a.shared = true
		shuffle(a.active)
		for _, s := range a.active {
			shuffle(s.pending)
		}
	}
	return err
}

// enterOthers enters what was left to other processes and is now on record.
func (a *agenda) enterOthers() error {
	for _, s := range slices.Clone(a.active) {
		away := s.away
		s.away = nil
		for _, j := range away {
			if _, found := a.journal.Done(j.key); !found {
				s.away = append(s.away, j)
			} else if err := a.skip(j); err != nil {
				return err
			}
		}
	}
	return nil
}

func shuffle[T any](x []T) {
	rand.Shuffle(len(x), func(i, k int) { x[i], x[k] = x[k], x[i] })
}

// clear withdraws what is on record of finished studies and none of their jobs: a process that had
// not heard yet of jobs that are run again has written what followed from their failures.
func (a *agenda) clear() error {
	if !a.journal.Retried() {
		return nil
	}
	known := map[studyID]map[string]bool{}
	for _, s := range a.studies {
		if s.finished() {
			known[studyID{s.Configuration, s.Index}] = s.keys
		}
	}
	var stray []string
	for _, line := range a.journal.Lines() {
		of, _ := originOf(line)
		if keys := known[of]; keys != nil && !keys[line.Key] {
			stray = append(stray, line.Key)
		}
	}
	return a.journal.Withdraw(stray...)
}
