package reports

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gpc-tune/gpc-tune/record"
)

// Progress is the state of a run. A job is known if it is certain to exist or expected. Times are
// sums of the wall times of jobs, in seconds, as for a single worker, because the journal does not
// record the number of workers.
type Progress struct {
	Schema     string `json:"schema"` // "gpc-tune/status/1"
	Experiment string `json:"experiment"`
	Finished   bool   `json:"finished"`
	Unit       string `json:"unit"`   // unit of the counts: jobs, or trials of a program
	Done       int    `json:"done"`   // jobs on record, including failed ones
	Failed     int    `json:"failed"` // of the jobs done
	Known      int    `json:"known"`
	// Known and Left are upper bounds: a running strategy may converge before it has used its
	// budget
	AtMost  bool    `json:"at_most,omitempty"`
	Seconds float64 `json:"seconds"` // of the jobs done
	// jobs done per second of one worker; null before the first
	Rate Number `json:"rate"`
	// expected seconds of the other known jobs with one worker; null before the first
	Left Number `json:"left"`
	// number of processes at work in the folder, set by Folder.Progress
	Processes      int                     `json:"processes"`
	Configurations []ConfigurationProgress `json:"configurations"`
	Queue          *Queue                  `json:"queue,omitempty"` // if the run was submitted to an engine
	Next           string                  `json:"next"`            // command to continue, set by Folder.Progress
	// command that runs the failed jobs again, set by Folder.Progress too
	Retry string `json:"retry,omitempty"`
}

// Unit names the units of work of a run: jobs, which are trials and fits, or for programs trials.
func Unit(m record.Manifest) (one, many string) {
	if len(m.Configurations) > 0 && m.Configurations[0].Program != nil {
		return "trial", "trials"
	}
	return "job", "jobs"
}

// Units names the unit of the progress, in singular and plural.
func (p *Progress) Units() (one, many string) {
	if p.Unit == "trials" {
		return "trial", "trials"
	}
	return "job", "jobs"
}

// Queue is the report of an engine about the blocks of a run. It may be wrong: the journal
// determines what is done.
type Queue struct {
	Engine  string `json:"engine"`
	Running int    `json:"running"` // blocks; the end of the run counts as one
	Pending int    `json:"pending"`
	// Blocks that wait to be resumed by the user.
	Suspended int      `json:"suspended,omitempty"`
	Messages  []string `json:"messages,omitempty"` // reasons of the engine why blocks do not run
	Failure   string   `json:"failure,omitempty"`  // why the engine did not answer
}

// ConfigurationProgress is the progress of one configuration.
type ConfigurationProgress struct {
	Dataset    string           `json:"dataset"`
	Kernel     record.Component `json:"kernel"`
	Likelihood record.Component `json:"likelihood"`
	Inference  record.Component `json:"inference"`
	Done       int              `json:"done"`
	Failed     int              `json:"failed"`
	Known      int              `json:"known"`
	Seconds    float64          `json:"seconds"`
	Left       Number           `json:"left"`              // null before its first job is done
	Dropped    bool             `json:"dropped,omitempty"` // by hand; nothing of it runs any more
	Failures   int              `json:"failures"`          // of jobs, and of single points within jobs
	// FirstFailure is the place and reason of the first one.
	FirstFailure string `json:"first_failure,omitempty"`
}

// tally counts jobs of one kind, trials or fits, and their seconds.
type tally struct {
	done, left int
	seconds    float64
}

func (t tally) plus(u tally) tally {
	return tally{t.done + u.done, t.left + u.left, t.seconds + u.seconds}
}

// mean is the mean time of the jobs done, in seconds.
func (t tally) mean() float64 { return t.seconds / float64(t.done) }

// takes is the expected time of the remaining jobs. It assumes the mean time of the jobs done, or
// the given mean if none is done.
func (t tally) takes(mean float64) float64 {
	switch {
	case t.left == 0:
		return 0
	case t.done > 0:
		mean = t.mean()
	}
	return float64(t.left) * mean
}

