package search

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/panicked"
	"github.com/gpc-tune/gpc-tune/internal/record"
)

// Later, as the index of a trial in Options.Own, stands for all that follows those that a study
// asks for first.
const Later = -1

// tuning is a Study under way: batches of trials until its strategy has enough, then the
// assessment.
type tuning struct {
	*Study
	place     int             // in the list of studies
	closed    bool            // it waits at its Stage
	trials    []record.Trial  // all that were asked for, by index
	fit       *record.Fit     // the assessment, once it is on record
	assessing bool            // the current batch is the assessment
	waiting   int             // jobs of the current batch that are not on record
	pending   []job           // of the current batch, not yet started
	away      []job           // of the current batch, left to other processes
	expected  int             // trials in all, as counted in the Summary
	asked     map[string]int  // trials by the key of their points
	keys      map[string]bool // of all its jobs
}

// job is one line of the journal to be.
type job struct {
	of       *tuning
	key      string
	shared   string // equal in jobs of one result, of whatever study; "": in none
	after    string // key of the job of a twin that leaves the result; "": there is none
	index    int    // of the trial; of the winner for an assessment
	place    int    // index, if the study asks for it first; else Later
	proposal Proposal
	assess   bool
	theta    []float64 // the winner
	noWinner error
}

func (s *tuning) finished() bool { return s.assessing && s.waiting == 0 }

// ask makes the jobs of the next batch.
func (s *tuning) ask() (batch []job) {
	if s.Strategy != nil {
		before := len(s.trials)
		for _, p := range s.Strategy.Ask(s.Space, seen(s.trials), s.Seed) {
			j := job{of: s, index: before + len(batch), place: Later, proposal: p}
			if before == 0 {
				j.place = j.index
			}
			kind, nth := s.nth(j.index, p.Points)
			j.key = jobKey(s.Key, kind, nth, p.Points)
			if s.Tuning != "" {
				j.shared = jobKey(s.Tuning, kind, nth, p.Points)
			} else if s.Twin != "" {
				j.after = jobKey(s.Twin, kind, nth, p.Points)
			}
			batch = append(batch, j)
		}
	}
	if len(batch) > 0 {
		s.trials = append(s.trials, make([]record.Trial, len(batch))...)
	} else {
		s.assessing = true
		batch = []job{s.assessment()}
	}
	s.waiting = len(batch)
	for _, j := range batch {
		s.keys[j.key] = true
	}
	return batch
}

// assessment makes the last job.
func (s *tuning) assessment() job {
	j := job{of: s, assess: true, index: -1, place: Later}
	kind, averaged := "fit ", 0 // of so many trials; 0: of the winner
	if s.Strategy != nil {
		var best record.Point
		if j.index, best, j.noWinner = Winner(s.trials); j.noWinner != nil {
			kind += j.noWinner.Error()
		}
		j.theta = record.Floats(best.Theta)
		if _, ok := s.Strategy.(Sampler); ok {
			averaged = len(s.trials)
		}
	}
	point := [][]float64{j.theta}
	j.key = jobKey(s.Key, kind, averaged, point)
	if s.Fitting != "" {
		j.shared = jobKey(s.Fitting, kind, averaged, point)
	} else if s.Twin != "" {
		j.after = jobKey(s.Twin, kind, averaged, point)
	}
	return j
}

// nth is what the key of the next trial has beside its points: how often they were asked for. Its
// index is no part of it, so that a trial that another plan asked for in another order is known
// again; but the seed of a chain depends on it.
func (s *tuning) nth(index int, points [][]float64) (kind string, n int) {
	if _, ok := s.Strategy.(Sampler); ok {
		return "chain", index
	}
	first := jobKey(s.Key, "trial", 0, points)
	s.asked[first]++
	return "trial", s.asked[first] - 1
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

// do runs the job, for so long at most; 0: without a limit. It reports false if ctx ended, whatever
// came of the job: it may have been cut short.
func (j job) do(ctx context.Context, timeout time.Duration) (line record.Line, ok bool) {
	started := time.Now()
	within, cancel := ctx, context.CancelFunc(func() {})
	if timeout > 0 {
		within, cancel = context.WithTimeout(ctx, timeout)
	}
	defer cancel()
	err := j.noWinner
	if err == nil {
		counted, wait := interrupt.Counted(within)
		panicking := panicked.Try(func() {
			line, err = interrupt.Do(ctx, func() (record.Line, error) {
				defer wait() // the memory of a job that took too long is free once it has ended
				return j.compute(counted)
			})
		})
		err = cmp.Or(panicking, err)
	}
	late := within.Err() != nil // read before ctx, whose end is its end too
	switch {
	case ctx.Err() != nil:
		return line, false
	case late:
		line = j.failed(fmt.Sprintf("%s after %v", record.TimedOut, timeout))
	case err != nil:
		line = j.failed(err.Error())
	}
	if t := line.Trial; t != nil && t.Failure != "" && len(t.Points) == 0 {
		for _, theta := range j.proposal.Points {
			t.Asked = append(t.Asked, record.Numbers(theta))
		}
	}
	line.Seconds = time.Since(started).Seconds()
	return j.stamp(line), true
}

func (j job) compute(ctx context.Context) (record.Line, error) {
	if j.assess {
		fit, err := j.of.Assess(ctx, j.index, j.theta, j.of.trials)
		return record.Line{Fit: &fit}, err
	}
	trial, err := j.of.Trial(ctx, j.index, j.proposal)
	return record.Line{Trial: &trial}, err
}

// failed is the line of a job without a result.
func (j job) failed(why string) record.Line {
	if j.assess {
		return record.Line{Fit: &record.Fit{
			Natural: []record.Number{}, LogEvidence: record.Number(math.NaN()), TrainCounts: []int{}, Failure: why,
		}}
	}
	return record.Line{Trial: &record.Trial{Points: []record.Point{}, Status: "failed", Failure: why}}
}

// stamp gives a line the job's key and place in the plan.
func (j job) stamp(line record.Line) record.Line {
	line.Key = j.key
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

// takeOver makes of the line of another study's job, of the same result, that of j.
func (j job) takeOver(line record.Line) record.Line {
	line = j.stamp(line)
	line.Seconds = 0
	if line.Trial != nil && !j.of.Paths {
		line.Trial.Path = nil
	}
	return line
}

// studyID names a study in the plan.
type studyID struct{ configuration, index int }

// originOf is the study of a line, and the index of the trial; Later for an assessment.
func originOf(line record.Line) (of studyID, trial int) {
	if t := line.Trial; t != nil {
		return studyID{t.Configuration, t.Study}, t.Index
	}
	return studyID{line.Fit.Configuration, line.Fit.Study}, Later
}
