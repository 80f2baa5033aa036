package schedule

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/panicked"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// Later, as the index of a trial in Options.Ours, stands for all jobs of a study after its first
// batch.
const Later = -1

// tuning is a Study in progress: batches of trials until its strategy proposes no more, then the
// assessment.
type tuning struct {
	*Study
	place          int               // index into the list of studies
	closed         bool              // waits at its Stage
	trials         []record.Trial    // all proposed trials, by index
	enqueued       []record.Trial    // trials of enqueued points, by number
	enqueuedKeys   []string          // keys of the jobs of enqueued
	unrecorded     int               // number of trials of enqueued that are not on record
	seconds        []float64         // computing time of each of trials
	proposed       []search.Proposal // the strategy's proposals that are not yet jobs
	stopped        cause.Notice      // why the search has ended before its strategy did
	fit            *record.Fit       // the assessment, once it is on record
	assessing      bool              // the current batch is the assessment
	waiting        int               // jobs of the current batch that are not on record
	pending        []job             // jobs of the current batch, not yet started
	elsewhere      []job             // jobs of the current batch, left to other processes
	expected       int               // total number of trials, as counted in the Summary
	ended          []int             // indices of the finished trials of an asynchronous search, in order
	running        []job             // trials under way of an asynchronous search
	rank           int               // Ended of the last trial that is on record
	waitsForResult bool              // the strategy waits for another trial to end
	bounded        int               // batches in a row for which Stop.Regret has held
	proposing      bool              // a worker asks the strategy
	paired         bool              // another study proposes the same trials, in step with this one
	hasProposed    bool              // a worker has asked; proposed has the answer
	asked          map[string]int    // number of trials by the key of their points
	keys           map[string]bool   // keys of all jobs
	// enqueuedAt maps the key of the strategy's trial at a point to the enqueuedKeys with this
	// point
	enqueuedAt map[string][]string
	repeats    map[string]*repeat // failed trials that run again, by key
	again      []record.Line      // failures of another plan that are to run again
}

// job becomes one line of the journal.
type job struct {
	of       *tuning
	key      string
	shared   string   // equal for jobs, of any study, with the same result; "": shared with none
	after    string   // key of the job of SameAs that computes the result; "": none
	tried    []string // keys of jobs of this study at the same point, which may have its result
	index    int      // index of the trial; an assessment has the index of the best trial
	place    int      // the index in the first batch; Later after it
	proposal search.Proposal
	assess   bool
	think    bool               // asks the strategy; has no line
	earlier  [][]record.Interim // values on the way with which the trial is compared
	told     []record.Trial     // history with which the strategy is asked
	refused  error              // why the point is not evaluated
	theta    []float64          // theta of the best trial
	expected *record.Expected   // the expected value there; nil: it is the trial's
	noWinner error
}

func (s *tuning) finished() bool { return s.assessing && s.waiting == 0 }

// inOrder reports whether the job is a trial of an asynchronous search, for which the order of
// ending is recorded.
func (j job) inOrder() bool {
	return !j.assess && !j.think && j.proposal.Enqueued == 0 && search.UnderWay(j.of.Strategy) > 0
}

// counts is 1, or 0 for an assessment that computes nothing.
func (j job) counts() int {
	if j.assess && j.of.Value != nil {
		return 0
	}
	return 1
}

// memory is an upper bound of the bytes that the job needs.
func (j job) memory() int64 {
	if j.think {
		return 0
	}
	return j.of.Memory
}

// whole reports whether one process has to run the whole search, because the strategy's proposals
// depend on the order in which trials end.
func (s *tuning) whole() bool {
	_, learns := s.Strategy.(search.Learner)
	return search.UnderWay(s.Strategy) > 0 || learns && len(s.enqueued) > 0
}

// lease is the key that a process reserves for this job: the job's key, or a key for the whole
// search.
func (j job) lease() string {
	if j.of.whole() {
		return jobKey(j.of.Key, "search", 0, nil)
	}
	return j.key
}

