package search

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/journal"
)

// Retry withdraws the failed jobs of the studies from the record, together with the jobs that
// depend on their results: the assessment of the study, and trials that the strategy proposed after
// the failure. It returns the number of failed jobs. A process that opens the journal afterwards
// finds these jobs missing. Failures of another plan in the folder are not copied by j.
func Retry(studies []Study, j *journal.Journal) (failed int, err error) {
	j.DropFailures()
	atOnce := map[studyID]int{} // per study, the number of trials of its first batch
	for _, s := range studies {
		atOnce[studyID{s.Configuration, s.Index}] = len(s.First())
	}
	lines := j.Lines()
	hit := map[studyID]bool{}
	for _, line := range lines {
		of, _ := originOf(line)
		if _, ours := atOnce[of]; ours && !line.Failure().IsZero() {
			hit[of] = true
			failed++
		}
	}
	var first, later []string
	for _, line := range lines {
		switch of, trial := originOf(line); {
		case !hit[of]:
		case trial == Later || trial >= atOnce[of]:
			later = append(later, line.Key)
		case !line.Failure().IsZero():
			first = append(first, line.Key)
		}
	}
	// Dependent jobs are withdrawn first: if the process is killed in between, too much is missing
	// rather than too little.
	return failed, j.Withdraw(slices.Concat(later, first)...)
}
