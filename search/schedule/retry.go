package schedule

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/record"
)

// Retry withdraws the failed jobs of the studies from the record, and the assessments of their
// studies, which depend on all trials. Trials that a strategy has proposed after a failure stay on
// record. It returns the number of failed jobs. A process that opens the journal afterwards finds
// these jobs missing. Failures of another plan in the folder run again too.
func Retry(studies []Study, j Journal) (failed int, err error) {
	j.RetryEarlier()
	if !slices.ContainsFunc(j.Lines(), func(line record.Line) bool { return !line.Failure().IsZero() }) {
		return 0, nil
	}
	if err := j.Begin(); err != nil { // first, because other processes go on meanwhile
		return 0, err
	}
	elsewhere := j.Elsewhere() // before the lines are read, so that what ends now is in one of both
	if _, err := j.Refresh(); err != nil {
		return 0, err
	}
	lines := map[studyID][]record.Line{}
	for _, line := range j.Lines() {
		of, _ := originOf(line)
		lines[of] = append(lines[of], line)
	}
	for _, s := range studies {
		var again []record.Line
		proposed, fits, hit := 0, []record.Line{}, false
		for _, line := range lines[studyID{s.Configuration, s.Index}] {
			switch t := line.Trial; {
			case t == nil:
				fits = append(fits, line)
			case t.Enqueued == 0:
				proposed = max(proposed, t.Index+1)
			}
			if !line.Failure().IsZero() {
				failed++
				if hit = true; line.Trial != nil {
					again = append(again, line)
				}
			}
		}
		if !hit {
			continue
		}
		if elsewhere > 0 && len(fits) == 0 { // what others are trying follows from the failures too
			proposed += max(elsewhere, s.Budget().AtOnce)
		}
		if err := retry(j, proposed, append(again, fits...)); err != nil {
			return failed, err
		}
	}
	return failed, nil
}

// retry withdraws assessments and failed trials of a study whose strategy has proposed this number
// of trials. Assessments come first: if the process is killed in between, a job may run without
// need, but no stale result stays.
func retry(j Journal, proposed int, lines []record.Line) error {
	var trials []record.Line
	for _, line := range lines {
		if line.Trial != nil {
			trials = append(trials, line)
		} else if err := j.Withdraw(line.Key); err != nil {
			return err
		}
	}
	return j.Retry(proposed, trials...)
}
