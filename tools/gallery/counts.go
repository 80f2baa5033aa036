package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/tools/gallery/ledger"
)

// counts are the numbers of entries by verdict.
type counts struct {
	rows, values, reasons, agree, differ, unrun int
	causes                                      []caused // causes of differing rows, the most frequent first
	former                                      map[string]int
}

type caused struct {
	ledger.Cause
	rows int
}

// of returns the entries of a source.
func of(entries []ledger.Entry, source string) []ledger.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e ledger.Entry) bool { return e.Source != source })
}

func count(entries []ledger.Entry) counts {
	n := counts{former: map[string]int{}}
	for _, e := range entries {
		n.rows++
		if e.Here != "" {
			n.values++
		}
		if e.Reason != "" {
			n.reasons++
		}
		if e.Kept != "" {
			n.former[strings.Join(e.Experiments, " ")+" ("+e.Kept+")"]++
		}
		if e.Kept == ledger.NotRun {
			n.unrun++
		}
		switch e.Verdict {
		case ledger.Agrees:
			n.agree++
		case ledger.Differs:
			n.differ++
			i := slices.IndexFunc(n.causes, func(c caused) bool { return c.Cause == e.Cause })
			if i < 0 {
				i, n.causes = len(n.causes), append(n.causes, caused{e.Cause, 0})
			}
			n.causes[i].rows++
		}
	}
	slices.SortStableFunc(n.causes, func(a, b caused) int { return cmp.Compare(b.rows, a.rows) })
	return n
}

// none is the number of rows with nothing to compare, without the rows whose experiments have not
// run.
func (n counts) none() int { return n.rows - n.agree - n.differ - n.unrun }

// why returns the causes of differences, each with its number of rows.
func (n counts) why() string {
	var texts []string
	for _, c := range n.causes {
		texts = append(texts, fmt.Sprintf("%s %d", c.Cause, c.rows))
	}
	return strings.Join(texts, ", ")
}

// kept describes which values come from earlier runs.
func (n counts) kept() string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(n.former)) {
		texts = append(texts, fmt.Sprintf("%s of %s", counted(n.former[name], "row"), name))
	}
	return strings.Join(texts, ", ")
}

// String is the last line that a run prints.
func (n counts) String() string {
	text := fmt.Sprintf("%s of the ledger: %d with a value, %d with a reason; %d agree, %d with nothing to compare, "+
		"%d differ",
		counted(n.rows, "row"), n.values, n.reasons, n.agree, n.none(), n.differ)
	if n.unrun > 0 {
		text += fmt.Sprintf(", %d not run", n.unrun)
	}
	if n.differ > 0 {
		text += " (" + n.why() + ")"
	}
	return text
}