// asks reports whether the strategy is to be asked next: all trials of its batch have ended, or in
// an asynchronous search fewer than Asynchronous.UnderWay are under way, or in a parallel search
// all visible trials have ended.
func (s *tuning) asks() bool {
	if s.blocked() {
		return false
	}
	if width := search.UnderWay(s.Strategy); width > 0 {
		return s.waiting < width && !s.waitsForResult && !s.proposing
	}
	if search.Ahead(s.Strategy) > 0 && !s.waitsForResult {
		return !s.proposing && !slices.ContainsFunc(s.trials[:s.visible()], func(t record.Trial) bool {
			return t.UnderWay() && !s.missing(t.Index)
		})
	}
	return s.waiting == 0 && !s.proposing
}

// visible is the number of trials with whose results the next trial of a parallel search is
// proposed.
func (s *tuning) visible() int { return max(0, len(s.trials)-search.Ahead(s.Strategy)+1) }

// missing reports whether the search goes on without the new result of a trial that runs again.
func (s *tuning) missing(trial int) bool {
	for _, r := range s.repeats {
		if r.missing && r.failure.Enqueued == 0 && r.failure.Index == trial {
			return true
		}
	}
	return false
}

// jobs makes the jobs of the next proposals. Without proposals it makes the assessment, once no
// trial is under way.
func (s *tuning) jobs(next []search.Proposal) (batch []job) {
	before := len(s.trials)
	var earlier [][]record.Interim
	if s.Early != nil {
		finished, _ := s.over(s.trials)
		earlier = interim(finished)
	}
	for _, p := range next {
		j := job{of: s, earlier: earlier, index: before + len(batch), place: Later, proposal: p}
		if !j.inOrder() && (before == 0 || j.index < search.Ahead(s.Strategy)) {
			j.place = j.index
		}
		kind, nth := s.nth(j.index, p)
		j.key = jobKey(s.Key, kind, nth, p.Points)
		again := kind != "chain" && nth > 0 && !s.Noise // the same points as before have the same result
		of, shared := s.Tuning, kind
		if kind == "preliminary" {
			// Preliminary trials are shared with the studies that maximise the cheaper objective.
			of, shared = s.Starting, "trial"
		}
		switch {
		case of != "" && again:
			j.shared = jobKey(of, shared, 0, p.Points)
		case of != "":
			j.shared = jobKey(of, shared, nth, p.Points)
		case again:
			j.shared = jobKey(s.Key, kind, 0, p.Points)
		case s.SameAs != "":
			j.after = jobKey(s.SameAs, kind, nth, p.Points)
		}
		if kind == "trial" && len(s.enqueued) > 0 && !s.Noise {
			j.tried = s.enqueuedAt[jobKey(s.Key, kind, 0, p.Points)]
		}
		batch = append(batch, j)
	}
	switch {
	case len(batch) > 0:
		for _, p := range next {
			begun := record.Begun(p.Points)
			begun.Index = len(s.trials)
			s.trials = append(s.trials, begun)
		}
		s.seconds = append(s.seconds, make([]float64, len(batch))...)
	case s.waiting > 0:
		s.waitsForResult = true
	default:
		s.assessing = true
		batch = []job{s.assessment()}
	}
	s.waiting += len(batch)
	for _, j := range batch {
		s.keys[j.key] = true
		if j.inOrder() {
			s.running = append(s.running, j)
		}
	}
	return batch
}

// history is the argument of Strategy.Ask.
func (s *tuning) history() (trials []record.Trial) {
	trials, own := s.known()
	trials, _ = s.over(trials)
	if _, learns := s.Strategy.(search.Learner); learns {
		own = slices.DeleteFunc(own, func(t record.Trial) bool { return t.Enqueued == 0 || t.After > len(s.trials) })
		trials = append(own, trials...)
	}
	for _, j := range s.running {
		trials = append(trials, s.trials[j.index])
	}
	if search.Ahead(s.Strategy) > 0 {
		for _, t := range s.trials[s.visible():] {
			trials = append(trials, record.Begun([][]float64{t.Theta()}))
		}
	}
	return trials
}

