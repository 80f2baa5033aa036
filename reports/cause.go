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
	Note    bool   // for information only; nothing is wrong
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

// causes groups notices by kind, in the order of first occurrence. The remedies are those of the
// configurations that have the notices.
func (r *Report) causes(notices []Notice) (out []Cause) {
	at, remedies := map[cause.Kind]int{}, [][]string{}
	for _, n := range notices {
		i, met := at[n.Kind]
		if !met {
			i = len(out)
			at[n.Kind] = i
			var c Cause
			c.Cause, c.Meaning, c.Note = n.Kind.Explanation()
			out, remedies = append(out, c), append(remedies, nil)
		}
		out[i].Count += n.Count
		out[i].Notices = append(out[i].Notices, n)
		remedies[i] = append(remedies[i], r.Remedy(n.Configuration, n))
		out[i].Remedy = joined(remedies[i])
	}
	return out
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

// Remedy is what to do about a notice of a configuration; empty: nothing is known to help.
func (r *Report) Remedy(configuration int, n Notice) string {
	return n.Kind.Remedy(r.setting(configuration))
}

// setting is where the notices of a configuration occurred; -1 is the whole run.
func (r *Report) setting(configuration int) cause.Setting {
	if configuration < 0 {
		return cause.Setting{}
	}
	c := r.Configurations[configuration]
	return cause.Setting{Program: c.Program != nil, Method: c.Inference.Name(), Strategy: c.Tune}
}

// String is a notice without its configuration.
func (n Notice) String() string {
	if n.Where == "" {
		return n.Text
	}
	return n.Where + ": " + n.Text
}

// MarshalText is String.
func (n Notice) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// JSONSchema is that of a text.
func (Notice) JSONSchema() map[string]any { return map[string]any{"type": "string"} }
