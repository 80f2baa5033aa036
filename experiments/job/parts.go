package job

import "github.com/gpc-tune/gpc-tune/record"

// part is a job that takes its results from a fit: the job that computes it, or the job with the
// same training cases.
type part struct {
	*Job
	p    *Prepared
	fit  record.Fit
	held Outcome
}

// parts returns the parts of a job, ready for use until done is called.
func (j *Job) parts() (all []*part, done func(), err error) {
	jobs := []*Job{j}
	if j.SameTraining != nil {
		jobs = append(jobs, j.SameTraining)
	}
	var uses []func()
	done = func() {
		for _, end := range uses {
			end()
		}
	}
	for _, of := range jobs {
		uses = append(uses, of.Set.Use())
		p, err := of.Set.Prepare()
		if err != nil {
			return nil, done, err
		}
		all = append(all, &part{Job: of, p: p})
	}
	return all, done, nil
}