// missed reports whether the strategy has proposed trials without knowing an enqueued point that
// precedes them in the recorded order.
func (s *tuning) missed(own record.Trial) bool {
	asked := len(s.trials)
	if s.proposing {
		asked++
	}
	_, learns := s.Strategy.(search.Learner)
	return learns && own.After < asked
}

// over selects the finished trials from all, in the order of ending, with the computing time of
// each. Of a parallel search it selects the visible ones.
func (s *tuning) over(all []record.Trial) (trials []record.Trial, seconds []float64) {
	switch {
	case search.Ahead(s.Strategy) > 0:
		return slices.Clone(all[:s.visible()]), s.seconds[:s.visible()]
	case search.UnderWay(s.Strategy) == 0:
		return slices.Clone(all), s.seconds
	}
	for _, i := range s.ended {
		trials, seconds = append(trials, all[i]), append(seconds, s.seconds[i])
	}
	return trials, seconds
}

// known are the trials of the strategy and of enqueued points as the strategy knows them: a trial
// that runs again can still be a failure.
func (s *tuning) known() (trials, own []record.Trial) {
	trials, own = slices.Clone(s.trials), slices.Clone(s.enqueued)
	for _, r := range s.repeats {
		switch t := r.failure; {
		case !r.fails(s.Strategy, len(s.trials)):
		case t.Enqueued > 0:
			own[t.Enqueued-1] = t
		default:
			trials[t.Index] = t
		}
	}
	return trials, own
}

// postpone lets the search go on without the new result of a trial that runs again, until it has
// proposed what is on record.
func (s *tuning) postpone(r *repeat) {
	if r.missing = true; r.failure.Enqueued == 0 { // an enqueued point is not in the batch
		s.waiting--
		s.unrecorded++
	}
}

// arrived undoes postpone: the new result is on record.
func (s *tuning) arrived(r *repeat) {
	if r.missing = false; r.failure.Enqueued == 0 {
		s.waiting++
		s.unrecorded--
	}
}

// blocked reports whether the next proposals depend on the missing result of a trial that runs
// again.
func (s *tuning) blocked() bool {
	for _, r := range s.repeats {
		if r.missing && r.Known <= len(s.trials) {
			return true
		}
	}
	return false
}

// goesOn reports whether the next trials were proposed before a failed trial ran again. So no
// criterion ended the search before them.
func (s *tuning) goesOn() bool {
	for _, r := range s.repeats {
		if len(s.trials) < r.Known {
			return true
		}
	}
	return false
}

// failedBefore is the trial of a job that runs again, as it was when it had failed.
func (j job) failedBefore(r record.Retry) record.Trial {
	t := record.Begun(j.proposal.Points)
	t.Index, t.Status, t.Failure = j.index, "failed", cause.Failure.New("it failed, and runs again")
	t.Preliminary, t.Share, t.Enqueued = j.proposal.Preliminary, j.proposal.Share, j.proposal.Enqueued
	t.Ended, t.After = r.Ended, r.After
	return t
}

// ask asks the strategy with a history.
func (s *tuning) ask(told []record.Trial) (next []search.Proposal, err error) {
	if thrown := panicked.Try(func() { next = s.remembered(told) }); thrown != nil {
		return nil, fmt.Errorf("configuration %d: method %s: %w", s.Configuration,
			cmp.Or(search.Table.NameOf(s.Strategy), fmt.Sprintf("%T", s.Strategy)), thrown)
	}
	return next, nil
}

