package search

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/journal"
)

// Retry withdraws the failed jobs of the studies from the record, and with them what their results
// may change: the assessment of the study, and trials that the strategy asked for once it had seen
// others. It counts the failed jobs. Whoever opens the journal then finds them missing. Failures of
// another plan in the folder are not taken over by j.
func Retry(studies []Study, j *journal.Journal) (failed int, err error) {
	j.DropFailures()
	atOnce := map[studyID]int{} // of each study, the trials that it asks for first
	for _, s := range studies {
		n := 0
		if s.Strategy != nil {
			n = len(s.Strategy.Ask(s.Space, nil, s.Seed))
		}
		atOnce[studyID{s.Configuration, s.Index}] = n
	}
	lines := j.Lines()
	hit := map[studyID]bool{}
	for _, line := range lines {
		of, _ := originOf(line)
		if _, ours := atOnce[of]; ours && line.Failure() != "" {
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
		case line.Failure() != "":
			first = append(first, line.Key)
		}
	}
	// What depends on others goes before them: a process that is killed meanwhile leaves too much,
	// not too little.
	return failed, j.Withdraw(slices.Concat(later, first)...)
}