// BuildProgress makes the Progress of a run from its manifest and the lines of its journal. A
// remaining job is expected to take the mean of its kind, trial or fit, in its configuration, or if
// there is none yet the mean of all jobs. Left of a configuration is NaN until one of its jobs is
// done.
func BuildProgress(m record.Manifest, lines []record.Line) (*Progress, error) {
	studies, _, err := arrange(m, lines)
	if err != nil {
		return nil, err
	}
	if lines, err = unique(lines); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	jobs := make([][2]tally, len(m.Configurations)) // by kind
	var all tally
	for _, line := range lines {
		at := placeOf(line)
		if at.kind == 1 && m.Configurations[at.configuration].Program != nil {
			continue // computes nothing
		}
		one := tally{done: 1, seconds: line.Seconds}
		jobs[at.configuration][at.kind] = jobs[at.configuration][at.kind].plus(one)
		all = all.plus(one)
	}
	_, unit := Unit(m)
	p := &Progress{Schema: "gpc-tune/status/1", Experiment: m.Experiment, Unit: unit,
		Configurations: []ConfigurationProgress{}, Seconds: all.seconds, Rate: Number(1 / all.mean())}
	open := false // a study has not ended
	for i, c := range m.Configurations {
		out := ConfigurationProgress{Dataset: c.Dataset, Kernel: c.Kernel, Likelihood: c.Likelihood,
			Inference: c.Inference, Dropped: slices.Contains(m.Dropped, i)}
		b := builder{record: c, studies: studies[i]}
		for k := range studies[i] {
			s := &studies[i][k]
			trials, fits := s.left()
			p.AtMost = p.AtMost || fits > 0 && s.AtMost
			open = open || fits > 0
			jobs[i][0].left += trials
			if c.Program == nil {
				jobs[i][1].left += fits
			}
			out.count(s, b.failures(s), c.Program == nil)
		}
		for _, t := range jobs[i] {
			out.Done += t.done
			out.Known += t.done + t.left
			out.Seconds += t.seconds
			out.Left += Number(t.takes(all.mean()))
		}
		p.Done, p.Failed, p.Known, p.Left = p.Done+out.Done, p.Failed+out.Failed, p.Known+out.Known, p.Left+out.Left
		if out.Done == 0 && out.Known > 0 {
			out.Left = Number(math.NaN())
		}
		p.Configurations = append(p.Configurations, out)
	}
	p.Finished = p.Done == p.Known && !open
	return p, nil
}

// count adds the failures of a study. fitted means that its fit is a job.
func (c *ConfigurationProgress) count(s *Study, failures []Failure, fitted bool) {
	for _, t := range s.Trials {
		if !t.Failure.IsZero() {
			c.Failed++
		}
	}
	if s.status() == Failed && fitted {
		c.Failed++
	}
	if c.Failures += len(failures); c.FirstFailure == "" && len(failures) > 0 {
		c.FirstFailure = failures[0].String()
	}
}

// Sentences describe the progress and speed of the whole run.
func (p *Progress) Sentences() []string {
	state, limit := "unfinished (stopped)", ""
	switch {
	case p.Finished:
		state = "finished"
	case p.Processes == 1:
		state = "unfinished (running)"
	case p.Processes > 1:
		state = fmt.Sprintf("unfinished (running in %d processes)", p.Processes)
	}
	if p.AtMost {
		limit = "at most "
	}
	_, many := p.Units()
	jobs := fmt.Sprintf("%s, %d of %s%d known %s done, %d failed", state, p.Done, limit, p.Known, many, p.Failed)
	if p.Done == 0 {
		return []string{jobs}
	}
	pace := fmt.Sprintf("%.3g %s/s of one worker, %v so far", float64(p.Rate), many, Duration(p.Seconds))
	if !p.Finished {
		pace += fmt.Sprintf(", %sabout %v left; with -j N about an N-th of that", limit, Duration(float64(p.Left)))
	}
	return []string{jobs, pace}
}

// Duration rounds a time to two digits, for people.
func Duration(seconds float64) time.Duration {
	d := time.Duration(seconds * float64(time.Second))
	unit := time.Duration(1)
	for d/unit >= 100 {
		unit *= 10
	}
	return d.Round(unit)
}