// propose returns the next proposals that run together; none: the search has ended. A strategy
// whose answer depends on results may think for long. With workers, one of them asks it, and
// propose returns later.
func (s *tuning) propose(workers bool) (next []search.Proposal, later bool, err error) {
	if s.Strategy == nil || !s.stopped.IsZero() {
		return nil, false, nil
	}
	if len(s.proposed) == 0 && !s.hasProposed {
		if workers && !s.paired && len(s.trials) > 0 && s.Strategy.Budget(s.Space).AtOnce > 0 {
			s.proposing = true
			s.pending = append(s.pending, job{of: s, think: true, told: s.history()})
			return nil, true, nil
		}
		if s.proposed, err = s.ask(s.history()); err != nil {
			return nil, false, err
		}
	}
	s.hasProposed = false
	next = s.proposed
	if n := s.together(); n > 0 {
		next = next[:min(n, len(next))]
	}
	if len(next) > 0 && s.Stop != (Stop{}) {
		if why := cmp.Or(s.Stop.reached(s.over(s.trials)), s.Stop.worthless(next),
			s.Stop.bounded(next, &s.bounded, s.Space)); why != "" && !s.goesOn() {
			s.stopped = cause.SearchStopped.New("stopped after %d of at most %d trials by %s", len(s.trials),
				s.Budget().Trials, why)
			return nil, false, nil
		}
	}
	s.proposed = s.proposed[len(next):]
	return next, false, nil
}

// all are the trials of the strategy, then the trials of enqueued points.
func (s *tuning) all() []record.Trial { return slices.Concat(s.trials, s.enqueued) }

// enqueuedJob makes the job of an enqueued point. Its index follows the indices of all trials that
// the strategy may propose.
func (s *tuning) enqueuedJob(number int, at map[string]record.Number) job {
	j := job{of: s, index: s.Budget().Trials + number - 1, place: Later}
	theta := s.Space.Start()
	for i, h := range s.Space {
		if v, given := at[h.Name]; given {
			theta[i] = h.Map.Theta(float64(v))
			if err := h.Admits(float64(v)); err != nil {
				j.refused = err
			}
		}
	}
	if of := s.Space.Index(search.FidelityOf(s.Strategy).Of); of >= 0 { // only the whole budget can win
		_, theta[of] = s.Space[of].ThetaBounds()
	}
	if j.refused == nil {
		s.Space.OnGrid(theta)
		if c := param.Violated(s.Space, theta); c != nil {
			j.refused = fmt.Errorf("where: %s does not hold at this point", c.Text)
		}
	}
	j.proposal = search.Proposal{Points: [][]float64{theta}, Enqueued: number}
	j.key = jobKey(s.Key, "own", number, j.proposal.Points)
	trial := s.ofStrategy(j)
	if !s.Noise { // a second evaluation gives another value if there is noise
		j.tried = append([]string{trial}, s.enqueuedAt[trial]...)
	}
	if s.SameAs != "" {
		j.after = jobKey(s.SameAs, "own", number, j.proposal.Points)
	}
	return j
}

// enter adds the job of an enqueued point to the search.
func (s *tuning) enter(j job) {
	trial := s.ofStrategy(j)
	s.enqueuedAt[trial] = append(s.enqueuedAt[trial], j.key)
	s.keys[j.key], s.enqueuedKeys = true, append(s.enqueuedKeys, j.key)
}

// ofStrategy is the key of the strategy's first trial at the point of j.
func (s *tuning) ofStrategy(j job) string { return jobKey(s.Key, "trial", 0, j.proposal.Points) }

// triedByOthers reports whether an enqueued point is on record and not entered here. The point
// whose key is but does not count.
func (s *tuning) triedByOthers(journal Journal, but string) bool {
	for i, key := range s.enqueuedKeys {
		if _, done := journal.Done(key); done && s.enqueued[i].Enqueued == 0 && key != but {
			return true
		}
	}
	return false
}

