package reports

import (
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// Cause groups warnings or failures of the same kind.
type Cause struct {
	Cause   string // in words
	Meaning string // consequence for the results
	Remedy  string // empty: none is needed
	Note    bool   // information: nothing is wrong
	Count   int    // number of occurrences
	Notices []Notice
}

// Notice is a warning or a failure of a configuration, or with -1 of the whole run. In results.json
// it is a text.
type Notice struct {
	Configuration int
	Where         string // the job, "trial 3 and 2 more" for several
	Kind          cause.Kind
	Text          string
	Count         int // number of occurrences
}

// joined are different texts in one line, without empty ones.
func joined(texts []string) string {
	var out []string
	for _, t := range texts {
		if t != "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return strings.Join(out, "; ")
}
