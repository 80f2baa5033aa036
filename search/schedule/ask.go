package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// Asked is a trial of a Study with a Value that is reserved for another program. That program
// evaluates the point and tells the value.
type Asked struct {
	Key   string    // identifies the trial
	Study int       // index into the list of studies
	Trial int       // index of the trial in its study
	X     []float64 // the point, in natural units
}

// Ask reserves the next trial of the studies that is not on record and not reserved. No process
// runs it until Tell records it, even after this process has ended. If there is none, next is nil,
// and untold has the keys of the trials that were asked before and not told; without them the
// search is finished, except for the assessments, which Run does.
func Ask(studies []Study, j Journal) (next *Asked, untold []string, err error) {
	a, done, err := askedAgenda(studies, j)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	reserved := false // whether a process that runs trials has reserved one
	for _, s := range a.turns() {
		for _, of := range s.pending {
			if of.assess || slices.Contains(a.control.Paused, s.Configuration) {
				continue
			}
			if _, asked := j.Asked(of.key); asked {
				untold = append(untold, of.key)
				continue
			}
			ours, err := a.reserve(of)
			if err != nil {
				return nil, nil, err
			}
			if ours {
				return s.toAsk(of), nil, nil
			}
			reserved = true
		}
	}
	if reserved && len(untold) == 0 {
		return nil, nil, fmt.Errorf("%w: another process runs the trials that can run now; ask again later", ErrStopped)
	}
	return nil, untold, nil
}

func (s *tuning) toAsk(of job) *Asked {
	return &Asked{of.key, s.place, of.index, record.Floats(s.natural(of.proposal.Points[0]))}
}

// Untold returns the trials of Ask whose values were not told.
func Untold(studies []Study, j Journal) (asked []*Asked, err error) {
	a, done, err := askedAgenda(studies, j)
	if err != nil {
		return nil, err
	}
	defer done()
	for _, s := range a.active {
		for _, of := range s.pending {
			if _, is := j.Asked(of.key); is && !of.assess {
				asked = append(asked, s.toAsk(of))
			}
		}
	}
	return asked, nil
}

// ErrUnasked marks a key for which there is no trial to tell.
var ErrUnasked = errors.New("no point with this id waits for its value")

// Told has the results of a trial for Tell.
type Told struct {
	Value  float64            // the value that Study.Value would return
	Values map[string]float64 // named values
	Way    []record.Interim   // values on the way, with growing steps, in the sign of Value
	// Early means that the trial was stopped early. Its value is then the last one on the way.
	Early   bool
	Failure error   // why there is no value; nil: there is one
	Seconds float64 // wall time of the evaluation; 0: the time since Ask
}

// Behind reports whether a trial that was asked is to be stopped early: by Study.Early, from its
// values on the way, which must be one or more.
func Behind(studies []Study, j Journal, key string, way []record.Interim) (bool, error) {
	a, done, err := askedAgenda(studies, j)
	if err != nil {
		return false, err
	}
	defer done()
	s, at, err := a.asked(j, key)
	if err != nil || s.Early == nil {
		return false, err
	}
	return s.Early.Stops(way, s.pending[at].earlier), nil
}

// Tell records the value of a trial that was asked.
func Tell(studies []Study, j Journal, key string, told Told) error {
	a, done, err := askedAgenda(studies, j)
	if err != nil {
		return err
	}
	defer done()
	s, at, err := a.asked(j, key)
	if err != nil {
		return err
	}
	of := s.pending[at]
	if told.Early {
		told.Value = float64(told.Way[len(told.Way)-1].Value)
	}
	trial := s.evaluated(of.proposal.Points[0], told.Value)
	for name, v := range told.Values {
		if trial.Points[0].Values == nil {
			trial.Points[0].Values = map[string]record.Number{}
		}
		trial.Points[0].Values[name] = record.Number(v)
	}
	if trial.Outside = !within(s.Require, trial.Points[0].Values); trial.Outside {
		trial.Status = outsideStatus
	}
	if trial.Early = told.Early; trial.Early {
		trial.Status = earlyStatus
	}
	line := record.Line{Trial: &trial}
	if told.Failure != nil {
		line = of.failed(cause.Failed(told.Failure))
		line.Trial.Asked = [][]record.Number{trial.Points[0].Theta}
	}
	line.Trial.Interim = told.Way
	since, _ := j.Asked(key)
	line.Seconds = cmp.Or(told.Seconds, time.Since(since).Seconds())
	if line = of.stamp(line); of.inOrder() || of.proposal.Enqueued > 0 {
		err = a.record(of, line)
	} else {
		err = j.Append(line)
	}
	if err != nil {
		return err
	}
	j.Told(key)
	s.pending = slices.Delete(s.pending, at, at+1)
	a.freeSearch(s)
	return nil
}

// asked finds the trial that was asked with this key: its study, and its place among the pending
// jobs of the study.
func (a *agenda) asked(j Journal, key string) (s *tuning, at int, err error) {
	if _, recorded := j.Done(key); recorded {
		return nil, 0, fmt.Errorf("%w: %s has its value already", ErrUnasked, key)
	}
	_, asked := j.Asked(key)
	for _, s := range a.active {
		at := slices.IndexFunc(s.pending, func(of job) bool { return of.key == key && !of.assess })
		if at >= 0 && asked {
			return s, at, nil
		}
	}
	return nil, 0, fmt.Errorf("%w: %s", ErrUnasked, key)
}

// askedAgenda makes the agenda for Ask or Tell. One process at a time has it, until done.
func askedAgenda(studies []Study, j Journal) (a *agenda, done func(), err error) {
	if err := Check(studies, 0); err != nil {
		return nil, nil, err
	}
	const lock = "ask"
	for {
		ours, err := j.Claim(lock)
		if err != nil {
			return nil, nil, err
		}
		if ours {
			break
		}
		time.Sleep(pollInterval)
	}
	if _, err = j.Refresh(); err == nil {
		a, err = newAgenda(studies, j, nil)
	}
	if err != nil {
		j.ReleaseAll()
		return nil, nil, err
	}
	return a, j.ReleaseAll, nil
}

// reserve reserves a trial until it is told. A search that one process has to run as a whole is
// reserved too, for all trials that are asked.
func (a *agenda) reserve(of job) (ours bool, err error) {
	if of.of.whole() {
		if _, asked := a.journal.Asked(of.lease()); !asked {
			if ours, err = a.journal.Reserve(of.lease()); err != nil || !ours {
				return false, err
			}
		}
	}
	return a.journal.Reserve(of.key)
}

// freeSearch ends the reservation of a whole search if none of its trials is asked.
func (a *agenda) freeSearch(s *tuning) {
	if !s.whole() || slices.ContainsFunc(s.pending, func(of job) bool {
		_, asked := a.journal.Asked(of.key)
		return asked
	}) {
		return
	}
	a.journal.Told(job{of: s}.lease())
}