// assessment makes the last job.
func (s *tuning) assessment() job {
	j := job{of: s, assess: true, index: -1, place: Later}
	kind, averaged := "fit ", 0 // averaged: number of trials averaged over; 0: only the best one
	if s.Strategy != nil {
		var best record.Point
		if j.index, best, j.noWinner = search.Winner(s.all()); j.noWinner != nil {
			j.noWinner = cmp.Or(noneWithin(s.all(), s.Require), j.noWinner)
			kind += j.noWinner.Error()
		}
		if s.Noise && j.noWinner == nil && len(s.Objectives) < 2 {
			j.chooseExpected(&best)
		}
		j.theta = record.Floats(best.Theta)
		if _, ok := s.Strategy.(search.Sampler); ok {
			averaged = len(s.trials)
		}
	}
	point := [][]float64{j.theta}
	j.key = jobKey(s.Key, kind, averaged, point)
	if s.Fitting != "" {
		j.shared = jobKey(s.Fitting, kind, averaged, point)
	} else if s.SameAs != "" {
		j.after = jobKey(s.SameAs, kind, averaged, point)
	}
	return j
}

// chooseExpected replaces the best point by the one with the largest expected value.
func (j *job) chooseExpected(best *record.Point) {
	t, mean, sd, ok := j.of.Space.ExpectedBest(j.of.all(), j.of.Seed)
	if !ok {
		return
	}
	if j.of.Minimize {
		mean = -mean
	}
	j.index, *best = t.Index, t.Points[0]
	j.expected = &record.Expected{Value: record.Number(mean), StandardDeviation: record.Number(sd)}
}

// nth returns the part of a trial's key that is not its points: the kind, and the number of earlier
// proposals of these points. The index of the trial is not included, so that the result of the same
// trial in another plan is found; but the seed of a chain depends on the index.
func (s *tuning) nth(index int, p search.Proposal) (kind string, n int) {
	if _, ok := s.Strategy.(search.Sampler); ok {
		return "chain", index
	}
	switch kind = "trial"; {
	case p.Share != (record.Share{}):
		kind += fmt.Sprintf(" with %v of the %s", p.Share.Part, p.Share.Of)
	case p.Preliminary:
		kind = "preliminary"
	}
	first := jobKey(s.Key, kind, 0, p.Points)
	s.asked[first]++
	return kind, s.asked[first] - 1
}

// do runs the job with a time limit; 0: none. ok is false if ctx ended, because the result may then
// be incomplete.
func (j job) do(ctx context.Context, timeout time.Duration) (line record.Line, ok bool) {
	started := time.Now()
	within, cancel := ctx, context.CancelFunc(func() {})
	if timeout > 0 {
		within, cancel = context.WithTimeout(ctx, timeout)
	}
	defer cancel()
	err := cmp.Or(j.noWinner, j.refused)
	if err == nil {
		counted, wait := interrupt.Counted(within)
		panicking := panicked.Try(func() {
			compute := func() (record.Line, error) {
				defer wait() // the memory of a job that timed out is in use until it returns
				return j.compute(counted)
			}
			if j.of.Ends {
				line, err = compute()
			} else {
				line, err = interrupt.Do(ctx, compute)
			}
		})
		err = cmp.Or(panicking, err)
	}
	var partial record.Trial // the output and the values on the way of a trial that failed
	if line.Trial != nil {
		partial = *line.Trial
	}
	late := within.Err() != nil // read before ctx, because the end of ctx also ends within
	switch {
	case ctx.Err() != nil:
		return line, false
	case late:
		line = j.failed(cause.TimedOut.New("timed out after %v", timeout))
	case err != nil:
		line = j.failed(cause.Failed(err))
	}
	if line.Trial != nil {
		line.Trial.Output, line.Trial.Interim = partial.Output, partial.Interim
	}
	if t := line.Trial; t != nil && !t.Failure.IsZero() && len(t.Points) == 0 && j.refused == nil {
		for _, theta := range j.proposal.Points {
			t.Asked = append(t.Asked, record.Numbers(theta))
		}
	}
	line.Seconds = time.Since(started).Seconds()
	return j.stamp(line), true
}

// timed gives a line the time of the job of SameAs that computed its result, if the search counts
// it.
func (j job) timed(line record.Line, journal Journal) record.Line {
	if computed, found := journal.Done(j.after); found && j.of.Stop.Time != "" {
		line.Seconds = computed.Seconds
	}
	return line
}

