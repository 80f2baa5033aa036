package plan

import (
	"cmp"

	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/record"
)

// Overview is one line of `gpc-tune plan`.
type Overview struct {
	record.Configuration
	Free, Jobs int
	Comparator bool
	AtMost     bool  // Jobs and Times.All are upper bounds
	Memory     int64 // bytes of its largest job
	Times            // times of its jobs with all of the training data; 0 if unknown
}

// Overview lists the work of the plan, one row per configuration, with expected times at these
// rates. Nil rates give no times.
func (p *Plan) Overview(rates *Rates) []Overview {
	rows := make([]Overview, len(p.Manifest.Configurations))
	for i, c := range p.Manifest.Configurations {
		rows[i].Configuration, rows[i].Comparator = c, p.Models[i].Comparator != nil
	}
	for _, s := range p.Studies {
		r := &rows[s.Configuration]
		if rates != nil {
			c, _ := s.Times(rates)
			r.Evaluation = max(r.Evaluation, c.Evaluation)
			r.All += c.All
			r.Path = max(r.Path, c.Path)
			if c.Longest > r.Longest {
				r.Longest, r.Evaluations = c.Longest, c.Evaluations
			}
		}
		r.Free = len(s.Space)
		r.Jobs += units(r.Configuration, r.Studies[s.Index])
		r.AtMost = r.AtMost || r.Studies[s.Index].AtMost
		r.Memory = max(r.Memory, s.Memory)
	}
	return rows
}

// units is the number of jobs of a study; of a program the trials alone.
func units(c record.Configuration, s record.Study) int {
	if c.Program != nil {
		return s.Jobs - 1
	}
	return s.Jobs
}

// Jobs is the number of jobs, or of trials of a program. It is an upper bound if a strategy may
// converge before it has used its budget, or if configurations must win contests first.
func (p *Plan) Jobs() (n int, atMost bool) {
	for _, c := range p.Manifest.Configurations {
		for _, s := range c.Studies {
			n, atMost = n+units(c, s), atMost || s.AtMost
		}
	}
	return n, atMost || p.Contested() > 0
}

// Contested is the number of jobs that run only if their configuration continues in a contest.
func (p *Plan) Contested() (n int) {
	for _, s := range p.Studies {
		if s.Stage != nil {
			n += p.Manifest.Configurations[s.Configuration].Studies[s.Index].Jobs
		}
	}
	return n
}

// Shared is the number of jobs that copy their results from others of the plan.
func (p *Plan) Shared() (n int) {
	for i, s := range p.Studies {
		if s.RunsTrialsOf < i {
			n += p.Manifest.Configurations[s.Configuration].Studies[s.Index].Jobs - 1 // the trials
		}
		if s.SameAs != "" {
			n++
		}
	}
	return n
}

// Journal estimates the size of the whole journal in bytes: 20 for each number of the predictions,
// of the latent means of all training cases, and of the points of trials with their names, and 500
// for the rest of a line. All competing configurations are counted.
func (p *Plan) Journal() (bytes int64) {
	for _, s := range p.Studies {
		c := p.Manifest.Configurations[s.Configuration]
		of, classes := c.Studies[s.Index], max(2, len(c.Classes))
		numbers := 3 * classes * of.Test
		if s.Job.Comparator != nil { // has no latent processes
			numbers = (classes + 1) * of.Test
		}
		if s.Job.Whole {
			numbers += classes * of.Train
		}
		trials, _, _ := batches(s.Study)
		for _, b := range trials {
			if chain := s.Job.Chain; chain != nil {
				b.points = cmp.Or(chain.Samples, objective.DefaultSamples)
			}
			numbers += b.trials * b.points * (2*len(c.Hyperparameters) + 10)
			if s.Job.Whole && s.Job.Optimizer != "" {
				numbers += b.trials * 60 * (len(s.Space) + 1) // steps of a path
			}
		}
		bytes += int64(20*numbers + 500*of.Jobs)
	}
	return bytes
}

// Expected is the expected time of the jobs of an overview on this number of workers, in seconds:
// the larger of the time of the jobs that must run one after another and of the total time divided
// by the workers. known is false if a rate is missing. Comparators have no rates and are not
// counted.
func Expected(rows []Overview, workers int) (seconds float64, known bool) {
	all, path := 0.0, 0.0
	for _, r := range rows {
		if r.Comparator {
			continue
		}
		if r.All <= 0 {
			return 0, false
		}
		all, path = all+r.All, max(path, r.Path)
	}
	return max(all/float64(workers), path), all > 0
}
