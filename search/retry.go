package search

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/journal"
	"github.com/gpc-tune/gpc-tune/internal/record"
)

// Retry withdraws the failed jobs of the studies from the record, and with them what their results may change: the assessment of
// the study, and trials that the strategy asked for once it had seen others. It counts the failed jobs. Whoever opens the
// journal then finds them missing. Failures of another plan in the folder are not taken over by j.
func Retry(studies []Study, j *journal.Journal) (failed int, err error) {
	j.DropFailures()
	type place struct{ configuration, study int }
	of := func(line record.Line) (p place, trial int) {
		if t := line.Trial; t != nil {
			return place{t.Configuration, t.Study}, t.Index
		}
		return place{line.Fit.Configuration, line.Fit.Study}, -1
	}
	atOnce := map[place]int{} // of each study, the trials that it asks for first
	for _, s := range studies {
		n := 0
		if s.Strategy != nil {
			n = len(s.Strategy.Ask(s.Space, nil, s.Seed))
		}
		atOnce[place{s.Configuration, s.Index}] = n
	}
	lines := j.Lines()
	hit := map[place]bool{}
	var first, later []string // what depends on others goes before them: a process that is killed meanwhile leaves too much, not too little
	for _, line := range lines {
		p, _ := of(line)
		if _, ours := atOnce[p]; ours && line.Failure() != "" {
			hit[p] = true
			failed++
		}
	}
	for _, line := range lines {
		switch p, trial := of(line); {
		case !hit[p]:
		case trial < 0 || trial >= atOnce[p]:
			later = append(later, line.Key)
		case line.Failure() != "":
			first = append(first, line.Key)
		}
	}
	if failed == 0 {
		return 0, nil
	}
	return failed, j.Withdraw(slices.Concat(later, first)...)
}