func (j job) compute(ctx context.Context) (record.Line, error) {
	switch {
	case j.of.Value != nil && j.assess:
		space, theta := j.of.Space, j.theta
		// The upper bound is the whole budget.
		if i := space.Index(search.FidelityOf(j.of.Strategy).Of); i >= 0 {
			space = slices.Delete(slices.Clone(space), i, i+1)
			theta = slices.Delete(slices.Clone(theta), i, i+1)
		}
		return record.Line{Fit: &record.Fit{Natural: j.of.natural(j.theta), LogEvidence: record.Number(math.NaN()),
			TrainCounts: []int{}, Converged: true, Expected: j.expected, Warnings: space.Edges(theta)}}, nil
	case j.of.Value != nil:
		trial, err := j.of.trial(ctx, j.index, j.proposal, j.earlier)
		return record.Line{Trial: &trial}, err
	case j.assess:
		fit, err := j.of.Assess(ctx, j.index, j.theta, j.of.all())
		return record.Line{Fit: &fit}, err
	}
	trial, err := j.of.Trial(ctx, j.index, j.proposal)
	return record.Line{Trial: &trial}, err
}

// failed is the line of a job without a result.
func (j job) failed(why cause.Notice) record.Line {
	if j.assess {
		return record.Line{Fit: &record.Fit{
			Natural: []record.Number{}, LogEvidence: record.Number(math.NaN()), TrainCounts: []int{}, Failure: why,
		}}
	}
	return record.Line{Trial: &record.Trial{Points: []record.Point{}, Status: "failed", Failure: why}}
}

// stamp adds the job's key and position in the plan to a line.
func (j job) stamp(line record.Line) record.Line {
	line.Key = j.key
	if line.Fit != nil {
		fit := *line.Fit
		fit.Configuration, fit.Study, fit.Chosen = j.of.Configuration, j.of.Index, j.index
		fit.Enqueued = len(j.of.enqueued)
		fit.Warnings = slices.DeleteFunc(slices.Clone(fit.Warnings), func(n cause.Notice) bool {
			// These warnings are about the study from which the fit was copied.
			return n.Kind == cause.SearchStopped || n.Kind == cause.AnyOrder
		})
		if !j.of.stopped.IsZero() {
			fit.Warnings = append(fit.Warnings, j.of.stopped)
		}
		if width := search.UnderWay(j.of.Strategy); width > 0 {
			fit.Warnings = append(fit.Warnings, cause.AnyOrder.New("%d trials were under way at any time; each was "+
				"proposed when another ended, so another run may try others", width))
		}
		line.Fit = &fit
	} else {
		trial := *line.Trial
		trial.Configuration, trial.Study, trial.Index = j.of.Configuration, j.of.Index, j.index
		trial.Preliminary = j.proposal.Preliminary || trial.Early || trial.Outside
		trial.Share, trial.Enqueued = j.proposal.Share, j.proposal.Enqueued
		if trial.Enqueued == 0 {
			trial.After = 0 // copied from an enqueued point
		}
		line.Trial = &trial
	}
	return line
}

// takeOver copies the line of another study's job with the same result for j.
func (j job) takeOver(line record.Line) record.Line {
	line = j.stamp(line)
	if j.of.Stop.Time == "" { // else the search counts the computing time of its trials
		line.Seconds = 0
	}
	if line.Trial != nil && !j.of.Paths {
		line.Trial.Path = nil
	}
	if j.proposal.Enqueued > 0 { // the strategy takes it for another trial
		line.Trial.After = math.MaxInt32
	}
	return line
}

// studyID identifies a study of the plan.
type studyID struct{ configuration, index int }

// originOf returns the study of a line and the index of the trial; Later for an assessment.
func originOf(line record.Line) (of studyID, trial int) {
	if t := line.Trial; t != nil {
		return studyID{t.Configuration, t.Study}, t.Index
	}
	return studyID{line.Fit.Configuration, line.Fit.Study}, Later
}
